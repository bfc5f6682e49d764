"""Judges linear models by SymPy, without causality.

Reads a list of cases from standard input: elements and bonds as plain data,
beside what Paynter says of them. Every port gives one equation; SymPy solves
them all together over the field of rational functions in s and the
parameters. The transfer functions must be equal, and the matrices must hold
for the states that were found. Prints what is wrong; the last line counts.
"""

import json
import re
import sys

from sympy import QQ, Symbol, sympify
from sympy.polys.rings import ring
from sympy.polys.solvers import solve_lin_sys

NAME = re.compile(r"[^\W\d][\w.\[\]]*(?:\([\w.]*\))?")


def spelled(name):
    """A name of the model as a Python name: c[3].m and c_3.m are the same."""
    return "v_" + name.replace("[", "_").replace("]", "").replace(".", "__").replace("(", "_").replace(")", "")


def parsed(text, names):
    """An expression of the model language over known names."""
    symbols = {}

    def known(match):
        word = match.group(0)
        if word not in names:
            raise KeyError(word)
        symbols[spelled(word)] = names[word]
        return spelled(word)

    # Numbers with exponents are no names.
    exact = re.sub(r"\d+(?:\.\d+)?[eE][+-]?\d+|\d+\.\d+", lambda m: f"({QQ(*ratio(m.group(0)))})", text)
    return sympify(NAME.sub(known, exact).replace("^", "**"), locals=symbols, rational=True)


def ratio(text):
    from fractions import Fraction

    value = Fraction(text)
    return value.numerator, value.denominator


class Case:
    def __init__(self, data):
        self.data = data
        self.s = Symbol("s")
        self.parameters = {name: Symbol(spelled(name)) for name in data["parameters"]}
        self.inputs = {name: Symbol(spelled(name)) for name in data["inputs"]}
        bonds = [bond["name"] for bond in data["bonds"]]
        self.effort = {name: Symbol(f"e_{k}") for k, name in enumerate(bonds)}
        self.flow = {name: Symbol(f"f_{k}") for k, name in enumerate(bonds)}
        self.states = {}
        self.signals = {signal["name"]: Symbol(f"g_{k}") for k, signal in enumerate(data["signals"])}
        self.equations = []
        self.names = dict(self.parameters) | self.inputs | self.signals
        for element in data["elements"]:
            for k, port in enumerate(element["ports"]):
                suffix = "" if len(element["ports"]) == 1 else str(k + 1)
                if element["kind"] not in ("0", "1"):
                    self.names[f"{element['name']}.e{suffix}"] = self.effort[port["bond"]]
                    self.names[f"{element['name']}.f{suffix}"] = self.flow[port["bond"]]
                if element["kind"] in ("C", "I"):
                    letter = "q" if element["kind"] == "C" else "p"
                    name = f"{element['name']}.{letter}{suffix}"
                    self.states[name] = self.names[name] = Symbol(f"x_{len(self.states)}")
        for integrator in data["integrators"]:
            name = integrator["name"]
            self.states[name] = self.names[name] = Symbol(f"x_{len(self.states)}")
        for bond in bonds:
            self.names[f"{bond}.e"] = self.effort[bond]
            self.names[f"{bond}.f"] = self.flow[bond]
        for element in data["elements"]:
            self.element(element)
        for signal in data["signals"]:
            self.equations.append(self.signals[signal["name"]] - parsed(signal["value"], self.names))
        for integrator in data["integrators"]:
            self.equations.append(self.s * self.states[integrator["name"]] - parsed(integrator["rate"], self.names))

    def element(self, element):
        """The equations of one element: as many as it has ports."""
        kind, law = element["kind"], element["law"]
        e = [self.effort[port["bond"]] for port in element["ports"]]
        into = [(1 if port["into"] else -1) * self.flow[port["bond"]] for port in element["ports"]]
        add = self.equations.append
        value = parsed(law["value"], self.names) if "value" in law else None
        if kind == "0":
            for other in e[1:]:
                add(other - e[0])
            add(sum(into))
        elif kind == "1":
            flows = [self.flow[port["bond"]] for port in element["ports"]]
            for other in flows[1:]:
                add(other - flows[0])
            add(sum((1 if port["into"] else -1) * x for port, x in zip(element["ports"], e)))
        elif kind == "Se":
            add(e[0] - value)
        elif kind == "Sf":
            add(self.flow[element["ports"][0]["bond"]] - value)
        elif kind == "De":
            add(into[0])
        elif kind == "Df":
            add(e[0])
        elif kind == "TF":
            add(e[0] - value * e[1])
            add(-into[1] - value * into[0])
        elif kind == "GY":
            add(e[0] + value * into[1])
            add(e[1] - value * into[0])
        else:
            self.store(element, e, into)

    def store(self, element, e, into):
        """R, C and I: the law, and that states fill by what flows in."""
        kind, law = element["kind"], element["law"]
        n = len(e)
        suffixes = [""] if n == 1 else [str(k + 1) for k in range(n)]
        local = dict(self.names)
        left, right = e, into
        if kind in ("C", "I"):
            letter = "q" if kind == "C" else "p"
            x = [self.states[f"{element['name']}.{letter}{suffix}"] for suffix in suffixes]
            for suffix, state in zip(suffixes, x):
                local[f"{letter}{suffix}"] = state
            left, right = x, (e if kind == "C" else into)
            for state, filled in zip(x, into if kind == "C" else e):
                self.equations.append(self.s * state - filled)
        for suffix, effort, flow in zip(suffixes, e, into):
            local[f"e{suffix}"], local[f"f{suffix}"] = effort, flow
        if "value" in law:
            self.equations.append(left[0] - parsed(law["value"], self.names) * right[0])
        elif "matrix" in law:
            for own, row in zip(left, law["matrix"]):
                terms = [parsed(entry, self.names) * other for entry, other in zip(row, right)]
                self.equations.append(own - sum(terms))
        else:
            for a, b in law["equations"]:
                self.equations.append(parsed(a, local) - parsed(b, local))

    def solve(self):
        """Every unknown as a linear form of the inputs, over the field of s and the parameters."""
        unknowns = [*self.effort.values(), *self.flow.values(), *self.signals.values(), *self.states.values()]
        field = QQ.frac_field(self.s, *self.parameters.values())
        space, *gens = ring([*unknowns, *self.inputs.values()], field)
        lines = [space.from_expr(equation) for equation in self.equations]
        # Inputs come last, so they stay free.
        solution = solve_lin_sys(lines, space)
        if solution is None:
            raise ValueError("the equations contradict each other")
        free = [str(g) for g in gens[: len(unknowns)] if g not in solution]
        if free:
            raise ValueError(f"not determined: {free}")
        self.field, self.space = field, space
        # A constant comes as an element of the field, anything else as a form.
        self.solution = {str(symbol): space(form) for symbol, form in solution.items()}

    def transfer(self, expression, name):
        """The coefficient of an input in an expression over unknowns."""
        form = self.space.from_expr(expression)
        total = self.space.zero
        for monomial, coefficient in form.terms():
            if sum(monomial) != 1:
                raise ValueError("not linear")
            symbol = self.space.gens[monomial.index(1)]
            total += coefficient * self.solution.get(str(symbol), symbol)
        place = [str(symbol) for symbol in self.space.gens].index(str(self.inputs[name]))
        wanted = tuple(int(k == place) for k in range(self.space.ngens))
        return total.get(wanted, self.field.zero)

    def number(self, text, definitions=()):
        """An expression over s and the parameters, with the sub-expressions that have names."""
        names = self.parameters | {"s": self.s}
        for definition in definitions:
            names[definition["name"]] = parsed(definition["value"], names)
        return self.field.from_sympy(parsed(text, names))


