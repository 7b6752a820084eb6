"""The robot file: every key, with unit, default and meaning. This listing is the authority on the format."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from armsim.document import other_words as words
from armsim.document.bodies import PayloadBody, Payloads
from armsim.document.composite import (
    ByName,
    Choice,
    Document,
    List,
    Number,
    Parameters,
    Relation,
    Rule,
    Subdocument,
    Text,
    check_names,
)
from armsim.document.joint import FRAMES, RANGE, Frame, Joint, LinkFrame, Tool
from armsim.document.kinds import Format
from armsim.document.paths import parse_path
from armsim.document.world import Contacts, World, check_contacts
from armsim.files.faults import suggestion
from armsim.files.nodes import Map, Node, shown
from armsim.formulas.quantity import Context
from armsim.model import BASE, JOINT_TYPES, Mimic

FORMAT = "armsim/robot/1"
MOST_JOINTS = 100  # a file could hold thousands, and the time for questions grows with the cube of their number
RESERVED_FRAMES = ("tool", BASE, "world")
UNIT = re.compile(r"(.*_)?((m|rad|deg)(_s2?)?|Nm?)")  # x_a_m would be x of a_m, without its unit, and x_m of a


class RobotUnits(Document):
    """The units of a file's angles; lengths are metres and masses kilograms always."""

    angle = Choice(
        "rad",
        "deg",
        default="rad",
        doc="unit of joint angles, rates and limits, alpha, theta and rpy; never of gains, stiffness or damping",
    )


class About(Document):
    """What the source of a robot says of it besides; nothing is computed from it."""

    payload = Number("kg", above=0, structure=True, doc="rated payload", note="not known", example="5")
    inertias = Choice(
        "published",
        "estimated",
        doc="whether masses and inertias are published, by its maker or as measured, or estimated by others",
        note="not told",
        example="published",
    )


