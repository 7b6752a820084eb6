"""`armsim check` and `armsim schema`."""

import json
import shutil
from pathlib import Path

import pytest

BAD = Path(__file__).parents[1] / "bad_files"
ROOT = Path(__file__).parents[2]
DOUBTFUL = """\
format: armsim/robot/1
name: doubtful
joints:
  - name: J1
    type: revolute
    mdh: {d: 0.67}
    bodies: [{inertia: {mass: 0, about: com, xx: 0, yy: 0, zz: 0.35}}]
"""


@pytest.fixture
def doubtful(empty_folder):
    (empty_folder / "doubtful.yaml").write_text(DOUBTFUL)


def test_a_sound_file_is_called_sound(armsim):
    ended = armsim("check", "arm5", "two_link_hold")
    assert (ended.code, ended.out, ended.err) == (0, "arm5: a sound robot\ntwo_link_hold: a sound scenario\n", "")


def test_faults_are_printed_and_end_with_1(armsim, empty_folder, told):
    shutil.copy(BAD / "several.yaml", empty_folder)
    ended = armsim("check", "several.yaml", "arm5")
    assert (ended.code, ended.err) == (1, "")
    told(ended.out)


def test_values_in_place_of_a_files_are_checked_with_it(armsim, empty_folder, told):
    shutil.copy(ROOT / "configs" / "two_link_hold.yaml", empty_folder)
    assert armsim("check", "two_link_hold", "--set", "duration=4").out == "two_link_hold: a sound scenario\n"
    ended = armsim(
        "check", "two_link_hold.yaml", "--set", "robot=two_link", "--set", "integrator.dt=0.1", "--unset", "duration"
    )
    assert (ended.code, ended.err) == (1, "")
    told(ended.out)
    told(armsim("check", "arm5_gripper", "--set", "joints[R2].motor.gear=0").out)
    study = armsim("check", "arm5_gains", "--set", "set.duration=1")
    assert (study.code, study.out) == (2, "")
    told(study.err)


def test_warnings_are_faults_only_where_asked_for(armsim, doubtful, told):
    ended = armsim("check", "doubtful.yaml")
    assert (ended.code, ended.err) == (0, "")
    told(ended.out)
    strict = armsim("check", "--strict", "doubtful.yaml")
    assert (strict.code, strict.err) == (1, "")
    told(strict.out)


def test_quiet_leaves_the_exit_code(armsim, doubtful):
    assert (armsim("check", "-q", "doubtful.yaml").code, armsim("check", "-q", "--strict", "doubtful.yaml").code) == (
        0,
        1,
    )
    assert armsim("check", "-q", "--strict", "doubtful.yaml").out == ""


def test_json_has_every_fault_with_its_place(armsim, doubtful):
    (found, sound) = json.loads(armsim("check", "--json", "doubtful.yaml", "rr").out)
    assert (found["file"], found["kind"], found["faults"]) == ("doubtful.yaml", "robot", [])
    (warning,) = found["warnings"]
    assert (warning["file"], warning["line"], warning["column"], warning["path"]) == (
        "doubtful.yaml",
        7,
        31,
        "joints[0]",
    )
    assert sound == {"file": "rr", "kind": "robot", "faults": [], "warnings": []}


def test_a_file_that_is_not_there_is_a_fault(armsim):
    ended = armsim("check", "arm6.yaml")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.splitlines()[:3] == ["arm6.yaml", "  expected: a YAML file", "  found:    no file of this name"]


@pytest.mark.parametrize("kind", ["robot", "scenario", "study"])
def test_schema_prints_the_schema(armsim, kind):
    from armsim.authoring.json_schema import json_schema

    ended = armsim("schema", kind)
    assert (ended.code, json.loads(ended.out), ended.err) == (0, json_schema(kind), "")


def test_what_is_to_be_known_of_a_scenarios_step_is_said_and_is_no_fault(armsim):
    ended = armsim("check", "--strict", "arm5_hold")
    assert ended.code == 0
    assert " ".join(ended.out.split()) == (
        "arm5_hold: the stops of R4 and R5 would chatter if met: with them engaged explicit_euler is stable up to "
        "dt = 5.51e-05 s; velocity_implicit, implicit_midpoint, rk54 and rodas would take 0.0001 s arm5_hold: a sound scenario"
    )


