"""`armsim import`"""

from __future__ import annotations

import json

import pytest

ARM = """<robot name="my arm">
  <link name="base"/>
  <joint name="A" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
  <link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://arm/a.stl"/></geometry></visual></link>
  <joint name="B" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
  <link name="b"/>
  <joint name="flange" type="fixed"><parent link="b"/><child link="tool0"/><origin xyz="0.1 0 0"/></joint>
  <link name="tool0">{}</link>
</robot>
"""
BODY = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'


@pytest.fixture
def arm(empty_folder):
    (empty_folder / "arm.urdf").write_text(ARM.format(BODY))
    return empty_folder


def test_three_commands_lead_from_a_urdf_to_a_hold_on_a_page(armsim, arm, told):
    made = armsim("import", "arm.urdf", "-o", "arm.yaml")
    assert made.code == 0
    told(made.out)
    told(made.err)
    ran = armsim("simulate", "hold", "--set", "robot=arm.yaml", "-o", "held", "-q")
    assert (ran.code, ran.err) == (0, "")
    last = (arm / "held" / "trajectory.csv").read_text().splitlines()[-1].split(",")
    assert [float(x) for x in last[1:3]] == pytest.approx([0, 0], abs=1e-9)
    assert armsim("view", "held", "-o", "held.html", "-q").code == 0
    assert "<html" in (arm / "held.html").read_text()


def test_without_a_file_the_yaml_alone_is_on_standard_output(armsim, arm):
    shown, made = armsim("import", "arm.urdf"), armsim("import", "arm.urdf", "-o", "arm.yaml", "-q")
    assert shown.out == (arm / "arm.yaml").read_text()
    assert "! arm.urdf:7:" in shown.err
    assert (made.out, made.err) == ("", "")


def test_a_urdf_is_one_by_its_content_whatever_its_ending(armsim, arm):
    urdf = armsim("import", "arm.urdf")
    (arm / "arm.xml").write_text(ARM.format(BODY))
    assert armsim("import", "arm.xml").out == urdf.out.replace("arm.urdf", "arm.xml")


def test_a_remark_on_a_file_as_a_whole_has_one_colon(armsim, empty_folder):
    (empty_folder / "arm.xml").write_text(
        "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='1'/></body></worldbody></mujoco>"
    )
    assert "! arm.xml: contacts of geoms; they are left out" in armsim("import", "arm.xml").err


def test_a_part_of_the_tree_is_taken_and_the_rest_told(armsim, arm):
    made = armsim("import", "arm.urdf", "--tip", "a", "--package", "arm=.")
    assert "name: B" not in made.out
    assert "tool: {link: A}" in made.out
    assert "left out: b, tool0" in made.err


def test_an_arm_without_inertia_is_written_to_be_mended_and_ends_with_1(armsim, arm, told):
    (arm / "arm.urdf").write_text(ARM.format(""))
    made = armsim("import", "arm.urdf", "-o", "arm.yaml", "--package", "arm=.")
    assert made.code == 1
    told(made.err)
    text = (arm / "arm.yaml").read_text()
    assert text.count("bodies: []") == 1
    (arm / "arm.yaml").write_text(text.replace("bodies: []", "bodies: [{point: {mass: 1, center: [0.1, 0, 0]}}]"))
    assert armsim("check", "arm.yaml").code == 0


def test_it_writes_over_nothing_and_not_over_what_it_reads(armsim, arm):
    (arm / "arm.yaml").write_text("mine")
    assert armsim("import", "arm.urdf", "-o", "arm.yaml").code == 2
    assert (arm / "arm.yaml").read_text() == "mine"
    assert armsim("import", "arm.urdf", "-o", "arm.urdf", "--force").code == 2
    assert armsim("import", "arm.urdf", "-o", "arm.yaml", "--force").code == 0


def test_faults_are_told_and_nothing_is_written(armsim, arm, told):
    (arm / "arm.urdf").write_text(ARM.format(BODY).replace("0.02", "0,02"))
    made = armsim("import", "arm.urdf", "-o", "arm.yaml")
    assert made.code == 2
    told(made.err)
    assert not (arm / "arm.yaml").exists()


def test_a_package_without_a_folder_is_refused(armsim, arm, told):
    made = armsim("import", "arm.urdf", "--package", "arm")
    assert made.code == 2
    told(made.err)


def test_commands_take_a_urdf_as_it_is_and_tell_what_they_leave_out(armsim, arm):
    (arm / "arm.urdf").write_text(ARM.format(BODY).replace('"continuous"', '"planar"'))
    for command in ("inverse", "fk"):
        made = armsim(command, "arm.urdf")
        assert made.code == 0
        assert "! arm.urdf:8:3: joint B: a planar joint, which is held at 0" in made.err
    checked = armsim("check", "arm.urdf", "--strict")
    assert (checked.code, checked.out.count("planar")) == (1, 1)


def test_dh_parameters_are_recovered_where_the_axes_allow_them(armsim, arm):
    for convention in ("mdh", "dh"):
        made = armsim("import", "arm.urdf", "--convention", convention, "-o", f"{convention}.yaml")
        assert made.out.startswith("residual of the rows: ")
        assert f"convention: {convention}\n" in (arm / f"{convention}.yaml").read_text()
        poses = [
            json.loads(armsim("fk", of, "--q", "0.3,-0.7", "--json").out) for of in ("arm.urdf", f"{convention}.yaml")
        ]
        tools = [pose["tool"]["position"] + pose["tool"]["quaternion"] for pose in poses]
        assert tools[0] == pytest.approx(tools[1], abs=1e-12)


def test_a_convention_that_the_axes_do_not_allow_is_told_and_not_taken(armsim, arm):
    joint = '<joint name="C" type="continuous"><parent link="a"/><child link="c"/><origin xyz="0.1 0.2 0.3"/>'
    more = f'{joint}<axis xyz="0.6 0 0.8"/></joint><link name="c">{BODY}</link></robot>'
    (arm / "arm.urdf").write_text(ARM.format(BODY).replace("</robot>", more))
    made = armsim("import", "arm.urdf", "--convention", "mdh")
    assert "convention: origin\n" in made.out
    assert "links whose axes ask for several frames" in made.err
