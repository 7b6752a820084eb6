"""Reading a run from the folder that `Run.save` has written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from armsim.document.world import ends_of
from armsim.files.row_blocks import FileRows, RowBlocks
from armsim.files.run_record import RunRecord
from armsim.files.source import Source
from armsim.loading import Scenario, build_robot, load_robot_file, read_scenario
from armsim.measures.contact import CONTACT_TIME
from armsim.plant import Plant
from armsim.plant.columns import Layout, RowExtras
from armsim.simulation.loop_plan import plant_of_run
from armsim.simulation.result import Status
from armsim.simulation.run import Run, summary_of
from armsim.simulation.setup import KnownSetup
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method


class SavedSetup:
    """What was run, as run.yaml has it, read when it is looked at; see `armsim.simulation.setup.Setup`.

    Args:
        record: The run's folder.
        layout: What the numbers of a row are.
    """

    def __init__(self, record: RunRecord, layout: Layout) -> None:
        self._record, self.layout = record, layout

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownSetup, (self.scenario, self.plant, self.advice)

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario; see `saved_scenario`."""
        return saved_scenario(self._record)

    @cached_property
    def plant(self) -> Plant:
        """The arm with its drives."""
        measured = self._record.value("results", "measures", kind=Mapping)
        return replace(plant_of_run(self.scenario), times=CONTACT_TIME in str([*measured]))

    @property
    def advice(self) -> Advice:
        """The words that were said."""
        return saved_advice(self._record)


def saved_scenario(record: RunRecord) -> Scenario:
    """The scenario of a run's folder, with the sources that it was made from.

    Raises:
        FileFaults: It cannot be run any more, as a file of its inputs is gone; says which.
    """
    scenario = with_method(read_scenario(record.about))
    sources = record.value("sources", kind=tuple[Source, ...])
    return replace(scenario, file=replace(scenario.file, sources=sources))


def saved_advice(record: RunRecord) -> Advice:
    """The advice of a run's folder, in its words."""
    return Advice(warnings=tuple(record.value("advice", kind=list)))


def origin(record: RunRecord) -> dict[str, str]:
    """What made a run's folder."""
    return {key: record.value(key) for key in ("armsim", "python")}


def saved_run(record: RunRecord) -> Run:
    """The run of a folder; see `armsim.load_run`."""
    arm = build_robot(load_robot_file(record.value("scenario", "robot", kind=Mapping)).document)
    facts = summary_of(record)
    tables = [RowBlocks(path, strict=True) for path in record.tables]
    found = sum(len(table.headings) - 1 for table in tables)
    log = record.value("scenario", "log", kind=Mapping)
    given = record.value("scenario", kind=Mapping).get("contacts", ())
    own = (name for contact in given for name in ends_of(contact["name"], contact))
    contacts = (*(contact.name for contact in arm.contacts), *own)
    frames, wrenches, distances = (tuple(log.get(key, ())) for key in ("frames", "wrenches", "distances"))
    logged = RowExtras(frames, wrenches, contacts, distances)
    layout = Layout(arm, found > len(Layout(arm, False, logged).columns), logged)
    both = zip(layout.headings(), layout.headings(True), strict=True)
    spelled = [{own.text: 1.0, other.text: other.factor} for own, other in both]
    run = Run(
        setup=SavedSetup(record, layout),
        status=record.value("status", kind=Status),
        steps=record.value("reached", "steps", kind=int),
        rows=FileRows(tables, spelled, facts.rows),
        end=record.value("reached", "row", kind=list),
        state=record.value("reached", "state", kind=list),
        seconds=facts.seconds,
        measures=record.value("results", "measures", kind=Mapping),
        figures=record.value("results", "figures", kind=Mapping),
        units={name: measured.unit for name, measured in (facts.measures or {}).items()},
        engine=facts.engine,
        stalled=None if facts.diverged is None else facts.diverged.stalled,
        failure=record.value("reached", "failure", kind=str),
        estimated=facts.no_step_error or "" if facts.step_error is None else facts.step_error.estimate,
        origin=origin(record),
    )
    vars(run)["facts"] = facts
    return run
