"""Overrides: values set on a document, or taken out of it, before it is checked: by `--set`, `--unset` or from the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from armsim.document.composite import Kind, LawGains, OneOf, PerJoint, Subdocument
from armsim.document.kinds import V
from armsim.document.paths import PathError, joint_index, parse_path, path_text, source_of
from armsim.errors import spelled
from armsim.files.faults import Report, listed, suggestion
from armsim.files.nodes import Map, Node, Place, Scalar, Seq, clipped
from armsim.files.plain_data import nodes_of
from armsim.records import record

Overrides = Mapping[str, Any]  # values by path, as `apply_overrides` takes them
MOST = 200  # characters of a path in a message


class JointLists(NamedTuple):
    """What it takes to set items of lists with one item per joint.

    Attributes:
        names: Of the joints.
        defaults: Of the lists that a file may leave out, by path.
        axes: Of a tool, which gains are of in place of joints; none in joint space.
    """

    names: Sequence[str]
    defaults: Mapping[str, Sequence[float]]
    axes: Sequence[str] = ()

    def names_in(self, kind: Kind[Any]) -> Sequence[str]:
        """The names of the items of a list."""
        return self.axes if self.axes and isinstance(kind, LawGains) else self.names


def apply_overrides(
    root: Node,
    overrides: Overrides | None,
    report: Report,
    prefix: str = "",
    kind: Kind[Any] | None = None,
    joints: JointLists | None = None,
) -> Node:
    """A copy of a document with values replaced, added or taken out.

    Args:
        root: The document's root.
        overrides: Values by path, joints by index or name: text is read as YAML, None takes the key or the item out,
            anything else is plain data. A key that is not there is added; the check that follows reports it if it is
            unknown, at the option's own place. One value for all joints becomes a list where one of them is set.
        report: Takes the faults of invalid paths.
        prefix: Put before the paths in messages (`robot.`).
        kind: Of the document.
        joints: For lists with one item per joint; None where the robot is not known, or has none.
    """
    for path, value in (overrides or {}).items():
        where = f"{prefix}{clipped(path, MOST)}"
        place = Place(source_of(where, unset=value is None))
        try:
            steps = parse_path(path)
        except PathError as error:
            report.add(place, "", str(error), where, "correct the path")
            continue
        node = None if value is None else _node(value, place)
        changed = _Override(steps, node, place, report, joints).within(root, kind, 0)
        assert changed is not None  # a path has a step
        root = changed
    return root


def split_overrides(overrides: Mapping[str, V] | None) -> tuple[dict[str, V], dict[str, V]]:
    """The overrides of a scenario's own keys, and those of its robot without the prefix `robot.`."""
    own, robot = {}, {}
    for path, value in (overrides or {}).items():
        if path.startswith("robot."):
            robot[path.removeprefix("robot.")] = value
        else:
            own[path] = value
    return own, robot


def _node(value: Any, place: Place) -> Node:
    if isinstance(value, str):
        from armsim.files.yaml_reader import parse_value

        return parse_value(value, place.source)
    return nodes_of(value, place)


