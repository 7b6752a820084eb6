"""Whatever the bytes, a user reads an error, never a traceback."""

import contextlib
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armsim.errors import ArmsimError
from armsim.files.faults import Report
from armsim.files.shipped import shipped_folder
from armsim.files.yaml_reader import parse_yaml
from armsim.formulas.quantity import Context
from armsim.loading import read_robot, read_scenario
from armsim.loading.robot_file import check_robot

quiet = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def shipped_bytes(kind, name):
    with open(os.path.join(shipped_folder(kind), name), "rb") as file:
        return file.read()


ARM5 = shipped_bytes("robots", "arm5.yaml")
HOLD = shipped_bytes("configs", "two_link_hold.yaml").replace(b"../robots/two_link.yaml", b"two_link")

leaves = st.one_of(
    st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=8),
    st.sampled_from(["pi", "1/0", "upper", "t", "R1", ".inf", "voltage", "pid", "rk4", "arm5"]),
)  # fmt: skip
keys = st.sampled_from([
    "format", "name", "gravity", "convention", "units", "angle", "parameters", "base", "xyz", "rpy", "joints",
    "type", "mdh", "dh", "origin", "a", "alpha", "d", "theta", "axis", "initial", "limits", "lower", "upper",
    "stiffness", "damping", "friction", "viscous", "coulomb", "bodies", "cylinder", "box", "sphere", "point", "rod",
    "tube", "inertia", "mass", "density", "center", "height", "radius", "motor", "Kp", "Ra", "tool", "payload",
    "robot", "duration", "integrator", "method", "dt", "control", "law", "output", "kp", "target", "period",
    "inputs", "torque", "csv", "column", "external", "link", "from", "to", "log", "every", "q", "qd",
])  # fmt: skip
trees = st.recursive(leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=6))


def attempt(function, *args):
    with contextlib.suppress(ArmsimError):
        function(*args)


@quiet
@given(st.binary(max_size=400))
def test_random_bytes_are_refused_in_words(raw):
    attempt(parse_yaml, raw, "fuzz.yaml")


@quiet
@given(st.text(alphabet="abc:-[]{},\n #'\"|>&*!%@?~1.e", max_size=200))
def test_random_yaml_is_refused_in_words(text):
    attempt(parse_yaml, text, "fuzz.yaml")


@quiet
@given(trees, trees)
def test_random_robots_are_refused_in_words(tree, joint):
    attempt(read_robot, {"format": "armsim/robot/1", "joints": [joint], **(tree if isinstance(tree, dict) else {})})


@quiet
@given(trees)
def test_random_scenarios_are_refused_in_words(tree):
    attempt(read_scenario, {"format": "armsim/scenario/1", "robot": "rr", **(tree if isinstance(tree, dict) else {})})


@quiet
@given(st.data(), st.sampled_from(["robot", "scenario"]))
def test_a_damaged_shipped_file_is_refused_in_words(tmp_path, data, kind):
    raw = ARM5 if kind == "robot" else HOLD
    start = data.draw(st.integers(0, len(raw)))
    length = data.draw(st.integers(0, 12))
    raw = raw[:start] + data.draw(st.binary(max_size=6)) + raw[start + length :]
    path = tmp_path / "damaged.yaml"
    path.write_bytes(raw)
    attempt(read_robot if kind == "robot" else read_scenario, path)


@quiet
@given(st.text(alphabet="control.kp[0]robtjinsR2q 1", max_size=30), leaves)
def test_random_overrides_are_refused_in_words(path, value):
    attempt(read_scenario, "two_link_hold", {path: value})


@pytest.mark.parametrize("name", ["con", "a" * 300, "\0", "", ".", "/", "robots"])
def test_names_that_are_no_files_are_refused_in_words(name):
    attempt(read_robot, name)
    attempt(read_scenario, name)


HEAD = "format: armsim/robot/1\nname: x\njoints: [{name: R1, type: revolute, mdh: {}, bodies: []}]\n"
HOSTILE = {
    "unknown keys": HEAD + "".join(f"nam{i}: 1\n" for i in range(9000)),
    "a chain of parameters": HEAD + "parameters:\n" + "".join(f"  p{i}: p{i + 1}\n" for i in range(9000)) + "  p9000: 1\n",
    "a circle of parameters": HEAD + "parameters:\n" + "".join(f"  p{i}: p{(i + 1) % 9000}\n" for i in range(9000)),
    "unknown parameters": HEAD + "parameters:\n" + "".join(f"  p{i}: q{i}\n" for i in range(9000)),
    "long formulas": HEAD + "parameters:\n" + "".join(f"  p{i}: {'+'.join(['1'] * 499)}\n" for i in range(900)),
    "heavy formulas": HEAD + "parameters:\n" + "".join(f"  p{i}: {'sin(' * 45}1{')' * 45}\n" for i in range(2000)),
    "many joints of one name": HEAD.replace("[{name", "[&j {name").replace("]}]", "]}" + ", *j" * 1800 + "]"),
    "many faulty bodies": HEAD.replace("bodies: []", "bodies: [" + "{cilinder: {}}, " * 6000 + "]"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.handful(1)
def test_no_hostile_robot_costs_much(tmp_path, name, work):
    path = tmp_path / "hostile.yaml"
    path.write_text(HOSTILE[name])
    assert work(attempt, read_robot, path) < 4_000_000  # a second's worth; what grows with the square takes far more


def test_more_joints_than_questions_can_be_answered_for_are_refused(told):
    joint = "{{name: R{}, type: revolute, mdh: {{}}, bodies: [{{sphere: {{mass: 1, radius: 0.1}}}}]}}"

    def arm(n):
        joints = ", ".join(joint.format(k) for k in range(n))
        return parse_yaml(f"format: armsim/robot/1\nname: x\njoints: [{joints}]\n", "x")

    assert check_robot(arm(100), Context(Report())) is not None
    context = Context(Report())
    check_robot(arm(101), context)
    (fault,) = context.report.faults
    told(fault)
