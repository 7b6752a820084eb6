"""armsim: the dynamics of serial robot arms, from one YAML file.

    arm = armsim.load_robot("robots/arm5.yaml")
    tau = arm.inverse_dynamics(q, qd, qdd)
    run = armsim.simulate("configs/arm5_hold.yaml", overrides={"control.kp[0]": 80})

Public names are imported when they are first used, so that `import armsim` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from armsim.errors import ArmsimError, Diverged, FileFaults, ShapeError, UsageError
    from armsim.run.compare import compare
    from armsim.run.converge import converge
    from armsim.run.follow import follow
    from armsim.run.forward_model import ForwardModel
    from armsim.run.linearize import linearize
    from armsim.run.record import record
    from armsim.run.replay import replay
    from armsim.run.result import Run
    from armsim.run.robot import Robot, load_robot
    from armsim.run.simulate import simulate

__version__ = "0.1.0"
__all__ = [
    "ArmsimError",
    "Diverged",
    "FileFaults",
    "ForwardModel",
    "Robot",
    "Run",
    "ShapeError",
    "UsageError",
    "compare",
    "converge",
    "follow",
    "linearize",
    "load_robot",
    "record",
    "replay",
    "simulate",
]

_HOMES = {
    "ArmsimError": "errors",
    "Diverged": "errors",
    "FileFaults": "errors",
    "ShapeError": "errors",
    "UsageError": "errors",
    "ForwardModel": "run.forward_model",
    "Robot": "run.robot",
    "Run": "run.result",
    "compare": "run.compare",
    "converge": "run.converge",
    "follow": "run.follow",
    "linearize": "run.linearize",
    "load_robot": "run.robot",
    "record": "run.record",
    "replay": "run.replay",
    "simulate": "run.simulate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"armsim.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
