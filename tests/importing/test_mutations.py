"""URDF texts that nobody would write: each is a robot, or faults in words, and no other file is read."""

from __future__ import annotations

import os
import random
import re
import sys

import pytest

from armsim.errors import ArmsimError
from armsim.files.nodes import data_of
from armsim.files.yaml_reader import parse_yaml
from armsim.importing.imported import text_of
from armsim.importing.urdf import read_urdf
from armsim.loading import load_robot_file
from armsim.loading.robot_file import built

TEXT = """<?xml version="1.0"?>
<robot name="arm">
  <link name="world"/>
  <link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="stand" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 0.1" rpy="0 1.57 0"/></joint>
  <joint name="J1" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
  <link name="a"><inertial><origin xyz="0 0 .1" rpy="0 1 0"/><mass value="2"/>
    <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0.01"/></inertial>
    <visual><geometry><mesh filename="package://arm/../../etc/passwd"/></geometry></visual></link>
  <joint name="J2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
    <axis xyz="0 1 0"/><limit lower="0.5" upper="2" effort="100" velocity="2"/><dynamics damping="0.3" friction="0.1"/></joint>
  <link name="b"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="F1" type="prismatic"><parent link="b"/><child link="left"/><limit lower="0" upper="0.04" effort="20"/></joint>
  <joint name="F2" type="prismatic"><parent link="b"/><child link="right"/><axis xyz="-1 0 0"/>
    <mimic joint="F1" multiplier="1" offset="0"/></joint>
  <link name="left"><inertial><mass value="0.1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="0.1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="eye" type="fixed"><parent link="b"/><child link="camera"/><origin xyz="0 0.1 0" rpy="0 0 1"/></joint>
  <link name="camera"/>
  <transmission name="t">
    <joint name="J2"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <armsim>
    gravity: [0, 0, -9.81]
    joints: {J1: {initial: 0.1, friction: {coulomb: 0.2}, motor: {Kp: 0.05, Ra: 1, gear: 100}}}
    frames: {camera: {xyz: [1, 2, 3]}}
  </armsim>
</robot>
"""
LISTED = """
    0 -1 1e308 1e999 nan inf -inf 1,5 0x10 1_000 ${x} $(find_x) base world tool J1 J2 F1 a b camera fixed planar floating null
    continuous revolute prismatic {} [] {a:1} [1,2] joints frames motor &amp; &#65; &#0; &x; <a/> <!--x--> <![CDATA[x]]> ]]>
    <!DOCTYPE<x> é ☃ \u202e ../../etc/passwd file:///etc/passwd http://127.0.0.1:9/x xacro:if * &a *a !!python/object:x : - ''
"""
WORDS = LISTED.split()
opened: list[str] | None = None


def watch(event: str, args: tuple) -> None:
    """Note what is opened, and whom one connects to."""
    if opened is not None and event in ("open", "socket.connect", "subprocess.Popen"):
        opened.append(str(args[0]))


sys.addaudithook(watch)


def mutated(draw: random.Random) -> bytes:
    """The text with a few changes: of bytes, values, lines or words."""
    text = TEXT
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        kind, i = draw.randrange(6), draw.randrange(len(text))
        if kind == 0:  # an attribute's value
            values = list(re.finditer('"([^"]*)"', text)) or [re.search("", text)]
            start, end = draw.choice(values).span()
            text = text[:start] + f'"{draw.choice(WORDS)}"' + text[end:]
        elif kind == 1:  # a word
            words = list(re.finditer(r"[\w.-]+", text)) or [re.search("", text)]
            start, end = draw.choice(words).span()
            text = text[:start] + draw.choice(WORDS) + text[end:]
        elif kind in (2, 3):  # a line out, or again elsewhere
            lines = text.splitlines(keepends=True)
            line = lines.pop(draw.randrange(len(lines))) if kind == 2 else draw.choice(lines)
            lines[(at := draw.randrange(len(lines) + 1)) : at] = [line] * (kind == 3)
            text = "".join(lines)
        elif kind == 4:  # a piece out
            text = text[:i] + text[i + draw.choice((1, 1, 5, 40)) :]
        else:
            text = text[:i] + draw.choice(WORDS) + text[i:]
        text = text or " "
    raw = text.encode("utf-8", "replace")
    if draw.random() < 0.1:
        i = draw.randrange(len(raw) + 1)
        raw = raw[:i] + bytes([draw.randrange(256)]) + raw[i + 1 :]
    return raw


def outcome(path: str, rest: random.Random) -> str:
    """Whether a file is a robot, or at fault; what is read is written, and reads back the same."""
    base, tips = rest.choice((*[(None, ())] * 6, ("a", ()), (None, ("left",))))
    try:
        imported = read_urdf(path, base, tips, {"arm": "."})
        file = load_robot_file(imported)
        assert data_of(parse_yaml(text_of(imported), "arm.yaml")) == data_of(imported.root)
        built(file)
    except ArmsimError as error:
        told = str(error)
        assert 0 < len(told) < 20_000
        assert "expected:" in told
        return "fault"
    return "robot"


def run(folder, cases) -> dict[str, int]:
    global opened
    path = os.path.join(folder, "arm.urdf")
    counts = {"robot": 0, "fault": 0}
    for case in cases:
        draw = random.Random(case)
        with open(path, "wb") as file:
            file.write(mutated(draw))
        opened = []
        try:
            counts[outcome(path, draw)] += 1
        finally:
            others, opened = opened, None
        others = [name for name in others if name != path and not name.isdigit() and not name.endswith((".py", ".pyc"))]
        assert others == [], f"case {case}"  # numbers are descriptors of the file; modules are imported
    return counts


@pytest.mark.slow
def test_mutated_texts_are_robots_or_faults_and_nothing_else_is_read(tmp_path):
    counts = run(tmp_path, range(300))
    assert min(counts.values()) > 30


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_mutated_texts_are_robots_or_faults(tmp_path, part):
    run(tmp_path, range(1000 + 2000 * part, 3000 + 2000 * part))


@pytest.mark.slow
def test_files_of_thirty_thousand_parts_are_told_what_is_too_much(tmp_path):
    """Names that all become one, links in one long chain, joints that mimic each other in one: none takes the square of time."""
    many = range(10_000)
    links = "".join(f'<link name="{"!" * (i % 7)}?{i}"/>' for i in many)
    names = [f"{'!' * (i % 7)}?{i}" for i in many]
    for of_type in ("fixed", "continuous"):
        chain = "".join(
            f'<joint name="j{i}" type="{of_type}"><parent link="{names[i - 1]}"/><child link="{names[i]}"/>'
            f'<mimic joint="j{i - 1}"/></joint>'
            for i in many[1:]
        )
        path = tmp_path / "arm.urdf"
        path.write_text(f'<robot name="arm">{links}{chain}</robot>')
        with pytest.raises(ArmsimError, match="1 to 100 joints"):
            read_urdf(str(path))
