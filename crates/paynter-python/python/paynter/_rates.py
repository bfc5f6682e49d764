"""The right-hand side of a model as a function for other solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._model import Model

    Array = NDArray[np.float64]


class Rates:
    """x' = f(t, x, u, p), compiled, with its Jacobians.

    States, inputs and parameters are in the order of ``states``, ``inputs`` and ``parameters``, in SI. Where ``u`` is
    left out, inputs follow the model; where ``p`` is, parameters have the model's values. ``scipy.integrate.solve_ivp``
    takes it as it is: ``solve_ivp(model.rhs, (0, 1), model.rhs.x0, jac=model.rhs.jac_x)``.
    """

    def __init__(self, model: "Model") -> None:
        self._model = model
        self._native: Any = model._native.rates()
        #: The states.
        self.states: list[str] = self._native.states
        #: The inputs.
        self.inputs: list[str] = self._native.inputs
        #: The outputs.
        self.outputs: list[str] = self._native.outputs
        #: The parameters.
        self.parameters: list[str] = self._native.parameters
        #: The model's values of the parameters.
        self.p: Array = self._native.values
        #: The initial values of the states.
        self.x0: Array = self._native.initial

    def _arguments(self, x: ArrayLike, u: ArrayLike | None, p: ArrayLike | None) -> tuple[Any, ...]:
        def row(values: ArrayLike | None, size: int, what: str) -> Array | None:
            if values is None:
                return None
            array = np.ascontiguousarray(values, dtype=np.float64)
            if array.shape != (size,):
                raise ValueError(f"{what} has the shape {array.shape}, not ({size},)")
            return array

        return (
            row(x, len(self.states), "x"), row(u, len(self.inputs), "u"), row(p, len(self.parameters), "p")
        )

    def __call__(self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None) -> Array:
        """The rates of the states."""
        found: Array = self._native.rates(t, *self._arguments(x, u, p))
        return found

    def output(self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None) -> Array:
        """The outputs."""
        found: Array = self._native.outputs_at(t, *self._arguments(x, u, p))
        return found

    def jac_x(self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None) -> Array:
        """∂f/∂x."""
        found: Array = self._native.jacobian("x", t, *self._arguments(x, u, p))
        return found

    def jac_u(self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None) -> Array:
        """∂f/∂u."""
        found: Array = self._native.jacobian("u", t, *self._arguments(x, u, p))
        return found

    def jac_p(self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None) -> Array:
        """∂f/∂p."""
        found: Array = self._native.jacobian("p", t, *self._arguments(x, u, p))
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (Rates, (self._model,))
