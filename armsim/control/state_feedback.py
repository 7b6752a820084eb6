"""Full state feedback, as of a linear-quadratic regulator."""

from __future__ import annotations

from armsim.control.law import FeedbackLaw, Kept, Now
from armsim.expr import Scalar, Scalars, dot
from armsim.records import record


@record
class StateFeedback(FeedbackLaw):
    """u = -K (x - x_ref), with x the positions and velocities of all joints, armature currents where they are states, and the
    commands on their way to the drives where those are late.

    `Regulator.K` of `armsim.linearize(...)` is such a K; the command that holds the operating point is the feedforward's part.

    Attributes:
        K: Gains, n rows of 2 n, or of 2 n and one for each current, or of these and n for each command on its way.
    """

    K: tuple[tuple[Scalar, ...], ...]

    name = "state_feedback"

    def command(self, now: Now, kept: Kept) -> Scalars:
        """The commands before saturation, n scalars."""
        e, ed, n = now.e, now.ed, len(self.K)
        beyond = [now.expected.get(i, 0.0) - x for i, x in now.seen.currents.items()]
        queued = [-u for commands in now.queued for u in commands]
        errors = [*e, *ed, *beyond, *queued]
        return [dot(row[: len(errors)], errors[: len(row)]) for row in self.K[:n]]
