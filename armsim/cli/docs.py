"""`armsim docs`"""

from __future__ import annotations

import shutil
import sys

import click

from armsim.files.pages import PAGES, page_text
from armsim.terminal.completion import pages
from armsim.terminal.page import page
from armsim.terminal.streams import echo
from armsim.text_columns import WIDTH, aligned

WIDEST = 100  # characters of a line that is easily read


@click.command(
    "docs",
    epilog="""\b
Examples:
  armsim docs                    the pages, with a line each
  armsim docs your-arm           from a DH table to a pose that is held
  armsim docs files | grep -n limits
""",
)
@click.argument("name", metavar="[PAGE]", required=False, shell_complete=pages)
def command(name: str | None) -> int:
    """Show a PAGE of the documentation that came with this armsim, or list all pages.

    On a terminal your pager shows it (PAGER; `less`, mostly: q leaves it, / searches); elsewhere it is plain text.
    """
    if name is None:
        echo("\n".join(aligned([*PAGES.items()], width=WIDTH)))
    elif sys.stdout.isatty():
        click.echo_via_pager(page(page_text(name), min(shutil.get_terminal_size().columns, WIDEST)))
    else:
        echo(page(page_text(name), WIDTH), nl=False)
    return 0
