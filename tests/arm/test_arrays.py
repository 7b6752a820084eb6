"""Arrays that callers hand in: numbers of any kind, and nothing else."""

from __future__ import annotations

import gc
import weakref
from decimal import Decimal
from fractions import Fraction
from threading import Event, Thread, current_thread, main_thread
from types import SimpleNamespace

import numpy as np
import pytest

import armsim
from armsim.arm.arrays import LEAST, evaluate, number_array
from armsim.errors import UsageError

NO_NUMBERS = {
    "text": "abc",
    "texts": ["0"] * 5,
    "mixed": [0.0, 1.0, "2", 3.0, 4.0],
    "none": [None, 1, 2, 3, 4],
    "complex": [1j, 0, 0, 0, 0],
    "ragged": [[0.0] * 5, [0.0] * 4],
    "dict": {"R1": 0.0},
    "objects": [object()] * 5,
    "dates": np.array(["2026-01-01"] * 5, dtype="datetime64[D]"),
}


@pytest.fixture(scope="module")
def robot():
    return armsim.load_robot("arm5")


@pytest.fixture(scope="module")
def model():
    return armsim.ForwardModel("arm5", dt=1e-4)


@pytest.mark.parametrize(
    "values", [[1, 2], (1.5, 2), np.array([1, 2], dtype=np.int8), [True, 2], [Fraction(1, 2), Decimal("2")], range(2)]
)
def test_numbers_of_any_kind_become_doubles(values):
    array = number_array("q", values)
    assert array.dtype == float
    assert array.tolist() == [float(x) for x in values]


def test_an_array_of_doubles_is_taken_as_it_is():
    values = np.array([1.0, 2.0])
    assert number_array("q", values) is values


@pytest.mark.parametrize("values", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_is_no_array_of_numbers_is_refused_in_four_lines(values, robot, model):
    state = model.state()
    for name, ask in (
        ("q", lambda: robot.inverse_dynamics(values)),
        ("qdd", lambda: robot.inverse_dynamics(robot.initial, None, values)),
        ("tau", lambda: robot.forward_dynamics(robot.initial, tau=values)),
        ("q", lambda: robot.jacobian(values)),
        ("tau", lambda: robot.motor_demand(np.zeros(5), values)),
        ("qd", lambda: model.state(qd=values)),
        ("state", lambda: model.step(values, np.zeros(5))),
        ("inputs", lambda: model.step(state, values)),
    ):
        with pytest.raises(UsageError) as caught:
            ask()
        lines = str(caught.value).splitlines()
        assert [line.split(":")[0] for line in lines] == [name, "  expected", "  found", "  mend"]


def test_the_message_shows_what_was_found(robot, told):
    with pytest.raises(UsageError) as caught:
        robot.inverse_dynamics("abc")
    told(caught.value)


@pytest.mark.parametrize("dt", ["abc", None, [1e-4], 1j])
def test_a_step_that_is_no_number_is_refused(dt):
    with pytest.raises(UsageError, match="dt\n  expected: the length of a step in s, above 0\n"):
        armsim.ForwardModel("arm5", dt=dt)


class SlowKernel:
    """A kernel that keeps every thread but the main one waiting, with no more than the addresses of its rows."""

    function, lanes, code = SimpleNamespace(outputs=[0.0]), 8, None

    def __init__(self):
        self.entered, self.leave = Event(), Event()

    def __call__(self, args, results, count, *repeated):
        if current_thread() is main_thread():
            self.entered.wait()
        else:
            self.entered.set()
            self.leave.wait()


class Interrupted(Thread):
    """A thread that Ctrl-C comes before the end of."""

    def join(self, timeout=None):
        raise KeyboardInterrupt


def test_arrays_outlive_a_call_that_ctrl_c_ends_while_threads_work_on_them(monkeypatch):
    threads, kernel, made = [], SlowKernel(), []
    monkeypatch.setattr("armsim.arm.arrays.Thread", lambda **of: threads.append(Interrupted(**of)) or threads[-1])
    monkeypatch.setattr("armsim.arm.arrays.np.empty", lambda *of: made.append(weakref.ref(x := np.zeros(*of))) or x)
    given = np.zeros((2 * LEAST, 1))
    made.append(weakref.ref(given))
    with pytest.raises(KeyboardInterrupt):
        evaluate(kernel, [given], threads=2)
    del given
    gc.collect()
    alive = [array() is not None for array in made]
    kernel.leave.set()
    for thread in threads:
        Thread.join(thread)
    assert alive == [True, True]
    gc.collect()
    assert [array() for array in made] == [None, None]
