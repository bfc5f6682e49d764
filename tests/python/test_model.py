"""Models: where they come from, their values, their results beside those of others."""

import ast
import inspect
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import paynter

MOTOR = paynter.examples.dc_motor.text


def test_models_come_from_files_texts_and_examples(tmp_path):
    file = tmp_path / "motor.bg"
    file.write_text(MOTOR, encoding="utf-8")
    loaded, parsed = paynter.load(file), paynter.parse(MOTOR)
    assert loaded.name == parsed.name == "dc_motor"
    assert np.array_equal(loaded.poles().poles, parsed.poles().poles)
    assert "dc_motor" in paynter.examples and len(paynter.examples) > 20
    with pytest.raises(FileNotFoundError):
        paynter.load(tmp_path / "missing.bg")
    with pytest.raises(KeyError, match="dc_motor"):
        paynter.examples["no_such"]


def test_imports_stay_in_the_folder(tmp_path):
    (tmp_path / "part.bg").write_text("model part { port p; R r = 1; p -> r }")
    body = "model whole { Se s = 1; use part one_part; s -> one_part.p; output i = s.f }"
    (tmp_path / "whole.bg").write_text('import "part.bg"\n' + body)
    assert paynter.load(tmp_path / "whole.bg").check().ok
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "whole.bg").write_text('import "../part.bg"\n' + body)
    with pytest.raises(paynter.ModelError):
        paynter.load(inner / "whole.bg")


def test_other_values_give_other_answers_at_once():
    motor = paynter.examples.dc_motor
    slow = motor.with_(Jm=1e-3)
    assert motor.parameters["Jm"] == 1e-4 and slow.parameters["Jm"] == 1e-3
    as_text = paynter.parse(MOTOR.replace("Jm = 1e-4", "Jm = 1e-3"))
    assert np.allclose(slow.poles().poles, as_text.poles().poles, rtol=1e-13)
    assert motor.with_(La="6 [mH]").parameters["La"] == pytest.approx(6e-3)
    with pytest.raises(paynter.ModelError, match="Rx"):
        motor.with_(Rx=3)
    with pytest.raises(ValueError, match="finite"):
        motor.with_(Ra=float("nan"))
    with pytest.raises(TypeError):
        motor.with_(Ra=[1, 2])


def test_a_graph_built_in_python_is_the_model_of_its_text():
    m = paynter.Graph("dc_motor", "built")
    for name, value in {"Ra": 2, "La": 5e-3, "kT": 0.1, "Rm": 1e-3, "Jm": 1e-4}.items():
        m.param(name, value, tolerance="10%")
    supply, load = m.Se("supply", m.input("E", 12)), m.Se("load", m.input("Mload", 0))
    armature, shaft = m.one("armature"), m.one("shaft")
    motor, coil, rotor = m.GY("motor", "kT"), m.I("coil", "La"), m.I("rotor", "Jm")
    m.bond(supply, armature)
    for element in (m.R("winding", "Ra"), coil, motor):
        m.bond(armature, element)
    m.bond(motor, shaft)
    m.bond(shaft, m.R("bearing", "Rm"))
    m.bond(shaft, rotor, name="torque")
    m.bond(load, shaft)
    m.output("ia", coil.f)
    m.output("w", rotor.f)
    built, text = m.model(), paynter.parse(m.text())
    assert built.tf().document["entries"] == text.tf().document["entries"]
    assert built.tf()["w", "E"].den == paynter.examples.dc_motor.tf()["w", "E"].den
    m.bond(supply, "nowhere")
    with pytest.raises(paynter.ModelError, match="nowhere"):
        m.model()


def test_wrong_models_raise_with_their_lines():
    wrong = "model m {\n    Se s = 1\n    R r = Rx\n    s -> r\n}\n"
    with pytest.raises(paynter.ModelError) as caught:
        paynter.parse(wrong)
    [found] = caught.value.errors
    assert (found.code, found.line) == ("BG0201", 3) and found.help
    assert "R r = Rx" in str(caught.value) and "^^" in str(caught.value)
    assert paynter.explain(found.code).startswith("# BG0201")
    kept = paynter.parse(wrong, check=False)
    assert not kept.check() and kept.check().diagnostics == caught.value.diagnostics
    with pytest.raises(paynter.ModelError):
        kept.poles()


