"""Motions that show parameters, and whether the intervals that they promise hold."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import armsim
from armsim.arm.robot import load_robot
from armsim.errors import UsageError
from armsim.identification import excite as room
from armsim.identification.excite import excite, motor_loads, save
from armsim.recording.command_history import CommandHistory
from armsim.recording.measured_log import MeasuredLog
from tests.identification.elbow import MOTOR, elbow

FRICTION = ["joints[*].friction.viscous", "joints[*].friction.coulomb.positive", "joints[*].friction.coulomb.negative"]
MASSES = ["joints[1].bodies[0].box.mass", "joints[2].bodies[0].box.mass"]
PATHS = [*FRICTION, *MASSES, "joints[*].motor.rotor_inertia"]
NOISE = 1e-4


@pytest.fixture(scope="module")
def found():
    """The motion for a log of torques, or of voltages, found when first asked for."""
    noise = {"torque": 0.0, "voltage": 0.02}
    return cache(lambda of: excite(elbow(), PATHS, 5, NOISE, noise[of], of, 500))


@pytest.fixture
def short_search(monkeypatch):
    """Where another motion would do, too."""
    monkeypatch.setattr(room, "ITERATIONS", 2)


def promised_and_found(excitation, command_noise: float, seeds, folder, overrides=None) -> tuple[np.ndarray, ...]:
    """Intervals promised, those that `armsim.identify` finds, and its errors, from logs under a sampled controller."""
    save(excitation, elbow(), str(folder))
    run, of, found = armsim.simulate(folder / "excite.yaml", overrides or {}), excitation.measured, []
    columns = (("q", "rad"), {"torque": ("tau_motor", "Nm"), "voltage": ("voltage", "V")}[of])
    q, u = (np.column_stack([run[f"{name}_J{i}_{unit}"] for i in (1, 2, 3)]) for name, unit in columns)
    for seed in seeds:
        draw = np.random.default_rng(seed)
        commands = CommandHistory(run.t, u + draw.normal(0, command_noise, u.shape))
        log = MeasuredLog("log.csv", run.t, q + draw.normal(0, NOISE, q.shape), None, commands, of, of)
        found.append(armsim.identify(log, elbow(), PATHS).estimates)
    within, values = (np.array([[getattr(x, key) for x in each] for each in found]) for key in ("within", "value"))
    promised = {x.path: (x.interval, x.value) for x in excitation.numbers}
    intervals, truth = np.array([promised[x.path] for x in found[0]]).T
    return intervals, within, values - truth


def test_promised_intervals_are_those_of_a_log_whose_commands_are_held(found, tmp_path):
    """A controller samples once a row; joints stick, gears lose."""
    promised, within, errors = promised_and_found(found("torque"), 0.0, [0], tmp_path)
    ratios = promised / within
    assert 0.7 < np.exp(np.log(ratios).mean()) < 1.4
    assert np.all((ratios > 1 / 3) & (ratios < 3))  # of 30 windows, whose spread each interval tells
    assert np.mean(np.abs(errors) < promised) > 0.75  # of 14; 200 intervals are below
    assert np.all(np.abs(errors) < 2.5 * promised)


@pytest.mark.slow
@pytest.mark.parametrize(("of", "command_noise"), [("torque", 0.0), ("voltage", 0.02)])
def test_promised_intervals_cover_the_truth_in_logs_whose_commands_are_held(of, command_noise, found, tmp_path):
    volts = MOTOR["Ra"] / (MOTOR["gear"] * MOTOR["Kp"])
    law = found(of).scenario(load_robot(elbow()), "")["control"]
    gains = {f"control.{key}": [volts * x for x in law[key]] for key in ("kp", "kd")}
    overrides = {"control.output": "voltage", **gains} if of == "voltage" else {}
    promised, within, errors = promised_and_found(found(of), command_noise, range(15), tmp_path, overrides)
    ratios = promised / within
    assert 0.7 < np.exp(np.log(ratios).mean()) < 1.4
    assert np.all(np.abs(np.log(np.median(ratios, axis=0))) < np.log(2.0))
    assert 0.9 < np.mean(np.abs(errors) < promised) < 0.99  # of 210; of single numbers two thirds at least


def test_the_search_finds_a_motion_that_tells_more_than_random_ones(found):
    searched = found("voltage")
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


@pytest.mark.slow
def test_twice_the_motion_promises_intervals_shorter_by_the_root_of_two_and_twice_the_noise_twice_as_long(
    short_search, monkeypatch
):
    monkeypatch.setattr(room, "LOGS", 1)

    def widths(duration: float, noise: float) -> np.ndarray:
        found = excite(elbow(), MASSES, duration, noise, rate=50)  # periods of 10 s, found by the same search
        return np.array([x.deviation for x in found.numbers])

    once = widths(40, 1e-6)  # of which windows are a second
    np.testing.assert_allclose(widths(80, 1e-6) * np.sqrt(2), once, rtol=0.1)
    np.testing.assert_allclose(widths(40, 2e-6), 2 * once, rtol=0.1)


def test_the_files_are_followed_and_read(found, tmp_path):
    written = save(found("torque"), elbow(), str(tmp_path / "new"))
    planned = armsim.reference(written[0])
    assert not planned.exceeded
    q, _, qdd = found("torque").motion.at(planned.t)
    np.testing.assert_allclose(planned.q, q, atol=1e-12)
    np.testing.assert_allclose(planned.qdd, qdd, atol=1e-10)
    heading, *rows = (tmp_path / "new" / "excite.csv").read_text().splitlines()
    assert heading.startswith("t_s,q_J1_rad,")
    assert len(rows) == 5 * 500 + 1


@pytest.mark.slow
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
