"""Every lane has the bits of its single run: states at steps 50, 300 and 2000 of a transient, with everything on at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.batches.block import final_states
from armsim.batches.variants import ENDS, Variants
from armsim.clock import Clock
from armsim.integrate import METHODS
from armsim.loading.open_numbers import open_numbers
from armsim.simulation.engine import PythonEngine
from armsim.simulation.runner import Job, Runner

from .conftest import VARIED, written
from .shipped import unadvised

ROWS = [1, 6, 40]  # at steps 50, 300, 2000
ADAPTIVE = [name for name, method in METHODS.items() if method.adaptive]


def with_method(mixed, method: str, **changes):
    step = {"method": method, "rtol": 1e-6} if method in ADAPTIVE else {"method": method, "dt": 1e-3}
    return mixed(integrator=step, **changes)


def agree(many, singles) -> None:
    """Rows, final states and measures of runs in lanes are those of single runs, to the bit."""
    for run, single in enumerate(singles):
        assert many.status[run] == single.status == "complete", (many.reason[run], single.status)
        assert np.array_equal(many.rows[run][ROWS], single.table[ROWS])
        assert np.array_equal(many.rows[run], single.table)
        assert np.array_equal(many.q[run], single.q[-1])
        assert np.array_equal(many.qd[run], single.qd[-1])
        assert single.peaks == [many[f"peak_torque_{name}"][run] for name in many.joints]


def one_by_one(scenario, values, runs):
    return [armsim.simulate(scenario, written(values, run), force_step=True) for run in range(runs)]


def test_the_variants_move_in_every_mode(mixed, varied):
    # a test of bits is worth what it goes through: stops met and left, friction that holds and slips, a drive at its limits
    scenario = mixed(log__every=1e-3)
    values = varied(scenario, 6, 1)
    many = armsim.simulate_many(scenario, values, rows=True, force_step=True)
    column = {name: many.rows[:, :, i] for i, name in enumerate(many.columns)}
    for joint in ("turn_Nm", "slide_N"):
        met = column[f"tau_limit_{joint}"] != 0.0
        assert met.any()
        assert not met.all()
    rest = column["qd_slide_m_s"] == 0.0
    assert rest.any()
    assert not rest.all()
    assert (np.abs(column["voltage_turn_V"]) >= 20.0).any()
    assert len(np.unique(many.q[:, 0])) == 6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_lanes_have_the_bits_of_single_runs_by_every_method(mixed, varied, method):
    scenario = with_method(mixed, method)
    values = varied(scenario, 2, 2)
    with unadvised():
        many = armsim.simulate_many(scenario, values, measure=["peak_torque"], rows=True, force_step=True)
        agree(many, one_by_one(scenario, values, 2))


@pytest.mark.parametrize(
    "changes",
    [
        {"control__period": None},
        {"control__law": "pd", "control__ki": None, "control__output": "torque", "control__limit": None},
        {"control": None, "inputs": {"voltage": ["3*sin(4*t)", -2, "1/(1+exp(-t))"]}},
        {"control": None, "external": None},
    ],
    ids=["continuous", "torque", "inputs", "open terminals"],
)
@pytest.mark.parametrize("method", ["velocity_implicit", "rk54"])
@pytest.mark.handful(1)
def test_lanes_have_the_bits_of_single_runs_under_every_command(mixed, varied, method, changes):
    scenario = with_method(mixed, method, **changes)
    paths = {
        path: spread
        for path, spread in VARIED.items()
        if (not path.startswith("control") or "control" not in changes)
        and not (path.startswith("external") and "external" in changes)
    }
    values = varied(scenario, 2, 3, paths)
    with unadvised():
        many = armsim.simulate_many(scenario, values, measure=["peak_torque"], rows=True, force_step=True)
        agree(many, one_by_one(scenario, values, 2))


@pytest.mark.parametrize("method", ["semi_implicit_euler", "implicit_midpoint"])
@pytest.mark.slow
def test_the_number_of_lanes_changes_no_bit(mixed, varied, method):
    scenario = with_method(mixed, method)
    values = varied(scenario, 19, 4)
    opened = open_numbers(scenario, values)
    matrix = opened.matrix(values)
    variants = Variants(opened, {}, matrix[0].tolist(), ["iae", "peak_torque"], replace(ENDS, rows=True, work=True))
    clock = Clock(1, 1000, 2000, 4, 50)
    slots = variants.plan.plant.slots
    ended = [final_states(variants.engine(lanes), clock, matrix, slots, lambda: False) for lanes in (1, 2, 4, 8, 16)]
    assert (ended[0]["status"] == "complete").all()
    for other in ended[1:]:
        assert other["status"].tolist() == ended[0]["status"].tolist()
        for name in ("steps", "rows", *slots, *variants.plan.results):
            assert np.array_equal(other[name], ended[0][name], equal_nan=True), name


def test_open_numbers_have_the_same_bits_on_floats(mixed, varied):
    values = varied(mixed(), 2, 9)
    opened = open_numbers(mixed(), values)
    matrix = opened.matrix(values)
    variants = Variants(opened, {}, matrix[0].tolist(), ["iae"], ENDS)
    for row in matrix:
        job = Job(variants.plan, Clock(1, 1000, 40, 4), values=row)
        native, text = (Runner(engine, job) for engine in (variants.engine(1), PythonEngine(variants.plan)))
        for runner in (native, text):
            assert [*runner.until(40)][-1] == 40
        assert text.state == native.state
        assert text.results == native.results


def test_runs_that_are_stopped_on_their_way_have_neither_rows_nor_measures(mixed, varied):
    values = varied(mixed(), 3, 4)
    opened = open_numbers(mixed(), values)
    matrix = opened.matrix(values)
    variants = Variants(opened, {}, matrix[0].tolist(), ["iae"], replace(ENDS, rows=True))
    ended = final_states(variants.engine(1), Clock(1, 1000, 2000, 4, 50), matrix, ("first",), lambda: True)
    assert ended["status"].tolist() == ["interrupted"] * 3
    assert (ended["steps"] > 0).all()
    assert (ended["steps"] < 2000).all()
    for name in ("rows", "first", "iae"):
        assert np.isnan(ended[name]).all(), name


@pytest.mark.slow
def test_neither_threads_nor_order_nor_company_change_a_bit(mixed, varied):
    scenario = mixed()
    values = varied(scenario, 70, 5)
    order = np.random.default_rng(6).permutation(70)
    one = armsim.simulate_many(scenario, values, measure=["itae"], threads=1, force_step=True)
    two = armsim.simulate_many(scenario, values, measure=["itae"], threads=2, force_step=True)
    shuffled = {path: array[order] for path, array in values.items()}
    other = armsim.simulate_many(scenario, shuffled, measure=["itae"], threads=2, force_step=True)
    few = {path: array[[68, 3]] for path, array in values.items()}
    alone = armsim.simulate_many(scenario, few, measure=["itae"], force_step=True)
    for name in ("q", "qd", "steps"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
        assert np.array_equal(getattr(one, name)[order], getattr(other, name))
        assert np.array_equal(getattr(one, name)[[68, 3]], getattr(alone, name))
    assert np.array_equal(one["itae"], two["itae"])
    assert np.array_equal(one["itae"][order], other["itae"])


@pytest.mark.slow
def test_a_lane_that_diverges_stops_alone_where_its_single_run_does(mixed, varied):
    scenario = with_method(mixed, "explicit_euler")
    values = varied(scenario, 20, 7)
    values["robot.joints[elbow].friction.viscous"] = np.full(20, 0.05)
    values["robot.joints[elbow].friction.viscous"][[2, 9, 17]] = [400.0, 2000.0, 1e5]
    many = armsim.simulate_many(scenario, values, measure=["iae"], rows=True, force_step=True, threads=1)
    assert np.flatnonzero(many.status == "diverged").tolist() == [2, 9, 17]
    assert len({int(many.steps[run]) for run in (2, 9, 17)}) == 3  # not at the same step
    for run in (0, 2, 8, 9, 16, 17, 19):
        single = armsim.simulate(scenario, written(values, run), force_step=True)
        assert many.status[run] == single.status
        assert many.steps[run] == single.steps
        assert np.array_equal(np.concatenate([many.q[run], many.qd[run]]), np.array(single.state[:6]) + 0.0)
        assert np.array_equal(many.rows[run][: single.count], single.table)
        assert np.isnan(many.rows[run][single.count :]).all()
        assert np.isnan(many["iae"][run]) == (single.status == "diverged")
        assert (many.reason[run] == "") == (single.status == "complete")
        if single.status == "diverged":
            assert many.reason[run].startswith(single.fastest_to_diverge())


@pytest.mark.slow
def test_runs_that_end_in_several_blocks_leave_the_rows_of_others_alone(mixed, varied):
    scenario = with_method(mixed, "explicit_euler", log__every=1e-3)
    values = varied(scenario, 20, 8)
    viscous = np.full(20, 0.05)
    viscous[[2, 9, 10, 17]] = [400.0, 2000.0, 300.0, 1e5]
    values["robot.joints[elbow].friction.viscous"] = viscous
    opened = open_numbers(scenario, values)
    matrix = opened.matrix(values)
    variants = Variants(opened, {}, matrix[0].tolist(), ["iae"], replace(ENDS, rows=True))
    clock, slots = Clock(1, 1000, 300, 4, 3), variants.plan.plant.slots
    one, *others = (final_states(variants.engine(lanes), clock, matrix, slots, lambda: False) for lanes in (1, 4, 8))
    assert np.flatnonzero(one["status"] == "diverged").tolist() == [2, 9, 10, 17]
    for other in others:
        assert other["reason"].tolist() == one["reason"].tolist()
        for name in ("steps", "rows", *slots, *variants.plan.results):
            assert np.array_equal(other[name], one[name], equal_nan=True), name


@pytest.mark.slow
def test_a_stalled_adaptive_lane_holds_up_no_other(mixed):
    # explicit steps of an adaptive method under a gain that flips a stiff voltage: the lane gives up, others go on
    scenario = with_method(mixed, "rk54", duration=0.1)
    values = {"robot.joints[turn].limits.stiffness": np.array([300.0, 1e300, 300.0])}
    many = armsim.simulate_many(scenario, values)
    assert many.status.tolist()[0] == many.status.tolist()[2] == "complete"
    assert np.array_equal(many.q[0], many.q[2])
