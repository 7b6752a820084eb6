"""How a diverged run says which joint began it, since when, and how fast it grew."""

from __future__ import annotations

import math

import pytest

import armsim
from armsim.stability.divergence import growth

H = 1e-2  # s


def stiff(damping: float, method: str = "explicit_euler", **keys) -> dict:
    """A slide of 1 kg without gravity, damped by so many N·s/m: its velocity decays at that many 1/s."""
    slide = {
        "name": "slide",
        "type": "prismatic",
        "mdh": {},
        "friction": {"viscous": damping},
        "bodies": [{"point": {"mass": 1}}],
    }
    plain = {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "stiff", "gravity": [0, 0, 0], "joints": [slide]},
        "duration": 20,
        "integrator": {"method": method, "dt": H},
        "initial": {"qd": [1.0]},
    }
    return {**plain, **keys}


def found(scenario: dict, engine: str = "llvm") -> dict:
    run = armsim.simulate(scenario, engine=engine, force_step=True)
    assert run.status == "diverged"
    return run.summary()["diverged"]


@pytest.mark.parametrize("engine", ["llvm", "python"])
@pytest.mark.parametrize(("damping", "factor"), [(230.0, 1.3), (201.0, 1.01), (450.0, 3.5)])
@pytest.mark.handful(1)
def test_explicit_euler_multiplies_a_damped_velocity_by_1_less_h_times_the_decay_rate(engine, damping, factor):
    seen = found(stiff(damping), engine)["growth"]
    assert seen["factor"] == pytest.approx(factor, rel=1e-6)
    assert seen["doubling_s"] == pytest.approx(H * math.log(2) / math.log(factor), rel=1e-4)
    assert seen["alternates"] is True


def test_rk4_multiplies_it_by_its_stability_polynomial_without_alternating():
    z = -300.0 * H
    seen = found(stiff(300.0, method="rk4"))["growth"]
    assert seen["factor"] == pytest.approx(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24, rel=1e-6)
    assert seen["alternates"] is False


def test_an_undamped_oscillation_grows_by_its_eigenvalue_under_explicit_euler():
    # q'' = -omega² q: the eigenvalues of a step are 1 ± i omega h
    omega = 60.0
    control = {"law": "pd", "output": "torque", "kp": omega**2, "kd": 0, "target": [0]}
    seen = found(stiff(0.0, control=control))["growth"]
    assert seen["factor"] == pytest.approx(math.hypot(1, omega * H), rel=0.02)  # an oscillation read off its crests
    assert seen["since"] == 0.0


def test_the_joint_is_the_one_that_began_not_the_one_that_was_fastest_at_the_end():
    # R4 is the first for which 1 ms is too long (its back-EMF decays with 3449 1/s); all joints blow up in the end
    run = armsim.simulate("arm5_hold", {"integrator.dt": 1e-3}, force_step=True)
    seen = run.summary()["diverged"]
    assert seen["slot"] == "qd_R5"
    assert seen["growth"]["joint"] == "R4"
    assert seen["growth"]["alternates"] is True


def test_a_controller_that_overshoots_from_sample_to_sample_grows_per_sample_not_per_step():
    # v' = -kd v_sampled: each sample multiplies the velocity by 1 - kd period = -2, in a straight line over ten steps
    control = {"law": "pd", "output": "torque", "kp": 0, "kd": 30, "target": [0], "period": 10 * H}
    seen = found(stiff(0.0, control=control))["growth"]
    assert (seen["per"], seen["alternates"], seen["since"]) == ("sample", True, 0.0)
    assert seen["factor"] == pytest.approx(2.0, rel=1e-6)
    assert seen["doubling_s"] == pytest.approx(10 * H, rel=1e-6)


def test_the_last_states_are_one_step_apart_and_end_where_the_run_did():
    run = armsim.simulate(stiff(230.0), force_step=True)
    assert run.approach[-1] == run.state
    assert len(run.approach) == min(run.steps, 1000) + 1
    for before, after in zip(run.approach, run.approach[1:]):
        assert after == run.plant.step(0.0, before, H)


def test_a_run_that_diverges_just_after_a_chunk_still_knows_its_last_1000_steps():
    # explicit Euler grows by 1.01 a step; from 1e-3 m/s it takes about 2700 steps to leave the bounds, from 1e-2 about 2500
    for speed in (1e-3, 3e-3, 1e-2):
        run = armsim.simulate(stiff(201.0, duration=50, initial={"qd": [speed]}), force_step=True)
        assert run.status == "diverged"
        assert run.steps > 2000
        assert len(run.approach) == 1001


def test_rows_and_peaks_of_a_diverged_run_are_those_of_the_steps_it_made():
    run = armsim.simulate(stiff(230.0, log={"every": H}), force_step=True)
    whole = armsim.simulate(stiff(230.0, log={"every": H}, duration=H * (run.steps - 1)), force_step=True)
    assert whole.status == "complete"
    assert run.count == run.steps + 1
    assert whole.table.tolist() == run.table[: whole.count].tolist()


def test_a_complete_run_has_no_approach():
    assert armsim.simulate("rr_config1", {"duration": 0.04}).approach == []


def geometric(factor: float, count: int, before: int = 0) -> list[list[float]]:
    """Velocities of two joints: a smooth motion, and from a step on something that grows in the second."""
    motion = [[math.cos(0.01 * k), 2.0 * math.exp(-0.01 * k)] for k in range(before + count)]
    return [[v, w + (1e-6 * factor ** (k - before) if k >= before else 0.0)] for k, (v, w) in enumerate(motion)]


def test_growth_is_seen_from_where_it_rises_above_the_motion():
    seen = growth(geometric(-1.5, 60, before=300), 1e-5)
    assert seen.joint == 1
    assert seen.alternates
    assert seen.factor == pytest.approx(1.5, rel=0.02)  # the motion's own increments are still in the first ones
    rises = math.log(0.02 * math.exp(-3.0) / 2.5e-6) / math.log(1.5)  # when 2.5e-6 1.5^k passes the motion's increments
    assert 59 - seen.steps == pytest.approx(rises, abs=4)
    assert not seen.throughout


def test_growth_from_the_first_step_on_is_said_to_be_throughout():
    seen = growth([[(-2.0) ** k] for k in range(20)], 1e-9)
    assert (seen.factor, seen.steps, seen.throughout) == (pytest.approx(2.0, rel=1e-12), 19, True)
    assert seen.doubling_time(1e-9) == pytest.approx(1e-9, rel=1e-12)


def test_the_end_where_joints_move_by_radians_a_step_is_left_out():
    # beyond 1 rad a step everything squares: 2, 4, 16, ...
    slow = [1e-3 * 1.2**k for k in range(60)]
    fast = [slow[-1] * 10 ** (2.0**k) for k in range(1, 5)]
    seen = growth([[v] for v in [*slow, *fast]], 1.0 / slow[-1])
    assert seen.factor == pytest.approx(1.2, rel=1e-9)


@pytest.mark.parametrize(
    "velocities",
    [
        [[9.81 * k] for k in range(100)],  # free fall
        [[1.0]] * 100,
        [[0.0]] * 100,
        [[1.0], [2.0]],
        [],
        [[math.cos(0.1 * k)] for k in range(500)],
        [[math.exp(-0.1 * k)] for k in range(100)],
        [[k**2.0] for k in range(500)],
    ],
    ids=["fall", "steady", "rest", "two", "none", "swing", "decay", "power"],
)
def test_what_does_not_grow_step_by_step_has_no_growth(velocities):
    assert growth(velocities, 1e-3) is None
