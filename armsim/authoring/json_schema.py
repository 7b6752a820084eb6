"""JSON Schema (draft 7) of robot, scenario and study files, from their declarations; editors validate and complete with it."""

from __future__ import annotations

import math
from typing import Any

from armsim.formulas.functions import RESERVED
from armsim.formulas.units import written_example
from armsim.model import JOINT_TYPES
from armsim.spec.bodies import BODIES, Payload
from armsim.spec.control import RobotReference
from armsim.spec.kinds import NAME, REQUIRED, Choice, Kind, Number, Text
from armsim.spec.motor import CONSTANTS, ELECTRICAL, ELECTRICAL_LIMITS, NOT_IN_DYNAMECHS, DryFriction, MotorKeys
from armsim.spec.parameters import IDENTIFIER
from armsim.spec.reference import ReferenceKeys
from armsim.spec.robot import FRAMES, JointKeys, RobotKeys
from armsim.spec.scenario import ScenarioKeys, Signal
from armsim.spec.schema import List, OneOf, Parameters, PerJoint, Record, Rule
from armsim.spec.study import Anything, ByPath, Flag, Minimised, ScenarioReference, Sought, StudyKeys, Varied

DRAFT = "http://json-schema.org/draft-07/schema#"


def _given(*keys: str) -> dict[str, Any]:
    """These keys are present, and not null."""
    return {"required": list(keys), "properties": {key: {"not": {"type": "null"}} for key in keys}}


def _one_of_values(kind: type[Record], key: str, values: tuple[str, ...]) -> dict[str, Any]:
    """A key has one of these values; it may be absent or null if its default is one of them."""
    if kind.fields[key].default in values:
        return {"properties": {key: {"enum": [*values, None]}}}
    return {
        "required": [key],
        "properties": {key: {"const": values[0]} if len(values) == 1 else {"enum": list(values)}},
    }


def _rule(kind: type[Record], rule: Rule) -> dict[str, Any]:
    """A record's rule as if and then."""
    conditions = [_one_of_values(kind, rule.key, rule.values)] if rule.key else []
    conditions += [_given(*rule.given)] if rule.given else []
    then = _given(*rule.needs) if rule.needs else {"properties": {}}
    then["properties"] |= {key: {"type": "null"} for key in rule.without}
    return {"if": {"allOf": conditions} if len(conditions) > 1 else conditions[0], "then": then}


def _convention(name: str) -> dict[str, Any]:
    """With this convention every joint has the frame of that name, and no other."""
    others = [{"not": _given(other)} for other in FRAMES if other != name]
    then = {"properties": {"joints": {"items": {"allOf": [_given(name), *others]}}}}
    return {"if": _one_of_values(RobotKeys, "convention", (name,)), "then": then}


def _joint() -> list[dict[str, Any]]:
    """Screws have a nonzero pitch, other joints none."""
    slides = {"required": ["pitch"], "properties": {"pitch": {"not": {"enum": [0, None]}}}}
    none = {"not": _given("pitch")}
    return [
        {"if": _one_of_values(JointKeys, "type", (name,)), "then": slides if kind.has_pitch else none}
        for name, kind in JOINT_TYPES.items()
    ]


def _motor() -> list[dict[str, Any]]:
    """Keys that require Kp and Ra, and keys that `model: dynamechs` excludes."""
    limits = {"required": ["limits"], "properties": {"limits": {"anyOf": [_given(key) for key in ELECTRICAL_LIMITS]}}}
    there = [{**_given(key), "properties": {key: {"not": {"enum": [0, None]}}}} for key in (*CONSTANTS, *ELECTRICAL)]
    bare: dict[str, Any] = {
        key: {"maxProperties": 0} if isinstance(field, Record) else {"enum": [field.default, None]}
        for key, field in MotorKeys.fields.items()
        if key in NOT_IN_DYNAMECHS
    }
    bare["coulomb"] = {"not": {"type": "object"}}
    emulated = _one_of_values(MotorKeys, "model", ("dynamechs",))
    needed = {"if": {"anyOf": [*there, limits, emulated]}, "then": _given(*CONSTANTS)}
    return [needed, {"if": emulated, "then": {"properties": bare}}]


# constraints beyond the records' rules, as far as JSON Schema can express them; the records' `check` enforces all
MORE: dict[type[Record], list[dict[str, Any]]] = {
    JointKeys: _joint(),
    MotorKeys: _motor(),
    RobotKeys: [_convention(name) for name in FRAMES],
    StudyKeys: [{"anyOf": [_given("vary"), _given("tune")]}],
}


