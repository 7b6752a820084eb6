"""Which method integrates a scenario that leaves it to armsim, and what it says about that."""

import pytest

import armsim
from armsim.errors import UsageError
from armsim.run.method_choice import with_method
from armsim.spec import read_scenario

BASE = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 0.5}
OPEN = "it chooses its steps, and nothing decays by itself"


def picked(scenario, **overrides) -> tuple[str, str]:
    found = with_method(read_scenario(scenario, overrides))
    return found.method, found.picked


def slide(dt: float | None = None, duration: float = 1.0, every: float = 0.01, **law) -> dict:
    """A slide of 1 kg without gravity, held by its controller."""
    joint = {"name": "slide", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": duration,
        "integrator": {} if dt is None else {"dt": dt},
        "control": {"law": "pd", "output": "torque", **law},
        "log": {"every": every},
    }


def test_without_a_step_it_follows_from_how_fast_the_arm_is_between_landings():
    # back-EMF: 3449 1/s (reference); rows are 10 ms apart
    voltage = {**BASE, "inputs": {"voltage": [0] * 5}, "log": {"every": 0.01}}
    assert picked(voltage) == ("rodas", "the fastest mode decays in 290 µs, and it lands every 10 ms")
    assert picked({**voltage, "log": {"every": 1e-3}}) == (
        "rk54",
        "the fastest mode decays in 290 µs, and it lands every 1 ms",
    )
    assert picked("rr_config1", integrator={}) == ("rk54", OPEN)
    # critically damped by kd = 2 w: a rate of w, times 0.1 s at most, however rarely it lands
    assert picked(slide(kp=90**2, kd=180, every=0.5))[0] == "rk54"
    assert picked(slide(kp=110**2, kd=220, every=0.5))[0] == "rodas"


def test_with_a_step_it_is_rk4_as_long_as_that_takes_it_with_room_to_spare():
    # twice 50 1/s: rk4 is stable up to 2.785 / 50 s, over 1.2 is 46.4 ms
    method, why = picked(slide(0.04, 2.0, 0.04, kp=50**2, kd=100))
    assert (method, why) == ("rk4", "it is stable up to 55.7 ms, and the most precise at a given step")
    method, why = picked(slide(0.05, 2.0, 0.05, kp=50**2, kd=100))
    assert (method, why) == ("velocity_implicit", "it is stable up to 96.6 ms, and rk4 only up to 55.7 ms")
    # h² k < 4 + 2 h d of the implicit one
    h, k, d = 0.0966, 50**2, 100
    assert h * h * k == pytest.approx(4 + 2 * h * d, rel=2e-3)


def test_stops_that_rk4_would_make_chatter_count():
    assert picked("arm5_hold", integrator={"dt": 1e-4}) == (
        "velocity_implicit",
        "it is stable up to 13.8 ms, and rk4 only up to 76.8 µs (with the stop of R4 engaged)",
    )
    assert picked("arm5_hold", integrator={"dt": 5e-5})[0] == "rk4"


def test_an_implicit_spring_or_the_adaptive_method_take_what_no_damping_bounds():
    spring = slide(0.1, 2.0, 0.1, kp=50**2, kd=0)
    method, why = picked(spring)
    assert (method, why) == ("implicit_midpoint", "it is stable at any step, and rk4 only up to 56.6 ms")


def test_an_arm_that_swings_a_hundred_times_takes_what_keeps_its_energy():
    # its slowest swing is 2.6906 rad/s: 128 in 300 s, 43 in 100
    method, why = picked("two_link_swing", integrator={"dt": 1e-3}, duration=300)
    assert (method, why) == (
        "implicit_midpoint",
        "nothing damps the arm, and it keeps the energy over 128 swings and more",
    )
    assert picked("two_link_swing", integrator={"dt": 1e-3}, duration=100)[0] == "rk4"
    damped = {"robot.joints[elbow].friction": {"viscous": 0.1}}
    assert picked("two_link_swing", integrator={"dt": 1e-3}, duration=300, **damped)[0] == "rk4"


def test_what_was_picked_is_not_refused_and_says_nothing_of_its_step():
    for scenario, dt in (("arm5_hold", 1e-3), ("two_link_hold", 1e-2), ("puma560_hold", 1e-3), ("rr_config5", 1e-2)):
        run = armsim.simulate(scenario, {"integrator": {"dt": dt}, "log.every": 0.1})
        assert run.status == "complete"
        assert run.summary()["advice"] == []


def test_a_method_that_is_named_is_taken_without_a_word():
    scenario = read_scenario({**BASE, "integrator": {"method": "explicit_euler", "dt": 1e-4}})
    assert with_method(scenario) is scenario
    assert not scenario.picked


def test_dynamechs_motors_take_their_own_method_and_need_its_step():
    link = {"name": "A", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}]}
    motor = {"model": "dynamechs", "Kp": 1, "Ra": 1}
    robot = {"format": "armsim/robot/1", "name": "one", "joints": [{**link, "motor": motor}]}
    asked = {**BASE, "robot": robot, "inputs": {"voltage": [1]}}
    assert with_method(read_scenario({**asked, "integrator": {"dt": 5e-4}})).method == "explicit_euler"
    with pytest.raises(UsageError, match=r"^integrator\.dt\n  expected: the step that DynaMechs took"):
        armsim.simulate(asked)


def test_a_run_records_what_was_picked_and_repeats_to_the_bit(tmp_path):
    asked = {**BASE, "inputs": {"voltage": ["sin(20*t)", 1, 0, 0, 0]}, "log": {"every": 0.01}}
    run = armsim.simulate(asked)
    assert run.summary()["picked"] == "the fastest mode decays in 290 µs, and it lands every 10 ms"
    folder = run.save(tmp_path / "run")
    again = armsim.simulate(folder / "run.yaml")
    assert (again.scenario.method, again.scenario.dt, again.scenario.picked) == ("rodas", 0.01, "")
    assert again.table.tobytes() == run.table.tobytes()
    assert again.state == run.state
