"""The loop over steps: where it is interrupted, all that it keeps goes back together; it ends where runs leave their bounds."""

from __future__ import annotations

import ctypes
import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from armsim.batches import block as block_module
from armsim.batches.block import LaneRows
from armsim.clock import Clock
from armsim.plant import Plant
from armsim.simulation import runner as runner_module
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.runner import DOUBLE, Job, Numbers, RowSpace, Runner
from armsim.stability.divergence import LAST_STEPS


class Counting:
    """An engine whose first number is the number of the step, and whose accumulator its largest; nothing moves.

    Args:
        plan: Of any plant.
        step: Called with every step's number and the lanes; a run leaves its bounds at a step where this is true.
    """

    name, width, preparation = "counting", 1, {}

    def __init__(self, plan, step=lambda k, lanes: False, width=1):
        self.plan, self.step, self.width = plan, step, width
        self.asked = []

    def begin(self, lanes):
        lanes.live[:] = bytes(x > 0.0 for x in lanes.live)

    def run(self, lanes, blocks, first, last, clock, space):
        self.asked.append((blocks, first, last))
        for block in blocks:
            lanes.reached[block] = last
            for k in range(first, last):
                lanes.after.block(block)[:] = lanes.state.block(block)
                runs = range(block * self.width, (block + 1) * self.width)
                for run in runs:
                    lanes.after.run(run)[0] = math.nan if self.step(k, run) else float(k + 1)
                    lanes.kept.run(run)[0] = max(lanes.kept.run(run)[0], float(k + 1))
                if any(math.isnan(lanes.after.run(run)[0]) for run in runs):
                    lanes.reached[block] = k
                    break
                lanes.state.block(block)[:] = lanes.after.block(block)

    def used(self, seconds, left):
        return 0.0

    def finish(self, lanes, t, due):
        return lanes.kept


@pytest.fixture(scope="module")
def plan(arms):
    return LoopPlan.of(Plant(arms.bare(arms.shipped("rr")), None), 1e-3)


@pytest.fixture(autouse=True)
def timeless(monkeypatch):
    """Steps take no time, however busy the machine is."""
    monkeypatch.setattr(runner_module, "time", SimpleNamespace(perf_counter=lambda: 0.0, thread_time=lambda: 0.0))


def runner_of(plan, step=lambda k, run: False, count=1, width=1):
    engine = Counting(plan, step, width)
    return Runner(engine, Job(plan, Clock(1, 1000, 10**12), start=[0.0] * len(plan.plant.slots), count=count))


def carry(runner, last):
    """The steps done after each stretch."""
    return [*runner.until(last)]


def test_an_engine_hears_how_long_steps_kept_the_processor_not_how_long_others_did(plan, monkeypatch):
    hours, busy, heard = itertools.count(), itertools.count(), []
    monkeypatch.setattr(runner_module.time, "perf_counter", lambda: 3600.0 * next(hours))
    monkeypatch.setattr(runner_module.time, "thread_time", lambda: 2.0 * next(busy))
    monkeypatch.setattr(Counting, "used", lambda self, used, left: heard.append((used, left)) or 0.0)
    carry(runner_of(plan), 512)
    assert heard[0] == (2.0, 2.0)


def test_an_interruption_takes_back_state_and_peaks_alike(plan):
    def press(k, run):
        if k == 7:
            raise KeyboardInterrupt

    runner = runner_of(plan, press)
    assert carry(runner, 5) == [5]
    with pytest.raises(KeyboardInterrupt):
        carry(runner, 10)
    assert (runner.done, runner.state[0], runner.lanes.kept.run(0)[0]) == (5, 5.0, 5.0)


def test_any_number_of_steps_is_taken_in_stretches_between_which_ctrl_c_is_heard(plan, monkeypatch):
    now = itertools.count()
    monkeypatch.setattr(runner_module.time, "perf_counter", lambda: 1e-3 * next(now))
    runner = runner_of(plan)
    done = carry(runner, 10**5)
    assert done[:3] == [256, 2816, 28416]  # ten times as many each, as each takes a millisecond by this clock
    assert done[-1] == runner.done == 10**5
    assert carry(runner, runner.done + 3) == [10**5 + 3]


