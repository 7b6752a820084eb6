"""CSV files of other programs."""

from __future__ import annotations

import os
import random
from hashlib import sha256

import pytest

from armsim.errors import FileFaults
from armsim.files import csv_reader
from armsim.files.csv_reader import read_csv, read_csv_columns


def columns(path):
    return {name: list(values) for name, values in read_csv(str(path)).columns.items()}


def write(folder, text):
    (folder / "a.csv").write_bytes(text.encode())
    return str(folder / "a.csv")


def faults(folder, text):
    with pytest.raises(FileFaults) as caught:
        read_csv(write(folder, text))
    return caught.value.faults


@pytest.mark.parametrize("mark", [";", "\t"], ids=["semicolons", "tabs"])
def test_cells_that_are_not_separated_by_commas_are_one_fault_not_one_a_row(mark, tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(
        "".join(f"{row}\n" for row in [f"t_s{mark}x", *(f"{k},0{mark}1,5" for k in range(99))])
    )
    with pytest.raises(FileFaults) as caught:
        read_csv("log.csv")
    told(caught.value)


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


@pytest.mark.parametrize("block", [1, 2, 3, 7, csv_reader.BLOCK])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blanks", [[], [""], ["", " \t", ""], [" "]])
def test_lines_end_with_line_feeds_and_carriage_returns_wherever_a_block_ends(
    end, blanks, block, tmp_path, monkeypatch
):
    monkeypatch.setattr(csv_reader, "BLOCK", block)
    text = end.join(["x,y", "1,2", "3,4", *blanks]).encode()
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text)
    assert columns(tmp_path / "a.csv") == {"x": [1.0, 3.0], "y": [2.0, 4.0]}
    assert read_csv(str(tmp_path / "a.csv")).sha256 == sha256(b"\xef\xbb\xbf" + text).hexdigest()


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_what_only_python_takes_for_the_end_of_a_line_ends_none(end, tmp_path):
    assert [fault.found for fault in faults(tmp_path, f"x,y\n1,2\n3,4{end}5,6\n")] == ["3"]
    assert list(columns(write(tmp_path, f"x{end},y\n1,2\n"))) == [f"x{end}".strip(), "y"]


@pytest.mark.parametrize("block", [3, csv_reader.BLOCK])
def test_blank_lines_within_a_table_are_faults_and_those_at_its_end_are_not(block, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "BLOCK", block)
    found = faults(tmp_path, "x,y\n1,2\n\n \n3,4\n\n \n")
    assert [(fault.where.line, fault.found) for fault in found] == [(3, "1"), (4, "1")]


@pytest.mark.parametrize(
    "cell", ["1_000", "１２", "1e1_0", "٣", "infinity", ".nan", ".inf", "0x10", "1d5", "1\x0b", "\xa01"]
)
def test_a_cell_is_a_number_where_yaml_would_take_it_for_one(cell, tmp_path):
    assert [fault.where.column for fault in faults(tmp_path, f"x,y\n1,2\n3,{cell}\n")] == [3]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_a_device_and_a_folder_are_refused_before_they_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, found in (
        (tmp_path / "pipe", "a pipe or a device"),
        ("/dev/zero", "a pipe or a device"),
        (tmp_path, "a folder"),
    ):
        with pytest.raises(FileFaults) as caught:
            read_csv(str(path))
        assert [fault.found for fault in caught.value.faults] == [found]


def test_a_cell_in_quotes_that_python_finds_too_long_is_a_fault(tmp_path):
    long = '"' + "1" * 140_000 + '"'
    for text in (f"{long},x\n1,2\n", f"t_s,x\n1,2\n{long},2\n"):
        (found,) = faults(tmp_path, text)
        assert found.found == "field larger than field limit (131072)"


@pytest.mark.parametrize("text", ["x" * 100, "x,y\n" + "1" * 100, "x\n1" + "\n" * 100])
def test_lines_without_an_end_are_refused_before_they_fill_memory(text, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "BLOCK", 10)
    monkeypatch.setattr(csv_reader, "MOST_LINE", 50)
    assert [fault.expected for fault in faults(tmp_path, text)] == ["lines of at most 50 bytes"]


