"""URDF: small robots whose numbers are known by hand, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import FileFaults, UsageError
from armsim.files.nodes import data_of
from armsim.importing.imported import text_of
from armsim.importing.urdf import read_urdf

UNIT = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name: str, inner: str = UNIT) -> str:
    return f'<link name="{name}">{inner}</link>\n'


def joint(name: str, parent: str, child: str, of_type: str = "continuous", inner: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{of_type}">{ends}{inner}</joint>\n'


def at(xyz: str = "0 0 0", rpy: str = "0 0 0") -> str:
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


def inertial(mass: float, tensor: str, origin: str = "") -> str:
    keys = " ".join(
        f'i{key}="{x}"' for key, x in zip(("xx", "yy", "zz", "xy", "xz", "yz"), tensor.split(), strict=True)
    )
    return f'<inertial>{origin}<mass value="{mass}"/><inertia {keys}/></inertial>'


@pytest.fixture
def urdf(tmp_path, monkeypatch):
    """Writes the elements of a robot to arm.urdf in the working folder."""
    monkeypatch.chdir(tmp_path)

    def write(*elements: str, head: str = '<?xml version="1.0"?>\n<robot name="arm">\n') -> str:
        (tmp_path / "arm.urdf").write_text(head + "".join(elements) + "</robot>\n")
        return "arm.urdf"

    return write


def joints_of(path: str, *args, **named) -> dict:
    return {joint["name"]: joint for joint in data_of(read_urdf(path, *args, **named).root)["joints"]}


# what is read


def test_a_joint_has_the_axis_range_friction_and_drive_of_its_urdf(urdf):
    inner = (
        at("0 0 0.3", "0 0 1.5707963")
        + '<axis xyz="0 1 0"/><limit lower="-1.5" upper="2" effort="100" velocity="2"/>'
        + '<dynamics damping="0.3" friction="0.1"/>'
    )
    found = joints_of(urdf(link("base"), link("a"), joint("J", "base", "a", "revolute", inner)))["J"]
    del found["bodies"]
    assert found == {
        "name": "J",
        "type": "revolute",
        "origin": {"xyz": [0, 0, 0.3], "rpy": [0, 0, 1.5707963], "axis": [0, 1, 0]},
        "limits": {"lower": -1.5, "upper": 2.0},
        "friction": {"viscous": 0.3, "coulomb": 0.1},
        "motor": {"limits": {"torque": 100.0, "speed": 2.0}},
    }


def test_the_axis_is_x_where_it_is_not_given_and_a_continuous_joint_has_no_range(urdf):
    path = urdf(link("base"), link("a"), joint("J", "base", "a", inner='<limit lower="0" upper="1" effort="0"/>'))
    found = joints_of(path)["J"]
    assert found["origin"] == {"axis": [1, 0, 0]}
    assert not {"limits", "motor"} & set(found)


@pytest.mark.parametrize("wrapped", ["<actuator>{}</actuator>", "<joint name='J'>{}</joint>", "{}"])
def test_efforts_and_velocities_are_taken_through_the_gear_of_a_transmission(urdf, wrapped):
    gear = wrapped.format("<mechanicalReduction> -50 </mechanicalReduction>")
    named = "" if "<joint" in wrapped else "<joint name='J'/>"
    path = urdf(
        link("base") + link("a") + joint("J", "base", "a", inner='<limit effort="100" velocity="2"/>'),
        f"<transmission name='t'>{named}{gear}</transmission>",
    )
    assert joints_of(path)["J"]["motor"] == {"gear": -50, "limits": {"torque": 2, "speed": 100}}


def test_a_joint_is_given_between_its_limits_where_0_is_not_within(urdf):
    limit = '<limit lower="-3" upper="-1" effort="0" velocity="0"/>'
    path = urdf(link("base"), link("a"), joint("J", "base", "a", "revolute", limit))
    assert joints_of(path)["J"]["initial"] == -2


def test_ranges_and_efforts_without_end_are_none(urdf):
    limit = '<limit lower="-1e16" upper="inf" effort="1e99" velocity="-1"/>'
    path = urdf(link("base"), link("a"), joint("J", "base", "a", "prismatic", limit))
    assert not {"limits", "motor", "initial"} & set(joints_of(path)["J"])


def test_the_body_on_a_fixed_joint_is_turned_and_moved_into_its_carrier(urdf):
    """By hand: the fixed link stands at (1, 0, 0), turned by 90 degrees about z; its centre at (0, 2, 0) there is at (-1, 0, 0)
    here. Its tensor diag(1, 2, 3) in axes turned by 90 degrees about x in the fixed link is diag(3, 1, 2) here."""
    body = inertial(4, "1 2 3 0 0 0", at("0 2 0", f"{math.pi / 2} 0 0"))
    path = urdf(
        link("base") + link("a", "") + link("b", body) + joint("J", "base", "a", inner='<axis xyz="0 0 1"/>'),
        joint("fix", "a", "b", "fixed", at("1 0 0", f"0 0 {math.pi / 2}")),
    )
    file = armsim.load_robot(path)
    (inertia,) = file.arm.inertias
    assert inertia.mass == 4
    assert [*inertia.com()] == pytest.approx([-1, 0, 0], abs=1e-15)
    tensor = inertia.tensor_about_com()
    assert [tensor.xx, tensor.yy, tensor.zz] == pytest.approx([3, 1, 2], abs=1e-14)
    assert [tensor.xy, tensor.xz, tensor.yz] == pytest.approx([0, 0, 0], abs=1e-14)


def test_links_on_fixed_joints_are_frames_of_what_carries_them(urdf):
    path = urdf(
        link("base") + link("a") + link("b") + link("c") + link("mount"),
        joint("stand", "base", "mount", "fixed", at("0 0 1")),
        joint("J", "mount", "a", inner=at("0 0 0.5", "0 0.5 0") + '<axis xyz="0 0 1"/>'),
        joint("one", "a", "b", "fixed", at("1 0 0", f"0 0 {math.pi / 2}")),
        joint("two", "b", "c", "fixed", at("1 0 0", "0.1 0 0")),
    )
    root = data_of(read_urdf(path).root)
    assert root["joints"][0]["origin"] == {"xyz": [0, 0, 1.5], "rpy": [0, 0.5, 0], "axis": [0, 0, 1]}
    assert root["frames"] == {"b": {"link": "J", "xyz": [1, 0, 0], "rpy": [0, 0, math.pi / 2]}}
    tool = root["tool"]  # the only link at the end
    assert tool["link"] == "J"
    assert tool["xyz"] == [1, 1, 0]
    assert tool["rpy"] == pytest.approx([0.1, 0, math.pi / 2], abs=1e-14)
    assert len(root["joints"][0]["bodies"]) == 3


@pytest.mark.parametrize("pitch", ["1.5707963", "1.570796326794", "-1.57079632679489", "1.5707963267948966"])
def test_turns_near_gimbal_lock_lose_no_digits(urdf, pitch):
    """The fixed links' rotation is Ry(pitch) Rx(0.3), which roll, pitch and yaw in one have to say again."""
    path = urdf(
        link("base") + link("a") + link("b") + link("c") + joint("J", "base", "a", inner='<axis xyz="0 0 1"/>'),
        joint("one", "a", "b", "fixed", at("0 0 0", f"0 {pitch} 0")),
        joint("two", "b", "c", "fixed", at("0 0 0", "0.3 0 0")),
    )
    w, x, y, z = armsim.load_robot(path).forward_kinematics([0.0]).quaternion
    p = float(pitch) / 2
    expected = [math.cos(p) * math.cos(0.15), math.cos(p) * math.sin(0.15), math.sin(p) * math.cos(0.15)]
    expected = np.array([*expected, -math.sin(p) * math.sin(0.15)])
    assert np.abs(np.array([w, x, y, z]) - expected).max() < 1e-15


