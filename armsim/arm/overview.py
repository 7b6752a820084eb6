"""Overviews of a robot or scenario file: its numbers and what follows from them, as plain data in SI units."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any, Literal

from armsim.actuation import drive_torques, motor_demands
from armsim.actuation import motor as dc
from armsim.arm.overload import above_nominal
from armsim.arm.reach import reach
from armsim.arm.solids import summed
from armsim.control import ComputedTorque, Constant, Controller, Expressions, OpenLoop, Pid, StateFeedback
from armsim.dynamics import mass_matrix, tool_pose
from armsim.files.document import Place
from armsim.files.faults import Fault, listed, refuse
from armsim.files.neighbours import nearest_file
from armsim.files.regular_file import read_regular
from armsim.files.shipped import looks_like_a_file, shipped_names, shipped_path
from armsim.files.yaml_reader import MOST_BYTES
from armsim.loading import build_robot, build_scenario, load_robot_file, load_scenario_file
from armsim.loading.check import scenario_doubts
from armsim.loading.plausible import doubts
from armsim.loading.reference import in_words
from armsim.model import Arm, Joint, Limit
from armsim.plant import Plant, slipping
from armsim.plant.statics import joint_damping, joint_stiffness, steady_droop
from armsim.stability.method_choice import with_method

Given = str | PathLike[str]
FORMAT = re.compile(rb"^format:\s*[\"']?armsim/(robot|scenario|run)\b", re.MULTILINE)


def overview(given: Given, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`robot_overview` or `scenario_overview` of a file; its "kind" says which.

    Args:
        given: A file, or the name of a shipped robot or scenario.
        overrides: Values in place of the file's, by path.

    Raises:
        FileFaults: The file cannot be used; says where and why.
    """
    return scenario_overview(given, overrides) if kind_of(given) == "scenario" else robot_overview(given, overrides)


def kind_of(given: Given) -> Literal["robot", "scenario"]:
    """Whether a file, or a shipped name, is of a robot or of a scenario; a run.yaml counts as a scenario.

    Raises:
        FileFaults: It is neither a file nor a shipped name.
    """
    text = os.fspath(given)
    if looks_like_a_file(text) or os.path.isfile(text):
        try:
            found = FORMAT.search(read_regular(text, MOST_BYTES + 1))
        except (OSError, ValueError):
            return "robot"  # its reader says what is wrong
        return "scenario" if found and found[1] != b"robot" else "robot"
    for kind, word in (("robots", "robot"), ("configs", "scenario")):
        if shipped_path(kind, text):
            return word  # type: ignore[return-value]  # one of the two
    names = [*shipped_names("robots"), *shipped_names("configs")]
    expected = "a robot or scenario file, or the name of a shipped one"
    close = nearest_file(text, names)
    mend = f"did you mean `{close}`?" if close else f"`armsim list` names the shipped ones: {listed(names)}"
    raise refuse(Place(text), "", expected, "neither of them", mend)


