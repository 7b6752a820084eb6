"""Arms whose motors drive through elastic couplings, against closed forms and event-exact motions."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

import armsim
from armsim.arm.robot_overview import robot_overview
from armsim.errors import ArmsimError

K, J, GEAR, MASS, LEVER = 2000.0, 1e-4, 50.0, 2.0, 0.5
ROTOR, LINK = GEAR * GEAR * J, MASS * LEVER**2


def robot(coupling=None, **motor):
    """A joint with a point mass, without gravity, behind an elastic gear."""
    coupling = {"stiffness": K} if coupling is None else coupling
    joint = {
        "name": "R1",
        "type": "revolute",
        "mdh": {"a": 0, "alpha": 0, "d": 0, "theta": 0},
        "bodies": [{"point": {"mass": MASS, "center": [LEVER, 0, 0]}}],
        "motor": {"Kp": 0.1, "Ra": 1, "gear": GEAR, "rotor_inertia": J, **motor}
        | ({"coupling": coupling} if coupling else {}),
    }
    return {"format": "armsim/robot/1", "name": "two_mass", "gravity": [0, 0, 0], "joints": [joint]}


def scenario(arm, **more):
    return {
        "format": "armsim/scenario/1",
        "robot": arm,
        "duration": 0.2,
        "integrator": {"method": "rk4", "dt": 1e-4},
        "inputs": {"torque": [5]},
        "log": {"every": 1e-2},
    } | more


def test_resonance_and_antiresonance_are_those_of_two_masses():
    model = armsim.linearize(scenario(robot()))
    swings = max(abs(mode.rate.imag) for mode in model.modes())
    assert swings == pytest.approx(math.sqrt(K * (1 / ROTOR + 1 / LINK)), rel=1e-9)
    # from the motor's torque to its own position the link is a vibration absorber
    s = 1j * math.sqrt(K / LINK)
    out = np.linalg.solve(s * np.eye(4) - model.A, model.B[:, 0])
    assert abs(out[model.states.index("q_motor_R1")]) < 1e-9 * abs(out[model.states.index("q_R1")])


def test_the_overview_of_an_arm_tells_the_frequencies_of_its_linear_equations():
    changes = {"gravity": [0, 0, 0], "joints[R2].motor.rotor_inertia": 0.1}
    changes["joints[R2].motor.coupling"] = {"stiffness": 3000, "backlash": 0.0}
    (facts,) = robot_overview("arm5", changes).couplings
    given = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 0.1, "inputs": {"torque": [0] * 5}}
    model = armsim.linearize(given, overrides={f"robot.{path}": value for path, value in changes.items()})
    swings = max(abs(mode.rate.imag) for mode in model.modes())
    assert facts.name == "R2"
    assert math.tau * facts.resonance == pytest.approx(swings, rel=1e-9)
    s = 1j * math.tau * facts.antiresonance
    out = np.linalg.solve(s * np.eye(len(model.A)) - model.A, model.B[:, 1])
    assert abs(out[model.states.index("q_motor_R2")]) < 1e-9 * abs(out[model.states.index("q_R2")])
    assert facts.ratio == pytest.approx((facts.resonance / facts.antiresonance) ** 2 - 1, rel=1e-9)


def test_stiff_couplings_tend_to_the_rigid_arm_at_first_order_of_the_compliance():
    # the centre of mass moves as the rigid arm; once the swing has settled the link is behind it by its share of the twist
    wanted = armsim.simulate(scenario(robot(coupling={})))["q_R1_rad"][-1]
    twist = 5.0 * LINK / (ROTOR + LINK)
    for k in (2e4, 2e5, 2e6):
        tight = {"method": "rodas", "rtol": 1e-10, "atol": 1e-12}
        run = armsim.simulate(scenario(robot({"stiffness": k, "damping": 100.0}), integrator=tight))
        behind = wanted - run["q_R1_rad"][-1]
        assert behind == pytest.approx(ROTOR / (ROTOR + LINK) * twist / k, rel=1e-4)


def exact_backlash(torque, play, duration, q=0.0, k=K, kp=0.0, kd=0.0, b=0.0):
    """The same motion by matrix exponentials, switched where a flank is met or left: x = (q, qd, theta, thetad, 1).

    The motor's torque is `torque` - kp q - kd qd; b is the rotor's viscous friction.
    """

    def matrix(side):
        A = np.zeros((5, 5))
        A[0, 1] = A[2, 3] = 1.0
        A[3, 0], A[3, 1], A[3, 3], A[3, 4] = -kp / ROTOR, -kd / ROTOR, -b / ROTOR, torque / ROTOR
        if side:
            for row, sign, inertia in ((1, 1.0, LINK), (3, -1.0, ROTOR)):
                A[row, 0] -= sign * k / inertia
                A[row, 2] += sign * k / inertia
                A[row, 4] -= sign * k * side * play / 2 / inertia
        return A

    def beyond(x, side):  # how far within the piece
        twist = x[2] - x[0]
        return side * twist - play / 2 if side else play / 2 - abs(twist)

    t, x, side, switches = 0.0, np.array([q, 0.0, q, 0.0, 1.0]), 0, 0
    while t < duration:
        step = 1e-4
        after = expm(matrix(side) * step) @ x
        if t + step >= duration:
            step = duration - t
            after = expm(matrix(side) * step) @ x
        if beyond(after, side) < 0.0:
            low, high = 0.0, step
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if beyond(expm(matrix(side) * middle) @ x, side) >= 0.0 else (low, middle)
            t, x = t + high, expm(matrix(side) * high) @ x
            side = 0 if side else int(np.sign(x[2] - x[0]))
            switches += 1
        else:
            t, x = t + step, after
    return x, switches


@pytest.mark.parametrize("method", ["rk4", "rk54", "rodas"])
@pytest.mark.handful(1)
def test_backlash_is_that_of_an_event_exact_motion(method):
    integrator = {"method": method, **({"dt": 1e-4} if method == "rk4" else {"rtol": 1e-11, "atol": 1e-13})}
    arm = robot({"stiffness": K, "backlash": 0.01})
    run = armsim.simulate(scenario(arm, duration=0.2, integrator=integrator))
    wanted, switches = exact_backlash(5.0, 0.01, 0.2)
    assert switches >= 3
    found = [run[name][-1] for name in ("q_R1_rad", "qd_R1_rad_s", "q_motor_R1_rad", "qd_motor_R1_rad_s")]
    np.testing.assert_allclose(found, wanted[:4], rtol=0, atol=1e-8)


SOFT, KP, KD, VISCOUS, PLAY = (
    400.0,
    200.0,
    6.0,
    2e-3,
    0.01,
)  # a position loop closed at the joint; friction at the motor


def loop_with_backlash(duration, **more):
    """A position loop, its encoder at the joint, begun 0.05 rad off its target."""
    arm = robot({"stiffness": SOFT, "backlash": PLAY}, viscous=VISCOUS)
    control = {"law": "pd", "output": "torque", "kp": [KP], "kd": [KD], "target": [0.0]}
    given = scenario(arm, duration=duration, control=control, initial={"q": [0.05]}, **more)
    return armsim.simulate({key: value for key, value in given.items() if key != "inputs"})


@pytest.mark.parametrize("method", ["rk4", "rk54", "rodas"])
@pytest.mark.handful(1)
def test_a_position_loop_with_backlash_is_that_of_an_event_exact_motion(method):
    integrator = {"method": method, **({"dt": 1e-4} if method == "rk4" else {"rtol": 1e-11, "atol": 1e-13})}
    run = loop_with_backlash(0.5, integrator=integrator)
    b = GEAR * GEAR * VISCOUS
    wanted, switches = exact_backlash(0.0, PLAY, 0.5, q=0.05, k=SOFT, kp=KP, kd=KD, b=b)
    assert switches >= 5
    found = [run[name][-1] for name in ("q_R1_rad", "qd_R1_rad_s", "q_motor_R1_rad", "qd_motor_R1_rad_s")]
    np.testing.assert_allclose(found, wanted[:4], rtol=0, atol=1e-8)


def test_backlash_keeps_a_position_loop_swinging_as_its_describing_function_says():
    b = GEAR * GEAR * VISCOUS

    def growth(k):  # of the loop whose coupling has stiffness k and no play
        return np.roots([ROTOR * LINK, b * LINK, k * (ROTOR + LINK), k * (b + KD), k * KP])

    low, high = 1e-3 * SOFT, SOFT
    assert growth(low).real.max() > 0.0 > growth(high).real.max()
    for _ in range(60):
        k = (low + high) / 2
        low, high = (k, high) if growth(k).real.max() > 0.0 else (low, k)
    frequency = abs(growth(high)[growth(high).real.argmax()].imag)

    def share(a):  # describing function of a dead zone, Slotine and Li 1991, Applied Nonlinear Control, section 5.2
        ratio = PLAY / 2 / a
        return 1 - 2 / math.pi * (math.asin(ratio) + ratio * math.sqrt(1 - ratio * ratio))

    small, large = PLAY / 2, 100 * PLAY
    for _ in range(60):
        a = (small + large) / 2
        small, large = (a, large) if share(a) < high / SOFT else (small, a)
    run = loop_with_backlash(60.0, integrator={"method": "rk4", "dt": 1e-3}, log={"every": 1e-3})
    late = run["t_s"] > 40.0
    twist = (run["q_motor_R1_rad"] - run["q_R1_rad"])[late]
    rises = np.flatnonzero((twist[:-1] < 0.0) & (twist[1:] >= 0.0))
    assert abs(twist).max() == pytest.approx(small, rel=0.03)  # what its harmonics leave
    assert math.tau * (len(rises) - 1) / ((rises[-1] - rises[0]) * 1e-3) == pytest.approx(frequency, rel=0.01)


def test_losses_of_a_gear_behind_a_stiff_coupling_are_those_of_a_rigid_one():
    given = {"efficiency": 0.7, "inductance": 2e-3, "limits": {"voltage": 12.0}}
    tight = {"method": "rodas", "rtol": 1e-9, "atol": 1e-11}
    ends = []
    for coupling in ({}, {"stiffness": 2e7, "damping": 500.0}):
        run = armsim.simulate(scenario(robot(coupling, **given), inputs={"voltage": [20]}, integrator=tight))
        ends.append([run["q_R1_rad"][-1], run["qd_R1_rad_s"][-1], run["current_R1_A"][-1]])
    np.testing.assert_allclose(*ends, rtol=1e-4)  # a twist of 1e-7 rad, and its rate's back-EMF


def test_implicit_midpoint_conserves_the_energy_of_a_coupling():
    arm = robot({"stiffness": K})
    more = {"integrator": {"method": "implicit_midpoint", "dt": 1e-3}, "duration": 1.0, "initial": {"qd": [1]}}
    run = armsim.simulate(scenario(arm, **more))
    twist = run["q_motor_R1_rad"] - run["q_R1_rad"]
    work = 5.0 * (run["q_motor_R1_rad"] - run["q_motor_R1_rad"][0])
    energy = run["kinetic_energy_J"] + K * twist**2 / 2 - work
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


def test_a_run_begins_with_the_torque_that_holds_the_joint():
    arm = robot({"stiffness": 200.0, "backlash": 0.02}) | {"gravity": [0, -9.81, 0]}
    run = armsim.simulate(scenario(arm, inputs={"torque": [MASS * 9.81 * LEVER]}))
    assert run["torque_coupling_R1_Nm"][0] == pytest.approx(MASS * 9.81 * LEVER, rel=1e-12)
    assert run["q_motor_R1_rad"][0] == pytest.approx(MASS * 9.81 * LEVER / 200.0 + 0.01, rel=1e-12)
    np.testing.assert_allclose(run["q_R1_rad"], 0.0, atol=1e-12)


@pytest.mark.parametrize(("on", "column"), [("motor", "q_motor_R1_rad"), ("joint", "q_R1_rad")])
@pytest.mark.handful(1)
def test_encoders_on_the_motor_measure_the_rotor(on, column):
    # a spring of gain kp on the rotor alone, against one on the joint: the static twist under a load tells them apart
    arm = robot({"stiffness": 100.0, "damping": 3.0}) | {"gravity": [0, -9.81, 0]}
    control = {"law": "pd", "output": "torque", "kp": [50], "kd": [10], "target": [0.0]}

    def load(q):
        return MASS * 9.81 * LEVER * math.cos(q)

    given = scenario(arm, duration=8, control=control | {"encoder": {"on": on}}, integrator={"method": "rodas"})
    run = armsim.simulate({key: value for key, value in given.items() if key != "inputs"})
    q = run["q_R1_rad"][-1]
    assert run[column][-1] == pytest.approx(-load(q) / 50, rel=1e-5)
    assert run["q_motor_R1_rad"][-1] - q == pytest.approx(load(q) / 100, rel=1e-5)


def test_friction_before_and_behind_the_coupling_sticks_by_itself():
    arm = robot({"stiffness": K}, coulomb=0.02)  # 1 N m at the joint's side
    arm["joints"][0]["friction"] = {"coulomb": 3.0}
    run = armsim.simulate(scenario(arm, inputs={"torque": [2.0]}, integrator={"method": "rk54"}))
    assert (run["qd_R1_rad_s"] == 0.0).all()  # the coupling passes on 2 (2 - 1) N m at most
    assert run["q_motor_R1_rad"].max() > 0.0
    assert run["qd_motor_R1_rad_s"][-1] == 0.0


@pytest.mark.parametrize("backlash", [0.0, 0.01])
@pytest.mark.handful(1)
def test_lanes_and_the_interpreter_have_the_bits_of_one_run(backlash):
    given = scenario(robot({"stiffness": K, "damping": 1.0, "backlash": backlash}), duration=0.02)
    path = "robot.joints[R1].motor.coupling.stiffness"
    many = armsim.simulate_many(given, {path: [1000.0, K, 5000.0]})
    run = armsim.simulate(given)
    assert many.q[1, 0] == run["q_R1_rad"][-1]
    slow = armsim.simulate(given, engine="python")
    for name in ("q_R1_rad", "q_motor_R1_rad", "torque_coupling_R1_Nm"):
        assert (run[name] == slow[name]).all()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"rotor_inertia": 0}, "rotor_inertia"),
        ({"coupling": {"stiffness": 0}}, "stiffness"),
        ({"model": "dynamechs"}, "coupling"),
    ],
)
def test_couplings_that_cannot_be_are_refused(change, word):
    arm = robot()
    arm["joints"][0]["motor"] |= change
    with pytest.raises(ArmsimError, match=word):
        armsim.simulate(scenario(arm))


def test_no_joint_has_the_name_of_a_rotor():
    arm = robot()
    arm["joints"].append(robot(coupling={})["joints"][0] | {"name": "motor_R1"})
    with pytest.raises(ArmsimError, match="motor_"):
        armsim.simulate(scenario(arm, inputs={"torque": [5, 0]}))


def test_a_regulator_of_an_arm_with_elastic_couplings_is_refused():
    with pytest.raises(ArmsimError, match="elastic"):
        armsim.linearize(scenario(robot())).lqr(q=1.0, r=1.0)


def test_a_joint_that_mimics_another_has_no_coupling():
    arm = robot()
    first = robot(coupling={})["joints"][0] | {"name": "R0"}
    del first["motor"]
    arm["joints"] = [first, arm["joints"][0] | {"mimic": {"joint": "R0"}}]
    with pytest.raises(ArmsimError, match="coupling"):
        armsim.simulate(scenario(arm))
