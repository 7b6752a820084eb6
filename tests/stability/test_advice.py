"""What is said of a step before a run, and whether the run bears it out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.plant import make_plant
from armsim.stability.advice import Advice
from armsim.stability.many import StepAdviser
from armsim.stability.wording import check_step

FIXED = [name for name, method in METHODS.items() if method.step is not None]
CALM = (
    "the stops of R4 and R5 would chatter if met: with them engaged explicit_euler is stable up to dt = 5.51e-05 s; "
    "velocity_implicit, implicit_midpoint, rk54 and rodas would take 0.0001 s"
)


def advice(scenario, overrides=None) -> Advice:
    read = read_scenario(scenario, overrides)
    return check_step(read, make_plant(read))


def said(scenario, overrides=None) -> list[str]:
    read = read_scenario(scenario, overrides)
    found = advice(scenario, overrides)
    assert found.refusal is None
    return found.said(read.method, read.dt)


def pendulum(**keys) -> dict:
    """A point of 1 kg at 1 m, hanging down; nothing else."""
    joint = {"name": "hinge", "type": "revolute", "mdh": {"alpha": "pi/2"}, "initial": "-pi/2"}
    joint["bodies"] = [{"point": {"mass": 1, "center": [1, 0, 0]}}]
    joint |= keys.pop("joint", {})
    plain = {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "pendulum", "joints": [joint]},
        "duration": 10,
        "integrator": {"method": "explicit_euler", "dt": 1e-3},
        "initial": {"q": ["-pi/2 + 0.01"]},
    }
    return {**plain, **keys}


def kept(scenario, **overrides):
    """A run that goes on whatever its step."""
    return armsim.simulate(scenario, overrides, force_step=True)


# ---- refusals


def test_a_step_that_would_blow_up_is_refused_with_the_largest_that_would_not_and_the_methods_that_take_it(told):
    with pytest.raises(UsageError) as refused:
        armsim.simulate("arm5_hold", {"integrator.dt": 1e-3})
    told(refused.value)


def test_what_the_refusal_mends_with_runs_without_a_word():
    for mend in ({"integrator.dt": 2.5e-4}, {"integrator.dt": 1e-3, "integrator.method": "velocity_implicit"}):
        run = armsim.simulate("arm5_hold", mend)
        assert run.status == "complete"
        assert run.summary()["advice"] == []


def test_where_no_step_is_short_enough_it_is_the_method_that_is_refused(told):
    stiff = pendulum(
        control={"law": "pd", "output": "torque", "kp": 1e4, "kd": 0},
        integrator={"method": "explicit_euler", "dt": 0.01},
    )
    told(advice(stiff).refusal)


def test_a_forced_step_is_run_and_said_to_be():
    run = kept("arm5_hold", **{"integrator.dt": 1e-3})
    assert run.status == "diverged"
    assert run.summary()["advice"] == [
        "the step was forced: expected at most 0.000529 s with explicit_euler: above that a motion of R4 grows at the target "
        "that by itself does not"
    ]


@pytest.mark.parametrize(
    ("scenario", "method", "most"),
    [("arm5_fall", "explicit_euler", 0.580e-3), ("arm5_fall", "rk4", 0.807e-3), ("arm5_hold", "rk4", 0.738e-3)],
)
def test_steps_are_refused_from_the_largest_stable_one_on(scenario, method, most):
    def refused(dt):
        times = {"integrator.method": method, "integrator.dt": dt, "duration": 5000 * dt, "log.every": dt}
        return advice(scenario, times).refusal

    assert refused(0.99 * most) is None
    assert float(refused(1.01 * most).expected.split("at most ")[1].split(" s")[0]) == pytest.approx(most, rel=0.01)


def test_the_mended_step_leaves_every_time_a_whole_multiple():
    for dt in (1e-3, 2e-3, 5e-3):
        refusal = advice("arm5_hold", {"integrator.dt": dt, "log.every": 1e-2}).refusal
        step = float(refusal.mend.split("integrator.dt=")[1].split("`")[0])
        assert advice("arm5_hold", {"integrator.dt": step}).refusal is None  # or a time would not fit


def test_an_arm_that_falls_over_by_itself_is_not_the_steps_fault():
    for method in ("explicit_euler", "semi_implicit_euler", "velocity_verlet", "rk4", "velocity_implicit"):
        assert said(pendulum(initial={"q": ["pi/2 - 1e-3"]}), {"integrator.method": method, "duration": 1.0}) == []
        assert said("rr_config3", {"integrator.method": method, "integrator.dt": 1e-4, "duration": 0.1}) == []


def test_joints_with_friction_are_judged_as_if_they_were_free_and_refused_unless_it_holds_them():
    gains = {"law": "pd", "output": "torque", "kp": 10, "kd": 50}
    times = {"control": gains, "integrator": {"method": "rk4", "dt": 0.1}}
    refusal = advice(pendulum(joint={"friction": {"coulomb": 0.1}}, initial={"q": [0]}, **times)).refusal
    assert "a motion of hinge grows" in refusal.expected
    # as without friction: M = 1, d = 50, h d < 2.785 but for the spring
    assert float(refusal.expected.split("at most ")[1].split(" s")[0]) == pytest.approx(2.785 / 50, rel=0.01)
    held = pendulum(joint={"friction": {"coulomb": 100}}, **times)
    (warning,) = said(held)
    assert warning.endswith("0.0561 s: a motion of hinge would grow, which friction holds at the start")
    run = armsim.simulate(held)
    assert (run.q == run.q[0]).all()
    assert run.step_error.error == 0.0


def test_a_step_hardly_too_long_is_let_pass_where_friction_may_stop_what_grows():
    gains = {"law": "pd", "output": "torque", "kp": 10, "kd": 50}
    joint = {"friction": {"coulomb": 0.1}}
    hardly = {"method": "explicit_euler", "dt": 0.042}
    times = {"integrator": hardly, "duration": 42}
    assert "grows" in advice(pendulum(control=gains, **times)).refusal.expected
    (warning,) = said(pendulum(control=gains, joint=joint, **times))
    assert warning == "dt = 0.042 s is above the largest stable step of explicit_euler at the start, 0.0403 s"


def test_a_target_that_is_reached_late_is_no_reason_to_refuse_a_step_that_is_hardly_too_long_there():
    # rk4 takes 0.776 ms at the start and 0.737 ms at the target, where the loop settles within seconds
    times = {"integrator.method": "rk4", "integrator.dt": 7.7e-4, "log.every": 7.7e-4}
    assert advice("arm5_hold", {**times, "duration": 260 * 7.7e-4}).refusal is None
    assert "0.000737 s with rk4" in advice("arm5_hold", {**times, "duration": 13000 * 7.7e-4}).refusal.expected


def test_an_arm_that_begins_upside_down_is_warned_of_where_it_hangs_and_not_refused():
    friction = {"friction": {"viscous": 9.81e-3}}  # det = 1 - h d + h² w²: explicit Euler takes 1 ms where it hangs
    step = {"method": "explicit_euler", "dt": 2e-3}
    found = advice(pendulum(joint=friction, initial={"q": ["pi/2 - 1e-3"]}, integrator=step, duration=2000))
    assert found.refusal is None
    assert found.warnings[0].startswith(
        "dt = 0.002 s is above the largest stable step of explicit_euler where it hangs, 0.00"
    )


def test_an_arm_that_hangs_on_its_stop_is_judged_with_the_stop_engaged():
    stop = {"initial": 0, "limits": {"lower": "-pi/4", "upper": "pi/2", "stiffness": 1e4, "damping": 15}}
    step = {"method": "explicit_euler", "dt": 2e-3}  # det = 1 - h d + h² k: 1.5 ms
    resting = pendulum(joint=stop, initial={"q": [0]}, integrator=step)
    found = advice(resting)
    assert found.warnings[0].startswith(
        "dt = 0.002 s is above the largest stable step of explicit_euler where it hangs, 0.00"
    )
    assert StepAdviser(read_scenario(resting), lambda _: read_scenario(resting), 0).one(np.zeros(0)) == found


# ---- margins


def test_a_step_just_below_the_largest_is_said_to_be():
    near, stops = said("arm5_hold", {"integrator.dt": 5e-4})
    assert near == "dt = 0.0005 s is close to the largest stable step of explicit_euler at the target, 0.000529 s"
    assert "chatter" in stops
    assert said("arm5_hold", {"integrator.dt": 4e-4, "duration": 4})[0].startswith("the stops")  # 0.53 / 0.4 > 1.2


# ---- swings


def test_an_undamped_swing_grows_as_fast_as_the_warning_says():
    scenario = pendulum()
    w = math.sqrt(9.81)
    (warning,) = said(scenario)
    growth = w**2 * 1e-3 / 2
    assert warning == (
        f"explicit_euler makes an undamped swing of {w / (2 * math.pi):.3g} Hz grow, by {100 * growth:.2g} % a second; "
        "semi_implicit_euler, velocity_verlet and implicit_midpoint do not"
    )
    run = armsim.simulate(scenario)
    assert run.summary()["advice"] == [warning]
    amplitude = np.hypot(run.q[:, 0] + math.pi / 2, run.qd[:, 0] / w)
    rate = np.polyfit(run.t, np.log(amplitude), 1)[0]
    assert rate == pytest.approx(growth, rel=1e-3)  # sin x = x to 1e-4


def test_methods_that_leave_a_swing_be_are_not_accused():
    for method in [name for name in FIXED if name != "explicit_euler"]:
        assert said(pendulum(), {"integrator.method": method}) == []
        assert said("two_link_swing", {"integrator.method": method}) == []


def test_a_swing_that_begins_far_from_rest_is_judged_where_it_hangs():
    (warning,) = said("two_link_swing", {"integrator.method": "explicit_euler"})
    assert "an undamped swing of 1.2 Hz grow, by 2.8 % a second" in warning  # 7.5127 rad/s, from the arm's own matrices
    assert said("two_link_swing", {"integrator.method": "explicit_euler", "duration": 0.1}) == []  # too short to show


def test_a_lightly_damped_swing_is_refused_only_if_the_step_makes_it_grow_out_of_bounds():
    w = math.sqrt(9.81)
    decay = 0.5 * w**2 * 1e-3  # 1/s, half of what a step of 2 ms feeds
    friction = {"friction": {"viscous": 2 * decay}}
    too_long = pendulum(joint=friction, integrator={"method": "explicit_euler", "dt": 2e-3})
    assert said(pendulum(joint=friction, integrator={"method": "explicit_euler", "dt": 5e-4})) == []
    (warning,) = said(too_long)
    gain = (math.log(1 - 2e-3 * 2 * decay + (2e-3 * w) ** 2) / 2) / 2e-3 * 10
    assert warning == (
        "dt = 0.002 s is above the largest stable step of explicit_euler where it hangs, 0.001 s: a motion grows "
        f"{math.exp(gain):.2g}-fold over the run that by itself does not"
    )
    run = armsim.simulate(too_long)
    amplitude = np.hypot(run.q[:, 0] + math.pi / 2, run.qd[:, 0] / w)
    assert amplitude[-1] / amplitude[0] == pytest.approx(math.exp(gain), rel=2e-3)
    longer = {**too_long, "duration": 2000}
    assert "at most 0.001 s" in advice(longer).refusal.expected


# ---- stops

PRESSED = {
    "initial.q": [0, -1.1, 0.3, 3.1, 0],
    "control.target": [0, -1.1, 0.3, 3.4, 0],
    "duration": 2,
}  # into R4's stop


def test_stops_that_would_chatter_are_told_before_the_run_and_after_it_if_they_were_met():
    assert said("arm5_hold") == [CALM]
    assert armsim.simulate("arm5_hold").summary()["advice"] == []
    run = armsim.simulate("arm5_hold", PRESSED)
    assert [limit["joint"] for limit in run.summary()["outside_limits"]] == ["R4"]
    assert run.summary()["advice"] == [
        "the stop of R4 chatters: with it engaged explicit_euler is stable up to dt = 5.23e-05 s; velocity_implicit, "
        "implicit_midpoint, rk54 and rodas would take 0.0001 s"
    ]


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.handful(1)
def test_a_stop_chatters_above_the_step_that_is_named_and_not_below(method):
    # the arm as it stands at its start is the arm at its stop: R4 turns a wrist that is all but round
    coarse = {"integrator.method": method, "integrator.dt": 0.02 if method == "velocity_implicit" else 4e-4}
    most = advice("arm5_hold", PRESSED | coarse | {"log.every": 0.02}).chattering["R4"]
    rests = {}
    for dt in (0.9 * most, 1.12 * most):
        steps = math.ceil(4 / dt)
        times = {"integrator.dt": dt, "duration": steps * dt, "log.every": dt}
        run = kept("arm5_hold", **PRESSED | coarse | times)
        rests[dt > most] = np.abs(run.qd[-steps // 8 :, 3]).max() < 1e-6
    assert rests == {False: True, True: False}


def test_a_target_behind_a_stop_that_chatters_is_no_reason_to_refuse_for_it_does_not_blow_up():
    assert advice("arm5_hold", PRESSED).refusal is None
    run = armsim.simulate("arm5_hold", PRESSED)
    assert run.status == "complete"
    assert np.abs(run.q[:, 3] - math.pi).max() < 0.05


@pytest.mark.slow
def test_a_method_that_takes_a_stop_is_not_warned_of():
    assert said("arm5_hold", {"integrator.method": "velocity_implicit", "integrator.dt": 1e-3}) == []


# ---- sampled control


def test_between_samples_the_command_is_held_and_only_motors_damp():
    # continuous feedback damps as well: 0.530 ms at the target; held, back-EMF alone counts
    refusal = advice("arm5_hold_pi", {"integrator.dt": 1e-3}).refusal
    assert (
        "at most 0.000579 s with semi_implicit_euler: above that a motion of R4 grows at the target" in refusal.expected
    )


def sampled_slide(period: float, dt: float, method: str = "rk4", kd: float = 8.0, duration: float = 20.0) -> dict:
    """A slide of 1 kg that nothing damps but its controller."""
    joint = {"name": "slide", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": duration,
        "integrator": {"method": method, "dt": dt},
        "initial": {"q": [0.1]},
        "control": {"law": "pd", "output": "torque", "kp": 100, "kd": kd, "period": period},
        "log": {"every": period},
    }


def test_control_that_samples_too_seldom_is_told_apart_from_the_step():
    # x'' = -100 x - 8 x', held for T: |z| = 1 at 1 - 8 T + 50 T² = 1
    for dt in (2e-3, 0.2):
        assert said(sampled_slide(0.2, dt)) == [
            "control that samples every 0.2 s is unstable at the start, whatever the step: sample every 0.159 s or more often, "
            "or lower its gains"
        ]
        assert said(sampled_slide(0.1, dt / 2)) == []
    swings = np.abs(kept(sampled_slide(0.2, 2e-3)).q[:, 0])
    assert swings[-1] > 100 * swings[0]
    swings = np.abs(armsim.simulate(sampled_slide(0.1, 1e-3)).q[:, 0])
    assert swings[-1] < 1e-3 * swings[0]


def test_a_step_that_spoils_a_sampled_loop_is_refused_though_nothing_grows_between_samples(told):
    # explicit Euler over one step: det = 1 - T d + T² k = 1.2; over two: 0.95; exactly: 1 - T d + T² k / 2 = 0.7
    told(advice(sampled_slide(0.1, 0.1, "explicit_euler")).refusal)
    assert advice(sampled_slide(0.1, 0.05, "explicit_euler")).refusal is None
    swings = np.abs(kept(sampled_slide(0.1, 0.1, "explicit_euler", duration=8.0)).q[:, 0])
    assert swings[-1] > 100 * swings[0]


def test_a_sampled_loop_that_the_step_spoils_is_refused_though_dry_friction_may_stop_what_grows_between_samples():
    spoilt = sampled_slide(0.1, 0.1, "explicit_euler")
    spoilt["robot"]["joints"][0]["friction"] = {"coulomb": 0.1}
    assert "at most 0.05 s with explicit_euler" in advice(spoilt).refusal.expected


def test_a_loop_that_is_unstable_however_often_it_samples_is_the_fault_of_its_gains():
    pushes = sampled_slide(0.1, 0.01, kd=-1.0)
    (warning,) = said(pushes)
    assert warning.startswith("control leaves slide unstable at the target, whatever the step")


# ---- where there is nothing to say


@pytest.mark.slow
def test_nothing_is_said_of_methods_that_choose_their_steps():
    for method in ("rk54", "rodas"):
        run = armsim.simulate("arm5_hold", {"integrator.method": method, "integrator.dt": 1e-2})
        assert run.summary()["advice"] == []


def test_nothing_is_said_of_dynamechs_motors_which_are_rules_about_steps():
    motors = {f"robot.joints[R{i}].motor.model": "dynamechs" for i in range(1, 6)}
    coarse = {**motors, "integrator.dt": 1e-3, "duration": 2e-3, "log.every": 1e-3}
    assert armsim.simulate("arm5_fall", coarse).advice == Advice()


def test_nothing_is_said_where_the_equations_have_no_finite_value():
    blind = replace(read_scenario("arm5_fall"), initial_qd=[1e200, 0, 0, 0, 0])  # no file may say so
    assert check_step(blind, make_plant(blind)) == Advice()


# ---- keeping it


def test_what_was_found_is_kept_and_not_worked_out_again(monkeypatch):
    changed = {"integrator.dt": 5e-4, "control.kp[0]": 61}
    first = armsim.simulate("arm5_hold", changed).advice
    assert len(first.warnings) == 1

    def never(*_):
        raise AssertionError("worked out again")

    monkeypatch.setattr("armsim.stability.wording.check_step", never)
    assert armsim.simulate("arm5_hold", changed).advice == first
    assert armsim.simulate("arm5_hold", {**changed, "log.every": 5e-3}).advice == first
    with pytest.raises(AssertionError, match="worked out again"):
        armsim.simulate("arm5_hold", {**changed, "control.kp[0]": 62})
