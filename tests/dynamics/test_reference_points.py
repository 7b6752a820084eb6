"""Forward dynamics, mass matrix, bias and forward kinematics of arm5 against DynaMechs; the thesis's arm; published arms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from armsim.actuation import driven
from armsim.dynamics import (
    ExternalWrench,
    bias,
    crba,
    forward_dynamics,
    frame_pose,
    gravity_torque,
    link_poses,
    link_wrenches,
    rnea,
)
from armsim.expr import trace
from armsim.model import Arm, Joint, LinkFrame
from armsim.spatial import Inertia, Pose, Symmetric, Vector, rotation_x
from tests.published import ARMS

DATA = Path(__file__).parent.parent / "data"


def names(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def agrees(found: np.ndarray, expected: np.ndarray) -> bool:
    """To 1e-12 of the column's maximum, which is what the reference promises; to 1e-15 where that is zero."""
    largest = np.abs(expected).max(axis=0)
    return bool((np.abs(found - expected) <= np.where(largest == 0, 1e-15, 1e-12 * largest)).all())


@pytest.fixture(scope="module")
def arm5(arms):
    return arms.shipped("arm5")


@pytest.mark.parametrize("algorithm", ["crba", "aba"])
def test_forward_dynamics_of_arm5_is_that_of_dynamechs(algorithm, arm5, reference, evaluate):
    points = reference("fd_points")

    def body(*x):
        return forward_dynamics(arm5, x[:5], x[5:10], x[10:], algorithm=algorithm)

    columns = np.hstack([points.block("q"), points.block("qd"), points.block("tau")]).T
    assert agrees(evaluate(trace(body, names(15)), columns).T, points.block("qdd"))


def test_mass_matrix_and_bias_of_arm5_are_those_of_dynamechs(arm5, reference):
    points, expected = reference("fd_points"), reference("fd_points_H_CG").columns
    found: dict[str, list[float]] = {name: [] for name in expected}
    for q, qd in zip(points.block("q").tolist(), points.block("qd").tolist(), strict=True):
        for i, row in enumerate(crba(arm5, q)):
            for j, entry in enumerate(row):
                found[f"H{i + 1}{j + 1}"].append(entry)
        for i, entry in enumerate(bias(arm5, q, qd)):
            found[f"CG{i + 1}"].append(entry)
    for name in expected:
        assert agrees(np.array(found[name]), expected[name]), name


@pytest.mark.parametrize("algorithm", ["crba", "aba"])
@pytest.mark.handful(1)
def test_motors_on_arm5_accelerate_it_as_in_dynamechs(algorithm, arm5, reference):
    points = reference("fd_motor_points")
    found = []
    for q, qd, volts in zip(*(points.block(k).tolist() for k in ("q", "qd", "V")), strict=True):
        tau = [driven(*drive).total for drive in zip(arm5.joints, ["voltage"] * 5, volts, q, qd, strict=True)]
        found.append(forward_dynamics(arm5, q, qd, tau, algorithm=algorithm))
    assert agrees(np.array(found), points.block("qdd"))


@pytest.mark.parametrize("algorithm", ["crba", "aba"])
def test_external_wrenches_on_arm5_act_as_in_dynamechs(algorithm, arm5, reference):
    points = reference("ext_force_points")
    found = []
    for k in range(points.count):
        q, qd, tau = (points.block(kind)[k].tolist() for kind in ("q", "qd", "tau"))
        wrenches = []
        for link in (5, 3):
            n, f = ([points.columns[f"{kind}{link}{axis}"][k] for axis in "xyz"] for kind in "nf")
            wrenches.append(ExternalWrench(arm5.frame_at(link - 1), Vector(*f), Vector(*n), "local"))
        outside = link_wrenches(arm5, 0.0, q, wrenches)
        found.append(forward_dynamics(arm5, q, qd, tau, outside, algorithm))
    assert agrees(np.array(found), points.block("qdd"))


def test_link_frames_of_arm5_stand_where_dynamechs_has_them(arm5, reference):
    points = reference("fk_points").columns
    found: dict[str, list[float]] = {name: [] for name in points if name[0] in "pR" and name != "point"}
    for k in range(0, len(points["link"]), 5):
        for pose in link_poses(arm5, [float(points[f"q{i}"][k]) for i in range(1, 6)]):
            for axis, value in zip("xyz", pose.position, strict=True):
                found[f"p{axis}"].append(value)
            for i, row in enumerate(pose.rotation, start=1):
                for j, value in enumerate(row, start=1):
                    found[f"R{i}{j}"].append(value)
    for name, values in found.items():
        assert agrees(np.array(values), points[name]), name


def test_inverse_dynamics_of_the_two_link_arm_is_the_closed_form_of_the_thesis(arms, reference):
    arm, table = arms.shipped("two_link"), reference("thesis_two_link").columns
    units = {"q": "deg", "qd": "deg_s", "qdd": "deg_s2"}
    motion = [np.radians(np.stack([table[f"{k}{i}_{unit}"] for i in (1, 2)], 1)) for k, unit in units.items()]
    found = np.array([rnea(arm, *row) for row in zip(*(block.tolist() for block in motion), strict=True)])
    assert agrees(found, np.stack([table["tau1_Nm"], table["tau2_Nm"]], axis=1))


def published() -> dict:
    return {name: entry for name, entry in ARMS.items() if "golden" in entry}


def arm_of(entry: dict) -> Arm:
    joints = []
    for i, link in enumerate(entry["links"]):
        twist = rotation_x(link["alpha"])
        joints.append(
            Joint(
                name=f"J{i + 1}",
                type=link["joint"],
                tilt=twist,
                position=twist @ Vector(link["a"], 0.0, link["d"]),
                offset=link["theta_offset"],
                inertia=Inertia.about_com(link["mass"], Vector(*link["com"]), Symmetric(**link["inertia"])),
            )
        )
    gravity = Vector(*entry["golden"].get("gravity", (0.0, 0.0, -9.81)))
    tool = Pose(position=Vector(*(row[3] for row in entry["tool_from_last_frame"])))
    return Arm(entry["title"], gravity, Pose(), tuple(joints), (LinkFrame("tool", pose=tool),))


@pytest.mark.parametrize("name", published())
def test_published_arms_give_the_figures_of_pinocchio_to_the_digits_printed(name):
    entry = published()[name]
    arm, golden, n = arm_of(entry), entry["golden"], entry["dof"]
    q = [0.1, -0.4, 0.5, -0.6, 0.7, -0.8, 0.9][:n]
    qd = [0.3, -0.2, 0.1, 0.4, -0.5, 0.6, -0.7][:n]
    qdd = [1.0, -1.0, 0.5, -0.5, 0.25, -0.25, 0.125][:n]
    found = {
        "holding_torque": gravity_torque(arm, q),
        "mass_matrix_diag": [row[-1] for row in crba(arm, q)],
        "rnea_tau": rnea(arm, q, qd, qdd),
        "tool_position": list(frame_pose(arm, q, arm.tool).position),
    }
    for quantity, values in found.items():
        for value, printed in zip(values, golden[quantity], strict=True):
            # 9 significant digits, or 8 decimals: half of the last digit; and 1e-15 of arithmetic where 0 was printed
            digits = 8 if quantity == "tool_position" or printed == 0 else 8 - math.floor(math.log10(abs(printed)))
            assert abs(value - printed) <= 0.51 * 10.0**-digits, (quantity, value, printed)
