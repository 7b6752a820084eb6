"""The arm that a robot file builds."""

import csv
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from armsim.arm.solids import solids
from armsim.dynamics import frame_pose, link_poses, rnea
from armsim.errors import UsageError
from armsim.expr import Expr, trace
from armsim.loading import build_robot, load_robot_file, read_robot, read_scenario
from armsim.loading.frames import turn_z_onto
from armsim.loading.plausible import doubts
from armsim.spatial import Matrix, Pose, Symmetric, Vector, rotation_rpy, rotation_x

DATA = Path(__file__).parent.parent / "data"
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


def test_the_arm_of_the_table_has_its_published_inertias():
    with open(DATA / "model_links.csv") as file:
        rows = list(csv.DictReader(file))
    arm, _ = read_robot("arm5")
    assert len(rows) == arm.n == 5
    for joint, row in zip(arm.joints, rows, strict=True):
        inertia = joint.inertia
        tensor = {name: float(row[f"I{name}"]) for name in COMPONENTS}
        scale = max(map(abs, tensor.values()))
        assert inertia.mass == float(row["mass"])
        assert tuple(inertia.com()) == pytest.approx([float(row[f"c{x}"]) for x in "xyz"], rel=1e-15, abs=1e-16)
        # 1e-15 of the largest component: two additions of rounded numbers
        assert [getattr(inertia.J, name) for name in COMPONENTS] == pytest.approx(
            list(tensor.values()), rel=0, abs=1e-15 * scale
        )


def test_the_arm_of_the_table_has_its_published_frames():
    with open(DATA / "model_links.json") as file:
        table = json.load(file)["model"]["mdh"]
    arm, _ = read_robot("arm5")
    for joint, row in zip(arm.joints, table, strict=True):
        c, s = round(math.cos(row["alpha"])), round(math.sin(row["alpha"]))
        assert joint.tilt == Matrix(Vector(1, 0, 0), Vector(0, c, -s), Vector(0, s, c))
        assert joint.position == Vector(row["a"], -s * row["d"], c * row["d"])


def test_degrees_turn_angles_and_nothing_else():
    joint = {
        "name": "R1", "type": "revolute", "mdh": {"alpha": 90, "theta": -90, "d": 1, "a": 2}, "initial": 45,
        "limits": {"lower": -90, "upper": 180, "stiffness": 1000, "damping": 10}, "friction": {"viscous": 3},
        "bodies": [{"point": {"mass": 1, "center": [1, 1, 1]}}],
    }  # fmt: skip
    slide = {**joint, "name": "P2", "type": "prismatic", "initial": 0.5, "limits": {"lower": -1, "upper": 2}}
    arm, _ = read_robot(
        {"format": "armsim/robot/1", "name": "d", "units": {"angle": "deg"}, "joints": [joint, slide],
         "tool": {"rpy": [180, 0, 0]}}
    )  # fmt: skip
    turning, sliding = arm.joints
    assert (turning.initial, turning.offset) == (math.pi / 4, -math.pi / 2)
    assert (turning.limit.lower, turning.limit.upper) == (-math.pi / 2, math.pi)
    assert (turning.limit.stiffness, turning.limit.damping, turning.viscous) == (1000, 10, 3)
    assert turning.tilt == rotation_x(math.pi / 2)
    assert (sliding.initial, sliding.offset, sliding.limit.lower, sliding.limit.upper) == (0.5, 1, -1, 2)
    assert arm.tool.pose.rotation == rotation_x(math.pi)


def test_degrees_turn_the_angles_of_a_screw_and_not_its_pitch():
    joint = {
        "name": "S1", "type": "screw", "pitch": 0.36, "mdh": {"theta": 90, "d": 1}, "initial": 720,
        "limits": {"lower": -90, "upper": 3600, "stiffness": 1000}, "bodies": [{"point": {"mass": 1}}],
    }  # fmt: skip
    arm, _ = read_robot({"format": "armsim/robot/1", "name": "d", "units": {"angle": "deg"}, "joints": [joint]})
    (screw,) = arm.joints
    assert (screw.initial, screw.limit.lower, screw.limit.upper) == (4 * math.pi, -math.pi / 2, 20 * math.pi)
    assert (screw.pitch, screw.limit.stiffness, screw.offset) == (0.36, 1000, 0)
    (place,) = link_poses(arm, [math.pi / 2])  # a quarter of a turn after the quarter that theta is
    assert tuple(place.position) == pytest.approx((0, 0, 1.09), abs=1e-15)
    assert [x for row in place.rotation for x in row] == pytest.approx([-1, 0, 0, 0, -1, 0, 0, 0, 1], abs=1e-15)


