"""Numbers of a robot found from logs of arms whose numbers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.identification import shooting
from armsim.identification.windows import without_spikes
from armsim.recording.command_history import CommandHistory
from armsim.recording.measured_log import MeasuredLog
from tests.identification.simulated import inside, logged, rod

FRICTION = {"joints[A].friction.viscous": 0.05, "joints[A].friction.coulomb": 0.3}
TRUTH = {**FRICTION, "joints[A].motor.Kp": 0.5}
BEGUN = rod(0.02, 0.1, 0.6)  # what the file has: wrong in all three


def found_of(log, robot=BEGUN, open=("friction", "joints[*].motor.Kp"), **options):
    return armsim.identify(log, robot, list(open), method="rk4", **options)


def test_a_log_without_noise_gives_the_numbers_it_was_made_with():
    found = found_of(logged(rod()))
    for path, x in TRUTH.items():
        assert (
            found[path].within < 1e-4 * x
        )  # what the sensor's curvature passes for noise: the model is the one that made it
    assert all(inside(found, TRUTH).values())
    assert found.explained
    assert found.unseen == () == found.close


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.handful(1)
def test_noise_encoder_and_delay_leave_the_numbers_within_three_intervals(seed):
    found = found_of(logged(rod(), noise=3e-4, bits=12, late=1, seed=seed), delay=True)
    truth = {**TRUTH, "delay": 1 / 250}
    assert all(inside(found, truth, 3.0).values())  # 6 standard deviations: how often one suffices, surveys tell
    assert all(found[path].within < 0.2 * x for path, x in truth.items())
    assert found.residuals[0].quantum == pytest.approx(2 * np.pi / 4096, rel=1e-3)
    assert found.explained


def test_friction_that_the_file_lacks_is_found():
    found = found_of(logged(rod()), rod(None, None), ["friction"])
    assert [found[path].written for path in FRICTION] == [0.0, 0.0]
    for path, x in FRICTION.items():
        assert found[path].value == pytest.approx(x, rel=1e-5)


@pytest.mark.slow
def test_friction_that_is_not_there_is_as_good_as_none():
    found = found_of(logged(rod(0.05, None), noise=1e-4), open=["joints[A].friction.coulomb"], robot=rod(0.05, 0.1))
    one = found["joints[A].friction.coulomb"]
    assert 0.0 <= one.value < 3.0 * one.within < 0.01


@pytest.mark.slow
def test_a_voltage_shows_of_torque_constant_resistance_and_viscous_friction_two_combinations_alone():
    """Kp/Ra drives and Kp²/Ra + viscous damps: one direction of the three changes neither."""
    robot = rod(0.04, 0.3, 0.55)
    paths = ["joints[A].friction.viscous", "joints[A].motor.Kp", "joints[A].motor.Ra"]
    found = found_of(logged(rod(), noise=1e-5), robot, [*paths, "joints[A].friction.coulomb"])
    (direction,) = found.unseen
    # Kp'/Kp = Ra'/Ra, and viscous' = (Kp/Ra)² Ra' - 2 (Kp/Ra) Kp'
    expected = dict(zip(paths, (-0.25, 0.5, 1.0), strict=True))
    assert direction.factors == pytest.approx(expected, rel=2e-3)  # by far more than noise of 1e-5 rad leaves
    # of all solutions it is the one nearest to the file, in shares of its numbers
    written = np.array([0.04, 0.55, 1.0])
    far, along = (np.array([x[path] for path in paths]) for x in (found.values, direction.factors))
    assert abs(((far - written) / written) @ (along / written)) < 1e-3 * np.linalg.norm(along / written)
    viscous, Kp, Ra = (found[path].value for path in paths)
    assert Kp / Ra == pytest.approx(0.5, rel=1e-4)
    assert Kp**2 / Ra + viscous == pytest.approx(0.3, rel=1e-4)
    assert [found[path].within for path in paths] == [None] * 3
    assert inside(found, {"joints[A].friction.coulomb": 0.3}, 3.0)


@pytest.mark.parametrize("rate", [100, 250])
@pytest.mark.slow
def test_a_model_without_the_friction_of_the_arm_is_noticed(rate):
    """However few rows a window has."""
    found = found_of(logged(rod(), noise=1e-4, rate=rate), rod(0.05, None), ["joints[A].motor.Kp"])
    assert not found.explained
    assert found.residuals[0].slow > 3.0 * found.residuals[0].noise


@pytest.mark.parametrize("output", ["current", "torque"])
@pytest.mark.handful(0)
def test_currents_show_the_torque_constant_and_torques_do_not(output):
    log = logged(rod(), noise=1e-5, output=output, amplitude={"current": 8.0, "torque": 4.0}[output])
    if output == "current":
        assert all(inside(found_of(log), TRUTH, 3.0).values())
    else:
        found = found_of(log)
        assert [one.text for one in found.unseen] == ["joints[A].motor.Kp"]
        assert found["joints[A].motor.Kp"].value == 0.6  # as the file has it


def rows_of(log, keep):
    """A log of some of its rows."""
    return replace(log, t=log.t[keep], q=log.q[keep], commands=CommandHistory(log.t[keep], log.inputs[keep]))


@pytest.mark.slow
def test_rows_that_are_missing_and_uneven_do_no_harm():
    """Commands change every fifth row, in which a log of a slow controller loses others."""
    log = logged(rod(), seconds=8.0, noise=1e-5, rate=1000, held=5)
    keep = np.random.default_rng(1).random(len(log.t)) < 0.6
    keep[::5] = True
    keep[3001:3400] = False  # a gap, over which nothing is simulated
    found = found_of(rows_of(log, keep))
    assert all(inside(found, TRUTH, 3.0).values())


def test_rows_that_a_sensor_spoils_are_left_out_and_told():
    log, random = logged(rod(), noise=1e-4, seed=1), np.random.default_rng(0)
    spoilt = random.choice(np.arange(2, len(log.t) - 2), 30, replace=False)
    q = log.q.copy()
    q[spoilt] += random.choice([-0.5, 0.5], (30, 1))
    found = found_of(replace(log, q=q))
    (left,) = found.logs
    assert {*log.t} - {*left.t} == {*log.t[spoilt]}
    assert left.notes[0].startswith(f"30 of {len(log.t)} rows left out, the first at {log.t[spoilt.min()]:.6g} s")
    assert found.explained
    assert all(inside(found, TRUTH, 3.0).values())
    assert all(found[path].within < 0.1 * x for path, x in TRUTH.items())


@pytest.mark.parametrize(
    "options", [{"bits": 8}, {"rate": 20}, {"noise": 1e-3, "rate": 1000}, {"noise": 1e-3, "bits": 12}]
)
def test_rows_of_encoders_fast_motion_and_noise_are_all_kept(options):
    log = logged(rod(), **options)
    assert without_spikes(log) is log


@pytest.mark.slow
def test_rows_between_steps_do_no_harm():
    """Rows 3 and 4 ms apart, steps of 3.5 ms: half of all rows are between two."""
    log = logged(rod(), noise=1e-6, rate=1000, held=7)
    keep = np.isin(np.arange(len(log.t)) % 7, (0, 3))
    found = found_of(rows_of(log, keep), dt=4e-3)
    assert found.dt == pytest.approx(3.5e-3)
    assert all(inside(found, TRUTH, 3.0).values())
    assert all(found[path].within < 1e-3 * x for path, x in TRUTH.items())


@pytest.fixture(scope="module")
def controlled():
    """A run of the rod under sampled feedback, as a log of the rows of its samples; and its scenario."""
    control = {"law": "pd", "output": "voltage", "kp": 20, "kd": 2, "period": 4e-3}
    control["reference"] = {"q": ["sin(5*t) - 1.57"]}
    scenario = {"format": "armsim/scenario/1", "robot": rod(), "duration": 6, "control": control}
    scenario |= {"integrator": {"method": "rk4", "dt": 1e-3}, "initial": {"q": [-1.57]}, "log": {"every": 4e-3}}
    made = armsim.record(scenario)
    t, u = made.t, made.inputs
    return MeasuredLog(
        "log", t, made.states[:, :1], made.states[:, 1:2], CommandHistory(t, u), "voltage", "logged"
    ), scenario


@pytest.mark.slow
def test_under_the_controller_that_sees_the_log_the_drift_is_that_under_its_commands(controlled):
    log, scenario = controlled
    found = found_of(log, feedback=scenario)
    assert [one.seconds for one in found.fed] == [one.seconds for one in found.after]
    for fed, after in zip(found.fed, found.after, strict=True):
        assert fed.largest == pytest.approx(after.largest, rel=1e-6, abs=1e-9)
    control = scenario["control"] | {"kp": 10}  # another controller than the one that ran
    other = found_of(log, feedback=scenario | {"control": control})
    assert other.after == found.after
    assert other.fed[-1].largest[0] > 100.0 * found.fed[-1].largest[0]


def test_numbers_come_out_of_a_log_without_commands_by_the_controller_that_ran(controlled, tmp_path):
    log, scenario = controlled
    table = np.column_stack([log.t, log.q, log.qd])
    np.savetxt(tmp_path / "log.csv", table, "%.17g", ",", header="t_s,q_A_rad,qd_A_rad_s", comments="")
    found = found_of(tmp_path / "log.csv", feedback=scenario)
    assert found.explained
    for path, x in TRUTH.items():
        assert found[path].value == pytest.approx(x, rel=1e-4)


def test_of_a_runs_folder_what_was_commanded_drives_the_model(tmp_path):
    control = {
        "law": "pd",
        "output": "torque",
        "kp": 20,
        "kd": 2,
        "period": 4e-3,
        "reference": {"q": ["sin(5*t) - 1.57"]},
    }
    scenario = {"format": "armsim/scenario/1", "robot": rod(), "duration": 3, "control": control}
    scenario |= {"integrator": {"method": "rk4", "dt": 1e-3}, "initial": {"q": [-1.57]}, "log": {"every": 4e-3}}
    run = tmp_path / "run"
    armsim.simulate(scenario).save(run)
    found = found_of(run, open=["friction"])  # voltages change between rows with the velocity: its torques do not
    assert found.explained
    for path, x in FRICTION.items():
        assert found[path].value == pytest.approx(x, rel=1e-4)
    by_voltage = found_of(run, open=["friction"], inputs="voltage")
    assert by_voltage.logs[0].output == "voltage"
    assert abs(by_voltage[path].value - x) > 10.0 * abs(found[path].value - x)


@pytest.mark.slow
def test_numbers_that_are_nearly_alike_converge_from_any_file():
    """Under a current friction of 0.3 mN·m s/rad alone tells torque constant from mass, which correlate by 1 - 1e-6."""
    log = logged(rod(3e-4, None), seconds=4.0, noise=1e-6, output="current", seed=3)
    paths = ["joints[A].motor.Kp", "joints[A].bodies[0].rod.mass"]
    one, other = (found_of(log, rod(3e-4, None, Kp, mass), paths) for Kp, mass in ((0.5, 1.0), (0.6, 0.7)))
    assert max(one.steps, other.steps) < 10
    for path in paths:
        assert one[path].value == pytest.approx(other[path].value, abs=0.1 * one[path].within)


def test_offsets_of_sensors_are_told_from_gravity():
    found = found_of(logged(rod(), noise=1e-5, offset=0.02), offsets=True)
    assert found.explained
    assert found["offset[A]"].within < 1e-4
    assert all(inside(found, {**TRUTH, "offset[A]": 0.02}, 3.0).values())


def test_numbers_come_out_of_a_joint_that_sticks_half_the_time():
    robot = rod(coulomb=1.5)
    log = logged(robot, seconds=12.0, noise=1e-5, late=1)
    still = np.abs(np.diff(log.q[:, 0])) < 5e-5
    assert 0.35 < still.mean() < 0.65
    found = armsim.identify(log, rod(0.02, 1.0, 0.6), ["friction", "joints[*].motor.Kp"], delay=True)
    truth = {**TRUTH, "joints[A].friction.coulomb": 1.5, "delay": 1 / 250}
    assert all(inside(found, truth, 3.0).values())


def test_what_is_left_of_a_true_model_is_white_and_of_a_wrong_one_is_not():
    log = logged(rod(), noise=3e-4)
    right, wrong = (
        found_of(log, BEGUN, paths) for paths in (["friction", "joints[*].motor.Kp"], ["joints[*].motor.Kp"])
    )
    assert abs(right.residuals[0].neighbours) < 0.1  # of 1200 rows, 3.5 standard deviations of white noise
    assert wrong.residuals[0].neighbours > 0.5  # most of it goes on from row to row
    assert (right.explained, wrong.explained) == (True, False)


@pytest.mark.slow
def test_numbers_do_not_depend_on_how_many_threads_share_the_windows(monkeypatch):
    log = logged(rod(), noise=3e-4, bits=12, late=1, offset=0.01)
    told = []
    for threads in (1, 3):
        monkeypatch.setattr(shooting, "AT_ONCE", 1.0)  # a window at a time
        monkeypatch.setattr(shooting, "check_threads", lambda given, threads=threads: threads)
        told.append(armsim.identify(log, BEGUN, ["friction"], delay=True, offsets=True))
    assert told[0].estimates == told[1].estimates


@pytest.mark.slow
def test_two_logs_tell_more_than_one():
    first, second = (logged(rod(), noise=1e-3, seed=seed) for seed in (1, 2))
    alone, both = found_of(first), found_of([first, second])
    assert all(inside(both, TRUTH, 3.0).values())
    assert both["joints[A].motor.Kp"].within < 0.9 * alone["joints[A].motor.Kp"].within


def test_what_is_trusted_stays_where_the_log_says_less():
    """Mass and torque constant scale together under a current; what is known of one tells the other."""
    log = logged(rod(), seconds=3.0, noise=1e-4)
    paths = ["joints[A].motor.Kp", "joints[A].motor.Ra", "joints[A].friction.viscous"]
    found = found_of(log, rod(0.05, 0.3, 0.52), paths, trust=0.1)
    assert found.unseen == ()
    assert all(found[path].within is not None for path in paths)
    assert found["joints[A].motor.Ra"].value == pytest.approx(1.0, abs=0.2)
    assert inside(found, {"joints[A].motor.Kp": 0.5, "joints[A].motor.Ra": 1.0}, 1.5)


@pytest.mark.slow
def test_what_is_trusted_decides_along_what_the_log_cannot_see():
    """The log tells Kp/Ra = 0.5 and Kp²/Ra + viscous = 0.3: with Ra = r the rest follows, and what the file says decides r."""
    paths = ["joints[A].motor.Kp", "joints[A].motor.Ra", "joints[A].friction.viscous"]
    found = found_of(logged(rod(), noise=1e-5), rod(0.08, 0.3, 0.5), paths, trust=0.1)
    # the least of ((r - 1) / 0.1)² twice, for Kp and Ra, and ((0.3 - 0.25 r - 0.08) / 0.008)²
    r = (200.0 + (0.25 / 0.008) ** 2 * 0.88) / (200.0 + (0.25 / 0.008) ** 2)
    assert found["joints[A].motor.Ra"].value == pytest.approx(r, rel=1e-3)


def test_a_log_that_holds_still_is_refused_with_what_to_move(told):
    log = logged(rod(), amplitude=0.5, noise=1e-4)  # friction holds it
    with pytest.raises(UsageError) as refused:
        found_of(log)
    told(refused.value)


@pytest.mark.parametrize("path", ["joints[A].motor.Kp", "joints[A].bodies[0].rod.center[2]"])  # along the axis
def test_a_log_that_shows_nothing_of_what_is_sought_is_refused(path, told):
    log = logged(rod(), output="torque", amplitude=4.0)
    with pytest.raises(UsageError) as refused:
        found_of(log, open=[path])
    told(refused.value)


def test_a_model_that_diverges_is_told_from_a_log_that_shows_nothing(told):
    """Explicit steps of a millisecond, of a motor that settles within some microseconds."""
    robot, t = rod(Kp=20.0), np.arange(300) / 100
    robot["joints"][0]["motor"]["Ra"] = 0.01
    q, u = np.sin(2 * t)[:, None], 40 * np.cos(2 * t)[:, None]  # the voltage that its back-EMF takes
    log = MeasuredLog("log.csv", t, q, None, CommandHistory(t, u), "voltage", "voltage")
    with pytest.raises(UsageError) as refused:
        found_of(log, robot, ["joints[A].motor.Kp"])
    told(refused.value)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"open": ["masse"]}, "masse"),
        ({"open": ["joints[*].gearbox.*"]}, "pattern"),
        ({"open": ["joints[A].type"]}, "type"),
        ({"held_back": 1.0}, "share"),
        ({"method": "euler"}, "euler"),
        ({"dt": -1.0}, "dt"),
        ({"window": -1.0}, "window"),
        ({"window": float("nan")}, "window"),
        ({"trust": -0.1}, "trust"),
        ({"trust": float("nan")}, "trust"),
    ],
)
def test_what_cannot_be_sought_is_refused(options, word):
    log = logged(rod(), seconds=1.0)
    with pytest.raises(armsim.ArmsimError) as refused:
        armsim.identify(log, BEGUN, **options)
    assert word in str(refused.value)
    assert "mend" in str(refused.value)


def test_sets_and_patterns_name_what_the_file_has():
    found = found_of(logged(rod(), noise=1e-5), open=["robot.joints[*].friction.*", "joints[A].motor.Kp"])
    assert [one.path for one in found.estimates] == [*TRUTH]
