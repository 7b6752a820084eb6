"""Tables at 80 columns."""

from __future__ import annotations

import pytest

from armsim.reports.html import html
from armsim.reports.table import ReportTable, fixed, number, numbers
from armsim.terminal.streams import bold


def test_units_stand_after_their_numbers_where_there_is_room():
    assert (
        str(ReportTable(["joint", "q"], [["R1", ("1", "rad")], ["R10", ("-0.5", "m")]]))
        == "joint       q\nR1      1 rad\nR10    -0.5 m"
    )


def test_a_common_unit_moves_under_its_heading_where_there_is_none():
    wide = str(
        ReportTable(
            ["joint", *"abcdef"],
            [["R1", *[("123456789", "N·m/rad")] * 5, ("1", "m")], ["R2", *[("1", "N·m/rad")] * 5, "-"]],
        )
    )
    lines = wide.splitlines()
    assert lines[1].split() == ["N·m/rad"] * 5 + ["m"]
    assert lines[2].split() == ["R1", *["123456789"] * 5, "1"]
    assert max(map(len, lines)) <= 80


def test_mixed_units_stay_with_their_numbers():
    rows = [["R1", *[("123456789", "rad")] * 6], ["R2", *[("123456789", "m")] * 6]]
    text = str(ReportTable(["joint", *"abcdef"], rows))
    assert "123456789 rad" in text
    assert "123456789 m" in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_is_still_too_wide_breaks_into_blocks_that_begin_with_the_first_column():
    names = [f"joint_{i}" for i in range(12)]
    text = str(ReportTable(["", *names], [[name, *["-0.00012345"] * 12] for name in names]))
    assert max(map(len, text.splitlines())) <= 80
    blocks = text.split("\n\n")
    assert len(blocks) == 3
    assert [heading for block in blocks for heading in block.splitlines()[0].split()] == names
    for block in blocks:
        assert [line.split()[0] for line in block.splitlines()[1:]] == names


def test_a_block_without_a_common_unit_has_no_empty_line_below_its_heading():
    mixed, common = [("123456789", "rad"), ("123456789", "m")], [("123456789", "A")] * 2
    rows = [[f"R{i}", *[mixed[i]] * 6, *[common[i]] * 6] for i in (0, 1)]
    first, second = str(ReportTable(["joint", *"abcdefghijkl"], rows)).split("\n\n")[::2]
    assert [line.split()[0] for line in first.splitlines()] == ["joint", "R0", "R1"]
    assert [line.split()[0] for line in second.splitlines()] == ["joint", "A", "R0", "R1"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (float("nan"), "-"), (0.0, "0"), (-1e-17, "0"), (-8.12345678, "-8.1235"), (6e-5, "6e-05")],
)
def test_a_number_has_five_digits_and_rounding_is_zero(value, text):
    assert number(value) == text


def test_rounding_beside_large_numbers_is_zero():
    assert numbers([1e3, 1e-12, -2.0]) == ["1000", "0", "-2"]
    assert numbers([1e-12, 2e-13]) == ["1e-12", "0"]


def test_fixed_decimals_have_no_minus_zero():
    assert [fixed(x, 3) for x in (-1e-9, 0.0, -0.1234, 2.0)] == ["0.000", "0.000", "-0.123", "2.000"]


def test_a_page_has_the_same_cells_in_a_table_and_no_text_of_it_is_html():
    table = ReportTable(["joint", "<i>"], [["<R1>", ("1", "rad")], ["R2", "-"]])
    assert html(["a < b", "", table, "", "two", "lines", ""]) == (
        "<pre>a &lt; b</pre>"
        '<table><tr><th style="text-align: left">joint</th><th style="text-align: right">&lt;i&gt;</th></tr>'
        '<tr><th style="text-align: left">&lt;R1&gt;</th><td style="text-align: right">1 rad</td></tr>'
        '<tr><th style="text-align: left">R2</th><td style="text-align: right">-</td></tr></table>'
        "<pre>two\nlines</pre>"
    )


def test_what_a_terminal_prints_bold_has_no_marks_on_a_page(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert html([bold("Joints"), "R1", bold("Motors")]) == "<pre>Joints\nR1\nMotors</pre>"
