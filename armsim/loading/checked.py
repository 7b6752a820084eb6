"""Files that have been read and checked, but not built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from armsim.files.source import Source


@dataclass(frozen=True)
class RobotFile:
    """A robot file that has been checked.

    Attributes:
        data: Its content with defaults: dicts, lists, text and `armsim.formulas.quantity.Quantity`.
        sources: The files that were read.
    """

    data: dict[str, Any]
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario file that has been checked, with its robot.

    Attributes:
        name: Of the scenario.
        data: Its content with defaults: dicts, lists, text and `armsim.formulas.quantity.Quantity`.
        robot: Its robot.
        steps: The length of a step [s], "dt"; and times as numbers of steps: "duration", "log", "period" (None for
            continuous), "delay", "external" (pairs).
        sources: The files that were read.
        model: The robot that its controller takes the arm for; None for the arm itself.
    """

    name: str
    data: dict[str, Any]
    robot: RobotFile
    steps: dict[str, Any]
    sources: tuple[Source, ...]
    model: RobotFile | None = None


def delay_of(steps: Mapping[str, Any]) -> int:
    """The delay of a controller in periods, from times as numbers of steps."""
    return int((steps.get("delay") or 0) // (steps.get("period") or 1))
