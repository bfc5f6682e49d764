"""Numbers in SI that may be given back to a model, which takes numbers in the units that it declares."""

from __future__ import annotations

from typing import Any


class Quantity(float):
    """A number in SI that knows whose value it is, and by what factor the declared unit of that differs.

    What is read of a model is in SI, what is written to it in its declared units. A value that was read is taken for
    what it is where it is written, by itself or scaled, as in ``model.with_(L=1.1 * model.parameters["L"])``. Arrays
    hold plain numbers.
    """

    __slots__ = ("factor", "name")

    factor: float
    name: str

    #: NumPy's scalars leave arithmetic to quantities, its arrays do not.
    __array_priority__ = -1.0

    def __new__(cls, value: float, factor: float, name: str) -> Quantity:
        made = super().__new__(cls, value)
        made.factor, made.name = factor, name
        return made

    def declared(self, name: str) -> float:
        """The number in the declared unit of a parameter, which has to be the one whose value it is."""
        if name != self.name:
            raise ValueError(
                f"a value of {self.name!r} is given for {name!r}, whose unit may be another: "
                "write it with its unit, as in '6 [mH]'"
            )
        return float(self) / self.factor

    def _like(self, value: Any) -> Any:
        """A result of the same kind."""
        return value if value is NotImplemented else Quantity(value, self.factor, self.name)

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
        return Quantity(super().__neg__(), self.factor, self.name)

    def __abs__(self) -> Quantity:
        return Quantity(super().__abs__(), self.factor, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Quantity, (float(self), self.factor, self.name)
