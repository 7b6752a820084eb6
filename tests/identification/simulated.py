"""Logs of arms with known numbers: a motor turns a rod that gravity pulls, by voltages of several frequencies."""

from __future__ import annotations

import copy

import numpy as np

from armsim.recording.command_history import CommandHistory
from armsim.recording.forward_model import ForwardModel
from armsim.recording.measured_log import MeasuredLog

TRUE = {"viscous": 0.05, "coulomb": 0.3, "Kp": 0.5}
ROD = {
    "format": "armsim/robot/1",
    "name": "rod",
    "joints": [
        {
            "name": "A",
            "type": "revolute",
            "mdh": {"a": 0, "alpha": "pi/2", "d": 0, "theta": 0},
            "friction": {"viscous": 0.05, "coulomb": 0.3},
            "bodies": [{"rod": {"axis": "x", "length": 0.6, "mass": 1.0, "center": [0.3, 0, 0]}}],
            "motor": {"Kp": 0.5, "Ra": 1.0},
        }
    ],
}


def rod(viscous=0.05, coulomb=0.3, Kp=0.5, mass=1.0):
    """The rod with other numbers; friction None for none."""
    robot = copy.deepcopy(ROD)
    joint = robot["joints"][0]
    joint["friction"] = {key: x for key, x in {"viscous": viscous, "coulomb": coulomb}.items() if x is not None}
    joint["motor"]["Kp"] = Kp
    joint["bodies"][0]["rod"]["mass"] = mass
    return robot


def logged(
    robot,
    seconds=6.0,
    rate=250,
    amplitude=8.0,
    noise=0.0,
    bits=0,
    late=0,
    seed=0,
    output="voltage",
    start=(-1.57,),
    offset=0.0,
    held=1,
    step=1e-3,
):
    """A log of a robot from rest.

    Args:
        robot: Its content.
        seconds: Length [s].
        rate: Rows a second, a whole number of steps each.
        amplitude: Of the inputs, one for all or one for each joint.
        noise: Standard deviation of what positions are measured with [rad].
        bits: Of encoders; 0 for none.
        late: Rows by which commands take effect late.
        seed: Of noise, and of the phases of the inputs.
        output: What the inputs are.
        start: Joint positions at the start [rad].
        offset: Of the zeros of the sensors [rad].
        step: Of the simulation [s].
        held: Rows for which a command stays.
    """
    draw, n, rows = np.random.default_rng(seed), len(start), int(seconds * rate)
    t = np.arange(rows) / rate
    inputs = np.zeros((rows, n))
    for i in range(n):
        for frequency in (0.3, 0.7, 1.1, 1.9):
            size, phase = draw.uniform(0.6, 1.4), draw.uniform(0.0, 2.0 * np.pi)
            inputs[:, i] += size / 4.0 * np.sin(2.0 * np.pi * frequency * (1.0 + 0.13 * i) * t + phase)
    inputs = np.repeat(inputs[::held], held, axis=0)[:rows] * amplitude
    model, steps = ForwardModel(robot, step, "rk4", output), round(1.0 / rate / step)
    state, q = model.state(list(start), [0.0] * n), np.zeros((rows, n))
    for k in range(rows):
        q[k] = state[:n]
        for _ in range(steps):
            state = model.step(state, inputs[max(0, k - late)])
    q += offset + noise * draw.standard_normal(q.shape)
    if bits:
        quantum = 2.0 * np.pi / 2**bits
        q = np.round(q / quantum) * quantum
    return MeasuredLog("log.csv", t, q, None, CommandHistory(t, inputs), output, output)


def inside(found, truth, most=1.0):
    """Whether numbers by path are within so many half-widths of what was found."""
    return {path: abs(found[path].value - x) <= most * found[path].within for path, x in truth.items()}
