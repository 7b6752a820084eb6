"""Linear equations of plants about a state, against other engines, closed forms and difference quotients."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from armsim.control import Controller, OpenLoop, Seen
from armsim.dynamics import crba
from armsim.errors import UsageError
from armsim.expr import leaves
from armsim.model import Arm, BrushDrop, Coulomb, Joint, Motor, MotorLimits
from armsim.plant import Linearizer, Plant, linearize
from armsim.spatial import Inertia, Pose, Symmetric, Vector, rotation_x
from armsim.stability.closed_loop import gains, with_feedback
from tests.controllers import feedback


def constant(output: str, values) -> OpenLoop:
    return OpenLoop(output, tuple(lambda t, u=u: u for u in values))


def slopes(function, x, h=1e-4):
    """Derivatives of a function of a vector by a difference quotient of order 4, by rows."""
    columns = []
    for k in range(len(x)):
        a, b, c, d = (np.array(function([v + step * h * (i == k) for i, v in enumerate(x)])) for step in (-2, -1, 1, 2))
        columns.append((a - 8 * b + 8 * c - d) / (12 * h))
    return np.array(columns).T


def close(found, expected, scale) -> bool:
    """To 1e-9 of the size of what was differentiated: rounding, 1e-16 / h, and h**4."""
    found, expected = np.array(found), np.array(expected)
    return bool((np.abs(found - expected) <= 1e-9 * max(scale, np.abs(expected).max(initial=0.0))).all())


def closed_loop(lin) -> np.ndarray:
    """Rates of the states and of the controller's integrals under continuous feedback."""
    return with_feedback(np.array(lin.A), np.array(lin.B), gains(lin.law, len(lin.u), len(lin.A)))


@pytest.mark.parametrize("name", ["fd_derivatives", "fd_derivatives_prprr", "fd_derivatives_rspsr"])
@pytest.mark.handful(1)
def test_accelerations_have_the_derivatives_that_pinocchio_finds(name, reference, arms):
    points = reference(name)
    arm = arms.of_reference(points.about)
    matrices = {kind: [] for kind in ("dq", "dqd", "dtau")}
    q, qd, tau = (points.block(kind).tolist() for kind in ("q", "qd", "tau"))
    for q_k, qd_k, tau_k in zip(q, qd, tau, strict=True):
        lin = linearize(Plant(arm, constant("torque", tau_k)), 0.0, [*q_k, *qd_k])
        A, B = np.array(lin.A), np.array(lin.B)
        assert A[:5].tolist() == [[float(j == i + 5) for j in range(10)] for i in range(5)]
        assert not B[:5].any()
        for kind, block in (("dq", A[5:, :5]), ("dqd", A[5:, 5:]), ("dtau", B[5:])):
            matrices[kind].append(block)
    for kind, found in matrices.items():
        expected = np.array([[points.columns[f"{kind}{i}{j}"] for j in "12345"] for i in "12345"]).transpose(2, 0, 1)
        # both sum some hundred terms and solve with a mass matrix of condition 1e3: relative to the largest of the point
        size = np.abs(expected).max(axis=(1, 2), keepdims=True)
        assert (np.abs(np.array(found) - expected) <= 1e-11 * size).all(), kind


def test_the_damping_of_arm5_has_the_eigenvalues_that_its_reference_tells(arms):
    # shared/reference: 196, 214, 748, 2857, 3449 1/s
    arm = arms.shipped("arm5")
    lin = linearize(Plant(arm, constant("voltage", [0.0] * 5)), 0.0, [*arm.initial, *[0.0] * 5])
    found = np.sort(np.linalg.eigvals(np.linalg.solve(lin.M, -np.array(lin.Fv))))
    assert np.round(found).tolist() == [196, 214, 748, 2857, 3449]
    lower = crba(arm, arm.initial)
    assert np.allclose(lin.M, np.transpose(lin.M), rtol=0, atol=1e-15)
    for i, row in enumerate(lower):
        assert lin.M[i][: i + 1] == pytest.approx(row, rel=1e-13, abs=1e-15)


