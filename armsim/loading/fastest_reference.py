"""From a file's reference to the fastest motion along its path, and the refusal where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from armsim import document
from armsim.errors import FileFaults, UsageError
from armsim.expr import Expr
from armsim.fastest.jerk_limits import JerkLimits, within_jerk
from armsim.fastest.path_limits import PathLimits, RowLabel
from armsim.fastest.phase_plane import Unreachable
from armsim.fastest.timing import HELD, Extra, PathRows, fastest_timing
from armsim.files.faults import Fault
from armsim.loading.tool_motion import Blocked, Follower
from armsim.loading.tool_reference import ToolPath
from armsim.model import Arm, Joint
from armsim.references.fastest_motion import FastestStage, fastest_motion
from armsim.references.hermite import quintic_hermite
from armsim.references.joint_path import JointPath, straight, through
from armsim.references.recorded import Recorded
from armsim.references.tool_path import Leg, Span, ToolMotion

Array = Any  # numpy's
SAME = 1e-9  # rad or m: points that are nearer to each other are one
LOOKED_AT = 1000  # points of a path: whether it stays within the ranges of joints
LimitedPath = tuple[JointPath, Extra | None, tuple[RowLabel, ...]]  # with rows of the tool, and what they bound


class FastestReference:
    """The fastest motion along the path of a file's reference.

    Args:
        x: As the file has it, settled; its limits in rad or m.
        arm: The arm, on numbers.
        output: What commands of its drives are.
        command: Greatest command of each joint; None where there is none.
    """

    def __init__(self, x: document.Reference, arm: Arm, output: str, command: Sequence[float | None]) -> None:
        if any(isinstance(number, Expr) for number in command):
            expected, mend = "numbers of the arm, its motors and limits", "set it instead, a run for each value"
            raise UsageError.of("control.reference.fastest", expected, "one of them left open", mend)
        self.x, self.arm = x, arm
        speed, acceleration = (None, None) if x.of_tool else (x.speed, x.acceleration)
        self.share = (1.0 - (x.margin or 0.0)) * (1.0 - 4.0 * HELD)
        self.limits = PathLimits(arm.heaviest, output, command, speed, acceleration, self.share)
        self.jerk = None if x.jerk is None else np.array(x.jerk)
        self.begin, self.speeds = x.start or 0.0, tuple(x.path_speeds or (0.0, 0.0))

    def stages(self, paths: Sequence[LimitedPath]) -> tuple[FastestStage, ...]:
        """The motions along paths, at rest between them."""
        found: list[FastestStage] = []
        begin, last = self.begin, len(paths) - 1
        for i, (path, extra, more) in enumerate(paths):
            jerk = None if self.x.of_tool and extra is None else self.jerk
            names = [joint.name for joint in self.arm.joints] if extra is None else [self.x.frame or "tool"]
            jerks = (RowLabel(name, "jerk") for name in names * (2 * (jerk is not None)))
            rows = PathRows(path, self.limits, extra, (*more, *jerks))
            if not self.limits.labels and not more:
                raise self.fault(
                    "a limit that bounds the motion", "none", "add for example `speed: 1, acceleration: 4`"
                )
            try:
                timing = fastest_timing(rows, (self.speeds[0] * (i == 0), self.speeds[1] * (i == last)))
                if jerk is not None:
                    timing = within_jerk(JerkLimits(rows, self.share * jerk), timing)
            except Unreachable as unreachable:
                raise self.refusal(
                    rows, f"stretch {i + 1} of {last + 1}" if last else "it", *unreachable.args
                ) from None
            of_joints = jerk if extra is None else None
            found.append(FastestStage(begin, path, timing, tuple(rows.labels), rows.unheld(timing.s), of_joints))
            begin = float(found[-1].times[-1])
        return tuple(found)

    def along(self, points: Sequence[Sequence[float]], passes: bool, order: int | None) -> Recorded:
        """Through points in joint space: without a stop, or along lines with a stop at each."""
        points = [points[0], *(b for a, b in pairwise(points) if np.abs(np.subtract(a, b)).max() > SAME)]
        least = 2 if order is None else order + 1
        if len(points) < least:
            raise self.fault(f"{least} points or more that differ", f"{len(points)}", "lead it elsewhere")
        paths = [through(points, order)] if passes else [straight(a, b) for a, b in pairwise(points)]
        return fastest_motion(self.stages([(path, None, ()) for path in paths]))

    def of_tool(self, path: ToolPath, q: Sequence[float]) -> Recorded:
        """The tool along its path, from joint positions on."""
        follower, q = Follower(self.arm, path.frame, path.follows), list(q)
        paths: list[LimitedPath] = []
        legs: list[list[Leg]] = []
        for stage in path.stages(path.pose(q)):
            if isinstance(stage, int):
                paths.append((straight(q, path.joints(stage)), None, ()))
                legs.append([])
                q = path.joints(stage)
                continue
            breaks, pieces, end = [0.0], [], 0.0
            for leg in stage:
                span = Span(end, end + leg.length, leg, (0.0, 1.0), end)
                end += leg.length
                try:
                    for knot, polynomials in follower.knots(span, np.array(q)):
                        breaks.append(knot.t)
                        pieces.append(polynomials)
                        q = knot.motion[0].tolist()
                except Blocked as blocked:
                    raise path.refusal(follower, *blocked.args) from None
            paths.append((JointPath(np.array(breaks), np.array(pieces)), *self.tool_rows(path, stage)))
            legs.append(stage)
        stages = self.stages(paths)
        made = fastest_motion(stages)
        spans = [span for stage, of in zip(stages, legs, strict=True) for span in spans_along(stage, of)]
        return ToolMotion(made.origin, made.coefficients, path.frame.name, path.follows, tuple(spans), stages)

    def tool_rows(self, path: ToolPath, legs: Sequence[Leg]) -> tuple[Extra, tuple[RowLabel, ...]]:
        """Rows of the tool's speed, acceleration along the path and across it, and angular speed."""
        x: Any = self.x
        starts = np.append(0.0, np.cumsum([leg.length for leg in legs]))

        def rows(s: Array, middle: Array) -> Array:
            of = np.clip(np.searchsorted(starts, middle, side="right") - 1, 0, len(legs) - 1)
            rates = np.empty((4, len(s)))
            for k in np.unique(of).tolist():
                on = of == k
                rates[:, on] = legs[k].rates(s[on] - starts[k])
            speed, change, across, turning = rates
            zero, least = np.zeros_like(s), np.full_like(s, -1.0)
            made = []
            if x.speed is not None:
                made.append((zero, zero, speed / (self.share * x.speed), least))
            if x.acceleration is not None:
                most = self.share * x.acceleration
                made += [(way * speed / most, way * change / most, zero, least) for way in (1.0, -1.0)]
                made.append((zero, across / most, zero, least))
            if x.angular_speed is not None:
                made.append((zero, zero, turning / (self.share * x.angular_speed * path.angle), least))
            return np.moveaxis(np.array(made).reshape(-1, 4, len(s)), 2, 0)

        bounded = ["speed", *["acceleration"] * 3, "angular_speed"]
        given = [key.replace("_", " ") for key in bounded if x.entries[key] is not None]
        return rows, tuple(RowLabel(path.frame.name, key) for key in given)

    def refusal(self, rows: PathRows, name: str, s: float, binding: Sequence[int], over: float = 0.0) -> FileFaults:
        """That no speed leads along a path, of that name, at a point of it, and which limit forbids it or is still exceeded."""
        path, mend = rows.path, "lead it elsewhere, or give it a stronger motor or less load"
        if left := out_of_range(path, self.arm.joints):
            s, found = left
            mend = "keep it within the ranges of the joints, whose stops push back"
        elif weak := too_weak(rows, s, binding):
            s, found = weak
        elif over:
            found = f"a search that ended with the limit of {rows.labels[binding[0]]} exceeded by {over:.2g} of it"
            mend = "lead it elsewhere, or change that limit a little"
        else:
            found = f"no speed that {f'the limit of {rows.labels[binding[0]]} lets' if binding else 'limits let'} go on"
            mend = f"{'begin or end slower' if any(self.speeds) else 'lead it elsewhere'}, or raise that limit"
        at = np.array([s])
        q = path.at(at, path.piece(at))[0][0]
        found += f": {100.0 * s / path.breaks[-1]:.4g} % along {name}, at q = [{', '.join(f'{x:.5g}' for x in q)}]"
        return self.fault("a path that can be followed within all limits", found, mend)

    def fault(self, expected: str, found: str, mend: str) -> FileFaults:
        """The fault of the reference."""
        return FileFaults([Fault(self.x.place, "control.reference", expected, found, mend)])