def test_warnings_are_pythons_own_and_point_at_the_line():
    text = "model m {\n param unused = 1\n Se s = 1\n R r = 2\n s -> r\n output i = r.f\n}\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        paynter.parse(text).equations()
    told = [str(w.message) for w in caught if issubclass(w.category, paynter.ModelWarning)]
    assert any("unused" in line and "^" in line for line in told)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda m: m.simulate(1, sensitivty="all"), TypeError, "sensitivty"),
        (lambda m: m.simulate(1, sensitivity="Rx"), paynter.ModelError, "Rx"),
        (lambda m: m.simulate(-1), paynter.ModelError, "t_end"),
        (lambda m: m.simulate(times=[0, 2, 1]), ValueError, "rise"),
        (lambda m: m.simulate(times=[[0, 1]]), ValueError, "shape"),
        (lambda m: m.simulate(1, inputs={"E": [1, np.nan]}), ValueError, "nan"),
        (lambda m: m.simulate(1, inputs={"E": ["a", "b"]}), TypeError, "numbers"),
        (lambda m: m.simulate(1, inputs={"E": ([0, 1, 1], [1, 2, 3])}), ValueError, "rise"),
        (lambda m: m.simulate(1, inputs={"E": ([0, 1], [1, 2, 3])}), ValueError, "3 values at 2 times"),
        (lambda m: m.simulate(1, inputs={"E": lambda t: 1 / 0}), ZeroDivisionError, "division"),
        (lambda m: m.simulate(1, inputs={"E": lambda t: "x"}), TypeError, "return a number"),
        (lambda m: m.simulate(1, inputs={"Ex": [1, 2]}), paynter.ModelError, "E"),
        (lambda m: m.simulate(1, solver="rk5"), paynter.ModelError, "rk4"),
        (lambda m: m.bode([1, 0.5]), ValueError, "rise"),
        (lambda m: m.bode("1:2"), ValueError, "LO:HI:N"),
        (lambda m: m.bode([1], output="x"), paynter.ModelError, "x"),
        (lambda m: m.tf(method="magic"), ValueError, "mason"),
        (lambda m: m.robust(output="w"), TypeError, "input"),
        (lambda m: m.estimate({"t": [0, 1], "E": [1]}), ValueError, "lengths"),
        (lambda m: m.estimate(3), TypeError, "path"),
        (lambda m: m.export("cobol"), ValueError, "julia"),
        (lambda m: m.rhs(0, [1, 2, 3]), ValueError, "shape"),
    ],
)
def test_bad_questions_say_what_to_do(call, kind, words):
    with pytest.raises(kind, match=words):
        call(paynter.examples.dc_motor)


def test_remedies_name_keywords_that_exist(root):
    """What the libraries refer to as options and questions are keywords and methods here."""
    methods = {name: method for name, method in inspect.getmembers(paynter.Model, inspect.isfunction)}
    asked = [*methods.values(), paynter.load, paynter.parse]
    keywords = {key for method in asked for key in inspect.signature(method).parameters}
    left_out = {"set", "json", "form", "symbolic", "plot", "figure", "layout", "hz", "quiet", "write"}
    options, questions = set(), set()
    for file in root.glob("crates/*/src/**/*.rs"):
        if file.name in ("remedy.rs", "spelling.rs"):
            continue
        text = file.read_text(encoding="utf-8")
        options |= set(re.findall(r"\{option (\w+)", text)) | set(re.findall(r'\.option\("(\w+)"', text))
        questions |= {name.replace("-", "_") for name in re.findall(r"\{ask ([\w-]+)", text)}
    assert len(options) > 10 and options - left_out <= keywords
    questions = questions - {"help", "explain", "examples"}
    assert questions <= set(methods)
    with pytest.raises(paynter.ModelError, match=r"`t_end"):
        paynter.examples.dc_motor.simulate(-1)


def test_a_panic_is_an_internal_error():
    from paynter import _paynter

    with pytest.raises(paynter.InternalError, match="report"):
        _paynter.panic_on_purpose()
    assert paynter.examples.dc_motor.poles().stable


# Beside others


