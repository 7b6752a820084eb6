"""How a scenario is run."""

from __future__ import annotations

from collections.abc import Sequence

from armsim.records import record


@record
class Execution:
    """How a scenario is run; see `armsim.simulate`.

    Attributes:
        engine: "llvm" or "python".
        force_step: Whether even with a step that is refused.
        measure: Names of what is measured.
    """

    engine: str = "llvm"
    force_step: bool = False
    measure: Sequence[str] | str = ()


USUAL = Execution()
