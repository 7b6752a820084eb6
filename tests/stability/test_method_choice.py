"""Which method integrates a scenario that leaves it to armsim, and what it says about that."""

import pytest

import armsim
from armsim.errors import UsageError
from armsim.loading import read_scenario
from armsim.stability.method_choice import with_method

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


def test_whatever_can_damp_makes_it_the_method_for_stiff_motions():
    stiff = " can decay much faster than the arm moves; that does not limit its steps"
    voltage = {**BASE, "inputs": {"voltage": [0] * 5}, "log": {"every": 0.01}}
    assert picked(voltage) == ("rodas", "back-EMF and stops" + stiff)
    assert picked("rr_config1", integrator={}) == ("rk54", OPEN)
    assert picked(slide(kp=900, kd=1e-9)) == ("rodas", "derivative gains" + stiff)
    assert picked(slide(kp=900, kd=0)) == ("rk54", OPEN)
    assert picked(slide(kp=900, kd=20, period=0.01, dt=0.01, every=0.01)) == ("rk54", OPEN)  # held between samples
    rubbing = {"robot.joints[elbow].friction": {"viscous": 0.1}}
    assert picked("two_link_swing", integrator={}, **rubbing) == ("rodas", "viscous friction" + stiff)
    assert picked("two_link_swing", integrator={})[0] == "rk54"


def test_a_rotor_that_rubs_damps_as_a_joint_that_rubs_does():
    # the joint feels gear² times the rotor's viscous friction: docs/files.md
    def with_rotor(viscous):
        return picked(
            "two_link_swing", integrator={}, **{"robot.joints[elbow].motor": {"gear": 10, "viscous": viscous}}
        )

    joint = picked("two_link_swing", integrator={}, **{"robot.joints[elbow].friction": {"viscous": 1e-3}})
    assert joint[0] == "rodas"
    assert with_rotor(1e-5) == joint
    assert with_rotor(0) == ("rk54", OPEN)


def test_values_other_than_zero_make_no_difference():
    # or a number that is left open would not take the method of the number written in
    kinds = {picked(slide(kp=kp, kd=kd, every=every)) for kp in (1, 1e6) for kd in (1e-6, 1e3) for every in (1e-3, 0.5)}
    assert len(kinds) == 1
    for mass in (1e-3, 1e3):
        changed = {"robot.joints[R1].bodies[0].cylinder.mass": mass}
        assert picked("arm5_hold", integrator={}, **changed) == picked("arm5_hold", integrator={})


def test_an_arm_that_swings_for_long_takes_what_keeps_its_energy():
    method, why = picked("two_link_swing", integrator={"dt": 1e-3}, duration=300)
    assert method == "implicit_midpoint"
    assert why == "nothing damps or drives the arm, and it keeps the energy, also over 300 s"
    assert picked("two_link_swing", integrator={"dt": 1e-3}, duration=100)[0] == "rk54"
    damped = {"robot.joints[elbow].friction": {"viscous": 0.1}}
    assert picked("two_link_swing", integrator={"dt": 1e-3}, duration=300, **damped)[0] == "rodas"
    rubbing = {"robot.joints[elbow].friction": {"coulomb": 0.1}}  # it takes energy, though nothing decays
    assert picked("two_link_swing", integrator={"dt": 1e-3}, duration=300, **rubbing)[0] == "rk54"


@pytest.mark.slow
def test_what_was_picked_is_not_refused_and_says_nothing_of_its_step():
    for scenario, dt in (("arm5_hold", 1e-3), ("two_link_hold", 1e-2), ("puma560_hold", 1e-3), ("rr_config5", 1e-2)):
        run = armsim.simulate(scenario, {"integrator": {"dt": dt}, "log.every": 0.1})
        assert run.status == "complete"
        assert run.summary()["advice"] == []


@pytest.mark.parametrize(("viscous", "duration"), [(0.05, 1e7), (300.0, 4000.0)])
def test_a_pendulum_that_comes_to_rest_takes_few_steps_however_long_it_is_watched(viscous, duration):
    row = {"name": "swing", "type": "revolute", "mdh": {"alpha": "pi/2"}, "friction": {"viscous": viscous}}
    row["bodies"] = [{"point": {"mass": 1.0, "center": [0.5, 0, 0]}}]
    robot = {"format": "armsim/robot/1", "name": "pendulum", "gravity": [0, 0, -9.81], "joints": [row]}
    made = {"format": "armsim/scenario/1", "name": "watched", "robot": robot, "duration": duration}
    run = armsim.simulate({**made, "log": {"every": duration / 10}, "initial": {"q": [1.0]}})
    assert sum(run.steps_chosen) < 10_000
    assert run.q[-1] == pytest.approx([-1.5707963267948966], abs=1e-9)


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


@pytest.mark.slow
def test_a_run_records_what_was_picked_and_repeats_to_the_bit(tmp_path):
    asked = {**BASE, "inputs": {"voltage": ["sin(20*t)", 1, 0, 0, 0]}, "log": {"every": 0.01}}
    run = armsim.simulate(asked)
    assert run.summary()["picked"].startswith("back-EMF and stops can decay")
    folder = run.save(tmp_path / "run")
    again = armsim.simulate(folder / "run.yaml")
    assert (again.scenario.method, again.scenario.dt, again.scenario.picked) == ("rodas", 0.01, "")
    assert again.table.tobytes() == run.table.tobytes()
    assert again.state == run.state
