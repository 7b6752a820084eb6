"""A serial arm from a robot mapping, on floats: mass matrix and bias forces, projected to the joints in world axes.

Kane's form: each link's Newton and Euler equations times its partial velocities. No text of armsim takes part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, sin
from typing import Any

Triple = tuple[float, float, float]
ZERO = (0.0, 0.0, 0.0)


def add(a: Triple, b: Triple) -> Triple:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def less(a: Triple, b: Triple) -> Triple:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(s: float, a: Triple) -> Triple:
    return s * a[0], s * a[1], s * a[2]


def dot(a: Triple, b: Triple) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Triple, b: Triple) -> Triple:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def turned(axes: Sequence[Triple], a: Triple) -> Triple:
    """A vector in world axes, given in those of a link: its axes' unit vectors x, y, z, weighted."""
    x, y, z = axes
    return (
        a[0] * x[0] + a[1] * y[0] + a[2] * z[0],
        a[0] * x[1] + a[1] * y[1] + a[2] * z[1],
        a[0] * x[2] + a[1] * y[2] + a[2] * z[2],
    )


class Link:
    """A joint by its row of modified DH, and its link's inertia: one `inertia` body about its centre of mass."""

    def __init__(self, joint: Mapping[str, Any]) -> None:
        row = {"a": 0.0, "alpha": 0.0, "d": 0.0, "theta": 0.0, **joint["mdh"]}
        self.turns = joint["type"] == "revolute"
        self.a, self.d, self.theta = row["a"], row["d"], row["theta"]
        self.tilt = cos(row["alpha"]), sin(row["alpha"])
        ((_, body),) = joint["bodies"][0].items()
        self.mass = body["mass"]
        self.center: Triple = tuple(body["center"])
        xx, yy, zz = body["xx"], body["yy"], body["zz"]
        xy, xz, yz = (body.get(name, 0.0) for name in ("xy", "xz", "yz"))
        self.inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


