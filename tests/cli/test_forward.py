"""`armsim forward` as a user meets it."""

from __future__ import annotations

import json
import math

import pytest

import armsim as library

G = 9.81


def answer(run, *args) -> dict:
    done = run("forward", *args, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def two_link_accelerations(q2: float, tau: tuple[float, float]) -> tuple[float, float]:
    """rr at rest and level with its second joint at q2: M qdd = tau - gravity, by hand (Cramer's rule)."""
    a, c, m2, I1, I2 = 0.8, 0.4, 4.0, 1.0, 2.0  # the first link's centre is on its axis
    h = m2 * a * c * math.cos(q2)
    M11, M12, M22 = I1 + I2 + m2 * (a * a + c * c) + 2 * h, I2 + m2 * c * c + h, I2 + m2 * c * c
    g2 = m2 * c * G * math.cos(q2)
    g1 = m2 * a * G + g2
    b1, b2 = tau[0] - g1, tau[1] - g2
    det = M11 * M22 - M12 * M12
    return (M22 * b1 - M12 * b2) / det, (M11 * b2 - M12 * b1) / det


@pytest.mark.parametrize(
    ("q2", "tau"), [(0.0, (0.0, 0.0)), (0.7, (0.0, 0.0)), (math.pi / 2, (47.0, 15.7)), (-1.2, (-3.0, 9.0))]
)
def test_the_two_link_arm_accelerates_as_by_hand(armsim, q2, tau):
    found = answer(armsim, "rr", "--q", f"0,{q2!r}", "--torque", f"{tau[0]!r},{tau[1]!r}")
    assert found["qdd"] == pytest.approx(two_link_accelerations(q2, tau), rel=1e-12)
    assert found["torque"] == list(tau)


def test_without_torques_nothing_drives_the_joints(armsim):
    assert answer(armsim, "rr")["qdd"] == answer(armsim, "rr", "--torque", "0,0")["qdd"]
    assert "accelerations under no torque of its drives, at its initial pose" in armsim("forward", "rr").out


def test_it_undoes_inverse(armsim):
    state = ("--q", "0.1,-0.4,0.2,0.6,-0.7", "--qd", "0.3,-0.2,0.1,0.4,-0.5")
    qdd = [1.0, -1.0, 0.5, -0.5, 0.25]
    torques = json.loads(armsim("inverse", "arm5", *state, "--qdd", ",".join(map(str, qdd)), "--json").out)
    by_torque = answer(armsim, "arm5", *state, "--torque", ",".join(map(repr, torques["torque"])))
    by_voltage = answer(armsim, "arm5", *state, "--voltage", ",".join(map(repr, torques["voltage"])))
    # the wrist's inertia is 4e-4 of the shoulder's: rounding of the torques shows up that much larger
    assert by_torque["qdd"] == pytest.approx(qdd, rel=1e-11)
    assert by_voltage["qdd"] == pytest.approx(qdd, rel=1e-11)
    assert by_torque["voltage"] == pytest.approx(torques["voltage"], rel=1e-14)
    assert by_voltage["torque"] == pytest.approx(torques["torque"], rel=1e-14)


def test_no_voltage_is_a_brake_and_no_torque_is_none(armsim):
    turning = ("arm5", "--q", "0,0,0,0,0", "--qd", "1,0,0,0,0")
    braked, free = answer(armsim, *turning, "--voltage", "0,0,0,0,0"), answer(armsim, *turning)
    assert braked["current"][0] == -10.0  # -Ke qd / Ra
    assert braked["torque"][0] == -100.0
    assert free["current"][0] == 0.0
    assert braked["qdd"][0] < free["qdd"][0]


def test_it_says_what_the_library_says(armsim):
    q, qd, tau = [0.1, -0.4, 0.2, 0.6, -0.7], [0.3, -0.2, 0.1, 0.4, -0.5], [1.0, 2.0, 3.0, 0.4, 0.5]
    options = [
        x for key, values in (("q", q), ("qd", qd), ("torque", tau)) for x in (f"--{key}", ",".join(map(repr, values)))
    ]
    assert answer(armsim, "arm5", *options)["qdd"] == library.load_robot("arm5").forward_dynamics(q, qd, tau).tolist()


def test_degrees_are_taken_and_printed(armsim):
    radians = answer(
        armsim, "two_link", "--q", f"{math.radians(30)!r},{math.radians(-45)!r}", "--qd", f"{math.radians(10)!r},0"
    )
    degrees = answer(armsim, "two_link", "--deg", "--q", "30,-45", "--qd", "10,0")
    assert degrees["q"] == [30, -45]
    assert degrees["qd"] == [10, 0]
    assert degrees["qdd"] == pytest.approx([math.degrees(x) for x in radians["qdd"]], rel=1e-14)
    assert "deg/s²" in armsim("forward", "two_link", "--deg").out


def test_voltage_without_motors_is_refused(armsim, told):
    wrong = armsim("forward", "rr", "--voltage", "1,2")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_torque_and_voltage_at_once_are_refused(armsim, told):
    wrong = armsim("forward", "arm5", "--voltage", "0,0,0,0,0", "--torque", "0,0,0,0,0")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_a_joint_that_nothing_resists_is_named(armsim, empty_folder):
    (empty_folder / "light.yaml").write_text(
        "format: armsim/robot/1\nname: light\njoints:\n"
        "  - {name: A, type: revolute, mdh: {alpha: pi/2}, bodies: [{point: {mass: 1, center: [1, 0, 0]}}]}\n"
        "  - {name: B, type: revolute, mdh: {a: 1}, bodies: [{point: {mass: 0}}]}\n"
    )
    wrong = armsim("forward", "light.yaml")
    assert (wrong.code, wrong.out) == (2, "")
    assert "light.yaml:5:5: joints[1]" in wrong.err
    assert "no inertia and no rotor inertia on joint `B`" in wrong.err


def test_the_table_has_motors_columns_where_there_are_motors(armsim):
    assert "voltage" in armsim("forward", "arm5").out
    assert "voltage" not in armsim("forward", "rr").out
