"""Wrong arguments: exceptions of the right class that name what is wrong."""

import inspect
import re
import subprocess

import numpy as np
import pytest

import paynter
from paynter._keywords import Experiment, Measurement

HUGE = 10**400


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda m: m.simulate("x"), TypeError, "t_end is a number"),
        (lambda m: m.simulate(True), TypeError, "t_end is a number"),
        (lambda m: m.simulate(HUGE), ValueError, "t_end"),
        (lambda m: m.simulate(np.array([1, 2])), TypeError, "t_end"),
        (lambda m: m.simulate(np.nan), paynter.ModelError, "`t_end`"),
        (lambda m: m.simulate(np.inf), paynter.ModelError, "`t_end`"),
        (lambda m: m.simulate(1, points=1.5), TypeError, "points is a whole number"),
        (lambda m: m.simulate(1, points=-1), ValueError, "points"),
        (lambda m: m.simulate(1, points=0), paynter.ModelError, "two `points` or more"),
        (lambda m: m.simulate(1, rtol="x"), TypeError, "rtol"),
        (lambda m: m.simulate(1, atol=np.nan), paynter.ModelError, "tolerance"),
        (lambda m: m.simulate(1, step=0), paynter.ModelError, "`step`"),
        (lambda m: m.simulate(1, solver=4), TypeError, "solver"),
        (lambda m: m.simulate(times=[]), ValueError, "times is empty"),
        (lambda m: m.simulate(times=[-1, 1]), paynter.ModelError, "`times`"),
        (lambda m: m.simulate(times=[0, 1j]), TypeError, "complex"),
        (lambda m: m.simulate(1, sensitivity=[1]), TypeError, "sensitivity must be text"),
        (lambda m: m.simulate(1, sensitivity=1), TypeError, "sensitivity must be text"),
        (lambda m: m.simulate(1, inputs=[1]), TypeError, "inputs is a mapping"),
        (lambda m: m.simulate(1, inputs={"E": None}), TypeError, "a function of t"),
        (lambda m: m.simulate(1, inputs={"E": lambda t: None}), TypeError, "returned None"),
        (lambda m: m.simulate(1, inputs={"E": lambda t: np.nan}), ValueError, "nan"),
        (lambda m: m.simulate(1, inputs={"E": np.ones((2, 2))}), ValueError, "shape"),
        (lambda m: m.simulate(1, inputs={"E": np.sin}, max_step=1e-12), ValueError, "samples"),
        (lambda m: m.simulate(1, inputs={"E": np.sin}, grid=[1, 0]), ValueError, "rise"),
        (lambda m: m.simulate(1, inputs={"E": 1}, data={"t": [0, 1]}), TypeError, "either"),
        (lambda m: m.simulate(1, sweep={"Ra": []}), ValueError, "empty"),
        (lambda m: m.simulate(1, sweep={}), ValueError, "empty"),
        (lambda m: m.simulate(1, sweep=[1]), TypeError, "sweep is a mapping"),
        (lambda m: m.simulate(1, scenario={"a": 3}), TypeError, "scenario"),
        (lambda m: m.simulate(1, perturb={"Ra": 0.1}, verify=True), TypeError, "verify"),
        (lambda m: m.simulate(1, perturb={"Ra": None}), TypeError, "the change of 'Ra'"),
        (lambda m: m.simulate(1, direction={"Ra": "x"}), TypeError, "the weight of 'Ra'"),
        (lambda m: m.tf(terms=-1), ValueError, "terms"),
        (lambda m: m.robust(nodes=-1), ValueError, "nodes"),
        (lambda m: m.robust(gap="x"), TypeError, "gap"),
        (lambda m: m.sensitivity(verify=1.5), TypeError, "verify"),
        (lambda m: m.draw(scale=0), ValueError, "scale"),
        (lambda m: m.draw(path="ab"), TypeError, "pair of elements"),
        (lambda m: m.bode().svg("nyquist"), ValueError, "its figures are bode"),
        (lambda m: m.sensitivity(omega="1:10:3").svg("bode", output="zz"), ValueError, "zz"),
        (lambda m: m.check().svg(), ValueError, "no figure"),
        (lambda m: m.with_({3: 4}), TypeError, "by name"),
        (lambda m: m.with_([1]), TypeError, "mapping"),
        (lambda m: paynter.parse(b"model m {}"), TypeError, "text"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, bounds={"Ra": 3}), TypeError, "bounds of 'Ra'"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, starts=0), ValueError, "starts"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, confidence=100), ValueError, "percent"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, confidence=0.95), ValueError, "percent"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, map={"w": 3}), TypeError, "heading"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, prior="yes"), TypeError, "prior is True or False"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, bounds={"Ra": (5, 1)}), ValueError, "nothing between 5 and 1"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, fit=[3]), TypeError, "holds 3"),
        (lambda m: m.estimate({"t": [0, 1], "w": [0, 1]}, noise={"w": 1}), TypeError, "plan=True"),
        (lambda m: m.estimate({}), ValueError, "no columns"),
        (lambda m: m.estimate(), TypeError, "data="),
        (lambda m: m.ensemble(2.0), TypeError, "samples"),
        (lambda m: m.ensemble(2, seed=-1), ValueError, "seed"),
        (lambda m: m.ensemble(2, chunks=0), ValueError, "chunks"),
        (lambda m: m.ensemble(2, confidence=0), ValueError, "percent"),
        (lambda m: m.ensemble(2, "operating_point", limit={"zz": (0, 1)}), ValueError, "answers are `ia`, `w`"),
        (lambda m: m.ensemble(2, "operating_point", correlate={"Ra": 0.5}), TypeError, "pairs"),
        (lambda m: m.ensemble(2, "operating_point", vary={"Ra": ("normal", "a", 1)}), TypeError, "distribution of 'Ra'"),
        (lambda m: m.ensemble(2, lambda model: None), TypeError, "the function returns"),
        (lambda m: m.ensemble(2, lambda model: "x"), TypeError, "the function returns"),
    ],
)
def test_wrong_arguments_are_named(call, kind, words):
    with pytest.raises(kind, match=words):
        call(paynter.examples.dc_motor)


