"""Keywords of questions, brought to what the native module takes; what is wrong with one is a TypeError or a ValueError
that names it."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _inputs
from ._quantity import Quantity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    #: Frequencies: an array, or (lowest, highest, number of points in logarithmic steps), or ``"LO:HI:N"``.
    Frequencies = ArrayLike | str | None
    #: A name, or several.
    Names = str | Iterable[str] | None

#: Larger whole numbers count nothing that could be asked for.
_MOST = 2**53


def whole(value: Any, what: str, least: int = 0) -> int:
    """A whole number."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {value!r}") from None
    if not least <= number <= _MOST:
        limit = f"of {least} or more" if number < least else f"of at most {_MOST}"
        raise ValueError(f"{what} is a whole number {limit}, not {value!r}")
    return number


def real(value: Any, what: str) -> float:
    """A number; whether it makes sense is for the question to say."""
    # The common case first: runs of some microseconds are asked for in loops.
    if type(value) is float:
        return value
    if type(value) is int and abs(value) < 1 << 53:
        return float(value)
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value):
        raise TypeError(f"{what} is a number, not {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is a number, not {value!r}") from None
    except OverflowError:
        raise ValueError(f"{what} is too large a number") from None


def declared(name: str, value: Any, what: str) -> float:
    """A number in the unit that is declared for a name."""
    return value.declared(name) if isinstance(value, Quantity) else real(value, what)


def real_or_none(value: Any, what: str) -> float | None:
    """A number, where one is given."""
    return None if value is None else real(value, what)


def mapping(value: Any, what: str, example: str) -> Mapping[Any, Any]:
    """A mapping, empty where nothing is given."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} is a mapping, as in {example}, not {value!r}")
    return value


def percent(value: Any, what: str) -> float:
    """A share between none and all, from percent; a share itself would be read as less than one percent."""
    number = real(value, what)
    if not 1.0 <= number < 100.0:
        raise ValueError(f"{what} is in percent, from 1 to below 100, such as 95, not {value!r}")
    return number / 100.0


def flag(value: Any, what: str) -> bool:
    """Yes or no."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} is True or False, not {value!r}")
    return bool(value)


def names(names: Names, what: str = "names") -> list[str]:
    """Names one by one, from one text with commas or several."""
    if names is None:
        return []
    if isinstance(names, str):
        return [name.strip() for name in names.split(",") if name.strip()]
    try:
        listed = list(names)
    except TypeError:
        raise TypeError(f"{what} must be text, not {names!r}") from None
    if not all(isinstance(name, str) for name in listed):
        wrong = next(name for name in listed if not isinstance(name, str))
        raise TypeError(f"{what} must be text or a list of it, and holds {wrong!r}")
    return listed


def frequencies(
    omega: Frequencies, what: str = "omega", hz: bool = False
) -> tuple[tuple[float, float, int] | None, list[float]]:
    """A logarithmic grid, or frequencies one by one, in rad/s; they are given in Hz where ``hz`` says so."""
    factor = 2 * np.pi if flag(hz, "hz") else 1.0
    if omega is None:
        return None, []
    if isinstance(omega, str):
        parts = omega.split(":")
        try:
            low, high, points = float(parts[0]), float(parts[1]), int(parts[2])
        except (ValueError, IndexError):
            raise ValueError(f"{what} is LO:HI:N, as in '0.1:1000:200', not {omega!r}") from None
        omega = (low, high, points)
    if isinstance(omega, tuple) and len(omega) == 3 and isinstance(omega[2], (int, np.integer)):
        low, high, points = real(omega[0], what), real(omega[1], what), whole(omega[2], what)
        if not (0 < low < high < np.inf or (0 < low == high and points == 1)) or points < 1:
            raise ValueError(f"{what} must have 0 < LO < HI and a number of points, not {omega}")
        return (low * factor, high * factor, points), []
    listed = _inputs.rising(omega, what)
    if len(listed) == 0:
        raise ValueError(f"{what} is empty")
    if listed[0] < 0:
        raise ValueError(f"{what} must not be negative, but begins with {listed[0]}")
    return None, (factor * listed).tolist()


def grid(omega: Frequencies, what: str = "omega", hz: bool = False) -> tuple[float, float, int] | None:
    """A logarithmic grid."""
    grid, listed = frequencies(omega, what, hz)
    if listed:
        raise ValueError(f"{what} is (LO, HI, N) or 'LO:HI:N' here, a grid in logarithmic steps")
    return grid


def choice(value: str, known: Sequence[str], what: str) -> str:
    """One of some words."""
    if value not in known:
        raise ValueError(f"{what} is one of {', '.join(known)}, not {value!r}")
    return value


def setting(name: str, value: Any) -> float | str:
    """A value of a parameter or an input: a finite number, or text as one would write it."""
    if not isinstance(name, str):
        raise TypeError(f"values are given by name, and {name!r} is no text")
    if isinstance(value, str):
        return value
    if isinstance(value, Quantity):
        value = value.declared(name)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"the value of {name!r} is a number or text such as '2 [ohm]', not {value!r}") from None
    except OverflowError:
        raise ValueError(f"the value of {name!r} is too large a number") from None
    if not np.isfinite(number):
        raise ValueError(f"the value of {name!r} is {number}; give a finite number")
    return number


def records(data: Any) -> list[_inputs.File]:
    """Measured data, one or several."""
    if data is None:
        return []
    return [_inputs.measured(item) for item in (data if isinstance(data, (list, tuple)) else [data])]


def directions(direction: Any) -> list[tuple[str, list[tuple[str, float]]]]:
    """Directions: weights by name, or several of them by the names they have in results."""
    if not direction:
        return []
    if not isinstance(direction, Mapping):
        raise TypeError("direction is a mapping of weights, as in {'R': 1, 'L': 0.5}")
    if not isinstance(next(iter(direction.values())), Mapping):
        direction = {"lambda": direction}
    return [
        (name, [(key, real(weight, f"the weight of {key!r}")) for key, weight in weights.items()])
        for name, weights in direction.items()
    ]


def written(name: str, value: Any) -> str:
    """A value as text."""
    value = setting(name, value)
    return value if isinstance(value, str) else repr(value)


def change(name: str, value: float | str) -> tuple[str, float, bool]:
    """A finite change: ``"+10%"`` is relative, a number absolute."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([+-][\d.eE+-]+)\s*(%?)\s*", value)
        if match is None:
            raise ValueError(f"the change of {name!r} is a number or text such as '+10%', not {value!r}")
        by = float(match.group(1))
        return (name, by / 100.0, True) if match.group(2) else (name, by, False)
    return (name, real(value, f"the change of {name!r}"), False)


def cost(text: str) -> tuple[str, str]:
    """A cost: its kind and its output."""
    match = re.fullmatch(r"\s*(\w+)\s*\(\s*(.+?)\s*\)\s*", text)
    if match is None:
        raise ValueError(f"a cost is 'integral(OUTPUT)' or 'final(OUTPUT)', not {text!r}")
    return match.group(1), match.group(2)
