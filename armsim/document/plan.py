"""The keys of a scenario's `plan`: where a planned motion leads, at which cost, and within what."""

from __future__ import annotations

from itertools import pairwise

from armsim.actuation import OUTPUTS
from armsim.document.bodies import FrameName
from armsim.document.composite import Choice, Document, List, Number, PerJoint, Rule, Subdocument
from armsim.document.joint import refuse_no_direction
from armsim.document.kinds import Minimised
from armsim.document.tool_path import structural
from armsim.formulas.quantity import Context

MOST_INTERVALS = 10_000


class CostFormula(Minimised):
    """A cost or a formula of costs, or the weights of several."""

    what = "cost"


class Waypoint(Document):
    """Where the arm is to be: joint positions, or the position of a frame, also with its orientation; and how fast."""

    q = PerJoint(
        Number("rad or m", angle=True), doc="joint positions", note="give `frame` and `xyz`",
        example="[0.5, -0.3]",
    )  # fmt: skip
    frame = FrameName(doc="a frame that is to be somewhere, in place of `q`", note="`tool`, with `xyz`")
    xyz = List(
        Number("m"), length=3, doc="position of its origin in the world", note="give `q`",
        example="[0.4, 0, 0.3]",
    )  # fmt: skip
    rpy = structural(
        Number("rad", angle=True), "its orientation there: roll, pitch and yaw as of `tool`", "any", "[pi, 0, 0]"
    )
    quaternion = structural(Number(), "likewise, w, x, y, z of any length", "any", "[0, 1, 0, 0]")
    qd = PerJoint(
        Number("rad/s or m/s", angle=True), one_for_all=True,
        doc="joint velocities there, one per joint or one for all",
        note="at rest at the end, any on the way", example="0",
    )  # fmt: skip

    rules = (
        Rule(given=("q",), without=("frame", "xyz", "rpy", "quaternion")),
        Rule(absent=("q",), needs=("xyz",)),
        Rule(given=("rpy",), without=("quaternion",)),
    )

    def check(self, context: Context) -> None:
        super().check(context)
        refuse_no_direction(self.quaternion, context.below("quaternion"))

    def lacks(self, key: str, context: Context) -> None:
        expected, mend = (
            "joint positions `q`, or the position `xyz` of a frame",
            "add `q: [...]`, or `xyz: [0.4, 0, 0.3]`",
        )
        context.add(self.place, expected, "neither", mend)


class Via(Waypoint):
    """A point on the way."""

    at = Number(
        above=0, largest=1.0, structure=True, doc="when, as a share of the duration",
        note="evenly between its neighbours", example="0.5",
    )  # fmt: skip


class Plan(Document):
    """A motion for `armsim plan` to find: inputs over time from the start to a target, within all limits of the robot.

    Costs are integrated over the time: `time` (of 1), `energy` (the heat of windings and viscous friction), `torque_squared` (the
    sum of the drives' squared torques), `tracking` (the sum of squared deviations from `control.reference`), or any column of a
    run, as in docs/columns.md.
    """

    output = Choice(
        *OUTPUTS,
        doc="what the inputs are",
        note="`voltage` where all motors have constants, else `torque`",
    )
    to = Subdocument(Waypoint, doc="where the motion ends", example="{q: [0.5, -0.3]}")
    via = List(Subdocument(Via), default=(), doc="points on the way, in order", example="[{q: [0, 0.2]}]")
    minimise = CostFormula(
        doc="a formula of costs, or weights of several; where it names `time`, the time is open and `duration` the longest",
        example="time + 1e-3*torque_squared",
    )
    intervals = Number(
        minimum=2, largest=float(MOST_INTERVALS), whole=True, structure=True, default=100.0,
        doc="into how many equal intervals the time is cut; inputs are constant in each",
    )  # fmt: skip
    limit = PerJoint(
        Number("V, N·m or N", minimum=0), one_for_all=True,
        doc="greatest magnitude of the inputs, one per joint or one for all; 0 leaves a joint undriven",
        note="limits of the motors alone", example="24",
    )  # fmt: skip
    tool_speed = Number("m/s", above=0, doc="greatest speed of the tool", note="none", example="0.5")
    clearance = Number("m", minimum=0, default=0.0, doc="least distance of links from spheres and planes of the world")

    def check(self, context: Context) -> None:
        super().check(context)
        shares = [0.0, *(one.at.value for one in self.via or () if one and one.at is not None), 1.0]
        if any(b <= a for a, b in pairwise(shares)):
            mend = "give points in order, each with a later share than the one before"
            found = ", ".join(f"{x:g}" for x in shares[1:-1])
            context.below("via").add(self.place_of("via"), "shares that increase, below 1", found, mend)
