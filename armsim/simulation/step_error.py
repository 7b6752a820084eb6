"""The estimated error of a run's motion by its step."""

from __future__ import annotations

import math

from armsim.errors import spelled
from armsim.loading import Scenario
from armsim.notebook import percent
from armsim.records import record

LARGE = 0.05  # of the motion, above which an error is told
TIGHTER, LOOSER = "a tenth of the tolerance", "ten times the tolerance"  # how an adaptive run is repeated
SHORTER = {
    2: "half the step",
    5: "a fifth of the step",
    10: "a tenth of the step",
}  # how one of fixed steps is, by its parts


@record
class StepError:
    """The difference that a shorter step makes, as of order 1; of an adaptive method, that of a tenth of its tolerance.

    Ten times the tolerance is taken where rounding would hide what a tenth changes.

    Attributes:
        joint: The joint whose position differs most, by share.
        time: When [s].
        error: By how much [rad or m]; infinite where the repetition diverged.
        share: Over the joint's motion, from its least to its largest position.
        whole: Whether the run was repeated as a whole, not in stretches.
        by: With what it was repeated.
        at_least: Whether the error may be several times as large: of a run repeated in stretches, which do not show the error
            that gathers between them; where the repetition may see events as late as the run does; beyond the motion itself.
    """

    joint: str
    time: float
    error: float
    share: float
    whole: bool
    by: str
    at_least: bool = False

    def note(self, scenario: Scenario) -> str | None:
        """What a large error means; None where it is small."""
        if self.share <= LARGE:
            return None
        part = self.by.removesuffix(" the step").removesuffix(" of")
        changed = self.by if scenario.adaptive else f"{part} of dt = {scenario.dt:g} s"
        change = "change" if self.by == LOOSER else "changes"
        least = "at least " * self.at_least
        how = f"{self.joint} by {least}{percent(self.share)} of its motion at {self.time:g} s"
        if self.share > 10:
            how = f"{self.joint} by more than its motion at {self.time:g} s"
        if math.isinf(self.share):
            how = f"into one that diverges at {self.time:g} s"
        mend = "a shorter step, or rodas, which chooses its own"
        if scenario.adaptive:
            mend = "a shorter duration" if self.by == LOOSER else "a smaller rtol"
        tells = spelled("armsim converge", "armsim.converge")
        return (
            f"do not rely on this motion: {changed} {change} it, {how}; take {mend} "
            f"(`{tells}` tells when nothing changes any more)"
        )
