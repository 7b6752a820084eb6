"""Momenta and the forces that change them, against energies, the mass matrix and inverse dynamics."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import sympy

from armsim.dynamics import (
    bias,
    gravity_torque,
    kinetic_energy,
    momenta,
    momenta_and_forces,
    potential_energy,
    rnea,
)
from armsim.expr import trace
from armsim.spatial import ZERO, Vector

SMALL = 1e-11  # as in test_laws.py: rounding of some hundred products, and what derivatives make of it


def close(a, b) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return bool(np.abs(a - b).max() <= SMALL * max(np.abs(a).max(), np.abs(b).max(), 1.0))


def test_momenta_are_the_mass_matrix_times_velocities(arm, motion, mass):
    q, qd, _ = motion(arm)
    assert close(momenta(arm, q, qd), mass(arm, q) @ qd)


@pytest.mark.handful(14)
def test_forces_are_the_derivative_of_kinetic_less_potential_energy(arm, motion, exact_gradient):
    # the energies are those of the links as given: momenta may use regrouped inertias
    q, qd, _ = motion(arm)
    slopes = exact_gradient(arm, lambda x: kinetic_energy(arm, x, qd) - potential_energy(arm, x), q)
    assert close(momenta_and_forces(arm, q, qd)[1], slopes)


@pytest.mark.handful(3)
def test_momenta_change_by_joint_forces_and_the_derivative_of_the_lagrangian(arm, motion, mass, exact_gradient):
    q, qd, qdd = motion(arm)
    Mdot = np.einsum("kij,k->ij", exact_gradient(arm, lambda x: mass(arm, x), q), qd)
    change = mass(arm, q) @ qdd + Mdot @ qd
    assert close(change, np.add(rnea(arm, q, qd, qdd), momenta_and_forces(arm, q, qd)[1]))


def test_at_rest_the_forces_are_those_of_gravity(arm, motion):
    q, *_ = motion(arm)
    rest = [0.0] * arm.n
    assert momenta(arm, q, rest) == rest
    assert close(momenta_and_forces(arm, q, rest)[1], np.negative(gravity_torque(arm, q)))


def test_wrenches_from_outside_count_as_in_inverse_dynamics(arm, motion):
    q, qd, _ = motion(arm)
    rng = random.Random(7)
    outside = [
        (Vector(*(rng.uniform(-5, 5) for _ in "xyz")), Vector(*(rng.uniform(-5, 5) for _ in "xyz"))) for _ in arm.links
    ]
    p, forces = momenta_and_forces(arm, q, qd, outside)
    alone_p, alone = momenta_and_forces(arm, q, qd)
    assert p == alone_p
    assert close(np.subtract(forces, alone), np.subtract(bias(arm, q, qd), bias(arm, q, qd, outside)))


@pytest.mark.parametrize("kinds", ["RP", "PR", "SR"])
@pytest.mark.handful(1)
def test_momenta_and_forces_are_those_that_sympy_derives_from_the_energies(kinds, arms):
    arm = arms.serial(kinds, seed=1)
    symbols = sympy.symbols("q1:3 v1:3")
    q, v = symbols[:2], symbols[2:]
    T, V = kinetic_energy(arm, q, v), potential_energy(arm, q)
    exact = sympy.lambdify(symbols, [*(sympy.diff(T, x) for x in v), *(sympy.diff(T - V, x) for x in q)], "math")
    rng = random.Random(kinds)
    for _ in range(10):
        x = [rng.uniform(-2, 2) for _ in symbols]
        assert close([y for part in momenta_and_forces(arm, x[:2], x[2:]) for y in part], exact(*x))


def test_regrouped_inertias_give_the_momenta_of_the_links_as_given(arm, motion):
    q, qd, _ = motion(arm)
    given = replace(arm)
    vars(given)["regrouped"] = arm.inertias
    for regrouped, plain in zip(momenta_and_forces(arm, q, qd), momenta_and_forces(given, q, qd), strict=True):
        assert close(regrouped, plain)


def test_a_first_joint_that_gravity_does_not_feel_keeps_its_momentum(arms, motion):
    arm = replace(arms.serial("RRPRR"), gravity=ZERO)
    q, qd, _ = motion(arm)
    assert abs(momenta_and_forces(arm, q, qd)[1][0]) < 1e-13 * np.abs(momenta(arm, q, qd)).max()


def test_forces_take_fewer_operations_than_the_bias_of_inverse_dynamics(arms):
    arm = arms.shipped("arm5")

    def flops(algorithm) -> int:
        return trace(lambda *x: algorithm(arm, x[:5], x[5:]), [f"x{i}" for i in range(10)]).flops()

    assert flops(momenta) < flops(lambda *x: [y for part in momenta_and_forces(*x) for y in part]) < flops(bias)
