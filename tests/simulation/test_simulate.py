"""Simulations from the library: what comes back, also when they are stopped or blow up."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import FileFaults, UsageError
from armsim.loading import read_scenario

PENDULUM = {
    "format": "armsim/robot/1",
    "name": "pendulum",
    "gravity": [0, -9.81, 0],
    "joints": [
        {"name": "swing", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 2, "center": [0.5, 0, 0]}}]},
    ],
}


def scenario(**keys) -> dict:
    """A pendulum that hangs straight down, and what is to be different."""
    plain = {
        "format": "armsim/scenario/1",
        "robot": PENDULUM,
        "duration": 1,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "initial": {"q": [-math.pi / 2]},
    }
    return {**plain, **keys}


def test_rows_are_the_states_at_exact_multiples_of_dt():
    run = armsim.simulate("rr_config1", {"duration": 0.12, "log.every": 0.0012, "integrator.dt": 3e-4})
    assert run.status == "complete"
    assert run.steps == 400
    assert run.t.tolist() == [k * 12 / 10000 for k in range(101)]
    assert run.t[1] == 0.0012
    assert run.q.shape == run.qd.shape == run.qdd.shape == run.tau.shape == (101, 2)
    assert run.q[0].tolist() == [-math.pi / 2, math.pi / 2]


def test_a_small_swing_has_the_period_of_the_pendulum():
    # 0.01 rad: the period is that of 2 pi sqrt(l/g) to 1 + a²/16 = 6e-6
    omega = math.sqrt(9.81 / 0.5)
    run = armsim.simulate(scenario(initial={"q": [-math.pi / 2 + 0.01]}, log={"every": 1e-2}))
    exact = -math.pi / 2 + 0.01 * np.cos(omega * run.t)
    np.testing.assert_allclose(run.q[:, 0], exact, rtol=0, atol=0.01 * 6.25e-6 * omega + 1e-12)


def test_a_constant_torque_drives_a_weightless_joint_along_a_parabola():
    given = scenario(inputs={"torque": [3]}, initial={"q": [0]})
    given["robot"] = {**PENDULUM, "gravity": [0, 0, 0]}
    run = armsim.simulate(given)
    np.testing.assert_allclose(run.q[:, 0], 3 / (2 * 0.5**2) * run.t**2 / 2, rtol=1e-12, atol=1e-15)
    assert run.peaks == [3]


def test_columns_are_found_by_their_headings_in_the_files():
    run = armsim.simulate("arm5_hold", {"duration": 0.01})
    assert list(run)[:2] == ["t_s", "q_R1_rad"]
    assert list(run) == ["t_s", *run.columns]
    np.testing.assert_array_equal(run["t_s"], run.t)
    np.testing.assert_array_equal(run["tau_R2_Nm"], run.tau[:, 1])
    np.testing.assert_array_equal(run["q_R3_rad"], run.q[:, 2])
    np.testing.assert_allclose(run["q_R3_deg"], np.degrees(run.q[:, 2]), rtol=1e-15)
    for heading in run.columns:
        assert run[heading].shape == (len(run.t),)


def test_an_unknown_column_names_the_nearest():
    run = armsim.simulate("rr_config1", {"duration": 0.004})
    with pytest.raises(KeyError, match="no column 'tau_R2_Nmm'; did you mean 'tau_R2_Nm'"):
        run["tau_R2_Nmm"]


def test_overrides_take_numbers_lists_and_the_robots_keys():
    run = armsim.simulate(
        "arm5_hold",
        overrides={
            "control.kp[0]": 80,
            "initial.q": [0, -1.1, 0.3, 0, 0],
            "robot.joints[R2].motor.Ra": 1.2,
            "duration": 0.01,
        },
    )
    assert run.plant.command.law.kp[0] == 80
    assert run.q[0].tolist() == [0, -1.1, 0.3, 0, 0]
    assert run.plant.arm.joints[1].motor.Ra == 1.2


def test_a_scenario_that_was_read_runs_as_it_stands():
    read = read_scenario("rr_config1", {"duration": 0.04})
    np.testing.assert_array_equal(armsim.simulate(read).q, armsim.simulate("rr_config1", {"duration": 0.04}).q)
    with pytest.raises(UsageError, match="overrides go with a scenario's path or name"):
        armsim.simulate(read, {"duration": 1})


@pytest.mark.slow
def test_both_engines_leave_the_same_bits():
    native, floats = (
        armsim.simulate("arm5_hold", {"duration": 0.02, "log.every": 1e-3}, engine) for engine in ("llvm", "python")
    )
    assert native.table.tobytes() == floats.table.tobytes()
    assert native.peaks == floats.peaks
    assert native.state == floats.state
    assert (native.engine, floats.engine) == ("llvm", "python")


def test_an_unknown_engine_is_refused():
    with pytest.raises(UsageError, match="engine: expected one of llvm, python, found 'fortran'"):
        armsim.simulate("rr_config1", engine="fortran")


def test_a_faulty_scenario_raises_all_its_faults():
    with pytest.raises(FileFaults) as refused:
        armsim.simulate(scenario(duration=-1, log={"every": "often"}))
    assert [fault.path for fault in refused.value.faults] == ["duration", "log.every"]


def test_progress_ends_at_the_last_step_and_never_goes_back():
    seen = []
    armsim.simulate("arm5_hold", {"duration": 1}, progress=lambda done, steps: seen.append((done, steps)))
    assert seen == sorted(seen)
    assert seen[-1] == (10000, 10000)


@pytest.mark.parametrize("engine", ["llvm", "python"])
@pytest.mark.handful(1)
def test_an_interrupted_run_keeps_the_rows_it_has(engine):
    def interrupt(done: int, steps: int) -> None:
        if done >= 300:
            raise KeyboardInterrupt

    settings = {"duration": 4, "log.every": 4e-3}
    run = armsim.simulate("rr_config2_sine", settings, engine, interrupt)
    assert run.status == "interrupted"
    assert 300 <= run.steps < 10000
    # a row for each multiple of 10 steps below what was done
    assert run.count == -(-run.steps // 10)
    whole = armsim.simulate("rr_config2_sine", settings)
    np.testing.assert_array_equal(run.table, whole.table[: run.count])


def test_the_largest_torque_is_kept_from_the_first_step_to_the_last():
    # it is at the start, tens of thousands of steps and several stretches of them before the end
    drive = {"torque": ["5*exp(-50*t)"]}
    run = armsim.simulate(scenario(duration=60, inputs=drive, log={"every": 60}))
    assert run.steps == 60000
    assert run.peaks == [5.0]


def test_a_run_interrupted_within_machine_code_ends_where_its_rows_do(monkeypatch):
    # Ctrl-C is heard when machine code returns: the state is then a stretch further than what is known to be done
    from armsim.compile import SteppingLoop

    carry_out, calls = SteppingLoop.run, []

    def interrupted(self, memory, first, last, clock):
        carry_out(self, memory, first, last, clock)
        calls.append(last)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(SteppingLoop, "run", interrupted)
    run = armsim.simulate("rr_config2_sine", {"duration": 4, "log.every": 4e-3})
    assert (run.status, run.steps) == ("interrupted", calls[0])
    assert calls[1] > calls[0]
    monkeypatch.undo()
    dt = run.scenario.dt
    short = armsim.simulate("rr_config2_sine", {"duration": calls[0] * dt, "log.every": dt})
    assert run.state == short.state
    assert run.end == short.end


def test_a_run_interrupted_before_its_first_row_can_still_be_saved(tmp_path, monkeypatch):
    from armsim.compile import SteppingLoop

    def interrupted(*args, **open):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(SteppingLoop, "run", interrupted)
    run = armsim.simulate("rr_config1")
    assert (run.status, run.count, run.steps) == ("interrupted", 0, 0)
    run.save(tmp_path / "run")
    assert (tmp_path / "run/trajectory.csv").read_text().count("\n") == 1
    assert "status: interrupted" in (tmp_path / "run/run.yaml").read_text()


@pytest.mark.parametrize("engine", ["llvm", "python"])
def test_a_diverged_run_stops_at_the_first_state_out_of_bounds(engine):
    # explicit Euler grows an undamped oscillation by sqrt(1 + (omega dt)²) a step: by 1.73 here
    control = {"law": "pd", "output": "torque", "kp": 1e4, "kd": 0, "target": [0]}
    run = armsim.simulate(
        scenario(control=control, integrator={"method": "explicit_euler", "dt": 1e-2}, log={"every": 1e-2}),
        {},
        engine,
        force_step=True,
    )
    assert run.status == "diverged"
    assert run.fastest_to_diverge() == "q_swing"
    assert 1e5 < abs(run.state[0]) <= 1e6  # the last state within bounds
    assert run.count == run.steps + 1  # a row for every step, also for the last good state
    assert np.isfinite(run.table).all()
    assert np.abs(run.q).max() <= 1e6
    growth = np.hypot(run.q[1:, 0], run.qd[1:, 0] / math.sqrt(2e4)) / np.hypot(
        run.q[:-1, 0], run.qd[:-1, 0] / math.sqrt(2e4)
    )
    assert growth[-1] == pytest.approx(math.sqrt(3), rel=1e-4)
    where = {"slot": "q_swing", "step": run.steps, "time": run.steps / 100, "torques_finite": True, "stalled": None}
    where["motion"] = None
    where["stable"] = run.summary()["diverged"]["stable"]
    where["growth"] = run.summary()["diverged"]["growth"]
    assert run.summary()["diverged"] == where
    assert where["growth"]["factor"] == pytest.approx(math.sqrt(3), rel=2e-3)  # gravity bends the first swings


def test_both_engines_diverge_at_the_same_step():
    control = {"law": "pd", "output": "torque", "kp": 1e4, "kd": 0, "target": [0]}
    given = scenario(control=control, integrator={"method": "explicit_euler", "dt": 1e-2})
    native, floats = (armsim.simulate(given, {}, engine, force_step=True) for engine in ("llvm", "python"))
    assert (native.steps, native.state) == (floats.steps, floats.state)


def test_a_run_that_did_not_diverge_names_no_joint():
    with pytest.raises(UsageError, match="the run did not diverge"):
        armsim.simulate("rr_config1", {"duration": 0.004}).fastest_to_diverge()


def test_the_last_row_is_the_state_reached():
    run = armsim.simulate("rr_config2_sine", {"duration": 0.4})
    assert run.row(-1)[:4] == run.state[:4]
    assert run.row(-1) == run.row(run.count - 1)


def test_a_log_coarser_than_the_run_keeps_the_first_row_only():
    run = armsim.simulate("rr_config1", {"duration": 0.05, "log.every": 0.2})
    assert run.t.tolist() == [0]


def test_peaks_are_taken_over_all_steps_not_over_rows():
    # 12 N·m for one step of 1 ms between two rows
    given = scenario(
        inputs={"torque": ["12*max(0, min(1, 1e6*(t - 0.4995)))*max(0, min(1, 1e6*(0.5005 - t)))"]}, log={"every": 0.2}
    )
    run = armsim.simulate(given)
    assert np.abs(run.tau).max() == 0
    assert run.peaks == [12]
    assert run.summary()["joints"][0]["peak_torque"] == 12


def test_the_summary_says_who_left_its_range_and_whether_a_stop_pushed_back():
    limits = {"lower": -2, "upper": -1.5}
    free = scenario(robot={**PENDULUM, "joints": [{**PENDULUM["joints"][0], "limits": limits, "initial": -1.55}]})
    free["initial"] = {"q": [-1.55], "qd": [1]}
    (found,) = armsim.simulate(free).summary()["outside_limits"]
    assert (found["joint"], found["stop"]) == ("swing", False)
    assert 0 < found["since"] < 0.1
    joint = {**PENDULUM["joints"][0], "limits": {**limits, "stiffness": 1e4, "damping": 10}, "initial": -1.55}
    stopped = {**free, "robot": {**PENDULUM, "joints": [joint]}}
    (pushed,) = armsim.simulate(stopped).summary()["outside_limits"]
    assert pushed["stop"] is True
    assert pushed["most"] < found["most"]


@pytest.mark.parametrize("dt", ["3*1e-4", "2*pi/1e4"])
@pytest.mark.handful(1)
def test_a_step_written_as_a_product_keeps_one_clock_on_both_engines(dt):
    given = {"integrator.dt": dt, "duration": f"200*({dt})", "log.every": f"20*({dt})"}
    native, floats = (armsim.simulate("rr_config2_sine", given, engine) for engine in ("llvm", "python"))
    assert native.t.tolist() == floats.t.tolist()
    assert native.t[-1] == pytest.approx(200 * native.scenario.dt, rel=1e-12)
    assert list(native.rows.numbers) == list(floats.rows.numbers)


def test_the_summary_speaks_of_the_state_reached_not_of_the_last_row():
    run = armsim.simulate("rr_config1", {"log.every": 20})
    fine = armsim.simulate("rr_config1", {"log.every": 10})
    assert run.count == 1
    assert [joint["q"] for joint in run.summary()["joints"]] == fine.q[-1].tolist()
    assert run.summary()["energy"] == fine.summary()["energy"]


def test_a_torque_that_is_not_finite_is_told_apart_on_both_engines():
    given = {"inputs": {"torque": ["1/(t-0.04)", 0]}, "log.every": 4e-4}
    for engine in ("llvm", "python"):
        run = armsim.simulate("rr_config1", given, engine)
        assert (run.status, run.steps) == ("diverged", 100)
        assert not run.summary()["diverged"]["torques_finite"]
        assert np.isfinite(run.table).all()


def test_a_force_switched_on_the_steps_is_integrated_exactly_by_runge_kutta():
    # 1 N on 1 kg from 1 s to 2 s: 0.5 m after a second, then 1 m/s
    slide = {
        "format": "armsim/robot/1",
        "name": "slide",
        "gravity": [0, 0, 0],
        "joints": [{"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}],
    }
    given = {
        "format": "armsim/scenario/1",
        "robot": slide,
        "duration": 3,
        "integrator": {"method": "rk4", "dt": 0.05},
        "external": [{"link": "x", "force": [0, 0, 1], "from": 1, "to": 2}],
    }
    run = armsim.simulate(read_scenario(given))
    assert run.q[-1, 0] == pytest.approx(1.5, rel=1e-13)


def swing(engine="llvm", **integrator):
    """The two-link arm swinging freely for a second from a wide angle."""
    asked = {
        "format": "armsim/scenario/1",
        "robot": "two_link",
        "duration": 1,
        "integrator": {"method": "rk54", **integrator},
        "initial": {"q": [0.5, 0.9]},
        "log": {"every": 0.05},
    }
    return armsim.simulate(asked, {}, engine)


def test_an_adaptive_run_lands_on_its_end_alone_and_counts_its_steps():
    run = swing()
    assert run.t.tolist() == [k / 20 for k in range(21)]
    taken, refused = run.steps_chosen
    assert run.steps == 20 <= taken < 1000
    summary = run.summary()
    assert (summary["steps"], summary["landings"], summary["moments"]) == (taken, 1, 1000)
    assert (swing(dt=0.05).summary()["landings"], swing(dt=0.05).summary()["moments"]) == (20, 20)
    assert summary["adaptive"] == {"refused": refused, "rtol": 1e-6, "atol": 1e-9, "curbed": False}
    assert swing(dt=5e-4).summary()["adaptive"]["curbed"]
    assert swing(rtol=1e-12).steps_chosen[0] > 5 * taken
    assert armsim.simulate("rr_config1", {"duration": 0.004}).steps_chosen is None


def test_an_adaptive_runs_error_falls_with_its_tolerance():
    exact = swing(rtol=1e-13)
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        error = np.abs(swing(rtol=rtol).q - exact.q).max()
        assert (
            1e-3 * rtol < error < 10 * rtol
        )  # per-step errors of about rtol, of some dozens of steps that partly cancel


@pytest.mark.slow
def test_both_engines_take_the_same_adaptive_steps():
    native, floats = swing(rtol=1e-4), swing("python", rtol=1e-4)
    assert native.state == floats.state
    assert native.table.tobytes() == floats.table.tobytes()


def test_an_adaptive_method_that_finds_no_step_says_so():
    # the torque grows without bound towards t = 0.5 s: no step to there is short enough
    given = scenario(integrator={"method": "rk54"}, inputs={"torque": ["1/(0.5 - t)**3"]}, log={"every": 0.3})
    run = armsim.simulate(given)
    assert (run.status, run.steps) == ("diverged", 4)  # of 0.1 s, which 0.3 s and the duration share
    assert run.stalled == "no step"
    assert run.summary()["diverged"]["stalled"] == "no step"
    assert run.t.tolist() == [0, 0.3]
