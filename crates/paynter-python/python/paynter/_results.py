"""Answers: data by name, NumPy arrays, and how they show themselves.

Every answer holds its document, the same that the command line prints with ``--json``, in ``document``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


class _Matrices(Result):
    """An answer with matrices of expressions."""

    def _definitions(self) -> dict[str, str]:
        return {entry["name"]: entry["value"] for entry in self.document.get("definitions", [])}

    def _repr_latex_(self) -> str | None:
        try:
            return _symbols.display(self.to_latex())
        except ValueError:
            return None


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
        return dict(self.document["parameters"])

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


class TransferEntry:
    """One transfer function."""

    def __init__(self, entry: Mapping[str, Any], definitions: Mapping[str, str]) -> None:
        self._entry, self._definitions = entry, definitions
        #: The output.
        self.output: str = entry["output"]
        #: The input.
        self.input: str = entry["input"]
        #: The numerator as an expression of s.
        self.num: str = entry["num"]
        #: The denominator as an expression of s.
        self.den: str = entry["den"]

    @property
    def poles(self) -> ComplexArray:
        """The poles left after cancellation, at nominal values."""
        return _complex(self._entry.get("poles"))

    @property
    def zeros(self) -> ComplexArray:
        """The zeros at nominal values."""
        return _complex(self._entry.get("zeros"))

    def to_sympy(self) -> Any:
        """The transfer function as SymPy's expression of s."""
        num, den = (_symbols.expression(text, self._definitions) for text in (self.num, self.den))
        return num / den

    def __repr__(self) -> str:
        return f"{self.output}/{self.input} = ({self.num})/({self.den})"


class TransferFunctions(_Matrices):
    """The transfer matrix, in symbols; of a nonlinear model at its operating point."""

    @property
    def denominator(self) -> str | None:
        """The characteristic polynomial."""
        value: str | None = self.document["denominator"]
        return value

    @property
    def entries(self) -> list[TransferEntry]:
        """One transfer function for each output and input."""
        definitions = self._definitions()
        return [TransferEntry(entry, definitions) for entry in self.document["entries"]]

    @property
    def outputs(self) -> list[str]:
        """The outputs."""
        return list(dict.fromkeys(entry["output"] for entry in self.document["entries"]))

    @property
    def inputs(self) -> list[str]:
        """The inputs."""
        return list(dict.fromkeys(entry["input"] for entry in self.document["entries"]))

    def __getitem__(self, key: Any) -> Any:
        """The entry of an output and an input, or a key of the document."""
        if isinstance(key, tuple):
            for entry in self.entries:
                if (entry.output, entry.input) == key:
                    return entry
            raise KeyError(f"there is no transfer function {key}; outputs are {self.outputs}, inputs {self.inputs}")
        return self.document[key]

    def to_sympy(self) -> Any:
        """The transfer matrix as SymPy's."""
        import sympy

        return sympy.Matrix([[self[o, i].to_sympy() for i in self.inputs] for o in self.outputs])

    def to_control(self) -> Any:
        """The transfer matrix in numbers as python-control's TransferFunction."""
        control = _need("control", "to_control")
        if self._asked is None:
            raise ValueError("this answer has lost its model")
        model, _, _ = self._asked
        numeric = {(e["output"], e["input"]): e for e in model.tf(numeric=True).document["entries"]}

        def coefficients(key: str) -> list[list[Array]]:
            return [
                [np.asarray(numeric[o, i][key], dtype=np.float64) for i in self.inputs] for o in self.outputs
            ]

        num, den = coefficients("num_coefficients"), coefficients("den_coefficients")
        names = {"inputs": self.inputs, "outputs": self.outputs, "name": str(self.document["model"])}
        if len(self.outputs) == len(self.inputs) == 1:
            return control.tf(num[0][0], den[0][0], **names)
        return control.tf(num, den, **names)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.entries))


