"""A joint in the summary of a run."""

from __future__ import annotations

from dataclasses import field

from armsim.actuation import motor as dc
from armsim.actuation import sticks
from armsim.control import Controller
from armsim.model.angles import POSITION
from armsim.plant.statics import steady_droop
from armsim.records import OMIT, PARTS, record
from armsim.simulation.merit import JointFigures, of_joint
from armsim.simulation.result import Result


@record
class SteadyDroop:
    """The steady-state error under gravity by pd control.

    Attributes:
        droop: In [rad or m]; None where the joint's stiffness is not positive.
    """

    droop: float | None = field(metadata=POSITION)


@record(kw_only=True)
class JointSummary:
    """A joint at the end of a run.

    Attributes:
        name: Its name.
        type: Of `JOINT_TYPES`.
        q: Position [rad or m].
        target: Position that its reference wants [rad or m]; None without feedback.
        error: target - q [rad or m].
        at_rest: Whether it is exactly at rest; None without dry friction.
        steady: Its droop; None under any other control than pd.
        peak_torque: Largest motor torque over all steps [N·m or N].
        peak_current: Largest motor current [A]; None without a motor that has one.
        figures: Of merit; None of a run without them.
    """

    name: str
    type: str
    q: float = field(metadata=POSITION)
    target: float | None = field(default=None, metadata=OMIT | POSITION)
    error: float | None = field(default=None, metadata=OMIT | POSITION)
    at_rest: bool | None
    steady: SteadyDroop | None = field(default=None, metadata=PARTS)
    peak_torque: float
    peak_current: float | None
    figures: JointFigures | None = field(default=None, metadata=PARTS)

    @property
    def droop(self) -> float | None:
        """The steady-state error under gravity [rad or m], if it is known."""
        return None if self.steady is None else self.steady.droop


def named(run: Result, row: list[float]) -> dict[tuple[str, str], float]:
    """A row as a mapping from (quantity, joint or part)."""
    return {(c.quantity, c.of): value for c, value in zip(run.plant.layout.columns, row, strict=True)}


def joint_summaries(run: Result) -> list[JointSummary]:
    """The joints at the end of a run."""
    plant = run.plant
    last = named(run, run.end)
    end = run.end_time
    command, droop = plant.command, steady_droop(plant, end)
    target = command.reference.at(end).q if isinstance(command, Controller) else None
    joints = []
    for i, joint in enumerate(plant.arm.joints):
        q, motor, peak = last["q", joint.name], joint.electric_motor, run.peaks[i]
        joints.append(
            JointSummary(
                name=joint.name,
                type=joint.type,
                q=q,
                target=None if target is None else target[i],
                error=None if target is None else target[i] - q,
                at_rest=last["qd", joint.name] == 0.0 if sticks(joint) else None,
                steady=None if droop is None else SteadyDroop(droop[i]),
                peak_torque=peak,
                peak_current=None if motor is None else abs(dc.current_for(motor, peak)),
                figures=of_joint(run, i) if run.figures else None,
            )
        )
    return joints
