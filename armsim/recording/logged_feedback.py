"""A controller that sees the measured positions of a log, sample by sample, as the real one did."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from armsim.arm.arrays import evaluate
from armsim.arrays import Array
from armsim.compile import BatchKernel
from armsim.control import Controller, FunctionLaw
from armsim.control.law import Seen
from armsim.control.state_feedback import StateFeedback
from armsim.errors import UsageError
from armsim.expr import Scalar, Scalars, flatten, leaves, trace, unflatten
from armsim.loading import Given, Scenario, scenario_of
from armsim.loading.voltage import check_motors
from armsim.model import Arm
from armsim.recording.command_history import CommandHistory

FINE = 8  # samples from row to row that stand for continuous control
NEAR = 1e-6  # of a period, by which a sample may miss a row


class LoggedFeedback:
    """A scenario's controller under measured positions; it begins at rest, with integrals of zero.

    Encoders count, and differences of positions are velocities; their noise is in the log. Without encoders velocities are the
    log's, or central differences of its positions.

    Args:
        scenario: The scenario.
        arm: The arm that was logged.

    Raises:
        FileFaults: The scenario cannot be used; says where and why.
        UsageError: It has no controller, or one that positions and velocities of these joints do not determine.
    """

    def __init__(self, scenario: Given | Scenario, arm: Arm) -> None:
        self.scenario = scenario_of(scenario)
        command, kinds = self.scenario.command, ", ".join(joint.type for joint in arm.joints)
        own = ", ".join(joint.type for joint in self.scenario.arm.joints)
        found = f"that of {own}" if own != kinds else None
        if not isinstance(command, Controller):
            found = "none"
        elif isinstance(command.law, FunctionLaw):
            found = "a Python function"
        elif isinstance(command.law, StateFeedback) and len(command.law.K[0]) > arm.n * (2 + command.delay):
            found = "state feedback of currents"
        if found is not None or not isinstance(command, Controller):
            expected = f"`control` of joints that are {kinds}, by their positions and velocities"
            raise UsageError.of(f"feedback {self.scenario.name}", expected, str(found), "name another scenario")
        check_motors(arm, command.output, arm.name)
        quiet = None if command.encoder is None else replace(command.encoder, noise=(0.0,) * arm.n)
        self.controller = replace(command, encoder=quiet if command.period else None)

    @property
    def told(self) -> str:
        """What it is, in words."""
        period = self.controller.period
        when = "continuous" if period is None else f"every {period:g} s"
        return f"{self.controller.law.name} of {self.scenario.name}, {when}, which sees the measured positions"

    def commands(self, t: Array, q: Array, qd: Array | None) -> CommandHistory:
        """What it commands.

        Args:
            t: Times of the rows [s], shape (m,), those of the scenario.
            q: Joint positions [rad or m], shape (m, n); on straight lines between rows.
            qd: Joint velocities [rad/s or m/s], likewise; None where the log has none.
        """
        period = self.controller.period
        if period is None:
            at = np.interp(np.arange(FINE * (len(t) - 1) + 1) / FINE, np.arange(len(t)), t)
            apart = np.diff(at, append=2 * at[-1] - at[-2])
        else:
            at = t[0] + period * np.arange(int((t[-1] - t[0]) / period + NEAR) + 1)
            nearest = t[np.searchsorted(t, at - NEAR * period).clip(max=len(t) - 1)]
            at = np.where(np.abs(at - nearest) < NEAR * period, nearest, at)
            apart = np.full(len(at), period)
        rates = np.gradient(q, t, axis=0) if qd is None else qd
        seen = [np.interp(at, t, x) for x in (*q.T, *rates.T)]
        start = np.array([[0.0] * self.controller.n + leaves(self.controller.begin())], dtype=float)
        rows = np.column_stack([at, apart, *seen]).reshape(1, -1)
        found = evaluate(self._kernel, [start, rows], steps=len(at), every=True).reshape(len(at) + 1, -1)
        return CommandHistory(at, found[1:, : self.controller.n], period is None)

    @cached_property
    def _kernel(self) -> BatchKernel:
        """A sample: commands and memory, from those before, and time, time since then, positions and velocities."""
        n, memory = self.controller.n, self.controller.begin()
        structure, width = flatten(memory)[1], n + len(leaves(memory))

        def sample(*x: Scalar) -> Scalars:
            t, apart, *seen = x[width:]
            controller = replace(self.controller, period=apart)
            return leaves(controller.sample(t, Seen(seen[:n], seen[n:]), unflatten(structure, x[n:width])))

        names = [f"x{i}" for i in range(width + 2 + 2 * n)]
        return BatchKernel(trace(sample, names, "sample"), widths=[width, 2 + 2 * n], repeats=True)