def test_lengths_that_are_added_keep_their_digits(urdf):
    path = urdf(
        link("base") + link("a") + link("b") + joint("J", "base", "a"),
        joint("one", "a", "b", "fixed", at("0.1 1.2345678901234567 0")) + link("c"),
        joint("two", "b", "c", "fixed", at("0.2 2.3456789012345678 0")),
    )
    x, y, _ = data_of(read_urdf(path).root)["tool"]["xyz"]
    assert x == 0.3  # not 0.30000000000000004
    assert y == pytest.approx(1.2345678901234567 + 2.3456789012345678, rel=2e-16)


def test_a_joint_that_mimics_one_that_mimics_follows_the_one_that_leads(urdf):
    """By hand: a = 2 b + 1 and b = -3 c + 0.5 make a = -6 c + 2."""
    path = urdf(
        link("base") + link("a") + link("b") + link("c"),
        joint("A", "base", "a", inner='<mimic joint="B" multiplier="2" offset="1"/>'),
        joint(
            "B", "base", "b", inner='<mimic joint="C" multiplier="-3" offset="0.5"/><limit effort="9" velocity="9"/>'
        ),
        joint("C", "base", "c"),
    )
    found = joints_of(path)
    assert found["A"]["mimic"] == {"joint": "C", "ratio": -6, "offset": 2}
    assert found["B"]["mimic"] == {"joint": "C", "ratio": -3, "offset": 0.5}
    assert "motor" not in found["B"]  # what moves it is the motor of C, which has none
    assert armsim.load_robot(path).joints == ["C"]