class Poles(Result):
    """Poles with damping and natural frequencies, zeros, and estimates read off the graph."""

    _figures = ("poles",)

    @property
    def poles(self) -> ComplexArray:
        """All finite eigenvalues with their multiplicity."""
        return _complex(self.document["poles"])

    @property
    def stable(self) -> bool:
        """Whether all lie in the left half of the plane."""
        return bool(self.document["stable"])

    @property
    def damping(self) -> Array:
        """The damping of each mode."""
        return np.asarray([mode["damping"] for mode in self.document["modes"]], dtype=np.float64)

    @property
    def modes(self) -> list[dict[str, Any]]:
        """Poles with damping, natural frequency and time constant."""
        return list(self.document["modes"])

    def zeros(self, output: str, input: str) -> ComplexArray:
        """The zeros of one transfer function."""
        for entry in self.document["zeros"]:
            if (entry["output"], entry["input"]) == (output, input):
                return _complex(entry["zeros"])
        raise KeyError(f"there is no transfer function {output}/{input}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.poles, dtype=dtype)

    def __len__(self) -> int:
        return len(self.document["poles"])

    def __iter__(self) -> Iterator[complex]:
        return iter(self.poles)

    def to_pandas(self) -> Any:
        """The modes as a pandas DataFrame."""
        rows = [mode | {"pole": complex(*mode["pole"])} for mode in self.modes]
        return _need("pandas", "to_pandas").DataFrame(rows)

    def plot(self, ax: Any = None) -> Any:
        """Draws poles and zeros into Matplotlib."""
        ax = _axes(ax)
        ax.plot(self.poles.real, self.poles.imag, "x", label="poles")
        zeros = np.concatenate([_complex(entry["zeros"]) for entry in self.document["zeros"]] or [_complex([])])
        if len(zeros):
            ax.plot(zeros.real, zeros.imag, "o", fillstyle="none", label="zeros")
        ax.set(xlabel="Re s / (1/s)", ylabel="Im s / (1/s)")
        ax.axvline(0, lw=0.5)
        ax.legend()
        return ax

    def __repr__(self) -> str:
        return f"<paynter.Poles {np.array2string(self.poles, precision=6)}, {'stable' if self.stable else 'not stable'}>"


def _axes(ax: Any) -> Any:
    """The axes to draw into; new ones where none are given."""
    if ax is not None:
        return ax
    return _need("matplotlib.pyplot", "plot").subplots()[1]


class FrequencyResponse(Result):
    """The frequency response of every output to every input."""

    _figures = ("bode",)

    @property
    def omega(self) -> Array:
        """Angular frequencies in rad/s, rising."""
        return np.asarray(self.document["omega"], dtype=np.float64)

    @property
    def hz(self) -> Array:
        """The same in Hz."""
        return np.asarray(self.document["hz"], dtype=np.float64)

    @property
    def responses(self) -> dict[tuple[str, str], ComplexArray]:
        """H(jω) by output and input, in SI; NaN where a pole lies."""
        return {(entry["output"], entry["input"]): _response(entry) for entry in self.document["entries"]}

    def __getitem__(self, key: Any) -> Any:
        """The response of an output to an input, or a key of the document."""
        if isinstance(key, tuple):
            try:
                return self.responses[key]
            except KeyError:
                raise KeyError(f"there is no response {key}; there are {list(self.responses)}") from None
        return self.document[key]

    def magnitude(self, output: str, input: str, *, db: bool = False) -> Array:
        """The magnitude, in decibel on request."""
        size = np.abs(self[output, input])
        return np.asarray(20 * np.log10(size) if db else size)

    def phase(self, output: str, input: str, *, deg: bool = True) -> Array:
        """The phase without jumps of a turn, in degrees unless ``deg=False``."""
        angle = np.unwrap(np.angle(self[output, input]))
        return np.asarray(np.degrees(angle) if deg else angle)

    def to_pandas(self) -> Any:
        """Complex responses over ω as a pandas DataFrame."""
        pandas = _need("pandas", "to_pandas")
        names = {f"{output}/{input}": values for (output, input), values in self.responses.items()}
        return pandas.DataFrame(names, index=pandas.Index(self.omega, name="omega"))

    def to_xarray(self) -> Any:
        """The response as an xarray DataArray over output, input and omega."""
        outputs = list(dict.fromkeys(output for output, _ in self.responses))
        inputs = list(dict.fromkeys(input for _, input in self.responses))
        values = np.array([[self.responses[o, i] for i in inputs] for o in outputs])
        coords = {"output": outputs, "input": inputs, "omega": self.omega}
        return _need("xarray", "to_xarray").DataArray(values, coords, ("output", "input", "omega"), name="H")

    def plot(self, ax: Any = None) -> Any:
        """Draws magnitude, and phase into the second of two axes, by Matplotlib."""
        if ax is None:
            ax = _need("matplotlib.pyplot", "plot").subplots(2, 1, sharex=True)[1]
        axes = list(np.atleast_1d(ax).ravel())
        for output, input in self.responses:
            axes[0].semilogx(self.omega, self.magnitude(output, input, db=True), label=f"{output}/{input}")
            if len(axes) > 1:
                axes[1].semilogx(self.omega, self.phase(output, input))
        axes[0].set_ylabel("magnitude / dB")
        if len(axes) > 1:
            axes[1].set_ylabel("phase / °")
        axes[-1].set_xlabel("ω / (rad/s)")
        axes[0].legend()
        return ax


class OperatingPoint(_Matrices):
    """The steady state, and the linear model there."""

    @property
    def states(self) -> dict[str, float]:
        """The states by name, in SI."""
        return dict(self.document["states"])

    @property
    def inputs(self) -> dict[str, float]:
        """The inputs by name, in SI."""
        return dict(self.document["inputs"])

    @property
    def outputs(self) -> dict[str, float]:
        """The outputs by name, in SI."""
        return dict(self.document["outputs"])

    @property
    def sensitivities(self) -> list[dict[str, Any]]:
        """How the steady state moves with parameters, where it was asked for."""
        return list(self.document.get("sensitivities", []))

    def matrices(self) -> dict[str, Array]:
        """The matrices A, B, C, D of the linear model in numbers."""
        linear = self.document.get("linear")
        if not linear:
            raise ValueError("the model has no linear model at its operating point")
        n, m, p = len(self.states), len(self.inputs), len(self.outputs)
        sizes = {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m)}
        return {name: _dense(linear["numeric"][name], *size) for name, size in sizes.items()}

    def to_control(self) -> Any:
        """The linear model as python-control's StateSpace."""
        control = _need("control", "to_control")
        linear = self.document.get("linear") or {}
        if linear.get("numeric", {}).get("Bd") or linear.get("numeric", {}).get("Dd"):
            raise ValueError("the model answers to derivatives of its inputs, which a StateSpace cannot hold")
        made = self.matrices()
        return control.ss(
            made["A"], made["B"], made["C"], made["D"],
            states=[name.replace(".", "_") for name in self.states], inputs=list(self.inputs), outputs=list(self.outputs),
        )

    def _repr_html_(self) -> str:
        rows = [[kind, name, float(value)] for kind in ("states", "inputs", "outputs")
                for name, value in self.document[kind].items() if value is not None]
        return _table(("", "name", "value (SI)"), rows)

    def __repr__(self) -> str:
        return f"<paynter.OperatingPoint states={self.states} outputs={self.outputs}>"


