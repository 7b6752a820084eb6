"""`armsim view`"""

from __future__ import annotations

import os
from typing import Any

import click

from armsim.cli.options import Display, flag, grouped, quiet_options, shipped
from armsim.cli.pictures import OutputFile, page_option, picture_name, replace_page_option
from armsim.errors import UsageError
from armsim.files.interrupts import ended_by
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.streams import echo


@click.command(
    "view",
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
@page_option
@flag("--deg", "degrees", help="Show joint angles in degrees.")
@click.option(
    "--slider",
    "sliders",
    multiple=True,
    metavar="PATH[=LOW:HIGH]",
    help="A slider for one more number of a scenario; repeatable.",
)
@click.option("--port", type=int, metavar="N", help="Serve it at 127.0.0.1:N until Ctrl-C; a file only with -o.")
@grouped(
    "output",
    OutputFile,
    flag("--open", "window", help="Open it in the browser."),
    replace_page_option,
)
@quiet_options
def command(given: Any, output: OutputFile, sliders: tuple[str, ...], port: int | None, display: Display) -> int:
    """Write a page that shows an arm in three dimensions: one file that needs no network, to look at or to mail.

    The page of a RUN, a folder of `armsim simulate` or `armsim record`, plays the motion beside its curves; a second run is drawn
    pale. The page of a ROBOT has sliders for the joints, and prints the holding torques. The page of a SCENARIO simulates, with
    sliders for target, gains and payload; a drag at the arm pushes its tool. `armsim docs view` tells more.
    """
    from armsim.viewing.view import view

    target = output.path or (picture_name(given[0], "html") if port is None else None)

    def ready(address: str) -> None:
        if target is not None:
            display.say(f"written  {target}, {os.path.getsize(target) / 1e6:.1f} MB")
        if port is not None:
            display.say(f"serving  {address} to this machine; Ctrl-C ends it")
        if output.window:
            import webbrowser

            if not webbrowser.open(address):
                echo(f"! no browser is known here; open {address} in one", err=True)

    view(given, target, display.degrees, output.force, port, ready, dict(map(_slider, sliders)))
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
