"""Machine code and Python floats carry out the same steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armsim.clock import Clock
from armsim.compile import cache, ir, loop
from armsim.compile.target import Target
from armsim.control import OpenLoop
from armsim.errors import UsageError
from armsim.model import Coulomb
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine, PythonEngine, make_engine
from armsim.simulation.loop_plan import BOUNDS, LoopPlan, bounds
from armsim.simulation.runner import Job, Runner

RATIO, DT = (1, 2000), 1 / 2000


@pytest.mark.handful(1)
def test_machine_code_equals_the_text_on_floats_over_200_steps(plant, drive):
    body, q, qd, sample_every = plant
    engines = NativeEngine(LoopPlan.of(body, DT), Target(optimisation=1)), PythonEngine(LoopPlan.of(body, DT))
    native, text = (drive(engine, body, q, qd, 200, RATIO, 10, sample_every) for engine in engines)
    assert native.reached == text.reached == 200
    # == rather than bits: floats keep a minus before a zero that folding leaves out
    assert native.state.tolist() == text.state.tolist()
    assert native.rows.tolist() == text.rows.tolist()
    assert native.peaks.tolist() == text.peaks.tolist()
    assert len(native.rows) == 20


@pytest.mark.parametrize("method", ["semi_implicit_euler", pytest.param("rk54", marks=pytest.mark.slow)])
def test_code_in_short_basic_blocks_has_the_bits_of_the_text_on_floats(method, plants, drive, monkeypatch, no_kernels):
    monkeypatch.setattr(ir, "LONGEST_BLOCK", 0)
    body, q, qd, sample_every = plants("sampled")
    dry = tuple(replace(link, coulomb=Coulomb(0.3, 0.4)) for link in body.arm.links[:2])
    body = replace(body, arm=replace(body.arm, links=(*dry, *body.arm.links[2:])), method=method)
    native = NativeEngine(LoopPlan.of(body, DT), Target(optimisation=0))
    assert native.loop.ir.count("on:") > 100
    runs = [drive(e, body, q, qd, 20, RATIO, 7, sample_every) for e in (native, PythonEngine(LoopPlan.of(body, DT)))]
    for part in ("state", "rows", "peaks"):
        assert getattr(runs[0], part).tolist() == getattr(runs[1], part).tolist()


@pytest.mark.parametrize("engine", [NativeEngine, PythonEngine])
@pytest.mark.parametrize("name", ["sampled", "rk4", "rotors"])
@pytest.mark.handful(1)
def test_a_run_in_pieces_equals_one_go(engine, name, plants, drive):
    body, q, qd, sample_every = plants(name)
    made = engine(LoopPlan.of(body, DT))
    whole = drive(made, body, q, qd, 60, RATIO, 7, sample_every)
    pieces = drive(made, body, q, qd, 60, RATIO, 7, sample_every, cuts=(1, 2, 13, 14, 15, 37, 49))
    for part in ("state", "rows", "peaks"):
        assert getattr(pieces, part).tolist() == getattr(whole, part).tolist()


def test_peaks_are_the_largest_motor_torques_of_all_steps(plants, drive, column):
    body, q, qd, _ = plants("continuous")
    result = drive(NativeEngine(LoopPlan.of(body, DT)), body, q, qd, 300, RATIO)
    assert result.peaks.tolist() == np.abs(result.rows[:, column(body, "motor")]).max(axis=0).tolist()


def unstable(plants):
    """Explicit Euler on arm5 with its motors is unstable above 0.58 ms."""
    body, q, qd, _ = plants("continuous")
    body = replace(body, method="explicit_euler", command=OpenLoop("voltage", (lambda t: 0.0,) * 5))
    return body, q, qd


@pytest.mark.parametrize("engine", [NativeEngine, PythonEngine])
@pytest.mark.handful(1)
def test_a_run_that_diverges_stops_at_the_first_bad_step_and_keeps_its_rows(engine, plants, drive):
    body, q, qd = unstable(plants)
    made = engine(LoopPlan.of(body, 2e-3))
    result = drive(made, body, q, qd, 400, (1, 500))
    assert 5 < result.reached < 400
    assert len(result.rows) == result.reached + 1
    limits = np.array(bounds(body))
    assert not (np.abs(result.state) <= limits).all()
    before = drive(made, body, q, qd, result.reached, (1, 500))  # one step less was still sound
    assert before.reached == result.reached
    assert (np.abs(before.state) <= limits).all()
    assert before.rows.tolist() == result.rows[:-1].tolist()


def test_both_engines_diverge_at_the_same_step_with_the_same_state(plants, drive):
    body, q, qd = unstable(plants)
    native, text = (drive(e(LoopPlan.of(body, 2e-3)), body, q, qd, 400, (1, 500)) for e in (NativeEngine, PythonEngine))
    assert native.reached == text.reached
    assert np.array_equal(native.state, text.state, equal_nan=True)
    assert np.array_equal(native.rows, text.rows, equal_nan=True)


@pytest.mark.parametrize("engine", [NativeEngine, PythonEngine])
@pytest.mark.handful(1)
def test_a_start_that_is_out_of_range_is_bad_at_once(engine, plants, drive):
    body, q, qd, _ = plants("continuous")
    assert drive(engine(LoopPlan.of(body, DT)), body, [2e6, *q[1:]], qd, 5, RATIO).reached == 0
    assert drive(engine(LoopPlan.of(body, DT)), body, q, [float("nan"), *qd[1:]], 5, RATIO).reached == 0


def test_bounds_are_those_of_the_range_of_our_sine_and_of_sense(plants):
    body, *_ = plants("sampled")
    assert bounds(body) == [BOUNDS["q"]] * 5 + [BOUNDS["qd"]] * 5 + [BOUNDS["integral"]] * 5 + [BOUNDS["held"]] * 5
    assert BOUNDS["q"] == 1e6


def test_an_arm_with_underscores_in_its_names_has_its_bounds(plants):
    body, *_ = plants("sampled")
    joints = tuple(replace(j, name=f"held_q_{i}") for i, j in enumerate(body.arm.joints))
    named = Plant(replace(body.arm, links=joints), body.command)
    assert bounds(named) == bounds(body)


def test_engines_are_made_by_name(plants):
    body, *_ = plants("continuous")
    assert [make_engine(name, LoopPlan.of(body, DT)).name for name in ("llvm", "python")] == ["llvm", "python"]
    with pytest.raises(UsageError, match="engine: expected one of llvm, python, found 'fortran'"):
        make_engine("fortran", LoopPlan.of(body, DT))


@pytest.mark.usefixtures("no_kernels")
def test_getting_ready_is_timed_by_part(plants):
    body, *_ = plants("continuous")
    first, second = (
        NativeEngine(LoopPlan.of(replace(body, method="rk4"), 1 / 3000)),
        NativeEngine(LoopPlan.of(replace(body, method="rk4"), 1 / 3000)),
    )
    assert set(first.preparation) == {"trace_s", "print_s", "compile_s"}
    assert set(second.preparation) == {"fetch_s"}  # known code is neither traced nor printed


@pytest.fixture
def hasty(monkeypatch, no_kernels):
    """A machine whose level is open; gives a run of a plant by an engine."""
    monkeypatch.delenv("ARMSIM_OPTIMISATION")
    monkeypatch.setattr(loop, "host", lambda: Target(optimisation=1))

    def prepared(plants):
        body, q, qd, _ = plants("continuous")
        plan = LoopPlan.of(body, DT)
        start = body.initial_state(q, qd)

        def run(target=None):
            runner = Runner(NativeEngine(plan, target), Job(plan, Clock(*RATIO, 600), start))
            levels = [runner.engine.loop.target.optimisation for _ in runner.until(600)]
            return levels, runner

        return run

    return prepared


def test_a_loop_begins_in_quick_code_and_goes_on_in_better_code_to_the_same_bits(hasty, plants, monkeypatch):
    run = hasty(plants)
    monkeypatch.setattr(loop, "ENOUGH", 0.0)
    monkeypatch.setattr(loop, "PAID", 0.0)
    levels, runner = run()
    assert levels[-1] == 1
    assert runner.improving > 0.0
    assert runner.state == run(Target(optimisation=0))[1].state
    assert run()[0][0] == 1  # better code is in the cache now
    monkeypatch.setenv("ARMSIM_OPTIMISATION", "1")
    assert run()[1].improving == 0.0


@pytest.mark.usefixtures("hasty")
def test_the_use_of_quick_code_is_written_down_where_it_is_worth_a_file(plants, monkeypatch):
    written = []
    monkeypatch.setattr(cache, "store_json", lambda name, used: written.append(used))
    engine = NativeEngine(LoopPlan.of(plants("continuous")[0], DT))
    for _ in range(9):
        engine.used(2e-3, 0.0)
    assert written == pytest.approx([6e-3, 12e-3, 18e-3])


def test_quick_code_does_for_short_runs_until_all_of_them_together_have_paid(hasty, plants, monkeypatch):
    monkeypatch.setattr(loop, "WORTH", 0.0)
    run = hasty(plants)
    assert {*run()[0]} == {0}
    assert {*run()[0]} == {0}
    monkeypatch.setattr(loop, "PAID", 1e-12)
    assert {*run()[0]} == {1}
