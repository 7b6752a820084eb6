"""Base parameters and the regressor."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import armsim
from armsim.arm.robot import Robot
from armsim.derivation import base
from armsim.derivation.agreement import Disagreement
from armsim.derivation.base import base_parameters

STATES = np.random.default_rng(5).uniform(-2, 2, (3, 5, 6))


@pytest.mark.parametrize("name", ["arm5", "puma560", "RPS", "SRP"])
def test_the_regressor_times_inertial_parameters_is_inverse_dynamics(name, arms):
    arm = Robot(arms.serial(name, motors=True) if name.isupper() else arms.shipped(name), "python")
    q, qd, qdd = STATES[:, :, : arm.arm.n]
    tau = np.einsum("kij,kj->ki", arm.mass_matrix(q), qdd) + arm.bias(q, qd)
    Y = arm.regressor(q, qd, qdd)
    assert Y.shape == (5, arm.arm.n, 11 * arm.arm.n)
    np.testing.assert_allclose(Y @ arm.inertial_parameters, tau, atol=1e-12 * np.abs(tau).max())


def test_the_regressor_knows_nothing_of_the_masses():
    light, heavy = (armsim.load_robot("two_link", {"parameters.m1": m}) for m in (1.0, 7.0))
    q, qd, qdd = STATES[:, :, :2]
    np.testing.assert_array_equal(light.regressor(q, qd, qdd), heavy.regressor(q, qd, qdd))


def test_the_regressor_is_the_same_bits_without_the_compiler():
    compiled, plain = (armsim.load_robot("two_link", engine=engine) for engine in ("llvm", "python"))
    q, qd, qdd = STATES[:, 0, :2]
    np.testing.assert_array_equal(compiled.regressor(q, qd, qdd), plain.regressor(q, qd, qdd))


def test_two_links_in_a_plane_have_the_base_parameters_of_the_textbook():
    # Khalil and Dombre: ZZ1 + l1² M2 and MX1 + l1 M2; here with armature, and gravity in the plane
    found = base_parameters("two_link")
    l1, l2, m1, m2, mp = sympy.symbols("l1 l2 m1 m2 mp", real=True)
    ZZ1, Ia1, M2, MX1, MY1, ZZ2, MX2, MY2, Ia2 = sympy.symbols("ZZ1 Ia1 M2 MX1 MY1 ZZ2 MX2 MY2 Ia2")
    expected = [ZZ1 + Ia1 + l1**2 * M2, MX1 + l1 * M2, MY1, ZZ2, MX2, MY2, Ia2]
    assert [sympy.expand(p.combination - e) for p, e in zip(found.parameters, expected, strict=True)] == [0] * 7
    values = [m1 * l1**2 / 3 + (m2 + mp) * l1**2, m1 * l1 / 2 + (m2 + mp) * l1, 0, m2 * l2**2 / 3 + mp * l2**2]
    values += [m2 * l2 / 2 + mp * l2, 0, 0]
    assert [sympy.expand(p.value - e) for p, e in zip(found.parameters, values, strict=True)] == [0] * 7
    assert (found.rank, found.of) == (7, 22)


@pytest.mark.slow
def test_the_puma_560_has_36_base_parameters_and_four_armatures_of_their_own():
    # 36 without armatures, as published for this arm; those of the first two joints add to ZZ1 and ZZ2
    found = base_parameters("puma560")
    alone = [
        str(p.combination) for p in found.parameters if str(p.combination).startswith("Ia") and p.combination.is_Symbol
    ]
    assert alone == ["Ia3", "Ia4", "Ia5", "Ia6"]
    assert found.rank == len(found.parameters) == 36 + 4


@pytest.mark.slow
def test_base_parameters_carry_all_that_joint_forces_depend_on():
    # joint forces from the columns of the base parameters alone
    found, arm = base_parameters("arm5"), armsim.load_robot("arm5", engine="python")
    q, qd, qdd = STATES[:, :, :5]
    Y = arm.regressor(q, qd, qdd)
    names = [f"{kind}{i + 1}" for i in range(5) for kind in base.PARAMETERS]
    first = [
        next(
            x
            for x in (f"{kind}{i + 1}" for i in range(5) for kind in base.ORDER)
            if sympy.Symbol(x) in p.combination.free_symbols
        )
        for p in found.parameters
    ]
    tau = Y[..., [names.index(x) for x in first]] @ np.array([p.number for p in found.parameters])
    np.testing.assert_allclose(tau, Y @ arm.inertial_parameters, atol=1e-12 * np.abs(tau).max())


def test_combinations_of_numbers_are_those_in_symbols_where_symbols_would_be_too_many(monkeypatch):
    symbolic = base_parameters("two_link")
    monkeypatch.setattr(base, "MOST_ROWS", 3)
    numeric = base_parameters("two_link")
    (note,) = numeric.notes
    assert note.startswith("Not in symbols (")
    assert note.endswith(" coefficients): the combinations have the file's numbers.")
    l1 = sympy.Symbol("l1", real=True)
    for a, b in zip(symbolic.parameters, numeric.parameters, strict=True):
        assert b.number == pytest.approx(a.number, abs=1e-12)
        difference = sympy.expand(a.combination.subs(l1, 1) - b.combination)
        assert all(abs(k) < 1e-9 for k in difference.as_coefficients_dict().values())


def test_a_rank_that_is_another_is_a_disagreement(monkeypatch):
    monkeypatch.setattr(base, "numerical_rank", lambda columns: 8)
    with pytest.raises(Disagreement, match="two_link: base parameters"):
        base_parameters("two_link")