def test_transfer_functions_are_those_of_python_control():
    control = pytest.importorskip("control")
    motor = paynter.examples.dc_motor
    omega = np.geomspace(1, 1e3, 20)
    ours, theirs = motor.bode(omega), motor.tf().to_control()
    assert isinstance(theirs, control.TransferFunction)
    values = theirs(1j * omega)
    space = motor.operating_point().to_control()(1j * omega)
    for row, output in enumerate(["ia", "w"]):
        for column, input in enumerate(["E", "Mload"]):
            assert np.allclose(ours[output, input], values[row, column], rtol=1e-9)
            assert np.allclose(ours[output, input], space[row, column], rtol=1e-9)
    assert np.array_equal(ours.omega, omega)


def test_symbols_are_those_of_sympy():
    sympy = pytest.importorskip("sympy")
    motor = paynter.examples.dc_motor
    made, transfer = motor.equations().to_sympy(), motor.tf().to_sympy()
    s = sympy.Symbol("s")
    a, b, c, d = (made[name] for name in "ABCD")
    assert sympy.simplify(c * (s * sympy.eye(2) - a).inv() * b + d - transfer) == sympy.zeros(2, 2)
    by = motor.sensitivity().to_sympy()
    ra = sympy.Symbol("Ra")
    assert sympy.simplify(by["w", "E", "Ra"] - sympy.diff(transfer[1, 0], ra)) == 0
    assert "frac" in motor.equations().to_latex()


def test_runs_are_those_of_scipy():
    integrate = pytest.importorskip("scipy.integrate")
    for name, end in [("dc_motor", 0.2), ("two_tanks", 3.0)]:
        model = paynter.examples[name]
        rhs = model.rhs
        run = model.simulate(end, points=11, rtol=1e-10)
        found = integrate.solve_ivp(
            rhs, (0, end), rhs.x0, method="LSODA", jac=rhs.jac_x, t_eval=run.t, rtol=1e-10, atol=1e-14
        )
        for place, state in enumerate(rhs.states):
            assert np.allclose(found.y[place], run.states[state], rtol=1e-6, atol=1e-9), (name, state)
        outputs = np.array([rhs.output(t, x) for t, x in zip(run.t, found.y.T)]).T
        for place, output in enumerate(rhs.outputs):
            assert np.allclose(outputs[place], run[output], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["dc_motor", "duffing", "two_tanks", "arc", "conical_tanks"])
def test_jacobians_are_derivatives(name):
    rhs = paynter.examples[name].rhs
    x = rhs.x0 + 0.37
    u = None if not rhs.inputs else np.full(len(rhs.inputs), 1.3)
    for jacobian, at, shape in [(rhs.jac_x, x, rhs.states), (rhs.jac_p, rhs.p, rhs.parameters)]:
        found = jacobian(0.1, x, u)
        assert found.shape == (len(rhs.states), len(shape))
        for column in range(len(shape)):
            step = 1e-6 * max(1e-3, abs(at[column]))
            ends = []
            for sign in (1, -1):
                moved = at.copy()
                moved[column] += sign * step
                ends.append(rhs(0.1, moved, u) if jacobian == rhs.jac_x else rhs(0.1, x, u, moved))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert np.allclose(found[:, column], slope, rtol=1e-4, atol=1e-6 * (1 + np.abs(slope).max()))


def test_mu_of_slycot_is_between_our_bounds():
    slycot = pytest.importorskip("slycot")
    motor = paynter.examples.dc_motor
    lft = motor.lft(normalized=True, only=["Ra", "La", "Rm", "Jm"])
    bounds = motor.robust(only=["Ra", "La", "Rm", "Jm"])
    for place in range(3, len(bounds.omega), 10):
        matrix, sizes, kinds = lft.to_slycot(bounds.omega[place])
        mu = slycot.ab13md(matrix, sizes, kinds)[0]
        entry = bounds.mu[place]
        assert mu >= (entry["lower"] or 0) * (1 - 1e-3)
        # Each is an upper bound with scalings of its own.
        assert mu <= entry["upper"] * 1.05


# Inputs


