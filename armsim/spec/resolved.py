"""Files written out in full: every default filled, every number worked out; they read back to the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armsim.spec.quantity import Quantity, plain
from armsim.spec.scenario import AUTO
from armsim.spec.timing import time_at

if TYPE_CHECKING:
    from armsim.spec.run_scenario import Scenario


def resolved_robot(data: dict[str, Any]) -> dict[str, Any]:
    """A robot as plain data, in the unit of its file.

    Args:
        data: As `armsim.spec.load_robot_file` reads it.
    """
    robot: dict[str, Any] = plain(data)
    for joint in robot["joints"]:
        if "motor" in joint:
            motor = joint["motor"]
            if "Kp" in motor:
                motor.setdefault("Ke", motor["Kp"])
            if not motor["limits"]:
                del motor["limits"]
    if not robot["parameters"]:
        del robot["parameters"]
    return robot


def resolved_scenario(scenario: Scenario) -> dict[str, Any]:
    """A scenario as plain data, angles in radians, its robot in it."""
    file = scenario.file
    data = file.data
    control, inputs = data["control"], data["inputs"]
    resolved: dict[str, Any] = {
        "format": data["format"],
        "name": file.name,
        "robot": resolved_robot(file.robot.data),
        "units": {"angle": "rad"},
        "duration": time_at(scenario.steps, scenario.time_ratio),
        "integrator": _integrator(scenario),
        "initial": {"q": list(scenario.initial_q), "qd": list(scenario.initial_qd)},
    }
    if control is not None and control["law"] == "none":
        resolved["control"] = {"law": "none"}
    elif control is not None:
        resolved["control"] = plain(control)
        resolved["control"]["target"] = list(scenario.command.target)  # type: ignore[union-attr]  # it is feedback
        if control["limit"] is not None and control["ki"] is not None:
            resolved["control"].setdefault("integral_limit", plain(control["limit"]))
    if inputs is not None:
        output = "torque" if inputs["voltage"] is None else "voltage"
        resolved["inputs"] = {output: [_signal(signal) for signal in inputs[output]]}
        if inputs["period"] is not None:
            resolved["inputs"]["period"] = inputs["period"].value
    if data["external"]:
        resolved["external"] = plain(data["external"])
    if data["payload"] is not None:
        resolved["payload"] = plain(data["payload"])
    resolved["log"] = {"every": time_at(scenario.log_every, scenario.time_ratio)}
    return resolved


def _integrator(scenario: Scenario) -> dict[str, Any]:
    """How time advances; a step that was worked out is written down once it is known which method it is for."""
    method, given = scenario.method, scenario.file.data["integrator"]["dt"] is not None
    return {
        "method": method,
        **({"dt": scenario.dt} if given or method != AUTO else {}),
        **(vars(scenario.tolerance) if scenario.adaptive or (method == AUTO and not given) else {}),
    }


def _signal(signal: Any) -> Any:
    if isinstance(signal, Quantity):
        of_time = signal.formula is not None and "t" in signal.formula.names
        return signal.text if of_time else signal.value
    return {"csv": signal["file"], "column": signal["column"], "hold": signal["hold"], "sha256": signal["sha256"]}
