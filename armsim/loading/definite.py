"""Whether an arm's mass matrix is positive definite, so that its accelerations are determined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from armsim import document
from armsim.dynamics import crba, ldl, pivots
from armsim.dynamics.kinematics import joint_poses, pass_on
from armsim.expr import Scalar, Scalars, absolute, both, either, maximum, minimum
from armsim.files.faults import Fault, join
from armsim.model import Arm
from armsim.spatial import ZERO, Vector

POSES = 4  # at which the mass matrix is checked, besides the initial one
SINGULAR = 1e-12  # of what was summed: rounding of an exact zero, where products of the arm's numbers are summed
ROUNDING = 1e-15  # of what was summed
LEAST = 1e-30  # kg m² or kg: reciprocals of less than that are no longer within all bounds


def undetermined(arm: Arm, robot: document.Robot, path: str = "") -> list[Fault]:
    """Faults of an arm whose mass matrix is not positive definite at some pose: its accelerations are not determined.

    Each joint is measured by numbers of its own unit, so a slide of a tonne may carry a spindle of a gram: its inertia by
    what it is summed from (`_sums`), and its pivot, the inertia that is left with the joints beyond free, by its inertia.

    Args:
        arm: The arm, on numbers.
        robot: What it was built from.
        path: Of the robot, within another file.
    """
    for laden, pose in product(map(arm.at, arm.stages), _poses(arm)):
        q = [float(x) for x in pose]
        M, sums = crba(laden, q), _sums(laden, q)
        bad, pivot = next(
            ((k, pivot) for k, pivot in pivots(M) if not (_felt(arm, M, sums, k) and pivot > _nothing(M[k][k]))),
            (None, 0.0),
        )
        if bad is None:
            continue
        name = arm.joints[bad].name
        kind = arm.joints[bad].kind
        turns = kind.turns
        what = "inertia about the axis" if turns else "mass to move"
        if not math.isfinite(pivot):
            found = f"numbers beyond what a double can hold, at q = {_shown(q)}"
            mend = "check the sizes of masses, inertias and lengths"
        elif pivot < -max(SINGULAR * sums[bad], _nothing(abs(M[bad][bad]))):
            found = f"joint `{name}` and the joints after it can move with negative kinetic energy, at q = {_shown(q)}"
            mend = f"check the signs and the order of the inertia tensors from link {name} on"
        elif _felt(arm, M, sums, bad):
            found = f"joint `{name}` and the joints after it can move without moving any mass, at q = {_shown(q)}"
            mend = "check the frames of these joints, and the bodies of their links"
        else:
            found = f"no inertia and no rotor inertia on joint `{name}`" if turns else f"no mass on joint `{name}`"
            off_axis = "" if kind.slides else " off its axis"
            mend = f"give the link of {name} a body{off_axis}, or its motor a rotor_inertia"
        bad = arm.link_names.index(name)
        where = join(path, f"joints[{bad}]")
        return [Fault(robot.joints[bad].initial.place, where, f"{what} of joint `{name}`", found, mend)]
    return []


def determined(arm: Arm) -> Any:
    """The condition that `undetermined` finds no fault; the arm's numbers may be expressions."""
    sound: Any = True
    for laden, q in product(map(arm.at, arm.stages), _poses(arm)):
        M, sums = crba(laden, q), _sums(laden, q)
        try:
            L = ldl(M)
        except ZeroDivisionError:
            return False
        for k, row in enumerate(L):  # on whose diagonal are the reciprocals of the pivots
            sound = both(sound, both(row[k] > 0.0, row[k] * _nothing(M[k][k]) < 1.0))
            sound = both(sound, _felt(arm, M, sums, k))
    return sound


def _nothing(inertia: Scalar) -> Scalar:
    """What counts as no inertia where another was subtracted from this one."""
    return maximum(SINGULAR * inertia, LEAST)


def _felt(arm: Arm, M: Sequence[Scalars], sums: Scalars, k: int) -> Any:
    """The condition that a joint feels an inertia, which is no rounding error of a sum, or an armature."""
    armature = arm.joints[k].armature
    return either(M[k][k] - armature > SINGULAR * sums[k], armature > ROUNDING * sums[k])


def _sums(arm: Arm, q: Scalars) -> Scalars:
    """What each joint's inertia is summed from: moments about the frame's origin, and the mass, of the composite body.

    The sum of the moments about three axes does not turn; the parallel-axis theorem moves it by 2 p · (2 R h + m p).
    """
    sums: list[Scalar] = []
    beyond: dict[int, tuple[Scalar, Scalar, Vector]] = {}
    for i, (R, p) in reversed(list(enumerate(joint_poses(arm, q)))):
        moments, mass, h = beyond.get(i, (0.0, 0.0, ZERO))
        own, joint = arm.inertias[i], arm.links[i]
        moments = moments + absolute(own.J.xx) + absolute(own.J.yy) + absolute(own.J.zz)
        mass = mass + own.mass
        sums.append(moments * joint.turns + mass * (joint.slides * joint.slides))
        turned = R @ (h + own.h)
        moved = turned.plus(mass, p)
        pass_on(beyond, arm.parents[i], moments + 2.0 * absolute((turned + moved).dot(p)), mass, moved)
    ratios = arm.rates([1.0] * arm.n)
    return arm.project([ratio * x for ratio, x in zip(ratios, reversed(sums), strict=True)])


def _poses(arm: Arm) -> Iterator[Scalars]:
    """The initial pose, and poses spread over the joints' ranges (a Weyl sequence: the same at every run)."""
    yield list(arm.initial)
    for k in range(1, POSES + 1):
        pose = []
        for i, joint in enumerate(arm.joints):
            share = k * math.sqrt((2, 3, 5, 7, 11, 13, 17, 19)[i % 8] + i // 8) % 1.0
            half = math.pi if joint.kind.turns else 1.0
            lower, upper = joint.initial - half, joint.initial + half
            if joint.limit is not None:
                lower, upper = maximum(lower, joint.limit.lower), minimum(upper, joint.limit.upper)
            pose.append(lower + share * (upper - lower))
        yield pose


def _shown(q: list[float]) -> str:
    return ", ".join(f"{x:.3g}" for x in q)
