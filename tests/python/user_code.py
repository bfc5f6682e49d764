"""What a user writes, for the type checker: `mypy --strict` accepts it, and refuses what the marks say."""

import numpy as np

import paynter
from paynter import (
    Estimation, FrequencyResponse, Graph, Model, OperatingPoint, Plan, Rates, Runs, Simulation, TransferFunctions,
)


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
run: Simulation = motor.simulate(0.1, points=11, sensitivity="all")
last: float = float(run.outputs["w"][-1])
runs: Runs = motor.simulate(0.1, sweep={"Ra": [1.0, 2.0]})
cold: Runs = motor.simulate(0.1, scenario={"cold": {"Ra": 1.7}})
fitted: Estimation = motor.estimate({"t": run.t, "w": run.outputs["w"]}, fit="Ra")
ohms: float = fitted.model.parameters["Ra"]
planned: Plan = motor.estimate(plan=True, t_end=0.1, noise={"w": 0.1}, fit="Ra")
motor.poles(nothing=True)  # type: ignore[call-arg]
motor.bode(3).no_such  # type: ignore[attr-defined]
motor.simulate(0.1).no_such  # type: ignore[attr-defined]
motor.simulate(0.1, nothing=True)  # type: ignore[call-overload]
fitted.no_such  # type: ignore[attr-defined]
try:
    paynter.parse("model m { R r = Rx }")
except paynter.ModelError as error:
    codes: list[str] = [found.code for found in error.diagnostics]