def test_a_pitch_left_open_gives_the_bits_of_the_number_written_in(evaluate):
    joint = {"name": "S1", "type": "screw", "pitch": 0.005, "mdh": {"alpha": 1}, "bodies": [{"point": {"mass": 1}}]}
    last = {"name": "R2", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [0.1, 0.2, 0.3]}}]}
    file = load_robot_file({"format": "armsim/robot/1", "name": "open", "joints": [joint, last]})
    state = ([0.3, 0.2], [0.4, -0.5], [0.6, 0.7])
    opened = trace(lambda pitch: rnea(build_robot(file.document, {"joints[S1].pitch": pitch}), *state), ["pitch"])
    first, other = evaluate(opened, [[0.005, 0.01]]).T.tolist()
    assert first == rnea(build_robot(file.document), *state) != other


def test_back_emf_constant_is_the_torque_constant_unless_given():
    file = load_robot_file("arm5", {"joints[R1].motor": {"Kp": 3, "Ra": 2}, "joints[R2].motor.Ke": 7})
    first, second = build_robot(file.document).joints[:2]
    assert (first.motor.Kp, first.motor.Ke, first.motor.Ra) == (3, 3, 2)
    assert (second.motor.Kp, second.motor.Ke) == (10, 7)


def test_a_parameter_left_open_moves_all_that_is_an_expression_of_it():
    file = load_robot_file("arm5")
    opened = build_robot(file.document, {"parameters.upper": 0.5})
    assert opened == read_robot("arm5", {"parameters.upper": 0.5})[0]
    assert opened != build_robot(file.document)


def test_numbers_left_open_become_expressions():
    file = load_robot_file("arm5")
    arms = []

    def body(Kp, upper):
        arms.append(build_robot(file.document, {"joints[R1].motor.Kp": Kp, "parameters.upper": upper}))
        return [Kp]

    trace(body, ["Kp", "upper"])
    first, second, third = arms[0].joints[:3]
    assert isinstance(first.motor.Kp, Expr)
    assert first.motor.Ke == 10
    assert isinstance(second.inertia.J.yy, Expr)
    assert isinstance(third.position.x, Expr)
    assert third.inertia == read_robot("arm5")[0].joints[2].inertia


def test_a_number_left_open_in_degrees_is_in_degrees():
    file = load_robot_file("two_link")
    opened = build_robot(file.document, {"joints[elbow].initial": 90.0})
    assert opened.joints[1].initial == math.pi / 2


@pytest.mark.parametrize("path", ["joints[R1].motor.Kq", "joints[R7].motor.Kp", "joints[R1].name", "joints[R1].bodies"])
def test_only_numbers_that_are_there_can_be_left_open(path, told):
    with pytest.raises(UsageError) as caught:
        build_robot(load_robot_file("arm5").document, {path: 1.0})
    told(caught.value)


