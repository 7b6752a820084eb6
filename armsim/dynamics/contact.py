"""Contact of points and spheres of an arm with solids of the world: normal force and friction, as external wrenches.

Friction is a spring and a damper from an anchor, within Coulomb's cone; docs/contact.md derives it.
"""

from __future__ import annotations

from collections.abc import Mapping

from armsim.dynamics.crba import crba
from armsim.dynamics.external import OF_FRAME, ExternalWrench, link_wrenches
from armsim.dynamics.factor import solve_ldl
from armsim.dynamics.jacobian import frame_jacobian
from armsim.dynamics.kinematics import frame_position
from armsim.dynamics.rnea import Wrench
from armsim.expr import Scalar, Scalars, both, divided, dot, exp, negated, sqrt, where
from armsim.geometry import Obstacle, Plane, Surface
from armsim.geometry.shapes import Gap
from armsim.model import Arm, LinkFrame
from armsim.records import record
from armsim.spatial import ZERO, Vector, X, Y, Z, cross, perpendicular

ANCHOR = ("anchorx", "anchory", "anchorz")
COEFFICIENT = "coefficient"
CLOSED = "closed"
VANISHING = (
    1e-60  # N²: what is added to the square of a force that is divided by, which may be 0 where the contact is apart
)


@record
class Touch:
    """A contact at an instant.

    Attributes:
        gap: Distance from the solid, negative by the penetration [m].
        rate: Of the gap [m/s].
        normal: Unit normal of the solid there.
        normal_force: [N].
        friction: Friction force on the arm [N].
        slip: Velocity at which it slips, zero while it sticks or is apart [m/s].
        rates: Of the contact's further states.
    """

    gap: Scalar
    rate: Scalar
    normal: Vector
    normal_force: Scalar
    friction: Vector
    slip: Vector
    rates: dict[str, Scalar]


@record(kw_only=True)
class Contact(ExternalWrench):
    """A contact of a point or a sphere of the arm, centred at `at`, with a solid.

    With friction it has further states: the anchor, a point fixed in the world while the contact sticks, and the coefficient of
    friction where the static one differs from the kinetic one.

    Attributes:
        name: Of the contact.
        obstacle: The solid.
        surface: The law of its forces.
        radius: Of the sphere; 0 for a point [m].
    """

    name: str
    obstacle: Obstacle
    surface: Surface
    radius: Scalar = 0.0

    follows = True

    @property
    def names(self) -> frozenset[str]:
        """Position and velocities of the frame."""
        return frozenset(f"{part}_{self.at.name}" for part in OF_FRAME)

    @property
    def span(self) -> dict[str, Vector]:
        """The directions along which its anchor may lie, of a plane those in it, by the names of the further states."""
        axes: tuple[Vector, ...] = (X, Y, Z)
        shape, rotation = self.obstacle.shape, self.obstacle.pose.rotation
        if isinstance(shape, Plane):
            axes = tuple(rotation @ axis for axis in perpendicular(shape.normal))
        return dict(zip(map(self.state, ANCHOR), axes, strict=False))

    def begin(self, center: Vector) -> dict[str, Scalar]:
        """The further states where the contact sticks without friction force, by name."""
        friction = self.surface.friction
        if friction is None:
            return {}
        states = {name: axis.dot(center) for name, axis in self.span.items()}
        return states if friction.kinetic is None else {**states, self.state(COEFFICIENT): friction.static}

    def relaxed(self, states: Mapping[str, Scalar], before: Vector, after: Vector, dt: Scalar) -> dict[str, Scalar]:
        """The further states after a time dt [s] apart from the solid: its centre has gone from `before` to `after` [m]."""
        friction, begun = self.surface.friction, self.begin(before)
        if friction is None:
            return {}
        kept = exp(-dt * friction.stiffness / friction.damping)
        return {name: rest + (states[name] - begun[name]) * kept for name, rest in self.begin(after).items()}

    def gap(self, center: Vector) -> Gap:
        """The distance from the solid where its centre is at a place, negative by the penetration [m], and the normal there."""
        distance, normal = self.obstacle.gap(center)
        return distance - self.radius, normal

    def clearance(self, center: Vector) -> Scalar:
        """How far from the solid it is at least where its centre is at a place [m]; 0 or less where it touches."""
        return self.obstacle.clearance(center) - self.radius

    def state(self, part: str) -> str:
        """The name of a further state."""
        return f"{part}_{self.name}"

    def components(self, told: Mapping[str, Scalar]) -> Wrench:
        touch = self.touch(told)
        force = touch.normal * touch.normal_force + touch.friction
        return cross(touch.normal * -self.radius, force), force

    def touch(self, told: Mapping[str, Scalar]) -> Touch:
        """The contact at a motion; a contact whose states are not told sticks without friction force."""
        center, v, w = (Vector(*(told[f"{kind}{axis}_{self.at.name}"] for axis in "xyz")) for kind in ("", "v", "w"))
        gap, n = self.gap(center)
        normal_speed = n.dot(v)
        force = self.surface.normal_force(gap, normal_speed)
        friction = self.surface.friction
        if friction is None:
            return Touch(gap, normal_speed, n, force, ZERO, ZERO, {})

        states = {**(begun := self.begin(center)), **told}
        rolling = cross(w, n * self.radius)  # of the anchor while the contact sticks
        velocity = v - rolling
        stretch = sum((axis * (begun[name] - states[name]) for name, axis in self.span.items()), ZERO)
        # the force that would stop all slip, and its share within the cone
        trial = tangential(stretch * friction.stiffness + velocity * friction.damping, n)
        coefficient = states.get(self.state(COEFFICIENT), friction.static)
        bound, squared = coefficient * force, trial.dot(trial)
        touches = gap < 0.0
        slips = negated(both(touches, squared <= bound * bound))
        share = where(slips, bound / sqrt(squared + VANISHING), 1.0)
        pace = friction.stiffness / friction.damping
        creep = (velocity + stretch * pace) * (1.0 - share)
        rates = {name: axis.dot(rolling + creep) for name, axis in self.span.items()}
        if friction.kinetic is not None:
            settled = where(both(slips, touches), friction.kinetic, friction.static)
            rates[self.state(COEFFICIENT)] = (settled - coefficient) * pace
        slip = tangential(creep, n) * where(touches, 1.0, 0.0)
        return Touch(gap, normal_speed, n, force, trial * -share, slip, rates)


