"""Fixed steps that are cut at events: the classical Runge-Kutta method keeps order 4 through them."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS, Motion
from armsim.integrate.cut import cut_step
from armsim.integrate.rk4 import RK4
from armsim.integrate.runge_kutta import rk_step
from armsim.integrate.system import System
from tests.surveys.cases import case
from tests.surveys.reference import truth

FAMILIES = {
    "friction": 0,
    "gear losses": 0,
    "soft stops": 0,
    "current limit": 0,
    "torque limit": 0,
    "speed limit": 0,
    "command limit": 1,
    "brushes": 0,
    "stepped tables": 0,
    "kinked inputs": 0,
    "combined": 0,
}


@cache
def true_end(family, seed):
    return np.array(truth(case(family, seed)).q[-1])


def off(family, seed, dt, folder):
    made = case(family, seed)
    run = armsim.simulate(made.written(folder, {"method": "rk4", "dt": dt}), force_step=True)
    return float(np.abs(run.q[-1] - true_end(family, seed)).max())


@pytest.mark.parametrize(("family", "seed"), FAMILIES.items(), ids=FAMILIES)
@pytest.mark.handful(1)
def test_rk4_keeps_order_4_through_events(family, seed, tmp_path):
    made = case(family, seed)
    assert truth(made).events or made.tables or made.corners
    coarse, fine = (off(family, seed, dt, tmp_path) for dt in (8e-3, 4e-3))
    assert fine > 1e-12
    assert math.log2(coarse / fine) == pytest.approx(4.0, abs=0.2)


def slider(**keys):
    """A point mass of 1 kg on a prismatic joint."""
    joint = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1.0, "center": [0, 0, 0]}}]}
    robot = {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [{**joint, **keys}]}
    return {"format": "armsim/scenario/1", "name": "slider", "robot": robot, "duration": 1.0, "log": {"every": 1.0}}


def test_a_slider_comes_to_rest_within_a_step_and_sets_out_again():
    given = slider(friction={"coulomb": 1.0})
    given["robot"]["gravity"] = [0, 0, -5]
    v = 1.4994  # it turns round at 0.2499 s
    given |= {"initial": {"qd": [v]}, "integrator": {"method": "rk4", "dt": 0.01}}
    rest = v / 6
    exact = v * rest / 2 - 4 / 2 * (1 - rest) ** 2
    assert armsim.simulate(given).q[-1] == pytest.approx([exact], abs=2e-12)


@pytest.mark.parametrize(("hold", "exact"), [("zero", 10 * 0.7501**2 / 2), ("linear", None)])
def test_an_input_that_jumps_or_bends_within_a_step_does_so_at_its_instant(hold, exact, tmp_path):
    (tmp_path / "push.csv").write_text("t_s,tau\n0,0\n0.2499,10\n1,10\n")
    given = slider() | {"integrator": {"method": "rk4", "dt": 0.01}}
    given["inputs"] = {"torque": [{"csv": str(tmp_path / "push.csv"), "column": "tau", "hold": hold}]}
    if exact is None:  # a ramp up to the corner: v = 5 c, q = 10 c²/6 there
        c, left = 0.2499, 0.7501
        exact = 10 * c**2 / 6 + 5 * c * left + 10 * left**2 / 2
    for method in ({"method": "rk4", "dt": 0.01}, {"method": "rk54", "rtol": 1e-9}):
        given["integrator"] = method
        for _ in range(2):  # the second loads the code that the first kept
            assert armsim.simulate(given).q[-1] == pytest.approx([exact], abs=1e-12)


class Bouncing(System):
    """A particle that a floor throws back with half its speed: bounces accumulate."""

    def __init__(self, below=False):
        super().__init__(lambda t, y: Motion(y.v, [-1.0], [], []))
        self.below = below

    def slips(self, at):
        return [at.q[0]]

    def arrest(self, before, after, h):
        return after._replace(v=[-0.5 * after.v[0] if after.q[0] < 0.0 else after.v[0]])


def test_a_step_in_which_events_accumulate_is_carried_out():
    end = cut_step(lambda *at: rk_step(RK4, *at), Bouncing(), 0.0, Motion([1.0], [0.0], [], []), 5.0)
    assert math.isfinite(end.q[0])


def test_a_step_without_events_is_the_methods_own_to_the_bit():
    system, y = System(lambda t, y: Motion(y.v, [math.sin(t) - y.q[0]], [], [])), Motion([0.3], [0.1], [], [])
    assert METHODS["rk4"].step(system, 0.5, y, 0.1) == rk_step(RK4, system, 0.5, y, 0.1)[0]
