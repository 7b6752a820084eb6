"""URDF, in which ROS describes robots, as the content of a robot file.

Frames are those of URDF (`convention: origin`): a link's frame is that of its joint. Links on fixed joints are merged with the
link that carries them: their inertias are bodies of that link, their frames named frames.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from armsim.document.kinds import LONGEST_NAME, as_name
from armsim.document.robot import FORMAT, MOST_JOINTS, RESERVED_FRAMES, UNIT
from armsim.errors import LF, UsageError, spelled
from armsim.files.faults import Report, listed, refuse, suggestion
from armsim.files.nodes import Map, Node, Place, Seq, clipped, shown
from armsim.files.plain_data import nodes_of
from armsim.files.source import Source, digest
from armsim.files.yaml_reader import parse_yaml, parsed_number
from armsim.formulas.bounds import BOUNDS
from armsim.importing.imported import Imported, merged
from armsim.importing.packages import find_resource
from armsim.importing.xml_reader import Element, read_xml
from armsim.model import BASE
from armsim.spatial import Vector, roll_pitch_yaw, rotation_rpy

TYPES = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}
STILL = ("fixed", "floating", "planar")  # the last two armsim has not: they are held
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
GEARS = ("mechanicalReduction", "mechanical_reduction")
OVER = ("gravity", "base", "tool", "payload", "frames", "parameters")  # keys of `<armsim>`, beside `joints`
INFINITE = re.compile("inf(inity)?")
NOT_UNIT = 0.01  # from the length of an axis to 1
DIGITS = 15  # of numbers that are computed
WIDEST, STRONGEST, FASTEST = (BOUNDS[unit].largest for unit in ("rad or m", "N·m", "rad/s"))
ORIGIN = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
Offset = tuple[Sequence[float], Sequence[float]]  # xyz and rpy of a frame in that of the link which carries it


class _Joint(NamedTuple):
    """A joint of the file, its links by name."""

    name: str
    type: str
    element: Element
    parent: str
    child: str


class _Link(NamedTuple):
    """A link that moves: its joint, the name of that in the robot file, what carries it and where, its inertias by link.

    What carries it is the index of a link that moves, or -1 for the base.
    """

    joint: _Joint
    name: str
    carrier: int
    offset: Offset
    bodies: dict[str, Node]


def read_urdf(
    path: str, base: str | None = None, tips: Sequence[str] = (), packages: Mapping[str, str] | None = None
) -> Imported:
    """A URDF file as the content of a robot file.

    Args:
        path: The file; messages show it as given.
        base: The link that is fixed in the world, in place of the one that no joint moves. What is not beyond it is left out.
        tips: Links where the arm ends. Joints that lead to none of them are left out; without tips all are taken.
        packages: Folders of packages by name, in which files of meshes are looked for; None: they are not looked for.

    Raises:
        FileFaults: All that is wrong with the file, at once.
        UsageError: There is no such link, or a tip is not beyond the base.
    """
    root, raw = read_xml(path, "a URDF file")
    for element in root.walk():
        value = next((value for value in element.attributes.values() if "${" in value), None)
        if value is not None or element.tag.startswith("xacro:"):
            found = f"xacro that is not expanded: `{clipped(value or element.tag)}`"
            mend = f"expand it first: `xacro {path} > {os.path.basename(path).partition('.')[0]}_expanded.urdf`"
            raise refuse(element.place, "", "URDF", found, mend)
    if root.tag != "robot":
        mend = "name a URDF file: its first element is <robot>"
        raise refuse(root.place, "", "<robot>", f"<{clipped(root.tag)}>", mend)
    reader = _Reader(path, root)
    reader.take(base, tips)
    robot = reader.robot()
    if packages is not None:
        reader.look_for_meshes(packages)
    reader.report.raise_if_any()
    return Imported(robot, reader.comments, tuple(reader.remarks.faults), (Source(path, digest(raw)),))


class _Reader:
    """Reads a file: its links and joints, then what of them is taken.

    Attributes:
        report: Takes faults.
        remarks: What can be used, but has to be known.
        comments: As `Imported` has them.
    """

    def __init__(self, path: str, root: Element) -> None:
        self.path, self.root, self.report, self.remarks = path, root, Report(), Report()
        self.comments: dict[str, str] = {}
        self.links, self.joints = self._named("link"), dict[str, _Joint]()
        self.moved_by: dict[str, _Joint] = {}
        self.on: dict[str, list[_Joint]] = {name: [] for name in self.links}
        for name, element in self._named("joint").items():
            self._add(name, element)
        self.report.raise_if_any()
        self.roots = [name for name in self.links if name not in self.moved_by]
        reached = {link for root in self.roots for link in self._beyond(root)}
        if loop := [joint.name for joint in self.joints.values() if joint.child not in reached]:
            place = self.joints[loop[0]].element.place
            raise refuse(place, "", "joints that form a tree", f"a loop: {listed(loop)}", "take one of them out")

    def _named(self, tag: str) -> dict[str, Element]:
        """The elements of a kind by name."""
        found: dict[str, Element] = {}
        for element in self.root.all(tag):
            name = element.attributes.get("name", "")
            if not name or found.setdefault(name, element) is not element:
                told = f"`{clipped(name)}` again, after line {found[name].place.line}" if name else "none"
                self.report.add(element.place, tag, f"a name for each {tag}", told, "give it a name of its own")
        return found

    def _add(self, name: str, element: Element) -> None:
        path, types, of_type = f"joint {name}", [*TYPES, *STILL], element.attributes.get("type", "")
        ends = [element.first(tag) for tag in ("parent", "child")]
        joint = _Joint(name, of_type, element, *(end.attributes.get("link", "") for end in ends))
        self.joints[name], first = joint, self.moved_by.setdefault(joint.child, joint)
        for word, known, place, what in (
            (of_type, types, element.place, "type"),
            *((end.attributes.get("link", ""), self.links, end.place, f"{end.tag} link") for end in ends),
        ):
            if word not in known:
                mend = suggestion(word, known, f"{what}s are")
                self.report.add(place, f"{path}: {what}", f"a known {what}", f"`{clipped(word)}`", mend)
        if first is not joint:
            expected = f"one joint that moves link {clipped(joint.child)}, as `{first.name}` does"
            mend = "take one of them out: URDF and armsim have trees, without closed loops"
            self.report.add(element.place, path, expected, "a second one", mend)
        self.on.get(joint.parent, []).append(joint)

    def _beyond(self, link: str) -> list[str]:
        """A link and all that hangs from it."""
        found = [link]
        for name in found:
            found += [joint.child for joint in self.on[name]]
        return found

    def take(self, base: str | None, tips: Sequence[str]) -> None:
        """Walk the part of the tree that is wanted, along fixed joints and those that lead to a tip.

        It finds `taken`, links that move, and `frames`, links fixed to one of these, by its index, or to the base, -1.
        """
        if base is None and len(self.roots) != 1:
            found = f"{len(self.roots)} links that no joint moves: {listed(self.roots)}"
            mend = "join them by a fixed joint, or choose one by `--base LINK`"
            place = self.links[self.roots[-1]].place if self.roots else self.root.place
            raise refuse(place, "", "one link from which all others hang", found, mend)
        self.base, self.tips = _chosen("base", self.roots[0] if base is None else base, self.links), tips
        wanted = set() if tips else set(self.joints)
        for link in tips:
            _chosen("tip", link, self._beyond(self.base))
            while link != self.base:
                wanted.add(self.moved_by[link].name)
                link = self.moved_by[link].parent
        self.taken: list[_Link] = []
        self.frames: dict[str, tuple[int, Offset]] = {}
        names, left_out, left = (
            {BASE},
            {*self.links} - {self.base},
            [(joint, -1, ORIGIN) for joint in self.on[self.base][::-1]],
        )
        while left:
            joint, carrier, offset = left.pop()
            place, path = joint.element.place, f"joint {joint.name}"
            if joint.type in TYPES and joint.name not in wanted:
                continue
            left_out.remove(joint.child)
            offset = _within(offset, self._offset(joint.element, path))
            if joint.type in TYPES:
                if len(self.taken) == MOST_JOINTS:
                    mend = "choose a part of the tree by --base and --tip"
                    raise refuse(place, path, f"at most {MOST_JOINTS} joints that move", "more", mend)
                self.taken.append(_Link(joint, _free(as_name(joint.name), names), carrier, offset, {}))
                carrier, offset = len(self.taken) - 1, ORIGIN
            else:
                self.frames[joint.child] = carrier, offset
            if joint.type in STILL[1:]:
                found, mend = (
                    f"a {joint.type} joint: it is held",
                    f"`--base {joint.child}` takes what is beyond it alone",
                )
                self.remarks.add(place, path, "a joint that armsim has", found, mend)
            if carrier >= 0 and (body := self._body(joint.child, offset)) is not None:
                self.taken[carrier].bodies[joint.child] = body
            left += [(beyond, carrier, offset) for beyond in self.on[joint.child][::-1]]
        if left_out:
            found, mend = (
                f"links that are left out: {listed(sorted(left_out))}",
                "choose other ones by --base and --tip",
            )
            self.remarks.add(self.root.place, "", "all links", found, mend)
        if not self.taken:
            mend = "choose another part of the tree by --base and --tip, or make a joint move"
            self.report.add(self.root.place, "", "a joint that turns or slides", "none", mend)

    def _body(self, link: str, offset: Offset) -> Node | None:
        """The inertia of a link whose frame stands in that of the link which carries it; None where it has none."""
        inertial, path = self.links[link].first("inertial"), f"link {link}"
        keys = {"mass": ("mass", "value")} | {key: ("inertia", f"i{key}") for key in TENSOR}
        data: dict[str, Any] = {key: self.number(inertial.first(tag), name, path) for key, (tag, name) in keys.items()}
        missing = [name for tag, name in keys.values() if name not in inertial.first(tag).attributes]
        if missing and inertial.children:
            found = f"no {', '.join(missing)}: taken as 0"
            self.remarks.add(inertial.place, path, "<mass value> and all of <inertia>", found, "add it, if it is not 0")
        if not any(data.values()):
            return None
        center, rpy = _within(offset, self._offset(inertial, path))
        body = {"mass": data.pop("mass"), "center": center, "about": "com", **_pose((ORIGIN[0], rpy))}
        return nodes_of(
            {"inertia": body | {key: x for key, x in data.items() if x or key in TENSOR[:3]}}, inertial.place
        )

    def parsed(self, text: str, place: Place, path: str) -> float:
        """A number; 0, and a fault, where it is none. Infinite ones are refused later, where they must not be."""
        value = parsed_number(INFINITE.sub(".inf", text.strip().lower()))
        if value is None or math.isnan(value):
            self.report.add(place, path, "a number", f"`{clipped(text)}`", "write for example 0.1")
        return value or 0.0

    def number(self, element: Element, key: str, path: str, default: str = "0") -> float:
        """The number of an attribute."""
        return self.parsed(element.attributes.get(key, default), element.place, f"{path}: {element.tag} {key}")

    def vector(self, element: Element, key: str, path: str, default: str = "0 0 0") -> list[float]:
        """The three numbers of an attribute."""
        text, where = element.attributes.get(key, default), f"{path}: {element.tag} {key}"
        numbers = [self.parsed(part, element.place, where) for part in text.split()]
        if len(numbers) != 3 or not math.isfinite(sum(numbers)):
            self.report.add(
                element.place, where, "three numbers", f"`{clipped(text)}`", f'write for example {key}="0 0 1"'
            )
        return [*numbers, 0.0, 0.0, 0.0][:3]

    def _offset(self, element: Element, path: str) -> Offset:
        """The pose that an element's `<origin>` says."""
        origin = element.first("origin")
        return self.vector(origin, "xyz", path), self.vector(origin, "rpy", path)

    def robot(self) -> Map:
        """The content of the robot file."""
        self.names = {link.joint.name: link.name for link in self.taken}
        self.gears = self._gears()
        self.mimics = {name: mimic for name in self.names if (mimic := self._mimic(name)) is not None}
        joints = {link.joint.name: self._joint(i, link) for i, link in enumerate(self.taken)}
        held = set()
        for name in sorted(
            joints, key=lambda name: name in self.mimics
        ):  # joints that move as one have one motor, one range
            for key in {"limits", "motor"} & set(joints[name]):
                group = self.mimics.get(name, [name])[0], key
                if group in held:
                    del joints[name][key]
                held.add(group)
        file, over = os.path.basename(self.path), self.root.first("armsim")
        data = {"format": FORMAT, "name": self.root.attributes.get("name") or as_name(file), "gravity": [0, 0, -9.81]}
        self.comments[""] = (
            f"By `armsim import` from {file}; its link `{self.base}` is fixed in the world.\n"
            "Links on fixed joints are merged with what carries them: their inertias in `bodies`, their frames in `frames`.\n"
            "Of motors URDF says effort and velocity; Kp, Ra, gear and rotor_inertia are in data sheets (docs/motors.md)."
        )
        made = nodes_of(
            data | {"convention": "origin", "joints": [*joints.values()], **self._frames()}, self.root.place
        )
        return self._laid_over(made, over) if over.text.strip() else made

    def _joint(self, i: int, link: _Link) -> dict[str, Any]:
        """A joint of the robot file."""
        joint, path, where = link.joint, f"joint {link.joint.name}", f"joints[{i}]"
        axis, limit, dynamics, mimic = map(joint.element.first, ("axis", "limit", "dynamics", "mimic"))
        told = f"joint `{joint.name}`, {joint.type}: link `{joint.child}` on `{joint.parent}`"
        self.comments[where] = f"line {joint.element.place.line}, {told}"
        direction = self.vector(axis, "xyz", path, "1 0 0")
        if abs((length := math.hypot(*direction)) - 1.0) > NOT_UNIT:
            unit = " ".join(f"{x / length:.9g}" for x in direction) if length else "0 0 1"
            found, mend = f"one of length {length:.6g}", f'write xyz="{unit}"'
            self.report.add(axis.place, f"{path}: axis", "a unit vector", found, mend)
        low, high, effort, velocity = (
            self.number(limit, key, path) for key in ("lower", "upper", "effort", "velocity")
        )
        limits = {key: x for key, x in (("lower", low), ("upper", high)) if abs(x) <= WIDEST}
        if joint.type == "continuous" or not limit.attributes:
            limits = {}
        elif low >= high:
            limits, found = {}, f"{low:g} and {high:g}: taken as none"
            self.remarks.add(limit.place, f"{path}: limit", "lower smaller than upper", found, "correct the limits")
        gear, coupling, initial = self.gears.get(joint.name, 1.0), None, 0.0
        if joint.name in self.mimics:
            leader, ratio, offset = self.mimics[joint.name]
            coupling = nodes_of({"joint": self.names[leader], "ratio": ratio, "offset": offset}, mimic.place)
        elif limits and not low <= 0 <= high:
            initial, self.comments[f"{where}.initial"] = (
                sum(limits.values()) / len(limits),
                "0 is not within the limits",
            )
        friction = {
            "viscous": self.number(dynamics, "damping", path),
            "coulomb": self.number(dynamics, "friction", path),
        }
        drive = {"torque": (effort / abs(gear), STRONGEST), "speed": (velocity * abs(gear), FASTEST)}
        motor = {
            "gear": 0 if gear == 1 else gear,
            "limits": {key: x for key, (x, most) in drive.items() if 0 < x <= most},
        }
        if [*link.bodies] not in ([], [joint.child]):
            self.comments[f"{where}.bodies"] = f"links {', '.join(link.bodies)}"
        data = {"name": link.name, "type": TYPES[joint.type]}
        if link.carrier != i - 1:
            data["parent"] = BASE if link.carrier < 0 else self.taken[link.carrier].name
        data |= {"origin": {**_pose(link.offset), "axis": direction}}
        data |= _known(
            {"mimic": coupling, "initial": initial, "limits": limits, "friction": _known(friction)}, limit.place
        )
        return data | {"bodies": [*link.bodies.values()]} | _known({"motor": _known(motor)}, limit.place)

    def _mimic(self, joint: str) -> tuple[str, float, float] | None:
        """The joint that leads, by name, ratio and offset; None of one that mimics none."""
        seen, ratio, offset = [joint], 1.0, 0.0
        while (element := self.joints[seen[-1]].element.first("mimic")).attributes:
            path, name = f"joint {seen[-1]}", element.attributes.get("joint", "")
            offset += ratio * self.number(element, "offset", path)
            ratio *= self.number(element, "multiplier", path, "1")
            others = [other for other in self.names if other not in seen]
            if name not in others:
                expected = "another joint that is taken and moves, and does not mimic this one"
                mend = suggestion(name, others, "joints are")
                self.report.add(element.place, f"{path}: mimic", expected, f"`{clipped(name)}`", mend)
                return None
            seen.append(name)
        return (seen[-1], ratio, offset) if len(seen) > 1 else None

    def _gears(self) -> dict[str, float]:
        """Reductions by joint, of transmissions that have one joint."""
        found = {}
        for element in [x for x in self.root.walk() if x.tag == "transmission" and len(x.all("joint")) == 1]:
            name = element.first("joint").attributes.get("name", "")
            for gear in [x for x in element.walk() if x.tag in GEARS]:
                path = f"joint {name}: {gear.tag}"
                found[name] = self.parsed(gear.text, gear.place, path)
                if not found[name] or math.isinf(found[name]):
                    self.report.add(gear.place, path, "a ratio other than 0", clipped(gear.text), "write 1 for no gear")
                    found[name] = 1.0
        return found

    def _frames(self) -> dict[str, Any]:
        """The tool, and the frames of links that are fixed to one that moves."""
        known = {link.joint.child: (i, ORIGIN) for i, link in enumerate(self.taken)} | self.frames
        ends = [*self.tips] or [x for x in known if x == "tool"] or [x for x in known if not self.on[x]]
        taken, frames = {*RESERVED_FRAMES, *self.names.values()}, dict[str, Any]()
        tool: dict[str, Any] = {}
        for link, (carrier, offset) in known.items():
            frame = {"link": self.taken[carrier].name, **_pose(offset)}
            if [link] == ends and carrier >= 0:
                tool, self.comments["tool"] = frame, f"link `{link}`"
            elif link in self.frames and carrier >= 0:
                name = as_name(link).replace(".", "_")
                name = _free(f"{name}_link" if UNIT.fullmatch(name) or name in taken else name, taken)
                frames[name], self.comments[f"frames.{name}"] = frame, f"link `{link}`"
        return _known({"tool": tool, "frames": frames})

    def _laid_over(self, robot: Any, element: Element) -> Map:
        """A robot with what `<armsim>` says laid over it; its motors take the places of those that URDF tells of."""
        over: Any = parse_yaml(LF * (element.place.line - 1) + element.text, self.path, self.report)
        joints = over.entries.pop("joints", (None, Map({}, element.place)))[1] if isinstance(over, Map) else over
        if not isinstance(joints, Map) or not {*over.entries} <= {*OVER} or not {*joints.entries} <= {*self.names}:
            expected, mend = f"a mapping of {', '.join(OVER)} and joints, by name", "see docs/import.md"
            self.report.add(element.place, "armsim", expected, shown(joints if joints.entries else over), mend)
            return robot
        items = robot.get("joints").items
        for i, link in enumerate(self.taken):
            place, own = joints.entries.get(link.joint.name, (None, Map({}, element.place)))
            if isinstance(own, Map) and own.get("motor"):
                items[i].entries.pop("motor", None)
            items[i] = merged(items[i], own)
        return merged(robot, over)

    def look_for_meshes(self, packages: Mapping[str, str]) -> None:
        """Note files of meshes that are not found."""
        meshes = {x.attributes.get("filename", ""): x for x in self.root.walk() if x.tag == "mesh"}
        if missing := [name for name in meshes if find_resource(name, self.path, packages) is None]:
            found = f"{len(missing)} of {len(meshes)} not found: {listed(missing)}"
            mend = "say where packages are by `--package NAME=DIR`; they are for pictures, not for dynamics"
            self.remarks.add(meshes[missing[0]].place, "mesh", "files of meshes", found, mend)


