"""`armsim linearize`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    display_options,
    flag,
    grouped,
    number,
    number_value,
    read_scenario,
    scenario_argument,
    set_option,
)
from armsim.cli.pictures import OutputFiles, check_plot
from armsim.errors import UsageError
from armsim.records import record

WEIGHTS = ("q", "qd", "r")
Weights = dict[str, float | list[float]]


def lqr_weights(context: click.Context, parameter: click.Parameter, text: str | None) -> Weights | None:
    """The weights of `q=1,2,r=3`: a name, then its numbers.

    Raises:
        UsageError: A name is unknown, missing, or there twice.
        FileFaults: One is not a number.
    """
    if text is None:
        return None
    found: dict[str, list[float]] = {}
    for part in text.split(","):
        name, equals, written = (x.strip() for x in part.rpartition("="))
        if equals:
            if name not in WEIGHTS or name in found:
                raise _unreadable(text, f"{name} twice" if name in found else f"{name or 'no name'} before =")
            found[name] = []
        if not found:
            raise _unreadable(text, f"{part.strip() or 'nothing'} without a name")
        found[list(found)[-1]].append(number_value("lqr", written))
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


@record
class OperatingPoint:
    """The state about which a scenario is linearised.

    Attributes:
        at: The time up to which it is simulated [s]; None for the start.
        target: Whether it is the target.
        force_step: Whether it is simulated even if the step would blow up.
        creep: Velocity well below which dry friction counts as viscous [rad/s or m/s]; None where it holds joints.
    """

    at: float | None
    target: bool
    force_step: bool
    creep: float | None


@record
class Analysis:
    """What is asked of the linear equations.

    Attributes:
        period: Time between samples [s]; None for the scenario's own.
        lqr: Weights of a regulator.
        bode: The joint of a frequency response.
    """

    period: float | None
    lqr: Weights | None
    bode: str | None


@click.command(
    "linearize",
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
@click.option("--at", callback=number, metavar="T", help="Simulate up to this time [s] first. [default: the start]")
@flag("--target", help="About the target of `control`, at rest.")
@set_option
@grouped(
    "analysis",
    Analysis,
    click.option(
        "--period",
        callback=number,
        metavar="T",
        help="Time between samples [s] of the sampled system. [default: the scenario's own]",
    ),
    click.option(
        "--lqr",
        callback=lqr_weights,
        metavar="q=X,r=X",
        help="Gains that hold the pose with the least integral of q q² + r u²; X is one number, or one per joint with "
        "commas. qd=X weighs velocities.",
    ),
    click.option("--bode", metavar="JOINT", help="The frequency response of this joint's loop, broken at its command."),
)
@grouped(
    "files",
    OutputFiles,
    click.option(
        "--plot", metavar="FILE", help='Draw the Bode diagram of --bode. Takes matplotlib: pip install "armsim[plot]".'
    ),
    click.option("-o", "--output", metavar="FILE.npz", help="Write all matrices as numpy arrays: a new file."),
    flag("--force", help="Let -o and --plot replace files that exist."),
)
@grouped(
    "point",
    OperatingPoint,
    flag("--force-step", help="Simulate with --at even if the step would blow up."),
    click.option(
        "--creep",
        callback=number,
        metavar="V",
        help="Dry friction c as the damping c / sqrt(v² + V²) at velocity v [rad/s or m/s], in place of joints that stick.",
    ),
)
@display_options
def command(
    scenario: str, point: OperatingPoint, overrides: Overrides, analysis: Analysis, files: OutputFiles, display: Display
) -> int:
    """Linearise SCENARIO about a state; print its modes and the margins of its loops, exact to rounding.

    The equations are dx/dt = A x + B u, y = C x + D u: x are positions, velocities and motor currents, u the commands, y
    positions, velocities and the position of the tool, all as deviations from the state. A and B have no feedback; the modes
    are printed without and with it. Under feedback each joint's loop has its margins, with the other loops closed. A joint
    that dry friction holds is welded, unless --creep smooths it.
    """
    from armsim.files.array_file import check_array_file, write_arrays
    from armsim.files.faults import suggestion
    from armsim.linear.linearize import linearize
    from armsim.linear.summary import arrays, summarize
    from armsim.reports.linear import report

    output, plot, bode = files.output, files.plot, analysis.bode
    if output is not None:
        check_array_file(output, [scenario], files.force)
    check_plot(plot, files.force)
    if plot is not None and bode is None:
        raise UsageError.of(
            f"--plot {plot}", "--bode with it, whose diagram is drawn", "no joint", "add for example --bode R2"
        )
    read, doubts = read_scenario(scenario, overrides)
    model = linearize(read, point.at or 0.0, point.target, None, point.force_step, point.creep)
    if bode is not None and bode not in model.loops:
        raise UsageError.of(
            f"--bode {bode}", "a joint under feedback", bode, suggestion(bode, model.loops, "joints are")
        )
    regulator = None if analysis.lqr is None else model.at_rest.lqr(**analysis.lqr, period=analysis.period)
    every = model.period if analysis.period is None else analysis.period
    sampled = None if every is None else model.sampled(every)
    if output is not None:
        write_arrays(output, arrays(model, sampled, regulator))
    asked = model, sampled, regulator, bode
    if plot and bode:
        from armsim.figures.bode import bode_figure
        from armsim.figures.picture import save

        title = f"{model.scenario.name} near {model.place}: loop of {bode}"
        save(bode_figure(model.loops[bode], title), plot)
    display.print(
        lambda: {**summarize(*asked), "doubts": doubts},
        lambda: report(*asked, output, 10 if display.verbose else 4),
        plot,
    )
    return 0
