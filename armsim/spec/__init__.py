"""What users write: robot and scenario files, their checks, and the models made of them.

Names are imported on first use: the reader of YAML needs the faults of this package before the rest of it.
"""

from __future__ import annotations

from typing import Any

_HOMES = {
    "Fault": "armsim.files.faults",
    "RobotFile": "robot_file",
    "Scenario": "scenario_file",
    "ScenarioFile": "scenario_file",
    "build_robot": "build",
    "build_scenario": "scenario_file",
    "load_robot_file": "robot_file",
    "load_scenario_file": "scenario_file",
    "read_robot": "robot_file",
    "read_scenario": "scenario_file",
    "resolved_robot": "resolved",
    "resolved_scenario": "resolved",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = _HOMES[name]
    return getattr(import_module(home if "." in home else f"armsim.spec.{home}"), name)
