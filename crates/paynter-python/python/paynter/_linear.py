"""Answers about the linear model: transfer functions, poles, responses, steady states, sensitivities over frequency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _symbols
from ._result import _complex, _response, _dense, _table, _need, _axes, Result, _Matrices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._result import Array, ComplexArray


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
        in_hz = self._asked is not None and bool(self._asked[2].get("hz"))
        frequency = self.hz if in_hz else self.omega
        for output, input in self.responses:
            axes[0].semilogx(frequency, self.magnitude(output, input, db=True), label=f"{output}/{input}")
            if len(axes) > 1:
                axes[1].semilogx(frequency, self.phase(output, input))
        axes[0].set_ylabel("magnitude / dB")
        if len(axes) > 1:
            axes[1].set_ylabel("phase / °")
        axes[-1].set_xlabel("f / Hz" if in_hz else "ω / (rad/s)")
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


#: Sensitivities are typeset up to so many characters, and their fractions factored up to so many operations.
_TYPESET, _FACTORED = 6_000, 200


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

    def to_latex(self) -> str:
        """Every sensitivity typeset in LaTeX; needs SymPy."""
        sympy = _need("sympy", "to_latex")

        def named(name: str) -> str:
            return str(sympy.latex(sympy.Symbol(name)))

        rows = [
            rf"\frac{{\partial ({named(output)}/{named(source)})}}{{\partial {named(parameter)}}} &= "
            + str(sympy.latex(sympy.factor(value) if value.count_ops() < _FACTORED else value))
            for (output, source, parameter), value in self.to_sympy().items()
        ]
        return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}\n"

    def _repr_latex_(self) -> str | None:
        # SymPy takes its time over long expressions; these are shown as a table.
        if sum(len(entry["num"]) + len(entry["den"]) for entry in self.entries) > _TYPESET:
            return None
        try:
            return _symbols.display(self.to_latex())
        except ImportError:
            return None

    def _repr_html_(self) -> str | None:
        if self._repr_latex_() is not None:
            return None
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
        """Draws the ranked effects of the first output and input as bars, where they are finite."""
        ax = _axes(ax)
        first = self.ranking[0]
        pair = (first["output"], first["input"])
        own = [r for r in self.ranking if (r["output"], r["input"]) == pair and r["effect"] is not None]
        ax.barh([r["parameter"] for r in own], [100 * r["effect"] for r in own])
        ax.invert_yaxis()
        ax.set(xlabel="largest change of H / %", title=f"{first['output']}/{first['input']}")
        return ax
