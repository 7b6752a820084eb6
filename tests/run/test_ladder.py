"""What answers are refined by: every step of it is one that the scenario takes."""

from __future__ import annotations

import pytest

from armsim.run.ladder import Steps, Tolerances, doubling_divisors
from armsim.spec import read_scenario


def test_divisors_at_least_double():
    assert doubling_divisors(100) == [2, 4, 10, 20, 50, 100]
    assert doubling_divisors(64) == [2, 4, 8, 16, 32, 64]
    assert doubling_divisors(35) == [5, 35]
    assert doubling_divisors(7) == [7]
    assert doubling_divisors(1) == []
    assert doubling_divisors(10**12)[-1] == 10**12


@pytest.mark.parametrize("name", ["arm5_hold", "arm5_hold_pi", "two_link_hold", "rr_config1", "puma560_hold"])
def test_every_step_is_one_that_the_scenario_takes(name):
    scenario = read_scenario(name)
    ladder = Steps(scenario)
    assert ladder.own == ladder.finer(0) == scenario.dt
    assert ladder.finer(3) == scenario.dt / 8
    assert len(ladder.coarser) >= 2
    every = {"log.every": scenario.log_every * scenario.time_ratio[0] / scenario.time_ratio[1]}
    for dt in [*ladder.coarser, *map(ladder.finer, range(1, 12))]:
        taken = read_scenario(name, {**every, **ladder.overrides(dt)})
        assert taken.dt == dt
        assert (
            taken.steps * taken.time_ratio[0] / taken.time_ratio[1] == pytest.approx(5, rel=1e-12)
            or name != "arm5_hold"
        )
        assert taken.steps // taken.log_every == scenario.steps // scenario.log_every


def test_a_period_and_the_times_of_forces_bound_the_steps():
    # two_link_hold: 1 ms; log every 10 ms, a force from 5 s to 6 s
    assert max(Steps(read_scenario("two_link_hold")).coarser) == 10e-3
    forced = read_scenario("two_link_hold", {"external[0].from": 5.004})
    assert max(Steps(forced).coarser) == 2e-3
    assert max(Steps(read_scenario("arm5_hold_pi")).coarser) == 1e-3  # its period


def test_a_step_that_is_no_decimal_fraction_is_halved_all_the_same():
    scenario = read_scenario("rr_config1", {"integrator.dt": "1/3000", "log.every": 0.1, "duration": 1})
    ladder = Steps(scenario)
    assert ladder.finer(2) == 1 / 12000
    assert read_scenario("rr_config1", {**ladder.overrides(1 / 12000), "log.every": 0.1, "duration": 1}).steps == 12000


def test_tolerances_fall_by_tenths_and_the_absolute_one_with_them():
    ladder = Tolerances(read_scenario("rr_config1"))
    values = [ladder.finer(k) for k in range(9)]
    assert values[:3] == [pytest.approx(1e-6), pytest.approx(1e-7), pytest.approx(1e-8)]
    assert values[-1] is None  # finer than roundings
    assert ladder.coarser == [pytest.approx(10.0**k) for k in range(-5, 0)]
    assert ladder.overrides(1e-8) == {"integrator.rtol": 1e-8, "integrator.atol": pytest.approx(1e-11)}
