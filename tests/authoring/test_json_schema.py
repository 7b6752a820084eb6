"""The JSON Schema agrees with the reader about shipped and faulty files."""

import copy
import json
import os
import random
import re
from pathlib import Path

import pytest
import yaml

from armsim.authoring.json_schema import json_schema
from armsim.errors import FileFaults
from armsim.files.faults import Report
from armsim.files.nodes import Map, Seq
from armsim.files.shipped import shipped_folder, shipped_names, shipped_path
from armsim.files.yaml_reader import parse_yaml
from armsim.loading import load_robot_file, load_scenario_file

jsonschema = pytest.importorskip("jsonschema")

FOLDERS = {"robot": "robots", "scenario": "configs", "study": "studies"}


def shipped(kind):
    for name in shipped_names(kind):
        with open(shipped_path(kind, name), encoding="utf-8") as file:
            yield yaml.safe_load(file)


@pytest.fixture(scope="module", params=[*FOLDERS])
def kind(request):
    return request.param


def validator(kind):
    return jsonschema.Draft7Validator(json_schema(kind))


@pytest.mark.handful(1)
def test_the_schema_is_draft_7(kind):
    jsonschema.Draft7Validator.check_schema(json_schema(kind))


@pytest.mark.handful(1)
def test_shipped_files_satisfy_the_schema(kind):
    for data in shipped(FOLDERS[kind]):
        assert list(validator(kind).iter_errors(data)) == []


def test_the_schema_beside_the_shipped_files_is_todays(kind):
    with open(os.path.join(shipped_folder(FOLDERS[kind]), f"{kind}.schema.json"), encoding="utf-8") as file:
        text = file.read()
    today = json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
    assert text == today, f"run `armsim schema {kind} > {shipped_folder(FOLDERS[kind])}/{kind}.schema.json`"


def test_shipped_files_name_the_schema_beside_them(kind):
    for name in shipped_names(FOLDERS[kind]):
        with open(shipped_path(FOLDERS[kind], name), encoding="utf-8") as file:
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


BAD = Path(__file__).parent.parent / "bad_files"
NOT_YAML = [
    "alias_bomb", "control_character", "deep_nesting", "empty", "indentation", "not_utf8", "open_bracket", "python_tag",
    "second_document", "tab", "undefined_alias",
]  # fmt: skip
BEYOND_A_SCHEMA = {
    "what stands in an expression": [
        "bad_expression", "circular_parameters", "decimal_comma", "division_by_zero", "expression_below_zero",
        "formula_as_python", "input_not_of_time", "inputs_as_text", "pi_among_degrees", "pitch_in_kg", "text_for_number",
        "time_in_duration", "unit_of_mass", "unknown_function", "unknown_parameter",
    ],
    "how two numbers compare": [
        "degrees_without_units", "end_before_start", "initial_outside_limits", "no_common_step", "period_below_dt",
        "swapped_limits", "times_off_the_grid", "too_many_steps", "tube_radii", "zero_axis",
    ],
    "what another key decides": ["control_and_inputs"],
    "numbers that JSON does not have": ["not_a_number"],
    "names that must be there, or only once": ["duplicate_joint", "duplicate_key", "unknown_link"],
    "the robot of a scenario": [
        "robot_file_missing", "robot_with_faults", "too_many_positions", "unknown_robot", "voltage_inputs_without_motor",
        "voltage_without_motor",
    ],
    "the content of CSV files": [
        "csv_backwards", "csv_bad_cell", "csv_column_missing", "csv_missing", "csv_ragged", "csv_without_time",
    ],
    "mechanics": ["no_inertia"],
}  # fmt: skip


def content(node):
    """Plain data of what the strict loader read."""
    if isinstance(node, Map):
        return {key: content(value) for key, (_, value) in node.entries.items()}
    return [content(item) for item in node.items] if isinstance(node, Seq) else node.value


def test_the_schema_rejects_every_bad_file_that_a_schema_can_reject():
    accepted, unread = [], []
    for path in sorted(BAD.glob("*.yaml")):
        try:
            data = content(parse_yaml(path.read_bytes(), path.name, Report()))
        except FileFaults:
            unread.append(path.stem)
            continue
        kind = "scenario" if isinstance(data, dict) and {"robot", "integrator", "scenario"} & set(data) else "robot"
        if validator(kind).is_valid(data):
            accepted.append(path.stem)
    assert unread == NOT_YAML
    assert accepted == sorted(name for names in BEYOND_A_SCHEMA.values() for name in names)


@pytest.mark.parametrize(
    "change",
    [
        {"control": {"law": "pd", "output": "torque", "kp": 1, "kd": 1}},
        {"control": {"law": "pi", "output": "torque", "kp": 1, "ki": 1, "kd": None}},
        {"control": {"law": "none"}},
        {"control": {"law": "none", "output": "voltage", "kp": 1, "ki": [1, 2], "period": 0.2, "limit": 3}},
        {"control": None, "inputs": {"torque": ["sin(t)", 0]}},
        {"inputs": None},
        {"integrator": None},
        {"integrator": {"method": None, "dt": 0.1, "rtol": None}},
        {"integrator": {"method": "rk54", "rtol": 1e-6}},
        {"integrator": {"method": "auto", "atol": 1e-9}},
        {"payload": {"sphere": {"radius": 0.1, "density": 1000, "mass": None}}},
        {"initial": {"q": [0, "pi/2"]}, "log": None},
    ],
)
def test_what_the_reader_takes_satisfies_the_schema(change):
    from armsim.loading import read_scenario

    scenario = {"format": "armsim/scenario/1", "robot": "rr", "duration": 1, "integrator": {"method": "rk4", "dt": 0.1}}
    read_scenario({**scenario, **change})
    assert list(validator("scenario").iter_errors({**scenario, **change})) == []


