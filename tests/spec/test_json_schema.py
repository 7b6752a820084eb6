"""The JSON Schema agrees with the reader about shipped and faulty files."""

import json
import os

import pytest
import yaml

from armsim.files.shipped import shipped_folder, shipped_names
from armsim.spec.json_schema import json_schema

jsonschema = pytest.importorskip("jsonschema")

FOLDERS = {"robot": "robots", "scenario": "configs"}


def shipped(kind):
    for name in shipped_names(kind):
        with open(os.path.join(shipped_folder(kind), f"{name}.yaml"), encoding="utf-8") as file:
            yield yaml.safe_load(file)


@pytest.fixture(scope="module", params=["robot", "scenario"])
def kind(request):
    return request.param


def validator(kind):
    return jsonschema.Draft7Validator(json_schema(kind))


def test_the_schema_is_draft_7(kind):
    jsonschema.Draft7Validator.check_schema(json_schema(kind))


def test_shipped_files_satisfy_the_schema(kind):
    for data in shipped(FOLDERS[kind]):
        assert list(validator(kind).iter_errors(data)) == []


def test_the_schema_beside_the_shipped_files_is_todays(kind):
    with open(os.path.join(shipped_folder(FOLDERS[kind]), f"{kind}.schema.json"), encoding="utf-8") as file:
        text = file.read()
    today = json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
    assert text == today, f"run `armsim schema {kind} > {FOLDERS[kind]}/{kind}.schema.json`"


def test_shipped_files_name_the_schema_beside_them(kind):
    folder = shipped_folder(FOLDERS[kind])
    for name in shipped_names(FOLDERS[kind]):
        with open(os.path.join(folder, f"{name}.yaml"), encoding="utf-8") as file:
            assert file.readline() == f"# yaml-language-server: $schema={kind}.schema.json\n"
            assert file.readline().startswith("# ")  # what `armsim list` shows
    assert not any("schema" in name for name in shipped_names(FOLDERS[kind]))


def test_every_key_says_what_it_means(kind):
    def walk(schema):
        for name, sub in schema.get("properties", {}).items():
            assert name in ("format",) or sub.get("description"), name
            walk(sub)
        for sub in schema.get("definitions", {}).values():
            walk(sub)

    walk(json_schema(kind))


@pytest.mark.parametrize(
    "change",
    [
        {"nmae": "x"},
        {"name": None},
        {"joints": []},
        {"joints": [{"name": "R1"}]},
        {"gravity": [0, 0]},
        {"units": {"angle": "grad"}},
        {"payload": {"mass": -1}},
        {"payload": {"cube": {"mass": 1}}},
        {"tool": {"xyz": [0, 0, "x", 0]}},
    ],
)
def test_faulty_robots_fail_the_schema(change):
    robot = next(shipped("robots"))
    assert not validator("robot").is_valid({**robot, **change})


def test_an_inline_robot_satisfies_the_schema():
    scenario, robot = next(shipped("configs")), next(shipped("robots"))
    assert validator("scenario").is_valid({**scenario, "robot": robot})
    assert not validator("scenario").is_valid({**scenario, "robot": {**robot, "joints": 3}})