def too_weak(rows: PathRows, s: float, binding: Sequence[int]) -> tuple[float, str] | None:
    """Where the first stretch from a point on that no slow motion passes needs most of a limit, and what, in words.

    Args:
        rows: Of all limits.
        s: The point.
        binding: The row that lets no speed lead on from it: if it bounds the path acceleration above, it is what has to be
            climbed that counts, else what pulls the arm on.
    """
    at = np.union1d(rows.path.grid(LOOKED_AT), [s])
    slow, k = rows.at(at, rows.path.piece(at)), int(np.searchsorted(at, s))
    way = np.sign(slow[k, binding[0], 0]) if binding and binding[0] < slow.shape[1] else 0.0
    over = np.where(slow[..., 0] * way >= 0.0, slow[..., 3], -1.0)
    passed = np.flatnonzero(over.max(axis=1) <= 0.0)
    beyond = np.setdiff1d(np.arange(k, len(at)), passed)
    if not len(beyond):
        return None
    first, last = passed[passed < beyond[0]].max(initial=-1) + 1, passed[passed > beyond[0]].min(initial=len(at))
    there = first + int(over[first:last].max(axis=1).argmax())
    still = rows.still(at[[there]])[0]
    most, what = (still, "stand still") if still.max() > 0.0 else (over[there], "move on slowly")
    joint, quantity = rows.labels[int(most.argmax())]
    needs = f"{joint} needs {most.max() + 1.0:.4g} times the limit of its {quantity} to {what}"
    return float(at[there]), needs if first <= k else f"{needs}, and no speed within limits leads there"


