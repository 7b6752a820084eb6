"""From files to what is simulated: robots and scenarios read, checked, built, and written out in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.loading.build import build_robot
    from armsim.loading.checked import RobotFile, ScenarioFile
    from armsim.loading.resolved import resolved_robot
    from armsim.loading.robot_file import load_robot_file, read_robot
    from armsim.loading.scenario import Scenario, build_scenario
    from armsim.loading.scenario_file import load_scenario_file, read_scenario, scenario_of

_HOMES = {
    "RobotFile": "checked",
    "Scenario": "scenario",
    "ScenarioFile": "checked",
    "build_robot": "build",
    "build_scenario": "scenario",
    "load_robot_file": "robot_file",
    "load_scenario_file": "scenario_file",
    "read_robot": "robot_file",
    "read_scenario": "scenario_file",
    "resolved_robot": "resolved",
    "scenario_of": "scenario_file",
}

__all__ = [
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