class Robot(Document):
    """An arm: a chain of joints, or a tree."""

    other_words = words.ROBOT

    format = Format(FORMAT, doc="format and version of this file", example=FORMAT)
    name = Text(doc="the robot's name", example="arm5")
    about = Subdocument(
        About,
        doc="what its source says besides",
        note="nothing",
        example="{payload: 5, inertias: published}",
    )
    gravity = List(
        Number("m/s²"),
        length=3,
        default=(0.0, 0.0, -9.81),
        doc="free-fall acceleration in the world",
        example="[0, 0, -9.81]",
    )
    convention = Choice(
        "mdh",
        "dh",
        "origin",
        default="mdh",
        doc="how the joints' frames are given: Craig's modified DH, standard DH, or xyz, rpy and axis",
    )
    units = Subdocument(RobotUnits, default={}, doc="units of this file")
    parameters = Parameters(
        default={}, doc="named numbers, for use in expressions of numbers, pi and one another", example="{upper: 0.38}"
    )
    base = Subdocument(Frame, default={}, doc="the arm's base in the world")
    joints = List(
        Subdocument(Joint),
        least=1,
        most=MOST_JOINTS,
        doc=f"from base to tips, {MOST_JOINTS} at most",
        example="[{name: R1, type: revolute, mdh: {...}, bodies: [...]}]",
    )
    tool = Subdocument(Tool, default={}, doc="the tool, in the frame of its link")
    frames = ByName(
        Subdocument(LinkFrame),
        default={},
        doc="more frames, by name, for columns, measures, forces and payloads",
        example="{left_tip: {link: R5, xyz: [0, 0.02, 0.1]}}",
    )
    payload = Payloads(PayloadBody, doc="what the tool carries, in the tool frame", note="nothing")
    world = World("what stands fixed around the arm, by name")
    contacts = Contacts()

    rules = tuple(
        Rule(
            "convention",
            (name,),
            needs=(name,),
            without=tuple(other for other in FRAMES if other != name),
            each="joints",
        )
        for name in FRAMES
    )

    @property
    def degrees(self) -> bool:
        """Whether its angles are degrees."""
        return bool(self.units.angle == "deg")

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The names of its frames, that of the tool first."""
        return ("tool", *(self.frames or ()))

    @property
    def free(self) -> tuple[Joint, ...]:
        """The joints that mimic none, of a file without faults."""
        return tuple(joint for joint in self.joints if joint.mimic is None)

    @property
    def without_visuals(self) -> Robot:
        """Without what is only drawn, of a file without faults."""
        return self.replaced(joints=tuple(joint.replaced(visual=None) for joint in self.joints))

    @property
    def is_known(self) -> bool:
        """Whether no fault leaves a joint's name or type unknown."""
        joints = self.joints
        return joints is not None and not any(joint is None or None in (joint.name, joint.type) for joint in joints)

    @property
    def joint_names(self) -> tuple[tuple[str, str], ...] | None:
        """Name and type of every joint that mimics none; None if a fault leaves one unknown."""
        return tuple((joint.name, joint.type) for joint in self.free) if self.is_known else None

    @property
    def link_names(self) -> tuple[str, ...] | None:
        """Names of all joints; None if a fault leaves one unknown."""
        return tuple(joint.name for joint in self.joints) if self.is_known else None

    def coupling(self, joint: Joint) -> list[tuple[int, Joint]]:
        """A joint that mimics none, and those that mimic it, each with its index."""
        joints = enumerate(self.joints or ())
        return [(i, x) for i, x in joints if x is joint or (x is not None and x.mimic and x.mimic.joint == joint.name)]

    @property
    def motors(self) -> tuple[tuple[Any, Any], ...]:
        """Name and motor of every joint that mimics none; its own motor or that of one that mimics it, None without any."""
        joints = [joint for joint in self.joints or () if joint is not None]
        free = [(joint, self.coupling(joint)) for joint in joints if joint.mimic is None]
        return tuple(
            (joint.name, next((one.motor for _, one in all_ if one.motor is not None), None)) for joint, all_ in free
        )

    def check(self, context: Context) -> None:
        super().check(context)
        check_names(self.joints or (), context.below("joints"), "joint")
        names = [joint.name for joint in self.joints or () if joint is not None]
        refuse_names(self, "frames", names, context)
        refuse_names(self, "world", [*names, *(self.frames or ())], context)
        for name, frame in (self.frames or {}).items():
            _check_name(frame, "link", names, context.below(f"frames.{name}"))
        _check_name(self.tool, "link", names, context.below("tool"))
        for i, contact in enumerate(self.contacts or ()):
            _check_name(contact, "link", names, context.below(f"contacts[{i}]"))
        check_contacts(self.contacts, self.world or {}, context)
        self._check_tree(context.below("joints"))

    def _check_tree(self, context: Context) -> None:
        """Report parents and leaders that are none, and what two joints that move as one have both."""
        known = {joint.name: joint for joint in self.joints or () if joint is not None}
        for i, joint in enumerate(self.joints or ()):
            if joint is None:
                continue
            here, earlier = context.item(i), [one.name for one in self.joints[:i] if one is not None]
            _check_name(joint, "parent", [BASE, *earlier], here, "the name of an earlier joint, or base")
            if joint.name is not None and joint.name.startswith("motor_") and joint.name[len("motor_") :] in known:
                expected = "a name that begins with no `motor_` before another joint's"
                here.below("name").add(joint.place_of("name"), expected, joint.name, "choose another name")
            if joint.mimic is None or joint.mimic.joint is None:
                continue
            if joint.motor is not None and joint.motor.coupling is not None:
                mend = "give the coupling and its motor to the joint that leads"
                expected, place = "no coupling of a joint that mimics another", joint.motor.place_of("coupling")
                here.below("motor.coupling").add(place, expected, "`coupling`", mend)
            expected = "the name of a joint that mimics none"
            leaders = [name for name, one in known.items() if one.mimic is None]
            _check_name(joint.mimic, "joint", leaders, here.below("mimic"), expected)
            leader = known.get(joint.mimic.joint)
            if leader is None or leader.mimic is not None:
                continue
            others = [one for _, one in self.coupling(leader) if one is not joint]
            for key in ("motor", "limits", "spring"):
                both = next((one.name for one in others if one.given(key)), None)
                if joint.given(key) and both is not None:
                    expected, mend = f"`{key}` at one of the joints {both} and {joint.name}", "leave one of them out"
                    here.below(key).add(joint.place_of(key), expected, "both: they move as one", mend)
        for relation in self.relations:
            (at,) = (step for step in parse_path(relation.at) if isinstance(step, int))
            limits: Any = self.joints[at].limits
            if RANGE.holds(limits) and not relation.holds(self):
                found, mend = f"{limits.lower.shown} to {limits.upper.shown}", "correct the limits, or where it begins"
                context.item(at).below("limits").add(limits.place, relation.expected, found, mend)

    @property
    def relations(self) -> tuple[Relation, ...]:  # type: ignore[override]  # the others are of a class
        """That the initial positions of followers, which others decide, are within their limits."""
        at = {joint.name: i for i, joint in enumerate(self.joints or ()) if joint is not None}
        turn = math.pi / 180 if self.units is not None and self.degrees else 1.0
        found = []
        for name, i in at.items():
            joint = self.joints[i]
            k = None if joint.mimic is None or joint.limits is None else at.get(joint.mimic.joint)
            if k is None or None in (joint.type, self.joints[k].type):
                continue
            turns = [turn if JOINT_TYPES[self.joints[of].type].turns else 1.0 for of in (k, i)]
            here = f"joints[{i}]."
            keys = (
                f"joints[{k}].initial",
                *(here + key for key in ("mimic.ratio", "mimic.offset", "limits.lower", "limits.upper")),
            )
            within = partial(_within, turns[0] / turns[1])
            expected = f"a range with the position at which {self.joints[k].name} lets {name} begin"
            found.append(Relation(keys, within, expected, f"{here}limits"))
        return tuple(found)


