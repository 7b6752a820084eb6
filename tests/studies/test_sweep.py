"""Studies: a row a run, with the bits of single runs, whatever became of the process in between."""

from __future__ import annotations

import itertools
import math
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

import armsim
from armsim.errors import UsageError
from armsim.files import study_folder
from armsim.files.claim import sole
from armsim.files.destination import Destination
from armsim.loading import load_scenario_file
from armsim.studies import blocks
from armsim.studies.request import StudyRequest
from armsim.studies.runs import StudyRuns
from armsim.studies.study import study_of
from armsim.studies.sweep import simulate_row

SHORT = {"duration": 0.02}
GRID = {"control.kp[1]": "20:80:4", "control.kd[1]": [0, 1, 2]}
MANY = {"control.kp[1]": "20:80:25", "control.kd[1]": "0:4:16"}


def test_the_last_path_is_fastest_and_rows_are_in_the_order_of_their_index(lines):
    armsim.sweep("two_link_hold", GRID, SHORT, "iae", "out")
    heading, *rows = lines("out")
    assert heading == ["index", "control.kp[1]", "control.kd[1]", "iae", "status", "reason"]
    wanted = list(itertools.product(("20", "40", "60", "80"), ("0", "1", "2")))
    assert [row[:3] for row in rows] == [[str(i), *pair] for i, pair in enumerate(wanted)]
    assert {(row[-2], row[-1]) for row in rows} == {("complete", "")}


def test_a_row_has_the_bits_of_a_single_run_with_structure_varied_too(lines):
    vary = {"integrator.method": "rk4,semi_implicit_euler", "control.kp[1]": [30, 60], "integrator.dt": [1e-3, 2e-3]}
    found = armsim.sweep("two_link_hold", vary, SHORT, ["iae", "max(abs(tau_elbow))"], "out")
    assert "integrator.method, integrator.dt" in found.notes[0]
    for row in lines("out")[1:]:
        overrides = {
            **SHORT,
            "integrator.method": row[1],
            "control.kp[1]": float(row[2]),
            "integrator.dt": float(row[3]),
        }
        names = ["iae", "max(abs(tau_elbow))"]
        run = armsim.simulate("two_link_hold", overrides, measure=names)
        assert [float(cell) for cell in row[4:6]] == [run.measures[name] for name in names]


def test_robots_and_laws_are_varied_and_what_cannot_be_run_is_a_row_with_its_reason(lines):
    found = armsim.sweep("two_link_swing", {"robot": "two_link,arm5"}, SHORT, ["pose"], "out")
    rows = lines("out")[1:]
    assert [row[-2] for row in rows] == ["complete", "refused"]
    assert rows[1][-1].startswith("initial.q: expected 5 numbers")
    assert rows[1][2:-2] == [""] * 7
    assert "1 of them cannot be run" in found.notes[0]


