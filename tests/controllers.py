"""Controllers for tests, in one line."""

from __future__ import annotations

from armsim.control import Constant, Controller, Pid


def feedback(law, output, kp, ki, kd, target, limit, integral_limit, period=None) -> Controller:
    """PD, PI or PID control of a constant target; sequences of one number per joint, gains that the law lacks zero."""
    pid = Pid(law, tuple(kp), tuple(ki), tuple(kd), tuple(integral_limit))
    return Controller(pid, output, Constant(tuple(target)), tuple(limit), period=period)
