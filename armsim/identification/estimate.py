"""A number that was found: how sure it is, what it is called, and what motion would show it."""

from __future__ import annotations

from collections.abc import Sequence

from armsim.document.paths import parse_path
from armsim.records import record

MOVES = {  # by the last key of a path: the motion that shows it
    "viscous": "move at different speeds",
    "coulomb": "move to and fro",
    "static": "set out from rest many times",
    "Kp": "drive it harder, at different speeds",
    "Ke": "move faster",
    "Ra": "drive it harder",
    "inductance": "change the voltage faster",
    "rotor_inertia": "accelerate harder",
    "mass": "hold and move it in different poses",
    "center": "hold it in different poses",
    "gear": "accelerate harder",
    "delay": "change the command faster",
    "offset": "hold it in different poses",
}


@record
class Estimate:
    """A number that was sought.

    Attributes:
        path: Of the robot file, or "delay" or "offset[R1]".
        unit: Its unit.
        written: What the file has; None where nothing.
        value: What was found; the file's where the log cannot see it.
        within: Half the width of its 95 % confidence interval; None where the log cannot tell.
        seen: Share of it that the log can see, from 0 to 1.
        at_bound: Whether it is at the end of what it can be.
    """

    path: str
    unit: str
    written: float | None
    value: float
    within: float | None
    seen: float
    at_bound: bool = False

    @property
    def key(self) -> str:
        """The last key of its path that tells what it is."""
        keys = [step for step in parse_path(self.path) if isinstance(step, str) and step in MOVES]
        return keys[-1] if keys else parse_path(self.path)[-1].__str__()

    @property
    def motion(self) -> str:
        """What motion would show it, in words."""
        return MOVES.get(self.key, "accelerate harder, in different poses")


def named(paths: Sequence[str]) -> str:
    """Paths as a sentence has them: `friction.viscous of R1 and motor.Kp of R1`."""
    words = [label(path) for path in paths]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def label(path: str) -> str:
    """A path as a sentence has it: `friction.viscous of R1`."""
    if path.startswith("joints["):
        joint, _, rest = path.removeprefix("joints[").partition("].")
        return f"{rest} of {joint}"
    name, _, joint = path.partition("[")
    return f"{name} of {joint.removesuffix(']')}" if name == "offset" else path
