"""armsim: the dynamics of robot arms, from one YAML file.

    arm = armsim.load_robot("robots/arm5.yaml")
    tau = arm.inverse_dynamics(q, qd, qdd)
    run = armsim.simulate("configs/arm5_hold.yaml", overrides={"control.kp[0]": 80})

Public names are imported when they are first used, so that `import armsim` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; typing itself would take longer to import than all else here
if TYPE_CHECKING:
    from armsim.arm.planned import reference
    from armsim.arm.pose_search import NoSolution
    from armsim.arm.robot import Robot, load_robot
    from armsim.batches.gradients import Gradients, sensitivity
    from armsim.batches.prepare import Prepared, prepare
    from armsim.batches.runs import Runs
    from armsim.batches.simulate_many import simulate_many
    from armsim.control.function import Told
    from armsim.convergence.converge import converge
    from armsim.derivation.derive import Derivation, derive
    from armsim.errors import ArmsimError, Diverged, FileFaults, ShapeError, UsageError
    from armsim.exporting.export import export
    from armsim.figures.animation import animate
    from armsim.figures.plot import plot
    from armsim.figures.robot_picture import draw
    from armsim.identification.excite import excite
    from armsim.identification.identification import Identification
    from armsim.identification.identify import identify
    from armsim.linear.linearize import linearize
    from armsim.planning.plan import plan
    from armsim.planning.result import MotionPlan
    from armsim.recording.compare import compare
    from armsim.recording.follow import follow
    from armsim.recording.forward_model import ForwardModel
    from armsim.recording.load_run import load_run
    from armsim.recording.record import record
    from armsim.recording.replay import replay
    from armsim.reports.run_page import report
    from armsim.simulation.run import Run
    from armsim.simulation.simulate import simulate
    from armsim.studies.sweep import sweep
    from armsim.tuning.result import TuningResult
    from armsim.tuning.tune import tune
    from armsim.version import __version__ as __version__  # for mypy, exported
    from armsim.viewing.view import view
else:

    def __getattr__(name: str) -> object:
        import armsim.display as display
        from armsim.door import opened

        display.notebook = _notebook
        return opened(__name__, _HOMES)(name)


__all__ = [
    "ArmsimError",
    "Derivation",
    "Diverged",
    "FileFaults",
    "ForwardModel",
    "Gradients",
    "Identification",
    "MotionPlan",
    "NoSolution",
    "Prepared",
    "Robot",
    "Run",
    "Runs",
    "ShapeError",
    "Told",
    "UsageError",
    "animate",
    "compare",
    "converge",
    "export",
    "derive",
    "draw",
    "excite",
    "follow",
    "identify",
    "linearize",
    "load_robot",
    "load_run",
    "plan",
    "plot",
    "prepare",
    "record",
    "reference",
    "replay",
    "report",
    "sensitivity",
    "simulate",
    "simulate_many",
    "TuningResult",
    "tune",
    "view",
    "sweep",
]

_HOMES = {
    "version": "__version__",
    "errors": "ArmsimError Diverged FileFaults ShapeError UsageError",
    "control.function": "Told",
    "derivation.derive": "Derivation derive",
    "recording.forward_model": "ForwardModel",
    "identification.identification": "Identification",
    "planning.result": "MotionPlan",
    "arm.pose_search": "NoSolution",
    "arm.robot": "Robot load_robot",
    "simulation.run": "Run",
    "batches.runs": "Runs",
    "figures.animation": "animate",
    "recording.compare": "compare",
    "convergence.converge": "converge",
    "figures.robot_picture": "draw",
    "recording.follow": "follow",
    "identification.excite": "excite",
    "exporting.export": "export",
    "identification.identify": "identify",
    "linear.linearize": "linearize",
    "recording.load_run": "load_run",
    "recording.record": "record",
    "arm.planned": "reference",
    "recording.replay": "replay",
    "reports.run_page": "report",
    "simulation.simulate": "simulate",
    "batches.gradients": "Gradients sensitivity",
    "batches.prepare": "Prepared prepare",
    "planning.plan": "plan",
    "figures.plot": "plot",
    "batches.simulate_many": "simulate_many",
    "viewing.view": "view",
    "studies.sweep": "sweep",
    "tuning.result": "TuningResult",
    "tuning.tune": "tune",
}


def _notebook():
    from armsim.reports import notebook

    return notebook


def __dir__() -> list[str]:
    return sorted({"__version__", *__all__, *(name for name in globals() if name.startswith("__"))})
