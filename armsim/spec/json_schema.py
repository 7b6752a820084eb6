"""JSON Schema, readable as draft 7, of the files that the declarations describe; editors check and complete by it."""

from __future__ import annotations

import math
from typing import Any

from armsim.integrate import METHODS
from armsim.model import JOINT_TYPES
from armsim.spec.bodies import BODIES, Payload, Solid
from armsim.spec.formula import RESERVED
from armsim.spec.kinds import REQUIRED, Choice, Kind, Number, Text
from armsim.spec.motor import ELECTRICAL, ELECTRICAL_LIMITS, DryFriction, Motor
from armsim.spec.robot import FRAMES, Joint, Robot
from armsim.spec.scenario import ADAPTIVE, AUTO, GAINS, Control, Inputs, Integrator, RobotReference, Scenario, Signal
from armsim.spec.schema import List, OneOf, Parameters, PerJoint, Record

DRAFT = "http://json-schema.org/draft-07/schema#"
NAME = r"[^\W\d][\w.-]*"  # as in armsim.spec.kinds


def _given(*keys: str) -> dict[str, Any]:
    """Keys that have a value."""
    return {"required": list(keys), "properties": {key: {"not": {"type": "null"}} for key in keys}}


def _either(*keys: str) -> dict[str, Any]:
    """One of the keys, and only one."""
    return {"oneOf": [_given(key) for key in keys]}


def _if(key: str, value: str, then: dict[str, Any]) -> dict[str, Any]:
    """What holds where a key has a value."""
    return {"if": {"required": [key], "properties": {key: {"const": value}}}, "then": then}


def _law(law: str) -> dict[str, Any]:
    """What a control law needs, and what it has no use for."""
    gains = GAINS[law]
    useless = [gain for gain in GAINS["pid"] if gain not in gains]
    useless += [] if "ki" in gains else ["integral_limit"]
    return _if("law", law, {"allOf": [_given("output", *gains), *({"not": _given(key)} for key in useless)]})


def _convention(name: str) -> dict[str, Any]:
    """The frame that each joint has, and those that it has not."""
    others = [{"not": _given(other)} for other in FRAMES if other != name]
    then = {"properties": {"joints": {"items": {"allOf": [_given(name), *others]}}}}
    if name == Robot.fields["convention"].default:  # also where the key is left out
        return {"if": {"properties": {"convention": {"enum": [name, None]}}}, "then": then}
    return _if("convention", name, then)


def _joint() -> dict[str, Any]:
    """Screws have a pitch, and no other joints have."""
    slides = {"required": ["pitch"], "properties": {"pitch": {"not": {"enum": [0, None]}}}}
    none = {"not": _given("pitch")}
    return {"allOf": [_if("type", name, slides if kind.has_pitch else none) for name, kind in JOINT_TYPES.items()]}


def _motor() -> dict[str, Any]:
    """What a torque constant and a resistance are needed for, and what DynaMechs' motor has not."""
    limits = {"required": ["limits"], "properties": {"limits": {"anyOf": [_given(key) for key in ELECTRICAL_LIMITS]}}}
    there = [{**_given(key), "properties": {key: {"not": {"enum": [0, None]}}}} for key in ("Kp", "Ra", *ELECTRICAL)]
    bare: dict[str, Any] = {
        "gear": {"enum": [1, None]},
        "efficiency": {"enum": [1, None]},
        "inductance": {"enum": [0, None]},
    }
    bare |= {"limits": {"maxProperties": 0}, "coulomb": {"not": {"type": "object"}}}
    emulated = _if("model", "dynamechs", {"properties": bare})
    constants = {"if": {"anyOf": [*there, limits, emulated["if"]]}, "then": _given("Kp", "Ra")}
    return {"allOf": [constants, emulated]}


def _integrator() -> dict[str, Any]:
    """Steps of a given length need it, and have no tolerance."""
    fixed = {"properties": {"method": {"enum": [name for name in METHODS if name not in ADAPTIVE]}}}
    auto = {"properties": {"method": {"enum": [AUTO, None]}}}
    no_tolerance = {"properties": {key: {"enum": [None]} for key in ("rtol", "atol")}}
    return {
        "allOf": [
            {"if": {"required": ["method"], **fixed}, "then": {"allOf": [_given("dt"), no_tolerance]}},
            {"if": {"allOf": [auto, _given("dt")]}, "then": no_tolerance},
        ]
    }


# what holds between the keys of a record, as far as a schema can say it; the records' own `check` says it in words
RULES: dict[type[Record], dict[str, Any]] = {
    Solid: _either("mass", "density"),
    Joint: _joint(),
    Motor: _motor(),
    Robot: {"allOf": [_convention(name) for name in FRAMES]},
    Control: {"allOf": [_law(law) for law in GAINS if law != "none"]},
    Inputs: _either("torque", "voltage"),
    Integrator: _integrator(),
    Scenario: {"not": _given("control", "inputs")},
}


