"""All solutions in closed form, of six joints three of which in a row turn about one point, or move in parallel planes.

Points, planes and spheres are vectors X = (x, s, h) of five numbers, on which rigid motions act linearly (conformal geometry).
The point p is (p, |p|², 1), the plane n·x = d is (n, 2 d, 0). Axes that meet leave a point alone, parallel ones the planes across
them (Pieper 1968). Carried around the loop, this object X relates the other three joints a, b, c alone,

    exp(b K_b) exp(c K_c) X = exp(-a K_a) X,

and what joint b leaves alone of it (two numbers, such as height along its axis and distance from a point on it) gives two
equations linear in the sines and cosines of a and c. Where two of these axes meet or are parallel, one joint drops out of a
combination of them, so that they follow one by one. Other arms have a polynomial of degree four here, and go to `elimination`.
The three joints themselves follow likewise from an object that the last of them leaves alone. These are the subproblems of
Paden and Kahan (Murray, Li and Sastry, *A Mathematical Introduction to Robotic Manipulation*, section 3.3) in one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armsim.inverse_kinematics.kinematic_loop import GENERIC, KinematicLoop, frame_along

EXACT = 1e-9  # axes meet or are parallel up to this, in lengths of the arm
NOTHING = 1e-10  # a coefficient that is rounding alone: of a joint that may be anywhere, and is put at zero
SLACK = 1e-9  # of a cosine beyond one, at the edge of reach
POINT = np.array([0.3, -0.5, 0.7, 0.83, 1.0])  # on no axis
SQUARE = np.eye(5)[3:4]  # a point's square, the component that every motion leaves to itself


@dataclass(frozen=True)
class ClosedForm:
    """A loop of six joints that has a closed form.

    Attributes:
        K: Generators of the joints' motions, (6, 5, 5).
        first: The first of the three joints that leave an object alone.
        alone: That object.
        follows: Whether joint a follows from c (0), or c from a (1).
    """

    K: np.ndarray
    first: int
    alone: np.ndarray
    follows: int

    def solve(self, G: np.ndarray) -> np.ndarray:
        """Positions of the six joints for motions (m, 5, 5) of all of them: (m, 8, 6), NaN where there are fewer solutions."""
        last, middle, end, a, b, c = around(self.first)
        K, q = self.K, np.full((len(G), 8, 6), np.nan)
        sides = carry_sides(K, self.first, self.alone, G)
        lead, follow = (c, a) if self.follows == 0 else (a, c)
        seen = invariants(K[b])
        own, other = (seen @ side for side in sides[:: 1 - 2 * self.follows])
        q[..., follow], q[..., lead] = two_joints(K[follow], own, K[lead], other)
        Y, X = (combined(side[:, None], monomials(K[i], q[..., i])) for side, i in zip(sides, (a, c), strict=True))
        q[..., b] = position(K[b], X, Y)
        kept = null_vector(K[end], self.alone, SQUARE)
        goals = []
        for X in (kept, POINT):  # as the three joints have to carry them: back through a, b and c
            X = np.broadcast_to(X, (*q.shape[:2], 5))
            for i, joint in enumerate((a, b, c, None)):
                X = X @ G.transpose(0, 2, 1) if i == 3 - self.first else X
                X = X if joint is None else moved(-K[joint], q[..., joint], X)
            goals.append(X)
        seen = invariants(K[last])
        terms = seen @ carried(K[middle], kept)
        row = np.linalg.norm(terms[:, 1:], axis=1).argmax()
        both = one_joint(K[middle], terms[row, 1:], goals[0] @ seen[row] - terms[row, 0])
        q[..., middle] = np.where(np.arange(8) % 2, both[..., 0], both[..., 1])
        q[..., last] = position(K[last], moved(K[middle], q[..., middle], kept), goals[0])
        q[..., end] = position(
            K[end], POINT, moved(-K[middle], q[..., middle], moved(-K[last], q[..., last], goals[1]))
        )
        return q


def closed_form(loop: KinematicLoop) -> ClosedForm | None:
    """The closed form of a loop, if it has one."""
    K = generators(loop.twists)
    G = conformal(frame_along(*GENERIC)[None], POINT[None, :3])
    for first in range(3, -1, -1):
        stack = (*K[first : first + 3], SQUARE)
        alone = null_vector(*stack)
        if abs(np.vstack(stack) @ alone).max() < EXACT:
            seen = invariants(K[around(first)[4]])
            for i, side in enumerate(carry_sides(K, first, alone, G)):
                if np.linalg.svd((seen @ side)[..., 1:])[1].min() < EXACT:
                    return ClosedForm(K, first, alone, i)
    return None


def around(first: int) -> list[int]:
    """The three joints that leave an object alone, and those that follow around the loop: a, b and c."""
    return [(first + i) % 6 for i in range(6)]


def carry_sides(K: np.ndarray, first: int, X: np.ndarray, G: np.ndarray) -> list[np.ndarray]:
    """An object carried by joint a back and by joint c: coefficients of 1, sine and cosine of their angles, (m, 5, 3)."""
    a, _, c = around(first)[3:]
    back, X = np.linalg.inv(G), np.broadcast_to(X, (len(G), 5))
    left = carried(-K[a], combined(G, X) if first == 3 else X)
    right = carried(K[c], combined(back, X) if first == 0 else X)
    return [G @ left if first == 2 else left, back @ right if first == 1 else right]


def turns(K: np.ndarray) -> bool:
    """Whether a joint turns."""
    return bool(K[:3, :3].any())


def carried(K: np.ndarray, X: np.ndarray) -> np.ndarray:
    """exp(q K) X = X0 + X1 sin(q) + X2 cos(q), of a prismatic joint X0 + X1 q + X2 q²: these three, (..., 5, 3)."""
    once = X @ K.T
    twice = once @ K.T
    return np.stack((X + twice, once, -twice) if turns(K) else (X, once, 0.5 * twice), axis=-1)


def monomials(K: np.ndarray, q: np.ndarray) -> np.ndarray:
    """1, sine and cosine, or 1, q and q², (..., 3)."""
    return np.stack([np.ones_like(q), *((np.sin(q), np.cos(q)) if turns(K) else (q, q * q))], axis=-1)


def moved(K: np.ndarray, q: np.ndarray, X: np.ndarray) -> np.ndarray:
    """exp(q K) X"""
    once, q = X @ K.T, q[..., None]
    s, c = (np.sin(q), 1.0 - np.cos(q)) if turns(K) else (q, 0.5 * q * q)
    return X + s * once + c * (once @ K.T)


def combined(terms: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Sums of terms (..., k, j) times factors (..., j)."""
    return np.einsum("...kj,...j->...k", terms, factors)


