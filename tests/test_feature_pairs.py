"""Every two features of robots and scenarios together, on an arm of point masses whose equations fit on a page.

The arm moves in a plane, so a place is a complex number. What acts on its joints is worked out from the rows of a run by the
equations of docs/motors.md and docs/friction.md, and the motion of the masses by d'Alembert's principle; neither shares a line
with armsim. Features are single entries of a table, and pairs are made from it.
"""

from __future__ import annotations

import math
from itertools import combinations, cycle

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS

H, STEPS = 5e-4, 16
TOGETHER = 5  # features a case
QUICK = 30  # cases that are not slow
ON_FLOATS = 3  # steps that Python takes as well, a hundred times slower
L, TIP, WEIGHT = 0.4, 0.3, 0.5  # m, m, kg
LINKS = [[(0.15, 0.8), (0.4 + 0.1j, 0.5)], [(0.1 - 0.05j, 0.6), (0.25, 0.4)]]  # place in the link, mass
START, SPEED, TARGET = (0.4, -0.502), (0.8, -1.1), (0.9, -0.1)
KP, RA, KE = 0.05, 0.8, 0.06

ALONE = {  # every choice that a feature may make; an arm with none of the features
    "gear": 8.0,
    "efficiency": None,
    "coulomb": None,
    "motor_coulomb": None,
    "viscous": 0.0,
    "motor_viscous": 0.0,
    "rotor": 0.0,
    "inductance": 0.0,
    "brushes": None,
    "voltage": math.inf,
    "current": math.inf,
    "torque": math.inf,
    "speed": math.inf,
    "stops": None,
    "command": "pd",
    "period": None,
    "push": None,
    "shove": None,
    "payload": 0.0,
    "slides": False,
    "tilt": (0.0, 0.0, 0.0),
    "convention": "mdh",
    "degrees": False,
}
FEATURES = {
    "gear": {"gear": 25.0},
    "reversing gear": {"gear": -8.0},
    "efficiency": {"efficiency": 0.75},
    "coulomb": {"coulomb": (0.3, 0.3)},
    "one-sided coulomb": {"coulomb": (0.0, 0.4)},
    "motor coulomb": {"motor_coulomb": (0.01, 0.03)},
    "viscous on both sides": {"viscous": 0.2, "motor_viscous": 2e-3},
    "rotor inertia": {"rotor": 4e-4},
    "inductance": {"inductance": 1e-3},
    "brush drop": {"brushes": (0.7, 0.4)},
    "limit of voltage": {"voltage": 5.0},
    "limit of current": {"current": 3.0},
    "limit of torque": {"torque": 0.12},
    "limit of speed": {"speed": 6.5},
    "stops": {"stops": (400.0, 2.0)},
    "limited pd": {"command": "limited pd"},
    "pi": {"command": "pi"},
    "clamped pid": {"command": "clamped pid"},
    "sampled": {"period": 4},
    "torque inputs": {"command": "torque"},
    "voltage inputs": {"command": "voltage"},
    "stepped file": {"command": "stepped"},
    "straight-line file": {"command": "lines"},
    "force in the world": {"push": (2, 10)},
    "force in the link": {"shove": (0, 7)},
    "payload": {"payload": WEIGHT},
    "prismatic joint": {"slides": True},
    "tilted base": {"tilt": (0.4, -0.7, 1.1)},
    "standard dh": {"convention": "dh"},
    "origins": {"convention": "origin"},
    "degrees": {"degrees": True},
}
# two features that make the same choice are alternatives: two signs of a gear, two commands, two conventions
PAIRS = {pair: None for pair in combinations(FEATURES, 2) if FEATURES[pair[0]].keys().isdisjoint(FEATURES[pair[1]])}
FIXED = [name for name, method in METHODS.items() if method.adaptive is None]
GAINS = {"pd": {"kp": 30, "kd": 0.5}, "limited pd": {"kp": 30, "kd": 0.5, "limit": 6}, "pi": {"kp": 30, "ki": 900}}
GAINS["clamped pid"] = {**GAINS["pd"], "ki": 900, "integral_limit": 1.2}
SIGNALS = {
    "torque": (lambda t: 3 * math.cos(300 * t), lambda t: -2.0),
    "voltage": (lambda t: 9 * math.cos(300 * t), lambda t: -7.0),
    "stepped": (lambda t: 9.0 if t < 3.2e-3 else -9.0, lambda t: 4.0 if t < 5e-3 else 6.0),
    "lines": (lambda t: 1 + 300 * t, lambda t: -500 * t),
}
PUSH, SHOVE, TURN = 3 - 8j, 5 + 2j, 0.3  # N on the second link; N and N·m on the first
AT = 0.2 + 0.1j  # where, in either link


