"""The arm together with its motors' rotors."""

import numpy as np
import pytest

from armsim.actuation import armature, kinetic_energy, mass_matrix
from armsim.dynamics import crba


@pytest.mark.parametrize("kinds", ["R", "RPR", "RRRRR"])
def test_kinetic_energy_is_half_the_square_of_velocity_in_the_mass_matrix(arms, kinds):
    arm = arms.serial(kinds, motors=True)
    n = arm.n
    q, qd = [0.3 * (i + 1) for i in range(n)], np.array([1.0 - 0.7 * i for i in range(n)])
    rows = mass_matrix(arm, q)
    M = np.array([[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])
    assert kinetic_energy(arm, q, qd.tolist()) == pytest.approx(qd @ M @ qd / 2, rel=1e-13)


def test_rotors_add_to_the_diagonal_of_the_arms_own_mass_matrix_alone(arms):
    arm = arms.serial("RPR", motors=True)
    q = [0.1, 0.2, 0.3]
    own, whole = crba(arm, q), mass_matrix(arm, q)
    for i, joint in enumerate(arm.joints):
        assert armature(joint) > 0
        assert whole[i] == [*own[i][:i], own[i][i] + armature(joint)]
