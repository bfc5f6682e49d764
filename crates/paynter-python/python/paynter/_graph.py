"""Bond graphs built in Python, for those who generate models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._model import Model, parse

#: An element, or a port of one.
Port = "Element | str"


class Expression(str):
    """An expression of the language as text, with which one may calculate: ``m.R("r", 2 * R + 1)``."""

    #: NumPy's numbers leave arithmetic to expressions.
    __array_ufunc__ = None

    def _joined(self, sign: str, other: Any, swapped: bool = False) -> Any:
        if isinstance(other, bool) or not isinstance(other, (str, int, float, np.integer, np.floating)):
            return NotImplemented
        parts = [_operand(self), _operand(Graph._value(other))]
        return Expression(f" {sign} ".join(reversed(parts) if swapped else parts))

    def __add__(self, other: Any) -> Any:
        return self._joined("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._joined("+", other, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return self._joined("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._joined("-", other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._joined("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._joined("*", other, swapped=True)

    def __truediv__(self, other: Any) -> Any:
        return self._joined("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._joined("/", other, swapped=True)

    def __pow__(self, other: Any) -> Any:
        return self._joined("^", other)

    def __rpow__(self, other: Any) -> Any:
        return self._joined("^", other, swapped=True)

    def __neg__(self) -> "Expression":
        return Expression(f"-{_operand(self)}")

    def __pos__(self) -> "Expression":
        return self

    def __abs__(self) -> "Expression":
        return Expression(f"abs({self})")


def _operand(text: str) -> str:
    """An expression as a part of another one: names and numbers stand as they are."""
    return text if all(c.isalnum() or c in "_." for c in text) else f"({text})"


class Name(Expression):
    """A name in expressions. Those of what lies within a submodel follow: ``cell.store.q``."""

    def __getattr__(self, inner: str) -> "Name":
        if inner.startswith("_"):
            raise AttributeError(inner)
        return Name(f"{self}.{inner}")


class Element:
    """An element of a graph that is being built. ``element.e``, ``element.f``, ``element.q`` are its variables in
    expressions, ``element.port(1)`` is a port of it."""

    def __init__(self, name: str) -> None:
        #: Its name.
        self.name = name

    def port(self, number: int | str) -> str:
        """A port by its number, or a submodel's by its name."""
        return f"{self.name}.{number}"

    def __getattr__(self, variable: str) -> "Name":
        if variable.startswith("_"):
            raise AttributeError(variable)
        return Name(f"{self.name}.{variable}")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<paynter.Element {self.name}>"


#: The kinds of elements.
KINDS = (
    "Se", "Sf", "MSe", "MSf", "R", "C", "I", "TF", "MTF", "GY", "MGY", "De", "Df", "RS",
)