@pytest.mark.parametrize(
    "axis",
    [
        (1, 0, 0),
        (-1, 0, 0),
        (0, 1, 0),
        (0, -2, 0),
        (0, 0, 3),
        (0, 0, -1),
        (1, 2, 3),
        (1, 2, -3),
        (1e-9, 0, -1),
        (3, 4, 0),
    ],
)
def test_z_turns_onto_any_axis(axis):
    R = turn_z_onto(*axis)
    length = math.hypot(*axis)
    assert tuple(R @ Vector(0, 0, 1)) == pytest.approx([x / length for x in axis], abs=1e-15)
    product = R @ R.T
    assert [x for row in product for x in row] == pytest.approx([1, 0, 0, 0, 1, 0, 0, 0, 1], abs=4e-16)
    x, y, z = (R @ Vector(*e) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    assert x.y * y.z - x.z * y.y == pytest.approx(z.x, abs=4e-16)  # right-handed


def random_rows(rng, n):
    return [{"a": rng.uniform(-1, 1), "alpha": rng.uniform(-3, 3), "d": rng.uniform(-1, 1), "theta": rng.uniform(-3, 3)}
            for _ in range(n)]  # fmt: skip


def random_body(rng):
    c = [rng.uniform(-0.5, 0.5) for _ in range(3)]
    tensor = dict(zip(COMPONENTS, [rng.uniform(1, 2) for _ in range(3)] + [rng.uniform(-0.2, 0.2) for _ in range(3)],
                      strict=True))  # fmt: skip
    return {"mass": rng.uniform(0.5, 3), "center": c, "about": "com", **tensor}


def moved_body(body, pose: Pose):
    """The body of a file, given in another frame: that frame stands at `pose` in the new one."""
    center = pose.point(Vector(*body["center"]))
    tensor = pose.rotation.turn(Symmetric(*(body[name] for name in COMPONENTS)))
    return {**body, "center": list(center), **{name: getattr(tensor, name) for name in COMPONENTS}}


PITCH = -0.4  # of all screws here


def file_of(convention, types, frames, bodies, **rest):
    joints = [
        {"name": f"J{i}", "type": type, convention: frame, "bodies": [{"inertia": body}]}
        | ({"pitch": PITCH} if type == "screw" else {})
        for i, (type, frame, body) in enumerate(zip(types, frames, bodies, strict=True))
    ]
    return {"format": "armsim/robot/1", "name": "random", "convention": convention, "joints": joints, **rest}


def rpy(R: Matrix):
    """Roll, pitch and yaw of a rotation."""
    return [math.atan2(R.row_z.y, R.row_z.z), -math.asin(R.row_z.x), math.atan2(R.row_y.x, R.row_x.x)]


def pose_of(row, type, q=0.0):
    """Craig's transform of a row."""
    turns, slides = {"revolute": (1, 0), "prismatic": (0, 1), "screw": (1, PITCH / (2 * math.pi))}[type]
    theta, d = row["theta"] + turns * q, row["d"] + slides * q
    twist = Pose(rotation_x(row["alpha"]), rotation_x(row["alpha"]) @ Vector(row["a"], 0, d))
    return twist @ Pose(rotation_rpy(0.0, 0.0, theta))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.handful(4)
def test_one_arm_in_three_conventions_has_one_dynamics(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 7)
    types = [rng.choice(["revolute", "prismatic", "screw"]) for _ in range(n)]
    rows = random_rows(rng, n)  # standard DH
    bodies = [random_body(rng) for _ in range(n)]  # in standard DH frames
    tool = {"xyz": [0.1, -0.2, 0.3], "rpy": [0.3, -0.4, 0.5]}
    standard, _ = read_robot(file_of("dh", types, rows, bodies, tool=tool))

    # modified DH: a and alpha of the row before; the standard frame lies beyond by a and alpha of this row
    beyond = [Pose(rotation_x(row["alpha"]), Vector(row["a"], 0.0, 0.0)) for row in rows]
    before = [{"a": 0.0, "alpha": 0.0}, *rows]
    craig_rows = [{**row, "a": b["a"], "alpha": b["alpha"]} for row, b in zip(rows, before, strict=False)]
    craig_bodies = [moved_body(body, pose) for body, pose in zip(bodies, beyond, strict=True)]
    end = beyond[-1] @ Pose(rotation_rpy(*tool["rpy"]), Vector(*tool["xyz"]))
    craig_tool = {"xyz": list(end.position), "rpy": rpy(end.rotation)}
    craig, _ = read_robot(file_of("mdh", types, craig_rows, craig_bodies, tool=craig_tool))

    # origins: any axes in frames turned at will
    turns = [rotation_rpy(*(rng.uniform(-1.5, 1.5) for _ in range(3))) for _ in range(n)]
    origins, last = [], Pose()
    for row, type, turn in zip(craig_rows, types, turns, strict=True):
        place = last.inverse @ pose_of(row, type) @ Pose(turn)
        axis = list(turn.T @ Vector(0.0, 0.0, 1.0))
        origins.append({"xyz": list(place.position), "rpy": rpy(place.rotation), "axis": axis})
        last = Pose(turn)
    origin_bodies = [moved_body(body, Pose(turn).inverse) for body, turn in zip(craig_bodies, turns, strict=True)]
    end = Pose(turns[-1]).inverse @ end
    origin_tool = {"xyz": list(end.position), "rpy": rpy(end.rotation)}
    urdf, _ = read_robot(file_of("origin", types, origins, origin_bodies, tool=origin_tool))

    q, qd, qdd = ([rng.uniform(-2, 2) for _ in range(n)] for _ in range(3))
    expected = rnea(craig, q, qd, qdd)
    scale = max(map(abs, expected))
    for arm in (standard, urdf):
        assert rnea(arm, q, qd, qdd) == pytest.approx(expected, rel=0, abs=1e-12 * scale)
        mine, theirs = frame_pose(arm, q, arm.tool), frame_pose(craig, q, craig.tool)
        assert tuple(mine.position) == pytest.approx(tuple(theirs.position), abs=1e-13)
        assert [x for row in mine.rotation for x in row] == pytest.approx(
            [x for row in theirs.rotation for x in row], abs=1e-13
        )
    # the link frames are those that the user means: Craig's, row by row
    place = Pose()
    for row, type, q_i, found in zip(craig_rows, types, q, link_poses(craig, q), strict=True):
        place = place @ pose_of(row, type, q_i)
        assert tuple(found.position) == pytest.approx(tuple(place.position), abs=1e-13)
    assert tuple(link_poses(standard, q)[-1].position) == pytest.approx(
        tuple((link_poses(craig, q)[-1] @ beyond[-1]).position), abs=1e-13
    )


SHAPES = {
    "mass alone": {"mass": 2, "center": [0.1, 0.2, 0.3]},
    "point": {"point": {"mass": 2, "center": [0.1, 0.2, 0.3]}},
    "cylinder": {"cylinder": {"axis": "x", "height": 0.3, "radius": 0.1, "mass": 2, "center": [0.1, 0.2, 0.3]}},
    "box": {"box": {"size": [0.1, 0.2, 0.3], "density": 500, "center": [0.1, 0.2, 0.3]}},
    "sphere": {"sphere": {"radius": 0.1, "mass": 2}},
    "tube": {"tube": {"axis": "y", "height": 0.3, "outer_radius": 0.1, "inner_radius": 0.08, "density": 7800}},
    "rod": {"rod": {"axis": "z", "length": 0.3, "mass": 2, "center": [0.1, 0, 0.15]}},
    "inertia": {
        "inertia": {"mass": 2, "center": [0.1, 0, 0], "about": "com", "xx": 0.1, "yy": 0.2, "zz": 0.25, "xy": 0.01}
    },
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.handful(4)
def test_a_payload_of_any_shape_weighs_what_the_same_body_on_a_link_at_the_tool_would(shape):
    body, rng = SHAPES[shape], random.Random(3)
    link = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [{"sphere": {"radius": 0.1, "mass": 1}}]}
    head = {"format": "armsim/robot/1", "name": "carrier", "gravity": [1, 2, -9]}
    tool = {"xyz": [0.3, 0, 0], "rpy": [1, 0, 0]}  # where a second joint with a = 0.3, alpha = 1 has its frame at rest
    carried, _ = read_robot({**head, "joints": [link], "tool": tool, "payload": body})
    on_link = {"point": body} if "mass" in body else body
    last = {"name": "R2", "type": "revolute", "mdh": {"a": 0.3, "alpha": 1}, "bodies": [on_link]}
    jointed, _ = read_robot({**head, "joints": [link, last]})
    for _ in range(3):
        q, qd, qdd = (rng.uniform(-2, 2) for _ in range(3))
        (torque,) = rnea(carried, [q], [qd], [qdd])
        assert rnea(jointed, [q, 0.0], [qd, 0.0], [qdd, 0.0])[0] == pytest.approx(torque, rel=1e-13)


TENSOR = {"xx": 0.1, "yy": 0.2, "zz": 0.25, "xy": 0.01, "xz": -0.02, "yz": 0.03}


def with_tensor(rpy, center=(0.1, -0.2, 0.3), about="com", tensor=None, **keys):
    """A robot of one link of known inertia."""
    inertia = {"mass": 2, "center": list(center), "about": about, **(tensor or TENSOR)}
    body = {"inertia": inertia if rpy is None else {**inertia, "rpy": rpy}}
    joint = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [body]}
    return {"format": "armsim/robot/1", "name": "one", "joints": [joint], **keys}


