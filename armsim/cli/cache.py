"""`armsim cache`"""

from __future__ import annotations

from dataclasses import asdict

import click

from armsim.cli.options import Display, flag, json_options
from armsim.reports.table import wrapped


@click.command(
    "cache",
    epilog="""\b
Examples:
  armsim cache             where it is, and how large
  armsim cache --clear     remove it; what is needed again is compiled again
  ARMSIM_CACHE_DIR=/scratch/kernels armsim simulate arm5_hold
""",
)
@flag("--clear", help="Remove all entries, and nothing else in the folder.")
@json_options
def command(clear: bool, display: Display) -> int:
    """Print where compiled kernels and advice are kept, and how much room they take.

    The folder is that in the environment variable ARMSIM_CACHE_DIR, or the user's cache folder. armsim uses it only if the user
    owns it and nobody else may write it, because its content is executed. Beyond 256 MiB the entries unused for longest go.
    """
    from armsim.compile import cache

    removed = cache.clear() if clear else 0
    found = cache.contents()
    cleared = f"{removed} entries removed; " if clear else ""
    room = f"{found.bytes / 2**20:.3g} of {cache.LIMIT / 2**20:.3g} MiB"
    lines = [f"{found.folder}: {cleared}{found.entries} entries, {room}"]
    lines += [wrapped(f"! it is not used: {found.refusal}")] if found.refusal else []
    display.print(lambda: {**asdict(found), "limit": cache.LIMIT, "removed": removed}, lambda: lines)
    return 0