class Sensitivity(_Matrices):
    """Sensitivities of the transfer functions to the parameters, in symbols."""

    @property
    def parameters(self) -> list[str]:
        """The parameters."""
        return list(self.document["parameters"])

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Numerator and denominator by output, input and parameter."""
        return list(self.document["entries"])

    def __getitem__(self, key: Any) -> Any:
        """Numerator and denominator by (output, input, parameter), or a key of the document."""
        if isinstance(key, tuple):
            for entry in self.document["entries"]:
                if (entry["output"], entry["input"], entry["parameter"]) == key:
                    return entry
            raise KeyError(f"there is no sensitivity {key}")
        return self.document[key]

    def to_sympy(self) -> dict[tuple[str, str, str], Any]:
        """Every sensitivity as SymPy's expression of s, by output, input and parameter."""
        definitions = self._definitions()
        return {
            (entry["output"], entry["input"], entry["parameter"]):
                _symbols.expression(entry["num"], definitions) / _symbols.expression(entry["den"], definitions)
            for entry in self.document["entries"]
        }

    def _repr_latex_(self) -> str | None:
        return None

    def _repr_html_(self) -> str:
        rows = [[f"∂({e['output']}/{e['input']})/∂{e['parameter']}", e["num"], e["den"]] for e in self.entries]
        return _table(("", "numerator", "denominator"), rows)

    def __repr__(self) -> str:
        return "\n".join(
            f"d({e['output']}/{e['input']})/d{e['parameter']} = ({e['num']})/({e['den']})" for e in self.entries
        )