def _within(outer: Offset, inner: Offset) -> Offset:
    """Where a frame stands whose place is given in a frame within another one."""
    R = rotation_rpy(*outer[1])
    xyz = Vector(*outer[0]) + R @ Vector(*inner[0])
    turned = any(outer[1]) and any(inner[1])
    rpy = roll_pitch_yaw(R @ rotation_rpy(*inner[1])) if turned else inner[1] if any(inner[1]) else outer[1]
    xyz, rpy = ([float(f"{x:.{DIGITS}g}") for x in numbers] for numbers in (xyz, rpy))
    return xyz, rpy


def _pose(offset: Offset) -> dict[str, Any]:
    """The keys of a frame in a robot file."""
    return {key: x for key, x in zip(("xyz", "rpy"), offset) if any(x)}


def _known(data: dict[str, Any], place: Place | None = None) -> dict[str, Any]:
    """Data without what is empty or 0."""
    return {key: x if place is None else nodes_of(x, place) for key, x in data.items() if x}


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken, with a number behind it if it has to; it is taken then."""
    free, k = name, len(taken)
    while free in taken:
        free, k = f"{name[: LONGEST_NAME - 6]}_{k}", k + 1
    taken.add(free)
    return free


def _chosen(option: str, name: str, links: Iterable[str]) -> str:
    if name not in links:
        given = spelled(f"--{option} {name}", f"{option}={name!r}")
        mend = suggestion(name, links, "links are")
        raise UsageError.of(given, "a link of the file" if option == "base" else "a link beyond the base", name, mend)
    return name