def position(K: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The position of a joint that carries X to Y; 0 where every angle does."""
    if not turns(K):  # it shifts points, and changes the distance of planes
        u, h, way = K[:3, 4], X[..., 4], Y - X
        return np.where(abs(h) > NOTHING, way[..., :3] @ u / h, 0.5 * way[..., 3] / (X[..., :3] @ u))
    once, out = X @ K.T, (Y @ (K @ K).T)[..., :3]
    y, x = -(once[..., :3] * out).sum(axis=-1), ((once @ K.T)[..., :3] * out).sum(axis=-1)
    return np.where(np.hypot(x, y) > NOTHING**2, np.arctan2(y, x), 0.0)


def one_joint(K: np.ndarray, terms: np.ndarray, level: np.ndarray) -> np.ndarray:
    """The two solutions of terms · (sin q, cos q) = level, or terms · (q, q²) = level of a prismatic joint, (..., 2).

    NaN where there are none, 0 where it says nothing of q.
    """
    x, y = terms[..., 0], terms[..., 1]
    size = np.hypot(x, y)
    free = size < NOTHING
    if not turns(K):
        root = -0.5 * (x + np.copysign(np.sqrt(x * x + 4.0 * y * level), x))
        return np.where(free[..., None], 0.0, np.stack([root / y, -level / root], axis=-1))
    cosine = level / np.where(free, 1.0, size) + free
    half = np.arccos(np.where(abs(cosine) < 1.0 + SLACK, np.clip(cosine, -1.0, 1.0), np.nan))
    middle = np.where(free, 0.0, np.arctan2(x, y))
    return np.stack([middle + half, middle - half], axis=-1)


def two_joints(
    K: np.ndarray, follow: np.ndarray, K_lead: np.ndarray, lead: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions q, p at which follow · (1, sin q, cos q) = lead · (1, sin p, cos p), each (m, 8), every solution twice.

    Args:
        K: Generator of the joint at q.
        follow: Coefficients of two equations, (m, 2, 3); a combination of them is free of q.
        K_lead: Generator of the joint at p.
        lead: Likewise.
    """
    U = np.linalg.svd(follow[..., 1:])[0].transpose(0, 2, 1)
    follow, lead = U @ follow, U @ lead
    p = np.repeat(one_joint(K_lead, lead[:, 1, 1:], follow[:, 1, 0] - lead[:, 1, 0]), 4, axis=1)
    level = combined(lead[:, None, :1], monomials(K_lead, p))[..., 0] - follow[:, :1, 0]
    q = one_joint(K, follow[:, :1, 1:], level)
    return np.where(np.arange(8) % 4 < 2, q[..., 0], q[..., 1]), p


def generators(twists: np.ndarray) -> np.ndarray:
    """K of screws (w, v), (6, 5, 5): an object moves at the rate K X, its x by w × x + v h, its s by 2 v·x."""
    K = np.zeros((len(twists), 5, 5))
    w, v = twists[:, :3], twists[:, 3:]
    K[:, :3, :3] = np.cross(np.eye(3), w[:, None])
    K[:, :3, 4], K[:, 3, :3] = v, 2.0 * v
    return K


def conformal(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Rigid motions x -> R x + p on objects, (m, 5, 5)."""
    E = np.zeros((len(p), 5, 5))
    E[:, :3, :3], E[:, :3, 4] = R, p
    E[:, 3] = 2.0 * combined(E[:, :3].transpose(0, 2, 1), p)
    E[:, 3, 3:] += np.stack([np.ones(len(p)), -(p * p).sum(axis=1)], axis=1)
    E[:, 4, 4] = 1.0
    return E


def null_vector(*rows: np.ndarray) -> np.ndarray:
    """The unit vector that is mapped to zero, or nearest to it."""
    return np.linalg.svd(np.vstack(rows))[2][-1]


def invariants(K: np.ndarray) -> np.ndarray:
    """Two functions of objects that a joint leaves alone, as rows (2, 5)."""
    return np.pad(np.linalg.svd(K[:4])[0].T[2:], ((0, 0), (0, 1)))