@record
class _Override:
    """One override.

    Attributes:
        steps: Of its path.
        value: The node to set; None takes out what is there.
        place: The option.
        report: Takes the fault if it cannot be set.
        joints: As `apply_overrides` has it.
    """

    steps: Sequence[str | int]
    value: Node | None
    place: Place
    report: Report
    joints: JointLists | None

    def within(self, node: Node, kind: Kind[Any] | None, at: int) -> Node | None:
        """A node with the value set at the steps from `at` on; None if it is to be taken out."""
        if at == len(self.steps):
            return self.value
        step = self.steps[at]
        key = type(step) is str
        if isinstance(kind, PerJoint) and isinstance(node, Scalar) and not key:
            listed_out = self._one_per_joint(node, kind, at)
            if listed_out is None:
                return node
            node = listed_out
        if isinstance(node, Scalar) and node.value is None:
            node = Map({}, self.place) if key else Seq([], self.place)
        if isinstance(node, Map) and key:
            return self._in_map(node, str(step), kind, at)
        if isinstance(node, Seq) and not key:
            return self._in_list(node, step, kind, at)
        self._no_such_step(node, at)
        return node

    def _in_map(self, node: Map, key: str, kind: Kind[Any] | None, at: int) -> Node:
        fields: Mapping[str, Kind[Any]] = kind.of.fields if isinstance(kind, Subdocument) else {}
        fields = kind.variants if isinstance(kind, OneOf) else fields
        if self.value is None and key not in node.entries:
            known = fields or node.entries
            if key not in known:
                expected = f"one of the keys {listed(known)}" if known else "a key that is there"
                mend = suggestion(key, known, "keys here are")
                self.report.add(self.place, self._path(at), expected, f"the unknown key `{clipped(key)}`", mend)
            return node
        nothing = self.place, Scalar(None, "null", self.place)
        if isinstance(kind, Subdocument) and key not in fields:  # which is reported where the document is read
            return Map({**node.entries, key: node.entries.get(key, nothing)}, node.place)
        place, old = node.entries.get(key, nothing)
        new = self.within(old, None if kind is None else kind.below(key), at + 1)
        if new is None:
            return Map({name: entry for name, entry in node.entries.items() if name != key}, node.place)
        return Map({**node.entries, key: (place, new)}, node.place)

    def _in_list(self, node: Seq, step: str | int, kind: Kind[Any] | None, at: int) -> Node:
        names: Sequence[str | None] = [_name(item) for item in node.items]
        if isinstance(kind, PerJoint) and self.joints is not None and len(self.joints.names_in(kind)) == len(names):
            names = self.joints.names_in(kind)
        item_kind = None if kind is None else kind.below(step)
        index = joint_index(step, names)
        if index is None and step == len(names) == 0 and self.value is not None:
            new = self.within(Scalar(None, "null", self.place), item_kind, at + 1)
            return Seq([] if new is None else [new], node.place)
        if index is None and isinstance(kind, PerJoint) and self.joints is None and self.report.faults:
            return node  # the robot is at fault, which is reported
        if index is None:
            known = [name for name in names if name]
            many = f"an index from 0 to {len(names) - 1}" if names else "a list with items"
            expected = f"{many}, or one of {listed(known)}" if known else many
            mend = (
                suggestion(str(step), known, "take one of") if known and isinstance(step, str) else "correct the index"
            )
            self.report.add(self.place, self._path(at), expected, clipped(str(step)), mend)
            return node
        new = self.within(node.items[index], item_kind, at + 1)
        if new is None and isinstance(kind, PerJoint):
            expected, mend = (
                "a value for every joint",
                f"unset `{clipped(path_text(self.steps[:at]), MOST)}` as a whole",
            )
            self.report.add(self.place, self._path(at), expected, "one of them unset", mend)
            return node
        put = [] if new is None else [new]
        return Seq([*node.items[:index], *put, *node.items[index + 1 :]], node.place)

    def _one_per_joint(self, node: Scalar, kind: PerJoint, at: int) -> Node | None:
        """A list with one item per joint in place of one value for all, or of none; None where that is reported."""
        above = path_text(self.steps[:at])
        if self.joints is None:
            return None if self.report.faults else node
        many = len(self.joints.names_in(kind))
        if node.value is not None:
            return Seq([node] * many, node.place) if kind.one_for_all else node
        if self.report.faults:  # of the robot, whose pose would be the default
            return None
        if above in self.joints.defaults:
            return nodes_of(list(self.joints.defaults[above]), self.place)
        if many == 1 or self.value is None:
            return node
        example = kind.example or f"[{', '.join(['0'] * many)}]"
        setting = spelled(f"--set {above}={example}", f'"{above}": {example}')
        first = f"set all first, for example `{setting}`"
        self.report.add(self.place, self._path(at), "a value for every joint", f"no {above} to begin with", first)
        return None

    def _no_such_step(self, node: Node, at: int) -> None:
        """Report a step that the node does not have."""
        above = clipped(path_text(self.steps[:at]), MOST)
        if isinstance(node, Scalar):
            expected, mend = (
                "a path that ends where the values end",
                f"set `{above}` as a whole" if above else "correct the path",
            )
            self.report.add(self.place, self._path(at), expected, f"a single value at {above or 'the top'}", mend)
            return
        kind = "keys" if isinstance(node, Map) else "indices"
        there = list(node.entries) if isinstance(node, Map) else [n for n in map(_name, node.items) if n]
        mend = f"{kind} here are {listed(there)}" if there else "correct the path"
        expected = f"one of the {kind} of {above or 'the file'}"
        self.report.add(self.place, self._path(at), expected, clipped(str(self.steps[at])), mend)

    def _path(self, at: int) -> str:
        """The path up to a step."""
        return clipped(path_text(self.steps[: at + 1]), MOST)


def _name(node: Node) -> str | None:
    """The name of a list's item, where it has one."""
    name = node.get("name") if isinstance(node, Map) else None
    return name.text if isinstance(name, Scalar) else None
