"""`armsim check` and `armsim schema`."""

import json
import shutil
from pathlib import Path

import pytest

BAD = Path(__file__).parents[1] / "bad_files"
DOUBTFUL = """\
format: armsim/robot/1
name: doubtful
joints:
  - name: J1
    type: revolute
    mdh: {d: 0.67}
    bodies: [{inertia: {mass: 0, about: com, xx: 0, yy: 0, zz: 0.35}}]
"""
WARNING = """\
  expected: a link with a mass
  found:    link J1 has mass 0
  mend:     give it a body with a mass, unless the source counts its mass with other links
"""


@pytest.fixture
def doubtful(empty_folder):
    (empty_folder / "doubtful.yaml").write_text(DOUBTFUL)


def test_a_sound_file_is_called_sound(armsim):
    ended = armsim("check", "arm5", "two_link_hold")
    assert (ended.code, ended.out, ended.err) == (0, "arm5: a sound robot\ntwo_link_hold: a sound scenario\n", "")


def test_faults_are_printed_and_end_with_1(armsim, empty_folder):
    shutil.copy(BAD / "several.yaml", empty_folder)
    ended = armsim("check", "several.yaml", "arm5")
    expected = (BAD / "several.txt").read_text() + "several.yaml: 7 faults\narm5: a sound robot\n"
    assert (ended.code, ended.out, ended.err) == (1, expected, "")


def test_warnings_are_faults_only_where_asked_for(armsim, doubtful):
    ended = armsim("check", "doubtful.yaml")
    title = "doubtful.yaml:7:31: joints[0]"
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"{title} (warning)\n{WARNING}doubtful.yaml: 1 warning; it can be run\n"
    strict = armsim("check", "--strict", "doubtful.yaml")
    assert (strict.code, strict.err) == (1, "")
    assert strict.out == f"{title} (fault)\n{WARNING}doubtful.yaml: 1 warning; counted as faults\n"


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


@pytest.mark.parametrize("kind", ["robot", "scenario"])
def test_schema_prints_the_schema(armsim, kind):
    from armsim.spec.json_schema import json_schema

    ended = armsim("schema", kind)
    assert (ended.code, json.loads(ended.out), ended.err) == (0, json_schema(kind), "")
