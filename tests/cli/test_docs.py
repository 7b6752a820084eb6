"""`armsim docs`: the pages that come with armsim, where the user is."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from armsim.files.pages import PAGES, page_file

ROOT = Path(__file__).parents[2]


def test_every_page_is_listed_with_a_line_and_comes_with_the_wheel(armsim):
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    files = {page_file(name) for name in PAGES}
    assert files == pages | {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    shipped = wheel["wheel"]["force-include"]
    assert {path: where for path, where in shipped.items() if path.endswith(".md")} == {
        path: f"armsim/shipped/{path}" for path in files
    }
    done = armsim("docs")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    for name, about in PAGES.items():
        assert f"{name} {about}" in text


@pytest.mark.parametrize("name", ["motors", "MOTORS", "motors.md", "docs/motors.md#the-equations"])
def test_a_page_is_found_by_its_name_and_as_links_name_it(armsim, name):
    done = armsim("docs", name)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Motors\n======\n\nA joint's `motor` is a permanent-magnet DC motor")
    assert "\nWhat each limit does\n" in done.out


def test_every_page_can_be_shown(armsim):
    for name in PAGES:
        done = armsim("docs", name)
        assert (done.code, done.err) == (0, ""), name
        assert len(done.out) > 1000, name
        assert "<!--" not in done.out, name


def test_an_unknown_page_names_the_nearest(armsim, told):
    wrong = armsim("docs", "integrator")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_on_a_terminal_the_pager_shows_it(empty_folder):
    pager = empty_folder / "pager"
    pager.write_text('#!/bin/sh\necho "<< $(head -n 1) >>"; cat > /dev/null\n')
    pager.chmod(0o755)
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PAGER": str(pager), "NO_COLOR": "1", "TERM": "xterm"}
    subprocess.run([sys.executable, "-m", "armsim", "docs", "files"], stdin=theirs, stdout=theirs, env=env, check=True)
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert shown == "<< Robot and scenario files >>\r\n"


def test_the_help_names_it(armsim):
    assert "armsim docs your-arm" in armsim("--help").out