def _between_keys(kind: type[Record]) -> dict[str, Any]:
    """The constraints between the keys of a record."""
    rules = [*(_rule(kind, rule) for rule in kind.rules), *MORE.get(kind, [])]
    either = {"oneOf": [_given(key) for key in kind.exactly_one]} if kind.exactly_one else {}
    return {**({"allOf": rules} if rules else {}), **either}


def json_schema(kind: str) -> dict[str, Any]:
    """The schema of a "robot", "scenario" or "study" file."""
    record = {"robot": RobotKeys, "scenario": ScenarioKeys, "study": StudyKeys}[kind]
    within = {"robot": (), "scenario": (RobotKeys,), "study": (RobotKeys, ScenarioKeys)}[kind]
    return {
        "$schema": DRAFT,
        "title": f"armsim {kind}",
        **_record(record(doc=next(iter((record.__doc__ or "").splitlines()), ""))),
        "definitions": {
            **{name: _record(body) for name, body in BODIES.items()},
            **{name: _record(of()) for name, of in (("robot", RobotKeys), ("scenario", ScenarioKeys)) if of in within},
        },
    }


def _of(kind: Kind) -> dict[str, Any]:
    """The schema of one kind of value, with its meaning and its default."""
    schema = _bare(kind)
    doc = kind.doc
    if isinstance(kind, Number) and kind.unit:
        doc = f"{doc} [{kind.unit}, or with its unit: {written_example(kind.unit)}]".strip()
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
        return {"type": "string", "minLength": 1, **({"pattern": f"^{NAME.pattern}$"} if kind.name else {})}
    if isinstance(kind, Parameters):
        names = {"pattern": f"^{IDENTIFIER.pattern}$", "not": {"enum": sorted(RESERVED)}}
        return {"type": "object", "propertyNames": names, "additionalProperties": _number(Number())}
    if isinstance(kind, List):
        least, most = (kind.least, kind.most) if kind.length is None else (kind.length, kind.length)
        many = {"minItems": least, **({} if most is None else {"maxItems": most})}
        return {"type": "array", "items": _of(kind.item), **many}
    if isinstance(kind, PerJoint):
        several = {"type": "array", "items": _of(kind.item), "minItems": 1}
        return {"anyOf": [several, _of(kind.item)]} if kind.one_for_all else several
    if isinstance(kind, Payload):
        return {"anyOf": [_record(kind.point), _one_of(kind)]}
    if isinstance(kind, OneOf):
        return _one_of(kind)
    if isinstance(kind, ReferenceKeys):
        return {"anyOf": [_bare(kind.q), _record(kind)]}
    if isinstance(kind, Record):
        return _record(kind)
    if isinstance(kind, Signal):
        return {"anyOf": [_of(kind.number), _record(kind.csv)]}
    if isinstance(kind, RobotReference):
        return {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/robot"}]}
    if isinstance(kind, ScenarioReference):
        return {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/scenario"}]}
    if isinstance(kind, Varied):
        one = {"type": ["number", "string"]}
        values = {
            "anyOf": [one, {"type": "array", "items": one, "minItems": 1}]
        }  # of a path that stands for several numbers
        several = {"type": "array", "items": values, "minItems": 1}
        return {
            "type": "object",
            "additionalProperties": {"anyOf": [one, several]},
            "minProperties": 1,
        }
    if isinstance(kind, Sought):
        return {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1}
    if isinstance(kind, Minimised):
        weights = {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1}
        return {"anyOf": [{"type": "string", "minLength": 1}, weights]}
    if isinstance(kind, (ByPath, Anything)):
        return {"type": "object"} if isinstance(kind, ByPath) else {}
    if isinstance(kind, Flag):
        return {"type": "boolean"}
    raise TypeError(f"no JSON Schema for {type(kind).__name__}")


def _number(kind: Number) -> dict[str, Any]:
    """A number; with its unit or a formula as text, to which no bounds are applied here."""
    number: dict[str, Any] = {"type": ["number", "string"]}
    if kind.minimum is not None:
        number["minimum"] = kind.minimum
    if kind.above == 0:
        number["minimum"] = kind.smallest
    if not kind.infinite:
        number.setdefault("minimum", -kind.most)
        number["maximum"] = kind.most
    if kind.nonzero:
        number["not"] = {"type": "number", "exclusiveMinimum": -kind.smallest, "exclusiveMaximum": kind.smallest}
    if kind.divides:
        number["not"] = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": kind.smallest}
    return number


def _record(kind: Record) -> dict[str, Any]:
    required = [name for name, field in kind.fields.items() if field.default is REQUIRED]
    return {
        "type": "object",
        "properties": {name: _optional(field) for name, field in kind.fields.items()},
        "additionalProperties": False,
        **({"required": required} if required else {}),
        **_between_keys(type(kind)),
    }


def _optional(field: Kind) -> dict[str, Any]:
    """The schema of a key; an optional one may be null."""
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