def test_branches_say_what_carries_them_in_the_order_of_a_walk(urdf):
    path = urdf(
        *map(link, ("base", "a", "b", "c", "d", "e")),
        joint("B", "a", "b") + joint("A", "base", "a") + joint("C", "a", "c") + joint("D", "base", "d"),
        joint("E", "d", "e"),
    )
    parents = {name: found.get("parent") for name, found in joints_of(path).items()}
    assert parents == {"A": None, "B": None, "C": "A", "D": "base", "E": None}


def test_names_become_names_of_armsim_each_its_own(urdf):
    path = urdf(
        *map(link, ("base", "a", "x/y", "x y", "tool", "A", "q_m", "1.5")),
        joint("A", "base", "a") + joint("A/1", "a", "x/y") + joint("A 1", "x/y", "x y") + joint("base", "x y", "tool"),
        joint("f1", "tool", "A", "fixed") + joint("f2", "tool", "q_m", "fixed") + joint("f3", "tool", "1.5", "fixed"),
    )
    imported = read_urdf(path)
    root = data_of(imported.root)
    assert [joint["name"] for joint in root["joints"]] == ["A", "A_1", "A_1_3", "base_4"]
    assert list(root["frames"]) == ["A_link", "q_m_link", "_1_5"]
    assert root["tool"] == {"link": "base_4"}  # the link of this name
    assert imported.comments["frames._1_5"] == "link `1.5`"
    armsim.load_robot(path)


def test_a_base_and_tips_choose_a_part_of_the_tree(urdf):
    path = urdf(
        *map(link, ("base", "a", "b", "c", "left", "right", "camera")),
        joint("A", "base", "a") + joint("B", "a", "b") + joint("C", "b", "c") + joint("fix", "b", "camera", "fixed"),
        joint("L", "c", "left") + joint("R", "c", "right"),
    )
    assert list(joints_of(path, "a")) == ["B", "C", "L", "R"]
    part = read_urdf(path, "a", ["right"])
    root = data_of(part.root)
    assert [joint["name"] for joint in root["joints"]] == ["B", "C", "R"]
    assert root["tool"] == {"link": "R"}
    assert root["frames"] == {"camera": {"link": "B"}}  # what is fixed to a link stays with it
    (remark,) = part.sources[0].remarks
    assert remark.found == "left out: a, base, left" or remark.found == "left out: base, left"
    assert list(joints_of(path, None, ["left", "right"])) == ["A", "B", "C", "L", "R"]