class SensitivityResponse(Result):
    """Sensitivities of the frequency response, ranked, with what tolerances make of it."""

    _figures = ("tornado", "band", "bode")

    @property
    def omega(self) -> Array:
        """Angular frequencies in rad/s, rising."""
        return np.asarray(self.document["omega"], dtype=np.float64)

    @property
    def parameters(self) -> list[str]:
        """The parameters."""
        return list(self.document["parameters"])

    @property
    def responses(self) -> dict[tuple[str, str, str], ComplexArray]:
        """∂H(jω)/∂p by output, input and parameter."""
        return {
            (entry["output"], entry["input"], entry["parameter"]): _response(entry)
            for entry in self.document["entries"]
        }

    def __getitem__(self, key: Any) -> Any:
        """The sensitivity by (output, input, parameter), or a key of the document."""
        if isinstance(key, tuple):
            try:
                return self.responses[key]
            except KeyError:
                raise KeyError(f"there is no sensitivity {key}") from None
        return self.document[key]

    @property
    def ranking(self) -> list[dict[str, Any]]:
        """What each parameter does within its tolerance, the largest first."""
        return list(self.document["ranking"])

    @property
    def bands(self) -> list[dict[str, Any]]:
        """Tolerance bands of magnitude and phase."""
        return list(self.document["bands"])

    def to_pandas(self) -> Any:
        """The ranking as a pandas DataFrame."""
        return _need("pandas", "to_pandas").DataFrame(self.ranking)

    def plot(self, ax: Any = None) -> Any:
        """Draws the ranked effects of the first output and input as bars."""
        ax = _axes(ax)
        first = self.ranking[0]
        own = [r for r in self.ranking if (r["output"], r["input"]) == (first["output"], first["input"])]
        ax.barh([r["parameter"] for r in own], [100 * r["effect"] for r in own])
        ax.invert_yaxis()
        ax.set(xlabel="largest change of H / %", title=f"{first['output']}/{first['input']}")
        return ax


class _Run(Result):
    """A run over time."""

    _figures = ("response", "sensitivities", "energy")

    @property
    def t(self) -> Array:
        """Times, in seconds."""
        return np.asarray(self.document["t"], dtype=np.float64)

    @property
    def outputs(self) -> dict[str, Array]:
        """Each output over time, in SI."""
        return dict(self.document["outputs"])

    @property
    def states(self) -> dict[str, Array]:
        """Each state over time, in SI."""
        return dict(self.document["states"])

    @property
    def sensitivities(self) -> dict[str, dict[str, Array]]:
        """The derivative of each output by each parameter over time, in SI."""
        return dict(self.document["sensitivities"])

    @property
    def units(self) -> dict[str, str]:
        """The units that outputs are shown in to people; the numbers here are in SI."""
        return dict(self.document["units"])

    @property
    def stats(self) -> dict[str, Any]:
        """What the run cost."""
        return dict(self.document["stats"])

    @property
    def complete(self) -> bool:
        """Whether the run reached its end; otherwise what is here came before it stopped."""
        return bool(self.document["complete"])

    def __getitem__(self, key: Any) -> Any:
        """An output or state over time, a sensitivity by (output, parameter), or a key of the document."""
        if isinstance(key, tuple):
            return self.document["sensitivities"][key[0]][key[1]]
        for part in ("outputs", "states"):
            if key in self.document[part]:
                return self.document[part][key]
        return self.document[key]

    def to_pandas(self) -> Any:
        """Outputs, states and sensitivities over time as a pandas DataFrame."""
        pandas = _need("pandas", "to_pandas")
        columns = self.outputs | {name: values for name, values in self.states.items() if name not in self.outputs}
        for output, by in self.sensitivities.items():
            columns |= {f"d({output})/d({parameter})": values for parameter, values in by.items()}
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"))

    def to_xarray(self) -> Any:
        """Outputs and sensitivities as an xarray Dataset over t."""
        xarray = _need("xarray", "to_xarray")
        made: dict[str, Any] = {name: ("t", values) for name, values in self.outputs.items()}
        parameters = list(next(iter(self.sensitivities.values()), {}))
        if parameters:
            stacked = np.array([[by[p] for p in parameters] for by in self.sensitivities.values()])
            made["sensitivity"] = (("output", "parameter", "t"), stacked)
        coords: dict[str, Any] = {"t": self.t}
        if parameters:
            coords |= {"output": list(self.sensitivities), "parameter": parameters}
        return xarray.Dataset(made, coords)

    def plot(self, ax: Any = None) -> Any:
        """Draws the outputs over time into Matplotlib."""
        ax = _axes(ax)
        for name, values in self.outputs.items():
            ax.plot(self.t, values, label=name)
        ax.set_xlabel("t / s")
        ax.legend()
        return ax


