"""Inputs that jump: their motions in closed form."""

import pytest

import armsim

MASS = 2.0
SLIDE = {
    "format": "armsim/robot/1",
    "name": "slide",
    "gravity": [0, 0, 0],
    "joints": [
        {"name": "A", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": MASS}}]},
    ],
}
T = 1.4


def end(force, **integrator):
    scenario = {
        "format": "armsim/scenario/1",
        "robot": SLIDE,
        "duration": T,
        "integrator": integrator,
        "inputs": {"torque": [force]},
    }
    run = armsim.simulate(scenario)
    return run["q_A_m"][-1], run["qd_A_m_s"][-1]


def ramp(t, since):
    """Position and velocity under a unit force since some time [s]."""
    after = max(0.0, t - since)
    return after**2 / (2 * MASS), after / MASS


def combined(*parts):
    """Position and velocity at the end under forces of a size, each since some time."""
    return tuple(sum(size * ramp(T, since)[i] for size, since in parts) for i in range(2))


FORCES = {
    "3*step(t - 0.3)": combined((3, 0.3)),
    "pulse(t, 0.31, 0.47)": combined((1, 0.31), (-1, 0.78)),
    "50*pulse(t, 0.5, 1e-4)": combined((50, 0.5), (-50, 0.5001)),
    "where(t < 1/3, 2, -1)": combined((2, 0.0), (-3, 1 / 3)),
    "sign(t - 0.7)": combined((-1, 0.0), (2, 0.7)),
    "pulse(t, 0.2, 0.1) - pulse(t, 0.3, 0.1)": combined((1, 0.2), (-2, 0.3), (1, 0.4)),
}
EVENT = 1e-10  # m/s and m: jumps are located to about 1e-12 s, with forces of up to 50 N


@pytest.mark.parametrize("force", FORCES)
@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.handful(2)
def test_adaptive_methods_are_exact_across_jumps_of_an_input(method, force):
    fine, default = end(force, method=method, rtol=1e-9, atol=1e-13), end(force, method=method)
    assert fine == pytest.approx(FORCES[force], abs=EVENT)
    assert default == pytest.approx(FORCES[force], abs=5e-9)  # an event may be met by atol, 1e-9, later


@pytest.mark.parametrize("force", FORCES)
@pytest.mark.handful(3)
def test_rk4_is_exact_across_jumps_within_its_steps(force):
    if "1e-4" in force:
        pytest.skip("a pulse that begins and ends within a step")
    assert end(force, method="rk4", dt=0.07) == pytest.approx(FORCES[force], abs=EVENT)


def test_methods_of_first_order_see_a_jump_at_the_next_step():
    for dt in (0.07, 0.007):
        q, v = end("3*step(t - 0.3)", method="semi_implicit_euler", dt=dt)
        since = next(k * dt for k in range(1000) if k * dt >= 0.3)
        assert v == pytest.approx(3 * (T - since) / MASS, rel=1e-12)
        assert abs(q - FORCES["3*step(t - 0.3)"][0]) < 3 * dt


def test_a_sampled_input_jumps_at_the_sample_on_which_its_pulse_begins_and_ends():
    scenario = {
        "format": "armsim/scenario/1",
        "robot": SLIDE,
        "duration": T,
        "inputs": {"torque": ["pulse(t, 0.1, 0.2)"], "period": 0.1},
    }
    run = armsim.simulate(scenario)
    assert run["qd_A_m_s"][-1] == pytest.approx(0.2 / MASS, rel=1e-12)
