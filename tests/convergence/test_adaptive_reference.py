"""How far the answers of adaptive runs are believed, on answers whose errors are known; and where those runs land."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from armsim.convergence.adaptive_reference import LANDINGS, MOST_LANDINGS, adaptive_reference, landing, next_tolerance
from armsim.convergence.reference import SettingRun
from armsim.loading import read_scenario

TRUE = np.array([[0.0, 1.0], [0.5, 2.0], [1.0, -1.0]])
WORST = np.array([[0.0, 0.0], [0.2, -1.0], [0.3, 0.5]])


class Told:
    """Runs whose errors are told by method and tolerance; None for a run that takes too long."""

    def __init__(self, **errors: dict[float, float | None]) -> None:
        self.errors = errors
        self.base = read_scenario("two_link_hold")
        self.seen: list[tuple[str, float]] = []
        self.dts: set[float] = set()

    def trial(self, knob, integrator, ends, longest):
        method, rtol = integrator["method"], integrator["rtol"]
        self.seen.append((method, rtol))
        self.dts.add(integrator["dt"])
        error = self.errors[method].get(rtol)
        return None if error is None else SettingRun(rtol, 100, 1e-3, 1.0, TRUE + error * WORST)


def told(accuracy=1e-6, **errors):
    runs = Told(**errors)
    return adaptive_reference(runs, accuracy, math.inf), runs


LEVELS = (1e-6, 1e-8, 1e-10, 1e-12)


def test_two_methods_that_agree_at_two_tolerances_are_believed():
    found, runs = told(1e-3, rodas={1e-6: 1e-7, 1e-8: 1e-9}, rk54={1e-6: 3e-7, 1e-8: -2e-9})
    assert len(runs.seen) == 4
    assert len(runs.dts) == 2  # each tolerance lands elsewhere
    np.testing.assert_array_equal(found.answer, TRUE + 1e-9 * WORST)
    # the larger change since the tolerance before leaves half of it, which is more than they are apart
    assert found.doubt == pytest.approx(0.5 * 3.02e-7)
    assert found.source == "rodas and rk54 at rtol 1e-08"


def test_methods_that_disagree_are_refined_and_then_in_doubt():
    found, runs = told(rodas=dict.fromkeys(LEVELS, 0.0), rk54=dict.fromkeys(LEVELS, 1e-4))
    assert [rtol for _, rtol in runs.seen[::2]] == list(LEVELS)
    assert found.doubt == pytest.approx(1e-4)


def test_methods_that_agree_on_what_still_changes_are_in_doubt():
    errors = dict(zip(LEVELS, (1e-5, 2e-5, 4e-5, 8e-5)))
    found, _ = told(rodas=errors, rk54=errors)
    assert found.doubt == pytest.approx(4e-5)


def test_one_method_alone_is_believed_as_far_as_its_tolerances_agree():
    found, _ = told(rodas={1e-6: 1e-6, 1e-8: 1e-7, 1e-10: 1e-9}, rk54={})
    assert found.doubt == pytest.approx(9.9e-8)
    assert found.source == "rodas at rtol 1e-10"


def test_the_finest_tolerance_goes_before_and_the_method_left_behind_is_heard():
    found, _ = told(1e-9, rodas=dict(zip(LEVELS, (1e-6, 1e-7, 1e-9, 1e-11))), rk54={1e-6: 1e-5})
    np.testing.assert_array_equal(found.answer, TRUE + 1e-11 * WORST)
    assert found.doubt == pytest.approx(0.9e-5, rel=0.02)


def test_where_fine_tolerances_take_too_long_looser_ones_tell_less():
    found, runs = told(rodas={1e-5: 1e-5, 1e-4: 1e-4}, rk54={1e-5: -1e-5})
    assert runs.seen[2:] == [("rodas", 1e-5), ("rk54", 1e-5), ("rodas", 1e-4), ("rk54", 1e-4)]
    np.testing.assert_array_equal(found.answer, TRUE + 1e-5 * WORST)
    assert found.doubt == pytest.approx(9e-5)
    assert told(rodas={1e-6: 1e-5}, rk54={})[0] is None


def run(rtol, steps, seconds=1e-3):
    return SettingRun(rtol, steps, seconds, 1.0, TRUE)


def test_a_method_that_chatters_is_not_sent_where_it_would_never_return():
    assert next_tolerance([], 1.0) == 1e-6
    assert next_tolerance([run(1e-6, 1000)], 1.0) == 1e-8
    # a tenth of the tolerance may take ten times as long
    assert next_tolerance([run(1e-6, 50_000)], 1.0) == 1e-7
    assert next_tolerance([run(1e-6, 200_000)], 1.0) is None
    # unless the tolerances before show that it does not
    assert next_tolerance([run(1e-6, 100_000), run(1e-7, 120_000)], 1.0) == 1e-9
    assert next_tolerance([run(1e-6, 10_000), run(1e-7, 100_000)], 1.0) is None
    assert next_tolerance([run(1e-6, 1000, 0.02)], 1.0) == 1e-7
    assert next_tolerance([run(1e-10, 1000), run(1e-12, 2000)], 1.0) is None


def test_nothing_is_known_better_than_events_are_located():
    errors = dict.fromkeys(LEVELS, 0.0)
    assert told(rodas=errors, rk54=errors)[0].doubt == 2e-12 * 2.0  # of the largest position


@pytest.mark.parametrize("name", ["two_link_hold", "arm5_hold", "arm5_hold_pi", "puma560_hold"])
@pytest.mark.parametrize("level", [-2, -1, 0, 1, 2])
@pytest.mark.handful(10)
def test_every_landing_is_one_that_the_scenario_takes(name, level):
    scenario = read_scenario(name)
    dt = landing(scenario, level)
    every = scenario.clock.log_every * scenario.dt
    taken = read_scenario(name, {"integrator": {"method": "rodas", "dt": dt}, "log.every": every})
    assert taken.dt == dt
    assert taken.clock.steps // taken.clock.log_every == scenario.clock.steps // scenario.clock.log_every
    assert LANDINGS <= taken.clock.steps <= 30 * LANDINGS


def recorded(folder, times, columns=""):
    (folder / "u.csv").write_text("t_s,u\n" + "".join(f"{t},1\n" for t in times))
    signal = {"csv": str(folder / "u.csv"), "column": "u"}
    given = {"control": None, "inputs": {"torque": [signal, 0]}, "duration": 1, "external": [], "log.every": 0.01}
    return read_scenario("two_link_swing", given)


def test_landings_are_the_corners_of_recorded_inputs_where_those_have_a_step(tmp_path):
    scenario = recorded(tmp_path, [0, 0.2499, 0.3, 2])
    for level in (0, 1):
        steps = Fraction("0.2499") / Fraction(landing(scenario, level)).limit_denominator(10**9)
        assert steps.denominator == 1


def test_landings_are_closer_than_corners_that_have_no_step(tmp_path):
    scenario = recorded(tmp_path, [0, 0.1, 0.1 + 1e-4 * math.sqrt(2), 0.9])
    assert 0.5e-4 < landing(scenario, 0) < 0.7072e-4
    scenario = recorded(tmp_path, [0, 0.1, 0.1 + 1e-9, 0.9])
    assert landing(scenario, 0) >= 0.49 / MOST_LANDINGS
