"""Options and arguments that several commands share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from armsim.errors import UsageError
from armsim.formulas.bounds import BOUNDS
from armsim.model import Arm
from armsim.terminal.streams import echo

if TYPE_CHECKING:
    from armsim.loading import Scenario

Settings = dict[str, str | None]
Doubts = list[dict[str, str]]
TURN = 1.001 * math.tau  # rad
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 80}
JOINT_OPTIONS = {
    "q": ("positions", "rad or m"),
    "qd": ("velocities", "rad/s or m/s"),
    "qdd": ("accelerations", "rad/s² or m/s²"),
    "torque": ("torques", "N·m or N"),
    "voltage": ("voltages", "V"),
}


def shipped(*kinds: str) -> Callable[..., list[Any]]:
    """Completes files, and the names of shipped "robots" or "configs"."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        from armsim.files.shipped import shipped_names

        names = [name for kind in kinds for name in shipped_names(kind) if name.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file"), *(CompletionItem(name) for name in names)]

    return complete


robot_argument = click.argument("robot", shell_complete=shipped("robots"))
scenario_argument = click.argument("scenario", shell_complete=shipped("configs"))
json_option = click.option("--json", "as_json", is_flag=True, help="Print results as JSON, in SI units.")
deg_option = click.option(
    "--deg", "degrees", is_flag=True, help="Take and print joint angles in degrees, in JSON as well."
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Say more, with more digits.")


def joint_option(name: str, what: str) -> Callable[[Any], Any]:
    """An option that takes one number per joint, separated by commas."""
    return click.option(f"--{name}", metavar="X,X,...", help=what)


q_option = joint_option(
    "q", "Joint positions [rad or m], one per joint, such as 0.5,90deg. [default: the initial pose]"
)
qd_option = joint_option("qd", "Joint velocities [rad/s or m/s]. [default: 0]")


def check_folder(output: str | None, force: bool) -> None:
    """Say what killed processes left of a run's folder, if others must know, and refuse one that must not be written."""
    from armsim.files.recovery import recover
    from armsim.files.run_folder import check_target

    for note in recover(output):
        echo(f"! {note}", err=True)
    if output is not None:
        check_target(output, force)


def print_json(data: Any) -> None:
    """Print results as JSON; NaN and infinities become null."""
    import json

    echo(json.dumps(_finite(data), allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


def set_option(command: Callable[..., int]) -> Callable[..., int]:
    """Adds --set and --unset, which the command takes as one mapping `settings`: values by path, None for what is taken out."""

    @click.option(
        "--set",
        "assigned",
        multiple=True,
        metavar="PATH=VALUE",
        help='A value in place of the file\'s, such as "control.kp[R2]=80"; may be repeated.',
    )
    @click.option("--unset", multiple=True, metavar="PATH", help="Take a key out, such as control.ki; may be repeated.")
    @functools.wraps(command)
    def overriding(*args: Any, assigned: tuple[str, ...], unset: tuple[str, ...], **others: Any) -> int:
        return command(*args, settings=settings_of(assigned, unset), **others)

    return overriding


def plot_option(what: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Adds --plot, whose file is tried before the work begins, and --force, by which it may replace one that is there."""

    def adding(command: Callable[..., int]) -> Callable[..., int]:
        @click.option("--plot", metavar="FILE", help=f'{what} Takes matplotlib: pip install "armsim[plot]".')
        @click.option("--force", is_flag=True, help="Let --plot replace a file that is there.")
        @functools.wraps(command)
        def drawing(*args: Any, plot: str | None, force: bool, **others: Any) -> int:
            if plot is not None:
                from armsim.figures.picture import check_picture

                check_picture(plot, force)
            return command(*args, plot=plot, **others)

        return drawing

    return adding


def picture_options(film: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Adds --plot, and --animate for a film, of a run that the command writes; `draw_run` draws them.

    Both are tried before the work begins. The command's own --force lets them replace files that are there.
    """

    def adding(command: Callable[..., int]) -> Callable[..., int]:
        takes = 'Takes matplotlib: pip install "armsim[plot]".'

        @click.option("--plot", metavar="FILE", help=f"Draw the run over time, as `armsim plot` does. {takes}")
        @functools.wraps(command)
        def drawing(*args: Any, plot: str | None, force: bool, animate: str | None = None, **others: Any) -> int:
            if plot is not None:
                from armsim.figures.picture import check_picture

                check_picture(plot, force)
            if animate is not None:
                from armsim.figures.animation import check_animation

                check_animation(animate, force, "--animate")
            return command(*args, plot=plot, force=force, **({"animate": animate} if film else {}), **others)

        if not film:
            return drawing
        text = "Draw the arm in motion, .gif or .mp4, or poses, .png, as `armsim animate` does."
        return click.option("--animate", metavar="FILE", help=text)(drawing)

    return adding


def draw_run(folder: object, plot: str | None, animate: str | None, degrees: bool, quiet: bool) -> None:
    """Draw the pictures that `picture_options` asks for of a run in its folder."""
    if plot is not None:
        from armsim.figures.plot import plot as drawn

        drawn(str(folder), plot, degrees=degrees, force=True, option="--plot")
    if animate is not None:
        from armsim.figures.animation import animate as filmed
        from armsim.terminal.progress import progress_bar

        with progress_bar("drawing", not quiet) as progress:
            filmed(str(folder), animate, force=True, progress=progress, option="--animate")
    if not quiet:
        for name in filter(None, (plot, animate)):
            echo(f"drawn    {name}")


def settings_of(assigned: tuple[str, ...], unset: tuple[str, ...] = ()) -> Settings:
    """The overrides of `--set path=value` and `--unset path`.

    Raises:
        UsageError: One is malformed, or both are given for a path.
    """
    values: Settings = {path.strip(): None for path in unset}
    for item in assigned:
        path, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not path:
            raise UsageError.of(
                f"--set {item}",
                "path=value",
                "no `=` with a path before it",
                'write for example --set "control.kp[0]=80"',
            )
        if path in unset:
            raise UsageError.of(f"--unset {path}", "either --set or --unset", "both", "leave one of them out")
        values[path] = value
    return values


def joint_values(option: str, text: str | None, arm: Arm, degrees: bool = False) -> list[float]:
    """The numbers of an option, one per joint; each a formula such as -pi/2, or with a unit. With degrees, converted to rad.

    An option that is not given stands for the initial pose, or else for zeros. A position of more than a turn is doubted.

    Raises:
        UsageError: There are not as many as joints, or one is beyond its bounds.
        FileFaults: One is not a number.
    """
    from armsim.formulas.units import units_of, written_unit

    if text is None:
        return [float(joint.initial) if option == "q" else 0.0 for joint in arm.joints]
    names = ", ".join(arm.joint_names)
    parts = text.split(",")
    if len(parts) != arm.n:
        numbers = f"{arm.n} numbers separated by commas, one per joint" if arm.n > 1 else "1 number, for the joint"
        raise UsageError.of(
            f"--{option} {text}",
            f"{numbers} ({names})",
            str(len(parts)),
            f"write for example --{option} {','.join(['0'] * arm.n)}",
        )
    what, unit = JOINT_OPTIONS[option]
    units = [units_of(unit, [joint.kind.turns], None)[0] for joint in arm.joints]
    values = [number_value(option, part, own) for part, own in zip(parts, units, strict=True)]
    if max(map(abs, values)) > (largest := BOUNDS[unit].largest):
        raise UsageError.of(
            f"--{option} {text}",
            f"{what} up to {largest:g}",
            f"{max(values, key=abs):g}",
            "check the unit, and the decimal point",
        )
    for i, (part, joint) in enumerate(zip(parts, arm.joints, strict=True)):
        if written_unit(part) is not None or not joint.kind.turns:
            continue
        if degrees:
            values[i] = math.radians(values[i])
        elif option == "q" and not joint.kind.has_pitch and abs(x := values[i]) > TURN and "pi" not in part:
            doubt(
                f"--q: {joint.name} at {x:g} rad is {abs(x) / math.tau:.3g} turns; "
                f"write {x:g}deg, or --deg if all are degrees"
            )
    return values


def doubt(text: str) -> None:
    """Print a warning on standard error, unless the command is quiet."""
    if not click.get_current_context().params.get("quiet"):
        echo(f"! {text}", err=True)


def read_scenario(scenario: str, settings: Settings) -> tuple[Scenario, Doubts]:
    """A scenario, and the doubts about it; see `doubts_of`.

    Raises:
        FileFaults: It cannot be run.
    """
    from armsim.loading import read_scenario as read

    made = read(scenario, settings)
    return made, doubts_of(made)


def doubts_of(scenario: Scenario) -> Doubts:
    """What `armsim check` would doubt about a scenario, printed, and as plain data; of shipped files nothing."""
    from armsim.arm.overview import said
    from armsim.files.shipped import is_shipped
    from armsim.loading.check import scenario_doubts
    from armsim.reports.table import wrapped

    found = [fault for fault in scenario_doubts(scenario) if not is_shipped(fault.where.source)]
    for fault in found:
        doubt(wrapped(f"{fault.where}: {fault.path}: {fault.found}; {fault.mend}"))
    return said(found)


def number_value(option: str, text: str, unit: str = "") -> float:
    """The number of an option, or the value of a formula such as -pi/2.

    Args:
        option: Its name.
        text: As written.
        unit: That it is converted to, if one may stand behind the number.

    Raises:
        FileFaults: It is not a number.
        UsageError: It has another unit.
    """
    from armsim.formulas.formula import FormulaError, constant_value
    from armsim.formulas.units import converted, written_unit

    written = written_unit(text) if unit else None
    if written is None or written[1].startswith("pi"):
        return constant_value(text.strip(), f"--{option}")
    try:
        return converted(*written, [unit])
    except FormulaError as error:
        raise UsageError.of(f"--{option} {text.strip()}", f"a number in {unit}", error.problem, error.mend) from None


def tolerance_values(text: str | None) -> dict[str, float] | float | None:
    """The tolerances of `--tolerance q=1e-6,qd=1e-5`, or the one of `--tolerance 1e-6`.

    Raises:
        UsageError: It is neither.
        FileFaults: One is not a number.
    """
    if text is None:
        return None
    if "=" not in text:
        return number_value("tolerance", text)
    values = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise UsageError.of(
                f"--tolerance {text}",
                "quantity=number, separated by commas, or one number for all",
                repr(part),
                "write for example --tolerance q=1e-6,qd=1e-5",
            )
        values[name.strip()] = number_value("tolerance", value)
    return values
