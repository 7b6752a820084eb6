"""Motions from columns of files, and what drives must give along them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.arm.inverse import demand_table, derived, motion_of
from armsim.errors import UsageError


@pytest.fixture(scope="module")
def rr():
    return armsim.load_robot("rr")


@pytest.fixture(scope="module")
def arm5():
    return armsim.load_robot("arm5")


def columns(t, **quantities) -> dict[str, list[float]]:
    return {"t_s": list(t), **{heading: list(values) for heading, values in quantities.items()}}


def test_degrees_and_radians_may_stand_beside_each_other(rr):
    t = [0.0, 1.0, 2.0]
    given = columns(t, q_R1_deg=[0, 90, 180], q_R2_rad=[0, 1, 2], qd_R1_deg_s=[90] * 3, qd_R2_rad_s=[1] * 3)
    _, q, qd, qdd = motion_of(rr, given)
    np.testing.assert_allclose(q, [[0, 0], [math.pi / 2, 1], [math.pi, 2]], rtol=1e-15)
    np.testing.assert_allclose(qd, [[math.pi / 2, 1]] * 3, rtol=1e-15)
    np.testing.assert_array_equal(qdd, np.zeros((3, 2)))


def test_differences_are_exact_for_parabolas_on_uneven_times_also_at_the_ends(rr):
    t = np.array([0.0, 0.1, 0.25, 0.3, 0.7, 1.0])
    q = 1 + 2 * t - 3 * t**2
    _, _, qd, _ = motion_of(rr, columns(t, q_R1_rad=q, q_R2_rad=-q))
    np.testing.assert_allclose(qd[:, 0], 2 - 6 * t, rtol=0, atol=1e-13)
    np.testing.assert_allclose(qd[:, 1], -2 + 6 * t, rtol=0, atol=1e-13)


def test_given_velocities_are_taken_not_differentiated(rr):
    t = np.linspace(0, 1, 5)
    given = columns(t, q_R1_rad=t, q_R2_rad=t, qd_R1_rad_s=7 + t, qd_R2_rad_s=8 - t)
    _, _, qd, qdd = motion_of(rr, given)
    np.testing.assert_array_equal(qd[:, 0], 7 + t)
    np.testing.assert_allclose(qdd, [[1, -1]] * 5, rtol=0, atol=1e-13)


def test_other_columns_are_passed_over(rr):
    given = columns([0.0, 1.0, 2.0], q_R1_rad=[0] * 3, q_R2_rad=[0] * 3, x_m=[9] * 3, note=[1] * 3)
    assert motion_of(rr, given)[1].shape == (3, 2)


def test_one_velocity_without_the_other_is_refused(rr):
    given = columns([0.0, 1.0, 2.0], q_R1_rad=[0] * 3, q_R2_rad=[0] * 3, qd_R1_rad_s=[0] * 3)
    with pytest.raises(UsageError, match="expected: qd_R2_rad_s or qd_R2_deg_s"):
        motion_of(rr, given)


def test_prismatic_joints_take_metres_only():
    robot = {
        "format": "armsim/robot/1",
        "name": "slide",
        "joints": [{"name": "rail", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 2}}]}],
    }
    slide = armsim.load_robot(robot)
    assert motion_of(slide, columns([0.0, 1.0, 2.0], q_rail_m=[0, 1, 2]))[1][2, 0] == 2
    with pytest.raises(UsageError, match="expected: q_rail_m\n"):
        motion_of(slide, columns([0.0, 1.0, 2.0], q_rail_deg=[0, 1, 2]))


def test_the_table_of_demands_has_time_torques_and_for_motors_voltages_and_currents(arm5, rr):
    t = np.array([0.0, 0.5])
    q = np.tile(arm5.initial, (2, 1))
    tau = arm5.inverse_dynamics(q)
    headings, rows = demand_table(arm5.arm, t, tau, *arm5.motor_demand(0 * q, tau))
    held = arm5.inverse_dynamics(arm5.initial)
    assert headings[0] == "t_s"
    assert rows.shape == (2, 16)
    np.testing.assert_array_equal(rows[:, 0], t)
    np.testing.assert_array_equal(rows[1, 1:6], held)
    np.testing.assert_allclose(rows[1, 11:16], held / [10, 10, 10, 1, 1], rtol=1e-15)
    assert demand_table(rr.arm, t, *[q[:, :2]] * 3)[0] == ["t_s", "tau_motor_R1_Nm", "tau_motor_R2_Nm"]


def test_in_between_differences_are_central(rr):
    """About an instant of symmetry a central difference is exactly zero, whatever the order of the motion; others are not."""
    t = np.linspace(-1, 1, 11)
    q = t**2 + t**4 + t**6
    _, _, qd, _ = motion_of(rr, columns(t, q_R1_rad=q, q_R2_rad=q))
    assert abs(qd[5, 0]) < 1e-14


def test_quartics_are_differentiated_exactly_also_at_the_ends_and_then_the_error_is_that_of_cubics(rr):
    t = np.array([0.0, 0.1, 0.25, 0.3, 0.7, 0.8, 1.0])
    given = columns(t, q_R1_rad=t**4, q_R2_rad=0 * t)
    _, q, qd, qdd = motion_of(rr, given)
    np.testing.assert_allclose(qd[:, 0], 4 * t**3, rtol=0, atol=1e-13)
    np.testing.assert_allclose(qdd[:, 0], 12 * t**2, rtol=0, atol=1e-11)
    made = derived(rr, given)
    assert made is not None
    off = motion_of(rr, given, 4)
    expected = np.abs(rr.inverse_dynamics(q, qd, qdd) - rr.inverse_dynamics(*off[1:])).max(axis=0)
    assert made.error == pytest.approx(expected)
    assert made.error[0] > 0.1
    assert derived(rr, given | columns(t, qd_R1_rad_s=t, qd_R2_rad_s=t, qdd_R1_rad_s2=t, qdd_R2_rad_s2=t)) is None