def contacts_of(arm: Arm) -> tuple[Contact, ...]:
    """The contacts of an arm with its world."""
    world = {obstacle.name: obstacle for obstacle in arm.world}
    return tuple(
        Contact(at=it.at, name=it.name, obstacle=world[it.obstacle], surface=it.surface, radius=it.radius)
        for it in arm.contacts
        if it.surface is not None
    )


def contact_wrenches(arm: Arm, q: Scalars, qd: Scalars, at: str | None = None) -> list[Wrench] | None:
    """The wrenches of contacts on every link, their anchors at rest in them; None for an arm without contacts.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        at: Name of the frame whose contacts count; all unless given.
    """
    of = [contact for contact in contacts_of(arm) if at in (None, contact.at.name)]
    return link_wrenches(arm, 0.0, q, of, 0.0, qd)


def effective_mass(arm: Arm, q: Scalars, at: LinkFrame, normal: Vector) -> Scalar:
    """The mass that a force along a unit normal at a frame's origin moves [kg]: 1 / (nᵀ J M⁻¹ Jᵀ n)."""
    columns = zip(*frame_jacobian(arm, q, at)[3:], strict=True)
    along_normal = [normal.dot(Vector(*column)) for column in columns]
    return divided(1.0, dot(along_normal, solve_ldl(crba(arm, q), along_normal)))


def stick_slopes(contact: Contact, arm: Arm, q: Scalars) -> Scalars:
    """What a closed contact that sticks adds to the joints of an arm at q.

    Returns:
        Its stiffness [N·m/rad] and its damping [N·m·s/rad] by joints, or per m, n rows of n each; and the rate at which its
        anchor settles where it is apart [1/s].
    """
    surface, columns = contact.surface, zip(*frame_jacobian(arm, q, contact.at), strict=True)
    _, normal = contact.gap(frame_position(arm, q, contact.at))
    points = [Vector(*x[3:]) - cross(Vector(*x[:3]), normal * contact.radius) for x in columns]
    friction = surface.friction
    k, c = (0.0, 0.0) if friction is None else (friction.stiffness, friction.damping)
    slopes = [(surface.stiffness, k), (0.0 if surface.hunt_crossley else surface.damping, c)]
    pairs = [(a.dot(b), normal.dot(a) * normal.dot(b)) for a in points for b in points]
    found = [across * whole + (along - across) * part for along, across in slopes for whole, part in pairs]
    return [*found, 0.0 if friction is None else divided(k, c)]


def tangential(x: Vector, n: Vector) -> Vector:
    """The part of a vector across a unit normal."""
    return x.plus(-n.dot(x), n)
