"""Aggregates over time, against numpy on the rows of the same run, one a step."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim

# arm5 under sampled PI control; rr under torques that vary; an adaptive method between its landings
RUNS = {
    "arm5_hold_pi": {"integrator.dt": 5e-4, "log.every": 5e-4, "duration": 0.1},
    "arm5_hold": {"integrator": {"method": "rodas"}, "log.every": 1e-4, "duration": 0.1},
    "rr_config2_sine": {"integrator": {"method": "rk4", "dt": 1e-3}, "log.every": 1e-3, "duration": 0.1},
}
ROUNDING = 1e-12  # of sums of some hundred terms, in another order


@pytest.fixture(scope="module", params=RUNS)
def both(request, moments):
    """A run's rows from machine code, and its moments on floats."""
    return armsim.simulate(request.param, RUNS[request.param]), moments(request.param, RUNS[request.param])[1]


@pytest.mark.slow
def test_a_moments_columns_are_the_rows_of_the_run_by_every_heading(both):
    run, moments = both
    for name in run.columns:
        column = [now.column(name) + 0.0 for now in moments]
        assert np.array_equal(column, run[name]), name


@pytest.mark.handful(1)
def test_columns_may_leave_out_their_unit_and_take_degrees(both):
    run, moments = both
    for name, heading in [
        ("q_R1", "q_R1_rad"),
        ("qdd_R2", "qdd_R2_rad_s2"),
        ("tau_motor_R1", "tau_motor_R1_Nm"),
        ("tau_R2", "tau_R2_Nm"),
        ("x", "x_m"),
        ("vy", "vy_m_s"),
        ("wz", "wz_rad_s"),
        ("qw", "qw"),
        ("kinetic_energy", "kinetic_energy_J"),
    ]:
        assert [now.column(name) + 0.0 for now in moments] == list(run[heading]), name
    degrees = [now.column("q_R1_deg") for now in moments]
    assert degrees == pytest.approx(np.degrees(run["q_R1_rad"]), rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("tau_R2", lambda run: run["tau_R2_Nm"]),
        ("abs(qd_R1)*t", lambda run: abs(run["qd_R1_rad_s"]) * run.t),
        ("min(q_R1, q_R2) - 1", lambda run: np.minimum(run["q_R1_rad"], run["q_R2_rad"]) - 1),
    ],
)
@pytest.mark.handful(1)
def test_every_aggregate_is_what_numpy_makes_of_the_rows(both, gathered, text, formula):
    run, moments = both
    f, t = formula(run), run.t
    size = abs(f).max()
    expected = {
        "max": f.max(),
        "min": f.min(),
        "peak": size,
        "time_of_max": t[f.argmax()],
        "time_of_min": t[f.argmin()],
        "integral": np.trapezoid(f, t) if hasattr(np, "trapezoid") else np.trapz(f, t),
        "first": f[0],
        "final": f[-1],
    }
    expected["mean"] = expected["integral"] / t[-1]
    square = np.sum((f[1:] ** 2 + f[:-1] ** 2) / 2) * (t[1] - t[0])
    expected["rms"] = math.sqrt(square / t[-1])
    found = gathered([f"{name}({text})" for name in expected], moments)
    for name, value in expected.items():
        assert found[f"{name}({text})"] == pytest.approx(value, rel=0, abs=ROUNDING * max(size, abs(value))), name


@pytest.mark.handful(2)
def test_the_integral_of_what_is_linear_between_moments_is_exact(both, gathered):
    _, moments = both
    T = moments[-1].t
    found = gathered(["integral(t)", "duration", "mean(1)"], moments)
    assert found == pytest.approx({"integral(t)": T * T / 2, "duration": T, "mean(1)": 1.0}, rel=1e-13)


@pytest.mark.handful(2)
def test_arithmetic_around_aggregates_is_of_their_results(both, gathered):
    _, moments = both
    names = ["rms(tau_R1)", "sqrt(integral(tau_R1**2) / duration)", "max(max(q_R1, 0))", "max(max(q_R1), 0)"]
    names += ["2*final(q_R1) - first(q_R1)*pi", "final(q_R1)", "first(q_R1)", "max(q_R1)"]
    found = gathered(names, moments)
    assert found[names[0]] == found[names[1]]
    assert found[names[2]] == found[names[3]] == max(found["max(q_R1)"], 0)
    assert found[names[4]] == 2 * found["final(q_R1)"] - found["first(q_R1)"] * math.pi


@pytest.mark.handful(2)
def test_a_quotient_by_zero_is_infinite_and_not_an_error(both, gathered):
    _, moments = both
    found = gathered(["max(1/t)", "min(-1/t)", "integral(t/t)", "1/(final(t) - duration)", "max(1/(t - 1))"], moments)
    assert found["max(1/t)"] == math.inf
    assert found["min(-1/t)"] == -math.inf
    assert math.isnan(found["integral(t/t)"])  # 0 / 0 at the start
    assert found["1/(final(t) - duration)"] == math.inf
    assert found["max(1/(t - 1))"] < 0
