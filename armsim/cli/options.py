"""Options and arguments that several commands share."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from armsim.errors import UsageError
from armsim.files.destination import Destination
from armsim.records import as_plain, record
from armsim.terminal.streams import echo

if TYPE_CHECKING:
    from armsim.files.faults import Doubt, Fault
    from armsim.files.folder_kind import FolderKind
    from armsim.loading import Scenario
    from armsim.model import Arm
    from armsim.reports.table import Line

Overrides = dict[str, str | None]
Command = Callable[..., int]
flag = functools.partial(click.option, is_flag=True)
TURN = 1.001 * math.tau  # rad
JOINT_OPTIONS = {
    "q": ("positions", "rad or m"),
    "near": ("positions", "rad or m"),
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


def grouped(name: str, make: Callable[..., Any], *options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Adds options to a command, which takes what `make` makes of their values as one argument.

    Args:
        name: Of the argument.
        make: A dataclass or a function. Its parameters are named as the options' values; one without an option has its default.
        options: In the order of `--help`. `make` may take values of others, too: of the command's own options and of groups
            above.
    """
    parameters = inspect.signature(make).parameters

    def adding(command: Command) -> Command:
        @functools.wraps(command)
        def collecting(**values: Any) -> int:
            values[name] = make(**{key: values.pop(key) for key in parameters if key in values})
            return command(**values)

        for option in reversed(options):
            collecting = option(collecting)
        return collecting

    return adding


@record
class Display:
    """How a command shows its results.

    Attributes:
        degrees: Whether angles are in degrees.
        as_json: Whether as JSON, which nothing else is printed with.
        quiet: Whether nothing but errors is printed.
        verbose: Whether more is said, with more digits.
    """

    degrees: bool = False
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    @property
    def progress(self) -> bool:
        """Whether progress is shown."""
        return not self.quiet and not self.as_json

    @property
    def digits(self) -> int:
        """Significant digits of numbers."""
        return 10 if self.verbose else 5

    def say(self, *lines: Line) -> None:
        """Print lines beside a result, but for JSON."""
        if self.progress:
            echo("\n".join(map(str, lines)))

    def print(self, data: Callable[[], Any], report: Callable[[], Iterable[Line]], drawn: str | None = None) -> None:
        """Print a result: its data as JSON, or its report and the picture that was drawn, or nothing."""
        if self.as_json:
            print_json(data())
        elif not self.quiet:
            self.say(*report(), *([] if drawn is None else [f"drawn    {drawn}"]))


@record
class JointState:
    """A state of the joints, as text.

    Attributes:
        q: Positions; None for the initial pose.
        qd: Velocities; None for rest.
        qdd: Accelerations; None for none.
        torque: Of the drives; None for none.
    """

    q: str | None
    qd: str | None
    qdd: str | None = None
    torque: str | None = None

    def values(self, arm: Arm, degrees: bool) -> tuple[list[float], list[float]]:
        """Positions [rad or m] and velocities [rad/s or m/s]; errors as of `joint_values`."""
        return joint_values("q", self.q, arm, degrees), joint_values("qd", self.qd, arm, degrees)


@record
class Matching:
    """How two motions are compared.

    Attributes:
        tolerance: Differences that are allowed, by quantity or for all; None for none.
        columns: Which column of a file is which.
        interpolate: Whether the second, or a log's commands, are taken on straight lines between rows.
    """

    tolerance: dict[str, float] | float | None
    columns: str | None
    interpolate: bool = False


def settings_of(assigned: tuple[str, ...], unset: tuple[str, ...] = ()) -> Overrides:
    """The overrides of `--set path=value` and `--unset path`.

    Raises:
        UsageError: One is malformed, or both are given for a path.
    """
    values: Overrides = {path.strip(): None for path in unset}
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


