"""A study on one page: what was asked, what came of it, and its best run."""

from __future__ import annotations

import base64
import csv
import html
import json
import re
from hashlib import sha256

import pytest
import yaml

import armsim
from armsim.errors import FileFaults, UsageError

SHORT = {"duration": 0.02}
VARY = {"control.kp[1]": [20, 60, 40], "integrator.dt": [1e-3, 1.0]}  # half of them cannot be run


@pytest.fixture
def folder(tmp_path):
    armsim.sweep("two_link_hold", VARY, SHORT, ["iae", "peak_torque_elbow"], tmp_path / "study")
    return tmp_path / "study"


def reported(folder, **options):
    """The sections of a report by their titles, the data of its page, and its pictures."""
    page = folder.with_suffix(".html")
    armsim.report(folder, page, force=True, **options)
    text = page.read_text(encoding="utf-8")
    sections = re.findall(r'<section class="text"><h2>(.*?)</h2>(.*?)</section>', text, re.DOTALL)
    found = {
        html.unescape(title): html.unescape(re.sub("<.*?>", " ", body.replace("</tr>", "\n")))
        for title, body in sections
    }
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    return found, data, re.findall(r'src="data:image/png;base64,([^"]*)"', text)


def rows(folder):
    with open(folder / "results.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_a_report_of_a_study_has_what_was_asked_its_failures_and_its_best_run(folder):
    pytest.importorskip("matplotlib")
    found, data, pictures = reported(folder)
    best = min((row for row in rows(folder) if row["status"] == "complete"), key=lambda row: float(row["iae"]))
    asked = found["What was asked"]
    assert "two_link_hold" in asked
    assert "6 runs, all combinations" in asked
    assert re.search(r"control\.kp\[1\] +20,60,40", asked)
    assert "6 of 6: 3 complete, 3 refused" in found["What came of it"]
    assert re.search(r"(?s)! 3 runs refused: .*whole multiple of dt.*\(run 1, 3, 5\)", found["What came of it"])
    first = found["The best runs"].splitlines()[1].split()
    assert first[:3] == [best["index"], best["control.kp[1]"], best["integrator.dt"]]
    assert f"Run {best['index']} in motion" in found
    assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")
    assert data["name"] == "study"
    values = {path: float(best[path]) for path in VARY}
    run = armsim.simulate("two_link_hold", {**SHORT, **values})
    [shown] = data["runs"]
    q = base64.b64decode(data["arrays"][shown["q"]]["bytes"])
    assert q == run.q.astype("<f4").tobytes()


@pytest.mark.slow
def test_another_measure_or_the_largest_makes_another_run_the_best(folder):
    done = [row for row in rows(folder) if row["status"] == "complete"]
    most = max(done, key=lambda row: float(row["peak_torque_elbow"]))
    least = min(done, key=lambda row: float(row["peak_torque_elbow"]))
    assert most["index"] != least["index"]
    assert f"Run {most['index']} in motion" in reported(folder, by="peak_torque_elbow", largest=True)[0]
    assert f"Run {least['index']} in motion" in reported(folder, by="peak_torque_elbow")[0]
    with pytest.raises(UsageError, match="iea"):
        reported(folder, by="iea")


def test_an_unfinished_study_is_reported_as_far_as_it_went(folder):
    record = yaml.safe_load((folder / "study.yaml").read_text())
    record["results"] = {"status": "running"}
    (folder / "study.yaml").write_text(yaml.safe_dump(record))
    lines = (folder / "results.csv").read_bytes().splitlines(keepends=True)
    (folder / "results.csv").unlink()
    whole = b"".join(lines[:4])
    (folder / "results.part").write_bytes(whole + lines[4][:5])
    (folder / "journal").write_text(f"3 {len(whole)} {sha256(whole).hexdigest()}\n")
    found = reported(folder)[0]
    assert "3 of 6: 2 complete, 1 refused" in found["What came of it"]
    assert "interrupted" in found["What came of it"]


def test_a_study_without_a_complete_run_is_reported_without_a_picture_of_one(tmp_path):
    armsim.sweep("arm5_hold", {"integrator.dt": [5e-3, 1e-2]}, {"duration": 0.1}, "iae", tmp_path / "none")
    found, data, _ = reported(tmp_path / "none")
    assert data["kind"] == "text"
    assert "no complete run" in found["The best runs"]
    assert "2 refused" in found["What came of it"]


@pytest.mark.slow
def test_a_table_in_parquet_is_reported_as_one_in_csv(tmp_path):
    pytest.importorskip("pyarrow")
    for table in ("csv", "parquet"):
        armsim.sweep("two_link_hold", VARY, SHORT, "iae", tmp_path / table, table=table)
    texts = [reported(tmp_path / table)[0]["The best runs"] for table in ("csv", "parquet")]
    assert texts[0] == texts[1]


def test_a_scenario_that_has_changed_since_is_not_shown_as_the_studys(tmp_path):
    file = tmp_path / "mine.yaml"
    text = {"format": "armsim/scenario/1", "robot": "rr", "duration": 0.02, "integrator": {"method": "rk4", "dt": 1e-3}}
    file.write_text(yaml.safe_dump(text))
    armsim.sweep(file, {"payload.mass": [0, 1]}, measure="max(abs(qd_R1))", folder=tmp_path / "study")
    file.write_text(yaml.safe_dump({**text, "duration": 0.01}))
    with pytest.raises(FileFaults, match="the file as it was when the study was made"):
        reported(tmp_path / "study")


def test_a_search_that_is_not_at_its_end_is_refused(tmp_path):
    (tmp_path / "tuned").mkdir()
    record = {"format": "armsim/study/1", "tune": {}, "results": {"status": "complete"}}
    (tmp_path / "tuned" / "study.yaml").write_text(yaml.safe_dump(record))
    with pytest.raises(UsageError, match="a tuning that is at its end"):
        reported(tmp_path / "tuned")


def test_ranks_are_refused_for_a_run(tmp_path):
    run = armsim.simulate("two_link_swing", SHORT).save(tmp_path / "run")
    with pytest.raises(UsageError, match="a study, whose runs are compared"):
        reported(run, largest=True)
