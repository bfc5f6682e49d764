"""Ensembles: statistics, indices, and any split over workers."""

import concurrent.futures
import json
import os
import signal
import subprocess

import numpy as np
import pytest

import paynter
from paynter._ensemble import correlations, distributions

MOTOR = paynter.examples.dc_motor
RUN = {"t_end": 0.05, "points": 6, "seed": 3}


def same(a, b):
    """Whether two ensembles tell the same to the last digit."""
    left, right = ({k: v for k, v in e.document.items() if k != "diagnostics"} for e in (a, b))
    return repr(left) == repr(right)


def steady_speed(model):
    """The speed at which a motor comes to rest, in its closed form."""
    p = model.parameters
    return 12 * p["kT"] / (p["Ra"] * p["Rm"] + p["kT"] ** 2)


def test_statistics_are_those_of_the_samples():
    found = MOTOR.ensemble(300, **RUN)
    ends = found.ends["w"]
    told = found["w"]
    assert found.answered == 300 and len(ends) == 300 and not found.failures
    assert told.mean[-1] == pytest.approx(ends.mean(), rel=1e-12)
    assert told.variance[-1] == pytest.approx(ends.var(ddof=1), rel=1e-9)
    assert (told.least[-1], told.most[-1]) == (ends.min(), ends.max())
    for share, values in told.quantiles.items():
        assert values[-1] == pytest.approx(np.quantile(ends, share), rel=1e-9)
    edges, counts = told.histogram
    assert counts.sum() == 300 and edges[0] == ends.min()
    assert np.allclose(found.axis, np.linspace(0, 0.05, 6), rtol=1e-15)
    assert found.to_pandas().shape[0] == 6 and "<table" in found._repr_html_()


@pytest.mark.parametrize("design", ["random", "latin", "sobol"])
def test_samples_keep_their_distributions(design):
    vary = {"Ra": ("normal", 2, 0.1), "La": ("lognormal", 5e-3, 0.2), "kT": (0.09, 0.11)}
    correlate = {("Ra", "La"): 0.8}
    asked = {"quantities": distributions(vary), "correlations": correlations(correlate), "design": design, "seed": 1}
    asked |= {"samples": 4096, "indices": False, "shard": (0, 1), "question": "operating_point", "experiment": None}
    names, values = MOTOR._native.ensemble_values(asked | {"omega": None, "listed": []}, 0, 4096)
    drawn = dict(zip(names, np.array(values).T))
    assert drawn["Ra"].mean() == pytest.approx(2, abs=0.006) and drawn["Ra"].std() == pytest.approx(0.1, rel=0.05)
    assert np.log(drawn["La"]).std() == pytest.approx(0.2, rel=0.05)
    assert drawn["kT"].min() > 0.09 and drawn["kT"].max() < 0.11
    assert np.corrcoef(drawn["Ra"], np.log(drawn["La"]))[0, 1] == pytest.approx(0.8, abs=0.03)


def test_any_split_gives_the_same_digits():
    whole = MOTOR.ensemble(100, map=map, chunks=1, **RUN)
    assert same(whole, MOTOR.ensemble(100, **RUN))
    for chunks in (2, 7, 100):
        assert same(whole, MOTOR.ensemble(100, map=map, chunks=chunks, **RUN)), chunks
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert same(whole, MOTOR.ensemble(100, map=pool, chunks=9, **RUN))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert same(whole, MOTOR.ensemble(100, map=pool, chunks=5, **RUN))
    assert not same(whole, MOTOR.ensemble(100, **(RUN | {"seed": 4})))


def test_joblib_dask_and_ray_give_the_same_digits():
    whole = MOTOR.ensemble(60, **RUN)
    joblib = pytest.importorskip("joblib")
    assert same(whole, MOTOR.ensemble(60, map=joblib.Parallel(n_jobs=2), chunks=6, **RUN))
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert same(whole, MOTOR.ensemble(60, map=client, chunks=6, **RUN))
            run = client.submit(MOTOR.simulate, 0.05).result()
            assert np.array_equal(run["w"], MOTOR.simulate(0.05)["w"])


def started(ray):
    """Starts Ray on this machine, which gives its node half a minute: on a busy one it is asked again."""
    for attempt in range(3):
        try:
            return ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        except Exception as error:
            ray.shutdown()
            if "timed out during startup" not in str(error) or attempt == 2:
                raise