def out_of_range(path: JointPath, joints: Sequence[Joint]) -> tuple[float, str] | None:
    """Where a path first leaves the range of a joint, and how far it gets, in words; None if it does not."""
    s = path.grid(LOOKED_AT)
    q = path.at(s, path.piece(s))[0]
    found = []
    for joint, x in zip(joints, q.T, strict=True):
        for bound, sign in zip(joint.bounds, (-1.0, 1.0), strict=True):
            if bound is not None and (over := sign * (x - bound)).max() > SAME:
                far, unit = x[over.argmax()], joint.kind.length
                words = f"{joint.name} leaves its range at {bound:.5g} {unit} and gets to {far:.5g} {unit}"
                found.append((float(s[(over > SAME).argmax()]), words))
    return min(found, default=None)


def spans_along(stage: FastestStage, legs: Sequence[Leg]) -> list[Span]:
    """The parts of a tool's path in each interval of a motion along legs."""
    found: list[Span] = []
    starts = np.append(0.0, np.cumsum([leg.length for leg in legs]))
    timing, times = stage.timing, stage.times.tolist()
    for i, h in enumerate(timing.h.tolist() if legs else []):
        a, b = timing.s[i : i + 2].tolist()
        k = min(int(np.searchsorted(starts, (a + b) / 2, side="right")) - 1, len(legs) - 1)
        first = float(starts[k])
        begin, end = (a - first, timing.w[i], timing.begin[i]), (b - first, timing.w[i + 1], timing.end[i])
        way = quintic_hermite(h, begin, end)
        found.append(Span(times[i], times[i + 1], legs[k], tuple(map(float, way)), times[i]))
    return found
