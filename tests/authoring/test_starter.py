"""The arm that `armsim new` writes: whole, sound, and the same in both conventions."""

import json
import math
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim.authoring.starter import COLUMN, CONVENTIONS, DENSITY, FILES, LINKS, MOST, write_starter
from armsim.errors import UsageError
from armsim.loading import read_robot
from armsim.loading.check import check

EVERY = range(1, MOST + 1)


@pytest.mark.parametrize("joints", EVERY)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.handful(5)
def test_robot_and_scenario_are_sound_beyond_doubt(tmp_path, joints, convention):
    robot, scenario, *_ = write_starter(str(tmp_path / "my_arm"), joints, convention)
    for path in (robot, scenario):
        checked = check(path)
        assert (checked.faults, checked.warnings) == ((), ())


@pytest.mark.parametrize("joints", EVERY)
@pytest.mark.handful(1)
def test_both_conventions_are_one_arm(tmp_path, joints):
    a, b = (
        armsim.load_robot(write_starter(str(tmp_path / convention), joints, convention)[0])
        for convention in CONVENTIONS
    )
    rng = np.random.default_rng(joints)
    q, qd, qdd = rng.uniform(-2, 2, (3, joints))
    assert a.inverse_dynamics(q, qd, qdd) == pytest.approx(b.inverse_dynamics(q, qd, qdd), rel=1e-9, abs=1e-9)
    assert a.forward_kinematics(q).position == pytest.approx(b.forward_kinematics(q).position, abs=1e-12)


@pytest.mark.parametrize("joints", EVERY)
@pytest.mark.handful(2)
def test_stretched_out_it_is_as_heavy_as_its_comment_says(tmp_path, joints):
    arm = armsim.load_robot(write_starter(str(tmp_path / "arm"), joints, "mdh")[0])
    length, links = LINKS[joints] / 1e3, max(1, joints - 1)
    reach = length * links
    moment = DENSITY * reach * reach / 2 + 0.4 * length * sum(range(1, links)) + 0.5 * reach  # links, motors, payload
    first = 0 if joints == 1 else 1
    assert arm.inverse_dynamics(np.zeros(joints))[first] == pytest.approx(9.81 * moment, rel=1e-12)
    if joints > 1:
        up = np.zeros(joints)
        up[1] = math.pi / 2
        assert arm.inverse_dynamics(up) == pytest.approx(np.zeros(joints), abs=1e-9)
    assert COLUMN == 300


@pytest.mark.parametrize(("joints", "convention"), [(1, "dh"), (3, "mdh")])
@pytest.mark.handful(1)
def test_its_controller_takes_it_where_it_is_to_be(tmp_path, joints, convention):
    scenario = write_starter(str(tmp_path / "arm"), joints, convention)[1]
    run = armsim.simulate(scenario)
    for i, target in enumerate(run.scenario.command.target, start=1):
        assert run[f"q_J{i}_rad"][-1] == pytest.approx(target, abs=0.02)


def test_its_schemas_are_those_that_its_first_lines_name(tmp_path):
    folder = tmp_path / "arm"
    write_starter(str(folder), 2, "mdh")
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    for kind in ("robot", "scenario"):
        first = (folder / f"{kind}.yaml").read_text(encoding="utf-8").splitlines()[0]
        assert first == f"# yaml-language-server: $schema={kind}.schema.json"
        text = (folder / f"{kind}.schema.json").read_text(encoding="utf-8")
        assert len(text) < 1000  # it refers to the schema of the installation
        reference = urllib.parse.urlsplit(json.loads(text)["$ref"])
        assert reference.scheme == "file"
        there = Path(urllib.request.url2pathname(reference.path)).read_text(encoding="utf-8")
        assert json.loads(there)["title"] == f"armsim {kind}"


@pytest.mark.parametrize("name", ["no", "null", "yes", "e1", "x.y-z"])
def test_a_name_that_yaml_reads_otherwise_stays_a_name(tmp_path, name):
    robot, scenario, *_ = write_starter(str(tmp_path / name), 1, "mdh")
    assert read_robot(robot)[0].name == name
    assert check(scenario).faults == ()


def test_nothing_that_exists_is_written_to(tmp_path):
    (tmp_path / "arm").mkdir()
    with pytest.raises(UsageError, match="a new folder"):
        write_starter(str(tmp_path / "arm"), 4, "mdh")
    assert list((tmp_path / "arm").iterdir()) == []
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="a new folder"):
        write_starter(str(tmp_path / "file"), 4, "mdh")
    with pytest.raises(UsageError, match="a folder that can be made"):
        write_starter(str(tmp_path / "file" / "arm"), 4, "mdh")


@pytest.mark.parametrize("name", ["", "/", "..", "4bar", "my arm"])
def test_a_name_that_is_none_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="starting with a letter"):
        write_starter(name, 4, "mdh")
    assert list(tmp_path.iterdir()) == []
