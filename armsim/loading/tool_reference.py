"""From the path of a tool in a file to the motion of the joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from armsim import document
from armsim.document.base import walk
from armsim.dynamics import frame_pose
from armsim.errors import FileFaults, UsageError
from armsim.expr import Expr, leaves
from armsim.files.faults import Fault
from armsim.loading.frames import JointUnits
from armsim.loading.tool_motion import MOST_TRIES, Blocked, Follower
from armsim.model import Arm
from armsim.references.hermite import quintic_hermite
from armsim.references.piecewise import polynomial
from armsim.references.recorded import of_columns
from armsim.references.scaling import Scaling, ScalingBounds
from armsim.references.tool_path import Leg, Span, ToolMotion, arc, joined, line, spans_of

SAME = 1e-12  # 1 less the cosine of an angle between moves that is rounding
BACK = -0.99  # cosine of an angle between moves whose corner would turn back
SAMPLES = np.linspace(0.0, 1.0, 33)  # of a leg, at which its bend is looked for
CROSSED = (
    3e-6  # relative, of the least singular value, which goes to 0 as the way left; at the end of the reach as its root
)
START = 1e-6  # m: a path that ends before has not begun
Law = Callable[[Any], Scaling]


def build_tool_motion(
    x: document.Reference,
    arm: Arm,
    units: JointUnits,
    initial_q: Sequence[Any],
    timed: Law,
    fastest: Law,
) -> ToolMotion:
    """The joints' motion that leads a frame along a path.

    Args:
        x: As the file has it, settled.
        arm: The arm, n joints.
        units: Of the file.
        initial_q: Joint positions at the start [rad or m], n scalars.
        timed: The time scaling of a duration.
        fastest: The shortest time scaling within bounds.

    Raises:
        FileFaults: The arm cannot follow it; says where and why.
        UsageError: A number on which it depends is left open.
    """
    path = ToolPath(x, arm, units)
    shaping = [frame_pose(arm, initial_q, path.frame), *((joint.limit, joint.pitch) for joint in arm.joints)]
    if any(isinstance(value, Expr) for value in (*leaves(shaping), *(value for _, value, _ in walk(x)))):
        expected = "numbers of the arm's geometry and of the tool's path, which decide how its motion is computed"
        raise UsageError.of(
            "control.reference", expected, "one of them left open", "set it instead, a run for each value"
        )
    return path.motion(initial_q, timed, fastest)


class ToolPath:
    """The path of a file's reference; see `build_tool_motion`."""

    def __init__(self, x: document.Reference, arm: Arm, units: JointUnits) -> None:
        self.x, self.arm, self.units, self.angle = x, arm, units, units.angle
        self.frame, self.follows = arm.frame(x.frame or "tool"), x.orientation or "full"
        self.moves: Sequence[Any] = x.path or (x,)

    def motion(self, initial_q: Sequence[float], timed: Law, fastest: Law) -> ToolMotion:
        """The motion from joint positions on [rad or m]."""
        x, q, spans, begins, rows = self.x, list(initial_q), [], [], []
        follower = Follower(self.arm, self.frame, self.follows)
        t = 0.0 if x.start is None else x.start
        for stage in self.stages(self.pose(q)):
            k = stage if isinstance(stage, int) else stage[-1].move
            duration = self.moves[k].entries.get("duration") if x.times is None else x.times[k] - t
            if isinstance(stage, int):
                if duration is None:
                    raise self.fault(k, "how long it takes", "no `duration`", "add for example `duration: 1.5`")
                target = self.joints(stage)
                begins.append(t)
                rows.append(
                    [quintic_hermite(duration, (a, 0.0, 0.0), (b, 0.0, 0.0)) for a, b in zip(q, target, strict=True)]
                )
                q, t = target, t + duration
                continue
            scaling = fastest(self.bounds(stage)) if duration is None else timed(duration)
            for span in spans_of(stage, scaling, t):
                spans.append(span)
                begin = span.begin
                try:
                    for knot, pieces in follower.knots(span, np.array(q)):
                        begins.append(begin)
                        rows.append(pieces)
                        begin, q = knot.t, knot.motion[0].tolist()
                except Blocked as blocked:
                    raise self.refusal(follower, *blocked.args) from None
            t += scaling.duration
        columns = [list(zip(*pieces, strict=True)) for pieces in zip(*rows, strict=True)]
        made = of_columns([*begins, t], columns, q)
        return ToolMotion(made.origin, made.coefficients, self.frame.name, self.follows, tuple(spans))

    def joints(self, k: int) -> list[float]:
        """The joint positions to which a move leads in joint space [rad or m]."""
        return [*self.units.si(self.moves[k].joints)]

    def pose(self, q: Sequence[float]) -> tuple[np.ndarray, Rotation]:
        """Position and rotation of the frame."""
        x, y, z, *quaternion = frame_pose(self.arm, q, self.frame).coordinates
        return np.array([x, y, z]), Rotation.from_quat(np.roll(quaternion, -1))

    def stages(self, pose: tuple[np.ndarray, Rotation]) -> list[list[Leg] | int]:
        """What lies between two stops, from a pose on: legs, or the index of a move in joint space."""
        found: list[Any] = []
        for k, move in enumerate(self.moves):
            if move.entries.get("joints") is not None:
                found.append(k)
                pose = self.pose(self.joints(k))
                continue
            leg = self.leg(k, *pose)
            pose = leg.at(leg.length)[:2]
            if not found or isinstance(found[-1], int) or self.blend(found[-1][-1], leg) is None:
                found.append([])
            found[-1].append(leg)
        return [stage if isinstance(stage, int) or len(stage) == 1 else self.passed(stage) for stage in found]

    def leg(self, k: int, start: np.ndarray, rotation: Rotation) -> Leg:
        """A move of the tool from a pose on."""
        move, wanted = self.moves[k], rotation
        end = np.array(move.line or move.arc or start)
        curve = line(start, end) if move.arc is None else arc(start, np.array(move.through), end)
        if curve is None:
            raise self.fault(k, "three points of a circle", "points on a line", "move `through` aside, or write `line`")
        if move.rpy is not None:
            wanted = Rotation.from_euler("xyz", [x * self.angle for x in move.rpy])
        if move.quaternion is not None:
            wanted = Rotation.from_quat(np.roll(move.quaternion, -1))  # of any length
        turn = (wanted * rotation.inv()).as_rotvec() * (wanted is not rotation)
        if not (curve.length or turn.any()):
            raise self.fault(k, "another pose than before", "the same one", "take the move out")
        return Leg(curve, 0.0, curve.length or 1.0, rotation, turn, k)

    def blend(self, before: Leg, after: Leg) -> float | None:
        """The way before and after a point from which its corner is cut, 0 for no corner; None where the tool stops there."""
        along = before.at(before.length)[2][:3] @ after.at(0.0)[2][:3]
        blend: float | None = self.moves[before.move].blend or self.x.blend
        if self.x.times is not None or any(self.lingers(leg, blend or 0.0) for leg in (before, after)):
            return None
        return 0.0 if along > 1.0 - SAME else blend if along > BACK else None

    def lingers(self, leg: Leg, blend: float) -> bool:
        """Whether a move only turns, or turns for longer than it leads along at the greatest speeds and slows a whole stretch."""
        x: Any = self.x
        way, turn = max(0.0, leg.curve.length - 2.0 * blend), math.hypot(*leg.turn)
        bounded = x.angular_speed is not None and x.speed is not None
        return not leg.curve.length or (bounded and turn * x.speed > way * x.angular_speed * self.angle)

    def passed(self, legs: list[Leg]) -> list[Leg]:
        """Legs without a stop between them."""
        found = joined(legs, [self.blend(a, b) or 0.0 for a, b in pairwise(legs)])
        short = next((leg for leg in found if leg.length <= 0.0), None)
        if short is not None:
            mend = "make `blend` less than half of the shortest move"
            raise self.fault(
                short.move, "a move longer than what `blend` cuts from it", f"{-short.length:.6g} m too little", mend
            )
        return found

    def bounds(self, legs: Sequence[Leg]) -> ScalingBounds:
        """Of the tool's speed, and of its acceleration along the path and across it; it turns within as much time."""
        x, whole = self.x, sum(leg.length for leg in legs)
        jets = np.array([leg.at(u * leg.length)[2:] for leg in legs for u in SAMPLES]).reshape(-1, 2, 2, 3)
        (speed, turning), (bend, _) = np.linalg.norm(jets, axis=3).max(axis=0).tolist()
        if x.angular_speed is not None:
            speed = max(speed, turning * x.speed / (x.angular_speed * self.angle))
        if speed == 0.0:
            expected, mend = "how fast a tool turns that does not move", "add for example `angular_speed: 1`"
            raise self.fault(legs[0].move, expected, "no `angular_speed`", mend)
        across = whole * math.sqrt(bend / x.acceleration)
        far = speed * whole
        return ScalingBounds(max(far / x.speed, across), far / x.acceleration, far / x.jerk if x.jerk else 0.0)

    def refusal(self, follower: Follower, span: Span, t: float, q: Any, joint: Any) -> FileFaults:
        """That the path cannot be followed, with the place and what binds."""
        x, y, z = span.at(t)[0]
        mend = "begin in another pose (`initial.q`), or lead the path elsewhere"
        last, n = follower.knot(span, t, q), len(q)
        way = round(polynomial(span.way, t - span.origin)[0] + span.leg.first, 9)
        if joint is not None:
            found = f"{joint.name} at the end of its range"
        elif follower.tries > MOST_TRIES:
            found = f"more than {MOST_TRIES} tries of a knot"
        elif way < START and n < follower.conditions and self.follows != "free":
            found = f"{n} joints, which keep at most {n} of its {follower.conditions} conditions"
            mend = f"write {'`orientation: z`, or ' * (n == 5)}`orientation: free`"
        elif last is None or last.S[-1] < CROSSED * last.S[0]:
            found = "a singular position"
            if way > START:
                mend = "lead the path around it, or pass it by a move with `joints`"
        else:
            found = "the end of what the arm can reach"
            mend += "" if self.follows == "free" else ", or let the tool turn: `orientation: free`"
        along = f"{way:.6g} {'m along it' if span.leg.curve.length else 'of the turn'}, at t = {t:.6g} s"
        where = f"{along}, {self.frame.name} at [{x:.6g}, {y:.6g}, {z:.6g}] m"
        return self.fault(span.leg.move, "a path that the arm can follow", f"{found}: {where}", mend)

    def fault(self, k: int, expected: str, found: str, mend: str) -> FileFaults:
        """The fault of a move."""
        path = f"control.reference.path[{k}]" if self.x.path else "control.reference"
        return FileFaults([Fault(self.moves[k].place, path, expected, found, mend)])
