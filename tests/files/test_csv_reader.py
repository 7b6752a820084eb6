"""CSV files of other programs."""

from __future__ import annotations

import pytest

from armsim.errors import FileFaults
from armsim.files.csv_reader import read_csv


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
    assert read_csv(str(tmp_path / "one.csv")).columns == {"x": [1.0, 2.0]}
