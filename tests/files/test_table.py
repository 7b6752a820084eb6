"""Tables as other programs write them: text, missing cells, and what nobody reads."""

from __future__ import annotations

import math

import pytest

from armsim.errors import FileFaults
from armsim.files import csv_reader
from armsim.files.csv_reader import read_csv, read_csv_columns


def table(folder, text):
    (folder / "log.csv").write_text(text)
    return read_csv_columns(str(folder / "log.csv"))


def message(call):
    with pytest.raises(FileFaults) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("block", [1, 50, csv_reader.BLOCK])
def test_text_beside_numbers_leaves_their_bits_as_they_are(block, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "BLOCK", block)
    numbers = [0.1 * k for k in range(500)]
    rows = "".join(f'2026-01-01 10:00,{x!r},"on, hot",\n' for x in numbers)
    read = table(tmp_path, "stamp,x,mode,\n" + rows)
    assert list(read) == ["stamp", "x", "mode", ""]
    assert read["x"].tolist() == numbers
    assert [read.is_text(name) for name in read] == [True, False, True, True]


def test_a_column_of_text_is_one_fault_once_it_is_read(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("t_s,mode\n" + "".join(f"{k},auto\n" for k in range(5000)))
    read = read_csv_columns("log.csv")
    told(message(lambda: read["mode"]))


def test_a_few_cells_of_text_in_a_column_of_numbers_are_faults_where_they_stand(tmp_path):
    lines = [f"{k},{k}" for k in range(1000)]
    lines[10], lines[900] = "10,error", "900,inf"
    read = table(tmp_path, "t_s,x\n" + "\n".join(lines))
    assert len(read["t_s"]) == 1000
    with pytest.raises(FileFaults) as caught:
        read["x"]
    assert [(fault.where.line, fault.where.column, fault.found) for fault in caught.value.faults] == [
        (12, 4, '"error"'),
        (902, 5, '"inf"'),
    ]


@pytest.mark.parametrize("cell", ["", " ", "nan", "NaN", "NA", "n/a", "null", '""'])
def test_a_cell_that_stands_for_no_value_is_missing_not_faulty(cell, tmp_path):
    read = table(tmp_path, f"t_s,x\n0,1\n1,{cell}\n2,3\n")
    values = read["x"]
    assert math.isnan(values[1])
    assert (values[0], values[2]) == (1.0, 3.0)
    assert list(read.missing["x"]) == [1]
    assert read.skipped([1]) == "1 of 3 rows skipped, with a cell missing: line 3"
    assert ":3:3: x\n  expected: a finite number" in message(lambda: read.complete("x"))
    with pytest.raises(FileFaults, match="expected: a finite number"):
        read_csv(str(tmp_path / "log.csv"))


def test_a_column_that_is_mostly_missing_is_refused_where_it_is_read(tmp_path):
    rows = [f"{k},{'' if k % 5 else k}" for k in range(100)]
    read = table(tmp_path, "t_s,temperature\n" + "\n".join(rows))
    assert "found:    80 of 100 cells missing, the first in line 3" in message(lambda: read["temperature"])
    assert len(read["t_s"]) == 100


def test_a_heading_that_stands_twice_is_a_fault_only_where_it_is_read(tmp_path):
    read = table(tmp_path, "t_s,x,x\n0,1,2\n")
    assert list(read["t_s"]) == [0.0]
    assert "expected: each heading once" in message(lambda: read["x"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("t_s,mode\n0,a\n1\n", "2 cells, as many as headings"),
        ("t_s,mode\ns,text\n0,a\n", "a line without a number"),
        ("t_s,mode\n", "no rows"),
    ],
)
def test_a_damaged_table_is_refused_whatever_is_read_of_it(text, found, tmp_path):
    assert found in message(lambda: table(tmp_path, text))


def test_faults_of_very_many_columns_of_text_stay_few(tmp_path):
    count = 2000
    read = table(
        tmp_path, ",".join(f"x{k}" for k in range(count)) + "\n" + (",".join(["1", *["a"] * (count - 1)]) + "\n") * 60
    )
    assert sum(len(report.faults) for report in read.faults.values()) < 15_000
    assert read.is_text("x1999")


def test_columns_of_text_cost_about_what_columns_of_numbers_cost(tmp_path, work):
    def calls(cell):
        return work(table, tmp_path, "t_s,x,y\n" + f"1,{cell},2\n" * 20_000)

    assert calls("auto") < 3 * calls("+1")


def test_many_missing_cells_do_not_make_text_of_a_column_with_one_faulty_cell(tmp_path):
    rows = [f"{k},,{k}" for k in range(12_000)]
    rows[11_000] = "11000,,error"
    read = table(tmp_path, "t_s,temperature,x\n" + "\n".join(rows))
    assert [read.is_text(name) for name in read] == [False, True, False]
    assert "log.csv:11002:8: x\n  expected: a finite number" in message(lambda: read["x"])
