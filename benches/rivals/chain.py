"""State equations of a chain of masses, springs and dampers by other tools:
python chain.py TOOL N prints the seconds of processor time."""
import sys
import time


def bond_graph_tools(count):
    import BondGraphTools as bgt

    start = time.process_time()
    model = bgt.new(name="chain")

    def new(kind, name=None, value=None):
        part = bgt.new(kind, name=name, value=value)
        bgt.add(model, part)
        return part

    before = new("Se", "push")
    for i in range(count):
        motion, force, stretch = new("1"), new("0"), new("1")
        bgt.connect(before, motion)
        bgt.connect(motion, new("I", f"mass{i}"))
        bgt.connect(motion, force)
        bgt.connect(force, stretch)
        bgt.connect(stretch, new("C", f"spring{i}"))
        bgt.connect(stretch, new("R", f"damper{i}"))
        before = force
    bgt.connect(before, new("Sf", "wall", 0))
    relations = model.constitutive_relations
    assert len(relations) >= 2 * count
    return time.process_time() - start


def bondgraph(count):
    from bondgraph.core import Bond, BondGraph
    from bondgraph.elements import Element_C, Element_I, Element_R, Source_effort, Source_flow
    from bondgraph.junctions import JunctionEqualEffort, JunctionEqualFlow
    from sympy import Symbol

    start = time.process_time()
    graph = BondGraph()
    before = Source_effort("push", Symbol("F"))
    for i in range(count):
        motion, force, stretch = (
            JunctionEqualFlow(f"motion{i}"),
            JunctionEqualEffort(f"force{i}"),
            JunctionEqualFlow(f"stretch{i}"),
        )
        graph.add(Bond(before, motion))
        graph.add(Bond(motion, Element_I(f"mass{i}", Symbol(f"m{i}"), Symbol(f"p{i}"))))
        graph.add(Bond(motion, force))
        graph.add(Bond(force, stretch))
        graph.add(Bond(stretch, Element_C(f"spring{i}", Symbol(f"c{i}"), Symbol(f"q{i}"))))
        graph.add(Bond(stretch, Element_R(f"damper{i}", Symbol(f"b{i}"))))
        before = force
    graph.add(Bond(before, Source_flow("wall", Symbol("v"))))
    assert len(graph.get_state_equations()) == 2 * count
    return time.process_time() - start


TOOLS = {"BondGraphTools": bond_graph_tools, "bondgraph": bondgraph}
print(TOOLS[sys.argv[1]](int(sys.argv[2])))
