"""docs/references.md: its examples are sound, and do what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import armsim
from armsim.cli.main import cli
from armsim.document.reference import OSCILLATIONS, SMOOTH, STRAIGHT
from armsim.loading import read_scenario
from armsim.loading.check import check

PAGE = (Path(__file__).parents[2] / "docs" / "references.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
OUTPUT = re.findall(r"^<!-- output: (.+?) -->\n```text\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
ROWS = "t_s,q_shoulder_deg,q_elbow_rad\n0,-60,0.8\n0.5,-50,0.7\n1,-45,0.6\n1.5,-40,0.6\n"
HEAD = "format: armsim/scenario/1\nrobot: two_link\nduration: 4\ncontrol:\n  law: pd\n  output: torque\n  kp: 100\n  kd: 10\n  "

SIX = HEAD.replace(
    "two_link\nduration: 4", "ur5e\nunits: {angle: deg}\ninitial: {q: [10, -75, 100, -115, -90, 5]}\nduration: 12"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moves.csv").write_text(ROWS)
    return tmp_path


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
@pytest.mark.handful(2)
def test_every_example_is_sound_and_a_motion(example, folder):
    (folder / "move.yaml").write_text((SIX if "joints:" in example else HEAD) + example.replace("\n", "\n  "))
    checked = check("move.yaml")
    assert (checked.faults, checked.warnings) == ((), ())
    motion = read_scenario("move.yaml").command.reference
    assert motion.at(1.2).q != motion.at(0.0).q


def test_every_profile_is_on_the_page():
    for profile in (*SMOOTH, *STRAIGHT, "steps", *OSCILLATIONS):
        assert f"`{profile}`" in PAGE


@pytest.mark.parametrize(("command", "shown"), OUTPUT)
@pytest.mark.handful(1)
def test_a_command_prints_what_the_page_shows(command, shown, folder, capsys):
    cli.main(shlex.split(command)[1:], prog_name="armsim", standalone_mode=False)
    assert steady(capsys.readouterr().out) == steady(shown)


def steady(text):
    """An output without the speed of the run and what is rounding, which differ from machine to machine."""
    text = re.sub(r"[\d.]+ +[\d.]+e-1\d +[\d.]+", "rounding", text)  # of J5, which stands still
    text = re.sub(r"^J6 +[\d.]+$", "rounding", text, flags=re.MULTILINE)  # when its torque, which is 0, is greatest
    return re.sub(r"^speed  .*$", "speed ...", text, flags=re.MULTILINE)


def test_its_python_runs(folder, capsys):
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    exec(block, {"armsim": armsim})
    assert (folder / "moves.csv").read_text().startswith("t_s,q_R1_rad,")
