"""Works, electrical energy, peak torques and the final state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.actuation import WORKS
from armsim.control import OpenLoop
from armsim.measures import measures_of
from armsim.model import Motor
from armsim.plant import Plant

FALL = {"duration": 0.03, "log.every": 1e-4}


def test_the_works_add_up_to_the_change_of_energy(moments, gathered):
    _, seen = moments("puma560_fall", FALL)
    names = [f"work_{source}" for source in WORKS]
    found = gathered([*names, "energy", "first(kinetic_energy + potential_energy)"], seen)
    change = found["kinetic_energy_J"] + found["potential_energy_J"] - found["first(kinetic_energy + potential_energy)"]
    balance = armsim.simulate("puma560_fall", FALL).summary()["audit"]
    assert sum(found[name] for name in names) == pytest.approx(change - balance["residual"], rel=1e-9)
    assert found["work_friction"] < 0
    assert [found[name] for name in names] == [balance[source] for source in WORKS]


def test_works_alone_need_them_among_the_states(arms):
    plant = Plant(arms.shipped("arm5"), None)
    needs = {measure.names[0]: measure.needs_work for measure in measures_of(
        ["work_stops", "2*work_motors - 1", "energy_drawn", "max(power_R1)", "energy", "duration + work_friction"], plant
    )}  # fmt: skip
    assert [*needs.values()] == [True, True, False, False, False, True]


def test_a_stalled_motor_draws_the_square_of_its_voltage_over_its_resistance(arms, given, gathered):
    arm = arms.serial("R", motors=True)
    plant = Plant(arm, OpenLoop("voltage", (lambda t: 6.0,)))
    moments = given(plant, 2.0, 50, lambda t: 0.0)
    found = gathered(["energy_drawn", "energy_fed_back"], moments)
    assert found["energy_drawn"] == pytest.approx(2.0 * 36 / arm.joints[0].motor.Ra, rel=1e-13)
    assert found["energy_fed_back"] == 0


def test_a_motor_that_another_feeds_draws_nothing_from_the_supply(arms, given, gathered):
    motor = Motor(Kp=1.0, Ke=1.0, Ra=2.0)
    arm = arms.serial("RR")
    arm = replace(arm, links=tuple(replace(joint, motor=motor) for joint in arm.joints))
    plant = Plant(arm, OpenLoop("voltage", (lambda t: 4.0, lambda t: 4.0)))
    still, spun = lambda t: 0.0, lambda t: 10.0
    # 4 V: 2 A at rest, -3 A at 10 rad/s
    found = gathered(["energy_drawn", "energy_fed_back"], given(plant, 3.0, 30, still, still, qd=[still, spun]))
    assert found == pytest.approx({"energy_drawn": 0.0, "energy_fed_back": 12.0}, rel=1e-13)


def test_energy_drawn_less_energy_fed_back_is_the_integral_of_the_power(moments, gathered):
    changes = {"duration": 0.2, "integrator.dt": 5e-4, "log.every": 5e-4}
    run = armsim.simulate("arm5_sine", changes)
    power = sum(run[f"power_R{i}_W"] for i in range(1, 6))
    _, seen = moments("arm5_sine", changes)
    found = gathered(["energy_drawn", "energy_fed_back"], seen)
    for name, part in (("energy_drawn", np.maximum(power, 0)), ("energy_fed_back", np.maximum(-power, 0))):
        assert found[name] == pytest.approx(np.sum(part[1:] + part[:-1]) / 2 * 5e-4, rel=1e-12)
        assert found[name] > 0


def test_an_arm_without_electric_motors_draws_no_electrical_energy(arms, told):
    with pytest.raises(armsim.UsageError) as caught:
        measures_of(["energy_drawn"], Plant(arms.bare(arms.shipped("arm5")), None))
    told(caught.value)


@pytest.mark.parametrize("scenario", ["arm5_hold", "puma560_hold"])
@pytest.mark.handful(1)
def test_peak_torques_and_the_final_state_are_those_of_the_runs_summary(moments, gathered, scenario):
    changes = {"duration": 0.02, "log.every": 0.01}
    summary = armsim.simulate(scenario, changes).summary()
    _, seen = moments(scenario, changes)
    found = gathered(["peak_torque", "pose", "energy", "error", "duration"], seen)
    for joint in summary["joints"]:
        assert found[f"peak_torque_{joint['name']}"] == joint["peak_torque"]
        assert gathered([f"peak_torque_{joint['name']}"], seen[-1:]) != {}
    assert [found[f"{x}_m"] for x in "xyz"] == summary["tool"]["position"]
    assert [found[f"q{x}"] for x in "wxyz"] == summary["tool"]["quaternion"]
    assert [found["kinetic_energy_J"], found["potential_energy_J"]] == [*summary["energy"]["end"].values()]
    assert found["error"] == max(abs(joint["error"]) for joint in summary["joints"])
    assert found["duration"] == summary["duration"]
