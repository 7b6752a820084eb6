"""The library of published arms: their numbers, figures of another engine, what is known of their faults, and their page."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim.arm.catalog import catalog
from armsim.dynamics import crba, frame_pose, gravity_torque, rnea
from armsim.files.shipped import shipped_path
from armsim.loading import load_robot_file, read_robot
from armsim.loading.check import check
from tests.published import PUBLISHED, motion, within_digits

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/robots.md").read_text(encoding="utf-8")
PINOCCHIO = json.loads((Path(__file__).parent / "data" / "shipped_robots.json").read_text())["figures"]
NO_MASS = ("joints[0]", "link J1 has mass 0")
FAULTS = {  # what `armsim check` finds of each, all of it in the comments of the file
    "puma560": [NO_MASS, ("joints[2].bodies[0].inertia", "principal moments 0.0125, 0.066, 0.086 kg·m², for link J3")],
    "puma560_akb": [NO_MASS],
    "manutec_r3": [("joints[0].bodies[0].inertia", "principal moments 0, 0, 1.16 kg·m², for link J1")],
}
TURNED = [0.0, math.pi, math.pi, 0.0, 0.0, math.pi]  # joint positions of puma560_akb less those of puma560


def bare(name):
    """The arm without motors, as Pinocchio has it."""
    arm = read_robot(name)[0]
    return replace(arm, links=tuple(replace(joint, motor=None) for joint in arm.joints))


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_has_the_figures_of_pinocchio(name):
    arm, entry = bare(name), PUBLISHED[name]
    q, qd, qdd = motion(entry)
    found = {
        "holding_torque": gravity_torque(arm, q),
        "mass_matrix_diag": [row[-1] for row in crba(arm, q)],
        "rnea_tau": rnea(arm, q, qd, qdd),
        "tool_position": list(frame_pose(arm, q, arm.tool).position),
    }
    for quantity, values in found.items():
        true = PINOCCHIO[name][quantity]
        # rounding of both engines, of the largest torque or length: 45 products for each of seven links
        assert values == pytest.approx(true, rel=1e-13, abs=1e-14 * max(map(abs, true))), quantity
        assert within_digits(values, entry.get("golden", {}).get(quantity, values)), quantity


@pytest.mark.parametrize("name", PUBLISHED)
def test_its_file_has_the_published_numbers_digit_by_digit(name):
    robot, entry = load_robot_file(name).document, PUBLISHED[name]
    degrees = math.degrees if robot.degrees else lambda x: x
    for joint, link in zip(robot.joints, entry["links"], strict=True):
        row = [joint.mdh[key].value for key in ("a", "d", "alpha", "theta")]
        angles = [degrees(link[key]) for key in ("alpha", "theta_offset")]
        assert row == [link["a"], link["d"], *(pytest.approx(x, abs=1e-13) for x in angles)]
        (body,) = joint.bodies
        assert body.mass.value == link["mass"]
        assert [x.value for x in body.center] == link["com"]
        if body.tag != "point":
            assert body.about == "com"
            assert {key: body[key].value for key in link["inertia"]} == link["inertia"]
        else:
            assert not any(link["inertia"].values())
    tool = [row[3] for row in entry["tool_from_last_frame"]]
    assert [x.value for x in robot.tool.xyz] == tool


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_check_doubts_of_it_are_the_faults_that_its_comments_tell(name):
    checked = check(name)
    assert checked.faults == ()
    found = [(warning.path, warning.found.partition(": the largest")[0]) for warning in checked.warnings]
    assert found == FAULTS.get(name, [])
    comments = Path(shipped_path("robots", name)).read_text(encoding="utf-8").split("format:")[0]
    assert "Known" in comments
    assert ("`armsim check" in comments) == (name in FAULTS)


@pytest.mark.parametrize("name", PUBLISHED)
def test_its_initial_pose_is_within_its_ranges_and_its_motors_hold_it_there_with_its_rated_payload(name):
    rated = load_robot_file(name).document.about.payload
    arm = read_robot(name, {"payload": None if rated is None else {"mass": rated.value}})[0]
    torques = gravity_torque(arm, list(arm.initial))
    assert any(abs(torque) > 0.0 for torque in torques)
    for joint, q, torque in zip(arm.joints, arm.initial, torques, strict=True):
        if joint.limit is not None:
            assert joint.limit.lower < q < joint.limit.upper
        if joint.motor.limits.torque is not None:
            assert abs(torque) < abs(joint.motor.gear) * joint.motor.limits.torque


def test_both_sets_of_the_puma_are_one_machine_but_for_a_sign_in_its_wrist():
    # the centres of mass of link 4 are 2 × 19 mm apart: 0.82 kg × 9.81 m/s² × 38 mm, and 1.3 mm of what is beyond the elbow
    consensus, akb = bare("puma560"), bare("puma560_akb")
    apart = 0.82 * 9.81 * 0.038 + 1.25 * 9.81 * 0.0013
    rng, largest = np.random.default_rng(3), 0.0
    for _ in range(20):
        q = [rng.uniform(joint.limit.lower, joint.limit.upper) for joint in consensus.joints]
        turned = [x + y for x, y in zip(q, TURNED, strict=True)]
        x, y, z = frame_pose(akb, turned, akb.tool).position
        assert [-x, -y, z + 0.67183] == pytest.approx(
            list(frame_pose(consensus, q, consensus.tool).position), abs=1.31e-3
        )
        torques = zip(gravity_torque(consensus, q), gravity_torque(akb, turned), strict=True)
        largest = max(largest, *(abs(a - b) for a, b in torques))
    assert 0.1 < largest < apart
    ranges = [(joint.limit.upper - joint.limit.lower) for joint in consensus.joints]
    assert [(joint.limit.upper - joint.limit.lower) for joint in akb.joints] == pytest.approx(ranges)
    for i in (1, 2):  # whose range the link before decides, not a choice of zero
        a, b = consensus.joints[i].limit.lower + TURNED[i], akb.joints[i].limit.lower
        assert math.remainder(a - b, 2 * math.pi) == pytest.approx(0.0, abs=1e-12)


def test_the_friction_of_the_panda_has_the_bounds_of_the_identified_law():
    A = [0.54615, 0.87224, 0.64068, 1.2794, 0.83904, 0.30301, 0.56489]
    k = [5.1181, 9.0657, 10.136, 5.5903, 8.3469, 17.133, 10.336]
    s = [0.039533, 0.025882, -0.04607, 0.036194, 0.026226, -0.021047, 0.0035526]

    def friction(i, v):
        return A[i] / (1 + math.exp(-k[i] * (v + s[i]))) - A[i] / (1 + math.exp(-k[i] * s[i]))

    for i, joint in enumerate(read_robot("panda")[0].joints):
        bounds = (joint.coulomb.positive, -joint.coulomb.negative)
        assert bounds == pytest.approx((friction(i, 20.0), friction(i, -20.0)), rel=1e-12)
        assert (friction(i, 1.0), friction(i, -1.0)) == pytest.approx(bounds, rel=0.015)  # as its comments say
        assert (friction(i, 0.25), friction(i, -0.25)) == pytest.approx(bounds, rel=0.5)


def test_the_motors_of_the_manutec_are_those_of_dfvlrs_own_program():
    # R3M2SI, the subroutine of model 2: rotors at the joints, greatest torques at the gears' outputs, greatest speeds
    joints = read_robot("manutec_r3")[0].joints[:3]
    assert [joint.armature for joint in joints] == pytest.approx([14.3325, 57.33, 4.68], rel=1e-14)
    gears = [abs(joint.motor.gear) for joint in joints]
    limits = [joint.motor.limits for joint in joints]
    assert [gear * of.torque for gear, of in zip(gears, limits, strict=True)] == [945.0, 1890.0, 540.0]
    assert [of.speed / gear for gear, of in zip(gears, limits, strict=True)] == pytest.approx(
        [3.0, 1.5, 5.2], abs=0.051
    )


def test_list_and_the_page_say_the_same_of_every_robot():
    facts = {item.name: item.robot for item in catalog()["robots"]}
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| ([\d.]+) m \| (?:([\d.]+) kg|-) \| (\w+) \| .* \|$", PAGE, re.MULTILINE)
    assert [row[0] for row in rows] == list(PUBLISHED)
    for name, joints, reach, payload, inertias in rows:
        of = facts[name]
        assert (of.joints, f"{of.reach:.3g}", of.inertias) == (int(joints), reach, inertias)
        assert of.payload == (float(payload) if payload else None)
        assert f"**{name}" in PAGE or f" {name}" in PAGE
    others = set(facts) - set(PUBLISHED)
    assert all(f"`{name}`" in PAGE and facts[name].inertias is None for name in others)
    scenarios = {item.name for item in catalog()["scenarios"] if item.name.rpartition("_")[0] in PUBLISHED}
    assert scenarios == {name for name in re.findall(r"`(\w+)`", PAGE) if shipped_path("configs", name)}


def test_the_ur20_carries_its_box_within_its_limits():
    run = armsim.simulate("ur20_pallet")
    arm = run.scenario.arm
    for i, joint in enumerate(arm.joints):
        assert abs(run[f"tau_{joint.name}_Nm"]).max() < joint.motor.limits.torque
        assert abs(run.qd[:, i]).max() < joint.motor.limits.speed
    # it waits at the box from 0.4 s to 0.6 s, and holds it from 0.5 s on; kp times the error of a first-order method is left
    for t, row in ((0.49, 49), (0.51, 51)):
        held = gravity_torque(arm.at(t), run.q[row].tolist())
        assert [run[f"tau_J{i}_Nm"][row] for i in range(1, 7)] == pytest.approx(held, abs=20000 * 1e-5)
    assert abs(held[1]) > 200
    assert np.abs(run.q[-1] - np.radians([60, -80, 100, -110, -90, 60])).max() < 1e-4


@pytest.mark.slow
def test_what_the_push_leaves_of_the_pandas_pose_is_within_its_friction():
    run = armsim.simulate("panda_push")
    arm, kp = run.scenario.arm, [150, 150, 150, 150, 60, 60, 30]
    error = run.q[-1] - np.array(arm.initial)
    assert abs(run.q - arm.initial).max() > 0.05
    for i, joint in enumerate(arm.joints):
        # J5 creeps to its bound from outside: by exp(-kp/kd t), 1e-5 after a second
        assert -joint.coulomb.negative - 1e-4 <= -kp[i] * error[i] <= joint.coulomb.positive + 1e-4
    assert 1e-3 < abs(error).max() < 1e-2


@pytest.mark.slow
def test_the_iiwa_hangs_by_what_its_feedforward_does_not_know():
    run = armsim.simulate("iiwa14_move")
    kp = np.array([4000, 4000, 2000, 2000, 1000, 500, 200])
    goal = np.radians([60, 60, 20, -60, 30, 30, 60])
    q = run.q[-1].tolist()
    known = gravity_torque(read_robot("iiwa14")[0], goal.tolist())
    wanted = np.array(gravity_torque(run.scenario.arm, q)) - known
    # what is left of the motion decays by exp(-kp/kd t), with half a second since its end: 1e-4
    assert kp * (goal - run.q[-1]) == pytest.approx(wanted, abs=1e-3 * np.abs(wanted).max())


def test_the_manutec_follows_under_the_controller_of_its_source():
    run = armsim.simulate("manutec_r3_move")
    k, gear = np.array([1.1616, 1.1616, 1.1616, 0.2365, 0.2608, 0.0842]), np.array([105, 210, 60, 99, 79.2, 99])
    K = k * gear**2 * 0.5
    law = run.scenario.command.law
    for gains, factor in ((law.kp, 5 + 1 / 0.05), (law.ki, 5 / 0.05), (law.kd, 1.0)):
        assert list(gains) == pytest.approx(list(K * factor), rel=1e-4)  # rounded to whole numbers
    tau = np.stack([run[f"tau_J{i}_Nm"] for i in (1, 2, 3)])
    assert (np.abs(tau).max(axis=1) < [945, 1890, 540]).all()
    assert np.abs(run.q[-1] - np.radians([60, -70, -35, 45, 110, 45])).max() < 2e-3
