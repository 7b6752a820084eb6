"""`armsim list` as a user meets it."""

from __future__ import annotations

import json
import os

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
