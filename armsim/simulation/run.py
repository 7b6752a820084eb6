"""A run, as `armsim.simulate` returns it."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from armsim.simulation.folder import write_run
from armsim.simulation.result import Result
from armsim.simulation.summary import summarize


class Run(Result):
    """A finished, interrupted or diverged simulation, which can be summed up and saved."""

    def save(self, folder: str | PathLike[str] | None = None, force: bool = False, degrees: bool = False) -> Path:
        """Write trajectory.csv, torque.csv and run.yaml.

        Args:
            folder: Where: absent or empty; `runs/<scenario>-001` or the next free number if none is given.
            force: Replace an earlier run there.
            degrees: Write joint angles in degrees.

        Returns:
            The folder.

        Raises:
            UsageError: The folder holds something that is not to be overwritten.
        """
        return write_run(self, self._summary, folder, force, degrees)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return summarize(self)

    def summary(self) -> dict[str, Any]:
        """What the command line prints, as plain data; see `armsim.simulation.summary`."""
        return dict(self._summary)
