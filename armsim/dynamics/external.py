"""External wrenches: applied loads at frames, constant or as the motion has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from armsim.dynamics.kinematics import along, frame_position, frame_velocity, joint_poses, link_velocities, own_poses
from armsim.dynamics.rnea import Wrench, transmitted
from armsim.expr import Evaluable, Scalar, Scalars
from armsim.model import Arm, LinkFrame, share_of_interval
from armsim.records import record
from armsim.spatial import ZERO, Vector, cross

# what expressions call the position of a frame's origin, its velocity and the frame's angular velocity, along the world's axes
OF_FRAME = tuple(f"{kind}{axis}" for kind in ("", "v", "w") for axis in "xyz")


@record
class ExternalWrench:
    """An applied load at the origin of a frame: force and moment, during an interval of time.

    Attributes:
        at: The frame.
        force: [N].
        moment: [N·m].
        axes: Whether force and moment are given along the axes of the "world", or along the frame's own ("local").
        start: Beginning of the interval [s]; None for one without.
        end: End of the interval, excluded [s]; None for one without.
    """

    at: LinkFrame
    force: Vector = ZERO
    moment: Vector = ZERO
    axes: Literal["world", "local"] = "world"
    start: Scalar | None = None
    end: Scalar | None = None

    follows = False  # whether the components are expressions of time and motion

    def components(self, told: Mapping[str, Scalar]) -> Wrench:
        """Moment and force, by what is told of time and motion."""
        return self.moment, self.force

    @property
    def names(self) -> frozenset[str]:
        """What its components name of time and motion."""
        return frozenset()


@record
class WrenchLaw(ExternalWrench):
    """An applied load whose components are expressions of time and motion.

    Attributes:
        terms: The components in place of `force` and `moment`, the force first: scalars or expressions.
        parameters: Numbers that they name.
    """

    terms: tuple[Scalar | Evaluable, ...] = ()
    parameters: Mapping[str, Scalar] = field(default_factory=dict)

    follows = True

    @property
    def names(self) -> frozenset[str]:
        """What the expressions name."""
        return frozenset[str]().union(*(term.names for term in self.terms if isinstance(term, Evaluable)))

    def components(self, told: Mapping[str, Scalar]) -> Wrench:
        known = {**self.parameters, **told}
        x = [term.evaluate(known) if isinstance(term, Evaluable) else term for term in self.terms]
        return Vector(*x[3:]), Vector(*x[:3])


def motion_by_name(
    arm: Arm,
    t: Scalar,
    q: Scalars,
    qd: Scalars,
    names: frozenset[str],
    more: Sequence[LinkFrame] = (),
) -> dict[str, Scalar]:
    """Time and motion as expressions name them: t, `q_R1`, `qd_R1`, and of every frame among the names `x_tool`, `vx_tool`, ...

    Args:
        arm: The arm, n joints.
        t: Time [s].
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        names: What is asked for.
        more: Frames beside the arm's own.
    """
    known = {"t": t}
    for joint, q_i, qd_i in zip(arm.link_names, arm.positions(q), arm.rates(qd), strict=True):
        known |= {f"q_{joint}": q_i, f"qd_{joint}": qd_i}
    for frame in (*arm.frames, *more):
        of_frame = [f"{part}_{frame.name}" for part in OF_FRAME]
        if not names.isdisjoint(of_frame):
            w, v = frame_velocity(arm, q, qd, frame)
            known |= zip(of_frame, [*frame_position(arm, q, frame), *v, *w], strict=True)
    return known


def told_to(
    arm: Arm,
    wrenches: Sequence[ExternalWrench],
    t: Scalar,
    q: Scalars,
    qd: Scalars,
    states: Mapping[str, Scalar] | None = None,
) -> dict[str, Scalar]:
    """What wrenches name of time and motion, and the further states of contacts; see `motion_by_name`."""
    names = frozenset[str]().union(*(wrench.names for wrench in wrenches))
    own = {wrench.at.name: wrench.at for wrench in wrenches if wrench.at not in arm.frames}
    return {**(states or {}), **(motion_by_name(arm, t, q, qd, names, [*own.values()]) if names else {})}


def link_wrenches(
    arm: Arm,
    since: Scalar,
    q: Scalars,
    wrenches: Sequence[ExternalWrench],
    t: Scalar = 0.0,
    qd: Scalars = (),
    states: Mapping[str, Scalar] | None = None,
) -> list[Wrench] | None:
    """The external wrench on every link: moment about its own frame's origin and force, in its own axes.

    Args:
        arm: The arm, n joints.
        since: Time at which wrenches begin or end [s], that of the step's beginning.
        q: Joint positions [rad or m], n scalars.
        wrenches: The applied loads.
        t: Time [s], where any of them follows the motion.
        qd: Joint velocities then [rad/s or m/s], n scalars.
        states: The further states of contacts, by name.

    Returns:
        A pair (moment [N·m], force [N]) for every link, or None if there are no wrenches at all.
    """
    if not wrenches:
        return None
    told = told_to(arm, wrenches, t, q, qd, states)
    poses = own_poses(arm, q)
    total = [(ZERO, ZERO)] * len(arm.links)
    for wrench in wrenches:
        link, place = arm.link_of(wrench.at), arm.placement(wrench.at)
        axes = poses[link].rotation.T if wrench.axes == "world" else place.rotation
        moment, force = (axes @ part for part in wrench.components(told))
        moment = moment + cross(place.position, force)
        share = share_of_interval(since, wrench.start, wrench.end)
        n, f = total[link]
        total[link] = (n + moment * share, f + force * share)
    return total


def joint_forces(arm: Arm, q: Scalars, wrenches: Sequence[Wrench]) -> Scalars:
    """The joint forces that wrenches on links amount to, the transposed Jacobians times them [N·m or N], n scalars.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        wrenches: As `link_wrenches` gives them.
    """
    _, *found = transmitted(arm, joint_poses(arm, q), wrenches)
    return arm.project([along(link, n, f) for link, (n, f) in zip(arm.links, found, strict=True)])


def external_power(arm: Arm, q, qd, wrenches: Sequence[Wrench] | None) -> Scalar:
    """Power of external wrenches [W].

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        wrenches: As `link_wrenches` gives them.
    """
    power: Scalar = 0.0
    for (w, v), (moment, force) in zip(link_velocities(arm, q, qd), wrenches or (), strict=False):
        power = power + (moment.dot(w) + force.dot(v))
    return power
