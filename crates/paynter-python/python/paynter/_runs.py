"""Runs over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._result import _need, _axes, Result

if TYPE_CHECKING:
    from ._result import Array, Asked


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
