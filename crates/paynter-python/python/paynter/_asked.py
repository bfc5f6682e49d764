"""What long lists of keywords ask of the native module: experiments, ensembles, estimations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments, _ensemble, _inputs

if TYPE_CHECKING:
    from ._model import Model

#: An experiment where nothing else is said: the keywords of ``simulate``, of which other questions take some.
_EXPERIMENT: dict[str, Any] = {
    "t_end": None, "points": 101, "times": None, "sensitivity": None, "direction": None, "states_only": False,
    "solver": "auto", "rtol": 1e-8, "atol": None, "step": None, "data": None, "inputs": None, "hold": "linear",
    "grid": None, "max_step": None, "energy": False,
}

#: The same of ``estimate``.
_ESTIMATION: dict[str, Any] = {
    "data": None, "map": None, "sample_time": None, "hold": "linear", "decimate": 1, "validate": None,
    "validate_map": None, "plan": False, "fit": None, "local": None, "start": None, "bounds": None, "weight": None,
    "loss": "squares", "prior": False, "method": "levenberg-marquardt", "log": None, "iterations": 100, "starts": 1,
    "seed": 1, "shots": 1, "confidence": 95.0, "profile": None, "solver": "auto", "rtol": 1e-8, "atol": None,
    "step": None,
}

#: Questions that the core asks of many samples.
_CORE = ("simulate", "operating_point", "bode")

#: Questions whose answers are no numbers.
_WORDS = ("check", "draw", "export", "incremental", "report", "uncertain_graph", "uncertain_blocks")


def _known(asked: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {name: asked.get(name, default) for name, default in defaults.items()}


def _solver(asked: Mapping[str, Any]) -> dict[str, Any]:
    """How runs are integrated."""
    if not isinstance(asked["solver"], str):
        raise TypeError(f"solver is a name such as 'auto', not {asked['solver']!r}")
    tolerances = {name: _arguments.real_or_none(asked[name], name) for name in ("atol", "step")}
    return {"solver": asked["solver"], "rtol": _arguments.real(asked["rtol"], "rtol")} | tolerances


def experiment(model: "Model", asked: Mapping[str, Any]) -> tuple["Model", dict[str, Any], list[str]]:
    """The model with its constant inputs, the run, and what is to be said about inputs that are functions."""
    asked = _known(asked, _EXPERIMENT)
    hold = _arguments.choice(asked["hold"], ("linear", "zero"), "hold")
    t_end, points = _arguments.real_or_none(asked["t_end"], "t_end"), _arguments.whole(asked["points"], "points")
    max_step = _arguments.real_or_none(asked["max_step"], "max_step")
    integrated = _solver(asked)
    inputs = _arguments.mapping(asked["inputs"], "inputs", "{'E': 12}")
    at = None if asked["times"] is None else _inputs.rising(asked["times"], "times")
    if at is not None and len(at) == 0:
        raise ValueError("times is empty: give one time or more")
    file = None
    notes: list[str] = []
    if asked["data"] is not None and inputs:
        raise TypeError("give either data= or inputs=")
    if asked["data"] is not None:
        file = _inputs.measured(asked["data"])
    elif inputs:
        known = model._native.input_names
        for name in inputs:
            if name not in known:
                # The message on settings knows the names that are like it.
                model.with_({name: 0.0})
                raise ValueError(f"{name!r} is a parameter: inputs are driven, of which there are {known}")
        file, constant, notes = _inputs.driven(inputs, t_end, at, asked["grid"], max_step, hold)
        if constant:
            model = model.with_(constant)
        if file is not None and t_end is None and at is None:
            raise TypeError("inputs over time need t_end= or times=")
    options = {
        "t_end": t_end, "points": points, "times": [] if at is None else at.tolist(),
        "sensitivity": _arguments.names(asked["sensitivity"], "sensitivity"),
        "direction": _arguments.directions(asked["direction"]), "states_only": asked["states_only"],
        "energy": asked["energy"], "data": file, "zero_order": hold == "zero",
    }
    return model, options | integrated, notes


def ensemble(model: "Model", asked: Mapping[str, Any]) -> tuple[Any, "Model", dict[str, Any]]:
    """The question, the model that it is asked of, and what the native module is told of samples."""
    question, keywords = asked["ask"], _arguments.mapping(asked["keywords"], "keywords", "{'nodes': 0}")
    if isinstance(question, str) and question not in _CORE:
        question = _ensemble._Named(model, question, dict(keywords), _WORDS)
    elif not callable(question) and question not in _CORE:
        raise TypeError(f"ask is the name of a question or a function of the model, not {question!r}")
    elif keywords:
        raise TypeError("keywords= are those of a question that has none of its own here, such as ask='robust'")
    samples, seed = _arguments.whole(asked["samples"], "samples"), _arguments.whole(asked["seed"], "seed")
    if samples < 1:
        raise ValueError("ask for one sample or more")
    run = None
    if question == "simulate":
        model, run, _ = experiment(model, asked)
    grid, listed = _arguments.frequencies(asked["omega"])
    return question, model, {
        "quantities": _ensemble.distributions(asked["vary"]), "correlations": _ensemble.correlations(asked["correlate"]),
        "design": asked["design"], "seed": seed, "samples": samples, "indices": asked["indices"], "shard": (0, 1),
        "question": "operating_point" if callable(question) else question, "experiment": run,
        "omega": grid, "listed": listed,
    }


def measurements(asked: Mapping[str, Any]) -> tuple[dict[str, Any], list[float]]:
    """What is estimated from which data, and the sample times."""
    asked = _known(asked, _ESTIMATION)
    hold = _arguments.choice(asked["hold"], ("linear", "zero"), "hold")
    start = _arguments.mapping(asked["start"], "start", "{'Ra': 2}")
    bounds = _arguments.mapping(asked["bounds"], "bounds", "{'Ra': (1, 3)}")
    weights = _arguments.mapping(asked["weight"], "weight", "{'w': 2}")
    maps = {name: _arguments.mapping(asked[name], name, "{'w': 'speed'}") for name in ("map", "validate_map")}
    for name, column in [item for columns in maps.values() for item in columns.items()]:
        if not isinstance(column, str):
            raise TypeError(f"the column of {name!r} is called by its heading, not {column!r}")
    for name, pair in bounds.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"the bounds of {name!r} are a pair (low, high), not {pair!r}")
        if None not in pair and not pair[0] < pair[1]:
            raise ValueError(f"the bounds of {name!r} leave nothing between {pair[0]} and {pair[1]}")
    validate = asked["validate"]
    share = float(validate) if isinstance(validate, (int, float)) and not isinstance(validate, bool) else 0.0
    spacing: list[float] = []
    if asked["sample_time"] is not None:
        listed = np.atleast_1d(_inputs.numbers(np.atleast_1d(asked["sample_time"]), "sample_time"))
        spacing = [float(step) for step in listed]
    if len(spacing) > 1 and not asked["plan"]:
        raise ValueError("a record has one sample_time; several are compared with plan=True")

    def bound(name: str, end: Any, open: float) -> float:
        return open if end is None else _arguments.declared(name, end, f"a bound of {name!r}")

    counted = {"decimate": 1, "iterations": 0, "starts": 1, "seed": 0, "shots": 1}
    options = {
        "data": _arguments.records(asked["data"]),
        "validation": [] if validate is None or share else _arguments.records(validate), "validation_share": share,
        "map": list(maps["map"].items()), "validate_map": list(maps["validate_map"].items()),
        "sample_time": spacing[0] if spacing and not asked["plan"] else None, "zero_order": hold == "zero",
        "fit": _arguments.names(asked["fit"], "fit"), "local": _arguments.names(asked["local"], "local"),
        "start": [(name, _arguments.setting(name, value)) for name, value in start.items()],
        "bounds": [(name, bound(name, low, -np.inf), bound(name, high, np.inf)) for name, (low, high) in bounds.items()],
        "weight": [
            (name, _arguments.real(w, f"the weight of {name!r}")) for name, w in weights.items() if not isinstance(w, str)
        ],
        "weight_columns": [(name, w) for name, w in weights.items() if isinstance(w, str)],
        "loss": asked["loss"], "prior": _arguments.flag(asked["prior"], "prior"), "method": asked["method"],
        "log": _arguments.names(asked["log"], "log"), "confidence": _arguments.percent(asked["confidence"], "confidence"),
        "profile": _arguments.names(asked["profile"], "profile"),
    }
    options |= {name: _arguments.whole(asked[name], name, least) for name, least in counted.items()}
    return options | _solver(asked), spacing
