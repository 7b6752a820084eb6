"""From scenarios to linear equations: where they are taken, how feedback closes them, and the regulators made of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.control import Seen
from armsim.errors import Diverged, UsageError
from armsim.expr import leaves
from armsim.loading import read_scenario
from tests.planar import planar

HANG = {  # a two-link arm near hanging, under constant torque
    "format": "armsim/scenario/1",
    "robot": "two_link",
    "duration": 1,
    "integrator": {"method": "rk4", "dt": 1e-3},
    "initial": {"q": [-1.2, 0.3]},
    "inputs": {"torque": [9.5, 2.5]},
    "log": {"every": 1e-3},
}


def slopes(state, advance, h=1e-6):
    """The derivative of a map of states, by central differences."""
    columns = []
    for k in range(len(state)):
        up, down = (advance([v + s * h * (i == k) for i, v in enumerate(state)]) for s in (1, -1))
        columns.append((np.array(up) - np.array(down)) / (2 * h))
    return np.array(columns).T


def test_the_start_is_where_it_is_taken_unless_a_time_is_given():
    lin = armsim.linearize("arm5_hold")
    assert (lin.place, lin.about.t) == ("the start", 0.0)
    assert lin.about.q == [0.2, -1.15, 0.5, 0.3, -0.2]
    assert lin.about.u == pytest.approx([-12.0, 3.0, -12.0, -6.0, 4.0])
    assert not lin.is_equilibrium
    later = armsim.linearize("arm5_hold", at=5.0)
    run = armsim.simulate("arm5_hold")
    assert later.about.q == run.q[-1].tolist()
    assert (later.place, later.about.t, later.is_equilibrium) == ("t = 5 s", 5.0, True)


def test_the_target_is_taken_at_rest_under_the_command_that_it_gets():
    lin = armsim.linearize("arm5_hold", target=True)
    assert (lin.about.q, lin.about.qd, lin.about.u) == ([0, -1.1, 0.3, 0, 0], [0.0] * 5, [0.0] * 5)
    assert lin.place == "the target"


def test_a_scenario_may_be_a_file_overridden_or_read_already(tmp_path):
    lin = armsim.linearize("arm5_hold", overrides={"control.kp[0]": 80, "robot.joints[R1].motor.Ra": 2})
    assert (lin.closed_loop.A - lin.A)[5, 0] / lin.B[5, 0] == pytest.approx(-80.0)
    scenario = read_scenario("arm5_hold")
    assert np.array_equal(armsim.linearize(scenario).A, armsim.linearize("arm5_hold").A)
    with pytest.raises(UsageError, match="overrides go with a scenario's path or name"):
        armsim.linearize(scenario, overrides={"control.kp[0]": 80})


@pytest.mark.parametrize(
    "asked", [{"at": 7.0}, {"at": -1.0}, {"at": math.nan}, {"at": 1.5e-4}, {"target": True, "at": 1.0}], ids=str
)
def test_a_state_that_there_is_not_is_refused(asked, told):
    with pytest.raises(UsageError) as caught:
        armsim.linearize("arm5_hold", **asked)
    told(caught.value)


@pytest.mark.parametrize("scenario", ["arm5_hold", "arm5_hold_pi"])
@pytest.mark.parametrize("at", [0.0007, 0.3337])
@pytest.mark.slow
def test_an_adaptive_method_is_linearised_between_its_landings_too(scenario, at):
    free = {"integrator": {"method": "rk54", "rtol": 1e-10}, "log.every": 0.1, "duration": 1}
    lin = armsim.linearize(scenario, at=at, overrides=free)
    assert (lin.about.t, lin.place) == (at, f"t = {at:g} s")
    rows = armsim.simulate(scenario, {**free, "integrator.dt": 1e-4, "log.every": 1e-4})
    k = round(at / 1e-4)
    assert lin.about.q == pytest.approx(rows.q[k].tolist(), abs=1e-8)
    assert lin.about.qd == pytest.approx(rows.qd[k].tolist(), abs=1e-6)
    voltages = [float(rows[f"voltage_R{i}_V"][k]) for i in range(1, 6)]
    assert lin.about.u == pytest.approx(voltages, abs=1e-5)  # of a sampled controller, those of the sample before


def test_an_arm_that_is_gone_before_an_odd_time_is_told():
    runaway = {**HANG, "integrator": {"method": "rk54"}, "inputs": {"torque": [1e12, 0]}, "log": {"every": 1}}
    with pytest.raises(
        Diverged, match=r"found:    0.7 s; it diverges before\n  mend:     take a smaller integrator.rtol"
    ):
        armsim.linearize(runaway, at=0.7)


def test_a_scenario_without_feedback_has_no_target():
    with pytest.raises(UsageError, match="expected: a scenario with `control`"):
        armsim.linearize("two_link_swing", target=True)
    assert armsim.linearize("two_link_swing").closed_loop is None


def test_a_simulation_that_would_blow_up_is_refused_or_told_once_it_has():
    too_long = {"integrator.dt": 1e-3}
    with pytest.raises(UsageError, match=r"found:    0.001 s\n.*\n.*force_step=True"):
        armsim.linearize("arm5_hold", at=1.0, overrides=too_long)
    with pytest.raises(Diverged, match=r"found:    1 s; it diverges before\n  mend:     take a smaller"):
        armsim.linearize("arm5_hold", at=1.0, overrides=too_long, force_step=True)


def test_a_part_of_a_scenario_leaves_no_advice_for_the_whole():
    # a little too long a step does little in one step
    too_long = {"integrator.dt": 6e-4, "duration": 6, "log.every": 6e-3}
    assert armsim.linearize("arm5_hold", at=6e-4, overrides=too_long).about.t == 6e-4
    with pytest.raises(UsageError, match="force_step=True"):
        armsim.simulate("arm5_hold", too_long)


def test_shapes_and_names_go_together():
    lin = armsim.linearize("arm5_hold")
    assert [x.shape for x in lin.abcd] == [(10, 10), (10, 5), (13, 10), (13, 5)]
    assert (len(lin.states), len(lin.inputs), len(lin.outputs)) == (10, 5, 13)
    assert lin.inputs[0] == "voltage_R1"
    assert armsim.linearize("two_link_hold").inputs == ("torque_shoulder", "torque_elbow")
    assert lin.mass_matrix.shape == (5, 5)


def test_continuous_feedback_closes_the_loop_as_the_simulation_does():
    lin = armsim.linearize("two_link_hold", at=0.5)
    plant, about = lin.about.plant, lin.about
    state = armsim.simulate("two_link_hold", overrides={"duration": 0.5}).state[: len(plant.slots)]
    n = 2

    def rates(x):
        _, qdd, _ = plant.motion(about.t, x)
        return [
            *x[n : 2 * n],
            *qdd,
            *leaves(plant.command.rates(about.t, Seen(x[:n], x[n : 2 * n]), plant.parts(x).control)),
        ]

    assert lin.closed_loop.states[-1] == "integral_elbow"
    assert lin.closed_loop.dt is None
    # quotients of rates of about 100
    assert np.allclose(lin.closed_loop.A, slopes(state, rates), rtol=0, atol=1e-6)


def test_sampled_feedback_closes_the_loop_from_sample_to_sample():
    # about rest, where the linear equations do not age; Runge-Kutta with ten steps a sample is exact to 1e-9
    overrides = {"integrator": {"method": "rk4", "dt": 1e-3}, "control.period": 1e-2, "external": []}
    lin = armsim.linearize("two_link_hold", target=True, overrides=overrides)
    plant, rest, n = lin.about.plant, lin.at_rest, 2
    integrals = (np.array(rest.about.u) / plant.command.law.ki).tolist()  # that hold it there
    still = [*rest.about.q, 0.0, 0.0, *integrals]

    def period(x):
        state = plant.sample(0.0, [*x, 0.0, 0.0])
        for k in range(10):
            state = plant.step(k * 1e-3, state, 1e-3)
        return state[: 3 * n]

    assert period(still) == pytest.approx(still, abs=1e-12)
    about = replace(rest.about, plant=plant, law=lin.about.law)
    closed = replace(rest, about=about).closed_loop
    assert closed.dt == lin.period == 1e-2
    assert closed.states[-1] == "integral_elbow"
    assert np.allclose(closed.A, slopes(still, period), rtol=0, atol=1e-8)
    assert lin.closed_loop.dt == 1e-2


def test_the_scenarios_period_samples_it_unless_another_is_given():
    lin = armsim.linearize("arm5_hold_pi")
    assert lin.sampled().dt == 1e-3
    assert lin.sampled(0.01).dt == 0.01
    with pytest.raises(UsageError, match="expected: a time between samples"):
        armsim.linearize("arm5_hold").sampled()


def test_at_rest_commands_hold_the_pose():
    for name in ("arm5_hold_pi", "two_link_hold", "puma560_fall"):
        rest = armsim.linearize(name).at_rest
        assert rest.is_equilibrium
        assert rest.held == []
        assert max(map(abs, rest.about.qdd)) < 1e-10
    brushes = {"robot.joints[R2].motor": {"Kp": 10, "Ra": 1, "inductance": 1e-3, "brush_drop": {"max": 1, "half": 2}}}
    rest = armsim.linearize("arm5_hold_pi", overrides=brushes).at_rest
    assert max(map(abs, rest.about.qdd)) < 1e-10
    assert rest.about.currents == pytest.approx([rest.about.Fi[1][0] ** -1 * _weight(rest)], rel=1e-12)


def _weight(rest) -> float:
    from armsim.dynamics import gravity_torque

    return gravity_torque(rest.about.plant.arm, rest.about.q)[1]


def test_a_pose_is_unstable_if_constant_commands_do_not_keep_it():
    assert armsim.linearize("rr_config3").unstable_pose  # upright
    hanging = armsim.linearize({**HANG, "initial": {"q": [-math.pi / 2, 0.0]}})
    assert not hanging.unstable_pose
    assert not armsim.linearize("puma560_hold").unstable_pose  # friction holds it


def test_a_small_motion_follows_the_linear_equations():
    lin = armsim.linearize(HANG).at_rest
    x0 = np.array([2e-6, -1e-6, 3e-6, 1e-6])
    moved = {**HANG, "initial": {"q": (lin.about.q + x0[:2]).tolist(), "qd": x0[2:].tolist()}}
    run = armsim.simulate({**moved, "inputs": {"torque": lin.about.u}})
    found = np.hstack([run.q - lin.about.q, run.qd])
    step, expected = lin.sampled(1e-3).A, [x0]
    for _ in range(1000):
        expected.append(step @ expected[-1])
    assert np.abs(found - expected).max() < 1e-10  # second order in 1e-5 rad


@pytest.mark.parametrize("period", [None, 0.01])
@pytest.mark.slow
def test_gains_for_every_joint_hold_the_arm_where_it_is_in_a_simulation(period):
    lin = armsim.linearize("arm5_hold", at=5.0)
    regulator = lin.at_rest.lqr(q=100, r=1, period=period)
    assert regulator.closed().stable
    assert regulator.closed_by_joints.stable
    assert 0 < regulator.extra_cost < 0.01  # the joints of a slow arm hardly feel each other
    assert regulator.control.get("period") == period
    run = armsim.simulate(
        "arm5_hold", overrides={"control": regulator.control, "duration": 10, "initial.q": lin.about.q}
    )
    assert np.abs(run.q - lin.about.q).max() < 1e-6  # it stays; targets are given to 1e-9


def test_gains_in_a_file_of_degrees_have_their_target_in_degrees():
    lin = armsim.linearize("two_link_hold")
    control = lin.at_rest.lqr(q=100, r=0.01, qd=1).control
    assert control["limit"] == (80, 30)
    u, kp = np.array(lin.at_rest.about.u), np.array(control["kp"])
    assert control["target"] == pytest.approx(np.degrees(np.array([math.radians(-70), math.radians(60)]) + u / kp))
    settled = armsim.simulate(
        "two_link_hold", overrides={"control": {**control, "limit": [200, 200]}, "external": [], "duration": 20}
    )
    assert np.degrees(settled.q[-1]) == pytest.approx([-70, 60], abs=1e-5)


def test_the_gains_of_a_joint_alone_are_its_closed_form():
    # q = r = 1 on a joint of inertia M without damping or weight: kp = 1, kd = sqrt(2 M)
    upright = {**HANG, "initial": {"q": [0.4, 0.3]}}
    lin = armsim.linearize(upright, overrides={"robot.gravity": [0, 0, 0]})
    rest = lin.at_rest
    regulator = rest.lqr(q=1, r=1)
    M = np.diag(lin.mass_matrix)
    assert regulator.joints == pytest.approx(np.column_stack([[1, 1], np.sqrt(2 * M)]), rel=1e-5)
    K = regulator.K
    assert np.linalg.eigvals(rest.A - rest.B @ K).real.max() < 0
    assert np.array_equal(regulator.closed().A, rest.A - rest.B @ K)


def driven(*motors: dict, **scenario) -> dict:
    """An arm in a vertical plane with a motor on every joint, at rest."""
    return {
        "format": "armsim/scenario/1",
        "robot": planar(*motors, names="J", first=0),
        "duration": 1,
        "integrator": {"method": "rk4", "dt": 1e-4},
        "inputs": {"voltage": [0] * len(motors)},
        **scenario,
    }


MOTORS = (
    {"Kp": 0.05, "Ke": 0.06, "Ra": 0.8, "gear": 30, "rotor_inertia": 2e-5},
    {"Kp": 0.03, "Ra": 1.7, "gear": -50, "viscous": 3e-5},
    {"Kp": 0.02, "Ra": 0.5, "gear": 15},
)
COILS = tuple({**motor, "inductance": L} for motor, L in zip(MOTORS, (2e-3, 5e-3, 1e-3)))


@pytest.mark.parametrize("period", [None, 0.01])
@pytest.mark.parametrize(
    "coils", [COILS, (MOTORS[0], *COILS[1:]), (*COILS[:2], MOTORS[2])], ids=["all", "not the first", "not the last"]
)
def test_the_gains_of_a_joint_alone_are_those_of_its_motor_without_the_coil(coils, period):
    # its current is taken to follow its voltage at once, with the back-EMF that damps the joint
    plain, coil = (
        armsim.linearize(driven(*m)).at_rest.lqr(q=[400, 100, 50], r=1, qd=2, period=period) for m in (MOTORS, coils)
    )
    assert coil.joints == pytest.approx(plain.joints, rel=1e-5)  # both are rounded to six digits
    assert coil.control["target"] == pytest.approx(plain.control["target"], rel=1e-5)
    assert coil.closed_by_joints.stable


@pytest.mark.parametrize("gear", [30.0, -30.0])
@pytest.mark.parametrize("L", [0.0, 2e-3])
@pytest.mark.handful(2)
def test_back_emf_is_part_of_the_damping_that_a_joints_own_regulator_counts_on(L, gear):
    # x = (q, qd) with M qdd = g u - d qd: q kp² r = q² and the rest of the Riccati equation in closed form
    motor = {"Kp": 0.05, "Ke": 0.06, "Ra": 0.8, "gear": gear, "inductance": L}
    lin = armsim.linearize(driven(motor), overrides={"robot.gravity": [0, 0, 0]})
    M, g, d = lin.mass_matrix[0, 0], gear * 0.05 / 0.8, gear**2 * 0.05 * 0.06 / 0.8
    q, qd, r = 400.0, 2.0, 0.7
    kp = math.copysign(math.sqrt(q / r), gear)
    kd = (math.sqrt(d * d + g * g * (qd / r + 2 * M * kp / g)) - d) / g
    assert lin.at_rest.lqr(q=q, r=r, qd=qd).joints[0] == pytest.approx([kp, kd], rel=1e-5)


@pytest.mark.parametrize("period", [None, 0.01, 0.2])
@pytest.mark.parametrize("motor", MOTORS[:2], ids=["ahead", "reversed"])
@pytest.mark.handful(3)
def test_the_joints_gains_of_an_arm_of_one_joint_are_its_matrix(motor, period):
    regulator = armsim.linearize(driven(motor)).at_rest.lqr(q=40, r=1, qd=2, period=period)
    assert regulator.joints == pytest.approx(regulator.K, rel=1e-5)  # the joints' are rounded to six digits
    assert abs(regulator.extra_cost) < 1e-9  # the square of that


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("motor", [{}, {"inductance": 2e-3}, {"efficiency": 0.8, "coulomb": 0.01}], ids=str)
@pytest.mark.handful(3)
def test_a_pose_inside_a_stop_is_held_against_the_stop_as_well(motor, side):
    depth, k, weight = 0.02, 500.0, 1.5 * 9.81 * 0.2
    scenario = driven({**MOTORS[0], **motor}, initial={"q": [side * (0.3 + depth)]})
    scenario["robot"]["joints"][0]["limits"] = {"lower": -0.3, "upper": 0.3, "stiffness": k, "damping": 7}
    rest = armsim.linearize(scenario).at_rest
    tau = weight * math.cos(0.3 + depth) + side * k * depth  # gravity pulls down, the stop back
    assert rest.about.u == pytest.approx([tau * 0.8 / (30 * 0.05)], rel=1e-12)
    assert rest.is_equilibrium
    M = rest.mass_matrix[0, 0]
    gravity = -side * weight * math.sin(0.3 + depth)  # slope of what gravity takes
    assert (M * rest.A[1, 0]) == pytest.approx(-k - gravity, rel=1e-12)
    emf = 0.0 if motor.get("inductance") else 30**2 * 0.05 * 0.06 / 0.8
    assert (M * rest.A[1, 1]) == pytest.approx(-7 - emf, rel=1e-12)
    # and so it stays there
    held = {**scenario, "inputs": {"voltage": rest.about.u}, "duration": 0.2}
    if not motor.get("inductance"):  # whose current begins at zero
        assert np.abs(armsim.simulate(held).q - scenario["initial"]["q"]).max() < 1e-9


def test_a_pose_is_held_against_what_pushes_from_outside():
    push = [{"link": "J0", "point": [0.4, 0, 0], "force": [0, 7, 0], "moment": [0, 0, 1]}]
    rest = armsim.linearize(driven(MOTORS[0], external=push)).at_rest
    assert rest.about.u == pytest.approx([(1.5 * 9.81 * 0.2 - 7 * 0.4 - 1) * 0.8 / (30 * 0.05)], rel=1e-12)
    assert rest.is_equilibrium


@pytest.mark.parametrize("limits", [{"current": 1.0}, {"torque": 0.05}, {"voltage": 0.8}], ids=lambda x: next(iter(x)))
@pytest.mark.parametrize("L", [0.0, 2e-3])
@pytest.mark.handful(3)
def test_a_coil_holds_no_more_than_its_motors_limits(limits, L):
    # 2.943 N·m take 1.962 A, 0.0981 N·m at the shaft and 1.57 V
    lin = armsim.linearize(driven({**MOTORS[0], "inductance": L, "limits": limits}))
    with pytest.raises(UsageError, match=r"J0, for which it takes 1\.57 V: its motor would need"):
        _ = lin.at_rest


@pytest.mark.parametrize(
    "weights",
    [{"q": 1, "r": 0}, {"q": 0, "r": 1}, {"q": 1, "r": 1, "qd": -1}, {"q": [1, 2], "r": 1}, {"q": math.inf, "r": 1}],
    ids=str,
)
def test_weights_that_make_no_sense_are_refused(weights, told):
    with pytest.raises(UsageError) as caught:
        armsim.linearize("arm5_hold").lqr(**weights)
    told(caught.value)


def test_an_arm_that_nothing_drives_is_held_by_torques_without_limit():
    from armsim.dynamics import gravity_torque

    lin = armsim.linearize("two_link_swing")
    rest = lin.at_rest
    assert rest.is_equilibrium
    assert rest.inputs == lin.inputs == ("torque_shoulder", "torque_elbow")
    assert rest.about.u == pytest.approx(gravity_torque(lin.about.plant.arm, lin.about.q), rel=1e-12)
    regulator = rest.lqr(q=1e4, r=1e-2)
    assert regulator.closed_by_joints.stable
    assert regulator.control["output"] == "torque"
    run = armsim.simulate("two_link_swing", {"control": regulator.control, "duration": 2})
    assert np.abs(run.q - lin.about.q).max() < 1e-8  # targets are given to 1e-9 deg


LIFT = {
    "format": "armsim/robot/1",
    "name": "lift",
    "gravity": [0, 0, -9.81],
    "joints": [
        {
            "name": "Z1",
            "type": "prismatic",
            "mdh": {},
            "bodies": [{"point": {"mass": 2, "center": [0, 0, 0]}}],
            "motor": {"gear": 10, "limits": {"torque": 1}},
        }
    ],
}


@pytest.mark.parametrize(
    ("limits", "law"), [({"voltage": 0.5}, "pd"), ({"current": 0.5}, "pd"), ({"torque": 5}, "none")], ids=str
)
def test_a_pose_that_commands_within_their_limits_do_not_hold_is_told_with_the_limit(limits, law, told):
    lin = armsim.linearize("arm5_hold", overrides={"robot.joints[R2].motor.limits": limits, "control.law": law})
    with pytest.raises(UsageError) as caught:
        _ = lin.at_rest
    told(caught.value)
    assert not lin.unstable_pose


def test_what_a_prismatic_joint_takes_is_told_in_newtons(told):
    lift = {**HANG, "robot": LIFT, "initial": {"q": [0]}, "inputs": {"torque": [0]}}
    with pytest.raises(UsageError) as caught:
        _ = armsim.linearize(lift).at_rest
    told(caught.value)


def test_the_target_of_a_reference_that_moves_is_where_and_when_it_ends():
    # there the pd law of arm5_move meets no error, so that only what carries gravity is commanded; limits would not act
    lin = armsim.linearize("arm5_move", target=True, overrides={"control.limit": 2})
    still = armsim.linearize(
        "arm5_move",
        target=True,
        overrides={"control.reference": None, "control.target": [0.8, -0.6, 0.5, 0.4, -0.4], "control.limit": 2},
    )
    assert np.allclose(lin.about.u, still.about.u, rtol=0, atol=1e-12)
    assert np.allclose(lin.closed_loop.A, still.closed_loop.A, rtol=1e-12, atol=1e-9)


HELD = {  # laws that hold the arm at its target, gravity and all
    "computed_torque": {"law": "computed_torque", "kp": 9, "kd": 6},
    "pid": {"law": "pid", "kp": 60, "ki": 30, "kd": 8},
    "filtered pid": {"law": "pid", "kp": 60, "ki": 30, "kd": 8, "derivative_filter": 5e-3},
    "state_feedback": {"law": "state_feedback", "K": [[60, 5, 8, 1], [5, 20, 1, 3]], "feedforward": "gravity"},
    "expression": {"law": "expression", "command": ["60*e + 8*ed + 30*integral"] * 2},
}


@pytest.mark.parametrize("output", ["torque", "voltage"])
@pytest.mark.parametrize(
    "sampled",
    [{}, {"period": 1e-3}, {"period": 1e-3, "delay": 3e-3}, {"period": 1e-3, "delay": 1e-3, "encoder": {"counts": 50}}],
    ids=str,
)
@pytest.mark.parametrize("law", HELD)
@pytest.mark.handful(4)
def test_at_the_target_a_controller_remembers_what_holds_the_arm_there(law, sampled, output):
    target = [0.4, -0.7]
    control = {**HELD[law], **sampled, "output": output, "target": target}
    given = driven(*COILS[:2], control=control, inputs=None, initial={"q": [0.0, 0.3]})
    if law == "state_feedback" and output == "voltage":
        control["K"] = [[*row, 0.1, 0.0] for row in control["K"]]
    lin = armsim.linearize(given, target=True)
    assert np.abs(lin.about.qdd).max() < 1e-9  # it does not fall
    assert lin.is_equilibrium
    assert lin.about.u == pytest.approx(lin.at_rest.about.u, rel=1e-9)
    assert pytest.approx(lin.at_rest.A, rel=1e-9, abs=1e-9) == lin.A
    assert pytest.approx(lin.at_rest.B, rel=1e-9, abs=1e-9) == lin.B


def test_a_delay_leaves_the_equations_of_the_arm_as_they_are():
    late = {"control.delay": 1e-3}
    found = armsim.linearize("arm5_computed_torque", target=True, overrides=late)
    expected = armsim.linearize("arm5_computed_torque", target=True)
    assert found.abcd[0] == pytest.approx(expected.A, rel=1e-12, abs=1e-12)
    assert found.closed_loop.stable
    run = armsim.simulate("arm5_computed_torque", {**late, "duration": 12})
    assert run.summary()["advice"] == []


def test_smoothed_friction_is_damping_where_joints_rest():
    """A joint that friction holds is welded; smoothed, it has the friction over `creep` as damping, and all loads move it."""
    friction = {"robot.joints[1].friction": {"coulomb": 9.0, "viscous": 0.1}}
    welded, smooth = (armsim.linearize(HANG, overrides=friction, creep=creep) for creep in (None, 0.05))
    assert welded.about.held == (False, True)
    assert smooth.about.held == (False, False)
    assert smooth.about.Fv[1][1] == pytest.approx(-0.1 - 9.0 / 0.05, rel=1e-14)
    assert smooth.about.M == welded.about.M
    rates = np.linalg.inv(np.array(smooth.about.M)) @ np.array(smooth.about.Fv)
    assert pytest.approx(rates, rel=1e-12) == smooth.A[2:, 2:]