class Graph:
    """A bond graph that is built statement by statement.

    >>> m = Graph("motor")
    >>> Ra = m.param("Ra", 2, unit="ohm", tolerance="10%")
    >>> E = m.input("E", 12, unit="V")
    >>> a = m.one("armature")
    >>> m.bond(m.Se("supply", E), a)
    >>> m.bond(a, m.R("winding", Ra))

    ``m.text()`` is the ``.bg`` file, ``m.model()`` the model: the checks and messages are those of the language.
    """

    def __init__(self, name: str, doc: str = "") -> None:
        #: The model's name.
        self.name = name
        self._doc = doc
        self._statements: list[str] = []
        self._before: list[str] = []
        # Which statements declare parameters: those of a submodel stand in its header.
        self._declared: set[int] = set()

    def _say(self, statement: str) -> None:
        if "\n" in statement and "{" not in statement:
            raise ValueError(f"a statement has one line: {statement!r}")
        self._statements.append(statement)

    @staticmethod
    def _value(value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(Graph._value(item) for item in value) + "]"
        if isinstance(value, bool):
            raise TypeError("a value is a number or an expression as text")
        if isinstance(value, (float, np.floating)):
            if not np.isfinite(value):
                raise ValueError(f"a value is finite, not {value}")
            return repr(float(value))
        if isinstance(value, int):
            return repr(value)
        if hasattr(value, "tolist"):
            return Graph._value(value.tolist())
        return str(value)

    @staticmethod
    def _quoted(doc: str) -> str:
        return ' "' + doc.replace('"', "'") + '"' if doc else ""

    # Declarations

    def param(
        self,
        name: str,
        value: Any,
        *,
        unit: str | None = None,
        tolerance: float | str | None = None,
        bounds: tuple[float, float] | None = None,
        doc: str = "",
    ) -> Expression:
        """Declares a parameter and returns its name, with which one may calculate. ``tolerance`` is ``"10%"`` or a number in its unit."""
        text = f"param {name} = {self._value(value)}"
        text += f" [{unit}]" if unit else ""
        text += f" ±{self._value(tolerance)}" if tolerance is not None else ""
        text += f" in [{self._value(bounds[0])}, {self._value(bounds[1])}]" if bounds else ""
        self._say(text + self._quoted(doc))
        self._declared.add(len(self._statements) - 1)
        return Expression(name)

    def input(self, name: str, value: Any = None, *, unit: str | None = None, doc: str = "") -> Expression:
        """Declares an input with its default value or signal, and returns its name."""
        text = f"input {name}" + (f" = {self._value(value)}" if value is not None else "")
        self._say(text + (f" [{unit}]" if unit else "") + self._quoted(doc))
        return Expression(name)

    def output(self, name: str, value: Any, *, unit: str | None = None, doc: str = "") -> Expression:
        """Declares an output and returns its name."""
        self._say(f"output {name} = {self._value(value)}" + (f" [{unit}]" if unit else "") + self._quoted(doc))
        return Expression(name)

    def signal(self, name: str, value: Any) -> Expression:
        """Declares a signal and returns its name."""
        self._say(f"signal {name} = {self._value(value)}")
        return Expression(name)

    def init(self, state: str, value: Any) -> None:
        """Sets an initial state: ``m.init(tank.q, 0.5)``."""
        self._say(f"init {state} = {self._value(value)}")

    def statement(self, text: str) -> None:
        """Adds any statement of the language as it stands."""
        self._say(text)

    def import_(self, path: str) -> None:
        """Imports another file."""
        self._before.append(f'import "{path}"')

    # Elements

    def element(
        self, kind: str, name: str, value: Any = None, *, laws: str | Sequence[str] | None = None, ports: int | None = None
    ) -> Element:
        """An element of a kind, with its value, or with laws over e, f, q and p; ``ports`` makes a multiport."""
        head = f"{kind} {name}" + (f"[{ports}]" if ports else "")
        if laws is not None:
            listed = [laws] if isinstance(laws, str) else list(laws)
            self._say(head + " { " + "; ".join(listed) + " }")
        else:
            self._say(head + (f" = {self._value(value)}" if value is not None else ""))
        return Element(name)

    def zero(self, name: str) -> Element:
        """A 0-junction."""
        return self.element("0", name)

    def one(self, name: str) -> Element:
        """A 1-junction."""
        return self.element("1", name)

    def Sw(self, name: str, when: str, **settings: Any) -> Element:
        """A switch that is closed while a condition holds, with ``Ron`` and ``Goff``."""
        inside = "; ".join(f"{key} = {self._value(value)}" for key, value in settings.items())
        self._say(f"Sw {name} when ({when})" + (f" {{ {inside} }}" if inside else ""))
        return Element(name)

    def use(self, submodel: "Graph | str", name: str, **arguments: Any) -> Element:
        """An instance of a submodel, which is another graph or the name of an imported one."""
        if isinstance(submodel, Graph):
            text = submodel._submodel_text()
            if text not in self._before:
                self._before.extend(item for item in submodel._before if item not in self._before)
                self._before.append(text)
        model = submodel.name if isinstance(submodel, Graph) else submodel
        given = ", ".join(f"{key} = {self._value(value)}" for key, value in arguments.items())
        self._say(f"use {model} {name}" + (f"({given})" if given else ""))
        return Element(name)

    def port(self, name: str, domain: str | None = None) -> Element:
        """A port of a submodel."""
        self._say(f"port {name}" + (f" [{domain}]" if domain else ""))
        return Element(name)

    def __getattr__(self, kind: str) -> Any:
        if kind not in KINDS:
            raise AttributeError(f"a graph has no {kind!r}; the kinds of elements are {', '.join(KINDS)}, zero, one, Sw")

        def made(name: str, value: Any = None, **how: Any) -> Element:
            return self.element(kind, name, value, **how)

        made.__name__, made.__doc__ = kind, f"An element of kind {kind}."
        return made

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *KINDS]

    def bond(self, *path: "Element | str", name: str | None = None) -> None:
        """Bonds along a path: ``m.bond(a, b)``, or ``m.bond(a, tf, b)``; power counts in this direction."""
        if len(path) < 2:
            raise TypeError("a bond joins two elements or more")
        if name is not None and len(path) != 2:
            raise TypeError("a name belongs to one bond: give two elements")
        self._say(" -> ".join(str(end) for end in path) + (f" as {name}" if name else ""))

    # What comes of it

    def _model_text(self) -> str:
        body = "".join(f"    {statement}\n" for statement in self._statements)
        return f"model {self.name}{self._quoted(self._doc)} {{\n{body}}}"

    def _submodel_text(self) -> str:
        header = [self._statements[place] for place in sorted(self._declared)]
        inside = [text for place, text in enumerate(self._statements) if place not in self._declared]
        body = "".join(f"    {statement}\n" for statement in inside)
        given = "(" + ", ".join(header) + ")" if header else ""
        return f"model {self.name}{given}{self._quoted(self._doc)} {{\n{body}}}"

    def text(self) -> str:
        """The graph as a ``.bg`` file."""
        return "\n".join([*self._before, self._model_text()]) + "\n"

    def model(self, *, files: Mapping[str, str | bytes] | None = None, check: bool = True) -> Model:
        """The graph as a model. What is wrong with it raises :class:`paynter.ModelError`, as for a file."""
        return parse(self.text(), model=self.name, files=files, check=check)

    def save(self, path: Any) -> None:
        """Writes the ``.bg`` file."""
        from pathlib import Path

        Path(path).write_text(self.text(), encoding="utf-8")

    def _repr_svg_(self) -> str | None:
        return self.model(check=False)._repr_svg_()

    def __repr__(self) -> str:
        return self.text()
