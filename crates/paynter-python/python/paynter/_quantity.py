"""Numbers in SI that may be given back to a model, which takes numbers in the units that it declares."""

from __future__ import annotations

from typing import Any


class Quantity(float):
    """A number in SI that knows by what factor the model's declared unit differs.

    What is read of a model is in SI, what is written to it in its declared units. A value that was read is taken for
    what it is where it is written, by itself or scaled, as in ``model.with_(L=1.1 * model.parameters["L"])``.
    """

    __slots__ = ("factor",)

    factor: float

    def __new__(cls, value: float, factor: float) -> Quantity:
        made = super().__new__(cls, value)
        made.factor = factor
        return made

    @property
    def declared(self) -> float:
        """The number in the declared unit."""
        return float(self) / self.factor

    def _like(self, value: Any) -> Any:
        """A result that is of the same unit."""
        return value if value is NotImplemented else Quantity(value, self.factor)

    def __mul__(self, other: Any) -> Any:
        # The product of two quantities is of another unit.
        product = super().__mul__(other)
        return product if isinstance(other, Quantity) else self._like(product)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        quotient = super().__truediv__(other)
        return quotient if isinstance(other, Quantity) else self._like(quotient)

    def __add__(self, other: Any) -> Any:
        return self._like(super().__add__(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._like(super().__sub__(other))

    def __rsub__(self, other: Any) -> Any:
        return self._like(super().__rsub__(other))

    def __neg__(self) -> Quantity:
        return Quantity(super().__neg__(), self.factor)

    def __reduce__(self) -> tuple[Any, ...]:
        return Quantity, (float(self), self.factor)