def number(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """The number of an option; see `number_value`."""
    return None if text is None else number_value(parameter.opts[0].removeprefix("--"), text)


def joint_option(name: str, what: str) -> Callable[[Any], Any]:
    """An option that takes one number per joint, separated by commas."""
    return click.option(f"--{name}", metavar="X,X,...", help=what)


def check_folder(kind: FolderKind, destination: Destination) -> None:
    """Say what killed processes left of a folder, if others must know, and refuse one that must not be written."""
    from armsim.files.new_folder import check_target
    from armsim.files.recovery import recover

    for note in recover(kind, destination.folder):
        echo(f"! {note}", err=True)
    check_target(kind, destination)


def print_json(data: Any) -> None:
    """Print results, which may be dataclasses, as JSON; NaN and infinities become null."""
    import json

    finite = json.loads(json.dumps(as_plain(data)), parse_constant=lambda name: None)
    echo(json.dumps(finite))


def joint_values(option: str, text: str | None, arm: Arm, degrees: bool = False) -> list[float]:
    """The numbers of an option, one per joint; each a formula such as -pi/2, or with a unit. With degrees, converted to rad.

    An option that is not given stands for the initial pose, or else for zeros. A position of more than a turn is doubted.

    Raises:
        UsageError: There are not as many as joints, or one is beyond its bounds.
        FileFaults: One is not a number.
    """
    if text is None:
        return list(arm.initial) if option == "q" else [0.0] * arm.n

    from armsim.formulas.bounds import BOUNDS
    from armsim.formulas.units import units_of, written_unit

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


def read_scenario(scenario: str, overrides: Overrides) -> tuple[Scenario, list[Doubt]]:
    """A scenario, and the doubts about it; see `doubts_of`.

    Raises:
        FileFaults: It cannot be run.
    """
    from armsim.loading import read_scenario as read

    made = read(scenario, overrides)
    return made, doubts_of(made)


def doubts_of(scenario: Scenario) -> list[Doubt]:
    """What `armsim check` would doubt about a scenario, printed as well; of shipped files nothing."""
    from armsim.loading.check import scenario_doubts

    return tell(scenario_doubts(scenario))


def read_robot(robot: str, overrides: Mapping[str, Any]) -> Arm:
    """The arm of a robot file; the doubts about it are printed. One that is known without any is not read again.

    Raises:
        FileFaults: It cannot be used.
    """
    from armsim.files.known_data import KnownData

    known = KnownData("arm", robot, overrides)
    before = known.data()
    import pickle

    if before is not None:
        return pickle.loads(before.encode("latin-1"))  # no more is trusted than code that is kept there
    from armsim.loading import load_robot_file
    from armsim.loading.plausible import doubts
    from armsim.loading.robot_file import built

    file = load_robot_file(robot, overrides)
    arm = built(file)
    if not tell([*file.remarks, *doubts(arm, file.document)]):
        known.keep(pickle.dumps(arm).decode("latin-1"), file.sources)
    return arm


def tell(doubts: Iterable[Fault]) -> list[Doubt]:
    """Print doubts on standard error, unless they are about shipped files or the command is quiet; returns those printed."""
    from armsim.files.shipped import is_shipped
    from armsim.reports.table import wrapped

    found = [fault for fault in doubts if not is_shipped(fault.where.source)]
    for fault in found:
        doubt(wrapped(f"{fault.title}: {fault.found}; {fault.mend}"))
    return [fault.doubt for fault in found]


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


def tolerance(context: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, float] | float | None:
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


robot_argument = click.argument("robot", shell_complete=shipped("robots"))
scenario_argument = click.argument("scenario", shell_complete=shipped("configs"))
file_argument = click.argument("file", metavar="ROBOT|SCENARIO", shell_complete=shipped("robots", "configs"))
json_option = flag("--json", "as_json", help="Print results as JSON, in SI units.")
deg_option = flag("--deg", "degrees", help="Take and print joint angles in degrees, in JSON as well.")
quiet_option = flag("-q", "--quiet", help="Print nothing but errors.")
verbose_option = flag("-v", "--verbose", help="Say more, with more digits.")
quiet_options = grouped("display", Display, quiet_option)
json_options = grouped("display", Display, json_option, quiet_option)
display_options = grouped("display", Display, json_option, quiet_option, verbose_option)
angle_options = grouped("display", Display, deg_option, json_option, quiet_option, verbose_option)
q_option = joint_option(
    "q", "Joint positions [rad or m], one per joint, such as 0.5,90deg. [default: the initial pose]"
)
state_options = grouped(
    "state", JointState, q_option, joint_option("qd", "Joint velocities [rad/s or m/s]. [default: 0]")
)
set_option = grouped(
    "overrides",
    settings_of,
    click.option(
        "--set",
        "assigned",
        multiple=True,
        metavar="PATH=VALUE",
        help='A value in place of the file\'s, such as "control.kp[R2]=80", of a robot "joints[R2].motor.gear=50"; may be '
        "repeated.",
    ),
    click.option("--unset", multiple=True, metavar="PATH", help="Take a key out, such as control.ki; may be repeated."),
)
interpolate_option = flag("--interpolate", help="Take a log's commands on straight lines between rows.")
feedback_option = click.option(
    "--feedback",
    metavar="SCENARIO",
    shell_complete=shipped("configs"),
    help="Drive it by this controller as well, which sees a log's positions.",
)
force_step_option = flag("--force-step", help="Run even if the step is known to be too long.")
threads_option = click.option("--threads", type=int, metavar="N", help="How many. [default: one a processor]")
study_force_options = grouped(
    "destination",
    Destination,
    flag("--force", help="Replace another study that the folder has, and a picture."),
)
tolerance_option = click.option(
    "--tolerance",
    callback=tolerance,
    metavar="X | q=X,qd=X",
    help="Differences that are allowed. [default: none]",
)