def scenario(folder, dt):
    text = (ROOT / "configs" / "arm5_hold.yaml").read_text().replace("../robots/arm5.yaml", "arm5")
    (folder / "hold.yaml").write_text(text.replace("dt: 1e-4", f"dt: {dt}"))


def test_a_step_that_a_run_would_refuse_is_a_fault_in_its_place(armsim, empty_folder):
    scenario(empty_folder, "1e-3")
    ended = armsim("check", "hold.yaml")
    refused = armsim("simulate", "hold.yaml")
    assert (ended.code, refused.code) == (1, 2)
    *fault, count = ended.out.splitlines()
    assert fault[0] == "hold.yaml:7:42: integrator.dt"
    assert "\n".join(fault[1:]) in refused.err
    assert count == "hold.yaml: 1 fault"
    (found,) = json.loads(armsim("check", "--json", "hold.yaml").out)
    assert found["faults"] == []
    assert found["step"]["faults"] == ["\n".join(fault)]


def test_a_step_close_to_the_largest_is_a_warning(armsim, empty_folder):
    scenario(empty_folder, "5e-4")
    ended = armsim("check", "hold.yaml")
    assert ended.code == 0
    said = "dt = 0.0005 s is close to the largest stable step of explicit_euler at the target, 0.000529 s (warning)"
    assert f"hold.yaml: {said}" in " ".join(ended.out.split())
    assert ended.out.endswith("hold.yaml: 1 warning; it can be run\n")
    assert armsim("check", "--strict", "hold.yaml").code == 1


def test_a_scenario_that_no_method_suits_is_a_fault(armsim, empty_folder):
    robot = (ROOT / "robots" / "arm5.yaml").read_text().replace("motor: {", "motor: {model: dynamechs, ")
    (empty_folder / "old.yaml").write_text(robot)
    (empty_folder / "fall.yaml").write_text("format: armsim/scenario/1\nrobot: old.yaml\nduration: 1\n")
    ended = armsim("check", "fall.yaml")
    assert ended.code == 1
    assert ended.out.startswith("integrator.dt\n  expected: the step that DynaMechs took\n")


def test_a_law_that_is_a_python_function_is_no_fault(armsim, empty_folder):
    scenario = {
        "format": "armsim/scenario/1",
        "robot": "rr",
        "duration": 1,
        "integrator": {"method": "rk4", "dt": 1e-3},
    }
    control = {"law": "python", "output": "torque", "period": 1e-2}
    (empty_folder / "mine.yaml").write_text(json.dumps({**scenario, "control": control}))
    ended = armsim("check", "mine.yaml")
    assert ended.code == 0
    assert "its law is a Python function" in ended.out
    assert ended.out.endswith("mine.yaml: a sound scenario\n")


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "-o", "run"),
        ("record", "--set", "inputs.period=1e-3", "-o", "run"),
        ("sweep", "--vary", "duration=0.01,0.02", "-o", "study"),
        ("linearize",),
        ("converge", "--accuracy", "1"),
    ],
    ids=lambda command: command[0],
)
@pytest.mark.handful(1)
def test_commands_that_run_a_file_say_what_check_doubts_about_it(armsim, empty_folder, command):
    """On standard error, once; in JSON; not where the command is quiet, nor about what is shipped."""
    name, *more = command
    (empty_folder / "mine.yaml").write_text(
        "format: armsim/scenario/1\nname: mine\nrobot: rr\nduration: 0.01\nintegrator: {method: rk4, dt: 1e-3}\n"
        "inputs: {torque: [0, 0]}\ninitial: {q: [90, 0]}\n"
    )
    expected = "! mine.yaml:7:15: initial.q[0]: 90 rad; write degrees with"
    armsim(name, "mine.yaml", *more)
    again = ("--force",) if "-o" in more else ()
    said = armsim(name, "mine.yaml", *more, *again)
    assert said.err.startswith(expected)
    assert said.err.count("initial.q[0]") == 1
    (doubt,) = json.loads(armsim(name, "mine.yaml", *more, *again, "--json").out)["doubts"]
    assert (doubt["path"], doubt["found"]) == ("initial.q[0]", "90 rad")
    assert armsim(name, "mine.yaml", *more, *again, "--quiet").err == ""


def test_what_is_shipped_is_not_doubted_where_it_is_run(armsim):
    assert "warning" in armsim("check", "puma560_fall").out
    assert armsim("simulate", "puma560_fall", "--set", "duration=0.01").err == ""
