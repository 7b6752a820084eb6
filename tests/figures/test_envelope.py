"""Curves over many rows: no extreme is lost, and memory does not grow."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armsim.figures.drawn_run import DrawnRun, RowTable, columns_over_time
from armsim.figures.envelope import MOST, Sum, at_same_times, curves_of
from armsim.files.row_blocks import RowBlocks


def cut(rows, sizes):
    """Rows in blocks of some sizes, in turn."""
    at = 0
    while at < len(rows):
        for size in sizes:
            yield rows[at : at + size]
            at += size


@settings(max_examples=settings.default.max_examples // 5)
@given(st.integers(0, 2**32), st.integers(1, 100_000), st.lists(st.integers(100, 30_000), min_size=1, max_size=4))
def test_every_pixel_column_has_its_least_and_greatest_value(seed, count, sizes):
    random = np.random.default_rng(seed)
    t, values = np.arange(count) * 1e-3, random.standard_normal((count, 2))
    every = np.column_stack([t, values])
    run = DrawnRun("made", (RowTable("t_s", ("x", "y"), lambda wanted: (x for x in cut(every, sizes) if len(x))),))
    curves = curves_of(run, [Sum(((name, 1.0),)) for name in "xy"])
    times, found = np.moveaxis(list(curves.values()), 0, -1)
    assert len(found) <= MOST
    assert (np.diff(times, axis=0) >= 0).all()
    pixels = np.linspace(0.0, t[-1] + 1e-3, 200)
    for i in range(2):
        # a group of rows may lie across a border of columns: all that is beyond it is of its neighbour
        drawn = np.searchsorted(pixels, times[:, i], "right")
        real = np.searchsorted(pixels, t, "right")
        for k in range(1, len(pixels)):
            inside = values[slice(*np.searchsorted(real, [k, k + 1])), i]
            if len(inside):
                near = found[slice(*np.searchsorted(drawn, [k - 1, k + 2])), i]
                assert near.min() <= inside.min()
                assert near.max() >= inside.max()
        assert np.isin(found[:, i], values[:, i]).all()


def test_one_row_among_a_million_is_seen_at_its_time():
    values = np.zeros(1_000_000)
    values[777_777] = 1.0
    run = columns_over_time("made", {"t_s": np.arange(1e6), "x": values}, {})
    ((times, found),) = curves_of(run, [Sum((("x", 1.0),))]).values()
    assert len(found) <= MOST
    assert times[found == 1.0].tolist() == [777_777.0]


def test_memory_does_not_grow_with_the_rows():
    def blocks(count):
        def made(wanted):
            for k in range(count):
                yield np.full((10_000, len(wanted)), float(k))

        return DrawnRun("made", (RowTable("t_s", ("x", "y"), made),))

    def peak(count):
        tracemalloc.start()
        curves_of(blocks(count), [Sum((("x", 1.0),)), Sum((("y", 2.0),))])
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(20), peak(300)
    assert many < 1.2 * few < 20e6  # 300 blocks are 72 MB


def test_missing_cells_leave_the_other_rows_of_their_group():
    values = np.arange(100_000.0)
    values[::2] = np.nan
    run = columns_over_time("made", {"t_s": np.arange(1e5), "x": values}, {})
    ((_, found),) = curves_of(run, [Sum((("x", 1.0),))]).values()
    assert np.nanmin(found) == 1.0
    assert np.nanmax(found) == 99_999.0


@given(
    st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 60), st.integers(1, 9), st.integers(1, 9), st.floats(0, 2)
)
def test_rows_at_the_times_of_others_are_those_of_numpy_however_they_are_cut(seed, m, n, a, b, shift):
    random = np.random.default_rng(seed)
    t, u = np.cumsum(random.uniform(0.01, 1, m)), shift + np.cumsum(random.uniform(0.01, 1, n))
    y = random.standard_normal(n)
    first = cut(t[:, None], [a])
    pairs = list(at_same_times((x for x in first if len(x)), (x for x in cut(np.column_stack([u, y]), [b]) if len(x))))
    inside = t[(t >= u[0]) & (t <= u[-1])]
    assert [x for rows, _ in pairs for x in rows[:, 0]] == inside.tolist()
    assert [x for _, values in pairs for x in values[:, 0]] == np.interp(inside, u, y).tolist()


def test_a_file_in_blocks_has_the_numbers_of_the_file(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((5000, 3))
    path = tmp_path / "t.csv"
    path.write_text("t_s,x,y\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()))
    monkeypatch.setattr("armsim.files.csv_reader.BLOCK", 10_000)
    seen = []
    blocks = list(RowBlocks(str(path), seen.append).blocks(["y", "t_s"]))
    assert len(blocks) > 10
    assert np.concatenate(blocks).tolist() == rows[:, [2, 0]].tolist()
    assert sum(seen) == path.stat().st_size - len("t_s,x,y\n")


def test_cells_that_are_no_numbers_are_gaps_and_lines_of_other_widths_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t_s,x,mode\n" + "0,1,on\n1,,off\n" * 100)
    (block,) = RowBlocks(str(path)).blocks(["x", "mode"])
    assert block[:2, 0].tolist()[0] == 1.0
    assert np.isnan(block[1::2, 0]).all()
    assert np.isnan(block[:, 1]).all()
    path.write_text("t_s,x\n0,1\n1\n")
    with pytest.raises(Exception, match=r"t.csv:3:1\n *expected: 2 cells"):
        list(RowBlocks(str(path)).blocks(["x"]))
