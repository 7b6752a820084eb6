"""Advice on many variants at once: against the advice on each alone, and against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from armsim.loading import Scenario, build_scenario, load_scenario_file
from armsim.plant import make_plant
from armsim.stability import step_modes
from armsim.stability.advice import Advice
from armsim.stability.many import BLOCK, StepAdviser
from armsim.stability.method_choice import with_method
from armsim.stability.verdicts import Verdicts
from armsim.stability.wording import check_step

Make = Callable[[Sequence[Any]], Scenario]


def opened(scenario: str | dict, paths: Sequence[str], overrides: dict | None = None) -> Make:
    """A scenario by the numbers at these paths."""
    file = load_scenario_file(scenario, overrides or {})
    return lambda values: with_method(build_scenario(file, open=dict(zip(paths, values, strict=True))))


def alone(make: Make, values: Sequence[float]) -> Advice:
    scenario = make([float(x) for x in values])
    return check_step(scenario, make_plant(scenario))


def adviser(make: Make, row: Sequence[float]) -> StepAdviser:
    return StepAdviser(make([float(x) for x in row]), make, len(row))


class Found:
    """The verdicts on many variants, and their advice in words."""

    def __init__(self, asked: StepAdviser, values: npt.ArrayLike) -> None:
        self.refused, self.speaks = asked.verdicts(values)
        self._asked, self._values = asked, np.array(values, dtype=float)

    def __getitem__(self, k: int) -> Advice:
        return self._asked.one(self._values[k])


def slide(**keys: Any) -> dict:
    """A slide of 1 kg without gravity, held by its controller."""
    joint = {
        "name": "slide",
        "type": "prismatic",
        "mdh": {},
        "bodies": [{"point": {"mass": 1}}],
        **keys.pop("joint", {}),
    }
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": 10,
        "integrator": {"method": "explicit_euler", "dt": 0.01},
        "initial": {"q": [0.1]},
        "control": {"law": "pd", "output": "torque", "kp": 100, "kd": 8},
        **keys,
    }


def spread(count: int, *ranges: tuple[float, float], seed: int = 1) -> np.ndarray:
    """Seeded random numbers, shape (count, ranges), evenly in the logarithm; evenly where a range begins below zero."""
    chance = np.random.default_rng(seed)
    columns = [
        chance.uniform(a, b, count) if a < 0.0 else np.exp(chance.uniform(math.log(a), math.log(b), count))
        for a, b in ranges
    ]
    return np.stack(columns, axis=-1)


MASS = "robot.joints[3].bodies[0].cylinder.mass"
ARM5 = {"control.kp[3]": (5, 1500), "control.kd[3]": (0.1, 30), MASS: (0.05, 2), "control.target[1]": (-1.5, -0.5)}
PI = {"control.kp[3]": (5, 1500), "control.ki[3]": (5, 1500), MASS: (0.05, 2)}
PUMA = {"control.kp[2]": (100, 1e5), "control.kd[2]": (1, 3000), "initial.q[1]": (-1.0, 0.5)}
TWO = {"control.kp[0]": (5, 15000), "control.kd[0]": (1, 3000), "control.kp[1]": (5, 1500)}
FALL = {"initial.q[0]": (-3.0, 3.0), "robot.joints[0].friction.viscous": (1e-2, 3e3)}
STOP = {"limits": {"lower": -0.2, "upper": 0.2, "stiffness": 1e4, "damping": 10}}
SLIDE = {"control.kp[0]": (1, 1e4), "control.kd[0]": (0.1, 300)}
RUBS = {"friction": {"coulomb": 0.1}}
STOPPED = {f"robot.joints[0].limits.{key}": span for key, span in (("stiffness", (100, 1e6)), ("damping", (0.1, 1e3)))}
SAMPLED = {"law": "pd", "output": "torque", "kp": 100, "kd": 8, "period": 0.1}
VOLTAGE = {"law": "pd", "output": "voltage", "kp": 100, "kd": 8}
MOTOR = {"motor": {"Kp": 0.05, "Ra": 1, "gear": 50, "rotor_inertia": 1e-4, "inductance": 1e-3}}
LATE = {
    "law": "pid",
    "output": "torque",
    "kp": 100,
    "ki": 10,
    "kd": 8,
    "period": 0.01,
    "delay": 0.02,
    "encoder": {"filter": 0.02},
}
HEAVY = {**slide()["robot"], "gravity": [0, 0, -9.81]}
WIRED = {
    "control.kp[0]": (1, 1e4),
    "robot.joints[0].motor.inductance": (1e-5, 1),
    "robot.joints[0].motor.Ra": (0.1, 10),
}
SUPPLIED = {"motor": {**MOTOR["motor"], "limits": {"voltage": 24}}}
BOUNDED = {"law": "pd", "output": "torque", "kp": 100, "kd": 8, "limit": [5], "target": [2]}
GRIPS = {"friction": {"coulomb": 30}}
CASES = {
    "hold": ("arm5_hold", ARM5, {"integrator.dt": 2e-4}, 30),
    "hold, sampled": ("arm5_hold_pi", PI, {"integrator.dt": 5e-4}, 20),
    "hold, implicit": ("arm5_hold", ARM5, {"integrator.method": "velocity_implicit", "integrator.dt": 0.01}, 20),
    "dry friction, sampled": ("puma560_hold", PUMA, {"integrator.method": "explicit_euler", "integrator.dt": 1e-3}, 20),
    "two links": ("two_link_hold", TWO, {"integrator.dt": 0.01}, 100),
    "two links, one sticks": (
        "two_link_hold",
        TWO,
        {"integrator.dt": 0.01, "robot.joints[0].friction": {"coulomb": 0.1, "viscous": 0.1}},
        60,
    ),
    "two links, late": (
        "two_link_hold",
        TWO,
        {"integrator.dt": 5e-3, "control.period": 0.01, "control.delay": 0.02},
        40,
    ),
    "a late integral": (slide(control=LATE, robot=HEAVY), SLIDE | {"control.ki[0]": (1, 1e4)}, {}, 60),
    "a fall": ("rr_config1", FALL, {"integrator.method": "rk4", "integrator.dt": 0.01, "log.every": 0.01}, 60),
    "a swing": ("two_link_swing", {"initial.q[0]": (-3.0, 3.0)}, {"integrator.method": "explicit_euler"}, 40),
    "a stop": (slide(joint=STOP), SLIDE | STOPPED | {"initial.q[0]": (-0.4, 0.4)}, {}, 40),
    "a stop, implicit": (
        slide(joint=STOP, integrator={"method": "implicit_midpoint", "dt": 0.01}),
        SLIDE | STOPPED,
        {},
        40,
    ),
    "friction": (slide(joint=RUBS), SLIDE, {}, 40),
    "a sampled slide": (slide(control=SAMPLED, integrator={"method": "explicit_euler", "dt": 0.05}), SLIDE, {}, 40),
    "a bounded command": (slide(control=BOUNDED), SLIDE | {"control.limit[0]": (0.01, 1e4)}, {}, 40),
    "a bounded command, sampled": (
        slide(control={**BOUNDED, "period": 0.1}, integrator={"method": "explicit_euler", "dt": 0.05}),
        SLIDE | {"control.limit[0]": (0.01, 1e4)},
        {},
        40,
    ),
    "friction that may hold": (slide(joint=GRIPS), SLIDE, {}, 40),
    "a supply": (
        slide(joint={**SUPPLIED, "type": "revolute"}, control={**BOUNDED, "kp": 10}),
        {"robot.joints[0].motor.Ra": (0.1, 10), "robot.joints[0].motor.limits.voltage": (1, 100)},
        {},
        30,
    ),
    "gains of either sign": (slide(), {"control.kp[0]": (-100, 100), "control.kd[0]": (-8, 8)}, {}, 30),
    "gains of an adaptive method": (
        slide(integrator={"method": "rk54"}),
        {"control.kp[0]": (-100, 100), "control.kd[0]": (-8, 8)},
        {},
        30,
    ),
    "samples of an adaptive method": (slide(control=SAMPLED, integrator={"method": "rk54"}), SLIDE, {}, 30),
    "inductance": (slide(joint={**MOTOR, "type": "revolute"}, control=VOLTAGE), WIRED, {}, 40),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_every_variant_is_told_what_it_is_told_alone(case):
    scenario, ranges, overrides, count = CASES[case]
    make = opened(scenario, [*ranges], overrides)
    values = spread(count, *ranges.values())
    asked = adviser(make, values[0])
    found = Found(asked, values)
    expected = [alone(make, row) for row in values]
    assert found.refused.tolist() == [advice.refusal is not None for advice in expected]
    assert asked.refuses(values).tolist() == found.refused.tolist()
    assert found.speaks.tolist() == [advice != Advice() for advice in expected]
    assert list(found) == expected
    assert found.speaks.sum() > 0
    assert not found.refused.all()


def test_a_slide_is_refused_from_the_closed_forms_growth_on():
    values = spread(2 * BLOCK + 7, (1, 1e4), (0.1, 300))
    found = Found(adviser(opened(slide(), [*SLIDE]), values[0]), values)
    (k, d), h = values.T, 0.01
    rates, factors = (np.linalg.eigvals(rows) for rows in oscillators(k, d, h))
    growth = np.log(np.abs(factors)).max(axis=-1) / h  # by explicit Euler; det = 1 - h d + h² k
    resolved = (h * np.abs(rates) <= 0.5).all(axis=-1) & (np.abs(rates.imag) > 0.0).all(axis=-1)
    swings = resolved & (d / 2 <= 0.1 * growth)  # an undamped swing that grows is warned of
    refused = (growth * 10 > 7.0) & ~swings
    borderline = np.abs(growth * 10 - 7.0) < 1e-6
    assert np.array_equal(found.refused[~borderline], refused[~borderline])
    assert len(found.refused) == len(values)
    assert 100 < refused.sum() < len(values) - 100
    assert found.speaks[swings & (growth * 10 > 0.01)].all()


def oscillators(k: np.ndarray, d: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """The system matrices of x'' = -k x - d x', and those of a step of explicit Euler."""
    zero = np.zeros_like(k)
    A = np.stack([np.stack([zero, zero + 1.0], axis=-1), np.stack([-k, -d], axis=-1)], axis=-2)
    return A, np.eye(2) + h * A


