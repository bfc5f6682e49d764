"""Inputs over time and measured data, brought to the one form that the library reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: A file of measured data: its name for people, and what is in it.
File = tuple[str, bytes]

#: Functions of time are sampled at so many points where nothing else is said.
FUNCTION_POINTS = 1001

#: More samples of a function than this are refused: a table of them fills the memory.
MOST_SAMPLES = 5_000_000


def numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """A row of finite numbers, or a ValueError that says what is wrong with it."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers are not taken")
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} must be numbers: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"{what} must be a row of numbers, and has the shape {array.shape}")
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise ValueError(f"{what} is {array[wrong[0]]} at index {wrong[0]}; give finite numbers")
    return array


def _samples(values: Any, what: str) -> NDArray[np.float64]:
    """A column of measured data, NaN where a sample is missing."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy() if values.dtype.kind in "mM" else values.to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    if np.asarray(values).dtype.kind in "mM":
        raise TypeError(f"{what} holds dates or durations; only the times t may")
    array = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    numbers(array[known], what)
    return array


def _seconds(values: Any, what: str) -> NDArray[np.float64]:
    """Times in seconds, also from durations; from dates, since the first of them."""
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if array.dtype.kind == "M":
        array = array - array[:1]
    if array.dtype.kind == "m":
        array = array / np.timedelta64(1, "s")
    return rising(array, what)


def _column(name: str, values: Any) -> NDArray[np.float64]:
    what = f"the column {name!r}"
    try:
        return _seconds(values, what) if name == "t" else _samples(values, what)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error) if what in str(error) else f"{what} must be numbers: {error}") from None


def rising(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """Finite numbers that rise."""
    array = numbers(values, what)
    wrong = np.flatnonzero(np.diff(array) <= 0)
    if wrong.size:
        at = int(wrong[0])
        raise ValueError(f"{what} must rise, but {array[at + 1]} at index {at + 1} comes after {array[at]}")
    return array


def table(columns: Mapping[str, NDArray[np.float64]]) -> bytes:
    """Columns as the reader of data takes them: every number with all its digits."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = [",".join(columns)]
    # A missing sample is an empty cell.
    lines.extend(",".join("" if value != value else repr(value) for value in row) for row in rows)
    return ("\n".join(lines) + "\n").encode()


def measured(data: Any) -> File:
    """Measured data from a path, a mapping of columns or a pandas DataFrame."""
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        with open(path, "rb") as file:
            return (str(path), file.read())
    if isinstance(data, bytes):
        return ("<data>", data)
    if hasattr(data, "columns") and hasattr(data, "to_dict"):
        columns = {str(name): _column(str(name), data[name]) for name in data.columns}
        if "t" not in columns and getattr(data.index, "name", None) == "t":
            columns = {"t": _seconds(data.index, "the index t")} | columns
    elif isinstance(data, Mapping):
        columns = {str(name): _column(str(name), values) for name, values in data.items()}
    else:
        raise TypeError(f"data is a path, a mapping of columns or a DataFrame, not {type(data).__name__}")
    if not columns:
        raise ValueError("the data have no columns")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of the data have different lengths: {lengths}")
    return ("<data>", table(columns))


def sampled(function: Callable[[float], float], grid: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """A function of time at the times of a grid. What it raises says for which input and when."""
    values = np.empty_like(grid)
    for place, time in enumerate(grid.tolist()):
        try:
            value = function(time)
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"the input {name!r} raised this at t = {time}")
            raise
        try:
            values[place] = float("x" if value is None else value)
        except (TypeError, ValueError):
            raise TypeError(
                f"the input {name!r} must return a number, and returned {value!r} at t = {time}"
            ) from None
    return numbers(values, f"the input {name!r}")


def driven(
    inputs: Mapping[str, Any],
    t_end: float | None,
    times: NDArray[np.float64] | None,
    grid: ArrayLike | None,
    max_step: float | None,
    hold: str,
) -> tuple[File | None, dict[str, float | str], list[str]]:
    """Data of the inputs that change, the values of those that do not, and what is to be said about functions."""
    constant: dict[str, float | str] = {}
    curves: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    notes: list[str] = []
    end = t_end if t_end is not None else (float(times[-1]) if times is not None and len(times) else 10.0)
    for name, given in inputs.items():
        if callable(given):
            if grid is not None:
                at = rising(grid, "grid")
            elif max_step is not None:
                if not (max_step > 0 and np.isfinite(max_step)):
                    raise ValueError(f"max_step must be a positive number of seconds, not {max_step}")
                if end / max_step > MOST_SAMPLES:
                    raise ValueError(f"max_step={max_step} makes more than {MOST_SAMPLES} samples to t = {end}")
                at = np.linspace(0.0, end, max(2, int(np.ceil(end / max_step)) + 1))
            else:
                at = np.linspace(0.0, end, FUNCTION_POINTS)
            if len(at) < 2:
                raise ValueError("grid needs two times or more")
            curves[name] = (at, sampled(given, at, name))
            between = "held" if hold == "zero" else "joined by straight lines"
            notes.append(
                f"the input {name!r} is a function that was sampled at {len(at)} times, at most "
                f"{np.diff(at).max():.6g} s apart, and {between}: what it does between them is not known"
            )
        elif isinstance(given, (str, int, float, np.number)):
            constant[name] = given if isinstance(given, str) else float(given)
        elif isinstance(given, tuple) and len(given) == 2:
            at, values = rising(given[0], f"the times of {name!r}"), numbers(given[1], f"the input {name!r}")
            curves[name] = (at, values)
        elif not isinstance(given, (list, tuple)) and np.ndim(given) == 0:
            raise TypeError(
                f"the input {name!r} is a number, an array, a pair (times, values), a function of t or text, not {given!r}"
            )
        else:
            values = numbers(given, f"the input {name!r}")
            if times is not None and len(values) == len(times):
                at = times
            else:
                at = np.linspace(0.0, end, len(values))
            curves[name] = (at, values)
    for name, (at, values) in curves.items():
        if len(at) != len(values):
            raise ValueError(f"the input {name!r} has {len(values)} values at {len(at)} times")
        if len(at) < 2:
            raise ValueError(f"the input {name!r} needs two samples or more")
    if not curves:
        return None, constant, notes
    for name, (at, _) in curves.items():
        tolerance = 1e-9 * max(abs(end), 1e-300)
        outside = [f"before {at[0]:.6g} s"] * bool(at[0] > tolerance)
        # What is held between its samples is held after the last one too.
        outside += [f"after {at[-1]:.6g} s"] * bool(at[-1] < end - tolerance and hold != "zero")
        if outside:
            notes.append(f"the input {name!r} is not given {' and '.join(outside)}, where it keeps its nearest value")
    # Straight lines and steps between the samples of all inputs together are those of each alone.
    union = np.unique(np.concatenate([at for at, _ in curves.values()]))
    columns: dict[str, NDArray[np.float64]] = {"t": union}
    for name, (at, values) in curves.items():
        if hold == "zero":
            columns[name] = values[np.clip(np.searchsorted(at, union, side="right") - 1, 0, None)]
        else:
            columns[name] = np.interp(union, at, values)
    return ("<inputs>", table(columns)), constant, notes
