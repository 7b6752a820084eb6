"""Times in a unit that is not the second, noticed by what they would mean."""

from __future__ import annotations

import math

import numpy as np

from armsim.arrays import Array
from armsim.errors import spelled

UNITS = {"milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}  # in seconds
FACTORS = dict(zip(UNITS, ("1e-3", "1e-6", "1e-9"), strict=True))  # as formulas have them
NEAR = 0.05  # relative difference of spans that differ by the unit alone
ALIKE = 0.7  # least correlation of slopes and logged velocities by which their ratio is believed
HOPELESS = 100.0  # s between rows, over which no input of an arm is held
WIDE, USUAL = 0.5, 0.1  # s between rows: wider than logs of arms have; as they have


def scaling(column: str | None, unit: str) -> str:
    """How to scale times in a unit: a column of the file, or else the times that a formula makes."""
    factor = FACTORS[unit]
    if column is None:
        return f"*{factor} in the formula of t_s"
    scaled = f"{column}*{factor}"
    return spelled(f'--columns "{{t_s: {scaled}}}"', f"columns={ {'t_s': scaled} }")


def unit_by_speeds(t: Array, q: Array, qd: Array) -> tuple[str, float] | None:
    """The unit of times by which the differences of q agree with the logged velocities, if that is not the second.

    Args:
        t: Times, shape (m,), m at least 2.
        q: Joint positions [rad or m], shape (m, n).
        qd: Joint velocities [rad/s or m/s], likewise.

    Returns:
        The unit, and the ratio of the slopes of q to qd by least squares; None where that is not near a unit's.
    """
    slopes = np.diff(q, axis=0) / np.diff(t)[:, None]
    logged = (qd[1:] + qd[:-1]) / 2
    size, along = float((logged * logged).sum()), float((slopes * logged).sum())
    if along <= ALIKE * math.sqrt(size * float((slopes * slopes).sum())):
        return None
    ratio = along / size
    return next(((unit, ratio) for unit, length in UNITS.items() if 0.5 < ratio / length < 2.0), None)


def unit_by_spacing(t: Array) -> tuple[str, float] | None:
    """The unit in which widely spaced rows would be spaced as usual, and their median spacing [s]; None where they are not."""
    spacing = float(np.median(np.diff(t)))
    if spacing < WIDE:
        return None
    fits = (unit for unit, length in UNITS.items() if spacing * length <= USUAL)
    return next(fits, "nanoseconds"), spacing


def unit_by_spans(t: Array, other: Array) -> str | None:
    """The unit in which `other` would cover about as many seconds as t does; None where there is none. NaN are passed over."""
    seconds, span = (float(np.nanmax(x) - np.nanmin(x)) for x in (t, other))
    return next((unit for unit, length in UNITS.items() if abs(span * length - seconds) < NEAR * seconds), None)
