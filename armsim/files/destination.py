"""Where results go."""

from __future__ import annotations

from os import PathLike

from armsim.records import record


@record
class Destination:
    """The folder of a run, a study or an export.

    Attributes:
        folder: Its path; the next free number under `runs` or `studies` if None.
        force: Whether earlier results in it may be replaced.
    """

    folder: str | PathLike[str] | None = None
    force: bool = False
