"""A linear model as data, which the command line prints, and as arrays for a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.document.base import plain
from armsim.linear.model import LinearModel
from armsim.linear.modes import Mode
from armsim.linear.regulator import Regulator
from armsim.linear.system import LinearSystem
from armsim.records import Json, attributes
from armsim.stability.step_modes import stable_steps


def summarize(
    model: LinearModel, sampled: LinearSystem | None, regulator: Regulator | None, bode: str | None = None
) -> Json:
    """A model as data: the `--json` of `armsim linearize`.

    Args:
        model: The model.
        sampled: The model in discrete time, if it is asked for.
        regulator: A regulator, if it is asked for.
        bode: The joint whose loop's frequency response is asked for.
    """
    about, arm = model.about, model.about.plant.arm.mechanism
    commands = dict(zip(arm.drivers, about.u, strict=True))
    return {
        "scenario": model.scenario.name,
        "robot": about.plant.arm.name,
        "place": model.place,
        "time": about.t,
        "equilibrium": model.is_equilibrium,
        "unstable": model.unstable_pose,
        "joints": [
            {"name": j.name, "type": j.type, "q": q, "qd": qd, "qdd": qdd, "command": commands.get(i), "held": held}
            for i, (j, q, qd, qdd, held) in enumerate(
                zip(arm.joints, about.q, about.qd, about.qdd, about.held, strict=True)
            )
        ],
        "output": model.output,
        "driven": model.driven,
        "controllable": {
            "states": int(model.free.sum()),
            "reached": model.controllable,
            "out_of_reach": _modes(model.uncontrollable()),
        },
        **_system(model),
        "mass_matrix": model.mass_matrix,
        "couplings": [vars(of) for of in model.couplings],
        "stable_steps": stable_steps(about),
        "sampled": None if sampled is None else _system(sampled),
        "closed_loop": None if model.closed_loop is None else _system(model.closed_loop),
        "margins": {name: loop.margins for name, loop in model.loops.items()} or None,
        "bode": bode and {"joint": bode, **model.loops[bode].bode_by_decades()._asdict()},
        "lqr": None if regulator is None else _regulator(regulator),
    }


def arrays(model: LinearModel, sampled: LinearSystem | None, regulator: Regulator | None) -> dict[str, NDArray[Any]]:
    """A model as arrays by name: A, B, C, D, M, names, the operating point; `sampled_`, `closed_` and `K` where there are any."""
    about = model.about
    found = {
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


def _system(system: LinearSystem) -> Any:
    parts = attributes(system, "dt", "states", "inputs", "outputs", *"ABCD")
    return {**parts, "modes": _modes(system.modes())}


def _modes(modes: Sequence[Mode]) -> Any:
    names = "rate", "z", "words", "time_constant", "frequency", "damping", "joints"
    return [attributes(mode, *names) for mode in modes]


def _regulator(regulator: Regulator) -> Any:
    closed, (kp, kd) = regulator.closed(), regulator.joints.T
    return {
        "weights": regulator.given,
        **attributes(regulator, "period", "K", "states"),
        "currents": regulator.inductive,
        "delay": regulator.delay,
        "stable": closed.stable,
        "modes": _modes(closed.modes()),
        "control": plain(regulator.full_control),
        "joints": {
            "kp": kp,
            "kd": kd,
            "modes": _modes(regulator.closed_by_joints.modes()),
            **attributes(regulator, "extra_cost", "offset"),
            "control": plain(regulator.control),
        },
    }
