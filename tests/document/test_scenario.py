"""What a scenario file builds."""

import math

import pytest

from armsim.errors import FileFaults, UsageError
from armsim.integrate import METHODS, Tolerance
from armsim.loading import build_scenario, load_scenario_file, read_scenario

BASE = {
    "format": "armsim/scenario/1",
    "robot": "arm5",
    "duration": 1,
    "integrator": {"method": "rk4", "dt": "1e-3"},
}


def test_what_is_left_out_comes_from_the_robot():
    scenario = read_scenario({**BASE, "control": {"law": "pd", "output": "voltage", "kp": 60, "kd": [1, 2, 3, 4, 5]}})
    assert scenario.initial_q == scenario.command.target == (0, -1.1, 0.3, 0, 0)
    assert scenario.initial_qd == (0,) * 5
    assert scenario.command.law.kp == (60,) * 5
    assert scenario.command.limit == (None,) * 5
    assert scenario.clock.sample_every is None
    assert (scenario.clock.steps, scenario.clock.log_every, scenario.name) == (1000, 1, "scenario")


def test_the_integral_is_limited_like_the_output_unless_said_otherwise():
    control = {"law": "pi", "output": "torque", "kp": 1, "ki": 2, "limit": 24, "period": 0.01}
    scenario = read_scenario({**BASE, "control": control})
    assert scenario.command.law.integral_limit == scenario.command.limit == (24,) * 5
    assert (scenario.command.period, scenario.clock.sample_every) == (0.01, 10)
    other = read_scenario({**BASE, "control": {**control, "integral_limit": [1, 2, 3, 4, 5]}})
    assert other.command.law.integral_limit == (1, 2, 3, 4, 5)


def test_no_law_and_no_control_leave_the_terminals_open():
    assert read_scenario(BASE).command is None
    assert read_scenario({**BASE, "control": {"law": "none"}}).command is None


@pytest.mark.parametrize("name", ["arm5_hold", "arm5_hold_pi", "two_link_hold", "puma560_hold"])
def test_control_is_switched_off_by_its_law_whatever_gains_there_are(name):
    off, without = (read_scenario(name, change) for change in ({"control.law": "none"}, {"control": None}))
    assert off.command is without.command is None
    assert off.arm == without.arm
    assert off.scenario_data == {**without.scenario_data, "control": {"law": "none"}}
    assert read_scenario(off.scenario_data).scenario_data == off.scenario_data


def test_switched_off_a_voltage_needs_no_motor():
    control = {"law": "pd", "output": "voltage", "kp": 1, "kd": 1}
    with pytest.raises(FileFaults, match="no motor on R1, R2"):
        read_scenario({**BASE, "robot": "rr", "control": control})
    assert read_scenario({**BASE, "robot": "rr", "control": {**control, "law": "none"}}).command is None


def test_degrees_of_a_scenario_leave_the_robot_alone():
    scenario = read_scenario({**BASE, "robot": "two_link", "units": {"angle": "deg"},
                              "initial": {"q": [180, 90], "qd": [90, 0]}})  # fmt: skip
    assert scenario.initial_q == (math.pi, math.pi / 2)
    assert scenario.initial_qd == (math.pi / 2, 0)
    radians = read_scenario({**BASE, "robot": "two_link", "initial": {"q": ["pi", "pi/2"]}})
    assert radians.initial_q == scenario.initial_q
    assert radians.arm == scenario.arm


def test_a_payload_stands_in_place_of_the_robots():
    scenario = read_scenario({**BASE, "robot": "two_link", "payload": {"sphere": {"mass": 2, "radius": 0.1}}})
    assert scenario.arm.payloads[0].inertia.mass == 2
    assert scenario.arm.payloads[0].inertia.J.xx == pytest.approx(2 * 2 * 0.01 / 5)


def test_forces_act_between_times_on_the_grid():
    scenario = read_scenario(
        {**BASE, "external": [{"link": "R5", "force": [0, 0, -5], "from": 0.3, "to": "0.1*7"}, {"link": "R1"}]}
    )
    first, second = scenario.external
    assert (scenario.arm.link_of(first.at), first.start, first.end) == (4, 0.3, 0.7)
    assert (scenario.arm.link_of(second.at), second.start, second.end) == (0, None, None)


def test_the_default_log_has_about_a_thousand_rows():
    assert (
        read_scenario({**BASE, "duration": 12.3456, "integrator": {"method": "rk4", "dt": 1e-4}}).clock.log_every == 123
    )


