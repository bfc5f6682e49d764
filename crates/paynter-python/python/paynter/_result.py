"""Answers in general: the document, findings, notations and figures; and what all kinds of answers are made with.

Every answer holds its document, the same that the command line prints with ``--json``, in ``document``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _symbols
from ._errors import Diagnostic, diagnostics_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._model import Model

    Array = NDArray[np.float64]
    ComplexArray = NDArray[np.complex128]
    #: How the question was asked: the model, the name of the method, its arguments.
    Asked = tuple[Model, str, dict[str, Any]]


def _complex(pairs: Any) -> ComplexArray:
    """Pairs of real and imaginary part as complex numbers."""
    if pairs is None or len(pairs) == 0:
        return np.zeros(0, dtype=np.complex128)
    parts = np.asarray(pairs, dtype=np.float64)
    return np.ascontiguousarray(parts[:, 0] + 1j * parts[:, 1])


def _response(entry: Mapping[str, Any]) -> ComplexArray:
    """Real and imaginary parts of an entry as complex numbers; NaN where a pole lies."""
    re, im = (np.asarray(entry[key], dtype=np.float64) for key in ("re", "im"))
    return np.ascontiguousarray(re + 1j * im)


def _dense(entries: Any, rows: int, columns: int) -> Array:
    """A matrix of numbers, from rows or from row, column and entry."""
    made = np.zeros((rows, columns))
    if len(entries) and isinstance(entries[0], tuple):
        for row, column, value in entries:
            made[row, column] = np.nan if value is None else value
    elif rows and columns:
        made[:] = [np.asarray(row, dtype=np.float64) for row in entries]
    return made


def _escaped(text: str, quote: bool = True) -> str:
    """Text for HTML."""
    import html

    return html.escape(text, quote=quote)


def _table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in HTML."""

    def cell(value: Any) -> str:
        return _escaped(f"{value:.6g}" if isinstance(value, float) else str(value))

    head = "".join(f"<th>{cell(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _need(name: str, purpose: str) -> Any:
    """A module that is installed only where it is wanted."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        package = {"control": "control", "slycot": "slycot"}.get(name, name.split(".")[0])
        raise ImportError(f"{purpose} needs {package}: `pip install {package}`") from None


def _axes(ax: Any) -> Any:
    """The axes to draw into; new ones where none are given."""
    if ax is not None:
        return ax
    return _need("matplotlib.pyplot", "plot").subplots()[1]


class Result:
    """The answer to a question."""

    #: The figures by their names; a notebook shows the first.
    _figures: tuple[str, ...] = ()

    def __init__(self, native: Any, asked: Asked | None = None) -> None:
        self._native = native
        self._asked = asked
        #: The document, as the command line prints it with ``--json``; rows of numbers are NumPy arrays.
        self.document: dict[str, Any] = native.document
        self._findings: list[dict[str, Any]] = native.findings

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All findings by place."""
        return diagnostics_of(self._findings)

    @property
    def ok(self) -> bool:
        """Whether the model has no error."""
        return bool(self.document.get("ok", True))

    def __getitem__(self, key: str) -> Any:
        return self.document[key]

    def __getstate__(self) -> dict[str, Any]:
        # What draws figures does not travel; it is asked for again where somebody looks.
        return self.__dict__ | {"_native": None}

    def _again(self) -> Any:
        if self._native is None and self._asked is not None:
            model, question, arguments = self._asked
            self._native = getattr(model, question)(**arguments)._native
        return self._native

    def to_latex(self) -> str:
        """The answer typeset in LaTeX."""
        return self.written("latex")

    def written(self, notation: str) -> str:
        """The answer in a notation: latex, mathml, python, matlab, c or julia."""
        native = self._again()
        text = None if native is None else native.written(notation)
        if text is None:
            raise ValueError(f"this answer is not written in a notation such as {notation}")
        return str(text)

    def svg(
        self, figure: str | None = None, *, output: str | None = None, input: str | None = None, theme: str = "light"
    ) -> str:
        """A figure of the answer as SVG."""
        if not self._figures:
            raise ValueError("this answer has no figure")
        name = self._figures[0] if figure is None else figure
        if name not in self._figures:
            raise ValueError(f"this answer has no figure {name!r}; its figures are {', '.join(self._figures)}")
        if theme not in ("light", "dark"):
            raise ValueError(f"theme is one of light, dark, not {theme!r}")
        entries = self.document.get("entries", [])
        for what, chosen in (("output", output), ("input", input)):
            known = list(dict.fromkeys(entry[what] for entry in entries))
            if chosen is not None and chosen not in known:
                raise ValueError(f"there is no {what} {chosen!r} to draw; there are {', '.join(known) or 'none'}")
        native = self._again()
        found = None if native is None else native.figure(name, output, input, theme == "dark")
        if found is None:
            raise ValueError(f"there is nothing to draw in the figure {name!r}")
        return str(found)

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg() if self._figures else None
        except ValueError:
            return None

    def __repr__(self) -> str:
        return f"<paynter.{type(self).__name__} of {self.document.get('model', '')!r}>"


class _Matrices(Result):
    """An answer with matrices of expressions."""

    def _definitions(self) -> dict[str, str]:
        return {entry["name"]: entry["value"] for entry in self.document.get("definitions", [])}

    def _repr_latex_(self) -> str | None:
        try:
            return _symbols.display(self.to_latex())
        except ValueError:
            return None
