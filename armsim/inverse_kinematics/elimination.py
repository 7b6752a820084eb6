"""All solutions of six joints of any geometry, by elimination to a polynomial eigenvalue problem.

A joint at half-angle tangent t is the dual quaternion 1 + t A of its axis A, up to scale; a prismatic one too, with half its
position for t. The loop (1 + t1 A1)(1 + t2 A2)(1 + t3 A3) = g (1 - t6 A6)(1 - t5 A5)(1 - t4 A4) is linear in the eight monomials
of t1, t2, t3 and in those of t4, t5, t6: so the latter are a matrix times the former. They are a tensor of rank one, whose 2 x 2
minors vanish: polynomials of degree two in each of t1, t2, t3, of which eight are independent. With their products by t1 they are
linear in twelve monomials of t1 and t2, by matrices quadratic in t3. Of the 24 eigenvalues at most 16 are solutions.

Raghavan and Roth's elimination in the eigenvalue form of Manocha and Canny (1994, *IEEE Trans. Robotics and Automation* 10(5)),
on dual quaternions (Husty, Pfurner and Schröcker 2007, *Mechanism and Machine Theory* 42(1)). Where joints meet or are parallel,
the matrix may be singular, or several solutions have one t3. So the loop is opened at each of its joints in turn: six problems,
which have all solutions between them.
"""

from __future__ import annotations

import numpy as np

from armsim.inverse_kinematics.kinematic_loop import KinematicLoop

REAL = 1e-3  # imaginary part of double roots, of which rounding makes complex pairs
MIX = 0.9 * np.arange(1, 7)  # half-angles that t = 0 stands for, so that no usual position is at infinity [rad]
ROWS = 96  # minors of the three flattenings, each twice, and their products by t1
ONE = np.eye(8)[0]


def eliminate(loop: KinematicLoop, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Candidates for the six joint positions of motions R (m, 3, 3), p (m, 3): shape (m, 144, 6), NaN in place of others."""
    from scipy.spatial.transform import Rotation

    R = np.broadcast_to(R, (len(p), 3, 3))
    turned = np.pad(Rotation.from_matrix(R).as_quat(scalar_first=True), ((0, 0), (0, 4)))
    g = _products(np.pad(0.5 * p, ((0, 0), (5, 0)))[:, None] + ONE, turned[:, None])
    w, v = loop.twists[:, :3], loop.twists[:, 3:]
    beyond = np.concatenate([w @ R, (v - np.cross(p[:, None], w)) @ R], axis=2)  # of joints carried around the loop
    twists = np.concatenate([np.broadcast_to(loop.twists, beyond.shape), beyond], axis=1)
    axes = np.insert(twists, (0, 3), 0.0, axis=2)
    half = np.concatenate([np.roll(_opened(axes[:, k : k + 6], g), k, axis=2) for k in range(6)], axis=1)
    return 2.0 * np.where(loop.turns, half, np.tan(half))


def _opened(axes: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Half-angles of a loop of six axes (m, 6, 8), opened before the first of them: (m, 24, 6)."""
    m = len(g)
    c, s = np.cos(MIX), np.sin(MIX)
    basis = np.stack([np.broadcast_to(ONE, axes.shape), axes * np.repeat([1.0, -1.0], 3)[:, None]], axis=2)
    joints = (np.array([[c, s], [-s, c]]).transpose(2, 0, 1) @ basis).swapaxes(0, 1)
    left = _products(_products(joints[0], joints[1]), joints[2])
    right = _products(_products(_products(g, joints[5]), joints[4]), joints[3])
    C = (left @ np.linalg.pinv(right)).transpose(0, 2, 1)
    C /= np.linalg.norm(C, axis=(1, 2), keepdims=True)
    rows = np.zeros((m, ROWS, 4, 3, 3))
    powers = np.vander([-1.0, 0.0, 1.0], increasing=True)  # minors at 3 x 3 x 3 points, and polynomials through them
    linear, square = (np.kron(A, np.kron(A, A)) for A in (powers[:, :2], powers))
    values = (C @ linear.T).reshape(m, 2, 2, 2, 27)
    for i in range(3):
        a, b = np.moveaxis(values, i + 1, 0).reshape(2, m, 4, 27)
        minors = a[:, :, None] * b[:, None] - a[:, None] * b[:, :, None]
        rows[:, 16 * i : 16 * i + 16, :3] = (minors @ np.linalg.inv(square).T).reshape(m, 16, 3, 3, 3)
    rows[:, ROWS // 2 :, 1:] = rows[:, : ROWS // 2, :3]
    mixed = np.random.default_rng(0).standard_normal((12, ROWS)) @ rows.reshape(m, ROWS, 36)
    constant, linear, square = np.moveaxis(mixed.reshape(m, 12, 12, 3), 3, 0)
    companion = np.zeros((m, 24, 24))
    companion[:, :12, 12:] = np.eye(12)
    companion[:, 12:] = -np.linalg.pinv(square) @ np.concatenate([constant, linear], axis=2)
    roots, vectors = np.linalg.eig(companion)
    v = vectors[:, :12].real.reshape(m, 4, 3, 24)
    t3 = np.where(abs(roots.imag) < REAL * (1.0 + abs(roots)), roots.real, np.nan)
    t = [_ratio(v[:, :-1], v[:, 1:]), _ratio(v[:, :, :-1], v[:, :, 1:]), t3]
    monomials = np.einsum("amx,bmx,cmx->mabcx", *([np.ones_like(x), x] for x in t)).reshape(m, 8, 24)
    tensor = (C @ monomials).reshape(m, 2, 2, 2, 24)
    t += [_ratio(*np.moveaxis(tensor, i, 0)) for i in (3, 2, 1)]
    return np.arctan(np.stack(t, axis=2)) + MIX


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """t of b = t a, of tensors (m, i, j, k), (m, k)."""
    return (a * b).sum(axis=(1, 2)) / (a * a).sum(axis=(1, 2))


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of dual quaternions (m, i, 8) with others (m, j, 8), each with each, (m, i j, 8)."""
    table = np.zeros((8, 8, 8))
    for i, j in np.ndindex(4, 4):
        sign = -1.0 if i * j and (i == j or (j - i) % 3 == 2) else 1.0
        for a_part, b_part in ((0, 0), (0, 4), (4, 0)):  # real and dual
            table[i + a_part, j + b_part, (i ^ j) + a_part + b_part] = sign
    return np.einsum("xyz,mix,mjy->mijz", table, a, b).reshape(len(a), -1, 8)
