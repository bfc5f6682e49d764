"""Estimates from measured data, and plans of experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._quantity import Quantity
from ._result import _table, _need, Result

if TYPE_CHECKING:
    from ._model import Model
    from ._result import Asked


class Estimation(Result):
    """Parameters and initial states estimated from measured data."""

    _figures = ("fit", "parameters", "residuals")

    def __init__(
        self, native: Any, asked: Asked | None = None, text: str = "", factors: dict[str, float] | None = None
    ) -> None:
        super().__init__(native, asked)
        #: The model's text with the estimates in place of its values.
        self.text = text
        self._factors = factors or {}

    @property
    def model(self) -> Model:
        """The model at the estimated values of its parameters."""
        if self._asked is None:
            raise ValueError("it is not known of which model these are estimates")
        # Initial states and sensors are no values of the model, nor is what differs between experiments.
        own = {name: value for name, value in self.values.items() if not {"(", "@"} & set(name)}
        return self._asked[0].with_(own)

    @property
    def estimates(self) -> dict[str, dict[str, Any]]:
        """Value, standard error and interval by name, in SI."""
        return dict(self.document["estimates"])

    @property
    def values(self) -> dict[str, float]:
        """The estimated values by name, in SI; :attr:`model` is the model with those of its parameters."""
        return {
            name: Quantity(float(entry["value"]), self._factors.get(name, 1.0), name)
            for name, entry in self.estimates.items()
        }

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
        return f"<paynter.Estimation, in SI: {parts}>"


class Plan(Result):
    """What planned experiments would determine."""

    @property
    def plans(self) -> list[dict[str, Any]]:
        """The experiments, each with the errors it would leave."""
        return list(self.document["plans"])
