"""External forces as expressions of the motion, and joint springs, against closed forms and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.dynamics import forward_dynamics, frame_jacobian, frame_pose, frame_velocity
from armsim.errors import FileFaults, UsageError
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.plant import make_plant
from armsim.plant.linearization import linearize
from armsim.plant.statics import drive_forces, steady_droop
from armsim.records import from_plain
from armsim.simulation.divergence import Divergence
from armsim.terminal.divergence import divergence

MASS = 2.0
FIXED = [name for name, method in METHODS.items() if method.adaptive is None]


def slider(**joint):
    """A mass on a rail along x; what it is at is `x_tool`."""
    link = {"name": "x", "type": "prismatic", "origin": {"axis": [1, 0, 0]}, "bodies": [{"point": {"mass": MASS}}]}
    return {
        "format": "armsim/robot/1",
        "name": "slider",
        "gravity": [0, 0, 0],
        "convention": "origin",
        "joints": [{**link, **joint}],
    }


def scenario(robot, method="rk4", dt: float | None = 1e-3, **keys):
    integrator = {"method": method, **({} if METHODS[method].adaptive else {"dt": dt})}
    head = {"format": "armsim/scenario/1", "robot": robot, "duration": 1.0, "integrator": integrator}
    return {**head, **keys}


def at_tool(*force, **more):
    return [{"frame": "tool", "force": [*force, *[0] * (3 - len(force))], **more}]


def tightly(method):
    """Tolerances, of an adaptive method."""
    return {"integrator": {"method": method, "rtol": 1e-10, "atol": 1e-12}} if METHODS[method].adaptive else {}


# -- springs


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(3)
def test_a_mass_on_a_spring_swings_about_its_rest(method):
    k, rest, q, v = 50.0, 0.3, -0.2, 1.5
    spring = {"stiffness": k, "rest": rest}
    asked = scenario(slider(spring=spring), method, 2e-5, initial={"q": [q], "qd": [v]}, log={"every": 0.1})
    run = armsim.simulate({**asked, **tightly(method)})
    w = math.sqrt(k / MASS)
    exact = rest + (q - rest) * np.cos(w * run.t) + v / w * np.sin(w * run.t)
    pulled = run["tau_spring_x_N"]
    assert pulled.tolist() == run["tau_x_N"].tolist() == (-k * (run.q[:, 0] - rest)).tolist()
    assert run.q[:, 0] == pytest.approx(exact, abs=1e-3 if METHODS[method].order == 1 else 1e-8)
    work = run.summary()["audit"]["others"]["springs"]
    assert work == pytest.approx(k / 2 * ((q - rest) ** 2 - (run.q[-1, 0] - rest) ** 2), rel=5e-3)


def test_a_spring_is_counted_by_inverse_forward_and_holding_torques(arms):
    robot = armsim.load_robot("arm5", {f"joints[R{i}].spring": {"stiffness": 10 * i, "rest": 0.1} for i in (1, 2, 4)})
    plain = armsim.load_robot("arm5")
    q, qd, qdd = [0.1, -1.0, 0.4, 0.2, -0.1], [0.3, -0.2, 0.5, 0.1, 1.0], [1.0, 2.0, -1.0, 0.5, 3.0]
    stiffness = np.array([10.0, 20.0, 0.0, 40.0, 0.0])
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert tau - plain.inverse_dynamics(q, qd, qdd) == pytest.approx(stiffness * (np.array(q) - 0.1), abs=1e-12)
    assert robot.forward_dynamics(q, qd, tau) == pytest.approx(qdd, abs=1e-9)


def test_a_spring_holds_against_dry_friction_and_a_lossy_gear_as_far_as_they_let_it():
    motor = {"gear": 50, "Kp": 0.05, "Ra": 1.0, "rotor_inertia": 1e-5, "efficiency": 0.8}
    joint = {"spring": {"stiffness": 100, "rest": 0.5}, "friction": {"coulomb": 3.0}, "motor": motor}
    stuck = armsim.simulate(scenario(slider(**joint), initial={"q": [0.471]}))
    loose = armsim.simulate(scenario(slider(**joint), initial={"q": [0.469]}))
    assert (stuck.q == 0.471).all()
    assert loose.q[-1, 0] > 0.469
    assert loose.summary()["audit"]["relative"] < 1e-6


def test_a_springs_numbers_are_in_the_units_of_the_file_and_can_be_varied():
    link = {"type": "revolute", "bodies": [{"point": {"mass": MASS, "center": [0, 1, 0]}}]}
    turned = {**slider(**link, spring={"stiffness": 5, "rest": 30}), "units": {"angle": "deg"}}
    assert read_scenario(scenario(turned)).arm.joints[0].spring.rest == pytest.approx(math.pi / 6)
    asked = scenario(slider(spring={"stiffness": 5, "rest": 0.1}), duration=0.1)
    path, values = "robot.joints[x].spring.stiffness", [1.0, 20.0, 300.0]
    many = armsim.simulate_many(asked, {path: values})
    single = [armsim.simulate(asked, {path: value}).q[-1, 0] for value in values]
    assert many.q[:, 0].tolist() == single


def test_what_a_pd_law_leaves_of_its_way_counts_the_spring():
    control = {"law": "pd", "output": "torque", "kp": [400], "kd": [60], "target": [0.2]}
    asked = scenario(slider(spring={"stiffness": 100, "rest": 0.1}), control=control, duration=3.0)
    (droop,) = steady_droop(make_plant(read_scenario(asked)))
    assert droop == pytest.approx(100 * 0.1 / 400)
    assert 0.2 - armsim.simulate(asked).q[-1, 0] == pytest.approx(droop * 400 / 500, abs=1e-6)


def test_dynamechs_motors_have_no_springs():
    emulated = {f"robot.joints[{i}].motor.model": "dynamechs" for i in range(5)}
    with pytest.raises(UsageError, match="spring"):
        armsim.simulate(
            "arm5_sine",
            {
                **emulated,
                "integrator": {"method": "explicit_euler", "dt": 1e-4},
                "robot.joints[R1].spring": {"stiffness": 5},
            },
        )


def test_linear_equations_have_a_springs_stiffness():
    plant = make_plant(read_scenario(scenario(slider(spring={"stiffness": 5, "rest": 0.1}))))
    assert linearize(plant, 0.0, plant.initial_state([0.3], [0.0])).Fq == [[-5.0]]


# -- forces that follow the motion


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_force_by_position_and_velocity_is_a_spring_and_a_friction(method):
    start = {"initial": {"q": [0.4], "qd": [-1.0]}, "log": {"every": 0.1}, **tightly(method)}
    outside = scenario(slider(), method, external=at_tool("-50*(x_tool - 0.1) - 3*vx_tool"), **start)
    inside = slider(spring={"stiffness": 50, "rest": 0.1}, friction={"viscous": 3})
    runs = [armsim.simulate(asked) for asked in (outside, {**outside, "robot": inside, "external": []})]
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-9)
    works = [run.summary()["audit"] for run in runs]
    assert works[0]["external"] == pytest.approx(works[1]["others"]["springs"] + works[1]["friction"], rel=1e-6)


@pytest.mark.parametrize("engine", ["llvm", "python"])
@pytest.mark.handful(1)
def test_a_force_at_a_frame_is_felt_through_its_transposed_jacobian(engine):
    frames = {"mid": {"link": "R3", "xyz": [0.05, -0.1, 0.2], "rpy": [0.3, -0.5, 0.7]}}
    law = {"force": ["2*x_mid - vz_mid", "q_R2*t", "wy_mid"], "moment": ["z_tool", 0, "qd_R3"], "axes": "local"}
    q, qd = [0.1, -1.0, 0.4, 0.2, -0.1], [0.3, -0.2, 0.5, 0.1, 1.0]
    asked = {
        "format": "armsim/scenario/1", "robot": "arm5", "duration": 0.01, "integrator": {"method": "rk4", "dt": 0.01},
        "initial": {"q": q, "qd": qd}, "external": [{"frame": "mid", **law}],
    }  # fmt: skip
    overrides = {"robot.frames": frames} | {
        f"robot.joints[R{i}].{key}": None for i in range(1, 6) for key in ("motor", "limits", "friction")
    }
    run = armsim.simulate(asked, overrides, engine)
    arm = run.scenario.arm
    mid = arm.frame("mid")
    pose, (w, v) = frame_pose(arm, q, mid), frame_velocity(arm, q, qd, mid)
    force = np.array([2 * pose.position.x - v.z, 0.0, w.y])
    moment = np.array([frame_pose(arm, q, arm.tool).position.z, 0.0, qd[2]])
    R = np.array([[*row] for row in pose.rotation])
    tau = np.array(frame_jacobian(arm, q, mid)).T @ np.concatenate([R @ moment, R @ force])
    assert run.qdd[0] == pytest.approx(forward_dynamics(arm, q, qd, [*tau]), rel=1e-11)
    assert np.abs(np.subtract(run.qdd[0], forward_dynamics(arm, q, qd, [0.0] * 5))).min() > 1e-3


@pytest.mark.slow
def test_engines_and_lanes_agree_to_the_bit_on_a_force_that_follows_the_motion():
    force = at_tool("where(x_tool > wall, -k*(x_tool - wall), 0)", "2*vy_tool")
    asked = scenario(slider(), external=force, parameters={"wall": 0.3, "k": 1e4}, initial={"qd": [2]}, duration=0.2)
    run = armsim.simulate(asked)
    assert run.q.tolist() == armsim.simulate(asked, {}, "python").q.tolist()
    many = armsim.simulate_many(asked, {"parameters.k": [1e3, 1e4], "parameters.wall": [0.1, 0.3]})
    assert many.q[1].tolist() == run.q[-1].tolist()


def bounced(run, wall=0.3, k=1e4, v=2.0):
    """Where a mass is that meets an elastic wall, and when it leaves it."""
    w, met = math.sqrt(k / MASS), wall / v
    left = met + math.pi / w
    return np.where(
        run.t < met, v * run.t, np.where(run.t < left, wall + v / w * np.sin(w * (run.t - met)), wall - v * (run.t - left))
    ), (met, left)  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_wall_is_met_and_left_where_it_stands(method):
    force = at_tool("where(x_tool > 0.3, -1e4*(x_tool - 0.3), 0)")
    asked = scenario(slider(), method, external=force, initial={"qd": [2]}, duration=0.4, log={"every": 1e-2})
    errors, residuals, steps = [], [], (2e-3, 1e-3, 5e-4)
    if METHODS[method].adaptive:
        run = armsim.simulate({**asked, **tightly(method)})
        assert run.q[:, 0] == pytest.approx(bounced(run)[0], abs=1e-7)
        assert abs(run.summary()["audit"]["residual"]) < 1e-6
        return
    for dt in steps:
        run = armsim.simulate({**asked, "integrator": {"method": method, "dt": dt}}, force_step=True)
        errors.append(abs(run.q[-1, 0] - bounced(run)[0][-1]))
        residuals.append(abs(run.summary()["audit"]["residual"]))
    if method == "rk4":  # it locates events
        assert np.log2(errors[0] / errors[2]) / 2 > 3.7
        assert np.log2(residuals[0] / residuals[2]) / 2 > 3.7
    else:
        assert errors[2] < 0.6 * errors[0]


def test_a_force_that_follows_the_time_lasts_for_its_times():
    force = at_tool("6*sin(20*t)", **{"from": 0.2, "to": 0.5})
    run = armsim.simulate(scenario(slider(), external=force, log={"every": 0.1}))
    impulse = 6 / 20 * (math.cos(20 * 0.2) - math.cos(20 * 0.5))
    assert run.qd[-1, 0] == pytest.approx(impulse / MASS, rel=1e-9)
    assert (run.qd[:3] == 0).all()


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].adaptive])
def test_an_adaptive_method_does_not_step_over_a_short_pulse(method):
    run = armsim.simulate(scenario(slider(), method, external=at_tool("3000*exp(-1e4*(t - 0.5)**2)")))
    assert run.qd[-1, 0] == pytest.approx(3000 * 0.01 * math.sqrt(math.pi) / MASS, rel=1e-4)


def test_implicit_steps_and_the_advice_know_how_stiff_a_force_is():
    stiff = scenario(slider(), external=at_tool("-1e8*x_tool - 2e5*vx_tool"), initial={"q": [0.1]})
    with pytest.raises(UsageError, match="dt"):
        armsim.simulate({**stiff, "integrator": {"method": "rk4", "dt": 1e-3}})
    run = armsim.simulate({**stiff, "integrator": {"method": "rodas"}})
    assert sum(run.steps_chosen) < 300
    assert run.q[-1, 0] == pytest.approx(0.0, abs=1e-6)
    plant = make_plant(read_scenario(stiff))
    linear = linearize(plant, 0.0, plant.initial_state([0.1], [0.0]))
    assert (linear.Fq, linear.Fv) == ([[-1e8]], [[-2e5]])


def test_a_run_whose_force_has_no_value_names_it():
    run = armsim.simulate(scenario(slider(), external=at_tool("sqrt(x_tool - 1)")))
    assert "a negative number, in `external`" in divergence(
        from_plain(Divergence, run.summary()["diverged"]), run.scenario
    )


def test_a_target_is_held_against_a_force_that_follows_the_motion():
    control = {"law": "pid", "output": "torque", "kp": [400], "ki": [900], "kd": [60], "target": [0.2]}
    asked = scenario(slider(), control=control, external=at_tool("-100*x_tool"), duration=6.0)
    assert drive_forces(make_plant(read_scenario(asked)), 0.0, [0.2], [0.0], [0.0]) == pytest.approx([20.0])
    assert armsim.simulate(asked).q[-1, 0] == pytest.approx(0.2, abs=1e-4)


@pytest.mark.slow
def test_a_run_with_forces_at_frames_reads_back_as_it_was_saved(tmp_path):
    wrist = {"name": "box", "frame": "wrist", "body": {"box": {"size": [0.1, 0.1, 0.1], "mass": 0.2}}, "from": 0.01}
    asked = {
        "format": "armsim/scenario/1", "robot": "arm5", "duration": 0.02, "integrator": {"method": "rk4", "dt": 1e-3},
        "external": [
            {"frame": "wrist", "force": ["-x_wrist*t", 0, 0], "axes": "local"},
            {"frame": "tool", "moment": [0, 0, 1]},
            {"link": "R2", "point": [0.1, 0, 0], "force": [1, 0, 0]},
        ],
        "payload": [wrist, {"name": "point", "mass": 0.1, "center": [0, 0, 0.1]}],
        "log": {"frames": ["wrist"], "wrenches": ["R2", "wrist", "base"]},
    }  # fmt: skip
    run = armsim.simulate(asked, {"robot.frames": {"wrist": {"link": "R4", "xyz": [0, 0, 0.1]}}})
    run.save(tmp_path / "run")
    back = armsim.load_run(tmp_path / "run")
    assert back.columns == run.columns
    assert back.table.tolist() == run.table.tolist()
    assert armsim.simulate(back.scenario.scenario_data).table.tolist() == run.table.tolist()


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_law_may_ask_where_a_frame_is(period):
    own = {**slider(), "frames": {"mid": {"link": "x", "xyz": [0.1, 0, 0]}}}
    common = {"output": "torque", **({"period": period} if period else {})}
    law = {"law": "expression", "command": ["400*(0.3 - x_mid) - 60*vx_mid"], **common}
    law |= {"model": slider(), "feedforward": "gravity"}  # a model without that frame
    pd = {"law": "pd", "kp": [400], "kd": [60], "target": [0.2], **common}
    runs = [armsim.simulate(scenario(own, control=control)) for control in (law, pd)]
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-12)
    assert runs[0].q[-1, 0] == pytest.approx(0.2, abs=1e-3)


FAULTS = {
    "an unknown frame": [{"frame": "toll", "force": [1, 0, 0]}],
    "neither link nor frame": [{"force": [1, 0, 0]}],
    "both": [{"frame": "tool", "link": "x", "force": [1, 0, 0]}],
    "a signal of no frame": at_tool("-200*x_toll"),
    "a bare signal": at_tool("-200*x"),
    "a comparison alone": at_tool("x_tool > 1"),
    "a parameter of that name": at_tool("x_tool"),
}


@pytest.mark.parametrize("external", FAULTS.values(), ids=FAULTS)
def test_a_force_that_cannot_be_is_explained(external, told):
    parameters = {"x_tool": 1.0} if external == FAULTS["a parameter of that name"] else {}
    with pytest.raises(FileFaults) as caught:
        read_scenario(scenario(slider(), external=external, parameters=parameters))
    told(caught.value)
