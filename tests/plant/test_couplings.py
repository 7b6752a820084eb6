"""Joints that mimic others: what drives and brakes them, against one joint in their place, and the forces of their couplings."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import armsim
from armsim.actuation import dry_bounds, unpowered
from armsim.dynamics import InternalWrenches
from armsim.dynamics.kinematics import along
from armsim.errors import FileFaults
from armsim.integrate import METHODS

G = 9.81
MOTOR = {"Kp": 0.05, "Ra": 1.5, "gear": 40, "rotor_inertia": 2e-5}
WHOLE = {**MOTOR, "viscous": 1e-4, "coulomb": {"positive": 0.004, "negative": 0.007}, "efficiency": 0.8}
LIMITED = {**MOTOR, "inductance": 2e-3, "limits": {"voltage": 12, "current": 5, "torque": 0.2, "speed": 60}}
METHODS_AND_STEPS = [(name, None if method.adaptive else 2e-4) for name, method in METHODS.items()]


def block(name, mass, **keys):
    """A block that slides along the world's z axis."""
    return {"name": name, "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": mass}}], **keys}


def robot(*joints, gravity=G, **keys):
    return {"format": "armsim/robot/1", "name": "blocks", "gravity": [0, 0, -gravity], "joints": [*joints], **keys}


def pair(ratio, leader, follower):
    """Two blocks on the base, the second follows the first."""
    mimic = {"mimic": {"joint": "P1", "ratio": ratio, "offset": 0.01}, "parent": "base"}
    return robot(block("P1", 1.2, **leader), block("P2", 0.7, **mimic, **follower))


def one(ratio, **keys):
    """The block that two coupled ones amount to: kinetic energies add, and so does what gravity does."""
    mass = 1.2 + ratio**2 * 0.7
    return robot(block("P1", mass, **keys), gravity=G * (1.2 + ratio * 0.7) / mass)


def scenario(robot, method="rk4", dt: float | None = 2e-4, **keys):
    integrator = {"method": method, **({"rtol": 1e-9, "atol": 1e-11} if dt is None else {"dt": dt})}
    head = {"format": "armsim/scenario/1", "robot": robot, "duration": 0.6, "integrator": integrator}
    return {**head, "initial": {"q": [0.05], "qd": [0.4]}, "log": {"every": 0.01}, **keys}


def reflected_stops(ratio, lower, upper, stiffness, damping):
    """Stops of the follower, as the leader has them."""
    lower, upper = sorted(((lower - 0.01) / ratio, (upper - 0.01) / ratio))
    square = ratio * ratio
    return {"lower": lower, "upper": upper, "stiffness": stiffness * square, "damping": damping * square}


CASES = {  # what the leader and the follower have, and one joint in their place; of the ratio
    "friction": lambda r: (
        {"friction": {"viscous": 3, "coulomb": {"positive": 2, "negative": 1}}},
        {"friction": {"viscous": 5, "coulomb": {"positive": 1.5, "negative": 4}}},
        {
            "friction": {
                "viscous": 3 + 5 * r * r,
                "coulomb": {
                    "positive": 2 + abs(r) * (1.5 if r > 0 else 4),
                    "negative": 1 + abs(r) * (4 if r > 0 else 1.5),
                },
            }
        },
    ),
    "stops": lambda r: (
        {"friction": {"viscous": 1}},
        {"limits": {"lower": -0.15, "upper": 0.12, "stiffness": 4000, "damping": 30}},
        {"friction": {"viscous": 1}, "limits": reflected_stops(r, -0.15, 0.12, 4000, 30)},
    ),
    "spring": lambda r: (
        {},
        {"spring": {"stiffness": 300, "rest": 0.02}},
        {"spring": {"stiffness": 300 * r * r, "rest": (0.02 - 0.01) / r}},
    ),
}


def same(a, b, tolerance):
    for name in ("q", "qd", "qdd"):
        first, second = getattr(a, name), getattr(b, name)
        assert np.abs(first - second).max() <= tolerance * (1 + np.abs(second).max()), name


@pytest.mark.parametrize("ratio", [-1, 0.6])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("method", "dt"), METHODS_AND_STEPS)
@pytest.mark.handful(3)
def test_what_a_follower_has_acts_as_on_one_joint(case, ratio, method, dt):
    leader, follower, alone = CASES[case](ratio)
    coupled = armsim.simulate(scenario(pair(ratio, leader, follower), method, dt))
    same(coupled, armsim.simulate(scenario(one(ratio, **alone), method, dt)), 1e-9)


