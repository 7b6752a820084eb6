"""The estimated error of a run's motion by its step."""

from __future__ import annotations

import math
from dataclasses import dataclass

from armsim.loading import Scenario

LARGE = 0.05  # of the motion, above which an error is told
HALF, TIGHTER, LOOSER = "half the step", "a tenth of the tolerance", "ten times the tolerance"  # how a run is repeated


@dataclass(frozen=True)
class StepError:
    """Twice the difference that half the step makes; of an adaptive method, the one that a tenth of its tolerance makes.

    Ten times the tolerance is taken where rounding would hide what a tenth changes.

    Attributes:
        joint: The joint whose position differs most, by share.
        time: When [s].
        error: By how much [rad or m]; infinite where the repetition diverged.
        share: Over the joint's motion, from its least to its largest position.
        whole: Whether the run was repeated as a whole, not in stretches.
        by: With what it was repeated.
    """

    joint: str
    time: float
    error: float
    share: float
    whole: bool
    by: str

    def note(self, scenario: Scenario) -> str | None:
        """What a large error means; None where it is small."""
        if self.share <= LARGE:
            return None
        changed = self.by if scenario.adaptive else f"half of dt = {scenario.dt:g} s"
        change = "change" if self.by == LOOSER else "changes"
        how = f"{self.joint} by {100 * self.share:.2g} % of its motion at {self.time:g} s"
        if self.share > 10:
            how = f"{self.joint} by more than its motion at {self.time:g} s"
        if math.isinf(self.share):
            how = f"into one that diverges at {self.time:g} s"
        mend = "a shorter step, or rodas, which chooses its own"
        if scenario.adaptive:
            mend = "a shorter duration" if self.by == LOOSER else "a smaller rtol"
        return (
            f"do not rely on this motion: {changed} {change} it, {how}; take {mend} "
            "(`armsim converge` tells when nothing changes any more)"
        )
