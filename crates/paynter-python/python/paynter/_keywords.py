"""The keywords that runs and estimations have in common, for type checkers: what an answer is depends on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._arguments import Names


class Experiment(TypedDict, total=False):
    """The keywords of ``Model.simulate`` but for those that ask for several runs."""

    points: int
    times: ArrayLike | None
    sensitivity: Names
    direction: Any
    states_only: bool
    solver: str
    rtol: float
    atol: float | None
    step: float | None
    data: Any
    inputs: Mapping[str, Any] | None
    hold: str
    grid: ArrayLike | None
    max_step: float | None
    perturb: Mapping[str, float | str] | None
    gradient: Names
    energy: bool
    verify: bool
    progress: bool


class Measurement(TypedDict, total=False):
    """The keywords of ``Model.estimate`` but for that which asks for a plan."""

    map: Mapping[str, str] | None
    sample_time: float | Sequence[float] | None
    hold: str
    decimate: int
    validate: Any
    validate_map: Mapping[str, str] | None
    noise: Mapping[str, float] | None
    t_end: float | None
    fit: Names
    local: Names
    start: Mapping[str, float | str] | None
    bounds: Mapping[str, tuple[float | None, float | None]] | None
    weight: Mapping[str, float | str] | None
    loss: str
    prior: bool
    method: str
    log: Names
    iterations: int
    starts: int
    seed: int
    shots: int
    confidence: float
    profile: Names
    tolerance: float | None
    solver: str
    rtol: float
    atol: float | None
    step: float | None
    progress: bool