def test_ray_gives_the_same_digits():
    ray = pytest.importorskip("ray")
    started(ray)
    try:
        whole = MOTOR.ensemble(60, **RUN)
        assert same(whole, MOTOR.ensemble(60, map=ray, chunks=6, **RUN))
        run = ray.get(ray.put(MOTOR.simulate(0.05)))
        assert np.array_equal(run["w"], MOTOR.simulate(0.05)["w"])
    finally:
        ray.shutdown()


class Deadly:
    """A question whose first asker dies."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __call__(self, model):
        mark = os.path.join(self.folder, "died")
        if model.parameters["Ra"] > 2.05 and not os.path.exists(mark):
            with open(mark, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return steady_speed(model)


def test_a_lost_worker_of_dask_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    whole = MOTOR.ensemble(40, steady_speed, chunks=8)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            found = MOTOR.ensemble(40, Deadly(tmp_path), map=client, chunks=8)
    assert (tmp_path / "died").exists() and same(whole, found)


def test_a_lost_worker_of_joblib_loses_nothing(tmp_path):
    joblib = pytest.importorskip("joblib")
    whole = MOTOR.ensemble(40, steady_speed, chunks=8)
    found = MOTOR.ensemble(40, Deadly(tmp_path), map=joblib.Parallel(n_jobs=2), chunks=8)
    assert (tmp_path / "died").exists() and same(whole, found)


def test_a_lost_worker_of_ray_loses_nothing(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    whole = MOTOR.ensemble(40, steady_speed, chunks=8)
    # Workers import the question from this file.
    here = os.path.dirname(os.path.abspath(__file__))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]))
    started(ray)
    try:
        found = MOTOR.ensemble(40, Deadly(tmp_path), map=ray, chunks=8)
    finally:
        ray.shutdown()
    assert (tmp_path / "died").exists() and same(whole, found)


def test_what_was_finished_is_kept_where_the_executor_breaks(tmp_path):
    whole = MOTOR.ensemble(40, steady_speed, chunks=8)
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        with pytest.raises(paynter.EnsembleError, match="partial") as caught:
            MOTOR.ensemble(40, Deadly(tmp_path), map=pool, chunks=8)
    partial = caught.value.partial
    assert len(partial) < 8
    assert same(whole, MOTOR.ensemble(40, steady_speed, chunks=8, partial=partial))


def test_failures_are_counted_and_kept_with_their_values():
    def question(model):
        if model.parameters["Ra"] < 1.9:
            raise ZeroDivisionError("too small")
        return {"w": steady_speed(model), "r": model.parameters["Ra"]}

    found = MOTOR.ensemble(200, question)
    assert 10 < len(found.failures) < 90 and found.answered + len(found.failures) == 200
    assert all(f["values"]["Ra"] < 1.9 and "too small" in f["reason"] for f in found.failures)
    assert found["r"].least[-1] >= 1.9
    with pytest.raises(AttributeError):
        MOTOR.ensemble(5, lambda model: model.no_such)


def test_functions_and_questions_of_the_core_agree():
    core = MOTOR.ensemble(50, "operating_point", seed=5)
    own = MOTOR.ensemble(50, steady_speed, seed=5)
    assert core["w"].mean[-1] == pytest.approx(own["answer"].mean[-1], rel=1e-9)
    response = MOTOR.ensemble(30, "bode", omega=[1.0, 10.0, 100.0])
    assert response["w/E"].mean.shape == (3,)


def test_any_question_is_asked_by_its_name():
    seen = MOTOR.ensemble(20, "poles", seed=4)
    own = MOTOR.ensemble(20, lambda model: [pole for pair in model.poles().document["poles"] for pole in pair], seed=4)
    # Both poles are real: real and imaginary parts one after the other.
    listed = [seen[f"poles.{pole}.{part}"].mean[-1] for pole in (0, 1) for part in (0, 1)]
    assert listed == pytest.approx(own["answer"].mean.tolist(), rel=1e-12)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert same(seen, MOTOR.ensemble(20, "poles", seed=4, map=pool, chunks=5))
    loop = paynter.examples.two_carts_loop
    margins = loop.ensemble(4, "robust", keywords={"nodes": 0, "omega": "0.1:1000:3"}, limit={"margin.lower": (0, None)})
    assert margins["margin.lower"].least[-1] > 0 and margins.yield_["margin.lower"] == 1
    gains = MOTOR.ensemble(10, "tf", keywords={"numeric": True})
    assert any(name.startswith("entries.w/E.") for name in gains.statistics)


def test_answers_of_different_lengths_tell_what_they_have_in_common():
    found = paynter.examples.uncertain_motor.ensemble(4, "robust", keywords={"nodes": 1})
    assert found.answered == 4 and "margin.lower" in found.statistics


def test_samples_lie_in_the_bands_of_the_sensitivities():
    omega = np.geomspace(1, 300, 20)
    bands = MOTOR.sensitivity(omega=omega)
    [band] = [b["magnitude"] for b in bands.bands if (b["output"], b["input"]) == ("w", "E")]
    found = MOTOR.ensemble(400, "bode", omega=omega)["w/E"]
    low, high = (np.asarray(band[key], dtype=float) for key in ("worst_lower", "worst_upper"))
    width = high - low
    assert np.all(found.least > low - 0.2 * width) and np.all(found.most < high + 0.2 * width)


def test_indices_of_a_closed_form():
    # w = E kT/(Ra Rm + kT²) knows nothing of La and Jm.
    found = MOTOR.ensemble(512, "operating_point", indices=True, design="sobol", confidence=99).indices["w"]
    for name in ("La", "Jm"):
        assert abs(found[name]["first"]) < 1e-9 and abs(found[name]["total"]) < 1e-9
    rng = np.random.default_rng(1)
    draw = {n: v * (1 + t * rng.uniform(-1, 1, 200_000)) for n, v, t in
            [("Ra", 2, 0.1), ("kT", 0.1, 0.05), ("Rm", 1e-3, 0.2)]}

    def speed(p):
        return 12 * p["kT"] / (p["Ra"] * p["Rm"] + p["kT"] ** 2)

    # The first-order index is the variance of the mean given the parameter.
    for name, value, tolerance in [("Ra", 2, 0.1), ("kT", 0.1, 0.05), ("Rm", 1e-3, 0.2)]:
        grid = value * (1 + tolerance * np.linspace(-1, 1, 41))
        means = [speed(draw | {name: g}).mean() for g in grid]
        known = np.trapezoid((means - np.mean(means)) ** 2, grid) / (grid[-1] - grid[0]) / speed(draw).var()
        low, high = found[name]["first_interval"]
        assert low - 0.02 <= known <= high + 0.02, name


def test_limits_are_in_declared_units():
    model = paynter.parse("model u { param R = 2 [kohm]; input i = 5 [mA]; Sf s = i; 0 n; R r = R; s -> n -> r; output v = r.e [mV] }")
    found = model.ensemble(100, "operating_point", vary={"R": (1, 3)}, limit={"v": (9000, 11000)})
    ends = found.ends["v"]
    assert found.yield_["v"] == np.mean((ends >= 9) & (ends <= 11)) and 0 < found.yield_["v"] < 1


def test_limits_give_the_yield():
    found = MOTOR.ensemble(300, "operating_point", limit={"w": (98, 102)})
    ends = found.ends["w"]
    assert found.yield_["w"] == np.mean((ends >= 98) & (ends <= 102))


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"vary": {"Rx": (1, 2)}}, paynter.ModelError, "Rx"),
        ({"vary": {"Ra": (2, 1)}}, ValueError, "lower"),
        ({"vary": {"Ra": 3}}, TypeError, "normal"),
        ({"design": "halton"}, ValueError, "sobol"),
        ({"correlate": {("Ra", "La"): 2.0}}, paynter.ModelError, "correlations"),
        ({"correlate": {("Ra", "La"): 0.5}, "indices": True}, paynter.ModelError, "indices"),
        ({"map": 3}, TypeError, "executor"),
        ({"ask": "pole"}, ValueError, "operating_point"),
        ({"ask": "check"}, ValueError, "poles"),
        ({"ask": "poles", "keywords": {"omega": 1}}, TypeError, "omega"),
        ({"ask": 3}, TypeError, "name of a question"),
        ({"limit": {"w": 3}}, TypeError, "pair"),
        ({"limit": {"w": (2, 1)}}, ValueError, "nothing between"),
        ({"confidence": 0.95}, ValueError, "percent"),
    ],
)
def test_bad_ensembles_say_what_to_do(arguments, kind, words):
    with pytest.raises(kind, match=words):
        MOTOR.ensemble(4, **arguments)
    with pytest.raises(ValueError, match="sample"):
        MOTOR.ensemble(0)


def test_the_command_line_gives_the_same_and_joins_parts(paynter_command, tmp_path):
    file = tmp_path / "motor.bg"
    file.write_text(MOTOR.text, encoding="utf-8")

    def ask(*words):
        done = subprocess.run([paynter_command, "ensemble", *map(str, words), "--json"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    how = [file, "--samples", 50, "--t-end", 0.05, "--points", 6, "--seed", 3]
    whole = json.loads(ask(*how))
    parts = []
    for part in (1, 2, 3):
        parts.append(tmp_path / f"{part}.json")
        parts[-1].write_text(ask(*how, "--shard", f"{part}/3"))
    assert json.loads(ask("--merge", parts[2], parts[0], parts[1])) == whole
    found = MOTOR.ensemble(50, **RUN)
    assert found["w"].mean.tolist() == whole["statistics"]["w"]["mean"]
    assert found["w"].quantiles[0.95].tolist() == whole["statistics"]["w"]["quantiles"]["0.95"]


def test_parts_of_other_ensembles_are_refused_and_limits_kept(paynter_command, tmp_path):
    file = tmp_path / "motor.bg"
    file.write_text(MOTOR.text.replace("output w  = rotor.f  [rad/s]", "output w = rotor.f [rpm]"), encoding="utf-8")

    def ask(*words):
        return subprocess.run([paynter_command, "ensemble", *map(str, words)], capture_output=True, text=True)

    how = ["--samples", 30, "--t-end", 0.05, "--points", 3, "--limit", "w=700:900"]
    whole = ask(file, *how, "--json").stdout
    parts = []
    for part in (1, 2):
        parts.append(tmp_path / f"{part}.json")
        parts[-1].write_text(ask(file, *how, "--shard", f"{part}/2", "--json").stdout)
    assert ask("--merge", *parts, "--json").stdout == whole
    told = json.loads(whole)
    # People write and read the declared unit, documents hold SI.
    assert told["units"][1] == {"unit": "rpm", "size": pytest.approx(np.pi / 30)}
    assert told["yield"]["w"]["low"] == pytest.approx(700 * np.pi / 30)
    ends = np.array(told["ends"])[:, told["answers"].index("w")] * 30 / np.pi
    assert told["yield"]["w"]["share"] == np.mean((ends >= 700) & (ends <= 900)) and 0 < told["yield"]["w"]["share"] < 1
    shown = ask(file, *how).stdout
    assert "rpm" in shown and f"{np.mean(ends):.6g}" in shown.replace(" ", "")
    for other in (["--set", "E=13"], ["--rtol", "1e-4"]):
        (tmp_path / "other.json").write_text(ask(file, *how, *other, "--shard", "2/2", "--json").stdout)
        refused = ask("--merge", parts[0], tmp_path / "other.json")
        assert refused.returncode == 1 and "different models, values or options" in refused.stderr


def test_responses_of_samples_are_at_one_grid():
    model = paynter.parse(
        "model rlc { param L = 1 ±10%; param r = 0.05; input u = 0; Se s = u; 1 j; C c = 1; R q = r; I l = L\n"
        "s -> j -> c, q, l\n output y = c.e }"
    )
    found = model.ensemble(60, "bode")
    assert found.answered == 60
    omega, told = found.axis, found["y/u"]
    lengths = np.linspace(0.9, 1.1, 4001)[:, None]
    exact = 1 / np.abs(1 - omega**2 * lengths + 0.05j * omega)
    assert np.all(told.least >= exact.min(axis=0) * (1 - 1e-9)) and np.all(told.most <= exact.max(axis=0) * (1 + 1e-6))
    assert np.all(np.abs(told.mean - exact.mean(axis=0)) <= 0.15 * exact.mean(axis=0))


def test_samples_answer_where_the_nominal_model_does_not():
    model = paynter.parse(
        "model fail { param a = 1 ±50%; param k = 1 ±90%; C tank { e = q; init q = a }; R valve { f = sqrt(e)*k }\n"
        "Sf drain = -0.5; 0 j; j -> tank, valve; drain -> j\n output level = tank.q }"
    )
    with pytest.warns(paynter.ModelWarning):
        assert not model.simulate(2).complete
    found = model.ensemble(100, t_end=1.2, points=3)
    assert 0 < found.answered < 100 and len(found.failures) == 100 - found.answered
