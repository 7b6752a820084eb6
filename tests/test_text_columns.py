"""Texts in columns."""

from __future__ import annotations

from armsim.text_columns import aligned


def test_columns_are_two_spaces_apart_and_the_last_way_holds_for_all_that_follow():
    assert aligned([["a", "b", "c"], ["long", "10", "5"]], "<>") == ["a      b  c", "long  10  5"]


def test_no_rows_have_no_lines():
    assert aligned([]) == []


def test_the_widest_column_is_filled_until_lines_fit():
    assert aligned([["name", "one two three four"]], width=20) == ["name  one two three", "      four"]


def test_an_empty_cell_keeps_its_place_and_a_rule_stands_below_the_first_row():
    assert aligned([["a", "", "c"], ["", "bb", ""]], ruled=True) == ["a      c", "-  --  -", "   bb"]
