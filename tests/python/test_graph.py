"""Graphs built in Python are the models of their texts, whatever they hold."""

import numpy as np
import pytest

import paynter


def test_all_kinds_and_values():
    g = paynter.Graph("kinds", 'with "quotes"')
    g.param("m", np.float64(1.5), unit="kg", tolerance=np.float64(0.1), bounds=(np.float64(1), 2), doc="a mass")
    u = g.input("u", 1)
    drive, hub, rail = g.Se("drive", u), g.one("hub"), g.zero("rail")
    lever, spring = g.TF("lever", np.float32(2)), g.C("spring", np.int64(2))
    mass = g.I("mass", laws="f = p/m + p^3")
    switch = g.Sw("diode", "diode.e > 0", Ron=0.1, Goff=1e-6)
    field = g.C("field", np.array([[2, 0.5], [0.5, 3]]), ports=2)
    turn, sense = g.GY("turn", 0.5), g.De("sense")
    g.bond(drive, hub)
    for element in (g.R("loss", 1e-3), mass, lever):
        g.bond(hub, element)
    g.bond(lever, rail)
    for element in (spring, switch, sense):
        g.bond(rail, element)
    for port in (1, 2):
        branch = g.one(f"branch{port}")
        g.bond(rail, branch)
        g.bond(branch, field.port(port))
        g.bond(branch, g.R(f"r{port}", port))
    far = g.one("far")
    g.bond(rail, turn, far)
    g.bond(far, g.R("brake", laws="e = f + f^3"), name="end")
    g.init(spring.q, 0.5)
    g.output("y", sense.e)
    g.output("z", "end.f")
    built = g.model()
    assert built.parameters["m"] == 1.5
    again = paynter.parse(g.text())
    ours, theirs = built.simulate(1, points=11), again.simulate(1, points=11)
    assert np.array_equal(ours["y"], theirs["y"]) and np.isfinite(ours["z"]).all()
    assert ours.states["spring.q"][0] == 0.5


def test_submodels_have_their_parameters_in_the_header():
    cell = paynter.Graph("cell")
    resistance = cell.param("R", 1, tolerance="5%")
    left, right = cell.port("left"), cell.port("right")
    middle, node, store = cell.one("middle"), cell.zero("node"), cell.C("store", 1)
    cell.bond(left, middle)
    cell.bond(middle, cell.R("r", resistance))
    cell.bond(middle, node)
    cell.bond(node, store)
    cell.bond(node, right)
    ladder = paynter.Graph("ladder")
    first, second = ladder.use(cell, "first", R=2), ladder.use(cell, "second")
    ladder.bond(ladder.Se("s", ladder.input("u", 1)), first.left)
    ladder.bond(first.right, second.left)
    ladder.bond(second.right, ladder.R("load", 10))
    ladder.output("y", second.store.e)
    made = ladder.model()
    # Both capacitors are charged through 2 and 1 ohm into 10 ohm.
    assert made.operating_point().outputs["y"] == pytest.approx(10 / 13, rel=1e-12)
    assert ladder.text().count("model cell(") == 1


@pytest.mark.parametrize(
    ("build", "kind", "words"),
    [
        (lambda g: g.R("a", float("nan")), ValueError, "finite"),
        (lambda g: g.R("a", np.inf), ValueError, "finite"),
        (lambda g: g.R("a", True), TypeError, "number"),
        (lambda g: g.R("a\nb", 1), ValueError, "one line"),
        (lambda g: g.Q("a"), AttributeError, "kinds of elements"),
        (lambda g: g.bond("a"), TypeError, "two elements"),
        (lambda g: g.R("a", 1) and g.model(), paynter.ModelError, "has no bond"),
        (lambda g: g.bond(g.Se("s", 1), g.R("a", "b")) or g.model(), paynter.ModelError, "`b`"),
    ],
)
def test_mistakes_are_told(build, kind, words):
    with pytest.raises(kind, match=words):
        build(paynter.Graph("g"))


def test_names_are_calculated_with():
    g = paynter.Graph("z")
    R, C, RC = g.param("R", 2.0), g.param("C", 3.0), g.param("RC", 100.0)
    u = g.input("u", 1)
    source = g.Se("s", u * 2 / (1 + 1.0))
    value = np.float64(2) * R + C - RC / 1e3 + (-R) ** 2 + abs(-C) + 1 / C + 2**R - (R - C) + sum([R, C])
    r = g.R("r", value)
    g.bond(source, r)
    g.output("i", r.f * -1)
    expected = 4 + 3 - 0.1 + 4 + 3 + 1 / 3 + 4 + 1 + 5
    assert g.model().operating_point().outputs["i"] == pytest.approx(-1 / expected, rel=1e-12)
    assert isinstance(R, str) and R == "R" and f"2*{R}" == "2*R"
    with pytest.raises(TypeError):
        R * [1]
    with pytest.raises(TypeError):
        R + True
