"""Two ways to forward dynamics that must agree, and the choice between them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from armsim.dynamics import aba, bias, crba, fastest_algorithm, forward_dynamics, rnea, solve_ldl
from armsim.expr import trace
from armsim.model import Arm, Joint, bodies
from armsim.spatial import Inertia, Pose, Symmetric, Vector, rotation_x


def wrenches(rng: random.Random, n: int):
    return [
        (Vector(*(rng.uniform(-5, 5) for _ in range(3))), Vector(*(rng.uniform(-5, 5) for _ in range(3))))
        for _ in range(n)
    ]


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("rotors", [False, True])
def test_aba_and_crba_give_the_accelerations_that_rnea_turns_back_into_forces(arm, motion, mass, outside, rotors):
    q, qd, tau = motion(arm)
    rng = random.Random(7)
    external = wrenches(rng, arm.n) if outside else None
    armature = [rng.uniform(0.01, 0.5) if rotors else 0.0 for _ in range(arm.n)]
    by_crba = forward_dynamics(arm, q, qd, tau, armature, external, "crba")
    by_aba = forward_dynamics(arm, q, qd, tau, armature, external, "aba")
    # both are backward stable, so they differ by rounding times the condition of the mass matrix
    M = mass(arm, q) + np.diag(armature)
    tolerance = 1e-14 * arm.n * np.linalg.cond(M) * max(map(abs, by_crba))
    assert np.allclose(by_aba, by_crba, rtol=0, atol=tolerance)
    again = np.add(rnea(arm, q, qd, by_crba, external), np.multiply(armature, by_crba))
    assert np.allclose(
        again, tau, rtol=0, atol=1e-12 * max(1.0, np.abs(M @ by_crba).max(), np.abs(bias(arm, q, qd)).max())
    )


def test_ldl_solves_what_numpy_solves():
    rng = np.random.default_rng(2)
    for n in range(1, 9):
        B = rng.standard_normal((n, n))
        A, b = B @ B.T + np.eye(n), rng.standard_normal(n)
        x = solve_ldl([A[i, : i + 1].tolist() for i in range(n)], b.tolist())
        assert np.allclose(A @ x, b, atol=1e-13 * np.linalg.norm(A) * np.linalg.norm(x))  # backward stable


def flops(arm: Arm, algorithm: str) -> int:
    n = arm.n

    def body(*x):
        return forward_dynamics(arm, x[:n], x[n : 2 * n], x[2 * n : 3 * n], x[3 * n :], algorithm=algorithm)

    return trace(body, [f"x{i}" for i in range(4 * n)]).flops()


def simple_arm(rng: random.Random, n: int, parallel: bool = False) -> Arm:
    """An arm as drawn in textbooks: right angles (or all axes parallel), many zeros."""
    shapes = [
        Inertia(1.0, Vector(0.0, 0.0, 0.0), Symmetric(0.1, 0.2, 0.3)),
        bodies.point(1.3, Vector(0.3, 0.0, 0.0)),
        bodies.cylinder("z", 0.4, 0.05, 1.0, Vector(0.0, 0.0, 0.2)),
        bodies.box(Vector(0.4, 0.1, 0.1), 2.0, Vector(0.2, 0.01, 0.0)),
    ]
    joints = []
    for i in range(n):
        tilt = rotation_x(0.0 if parallel else rng.choice([0, 0, 1, -1]) * np.pi / 2)
        at = tilt @ Vector(rng.choice([0.0, 0.3]), 0.0, rng.choice([0.0, 0.4]))
        joints.append(Joint(f"J{i}", rng.choice(["revolute", "prismatic"]), tilt, at, inertia=rng.choice(shapes)))
    return Arm("simple", Vector(0.0, 0.0, -9.81), Pose(), tuple(joints))


def test_the_choice_is_the_algorithm_with_fewer_operations(arms):
    rng = random.Random(0)
    taken = set()
    for n in (*range(1, 6), 8, 10):
        for trial in range(4):
            arm = simple_arm(rng, n, parallel=trial == 0)
            counts = {algorithm: flops(arm, algorithm) for algorithm in ("crba", "aba")}
            choice = fastest_algorithm(arm)
            assert counts[choice] == min(counts.values()), arm
            taken.add(choice)
    assert taken == {"crba", "aba"}


def test_an_arm_whose_mass_is_only_in_its_rotors_can_be_counted(arms):
    arm = arms.serial("RRRRRRRR")
    joints = tuple(replace(joint, inertia=Inertia()) for joint in arm.joints)
    massless = replace(arm, joints=joints, payload=Inertia())
    assert fastest_algorithm(massless) in ("crba", "aba")


def test_long_chains_take_aba_and_arm5_takes_crba(arms):
    assert fastest_algorithm(arms.serial("R" * 16)) == "aba"
    assert fastest_algorithm(arms.shipped("arm5")) == "crba"


def test_the_algorithms_of_arm5_take_no_more_operations_than_unrolled_by_hand(arms):
    # 318 and 558: the marks of DESIGN, which the same recursions unrolled and pruned by hand come to
    arm = arms.shipped("arm5")
    names = [f"x{i}" for i in range(15)]
    inverse = trace(lambda *x: rnea(arm, x[:5], x[5:10], x[10:]), names)
    forward = trace(lambda *x: forward_dynamics(arm, x[:5], x[5:10], x[10:], [0.0] * 5), names)
    assert inverse.flops() <= 318
    assert forward.flops() <= 558


def test_crba_and_aba_take_the_rotors_inertia_at_their_own_joint_only(arms, motion):
    arm = arms.serial("RPR")
    q, qd, tau = motion(arm)
    M = crba(arm, q)
    for algorithm in ("crba", "aba"):
        heavy = forward_dynamics(arm, q, qd, tau, [0.0, 1e12, 0.0], algorithm=algorithm)
        assert abs(heavy[1]) < 1e-9  # held by its rotor; 1e-12 times forces of order 100
        # the others move as if joint 2 were locked: its row and column struck out of M qdd = tau - bias
        A = np.array([[M[0][0], M[2][0]], [M[2][0], M[2][2]]])
        rest = [t - b for t, b in zip(tau, bias(arm, q, qd), strict=True)]
        assert np.allclose(heavy[::2], np.linalg.solve(A, rest[::2]), rtol=1e-9)
    assert aba(arm, q, qd, tau, [0.0] * 3) == forward_dynamics(arm, q, qd, tau, [0.0] * 3, algorithm="aba")
