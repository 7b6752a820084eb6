"""The table of runs: the same questions have the same answers in memory, in parts of it, and in a study's folder."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import armsim
from armsim.batches import table_text
from armsim.batches.runs import Runs

VALUES = {
    "control.kp[0]": [60.0, 80.0, 100.0, 80.0, 70.0],
    "robot.joints[1].bodies[0].rod.mass": [1.0, 1.5, -1.5, 1.5, 0.5],
}
SHORT = {"duration": 0.05}


@pytest.fixture(scope="module")
def found():
    return armsim.simulate_many("two_link_hold", VALUES, SHORT, measure=["iae"])


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    values = {path: sorted(set(of)) for path, of in VALUES.items()}
    return armsim.sweep("two_link_hold", values, SHORT, ["iae"], tmp_path_factory.mktemp("study") / "out")


def test_the_best_of_runs_in_memory_are_the_first_of_them_sorted(found):
    order = np.argsort(np.where(found.complete, found["iae"], np.inf), kind="stable")[:4]
    best = found.top(9, "iae")
    assert [run["index"] for run in best] == order.tolist()  # runs 1 and 3 are equal: by index
    assert best[0] == {"index": order[0], **{name: found[name][order[0]] for name in found}}
    assert [run["index"] for run in found.top(2, largest=True)] == sorted(order, key=lambda i: -found["iae"][i])[:2]


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_a_table_that_is_read_in_parts_gives_the_same_answers(stored, monkeypatch, rows):
    whole = [[stored.top(n, largest=largest) for n in (0, 1, 5, 99)] for largest in (False, True)]
    monkeypatch.setattr(table_text, "GROUP", rows)
    assert [part.done for part in stored.parts()] == [min(rows, 16 - i) for i in range(0, 16, rows)]
    assert [[stored.top(n, largest=largest) for n in (0, 1, 5, 99)] for largest in (False, True)] == whole
    counted = {status: int((stored.status == status).sum()) for status in ("complete", "refused")}
    assert stored.tally == counted == Runs(**{**vars_of(stored), "ended": None}).tally


def test_some_runs_of_a_study_are_those_of_its_table(stored):
    some = stored.taken(np.array([7, 2]))
    assert some["index"].tolist() == [7, 2]
    assert [some.run(k) for k in range(2)] == [stored.run(7), stored.run(2)]


def vars_of(runs: Runs) -> dict:
    return {name: getattr(runs, name) for name in Runs.__dataclass_fields__}


def test_runs_of_a_table_are_a_table_that_knows_where_they_were(found):
    part = found.taken(slice(1, 4))
    assert (part.first, part.done, part.count) == (1, 3, 3)
    assert part["iae"].base is not None  # shared, not copied
    assert np.array_equal(part["iae"], found["iae"][1:4], equal_nan=True)
    assert [run["index"] for run in part.top(1)] == [1 + int(np.nanargmin(found["iae"][1:4]))]
    assert part.text == b"".join(found.text.splitlines(keepends=True)[1:4])


def test_the_lines_of_runs_in_memory_read_back_as_what_they_are(found, tmp_path):
    rows = [line.split(",") for line in found.text.decode().splitlines()]
    assert [row[0] for row in rows] == [str(i) for i in range(5)]
    assert [float(row[3]) if row[3] else np.nan for row in rows] == pytest.approx(
        found["iae"].tolist(), nan_ok=True, abs=0
    )


def test_a_table_in_a_folder_goes_to_other_processes(stored):
    other = pickle.loads(pickle.dumps(stored))
    assert repr(other) == repr(stored)
    assert np.array_equal(other["iae"], stored["iae"], equal_nan=True)
