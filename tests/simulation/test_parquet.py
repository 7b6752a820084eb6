"""Runs written as Parquet: the numbers of CSV, with units and provenance, read wherever CSV is."""

from __future__ import annotations

import importlib.util
import json
from random import Random

import numpy as np
import pytest
import yaml

import armsim
from armsim.errors import FileFaults
from armsim.files import parquet
from armsim.files.csv_reader import read_csv
from armsim.files.destination import Destination
from armsim.files.parquet import read_parquet
from armsim.loading import read_scenario
from armsim.simulation import row_log
from armsim.simulation.simulate import simulate_into

LOGGED = {"duration": 0.5, "log.every": 1e-3}
PARQUET = {**LOGGED, "log.format": "parquet"}


def test_without_pyarrow_it_is_said_before_the_run_in_a_line_that_installs_it(monkeypatch, tmp_path, told):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else found(name))
    for write in (
        lambda: simulate_into(Destination(tmp_path / "run"), read_scenario("arm5_hold", {**PARQUET, "duration": 1e6})),
        lambda: armsim.simulate("arm5_hold", PARQUET).save(tmp_path / "run"),
    ):
        with pytest.raises(armsim.UsageError) as refused:
            write()
        told(refused.value)
    assert not (tmp_path / "run").exists()


@pytest.fixture
def pq():
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    return pyarrow.parquet


@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.handful(1)
def test_parquet_has_the_bits_and_headings_of_csv(pq, degrees, streamed, tmp_path, monkeypatch):
    if streamed:
        monkeypatch.setattr(row_log, "IN_MEMORY", 1)
        monkeypatch.setattr(row_log, "BLOCK", 10_000)
        monkeypatch.setattr(parquet, "GROUP", 30_000)
    run, folder = simulate_into(Destination(tmp_path / "run"), read_scenario("arm5_hold", PARQUET), degrees=degrees)
    assert (run.rows.totals is not None) == streamed
    simulate_into(Destination(tmp_path / "csv"), read_scenario("arm5_hold", LOGGED), degrees=degrees)
    assert sorted(path.name for path in folder.iterdir()) == ["run.yaml", "torque.parquet", "trajectory.parquet"]
    for name in ("trajectory", "torque"):
        columns = read_csv(str(tmp_path / f"csv/{name}.csv")).columns
        found = pq.read_table(folder / f"{name}.parquet")
        assert found.column_names == list(columns)
        for heading, values in columns.items():
            assert found[heading].to_numpy().tobytes() == values.tobytes()
    assert (pq.ParquetFile(folder / "torque.parquet").num_row_groups > 1) == streamed


def test_parquet_says_units_and_where_it_is_from(pq, tmp_path):
    _, folder = simulate_into(Destination(tmp_path / "run"), read_scenario("arm5_hold", PARQUET), degrees=True)
    schema = pq.read_schema(folder / "trajectory.parquet")
    units = {field.name: field.metadata[b"unit"].decode() for field in schema}
    some = ["t_s", "q_R1_deg", "qdd_R5_deg_s2", "z_m", "qw", "vx_m_s", "potential_energy_J"]
    assert [units[name] for name in some] == ["s", "deg", "deg/s²", "m", "1", "m/s", "J"]
    about = {key.decode(): value.decode() for key, value in schema.metadata.items()}
    record = yaml.safe_load((folder / "run.yaml").read_text())
    assert (about["armsim"], about["scenario"], about["robot"]) == (armsim.__version__, "arm5_hold", "arm5")
    assert json.loads(about["sources"]) == record["sources"]
    assert json.loads(about["scenario_data"]) == record["scenario"]


def test_a_run_in_parquet_repeats_to_the_bit_and_compares_with_csv(pq, tmp_path):
    from armsim.recording.compare import compare

    simulate_into(Destination(tmp_path / "run"), read_scenario("arm5_hold", PARQUET))
    simulate_into(Destination(tmp_path / "again"), read_scenario(tmp_path / "run/run.yaml"))
    simulate_into(Destination(tmp_path / "csv"), read_scenario("arm5_hold", LOGGED), degrees=True)
    again = compare(tmp_path / "run", tmp_path / "again")
    assert again.comparison.equal
    assert (again.comparison.first.shape, again.only_a, again.only_b) == ((501, 65), (), ())
    assert not compare(tmp_path / "run", tmp_path / "csv").comparison.differs


def test_a_run_that_is_replaced_leaves_no_table_of_the_other_format(pq, tmp_path):
    for overrides, ending in ((LOGGED, "csv"), (PARQUET, "parquet"), (LOGGED, "csv")):
        simulate_into(Destination(tmp_path / "run", force=True), read_scenario("arm5_hold", overrides))
        names = sorted(path.name for path in (tmp_path / "run").iterdir())
        assert names == ["run.yaml", f"torque.{ending}", f"trajectory.{ending}"]


def test_a_faulty_parquet_file_is_explained(pq, tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.parquet").write_text("t_s,x\n0,1\n")
    pq.write_table(pa.table({"t_s": [0.0, 1.0], "who": ["a", "b"]}), "words.parquet")
    pq.write_table(pa.table({"t_s": [0.0, 1.0], "x": [1.0, np.inf]}), "inf.parquet")
    pq.write_table(pa.table({"t_s": pa.array([], pa.float64())}), "empty.parquet")
    for name, part in (
        ("none", "expected: a Parquet file\n  found:    no file of this name"),
        ("text", "expected: a Parquet file that can be read"),
        ("words", "words.parquet: who\n  expected: a column of numbers\n  found:    string"),
        ("inf", "inf.parquet: x\n  expected: finite numbers\n  found:    inf in row 2"),
        ("empty", "expected: rows of numbers\n  found:    no rows"),
    ):
        with pytest.raises(FileFaults) as caught:
            dict(read_parquet(f"{name}.parquet"))
        assert part in str(caught.value)
    pq.write_table(pa.table({"t_s": [0, 1], "x": [1.5, 2]}), "whole.parquet")
    assert {name: list(x) for name, x in read_parquet("whole.parquet").items()} == {
        "t_s": [0, 1],
        "x": [1.5, 2],
    }


def test_a_damaged_parquet_file_is_refused_in_words(pq, tmp_path):
    import pyarrow as pa

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"t_s": np.arange(50.0), "q_R1_rad": np.zeros(50)}), path)
    whole, random = path.read_bytes(), Random(4)
    named = [k for k in range(len(whole)) if whole.startswith(b"q_R1", k)]  # headings that are no text then
    refused = 0
    for k in [*named, *(random.randrange(len(whole)) for _ in range(300))]:
        path.write_bytes(whole[:k] + bytes([0xB3 if k in named else random.randrange(256)]) + whole[k + 1 :])
        try:
            read_parquet(str(path))
        except FileFaults:
            refused += 1
    assert refused > 50


def test_a_parquet_file_of_few_bytes_and_very_many_numbers_is_refused_unread(pq, tmp_path, monkeypatch):
    import pyarrow as pa

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"t_s": np.zeros(100_000), "x": np.zeros(100_000)}), path)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(parquet, "MOST_NUMBERS", 199_999)
    with pytest.raises(FileFaults, match="a table of at most 199999 numbers"):
        read_parquet(str(path))
