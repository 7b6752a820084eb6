"""Where a controller without integral leaves a joint with dry friction: at rest if it swings, creeping if it does not."""

from __future__ import annotations

import math

import pytest

from armsim.model import Arm, Coulomb, Joint
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.spatial import ZERO, Inertia, Pose, Symmetric
from tests.controllers import feedback

METHODS = ["explicit_euler", "semi_implicit_euler", "rk4"]
J, KP, COULOMB, TARGET = 0.7, 100.0, 1.5, 1.0  # kg m², N·m/rad, N·m, rad
CRITICAL = 2.0 * math.sqrt(KP * J)  # N·m·s/rad, where it just does not swing
DT = 1e-3


def course(drive, column, kd: float, method: str, seconds: float) -> tuple[list[float], list[float]]:
    """Positions and velocities of a wheel at every step."""
    joint = Joint("J1", "revolute", inertia=Inertia(0.0, ZERO, Symmetric(zz=J)), coulomb=Coulomb(COULOMB, COULOMB))
    law = feedback("pd", "torque", (KP,), (0.0,), (kd,), (TARGET,), (None,), (None,))
    plant = Plant(Arm("wheel", ZERO, Pose(), (joint,)), law, method=method)
    steps = round(seconds / DT)
    rows = drive(NativeEngine(LoopPlan.of(plant, DT)), plant, [0.0], [0.0], steps, (1, round(1 / DT))).rows
    return tuple(rows[:, column(plant, kind)[0]].tolist() for kind in ("q", "qd"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.handful(3)
def test_a_joint_that_swings_comes_to_rest_within_the_band_of_friction_and_stays(share, method, drive, column):
    q, qd = course(drive, column, share * CRITICAL, method, 4.0)
    assert set(qd[-1000:]) == {0.0}
    assert len(set(q[-1000:])) == 1
    assert abs(q[-1] - TARGET) <= COULOMB / KP


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [1.001, 1.5, 3.0])
@pytest.mark.handful(1)
def test_a_joint_that_does_not_swing_creeps_to_the_edge_of_the_band_and_is_never_quite_at_rest(
    share, method, drive, column
):
    kd = share * CRITICAL
    q, qd = course(drive, column, kd, method, 8.0)
    assert all(v > 0.0 for v in qd[1:])
    # J x'' + kd x' + KP x = 0 about the edge of the band, from rest
    edge, root = TARGET - COULOMB / KP, math.sqrt(kd * kd - 4 * KP * J)
    slow, fast = (-kd + root) / (2 * J), (-kd - root) / (2 * J)
    error = 1e-9 if method == "rk4" else 0.05  # first order: a step is 1 ms, the shorter time constant 14 ms
    for t in (0.2, 0.5):
        exact = edge * (fast * math.exp(slow * t) - slow * math.exp(fast * t)) / (slow - fast)
        assert math.isclose(q[round(t / DT)] - edge, exact, rel_tol=error)
    assert abs(q[-1] - edge) < edge * math.exp(slow * 4.0) + 1e-13  # and the rounding of q