@pytest.mark.parametrize("of_type", ["floating", "planar"])
def test_a_base_that_moves_about_is_held_and_told(urdf, told, of_type):
    path = urdf(
        link("world") + link("trunk") + link("a"), joint("M", "world", "trunk", of_type), joint("A", "trunk", "a")
    )
    (remark,) = read_urdf(path).sources[0].remarks
    told(str(remark))
    assert list(joints_of(path)) == ["A"]


def test_a_link_without_inertia_has_no_body_and_check_tells(urdf):
    path = urdf(link("base") + link("a", "") + link("b"), joint("A", "base", "a") + joint("B", "a", "b"))
    assert joints_of(path)["A"]["bodies"] == []
    from armsim.loading.check import check

    (warning,) = check(path).warnings
    assert (warning.where.line, warning.found) == (6, "link A has mass 0")


def test_the_text_of_what_is_read_is_the_same_robot(urdf, told):
    limit = '<limit lower="1" upper="2" effort="5" velocity="2"/>'
    path = urdf(
        link("base") + link("a") + link("b c"),
        joint("J 1", "base", "a", "revolute", at("0 0 0.3", "0 0 1.57") + limit),
        joint("fix", "a", "b c", "fixed", at("1 0 0")),
    )
    imported = read_urdf(path)
    text = text_of(imported)
    told(text)
    with open("arm.yaml", "w") as file:
        file.write(text)
    one, other = armsim.load_robot("arm.yaml"), armsim.load_robot(path)
    q = [1.1]
    assert (one.mass_matrix(q) == other.mass_matrix(q)).all()
    assert (one.gravity_torque(q) == other.gravity_torque(q)).all()


def test_what_urdf_has_no_word_for_is_laid_over_what_it_says(urdf):
    over = """<armsim>
      gravity: [0, 0, -1.62]
      payload: {mass: 2}
      joints:
        A: {initial: 0.5, limits: {stiffness: 1000}, friction: {coulomb: {positive: 1, negative: 2}}}
        B: {type: screw, pitch: 0.01, motor: {Kp: 0.05, Ra: 1, gear: 100}}
    </armsim>"""
    limit = '<limit lower="-1" upper="2" effort="5" velocity="2"/><dynamics damping="3" friction="1"/>'
    path = urdf(
        link("base") + link("a") + link("b") + joint("A", "base", "a", "revolute", limit),
        joint("B", "a", "b", "prismatic", limit) + over,
    )
    root = data_of(read_urdf(path).root)
    a, b = root["joints"]
    assert root["gravity"] == [0, 0, -1.62]
    assert root["payload"] == {"mass": 2}
    assert a["limits"] == {"lower": -1, "upper": 2, "stiffness": 1000}
    assert a["friction"] == {"viscous": 3, "coulomb": {"positive": 1, "negative": 2}}
    assert (b["type"], b["pitch"]) == ("screw", 0.01)
    assert b["motor"] == {"Kp": 0.05, "Ra": 1, "gear": 100}  # in place of what effort and velocity say
    assert armsim.load_robot(path).initial.tolist() == [0.5, 0]


def test_a_fault_in_what_is_laid_over_has_its_line(urdf):
    path = urdf(
        link("base") + link("a") + joint("A", "base", "a"), "<armsim>\njoints:\n  A:\n    initial: far\n</armsim>"
    )
    with pytest.raises(FileFaults) as caught:
        armsim.load_robot(path)
    (fault,) = caught.value.faults
    assert (fault.where.line, fault.path) == (9, "joints[0].initial")


# where a robot is taken


def test_a_urdf_is_a_robot_of_scenarios_and_of_overrides(urdf, tmp_path):
    path = urdf(link("base") + link("a", inertial(1, "1 1 1 0 0 0", at("0 0.5 0"))) + joint("A", "base", "a"))
    overrides = {"joints[A].bodies[0].inertia.mass": 2}
    assert armsim.load_robot(path, overrides).gravity_torque([0.0]) == pytest.approx([2 * 0.5 * 9.81])  # which holds it
    (tmp_path / "hold.yaml").write_text(
        "format: armsim/scenario/1\nrobot: arm.urdf\nduration: 0.1\ncontrol: {law: pd, output: torque, kp: 1, kd: 1}\n"
    )
    run = armsim.simulate("hold.yaml", overrides={"robot.joints[A].initial": 0.5})
    assert run.q[0] == 0.5
    run.save("run")
    again = armsim.simulate("run/run.yaml")
    assert (again.q == run.q).all()


