"""Runs that follow references: columns, engines, open numbers, files of rows, run.yaml."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.loading import read_scenario

POINTS = [[-0.8, 0.5], [-0.6, 0.9]]
FORMS = {
    "minimum_jerk": ({"via": POINTS, "times": [0.3, 0.5]}, ["via[0][1]", "times[1]"]),
    "cubic": ({"via": POINTS, "times": [0, 0.5], "profile": "cubic"}, ["via[0][1]"]),
    "spline": ({"via": POINTS, "times": [0.3, 0.5], "profile": "spline", "ends": "natural"}, ["times[0]"]),
    "spline within limits": ({"via": POINTS, "speed": 2, "acceleration": 20, "profile": "spline"}, ["speed[1]"]),
    "trapezoid": ({"via": POINTS, "speed": 2, "acceleration": [20, 9], "start": 0.02}, ["acceleration[0]", "start"]),
    "jerk_limited": ({"via": POINTS, "speed": 2, "acceleration": 20, "jerk": 300}, ["jerk[0]", "via[1][0]"]),
    "steps": ({"via": POINTS, "times": [0.03, 0.4], "profile": "steps"}, ["via[0][1]", "times[1]"]),
    "sinusoid": ({"profile": "sinusoid", "amplitude": 0.3, "frequency": 2, "phase": 0.2}, ["frequency[1]", "phase[0]"]),
    "chirp": (
        {"profile": "chirp", "amplitude": 0.3, "frequency": 1, "end_frequency": 3, "duration": 0.4, "sweep": "exponential"},
        ["end_frequency[0]"],
    ),
    "multisine": ({"profile": "multisine", "amplitude": 0.1, "frequencies": [1, 2, 3]}, ["frequencies[1]"]),
    "formulas": ({"q": ["0.3*sin(4*t) - 1", "a"]}, ["parameters.a"]),
    "list of formulas": (["0.3*sin(4*t) - a", 0.7], ["parameters.a"]),
}  # fmt: skip


def scenario(reference, **more):
    return {
        "format": "armsim/scenario/1",
        "robot": "two_link",
        "parameters": {"a": 0.8},
        "duration": 0.6,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "control": {"law": "computed_torque", "output": "torque", "kp": 400, "kd": 40, "reference": reference},
        "log": {"every": 0.02},
        **more,
    }


def path_of(name):
    return name if name.startswith("parameters") else f"control.reference.{name}"


def number_at(data, path):
    for step in path.replace("]", "").replace("[", ".").split("."):
        data = data[int(step)] if isinstance(data, list) else data[step] if isinstance(data, dict) else data
    return data


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.slow
def test_open_numbers_the_interpreter_and_a_resolved_file_give_the_same_bits(form):
    reference, names = FORMS[form]
    data = scenario(reference)
    values = {path_of(name): number_at(data, path_of(name)) * np.array([1.0, 1.03]) for name in names}
    many = armsim.simulate_many(data, values, rows=True)
    written = {path: float(x[1]) for path, x in values.items()}
    one = armsim.simulate(data, written)
    assert np.array_equal(many.rows[1], one.table)
    assert not np.array_equal(many.rows[0], one.table)
    begun = armsim.simulate(data, {**written, "duration": 0.04}, engine="python")
    assert np.array_equal(begun.table, one.table[: len(begun.table)])
    assert np.array_equal(armsim.simulate(one.scenario.scenario_data).table, one.table)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.handful(6)
def test_degrees_are_the_same_motion(form):
    turned = {"via", "speed", "acceleration", "jerk", "amplitude", "phase", "q"}
    reference, _ = FORMS[form]
    if isinstance(reference, list):
        reference = {"q": reference}

    def degrees(x):
        return f"180/pi*({x})" if isinstance(x, str) else [*map(degrees, x)] if isinstance(x, list) else math.degrees(x)

    in_degrees = {key: degrees(x) if key in turned else x for key, x in reference.items()}
    there, here = (read_scenario(scenario(x, units={"angle": u})) for x, u in ((in_degrees, "deg"), (reference, "rad")))
    for t in (0.0, 0.12, 0.37, 0.6):
        for key in ("q", "qd", "qdd"):
            a, b = (getattr(found.command.reference.at(t), key) for found in (there, here))
            assert a == pytest.approx(b, rel=1e-9, abs=1e-9)


def test_rows_have_positions_and_velocities_of_the_reference_only_where_it_moves():
    run = armsim.simulate(scenario(FORMS["minimum_jerk"][0]))
    motion = run.scenario.command.reference
    wanted = [motion.at(float(t)) for t in run.t]
    for i, name in enumerate(("shoulder", "elbow")):
        assert run[f"q_ref_{name}_rad"].tolist() == [now.q[i] for now in wanted]
        assert run[f"qd_ref_{name}_rad_s"].tolist() == [now.qd[i] for now in wanted]
    still = scenario(None)
    assert not any("_ref_" in column for column in armsim.simulate(still).columns)


def test_the_tracking_error_is_a_column_of_the_library_alone():
    run = armsim.simulate(scenario(FORMS["minimum_jerk"][0]))
    held = armsim.simulate("arm5_hold", overrides={"duration": 0.01})
    name = next(name for name in run.columns if name.startswith("q_ref_"))
    error = name.replace("q_ref", "e")
    assert np.array_equal(run[error], run[name] - run[name.replace("q_ref", "q")])
    assert np.array_equal(held["e_R1_deg"], np.degrees(held.scenario.command.target[0]) - held["q_R1_deg"])
    for one, known in ((run, error), (held, "e_R1_rad")):
        assert known in one
        assert known not in one.columns
        assert known not in list(one)
    free = armsim.simulate("arm5_fall", overrides={"duration": 0.01})
    assert not [name for name in free if name.replace("q", "e", 1) in free and name.startswith("q_")]


def test_computed_torque_with_the_exact_model_tracks_within_the_error_of_the_integrator():
    run = armsim.simulate(scenario({"via": [[0.5, -0.5]], "times": [0.5]}, integrator={"method": "rk4", "dt": 1e-4}))
    for name in ("shoulder", "elbow"):
        assert np.abs(run[f"q_{name}_rad"] - run[f"q_ref_{name}_rad"]).max() < 1e-6


def test_the_summary_names_the_end_of_the_reference_as_target():
    from armsim.simulation.joint_summary import joint_summaries

    joints = joint_summaries(armsim.simulate(scenario({"via": [[0.5, -0.5]], "times": [0.5]})))
    assert [joint.target for joint in joints] == [0.5, -0.5]


def test_a_motion_begins_at_the_initial_pose_unless_its_first_point_has_time_0():
    start = {"initial": {"q": [0.1, 0.2]}}
    for times, begin in (([0.0, 0.5], POINTS[0]), ([0.3, 0.5], [0.1, 0.2])):
        reference = read_scenario(scenario({"via": POINTS, "times": times}, **start)).command.reference
        assert reference.at(0.0).q == begin
        assert reference.at(times[0]).q == pytest.approx(POINTS[0], rel=1e-14)
    within = {"via": POINTS, "speed": 1, "acceleration": 2, "start": 0.2}
    assert read_scenario(scenario(within, **start)).command.reference.at(0.1).q == [0.1, 0.2]


def test_the_profile_follows_from_what_is_given():
    within = {"via": POINTS, "speed": 2, "acceleration": 20}
    by = {
        "minimum_jerk": {"via": POINTS, "times": [0.3, 0.5]},
        "trapezoid": within,
        "jerk_limited": {**within, "jerk": 300},
    }
    for profile, given in by.items():
        default, named = (read_scenario(scenario(x)).command.reference for x in (given, {**given, "profile": profile}))
        assert default == named


@pytest.mark.slow
def test_a_first_time_of_zero_is_another_structure_for_open_times_too():
    data = scenario({"via": POINTS, "times": [0.1, 0.5]})
    many = armsim.simulate_many(data, {"control.reference.times[0]": np.array([0.0, 0.2])}, rows=True)
    for k, first in enumerate((0.0, 0.2)):
        one = armsim.simulate(data, {"control.reference.times[0]": first})
        assert np.array_equal(many.rows[k], one.table)


def test_open_times_out_of_order_are_refused_run_by_run():
    data = scenario({"via": POINTS, "times": [0.1, 0.5]})
    many = armsim.simulate_many(data, {"control.reference.times[0]": np.array([0.2, 0.7])})
    assert list(many.status) == ["complete", "refused"]
    assert "times[1]: expected a time after the one before" in many.reason[1]


def test_joints_of_a_point_go_by_name():
    data, path = scenario({"via": POINTS, "times": [0.1, 0.5]}), "control.reference.via[0]"
    many = armsim.simulate_many(data, {f"{path}[elbow]": np.array([0.3])})
    assert many.q[0].tolist() == armsim.simulate(data, {f"{path}[1]": 0.3}).q[-1].tolist()
    assert read_scenario(data, {f"{path}[elbow]": 0.3}).command.reference.at(0.1).q[1] == pytest.approx(0.3, rel=1e-14)


def test_the_duration_of_a_sweep_is_part_of_the_structure():
    with pytest.raises(UsageError, match="part of the structure"):
        armsim.simulate_many(scenario(FORMS["chirp"][0]), {"control.reference.duration": np.array([0.3, 0.4])})


ROWS = [(0.1, -0.9, 0.6), (0.2, -0.7, 0.5), (0.35, -0.8, 0.9), (0.5, -1.0, 0.7), (0.55, -1.0, 0.72)]


def write(folder, head, rows):
    path = folder / "moves.csv"
    path.write_text("\n".join([head, *(",".join(map(repr, row)) for row in rows)]) + "\n")
    return str(path)


@pytest.mark.parametrize("method", ["rk4", "rk54"])
@pytest.mark.handful(1)
def test_rows_of_a_file_are_followed_by_both_engines_alike_and_come_back_from_run_yaml(method, tmp_path):
    file = write(tmp_path, "t_s,q_shoulder_rad,q_elbow_deg", [(t, a, math.degrees(b)) for t, a, b in ROWS])
    data = scenario(
        {"csv": file}, integrator={"method": method, **({"dt": 1e-3} if method == "rk4" else {"rtol": 1e-3})}
    )
    run = armsim.simulate(data, {"duration": 0.12})
    at_rows = [run.scenario.command.reference.at(t).q for t, *_ in ROWS]
    assert at_rows == [pytest.approx(row[1:], rel=1e-12) for row in ROWS]
    assert np.array_equal(armsim.simulate(data, {"duration": 0.12}, engine="python").table, run.table)
    again = run.scenario.scenario_data
    assert again["control"]["reference"]["interpolation"] == "cubic"
    assert np.array_equal(armsim.simulate(again).table, run.table)


def test_a_reference_whose_file_has_changed_is_refused(tmp_path):
    file = write(tmp_path, "t_s,q_shoulder_rad,q_elbow_rad", ROWS)
    data = read_scenario(scenario({"csv": file})).scenario_data
    write(tmp_path, "t_s,q_shoulder_rad,q_elbow_rad", ROWS[:-1])
    with pytest.raises(armsim.FileFaults, match="the file that was used before"):
        read_scenario(data)


def test_a_run_can_follow_what_another_run_did(tmp_path):
    first = armsim.simulate(scenario({"via": POINTS, "times": [0.3, 0.5]}))
    first.save(tmp_path / "first")
    data = scenario({"csv": str(tmp_path / "first" / "trajectory.csv")}, initial={"q": first.q[0].tolist()})
    second = armsim.simulate(data)
    assert np.abs(second.q - first.q).max() < 1e-3  # quintics between rows of 20 ms, whose accelerations are not smooth


def test_lanes_and_recordings_take_references(tmp_path):
    data = scenario(FORMS["minimum_jerk"][0])
    data["control"]["period"] = 0.002
    armsim.record(data).save(tmp_path / "recorded")
    assert armsim.replay(tmp_path / "recorded").comparison.equal


SLIDER = {
    "format": "armsim/robot/1",
    "name": "slider",
    "gravity": [0, 0, 0],
    "joints": [{"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 2}}]}],
}
KNOTS_OFF_THE_GRID = {
    "trapezoid": {"via": [[0.31], [0.1]], "speed": 0.7, "acceleration": 3, "start": 0.0137},
    "cubic": {"via": [[0.31], [0.1]], "times": [0.2237, 0.5013], "profile": "cubic"},
    "jerk_limited": {"via": [[0.31], [0.1]], "speed": 0.7, "acceleration": 3, "jerk": 50},
    "rows": {"csv": "slide.csv"},
}


@pytest.mark.parametrize(
    ("form", "method"),
    [*((form, method) for form in KNOTS_OFF_THE_GRID for method in ("rk4", "rk54")), ("trapezoid", "rodas")],
)
@pytest.mark.handful(2)
def test_methods_that_locate_events_are_exact_across_the_knots_of_a_reference(form, method, tmp_path, monkeypatch):
    # pieces are cubics at most, which these methods integrate exactly; a knot passed unseen would cost 1e-4
    monkeypatch.chdir(tmp_path)
    rows = [(0.0, 0.0), (0.1234, 0.1), (0.2468, 0.05), (0.391, 0.2), (0.55, 0.21)]
    (tmp_path / "slide.csv").write_text("t_s,q_x_m\n" + "".join(f"{t},{x}\n" for t, x in rows))
    reference = KNOTS_OFF_THE_GRID[form]
    motion = read_scenario(scenario(reference, robot=SLIDER)).command.reference
    step = {"method": method, **({"dt": 0.02} if method == "rk4" else {"rtol": 1e-9, "atol": 1e-13})}
    start = {"q": motion.at(0.0).q, "qd": motion.at(0.0).qd}
    until = 0.54 if form == "rows" else 0.6  # its rows end with a velocity
    moved = scenario(reference, robot=SLIDER, initial=start, integrator=step, duration=until)
    moved["control"] |= {
        "law": "pd",
        "kp": 0,
        "kd": 0,
        "feedforward": "inverse_dynamics",
    }  # the force of the motion alone
    run = armsim.simulate(moved)
    assert np.abs(run["q_x_m"] - run["q_ref_x_m"]).max() < 1e-9  # jumps are located to about 1e-12 s


def test_advice_looks_at_the_end_of_a_reference_as_at_a_target_that_is_held_there():
    from armsim.plant import make_plant
    from armsim.stability.operating_points import TARGET, OperatingPoints
    from armsim.stability.step_modes import LinearPlant

    # limits that the way to the end would exceed, were it asked for at once
    law = {"law": "pid", "output": "torque", "kp": 100, "ki": 50, "kd": 10, "limit": 40}
    followed = {**law, "reference": {"via": [[0.4, 0.3]], "times": [0.5]}}
    matrices = []
    for control in (followed, {**law, "target": [0.4, 0.3]}):
        made = read_scenario(
            scenario(None, control=control, initial={"q": [0.4, 0.2999]} if control is not followed else {})
        )
        points, _ = OperatingPoints(made, make_plant(made)).at(np.zeros((1, 0)))
        matrices.append(LinearPlant(points.coefficients[points.where.index(TARGET), 0]).matrix)
    assert np.array_equal(*matrices)
