"""Study folders that are damaged or changed: refused at the file and line, and never another result without a word."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import armsim
from armsim.errors import FileFaults, UsageError
from armsim.reports.study import failures, leading, report
from armsim.studies import blocks
from armsim.studies.results import load_study

VARY = {"control.kp[0]": "100:200:40", "integrator.method": "rk4,semi_implicit_euler"}
KINDS = {"csv": "results.csv", "parquet": "results.parquet", "stopped": "results.part"}


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A study that is complete, one in Parquet, and one that was stopped."""
    folder = tmp_path_factory.mktemp("studies")

    def stop(done: int, total: int) -> None:
        if done >= 50:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "MOST", 20)
        patched.setattr(blocks, "LANES", 20)
        for kind in KINDS:
            if kind == "parquet":
                pytest.importorskip("pyarrow")
            table = {"table": "parquet"} if kind == "parquet" else {}
            given = {**table, **({"progress": stop} if kind == "stopped" else {})}
            armsim.sweep("two_link_hold", VARY, {"duration": 0.01}, "iae", folder / kind, **given)
    return folder


@pytest.fixture
def damaged(originals):
    """A copy of a study, with one of its files changed."""

    def make(kind: str, name: str, change) -> str:
        shutil.rmtree("study", ignore_errors=True)
        shutil.copytree(originals / kind, "study")
        path = Path("study", name)
        path.write_bytes(change(path.read_bytes()))
        return "study"

    return make


def rows(found: armsim.Runs) -> list[list[str]]:
    """The runs one by one, as text."""
    return [[str(cell) for cell in found.run(i).values()] for i in range(found.done)]


def used(folder: str) -> list[list[str]]:
    """The rows of a study on disk, after all that a report asks of it."""
    _, found = load_study(folder)
    assert report(found)
    failures(found)
    leading(found, found.top(3), "iae", False)
    assert len(found["iae"]) == found.done
    return rows(found)


def carried_on(folder: str) -> list[list[str]]:
    """The rows of a study that the same command goes on with."""
    return rows(armsim.sweep(f"{folder}/study.yaml", folder=folder))


@pytest.mark.parametrize("use", [used, carried_on])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.handful(2)
def test_a_table_with_another_byte_is_refused_by_its_hash(kind, use, damaged):
    name = KINDS[kind]
    other = damaged(kind, name, lambda raw: raw[:700] + bytes([raw[700] ^ 1]) + raw[701:])
    with pytest.raises(FileFaults, match=rf"study/{name}(?s:.*)the table as it was written, sha256") as refused:
        use(other)
    assert refused.value.faults[0].mend == "restore it, or remove it and carry the study out again"


LINES = {
    "a row cut short": (lambda raw: raw.replace(b"\n4,", b"\n4\n,", 1), 6, "a line of 1 cells, cut short"),
    "a table cut short": (lambda raw: raw[: raw.index(b"\n7,") + 3], 9, "a line of 2 cells, cut short"),
    "bytes that are no UTF-8": (lambda raw: raw.replace(b"\n2,", b"\n\xff,", 1), 4, "a line that is no text in UTF-8"),
    "a cell too many": (lambda raw: raw.replace(b"\n2,", b"\n2,2,", 1), 4, "7 cells"),
}


@pytest.mark.parametrize("what", LINES)
def test_a_damaged_table_is_refused_at_its_line(what, damaged):
    change, line, told = LINES[what]
    with pytest.raises(FileFaults) as refused:
        used(damaged("csv", "results.csv", change))
    fault = refused.value.faults[0]
    assert (fault.where.source, fault.where.line, fault.found) == ("study/results.csv", line, told)


RESULTS = {
    "results.runs": (b"runs: 80", (b"runs: x", b"runs: [80]", b"runs: .nan", b"runs: -1", b"runs: 1.5", b"r: 80")),
    "results.sha256": (b"sha256: %s", (b"sha256: [1]", b"sha256: 5", b"hash: %s")),
    "results.ended": (b"ended: {complete: 80}", (b"ended: 80", b"ended: []", b"finished: {complete: 80}")),
    "results.ended.complete": (b"{complete: 80}", (b"{complete: x}", b"{complete: -1}")),
}  # fmt: skip


@pytest.mark.parametrize("key", RESULTS)
def test_results_that_armsim_did_not_write_so_are_refused_at_their_key(key, damaged, originals):
    before, others = RESULTS[key]
    raw = Path(originals, "csv", "study.yaml").read_bytes()
    sha256 = raw.split(b"results:")[1].split(b"sha256: ")[1].split()[0]
    for other in others:
        written = [text % sha256 if b"%s" in text else text for text in (before, other)]
        head, tail = raw.split(b"results:")
        changed = head + b"results:" + tail.replace(*written)
        for use in (used, carried_on):
            with pytest.raises(FileFaults) as refused:
                use(damaged("csv", "study.yaml", lambda _, changed=changed: changed))
            fault = refused.value.faults[0]
            assert (fault.where.source, fault.path) == ("study/study.yaml", key)
            assert fault.where.line > head.count(b"\n")


def test_of_a_stopped_study_only_rows_that_its_journal_knows_are_shown(damaged, originals):
    whole = used(damaged("stopped", "results.part", bytes))
    assert 20 <= len(whole) < 80
    last = b"\n%d," % (len(whole) - 1)
    changed = damaged("stopped", "results.part", lambda raw: raw.replace(last, last + b"9", 1))
    shown = used(changed)
    assert len(shown) < len(whole)
    assert shown == whole[: len(shown)]
    assert carried_on(changed) == used(damaged("csv", "results.csv", bytes))


def test_no_damage_at_random_ends_in_anything_but_rows_that_were_there_or_a_refusal(damaged, originals):
    draw = random.Random(5)
    for kind, table in KINDS.items():
        sound = used(damaged(kind, table, bytes))
        for name in sorted(path.name for path in Path(originals, kind).iterdir() if not path.name.startswith(".")):
            size = Path(originals, kind, name).stat().st_size
            for _ in range(12):
                at, by = draw.randrange(size), draw.choice([b"", b"\xff", b"9", b"\n", b": [", b"\0"])
                rest = at + draw.choice([0, 1, 9, size])
                folder = damaged(kind, name, lambda raw, at=at, by=by, rest=rest: raw[:at] + by + raw[rest:])
                try:
                    rows = used(folder)
                except (FileFaults, UsageError):
                    continue
                assert name == "study.yaml" or rows == sound[: len(rows)]
