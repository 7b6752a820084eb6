"""docs/files.md: its tables are those of the declarations, and its examples are files that armsim takes."""

import re
import runpy
from pathlib import Path

import pytest

import armsim
from armsim.dynamics import frame_pose, gravity_torque
from armsim.files.nodes import Map
from armsim.files.yaml_reader import parse_yaml
from armsim.loading import read_robot, scenario_of
from armsim.loading.check import check
from armsim.measures import measures_of
from armsim.plant import make_plant

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
HEAD = "format: armsim/robot/1\nname: example\ngravity: [0, -9.81, 0]\n"
JOINT = "joints:\n  - name: R1\n    type: revolute\n    mdh: {}\n"
BODY = "    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]\n"


def whole(example):
    """An example as a whole file: what it leaves out is put around it."""
    keys = set(parse_yaml(example, "example").entries)
    if "format" in keys:
        return example
    if "joints" in keys:
        return HEAD + example
    indented = "".join(f"    {line}\n" for line in example.splitlines())
    return HEAD + JOINT + indented + ("" if "bodies" in keys else BODY)


def test_the_tables_are_those_of_the_declarations():
    written = runpy.run_path(str(DOCS / "write_files_md.py"))
    assert written["with_tables"](PAGE) == PAGE, "run `python docs/write_files_md.py`"


def test_the_tables_of_columns_are_those_of_the_columns():
    written = runpy.run_path(str(DOCS / "write_columns_md.py"))
    page = (DOCS / "columns.md").read_text(encoding="utf-8")
    assert written["with_tables"](page) == page, "run `python docs/write_columns_md.py`"
    run = armsim.simulate("arm5_hold", {"duration": 0.01})
    assert all(f"`{heading}`" in page for heading in run.columns if "_R" not in heading or "_R1_" in heading)


def test_the_tables_of_measures_are_those_of_the_catalog():
    written = runpy.run_path(str(DOCS / "write_measures_md.py"))
    page = (DOCS / "measures.md").read_text(encoding="utf-8")
    assert written["with_tables"](page) == page, "run `python docs/write_measures_md.py`"


def test_the_table_of_open_numbers_is_that_of_the_shipped_files():
    written = runpy.run_path(str(DOCS / "write_batches_md.py"))
    page = (DOCS / "batches.md").read_text(encoding="utf-8")
    assert written["with_tables"](page) == page, "run `python docs/write_batches_md.py`"


def test_the_formulas_of_the_page_on_measures_are_measures():
    page = (DOCS / "measures.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    plant = make_plant(scenario_of("arm5_hold"))
    assert [measure.names for measure in measures_of(block.splitlines(), plant)] == [(x,) for x in block.splitlines()]
    (columns,) = re.findall(r"with or without\s+their unit: (.*?)\.\n", page, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", columns)) <= set(plant.nameable.named)


def test_every_key_of_both_formats_is_on_the_page():
    from armsim.authoring.json_schema import json_schema

    def keys(schema):
        if isinstance(schema, dict):
            yield from schema["properties"] if isinstance(schema.get("properties"), dict) else ()
        for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            yield from keys(inner)

    for key in {*keys(json_schema("robot")), *keys(json_schema("scenario"))}:
        assert f"`{key}`" in PAGE, key


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_is_sound(tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    Path("example.yaml").write_text(whole(example), encoding="utf-8")
    checked = check("example.yaml")
    assert (checked.faults, checked.warnings) == ((), ())


def test_the_arm_in_three_conventions_is_one_arm(tmp_path):
    arms = {}
    for example in EXAMPLES:
        root = parse_yaml(example, "example")
        if isinstance(root, Map) and "convention" in root.entries:
            path = tmp_path / "arm.yaml"
            path.write_text(whole(example), encoding="utf-8")
            arms[root.get("convention").value] = read_robot(path)[0]
    assert set(arms) == {"mdh", "dh", "origin"}
    q = [0.3, -0.7]
    holding, place = gravity_torque(arms["mdh"], q), tuple(frame_pose(arms["mdh"], q, arms["mdh"].tool).position)
    for arm in arms.values():
        assert gravity_torque(arm, q) == pytest.approx(holding, rel=1e-14)  # a few rounded sums
        assert tuple(frame_pose(arm, q, arm.tool).position) == pytest.approx(place, rel=1e-14, abs=1e-15)