def judge(data):
    """All that is wrong with a case."""
    case = Case(data)
    case.solve()
    wrong = []
    inputs = list(case.inputs)
    states = {name: [case.transfer(symbol, u) for u in inputs] for name, symbol in case.states.items()}
    outputs = {
        output["name"]: [case.transfer(parsed(output["value"], case.names), u) for u in inputs]
        for output in data["outputs"]
    }
    for entry in data["tf"]["entries"]:
        expected = outputs[entry["output"]][inputs.index(entry["input"])]
        definitions = data["tf"]["definitions"]
        found = case.number(entry["num"], definitions) / case.number(entry["den"], definitions)
        if found != expected:
            wrong.append(f"{entry['output']}/{entry['input']} is {found}, not {expected}")
    equations = data["equations"]
    s = case.number("s")
    by_name = {name.replace("[", "_").replace("]", ""): row for name, row in states.items()}
    x = [by_name[name] for name in equations["states"]]
    b = [equations["B"], *equations.get("Bd", [])]
    d = [equations["D"], *equations.get("Dd", [])]

    def applied(first, rest, i, k):
        total = sum((case.number(t) * x[j][k] for j, t in enumerate(first[i])), case.field.zero)
        for order, matrix in enumerate(rest):
            total += case.number(matrix[i][k]) * s**order
        return total

    for k, u in enumerate(inputs):
        for i, name in enumerate(equations["states"]):
            if s * x[i][k] != applied(equations["A"], b, i, k):
                wrong.append(f"row {name} of A, B does not hold for {u}")
        for i, name in enumerate(equations["outputs"]):
            if outputs[name][k] != applied(equations["C"], d, i, k):
                wrong.append(f"row {name} of C, D does not hold for {u}")
    return wrong


def main():
    judged = 0
    for data in json.load(sys.stdin):
        try:
            wrong = judge(data)
        except Exception as fault:
            wrong = [f"{type(fault).__name__}: {fault}"]
        judged += 1
        for line in wrong:
            print(f"{data['case']}: {line}")
    print(f"{judged} judged")


main()
