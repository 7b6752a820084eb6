"""`armsim check`"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from armsim.cli.options import Display, Overrides, display_options, flag, set_option
from armsim.notebook import counted
from armsim.records import Json, as_plain
from armsim.reports.collision import collision_lines
from armsim.reports.table import Report, wrapped

if TYPE_CHECKING:
    from armsim.arm.collision import Collisions
    from armsim.files.faults import Fault
    from armsim.loading import Scenario
    from armsim.loading.check import Checked

UNWELL = 1


@click.command(
    "check",
    epilog="""\b
Examples:
  armsim check my_arm.yaml my_scenario.yaml
  armsim check --strict robots/*.yaml
  armsim check --collision my_scenario.yaml    # what the arm touches
  armsim check my_scenario.yaml --set integrator.dt=1e-3
""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@flag("--strict", help="Count warnings as faults.")
@flag(
    "--collision",
    help="Say what the arm of a scenario touches when it runs, itself or the world, and how near it comes.",
)
@flag("--reference", help="With --collision: along the reference of its controller, without a run.")
@set_option
@display_options
def command(
    files: tuple[str, ...], overrides: Overrides, strict: bool, collision: bool, reference: bool, display: Display
) -> int:
    """List all faults and doubts of robot, scenario and study files, without running them.

    For a scenario, check says whether its step would blow up, and what else there is to know. Exits with 1 if a file has
    faults or a step that would be refused (or, with --strict, warnings), or if something touches with --collision.
    """
    from armsim.loading.check import check

    results = [_Result(check(file, overrides)) for file in files]
    for result in results:
        if collision or reference:
            result.collide(reference)
    display.print(
        lambda: [result.data() for result in results],
        lambda: [line for result in results for line in result.report(strict, display.verbose)],
    )
    unwell = any(result.faults or result.touches or (strict and result.warnings) for result in results)
    return UNWELL if unwell else 0


class _Result:
    """A checked file, and the advice on its step.

    Attributes:
        faults: As text.
        warnings: As text.
        notes: Information about the step that needs no action.
        collisions: What the arm touches, where that is asked for.
    """

    collisions: Collisions | None = None

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.faults = list(map(str, checked.faults))
        self.warnings = list(map(str, checked.warnings))
        self.notes: list[str] = []
        if checked.scenario is not None:
            self._advise(checked.scenario)
        if checked.kind == "study" and not self.faults:
            self._study()

    def _study(self) -> None:
        from armsim.tuning.check import check_study

        faults, refused, self.notes = check_study(self.checked.file)
        self.checked = replace(self.checked, faults=faults)
        self.faults = [*map(str, faults), *refused]

    def _advise(self, scenario: Scenario) -> None:
        from armsim.errors import UsageError
        from armsim.simulation.simulate import advise

        law = getattr(scenario.command, "law", None)
        if law is not None and law.name == "python":
            self.notes = ["its law is a Python function: armsim.simulate(scenario, law=function) checks the step"]
            return
        try:
            scenario, advice = advise(scenario)
        except UsageError as refused:  # no method suits it
            self.faults.append(str(refused))
            return
        given = scenario.file.document.integrator.dt
        if advice.refusal is not None:
            self.faults.append(f"{'' if given is None else f'{given.place}: '}{advice.refusal}")
        self.warnings += [f"{self.checked.file}: {warning}" for warning in advice.warnings]
        self.notes = advice.said(scenario.method, scenario.dt)[len(advice.warnings) :]

    def collide(self, reference: bool) -> None:
        """Look for what the arm touches, of a scenario that can be run."""
        from armsim.arm.collision import collisions

        if self.checked.scenario is None:
            self.notes.append("no scenario, so that nothing moves: --collision says nothing of it")
        elif not self.faults:
            self.collisions = collisions(self.checked.scenario, reference)

    @property
    def touches(self) -> bool:
        """Whether something touches."""
        return self.collisions is not None and bool(self.collisions.touches)

    def report(self, strict: bool, verbose: bool) -> Report:
        file, arm, verdict = self.checked.file, self.checked.arm, f"a sound {self.checked.kind}"
        lines: Report = [*self.faults]
        for warning in self.warnings:
            title, *rest = warning.splitlines()
            lines += [wrapped(f"{title} ({'fault' if strict else 'warning'})"), *rest]
            verdict = f"{counted(len(self.warnings), 'warning')}; {'counted as faults' if strict else 'it can be run'}"
        if self.faults:
            verdict = counted(len(self.faults), "fault")
        lines += [*(wrapped(f"{file}: {note}") for note in self.notes), f"{file}: {verdict}"]
        lines += [] if self.collisions is None else collision_lines(self.collisions, verbose)
        return lines + [f"  {arm.name}: {counted(len(arm.links), 'joint')}"] * verbose if arm is not None else lines

    def data(self) -> Json:
        """As plain data; the advice on a scenario's step, as text, under "step"; likewise "study"."""
        checked = self.checked
        faults, warnings = ([_plain(fault) for fault in group] for group in (checked.faults, checked.warnings))
        found = {"file": checked.file, "kind": checked.kind, "faults": faults, "warnings": warnings}
        if checked.kind == "study":
            return {**found, "study": {"faults": self.faults[len(faults) :], "notes": self.notes}}
        if checked.scenario is None:
            return found
        advice = {"faults": self.faults[len(faults) :], "warnings": self.warnings[len(warnings) :], "notes": self.notes}
        collided = {} if self.collisions is None else {"collision": as_plain(self.collisions)}
        return {**found, "step": advice, **collided}


def _plain(fault: Fault) -> dict[str, str | int | None]:
    source, line, column = fault.where
    return {"file": source, "line": line or None, "column": column or None, **as_plain(fault.doubt)}
