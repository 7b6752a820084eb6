"""Matrices that go into arrays and come out of them by loops: the bits of numbers, and text that does not grow with them."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from armsim.compile import BatchKernel
from armsim.compile.single import SingleKernel
from armsim.expr import replay, scan, shared, trace

ROWS = [[0.3, 1.5], [-2.0, 0.25], [1e3, -7.0]]


def matrices(rows):
    """Products of a matrix that a scan makes with its transpose, by many items, some of them operands too, and numbers."""

    def text(a, b):
        _, found = scan(a, lambda s, x: (s * 0.5 + b, [s, s * x, x - s]), [0.25 * k for k in range(rows)])
        turned = [list(column) for column in zip(*found, strict=True)]
        end, back = scan(b, lambda s, row: (s + sum(row[:4]) + row[-1], [*row[:3], s]), turned)
        first = turned[0][0] + turned[1][1]
        return [end, *turned[2], first, *(float(k) for k in range(rows)), *turned[0], *back[1], *turned[1][:5]]

    return text


@pytest.mark.parametrize("rows", [10, 50])  # in places, by loops
def test_items_come_out_of_arrays_as_they_went_in(rows, evaluate):
    text = matrices(rows)
    expected = [text(*row) for row in ROWS]
    called = shared(text, "matrices")
    twice = trace(lambda a, b: [*called(a, b), *called(b, a), *called(a, a)], ["a", "b"])
    columns = np.array(ROWS).T.tolist()
    for traced in (trace(lambda a, b: text(a, b), ["a", "b"]), twice):
        assert [replay(traced, row)[: len(expected[0])] for row in ROWS] == expected
        for lanes in (None, 1, 2, 8):
            assert evaluate(traced, columns, lanes=lanes).T[:, : len(expected[0])].tolist() == expected
    assert evaluate(twice, columns).T.tolist() == [text(a, b) + text(b, a) + text(a, a) for a, b in ROWS]


def test_results_of_single_evaluations_are_copied_and_bounded():
    text = matrices(40)
    traced, expected = trace(lambda a, b: text(a, b), ["a", "b"]), text(0.3, 1.5)
    bounds = [abs(x) + 1.0 if k % 7 else math.inf for k, x in enumerate(expected)]
    given, results = (ctypes.c_double * 2)(0.3, 1.5), (ctypes.c_double * len(expected))()
    for place, bound in ((-1, None), (8, 1e-9)):
        if bound is not None:
            bounds[place] = bound
        call = SingleKernel(traced, bounds).call
        assert call(ctypes.addressof(given), ctypes.addressof(results)) == place
        assert list(results) == expected


def test_steps_that_repeat_carry_items_of_arrays(evaluate):
    def step(*x):
        return scan(x[0], lambda s, y: (s + y, s * 0.5 + y), x)[1]

    traced = trace(lambda *x: [*step(*x)], [f"x{i}" for i in range(40)])
    kernel, row = BatchKernel(traced, widths=[40, 0], repeats=True), np.linspace(-1.0, 1.0, 40)
    results = np.empty(40)
    kernel([(row.ctypes.data, 0), (row.ctypes.data, 0)], results.ctypes.data, 1, steps=3)
    expected = row.tolist()
    for _ in range(3):
        expected = [*step(*expected)]
    assert results.tolist() == expected


def test_the_text_grows_with_the_computed_values_alone():
    def lines(rows):
        return len(BatchKernel(trace(lambda a, b: matrices(rows)(a, b), ["a", "b"]), lanes=4).ir.splitlines())

    assert lines(200) < 2 * lines(50)  # a body takes a row
