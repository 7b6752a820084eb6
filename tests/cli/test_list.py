"""`armsim list` as a user meets it."""

from __future__ import annotations

import json
import os

import pytest

from armsim.files.shipped import shipped_names


def test_every_shipped_file_is_listed_with_the_first_line_of_its_comment(armsim):
    done = armsim("list")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    found = json.loads(armsim("list", "--json").out)
    assert [item["name"] for item in found["robots"]] == shipped_names("robots")
    assert [item["name"] for item in found["scenarios"]] == shipped_names("configs")
    assert [item["name"] for item in found["studies"]] == shipped_names("studies")
    for item in [*found["robots"], *found["scenarios"], *found["studies"]]:
        assert f"{item['name']} {item['about']}" in text
        with open(item["file"], encoding="utf-8") as file:
            assert f"# {item['about']}\n" in [file.readline(), file.readline()]


def test_a_robot_is_listed_with_joints_reach_payload_and_the_kind_of_its_inertias(armsim):
    text = " ".join(armsim("list").out.split())
    found = {item["name"]: item for item in json.loads(armsim("list", "--json").out)["robots"]}
    ur5e, rr = found["ur5e"], found["rr"]
    assert {key: ur5e[key] for key in ("joints", "payload", "inertias")} == {
        "joints": 6,
        "payload": 5,
        "inertias": "published",
    }
    told = f"6 joints, reach {ur5e['reach']:.3g} m, rated payload 5 kg, inertias published"
    assert f"{ur5e['about']} {told}" in text
    assert f"{rr['about']} 2 joints, reach 1.6 m" in text
    assert "payload" not in rr
    info = " ".join(armsim("info", "ur5e").out.split())
    assert info.startswith(
        "ur5e: 6 joints, 17.7 kg, reach 0.9689 m from its first joint to the tool; rated payload 5 kg; inertias published file"
    )
    assert json.loads(armsim("info", "ur5e", "--json").out)["about"] == {"payload": 5, "inertias": "published"}
    assert "about" not in json.loads(armsim("info", "rr", "--json").out)


@pytest.mark.slow
def test_robots_are_built_for_the_list_once_and_anew_by_another_armsim(no_kernels, monkeypatch):
    from armsim.arm import catalog, robot_overview

    built, build = [], robot_overview.robot_overview
    monkeypatch.setattr(robot_overview, "robot_overview", lambda path: built.append(path) or build(path))
    first = catalog.catalog()
    assert len(built) == len(first["robots"])
    assert catalog.catalog() == first
    assert len(built) == len(first["robots"])
    monkeypatch.setattr(catalog, "digest", lambda: "of another armsim")
    assert catalog.catalog() == first
    assert len(built) == 2 * len(first["robots"])


def test_each_says_something_and_no_directive_of_an_editor(armsim):
    for items in json.loads(armsim("list", "--json").out).values():
        for item in items:
            assert len(item["about"]) > 20
            assert "schema" not in item["about"]


def test_robots_come_before_scenarios_and_these_before_studies(armsim):
    assert [line for line in armsim("list").out.splitlines() if line.endswith("s") and " " not in line] == [
        "robots",
        "scenarios",
        "studies",
    ]


def test_verbose_says_where_the_files_are(armsim):
    line = armsim("list", "-v").out.splitlines()[0]
    assert line.startswith("robots  in ")
    assert os.path.isfile(os.path.join(line.removeprefix("robots  in "), "arm5.yaml"))


def test_quiet_prints_nothing(armsim):
    assert armsim("list", "-q").out == ""