# ---- the scenario that says so ----


def written(case: dict, folder, steps: int = STEPS) -> dict:
    """A scenario's content."""
    dh, slides = case["convention"] == "dh", case["slides"]
    twisted = [slides and dh, slides and case["convention"] != "origin"]  # whose own z is the plane's -y
    origin = [(L if dh else 0.0), (TIP if dh and not slides else 0.0)]  # where the link's frame stands in it
    turned = 180 / math.pi if case["degrees"] else 1.0

    def vector(i: int, z: complex) -> list[float]:
        return [z.real, 0.0, -z.imag] if twisted[i] else [z.real, z.imag, 0.0]

    def place(i: int, z: complex) -> list[float]:
        return vector(i, z - origin[i])

    def moment(i: int, m: float) -> list[float]:
        return [0.0, m, 0.0] if twisted[i] else [0.0, 0.0, m]

    quarter = turned * math.pi / 2
    frames = {
        "mdh": [{}, {"a": L, **({"alpha": quarter} if slides else {})}],
        "dh": [{"a": L, **({"alpha": quarter} if slides else {})}, {} if slides else {"a": TIP}],
        "origin": [{"axis": [0, 0, 1]}, {"xyz": [L, 0, 0], "axis": [0, -2, 0] if slides else [0, 0, 1]}],
    }[case["convention"]]
    angular = [turned, 1.0 if slides else turned]
    joints = []
    for i, masses in enumerate(LINKS):
        limits = {key: case[key] for key in ("voltage", "current", "torque", "speed") if case[key] < math.inf}
        motor = {
            **{"Kp": KP, "Ke": KE, "Ra": RA, "gear": geared(case, i)},
            **{"viscous": case["motor_viscous"], "rotor_inertia": case["rotor"], "inductance": case["inductance"]},
            **given("efficiency", case["efficiency"]),
            **given("coulomb", named(case["motor_coulomb"], "positive", "negative")),
            **given("brush_drop", named(case["brushes"], "max", "half")),
            **given("limits", limits),
        }
        joint = {"name": "AB"[i], "type": "prismatic" if slides and i else "revolute", case["convention"]: frames[i]}
        joint["bodies"] = [{"point": {"mass": m, "center": place(i, z)}} for z, m in masses]
        dry = given("coulomb", named(case["coulomb"], "positive", "negative"))
        joint["friction"] = {"viscous": case["viscous"], **dry}
        if case["stops"]:
            stiffness, damping = case["stops"]
            ends = [x * angular[i] for x in stop_ends(i)]
            joint |= {"limits": {**dict(zip(("lower", "upper"), ends)), "stiffness": stiffness, "damping": damping}}
            joint["initial"] = sum(ends) / 2
        joints.append(joint | {"motor": motor})
    outward = rotation(case["tilt"])

    def world(z: complex) -> list[float]:
        return (outward @ [z.real, z.imag, 0.0]).tolist()

    units = {"angle": "deg" if case["degrees"] else "rad"}
    robot = {"format": "armsim/robot/1", "name": "plane", "units": units, "convention": case["convention"]}
    robot |= {"gravity": world(-9.81j), "base": {"xyz": [0.1, 0.2, 0.3], "rpy": [x * turned for x in case["tilt"]]}}
    robot |= {"joints": joints, "tool": {"xyz": place(1, TIP)}}
    scenario = {"format": "armsim/scenario/1", "robot": robot, "units": units, "duration": steps * H}
    scenario["initial"] = {"q": np.multiply(START, angular).tolist(), "qd": np.multiply(SPEED, angular).tolist()}
    scenario |= {"log": {"every": H}, **given("payload", case["payload"] and {"mass": case["payload"]})}
    command = case["command"]
    period = {} if case["period"] is None else {"period": case["period"] * H}
    if command in GAINS:
        way = math.copysign(1, case["gear"])
        gains = {key: x * way if key in ("kp", "ki", "kd") else x for key, x in GAINS[command].items()}
        target = np.multiply(TARGET, angular).tolist()
        law = command.split()[-1]
        scenario["control"] = {"law": law, "output": "voltage", "target": target, **gains, **period}
    elif command in ("stepped", "lines"):
        times = [0, 3.2e-3, 5e-3] if command == "stepped" else [0, 1]
        rows = [",".join(map(repr, [t, *(signal(t) for signal in SIGNALS[command])])) for t in times]
        (folder / "inputs.csv").write_text("\n".join(["t_s,A,B", *rows]) + "\n")
        hold = "zero" if command == "stepped" else "linear"
        signals = [{"csv": str(folder / "inputs.csv"), "column": name, "hold": hold} for name in "AB"]
        scenario["inputs"] = {output_of(case): signals, **period}
    else:
        texts = {"torque": ["3*cos(300*t)", -2], "voltage": ["9*cos(300*t)", -7]}[command]
        scenario["inputs"] = {command: texts, **period}
    external = []
    if case["push"]:
        external.append({"link": "B", "point": place(1, AT), "force": world(PUSH), "axes": "world"})
        external[-1] |= dict(zip(("from", "to"), (k * H for k in case["push"])))
    if case["shove"]:
        external.append({"link": "A", "point": place(0, AT), "force": vector(0, SHOVE), "moment": moment(0, TURN)})
        external[-1] |= {"axes": "local", "to": case["shove"][1] * H}
    return {**scenario, **given("external", external)}