def json_schema(kind: str) -> dict[str, Any]:
    """The schema of a "robot" or "scenario" file."""
    record = {"robot": Robot, "scenario": Scenario}[kind]
    return {
        "$schema": DRAFT,
        "title": f"armsim {kind}",
        **_record(record(doc=(record.__doc__ or "").splitlines()[0])),
        "definitions": {
            **{name: _record(body) for name, body in BODIES.items()},
            **({"robot": _record(Robot())} if kind == "scenario" else {}),
        },
    }


def _of(kind: Kind) -> dict[str, Any]:
    """The schema of one kind of value, with its meaning and its default."""
    schema = _bare(kind)
    doc = kind.doc
    if isinstance(kind, Number) and kind.unit:
        doc = f"{doc} [{kind.unit}]".strip()
    if kind.default is None and kind.note:
        doc = f"{doc}; if left out: {kind.note}".removeprefix("; ")
    if doc:
        schema = {"description": doc, **schema} if "$ref" not in schema else {"description": doc, "allOf": [schema]}
    default = kind.default
    if not isinstance(kind, Record) and default not in (REQUIRED, None, math.inf, -math.inf):  # JSON has no inf
        schema["default"] = list(default) if isinstance(default, tuple) else default
    return schema


def _bare(kind: Kind) -> dict[str, Any]:
    if isinstance(kind, DryFriction):
        return {"anyOf": [_number(kind), _record(kind.sides)]}
    if isinstance(kind, Number):
        return _number(kind)
    if isinstance(kind, Choice):
        return {"enum": list(kind.options)}
    if isinstance(kind, Text):
        return {"type": "string", "minLength": 1, **({"pattern": f"^{NAME}$"} if kind.name else {})}
    if isinstance(kind, Parameters):
        names = {"pattern": r"^[^\W\d]\w*$", "not": {"enum": sorted(RESERVED)}}
        return {"type": "object", "propertyNames": names, "additionalProperties": _number(Number())}
    if isinstance(kind, List):
        many = (
            {"minItems": kind.length, "maxItems": kind.length} if kind.length is not None else {"minItems": kind.least}
        )
        return {"type": "array", "items": _of(kind.item), **many}
    if isinstance(kind, PerJoint):
        several = {"type": "array", "items": _of(kind.item), "minItems": 1}
        return {"anyOf": [several, _of(kind.item)]} if kind.one_for_all else several
    if isinstance(kind, Payload):
        return {"anyOf": [_record(kind.point), _one_of(kind)]}
    if isinstance(kind, OneOf):
        return _one_of(kind)
    if isinstance(kind, Record):
        return _record(kind)
    if isinstance(kind, Signal):
        return {"anyOf": [_of(kind.number), _record(kind.csv)]}
    if isinstance(kind, RobotReference):
        return {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/robot"}]}
    raise TypeError(f"no JSON Schema for {type(kind).__name__}")


def _number(kind: Number) -> dict[str, Any]:
    """A number, or text: an expression of numbers, pi and parameters. Bounds are those of a number alone."""
    number: dict[str, Any] = {"type": ["number", "string"]}
    if kind.minimum is not None:
        number["minimum"] = kind.minimum
    if kind.above is not None:
        number["exclusiveMinimum"] = kind.above
    if kind.largest is not None:
        if kind.above is None:
            number.setdefault("minimum", -kind.largest)
        number["maximum"] = kind.largest
    if kind.nonzero:
        number["not"] = {"const": 0}
    return number


def _record(kind: Record) -> dict[str, Any]:
    required = [name for name, field in kind.fields.items() if field.default is REQUIRED]
    return {
        "type": "object",
        "properties": {name: _optional(field) for name, field in kind.fields.items()},
        "additionalProperties": False,
        **({"required": required} if required else {}),
        **next((rules for record, rules in RULES.items() if isinstance(kind, record)), {}),
    }


def _optional(field: Kind) -> dict[str, Any]:
    """A key that may be left out may also stand there without a value."""
    schema = _of(field)
    if field.default is REQUIRED:
        return schema
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if "type" in schema and not {"allOf", "oneOf"} & set(schema):  # bounds and keys say nothing of null
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return {**schema, "type": [*types, *([] if "null" in types else ["null"])]}
    described: dict[str, Any] = {key: schema.pop(key) for key in ("description", "default") if key in schema}
    return described | {"anyOf": [schema, {"type": "null"}]}


def _one_of(kind: OneOf) -> dict[str, Any]:
    variants = [
        {
            "type": "object",
            "properties": {name: {"$ref": f"#/definitions/{name}"}},
            "required": [name],
            "additionalProperties": False,
        }
        for name in kind.variants
    ]
    return {"anyOf": variants}
