"""`armsim`: its commands by section, imported lazily."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from armsim.cli.options import SETTINGS
from armsim.errors import spoken_in_shell
from armsim.progress import work_shown_by
from armsim.terminal.failure import COMPLETING, exit_code, told
from armsim.terminal.progress import work_bar
from armsim.terminal.streams import flush, open_streams
from armsim.version import __version__

# section, then command and its one-line help; each lives in a module of its name, imported when it is called
COMMANDS = {
    "Simulate": {
        "simulate": "Run a scenario; write its trajectory and torques.",
        "sweep": "Run a scenario for many values; a row of measures for each.",
        "tune": "Gains, or any numbers, for which a measure is least; where they hold.",
        "converge": "Which step and integrator a scenario needs: error, order, cost.",
        "record": "Run a scenario; keep the full state and inputs of every sample.",
        "replay": "Run a model on recorded inputs; compare it with the recording or log.",
        "compare": "Differences of two runs, column by column.",
        "plot": "A run over time in a picture, or several and how they differ.",
        "animate": "The arm of a run in motion: GIF, MP4, or a strip of poses.",
        "view": "A page that shows an arm in 3-D: a run, sliders, or simulated live.",
        "report": "A run on one page, to print or mail: its numbers, curves, and in 3-D.",
        "linearize": "How a scenario moves near one of its states: modes, matrices, gains.",
    },
    "Ask an arm": {
        "reference": "How fast a scenario's reference is, and what it asks of the motors.",
        "inverse": "Torques that hold a pose or make a motion, and what motors need.",
        "forward": "Accelerations under torques or motor voltages.",
        "advance": "Where it is after some time under constant torques.",
        "fk": "Where every link and the tool stand.",
        "motor": "What motors can do at their joints, and how much of it holding takes.",
        "derive": "Its equations of motion in symbols, and as programs of few operations.",
    },
    "Take it elsewhere": {
        "export": "Dynamics and steps as C, Fortran, Python, JavaScript, CasADi.",
    },
    "Look into files": {
        "check": "All that is wrong or doubtful about files, without running them.",
        "info": "What a robot or scenario file says, in numbers, and what follows.",
        "draw": "A robot at a pose, in a picture: frames, ranges, lengths, masses.",
        "inertia": "Every solid of a robot with its inertia, and their sums.",
        "list": "Robots, scenarios and studies that come with armsim.",
        "docs": "The documentation that comes with armsim.",
    },
    "Set up": {
        "new": "A robot and a scenario to begin with, in a new folder.",
        "schema": "JSON Schema of robot, scenario and study files, for editors.",
        "completion": "Have the shell complete commands, options and names.",
        "cache": "Compiled code that is kept: where, how much; remove it.",
    },
}


class Commands(click.Group):
    """The commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for section in COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"armsim.cli.{cmd_name}").command
        if COMPLETING in os.environ:
            from armsim.terminal.completion import completed

            return completed(command)
        return command

    def resolve_command(self, ctx, args):
        if args and args[0] not in self.list_commands(ctx):
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint} `armsim --help` lists them.", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, commands in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()))


@click.group(
    cls=Commands,
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim list                    robots and scenarios to begin with
  armsim simulate arm5_hold      five joints hold their pose; writes runs/...
  armsim inverse arm5            the torques that hold the five-joint arm
  armsim info my_arm.yaml        is this the arm I meant?
  armsim simulate --help         more of a command, with examples
  armsim docs your-arm           from a DH table to a pose that is held
""",
)
@click.version_option(__version__, "-V", "--version", prog_name="armsim", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """The dynamics of serial robot arms, from one YAML file: simulate them, ask what torques they need.

    ROBOT and SCENARIO are files, or names of shipped ones.
    """
    ctx.with_resource(spoken_in_shell())
    ctx.with_resource(work_shown_by(work_bar))


def main(args: list[str] | None = None) -> None:
    """Run the command line and end the process.

    Its exit code is 0: done; 1: checked and not well; 2: cannot run; 3: diverged; 70: armsim's own fault; 130: stopped by Ctrl-C;
    143 and 129: by SIGTERM and SIGHUP, where these are heard as Ctrl-C is.
    """
    open_streams()
    try:
        code = cli.main(args=args, prog_name="armsim", standalone_mode=False)
        flush()
    except BaseException as error:  # all that ends a command has a message and a code
        code = told(error)
    sys.exit(exit_code(code) if isinstance(code, int) else 0)
