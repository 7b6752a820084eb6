"""`armsim view`"""

from __future__ import annotations

import os
from typing import Any

import click

from armsim.cli.options import SETTINGS, quiet_option, shipped
from armsim.cli.plot import picture_name
from armsim.errors import UsageError
from armsim.files.interrupts import ended_by
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.streams import echo


@click.command(
    "view",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim view runs/arm5_reach-001               plays it; writes its page
  armsim view runs/recorded runs/replayed -o both.html
  armsim view arm5 --deg --open                 sliders for the joints
  armsim view arm5_hold --open                  simulates it, as you watch
  armsim view arm5_hold --slider "robot.joints[R2].motor.Ra=0.5:2"
  armsim view arm5 --port 8000                  serves it, writes nothing
""",
)
@click.argument(
    "given",
    metavar="RUN|SCENARIO|ROBOT [RUN2]",
    nargs=-1,
    required=True,
    shell_complete=shipped("robots", "configs"),
)
@click.option("-o", "--output", metavar="FILE", help="The page, .html. [default: <its name>.html, here]")
@click.option("--deg", "degrees", is_flag=True, help="Show joint angles in degrees.")
@click.option(
    "--slider",
    "sliders",
    multiple=True,
    metavar="PATH[=LOW:HIGH]",
    help="A slider for one more number of a scenario; repeatable.",
)
@click.option("--port", type=int, metavar="N", help="Serve it at 127.0.0.1:N until Ctrl-C; a file only with -o.")
@click.option("--open", "window", is_flag=True, help="Open it in the browser.")
@click.option("--force", is_flag=True, help="Replace a page that is there.")
@quiet_option
def command(
    given: Any,
    output: str | None,
    degrees: bool,
    sliders: tuple[str, ...],
    port: int | None,
    window: bool,
    force: bool,
    quiet: bool,
) -> int:
    """Write a page that shows an arm in three dimensions: one file that needs no network, to look at or to mail.

    Of a RUN, a folder of `armsim simulate` or `armsim record`, it plays the motion beside its curves; a second one is drawn pale.
    Of a ROBOT it has sliders for the joints, and says what holds the arm there. Of a SCENARIO it simulates, with sliders for
    its target, gains and payload; a drag at the arm pushes its tool. `armsim docs view` tells more.
    """
    from armsim.viewing.view import view

    target = output or (picture_name(given[0], "html") if port is None else None)

    def ready(address: str) -> None:
        if target is not None and not quiet:
            echo(f"written  {target}, {os.path.getsize(target) / 1e6:.1f} MB")
        if port is not None and not quiet:
            echo(f"serving  {address} to this machine; Ctrl-C ends it")
        if window:
            import webbrowser

            if not webbrowser.open(address):
                echo(f"! no browser is known here; open {address} in one", err=True)

    view(given, target, degrees, force, port, ready, dict(map(_slider, sliders)))
    return 0 if ended_by() is None else INTERRUPTED


def _slider(text: str) -> tuple[str, tuple[float, float] | None]:
    """The path of `--slider path=low:high`, and the ends."""
    from armsim.formulas.formula import constant_value

    path, equals, ends = text.partition("=")
    if not equals:
        return path, None
    values = [constant_value(end, f"--slider {text}") for end in ends.split(":")]
    if len(values) != 2:
        mend = f"write for example --slider {path}=0.5:2, or the path alone"
        raise UsageError.of(f"--slider {text}", "a path with two ends", ends, mend)
    return path, (values[0], values[1])
