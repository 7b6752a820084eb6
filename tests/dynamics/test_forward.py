"""Two ways to forward dynamics that must agree, and the choice between them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from armsim.dynamics import aba, bias, crba, fastest_algorithm, forward_dynamics, rnea, solve_ldl
from armsim.expr import trace
from armsim.model import Arm, Mimic, Motor
from armsim.spatial import Vector


def wrenches(rng: random.Random, n: int):
    return [
        (Vector(*(rng.uniform(-5, 5) for _ in range(3))), Vector(*(rng.uniform(-5, 5) for _ in range(3))))
        for _ in range(n)
    ]


def with_rotors(arm: Arm, armature) -> Arm:
    """An arm with rotors of these inertias, felt at the joints."""
    pairs = zip(arm.links, armature, strict=True)
    return replace(arm, links=tuple(replace(joint, motor=Motor(rotor_inertia=J)) for joint, J in pairs))


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("rotors", [False, True])
@pytest.mark.handful(56)
def test_aba_and_crba_give_the_accelerations_that_rnea_turns_back_into_forces(arm, motion, mass, outside, rotors):
    q, qd, tau = motion(arm)
    rng = random.Random(7)
    external = wrenches(rng, len(arm.links)) if outside else None
    if rotors:
        arm = with_rotors(arm, [rng.uniform(0.01, 0.5) for _ in arm.links])
    by_crba = forward_dynamics(arm, q, qd, tau, external, "crba")
    M = mass(arm, q)
    if not arm.followers:  # or the articulated-body algorithm is not for it
        by_aba = forward_dynamics(arm, q, qd, tau, external, "aba")
        # both are backward stable, so they differ by rounding times the condition of the mass matrix
        tolerance = 1e-14 * arm.n * np.linalg.cond(M) * max(map(abs, by_crba))
        assert np.allclose(by_aba, by_crba, rtol=0, atol=tolerance)
    again = rnea(arm, q, qd, by_crba, external)
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


def test_the_choice_of_the_algorithm_depends_on_the_number_of_joints_and_on_whether_any_follows_another(arms):
    assert fastest_algorithm(arms.shipped("arm5")) == "crba"
    for kinds in ("RP", "RRRRRRR", "PRPRPRPRPRPR"):
        assert fastest_algorithm(arms.serial(kinds)) == "crba"
    assert fastest_algorithm(arms.serial("R" * 16)) == "crba"
    long = arms.serial("R" * 18)
    assert fastest_algorithm(long) == "aba"
    follower = replace(long.links[-1], mimic=Mimic("R1"))
    assert fastest_algorithm(replace(long, links=(*long.links[:-1], follower))) == "crba"


def test_the_algorithms_of_arm5_take_no_more_operations_than_unrolled_by_hand(arms):
    # 318 and 558: the marks of DESIGN, which the same recursions unrolled and pruned by hand come to
    arm = arms.shipped("arm5")
    names = [f"x{i}" for i in range(15)]
    inverse = trace(lambda *x: rnea(arm, x[:5], x[5:10], x[10:]), names)
    forward = trace(lambda *x: forward_dynamics(arm, x[:5], x[5:10], x[10:]), names)
    assert inverse.flops() <= 318
    assert forward.flops() <= 558


def test_crba_and_aba_take_the_rotors_inertia_at_their_own_joint_only(arms, motion):
    arm = arms.serial("RPR")
    q, qd, tau = motion(arm)
    M = crba(arm, q)
    held = with_rotors(arm, [0.0, 1e12, 0.0])
    for algorithm in ("crba", "aba"):
        heavy = forward_dynamics(held, q, qd, tau, algorithm=algorithm)
        assert abs(heavy[1]) < 1e-9  # held by its rotor; 1e-12 times forces of order 100
        # the others move as if joint 2 were locked: its row and column struck out of M qdd = tau - bias
        A = np.array([[M[0][0], M[2][0]], [M[2][0], M[2][2]]])
        rest = [t - b for t, b in zip(tau, bias(arm, q, qd), strict=True)]
        assert np.allclose(heavy[::2], np.linalg.solve(A, rest[::2]), rtol=1e-9)
    assert aba(arm, q, qd, tau) == forward_dynamics(arm, q, qd, tau, algorithm="aba")