def test_inputs_are_arrays_pairs_functions_and_numbers():
    motor = paynter.examples.dc_motor
    t = np.linspace(0, 0.1, 51)
    ramp = 120 * t
    runs = [
        motor.simulate(0.1, times=t, inputs={"E": ramp}),
        motor.simulate(0.1, times=t, inputs={"E": (t, ramp)}),
        motor.simulate(0.1, times=t, inputs={"E": lambda t: 120 * t}),
        motor.simulate(0.1, times=t, data={"t": t, "E": ramp}),
        motor.with_(E="120*t").simulate(0.1, times=t),
    ]
    for run in runs[1:]:
        assert np.allclose(run["w"], runs[0]["w"], rtol=1e-6, atol=1e-7)
    assert "1001" in runs[2].input_notes[0] and "not known" in runs[2].input_notes[0]
    assert "not known" in repr(runs[2])
    assert not runs[0].input_notes
    stepped = motor.simulate(0.1, inputs={"E": np.sin}, max_step=1e-3)
    assert "101 times" in stepped.input_notes[0]
    both = motor.simulate(0.1, times=t, inputs={"E": 6, "Mload": ([0, 0.05, 0.1], [0, -0.1, 0])})
    assert both["w"][-1] < motor.simulate(0.1, inputs={"E": 6})["w"][-1]


def test_sensitivities_are_differences_of_runs():
    tanks = paynter.examples.two_tanks
    run = tanks.simulate(2, sensitivity="all", rtol=1e-10)
    for parameter in next(iter(run.sensitivities.values())):
        value = tanks.parameters[parameter]
        step = 1e-4 * value
        high, low = (tanks.with_({parameter: value + sign * step}).simulate(2, rtol=1e-11) for sign in (1, -1))
        for output in run.outputs:
            slope = (high[output] - low[output]) / (2 * step)
            size = np.abs(slope).max() + 1e-9
            assert np.allclose(run[output, parameter], slope, atol=1e-4 * size)


def test_several_runs_changes_gradients_and_energy():
    motor = paynter.examples.dc_motor
    runs = motor.simulate(0.1, sweep={"Ra": [1, 2, 3]})
    assert len(runs) == 3 and runs[1]["outputs"]["w"][-1] == pytest.approx(motor.simulate(0.1)["w"][-1], rel=1e-6)
    cases = motor.simulate(0.1, scenario={"cold": {"Ra": 1.5}, "loaded": {"Mload": -0.1}})
    assert cases["cold"]["outputs"]["w"][-1] != cases["loaded"]["outputs"]["w"][-1]
    changed = motor.simulate(0.1, perturb={"Ra": "+1%"}).perturbation["outputs"]["w"]
    assert np.abs(changed["difference"]).max() < 1e-2
    gradient = motor.simulate(0.1, gradient="final(w)").gradients["final(w)"]
    by = motor.simulate(0.1, sensitivity="all")
    assert gradient["Ra"] == pytest.approx(by["w", "Ra"][-1], rel=1e-5)
    assert motor.simulate(0.1, energy=True).energy["error"] < 1e-4


def test_estimates_come_from_arrays():
    motor = paynter.examples.dc_motor
    t = np.linspace(0, 0.1, 101)
    run = motor.with_(Ra=2.5).simulate(times=t)
    data = {"t": t, "w": run["w"], "ia": run["ia"]}
    found = motor.estimate(data, fit="Ra")
    assert found.converged and found.values["Ra"] == pytest.approx(2.5, rel=1e-6)
    assert "2.5" in found.text and found.svg().startswith("<svg")


def test_derived_models_are_models():
    motor = paynter.examples.dc_motor
    increment = motor.incremental()
    assert "Delta_Ra" in increment.text and increment.tf().entries
    again = paynter.parse(increment.text)
    assert again.tf().document["entries"] == increment.tf().document["entries"]
    assert motor.uncertain_graph().check().ok


# How answers show themselves


def test_everything_shows_itself():
    motor = paynter.examples.dc_motor
    run = motor.simulate(0.1, sensitivity="all")
    for shown in (motor, motor.bode(), motor.poles(), run, motor.sensitivity(omega="1:100:9"), motor.robust(nodes=0)):
        assert shown._repr_svg_().startswith("<svg"), shown
    for answer in (motor.equations(), motor.tf(), motor.lft(), motor.operating_point(), motor.sensitivity()):
        assert "\\" in answer._repr_latex_(), answer
    for answer in (motor.causality(), motor.operating_point(), motor.report(), motor.check()):
        assert "<" in answer._repr_html_(), answer
    assert motor.draw(sfg=True).svg.startswith("<svg")
    assert "def " in motor.export("python")


