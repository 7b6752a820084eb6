"""Margins of loops: closed forms, poles that the margins put on the limit, python-control, and simulations beyond a margin."""

from __future__ import annotations

import cmath
import math

import control
import numpy as np
import pytest
from scipy.linalg import block_diag, eigvals

import armsim
from armsim.linear.loop import JointLoop
from tests.planar import planar

SEEDS = range(12)


def loop_of(numerator, denominator, dt=None, stable=True) -> JointLoop:
    """A loop by the polynomials of L, in controllable form."""
    a = np.array(denominator, dtype=float) / denominator[0]
    n = len(a) - 1
    A = np.vstack([-a[1:], np.eye(n)[:-1]])
    c = np.concatenate([np.zeros(n - len(numerator)), np.array(numerator, dtype=float) / denominator[0]])
    return JointLoop(A, np.eye(n)[0], c, dt, stable)


def factor(crossing) -> float:
    return 10 ** (crossing.margin / 20)


def closed_poles(loop, gain=1.0, delay=0):
    """Poles of the closed loop with another gain, and further samples of delay."""
    n = len(loop.A)
    A = np.zeros((n + delay, n + delay))
    A[:n, :n] = loop.A
    if not delay:
        return eigvals(A - gain * np.outer(loop.B, loop.C))
    A[:n, n] = loop.B
    A[n:-1, n + 1 :] = np.eye(delay - 1)
    A[-1, :n] = -gain * loop.C
    return eigvals(A)


def random_loop(seed, dt=None) -> JointLoop:
    """A loop whose closed loop is stable, of an integrator, a lag and three resonances of damping 1e-3 to 1 over four decades."""
    rng = np.random.default_rng(seed)
    while True:
        rates, damping = 10 ** rng.uniform(-1, 3, size=5), 10 ** rng.uniform(-3, 0, size=3)
        blocks = [
            w * np.array([[-z, math.sqrt(1 - z * z)], [-math.sqrt(1 - z * z), -z]]) for w, z in zip(rates, damping)
        ]
        A = block_diag(*blocks, -rates[3], 0.0)
        b, c = rng.normal(size=(2, 8)) * np.sqrt(np.maximum(np.abs(np.diag(A)), rates[4] / 10))
        if dt is None:
            loop = JointLoop(A, b, c, None, True)
        else:
            step = control.c2d(control.ss(A, b[:, None], c[None], 0), dt)
            loop = JointLoop(step.A, step.B[:, 0], step.C[0], dt, True)
        poles = closed_poles(loop)
        if (poles.real.max() < 0) if dt is None else (np.abs(poles).max() < 1):
            return loop


def test_three_lags_have_the_margins_of_the_textbook():
    # L = 2 / (s (s + 1) (s + 2)): real at w = sqrt 2, where |L| = 2 / 6
    found = loop_of([2.0], [1, 3, 2, 0]).margins
    assert factor(found.gain) == pytest.approx(3.0, rel=1e-11)
    assert found.gain.frequency == pytest.approx(math.sqrt(2) / math.tau, rel=1e-11)
    assert found.lower_gain == (-math.inf, pytest.approx(math.nan, nan_ok=True))
    w = found.phase.frequency * math.tau
    assert abs(2 / (1j * w * (1j * w + 1) * (1j * w + 2))) == pytest.approx(1, rel=1e-11)
    lag = math.pi / 2 - math.atan(w) - math.atan(w / 2)
    assert found.phase.margin == pytest.approx(math.degrees(lag), rel=1e-11)
    assert found.delay.margin == pytest.approx(lag / w, rel=1e-11)


@pytest.mark.parametrize("k", [1.0, 5.0])
def test_a_conditionally_stable_loop_has_a_lower_gain_margin(k):
    # L = k (s + 1)² / s³ is -2 k at w = 1, and nowhere else real
    found = loop_of([k, 2 * k, k], [1, 0, 0, 0]).margins
    assert factor(found.lower_gain) == pytest.approx(0.5 / k, rel=1e-9)
    assert found.lower_gain.frequency == pytest.approx(1 / math.tau, rel=1e-9)
    assert (found.gain.margin, found.gains) == (math.inf, [found.lower_gain])


