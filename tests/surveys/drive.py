"""What acts on one joint, by docs/motors.md, docs/friction.md and docs/files.md, from the mappings as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from .branches import Branches

NO_LIMITS = {"voltage": inf, "current": inf, "torque": inf, "speed": inf}


@dataclass(frozen=True)
class Force:
    """What acts at a joint, as far as its own state and command decide.

    Attributes:
        total: All of it, dry friction for this direction included [N·m or N].
        current_rate: Of an inductive armature, di/dt were it not at its limit [A/s].
    """

    total: float
    current_rate: float = 0.0


class Drive:
    """One joint's motor, friction and stops.

    Its velocity axis is cut at `levels`, where the force jumps down as the velocity grows: at 0 dry friction turns round, at the
    limit of speed the current that drives further ends. Interval k lies below level k, the last one above all.
    """

    def __init__(self, index: int, joint: Mapping[str, Any], output: str | None) -> None:
        self.index, self.output = index, output
        motor = joint.get("motor", {})
        friction = joint.get("friction", {})
        self.gear = motor.get("gear", 1.0)
        self.Kp, self.Ra = motor.get("Kp"), motor.get("Ra")
        self.Ke = motor.get("Ke", self.Kp)
        self.inductance = motor.get("inductance", 0.0)
        self.loss = 1.0 - motor.get("efficiency", 1.0)
        self.brushes = motor.get("brush_drop")
        self.limits = {**NO_LIMITS, **motor.get("limits", {})}
        if self.Kp is not None:
            self.limits["current"] = min(self.limits["current"], self.limits["torque"] / self.Kp)
        self.viscous = friction.get("viscous", 0.0) + self.gear**2 * motor.get("viscous", 0.0)
        # against motion in the positive and in the negative direction, both of the joint
        self.against = tuple(
            side(friction.get("coulomb", 0.0), way) + abs(self.gear) * side(motor.get("coulomb", 0.0), way)
            for way in ("positive", "negative")
        )
        self.stops = {"lower": -inf, "upper": inf, "stiffness": 0.0, "damping": 0.0, **joint.get("limits", {})}
        top = self.limits["speed"] / abs(self.gear)
        self.levels = sorted(
            [*([0.0] if any(self.against) or self.loss else []), *([-top, top] if top < inf and output else [])]
        )
        self.top = top

    def force(self, interval: int, q: float, v: float, current: float, u: float, on: Branches) -> Force:
        """What acts while the velocity is in an interval.

        Args:
            interval: Between which of `levels`.
            q: Joint position [rad or m].
            v: Joint velocity [rad/s or m/s].
            current: Of an inductive armature [A].
            u: Command, a voltage or a torque at the joint.
            on: Where the sides of all conditions are kept.
        """
        of = (self.index, interval)
        forward = (self.levels[interval - 1] if interval else -inf) >= 0.0  # only of interest where 0 is a level
        cut = (v_side(self.levels, interval, self.top)) if self.output else 0
        rate = 0.0
        if self.output is None:
            drive = 0.0
        elif self.inductance:
            drive = self.gear * self.Kp * current
            V = on.clip("supply", of, u, -self.limits["voltage"], self.limits["voltage"])
            rate = on.behind_brushes(of, V, self.brushes) - self.Ra * current - self.Ke * self.gear * v
            rate /= self.inductance
        else:
            drive = self.drive(of, cut, v, u, on)
        total = drive - self.viscous * v + self.stop(q, v, on)
        if 0.0 in self.levels:
            lost = 0.0
            if self.loss:  # beyond the limit of speed the drive only brakes
                lost = self.loss * (-cut * drive if cut else on.size(("gear", of), drive))
            total += -(self.against[0] + lost) if forward else self.against[1] + lost
        return Force(total, rate)

    def drive(self, of: tuple[int, int], cut: int, v: float, u: float, on: Branches) -> float:
        """The motor's torque at the joint, before losses [N·m or N]; `cut`: the direction in which it may not drive further."""
        if self.Kp is None:
            torque = self.gear * on.clip("torque", of, u / self.gear, -self.limits["torque"], self.limits["torque"])
            return self.only_brakes(of, cut, torque, on)
        top, back = self.limits["voltage"], self.Ke * self.gear * v
        if self.output == "torque":
            current = u / (self.gear * self.Kp)
        else:
            current = (on.behind_brushes(of, u, self.brushes) - back) / self.Ra
        if self.limits["current"] < inf:
            current = on.clip("current", of, current, -self.limits["current"], self.limits["current"])
        turns = 1.0 if self.gear > 0 else -1.0
        current = turns * self.only_brakes(of, cut, turns * current, on)
        if top < inf:
            net = top if self.brushes is None else top - self.brushes["max"] * (1 - 2 ** (-top / self.brushes["half"]))
            current = on.clip("supply", of, current, (-net - back) / self.Ra, (net - back) / self.Ra)
        return self.gear * self.Kp * current

    @staticmethod
    def only_brakes(of: tuple[int, int], cut: int, x: float, on: Branches) -> float:
        """What is left of a torque or current of the joint's direction beyond the limit of speed."""
        if cut > 0:
            return on.least(("speed", of), x, 0.0)
        return on.most(("speed", of), x, 0.0) if cut < 0 else x

    def stop(self, q: float, v: float, on: Branches) -> float:
        """A spring and a damper outside the range, which push back and never pull [N·m or N]."""
        k, d = self.stops["stiffness"], self.stops["damping"]
        if not k:
            return 0.0
        for way, end in ((1.0, "upper"), (-1.0, "lower")):
            depth = way * (q - self.stops[end])
            if abs(self.stops[end]) < inf and on.positive(("stop", self.index, end), depth):
                push = k * depth + way * d * v
                return -way * (on.most(("release", self.index), push, 0.0) if d else push)
        return 0.0


def side(coulomb: float | Mapping[str, float], way: str) -> float:
    """Coulomb friction against motion in one direction."""
    return coulomb[way] if isinstance(coulomb, Mapping) else coulomb


def v_side(levels: list[float], interval: int, top: float) -> int:
    """1 above the limit of speed, -1 below its negative, else 0."""
    if top not in levels:
        return 0
    return 1 if interval == len(levels) else -1 if interval == 0 else 0
