"""Arms that swing: the thesis's two checks of a simulation, against closed forms and the linearised motion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipk

from armsim.control import OpenLoop
from armsim.dynamics import gravity_torque
from armsim.model import Arm, Joint
from armsim.plant import Plant, linearize
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.spatial import Inertia, Pose, Symmetric, Vector, rotation_x

STEPS_PER_SECOND = 1000  # the method's error in a period is about (2e-3)**4


def crossings(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Times at which a motion passes zero upwards, from its positions and velocities at every step: cubic in between."""
    dt = 1 / STEPS_PER_SECOND
    times = []
    for k in np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0)):
        a, b, va, vb = x[k], x[k + 1], v[k] * dt, v[k + 1] * dt
        roots = np.roots([2 * a - 2 * b + va + vb, 3 * b - 3 * a - 2 * va - vb, va, a])
        share = next(r.real for r in roots if abs(r.imag) < 1e-9 and -1e-9 <= r.real <= 1 + 1e-9)
        times.append((k + share) * dt)
    return np.array(times)


def motion(plant, q, qd, seconds, drive, column):
    steps = round(seconds * STEPS_PER_SECOND)
    done = drive(
        NativeEngine(LoopPlan.of(plant, 1 / STEPS_PER_SECOND)), plant, list(q), list(qd), steps, (1, STEPS_PER_SECOND)
    )
    return done.rows[:, column(plant, "q")], done.rows[:, column(plant, "qd")]


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.handful(1)
def test_an_arm_oscillates_about_a_static_equilibrium_with_the_linearised_frequency(mode, arms, drive, column):
    arm = arms.shipped("two_link")
    balance = np.array([-1.2, 0.3])
    tau = gravity_torque(arm, balance.tolist())
    plant = Plant(arm, OpenLoop("torque", tuple(lambda t, u=u: u for u in tau)), method="rk4")
    lin = linearize(plant, 0.0, [*balance, 0.0, 0.0])
    assert lin.qdd == pytest.approx([0.0, 0.0], abs=1e-14)
    squares, shapes = np.linalg.eig(np.array(lin.A)[2:, :2])  # qdd = A q
    picked = np.argsort(-squares)[mode]
    frequency = math.sqrt(-squares[picked]) / (2 * math.pi)
    q, qd = motion(plant, balance + 1e-6 * shapes[:, picked], [0.0, 0.0], 12.0, drive, column)
    for joint in range(2):
        times = crossings(q[:, joint] - balance[joint], qd[:, joint])
        assert len(times) >= 5
        # a swing of 1e-6 rad lets the other mode in by about its square, and moves a crossing by 1e-6 of a period
        assert (len(times) - 1) / (times[-1] - times[0]) == pytest.approx(frequency, rel=1e-7)


@pytest.mark.parametrize("degrees", [1.0, 60.0, 120.0, 179.0])
@pytest.mark.handful(2)
def test_a_swing_has_the_period_of_its_elliptic_integral(degrees, drive, column):
    m, c, about_com = 3.0, 0.4, 0.15
    inertia = Inertia.about_com(m, Vector(c, 0.0, 0.0), Symmetric(0.1, 0.2, about_com))
    joint = Joint("R1", "revolute", rotation_x(math.pi / 2), inertia=inertia)
    plant = Plant(Arm("pendulum", Vector(0.0, 0.0, -9.81), Pose(), (joint,)), None, method="rk4")
    slow = math.sqrt((about_com + m * c * c) / (m * 9.81 * c))
    amplitude = math.radians(degrees)
    period = 4 * slow * ellipk(math.sin(amplitude / 2) ** 2)
    q, qd = motion(plant, [amplitude - math.pi / 2], [0.0], 3.2 * period, drive, column)
    times = crossings(q[:, 0] + math.pi / 2, qd[:, 0])
    assert len(times) == 3
    assert times[-1] - times[0] == pytest.approx(2 * period, rel=1e-9)  # near the top a small error is a long time
