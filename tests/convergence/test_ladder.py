"""What answers are refined by: every step of it is one that the scenario takes."""

from __future__ import annotations

import pytest

from armsim.convergence.ladder import Steps, Tolerances, divisor, divisor_above, doubling_divisors, ladder
from armsim.integrate import METHODS
from armsim.loading import read_scenario


def test_divisors_at_least_double():
    assert doubling_divisors(100) == [2, 4, 10, 20, 50, 100]
    assert doubling_divisors(64) == [2, 4, 8, 16, 32, 64]
    assert doubling_divisors(35) == [5, 35]
    assert doubling_divisors(7) == [7]
    assert doubling_divisors(1) == []
    assert doubling_divisors(10**12)[-1] == 10**12


def test_steps_are_of_a_series_whose_ratios_are_not_all_two():
    assert [divisor(k) for k in range(8)] == [1, 2, 5, 10, 20, 50, 100, 200]
    assert [divisor_above(x) for x in (0.3, 1.0, 1.1, 5.0, 5.1, 99.0, 101.0)] == [1, 1, 2, 5, 10, 100, 200]


@pytest.mark.parametrize("name", ["arm5_hold", "arm5_hold_pi", "two_link_hold", "rr_config1", "puma560_hold"])
@pytest.mark.handful(3)
def test_every_step_is_one_that_the_scenario_takes(name):
    scenario = read_scenario(name)
    steps = Steps(scenario, scenario.method)
    assert steps.own == steps.finer(0) == scenario.dt
    assert steps.finer(4) == pytest.approx(scenario.dt / 20, rel=1e-15)
    assert len(steps.coarser) >= 2
    every = {"log.every": scenario.clock.at(scenario.clock.log_every)}
    for dt in [*steps.coarser, *map(steps.finer, range(1, 12))]:
        taken = read_scenario(name, {**every, "integrator": steps.integrator(dt)})
        assert taken.dt == dt
        assert taken.clock.end == pytest.approx(5, rel=1e-12) or name != "arm5_hold"
        assert taken.clock.rows - 1 == scenario.clock.steps // scenario.clock.log_every


def test_a_period_and_the_times_of_forces_bound_the_steps():
    # two_link_hold: 1 ms; log every 10 ms, a force from 5 s to 6 s
    assert max(Steps(read_scenario("two_link_hold"), "rk4").coarser) == 10e-3
    forced = read_scenario("two_link_hold", {"external[0].from": 5.004})
    assert max(Steps(forced, "rk4").coarser) == 2e-3
    assert max(Steps(read_scenario("arm5_hold_pi"), "rk4").coarser) == 1e-3  # its period


def test_a_step_that_is_no_decimal_fraction_is_divided_all_the_same():
    scenario = read_scenario("rr_config1", {"integrator.dt": "1/3000", "log.every": 0.1, "duration": 1})
    steps = Steps(scenario, scenario.method)
    assert steps.finer(2) == 1 / 15000
    finer = read_scenario("rr_config1", {"integrator": steps.integrator(1 / 15000), "log.every": 0.1, "duration": 1})
    assert finer.clock.steps == 15000


def test_tolerances_fall_by_tenths_and_the_absolute_one_with_them():
    tolerances = Tolerances(read_scenario("rr_config1"), "rk54")
    assert [tolerances.finer(k) for k in range(4)] == [1e-6, 1e-7, 1e-8, 1e-9]
    assert tolerances.finer(8) is None  # finer than roundings
    assert tolerances.coarser == [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    assert tolerances.own is None
    # it lands where it must, not at the steps of another method
    assert tolerances.integrator(1e-8) == {"method": "rk54", "rtol": 1e-8, "atol": pytest.approx(1e-11)}


def test_an_adaptive_scenario_has_a_tolerance_of_its_own_and_keeps_its_landings():
    own = {"integrator": {"method": "rodas", "rtol": 3e-4, "atol": 3e-5, "dt": 0.05}}
    tolerances = Tolerances(read_scenario("rr_config1", own), "rk54")
    assert (tolerances.own, tolerances.finer(0), tolerances.finer(2), tolerances.coarser) == (
        3e-4,
        3e-4,
        3e-6,
        [3e-3, 3e-2],
    )
    assert tolerances.integrator(3e-6) == {"method": "rk54", "rtol": 3e-6, "atol": pytest.approx(3e-7), "dt": 0.05}
    left_out = read_scenario("rr_config1", {"integrator": {"method": "rodas"}})
    assert "dt" not in Tolerances(left_out, "rodas").integrator(1e-6)


def test_a_step_for_an_adaptive_scenario_begins_with_its_landings():
    steps = Steps(read_scenario("rr_config1", {"integrator": {"method": "rodas"}}), "rk4")
    assert steps.own is None
    assert steps.finer(0) == 0.1  # between rows
    assert steps.integrator(0.05) == {"method": "rk4", "dt": 0.05}


def test_a_method_is_refined_by_what_it_takes():
    scenario = read_scenario("rr_config1")
    assert {name: ladder(scenario, name).knob for name in METHODS} == {
        name: "dt" if method.adaptive is None else "rtol" for name, method in METHODS.items()
    }
