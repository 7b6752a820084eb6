"""JSON Schema (draft 7) of robot, scenario and study files, from their declarations; editors validate and complete with it."""

from __future__ import annotations

import math
from typing import Any

from armsim import document
from armsim.document.bodies import BODIES, Payloads
from armsim.document.composite import ByName, Document, List, OneOf, Parameters, PerJoint, Rule, Subdocument
from armsim.document.control import RobotReference
from armsim.document.dry_friction import DryFriction
from armsim.document.kinds import NAME, REQUIRED, Choice, Flag, Kind, Minimised, Number, Text
from armsim.document.parameters import IDENTIFIER
from armsim.document.scenario import Signal
from armsim.document.study import Anything, ByPath, ScenarioReference, Sought, Varied
from armsim.formulas.functions import RESERVED
from armsim.formulas.units import written_example

Schema = dict[str, Any]
DRAFT = "http://json-schema.org/draft-07/schema#"


def _given(*keys: str) -> Schema:
    """These keys are present, and not null."""
    return {"required": list(keys), "properties": {key: {"not": {"type": "null"}} for key in keys}}


def _one_of_values(of: type[Document], key: str, values: tuple[str, ...]) -> Schema:
    """A key has one of these values; it may be absent or null if its default is one of them."""
    if of.fields[key].default in values:
        return {"properties": {key: {"enum": [*values, None]}}}
    return {
        "required": [key],
        "properties": {key: {"const": values[0]} if len(values) == 1 else {"enum": list(values)}},
    }


def _rule(of: type[Document], rule: Rule) -> Schema:
    """A document's rule as if and then."""
    conditions = [_one_of_values(of, rule.key, rule.values)] if rule.key else []
    conditions += [_given(*rule.given)] if rule.given else []
    conditions += [{"not": {"anyOf": [_given(key) for key in rule.absent]}}] if rule.absent else []
    conditions += [{"anyOf": [_says(path) for path in rule.any_of]}] if rule.any_of else []
    then = _given(*rule.needs) if rule.needs else {"properties": {}}
    then["properties"] |= {key: {"type": "null"} for key in rule.without}
    then["properties"] |= {
        key: {"maxProperties": 0}
        if isinstance(of.fields[key], Subdocument)
        else {"enum": [of.fields[key].default, None]}
        for key in rule.default
    }
    then["properties"] |= {key: {"not": {"type": "object"}} for key in rule.single}
    if rule.each:
        then = {"properties": {rule.each: {"items": then}}}
    return {"if": {"allOf": conditions} if len(conditions) > 1 else conditions[0], "then": then}


def _says(path: str) -> Schema:
    """A key, or one below it, has a value other than 0."""
    key, _, below = path.partition(".")
    return {"required": [key], "properties": {key: _says(below) if below else {"not": {"enum": [0, None]}}}}


# what the rules do not say, as far as JSON Schema can express it; the documents' `check` enforces all
MORE: dict[type[Document], list[Schema]] = {
    document.Joint: [{"properties": {"pitch": {"not": {"const": 0}}}}],
}


def _between_keys(of: type[Document]) -> Schema:
    """The constraints between the keys of a record."""
    rules = [*(_rule(of, rule) for rule in of.rules), *MORE.get(of, [])]
    either = {"oneOf": [_given(key) for key in of.exactly_one]} if of.exactly_one else {}
    return {**({"allOf": rules} if rules else {}), **either}


def json_schema(kind: str) -> Schema:
    """The schema of a "robot", "scenario" or "study" file."""
    of = {"robot": document.Robot, "scenario": document.Scenario, "study": document.Study}[kind]
    within = {"robot": (), "scenario": (document.Robot,), "study": (document.Robot, document.Scenario)}[kind]
    return {
        "$schema": DRAFT,
        "title": f"armsim {kind}",
        **_mapping(of),
        "definitions": {
            **{name: _mapping(body.of) for name, body in BODIES.items()},
            **{
                name: _mapping(of)
                for name, of in (("robot", document.Robot), ("scenario", document.Scenario))
                if of in within
            },
        },
    }


def _of(kind: Kind[Any]) -> Schema:
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
    if not isinstance(kind, Subdocument) and default not in (REQUIRED, None, math.inf, -math.inf):  # JSON has no inf
        schema["default"] = list(default) if isinstance(default, tuple) else default
    return schema


def _bare(kind: Kind[Any]) -> Schema:
    if isinstance(kind, DryFriction):
        return {"anyOf": [_number(kind), _mapping(kind.sides.of)]}
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
        several = {"type": "array", "items": _of(kind.item), **many}
        return {"anyOf": [several, _of(kind.item)]} if kind.single else several
    if isinstance(kind, PerJoint):
        several = {"type": "array", "items": _of(kind.item), "minItems": 1}
        return {"anyOf": [several, _of(kind.item)]} if kind.one_for_all else several
    if isinstance(kind, Payloads):
        several = {"type": "array", "items": _mapping(kind.item.of)}
        return {"anyOf": [_mapping(kind.variants["point"].of), _one_of(kind), several]}
    if isinstance(kind, ByName):
        return {"type": "object", "propertyNames": _bare(Text(name=True)), "additionalProperties": _of(kind.item)}
    if isinstance(kind, OneOf):
        return _one_of(kind)
    if isinstance(kind, Subdocument):
        whole = _mapping(kind.of)
        return {"anyOf": [_bare(document.Reference.q), whole]} if kind.of is document.Reference else whole
    if isinstance(kind, Signal):
        return {"anyOf": [_of(kind.number), _mapping(document.CsvSignal)]}
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


def _number(kind: Number) -> Schema:
    """A number; with its unit or a formula as text, to which no bounds are applied here."""
    number: Schema = {"type": ["number", "string"]}
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


def _mapping(of: type[Document]) -> Schema:
    required = [name for name, field in of.fields.items() if field.default is REQUIRED]
    return {
        "type": "object",
        "properties": {name: _optional(field) for name, field in of.fields.items()},
        "additionalProperties": False,
        **({"required": required} if required else {}),
        **_between_keys(of),
    }


def _optional(field: Kind[Any]) -> Schema:
    """The schema of a key; an optional one may be null."""
    schema = _of(field)
    if field.default is REQUIRED:
        return schema
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if "type" in schema and not {"allOf", "oneOf"} & set(schema):  # bounds and keys say nothing of null
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return {**schema, "type": [*types, *([] if "null" in types else ["null"])]}
    described: Schema = {key: schema.pop(key) for key in ("description", "default") if key in schema}
    return described | {"anyOf": [schema, {"type": "null"}]}


def _one_of(kind: OneOf) -> Schema:
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
