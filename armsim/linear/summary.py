"""A linear model as plain data, which the command line prints, and as arrays for a file."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from armsim.linear.model import LinearModel
from armsim.linear.modes import Mode
from armsim.linear.regulator import Regulator
from armsim.linear.system import LinearSystem
from armsim.stability.step_modes import stable_steps


def summarize(
    model: LinearModel, sampled: LinearSystem | None, regulator: Regulator | None, bode: str | None = None
) -> dict[str, Any]:
    """A model as plain data: the `--json` of `armsim linearize`.

    Args:
        model: The model.
        sampled: The model in discrete time, if it is asked for.
        regulator: A regulator, if it is asked for.
        bode: The joint whose loop's frequency response is asked for.
    """
    about, joints = model.about, model.about.plant.arm.joints
    return {
        "scenario": model.scenario.name,
        "robot": about.plant.arm.name,
        "place": model.place,
        "time": about.t,
        "equilibrium": model.is_equilibrium,
        "unstable": model.unstable_pose,
        "joints": [
            {"name": j.name, "type": j.type, "q": q, "qd": qd, "qdd": qdd, "command": u, "held": held}
            for j, q, qd, qdd, u, held in zip(joints, about.q, about.qd, about.qdd, about.u, about.held, strict=True)
        ],
        "output": model.inputs[0].partition("_")[0],
        "driven": about.plant.command is not None,
        "controllable": {
            "states": int(model.free.sum()),
            "reached": model.controllable,
            "out_of_reach": [_mode(mode) for mode in model.uncontrollable()],
        },
        **_system(model),
        "mass_matrix": model.mass_matrix.tolist(),
        "stable_steps": {name: None if math.isinf(h) else h for name, h in stable_steps(about).items()},
        "sampled": None if sampled is None else _system(sampled),
        "closed_loop": None if model.closed_loop is None else _system(model.closed_loop),
        "margins": {name: asdict(loop.margins) for name, loop in model.loops.items()} or None,
        "bode": None if bode is None else _bode(model, bode),
        "lqr": None if regulator is None else _regulator(regulator),
    }


def arrays(model: LinearModel, sampled: LinearSystem | None, regulator: Regulator | None) -> dict[str, Any]:
    """A model as arrays by name: A, B, C, D, M, names, the operating point; `sampled_`, `closed_` and `K` where there are any."""
    about = model.about
    found: dict[str, Any] = {
        **dict(zip("ABCD", model.abcd, strict=True)),
        **{name: np.array(getattr(model, name)) for name in ("states", "inputs", "outputs", "free")},
        **{name: np.array(getattr(about, name)) for name in ("t", "q", "qd", "qdd", "u", "M")},
    }
    for name, system in (("sampled", sampled), ("closed", model.closed_loop)):
        if system is not None:
            found |= {f"{name}_{letter}": matrix for letter, matrix in zip("ABCD", system.abcd, strict=True)}
            found[f"{name}_states"] = np.array(system.states)
            if system.dt is not None:
                found[f"{name}_dt"] = np.array(system.dt)
    if regulator is not None:
        found |= {"K": regulator.K, "kp": regulator.joints[:, 0], "kd": regulator.joints[:, 1]}
    return found


def _system(system: LinearSystem) -> dict[str, Any]:
    return {
        "dt": system.dt,
        "states": list(system.states),
        "inputs": list(system.inputs),
        "outputs": list(system.outputs),
        **{letter: matrix.tolist() for letter, matrix in zip("ABCD", system.abcd, strict=True)},
        "modes": [_mode(mode) for mode in system.modes()],
    }


def _mode(mode: Mode) -> dict[str, Any]:
    return {
        "rate": [mode.rate.real, mode.rate.imag],
        "z": None if mode.z is None else [mode.z.real, mode.z.imag],
        "words": mode.words,
        "time_constant": mode.time_constant,
        "frequency": mode.frequency,
        "damping": mode.damping,
        "joints": mode.joints,
    }


def _bode(model: LinearModel, joint: str) -> dict[str, Any]:
    """The response at 1, 2 and 5 of every decade about the crossovers."""
    loop = model.loops[joint]
    low, *_, high = loop.frequencies
    every = (float(f"{digit}e{power}") for power in range(-20, 20) for digit in (1, 2, 5))
    asked = [f for f in every if low <= f <= high]
    return {"joint": joint, **{name: x.tolist() for name, x in loop.bode(asked)._asdict().items()}}


def _regulator(regulator: Regulator) -> dict[str, Any]:
    extra, closed = regulator.extra_cost, regulator.closed()
    return {
        "weights": regulator.given,
        "period": regulator.period,
        "K": regulator.K.tolist(),
        "states": list(regulator.states),
        "currents": len(regulator.model.states) > 2 * regulator.about.n,
        "delay": regulator.delay,
        "stable": closed.stable,
        "modes": [_mode(mode) for mode in closed.modes()],
        "control": regulator.full_control,
        "joints": {
            "kp": regulator.joints[:, 0].tolist(),
            "kd": regulator.joints[:, 1].tolist(),
            "modes": [_mode(mode) for mode in regulator.closed_by_joints.modes()],
            "extra_cost": extra if math.isfinite(extra) else None,
            "offset": regulator.offset.tolist(),
            "control": regulator.control,
        },
    }