def test_a_robot_that_an_option_names_stands_in_the_working_folder(urdf):
    path = urdf(link("base") + link("a", inertial(1, "1 1 1 0 0 0", at("0 0.5 0"))) + joint("A", "base", "a"))
    run = armsim.simulate("hold", overrides={"robot": path, "duration": 0.1})
    assert run.q[-1] == pytest.approx(0, abs=1e-12)


# what is refused

BASE, A, B = link("base"), link("a"), link("b")
OK = joint("A", "base", "a")
REFUSED = {
    "no_robot": [""],
    "two_roots": [BASE, A, B, OK],
    "a_loop": [BASE, A, B, link("c"), OK, joint("B", "b", "c"), joint("C", "c", "b")],
    "two_parents": [BASE, A, B, OK, joint("B", "base", "b"), joint("C", "b", "a")],
    "undefined_links": [BASE, A, joint("A", "bas", "a"), '<joint name="B" type="fixed"/>'],
    "names": [BASE, BASE, A, "<link/>", OK, OK],
    "types": [BASE, A, B, joint("A", "base", "a", "hinge"), joint("B", "base", "b", "")],
    "nothing_moves": [BASE, A, joint("A", "base", "a", "fixed")],
    "numbers": [
        BASE,
        link("a", '<inertial><mass value="1,5"/><inertia ixx="nan" iyy="1" izz="0x1"/></inertial>'),
        joint("A", "base", "a", "revolute", at("0 0", "0 0 inf") + '<limit lower="a" upper="1"/>'),
    ],
    "a_long_axis": [BASE, A, joint("A", "base", "a", inner='<axis xyz="0 0 2"/>')],
    "no_axis": [BASE, A, joint("A", "base", "a", inner='<axis xyz="0 0 0"/>')],
    "a_mimic_of_none": [BASE, A, joint("A", "base", "a", inner='<mimic joint="B"/>')],
    "a_mimic_of_a_fixed_one": [
        BASE,
        A,
        B,
        joint("A", "base", "a", inner='<mimic joint="B"/>'),
        joint("B", "a", "b", "fixed"),
    ],
    "mimics_in_a_circle": [
        BASE,
        A,
        B,
        joint("A", "base", "a", inner='<mimic joint="B"/>'),
        joint("B", "a", "b", inner='<mimic joint="A"/>'),
    ],
    "no_gear": [
        BASE,
        A,
        OK,
        "<transmission><joint name='A'/><mechanicalReduction>0</mechanicalReduction></transmission>",
    ],
    "a_negative_mass": [BASE, link("a", inertial(-1, "1 1 1 0 0 0")), OK],
    "no_inertia": [BASE, link("a", ""), OK],
    "xacro_values": [BASE, A, joint("A", "base", "a", inner=at("0 0 ${height}"))],
    "xacro_elements": [BASE, A, '<xacro:arm name="x"/>', OK],
    "laid_over_text": [BASE, A, OK, "<armsim>gravity</armsim>"],
    "laid_over_list": [BASE, A, OK, "<armsim>joints: [1]</armsim>"],
    "laid_over_unknown": [BASE, A, OK, "<armsim>{joints: {Z: {initial: 1}}, gravty: 1}</armsim>"],
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_told_with_its_line(urdf, told, case):
    with pytest.raises(FileFaults) as caught:
        armsim.load_robot(urdf(*REFUSED[case]))
    told(str(caught.value))
    assert all(fault.where.source == "arm.urdf" and fault.where.line for fault in caught.value.faults)


BROKEN = {
    "an_element_left_open": b"<robot name='x'>\n<link name='a'>\n</robot>",
    "an_attribute_without_quotes": b"<robot name=x/>",
    "a_document_type": b'<?xml version="1.0"?>\n<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd">\n<robot name="x"/>',
    "entities": b'<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
    "an_entity": b'<robot name="&file;"/>',
    "another_file": b"<mujoco/>",
    "an_encoding": b'<?xml version="1.0" encoding="martian"?><robot name="x"/>',
    "no_text": b"\x00\x01",
    "nothing": b"",
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_no_urdf_is_told(tmp_path, monkeypatch, told, case):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_bytes(BROKEN[case])
    with pytest.raises(FileFaults) as caught:
        read_urdf("arm.urdf")
    told(str(caught.value))


@pytest.mark.parametrize(("base", "tips"), [("bse", []), (None, ["b", "A"]), ("a", ["base"])])
def test_links_to_choose_that_are_not_there_are_refused(urdf, told, base, tips):
    path = urdf(BASE, A, B, OK, joint("B", "a", "b"))
    with pytest.raises(UsageError) as caught:
        read_urdf(path, base, tips)
    told(str(caught.value))


def test_ranges_without_width_are_remarked_and_taken_as_none(urdf, told):
    path = urdf(BASE, A, joint("A", "base", "a", "revolute", '<limit effort="1" velocity="1"/>'))
    (remark,) = read_urdf(path).sources[0].remarks
    told(str(remark))
    assert "limits" not in joints_of(path)["A"]


# meshes


def test_meshes_are_looked_for_in_their_packages_and_told_where_they_are_not_there(urdf, tmp_path, told, monkeypatch):
    meshes = ["package://one/a.stl", "package://two/a.stl", "package://three/a.stl", "a.stl", "../a.stl", "/a.stl"]
    meshes += [
        "package://one/../a.stl",
        "package:///a.stl",
        "package://../a.stl",
        "package://four/a.stl",
        "file:///a.stl",
    ]
    for name in ("one", "roads/two", "."):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "a.stl").write_text("")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path / 'roads'}::{tmp_path / 'none'}")
    visuals = "".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in meshes)
    path = urdf(BASE, link("a", UNIT + visuals), OK)
    (remark,) = read_urdf(path, packages={"one": "one"}).sources[0].remarks
    told(str(remark))
    assert read_urdf(path).sources[0].remarks == ()  # nothing else is looked at unasked