@pytest.mark.handful(1)
def test_every_plant_has_the_derivatives_that_difference_quotients_tell(plant):
    plant, q, qd, _ = plant
    n, t = plant.arm.n, 0.013
    rng = random.Random(n)
    state = [*q, *qd, *(rng.uniform(-0.1, 0.1) for _ in plant.slots[2 * n :])]
    if plant.sampled:
        state = plant.sample(t, state)
    lin = linearize(plant, t, state)

    def open_loop(x):
        command = plant.command and constant(plant.command.output, x[2 * n :])
        return replace(plant, command=command).motion(t, x[: 2 * n])[1]

    A, B = np.array(lin.A), np.array(lin.B)
    scale = np.abs(lin.qdd).max()
    expected = slopes(open_loop, [*q, *qd, *lin.u])
    assert close(A[n:], expected[:, : 2 * n], scale)
    if plant.command is not None:
        assert close(B[n:], expected[:, 2 * n :], scale)
    if isinstance(plant.command, Controller) and not plant.sampled:

        def closed(x):
            rates = plant.command.rates(t, Seen(x[:n], x[n : 2 * n]), plant.parts(x).control)
            return [*plant.motion(t, x)[1], *leaves(rates)]

        assert close(closed_loop(lin)[n:], slopes(closed, state), scale)
    tool = np.array(lin.C)[2 * n :, :n]
    place = [i for i, column in enumerate(plant.layout.columns) if column.of in ("x", "y", "z")]
    assert close(tool, slopes(lambda x: np.array(plant.observe(t, [*x, *state[n:]]))[place], q), 1.0)


def test_the_equations_of_a_large_arm_have_the_derivatives_that_difference_quotients_tell(arms):
    arm = arms.serial("RRPRS" * 3 + "RR")
    plant = Plant(arm, constant("torque", [0.1] * 17))
    rng = random.Random(3)
    state = [rng.uniform(-1.0, 1.0) for _ in plant.slots]
    lin = linearize(plant, 0.0, state)
    lower = crba(arm, state[:17])
    for i, row in enumerate(lower):
        assert lin.M[i][: i + 1] == pytest.approx(row, rel=1e-12, abs=1e-12 * row[i])

    def along(h):
        return np.array(plant.motion(0.0, [x + h * math.sin(i) for i, x in enumerate(state)])[1])

    a, b, c, d = (along(step * 1e-4) for step in (-2, -1, 1, 2))
    expected = (a - 8 * b + 8 * c - d) / 12e-4
    assert close(np.array(lin.A)[17:] @ np.sin(np.arange(34)), expected, np.abs(lin.qdd).max())


def test_a_whole_motor_has_the_derivatives_that_difference_quotients_tell(arms):
    # brushes, an amplifier at its limit of voltage on one joint and of current on another, gear losses, inductance
    arm = arms.serial("RRP", seed=5, motors=True)
    kinds = [
        {"brush_drop": BrushDrop(1.0, 2.0), "efficiency": 0.8, "coulomb": Coulomb(0.01, 0.02)},
        {"limits": MotorLimits(voltage=6.0), "efficiency": 0.7},
        {"inductance": 1e-3, "limits": MotorLimits(current=0.5)},
    ]
    joints = [replace(j, motor=replace(j.motor, **kind)) for j, kind in zip(arm.joints, kinds, strict=True)]
    arm = replace(arm, links=tuple(joints))
    q, qd = [0.3, -0.4, 0.1], [0.2, -0.1, 0.05]
    for current in (0.2, 0.9):
        u = [5.0, 9.0, 4.0]
        plant = Plant(arm, constant("voltage", u), method="rk4")
        lin = linearize(plant, 0.0, [*q, *qd, current])

        def rates(x):
            driven = Plant(arm, constant("voltage", x[7:]), method="rk4")
            state = driven.parts(x[:7])

            y, held = driven.motion_of(state), driven.held(0.0, state)
            currents = driven.loads.current_rates(y, held, driven.loads.torques(0.0, y, held))
            return [*driven.motion(0.0, x[:7])[1], *currents]

        expected = slopes(rates, [*q, *qd, current, *u])
        scale = np.abs(rates([*q, *qd, current, *u])).max()
        assert close(np.array(lin.A)[3:], expected[:, :7], scale)
        assert close(np.array(lin.B)[3:], expected[:, 7:], scale)
        assert not np.array(lin.B)[:, 1].any()  # what is at its limit does not follow its command
        assert lin.states[-1] == "current_P3"