def test_some_variants_may_begin_at_their_target():
    scenario = {**slide(), "control": {**slide()["control"], "target": [0.1]}}
    make = opened(scenario, ["control.target[0]", "control.kp[0]"])
    values = [[target, kp] for target in (0.1, 0.2) for kp in (10.0, 1000.0, 4000.0, 9000.0)]
    assert list(Found(adviser(make, values[0]), values)) == [alone(make, row) for row in values]


def test_where_no_step_is_short_enough_a_variant_is_refused_though_friction_may_stop_it_at_a_slightly_shorter_one():
    make = opened(slide(joint=RUBS), ["control.kp[0]", "control.kd[0]"])
    values = [[(h_w / 0.01) ** 2, 0.0] for h_w in (0.49, 0.52, 0.6)]  # h |λ| > 0.5 is no swing that the step resolves
    found = Found(adviser(make, values[0]), values)
    assert found.refused.tolist() == [False, True, True]
    assert list(found) == [alone(make, row) for row in values]


def test_stops_are_not_blamed_where_the_step_is_unstable_without_them_however_slowly():
    hard = {"limits": {**STOP["limits"], "stiffness": 1e6}}
    make = opened(slide(joint=hard, duration=0.02), ["control.kd[0]"])
    values = [[0.999], [1.5]]  # explicit Euler is stable from h w² = 1 on
    found = Found(adviser(make, values[0]), values)
    assert found.speaks.tolist() == [False, True]
    assert list(found) == [alone(make, row) for row in values]