class Simulation(_Run):
    """The response of a model over time, with its sensitivities."""

    def __init__(self, native: Any, asked: Asked | None = None, input_notes: Sequence[str] = ()) -> None:
        super().__init__(native, asked)
        #: What is to be known about inputs that were given as functions, or for a part of the run.
        self.input_notes: list[str] = list(input_notes)

    @property
    def perturbation(self) -> dict[str, Any] | None:
        """What finite changes of parameters make of the outputs, where it was asked for."""
        found: dict[str, Any] | None = self.document.get("perturbation")
        return found

    @property
    def gradients(self) -> dict[str, dict[str, float]]:
        """The gradient of each cost by parameters, where it was asked for."""
        return {entry["of"]: dict(entry["by"]) for entry in self.document.get("gradients", [])}

    @property
    def energy(self) -> dict[str, Any] | None:
        """The energy ledger, where it was asked for."""
        found: dict[str, Any] | None = self.document.get("energy")
        return found

    def __repr__(self) -> str:
        t = self.t
        end = f"to t = {t[-1]:g} s" if len(t) else "without a sample"
        told = f"<paynter.Simulation of {self.document['model']!r} {end}, outputs {list(self.outputs)}"
        told += f", sensitivities to {list(next(iter(self.sensitivities.values())))}" if self.sensitivities else ""
        return "\n".join([told + ">", *self.input_notes])


class Runs(Result):
    """Several runs beside each other: a sweep, or scenarios."""

    _figures = ("runs",)

    def __len__(self) -> int:
        return len(self.document["runs"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.document["runs"])

    def __getitem__(self, key: Any) -> Any:
        """The run of a number or of a name, or a key of the document."""
        if isinstance(key, int):
            return self.document["runs"][key]
        for run in self.document["runs"]:
            if run["name"] == key:
                return run
        return self.document[key]

    @property
    def complete(self) -> bool:
        """Whether every run reached its end."""
        return bool(self.document["complete"])

    def to_pandas(self) -> Any:
        """All runs below each other, by run and time, as a pandas DataFrame."""
        pandas = _need("pandas", "to_pandas")
        frames = {run["name"]: pandas.DataFrame(run["outputs"], index=pandas.Index(run["t"], name="t"))
                  for run in self}
        return pandas.concat(frames, names=["run"])


class Estimation(Result):
    """Parameters and initial states estimated from measured data."""

    _figures = ("fit", "parameters", "residuals")

    def __init__(self, native: Any, asked: Asked | None = None, text: str = "") -> None:
        super().__init__(native, asked)
        #: The model's text with the estimates in place of its values.
        self.text = text

    @property
    def estimates(self) -> dict[str, dict[str, Any]]:
        """Value, standard error and interval by name, in SI."""
        return dict(self.document["estimates"])

    @property
    def values(self) -> dict[str, float]:
        """The estimated values by name, in SI."""
        return {name: float(entry["value"]) for name, entry in self.estimates.items()}

    @property
    def converged(self) -> bool:
        """Whether the search came to its end."""
        return bool(self.document["converged"])

    def to_pandas(self) -> Any:
        """The estimates as a pandas DataFrame."""
        return _need("pandas", "to_pandas").DataFrame.from_dict(self.estimates, orient="index")

    def _repr_html_(self) -> str:
        rows = [[name, e["value"], e.get("std_error")] for name, e in self.estimates.items()]
        table = _table(("parameter", "value (SI)", "standard error"), rows)
        return table + (self._repr_svg_() or "")

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{name} = {e['value']:.6g} ± {e['std_error']:.2g}" if e.get("std_error") is not None
            else f"{name} = {e['value']:.6g}"
            for name, e in self.estimates.items()
        )
        return f"<paynter.Estimation {parts}>"


class Plan(Result):
    """What planned experiments would determine."""

    @property
    def plans(self) -> list[dict[str, Any]]:
        """The experiments, each with the errors it would leave."""
        return list(self.document["plans"])


