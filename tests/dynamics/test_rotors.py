"""The rotors of the motors, whose inertia is felt at the joints."""

from dataclasses import replace

import numpy as np
import pytest

from armsim.dynamics import aba, crba, kinetic_energy, momenta, rnea


@pytest.fixture(params=["R", "RPR", "RRRRR", "SRS"])
def arm(request, arms):
    return arms.serial(request.param, motors=True)


def states(arm):
    return [[0.3 * (i + 1) for i in range(arm.n)], [1.0 - 0.7 * i for i in range(arm.n)]]


def test_kinetic_energy_is_half_the_square_of_velocity_in_the_mass_matrix(arm, mass):
    q, qd = states(arm)
    assert kinetic_energy(arm, q, qd) == pytest.approx(qd @ mass(arm, q) @ np.array(qd) / 2, rel=1e-13)


def test_momenta_and_forces_have_the_rotors_that_the_mass_matrix_has(arm, mass):
    q, qd = states(arm)
    M = mass(arm, q)
    assert momenta(arm, q, qd) == pytest.approx(M @ qd, rel=1e-13)
    rest = [0.0] * arm.n
    still = rnea(arm, q, rest, rest)
    assert np.subtract(rnea(arm, q, rest, qd), still) == pytest.approx(M @ qd, rel=1e-12)
    assert np.subtract(aba(arm, q, rest, still), rest) == pytest.approx(rest, abs=1e-12)
    assert aba(arm, q, rest, np.add(still, M @ qd).tolist()) == pytest.approx(qd, rel=1e-11)


def test_rotors_add_gear_squared_times_their_inertia_to_the_diagonal_of_the_mass_matrix_alone(arm):
    q, _ = states(arm)
    bare = replace(arm, links=tuple(replace(joint, motor=None) for joint in arm.joints))
    for i, (joint, own, whole) in enumerate(zip(arm.joints, crba(bare, q), crba(arm, q), strict=True)):
        assert joint.motor.rotor_inertia > 0
        assert whole == [*own[:i], own[i] + joint.motor.gear**2 * joint.motor.rotor_inertia]