def test_a_motor_with_inductance_has_its_textbook_matrices():
    J, b, Kp, Ke, R, L, gear = 0.02, 0.3, 0.05, 0.06, 1.2, 2e-3, 30.0
    motor = Motor(Kp=Kp, Ke=Ke, Ra=R, gear=gear, inductance=L)
    joint = Joint("R1", "revolute", inertia=Inertia(J=Symmetric(zz=J)), viscous=b, motor=motor)
    plant = Plant(Arm("wheel", Vector(0.0, 0.0, 0.0), Pose(), (joint,)), constant("voltage", [1.0]))
    lin = linearize(plant, 0.0, [0.4, 2.0, 0.1])
    expected = [[0, 1, 0], [0, -b / J, gear * Kp / J], [0, -Ke * gear / L, -R / L]]
    assert np.array(lin.A) == pytest.approx(np.array(expected), rel=1e-15)
    assert np.array(lin.B) == pytest.approx(np.array([[0], [0], [1 / L]]), rel=1e-15)
    assert (lin.states, lin.inputs) == (["q_R1", "qd_R1", "current_R1"], ["voltage_R1"])
    assert lin.outputs == ["q_R1", "qd_R1", "x", "y", "z"]
    assert np.array(lin.D).shape == (5, 1)


def pendulum(**joint) -> Arm:
    inertia = Inertia.about_com(3.0, Vector(0.4, 0.0, 0.0), Symmetric(0.1, 0.2, 0.15))
    made = Joint("R1", "revolute", rotation_x(math.pi / 2), inertia=inertia, **joint)
    return Arm("pendulum", Vector(0.0, 0.0, -9.81), Pose(), (made,))


@pytest.mark.parametrize(("angle", "sign"), [(-math.pi / 2, -1.0), (math.pi / 2, 1.0)])
def test_a_pendulum_oscillates_below_its_pivot_and_falls_above_it(angle, sign):
    lin = linearize(Plant(pendulum(), None), 0.0, [angle, 0.0])
    m, c, J = 3.0, 0.4, 0.15 + 3.0 * 0.16
    assert lin.A[1] == pytest.approx([sign * m * 9.81 * c / J, 0.0], rel=1e-15)
    assert lin.B[1] == pytest.approx([1 / J], rel=1e-15)
    assert lin.inputs == ["torque_R1"]  # from outside, where nothing drives the arm


def test_a_pid_loop_has_its_characteristic_polynomial():
    kp, ki, kd, J = 40.0, 90.0, 5.0, 0.15 + 3.0 * 0.16
    law = feedback("pid", "torque", (kp,), (ki,), (kd,), (-math.pi / 2,), (None,), (None,))
    lin = linearize(Plant(pendulum(), law), 0.0, [-math.pi / 2, 0.0, 0.0])
    stiffness = kp + 3.0 * 9.81 * 0.4
    assert np.poly(closed_loop(lin)) == pytest.approx([1.0, kd / J, stiffness / J, ki / J], rel=1e-13)
    assert lin.remembered == ["integral_R1"]
    saturated = feedback("pid", "torque", (kp,), (ki,), (kd,), (0.0,), (10.0,), (None,))
    lin = linearize(Plant(pendulum(), saturated), 0.0, [-math.pi / 2, 0.0, 0.0])
    assert closed_loop(lin)[1].tolist() == [lin.A[1][0], 0.0, 0.0]  # at its limit a command does not move


