"""What users may write: robots, scenarios and studies as typed documents. Each key is declared once, with its unit, bounds,
default and meaning; this gives checks, messages, defaults, the JSON Schema and docs/files.md. Parameters, overrides and times are
read here.

Documents can be made in Python, `document.Motor(Kp=0.05, Ra=1, gear=50)`; `armsim.Robot` and all that takes a robot or a scenario
check them as they check files.

What others use, besides the documents:
    robot, scenario: `read_robot_node`, `read_scenario_node`, from nodes to documents; AUTO, ADAPTIVE, FORMAT.
    base, composite, kinds: `Document`, `Number`, `List` and the other kinds, of which documents are declared; `walk`, `plain`.
    overrides: `apply_overrides`, values set by path; `split_overrides`, a scenario's and its robot's.
    paths: `parse_path`, `path_text`, `joint_index`, for paths such as `joints[R2].motor.Kp`.
    timing: `common_step`, times as whole numbers of steps.
    tolerance: `tolerance`, with the defaults of rtol and atol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.document.base import Document, plain
    from armsim.document.bodies import Box, Cylinder, KnownInertia, PayloadBody, Point, Rod, Sphere, TimedPayload, Tube
    from armsim.document.control import Control, Encoder, Posture
    from armsim.document.dry_friction import JointCoulomb, MotorCoulomb, MotorStribeck, Stribeck
    from armsim.document.joint import (
        Frame,
        Friction,
        Joint,
        Limits,
        LinkFrame,
        Mimic,
        ModifiedDH,
        Origin,
        Spring,
        StandardDH,
        Tool,
        Visual,
    )
    from armsim.document.motor import BrushDrop, Coupling, Motor, MotorLimits, Thermal
    from armsim.document.recorded import CsvSignal
    from armsim.document.reference import Reference
    from armsim.document.robot import Robot, RobotUnits
    from armsim.document.scenario import External, Initial, Inputs, Integrator, Log, Scenario, ScenarioUnits
    from armsim.document.study import Cases, Sample, Study, Tune
    from armsim.document.world import (
        BoxShape,
        Contact,
        CylinderShape,
        HeightFieldShape,
        Obstacle,
        PlaneShape,
        SphereShape,
    )
    from armsim.document.writing import save, text_of

_HOMES = {
    "bodies": "Box PayloadBody Cylinder KnownInertia TimedPayload Point Rod Sphere Tube",
    "motor": "BrushDrop Coupling Motor MotorLimits Thermal",
    "study": "Cases Sample Study Tune",
    "control": "Control Encoder Posture",
    "recorded": "CsvSignal",
    "base": "Document plain",
    "scenario": "External Initial Inputs Integrator Log Scenario ScenarioUnits",
    "joint": "Frame Friction Joint Limits LinkFrame Mimic ModifiedDH Origin Spring StandardDH Tool Visual",
    "dry_friction": "JointCoulomb MotorCoulomb MotorStribeck Stribeck",
    "reference": "Reference",
    "robot": "Robot RobotUnits",
    "world": "BoxShape Contact CylinderShape HeightFieldShape Obstacle PlaneShape SphereShape",
    "writing": "save text_of",
}

__all__ = [
    "Box",
    "BrushDrop",
    "PayloadBody",
    "Cases",
    "Control",
    "Coupling",
    "CsvSignal",
    "Cylinder",
    "Document",
    "Encoder",
    "External",
    "Frame",
    "Friction",
    "Initial",
    "Inputs",
    "Integrator",
    "Joint",
    "JointCoulomb",
    "KnownInertia",
    "Limits",
    "LinkFrame",
    "Mimic",
    "Log",
    "ModifiedDH",
    "Motor",
    "MotorCoulomb",
    "MotorLimits",
    "MotorStribeck",
    "Origin",
    "Posture",
    "TimedPayload",
    "Point",
    "Reference",
    "Robot",
    "RobotUnits",
    "Rod",
    "Sample",
    "Scenario",
    "ScenarioUnits",
    "Sphere",
    "Spring",
    "Stribeck",
    "StandardDH",
    "Study",
    "Thermal",
    "Tool",
    "Visual",
    "Tube",
    "Tune",
    "BoxShape",
    "Contact",
    "CylinderShape",
    "HeightFieldShape",
    "Obstacle",
    "PlaneShape",
    "SphereShape",
    "plain",
    "save",
    "text_of",
]
__getattr__ = opened(__name__, _HOMES)