def given(key: str, value) -> dict:
    """An entry that is left out where there is nothing to say."""
    return {key: value} if value else {}


def named(values, *names: str) -> dict | None:
    return values and dict(zip(names, values, strict=True))


def rotation(rpy) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(x), math.sin(x)) for x in rpy)
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    return np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]) @ y @ x


def geared(case: dict, i: int) -> float:
    return case["gear"] * (1.0, 0.75)[i]


def stop_ends(i: int) -> tuple[float, float]:
    """Each joint begins a little beyond one of its ends."""
    return ((-1.0, 0.38), (-0.5, 1.0))[i]


def output_of(case: dict) -> str:
    return "torque" if case["command"] in ("torque", "lines") else "voltage"


# ---- what it means ----


def commands(case: dict, order: int, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, float]:
    """What every drive is told in every row, and how far off that may be."""
    command, every = case["command"], case["period"] or 1
    if command not in GAINS:
        rows = [[signal(k // every * every * H) for signal in SIGNALS[command]] for k in range(len(q))]
        return np.array(rows), 0.0
    gains, way = {"kp": 0, "ki": 0, "kd": 0, **GAINS[command]}, math.copysign(1, case["gear"])
    most, clamp = (np.array([-1, 1]) * gains.get(key, math.inf) for key in ("limit", "integral_limit"))
    z, rows = np.zeros(2), []
    for k in range(len(q)):
        e = np.array(TARGET) - q[k]
        if k % every == 0:
            u = np.clip(gains["kp"] * e + np.clip(gains["ki"] * z, *clamp) - gains["kd"] * qd[k], *most)
            z = z + every * H * e  # never driven back from its clamp here
        rows.append(way * u)
        if order > 1 and not case["period"] and k + 1 < len(q):
            z = z - H * (q[k + 1] - q[k]) / 2  # by the trapezium
    slack = 0.0  # Euler methods and samples take the integral step by step as above
    if (
        order > 1 and not case["period"]
    ):  # a clamp met within a step is filled up in the next; else by the trapezium's error
        slack = gains["ki"] * H * (0.5 if "integral_limit" in gains else 2 * H)
    return np.array(rows), slack


def inside(case: dict, volts: float) -> float:
    """Of a terminal voltage, what is left behind the brushes."""
    if not case["brushes"]:
        return volts
    most, half = case["brushes"]
    return math.copysign(max(0.0, abs(volts) - most * (1 - 2 ** (-abs(volts) / half))), volts)


def let_through(case: dict, i: float, speed: float) -> float:
    """Of a current, what the amplifier lets through."""
    most = min(case["current"], case["torque"] / KP)
    i = min(max(i, -most), most)
    return min(i, 0.0) if speed >= case["speed"] else max(i, 0.0) if speed <= -case["speed"] else i


def current(case: dict, i: int, u: float, qd: float, before: float | None) -> float:
    """Through a motor that is told u; or of a coil, a step after it was `before`."""
    n = geared(case, i)
    speed, supply = n * qd, case["voltage"]

    def under(volts: float) -> float:
        settled = (inside(case, volts) - KE * speed) / RA
        if before is None:
            return settled
        return settled + (before - settled) * math.exp(-RA * H / case["inductance"])

    if output_of(case) == "torque":
        wanted = u / (n * KP)
    else:
        wanted = under(min(max(u, -supply), supply))
    found = let_through(case, wanted, speed)
    return found if supply == math.inf else min(max(found, under(-supply)), under(supply))


def dry(case: dict, i: int, motor: float, way: float) -> float:
    """The most that dry friction holds against a direction."""
    side, n = 0 if way > 0 else 1, abs(geared(case, i))
    own, behind = ((case[key] or (0.0, 0.0))[side] for key in ("coulomb", "motor_coulomb"))
    return own + n * behind + (1 - (case["efficiency"] or 1.0)) * abs(motor)


def stop(case: dict, i: int, q: float, qd: float) -> float:
    if case["stops"] is None:
        return 0.0
    k, d = case["stops"]
    lower, upper = stop_ends(i)
    if q < lower:
        return max(0.0, k * (lower - q) - d * qd)
    return min(0.0, k * (upper - q) - d * qd) if q > upper else 0.0


def needed(case: dict, k: int, q, qd, qdd) -> np.ndarray:
    """Joint torques for a motion, by virtual work of the masses' inertia, weight, and what pushes them."""
    turn = np.exp(1j * q[0])
    total = np.array([geared(case, i) ** 2 * case["rotor"] * qdd[i] for i in range(2)])

    def moved(i: int, z: complex) -> tuple[complex, list[complex]]:
        """Acceleration of a place in a link, and its slopes by the joints."""
        w, spin = qd[0], 1j * qdd[0] - qd[0] ** 2
        if i == 0:
            return z * turn * spin, [1j * z * turn, 0.0]
        if case["slides"]:
            arm = L + z - 1j * q[1]
            return turn * (-1j * qdd[1] + 2 * w * qd[1] + arm * spin), [1j * arm * turn, -1j * turn]
        beyond, both = z * turn * np.exp(1j * q[1]), qd[0] + qd[1]
        a = L * turn * spin + beyond * (1j * (qdd[0] + qdd[1]) - both**2)
        return a, [1j * (L * turn + beyond), 1j * beyond]

    masses = [(i, z, m) for i, link in enumerate(LINKS) for z, m in link] + [(1, TIP + 0j, case["payload"])]
    for i, z, m in masses:
        a, slopes = moved(i, z)
        total += [(np.conj(slope) * m * (a + 9.81j)).real for slope in slopes]
    if case["push"] and case["push"][0] <= k < case["push"][1]:
        total -= [(np.conj(slope) * PUSH).real for slope in moved(1, AT)[1]]
    if case["shove"] and k < case["shove"][1]:
        total -= [(np.conj(slope) * SHOVE * turn).real for slope in moved(0, AT)[1]]
        total[0] -= TURN
    return total


def covering(size: int) -> list[list[str]]:
    """Cases of at most that many features in which every two are together: greedily, as many new pairs a case as can be.

    No more than two features of the drive, where one limit hides another.
    """
    left, cases = dict.fromkeys([*FIRST, *PAIRS]), []
    while left:
        case = list(next(iter(left)))
        while len(case) < size:
            fresh = {
                one: sum(ordered(one, other) in left for other in case)
                for one in FEATURES
                if all(ordered(one, other) in PAIRS for other in case) and len(DRIVE.intersection([*case, one])) <= 2
            }
            best = max(fresh, key=fresh.get, default=None)
            if best is None or not fresh[best]:
                break
            case.append(best)
        for pair in combinations(case, 2):
            left.pop(ordered(*pair), None)
        cases.append(sorted(case, key=list(FEATURES).index))
    return cases


def ordered(one: str, other: str) -> tuple[str, str]:
    """A pair as it stands in PAIRS."""
    return (one, other) if (one, other) in PAIRS else (other, one)


DRIVE = {one for one in FEATURES if one.startswith(("limit of", "gear", "reversing", "brush", "inductance"))}
DRIVE |= {one for one, choice in FEATURES.items() if choice.keys() & {"command", "period"}}
FIRST = [("efficiency", "limit of voltage"), ("inductance", "stops"), ("limit of voltage", "torque inputs")]
CASES = [
    pytest.param(features, method, id=f"{', '.join(features)} by {method}", marks=[] if k < QUICK else pytest.mark.slow)
    for k, (features, method) in enumerate(zip(covering(TOGETHER), cycle(FIXED)))
]


@pytest.mark.parametrize(("features", "method"), CASES)
@pytest.mark.handful(16)
def test_features_together_act_as_their_equations_say(features, method, tmp_path):
    """Every two of them are together in a run, five a run; the first thirty have half of the pairs."""
    case = ALONE | {key: choice for one in features for key, choice in FEATURES[one].items()}
    integrator = {"integrator": {"method": method, "dt": H}}
    run = armsim.simulate(written(case, tmp_path) | integrator, force_step=True)
    assert run.status == "complete"
    floats = armsim.simulate(written(case, tmp_path, ON_FLOATS) | integrator, engine="python", force_step=True)
    assert floats.table.tolist() == run.table[: ON_FLOATS + 1].tolist()  # to the bit
    u, slack = commands(case, METHODS[method].order, run.q, run.qd)
    for i in range(2):
        check_motor(case, run, i, u[:, i], slack)
        check_friction_and_stop(case, run, i)
    for k, tau in enumerate(run.tau):
        # a dozen terms of up to 100 N·m, and accelerations solved for with a mass matrix of condition 100
        assert tau == pytest.approx(needed(case, k, run.q[k], run.qd[k], run.qdd[k]), rel=1e-9, abs=1e-10), k
    # a step is made of accelerations between those of the rows at its ends, and of velocities likewise
    for x, rate in ((run.qd, run.qdd), (run.q, run.qd)):
        off = np.abs(np.diff(x, axis=0) / H - (rate[1:] + rate[:-1]) / 2)
        between = np.abs(np.diff(rate, axis=0)) / 2
        assert (off - between).max() < slip(case, method) * np.abs(rate).max()
    # twice what the worst pairs have, those that begin within a stop; a switch within a step is of first order
    lost = run.summary()["audit"]["relative"]
    assert lost < (0.02 if METHODS[method].order == 1 or case["speed"] < math.inf else 1e-4)


def check_motor(case: dict, run, i: int, u: np.ndarray, slack: float) -> None:
    """Current, torque and voltage in every row; a coil's current from that of the row before."""
    name, n, qd = "AB"[i], geared(case, i), run.qd[:, i]
    amps = run[f"current_{name}_A"]
    coil = case["inductance"] > 0 and output_of(case) == "voltage"
    if coil:
        expected = [0.0, *(current(case, i, u[k], qd[k], amps[k]) for k in range(len(u) - 1))]
    else:
        expected = [current(case, i, u[k], qd[k], None) for k in range(len(u))]
        left = [inside(case, volts) for volts in run[f"voltage_{name}_V"]]
        assert left == pytest.approx(RA * amps + KE * n * qd, rel=1e-9, abs=1e-9)  # Newton's method through the brushes
    assert amps == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9 + slack / RA)
    assert run[f"tau_motor_{name}_{unit(case, i)}"] == pytest.approx(n * KP * amps, rel=1e-12, abs=1e-12)


def check_friction_and_stop(case: dict, run, i: int) -> None:
    """At their bounds and against the motion, or whatever holds a joint within them."""
    name, n = "AB"[i], geared(case, i)
    motor, friction, pushed = (
        run[f"{kind}_{name}_{unit(case, i)}"] for kind in ("tau_motor", "tau_friction", "tau_limit")
    )
    viscous = -(case["viscous"] + n * n * case["motor_viscous"]) * run.qd[:, i]
    for k, (q, qd) in enumerate(zip(run.q[:, i], run.qd[:, i], strict=True)):
        held = friction[k] - viscous[k]
        if qd:
            assert held == pytest.approx(-math.copysign(dry(case, i, motor[k], qd), qd), rel=1e-9, abs=1e-12)
        else:
            assert -dry(case, i, motor[k], 1) - 1e-12 <= held <= dry(case, i, motor[k], -1) + 1e-12
        assert pushed[k] == pytest.approx(stop(case, i, q, qd), rel=1e-9, abs=1e-12)


def unit(case: dict, i: int) -> str:
    return "N" if case["slides"] and i else "Nm"


def slip(case: dict, method: str) -> float:
    """By how much of the largest rate that of a step may be beyond those at its ends."""
    dry = case["coulomb"] or case["motor_coulomb"] or case["efficiency"]
    if method in ("explicit_euler", "semi_implicit_euler") and not dry:
        return 1e-11  # it is one of the two
    if case["speed"] < math.inf:
        return math.inf  # the amplifier may switch off and on again at any time within it
    return 0.2 if case["stops"] else 0.1  # one that is met within the step counts in part