def test_runs_that_diverge_or_are_refused_are_rows_and_their_words_do_not_depend_on_blocks(lines, monkeypatch):
    vary = {
        "robot.joints[1].bodies[0].rod.mass": [1.5, -1.5],
        "control.kd[0]": [1, 1e5, 1e6],
        "control.kp[1]": "1:40:40",
    }
    asked = {"duration": 0.1, "integrator.method": "explicit_euler", "control.limit": None}
    for lanes in (1, 64):
        monkeypatch.setattr(blocks, "LANES", lanes)
        armsim.sweep("two_link_hold", vary, asked, ["iae"], f"by {lanes}", threads=1 + lanes // 64)
    assert Path("by 1/results.csv").read_bytes() == Path("by 64/results.csv").read_bytes()
    rows = lines("by 1")[1:]
    assert {row[-2] for row in rows} == {"complete", "refused"}
    assert rows[-1][-1].endswith("rod.mass: expected a number of kg, 0 or more, found -1.5")
    assert "integrator.dt: 0.001 s is too long a step" in {row[-1] for row in rows}
    armsim.sweep("two_link_hold", {"control.kd[0]": [1, 1e6]}, asked, ["iae"], "forced", force_step=True)
    assert [row[-2] for row in lines("forced")[1:]] == ["complete", "diverged"]


def test_a_finished_study_is_not_run_again(monkeypatch):
    first = armsim.sweep("two_link_hold", GRID, SHORT, "iae", "out")
    bytes_of = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    monkeypatch.setattr(StudyRuns, "__call__", None)
    again = armsim.sweep("two_link_hold", GRID, SHORT, "iae", "out")
    assert (again.whole, again.done, again.tally) == (True, 12, first.tally)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == bytes_of
    assert sorted(bytes_of) == ["results.csv", "study.yaml"]


def cut_short(folder: str, after: int, **options) -> armsim.Runs:
    """A study that Ctrl-C stops once so many runs are done."""

    def progress(done: int, total: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    return armsim.sweep("two_link_hold", MANY, SHORT, "iae", folder, progress=progress, **options)


def test_ctrl_c_keeps_the_runs_that_are_done_and_the_same_call_goes_on():
    armsim.sweep("two_link_hold", MANY, SHORT, "iae", "whole")
    found = cut_short("out", 100)
    assert not found.whole
    assert 64 <= found.done < 400
    assert len(found["iae"]) == found.done
    assert not Path("out/results.csv").exists()
    seen = []
    armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (400 - found.done, 400 - found.done)
    assert Path("out/results.csv").read_bytes() == Path("whole/results.csv").read_bytes()
    assert Path("out/study.yaml").read_bytes() == Path("whole/study.yaml").read_bytes()


@pytest.mark.parametrize("harm", ["torn line", "torn journal", "zeros", "lost tail", "other bytes", "no journal"])
@pytest.mark.handful(2)
def test_what_a_power_cut_makes_of_the_tail_is_cut_off(harm):
    whole = armsim.sweep("two_link_hold", MANY, SHORT, "iae", "whole")
    cut_short("out", 100)
    part, journal = Path("out/results.part"), Path("out/journal")
    text, marks = part.read_bytes(), journal.read_bytes()
    if harm == "torn line":
        part.write_bytes(text + b"320,20,3.")
    elif harm == "torn journal":
        journal.write_bytes(marks[:-10])
    elif harm == "zeros":
        part.write_bytes(text + bytes(4096))
        journal.write_bytes(marks + bytes(100))
    elif harm == "lost tail":
        part.write_bytes(text[:-5])
    elif harm == "other bytes":
        part.write_bytes(text[:-40] + bytes(10) + text[-30:])
    else:
        journal.unlink()
    found = armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out")
    assert found.whole
    assert whole.whole
    assert Path("out/results.csv").read_bytes() == Path("whole/results.csv").read_bytes()


def test_a_kill_between_the_last_names_is_made_good(monkeypatch):
    armsim.sweep("two_link_hold", GRID, SHORT, "iae", "whole")

    class Killed(BaseException):
        pass

    def killed(*_) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(study_folder, "flush", killed)  # once results.csv has its name, before study.yaml says so
        with pytest.raises(Killed):
            armsim.sweep("two_link_hold", GRID, SHORT, "iae", "out")
    assert Path("out/results.csv").exists()
    found = armsim.sweep("two_link_hold", GRID, SHORT, "iae", "out")
    assert found.whole
    for name in ("results.csv", "study.yaml"):
        assert Path("out", name).read_bytes() == Path("whole", name).read_bytes()


def test_a_kill_while_a_study_replaces_another_mixes_none_of_their_rows(monkeypatch):
    other = {"control.kp[0]": "30:90:12", "control.kp[1]": [30]}  # rows and columns alike, other values
    armsim.sweep("two_link_hold", other, SHORT, "iae", "whole")

    class Killed(BaseException):
        pass

    for last in range(1, 5):
        removed, remove = [], os.remove

        def killed(path, removed=removed, remove=remove, last=last):
            if os.path.basename(path)[0] != ".":
                removed.append(path)
                if len(removed) == last:
                    raise Killed
            remove(path)

        shutil.rmtree("out", ignore_errors=True)
        armsim.sweep("two_link_hold", GRID, SHORT, "iae", "out")
        with monkeypatch.context() as patched:
            patched.setattr(os, "remove", killed)
            with pytest.raises(Killed):
                armsim.sweep("two_link_hold", other, SHORT, "iae", "out", force=True)
        assert armsim.sweep("two_link_hold", other, SHORT, "iae", "out", force=True).whole
        for name in ("results.csv", "study.yaml"):
            assert Path("out", name).read_bytes() == Path("whole", name).read_bytes()


def test_study_yaml_repeats_the_study_and_tells_when_a_file_has_changed(lines):
    robot = Path(__file__).parents[2] / "robots/two_link.yaml"
    scenario = Path(__file__).parents[2] / "configs/two_link_hold.yaml"
    Path("arm.yaml").write_text(robot.read_text(encoding="utf-8"), encoding="utf-8")
    text = scenario.read_text(encoding="utf-8").replace("../robots/two_link.yaml", "arm.yaml")
    Path("hold.yaml").write_text(text, encoding="utf-8")
    armsim.sweep("hold.yaml", GRID, SHORT, "iae", "deep/out")
    again = armsim.sweep("deep/out/study.yaml", folder="again")
    assert lines("again") == lines("deep/out")
    assert again.whole
    record = yaml.safe_load(Path("deep/out/study.yaml").read_text())
    assert record["scenario"] == "../../hold.yaml"
    assert record["results"]["ended"] == {"complete": 12}
    Path("arm.yaml").write_text(robot.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(armsim.FileFaults, match=r"the file as it was when the study was made"):
        armsim.sweep("deep/out/study.yaml", folder="third")


def test_a_folder_with_something_else_is_refused_and_force_replaces_a_study_only(lines):
    armsim.sweep("two_link_hold", GRID, SHORT, "iae", "out")
    with pytest.raises(UsageError, match=r"another study: other vary"):
        armsim.sweep("two_link_hold", {"control.kp[0]": [1, 2]}, SHORT, "iae", "out")
    assert len(lines("out")) == 13
    armsim.sweep("two_link_hold", {"control.kp[0]": [1, 2]}, SHORT, "iae", "out", force=True)
    assert len(lines("out")) == 3
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    with pytest.raises(UsageError, match=r"other files: letter.txt"):
        armsim.sweep("two_link_hold", GRID, SHORT, "iae", "mine", force=True)
    assert os.listdir("mine") == ["letter.txt"]
    assert Path("out/study.yaml").read_text().count("armsim/study/1") == 1


def test_a_study_that_another_process_is_at_is_refused():
    cut_short("out", 100)
    with sole("out/.study.lock") as alone:
        assert alone
        with pytest.raises(UsageError, match="one that is being carried out"):
            armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out")


def test_without_a_folder_the_same_study_is_found_again_and_another_gets_the_next_number():
    found = [
        armsim.sweep("two_link_hold", {"control.kp[0]": values}, SHORT, "iae").folder
        for values in ([1, 2], [3], [1, 2])
    ]
    assert [Path(folder).name for folder in found] == ["two_link_hold-001", "two_link_hold-002", "two_link_hold-001"]


def test_the_best_are_those_that_sorting_finds_and_one_of_them_runs_again_to_the_bit():
    found = armsim.sweep("two_link_hold", GRID, SHORT, ["iae", "peak_error"], "out")
    order = np.argsort(found["peak_error"], kind="stable")
    assert [run["index"] for run in found.top(4, "peak_error")] == list(order[:4])
    largest = [run["index"] for run in found.top(3, "iae", largest=True)]
    assert found["iae"][largest].tolist() == sorted(found["iae"], reverse=True)[:3]
    study = study_of("two_link_hold", StudyRequest(GRID, ("iae", "peak_error"), overrides=SHORT))
    run, folder = simulate_row(study, 7, Destination("seventh"))
    assert run.measures["iae"] == found["iae"][7]
    assert (folder / "run.yaml").is_file()
    with pytest.raises(UsageError, match=r"from 0 to 11"):
        simulate_row(study, 12, Destination())
    with pytest.raises(UsageError, match=r"did you mean `iae`"):
        found.top(1, "iea")


def test_a_path_that_stands_for_many_numbers_gives_all_of_them_the_value():
    found = armsim.sweep("two_link_hold", {"control.kp": [30, 60]}, SHORT, "iae", "out")
    run = armsim.simulate("two_link_hold", {**SHORT, "control.kp": [30] * 2}, measure="iae")
    assert found["iae"][0] == run.measures["iae"]


@pytest.mark.parametrize("table", ["csv", "parquet"])
@pytest.mark.handful(1)
def test_lists_of_gains_are_runs_with_these_gains_and_study_yaml_repeats_them(table):
    if table == "parquet":
        pytest.importorskip("pyarrow")
    gains = [[30, 60], [60, 30], [40, 40]]
    vary = {"control.kp": gains, "payload.mass": [0, 1]}
    found = armsim.sweep("two_link_hold", vary, SHORT, "iae", "out", table=table)
    assert found["control.kp"][2] == "[60,30]"
    for i, (kp, mass) in enumerate(itertools.product(gains, (0, 1))):
        run = armsim.simulate("two_link_hold", {**SHORT, "control.kp": kp, "payload.mass": mass}, measure="iae")
        assert found["iae"][i] == run.measures["iae"]
    again = armsim.sweep("out/study.yaml", folder="again")
    assert again["iae"].tolist() == found["iae"].tolist()
    by_text = armsim.sweep(
        "two_link_hold", {**vary, "control.kp": "[30,60],[60,30],[40,40]"}, SHORT, "iae", "out", table=table
    )
    assert by_text.whole
    drawn = armsim.sweep("two_link_hold", {"control.kp": gains}, SHORT, "iae", "drawn", random=8)
    assert set(drawn["control.kp"]) <= {"[30,60]", "[60,30]", "[40,40]"}
    run, _ = simulate_row(
        study_of("two_link_hold", StudyRequest(vary, ("iae",), overrides=SHORT)), 2, Destination("third")
    )
    assert run.measures["iae"] == found["iae"][2]
    with pytest.raises(UsageError, match=r"values for 2 numbers\n  found:    3 in each list"):
        armsim.sweep("two_link_hold", {"control.kp": [[1, 2, 3]]}, SHORT, "iae", "other")


def test_infinite_and_lacking_measures_are_told_apart(lines):
    armsim.sweep("two_link_hold", {"payload.mass": [0, -1]}, SHORT, ["settling_time"], "out")
    assert [row[2] for row in lines("out")[1:]] == ["inf", ""]
    found = armsim.sweep("two_link_hold", {"payload.mass": [0, -1]}, SHORT, ["settling_time"], "out")
    assert math.isinf(found["settling_time"][0])
    assert math.isnan(found["settling_time"][1])


def test_parquet_has_what_csv_has(lines):
    pytest.importorskip("pyarrow")
    vary = {"integrator.method": "rk4,explicit_euler", "payload.mass": [0, -1]}
    as_csv = armsim.sweep("two_link_hold", vary, SHORT, ["settling_time", "iae"], "csv")
    found = armsim.sweep("two_link_hold", vary, SHORT, ["settling_time", "iae"], "parquet", table="parquet")
    assert sorted(os.listdir("parquet")) == ["results.parquet", "study.yaml"]
    for name in as_csv:
        np.testing.assert_array_equal(found[name], as_csv[name])


REFUSED = {
    "nothing": (({},), r"paths with their values"),
    "path": (({"control.kpp": [1, 2]},), r"did you mean `kp`"),
    "both": (({"duration": [1, 2]},), r"either one value, or several"),
    "measure": (({"control.kp[0]": [1, 2]}, SHORT, "iaee"), r"did you mean `iae`"),
    "distribution": (({"control.kp[0]": "normal:1:2"},), r"values for a grid"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_study_that_cannot_be_is_refused_before_a_folder_is_made(what):
    arguments, words = REFUSED[what]
    vary, overrides, measure = (*arguments, SHORT, "iae")[: len(arguments)] + (SHORT, "iae")[len(arguments) - 1 :]
    with pytest.raises((UsageError, armsim.FileFaults), match=words):
        armsim.sweep("two_link_hold", vary, overrides, measure, "out")
    assert not re.search("out", " ".join(os.listdir()))


def test_a_scenario_of_which_several_numbers_are_varied_is_loaded_once(monkeypatch):
    loaded = []

    def counted(*arguments):
        loaded.append(arguments)
        return load_scenario_file(*arguments)

    monkeypatch.setattr("armsim.loading.open_numbers.load_scenario_file", counted)
    monkeypatch.setattr("armsim.studies.study_file.load_scenario_file", counted)
    armsim.sweep("two_link_hold", {"control.kp": [20, 40], "control.kd[1]": [1, 2]}, SHORT, "iae", "once")
    assert len(loaded) == 1


def test_numbers_that_are_sound_together_alone_are_varied_together():
    varied = {"control.period": [1e-3, 2e-3], "control.encoder.counts": [100, 200]}  # no encoder without a period
    found = armsim.sweep("two_link_hold", varied, SHORT, "iae", "together")
    last = {**SHORT, "control.period": 2e-3, "control.encoder.counts": 200}
    assert found["iae"][-1] == armsim.simulate("two_link_hold", last, measure="iae").measure("iae")


def test_what_cannot_be_left_open_is_written_in_while_all_else_stays_open():
    varied = {"robot.parameters.spare": [1, 2], "control.kp[0]": [20, 40]}  # the first: a key that the file lacks
    found = armsim.sweep("two_link_hold", varied, SHORT, "iae", "spare")
    assert found.notes[0].startswith("grouped by robot.parameters.spare, ")
    alone = armsim.sweep("two_link_hold", {"control.kp[0]": [20, 40]}, SHORT, "iae", "alone")
    assert alone.notes == ()
    assert found["iae"].tolist() == 2 * alone["iae"].tolist()


def test_a_delay_that_is_varied_acts_as_one_that_is_written_in():
    delays, sampled = [0, 2e-3, 5e-3], {"duration": 0.1, "control.period": 1e-3}
    found = armsim.sweep("two_link_hold", {"control.delay": delays}, sampled, "iae", "delays")
    runs = [armsim.simulate("two_link_hold", {**sampled, "control.delay": x}, measure="iae") for x in delays]
    assert list(found["iae"]) == [run.measure("iae") for run in runs]
    assert len(set(found["iae"])) == 3
    with pytest.raises(UsageError, match="part of the structure"):
        armsim.simulate_many("two_link_hold", {"control.delay": delays}, sampled)


@pytest.mark.parametrize(
    ("scenario", "path", "model", "words"),
    [
        ("arm5_move", "payload.mass", None, "model has payload.mass, too; `control.model: ../robots/arm5.yaml`"),
        ("arm5_move", "payload.mass", "arm5", "does not know payload.mass"),
        ("arm5_computed_torque", "robot.joints[R2].motor.Ra", None, "model has robot.joints[R2].motor.Ra, too"),
        ("arm5_move", "control.kp[R2]", None, ""),
        ("arm5_hold", "payload.mass", None, ""),  # its law has no model
    ],
)
def test_a_study_says_whether_the_controllers_model_knows_what_is_varied(scenario, path, model, words):
    set_ = {} if model is None else {"control.model": model}
    notes = StudyRuns(study_of(scenario, StudyRequest({path: [1, 1.1]}, overrides=set_))).notes()
    assert [words in note for note in notes] == [True] * bool(words)


@pytest.mark.slow
def test_a_model_of_the_controllers_own_changes_what_a_payload_does():
    given = {"duration": 0.5, "control.model": None}
    off = [
        armsim.sweep("arm5_move", {"payload.mass": [0, 1]}, {**given, "control.model": model}, ["peak_error"], name)
        for name, model in {"a": None, "b": "../robots/arm5.yaml"}.items()  # as the note has it
    ]
    assert off[0]["peak_error"].max() < 1e-6 < 1e-3 < off[1]["peak_error"].max()


def test_studies_that_begin_at_once_do_not_replace_each_other(monkeypatch):
    other = {"control.kp[0]": [40]}

    def late(path, **options):
        """Another study takes the folder between the look into it and its lock."""
        monkeypatch.setattr(study_folder, "sole", sole)
        armsim.sweep("two_link_hold", other, SHORT, "iae", os.path.dirname(path))
        return sole(path, **options)

    for folder, mine in ((None, "studies/two_link_hold-002"), ("out", "")):
        monkeypatch.setattr(study_folder, "sole", late)
        if mine:
            assert str(armsim.sweep("two_link_hold", GRID, SHORT, "iae", folder).folder) == mine
        else:
            with pytest.raises(UsageError, match="another study"):
                armsim.sweep("two_link_hold", GRID, SHORT, "iae", folder)
        taken, heading = Path(folder or "studies/two_link_hold-001"), b"index,control.kp[0],iae"
        assert yaml.safe_load((taken / "study.yaml").read_text())["results"]["status"] == "complete"
        assert (taken / "results.csv").read_bytes().startswith(heading)