def test_files_and_tables_are_of_bounded_size(tmp_path, monkeypatch):
    path = write(tmp_path, "x,y\n" + "1,2\n" * 100)
    monkeypatch.setattr(csv_reader, "MOST_NUMBERS", 200)
    with pytest.raises(FileFaults, match="a table of at most 200 numbers"):
        read_csv(path)
    with open(path, "r+b") as file:
        file.truncate(2**33)  # takes no room on the disk
    with pytest.raises(FileFaults, match="a CSV file of at most 4 GiB"):
        read_csv(path)


def test_twenty_thousand_columns_cost_what_twenty_thousand_cells_cost(tmp_path, work):
    def calls(count):
        path = write(tmp_path, ",".join(f"x{k}" for k in range(count)) + "\n" + ",".join(["1"] * count) + "\n")
        return work(columns, path)

    assert calls(20_000) < 11 * calls(2_000)


def test_reading_ends_where_faults_are_too_many_to_tell(tmp_path, work):
    rows = "1,2\n" + "a,b\n" * 200_000
    assert work(lambda: faults(tmp_path, "x,y\n" + rows)) < 100_000
    found = faults(tmp_path, "x,y\n" + rows)
    assert (len(found), found[-1].found) == (51, "more than 200 faults")


def test_a_file_of_another_kind_is_one_fault_that_does_not_tell_its_content(tmp_path):
    text = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nbin:x:2:2\n"
    (found,) = faults(tmp_path, text)
    assert found.found == "a line without a number"
    (found,) = faults(tmp_path, "x,y\n1,2\n1," + "secret " * 9 + "\n")
    assert found.found == '"secret secret secret secret..."'
    (found,) = faults(tmp_path, "t_s,q_R1_rad\ns,rad\n0,1\n")  # a line of units
    assert found.mend == "take out lines of units or of text, or check that it is the right file"


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


EARLY = {  # a line in place of the third, and whether it is a fault where only the first column is read
    "a word": ("3,abc", False),
    "a cell too many": ("3,1,1", True),
    "no number in what is read": ("x,1", True),
    "nothing in what is read": (",1", True),
}


@pytest.mark.parametrize("what", EARLY)
def test_an_early_fault_is_told_without_reading_the_rest_of_a_long_file(what, tmp_path, monkeypatch):
    line, read_too = EARLY[what]
    lines = [f"{k},1" for k in range(20_000)]
    lines[1], lines[150], lines[19_000] = line, "150,late", "19000,never"
    path = write(tmp_path, "t_s,u\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(csv_reader, "BLOCK", 1000)
    monkeypatch.setattr(csv_reader, "BEYOND", 5000)
    read = []
    blocks = csv_reader.csv_blocks
    monkeypatch.setattr(csv_reader, "csv_blocks", lambda *given: (read.append(len(b)) or b for b in blocks(*given)))
    with pytest.raises(FileFaults) as caught:
        read_csv(path)
    assert sum(read) < 8000
    places = [fault.where.line for fault in caught.value.faults]
    assert places[:2] == [3, 152]  # all of the part that was read
    last = caught.value.faults[-1]
    assert (last.found, last.where.line > 500) == ("lines from here on that were not read", True)
    read.clear()
    if read_too:
        with pytest.raises(FileFaults):
            read_csv_columns(path, lambda headings: headings[:1])
        assert sum(read) < 8000
    else:
        assert read_csv_columns(path, lambda headings: headings[:1])["t_s"][-1] == 19_999


def test_bytes_that_are_no_text_are_the_only_fault_wherever_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(csv_reader, "BLOCK", 100)
    (tmp_path / "a.csv").write_bytes(b"x\n1\nfault\n" + b"1\n" * 1000 + b"\xff\n")
    with pytest.raises(FileFaults, match="a CSV file in UTF-8") as caught:
        read_csv("a.csv")
    assert len(caught.value.faults) == 1
