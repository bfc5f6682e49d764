"""Answers about a graph and its equations."""

from __future__ import annotations

from typing import Any

from . import _symbols
from ._result import _escaped, _table, _need, Result, _Matrices


class Check(Result):
    """Whether a model is a well-formed bond graph."""

    @property
    def summary(self) -> dict[str, Any]:
        """Elements, bonds, states and others, counted."""
        return dict(self.document.get("summary") or {})

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        told = "well-formed" if self.ok else "wrong"
        return "\n".join([f"<paynter.Check: {told}>", *map(str, self.diagnostics)])

    def _repr_html_(self) -> str:
        told = "well-formed" if self.ok else "wrong"
        found = "".join(f"<pre>{_escaped(str(diagnostic))}</pre>" for diagnostic in self.diagnostics)
        return f"<p>{_escaped(str(self.summary.get('model', '')))}: {told}</p>{found}"


class Causality(Result):
    """The causal stroke of every bond, when it was decided and why."""

    @property
    def bonds(self) -> list[dict[str, Any]]:
        """Bonds with the element at which effort is an input, and the reason."""
        return list(self.document["bonds"])

    @property
    def storage(self) -> list[dict[str, Any]]:
        """Storages with their states and causality."""
        return list(self.document["storage"])

    @property
    def algebraic_loops(self) -> list[Any]:
        """The algebraic loops."""
        return list(self.document["algebraic_loops"])

    @property
    def order(self) -> int:
        """The number of independent states."""
        return int(self.document["order"])

    def to_pandas(self) -> Any:
        """The bonds as a pandas DataFrame."""
        return _need("pandas", "to_pandas").DataFrame(self.bonds)

    def _repr_html_(self) -> str:
        keys = ("name", "from", "to", "effort_into", "order", "reason")
        return _table(keys, [[bond.get(key, "") for key in keys] for bond in self.bonds])


class Structure(Result):
    """Rank, controllability, observability, causal paths, relative degrees."""

    @property
    def order(self) -> int:
        """The number of independent states."""
        return int(self.document["order"])

    @property
    def controllable(self) -> bool:
        """Whether the inputs reach every state."""
        return bool(self.document["controllable"])

    @property
    def observable(self) -> bool:
        """Whether every state shows in the outputs."""
        return bool(self.document["observable"])


class Equations(_Matrices):
    """State equations: x' = f(x, u), y = g(x, u), with matrices where they are linear."""

    @property
    def form(self) -> str:
        """``linear`` or ``nonlinear``."""
        return str(self.document["form"])

    @property
    def states(self) -> list[str]:
        """The independent states."""
        return list(self.document["states"])

    @property
    def inputs(self) -> list[str]:
        """The inputs."""
        return list(self.document["inputs"])

    @property
    def outputs(self) -> list[str]:
        """The outputs."""
        return list(self.document["outputs"])

    @property
    def parameters(self) -> dict[str, float]:
        """The independent parameters with their nominal values, in SI."""
        values = self.document["parameters"]
        return dict(values) if self._asked is None else self._asked[0]._quantities(values)

    @property
    def f(self) -> list[str]:
        """The rates of the states."""
        return list(self.document["f"])

    @property
    def g(self) -> list[str]:
        """The outputs as expressions."""
        return list(self.document["g"])

    @property
    def constraints(self) -> list[dict[str, Any]]:
        """Unknowns that are given only implicitly."""
        return list(self.document["constraints"])

    def _sizes(self) -> dict[str, tuple[int, int]]:
        n, m, p = len(self.states), len(self.inputs), len(self.outputs)
        return {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m), "E": (n, n)}

    def to_sympy(self) -> dict[str, Any]:
        """The equations as SymPy's: ``f`` and ``g``, and the matrices where the model is linear."""
        import sympy

        definitions = self._definitions()
        made: dict[str, Any] = {
            key: sympy.Matrix([_symbols.expression(text, definitions) for text in self.document[key]])
            for key in ("f", "g")
        }
        for name, (rows, columns) in self._sizes().items():
            if name in self.document:
                made[name] = _symbols.matrix(self.document[name], rows, columns, definitions)
        return made

    def __repr__(self) -> str:
        lines = [f"{state}' = {rate}" for state, rate in zip(self.states, self.f)]
        lines += [f"{output} = {value}" for output, value in zip(self.outputs, self.g)]
        return "\n".join(lines)
