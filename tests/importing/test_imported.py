"""The text of an imported robot: what it says reads back, and comments stand at what they tell of."""

from __future__ import annotations

from armsim.files.nodes import Place, data_of
from armsim.files.plain_data import nodes_of
from armsim.files.yaml_reader import parse_yaml
from armsim.importing.imported import Imported, merged, text_of

HERE = Place("arm.urdf", 3, 1)
LIMITS = {"lower": -1.5, "upper": 2.0}
BODY = {"inertia": {"mass": 1.0, "center": [0.0, 0.0, 0.5], "about": "com", "xx": 1e-5, "yy": 1e-5, "zz": 0.1}}
JOINT = {"name": "J1", "type": "revolute", "limits": LIMITS, "bodies": [BODY], "motor": {"limits": {"torque": 5.25}}}
DATA = {"name": "no", "joints": [JOINT, {"name": "J2", "bodies": []}], "frames": {"a-b": {"link": "J1"}}}
COMMENTS = {
    "": "from arm.urdf\n" + "and so on " * 12,
    "joints[0]": "joint `a b`",
    "joints[0].limits": "of me",
    "joints[0].motor.limits": "effort " * 15,
    "joints[1]": "small",
    "frames.a-b": "link `a-b`",
}
TEXT = """\
# from arm.urdf
# and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on and so
# on and so on
name: 'no'
joints:

# joint `a b`
- name: J1
  type: revolute
  limits: {lower: -1.5, upper: 2}  # of me
  bodies: [{inertia: {mass: 1, center: [0, 0, 0.5], about: com, xx: 1.0e-05, yy: 1.0e-05, zz: 0.1}}]
  # effort effort effort effort effort effort effort effort effort effort effort effort effort effort effort
  motor: {limits: {torque: 5.25}}

# small
- {name: J2, bodies: []}
frames: {a-b: {link: J1}}  # link `a-b`
"""


def test_an_imported_robot_is_written_with_comments_at_their_keys_and_reads_back_the_same():
    root = nodes_of(DATA, HERE)
    text = text_of(Imported(root, COMMENTS, ()))
    assert text == TEXT
    assert data_of(parse_yaml(text, "arm.yaml")) == data_of(root)


def test_what_is_laid_over_a_node_replaces_values_and_joins_mappings():
    node = nodes_of({"limits": {"lower": 1, "upper": 2}, "friction": {"coulomb": 1}}, HERE)
    over = nodes_of({"limits": {"upper": 3}, "friction": {"coulomb": {"positive": 1}}, "spring": {}}, Place("x"))
    expected = {"limits": {"lower": 1, "upper": 3}, "friction": {"coulomb": {"positive": 1}}, "spring": {}}
    assert data_of(merged(node, over)) == expected
