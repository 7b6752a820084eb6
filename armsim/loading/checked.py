"""Files that have been read and checked, but not built."""

from __future__ import annotations

from armsim import document as documents
from armsim.files.faults import Fault
from armsim.files.source import Source
from armsim.records import record


@record
class RobotFile:
    """A robot file that has been checked.

    Attributes:
        document: Its content, with defaults.
        sources: The files that were read.
    """

    document: documents.Robot
    sources: tuple[Source, ...]

    @property
    def remarks(self) -> list[Fault]:
        """What the reader of another program's file had to say of it."""
        return [remark for source in self.sources for remark in source.remarks]


@record
class WholeSteps:
    """The times of a scenario as numbers of steps.

    Attributes:
        dt: The length of a step [s].
        duration: Of the run.
        log: Between rows.
        period: Of samples; None for continuous control.
        delay: Of commands; None without.
        external: Beginning and end of each external force; None where it has none.
        payload: Of each payload of a list, likewise.
    """

    dt: float
    duration: int
    log: int
    period: int | None
    delay: int | None
    external: tuple[tuple[int | None, int | None], ...]
    payload: tuple[tuple[int | None, int | None], ...]

    @property
    def jumps(self) -> list[int]:
        """When external forces and payloads begin and end."""
        return [step for span in (*self.external, *self.payload) for step in span if step is not None]

    @property
    def delay_in_periods(self) -> int:
        """The delay of a controller in periods."""
        return (self.delay or 0) // (self.period or 1)


@record
class ScenarioFile:
    """A scenario file that has been checked, with its robot.

    Attributes:
        name: Of the scenario.
        document: Its content, with defaults.
        robot: Its robot.
        steps: Its times.
        sources: The files that were read.
        model: The robot that its controller takes the arm for; None for the arm itself.
    """

    name: str
    document: documents.Scenario
    robot: RobotFile
    steps: WholeSteps
    sources: tuple[Source, ...]
    model: RobotFile | None = None

    @property
    def whole(self) -> documents.Scenario:
        """Its content with that of its robot, as paths name it."""
        return self.document.replaced(robot=self.robot.document)