def test_an_integrator_that_is_left_out_is_picked_and_chooses_its_steps():
    scenario = read_scenario({key: value for key, value in BASE.items() if key != "integrator"})
    assert (scenario.method, scenario.tolerance) == ("auto", Tolerance(1e-6, 1e-9))
    assert scenario.scenario_data["integrator"] == {"method": "auto", "rtol": 1e-6, "atol": 1e-9}


def test_tolerances_are_those_of_the_file():
    scenario = read_scenario({**BASE, "integrator": {"method": "rk54", "rtol": "1e-8"}}, {"integrator.atol": "1e-12"})
    assert (scenario.adaptive, scenario.tolerance) == (True, Tolerance(1e-8, 1e-12))
    resolved = scenario.scenario_data
    assert resolved["integrator"] == {"method": "rk54", "rtol": 1e-8, "atol": 1e-12}
    again = read_scenario(resolved)
    assert (again.dt, again.tolerance) == (scenario.dt, scenario.tolerance)


def test_every_method_of_the_registry_can_be_named():
    for name, method in METHODS.items():
        step = {} if method.adaptive else {"dt": 1e-3}
        assert read_scenario({**BASE, "integrator": {"method": name, **step}}).method == name


def test_inputs_are_functions_of_time():
    scenario = read_scenario({**BASE, "robot": "rr", "inputs": {"torque": ["5*sin(5*t)", "2*3"], "period": 0.01}})
    sine, constant = scenario.command.signals
    assert sine(0.3) == pytest.approx(5 * math.sin(1.5), rel=1e-15)
    assert constant(0.3) == 6
    assert scenario.clock.sample_every == 10


def test_pi_is_known_to_inputs_in_degrees():
    # the time's functions take radians whatever the file's angles are in
    scenario = read_scenario({**BASE, "robot": "rr", "units": {"angle": "deg"}, "inputs": {"torque": ["sin(pi*t)", 0]}})
    assert scenario.command.signals[0](0.5) == 1


def test_gains_and_the_robots_numbers_can_be_left_open():
    file = load_scenario_file("arm5_hold")
    opened = build_scenario(file, {"control.kp[2]": 61.0, "robot.joints[R2].motor.Kp": 12.0, "initial.q[0]": 0.1})
    changed = read_scenario("arm5_hold", {"control.kp[2]": 61, "robot.joints[R2].motor.Kp": 12, "initial.q[0]": "0.1"})
    assert (opened.command, opened.arm, opened.initial_q) == (changed.command, changed.arm, changed.initial_q)


def test_structure_cannot_be_left_open():
    with pytest.raises(UsageError, match="part of the structure"):
        build_scenario(load_scenario_file("arm5_hold"), {"integrator.dt": 1e-3})


def test_overrides_leave_the_file_and_each_other_alone(tmp_path):
    text = "format: armsim/scenario/1\nrobot: arm5\nduration: 1\nintegrator: {method: rk4, dt: 1e-3}\n"
    text += "control: {law: pd, output: torque, kp: &k [1, 1, 1, 1, 1], kd: *k}\n"
    (tmp_path / "s.yaml").write_text(text)
    scenario = read_scenario(tmp_path / "s.yaml", {"control.kp[0]": "80"})
    assert scenario.command.law.kp == (80, 1, 1, 1, 1)
    assert scenario.command.law.kd == (1, 1, 1, 1, 1)


def test_keys_that_were_left_out_can_be_set():
    scenario = read_scenario("arm5_hold", {"control.period": "1e-3", "payload.mass": 0.5, "robot.joints[0].friction.viscous": 2,
                                           "initial.q": "[0, 0, 0, 0, 0]", "control.limit": 24})  # fmt: skip
    assert scenario.clock.sample_every == 10
    assert scenario.arm.payloads[0].inertia.mass == 0.5
    assert scenario.arm.joints[0].viscous == 2
    assert scenario.initial_q == (0,) * 5
    assert scenario.command.limit == (24,) * 5


def test_the_inputs_of_a_plan_are_limited_in_their_own_unit_whatever_control_puts_out():
    control = {"law": "pd", "output": "voltage", "kp": 1, "kd": 1}
    plan = {"to": {"q": [0] * 5}, "minimise": "energy", "output": "torque", "limit": "5e3 N*mm"}
    found = load_scenario_file({**BASE, "control": control, "plan": plan})
    assert [limit.value for limit in found.document.plan.limit] == [5.0] * 5
