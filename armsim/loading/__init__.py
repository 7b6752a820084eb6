"""From files to what is simulated: robots and scenarios read, checked, built, and written out in full.

What others use:
    Given, Overrides: what a robot or a scenario is given as, and values by path in place of its own.
    read_robot, read_scenario: an `Arm`, or a `Scenario`, from a file, a shipped name or plain data.
    load_robot_file, load_scenario_file: a checked `RobotFile` or `ScenarioFile`, from which build_robot and build_scenario
        make the same, with numbers left open on request.
    resolved_robot: a robot, written out in full.
    check: `check`, faults and warnings of a file. definite: `undetermined`. voltage: `voltage_refusal`.
    visuals: `shapes`, the meshes of links.
    build: `build_body`, one solid's inertia. settle: `settle`, data with a scalar for each number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.document.overrides import Overrides
    from armsim.loading.build import build_robot
    from armsim.loading.checked import RobotFile, ScenarioFile
    from armsim.loading.robot_file import Given, load_robot_file, read_robot, resolved_robot
    from armsim.loading.scenario import Scenario, build_scenario
    from armsim.loading.scenario_file import load_scenario_file, read_scenario, scenario_of

_HOMES = {
    "robot_file": "Given Overrides load_robot_file read_robot resolved_robot",
    "checked": "RobotFile ScenarioFile",
    "scenario": "Scenario build_scenario",
    "build": "build_robot",
    "scenario_file": "load_scenario_file read_scenario scenario_of",
}

__all__ = [
    "Given",
    "Overrides",
    "RobotFile",
    "Scenario",
    "ScenarioFile",
    "build_robot",
    "build_scenario",
    "load_robot_file",
    "load_scenario_file",
    "read_robot",
    "read_scenario",
    "resolved_robot",
    "scenario_of",
]
__getattr__ = opened(__name__, _HOMES)
