"""`armsim`: its commands by section, imported lazily."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from keyword import iskeyword

import click

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
        "sweep": "Run a scenario for many values; write a row of measures for each.",
        "tune": "Optimise gains or other parameters; report where they hold.",
        "plan": "Plan a motion to a target at the least cost within all limits.",
        "sensitivity": "Show which numbers of its files a run's measures depend on.",
        "converge": "Find the step and integrator a scenario needs: error, order, cost.",
        "record": "Run a scenario; keep the full state and inputs of every sample.",
        "replay": "Run a model on recorded inputs; compare it with the recording or log.",
        "identify": "Find friction, motors, masses from logs of a real arm, with intervals.",
        "compare": "Compare two runs, column by column.",
        "plot": "Plot a run over time, or several runs and their differences.",
        "animate": "Animate the arm of a run: GIF, MP4, or a strip of poses.",
        "view": "Write a 3-D page of a run, of an arm with sliders, or of a live run.",
        "report": "Write a run on one page, to print or mail: numbers, curves, 3-D.",
        "linearize": "Linearise a scenario about a state: modes, matrices, gains.",
    },
    "Ask an arm": {
        "reference": "Check a reference: its speeds, and the torques it asks of the motors.",
        "inverse": "Compute the torques that hold a pose or produce a motion.",
        "forward": "Compute accelerations under torques or motor voltages.",
        "advance": "Advance an arm by a given time under constant torques.",
        "fk": "Compute the poses of all links and the tool.",
        "ik": "Compute joint positions for a pose of the tool, or why there are none.",
        "workspace": "Map where the tool can be, and what the motors hold there.",
        "motor": "Show what motors can do at their joints, and how much holding takes.",
        "excite": "Find a motion that shows parameters, and how well a log tells them.",
        "derive": "Derive the equations of motion in symbols, and short programs.",
    },
    "Take it elsewhere": {
        "export": "Export dynamics and steps: C, Fortran, Python, JavaScript, CasADi.",
    },
    "Look into files": {
        "check": "List all faults and doubts of files, without running them.",
        "info": "Show the numbers of a robot or scenario file, and what follows.",
        "draw": "Draw a robot at a pose: frames, ranges, lengths, masses.",
        "inertia": "List every solid of a robot with its inertia, and their sums.",
        "list": "List the robots, scenarios and studies that come with armsim.",
        "docs": "Show the documentation that comes with armsim.",
    },
    "Set up": {
        "import": "Write a robot file from URDF or MJCF; say what is odd in it.",
        "new": "Write a robot and a scenario to begin with, in a new folder.",
        "schema": "Print the JSON Schema of robot, scenario or study files, for editors.",
        "completion": "Have the shell complete commands, options and names.",
        "cache": "Show or remove compiled code that is kept.",
    },
}


class Commands(click.Group):
    """The commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for section in COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"armsim.cli.{cmd_name}{'_' * iskeyword(cmd_name)}").command
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
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},  # its commands inherit them
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
    """The dynamics of robot arms, from one YAML file: simulate them, ask what torques they need.

    ROBOT and SCENARIO are files, or names of shipped ones.
    """
    from armsim.cli.options import doubt

    ctx.with_resource(spoken_in_shell())
    ctx.with_resource(warnings.catch_warnings())
    warnings.showwarning = lambda message, *_: doubt(str(message))
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
