"""Processes: Ctrl-C, progress, threads, memory, pickling, forks."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import paynter

#: A run that takes minutes.
LONG = {"t_end": 1e6, "solver": "rk4", "step": 1e-2}


def test_ctrl_c_stops_long_work_within_two_tenths_of_a_second():
    duffing = paynter.examples.duffing
    duffing.simulate(1)
    pressed = []

    def press():
        time.sleep(0.5)
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        duffing.simulate(**LONG)
    waited = time.perf_counter() - pressed[0]
    presser.join()
    assert waited < 0.2
    assert duffing.simulate(1).complete


def test_other_threads_run_while_a_model_is_simulated():
    duffing = paynter.examples.duffing
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(1e-3)

    counter = threading.Thread(target=count)
    counter.start()
    duffing.simulate(2000, points=11)
    done.set()
    counter.join()
    assert counted[0] > 3


def test_answers_are_the_same_from_any_thread():
    motor = paynter.examples.dc_motor
    expected = motor.simulate(0.1)["w"]
    found = []
    threads = [threading.Thread(target=lambda: found.append(motor.simulate(0.1)["w"])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(expected, values) for values in found)


def test_progress_shows_a_bar(capsys):
    paynter.examples.duffing.simulate(3e3, solver="rk4", step=1e-3, points=1001, progress=True)
    shown = capsys.readouterr().err
    assert "simulation" in shown


@pytest.mark.parametrize("module", ["pickle", "cloudpickle"])
def test_everything_pickles(module):
    pickler = pytest.importorskip(module)
    motor = paynter.examples.dc_motor.with_(Ra=3)

    def again(thing):
        return pickle.loads(pickler.dumps(thing))

    model = again(motor)
    assert model == motor and model.parameters["Ra"] == 3
    assert np.array_equal(model.simulate(0.1)["w"], motor.simulate(0.1)["w"])
    run = again(motor.simulate(0.1, sensitivity="all"))
    assert np.array_equal(run["w", "Ra"], motor.simulate(0.1, sensitivity="all")["w", "Ra"])
    assert run._repr_svg_() == motor.simulate(0.1, sensitivity="all")._repr_svg_()
    for answer in (motor.bode(), motor.tf(), motor.poles(), motor.lft(), motor.equations(), motor.robust(nodes=0)):
        copy = again(answer)
        assert str(copy.document) == str(answer.document)
    compiled = motor.compile(0.1, sensitivity="all")
    assert np.array_equal(again(compiled)()["w"], compiled()["w"])
    assert np.array_equal(compiled(Ra=2)["w"], paynter.examples.dc_motor.simulate(0.1, sensitivity="all")["w"])
    assert np.array_equal(again(motor.rhs)(0.0, [1e-3, 1e-3]), motor.rhs(0.0, [1e-3, 1e-3]))
    with pytest.raises(paynter.ModelError) as caught:
        paynter.parse("model m { R r = Rx }")
    assert str(again(caught.value)) == str(caught.value)
    increment = again(motor.incremental())
    assert increment.tf().entries
    tanks = again(paynter.examples.cascaded_tanks)
    assert tanks.check().ok


def test_code_pointers_do_not_travel():
    assert len(pickle.dumps(paynter.examples.dc_motor.compile(0.1))) < 5_000


def _last(model):
    return float(model.simulate(0.1)["w"][-1]), paynter._paynter.thread_count()


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes_work_however_they_are_made(method):
    motor = paynter.examples.dc_motor
    # The threads of the core are at work in this process before it is forked.
    motor.simulate(0.1, sweep={"Ra": np.linspace(1, 3, 8)})
    models = [motor.with_(Ra=value) for value in (1.0, 2.0, 3.0)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map_async(_last, models).get(timeout=120)
    assert [value for value, _ in found] == [_last(model)[0] for model in models]
    if method == "fork":
        assert {threads for _, threads in found} == {1}


def test_memory_does_not_grow():
    resource = pytest.importorskip("resource")
    motor = paynter.examples.dc_motor

    def calls(count):
        for number in range(count):
            run = motor.with_(Ra=2 + number % 7 / 10).simulate(0.01, points=11, sensitivity="all")
            assert run.complete
            try:
                motor.simulate(-1)
            except paynter.ModelError:
                pass
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = calls(1000)
    after = calls(10_000)
    # In kilobytes.
    assert after - before < 20_000


def test_import_is_quick():
    code = "import time; import numpy; t = time.perf_counter(); import paynter; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5)]
    assert min(times) < 0.04
