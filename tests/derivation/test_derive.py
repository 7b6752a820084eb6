"""LagrangeEquations of motion in symbols, against closed forms of books, other derivations and the engine."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
import sympy
from sympy import cos, sin

import armsim
from armsim.derivation import agreement, motion, recursion
from armsim.derivation.agreement import Disagreement
from armsim.derivation.exact import exact_arm
from armsim.dynamics import rnea
from armsim.loading import load_robot_file

q1, q2, qd1, qd2 = sympy.symbols("q1 q2 qd1 qd2", real=True)
l1, l2, d2, m1, m2, mp, I1, I2, g = sympy.symbols("l1 l2 d2 m1 m2 mp I1 I2 g", real=True)
POINT = {"point": {"mass": 1, "center": [1, 0, 0]}}


def same(found, expected) -> bool:
    """Whether two matrices are the same functions: at a point of roots of primes, which cancel by no accident, to 40 digits."""
    rest = sympy.Matrix(found) - sympy.Matrix(expected)
    names = sorted(rest.free_symbols, key=str)
    point = {x: sympy.sqrt(sympy.prime(k)) / 7 for k, x in enumerate(names, 1)}
    return all(abs(x) < 1e-30 for x in rest.subs(point).evalf(40))


def test_the_double_pendulum_of_the_assignment_has_the_closed_form_of_its_own_code(derived):
    # the assignment's a1 to a5, with m2 where a2 and a5 have m1, and d1 = 0; its code has m2, too
    a1, a2, a3 = I1 + I2 + m2 * d2**2 + m2 * l1**2, m2 * l1 * d2, I2 + m2 * d2**2
    a4, a5 = g * m2 * l1, g * m2 * d2
    c2, s2 = cos(q2), sin(q2)
    d = derived("rr")
    assert same(d.mass_matrix, [[a1 + 2 * a2 * c2, a3 + a2 * c2], [a3 + a2 * c2, a3]])
    assert same(d.coriolis, [[-a2 * s2 * qd2, -a2 * s2 * (qd1 + qd2)], [a2 * s2 * qd1, 0]])
    assert same(d.gravity, [[a4 * cos(q1) + a5 * cos(q1 + q2)], [a5 * cos(q1 + q2)]])


@pytest.mark.slow
def test_the_assignments_coriolis_matrix_has_the_right_forces_but_is_not_that_of_christoffel(derived):
    # it has 2 a2 s2 qd2 in its first row and half the terms in the second entry: the same C qd, but Mdot - 2 C is not skew
    a2, s2 = m2 * l1 * d2, sin(q2)
    printed = sympy.Matrix([[-2 * a2 * s2 * qd2, -a2 * s2 * qd2], [a2 * s2 * qd1, 0]])
    rates = sympy.Matrix([qd1, qd2])
    d = derived("rr")
    assert same(printed * rates, d.coriolis * rates)
    skew = d.mass_matrix.diff(q2) * qd2 - 2 * printed
    assert not same(skew, -skew.T)


@pytest.mark.parametrize(("slip", "entry"), [("a2", 0), ("a5", 1)])
def test_the_assignments_misprints_are_not_the_arms_equations(derived, slip, entry):
    d = derived("rr")
    wrong = d.mass_matrix[0, 1].subs(m2 * l1 * d2, m1 * l1 * d2) if slip == "a2" else g * m1 * d2 * cos(q1 + q2)
    right = d.mass_matrix[0, 1] if slip == "a2" else d.gravity[1]
    assert sympy.simplify(wrong - right) != 0


def test_the_thesis_constants_are_found(derived):
    # the thesis's r1 to r6 are four times combinations of these: i_1 = m1 l1² / 12 and i_2 = m2 l2² / 12 for its rods
    i1, i2 = m1 * l1**2 / 12, m2 * l2**2 / 12
    thesis = [
        4 * g * l1 * mp + 4 * g * l1 * m2 + 2 * g * l1 * m1,
        (4 * l2**2 + 4 * l1**2) * mp + (l2**2 + 4 * l1**2) * m2 + l1**2 * m1 + 4 * i2 + 4 * i1,
        4 * g * l2 * mp + 2 * g * l2 * m2,
        8 * l1 * l2 * mp + 4 * l1 * l2 * m2,
        4 * l1 * l2 * mp + 2 * l1 * l2 * m2,
        4 * l2**2 * mp + l2**2 * m2 + 4 * i2,
    ]
    found = [constant["value"] for constant in derived("two_link").constants]
    terms = sorted({m for x in (*thesis, *found) for m in sympy.expand(x).as_coefficients_dict()}, key=str)

    def rank(expressions) -> int:
        rows = [sympy.expand(x).as_coefficients_dict() for x in expressions]
        return sympy.Matrix([[row[term] for term in terms] for row in rows]).rank()

    assert len(found) == rank(found) == rank(thesis) == rank([*thesis, *found]) == 5
    r1, r2, r3, r4, r5 = found  # as docs/derive.md says
    here = [4 * r1, 4 * (r2 + r5), 4 * r4, 8 * r3, 4 * r3, 4 * r5]
    assert [sympy.expand(a - b) for a, b in zip(thesis, here, strict=True)] == [0] * 6


def test_the_thesis_arm_takes_12_products_10_sums_and_4_sines_and_cosines(derived, operations):
    d = derived("two_link")
    counted = d.operations["inverse_dynamics"]
    assert (counted["multiplications"], counted["additions"], counted["trigonometric"]) == (12, 10, 4)
    assert operations(d.to("python"), "inverse_dynamics") == (12, 10, 4)


def test_forward_dynamics_of_the_thesis_arm_takes_a_quarter_of_the_thesis_operations(derived, operations):
    d = derived("two_link")
    assert operations(d.to("python"), "forward_dynamics") == (14, 11, 4)
    thesis = next(p for p in d.operations["published"] if p["what"] == "forward_dynamics")
    assert (thesis["multiplications"], thesis["additions"]) == (57, 33)


@pytest.mark.parametrize("name", ["rr", "polar", "arm5", "jaws"])
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.handful(2)
def test_operations_are_counted_as_they_stand_in_the_printed_program(derived, operations, name, function):
    d = derived(name)
    counted = d.operations[function]
    expected = counted["multiplications"], counted["additions"], counted["trigonometric"]
    assert operations(d.to("python"), function) == expected


def test_a_boom_with_a_sliding_mass_has_the_textbook_equations(derived):
    # T = (I1 + m1 c1² + I2 + m2 r²) q̇² / 2 + m2 ṙ² / 2, V = g (m1 c1 + m2 r) sin q, r = q2
    d = derived("polar")
    c1 = d.exact.symbols["c1"]
    inertia = I1 + m1 * c1**2 + I2 + m2 * q2**2
    assert same(d.mass_matrix, [[inertia, 0], [0, m2]])
    assert same(d.coriolis, [[m2 * q2 * qd2, m2 * q2 * qd1], [-m2 * q2 * qd1, 0]])
    assert same([d.kinetic_energy], [(inertia * qd1**2 + m2 * qd2**2) / 2])
    height = (m1 * c1 + m2 * q2) * sin(q1)
    assert same([d.potential_energy], [g * height])
    assert same(d.gravity, [[g * (m1 * c1 + m2 * q2) * cos(q1)], [g * m2 * sin(q1)]])


@pytest.mark.parametrize("name", ["two_link", "polar"])
def test_the_mass_matrix_changes_by_twice_coriolis_and_something_skew(derived, name):
    d = derived(name)
    rate = sum((d.mass_matrix.diff(q) * qd for q, qd in zip(d.q, d.qd)), start=sympy.zeros(2))
    skew = rate - 2 * d.coriolis
    assert same(skew, -skew.T)


@pytest.mark.parametrize("name", ["two_link", "polar"])
def test_mass_matrix_and_gravity_are_derivatives_of_the_energies(derived, name):
    d = derived(name)
    assert same(d.mass_matrix, sympy.hessian(d.kinetic_energy, d.qd))
    assert same(d.gravity, sympy.Matrix([d.potential_energy]).jacobian(d.q).T)


def test_kinematics_are_those_of_two_links_in_a_plane(derived):
    d = derived("two_link")
    x, y = l1 * cos(q1) + l2 * cos(q1 + q2), l1 * sin(q1) + l2 * sin(q1 + q2)
    assert same(d.forward_kinematics[:3, 3], [x, y, 0])
    assert same(d.jacobian[3:5, :], sympy.Matrix([x, y]).jacobian([q1, q2]))
    assert same(d.jacobian[:3, :], [[0, 0], [0, 0], [1, 1]])


@pytest.mark.parametrize(
    "name", ["two_link", "rr", "polar", "arm5", "branches", pytest.param("jaws", marks=pytest.mark.slow)]
)
def test_both_derivations_are_identical_polynomials_and_the_printed_program_is_the_engine(derived, name):
    checks = {check.what: check for check in derived(name).checks}
    assert checks["Newton-Euler and Lagrange"].how == "identical polynomials"
    assert checks["printed program and compiled engine"].difference < 1e-12


def test_a_fault_in_the_recursion_is_a_disagreement(monkeypatch):
    monkeypatch.setattr(recursion, "rnea", lambda arm, q, qd, qdd: [-tau for tau in rnea(arm, q, qd, qdd)])
    with pytest.raises(Disagreement) as refused:
        armsim.derive("two_link")
    assert str(refused.value).startswith(
        "joint force 1, by Newton-Euler and by Lagrange\n  expected: the same polynomial\n"
    )


def test_a_fault_in_what_is_printed_is_a_disagreement(monkeypatch):
    right = agreement.code
    monkeypatch.setattr(agreement, "code", lambda module, form: right(module, form).replace("c1 * r1", "s2 * r1"))
    with pytest.raises(Disagreement, match="two_link: inverse_dynamics, as printed and as compiled"):
        armsim.derive("two_link")


def test_an_arm_too_large_for_a_closed_form_gets_its_recursion_and_is_compared_at_exact_points(monkeypatch, polar):
    monkeypatch.setattr(motion, "MOST_TERMS", 3)
    d = armsim.derive(polar)
    assert d.equations is None
    assert d.notes[-1].startswith("Too large for a closed form (a polynomial of ")
    assert (d.checks[0].how, d.checks[0].difference) == ("3 random points, exactly", 0.0)
    assert d.inverse.form == d.forward.form == "recursive"
    assert d.checks[-1].difference < 1e-12
    assert "Mass matrix" not in d.to("text")
    with pytest.raises(armsim.UsageError, match="an arm whose equations can be written out"):
        _ = d.mass_matrix


@pytest.mark.parametrize("name", ["arm5", "puma560"])
@pytest.mark.slow
def test_points_tell_a_small_fault_of_either_derivation(monkeypatch, name):
    arm = exact_arm(load_robot_file(name).document)
    assert agreement.compare_points(arm)[0].difference == 0.0
    right = agreement.lagrange_at
    monkeypatch.setattr(agreement, "lagrange_at", lambda *x: [tau + tau / 10**9 for tau in right(*x)])
    with pytest.raises(Disagreement, match=r"relative difference of 1\.0e-09"):
        agreement.compare_points(arm)


def test_points_of_irrational_numbers_agree_to_40_digits(polar):
    data = {**polar, "base": {"rpy": [0.3, "pi/3", "sqrt(2)"]}}
    check = agreement.compare_points(exact_arm(load_robot_file(data).document))[0]
    assert check.how == "3 random points, 60 digits"
    assert 0 < check.difference < 1e-50


@pytest.mark.parametrize(
    ("unit", "alpha", "exact"),
    [
        ("rad", "pi/6", sympy.pi / 6),
        ("rad", "30 deg", sympy.pi / 6),
        ("rad", "pi/2 - pi/3", sympy.pi / 6),
        ("rad", "-pi/2", -sympy.pi / 2),
        ("deg", "60", sympy.pi / 3),
        ("rad", "0.35", sympy.Rational(7, 20)),
        ("deg", "1e-3", sympy.pi / 180000),
    ],
)
def test_angles_are_exact(unit, alpha, exact):
    joint = {"name": "A", "type": "revolute", "mdh": {"alpha": alpha, "a": "35 mm"}, "bodies": []}
    data = {
        "format": "armsim/robot/1",
        "name": "one",
        "units": {"angle": unit},
        "joints": [joint | {"bodies": [POINT]}],
    }
    made = exact_arm(load_robot_file(data).document).arm.joints[0]
    assert (made.tilt.row_y.y, made.tilt.row_z.y) == (cos(exact), sin(exact))
    assert made.position.x == sympy.Rational(35, 1000)


def test_symbols_may_be_some_parameters_other_numbers_or_none():
    data = load_robot_file("two_link").document
    assert set(exact_arm(data).symbols) == {"l1", "l2", "m1", "m2", "mp", "g"}
    some = exact_arm(data, ["l1", "m=joints[0].bodies[0].rod.mass"])
    assert some.values == {"l1": 1.0, "m": 2.0}
    assert some.inertias[0].mass == some.symbols["m"]
    assert exact_arm(data, []).symbols == {}


@pytest.mark.parametrize("symbols", [["payload"], ["l1", "l1"], ["m1=gravity[1]"], ["x=joints[0].initial"]], ids=str)
def test_symbols_that_are_none_are_refused(symbols, told):
    with pytest.raises(armsim.UsageError) as refused:
        exact_arm(load_robot_file("two_link").document, symbols)
    told(refused.value)


@pytest.mark.slow
def test_parameters_may_have_any_name(tmp_path):
    names = {"c1": 0.4, "q1": 0.3, "r1": 0.2, "lambda": 0.1, "x1": 0.7, "tau1": 1.5, "M": 2.5, "m": 0.5, "ℓ": 0.5}
    joint = {
        "name": "A",
        "type": "revolute",
        "mdh": {},
        "bodies": [{"point": {"mass": "M", "center": ["x1", "r1", 0]}}],
    }
    second = {"name": "B", "type": "prismatic", "mdh": {"a": "c1 + q1*tau1"}, "bodies": joint["bodies"]}
    data = {"format": "armsim/robot/1", "name": "weird name-1", "parameters": names, "joints": [joint, second]}
    d = armsim.derive(data | {"tool": {"xyz": ["lambda", "ℓ", "m"]}})
    assert d.checks[-1].difference < 1e-12
    assert set(d.symbols) == set(names)
    for compiler, form, ending in (("gcc", "c", "c"), ("gfortran", "fortran", "f90")):
        (tmp_path / f"arm.{ending}").write_text(d.to(form))
        if shutil.which(compiler):
            subprocess.run([compiler, "-fsyntax-only", "-Werror", tmp_path / f"arm.{ending}"], cwd=tmp_path, check=True)


@pytest.mark.slow
def test_friction_and_stops_are_said_to_be_left_out(derived):
    assert derived("arm5").notes == ["Without the stops of the file."]
    assert derived("two_link").notes == []
    sprung = armsim.load_robot("two_link", {"joints[0].spring": {"stiffness": 5}})
    assert armsim.derive(sprung.document).notes == ["Without the springs of the file."]


def test_energies_of_the_engine_are_those_of_the_closed_form(derived, polar):
    d, arm = derived("polar"), armsim.load_robot(polar)
    at = dict(zip((*d.q, *d.qd), (0.3, 0.8, -1.1, 0.6))) | {d.exact.symbols[name]: x for name, x in d.symbols.items()}
    q, qd = np.array([0.3, 0.8]), np.array([-1.1, 0.6])
    assert float(d.kinetic_energy.subs(at)) == pytest.approx(arm.kinetic_energy(q, qd), rel=1e-14)
    assert float(d.potential_energy.subs(at)) == pytest.approx(arm.potential_energy(q), rel=1e-14)
