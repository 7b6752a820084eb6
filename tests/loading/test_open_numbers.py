"""Numbers left open: found by path, taken as arrays, refused as files refuse them, grouped by the structure they decide."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import armsim
from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.expr import replay, trace, where
from armsim.loading import load_scenario_file
from armsim.loading.open_numbers import open_numbers
from armsim.loading.open_robot import OpenRobot
from armsim.recording.forward_model import ForwardModel

TUBE = {"axis": "z", "height": "length", "outer_radius": 0.3, "inner_radius": "wall", "density": 2700}
ROBOT = {
    "format": "armsim/robot/1",
    "name": "arm",
    "gravity": [0, 0, -9.81],
    "parameters": {"length": 0.3, "fc": 0.1, "wall": "core + 0.01", "core": "0.1*length"},
    "joints": [
        {
            "name": "J1",
            "type": "revolute",
            "mdh": {},
            "initial": 0.3,
            "limits": {"lower": -0.1, "upper": 1, "stiffness": 100},
            "friction": {"viscous": 0.1, "coulomb": "2*fc"},
            "bodies": [{"tube": TUBE}, {"box": {"size": [0.1, "length", 0.2], "mass": 1, "center": [0.3, 0, 0]}}],
            "motor": {"Kp": 1, "Ra": 2, "gear": -3, "efficiency": 0.3, "coulomb": {"positive": 0.1, "negative": "fc"}},
        },
        {
            "name": "J2",
            "type": "screw",
            "pitch": 0.04,
            "mdh": {"a": "length"},
            "bodies": [{"inertia": {"mass": 1, "center": [0.1, 0, 0], "about": "com", "xx": 1, "yy": 1, "zz": 1}}],
            "motor": {"Kp": 2, "Ra": 3},
        },
    ],
    "payload": {"tube": {**TUBE, "height": 0.1}},
}
SOLID = {"axis": "z", "height": 0.1, "outer_radius": 0.3, "inner_radius": 0.04, "density": 2700}
SCENARIO = {
    "format": "armsim/scenario/1",
    "robot": ROBOT,
    "duration": 0.1,
    "integrator": {"method": "semi_implicit_euler", "dt": 1e-3},
    "control": {"law": "pd", "output": "voltage", "kp": [4, 5], "kd": 1, "limit": 20},
    "payload": {"tube": SOLID},
}


def scenario(**parts):
    return {**copy.deepcopy(SCENARIO), **parts}


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("control.kp[1]", ["control.kp[1]"]),
        ("control.kp", ["control.kp[0]", "control.kp[1]"]),
        ("control.kd", ["control.kd[0]", "control.kd[1]"]),
        ("control.kd[J2]", ["control.kd[1]"]),
        ("initial.q[J2]", ["initial.q[1]"]),
        ("robot.joints[J2].motor.Kp", ["robot.joints[1].motor.Kp"]),
        ("robot.joints[*].motor.Kp", ["robot.joints[0].motor.Kp", "robot.joints[1].motor.Kp"]),
        ("robot.joints[*].limits.upper", ["robot.joints[0].limits.upper"]),
        ("robot.joints[*].bodies[*].box.size[0]", ["robot.joints[0].bodies[1].box.size[0]"]),
        ("robot.gravity[2]", ["robot.gravity[2]"]),
        ("robot.parameters.length", ["robot.parameters.length"]),
    ],
)
def test_a_path_stands_for_its_numbers_in_scenarios_and_in_forward_models(path, places):
    opened = open_numbers(SCENARIO, [path])
    assert list(opened.places) == places
    assert opened.asked == {path: tuple(range(len(places)))}
    if path.startswith("robot."):
        robot = OpenRobot(ROBOT, [path.removeprefix("robot.")])
        assert robot.written == [opened.number(place) for place in places]
        assert len(robot.paths) == len(places)


def test_a_forward_model_takes_values_of_a_wildcard_in_the_order_of_the_joints():
    model = ForwardModel(ROBOT, 1e-3, open=["joints[*].motor.Kp", "joints[J2].pitch"])
    assert model.open == ("joints[0].motor.Kp", "joints[1].motor.Kp", "joints[J2].pitch")
    one_by_one = ForwardModel(ROBOT, 1e-3, open=["joints[1].motor.Kp", "joints[J2].pitch", "joints[0].motor.Kp"])
    state = model.state([0.3, 0.1], [0.2, -0.4], [1.0, 2.0])
    expected = one_by_one.step(state, [1.0, 2.0], [0.7, 0.03, 1.3])
    assert model.step(state, [1.0, 2.0], [1.3, 0.7, 0.03]).tolist() == expected.tolist()
    assert model.step(state, [1.0, 2.0], [0.7, 1.3, 0.03]).tolist() != expected.tolist()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("control.kq[0]", r"control\.kq\[0\]"),
        ("robot.joints[J2].motor.Kq", "no `Kq` in robot.joints[1].motor\n"),
        ("robot.joints[J3].motor.Kp", "2 items in robot.joints, of which `J3` is none"),
        ("duration", "part of the structure"),
        ("integrator.dt", "part of the structure"),
        ("robot", "a mapping"),
        ("robot.joints[*].motor.limits.current", "2 items of robot.joints without a value there"),
        ("control.integral_limit[0]", "an item of a list that the file has"),
        ("control kp", "a path like control.kp[0]"),
    ],
)
def test_a_path_without_a_number_that_can_be_open_is_refused(path, message):
    with pytest.raises(UsageError, match=message if "\\" in message else None) as error:
        open_numbers(SCENARIO, [path])
    assert message.replace("\\", "") in str(error.value)


@pytest.mark.parametrize(
    ("scenario", "path"),
    [
        ("arm5_gripper_pick", "payload[0].center[0]"),
        ("panda_push", "external[0].point[0]"),
        ("torso_reach", "robot.about.payload"),
    ],
)
def test_a_number_that_another_key_decides_or_that_is_not_there_cannot_be_open(scenario, path):
    with pytest.raises(UsageError) as error:
        open_numbers(scenario, [path])
    assert path.rpartition("[")[0] or path in str(error.value)


def test_a_number_is_left_open_once():
    for paths in (["control.kp", "control.kp[1]"], ["control.kp[0]"] * 2):
        with pytest.raises(UsageError, match="numbers that no other path names"):
            open_numbers(SCENARIO, paths)
    with pytest.raises(UsageError, match=r"joints\[J2\]\.pitch\n"):
        OpenRobot(ROBOT, ["joints[1].pitch", "joints[J2].pitch"])


def test_what_the_file_lacks_is_filled_in_where_it_may_have_it():
    without = scenario(payload=None)
    without["robot"]["payload"] = None
    assert open_numbers(without, ["payload.center[1]", "payload.mass"]).places == ("payload.center[1]", "payload.mass")
    assert open_numbers(without, {"payload.mass": [0.2, 0.7]}).number("payload.mass") == 0.2
    robot = OpenRobot(without["robot"], ["payload.center[1]", "payload.mass"])
    assert all(map(math.isnan, robot.written))
    robot.refuse([0.1, 0.2])
    with pytest.raises(FileFaults, match="no pitch on a revolute joint"):
        open_numbers(SCENARIO, {"robot.joints[J1].pitch": 0.1})


@pytest.mark.parametrize(("file", "robots"), [("rad", "rad"), ("deg", "deg"), ("rad", "deg"), ("deg", "rad")])
def test_an_item_of_a_list_that_a_scenario_leaves_out_is_open_among_its_defaults(file, robots):
    given = scenario(units={"angle": file})
    given["robot"]["units"] = {"angle": robots}
    for path, default in (("initial.q", [0.3, 0.0]), ("control.target", [0.3, 0.0]), ("initial.qd", [0.0, 0.0])):
        opened = open_numbers(given, [f"{path}[1]"])
        assert opened.places == (f"{path}[1]",)
        built = opened.scenario([0.25])
        turn = math.pi / 180 if file == "deg" else 1.0
        found = {"initial.q": built.initial_q, "control.target": built.command.target, "initial.qd": built.initial_qd}
        first = default[0] * (math.pi / 180 if robots == "deg" else 1.0)
        # degrees of the pose in radians, and back: one rounding each
        assert found[path][0] == pytest.approx(first, rel=0 if file == "rad" or robots == "deg" else 4e-16)
        assert found[path][1] == 0.25 * turn
        assert open_numbers(given, {path: [[0.1, 0.2]]}).places == (f"{path}[0]", f"{path}[1]")


def test_values_are_arrays_of_runs_of_lists_or_one_for_all():
    opened = open_numbers(SCENARIO, ["control.kp", "robot.gravity[2]"])
    expected = [[1.0, 2.0, -9.0], [3.0, 4.0, -9.0]]
    assert opened.matrix({"control.kp": [[1, 2], [3, 4]], "robot.gravity[2]": -9}).tolist() == expected
    assert opened.matrix({"control.kp": [7, 8], "robot.gravity[2]": [1, 2]}).tolist() == [[7, 7, 1], [8, 8, 2]]
    assert opened.matrix({"control.kp": [7, 8], "robot.gravity[2]": 1}, one=True).tolist() == [[7, 8, 1]]


@pytest.mark.parametrize(
    "values",
    [
        {"control.kp": [1, 2, 3], "robot.gravity[2]": [1, 2]},
        {"control.kp": [[1, 2, 3]], "robot.gravity[2]": 1},
        {"control.kp": [1, None], "robot.gravity[2]": 1},
        {"control.kp": [[1, 2], [3]], "robot.gravity[2]": 1},
        {"control.kp": [], "robot.gravity[2]": 1},
        {"control.kp": [True, False], "robot.gravity[2]": 1},
        {"control.kp": [1, 2]},
        {"control.kp": [1, 2], "robot.gravity[2]": 1, "control.kd": 3},
    ],
    ids=["lengths", "width", "None", "ragged", "empty", "truth", "fewer", "more"],
)
def test_values_of_another_shape_or_kind_are_refused(values):
    with pytest.raises(UsageError):
        open_numbers(SCENARIO, ["control.kp", "robot.gravity[2]"]).matrix(values)
    with pytest.raises(UsageError, match="real numbers"):
        open_numbers(SCENARIO, {"robot.joints[0].motor.limits.current": [None, 1.0]})


# of each requirement: numbers that a file takes, and some that it refuses
RULES = {
    "minimum": ({"joints[0].friction.viscous": 0.2}, {"joints[0].friction.viscous": -0.1}),
    "above": ({"joints[0].motor.Kp": 0.2}, {"joints[0].motor.Kp": 0.0}),
    "nonzero": ({"joints[0].motor.gear": -0.2}, {"joints[0].motor.gear": 0.0}),
    "largest": ({"joints[0].motor.efficiency": 0.99}, {"joints[0].motor.efficiency": 1.01}),
    "largest pose": ({"joints[1].initial": -1e6}, {"joints[1].initial": -1.1e6}),
    "finite": ({"gravity[2]": 1e6}, {"gravity[2]": -math.inf}),
    "within bounds": ({"gravity[2]": -1e6}, {"gravity[2]": -1.1e6}),
    "least of what is positive": ({"joints[0].motor.Ra": 1e-9}, {"joints[0].motor.Ra": 0.9e-9}),
    "least of what is not zero": ({"joints[0].motor.gear": -1e-6}, {"joints[0].motor.gear": -0.9e-6}),
    "least that is divided by": ({"joints[0].motor.inductance": 1e-12}, {"joints[0].motor.inductance": 0.9e-12}),
    "limit that is there": ({"joints[0].limits.upper": 1e6}, {"joints[0].limits.upper": 1.1e6}),
    "number": ({"gravity[2]": 0.0}, {"gravity[2]": math.nan}),
    "pitch": ({"joints[1].pitch": -0.1}, {"joints[1].pitch": 0.0}),
    "range": ({"joints[0].limits.upper": 0.31}, {"joints[0].limits.upper": -0.1}),
    "range of nothing": (
        {"joints[0].limits.lower": 0.2, "joints[0].limits.upper": 0.4},
        {"joints[0].limits.lower": 0.3, "joints[0].limits.upper": 0.3},
    ),
    "initial above": ({"joints[0].initial": 1.0}, {"joints[0].initial": 1.01}),
    "initial below": ({"joints[0].initial": -0.1}, {"joints[0].initial": -0.11}),
    "tube": (
        {"joints[0].bodies[0].tube.inner_radius": 0.29},
        {"joints[0].bodies[0].tube.inner_radius": 0.3},
    ),
    "tube carried": ({"payload.tube.outer_radius": 0.041}, {"payload.tube.outer_radius": 0.04}),
    "by a formula": ({"parameters.length": 0.4}, {"parameters.length": -0.4}),
    "by a formula of formulas": ({"parameters.length": 2.89}, {"parameters.length": 2.91}),
    "parameter": ({"parameters.fc": 0.2}, {"parameters.fc": math.inf}),
    "one side": ({"joints[0].motor.coulomb.positive": 0.2}, {"joints[0].motor.coulomb.positive": -0.2}),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.handful(6)
def test_file_array_and_condition_refuse_the_same_numbers(name):
    right, wrong = RULES[name]
    paths, robot = list(right), OpenRobot(ROBOT, list(right))
    opened = open_numbers(SCENARIO, [f"robot.{path}" for path in paths])
    sound = trace(lambda *x: [where(robot.sound(x), 1.0, 0.0)], paths)
    rows = np.array([[*right.values()], [*wrong.values()], [*right.values()]])
    assert list(opened.refused(rows)) == [1]  # in company
    for i, values in enumerate((right, wrong)):
        row = [*values.values()]
        assert bool(opened.refused(rows[i : i + 1])) == bool(i)  # alone
        assert opened.refused(rows[i : i + 1]).get(0) == opened.refused(rows).get(i)
        assert replay(sound, row) == [float(not i)]
        try:
            load_scenario_file(SCENARIO, {f"robot.{path}": x for path, x in values.items()})
            taken = True
        except FileFaults:
            taken = False
        assert taken == (not i)


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("control.limit[1]", 0.0, "control.limit[1]: expected a positive number of V, N·m or N, found 0"),
        ("control.target[0]", 2e6, "control.target[0]: expected a magnitude of 1e+06 at most, found 2000000"),
        ("payload.tube.inner_radius", 0.5, "payload.tube: expected inner_radius smaller than outer_radius"),
        ("payload.tube.density", -1.0, "payload.tube.density: expected a number of kg/m³, 0 or more, found -1"),
        (
            "robot.parameters.length",
            -1.0,
            "robot.joints[0].bodies[0].tube.height: expected a positive number of m, found -1",
        ),
        ("robot.joints[J1].limits.lower", 0.5, "robot.joints[0].initial: expected a position within the limits"),
    ],
)
def test_a_refusal_names_the_number_what_was_expected_and_what_was_found(path, value, why):
    opened = open_numbers(SCENARIO, [path])
    assert opened.refused(np.array([[value]])) == {0: why}


def test_a_formula_without_a_value_refuses_its_run_alone():
    given = scenario()
    given["robot"]["parameters"]["slip"] = "1/fc"
    opened = open_numbers(given, ["robot.parameters.fc"])
    assert list(opened.refused(np.array([[0.1], [0.0], [0.2]]))) == [1]
    assert list(opened.refused(np.array([[0.0]]))) == [0]


def groups(opened, *rows):
    return [(written, runs.tolist()) for written, runs in opened.groups(np.array(rows))]


def test_runs_are_grouped_by_what_their_numbers_mean_is_absent():
    opened = open_numbers(SCENARIO, ["robot.joints[J1].motor.efficiency", "robot.joints[J1].limits.upper"])
    efficiency, upper = opened.places
    found = groups(opened, [0.5, 1.0], [1.0, 1.0], [0.6, math.inf], [1.0, 2.0])
    expected = [({efficiency: 1.0}, [1, 3]), ({upper: math.inf}, [2]), ({}, [0])]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert groups(opened, [1.0, math.inf]) == [({efficiency: 1.0, upper: math.inf}, [0])]


def test_dry_friction_by_a_formula_of_an_open_parameter_is_absent_in_the_runs_where_that_is_zero():
    opened = open_numbers(SCENARIO, ["robot.parameters.fc", "robot.joints[0].motor.coulomb.positive"])
    joint, positive, negative = (
        "robot.joints[0].friction.coulomb",
        "robot.joints[0].motor.coulomb.positive",
        "robot.joints[0].motor.coulomb.negative",
    )
    rows = [[0.1, 0.2], [0.0, 0.2], [0.1, 0.0], [0.0, 0.0]]
    found = groups(opened, *rows)
    expected = [({}, [0, 2]), ({joint: 0.0}, [1]), ({joint: 0.0, positive: 0.0, negative: 0.0}, [3])]
    assert sorted(found, key=str) == sorted(expected, key=str)
    for written, runs in found:
        built = opened.scenario(rows[runs[0]], written).arm.joints[0]
        assert (built.coulomb is None) == (runs != [0, 2])
        assert (built.motor.coulomb is None) == (runs == [3])


def test_what_damps_is_structure_where_it_picks_the_method():
    paths = ["robot.joints[J1].friction.viscous", "control.kd[0]"]
    assert groups(open_numbers(SCENARIO, paths), [0.0, 0.0]) == [({}, [0])]
    picked = open_numbers(scenario(integrator={"method": "auto", "dt": 1e-3}), paths)
    assert groups(picked, [0.0, 0.0]) == [({"robot.joints[0].friction.viscous": 0.0, "control.kd[0]": 0.0}, [0])]


def test_a_forward_model_refuses_what_would_be_another_structure():
    for path, value in (("joints[0].limits.lower", -math.inf), ("joints[0].motor.efficiency", 1.0)):
        robot = OpenRobot(ROBOT, [path])
        sound = trace(lambda x, robot=robot: [where(robot.sound([x]), 1.0, 0.0)], ["x"])
        assert replay(sound, [value]) == [0.0]
        with pytest.raises(UsageError, match="which means that there is none"):
            robot.refuse([value])


def test_keys_that_others_forbid_cannot_be_open_though_they_are_zero_now():
    emulated = scenario(control=None, integrator={"method": "explicit_euler", "dt": 1e-3})
    robot = emulated["robot"]
    robot["joints"][0] |= {"friction": {}, "motor": {"model": "dynamechs", "Kp": 1, "Ra": 1, "gear": 1}}
    for path in ("joints[0].friction.viscous", "joints[0].motor.gear", "joints[0].motor.inductance"):
        with pytest.raises(ArmsimError, match="expected"):
            open_numbers(emulated, [f"robot.{path}"])
        with pytest.raises(ArmsimError, match="expected"):
            OpenRobot(robot, [path])
    assert open_numbers(emulated, ["robot.joints[0].motor.viscous"]).places


@pytest.mark.parametrize("method", ["velocity_implicit", "rodas", "implicit_midpoint"])
@pytest.mark.slow
def test_numbers_that_are_zero_or_one_have_the_bits_of_the_numbers_written_in(method):
    step = {"method": method, "rtol": 1e-6} if method == "rodas" else {"method": method, "dt": 1e-3}
    values = {
        "robot.joints[R5].bodies[0].cylinder.center[0]": [0.0, 0.1, 1.0],
        "robot.joints[R3].bodies[0].cylinder.mass": [1.0, 0.0, 0.5],
        "robot.gravity[1]": [0.0, 1.0, 0.3],
        "robot.joints[R2].mdh.d": [0.1, 1.0, 0.0],
    }
    overrides = {"integrator": step, "duration": 0.02, "log.every": 0.01, "initial.qd": [0.5, -0.3, 0.8, 0.2, -0.6]}
    many = armsim.simulate_many("arm5_hold", values, overrides, rows=True, force_step=True)
    for run in range(3):
        written = {path: each[run] for path, each in values.items()}
        single = armsim.simulate("arm5_hold", overrides | written, force_step=True)
        assert np.array_equal(many.rows[run], single.table)