class Chain:
    """The arm's equations of motion, M(q) qdd + h(q, qd) = f."""

    def __init__(self, robot: Mapping[str, Any]) -> None:
        self.links = [Link(joint) for joint in robot["joints"]]
        self.names = [joint["name"] for joint in robot["joints"]]
        self.gravity: Triple = tuple(robot.get("gravity", (0.0, 0.0, -9.81)))
        rotors = [joint.get("motor", {}) for joint in robot["joints"]]
        self.armature = [motor.get("gear", 1.0) ** 2 * motor.get("rotor_inertia", 0.0) for motor in rotors]

    def equations(
        self, q: Sequence[float], qd: Sequence[float], wrenches: Sequence[Mapping[str, Any]] = ()
    ) -> tuple[list[list[float]], list[float]]:
        """M, shape (n, n), rotors included, and h, n numbers, less the generalised forces of external wrenches."""
        n = len(self.links)
        M = [[self.armature[i] if i == j else 0.0 for j in range(n)] for i in range(n)]
        h = [0.0] * n
        axes: tuple[Triple, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        p = w = alpha = ZERO
        a = times(-1.0, self.gravity)  # of the origin, were qdd = 0; gravity as the base's acceleration
        joints: list[tuple[bool, Triple, Triple]] = []
        for link, q_i, qd_i in zip(self.links, q, qd):
            x, y, z = axes
            c, s = link.tilt
            y, z = add(times(c, y), times(s, z)), less(times(c, z), times(s, y))
            angle = link.theta + (q_i if link.turns else 0.0)
            r = add(times(link.a, x), times(link.d + (0.0 if link.turns else q_i), z))
            a = add(a, add(cross(alpha, r), cross(w, cross(w, r))))
            p = add(p, r)
            c, s = cos(angle), sin(angle)
            axes = add(times(c, x), times(s, y)), less(times(c, y), times(s, x)), z
            rate = times(qd_i, z)
            if link.turns:
                alpha = add(alpha, cross(w, rate))
                w = add(w, rate)
            else:
                a = add(a, times(2.0, cross(w, rate)))
            joints.append((link.turns, p, z))

            center = turned(axes, link.center)
            ac = add(a, add(cross(alpha, center), cross(w, cross(w, center))))
            columns = partial_velocities(joints, add(p, center))
            Iw, Ialpha = self.about(link, axes, w), self.about(link, axes, alpha)
            moment = add(Ialpha, cross(w, Iw))
            force = times(link.mass, ac)
            turning = [self.about(link, axes, of_w) for _, of_w in columns]
            for j, (v_j, w_j) in enumerate(columns):
                h[j] += dot(v_j, force) + dot(w_j, moment)
                for k in range(j + 1):
                    M[j][k] += link.mass * dot(v_j, columns[k][0]) + dot(w_j, turning[k])
            name = self.names[len(joints) - 1]
            for wrench in (wrench for wrench in wrenches if wrench["link"] == name):
                F, N = tuple(wrench.get("force", ZERO)), tuple(wrench.get("moment", ZERO))
                if wrench.get("axes", "world") == "local":
                    F, N = turned(axes, F), turned(axes, N)
                at = add(p, turned(axes, tuple(wrench.get("point", ZERO))))
                for j, (v_j, w_j) in enumerate(partial_velocities(joints, at)):
                    h[j] -= dot(v_j, F) + dot(w_j, N)
        for j in range(n):
            for k in range(j):
                M[k][j] = M[j][k]
        return M, h

    @staticmethod
    def about(link: Link, axes: Sequence[Triple], a: Triple) -> Triple:
        """A link's inertia about its centre of mass, times a vector in world axes."""
        if a == ZERO:
            return ZERO
        x, y, z = axes
        own = dot(x, a), dot(y, a), dot(z, a)
        xx, yy, zz = link.inertia
        return turned(axes, (dot(xx, own), dot(yy, own), dot(zz, own)))

    def energy(self, q: Sequence[float], qd: Sequence[float]) -> float:
        """Kinetic energy, and potential energy in the field of gravity [J]."""
        n = len(q)
        M, _ = self.equations(q, qd)
        kinetic = 0.5 * sum(qd[i] * M[i][j] * qd[j] for i in range(n) for j in range(n))
        return kinetic - sum(link.mass * dot(self.gravity, c) for link, c in zip(self.links, self.centers(q)))

    def centers(self, q: Sequence[float]) -> list[Triple]:
        """Centres of mass in the world [m]."""
        axes: tuple[Triple, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        p, found = ZERO, []
        for link, q_i in zip(self.links, q):
            x, y, z = axes
            c, s = link.tilt
            y, z = add(times(c, y), times(s, z)), less(times(c, z), times(s, y))
            angle = link.theta + (q_i if link.turns else 0.0)
            p = add(p, add(times(link.a, x), times(link.d + (0.0 if link.turns else q_i), z)))
            c, s = cos(angle), sin(angle)
            axes = add(times(c, x), times(s, y)), less(times(c, y), times(s, x)), z
            found.append(add(p, turned(axes, link.center)))
        return found


def partial_velocities(joints: Sequence[tuple[bool, Triple, Triple]], at: Triple) -> list[tuple[Triple, Triple]]:
    """For each joint below a point, what its unit rate makes of the point's velocity and its link's angular velocity."""
    return [(cross(z, less(at, p)), z) if turns else (z, ZERO) for turns, p, z in joints]


def solve(A: list[list[float]], b: list[float]) -> list[float]:
    """x of A x = b, A symmetric positive definite, by elimination without pivots."""
    A, b = [row[:] for row in A], b[:]
    n = len(b)
    for i in range(n):
        for j in range(i + 1, n):
            share = A[j][i] / A[i][i]
            b[j] -= share * b[i]
            A[j] = [x - share * y for x, y in zip(A[j], A[i])]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(A[i][j] * b[j] for j in range(i + 1, n))) / A[i][i]
    return b
