"""Bond graphs from text: checked, made causal, explained, simulated.

>>> import paynter
>>> motor = paynter.examples.dc_motor
>>> motor.poles().stable
True
>>> run = motor.with_(Ra=3).simulate(0.2, sensitivity="all")
>>> run["w", "Ra"].shape
(101,)

Models come from :func:`load`, :func:`parse`, :class:`Graph` and :data:`examples`; every question of the command line
is a method of :class:`Model` with the same names. Numbers are in SI.
"""

from ._errors import Diagnostic, EnsembleError, InternalError, ModelError, ModelWarning, PaynterError, RateFailure
from ._paynter import __version__
from ._model import Examples, Model, Simulator, explain, load, parse
from ._ensemble import Ensemble, Statistics
from ._graph import Element, Graph
from ._rates import Rates
from ._derivation import Causality, Check, Equations, Structure
from ._estimation import Estimation, Plan
from ._linear import (
    FrequencyResponse,
    OperatingPoint,
    Poles,
    Sensitivity,
    SensitivityResponse,
    TransferEntry,
    TransferFunctions,
)
from ._pictures import Drawing, Report
from ._result import Result
from ._robustness import Interconnection, OpenLoop, Robustness
from ._runs import Runs, Simulation

#: The built-in examples.
examples = Examples()

__all__ = [
    "Causality", "Check", "Diagnostic", "Drawing", "Element", "Ensemble", "EnsembleError", "Equations", "Estimation",
    "FrequencyResponse", "Graph", "InternalError", "Interconnection", "Model", "ModelError", "ModelWarning",
    "OpenLoop", "OperatingPoint", "PaynterError", "Plan", "Poles", "RateFailure", "Rates", "Report", "Result", "Robustness", "Runs",
    "Sensitivity", "SensitivityResponse", "Simulation", "Simulator", "Statistics", "Structure", "TransferEntry",
    "TransferFunctions", "__version__", "examples", "explain", "load", "parse",
]