def test_tables_go_to_pandas_and_xarray():
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    motor = paynter.examples.dc_motor
    run = motor.simulate(0.1, sensitivity="all")
    frame, dataset = run.to_pandas(), run.to_xarray()
    assert isinstance(frame, pandas.DataFrame) and isinstance(dataset, xarray.Dataset)
    assert np.array_equal(frame["d(w)/d(Ra)"], run["w", "Ra"])
    assert np.array_equal(dataset["sensitivity"].sel(output="w", parameter="Ra"), run["w", "Ra"])
    response = motor.bode()
    assert np.array_equal(response.to_xarray().sel(output="w", input="E"), response["w", "E"])
    assert list(motor.poles().to_pandas()["multiplicity"]) == [1, 1]


def test_plots_go_into_matplotlib():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    motor = paynter.examples.dc_motor
    figure, axes = pyplot.subplots(2, 3)
    motor.simulate(0.1).plot(ax=axes[0, 0])
    motor.poles().plot(ax=axes[0, 1])
    motor.sensitivity(omega="1:100:9").plot(ax=axes[0, 2])
    motor.bode().plot(ax=axes[1, :2])
    motor.robust(nodes=0).plot(ax=axes[1, 2])
    assert all(axis.has_data() for axis in axes.ravel())
    pyplot.close(figure)


def test_every_public_name_is_documented():
    for name in paynter.__all__:
        thing = getattr(paynter, name)
        assert inspect.getdoc(thing) or name == "__version__", name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_every_public_attribute_is_documented():
    """Attributes have no docstrings: a comment ``#:`` stands above them."""
    for file in Path(paynter.__file__).parent.glob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        tops = ast.parse("\n".join(lines)).body
        public = [top for top in tops if isinstance(top, ast.ClassDef) and not top.name.startswith("_")]
        for node in (node for top in public for node in ast.walk(top)):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if not isinstance(node, (ast.Assign, ast.AnnAssign)):
                continue
            flat = [item for target in targets for item in getattr(target, "elts", [target])]
            named = [
                item.attr for item in flat
                if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "self"
            ]
            if any(not name.startswith("_") for name in named):
                above = lines[node.lineno - 2].strip()
                assert above.startswith("#:"), f"{file.name}:{node.lineno}: {named}"


@pytest.mark.parametrize("thing", ["equations", "tf", "lft", "operating_point"])
def test_formulas_are_one_display(thing):
    """Renderers of notebooks show what stands outside of math as it is."""
    for name in ("dc_motor", "gas_container", "chain", "arc"):
        shown = getattr(paynter.examples[name], thing)()._repr_latex_()
        assert shown is None or (shown.startswith("$$") and shown.count("$$") == 2 and "\n\n" not in shown), shown
        assert "%" not in (shown or "").replace("\\%", "")


def test_layouts_keep_positions(tmp_path):
    motor = paynter.examples.dc_motor
    drawing = motor.draw()
    assert "rotor" in drawing.layout and len(drawing.layout) == 9
    moved = drawing.layout | {"rotor": (11.0, -5.0)}
    again = motor.draw(layout=moved)
    assert again.layout["rotor"] == (11.0, -5.0) and again.svg != drawing.svg
    file = tmp_path / "layout.json"
    assert motor.draw(layout=file).svg == drawing.svg and file.exists()
    assert motor.draw(layout=file).layout == drawing.layout
    with pytest.warns(paynter.ModelWarning, match="'nothing'"):
        motor.draw(layout={"nothing": (1, 2)})
    with pytest.raises(ValueError, match="layout"):
        motor.draw(layout={"rotor": (float("nan"), 2)})
    assert motor.draw(sfg=True).layout == {}
    assert "<svg" in motor.uncertain_blocks().svg and motor.uncertain_graph().check().ok


def test_reports_estimate_from_data():
    motor = paynter.examples.dc_motor
    run = motor.with_(Rm=2e-3).simulate(1.0, points=101)
    page = motor.report(t_end=0.1, data={"t": run.t, "w": run["w"]}, fit="Rm").html
    assert "Estimates with intervals" in page and "Estimates with intervals" not in motor.report(t_end=0.1).html