def test_stretches_end_where_someone_wants_to_look(plan):
    runner = runner_of(plan)
    done = [*runner.until(1000, stops=lambda done: (done // 100 + 1) * 100)]
    assert done == [*range(100, 1001, 100)]


def test_a_stretch_has_no_more_rows_than_there_is_room_for(plan):
    class Room:
        at_once, failure = 3, ""

        def space(self, first):
            asked.append(first)
            return RowSpace(0)

    asked: list[int] = []
    engine = Counting(plan)
    runner = Runner(engine, Job(plan, Clock(1, 1000, 10**6, log_every=10), start=[0.0] * len(plan.plant.slots)))
    assert [*runner.until(95, Room())] == [30, 60, 90, 95]
    assert asked == [0, 3, 6, 9]


def test_a_log_that_takes_no_more_rows_ends_the_loop_before_the_next_stretch(plan):
    class Room:
        at_once, failure = 1, ""

        def space(self, first):
            self.failure = "no space left" if first else ""
            return RowSpace(0)

    engine = Counting(plan)
    runner = Runner(engine, Job(plan, Clock(1, 1000, 10**6, log_every=10), start=[0.0] * len(plan.plant.slots)))
    assert [*runner.until(95, Room())] == [10]


def test_a_divergence_within_a_stretch_ends_there_with_the_state_before(plan):
    runner = runner_of(plan, lambda k, run: k == 700)
    carry(runner, 10_000)
    assert (runner.done, runner.lanes.alive, runner.state[0]) == (700, False, 700.0)
    assert math.isnan(runner.lanes.left[0].after[0])
    assert carry(runner, 10_000) == []  # nothing goes on
    states = runner.approach()
    assert [state[0] for state in states] == [*map(float, range(701))]


def test_of_lanes_those_that_leave_their_bounds_end_alone_and_hold_up_no_other(plan):
    ends = {1: 3, 2: 3, 6: 500}
    runner = runner_of(plan, lambda k, run: ends.get(run) == k and run not in runner.lanes.left, count=7, width=4)
    carry(runner, 1000)
    assert {run: left.step for run, left in runner.lanes.left.items()} == ends
    assert [runner.lanes.left[run].before[0] for run in ends] == [3.0, 3.0, 500.0]
    assert [*runner.lanes.live] == [1, 0, 0, 1, 1, 1, 0, 0]  # the last lane has no run
    assert {runner.lanes.state.run(run)[0] for run in (0, 3, 4, 5)} == {1000.0}


def test_a_block_whose_runs_have_all_ended_is_left_out(plan):
    runner = runner_of(plan, lambda k, run: run >= 4 and k == 10 and run not in runner.lanes.left, count=8, width=4)
    carry(runner, 5000)
    assert runner.engine.asked[-1][0] == range(1)
    assert runner.done == 5000


def test_steps_begun_later_have_times_between_those_of_the_run_and_take_no_samples(plan):
    clock = Clock(1, 1000, 100, sample_every=4, log_every=10)
    job = Job(plan, clock)
    again = job.again(8, 20, [0.0])
    assert (again.first, again.clock.steps, again.clock.sample_every, again.clock.at(8)) == (8, 20, 4, 8e-3)
    late = job.again(8.25, 9, [0.0], plan_accuracy(4))
    assert (late.first, late.clock.steps, late.clock.at(33)) == (33, 36, 8.25e-3)
    assert late.clock.sample_every == 16
    later = job.again(8.25, 20.25, [0.0])
    assert (later.first, later.clock.steps, later.clock.sample_every, later.clock.at(9)) == (9, 21, None, 8.25e-3)


def plan_accuracy(parts):
    from armsim.simulation.loop_plan import Accuracy

    return Accuracy(parts)


def test_the_row_of_the_end_leaves_the_run_as_it_is(arms):
    plan = LoopPlan.of(Plant(arms.bare(arms.shipped("rr")), None), 1e-3)
    start = plan.plant.initial_state([0.1, 0.2], [0.0, 0.0])
    runner = Runner(NativeEngine(plan), Job(plan, Clock(1, 1000, 50), start))
    carry(runner, 20)
    before = runner.state, [*runner.lanes.kept.run(0)]
    row = [*runner.row().run(0)]
    assert row[:2] == before[0][:2]
    assert (runner.state, [*runner.lanes.kept.run(0)], runner.done) == (*before, 20)


# rows, samples and results


class Writing(Counting):
    """Counts by ones, and writes rows of nothing but a run's thousands and its count."""

    def run(self, lanes, blocks, first, last, clock, space):
        columns = len(self.plan.columns)
        for i, block in enumerate(blocks):
            at, runs = space.address + DOUBLE * i * space.apart, range(block * self.width, (block + 1) * self.width)
            lanes.reached[block] = last
            for k in range(first, last):
                counts = [lanes.state.run(run)[0] for run in runs]
                if k % clock.log_every == 0:
                    row = [1000.0 * run + count for run, count in zip(runs, counts, strict=True)] * columns
                    (ctypes.c_double * len(row)).from_address(at)[:] = row
                    at += DOUBLE * len(row)
                after = lanes.after.block(block)
                after[:] = lanes.state.block(block)
                after[: self.width] = memoryview(np.array([count + 1.0 for count in counts]))
                if any(self.step(k, run) and lanes.live[run] for run in runs):
                    for run in runs:
                        lanes.after.run(run)[0] = math.nan if self.step(k, run) else counts[run - runs[0]] + 1.0
                    lanes.reached[block] = k
                    break
                lanes.state.block(block)[:] = after


def rows_of(plan, clock, ends, count, width, monkeypatch):
    """The rows of runs that leave their bounds at given steps, five rows a stretch."""
    monkeypatch.setattr(block_module, "ROOM", 5 * -(-count // width) * width * len(plan.columns) * DOUBLE)
    engine = Writing(plan, lambda k, run: ends.get(run) == k, width)
    runner = Runner(engine, Job(plan, clock, start=[0.0] * len(plan.plant.slots), count=count))
    log = LaneRows(runner, count)
    assert log.at_once == 5
    for _ in runner.until(clock.steps, log):
        pass
    return runner, log.end(np.frombuffer(runner.lanes.live, dtype=bool)[:count])


def test_every_run_has_its_own_rows_wherever_others_leave_their_bounds(plan, monkeypatch):
    ends = {1: 3, 4: 25, 5: 25, 7: 26}
    runner, rows = rows_of(plan, Clock(1, 1000, 40, log_every=2), ends, 9, 2, monkeypatch)
    for run in range(9):
        last = ends.get(run, 40)
        expected = [1000.0 * run + k if k <= last else math.nan for k in range(0, 41, 2)]
        np.testing.assert_array_equal(rows[run].T, [expected] * len(plan.columns), str(run))
    assert {runner.lanes.state.run(run)[0] for run in range(9) if run not in ends} == {40.0}


def test_where_all_runs_leave_their_bounds_the_steps_are_those_of_the_last(plan):
    runner = runner_of(plan, lambda k, run: k == 3 + 4 * run, count=2)
    carry(runner, 100)
    assert (runner.done, runner.lanes.alive) == (7, False)


def test_as_many_states_are_recomputed_as_a_diagnosis_looks_at(plan):
    for left in (LAST_STEPS, LAST_STEPS + 300, 5 * LAST_STEPS):
        runner = runner_of(plan, lambda k, run, left=left: k == left)
        for last in (500, 700, 900, 10**5):
            carry(runner, last)
        assert [state[0] for state in runner.approach()] == [*map(float, range(left - LAST_STEPS, left + 1))]


def sampled(plan, noted):
    """The plan with commands that are sampled outside of the loop: nothing changes, but the times are noted."""

    class Sampled(Plant):
        def sample(self, t, state):
            noted.append(t)
            return [*state]

    return replace(plan, plant=Sampled(plan.plant.arm, None), sampled_outside=True)


def test_samples_that_the_loop_does_not_take_are_taken_at_their_times_and_rows_go_on(plan, monkeypatch):
    noted, checked = [], []
    law = SimpleNamespace(check_repeated=lambda found, again, at: checked.append(at))
    monkeypatch.setattr("armsim.simulation.loop_plan.law_of", lambda plant: law)
    clock = Clock(1, 1000, 70, sample_every=10, log_every=3)
    _, rows = rows_of(sampled(plan, noted), clock, {}, 1, 1, monkeypatch)
    assert rows[0, :, 0].tolist() == [float(k) for k in range(0, 70, 3)]
    assert sorted({*noted}) == [k / 100 for k in range(7)]
    assert checked == [f" at t = {k / 100:g} s" for k in (0, 1, 2, 4)]  # samples 0, 1, 2 and 4 twice


def test_measures_end_with_the_sample_that_is_due_and_the_run_stays_before_it(plan, monkeypatch):
    ended = []

    def finish(self, lanes, t, due):
        ended.append((lanes, t, due))
        zeros = Numbers(1, len(self.plan.results), 1)
        zeros.fill([-0.0] * len(self.plan.results))
        return zeros

    monkeypatch.setattr(Counting, "finish", finish)
    noted = []
    for own in (plan, sampled(plan, noted)):
        job = Job(own, Clock(1, 1000, 100, sample_every=4), start=[0.0] * len(own.plant.slots))
        runner = Runner(Counting(own), job)
        for last in (7, 8):
            carry(runner, last)
            assert {math.copysign(1.0, x) for x in runner.results.values()} == {1.0}
        assert ended[-1][1:] == (8e-3, own is plan)
        assert ended[-1][0] is not runner.lanes
        assert runner.done == 8
    assert ended[0][1:] == (7e-3, False)
    assert noted[-1] == 8e-3


def test_numbers_of_all_runs_are_those_that_they_are_given():
    numbers = Numbers(3, 4, 2)
    numbers.scatter(memoryview(np.arange(10.0)), 2)  # five runs
    numbers.fill([7.0, 8.0], 2)
    assert [[*numbers.run(run)] for run in range(5)] == [[2.0 * run, 2.0 * run + 1, 7.0, 8.0] for run in range(5)]