def test_what_inputs_do_beyond_their_samples_is_told():
    motor = paynter.examples.dc_motor
    short = motor.simulate(0.1, inputs={"E": ([0.02, 0.05], [1, 2])})
    assert "before 0.02 s and after 0.05 s" in short.input_notes[0]
    assert not motor.simulate(0.1, inputs={"E": ([0, 0.05], [1, 2])}, hold="zero").input_notes
    assert not motor.simulate(0.1, inputs={"E": ([0, 0.1], [1, 2])}).input_notes


def test_remedies_are_in_the_words_of_python():
    from paynter import _paynter

    with pytest.raises(paynter.ModelError) as caught:
        paynter.parse("")
    assert "`paynter.examples`" in str(caught.value)
    assert _paynter.explain("BG0804") and "--" not in caught.value.errors[0].help


#: Options that every answer makes needless: it is data, writes itself and draws itself.
ANSWERS = {"form", "symbolic", "plot", "figure", "theme", "help"}
#: Options of all commands, which are those of loading here, or of a terminal.
GLOBAL = {"json", "set", "model", "hz", "quiet", "color", "version"}
#: What is asked for otherwise.
OTHERWISE = {
    "sensitivity": {"output", "input"},  # svg(output=, input=)
    "lft": {"graph", "draw", "blocks", "numeric"},  # uncertain_graph, uncertain_blocks, matrices
    "incremental": {"draw"},  # the model that is returned draws itself
    "draw": {"output"}, "report": {"output"}, "export": {"output"},  # save, or the text itself
    "ensemble": {"shard", "merge"},  # map
    "estimate": {"write"},  # Estimation.text
}


def test_keywords_are_the_options_of_the_command_line(paynter_command):
    def help_of(*words):
        return subprocess.run([paynter_command, *words, "--help"], capture_output=True, text=True).stdout

    commands = re.findall(r"(?m)^  ([a-z-]+) ", help_of().split("Commands:")[1].split("Options:")[0])
    compared = 0
    for command in commands:
        method = getattr(paynter.Model, command.replace("-", "_"), None)
        if method is None:
            assert command in {"fmt", "examples", "explain", "completions", "help"}, command
            continue
        options = set(re.findall(r"(?m)^ +(?:-\w, )?--([a-z-]+)", help_of(command)))
        options -= ANSWERS | GLOBAL | OTHERWISE.get(command, set())
        keywords = set(inspect.signature(method).parameters)
        missing = {option for option in options if option.replace("-", "_") not in keywords}
        assert not missing, (command, missing)
        compared += len(options)
    assert compared > 80


@pytest.mark.parametrize(
    ("method", "kind", "others"),
    [
        (paynter.Model.simulate, Experiment, {"t_end", "sweep", "scenario"}),
        (paynter.Model.estimate, Measurement, {"data", "plan"}),
    ],
)
def test_type_checkers_know_all_keywords(method, kind, others):
    assert set(inspect.signature(method).parameters) - {"self"} == set(kind.__annotations__) | others


def test_frequencies_are_given_in_hz_where_one_says_so():
    motor = paynter.examples.dc_motor
    for given in ([1.0, 10.0], "1:10:2", (1.0, 10.0, 2)):
        found = motor.bode(given, hz=True)
        assert found.omega == pytest.approx(2 * np.pi * np.array([1.0, 10.0]))
        assert found.hz == pytest.approx([1.0, 10.0])
    assert motor.sensitivity(omega=[1.0], hz=True).omega == pytest.approx([2 * np.pi])
    with pytest.raises(TypeError, match="hz"):
        motor.bode([1.0], hz="yes")


def test_an_unknown_input_is_named():
    with pytest.raises(paynter.ModelError, match="Mlod"):
        paynter.examples.dc_motor.simulate(0.01, inputs={"Mlod": [0, 1, 2]})
    with pytest.raises(ValueError, match="'Ra' is a parameter"):
        paynter.examples.dc_motor.simulate(0.01, inputs={"Ra": [0, 1, 2]})
    with pytest.raises(ValueError, match="too large"):
        paynter.examples.dc_motor.with_(Ra=10**400)
