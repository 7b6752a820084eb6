"""The shipped Puma 560: published figures, and a fall and a hold with its published friction."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.actuation import dry_bounds
from armsim.dynamics import crba, frame_pose, gravity_torque, rnea
from armsim.expr import trace
from armsim.loading import read_robot, read_scenario
from armsim.plant import make_plant
from armsim.stability.method_choice import with_method
from tests.published import ARMS

PUBLISHED = ARMS["puma560_corke"]
Q, QD, QDD = [0.1, -0.4, 0.5, -0.6, 0.7, -0.8], [0.3, -0.2, 0.1, 0.4, -0.5, 0.6], [1.0, -1.0, 0.5, -0.5, 0.25, -0.25]
LAST_DIGIT = 1e-8  # of nine printed ones


@pytest.fixture(scope="module")
def arm():
    return read_robot("puma560")[0]


def test_its_links_give_pinocchios_figures(arm):
    golden = PUBLISHED["golden"]
    arm = replace(arm, links=tuple(replace(joint, motor=None) for joint in arm.joints))
    assert gravity_torque(arm, Q) == pytest.approx(golden["holding_torque"], rel=LAST_DIGIT, abs=1e-9)
    assert [row[-1] for row in crba(arm, Q)] == pytest.approx(golden["mass_matrix_diag"], rel=LAST_DIGIT)
    assert rnea(arm, Q, QD, QDD) == pytest.approx(golden["rnea_tau"], rel=LAST_DIGIT, abs=1e-9)
    assert list(frame_pose(arm, Q, arm.tool).position) == pytest.approx(golden["tool_position"], rel=LAST_DIGIT)


def test_its_motors_and_ranges_are_the_published_ones(arm):
    for joint, link in zip(arm.joints, PUBLISHED["links"], strict=True):
        said = link["motor"]
        assert (joint.motor.gear, joint.motor.rotor_inertia) == (said["gear_ratio"], said["rotor_inertia"])
        assert joint.motor.viscous == said["viscous_motor"]
        assert joint.motor.coulomb.positive == said["coulomb_motor_pos"]
        assert joint.motor.coulomb.negative == -said["coulomb_motor_neg"]
        assert [joint.limit.lower, joint.limit.upper] == pytest.approx(link["qlim"], abs=1e-9)  # printed to ten digits


def test_no_voltage_or_current_is_invented_for_motors_without_constants(arm):
    run = armsim.simulate("puma560_fall", overrides={"duration": 0.01})
    kinds = {column.quantity for column in run.plant.layout.columns}
    assert kinds.isdisjoint({"voltage", "current", "power"})
    robot = armsim.load_robot("puma560")
    assert all(np.isnan(values).all() for values in robot.motor_demand(robot.initial, robot.initial))


def test_let_go_it_falls_where_friction_cannot_hold_and_stays_where_it_can(arm):
    run = armsim.simulate("puma560_fall")
    start = run.q[0].tolist()
    bounds = [dry_bounds(joint, 0.0) for joint in arm.joints]
    gravity = gravity_torque(arm, start)
    too_heavy = [not lower <= g <= upper for g, (lower, upper) in zip(gravity, bounds, strict=True)]
    assert too_heavy == [False, True, True, False, False, False]
    moved = [bool(np.any(run.qd[:, i] != 0.0)) for i in range(arm.n)]
    assert moved == too_heavy
    for i in (0, 3, 4, 5):
        assert np.all(run.q[:, i] == start[i])
    shoulder, elbow = np.degrees(run.q[-1] - run.q[0])[1:3]
    assert -60 < shoulder < -45
    assert -20 < elbow < -10
    at_rest = run.qd[:, 2] == 0.0
    assert at_rest[-10:].all()  # the elbow comes to rest on the way


def test_the_energy_that_it_loses_in_the_fall_is_what_friction_takes(arm):
    run = armsim.simulate("puma560_fall", overrides={"log.every": 1e-4})
    n, at = arm.n, {(c.quantity, c.of): i for i, c in enumerate(run.plant.layout.columns)}
    rows = np.array(run.rows.numbers).reshape(run.count, -1)
    energy = rows[:, at["energy", "kinetic"]] + rows[:, at["energy", "potential"]]
    power = sum(rows[:, at["friction", arm.joints[i].name]] * run.qd[:, i] for i in range(n))
    assert (power <= 0.0).all()
    work = np.trapezoid(power, dx=1e-4) if hasattr(np, "trapezoid") else np.trapz(power, dx=1e-4)
    # first order in dt: the motion turns by 1 rad in 1e4 steps, so 1e-3 of the energy at most
    assert energy[-1] - energy[0] == pytest.approx(work, abs=1e-3 * abs(work))


def test_held_by_pd_control_all_joints_come_to_rest_exactly():
    run = armsim.simulate("puma560_hold")
    late = run.t >= 1.0
    assert np.all(run.qd[late] == 0.0)
    assert np.all(run.q[late] == run.q[-1])
    target = np.array(run.scenario.command.target)
    assert np.all(np.abs(run.q[-1] - target) < math.radians(1.5))
    assert np.any(run.q[-1] != target)


def test_a_step_of_its_fall_takes_few_operations_unless_friction_changes_sides():
    scenario = with_method(read_scenario("puma560_fall"))
    plant = make_plant(scenario)
    step = trace(lambda t, *state: plant.step(t, state, scenario.dt), ["t", *plant.slots])
    assert step.flops() < 1200  # about 80 ns; the loop that searches the sides is a function of its own


@pytest.mark.slow
def test_python_floats_and_machine_code_give_the_same_bits_while_joints_slip_and_stick():
    short = {"duration": 0.008, "log.every": 1e-3}
    for name in ("puma560_fall", "puma560_hold"):
        runs = [armsim.simulate(name, overrides=short, engine=engine) for engine in ("llvm", "python")]
        assert bytes(runs[0].rows.numbers) == bytes(runs[1].rows.numbers)