@pytest.mark.parametrize("ratio", [-1.3, 0.5])
@pytest.mark.parametrize("motor", [WHOLE, LIMITED], ids=["whole", "limited"])
@pytest.mark.parametrize(("method", "dt"), METHODS_AND_STEPS)
@pytest.mark.parametrize("period", [None, 2e-3])
@pytest.mark.handful(3)
def test_a_motor_on_the_follower_drives_the_leader_by_ratio_times_its_gear(motor, ratio, method, dt, period):
    control = {"law": "pid", "output": "voltage", "kp": 40 / ratio, "ki": 30 / ratio, "kd": 1 / ratio, "target": [0.2]}
    control |= {"limit": 20, "integral_limit": 5} | ({} if period is None else {"period": period})
    stops = {"lower": -0.1, "upper": 0.21, "stiffness": 5000, "damping": 20}
    friction = {"friction": {"coulomb": 0.5}}
    coupled = pair(ratio, {"limits": stops, **friction}, {"motor": motor})
    there = {**motor, "gear": ratio * motor["gear"]}
    if "coulomb" in motor and ratio < 0:
        there["coulomb"] = {"positive": motor["coulomb"]["negative"], "negative": motor["coulomb"]["positive"]}
    alone = one(ratio, limits=stops, motor=there, **friction)
    runs = [armsim.simulate(scenario(robot, method, dt, control=control)) for robot in (coupled, alone)]
    same(*runs, 1e-8)
    for name in ("voltage_P1_V", "current_P1_A"):
        assert np.quantile(np.abs(runs[0][name] - runs[1][name]), 0.9) < 1e-7  # at the limit of speed it jumps
    assert abs(runs[0].summary()["audit"]["residual"] - runs[1].summary()["audit"]["residual"]) < 1e-8


def hand(ratio=-1.0, offset=0.02, drive="F1", **follower):
    """A hand on a wrist: two fingers along its y axis, of which one has the motor, and a thumb on a belt."""
    body = {"box": {"size": [0.1, 0.02, 0.02], "mass": 0.2, "center": [0.05, 0.01, 0.005]}}
    finger = {"type": "prismatic", "mdh": {"a": 0.1, "alpha": "-pi/2"}, "bodies": [body], "parent": "R1"}
    motors = {drive: {"motor": WHOLE}}
    thumb = {"name": "T", "type": "revolute", "mdh": {"a": 0.1}, "bodies": [body]}
    joints = [
        {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [body], "motor": {"Kp": 1, "Ra": 1}},
        {**thumb, "mimic": {"joint": "F1", "ratio": 3}},
        {"name": "F1", **finger, **motors.get("F1", {}), "friction": {"coulomb": 1.5}},
        {
            "name": "F2",
            **finger,
            **motors.get("F2", {}),
            "mimic": {"joint": "F1", "ratio": ratio, "offset": offset},
            "friction": {"viscous": 2, "coulomb": {"positive": 1, "negative": 0.3}},
            **follower,
        },
    ]
    frames = {"tip": {"link": "F2", "xyz": [0.1, 0, 0]}}
    return robot(*joints, frames=frames, base={"rpy": [0.3, -0.4, 0]}) | {"gravity": [1, -2, -G]}


def hold(robot, method="rk4", **keys):
    control = {"law": "pd", "output": "voltage", "kp": [8, 90], "kd": [0.5, 2], "target": [0.6, 0.03]}
    integrator = {"method": method, **({} if METHODS[method].adaptive else {"dt": 2e-4})}
    head = {"format": "armsim/scenario/1", "robot": robot, "duration": 0.4, "integrator": integrator}
    initial = {"q": [0, 0.01], "qd": [0.5, 0.1]}
    return {**head, "initial": initial, "control": control, "log": {"every": 0.01}, **keys}


STOPS = {"limits": {"lower": -0.005, "upper": 0.026, "stiffness": 8000, "damping": 40}}
FOLLOWERS = [{}, STOPS, {"spring": {"stiffness": 200, "rest": 0.01}}]
PUSH = [
    {"frame": "tip", "force": [3, -2, 1], "from": 0.1, "to": 0.2},
    {"frame": "tip", "force": ["-20*vx_tip", "5*sin(20*t)", 0]},
]


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4", "rodas"])
@pytest.mark.parametrize("follower", FOLLOWERS, ids=["bare", "stops", "spring"])
@pytest.mark.parametrize(("ratio", "drive"), [(-1.0, "F1"), (-0.6, "F2"), (0.5, "F2")])
@pytest.mark.handful(2)
def test_the_leader_feels_the_couplings_of_its_followers(ratio, drive, follower, method):
    """The leader's own equation: its motor, its friction and the couplings' forces times -ratio give the motion that it has."""
    payload = [{"name": "load", "frame": "tip", "mass": 0.1}]
    run = armsim.simulate(hold(hand(ratio, drive=drive, **follower), method, external=PUSH, payload=payload))
    arm, plant = run.plant.arm, run.plant
    leader, whole = arm.links[2], arm.joints[1]
    for k in range(0, len(run.t), 4):
        t, q, qd, qdd = float(run.t[k]), *(x[k].tolist() for x in (run.q, run.qd, run.qdd))
        held = plant.held(t, SimpleNamespace(ahead=None, held=[], currents=[]))
        motion = InternalWrenches(arm, q, qd, qdd, partial(plant.loads.all_wrenches, t, q, qd, held))
        taken = along(leader, *motion.at("F1")) + leader.armature * qdd[1]
        motor = run["tau_motor_F1_N"][k]
        dry = run["tau_friction_F1_N"][k] - unpowered(whole, q[1], qd[1]).viscous
        own_motor = motor if drive == "F1" else 0.0
        bounds = [dry_bounds(joint, x)[0 if dry < 0 else 1] for joint, x in ((leader, own_motor), (whole, motor))]
        own = unpowered(leader, q[1], qd[1]).viscous + own_motor + dry * bounds[0] / bounds[1]
        felt = -3 * run["tau_coupling_T_Nm"][k] - ratio * run["tau_coupling_F2_N"][k]
        assert abs(taken - own - felt) < 1e-9 * (1 + abs(taken) + abs(own))