def test_nothing_is_said_of_variants_without_finite_equations():
    make = opened("arm5_fall", ["initial.qd[0]"], {"integrator.dt": 1e-3, "log.every": 1e-2})
    found = Found(adviser(make, [0.0]), [[0.0], [1e200], [math.nan], [0.1]])
    assert found.speaks.tolist() == [True, False, False, True]
    assert found.refused.tolist() == [True, False, False, True]
    assert found[1] == Advice()


def test_steps_out_of_all_bounds_are_refused_and_spoil_no_other_variant():
    make = opened(slide(control={**SAMPLED, "period": 1.0}), ["control.kp[0]", "robot.joints[0].friction.viscous"])
    values = [[1.0, 0.1], [1.0, 1e9], [1e300, 0.1], [1.0, 0.1]]
    found = Found(adviser(make, values[0]), values)
    assert found.refused.tolist()[:2] == [False, True]
    assert found.refused[3] == found.refused[0]
    assert found[3] == found[0] == alone(make, values[0])


def test_nothing_is_said_of_methods_that_choose_their_steps():
    for method in ("rk54", "rodas"):
        make = opened("arm5_hold", ["control.kp[0]"], {"integrator.method": method})
        found = Found(adviser(make, [60.0]), [[60.0], [6e5]])
        assert list(found) == [Advice(), Advice()]