def test_a_package_is_the_folder_of_its_name_or_manifest_above_the_file(tmp_path):
    from armsim.importing.packages import find_resource

    folder = tmp_path / "my_robot" / "urdf"
    folder.mkdir(parents=True)
    mesh = tmp_path / "my_robot" / "a.stl"
    mesh.write_text("")
    of = str(folder / "arm.urdf")
    assert find_resource("package://my_robot/a.stl", of, {}) == str(mesh)
    assert find_resource("../a.stl", of, {}) is None
    (tmp_path / "my_robot" / "package.xml").write_text("")
    assert find_resource("../a.stl", of, {}) == str(mesh)
    assert find_resource("../../a.stl", of, {}) is None


def test_the_range_of_joints_that_move_as_one_is_what_all_of_them_leave(urdf):
    limits = {"F1": (0.0, 0.05), "F2": (-0.06, -0.02), "F3": (0.0, 1.0)}
    mimics = {"F2": '<mimic joint="F1" multiplier="-2" offset="-0.01"/>', "F3": '<mimic joint="F2" multiplier="-10"/>'}
    joints = "".join(
        f'<joint name="{name}" type="prismatic"><parent link="base"/><child link="{name}_link"/><axis xyz="1 0 0"/>'
        f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>{mimics.get(name, "")}</joint>'
        f'<link name="{name}_link"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name, (low, high) in limits.items()
    )
    robot = armsim.load_robot(urdf('<link name="base"/>', joints)).document
    # F2 = -2 F1 - 0.01 leaves F1 0.005 to 0.025; F3 = 20 F1 + 0.1 leaves it up to 0.045
    found = robot.joints[0].limits
    assert (found.lower.value, found.upper.value) == pytest.approx((0.005, 0.025))
    assert robot.joints[0].initial.value == pytest.approx(0.015)
    assert all(joint.limits is None for joint in robot.joints[1:])
