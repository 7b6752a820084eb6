"""Elastic couplings together with what else an arm may have, against closed forms and event-exact motions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import armsim
from armsim import FileFaults

K, D, MASS, GEAR, ROTOR = 600.0, 4.0, 1.5, 20.0, 2e-3
ARMATURE = GEAR**2 * ROTOR


def part(name="J", type="prismatic", mass=MASS, friction=None, motor=None, **more):
    coupling = {"stiffness": K, "damping": D}
    drive = {"Kp": 0.1, "Ra": 1, "gear": GEAR, "rotor_inertia": ROTOR, "coupling": coupling, **(motor or {})}
    body = {"point": {"mass": mass, "center": [0, 0, 0]}}
    return {
        "name": name,
        "type": type,
        "mdh": {},
        "bodies": [body],
        "friction": friction or {},
        "motor": drive,
        **more,
    }


def scenario(*joints, method="rk54", dt=1e-4, robot=None, **more):
    arm = {"format": "armsim/robot/1", "name": "arm", "gravity": [0, 0, 0], "joints": [*joints], **(robot or {})}
    steps = {"rtol": 1e-11, "atol": 1e-13} if method in ("rk54", "rodas") else {"dt": dt}
    head = {"format": "armsim/scenario/1", "robot": arm, "duration": 0.4, "integrator": {"method": method, **steps}}
    return {**head, "inputs": {"torque": [9.0]}, "log": {"every": 0.01}, **more}


def two_masses(mass, force, duration, x):
    """Joint, its velocity, rotor, its velocity, by a matrix exponential."""
    A = np.zeros((5, 5))
    A[0, 1] = A[2, 3] = 1.0
    for row, sign, inertia in ((1, 1.0, mass), (3, -1.0, ARMATURE)):
        A[row, :4] = sign * np.array([-K, -D, K, D]) / inertia
    A[3, 4] = force / ARMATURE
    return (expm(A * duration) @ [*x, 1.0])[:4]


def ends(run, unit="m"):
    return [
        run[f"{kind}_J_{unit}{rate}"][-1]
        for kind, rate in (("q", ""), ("qd", "_s"), ("q_motor", ""), ("qd_motor", "_s"))
    ]


@pytest.mark.parametrize("method", ["rk4", "rk54", "rodas"])
@pytest.mark.handful(1)
def test_a_prismatic_joint_is_two_masses_on_a_spring(method):
    run = armsim.simulate(scenario(part(), method=method))
    assert ends(run) == pytest.approx(two_masses(MASS, 9.0, 0.4, [0.0] * 4), rel=1e-7)


@pytest.mark.slow
def test_a_screw_moves_its_own_inertia_and_its_mass_along_the_pitch():
    pitch, turning = 0.3, 0.05
    body = {"inertia": {"mass": MASS, "center": [0, 0, 0], "about": "com", "xx": 0.06, "yy": 0.06, "zz": turning}}
    run = armsim.simulate(scenario(part(type="screw", pitch=pitch) | {"bodies": [body]}))
    felt = turning + MASS * (pitch / math.tau) ** 2
    assert ends(run, "rad") == pytest.approx(two_masses(felt, 9.0, 0.4, [0.0] * 4), rel=1e-9)


@pytest.mark.parametrize("ratio", [-1.5, 0.5])
@pytest.mark.handful(1)
def test_a_follower_is_moved_by_the_coupling_of_its_leader(ratio):
    follower = {"name": "F", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 0.8}}], "parent": "base"}
    run = armsim.simulate(scenario(part(), follower | {"mimic": {"joint": "J", "ratio": ratio, "offset": 0.1}}))
    assert ends(run) == pytest.approx(two_masses(MASS + ratio**2 * 0.8, 9.0, 0.4, [0.0] * 4), rel=1e-9)
    assert run["q_F_m"][-1] == ratio * run["q_J_m"][-1] + 0.1


@pytest.mark.parametrize("method", ["rk4", "rk54"])
@pytest.mark.handful(1)
def test_a_payload_is_taken_up_by_the_joint_and_not_by_its_rotor(method):
    payload = [{"name": "load", "frame": "tool", "mass": 0.7, "from": 0.15, "to": 0.3}]
    run = armsim.simulate(scenario(part(), method=method, payload=payload))
    x = two_masses(MASS, 9.0, 0.15, [0.0] * 4)
    x[1] *= MASS / (MASS + 0.7)
    x = two_masses(MASS + 0.7, 9.0, 0.15, x)
    assert ends(run) == pytest.approx(two_masses(MASS, 9.0, 0.1, x), rel=1e-7)
    assert abs(run.summary()["audit"]["residual"]) < 1e-7


def test_a_force_on_the_tool_acts_on_the_joint_and_not_on_its_rotor():
    for place in ({"frame": "tool"}, {"link": "J"}):
        run = armsim.simulate(scenario(part(), inputs={"torque": [0.0]}, external=[{**place, "force": [0, 0, 9.0]}]))
        mass, armature = MASS, ARMATURE  # the two masses the other way round
        x = [run[name][-1] for name in ("q_motor_J_m", "qd_motor_J_m_s", "q_J_m", "qd_J_m_s")]
        A = np.zeros((5, 5))
        A[0, 1] = A[2, 3] = 1.0
        A[1, :4] = np.array([-K, -D, K, D]) / armature
        A[3] = np.array([K, D, -K, -D, 9.0]) / mass
        assert x == pytest.approx((expm(A * 0.4) @ [0, 0, 0, 0, 1.0])[:4], rel=1e-9)


@pytest.mark.slow
def test_what_touches_the_world_presses_with_what_the_coupling_passes_on():
    world = {"floor": {"plane": {}, "stiffness": 2e4, "damping": 300}}
    touch = {"world": world, "contacts": [{"frame": "tool", "with": "floor"}]}
    push = {"inputs": {"torque": [-9.0]}, "initial": {"q": [0.01]}, "duration": 3.0}
    damped = part(friction={"viscous": 20.0}, motor={"viscous": 0.05})
    run = armsim.simulate(scenario(damped, method="rodas", **touch, **push))
    assert run["normal_force_tool_floor_N"][-1] == pytest.approx(9.0, rel=1e-6)
    assert run["torque_coupling_J_N"][-1] == pytest.approx(-9.0, rel=1e-6)
    assert run["q_J_m"][-1] == pytest.approx(-9.0 / 2e4, rel=1e-6)
    assert run["q_motor_J_m"][-1] == pytest.approx(-9.0 / 2e4 - 9.0 / K, rel=1e-6)
    assert abs(run.summary()["audit"]["residual"]) < 1e-7


FALLING = {"coulomb": 1.0, "static": 2.0, "stribeck": {"velocity": 0.05, "exponent": 2}}
ON_SHAFT = {"coulomb": 0.02, "static": 0.05, "stribeck": {"velocity": 0.5, "exponent": 1}}


def crawling(times, force, b):
    """Positions of a joint that sticks and slips behind its coupling, and of its rotor, which rubs but moves on.

    Events are located by an integrator of order 8; b is the rotor's viscous friction.
    """

    def law(moves):
        def rates(t, x):
            q, v, theta, speed = x
            passed = K * (theta - q) + D * (speed - v)
            joint = 1.0 + math.exp(-((max(v, 0.0) / 0.05) ** 2))
            rotor = GEAR * (0.02 + 0.03 * math.exp(-GEAR * speed / 0.5)) + b * speed
            return [v, (passed - joint) / MASS if moves else 0.0, speed, (force - rotor - passed) / ARMATURE]

        return rates

    def spare(t, x):
        return 2.0 - K * (x[2] - x[0]) - D * x[3]

    def rest(t, x):
        return x[1] if t > began + 1e-6 else 1.0

    spare.terminal = rest.terminal = True
    rest.direction = -1
    t, x, moves, began = 0.0, np.zeros(4), False, 0.0
    found, starts = np.zeros((len(times), 4)), []
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14, "dense_output": True, "max_step": 0.02}
    while t < times[-1]:
        ran = solve_ivp(law(moves), (t, times[-1]), x, events=rest if moves else spare, **options)
        within = (times >= t) & (times <= ran.t[-1])
        found[within] = ran.sol(times[within]).T
        t, x = ran.t[-1], ran.y[:, -1].copy()
        if t < times[-1]:
            moves, began = not moves, t
            if moves:
                starts.append(t)
            else:
                x[1] = 0.0
    return found, starts


def test_a_joint_sticks_and_slips_behind_its_coupling_while_its_rotor_turns():
    b, force = 300.0, 24.0
    motor = {**ON_SHAFT, "viscous": b / GEAR**2}
    given = scenario(part(friction=FALLING, motor=motor), inputs={"torque": [force]}, duration=2.0)
    run = armsim.simulate(given)
    wanted, starts = crawling(run.t, force, b)
    assert len(starts) >= 3
    for k, name in enumerate(("q_J_m", "qd_J_m_s", "q_motor_J_m", "qd_motor_J_m_s")):
        assert run[name][1:] == pytest.approx(wanted[1:, k], abs=1e-8 * (1 if k % 2 == 0 else 30))
    assert 0.02 < (run["qd_J_m_s"] == 0.0).mean() < 0.9
    assert abs(run.summary()["audit"]["residual"]) < 1e-8


@pytest.mark.slow
def test_tuning_an_elastic_drive_finds_what_its_runs_say(tmp_path):
    control = {"law": "pd", "output": "torque", "kp": [40], "kd": [8], "target": [0.1]}
    given = scenario(part(), method="rk4", dt=1e-3, duration=1.0, control=control, inputs=None)
    found = armsim.tune(given, {"control.kp": "10:2000"}, "itae", folder=tmp_path / "t", trials=40)
    (kp,) = found.values.values()
    there = [
        armsim.simulate(given, {"control.kp": [x]}, measure=["itae_J"]).measures["itae_J"] for x in (kp, kp / 2, 2 * kp)
    ]
    assert there[0] <= min(there)


def test_the_shipped_drive_crawls_where_it_should_and_glides_when_it_is_quick():
    run = armsim.simulate("crawl")
    moves = run["qd_R1_rad_s"] != 0.0
    starts = run.t[1:][moves[1:] & ~moves[:-1]]
    assert len(starts) > 10
    # in a cycle the rotor turns as far as the joint slips, so that the mean speed of the slips is the reference's
    steps = np.diff(run["q_R1_rad"][np.searchsorted(run.t, starts[1:])])
    assert steps.mean() / np.diff(starts[1:]).mean() == pytest.approx(0.03, rel=0.02)
    assert "falls with the speed" in " ".join(run.advice.warnings)
    quick = armsim.simulate("crawl", {"control.reference.q": ["0.3*t"]})
    assert (quick["qd_R1_rad_s"][quick.t > 0.5] > 0.0).all()
    assert not quick.advice.warnings


@pytest.mark.slow
def test_encoders_of_continuous_control_say_where_they_are_and_nothing_else():
    control = {"law": "pd", "output": "torque", "kp": [40], "kd": [8], "target": [0.1]}
    given = scenario(part(), inputs=None, control={**control, "encoder": {"on": "motor", "seed": 0}}, duration=0.1)
    assert armsim.simulate(given).status == "complete"
    with pytest.raises(FileFaults, match="sampled control"):
        armsim.simulate(given, {"control.encoder.filter": 0.01})
