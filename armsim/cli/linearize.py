"""`armsim linearize`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import (
    SETTINGS,
    Settings,
    json_option,
    number_value,
    print_json,
    quiet_option,
    read_scenario,
    scenario_argument,
    set_option,
    verbose_option,
)
from armsim.errors import UsageError
from armsim.terminal.streams import echo

WEIGHTS = ("q", "qd", "r")


@click.command(
    "linearize",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim linearize arm5_hold --target    the modes of the arm at its target
  armsim linearize arm5_hold --at 5      where it is after five seconds
  armsim linearize arm5_hold --at 5 --lqr q=100,r=1    gains to hold it there
  armsim linearize arm5_hold --at 5 --period 1e-3 -o linear.npz
  armsim linearize arm5_hold_pi --target --bode R2 --plot r2.png
""",
)
@scenario_argument
@click.option("--at", metavar="T", help="Simulate up to this time [s] first. [default: the start]")
@click.option("--target", is_flag=True, help="About the target of `control`, at rest.")
@set_option
@click.option(
    "--period", metavar="T", help="Time between samples [s] of the sampled system. [default: the scenario's own]"
)
@click.option(
    "--lqr",
    metavar="q=X,r=X",
    help="Gains that hold the pose with the least integral of q q² + r u²; X is one number, or one per joint with "
    "commas. qd=X weighs velocities.",
)
@click.option("--bode", metavar="JOINT", help="The frequency response of this joint's loop, broken at its command.")
@click.option(
    "--plot", metavar="FILE", help='Draw the Bode diagram of --bode. Takes matplotlib: pip install "armsim[plot]".'
)
@click.option("-o", "--output", metavar="FILE.npz", help="Write all matrices as numpy arrays: a new file.")
@click.option("--force", is_flag=True, help="Let -o and --plot replace files that exist.")
@click.option("--force-step", is_flag=True, help="Simulate with --at even if the step would blow up.")
@json_option
@quiet_option
@verbose_option
def command(
    scenario: str,
    at: str | None,
    target: bool,
    settings: Settings,
    period: str | None,
    lqr: str | None,
    bode: str | None,
    plot: str | None,
    output: str | None,
    force: bool,
    force_step: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print how SCENARIO moves near one of its states: the modes of its linear equations, exact to rounding.

    The equations are dx/dt = A x + B u, y = C x + D u: x are positions, velocities and motor currents, u the commands, y
    positions, velocities and the tool's place, all as deviations from the state. A and B leave feedback out; the modes
    are shown without and with it. Where there is feedback, each joint's loop has its margins, the other loops closed. A joint
    that dry friction holds is welded.
    """
    from armsim.files.array_file import check_array_file, write_arrays
    from armsim.files.faults import suggestion
    from armsim.linear.linearize import linearize
    from armsim.linear.summary import arrays, summarize

    if output is not None:
        check_array_file(output, [scenario], force)
    if plot is not None:
        from armsim.figures.picture import check_picture

        check_picture(plot, force)
        if bode is None:
            raise UsageError.of(
                f"--plot {plot}", "--bode with it, whose diagram is drawn", "no joint", "add for example --bode R2"
            )
    weights = None if lqr is None else lqr_weights(lqr)
    time = 0.0 if at is None else number_value("at", at)
    every = None if period is None else number_value("period", period)
    read, doubts = read_scenario(scenario, settings)
    model = linearize(read, time, target, None, force_step)
    if bode is not None and bode not in model.loops:
        raise UsageError.of(
            f"--bode {bode}", "a joint under feedback", bode, suggestion(bode, model.loops, "joints are")
        )
    regulator = None if weights is None else model.at_rest.lqr(**weights, period=every)
    every = model.period if every is None else every
    sampled = None if every is None else model.sampled(every)
    if output is not None:
        write_arrays(output, arrays(model, sampled, regulator))
    summary = summarize(model, sampled, regulator, bode)
    if plot and bode:
        from armsim.figures.bode import plot_bode

        plot_bode(plot, model.loops[bode], f"{model.scenario.name} near {model.place}: loop of {bode}")
    if as_json:
        print_json({**summary, "doubts": doubts})
    elif not quiet:
        from armsim.reports.linear import report

        drawn = "" if plot is None else f"\ndrawn    {plot}"
        echo(report(summary, output, 10 if verbose else 4) + drawn)
    return 0


def lqr_weights(text: str) -> dict[str, Any]:
    """The weights of `q=1,2,r=3`: a name, then its numbers.

    Raises:
        UsageError: A name is unknown, missing, or there twice.
        FileFaults: One is not a number.
    """
    found: dict[str, list[float]] = {}
    for part in text.split(","):
        name, equals, number = (x.strip() for x in part.rpartition("="))
        if equals:
            if name not in WEIGHTS or name in found:
                raise _unreadable(text, f"{name} twice" if name in found else f"{name or 'no name'} before =")
            found[name] = []
        if not found:
            raise _unreadable(text, f"{part.strip() or 'nothing'} without a name")
        found[list(found)[-1]].append(number_value("lqr", number))
    for name in ("q", "r"):
        if name not in found:
            raise _unreadable(text, f"no {name}")
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _unreadable(text: str, found: str) -> UsageError:
    return UsageError.of(
        f"--lqr {text}",
        "weights q=..., r=... and perhaps qd=..., each one number or one per joint",
        found,
        "write for example --lqr q=100,r=1",
    )