def test_sensitivities_are_typeset():
    sympy = pytest.importorskip("sympy")
    found = paynter.examples.rc.sensitivity()
    text = found.to_latex()
    r, c, s = sympy.symbols("r c s")
    by_r = sympy.latex(sympy.factor(sympy.diff(1 / (c * r * s + 1), r)))
    assert text.startswith("\\begin{align*}") and by_r in text
    assert found._repr_latex_().startswith("$$") and found._repr_html_() is None


LAG = """model lag { param T = 1 [mohm] in [0.01, 100]; param g = 1 [kV/V] in [0.01, 100]; input u [V]; Se s = g*u; 1 j
R r = T; C c = 1; s -> j -> r, c; output y = c.e [mV] }"""


def lag_data(values=(0.7, 2.0)):
    """A step answered by a lag, in declared units."""
    t = np.linspace(0, 4e-3, 41)
    u = (t > 0.95e-3) * 1.0
    model = paynter.parse(LAG).with_(T=values[0], g=values[1])
    run = model.simulate(inputs={"u": (t, u)}, times=t)
    return {"t": t, "u": u, "y": 1e3 * run["y"]}


def test_missing_samples_are_left_out_however_they_are_written():
    pandas = pytest.importorskip("pandas")
    data, model = lag_data(), paynter.parse(LAG)
    gaps = data["y"].copy()
    gaps[[3, 20]] = np.nan
    masked = np.ma.masked_invalid(gaps)
    listed = [None if np.isnan(value) else value for value in gaps]
    for column in (gaps, masked, listed, pandas.array(gaps, dtype="Float64")):
        found = model.estimate(data | {"y": column}, fit="T,g")
        assert found.values["T"] == pytest.approx(7e-4, rel=1e-5) and found.document["fits"][0]["samples"] == 39
    framed = pandas.DataFrame(data | {"y": pandas.array(gaps, dtype="Float64")})
    assert model.estimate(framed, fit="T,g").values["g"] == pytest.approx(2000, rel=1e-5)
    with pytest.raises(ValueError, match="the column 'y' is inf"):
        model.estimate(data | {"y": np.where(np.isnan(gaps), np.inf, gaps)}, fit="T,g")


def test_durations_and_dates_are_seconds():
    pandas = pytest.importorskip("pandas")
    data, model = lag_data(), paynter.parse(LAG)
    durations = pandas.to_timedelta(data["t"], unit="s")
    for t in (durations, pandas.Timestamp("2026-01-01") + durations, durations.to_numpy()):
        found = model.estimate(pandas.DataFrame(data | {"t": t}), fit="T,g")
        assert found.values["T"] == pytest.approx(7e-4, rel=1e-4)
    indexed = pandas.DataFrame({name: data[name] for name in ("u", "y")}, index=pandas.Index(durations, name="t"))
    assert model.estimate(indexed, fit="T,g").values["T"] == pytest.approx(7e-4, rel=1e-4)
    with pytest.raises(TypeError, match="durations"):
        model.estimate(data | {"y": durations.to_numpy()}, fit="T,g")


def test_the_model_of_an_estimation_has_its_values():
    model = paynter.parse(LAG)
    found = model.estimate(lag_data(), fit="T,g")
    assert found.model.parameters == pytest.approx(found.values, rel=1e-12)
    assert model.estimate(lag_data(), fit="T,g", start={"T": "700 [uohm]"}).values == pytest.approx(found.values, rel=1e-6)


def test_what_is_written_is_in_declared_units_and_what_is_read_in_si():
    coil = paynter.parse("""model m { param L = 5 [mH]; param R = 2 [ohm]; input E = 12 [kV]
        Se s = E; 1 j; I l = L; R r = R; s -> j; j -> l, r
        output i = l.f [mA] }""")
    tau = 5e-3 / 2
    assert coil.with_(L=10).parameters["L"] == coil.with_(L="10 [mH]").parameters["L"] == 0.01
    risen = 6000 * (1 - np.exp(-1))
    assert np.isclose(coil.simulate(tau, points=2, inputs={"E": 1}).outputs["i"][-1], risen / 12)
    [slow] = coil.simulate(tau, points=2, sweep={"L": [10]})
    assert np.isclose(slow["outputs"]["i"][-1], 6000 * (1 - np.exp(-0.5)))
    run = coil.simulate(4 * tau)
    asked = dict(fit="L", start={"L": 8}, bounds={"L": (1, 20)})
    for column, size in [("i", 1e3), ("i [A]", 1)]:
        found = coil.estimate({"t": run.t, column: size * run.outputs["i"]}, **asked)
        assert np.isclose(found.values["L"], 5e-3) and np.isclose(found.model.parameters["L"], 5e-3)
    limits = {"i": (0, 1e3 * risen)}
    many = coil.ensemble(20, t_end=tau, points=2, vary={"L": ("uniform", 4, 6)}, limit=limits)
    assert 0.4 <= many.yield_["i"] <= 0.6


