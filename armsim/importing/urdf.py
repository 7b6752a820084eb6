"""URDF, in which ROS describes robots, as the content of a robot file.

Frames are those of URDF (`convention: origin`): a link's frame is that of its joint. Links on fixed joints are merged with the
link that carries them: their inertias are bodies of that link, their frames named frames.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from armsim.document.kinds import as_name
from armsim.document.robot import FORMAT, MOST_JOINTS, RESERVED_FRAMES, UNIT
from armsim.errors import LF, UsageError, spelled
from armsim.files.faults import Report, listed, refuse, suggestion
from armsim.files.nodes import Map, Node, Place, Seq, clipped, shown
from armsim.files.plain_data import nodes_of
from armsim.files.source import Source, digest
from armsim.files.yaml_reader import parse_yaml, parsed_number
from armsim.formulas.bounds import BOUNDS
from armsim.importing.imported import Imported, compact, compact_nodes, free_name, merged
from armsim.importing.packages import find_resource
from armsim.importing.xml_reader import Element, read_xml
from armsim.model import BASE, Mimic
from armsim.records import as_plain
from armsim.spatial import Vector, roll_pitch_yaw, rotation_rpy

TYPES = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}
STILL = ("fixed", "floating", "planar")  # the last two armsim has not: they are held
MESHES = (".stl", ".obj")  # that can be drawn
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
GEARS = ("mechanicalReduction", "mechanical_reduction")
FRICTION = {"damping": "viscous", "friction": "coulomb"}
NOT_UNIT = 0.01  # from the length of an axis to 1
DIGITS = 16  # of lengths that are computed: 0.1 + 0.2 is 0.3
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
    """A link that moves: its joint, the name of that in the robot file, what carries it and where, inertias by link, meshes.

    What carries it is a link that moves, of which this is the index, or the base, -1.
    """

    joint: _Joint
    name: str
    carrier: int
    offset: Offset
    bodies: dict[str, Node]
    visuals: list[Node]


def read_urdf(
    path: str, base: str | None = None, tips: Sequence[str] = (), packages: Mapping[str, str] | None = None
) -> Imported:
    """A URDF file as the content of a robot file.

    Args:
        path: The file; messages show it as given.
        base: The link that is fixed in the world, in place of the one that no joint moves. What is not beyond it is left out.
        tips: Links where the arm ends. Joints that lead to none of them are left out; without tips all are taken.
        packages: Folders of packages by name, for files of meshes; None: those that are not found are not told.

    Raises:
        FileFaults: All that is wrong with the file, at once.
        UsageError: There is no such link, or a tip is not beyond the base.
    """
    root, raw = read_xml(path, "a URDF file")
    for element in root.walk():
        words = element.tag, *element.attributes.values()
        if word := next((word for word in words if "${" in word or word.startswith("xacro:")), ""):
            found = f"xacro that is not expanded: `{clipped(word)}`"
            mend = f"expand it first: `xacro {path} > {os.path.basename(path).partition('.')[0]}_expanded.urdf`"
            raise refuse(element.place, "", "URDF", found, mend)
    if root.tag != "robot":
        mend = "name a URDF file: its first element is <robot>"
        raise refuse(root.place, "", "<robot>", f"<{clipped(root.tag)}>", mend)
    reader = _Reader(path, root, packages or {})
    reader.take(base, tips)
    robot = reader.robot()
    if packages is not None:
        reader.look_for_meshes()
    reader.report.raise_if_any()
    return Imported(robot, reader.comments, (Source(path, digest(raw), tuple(reader.remarks.faults)),))


class _Reader:
    """Reads a file: its links and joints, then what of them is taken.

    Attributes:
        report: Takes faults.
        remarks: What can be used, but has to be known.
        comments: As `Imported` has them.
    """

    def __init__(self, path: str, root: Element, packages: Mapping[str, str]) -> None:
        self.path, self.root, self.packages = path, root, packages
        self.report, self.remarks = Report(), Report()
        self.comments: dict[str, str] = {}
        self.links, self.joints = self._named("link"), dict[str, _Joint]()
        self.moved_by: dict[str, _Joint] = {}
        self.on: dict[str, list[_Joint]] = {name: [] for name in self.links}
        for name, element in self._named("joint").items():
            self._add(f"joint {name}", element)
        self.report.raise_if_any()
        self.roots = [name for name in self.links if name not in self.moved_by]
        reached = {link for root in self.roots for link in self._beyond(root)}
        if loop := [joint for joint in self.joints.values() if joint.child not in reached]:
            found = f"a loop: {listed(joint.name for joint in loop)}"
            raise refuse(loop[0].element.place, "", "joints that form a tree", found, "take one of them out")

    def _named(self, tag: str) -> dict[str, Element]:
        """The elements of a kind by name."""
        found: dict[str, Element] = {}
        for element in self.root.all(tag):
            name = element.get("name")
            if not name or found.setdefault(name, element) is not element:
                told = f"`{clipped(name)}` again, after line {found[name].place.line}" if name else "none"
                self.report.add(element.place, tag, f"a name for each {tag}", told, "give it a name of its own")
        return found

    def _add(self, path: str, element: Element) -> None:
        parent, child = ends = [element.first(tag) for tag in ("parent", "child")]
        joint = _Joint(element.get("name"), element.get("type"), element, parent.get("link"), child.get("link"))
        for of, key, known in [(element, "type", [*TYPES, *STILL]), *((end, "link", self.links) for end in ends)]:
            if (word := of.get(key)) not in known:
                mend = suggestion(word, known, f"{key}s are")
                self.report.add(
                    of.place, f"{path}: {of.tag} {key}", f"a {key} that there is", clipped(word) or "none", mend
                )
        self.joints[joint.name], first = joint, self.moved_by.setdefault(joint.child, joint)
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
            found = f"links that no joint moves: {listed(self.roots) or 'none'}"
            mend = "join them by a fixed joint, or choose one by `--base LINK`"
            raise refuse(self.root.place, "links", "one link from which all others hang", found, mend)
        self.base, self.tips = _chosen("base", self.roots[0] if base is None else base, self.links), tips
        wanted = set() if tips else set(self.joints)
        for link in tips:
            _chosen("tip", link, self._beyond(self.base))
            while link != self.base:
                wanted.add(self.moved_by[link].name)
                link = self.moved_by[link].parent
        self.taken: list[_Link] = []
        self.frames: dict[str, tuple[int, Offset]] = {}
        names, left_out = {BASE}, {*self.links} - {self.base}
        stack: list[tuple[_Joint, int, Offset]] = [(joint, -1, ORIGIN) for joint in reversed(self.on[self.base])]
        while stack:
            joint, carrier, offset = stack.pop()
            if joint.type in TYPES and joint.name not in wanted:
                continue
            left_out.remove(joint.child)
            offset = _within(offset, self._offset(joint.element, f"joint {joint.name}"))
            if joint.type in TYPES:
                self.taken.append(_Link(joint, free_name(as_name(joint.name), names), carrier, offset, {}, []))
                carrier, offset = len(self.taken) - 1, ORIGIN
            else:
                self.frames[joint.child] = carrier, offset
            if joint.type in STILL[1:]:
                found, mend = (
                    f"a {joint.type} joint, which is held at 0",
                    f"`--base {joint.child}` takes only what hangs from it",
                )
                self.remarks.add(joint.element.place, f"joint {joint.name}", "a type that armsim has", found, mend)
            if carrier >= 0:
                self.taken[carrier].bodies.update(self._body(joint.child, offset))
                self.taken[carrier].visuals.extend(self._visuals(joint.child, offset))
            stack += [(beyond, carrier, offset) for beyond in reversed(self.on[joint.child])]
        if left_out:
            found = f"left out: {listed(sorted(left_out))}"
            self.remarks.add(self.root.place, "links", "all", found, "--base and --tip choose others")
        if not 0 < len(self.taken) <= MOST_JOINTS:
            expected, mend = (
                f"1 to {MOST_JOINTS} joints that turn or slide",
                "choose a part of the tree by --base and --tip",
            )
            raise refuse(self.root.place, "", expected, str(len(self.taken)), mend)

    def _body(self, link: str, offset: Offset) -> dict[str, Node]:
        """The inertia of a link, if it has one, by its name; its frame stands in that of the link which carries it."""
        inertial, path = self.links[link].first("inertial"), f"link {link}"
        if not inertial.children:
            return {}
        mass = self.number(inertial.first("mass"), "value", path, "")
        tensor = {key: self.number(inertial.first("inertia"), f"i{key}", path, "") for key in TENSOR}
        center, rpy = _within(offset, self._offset(inertial, path))
        body = {"mass": mass, "center": center, "about": "com", **_pose((ORIGIN[0], rpy))}
        body |= {key: x for key, x in tensor.items() if x or key in TENSOR[:3]}
        return {link: nodes_of({"inertia": body}, inertial.place)} if mass or any(tensor.values()) else {}

    def _visuals(self, link: str, offset: Offset) -> list[Node]:
        """A link's meshes that can be drawn, of collisions where it shows none, in the frame of the link which carries it."""
        for tag in ("visual", "collision"):
            found = []
            for element in self.links[link].all(tag):
                mesh, path = element.first("geometry").first("mesh"), f"link {link}"
                file = find_resource(mesh.get("filename"), self.path, self.packages) or ""
                if file.lower().endswith(MESHES):
                    scale = self.vector(mesh, "scale", path, "1 1 1")
                    place = _pose(_within(offset, self._offset(element, path)))
                    found.append(nodes_of({"mesh": file, "scale": scale, **place}, mesh.place))
            if found:
                return found
        return []

    def parsed(self, text: str, place: Place, path: str) -> float:
        """A number; 0, and a fault, where it is none. Infinite ones are refused later, where they must not be."""
        value = parsed_number(text.strip().replace("inf", ".inf"))
        if value is None or math.isnan(value):
            self.report.add(place, path, "a number", clipped(text) or "none", "write for example 0.1")
        return value or 0.0

    def number(self, element: Element, key: str, path: str, default: str = "0") -> float:
        """The number of an attribute."""
        return self.parsed(element.attributes.get(key, default), element.place, f"{path}: {element.tag} {key}")

    def vector(self, element: Element, key: str, path: str, default: str = "0 0 0") -> list[float]:
        """The three numbers of an attribute."""
        text, path = element.attributes.get(key, default), f"{path}: {element.tag} {key}"
        numbers = [self.parsed(part, element.place, path) for part in text.split()]
        if len(numbers) != 3 or not math.isfinite(sum(numbers)):
            mend = f'write for example {key}="0 0 1"'
            self.report.add(element.place, path, "three numbers", f"`{clipped(text)}`", mend)
        return [*numbers, 0.0, 0.0, 0.0][:3]

    def _offset(self, element: Element, path: str) -> Offset:
        """The pose that an element's `<origin>` says."""
        origin = element.first("origin")
        return self.vector(origin, "xyz", path), self.vector(origin, "rpy", path)

    def robot(self) -> Any:
        """The content of the robot file."""
        self.names = {link.joint.name: link.name for link in self.taken}
        self.gears = self._gears()
        self.mimics = {name: mimic for name in self.names if (mimic := self._coupling(name))}
        file, over = os.path.basename(self.path), self.root.first("armsim")
        self.comments[""] = (
            f"By `armsim import` from {file}; its link `{self.base}` is fixed in the world. "
            "Links on fixed joints are merged with what carries them: their inertias in `bodies`, their frames in `frames`. "
            "Where 0 is not within a joint's limits, `initial` is between them. Of motors URDF says effort and velocity alone: "
            "for voltages add Kp, Ra, gear and rotor_inertia of a data sheet (docs/motors.md)."
        )
        data = {"format": FORMAT, "name": self.root.get("name") or as_name(file), "gravity": [0, 0, -9.81]}
        joints = {link.name: self._joint(i, link) for i, link in enumerate(self.taken)}
        made: Any = nodes_of(data | {"convention": "origin", "joints": joints, **self._frames()}, self.root.place)
        if over.text.strip():
            own = parse_yaml(LF * (over.place.line - 1) + over.text, self.path, self.report)
            if not isinstance(own, Map) or not isinstance(own.get("joints"), Map | None):
                expected = "a mapping of keys of a robot file, joints by name"
                raise refuse(over.place, "armsim", expected, shown(own), "see docs/import.md")
            made = merged(made, own)
        by_name = made.get("joints")
        made.entries["joints"] = made.place, Seq([joint for _, joint in by_name.entries.values()], made.place)
        return made

    def _joint(self, i: int, link: _Link) -> Node:
        """A joint of the robot file."""
        joint, path, where = link.joint, f"joint {link.joint.name}", f"joints[{i}]"
        axis, dynamics, mimic = map(joint.element.first, ("axis", "dynamics", "mimic"))
        place, direction = joint.element.place, self.vector(axis, "xyz", path, "1 0 0")
        told = f"joint `{joint.name}`, {joint.type}: link `{joint.child}` on `{joint.parent}`"
        self.comments[where] = f"line {place.line}, {told}"
        if abs((length := math.hypot(*direction)) - 1.0) > NOT_UNIT:
            found, mend = f"`{axis.get('xyz')}`, of length {length:.6g}", 'write for example xyz="0 0 1"'
            self.report.add(axis.place, f"{path}: axis", "a unit vector", found, mend)
        data: dict[str, object] = {"name": link.name, "type": TYPES[joint.type]}
        if link.carrier != i - 1:
            data["parent"] = BASE if link.carrier < 0 else self.taken[link.carrier].name
        data["origin"] = {**_pose(link.offset), "axis": direction}
        data |= (
            compact_nodes({"mimic": as_plain(self.mimics.get(joint.name))}, mimic.place)
            if mimic.attributes
            else self._held(joint, path)
        )
        friction = {name: self.number(dynamics, key, path) for key, name in FRICTION.items()}
        data |= compact_nodes({"friction": compact(friction)}, dynamics.place)
        data["bodies"] = [*link.bodies.values()]
        data |= compact({"visual": link.visuals})
        if [*link.bodies] not in ([], [joint.child]):
            self.comments[f"{where}.bodies"] = f"links {', '.join(link.bodies)}"
        return nodes_of(data, place)

    def _held(self, joint: _Joint, path: str) -> dict[str, Node]:
        """Limits, initial position and motor of a joint that mimics none; its range is that of all that move with it."""
        limit, gear = joint.element.first("limit"), self.gears.get(joint.name, 1.0)
        effort, velocity = (self.number(limit, key, path) for key in ("effort", "velocity"))
        drive = (("torque", effort / (abs(gear) or 1), STRONGEST), ("speed", velocity * abs(gear), FASTEST))
        motor: dict[str, object] = {} if gear == 1 else {"gear": gear}
        motor |= compact({"limits": {key: x for key, x, most in drive if 0 < x <= most}})
        low, high = self._range(joint, path)
        for name, mimic in self.mimics.items():
            if mimic.joint == self.names[joint.name] and mimic.ratio:
                ends = self._range(self.joints[name], f"joint {name}")
                least, most = sorted(mimic.invert(x) for x in ends)
                low, high = max(low, least), min(high, most)
        if low >= high:
            found, mend = "none: it has no limits", "correct the limits of the joints that mimic it"
            self.remarks.add(limit.place, f"{path}: limit", "a range for all that moves with it", found, mend)
            low, high = -math.inf, math.inf
        limits = {key: x for key, x in (("lower", low), ("upper", high)) if abs(x) < math.inf}
        initial = sum(limits.values()) / max(len(limits), 1) if not low <= 0 <= high else 0
        return compact_nodes({"initial": initial, "limits": limits, "motor": motor}, limit.place)

    def _range(self, joint: _Joint, path: str) -> tuple[float, float]:
        """The range of a joint by its own limits; an end that there is not is infinite."""
        limit = joint.element.first("limit")
        low, high = (self.number(limit, key, path) for key in ("lower", "upper"))
        if joint.type != "continuous" and limit.attributes and low >= high:
            found = f"{low:g} and {high:g}: taken as none"
            self.remarks.add(limit.place, f"{path}: limit", "lower smaller than upper", found, "correct the limits")
        if joint.type == "continuous" or not limit.attributes or low >= high:
            return -math.inf, math.inf
        return low if low >= -WIDEST else -math.inf, high if high <= WIDEST else math.inf

    def _coupling(self, joint: str) -> Mimic | None:
        """The joint that leads one, perhaps by way of others, with ratio and offset; None if none does, or with a fault."""
        seen, ratio, offset = [joint], 1.0, 0.0
        while (element := self.joints[seen[-1]].element.first("mimic")).attributes:
            path, name = f"joint {seen[-1]}", element.get("joint")
            offset += ratio * self.number(element, "offset", path)
            ratio *= self.number(element, "multiplier", path, "1")
            others = [other for other in self.names if other not in seen]
            if name not in others:
                expected = "another joint that is taken and moves, and does not mimic this one"
                mend = suggestion(name, others, "joints are")
                self.report.add(element.place, f"{path}: mimic", expected, f"`{clipped(name)}`", mend)
                return None
            seen.append(name)
        return Mimic(self.names[seen[-1]], ratio, offset) if len(seen) > 1 else None

    def _gears(self) -> dict[str, float]:
        """Reductions by joint, of transmissions that have one joint."""
        found = {}
        for element in [x for x in self.root.walk() if x.tag == "transmission" and len(x.all("joint")) == 1]:
            name = element.first("joint").get("name")
            for gear in [x for x in element.walk() if x.tag in GEARS]:
                found[name] = self.parsed(gear.text, gear.place, f"joint {name}: {gear.tag}")
        return found

    def _frames(self) -> dict[str, dict[str, object]]:
        """The tool, and the frames of links that are fixed to one that moves."""
        known = {link.joint.child: (i, ORIGIN) for i, link in enumerate(self.taken)} | self.frames
        ends = [*self.tips] or [x for x in known if x == "tool"] or [x for x in known if not self.on[x]]
        taken, frames, tool = {*RESERVED_FRAMES, *self.names.values()}, dict[str, object](), dict[str, object]()
        for link, (carrier, offset) in known.items():
            frame: dict[str, object] = {"link": self.taken[carrier].name, **_pose(offset)}
            if [link] == ends and carrier >= 0:
                tool, self.comments["tool"] = frame, f"link `{link}`"
            elif link in self.frames and carrier >= 0:
                name = as_name(link).replace(".", "_")
                name = free_name(f"{name}_link" if UNIT.fullmatch(name) or name in taken else name, taken)
                frames[name], self.comments[f"frames.{name}"] = frame, f"link `{link}`" * (name != link)
        return compact({"tool": tool, "frames": frames})

    def look_for_meshes(self) -> None:
        """Note files of meshes that are not found."""
        meshes = {x.get("filename"): x for x in self.root.walk() if x.tag == "mesh"}
        if missing := [name for name in meshes if find_resource(name, self.path, self.packages) is None]:
            found = f"{len(missing)} of {len(meshes)} not found: {listed(missing)}"
            mend = "say where packages are by `--package NAME=DIR`; they are for pictures, not for dynamics"
            self.remarks.add(meshes[missing[0]].place, "mesh", "files of meshes", found, mend)


def _within(outer: Offset, inner: Offset) -> Offset:
    """Where a frame stands whose place is given in a frame within another one; numbers stay as they are where they can."""
    if not any((*outer[0], *outer[1])):
        return inner
    R = rotation_rpy(*outer[1])
    xyz, rpy = Vector(*outer[0]) + R @ Vector(*inner[0]), inner[1] if any(inner[1]) else outer[1]
    if any(inner[1]) and any(outer[1]):
        rpy = roll_pitch_yaw(R @ rotation_rpy(*inner[1]))
    return [float(f"{x:.{DIGITS}g}") for x in xyz], rpy


def _pose(offset: Offset) -> dict[str, Sequence[float]]:
    """The keys of a frame in a robot file."""
    return {key: x for key, x in zip(("xyz", "rpy"), offset) if any(x)}


def _chosen(option: str, name: str, links: Iterable[str]) -> str:
    if name not in links:
        given, expected = spelled(f"--{option} {name}", f"{option}={name!r}"), "a link of the file"
        expected += "" if option == "base" else " that hangs from the base"
        raise UsageError.of(given, expected, "another one", suggestion(name, links, "links are"))
    return name
