"""The message of a run that diverged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from armsim.control import Controller
from armsim.errors import Refusal
from armsim.simulation.loop_plan import BOUNDS

if TYPE_CHECKING:
    from armsim.loading import Scenario
    from armsim.simulation.divergence import Divergence

KEPT = "(the rows up to then are kept, and the run is marked as diverged)"
NAMES = {
    "q": "position",
    "qd": "velocity",
    "integral": "controller integral",
    "held": "command",
    "queued": "command",
    "plan": "planned command",
    "filtered": "filtered derivative",
    "encoder": "measured position",
    "velocity": "measured velocity",
    "current": "motor current",
}
UNITS = {"q": " rad or m", "qd": " rad/s or m/s", "current": " A"}
TOO_FAST = 1.5  # a step: no step follows a motion that grows so


def divergence(where: Divergence, scenario: Scenario) -> str:
    """Which joint, when, how fast it grew, and what to change.

    Args:
        where: The diagnosis. A motion that grew goes before all that the last steps show.
        scenario: What was run.
    """
    method, smaller = scenario.method, f"a smaller step than dt = {scenario.dt:g} s"
    kind, joint = where.slot.split("_", 1)
    name = NAMES.get(kind, "state")
    ended, what, found = "diverged", f"the {name} of joint {joint} grew without bound", "one beyond it"
    expected = f"a {name} within {BOUNDS.get(kind, math.inf):g}{UNITS.get(kind, '')}"
    motion, growth = where.motion, where.growth
    if not where.torques_finite:
        ended, what = "stopped", "a torque was no longer finite"
        expected, found = "finite torques", "NaN or infinity"
        mend = f"look for a division by zero, or a root or logarithm of a negative number, in {_formulas(scenario)}"
    elif motion is not None:
        away, doubling = motion.joint, _time(motion.doubling_s)
        what, expected = f"joint {away} ran away", "a motion within all bounds"
        found = f"the motion itself grew, not by the step: the velocity of {away} doubled every {doubling},\n"
        found += f"from t = {motion.since:.6g} s on, as its accelerations had it"
        mend = f"check the signs of {away}'s gains, torques and stops; a smaller step would not help"
    elif where.stalled == "too many steps":
        ended, what = "stopped", f"{method} tried a million steps and was not at the next instant"
        expected, found = "the next instant in fewer", "a time that is too long for this method"
        mend = "take rodas, if something decays fast" if method != "rodas" else "see what changes so fast"
        mend += ", a greater integrator.rtol, or a shorter duration"
    elif where.stalled and scenario.adaptive:
        ended, what = "stopped", f"{method} found no step short enough for rtol {scenario.tolerance.rtol:g}"
        expected, found = "a step whose error is within it", "none, however short"
        mend = "take a greater integrator.rtol, or check gains, stops and inputs"
    elif where.stalled:
        ended, what = "stopped", f"the equations of a step of {method} had no solution that could be found"
        expected, found = "a solution of them by Newton's iteration", "none: it did not converge"
        mend = f"take {smaller}, or rodas, which chooses its own"
    elif scenario.adaptive:
        mend = "check signs and sizes of gains, torques, stops and masses"
    elif growth is None:
        mend = f"take {smaller} with {method} (`armsim converge` finds one), or check gains,\nstops and masses of that joint"
        mend += _stable(where)
    else:
        what = f"the velocity of joint {growth.joint} grew without bound"
        expected = f"a velocity within {BOUNDS['qd']:g}{UNITS['qd']}"
        since = "" if growth.since is None else f", from t = {growth.since:.6g} s on"
        sign = ", with alternating sign" if growth.alternates else ""
        times = f"{growth.factor:{'.3g' if growth.factor > 1.1 else '.4f'}}-fold a {growth.per}"
        found = f"{times}{sign}; it doubled every {_time(growth.doubling_s)}{since}"
        mend = f"see whether {smaller} with {method} stays bounded (`armsim converge`); if\n"
        mend += "not, it is the motion that grows: check signs and sizes of gains, torques and masses"
        if growth.per == "sample":
            mend = (
                "the controller does more harm from sample to sample than good: lower its gains, or sample more often"
            )
        elif growth.alternates or growth.factor > TOO_FAST:
            mend = f"that is the step's doing, not the arm's: take a smaller one than dt = {scenario.dt:g} s with {method}\n"
            mend += "(`armsim converge` finds one), or soften gains, stops or damping of that joint"
        mend += _stable(where)
    at = f"the simulation {ended} at t = {where.time:.6g} s"
    return str(Refusal(f"{at}: {what}", expected, found, f"{mend}\n{KEPT}"))


def _stable(where: Divergence) -> str:
    """The largest stable step and the stable methods, where known, as a line."""
    stable = where.stable
    if stable is None:
        return ""
    from armsim.stability.advice import listed

    limit = f"the largest stable step here is {stable.dt:.3g} s" if stable.dt else "no step is stable here"
    return f"\n{limit}" + (f"; {listed(stable.methods)} would take this one" if stable.methods else "")


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"


def _formulas(scenario: Scenario) -> str:
    """Where a scenario has formulas, as its file calls it."""
    command, forces = scenario.command, ["`external`"] * any(wrench.follows for wrench in scenario.external)
    if not isinstance(command, Controller):
        return " and ".join([*forces, *["`inputs`"] * (command is not None)]) or "`inputs`"
    laws = {"expression": "`control.command`", "python": "the function of the law"}
    places = [laws[command.law.name]] if command.law.name in laws else []
    places += ["`control.reference`, also of its derivatives"] * command.reference.timed
    return " and ".join([*places, *["`inputs`"] * (command.inputs is not None), *forces]) or "`control`"