MILLI = """
model coil {
    param L = 6 [mH] ±10%
    param R = 2 [kohm] ±5%
    input u = 3 [mV]
    Se s = u
    1 j
    I i = L
    R r = R
    s -> j -> i
    j -> r
    output y = i.f [mA]
}
"""


def test_values_that_were_read_go_back_as_what_they_are():
    model = paynter.parse(MILLI)
    assert model.parameters == {"L": pytest.approx(6e-3), "R": pytest.approx(2e3)}
    pole = model.poles().poles[0]
    for same in (
        model.with_(model.parameters),
        model.with_(L=model.parameters["L"]),
        model.with_(L=2 * model.parameters["L"] / 2.0 + model.parameters["L"] - model.parameters["L"]),
        model.with_(model.equations().parameters),
        model.with_(pickle.loads(pickle.dumps(model.parameters))),
        model.with_(L=np.float64(2) * model.parameters["L"] / 2, R=abs(-sum([model.parameters["R"]]))),
    ):
        assert same.poles().poles[0] == pytest.approx(pole, rel=1e-12)
    # That of another parameter is converted where the model is at hand, and refused elsewhere.
    two = paynter.parse(MILLI.replace("param R", "param M = 1 [H]\n    param R").replace("= L", "= L + 0*M"))
    assert two.with_(M=two.parameters["L"]).parameters["M"] == pytest.approx(6e-3)
    with pytest.raises(ValueError, match="a value of 'L' is given for 'M'"):
        two.ensemble(3, vary={"M": (two.parameters["L"], 1)})
    L = model.parameters["L"]
    swept = model.simulate(1e-5, points=2, sweep={"L": [L, 2 * L]})
    written = model.simulate(1e-5, points=2, sweep={"L": [6, 12]})
    assert [run["outputs"]["y"][-1] for run in swept] == pytest.approx([run["outputs"]["y"][-1] for run in written])
    drawn = model.ensemble(8, lambda model: model.parameters["L"], vary={"L": (L / 2, L)})
    assert 3e-3 <= drawn["answer"].least[0] <= drawn["answer"].most[0] <= 6e-3
    # A number of its own is in the declared unit, and so is a ratio of two values.
    assert model.with_(L=12).poles().poles[0] == pytest.approx(pole / 2, rel=1e-12)
    ratio = model.parameters["L"] / model.parameters["L"]
    assert model.with_(L=6 * ratio).poles().poles[0] == pytest.approx(pole, rel=1e-12)
    halved = model.with_({name: value / 2 for name, value in model.parameters.items()})
    assert halved.parameters == {"L": pytest.approx(3e-3), "R": pytest.approx(1e3)}

    def small(model):
        if model.parameters["L"] > 6e-3:
            raise ArithmeticError("too large")
        return 1.0

    failures = model.ensemble(20, small).failures
    assert failures
    assert all(model.with_(failure["values"]).parameters["L"] >= 6e-3 for failure in failures)


def test_estimates_go_back_as_what_they_are():
    model = paynter.parse(MILLI)
    t = np.linspace(0, 2e-5, 200)
    truth = model.with_(L=9, R=2.2)
    measured = truth.simulate(2e-5, times=t, sensitivity=None)["y"]
    found = model.estimate({"t": t, "y [A]": measured}, fit="L,R")
    assert found.values["L"] == pytest.approx(9e-3, rel=1e-4)
    assert model.with_(found.values).parameters["L"] == pytest.approx(9e-3, rel=1e-4)
    assert found.model.parameters["R"] == pytest.approx(2.2e3, rel=1e-4)
