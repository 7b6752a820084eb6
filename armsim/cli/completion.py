"""`armsim completion`"""

from __future__ import annotations

import click

from armsim.terminal.completion import script
from armsim.terminal.failure import COMPLETING
from armsim.terminal.streams import echo


@click.command(
    "completion",
    epilog="""\b
Examples:
  armsim completion bash >> ~/.bashrc
  armsim completion zsh >> ~/.zshrc
  armsim completion fish > ~/.config/fish/completions/armsim.fish
""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print a script with which SHELL completes armsim's commands, options, integrators, joints, paths of
    `--set`, shipped names and files.

    Add it to what the shell reads when it starts, and open a new one.
    """
    from click.shell_completion import get_completion_class

    from armsim.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    echo(script(kind(cli, {}, "armsim", COMPLETING).source()))
    return 0