def refuse_names(holder: Document, key: str, taken: Iterable[Any], context: Context) -> None:
    """Report names of frames or of the world that something else has, or that headings of columns could not be read with."""
    for name in holder.entries[key] or ():
        if name in (*RESERVED_FRAMES, *taken) or "." in name or UNIT.fullmatch(name):
            which = "joint" if key == "frames" else "joint or frame"
            expected = f"a name without `.` that no {which} has, not tool, base or world, and without a unit at its end"
            place = holder.value_node(key).place
            context.below(f"{key}.{name}").add(place, expected, f"`{name}`", "choose another name")


def _within(turns: float, q: Any, ratio: Any, offset: Any, lower: Any, upper: Any) -> list[Any]:
    """Conditions that a follower is within its limits; `turns` is the leader's unit in the follower's."""
    x = Mimic("", ratio, offset).position(q * turns)
    return [lower <= x, x <= upper]


def _check_name(
    holder: Document | None,
    key: str,
    known: list[Any],
    context: Context,
    expected: str = "the name of a joint",
) -> None:
    """Report a name that is not known, unless a fault leaves one of those known unknown."""
    if holder is None or None in (holder.entries[key], *known) or holder.entries[key] in known:
        return
    node = holder.value_node(key)
    known = list(dict.fromkeys(known))
    mend = suggestion(str(holder.entries[key]), known, "names here are") if known else "let one joint mimic none"
    context.below(key).add(node.place, expected, shown(node), mend)


ROOT = Subdocument(Robot)


def read_robot_node(node: Node, context: Context) -> Robot | None:
    """A robot, from the root node of its file.

    Units and parameters come first, because all other numbers depend on them.

    Args:
        node: The root.
        context: Its units and parameters are set here.
    """
    from armsim.document.parameters import read_parameters

    context.named = True
    if isinstance(node, Map):
        context.folder = os.path.dirname(node.place.source)
        units = node.get("units")
        angle = units.get("angle") if isinstance(units, Map) else None
        context.degrees = getattr(angle, "value", None) == "deg"
        context.parameters = read_parameters(node.get("parameters"), context)
        frames = node.get("frames")
        context.frames = ("tool", *(frames.entries if isinstance(frames, Map) else ()))
    return ROOT.read(node, context)
