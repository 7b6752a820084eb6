"""Which arms can be simulated, because their mass matrix is positive definite, and which are refused."""

import math

import pytest

import armsim
from armsim.errors import ArmsimError, FileFaults
from armsim.loading import read_robot
from armsim.loading.open_robot import OpenRobot


def point(mass=1, x=0.5):
    return {"point": {"mass": mass, "center": [x, 0, 0]}}


def tensor(xx, yy, zz, mass=1, center=(0, 0, 0)):
    return {"inertia": {"mass": mass, "center": list(center), "about": "com", "xx": xx, "yy": yy, "zz": zz}}


def joint(name, *bodies, type="revolute", mdh=None, **rest):
    return {"name": name, "type": type, "mdh": mdh or {"a": 0}, "bodies": list(bodies), **rest}


def robot(*joints, **rest):
    return {"format": "armsim/robot/1", "name": "arm", "joints": list(joints), **rest}


def faults(file):
    """What refuses a robot."""
    try:
        read_robot(file)
    except FileFaults as error:
        return error.faults
    return ()


def test_a_joint_needs_an_inertia_or_a_rotor(told):
    bare = joint("R2", {"point": {"mass": 1}})
    (fault,) = faults(robot(joint("R1", point()), bare))
    told(fault)
    motor = {"Kp": 1, "Ra": 1, "rotor_inertia": 1e-6}
    assert faults(robot(joint("R1", point()), {**bare, "motor": motor})) == ()


def test_a_prismatic_joint_needs_a_mass(told):
    assert faults(robot(joint("P1", point(mass=1e-3), type="prismatic"))) == ()
    (fault,) = faults(robot(joint("P1", tensor(1, 1, 1, mass=0), type="prismatic")))
    told(fault)


def test_a_screw_needs_a_mass_but_none_off_its_axis(told):
    screw = {"type": "screw", "pitch": 0.005}
    assert faults(robot(joint("S1", point(mass=1e-3, x=0), **screw))) == ()
    (fault,) = faults(robot(joint("S1", tensor(1, 1, 0, mass=0), **screw)))
    told(fault)


def test_joints_that_cancel_each_other_need_a_mass_between_them(told):
    second = joint("P2", point(), type="prismatic")
    assert faults(robot(joint("P1", point(mass=1e-3), type="prismatic"), second)) == ()
    (fault,) = faults(robot(joint("P1", type="prismatic"), second))
    told(fault)


def test_an_arm_that_is_singular_only_away_from_its_initial_pose_is_found():
    # all mass in one point 0.5 m beyond the elbow, 0.5 m beyond the shoulder: singular where it meets the shoulder's axis
    folded = joint(
        "R2", point(), mdh={"a": 0.5}, limits={"lower": math.pi - 1e-9, "upper": math.pi + 1e-9}, initial=math.pi
    )
    assert len(faults(robot(joint("R1"), folded))) == 1
    opened = {**folded, "initial": 1.0, "limits": {"lower": 0.5, "upper": 1.5}}
    assert faults(robot(joint("R1"), opened)) == ()


def test_a_negative_inertia_cannot_be_moved(told):
    (fault,) = faults(robot(joint("R1", tensor(1, 1, -0.5))))
    told(fault)


# -- each joint by its own measure


SPINDLE = {"cylinder": {"axis": "z", "height": 0.02, "radius": 0.005, "mass": 2e-3}}  # 2.5e-8 kg·m² about its axis
INERTIA = 0.5 * 2e-3 * 0.005**2
SLIDE = joint("P1", {"point": {"mass": 1000}}, type="prismatic")


def test_a_slide_of_a_tonne_carries_a_spindle_of_two_grams():
    file = robot(SLIDE, joint("R1", SPINDLE))
    assert faults(file) == ()
    accelerations = armsim.load_robot(file).forward_dynamics([0, 0], [0, 0], [1000.002 * 9.81, INERTIA])
    assert accelerations.tolist() == pytest.approx([0, 1], abs=1e-12)  # the slide is held, the spindle spins up


