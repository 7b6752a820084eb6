"""A tuning on one page: what was found, where it holds, and the tuned scenario in motion."""

from __future__ import annotations

import html
import json
import re

import pytest

import armsim
from armsim.errors import FileFaults

SHORT = {"duration": 0.1}
TEST = {"payload.mass": [0, 2]}


@pytest.mark.slow
def test_it_has_the_report_the_picture_and_a_run_with_the_numbers_that_were_found(tmp_path):
    pytest.importorskip("matplotlib")
    found = armsim.tune(
        "two_link_hold", {"control.kp": "10:300"}, "iae", SHORT, tmp_path / "tuned", trials=5, test=TEST
    )
    for name in ("tuned", "tuned/study.yaml"):
        armsim.report(tmp_path / name, tmp_path / "page.html", force=True)
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        titles = [html.unescape(title) for title in re.findall(r'<section class="text"><h2>(.*?)</h2>', text)]
        assert titles[:2] == ["What was found, and where it holds", "Search, test and margins"]
        assert f"iae {found.objective:.5g}" in text
        assert "of 2 cases it was not tuned at: payload.mass 0,2" in text
        assert len(re.findall(r'src="data:image/png;base64,', text)) == 1
        data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
        assert (data["name"], data["subtitle"]) == ("tuned", "two_link_hold, tuned in 5 trials")


def test_files_that_have_changed_since_are_not_shown_as_the_tunings(tmp_path):
    scenario = tmp_path / "mine.yaml"
    text = (
        "format: armsim/scenario/1\nrobot: two_link\nduration: 0.1\nintegrator: {method: rk4, dt: 1e-3}\n"
        "control: {law: pd, output: torque, kp: [100, 50], kd: [10, 5], target: [0, 0]}\n"
    )
    scenario.write_text(text)
    armsim.tune(scenario, {"control.kp": "10:300"}, "iae", folder=tmp_path / "tuned", trials=3, test=TEST)
    scenario.write_text(text.replace("100", "90"))
    with pytest.raises(FileFaults, match="the file as it was when the study was made"):
        armsim.report(tmp_path / "tuned", tmp_path / "page.html")