def matrix(tensor):
    return np.array([list(row) for row in tensor.rows()])


def turned_by_hand(roll, pitch, yaw):
    """R A Rᵀ of TENSOR, R of three matrices as Craig has them (section 2.8)."""
    cr, sr, cp, sp, cy, sy = (f(x) for x in (roll, pitch, yaw) for f in (math.cos, math.sin))
    R = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    return R @ matrix(Symmetric(**TENSOR)) @ R.T


@pytest.mark.parametrize("about", ["com", "origin"])
def test_rpy_turns_the_axes_of_a_tensor_and_not_the_centre_of_mass(about):
    rpy, center = (0.3, -0.7, 1.1), np.array([0.1, -0.2, 0.3])
    arm, _ = read_robot(with_tensor(list(rpy), center.tolist(), about))
    shift = 2 * (center @ center * np.eye(3) - np.outer(center, center)) if about == "com" else 0
    inertia = arm.joints[0].inertia
    assert matrix(inertia.J) == pytest.approx(turned_by_hand(*rpy) + shift, abs=1e-15)
    assert tuple(inertia.com()) == pytest.approx(tuple(center), rel=1e-15)


def test_a_quarter_turn_about_z_exchanges_x_and_y():
    arm, _ = read_robot(with_tensor([0, 0, "pi/2"], center=(0, 0, 0)))
    J = arm.joints[0].inertia.J
    # x' = y and y' = -x of the tensor's own axes
    assert [getattr(J, name) for name in COMPONENTS] == pytest.approx([0.2, 0.1, 0.25, -0.01, -0.03, -0.02], abs=1e-16)