def test_less_gain_than_holds_an_unstable_plant_is_a_margin_at_frequency_zero():
    found = loop_of([3.0], [1, -1]).margins  # k / (s - 1)
    assert found.lower_gain == (pytest.approx(-20 * math.log10(3), rel=1e-12), 0.0)
    assert found.phase.margin == pytest.approx(math.degrees(math.atan(math.sqrt(8))), rel=1e-11)
    assert found.Mt == (pytest.approx(1.5, rel=1e-9), pytest.approx(0, abs=1e-3))


@pytest.mark.parametrize("d", [0, 1, 7, 40])
def test_an_integrator_behind_samples_of_delay_has_its_closed_form(d):
    # L = k z^-d / (z - 1): phase -90° - (d + 1/2) wT, magnitude k / (2 sin(wT / 2))
    k, T = 0.02, 1e-3
    found = loop_of([k], [1, -1, *[0] * d], T).margins
    assert factor(found.gain) == pytest.approx(2 * math.sin(math.pi / (4 * d + 2)) / k, rel=1e-9)
    assert found.gain.frequency == pytest.approx(1 / (2 * T * (2 * d + 1)), rel=1e-8)
    wT = 2 * math.asin(k / 2)
    assert math.radians(found.phase.margin) == pytest.approx(math.pi / 2 - (d + 0.5) * wT, rel=1e-11)
    assert found.delay.margin == pytest.approx((math.pi / 2 / wT - d - 0.5) * T, rel=1e-11)


def test_peaks_of_a_second_order_loop_are_those_of_its_closed_form():
    zeta, w = 0.01, 30.0
    found = loop_of([w * w], [1, 2 * zeta * w, 0]).margins  # T = w² / (s² + 2 zeta w s + w²)
    assert found.Mt.margin == pytest.approx(1 / (2 * zeta * math.sqrt(1 - zeta**2)), rel=1e-12)
    assert found.Mt.frequency == pytest.approx(w * math.sqrt(1 - 2 * zeta**2) / math.tau, rel=1e-6)
    crossover = w * math.sqrt(math.sqrt(1 + 4 * zeta**4) - 2 * zeta**2)
    assert math.radians(found.phase.margin) == pytest.approx(math.atan(2 * zeta * w / crossover), rel=1e-11)


@pytest.mark.parametrize("dt", [None, 1e-3])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.handful(4)
def test_every_margin_puts_a_pole_of_the_closed_loop_on_the_limit_and_none_before_it(seed, dt):
    loop = random_loop(seed, dt)
    found = loop.margins
    for crossing in found.gains:
        s = 1j * math.tau * crossing.frequency
        point = s if dt is None else cmath.exp(s * dt)
        poles = closed_poles(loop, factor(crossing))
        assert np.abs(poles - point).min() < 1e-7 * max(abs(s) * (dt or 1), 1e-3 if dt is None else 1e-6)

    def stable(gain):
        poles = closed_poles(loop, gain)
        return poles.real.max() < 0 if dt is None else np.abs(poles).max() < 1

    for limit, end in ((found.gain, 1e3), (found.lower_gain, 1e-3)):
        last = min(max(factor(limit), 1e-3), 1e3)
        inside = np.geomspace(1, last, 200)[:-1]
        assert all(map(stable, inside))
        if 1e-3 < factor(limit) < 1e3:
            assert not stable(last * (last / inside[-1]) ** 0.1)
        else:
            assert last == end


