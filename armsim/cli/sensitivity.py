"""`armsim sensitivity`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    display_options,
    doubts_of,
    flag,
    scenario_argument,
    set_option,
)
from armsim.terminal.progress import progress_bar


@click.command(
    "sensitivity",
    epilog="""\b
Examples:
  armsim sensitivity arm5_hold --measure rms_error --open control.kp
  armsim sensitivity arm5_hold --measure "final(q_R2)" --measure energy \\
      --open "robot.joints[R2].motor.Kp" --open "initial.q[1]"
  armsim sensitivity arm5_hold --measure ise --open payload.mass \\
      --set payload.mass=0.2 --set integrator.method=rk4 --json
""",
)
@scenario_argument
@click.option(
    "--measure",
    "measures",
    metavar="NAME",
    multiple=True,
    required=True,
    help="A measure (docs/measures.md); repeatable.",
)
@click.option(
    "--open", "opened", metavar="PATH", multiple=True, required=True, help="A number, or a list of them; repeatable."
)
@set_option
@flag("--force-step", help="Run even if the step would blow up.")
@display_options
def command(
    scenario: str,
    measures: tuple[str, ...],
    opened: tuple[str, ...],
    overrides: Overrides,
    force_step: bool,
    display: Display,
) -> int:
    """Run SCENARIO with the derivatives of its measures by numbers of its files: which of them matter, and how much.

    The derivatives are exact for the steps that the run takes, by any method of steps of a fixed length. A table has them in
    units, another in percent for a percent of the number.
    """
    from armsim.batches.gradients import sensitivity
    from armsim.loading import scenario_of
    from armsim.reports.gradients import report

    with progress_bar("simulating", display.progress) as progress:
        found = sensitivity(scenario, opened, measures, overrides, progress, force_step)
    doubts = doubts_of(scenario_of(scenario, overrides))
    display.print(lambda: {**found.summary(), "doubts": doubts}, lambda: report(found, display.digits))
    return 0
