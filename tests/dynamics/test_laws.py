"""Laws of mechanics on random serial chains of revolute, prismatic and screw joints.

Sums here run over some hundred products of numbers up to 100, so rounding may reach 1e-12 of the largest term; derivatives
(see `exact_gradient`) multiply it by a few.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armsim.dynamics import (
    bias,
    forward_dynamics,
    gravity_torque,
    kinetic_energy,
    own_poses,
    potential_energy,
    rnea,
)
from armsim.spatial import ZERO, Pose, Vector, Z, rotation_rpy

SMALL = 1e-11


def close(a, b, scale=0.0) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return bool(np.abs(a - b).max() <= SMALL * max(np.abs(a).max(), np.abs(b).max(), scale, 1.0))


def test_the_mass_matrix_is_positive_definite_and_gives_the_kinetic_energy(arm, motion, mass):
    q, qd, _ = motion(arm)
    M = mass(arm, q)
    assert np.linalg.eigvalsh(M).min() > 0
    assert close(kinetic_energy(arm, q, qd), qd @ M @ np.array(qd) / 2)


def test_inverse_dynamics_is_mass_times_acceleration_plus_bias(arm, motion, mass):
    q, qd, qdd = motion(arm)
    assert close(rnea(arm, q, qd, qdd), mass(arm, q) @ qdd + bias(arm, q, qd))


def test_the_gradient_of_the_potential_energy_is_the_gravity_torque(arm, motion, exact_gradient):
    q, *_ = motion(arm)
    assert close(exact_gradient(arm, lambda x: potential_energy(arm, x), q), gravity_torque(arm, q))


@pytest.mark.handful(3)
def test_inverse_dynamics_is_lagranges_equation(arm, motion, mass, exact_gradient):
    q, qd, qdd = motion(arm)
    dM = exact_gradient(arm, lambda x: mass(arm, x), q)
    dV = exact_gradient(arm, lambda x: potential_energy(arm, x), q)
    Mdot = np.einsum("kij,k->ij", dM, qd)
    dT = np.einsum("kij,i,j->k", dM, qd, qd) / 2
    assert close(rnea(arm, q, qd, qdd), mass(arm, q) @ qdd + Mdot @ qd - dT + dV)


@pytest.mark.handful(3)
def test_Mdot_minus_twice_C_is_skew(arm, motion, mass, exact_gradient):
    q, qd, _ = motion(arm)
    dM = exact_gradient(arm, lambda x: mass(arm, x), q)
    Mdot = np.einsum("kij,k->ij", dM, qd)
    # C by Christoffel's symbols of the first kind; that it gives the bias force of RNEA ties it to the code
    C = (np.einsum("kij,k->ij", dM, qd) + np.einsum("jik,k->ij", dM, qd) - np.einsum("ijk,k->ij", dM, qd)) / 2
    velocity_terms = np.subtract(bias(arm, q, qd), gravity_torque(arm, q))
    assert close(C @ qd, velocity_terms)
    S = Mdot - 2 * C
    assert close(S, -S.T)
    assert close(qd @ Mdot @ np.array(qd), 2 * np.dot(qd, velocity_terms), scale=np.abs(Mdot).max())


@pytest.mark.handful(3)
def test_power_in_is_the_rate_of_energy(arm, motion, mass, exact_gradient):
    q, qd, tau = motion(arm)
    qdd = forward_dynamics(arm, q, qd, tau)
    dT_dq = exact_gradient(arm, lambda x: kinetic_energy(arm, x, qd), q)
    dV_dq = exact_gradient(arm, lambda x: potential_energy(arm, x), q)
    rate = qd @ mass(arm, q) @ np.array(qdd) + np.dot(dT_dq + dV_dq, qd)
    assert close(rate, np.dot(qd, tau), scale=np.abs(qd @ mass(arm, q) * qdd).max())


@pytest.mark.parametrize("kinds", ["RRPRR", "PRRPR", "SRPSR"])
def test_momentum_along_a_first_joint_that_gravity_does_not_feel_is_conserved(
    kinds, arms, motion, mass, exact_gradient
):
    arm = arms.serial(kinds)
    axis = (arm.base.rotation @ arm.joints[0].tilt) @ Z
    arm = replace(arm, gravity=9.81 * axis if kinds[0] == "R" else ZERO)
    q, qd, tau = motion(arm)
    tau[0] = 0.0
    qdd = forward_dynamics(arm, q, qd, tau)
    Mdot = np.einsum("kij,k->ij", exact_gradient(arm, lambda x: mass(arm, x), q), qd)
    assert close((Mdot @ qd + mass(arm, q) @ qdd)[0], 0, scale=np.abs(Mdot).max())


def test_payload_of_zero_kg_changes_no_bit_of_the_dynamics(arms, motion):
    from armsim.model import Payload, bodies

    arm = arms.serial("RRPR")
    without = replace(arm, payloads=())
    empty = replace(arm, payloads=(Payload(bodies.point(0.0, Vector(0.3, -0.2, 0.1))),))
    q, qd, qdd = motion(arm)
    assert rnea(empty, q, qd, qdd) == rnea(without, q, qd, qdd) != rnea(arm, q, qd, qdd)
    assert forward_dynamics(empty, q, qd, qdd) == forward_dynamics(without, q, qd, qdd)


def test_forces_do_not_notice_where_the_base_stands_but_how_it_is_turned(arms, motion):
    arm = arms.serial("RPRR")
    q, qd, qdd = motion(arm)
    shifted = replace(arm, base=Pose(arm.base.rotation, Vector(5.0, -7.0, 3.0)))
    assert rnea(shifted, q, qd, qdd) == rnea(arm, q, qd, qdd)
    # turning the base and gravity together changes nothing but the world's axes
    turn = rotation_rpy(0.5, -0.8, 2.0)
    turned = replace(arm, base=Pose(turn @ arm.base.rotation, ZERO), gravity=turn @ arm.gravity)
    assert close(rnea(turned, q, qd, qdd), rnea(arm, q, qd, qdd))


def test_the_kinetic_energy_is_that_of_the_moving_points(arms, motion):
    # differences of positions along the motion: error h² times the third derivative, and rounding 1e-16/h
    from armsim.model import bodies

    arm = arms.serial("RPSR")
    points = [Vector(0.1 * i, 0.2, -0.1) for i in range(arm.n)]
    joints = tuple(replace(j, inertia=bodies.point(1.5, p)) for j, p in zip(arm.joints, points, strict=True))
    arm = replace(arm, links=joints, payloads=())
    q, qd, _ = motion(arm)
    h = 1e-5

    def at(t: float) -> np.ndarray:
        poses = own_poses(arm, [a + b * t for a, b in zip(q, qd, strict=True)])
        return np.array([[*pose.point(p)] for pose, p in zip(poses, points, strict=True)])

    velocities = (at(h) - at(-h)) / (2 * h)
    assert np.isclose(kinetic_energy(arm, q, qd), 1.5 * (velocities**2).sum() / 2, rtol=1e-8)