@pytest.mark.parametrize("dt", [None, 1e-3])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.handful(6)
def test_responses_are_those_of_python_control(seed, dt):
    loop = random_loop(seed, dt)
    w = np.geomspace(1e-2, 3e3, 300)
    theirs = control.ss(loop.A, loop.B[:, None], loop.C[None], 0, dt or 0)(
        1j * w if dt is None else np.exp(1j * w * dt)
    )
    assert loop.response(w / math.tau) == pytest.approx(theirs, rel=1e-9)
    bode = loop.bode(w / math.tau)
    assert 10 ** (bode.magnitude / 20) * np.exp(1j * np.radians(bode.phase)) == pytest.approx(theirs, rel=1e-9)
    assert np.abs(np.diff(loop.bode(loop.frequencies).phase)).max() < 15


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.handful(6)
def test_crossovers_and_the_peak_are_all_those_of_python_control(seed):
    loop = random_loop(seed)
    found = loop.margins
    # its crossovers are roots of polynomials of degree 16 with coefficients over 30 decades: right to 1e-5 or so
    plant = control.ss(loop.A, loop.B[:, None], loop.C[None], 0)
    gains, phases, distances, *_ = control.stability_margins(plant, returnall=True)
    factors = np.array([factor(x) for x in found.gains])
    assert np.sort(factors) == pytest.approx(np.sort(gains[np.isfinite(gains) & (gains > 0)]), rel=1e-4)
    assert np.sort([x.margin for x in found.phases]) == pytest.approx(np.sort((phases + 180) % 360 - 180), abs=1e-3)
    # the least distance is flat: at its roots, off by that much, theirs are longer; the next test holds ours against a scan
    assert 1 / found.Ms.margin <= min(distances.min(), 1.0) * (1 + 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.handful(6)
def test_peaks_are_the_largest_of_many_frequencies(seed):
    loop = random_loop(seed)
    rates = np.concatenate([closed_poles(loop), eigvals(loop.A)[np.abs(eigvals(loop.A)) > 0]])
    w = np.unique(
        np.concatenate([np.geomspace(1e-8, 1e8, 40000), *(np.linspace(0.99, 1.01, 2001) * abs(x) for x in rates)])
    )
    L = loop.response(w / math.tau)
    for peak, values in ((loop.margins.Ms, 1 / (1 + L)), (loop.margins.Mt, L / (1 + L))):
        assert np.abs(values).max() <= peak.margin * (1 + 1e-9)
        assert peak.margin == pytest.approx(np.abs(values).max(), rel=1e-4)


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_whole_samples_of_delay_within_the_delay_margin_keep_a_loop_stable(seed):
    T = 2e-3
    loop = random_loop(100 + seed, T)
    # a pole at the Nyquist frequency would turn by whole half turns: these loops have none of weight there
    assert abs(loop.response([0.5 / T])[0]) < 0.5
    most = loop.margins.delay.margin / T
    for d in range(int(min(most, 30)) + 1):
        assert np.abs(closed_poles(loop, delay=d)).max() < 1
    if most < 30:
        assert np.abs(closed_poles(loop, delay=int(most) + 1)).max() > 1


def test_a_loop_without_damping_has_no_phase_margin_and_no_gain_margin_of_rounding():
    found = loop_of([4.0], [1, 0, 0]).margins
    assert found.gains == []
    assert found.phase == (pytest.approx(0, abs=1e-6), pytest.approx(2 / math.tau, rel=1e-9))
    assert found.Ms.margin > 1e6


def test_an_undamped_resonance_is_no_crossing():
    found = loop_of([1.0], [1, 1, 9, 9]).margins  # 1 / ((s + 1) (s² + 9)): real, positive on one side of the resonance
    assert all(abs(loop_of([1.0], [1, 1, 9, 9]).response([x.frequency])[0].imag) < 1e-9 for x in found.gains)


def test_nothing_fed_back_has_infinite_margins():
    loop = JointLoop(np.diag([0.0, -1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), None, True)
    found = loop.margins
    assert (found.gain.margin, found.lower_gain.margin, found.phase.margin) == (math.inf, -math.inf, math.inf)
    assert (found.delay.margin, found.Ms.margin, found.Mt.margin) == (math.inf, 1.0, 0.0)
    assert (loop.bode(loop.frequencies).magnitude == -math.inf).all()


def test_an_unstable_closed_loop_has_infinite_peaks():
    found = loop_of([20.0], [1, 3, 2, 0], stable=False).margins
    assert (found.stable, found.Ms.margin, found.Mt.margin) == (False, math.inf, math.inf)
    assert factor(found.lower_gain) == pytest.approx(0.3, rel=1e-11)


MOTOR = {"Kp": 0.05, "Ke": 0.05, "Ra": 0.8, "gear": 100, "inductance": 1e-3, "rotor_inertia": 1e-5, "viscous": 1e-5}
ONE = {
    "format": "armsim/scenario/1",
    "robot": {**planar(MOTOR), "gravity": [0, 0, 0]},
    "duration": 2,
    "integrator": {"method": "rk4", "dt": 1e-4},
    "initial": {"q": [0.01]},
    "control": {"law": "pd", "output": "voltage", "kp": 60, "kd": 0.5, "target": [0], "period": 5e-3},
    "log": {"every": 1e-2},
}
FULL = {"control.encoder": {"counts": 1e9, "filter": 3e-3}, "control.delay": 1e-2}


@pytest.mark.parametrize(
    ("scenario", "overrides"),
    [
        ("arm5_hold", {}),
        ("arm5_hold_pi", {"control.delay": 3e-3}),
        ("arm5_hold_pi", {"robot.joints[R2].motor.inductance": 1e-3, **FULL}),
        ("two_link_hold", {}),
        ("arm5_computed_torque", {}),
    ],
)
def test_a_loop_that_is_closed_is_the_closed_loop(scenario, overrides):
    model = armsim.linearize(scenario, target=True, overrides=overrides)
    assert list(model.loops) == model.about.plant.arm.joint_names
    for loop in model.loops.values():
        assert loop.dt == model.period
        again = loop.A - np.outer(loop.B, loop.C)
        assert np.allclose(again, model.closed_loop.A, rtol=1e-12, atol=1e-12 * np.abs(again).max())


@pytest.mark.parametrize("joint", ["R2", "R4"])
@pytest.mark.parametrize("overrides", [{"control.delay": 3e-3}, {"control.delay": 5e-3, **FULL, "control.kp": 20}])
@pytest.mark.handful(1)
def test_gains_of_one_joint_beyond_its_margin_destabilise_the_arm(joint, overrides):
    before = armsim.linearize("arm5_hold_pi", target=True, overrides=overrides)
    found = before.loops[joint].margins
    assert found.stable
    for limit in (found.gain, found.lower_gain):
        if math.isfinite(limit.margin):
            for share in (0.99, 1.01):
                k = 10 ** (share * limit.margin / 20)
                gains = {
                    f"control.{name}": [x * (k if row == joint else 1.0) for row, x in zip(before.loops, values)]
                    for name, values in (
                        ("kp", before.about.plant.command.law.kp),
                        ("ki", before.about.plant.command.law.ki),
                    )
                }
                after = armsim.linearize("arm5_hold_pi", target=True, overrides={**overrides, **gains})
                assert after.closed_loop.stable == (share < 1)
                assert after.loops[joint].margins.stable == (share < 1)


def grows(overrides) -> bool:
    """Whether a simulation's deviation from the target is larger in its last fifth than in its first."""
    q = np.abs(armsim.simulate(ONE, overrides=overrides).q[:, 0])
    return bool(q[-len(q) // 5 :].max() > q[: len(q) // 5].max())


@pytest.mark.parametrize("overrides", [{}, FULL])
def test_a_simulation_with_more_delay_than_the_margin_diverges_and_with_less_does_not(overrides):
    loop = armsim.linearize(ONE, target=True, overrides=overrides).loops["R1"]
    own = overrides.get("control.delay", 0.0)
    most = math.floor(loop.margins.delay.margin / 5e-3) * 5e-3
    assert 0.02 < most < 0.19  # there are 40 periods of delay at most
    long = {**overrides, "duration": 6}
    assert not grows({**long, "control.delay": own + most})
    assert grows({**long, "control.delay": own + most + 5e-3})


@pytest.mark.parametrize("overrides", [{"control.delay": 2e-2}, FULL])
def test_a_simulation_with_more_gain_than_the_margin_diverges_and_with_less_does_not(overrides):
    most = factor(armsim.linearize(ONE, target=True, overrides=overrides).loops["R1"].margins.gain)
    for share, unstable in ((0.97, False), (1.03, True)):
        gains = {"control.kp": 60 * most * share, "control.kd": 0.5 * most * share}
        assert grows({**overrides, **gains}) == unstable


def test_a_joint_that_friction_holds_has_no_loop_to_speak_of():
    model = armsim.linearize("puma560_hold", target=True)
    assert model.held == ["J1", "J3", "J4", "J5", "J6"]
    for name in model.held:
        assert model.loops[name].margins.phase.margin == math.inf
    assert math.isfinite(model.loops["J2"].margins.phase.margin)
    assert armsim.linearize("two_link_swing").loops == {}
