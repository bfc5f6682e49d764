"""Answers about uncertain and closed loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _symbols
from ._result import _response, _dense, _axes, Result, _Matrices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._result import Array, ComplexArray


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
        if found is None or self._asked is None:
            return found
        # Values that are uncertain as a whole are no parameters of the model, and in SI alone.
        return {**found, "parameters": self._asked[0]._quantities(found["parameters"])}

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