def test_a_spindle_of_two_grams_turns_a_slide_of_a_tonne_on_its_axis():
    file = robot(joint("R1", SPINDLE), SLIDE, gravity=[0, 0, 0])
    assert faults(file) == ()
    assert armsim.load_robot(file).forward_dynamics([0, 0], [0, 0], [INERTIA, 1000]).tolist() == pytest.approx([1, 1])


def test_a_spindle_may_be_left_open_on_a_slide_of_a_tonne():
    path = "joints[1].bodies[0].cylinder.mass"
    opened = OpenRobot(robot(SLIDE, joint("R1", SPINDLE)), [path])
    opened.refuse([1e-6])
    with pytest.raises(FileFaults, match="no inertia and no rotor inertia on joint `R1`"):
        opened.refuse([0.0])
    model = armsim.ForwardModel(robot(SLIDE, joint("R1", SPINDLE)), dt=1e-3, output="torque", open=[path])
    state = model.state([0, 0], [0, 0])
    model.step(state, [0, 1e-12], values=[1e-6])
    with pytest.raises(ArmsimError, match="no inertia and no rotor inertia on joint `R1`"):
        model.step(state, [0, 1e-12], values=[0.0])


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_an_arm_is_as_sound_in_other_units_of_mass_and_length(unit):
    first, slide = (
        joint("R1", point(unit, unit)),
        joint("P2", point(unit, 0), type="prismatic", mdh={"alpha": math.pi / 2}),
    )
    assert faults(robot(first, slide, joint("R3", point(1e-6 * unit, 1e-3 * unit)))) == ()
    assert len(faults(robot(first, slide, joint("R3", point(unit, 0))))) == 1


@pytest.mark.parametrize("angle", [0.3, 0.7, 1.3])
def test_an_inertia_that_is_a_rounding_error_is_none(angle):
    direction = [0, math.sin(angle), math.cos(angle)]
    on_axis = {"point": {"mass": 3, "center": [0.7 * x for x in direction]}}
    frame = {"xyz": [0, 0, 0], "rpy": [0, 0, 0], "axis": direction}
    tilted = {"name": "R1", "type": "revolute", "origin": frame, "bodies": [on_axis]}
    by_cad = joint("R1", {"point": {"mass": 3, "center": [6e-17, 0, 0.7]}})  # 0.7 cos(pi/2)
    for file in (robot(tilted, convention="origin"), robot(by_cad)):
        assert [fault.found for fault in faults(file)] == ["no inertia and no rotor inertia on joint `R1`"]
    motor = {"rotor_inertia": 1e-12}  # which is no rounding error
    assert faults(robot({**tilted, "motor": motor}, convention="origin")) == ()
    assert faults(robot({**by_cad, "motor": motor})) == ()


@pytest.mark.parametrize("angle", [0.3, 0.7, 1.3])
def test_a_pivot_that_is_a_rounding_error_is_none(angle):
    # the second slide goes where the first one does, but for a rounding error
    back = {"rpy": [angle, 0, 0], "axis": [0, math.sin(angle), math.cos(angle)]}
    first = {"name": "P1", "type": "prismatic", "origin": {"axis": [0, 0, 1]}, "bodies": []}
    second = {"name": "P2", "type": "prismatic", "origin": back, "bodies": [point()]}
    (fault,) = faults(robot(first, second, convention="origin"))
    assert "joint `P1` and the joints after it can move without moving any mass" in fault.found
    assert faults(robot({**first, "bodies": [point(1e-9)]}, second, convention="origin")) == ()


def test_an_inertia_that_no_double_divides_by_is_none():
    assert [len(faults(robot(joint("R1", tensor(0, 0, zz, mass=0))))) for zz in (2e-30, 0.5e-30, 1e-320)] == [0, 1, 1]