def test_nothing_is_said_of_dynamechs_motors():
    motors = {f"robot.joints[R{i}].motor.model": "dynamechs" for i in range(1, 6)}
    coarse = {**motors, "integrator.dt": 1e-3, "duration": 2e-3, "log.every": 1e-3}
    assert list(Found(adviser(opened("arm5_fall", ["initial.q[0]"], coarse), [0.0]), [[0.0]])) == [Advice()]


def test_of_no_variants_there_are_no_verdicts():
    asked = adviser(opened(slide(), [*SLIDE]), [100.0, 8.0])
    refused, speaks = asked.verdicts(np.zeros((0, 2)))
    assert len(refused) == len(speaks) == len(asked.refuses(np.zeros((0, 2)))) == 0


def test_a_scenario_without_open_numbers_is_judged_too():
    make = opened("arm5_hold", [], {"integrator.dt": 1e-3})
    found = Found(adviser(make, []), np.zeros((2, 0)))
    assert found.refused.tolist() == [True, True]
    assert found[1] == alone(make, [])


def test_a_variant_for_which_linear_algebra_fails_is_told_nothing_and_spoils_no_other(monkeypatch):
    make = opened(slide(), [*SLIDE])
    values = spread(40, *SLIDE.values())
    asked = adviser(make, values[0])
    whole, failing = Found(asked, values), int(np.flatnonzero(asked.refuses(values))[3])
    eigenvalues = step_modes.spectrum

    def spectrum(matrices):
        if np.any(matrices == -values[failing, 0]):  # the stiffness in its system matrix, of 1 kg
            raise np.linalg.LinAlgError("no convergence")
        return eigenvalues(matrices)

    monkeypatch.setattr(step_modes, "spectrum", spectrum)
    expected = np.where(np.arange(40) == failing, False, whole.refused)
    assert asked.refuses(values).tolist() == expected.tolist()
    assert Found(asked, values).refused.tolist() == expected.tolist()
    assert asked.one(values[failing]) == Advice()


def test_what_grows_between_samples_is_refused_though_the_sampled_loop_is_stable():
    h = 0.01
    control = {"law": "pd", "output": "torque", "kp": 1 / h**2, "kd": 0, "period": h}
    make = opened(slide(control=control), ["robot.joints[0].friction.viscous"])
    damping = np.array([190.0, 199.0, 210.0])  # explicit Euler's factor of the velocity is 1 - h d
    loop = [np.roots([1.0, h * d - 2.0, 2.0 - h * d]) for d in damping]  # (z - 1) (z - 1 + h d) + h² kp
    assert np.abs(loop).max() < 0.95
    assert adviser(make, damping[:1]).refuses(damping[:, None]).tolist() == [False, False, True]
    assert alone(make, damping[2:]).refusal is not None


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_counts_every_variant_once(threads):
    values = spread(3 * BLOCK + 1, *SLIDE.values())
    asked, seen = adviser(opened(slide(), [*SLIDE]), values[0]), []
    refused = asked.refuses(values, lambda done, total: seen.append((done, total)), threads)
    assert refused.tolist() == asked.refuses(values).tolist()
    assert seen[-1] == (len(values), len(values))
    assert seen == sorted(set(seen))
    assert seen[0][0] <= BLOCK


def test_ctrl_c_stops_between_blocks(monkeypatch):
    values = spread(50 * BLOCK, *SLIDE.values())
    asked, judged = adviser(opened(slide(), [*SLIDE]), values[0]), []
    look = Verdicts.may_refuse

    def may_refuse(block):
        judged.append(block)
        return look(block)

    def interrupt(done, total):
        raise KeyboardInterrupt

    monkeypatch.setattr(Verdicts, "may_refuse", may_refuse)
    with pytest.raises(KeyboardInterrupt):
        asked.refuses(values, interrupt)
    assert len(judged) < 50


@pytest.mark.slow
def test_dry_friction_at_a_step_barely_too_long_is_decided_as_alone_without_words(monkeypatch):
    make = opened(slide(joint=RUBS, duration=1000), ["control.kp[0]", "control.kd[0]"])
    values = np.stack([np.full(60, 10.0), np.linspace(195.0, 230.0, 60)], axis=-1)  # stable up to dt = 2 / kd, about
    asked = adviser(make, values[0])
    expected = [alone(make, row).refusal is not None for row in values]
    monkeypatch.setattr(StepAdviser, "one", None)
    assert asked.refuses(values).tolist() == expected
    assert 0 < sum(expected) < 50
