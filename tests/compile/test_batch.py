"""A batch kernel takes rows as callers have them, and gives each the bits that it would have alone."""

from __future__ import annotations

import numpy as np
import pytest

from armsim import expr
from armsim.arm.arrays import evaluate, joined
from armsim.compile import BatchKernel
from armsim.expr import replay, trace


def mixed(a, b, unused, c, d):
    return [expr.sin(a) * b + c / d, d - a, 2.5, c, expr.fma(a, b, d)]


FUNCTION = trace(mixed, ["a", "b", "unused", "c", "d"])


def given(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(count)
    return [rng.uniform(0.1, 3, (count, 3)), rng.uniform(0.1, 3, (count, 2))]


def one_by_one(arrays) -> list[list[float]]:
    return [replay(FUNCTION, row) for row in joined(arrays).tolist()]


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("count", [0, 1, 7, 16, 33])
def test_every_row_has_its_own_bits_however_many_there_are_and_in_however_many_lanes(lanes, count):
    arrays = given(count)
    assert evaluate(BatchKernel(FUNCTION, lanes=lanes, widths=[3, 2]), arrays).tolist() == one_by_one(arrays)


@pytest.mark.parametrize("count", [5, 40])
def test_arrays_may_be_parts_of_others_and_rows_may_be_shared(count):
    whole = np.random.default_rng(1).uniform(0.1, 3, (2 * count, 9))
    kernel = BatchKernel(FUNCTION, widths=[3, 2])
    for arrays in (
        [whole[:count, 4:7], whole[::-2, 1:3]],
        [whole[:count, :6:2], np.asfortranarray(whole[:count, 7:])],
        [whole[3, :3], whole[count:, :2]],
        [whole[:count, :3], whole[0, ::8]],
    ):
        assert evaluate(kernel, arrays).tolist() == one_by_one(arrays)
    assert evaluate(kernel, [whole[3, :3], whole[4, :2]]).tolist() == one_by_one([whole[3:4, :3], whole[4:5, :2]])


@pytest.mark.parametrize("count", [16, 21])
def test_nothing_is_written_beside_the_results(count):
    arrays = given(count)
    kernel = BatchKernel(FUNCTION, widths=[3, 2])
    room = np.full((count + 40, 5), 7.0)
    kernel([(x.ctypes.data, x.strides[0]) for x in arrays], room[20:].ctypes.data, count)
    assert room[20 : 20 + count].tolist() == one_by_one(arrays)
    assert (room[:20] == 7).all()
    assert (room[20 + count :] == 7).all()


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_threads_change_no_bit(threads):
    arrays = given(1003)
    alone = evaluate(BatchKernel(FUNCTION, widths=[3, 2]), arrays, least=10_000)
    assert evaluate(BatchKernel(FUNCTION, widths=[3, 2]), arrays, threads, least=10).tolist() == alone.tolist()
    assert alone.tolist() == one_by_one(arrays)
    shared = [arrays[0][0], arrays[1]]
    assert evaluate(BatchKernel(FUNCTION, widths=[3, 2]), shared, threads, least=10).tolist() == one_by_one(shared)


@pytest.mark.usefixtures("no_kernels")
def test_a_kernel_that_is_known_by_its_key_is_not_traced_again():
    made = []

    def make():
        made.append(1)
        return trace(lambda a: [a * 0.37], ["a"])

    for _ in range(2):
        kernel = BatchKernel(make, widths=[1], key="a kernel of test_batch")
        results = np.empty((3, 1))
        args = np.array([[1.0], [2.0], [3.0]])
        kernel([(args.ctypes.data, 8)], results.ctypes.data, 3)
        assert results.ravel().tolist() == [0.37, 0.74, 3.0 * 0.37]
    assert made == [1]
    BatchKernel(make, widths=[1], lanes=1, key="a kernel of test_batch").code  # noqa: B018  of other lanes, other code
    BatchKernel(make, widths=[1], key="another kernel of test_batch").code  # noqa: B018
    assert made == [1, 1, 1]
