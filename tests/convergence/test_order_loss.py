"""What costs methods their order is named where it is, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.convergence.order_loss import is_smooth, order_losses
from armsim.loading import read_scenario

SMOOTH = {"control": None, "inputs": {"voltage": ["2*sin(3*t)", "0", "0", "0.2*sin(5*t)", "0"]}, "duration": 1}
INDUCTIVE = {f"robot.joints[{i}].motor.inductance": 5e-3 for i in range(5)}
AT_REST = np.zeros((2, 5))


def losses(changes, answer=AT_REST):
    return order_losses(read_scenario("arm5_hold", {**SMOOTH, **changes}), answer)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, None),
        (INDUCTIVE, "currents of motors with an inductance"),
        ({"robot.joints[R2].friction": {"coulomb": 1}}, "joints stop, stick or slip"),
        ({"robot.joints[R2].motor.efficiency": 0.9}, "joints stop, stick or slip"),
        ({"inputs": {"voltage": ["abs(sin(t))", 0, 0, 0, 0]}}, "inputs bend where their abs"),
        ({"inputs": {"voltage": ["abs(sin(t))", 0, 0, 0, 0], "period": 1e-3}}, None),
        *(
            ({"inputs": {"voltage": [text, 0, 0, 0, 0]}}, "inputs jump or bend where their where")
            for text in ("step(t - 1)", "pulse(t, 1, 2)", "sign(sin(t))", "where(t < 1, 5, 0)")
        ),
        ({"inputs": {"voltage": ["step(t - 1)", 0, 0, 0, 0], "period": 1e-3}}, None),
        ({"robot.joints[R2].motor.brush_drop": {"max": 1, "half": 0.1}}, "brushes"),
        ({"robot.joints[R2].motor.limits": {"current": 1}}, "commands or motors may reach"),
    ],
)
def test_what_there_is_of_it_is_named(changes, found):
    named = losses(changes)
    assert [what[: len(found)] for what in named] == [found] if found else not named


def test_a_method_whose_steps_are_cut_loses_order_to_inductances_and_short_events_alone():
    limited = {"control": None, "inputs": SMOOTH["inputs"], "robot.joints[R2].friction": {"coulomb": 1}}
    sticky = read_scenario("arm5_hold", {**limited, "integrator.method": "rk4"})
    assert order_losses(sticky, AT_REST) == ("events may come and go within a step",)
    both = read_scenario("arm5_hold", {**limited, **INDUCTIVE, "integrator.method": "rk4"})
    assert len(order_losses(both, AT_REST)) == 2


def test_stops_count_where_they_were_met():
    met = AT_REST.copy()
    met[1, 1] = 0.71  # R2 turns up to 0.7
    (only,) = losses({}, met)
    assert only == "joints meet their stops within steps"
    assert losses({}, None) == ()


def test_recorded_inputs_jump(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "u.csv").write_text("t_s,u\n0,0\n1,2\n")
    signal = {"csv": str(tmp_path / "u.csv"), "column": "u", "hold": "linear"}
    assert losses({"inputs": {"voltage": [signal, 0, 0, 0, 0]}}) == ("recorded inputs jump or bend within steps",)


def test_feedback_without_limits_is_smooth():
    assert order_losses(read_scenario("arm5_hold"), AT_REST) == ()
    limited = read_scenario("arm5_hold", {"control.limit": 24})
    assert order_losses(limited, AT_REST) == ("commands or motors may reach their limits",)


@pytest.mark.parametrize(
    ("name", "changes", "smooth"),
    [
        ("two_link_swing", {}, True),
        ("two_link_hold", {}, False),  # its commands are limited
        ("two_link_hold", {"control.limit": None}, True),
        ("two_link_hold", {"control.period": 0.01}, True),  # limited at samples alone
        ("arm5_hold", {}, False),  # stops, whether or not they are met
        ("puma560_hold", {}, False),
    ],
)
def test_a_scenario_is_smooth_where_nothing_in_it_can_jump_or_bend(name, changes, smooth):
    assert is_smooth(read_scenario(name, changes)) == smooth


def test_an_integral_that_is_clamped_is_not_smooth():
    pi = {"control.law": "pi", "control.ki": [1, 1], "control.kd": None, "control.limit": None}
    assert is_smooth(read_scenario("two_link_hold", pi))
    assert not is_smooth(read_scenario("two_link_hold", {**pi, "control.integral_limit": [1, 1]}))


@pytest.mark.slow
def test_an_inductive_motor_is_what_makes_rk4_of_first_order():
    (found,) = armsim.converge(
        "arm5_hold", "rk4", {**SMOOTH, **INDUCTIVE, "integrator.dt": 1e-4}, accuracy=1e-5
    ).methods
    assert found.order == pytest.approx(1, abs=0.1)
    assert found.falls_short
    assert [what.split()[0] for what in found.losses] == ["currents"]


@pytest.mark.slow
def test_rk4_on_the_hold_does_not_fall_short():
    found = {m.method: m for m in armsim.converge("arm5_hold", ["rk4", "rk54"], accuracy=1e-8).methods}
    assert not found["rk4"].falls_short
    orders = [setting.order for setting in found["rk4"].settings if setting.order is not None]
    assert orders
    assert orders == pytest.approx([4.4] * len(orders), abs=0.5)  # its steps are near the edge of stability