def robot_overview(given: Given | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A robot's joints, links and motors, and its statics at the initial pose.

    Args:
        given: A file, the name of a shipped robot, or a file's content as plain data.
        overrides: Values in place of the file's, by path.

    Returns:
        kind, robot, file (None for plain data), gravity [m/s²], mass of links and payload [kg], reach of the tool from the
        first joint [m] (None without end), joints (type, pitch of a screw [m], initial, range, stops, friction, motor), links
        (their `summed` inertia in the user's frame), payload (likewise, in the tool's frame, or None), pose: see `at_pose`, and
        doubts: what `armsim check` warns of (path, expected, found, mend).
    """
    file = load_robot_file(given, overrides)
    arm = build_robot(file.data)
    path = file.sources[0].path if file.sources else None
    pose = at_pose(arm, [float(q) for q in arm.initial])
    return {"kind": "robot", "file": path, **described(arm), "pose": pose, "doubts": said(doubts(arm, file.data))}


def scenario_overview(given: Given | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A scenario's integration, command and log, and the overview of its robot.

    Args:
        given: A file, the name of a shipped scenario, or a file's content as plain data.
        overrides: Values in place of the file's, by path; the robot's with the prefix `robot.`.

    Returns:
        kind, scenario, file, method, picked (why, if armsim picked it), rtol and atol (of an adaptive method, else None), dt [s],
        steps (None of an adaptive method, which has yet to choose them), landings (of an adaptive method, else None),
        duration [s], log_every [s], rows, command (None, or law or inputs with what they are per joint, see `commanded`),
        external (number of wrenches), doubts (those of the robot, too), and under robot: `robot_overview` with the scenario's
        payload, at the scenario's initial pose.
    """
    file = load_scenario_file(given, overrides)
    scenario = with_method(build_scenario(file))
    path = file.sources[0].path if file.sources else None
    robot = file.robot.sources[0].path if file.robot.sources else path
    q, qd = ([float(x) for x in values] for values in (scenario.initial_q, scenario.initial_qd))
    return {
        "kind": "scenario",
        "scenario": scenario.name,
        "file": path,
        "method": scenario.method,
        "picked": scenario.picked or None,
        "rtol": float(scenario.tolerance.rtol) if scenario.adaptive else None,
        "atol": float(scenario.tolerance.atol) if scenario.adaptive else None,
        "dt": scenario.dt,
        "steps": None if scenario.adaptive else scenario.clock.steps,
        "landings": scenario.clock.steps // scenario.land_every if scenario.adaptive else None,
        "duration": scenario.clock.end,
        "log_every": scenario.clock.at(scenario.clock.log_every),
        "rows": scenario.clock.rows,
        "command": commanded(Plant(scenario.arm, scenario.command), file.data),
        "external": len(scenario.external),
        "initial": {"q": q, "qd": qd},
        "robot": {"kind": "robot", "file": robot, **described(scenario.arm), "pose": at_pose(scenario.arm, q)},
        "doubts": said(scenario_doubts(scenario)),
    }


def said(warnings: Sequence[Fault]) -> list[dict[str, str]]:
    """Warnings as plain data: path, expected, found and mend of each."""
    return [{key: getattr(warning, key) for key in ("path", "expected", "found", "mend")} for warning in warnings]


def described(arm: Arm) -> dict[str, Any]:
    """An arm's parts; see `robot_overview`."""
    far = reach(arm)
    payload = None if arm.payload.mass == 0.0 and not any(summed(arm.payload)["about_origin"].values()) else arm.payload
    links = []
    for joint in arm.joints:
        back = joint.frame.inverse
        links.append({"name": joint.name, **summed(joint.inertia.moved(back.rotation, back.position))})
    return {
        "robot": arm.name,
        "gravity": [float(x) for x in arm.gravity],
        "mass": float(sum(inertia.mass for inertia in arm.inertias)),
        "reach": far if math.isfinite(far) else None,
        "joints": [_joint(joint) for joint in arm.joints],
        "links": links,
        "payload": None if payload is None else summed(payload),
    }


def at_pose(arm: Arm, q: Sequence[float]) -> dict[str, Any]:
    """Statics, mass matrix and tool of an arm at a pose.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.

    Returns:
        q, torque that holds it [N·m or N], voltage [V] and current [A] for it (None without a motor), mass_matrix (n rows of
        n, rotors included), tool (position, quaternion, rpy), outside: joints outside their range, slipping: joints
        that dry friction alone does not hold (None for an arm without), and above_nominal, see `armsim.arm.overload`.
    """
    zeros = [0.0] * arm.n
    torque = drive_torques(arm, q, zeros, zeros)
    voltage, current = motor_demands(arm, zeros, torque)
    return {
        **{"q": list(q), "torque": torque, "voltage": voltage, "current": current},
        "mass_matrix": mass_matrix(arm, q),
        "tool": tool_pose(arm, q).as_data(),
        "outside": [
            joint.name for joint, x in zip(arm.joints, q, strict=True) if joint.limit and not joint.limit.holds(x)
        ],
        "slipping": slipping(arm, q),
        "above_nominal": above_nominal(arm, current),
    }


def commanded(plant: Plant, data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The command of a scenario.

    Args:
        plant: The arm with its command.
        data: The scenario file's, as read.

    Returns:
        None where nothing does. For inputs: output, period [s] (None for continuous) and signals (text, one per joint). For
        a controller: law, output, period and delay [s], the reference in words where it moves, feedforward, whether encoders
        measure, and joints. Each has target (None where the reference moves), limit, and what its law has: gains kp, ki and kd;
        its row of K; its command as text; nothing of a function. Under PD, PI and PID also what gains come to at the joint:
        stiffness [N·m/rad or N/m], damping [N·m·s/rad or N·s/m] with the part of it that is back-EMF's, and under pd the steady
        droop that gravity leaves [rad or m].
    """
    command = plant.command
    if isinstance(command, OpenLoop):
        signals = [_signal(signal) for signal in data["inputs"][command.output]]
        return {"output": command.output, "period": command.period, "signals": signals}
    if not isinstance(command, Controller):
        return None
    held = isinstance(command.reference, Constant)
    limits = [None if limit is None else float(limit) for limit in command.limit]
    added = None if command.inputs is None else [_signal(signal) for signal in data["inputs"][command.output]]
    return {
        "law": command.law.name,
        "output": command.output,
        "period": command.period,
        "delay": command.delay * command.period if command.period is not None else 0.0,
        "reference": None if held else in_words(data["control"]["reference"], command.reference),
        "feedforward": data["control"]["feedforward"],
        "encoder": command.encoder is not None,
        "inputs": added,
        "joints": [
            {"name": joint.name, "target": float(target) if held else None, "limit": limit, **own}
            for joint, target, limit, own in zip(
                plant.arm.joints, command.target, limits, _gains(plant, command, data["control"]), strict=True
            )
        ],
    }


def _gains(plant: Plant, command: Controller, control: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a law has of every joint; see `commanded`."""
    law, joints = command.law, range(plant.arm.n)
    if isinstance(law, StateFeedback):
        return [{"K": [float(k) for k in row]} for row in law.K]
    if isinstance(law, Expressions):
        return [{"command": expression.text} for expression in control["command"]]
    if isinstance(law, ComputedTorque):
        return [{"kp": float(law.kp[i]), "kd": float(law.kd[i])} for i in joints]
    if not isinstance(law, Pid):
        return [{} for _ in joints]  # a function has its own
    droop = steady_droop(plant) or [None] * plant.arm.n
    found = []
    for i in joints:
        damping, back_emf = joint_damping(plant, i)
        felt = {"stiffness": joint_stiffness(plant, i), "damping": damping, "back_emf": back_emf, "droop": droop[i]}
        found.append({"kp": float(law.kp[i]), "ki": float(law.ki[i]), "kd": float(law.kd[i]), **felt})
    return found


def _signal(signal: Any) -> str:
    return f"column {signal['column']} of {signal['csv']}" if isinstance(signal, dict) else signal.text


def _joint(joint: Joint) -> dict[str, Any]:
    """A joint with its motor; absent values, and ends at infinity, are None."""
    limit, motor = joint.limit or Limit(-math.inf, math.inf), None
    if joint.motor is not None:
        gain = None if joint.motor.Kp is None else dc.voltage_gain(joint.motor)
        motor = {**asdict(joint.motor), "armature": joint.armature, "torque_per_volt": gain}
    return {
        "name": joint.name,
        "type": joint.type,
        "pitch": joint.pitch if joint.kind.has_pitch else None,
        "initial": joint.initial,
        "lower": limit.lower if limit.has_lower else None,
        "upper": limit.upper if limit.has_upper else None,
        "stiffness": limit.stiffness,
        "stop_damping": None if limit.stiffness is None else limit.damping,
        "viscous": joint.viscous,
        "coulomb": joint.coulomb and asdict(joint.coulomb),
        "motor": motor,
    }
