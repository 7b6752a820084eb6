"""What an identification comes to: numbers and their intervals, what the log cannot see, and whether the model explains it."""

from __future__ import annotations

import os
from dataclasses import field
from functools import partial
from os import PathLike

import numpy as np

from armsim.arrays import Array
from armsim.display import Shown
from armsim.errors import refusing
from armsim.files.csv_writer import write_rows
from armsim.files.new_file import write_files
from armsim.files.yaml_writer import yaml_text
from armsim.identification.base_numbers import BaseNumbers
from armsim.identification.consistent import ConsistentInertias
from armsim.identification.estimate import Estimate
from armsim.identification.identified_file import FILES, check_files, identified_text
from armsim.identification.unseen import UnseenDirection
from armsim.loading import Given
from armsim.model import Arm
from armsim.model.angles import POSITION
from armsim.plant.columns import spellings
from armsim.recording.follow import Horizon
from armsim.recording.measured_log import MeasuredLog
from armsim.records import OMIT, Json, as_plain, record
from armsim.version import __version__

FORMAT = "armsim/identification/1"
COMMENT = (
    "# Found by `armsim identify`: numbers of a robot file from logs, with half-widths of 95 % confidence intervals.\n"
)
ENDS = (
    "",
    "_before",
    "_after",
)  # of headings in fit.csv: measured, and of the model with the file's numbers and those found
CLOSE = 0.95  # correlation from which two numbers are said to be hard to tell apart


@record
class JointResidual:
    """What is left of a joint's motion.

    Attributes:
        joint: Its name.
        unit: rad or m.
        rms: Root mean square of model less measured in the windows that were fitted [rad or m].
        noise: Of the sensor, from row to row, likewise.
        quantum: Its resolution, likewise; 0 for none.
        slow: Of that part of `rms` that lasts for many rows, which noise does not, likewise.
        neighbours: Correlation of residuals of neighbouring rows.
        explained: Whether the sensor's noise and resolution account for it.
    """

    joint: str
    unit: str
    rms: float = field(metadata=POSITION)
    noise: float = field(metadata=POSITION)
    quantum: float = field(metadata=POSITION)
    slow: float = field(metadata=POSITION)
    neighbours: float
    explained: bool


@record
class Identification(Shown):
    """Numbers of a robot file found from logs.

    Attributes:
        robot: The robot file.
        arm: The arm as the file has it.
        base: The numbers among those sought that stand for base parameters; None where none were.
        logs: The logs.
        method: Integrator of the simulated motion.
        dt: Its step [s].
        window: Length of the windows [s].
        windows: How many were fitted.
        steps: Steps of the fit.
        estimates: Of all unknowns.
        close: Pairs of paths that the log hardly tells apart, with their correlation.
        unseen: Changes of numbers that the log cannot see, to within what it tells.
        residuals: Of every joint.
        before: Drift from the log that was held back, with the file's numbers.
        after: The same with those found.
        fed: The same under the commands of a controller that sees the log's positions; empty where none was named.
        held_back: How much of the logs was held back [s]; where none was, the drifts are those of what was fitted.
        fitted: Times, measured positions, and those of the model before and after, of the windows that were fitted.
    """

    robot: Given = field(repr=False)
    arm: Arm = field(repr=False)
    base: BaseNumbers | None = field(repr=False)
    logs: tuple[MeasuredLog, ...]
    method: str
    dt: float
    window: float
    windows: int
    steps: int
    estimates: tuple[Estimate, ...]
    close: tuple[tuple[str, str, float], ...]
    unseen: tuple[UnseenDirection, ...]
    residuals: tuple[JointResidual, ...]
    before: tuple[Horizon, ...]
    after: tuple[Horizon, ...]
    fed: tuple[Horizon, ...]
    held_back: float
    fitted: dict[str, Array] = field(repr=False, metadata=OMIT)

    def __repr__(self) -> str:
        return f"Identification({self.arm.name}: {self.verdict})"

    def __getitem__(self, path: str) -> Estimate:
        """The estimate of a path."""
        return {estimate.path: estimate for estimate in self.estimates}[path]

    @property
    def values(self) -> dict[str, float]:
        """The numbers of the robot file by path, as overrides take them, without those that stand for base parameters."""
        apart = () if self.base is None else self.base.paths
        return {one.path: one.value for one in self.estimates if "." in one.path and one.path not in apart}

    @property
    def links(self) -> ConsistentInertias | None:
        """Inertial parameters of links that can exist, with the base parameters found or near them; None if none were sought."""
        return None if self.base is None else self.base.links(self.estimates)

    @property
    def explained(self) -> bool:
        """Whether the model explains every joint's motion."""
        return all(residual.explained for residual in self.residuals)

    @property
    def verdict(self) -> str:
        """In a line."""
        if self.explained:
            return "the model explains the log: what is left is the sensors' noise"
        names = ", ".join(residual.joint for residual in self.residuals if not residual.explained)
        return f"the model does not explain the log: what is left of {names} is not noise"

    def save(self, folder: str | PathLike[str], force: bool = False) -> list[str]:
        """Write the robot's file with the numbers that were found, and how they were; see docs/identify.md.

        Args:
            folder: For identified.yaml, identification.yaml and fit.csv; made if it is not there.
            force: Whether to replace such files.

        Returns:
            Their paths.

        Raises:
            UsageError: They exist, or cannot be written.
        """
        check_files(folder, force)
        path = os.fspath(folder)
        with refusing(path, "a folder that can be written", "check its name and its permissions"):
            text = identified_text(self.robot, self.estimates, os.path.abspath(path), self.base)
            about = COMMENT + yaml_text({"format": FORMAT, "armsim": __version__, **self.data()})
            names = [spellings("q", joint)[0][0] for joint in self.arm.joints]
            headings = ["t_s", *(f"{heading}{end}" for end in ENDS for heading in names)]
            columns = [self.fitted[key] for key in ("t", "measured", "before", "after")]
            rows = partial(write_rows, headings=headings, values=np.column_stack(columns).ravel())
            return write_files(path, dict(zip(FILES, (text, about, rows), strict=True)))

    def data(self) -> Json:
        """As plain data, in SI units and the file's."""
        told = {
            "robot": self.arm.name,
            "logs": [
                {"name": log.name, "rows": len(log.t), "inputs": log.inputs_from, "notes": log.notes}
                for log in self.logs
            ],
        }
        left_out = ("robot", "arm", "base", "logs", "fitted")
        told |= {key: getattr(self, key) for key in vars(self) if key not in left_out}
        return dict(as_plain(told | {"explained": self.explained, "verdict": self.verdict}))