def test_columns_have_what_followers_do():
    run = armsim.simulate(hold(hand()))
    for name, ratio, offset, unit in (("T", 3, 0, "rad"), ("F2", -1, 0.02, "m")):
        assert np.array_equal(run[f"q_{name}_{unit}"], ratio * run["q_F1_m"] + offset)
        assert np.array_equal(run[f"qd_{name}_{unit}_s"], ratio * run["qd_F1_m_s"])
        assert np.array_equal(run[f"qdd_{name}_{unit}_s2"], ratio * run["qdd_F1_m_s2"])
    assert run.q.shape[1] == 2
    assert "tau_coupling_F1_N" not in run


def test_formulas_of_measures_and_forces_name_followers():
    asked = ["max(abs(tau_coupling_F2))", "max(q_T)"]
    run = armsim.simulate(hold(hand()), measure=asked)
    assert run.measures[asked[0]] == pytest.approx(np.abs(run["tau_coupling_F2_N"]).max(), rel=0.05)
    assert run.measures[asked[1]] == pytest.approx(run["q_T_rad"].max(), abs=1e-3)
    pushes = [[{"link": "F2", "force": [f"-3*{speed}", 0, 0]}] for speed in ("qd_F1", "qd_T/3")]
    runs = [armsim.simulate(hold(hand(), external=push)) for push in pushes]
    assert np.allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)


def test_both_engines_give_the_same_bits():
    short = {**hold(hand(**STOPS)), "duration": 0.01, "log": {"every": 0.001}}
    native, python = (armsim.simulate(short, engine=engine) for engine in ("llvm", "python"))
    assert np.array_equal(native.table, python.table)


@pytest.mark.slow
def test_lanes_give_the_bits_of_single_runs():
    paths = {"robot.joints[F2].mimic.ratio": [-1.0, -0.5, 2.0], "robot.joints[F2].friction.viscous": [0.0, 1.0, 2.0]}
    runs = armsim.simulate_many(hold(hand()), paths)
    for i in range(3):
        single = armsim.simulate(hold(hand()), overrides={path: values[i] for path, values in paths.items()})
        assert np.array_equal(runs.q[i], single.q[-1])


@pytest.mark.parametrize(("path", "wrong"), [("limits.lower", 0.021), ("mimic.offset", 0.5), ("mimic.ratio", 4.0)])
@pytest.mark.handful(1)
def test_a_range_that_a_follower_does_not_begin_within_is_refused_of_one_run_and_of_many(path, wrong):
    robot, where = hand(**STOPS), f"robot.joints[F2].{path}"
    robot["joints"][2]["initial"] = 0.003
    with pytest.raises(FileFaults, match="a range with the position at which F1 lets F2 begin"):
        armsim.simulate(hold(robot), overrides={where: wrong})
    runs = armsim.simulate_many(hold(robot), {where: [-0.004 if path == "limits.lower" else 0.01, wrong]})
    assert list(runs.status) == ["complete", "refused"]


@pytest.mark.parametrize("ratio", [-1.5, 0.5])
@pytest.mark.parametrize("method", ["rk4", "rodas"])
@pytest.mark.handful(2)
def test_a_payload_that_a_follower_picks_up_shares_the_momentum(ratio, method):
    """In closed form: (m1 + r² m2) v before, and (m1 + r² (m2 + m)) v' after; the impact takes r² m v v' / 2."""
    arm = pair(ratio, {}, {}) | {"gravity": [0, 0, 0], "frames": {"hand": {"link": "P2"}}}
    payload = [{"name": "box", "frame": "hand", "mass": 0.5, "from": 0.2, "to": 0.4}]
    asked = ["work_impact_box", "work_payload_box"]
    run = armsim.simulate(scenario(arm, method, None if method == "rodas" else 2e-4, payload=payload), measure=asked)
    empty, v = 1.2 + ratio**2 * 0.7, 0.4
    after = empty * v / (empty + ratio**2 * 0.5)
    expected = np.where(run.t < 0.2, v, after)
    assert np.abs(run.qd[:, 0] - expected).max() < 1e-12
    assert run.measures["work_impact_box"] == pytest.approx(-(ratio**2) * 0.5 * v * after / 2, rel=1e-12)
    assert run.measures["work_payload_box"] == pytest.approx(-(ratio**2) * 0.5 * after**2 / 2, rel=1e-12)
