"""Angles of a summary in degrees."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from armsim.simulation.angles import FIGURE, POSITION, SQUARE, turned


@dataclass(frozen=True)
class Figures:
    error: float = field(metadata=FIGURE)
    ise: float | None = field(metadata=SQUARE)
    time: float


@dataclass(frozen=True)
class End:
    joint: str
    q: float = field(metadata=POSITION)
    figures: Figures


def test_angles_of_joints_that_turn_go_into_degrees():
    figures = Figures(0.5, 2.0, 3.0)
    first, second = turned([End("R1", 1.0, figures), End("S", 1.0, figures)], ["R1"])
    square = math.degrees(math.degrees(2.0))
    assert first == End("R1", 57.2957795130823, Figures(math.degrees(0.5), square, 3.0))  # positions to 15 digits
    assert second == End("S", 1.0, figures)


def test_what_is_not_there_has_no_angle():
    assert turned(End("R1", 0.0, Figures(0.0, None, 1.0)), ["R1"]).figures.ise is None
