"""What to say of a run that diverged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from armsim.spec import Scenario

KEPT = "            (the rows up to then are kept, and the run is marked as diverged)"
NAMES = {
    "q": "position",
    "qd": "velocity",
    "integral": "controller integral",
    "held": "command",
    "current": "motor current",
}
TOO_FAST = 1.5  # a step: no step follows a motion that grows so


def divergence(where: dict[str, Any], scenario: Scenario) -> str:
    """Which joint, when, how fast it grew, and what to change.

    Args:
        where: slot, time, and where they are known torques_finite, growth and motion (see `armsim.run.departure`; a motion
            that grew goes before all that the last steps show) and stable:
            {"dt": the largest stable step [s], "methods": those that would take the step of this run}; stalled, of a run
            that ended at a step which could not be made: see `armsim.run.result.Run`.
        scenario: What was run.
    """
    method, dt = scenario.method, scenario.dt
    at = f"at t = {where['time']:.6g} s"
    if not where.get("torques_finite", True):
        return (
            f"the simulation stopped {at}: a torque was no longer finite\n"
            "  mend:     look for a division by zero, or a root or logarithm of a negative number, in `inputs`\n" + KEPT
        )
    motion = where.get("motion")
    if motion is not None:
        name, doubling = motion["joint"], _time(motion["doubling_s"])
        return (
            f"the simulation diverged {at}: joint {name} ran away\n"
            f"  found:    the motion itself grew, not by the step: the velocity of {name} doubled every {doubling},\n"
            f"            from t = {motion['since']:.6g} s on, as its accelerations had it\n"
            f"  mend:     check the signs of {name}'s gains, torques and stops; a smaller step would not help\n{KEPT}"
        )
    if where.get("stalled") and not scenario.adaptive:
        return (
            f"the simulation stopped {at}: the equations of a step of {method} had no solution that could be found\n"
            f"  mend:     take a smaller step than dt = {dt:g} s, or rodas, which chooses its own\n" + KEPT
        )
    if where.get("stalled"):
        return (
            f"the simulation stopped {at}: {method} found no step short enough for rtol {scenario.tolerance.rtol:g}\n"
            f"  mend:     take a greater integrator.rtol, or check gains, stops and inputs\n{KEPT}"
        )
    kind, joint = where["slot"].split("_", 1)
    what = f"the {NAMES.get(kind, 'state')} of joint {joint}"
    growth = where.get("growth")
    if scenario.adaptive:
        return (
            f"the simulation diverged {at}: {what} grew without bound\n"
            f"  mend:     check signs and sizes of gains, torques, stops and masses\n{KEPT}"
        )
    if growth is None:
        return (
            f"the simulation diverged {at}: {what} grew without bound\n"
            f"  mend:     take a smaller step than dt = {dt:g} s with {method} (`armsim converge` finds one), or check gains,\n"
            f"            stops and masses of that joint\n{_stable(where)}{KEPT}"
        )
    since = "" if growth["since"] is None else f", from t = {growth['since']:.6g} s on"
    sign = ", with alternating sign" if growth["alternates"] else ""
    found = f"{_factor(growth['factor'])}-fold a {growth['per']}{sign}; it doubled every {_time(growth['doubling_s'])}{since}"
    if growth["per"] == "sample":
        mend = "the controller does more harm from sample to sample than good: lower its gains, or sample more often\n"
    elif growth["alternates"] or growth["factor"] > TOO_FAST:
        mend = f"that is the step's doing, not the arm's: take a smaller one than dt = {dt:g} s with {method}\n"
        mend += "            (`armsim converge` finds one), or soften gains, stops or damping of that joint\n"
    else:
        mend = f"see whether a smaller step than dt = {dt:g} s with {method} stays bounded (`armsim converge`); if\n"
        mend += "            not, it is the motion that grows: check signs and sizes of gains, torques and masses\n"
    return (
        f"the simulation diverged {at}: the velocity of joint {growth['joint']} grew without bound\n"
        f"  found:    {found}\n  mend:     {mend}{_stable(where)}{KEPT}"
    )


def _stable(where: dict[str, Any]) -> str:
    """What is known of stable steps, as a line of its own."""
    stable = where.get("stable")
    if stable is None:
        return ""
    from armsim.run.advice import listed

    limit = f"the largest stable step here is {stable['dt']:.3g} s" if stable["dt"] else "no step is stable here"
    methods = f"; {listed(stable['methods'])} would take this one" if stable["methods"] else ""
    return f"            {limit}{methods}\n"


def _factor(factor: float) -> str:
    return f"{factor:.3g}" if factor > 1.1 else f"{factor:.4f}"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"
