"""A run on one page, as text and in three dimensions."""

from __future__ import annotations

import html
import re

import pytest

import armsim
from armsim.errors import UsageError
from armsim.reports.simulation import outcome


def texts(page):
    found = re.findall(
        r'<section class="text"><h2>(.*?)</h2>(.*?)</section>', page.read_text(encoding="utf-8"), re.DOTALL
    )
    return {html.unescape(title): html.unescape(re.sub("<.*?>", " ", text)) for title, text in found}


@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.handful(1)
def test_a_report_says_of_a_run_what_its_summary_says(tmp_path, degrees):
    run = armsim.simulate("arm5_reach", {"duration": 0.5})
    run.save(tmp_path / "run")
    armsim.report(tmp_path / "run", tmp_path / "run.html", degrees=degrees)
    found = texts(tmp_path / "run.html")
    assert list(found) == ["What came of it", "What was run"]
    summary = run.summary()
    printed = "\n".join(map(str, outcome(run.facts, degrees, True)))
    assert {*printed.split()} <= {*found["What came of it"].split()}
    assert "of the motion, by the run repeated with" in found["What came of it"]  # the estimated error
    assert f"{summary['steps']} steps" in found["What came of it"]
    assert "pid control gives motor voltages" in found["What was run"]


def test_a_run_that_diverged_has_a_report_that_says_so(tmp_path):
    run = armsim.simulate("arm5_hold", {"integrator.dt": 2e-3}, force_step=True)
    assert run.status == "diverged"
    run.save(tmp_path / "run")
    armsim.report(tmp_path / "run", tmp_path / "run.html")
    assert "(diverged)" in texts(tmp_path / "run.html")["What came of it"]


def test_a_report_of_what_is_no_run_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder, found in (("empty", "a folder without a simulation's run.yaml"), ("nothing", "no folder of this name")):
        with pytest.raises(UsageError, match=f"found:    {found}"):
            armsim.report(tmp_path / folder, tmp_path / "page.html")