def test_rpy_is_in_the_unit_of_its_file_on_links_in_the_tool_and_of_a_scenarios_payload():
    payload = {"inertia": {"mass": 2, "about": "com", **TENSOR, "rpy": [10, 20, 30]}}
    deg = {"units": {"angle": "deg"}}
    arm, _ = read_robot(with_tensor([10, 20, 30], (0, 0, 0), **deg, payload=payload))
    byhand = turned_by_hand(*map(math.radians, (10, 20, 30)))
    assert matrix(arm.joints[0].inertia.J) == pytest.approx(byhand, abs=1e-15)
    assert matrix(arm.payloads[0].inertia.J) == pytest.approx(byhand, abs=1e-15)
    given = {"format": "armsim/scenario/1", "robot": with_tensor(None), "duration": 1, **deg, "payload": payload}
    scenario = read_scenario(given)
    assert scenario.arm.payloads == arm.payloads
    assert read_scenario(scenario.scenario_data).arm == scenario.arm  # resolved, in radians: to the bit


def test_an_orientation_left_open_gives_the_bits_of_the_one_written_in(evaluate):
    file, path = load_robot_file(with_tensor([0, 0, 0])), "joints[0].bodies[0].inertia.rpy[1]"
    for angle in (0.0, 0.4):
        written, _ = read_robot(with_tensor([0, angle, 0]))
        assert build_robot(file.document, {path: angle}).joints[0].inertia == written.joints[0].inertia
    opened = trace(lambda pitch: rnea(build_robot(file.document, {path: pitch}), [0.1], [1.0], [2.0]), ["pitch"])
    assert evaluate(opened, [[0.4]]).tolist() == [rnea(read_robot(with_tensor([0, 0.4, 0]))[0], [0.1], [1.0], [2.0])]


def test_solids_and_doubts_see_a_tensor_along_the_axes_of_its_frame():
    found = solids(load_robot_file(with_tensor([0, 0, "pi/2"])).document).links[0].solids[0]
    assert found.about_center.xx == pytest.approx(0.2, abs=1e-16)
    assert found.sizes == {}
    turned = solids(load_robot_file(with_tensor([0, 0, 90], units={"angle": "deg"})).document).links[0]
    assert turned.solids[0].about_center == found.about_center
    assert turned.about_origin == turned.solids[0].about_origin == found.about_origin
    # about the origin, from mass and distance alone: taken for one about the centre of mass only along the right axes
    distance = {"xx": 2e-3, "yy": 2.002, "zz": 2.002}
    far = with_tensor([0, 0, "pi/2"], (0, 1, 0), tensor=distance, tool={"xyz": [1, 0, 0]})
    (doubt,) = check_data(far)
    assert "looks as if it were about the frame's origin" in doubt
    assert check_data(with_tensor([0, 0, 0], (0, 1, 0), tensor=distance, tool={"xyz": [1, 0, 0]})) == []


def check_data(robot):
    file = load_robot_file(robot)
    return [str(fault) for fault in doubts(build_robot(file.document), file.document)]
