"""What a user writes, for the type checker: `mypy --strict` accepts it, and refuses what the marks say."""

import numpy as np

import paynter
from paynter import FrequencyResponse, Graph, Model, OperatingPoint, Rates, TransferFunctions


def speeds(model: Model) -> float:
    return float(model.operating_point().outputs["w"])


motor: Model = paynter.examples["dc_motor"]
slow = motor.with_(Jm=1e-3, La="6 [mH]")
response: FrequencyResponse = slow.bode(np.geomspace(1, 100, 10))
gain: float = float(response.magnitude("w", "E", db=True).max())
tf: TransferFunctions = motor.tf()
text: str = tf["w", "E"].num
point: OperatingPoint = motor.operating_point()
rhs: Rates = motor.rhs
first: float = float(rhs(0.0, rhs.x0)[0])
many = motor.ensemble(10, speeds, vary={"Ra": ("normal", 2.0, 0.1)}, limit={"answer": (90, None)})
share: float = many.yield_["answer"]
graph = Graph("g")
graph.bond(graph.Se("s", 1), graph.R("r", graph.param("R", 2.0, unit="ohm")))
made: Model = graph.model()
motor.poles(nothing=True)  # type: ignore[call-arg]
motor.bode(3).no_such  # type: ignore[attr-defined]
try:
    paynter.parse("model m { R r = Rx }")
except paynter.ModelError as error:
    codes: list[str] = [found.code for found in error.diagnostics]
