"""The bounds of every number, by its unit.

No arm has anything near them: they end where physics does, orders of magnitude beyond what is built. And doubles, which end at
1e308, bear what dynamics makes of numbers within them: at the bounds a link's inertia is below 1e45 kg·m², its energy at the
speed at which a run counts as diverged below 1e65 J, and the square of that below 1e130. Angles end where sine and cosine of a
double are still good to 1e-10. What is divided by has a least magnitude, so that quotients are finite, too.
"""

from __future__ import annotations

from typing import NamedTuple


class Bounds(NamedTuple):
    """Bounds of a number's magnitude.

    Attributes:
        largest: That it may have.
        least: That it must have where it cannot be 0.
    """

    largest: float
    least: float


BOUNDS: dict[str, Bounds] = {
    "": Bounds(1e30, 1e-30),
    "rad": Bounds(1e6, 1e-12),
    "m": Bounds(1e6, 1e-12),
    "rad or m": Bounds(1e6, 1e-12),
    "rad/s": Bounds(1e6, 1e-12),
    "rad/s or m/s": Bounds(1e6, 1e-12),
    "rad/s² or m/s²": Bounds(1e12, 1e-12),
    "rad/s³ or m/s³": Bounds(1e15, 1e-12),
    "m/s": Bounds(1e6, 1e-12),
    "m/s²": Bounds(1e6, 1e-12),
    "m/s³": Bounds(1e9, 1e-12),
    "Hz": Bounds(1e6, 1e-12),
    "s": Bounds(1e9, 1e-12),
    "kg": Bounds(1e9, 1e-30),
    "kg/m³": Bounds(1e9, 1e-30),
    "kg·m²": Bounds(1e12, 1e-30),
    "N": Bounds(1e12, 1e-12),
    "N·m": Bounds(1e12, 1e-12),
    "N·m or N": Bounds(1e12, 1e-12),
    "N/m": Bounds(1e15, 1e-12),
    "N·s/m": Bounds(1e12, 1e-12),
    "s/m": Bounds(1e12, 1e-12),
    "N·m/rad or N/m": Bounds(1e15, 1e-12),
    "N·m·s/rad": Bounds(1e12, 1e-12),
    "N·m·s/rad or N·s/m": Bounds(1e12, 1e-12),
    "N·m/A": Bounds(1e6, 1e-12),
    "V·s/rad": Bounds(1e6, 1e-12),
    "ohm": Bounds(1e9, 1e-9),
    "H": Bounds(1e6, 1e-12),
    "V": Bounds(1e9, 1e-9),
    "A": Bounds(1e9, 1e-9),
    "K/W": Bounds(1e9, 1e-9),
    "°C": Bounds(1e6, 1e-6),
    "V, N·m or N": Bounds(1e12, 1e-12),
    "V/rad or N·m/rad": Bounds(1e12, 1e-12),
    "V/(rad·s) or N·m/(rad·s)": Bounds(1e12, 1e-12),
    "V·s/rad or N·m·s/rad": Bounds(1e12, 1e-12),
}