MOVE = {"via": [[1, 1]], "times": [1]}
WITHIN = {"via": [[1, 1]], "speed": 1, "acceleration": [2, 3]}
SWING = {"profile": "sinusoid", "amplitude": 0.3, "frequency": 1}


@pytest.mark.parametrize(
    ("reference", "sound"),
    [
        (MOVE, True),
        ({**MOVE, "profile": "spline", "ends": "natural"}, True),
        (WITHIN, True),
        ({**WITHIN, "jerk": 40, "profile": "jerk_limited", "start": "0.1 s"}, True),
        (SWING, True),
        ({"q": ["sin(t)", 0]}, True),
        (["sin(t)", 0], True),
        ({"csv": 3}, False),
        ({**MOVE, "speed": 1, "acceleration": 1}, False),
        ({**WITHIN, "acceleration": None}, False),
        ({**WITHIN, "profile": "jerk_limited"}, False),
        ({**WITHIN, "profile": "steps"}, False),
        ({**SWING, "frequency": None}, False),
        ({**SWING, "via": [[1, 1]]}, False),
        ({**SWING, "frequencies": [1]}, False),
        ({**MOVE, "profile": "sine"}, False),
        ({"q": [0, 0], "times": [1]}, False),
        ("sin(t)", False),
    ],
)
@pytest.mark.handful(9)
def test_the_schema_takes_the_references_that_the_reader_takes(reference, sound):
    from armsim.loading import read_scenario

    control = {"law": "pd", "output": "torque", "kp": 1, "kd": 1, "reference": reference}
    scenario = {"format": "armsim/scenario/1", "robot": "rr", "duration": 1, "control": control}
    assert validator("scenario").is_valid(scenario) is sound
    if sound:
        read_scenario(scenario)
    else:
        with pytest.raises(FileFaults):
            read_scenario(scenario)


ODD = [
    None, True, False, 0, -1, 1, 0.5, -0.3, 1e9, 1e40, "text", "", "1 kg", "90 deg", "2*pi", "sin(t)", [], {}, [1], [1, 2, 3],
    {"a": 1}, {"mass": 1}, [0, 0, 1], "rk4", "pd", "voltage", "revolute", "screw", "1e-3",
]  # fmt: skip


def places(value):
    """Each mapping or list in data, with one of its keys or indices."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in [(value, key), *places(item)]]


def mutated(data, keys, rng):
    """Data with one to three values taken out, replaced, renamed, scaled or copied from elsewhere, or keys put in."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if not (known := places(data)):
            break
        of, key = rng.choice(known)
        other, from_ = rng.choice(known)
        value, change = of[key], rng.choice(["out", "odd", "odd", "new", "scaled", "renamed", "copied"])
        if change == "out":
            del of[key]
        elif change == "new" and isinstance(of, dict):
            of[rng.choice(keys)] = copy.deepcopy(rng.choice(ODD))
        elif change == "scaled" and type(value) in (int, float):
            of[key] = value * rng.choice([-1, 0, 1e3, 1e-3, 1e12])
        elif change == "renamed" and isinstance(of, dict):
            of[rng.choice([key, f"{key}x", key.upper()])] = of.pop(key)
        else:
            of[key] = copy.deepcopy(other[from_] if change == "copied" else rng.choice(ODD))
    return data


@pytest.mark.parametrize(
    "part", [pytest.param(range(40), id="40"), pytest.param(range(40, 2000), marks=pytest.mark.slow)]
)
def test_of_random_mutations_the_schema_refuses_none_that_the_reader_takes_nor_takes_wrong_keys(part, monkeypatch):
    loads = {"robot": load_robot_file, "scenario": load_scenario_file}
    files = {(kind, name): shipped_path(FOLDERS[kind], name) for kind in loads for name in shipped_names(FOLDERS[kind])}
    validators = {kind: validator(kind) for kind in loads}
    keys = sorted({key for kind in loads for key in re.findall(r'"(\w+)": \{', json.dumps(json_schema(kind)))})
    refused = 0
    for i in part:
        rng = random.Random(i)
        kind, name = rng.choice(sorted(files))
        monkeypatch.chdir(os.path.dirname(files[kind, name]))  # which names of other files are relative to
        with open(files[kind, name], encoding="utf-8") as file:
            data = mutated(yaml.safe_load(file), keys, rng)
        faults = ()
        try:
            loads[kind](copy.deepcopy(data))
        except FileFaults as error:
            faults = error.faults
        if validators[kind].is_valid(data):
            beyond = ("the unknown key", "nothing: the key is missing", "an empty", "a mapping", "a list")
            assert not [fault for fault in faults if fault.found.startswith(beyond)], (i, kind, name)
        else:
            assert faults, (i, kind, name)
            refused += 1
    assert refused > len(part) / 2