def test_a_joint_that_friction_holds_is_welded_and_the_others_move_as_if_it_were(arms):
    arm = arms.serial("RRR", seed=7)
    stiff = [replace(joint, coulomb=Coulomb(c, c)) for joint, c in zip(arm.joints, (0.01, 500.0, 0.02), strict=True)]
    rubbing = replace(arm, links=tuple(stiff))
    welded = replace(arm, links=(arm.joints[0], replace(arm.joints[1], motor=Motor(rotor_inertia=1e12)), arm.joints[2]))
    u, q, qd = [3.0, 1.0, -2.0], [0.3, -0.4, 0.5], [0.7, 0.0, -0.6]
    found = linearize(Plant(rubbing, constant("torque", u)), 0.0, [*q, *qd])
    dry = [0.01 * -1.0, 0.0, 0.02]
    expected = linearize(Plant(welded, constant("torque", [a + b for a, b in zip(u, dry)])), 0.0, [*q, *qd])
    assert found.held == (False, True, False)
    A, B = np.array(found.A), np.array(found.B)
    assert not A[[1, 4]].any()
    assert not A[:, 4].any()
    assert not B[[1, 4]].any()
    assert not B[:, 1].any()
    rest = [0, 2, 3, 5]
    # a rotor of 1e12 kg m² gives way by 1e-12
    assert A[np.ix_(rest, rest)] == pytest.approx(np.array(expected.A)[np.ix_(rest, rest)], rel=1e-10)
    assert A[3:, 1] == pytest.approx([*np.array(expected.A)[3:5, 1] * [1, 0], expected.A[5][1]], rel=1e-10)
    assert B[[3, 5]] == pytest.approx(np.array(expected.B)[[3, 5]], rel=1e-9, abs=1e-11)


def test_sliding_joints_slide_on_in_the_direction_in_which_they_move_or_are_about_to(arms):
    loss = Motor(efficiency=0.5)
    arm = pendulum(coulomb=Coulomb(1.0, 2.0), motor=loss)
    J = 0.15 + 3.0 * 0.16
    for qd, tau, gain in ((1.0, 30.0, 0.5), (-1.0, 30.0, 1.5), (0.0, 30.0, 0.5), (0.0, 0.0, 1.0), (0.0, 11.0, 0.0)):
        lin = linearize(Plant(arm, constant("torque", [tau])), 0.0, [0.0, qd])  # weight: -11.8 N·m
        assert lin.held == (gain == 0.0,)
        assert lin.B[1] == pytest.approx([gain / J], rel=1e-14)


def test_what_a_stop_adds_counts_only_where_it_is_met(arms):
    arm = arms.shipped("arm5")
    at = Linearizer(Plant(arm, constant("voltage", [0.0] * 5))).at
    free, met = (at(0.0, [0.0, q, 0.3, 0.0, 0.0, *[0.0] * 5]) for q in (-1.19, -1.21))
    assert met.Fq[1][1] - free.Fq[1][1] == pytest.approx(-1000.0, rel=2e-3)  # gravity differs a little
    assert met.Fv[1][1] - free.Fv[1][1] == pytest.approx(-10.0, rel=1e-12)


def test_a_sampled_command_is_held_and_its_law_is_told_apart(arms):
    arm = arms.shipped("arm5")
    law = feedback(
        "pi", "voltage", (60.0,) * 5, (30.0,) * 5, (0.0,) * 5, arm.initial, (None,) * 5, (None,) * 5, period=1e-3
    )
    plant = Plant(arm, law)
    state = plant.sample(0.0, [0.1, -1.0, 0.2, 0.1, 0.1, *[0.0] * 15])
    lin = linearize(plant, 0.0, state)
    assert lin.u == state[15:]
    assert np.array_equal(lin.law.K, np.hstack([-60.0 * np.eye(5), np.zeros((5, 5))]))
    assert np.array_equal(lin.law.Kz, 30.0 * np.eye(5))
    assert np.array_equal(lin.law.Z, np.hstack([-1e-3 * np.eye(5), np.zeros((5, 5))]))
    assert np.array_equal(lin.law.Zz, np.eye(5))


def test_motors_that_are_rules_about_steps_are_refused(arms):
    from armsim.plant.dynamechs import DynaMechsPlant

    plant = DynaMechsPlant(arms.shipped("arm5"), constant("voltage", [0.0] * 5), (), "explicit_euler")
    with pytest.raises(UsageError, match=r"found:    dynamechs.*\n  mend:     leave out"):
        Linearizer(plant)
