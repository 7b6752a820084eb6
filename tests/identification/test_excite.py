"""Motions that show parameters, and whether the intervals that they promise hold."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.arm.robot import load_robot
from armsim.errors import UsageError
from armsim.identification import excite as room
from armsim.identification.command_model import CommandModel
from armsim.identification.excite import excite, motor_loads, save
from armsim.identification.linear import estimate
from armsim.identification.signals import smooth
from armsim.loading.open_robot import OpenRobot
from tests.identification.elbow import MOTOR, elbow

FRICTION = ["joints[*].friction.viscous", "joints[*].friction.coulomb.positive", "joints[*].friction.coulomb.negative"]
MASSES = ["joints[1].bodies[0].box.mass", "joints[2].bodies[0].box.mass"]
PATHS = [*FRICTION, *MASSES, "joints[*].motor.rotor_inertia"]
NOISE = 1e-4


@pytest.fixture(scope="module")
def found():
    return {of: excite(elbow(), PATHS, 5, NOISE, x, of, 500) for of, x in (("torque", 0.0), ("voltage", 0.02))}


@pytest.fixture
def short_search(monkeypatch):
    """Where another motion would do, too."""
    monkeypatch.setattr(room, "ITERATIONS", 2)


def draws(excitation, q, commands, command_noise: float, many: int) -> np.ndarray:
    """Errors of estimates from noisy logs of a motion, over the deviations that were promised."""
    model, rng, errors = CommandModel(OpenRobot(elbow(), PATHS), excitation.measured), np.random.default_rng(5), []
    promised = np.array([number.deviation for number in excitation.numbers])
    for _ in range(many):
        smoothed = smooth(excitation.t, q + rng.normal(0, NOISE, q.shape), spacing=excitation.spacing)
        noisy = commands + rng.normal(0, command_noise, q.shape)
        one = estimate(model, smoothed.q, smoothed.qd, smoothed.qdd, noisy, weights=smoothed.weights)
        errors.append((one.values - model.start) / promised)
    return np.array(errors)


def test_promised_intervals_are_the_spread_of_estimates_from_simulated_logs(found, tmp_path):
    # the arm follows the motion under its controller, joints that stick and gears that lose included
    excitation = found["voltage"]
    save(excitation, elbow(), str(tmp_path))
    run = armsim.simulate(
        tmp_path / "excite.yaml", {"control.period": None}
    )  # commands are those of the rows' instants
    q, voltage = (
        np.column_stack([run[f"{name}_J{i}_{unit}"] for i in (1, 2, 3)])
        for name, unit in (("q", "rad"), ("voltage", "V"))
    )
    errors = draws(excitation, q, voltage, 0.02, 20)
    assert 0.91 < np.mean(np.abs(errors) < 1.96) < 0.985  # of 280, 95 % promised; deviations of 20 are known to a sixth
    assert np.all(errors.std(axis=0) < 1.5)
    assert np.all(errors.std(axis=0) > 0.6)


def test_noise_of_positions_alone_spreads_estimates_as_promised(found):
    excitation, robot = found["torque"], load_robot(elbow())
    q, qd, qdd = excitation.motion.at(excitation.t)
    errors = draws(excitation, q, robot.inverse_dynamics(q, qd, qdd), 0.0, 12)
    assert 0.8 < np.sqrt(np.mean(errors**2)) < 1.2


@pytest.mark.slow
@pytest.mark.parametrize("of", ["torque", "voltage"])
def test_promised_intervals_cover_the_truth_in_200_logs(of, found):
    excitation, robot = found[of], load_robot(elbow())
    q, qd, qdd = excitation.motion.at(excitation.t)
    tau = robot.inverse_dynamics(q, qd, qdd)
    commands = tau if of == "torque" else robot.motor_demand(qd, tau)[0]
    errors = draws(excitation, q, commands, 0.0 if of == "torque" else 0.02, 200)
    covered = np.mean(np.abs(errors) < 1.96, axis=0)
    assert np.all((covered > 0.88) & (covered < 0.995))
    assert 0.93 < covered.mean() < 0.98


def test_the_search_finds_a_motion_that_tells_more_than_random_ones(found):
    searched = found["voltage"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "ITERATIONS", 0)  # then it is the best of 64 draws
        drawn = [excite(elbow(), PATHS, 5, NOISE, 0.02, "voltage", 500, seed=k) for k in range(2)]
    volume = [np.log([x.deviation for x in one.numbers]).mean() for one in (searched, *drawn)]
    assert all(volume[0] < other - 0.15 for other in volume[1:])  # by 0.23 and 0.25 here: intervals a fifth shorter


def test_motors_limits_hold_between_samples_and_the_ranges_of_joints_too():
    limits = {"voltage": 24, "current": 2.0, "speed": 60.0}
    file = elbow(motor=MOTOR | {"limits": limits})
    file["joints"][2] |= {"limits": {"lower": 0.2, "upper": 1.2}, "initial": 0.5}
    found = excite(file, FRICTION, 4, measured="voltage", rate=250)
    assert found.share < 1.0
    robot = load_robot(file)
    t = np.random.default_rng(0).uniform(0, 4, 20000)
    q, qd, qdd = found.motion.at(t)
    loads = motor_loads(robot, q, qd, qdd)
    assert set(loads) == {f"{x} of J{i}" for x in limits for i in (1, 2, 3)}
    assert 0.95 < max(loads.values()) <= 1.0
    assert ((q[:, 2] > 0.2) & (q[:, 2] < 1.2)).all()
    assert np.all(np.abs(qd) <= 60.0 / 40)


def test_numbers_that_no_motion_shows_are_named(short_search):
    file = {"Ra": 1.2, **MOTOR}
    found = excite(
        elbow(motor=file),
        ["joints[J1].bodies[0].box.mass", "joints[J1].motor.rotor_inertia", "joints[J2].motor.Ra"],
        2,
        rate=250,
    )
    assert [list(one.factors) for one in found.unseen] == [
        ["joints[J1].motor.rotor_inertia", "joints[J1].bodies[0].box.mass"],
        ["joints[J2].motor.Ra"],
    ]
    assert np.isinf([number.deviation for number in found.numbers]).all()


def test_three_periods_promise_intervals_shorter_by_the_root_of_three_and_twice_the_noise_twice_as_long(short_search):
    def widths(duration: float, command_noise: float) -> np.ndarray:
        found = excite(
            elbow(), MASSES, duration, 1e-6, command_noise, rate=50
        )  # periods of 10 s, found by the same search
        return np.array([x.deviation for x in found.numbers])

    once = widths(10, 1.0)
    np.testing.assert_allclose(widths(30, 1.0) * np.sqrt(3), once, rtol=0.03)  # ends are left out once
    np.testing.assert_allclose(widths(10, 2.0), 2 * once, rtol=0.01)


def test_the_files_are_followed_and_read(found, tmp_path):
    written = save(found["torque"], elbow(), str(tmp_path / "new"))
    planned = armsim.reference(written[0])
    assert not planned.exceeded
    q, _, qdd = found["torque"].motion.at(planned.t)
    np.testing.assert_allclose(planned.q, q, atol=1e-12)
    np.testing.assert_allclose(planned.qdd, qdd, atol=1e-10)
    heading, *rows = (tmp_path / "new" / "excite.csv").read_text().splitlines()
    assert heading.startswith("t_s,q_J1_rad,")
    assert len(rows) == 5 * 500 + 1


def test_one_seed_finds_one_motion_and_prismatic_trees_have_one(short_search):
    one, other = (
        excite("arm5_gripper", ["payload.mass", "joints[F1].friction.viscous"], 2, rate=100) for _ in range(2)
    )
    np.testing.assert_array_equal(one.motion.sines, other.motion.sines)
    assert one.numbers[1].unit == "N·s/m"
    assert np.isfinite(one.numbers[0].deviation)


def test_wrong_input_is_refused_with_what_to_do(told, short_search):
    slider = {"name": "P", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}
    rail = {"format": "armsim/robot/1", "name": "rail", "gravity": [0, 0, -9.81], "joints": [slider]}
    weak = elbow(motor=MOTOR | {"limits": {"torque": 1e-3}})
    cases = [
        lambda: excite(elbow(), []),
        lambda: excite(elbow(), FRICTION, duration=0),
        lambda: excite(elbow(), FRICTION, duration=0.01),
        lambda: excite(elbow(), FRICTION, noise=[1e-4, 1e-4]),
        lambda: excite(elbow(), FRICTION, command_noise=-1),
        lambda: excite(elbow(), FRICTION, speed=0),
        lambda: excite(elbow(), ["joints[J7].friction.viscous"]),
        lambda: excite(elbow(), FRICTION, measured="amperes"),
        lambda: excite(elbow(), ["joints[*].motor.Ra"], 2, rate=100),
        lambda: excite(rail, ["joints[P].friction.viscous"]),
        lambda: excite(weak, FRICTION, 2, rate=100),
    ]
    for case in cases:
        with pytest.raises(UsageError) as raised:
            case()
        told(str(raised.value))