class Interconnection(_Matrices):
    """The standard interconnection model: the nominal model in feedback with uncertain parameters."""

    _NAMES = ("A", "B1", "B2", "C1", "D11", "D12", "C2", "D21", "D22")

    @property
    def delta(self) -> list[dict[str, Any]]:
        """The blocks of Δ with their parameters and channels."""
        return list(self.document["delta"])

    def _sizes(self) -> dict[str, tuple[int, int]]:
        n, w, u, y = (len(self.document[key]) for key in ("states", "w", "inputs", "outputs"))
        rows, columns = {"": n, "1": w, "2": y}, {"": n, "1": w, "2": u}
        shape: dict[str, tuple[int, int]] = {"A": (n, n)}
        for k in ("1", "2"):
            shape |= {f"B{k}": (n, columns[k]), f"C{k}": (rows[k], n)}
            shape |= {f"D{k}{j}": (rows[k], columns[j]) for j in ("1", "2")}
        return shape

    def matrices(self) -> dict[str, Array]:
        """The matrices A, B1, …, D22 at nominal values."""
        sizes = self._sizes()
        return {name: _dense(self.document["numeric"][name], *sizes[name]) for name in self._NAMES}

    def to_sympy(self) -> dict[str, Any]:
        """The matrices as SymPy's."""
        sizes, definitions = self._sizes(), self._definitions()
        return {name: _symbols.matrix(self.document[name], *sizes[name], definitions) for name in self._NAMES}

    def to_slycot(self, omega: float) -> tuple[ComplexArray, NDArray[np.int64], NDArray[np.int64]]:
        """What ``slycot.ab13md`` takes: M(jω) from w to z, the sizes of the blocks of Δ, and their types.

        A scalar real uncertainty of one channel has type 1. Slycot knows no repeated real blocks: one that is
        repeated has type 2, as a full complex one, which gives an upper bound only.
        """
        made = self.matrices()
        identity = np.eye(made["A"].shape[0])
        states = np.linalg.solve(1j * omega * identity - made["A"], made["B1"]) if len(identity) else made["B1"]
        loop = made["C1"] @ states + made["D11"]
        order = [channel for block in self.delta for channel in block["block"]]
        sizes = np.array([len(block["block"]) for block in self.delta], dtype=np.int64)
        kinds = np.where(sizes == 1, 1, 2).astype(np.int64)
        return np.ascontiguousarray(loop[np.ix_(order, order)]), sizes, kinds


class Robustness(Result):
    """How far parameters may drift before the model is unstable, and its worst-case gain."""

    _figures = ("mu", "gain", "roots")

    @property
    def margin(self) -> tuple[float, float]:
        """Bounds of the factor by which the box of tolerances may grow; infinite where nothing destabilises."""
        margin = self.document["margin"]
        upper = margin["upper"]
        return float(margin["lower"]), np.inf if upper is None else float(upper)

    @property
    def omega(self) -> Array:
        """Angular frequencies of the bounds in rad/s."""
        return np.asarray(self.document["omega"], dtype=np.float64)

    @property
    def mu(self) -> list[dict[str, Any]]:
        """Bounds of the structured singular value over frequency."""
        return list(self.document["mu"])

    @property
    def worst(self) -> dict[str, Any] | None:
        """The destabilising parameters that were found."""
        found: dict[str, Any] | None = self.document.get("worst")
        return found

    def plot(self, ax: Any = None) -> Any:
        """Draws the bounds of µ over frequency into Matplotlib."""
        ax = _axes(ax)
        for key in ("upper", "lower"):
            ax.semilogx(self.omega, [np.nan if b[key] is None else b[key] for b in self.mu], label=key)
        ax.set(xlabel="ω / (rad/s)", ylabel="µ")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        low, high = self.margin
        return f"<paynter.Robustness margin between {low:.6g} and {high:.6g}>"


class OpenLoop(Result):
    """A loop opened at a signal or a bond: margins, crossover, step figures."""

    _figures = ("nyquist", "nichols", "bode", "locus", "step")

    @property
    def margins(self) -> dict[str, Any]:
        """Gain, phase, delay and disk margins, nominal and worst."""
        return dict(self.document["margins"])

    @property
    def omega(self) -> Array:
        """Angular frequencies in rad/s."""
        return np.asarray(self.document["omega"], dtype=np.float64)

    @property
    def response(self) -> ComplexArray:
        """L(jω)."""
        return _response(self.document)

    @property
    def step(self) -> dict[str, Any]:
        """Step figures by output and input."""
        return dict(self.document["step"])


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


class Drawing:
    """A picture as SVG, which notebooks show."""

    def __init__(self, svg: str) -> None:
        #: The picture.
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Any) -> None:
        """Writes the picture to a file."""
        from pathlib import Path

        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<paynter.Drawing, {len(self.svg)} characters of SVG>"


class Report(Result):
    """One page with everything about a model."""

    @property
    def html(self) -> str:
        """The page."""
        return str(self.document["html"])

    def save(self, path: Any) -> None:
        """Writes the page to a file."""
        from pathlib import Path

        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        page = _escaped(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:600px;border:0"></iframe>'
