"""`armsim plan`: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

SWING = ("plan", "pendubot_swingup")


@pytest.mark.slow
def test_it_prints_the_plan_and_writes_a_scenario_that_plays_it(armsim, empty_folder):
    ended = armsim(*SWING)
    assert ended.code == 0
    assert ended.out.startswith("pendubot_swingup: 1 s of pendubot, torque_squared = ")
    for text in ("search   ", "checked  by rodas at 1e-9", "written  plans/pendubot_swingup-001"):
        assert text in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert armsim("simulate", "plans/pendubot_swingup-001/play.yaml", "-q").code == 0
    again = armsim(*SWING, "--from", "plans/pendubot_swingup-001", "--json")
    data = json.loads(again.out)
    assert (data["status"], data["time"], data["folder"]) == ("solved", 1.0, "plans/pendubot_swingup-002")
    assert yaml.safe_load(Path("plans/pendubot_swingup-002/plan.yaml").read_text())["cost"] == data["cost"]
    assert armsim(*SWING, "-o", "plans/pendubot_swingup-001").code == 2


def test_an_infeasible_task_ends_with_the_limit_that_is_in_the_way(armsim, told, empty_folder):
    ended = armsim(*SWING, "--set", "duration=0.2", "--set", "plan.intervals=10")
    assert ended.code == 1
    lines = [line for line in ended.out.splitlines() if not line.startswith("search")]
    told(re.sub(r"\d[\d.e+-]*", "N", "\n".join(lines)))  # the solver's rounding depends on the machine
    assert "because  torque of shoulder is limited to" in ended.out
    assert not Path("plans").exists()
