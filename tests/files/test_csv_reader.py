"""CSV files of other programs."""

from __future__ import annotations

import random

import pytest

from armsim.errors import FileFaults
from armsim.files import csv_reader
from armsim.files.csv_reader import read_csv


def columns(path):
    return {name: list(values) for name, values in read_csv(str(path)).columns.items()}


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_cells_that_are_not_separated_by_commas_are_one_fault_not_one_a_row(mark, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(
        "".join(f"{row}\n" for row in [f"t_s{mark}x", *(f"{k},0{mark}1,5" for k in range(99))])
    )
    with pytest.raises(FileFaults) as caught:
        read_csv("log.csv")
    assert str(caught.value) == (
        "log.csv:1:1\n  expected: headings and cells separated by commas\n"
        f"  found:    {name}\n  mend:     save it with commas between cells, and points in numbers"
    )


def test_a_single_column_needs_no_separator(tmp_path):
    (tmp_path / "one.csv").write_text("x\n1\n2\n")
    assert columns(tmp_path / "one.csv") == {"x": [1.0, 2.0]}


@pytest.mark.parametrize("block", [1, 40, csv_reader.BLOCK])
def test_blocks_of_lines_give_the_bits_that_python_reads_in_every_cell(block, tmp_path, monkeypatch):
    cells = [
        "0",
        "-0",
        "-0.0",
        "1",
        "+1",
        ".5",
        "1.",
        "1E5",
        "1e-400",
        "5e-324",
        "0.1",
        "007",
        "1_0",
        " 2 ",
        "-0 ",
        "3\t",
    ]
    cells += ["9007199254740993", "18446744073709551616", "1" * 30, "0.30000000000000004", "2.2250738585072011e-308"]
    rng = random.Random(5)
    cells += [repr(rng.gauss(0, 1) * 10.0 ** rng.randint(-300, 300)) for _ in range(200)]
    lines = list(zip(cells, reversed(cells), strict=True))
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in lines))
    monkeypatch.setattr(csv_reader, "BLOCK", block)
    read = columns(tmp_path / "a.csv")
    for name, expected in zip("xy", zip(*lines, strict=True), strict=True):
        assert list(map(float.hex, read[name])) == [float(cell).hex() for cell in expected]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\u2028"])
def test_lines_end_wherever_python_ends_them(end, tmp_path):
    (tmp_path / "a.csv").write_bytes(end.join(["x,y", "1,2", "3,4", "", " "]).encode())
    assert columns(tmp_path / "a.csv") == {"x": [1.0, 3.0], "y": [2.0, 4.0]}


def test_a_fault_far_down_a_file_has_its_own_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(csv_reader, "BLOCK", 100)
    lines = [f"{k},1" for k in range(1000)]
    for k, line in ((10, "10,1,1"), (500, "500,true"), (700, ""), (900, "[900,1"), (950, "1e999,1")):
        lines[k] = line
    (tmp_path / "a.csv").write_text("\n".join(["t_s,x", *lines, "", ""]))
    with pytest.raises(FileFaults) as caught:
        read_csv("a.csv")
    found = [(fault.where.line, fault.where.column, fault.found) for fault in caught.value.faults]
    assert found == [(12, 1, "3"), (502, 5, '"true"'), (702, 1, "1"), (902, 1, '"[900"'), (952, 1, '"1e999"')]


def test_bytes_that_are_no_text_are_the_only_fault_wherever_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(csv_reader, "BLOCK", 100)
    (tmp_path / "a.csv").write_bytes(b"x\nfault\n" + b"1\n" * 1000 + b"\xff\n")
    with pytest.raises(FileFaults, match="a CSV file in UTF-8") as caught:
        read_csv("a.csv")
    assert len(caught.value.faults) == 1
