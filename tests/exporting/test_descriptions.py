"""Robots exported as URDF and MJCF, read by Pinocchio and MuJoCo; as other DH parameters, read by armsim."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import armsim
from armsim.actuation.joint_torque import driven
from armsim.dynamics import bias, link_poses, mass_matrix
from armsim.exporting.links import visuals
from armsim.exporting.mjcf import realizable
from armsim.files.shipped import shipped_names
from armsim.loading import read_robot, read_scenario
from tests.trees import frame, solid, tree

SHIPPED = [*shipped_names("robots")]
TREES = range(24)
TIGHT = 1e-12  # of the largest: sums of some hundred products, of numbers with 16 digits


def robots(*seeds: int) -> list:
    """Shipped robots by name, and random trees by seed."""
    return [*SHIPPED, *(pytest.param(tree(seed, most=12), id=f"tree{seed}") for seed in seeds)]


def close(found, expected) -> None:
    """Compare arrays to 1e-12 of the largest entry."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=TIGHT * max(1e-3, np.abs(expected).max()))


def described(robot, to: str, folder: Path, **options) -> str:
    """The text of a robot's description."""
    done = armsim.export(robot, to, folder / f"robot.{to}", force=True, **options)
    return Path(done.files[0]).read_text(encoding="utf-8")


def led(arm) -> tuple[np.ndarray, np.ndarray]:
    """G and c of the positions G q + c of all links' joints, by those q of the arm's joints."""
    c = np.array(arm.positions([0.0] * arm.n), float)
    return np.array([arm.positions(row) for row in np.eye(arm.n)]).T - c[:, None], c


def states(n: int, count: int = 5) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(n)
    return [tuple(rng.uniform(-2, 2, (2, n))) for _ in range(count)]


def placed(position, quaternion) -> np.ndarray:
    return np.array([*position, *np.outer(quaternion, quaternion).ravel()])  # of q and -q the same


@pytest.mark.parametrize("robot", robots(*range(1, 24, 2)))  # URDF has no screws
@pytest.mark.handful(2)
def test_pinocchio_reads_the_urdf_as_the_same_arm(robot, tmp_path):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(described(robot, "urdf", tmp_path))
    data, ours = model.createData(), armsim.load_robot(robot)
    arm, (G, c) = ours.arm, led(ours.arm)
    order = [model.joints[model.getJointId(name)].idx_v for name in arm.link_names]
    assert sorted(order) == list(range(model.nv))
    base = pin.SE3(np.array([[*row] for row in arm.base.rotation]), np.array([*arm.base.position]))
    model.gravity.linear = base.rotation.T @ np.array([*arm.gravity])
    armature = np.diag([link.armature for link in arm.links])
    for q, qd in states(arm.n):
        x, v = np.zeros((2, model.nv))
        x[order], v[order] = G @ q + c, G @ qd
        x = pin.integrate(model, pin.neutral(model), x)  # a joint without limits is two numbers to it
        M = pin.crba(model, data, x)[np.ix_(order, order)]
        M = np.triu(M) + np.triu(M, 1).T + armature
        close(G.T @ M @ G, ours.mass_matrix(q))
        close(G.T @ pin.nonLinearEffects(model, data, x, v)[order], ours.bias(q, qd))
        pin.framesForwardKinematics(model, data, x)
        for of in arm.frames:
            at = base * data.oMf[model.getFrameId(of.name)]
            turned = pin.Quaternion(at.rotation)
            pose = ours.forward_kinematics(q, of.name)
            close(placed(at.translation, [turned.w, turned.x, turned.y, turned.z]), placed(*pose))


@pytest.mark.parametrize("robot", robots(*TREES))
@pytest.mark.handful(1)
def test_mujoco_reads_the_mjcf_as_the_same_arm(robot, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(described(robot, "mjcf", tmp_path))
    data, ours = mujoco.MjData(model), armsim.load_robot(robot)
    arm, (G, c) = ours.arm, led(ours.arm)
    names, rows, offsets = [*arm.link_names], [*G], [*c]
    for i, link in enumerate(arm.links):
        if link.kind.has_pitch:  # a screw is two joints
            names, rows, offsets = (
                [*names, f"{link.name} slides"],
                [*rows, link.slides * G[i]],
                [*offsets, link.slides * c[i]],
            )
    order = np.array([model.joint(name).dofadr[0] for name in names])
    assert sorted(order) == list(range(model.nv))
    G, c = np.array(rows), np.array(offsets)
    for q, qd in states(arm.n):
        data.qpos[order], data.qvel[order] = G @ q + c, G @ qd
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        close(G.T @ M[np.ix_(order, order)] @ G, ours.mass_matrix(q))
        close(G.T @ data.qfrc_bias[order], ours.bias(q, qd))
        for of in arm.frames:
            turned = np.zeros(4)
            mujoco.mju_mat2Quat(turned, data.site(of.name).xmat)
            close(placed(data.site(of.name).xpos, turned), placed(*ours.forward_kinematics(q, of.name)))


@pytest.mark.slow
def test_in_mujoco_the_arm_is_held_as_in_armsim_but_for_the_integrators(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    scenario, every = read_scenario("arm5_hold"), 0.05
    exact = {"integrator": {"method": "rodas", "rtol": 1e-10, "atol": 1e-12}, "log.every": every}
    run = armsim.simulate("arm5_hold", overrides=exact)
    text = described("arm5", "mjcf", tmp_path, dt=2e-4)

    def rolled(dt: float) -> np.ndarray:
        model = mujoco.MjModel.from_xml_string(text)
        assert model.opt.timestep == 2e-4
        model.opt.timestep = dt
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = scenario.initial_q, scenario.initial_qd
        kp, kd, target = (np.array(x) for x in ([60, 60, 60, 20, 20], [1, 1, 1, 0.1, 0.1], [0, -1.1, 0.3, 0, 0]))
        rows = [data.qpos.copy()]
        for _ in run.t[1:]:
            for _ in range(round(every / dt)):
                data.ctrl[:] = kp * (target - data.qpos) - kd * data.qvel
                mujoco.mj_step(model, data)
            rows.append(data.qpos.copy())
        return np.array(rows) - run.q

    coarse, fine = rolled(4e-4), rolled(2e-4)
    assert 1.95 < np.abs(coarse).max() / np.abs(fine).max() < 2.05  # its method is of order 1
    assert np.abs(2 * fine - coarse).max() < 1e-6  # and that is all: without the term of order 1 nothing is left


DRIVE = {"Kp": 0.05, "Ke": 0.04, "Ra": 0.8, "gear": -25, "rotor_inertia": 4e-4, "viscous": 2e-3, "coulomb": 0.01}
DRIVE |= {"limits": {"voltage": 22, "current": 9, "torque": 0.4, "speed": 90}}
TURNS = {"name": "A", "type": "revolute", "dh": {"a": 0.2, "alpha": "pi/2", "d": 0.3}, "bodies": []}
TURNS |= {"limits": {"lower": -1, "stiffness": 400, "damping": 2}, "initial": 0.4, "motor": DRIVE}
TURNS |= {
    "friction": {"viscous": 0.2, "coulomb": {"positive": 0.3, "negative": 0.2}},
    "spring": {"stiffness": 3, "rest": 0.1},
}
TURNS["bodies"] = [{"tube": {"axis": "y", "height": 0.3, "outer_radius": 0.04, "inner_radius": 0.03, "mass": 2}}]
TURNS["bodies"] += [{"point": {"mass": 0.5, "center": [0.1, 0, 0]}}]
TURNS["visual"] = {"mesh": "/meshes/arm.stl", "scale": 0.001, "xyz": [0.1, 0, 0], "rpy": [0, 0.5, 0]}
SCREW = {"name": "B", "type": "screw", "pitch": 0.4, "dh": {"theta": 0.5}, "bodies": []}
SCREW["bodies"] = [{"box": {"size": [0.1, 0.2, 0.3], "mass": 1.5, "center": [0, 0, 0.1]}}]
SCREW["motor"] = {"gear": 10, "limits": {"torque": 0.5, "speed": 100}}
SLIDE = {"name": "C", "type": "prismatic", "parent": "A", "mimic": {"joint": "B", "ratio": 0.1, "offset": 0.02}}
SLIDE |= {"dh": {"alpha": "-pi/2"}, "bodies": [{"sphere": {"radius": 0.1, "mass": 0.7}}]}
ODD = {
    "format": "armsim/robot/1",
    "name": 'odd & "quoted" <robot>',
    "gravity": [1, 0, -9],
    "convention": "dh",
    "base": {"xyz": [0, 0, 0.5], "rpy": [0.1, 0, 0]},
    "joints": [TURNS, SCREW, SLIDE],
    "tool": {"link": "B", "xyz": [0, 0, 0.3]},
    "frames": {"A_link": {"link": "A", "rpy": [0, "pi/2", 0]}},
    "payload": [{"name": "box", "frame": "A_link", "body": {"box": {"size": [0.1, 0.1, 0.2], "mass": 0.3}}}],
}


@pytest.mark.parametrize("to", ["urdf", "mjcf"])
def test_the_text_says_all_that_can_be_said(to, tmp_path, told):
    done = armsim.export(ODD, to, tmp_path / "odd.xml")
    told(Path(done.files[0]).read_text(encoding="utf-8").rstrip())
    told("\n".join(done.notes))


def test_the_page_shows_what_is_listed(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    shown = page.split("--to urdf -o gripper.urdf -->\n```text\n")[1].split("```")[0]
    notes = armsim.export("arm5_gripper", "urdf", tmp_path / "gripper.urdf").notes
    assert shown == "\n  ".join(["gripper.urdf", *notes]) + "\n"


@pytest.mark.parametrize("to", ["urdf", "mjcf"])
def test_world_and_contacts_are_told_to_be_lost(to, tmp_path):
    around = {
        "world": {"floor": {"plane": {}, "stiffness": 1e5, "damping": 60}},
        "contacts": [{"frame": "tool", "with": "floor"}],
    }
    robot = yaml.safe_load(Path("robots/two_link.yaml").read_text(encoding="utf-8")) | around
    notes = armsim.export(robot, to, tmp_path / "robot.xml").notes
    assert notes[notes.index("lost:") + 1 :][:2] == ("world", "contacts")


def test_the_initial_pose_is_the_keyframe_home(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    for name in ("arm5_gripper", "torso", ODD):
        arm = read_robot(name)[0]
        model = mujoco.MjModel.from_xml_string(described(name, "mjcf", tmp_path))
        home = model.key("home").qpos
        for link, q in zip(arm.links, arm.positions(arm.initial), strict=True):
            assert home[model.joint(link.name).qposadr[0]] == pytest.approx(q, abs=1e-15)
            if link.kind.has_pitch:
                assert home[model.joint(f"{link.name} slides").qposadr[0]] == pytest.approx(link.slides * q, abs=1e-15)


def test_mujoco_has_the_friction_springs_and_motors_of_the_arm(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(described(ODD, "mjcf", tmp_path, dt=2e-4))
    data, arm = mujoco.MjData(model), read_robot(ODD)[0]
    A, B = (model.joint(name) for name in "AB")
    joint = arm.links[0]
    for q, qd, volts in [(0.3, 0.7, 5.0), (-0.5, 0.1, 60.0), (0.0, -3.0, -1.0), (0.4, 0.2, 9.0)]:
        data.qpos[:] = data.qvel[:] = 0
        data.qpos[A.qposadr], data.qvel[A.dofadr], data.ctrl[:] = q, qd, (volts, 0.3)
        mujoco.mj_forward(model, data)
        ours = driven(joint, "voltage", volts, q, qd)
        found = [float(x[A.dofadr[0]]) for x in (data.qfrc_actuator, data.qfrc_passive)]
        assert found == pytest.approx([ours.motor, ours.viscous + ours.spring], rel=1e-12)
        assert data.qfrc_actuator[B.dofadr[0]] == pytest.approx(10 * 0.3)  # gear times what the shaft is told to give
    assert model.dof_frictionloss[A.dofadr[0]] == pytest.approx((0.3 + 0.2) / 2 + 25 * 0.01)
    assert model.jnt_range[A.id].tolist() == [-1, 1e9]


@pytest.mark.parametrize("robot", robots(*TREES))
@pytest.mark.handful(4)
def test_inertias_that_a_body_can_have_give_the_same_equations(robot):
    """Of the Puma two links need others: what is published was measured in sums."""
    arm = read_robot(robot)[0]
    real = realizable(arm)
    for inertia in real.inertias:
        least, middle, most = np.linalg.eigvalsh([[*row] for row in inertia.tensor_about_com().rows()])
        assert least > 0
        assert most < least + middle
    for q, qd in states(arm.n):
        close(mass_matrix(real, q), mass_matrix(arm, q))
        close(bias(real, q, qd), bias(arm, q, qd))


def test_another_convention_has_the_rows_of_the_books(tmp_path):
    """Standard parameters of the Puma as Corke and Armstrong print them; its file has modified ones."""
    rows = [joint["dh"] for joint in yaml.safe_load(described("puma560", "dh", tmp_path))["joints"]]
    found = [(row["a"], row["alpha"], row["d"], row["theta"]) for row in rows]
    assert found == [
        (0, "90 deg", 0.67183, "0 deg"),
        (0.4318, "0 deg", 0.15005, "0 deg"),
        (0.0203, "-90 deg", 0, "0 deg"),
        (0, "90 deg", 0.4318, "0 deg"),
        (0, "-90 deg", 0, "0 deg"),
        (0, "0 deg", 0, "0 deg"),
    ]


def chain(seed: int, convention: str) -> dict:
    """A random arm of six joints, its axes parallel, the same, crossing or skew, each as likely as the others."""
    rng = np.random.default_rng(seed)
    joints = []
    for i in range(6):
        a, d, theta = rng.uniform([-0.4, -0.4, -3], [0.4, 0.4, 3])
        alpha = float(rng.choice([0, np.pi, np.pi / 2, -np.pi / 2, *rng.uniform(-3, 3, 2)]))
        row = {"a": a * (rng.random() < 0.6), "alpha": alpha, "d": d * (rng.random() < 0.7), "theta": theta}
        joint = {
            "name": f"J{i + 1}",
            "type": str(rng.choice(["revolute", "revolute", "prismatic"])),
            "bodies": [solid(rng)],
        }
        if rng.random() < 0.2:
            joint |= {"type": "screw", "pitch": 0.3}
        joints.append({**joint, "mdh" if convention == "origin" else convention: row})
    robot = {"format": "armsim/robot/1", "name": "chain", "base": frame(rng), "tool": frame(rng), "joints": joints}
    robot |= {
        "convention": "mdh" if convention == "origin" else convention,
        "frames": {"side": {"link": "J3", **frame(rng)}},
    }
    return askew(robot, rng) if convention == "origin" else robot


def askew(robot: dict, rng: np.random.Generator) -> dict:
    """A robot by modified parameters, its links' frames turned any way and moved along their joints' axes."""
    before, joints = np.eye(4), []
    for joint in robot["joints"]:
        row = joint.pop("mdh")
        own = np.linalg.inv(before) @ modified(**row)
        before = np.eye(4)
        before[:3, :3] = Rotation.random(random_state=rng).as_matrix()
        before[2, 3] = rng.uniform(-0.3, 0.3)  # along the axis
        at = own @ before
        xyz, rpy = at[:3, 3].tolist(), Rotation.from_matrix(at[:3, :3]).as_euler("xyz").tolist()
        joints.append({**joint, "origin": {"xyz": xyz, "rpy": rpy, "axis": before[2, :3].tolist()}})
    return {**robot, "convention": "origin", "joints": joints}


def modified(a: float, alpha: float, d: float, theta: float) -> np.ndarray:
    (ca, sa), (ct, st) = ((np.cos(x), np.sin(x)) for x in (alpha, theta))
    rows = [[ct, -st, 0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca], [0, 0, 0, 1]]
    return np.array(rows)


def same_arm(found, expected) -> None:
    """Compare poses of tool and frames, and dynamics."""
    ours, theirs = armsim.load_robot(found), armsim.load_robot(expected)
    order = [ours.joints.index(name) for name in theirs.joints]
    for q, qd in states(len(order)):
        x, v = np.empty((2, len(order)))
        x[order], v[order] = q, qd
        close(ours.mass_matrix(x)[np.ix_(order, order)], theirs.mass_matrix(q))
        close(ours.bias(x, v)[order], theirs.bias(q, qd))
        for name in (of.name for of in theirs.arm.frames):
            close(placed(*ours.forward_kinematics(x, name)), placed(*theirs.forward_kinematics(q, name)))


@pytest.mark.parametrize("to", ["mdh", "dh"])
@pytest.mark.parametrize("convention", ["mdh", "dh", "origin"])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.handful(1)
def test_any_arm_has_rows_of_either_convention(seed, convention, to, tmp_path):
    robot = chain(seed, convention)
    done = armsim.export(robot, to, tmp_path / "chain.yaml")
    assert float(done.notes[0].removeprefix("residual of the rows: ")) < 1e-14
    same_arm(done.files[0], robot)


@pytest.mark.parametrize("to", ["mdh", "dh"])
@pytest.mark.parametrize("robot", [*SHIPPED, pytest.param(ODD, id="odd")])
@pytest.mark.handful(1)
def test_a_robot_by_other_rows_is_the_same(robot, to, tmp_path):
    done = armsim.export(robot, to, tmp_path / "robot.yaml")
    same_arm(done.files[0], robot)
    for ours, theirs in zip(read_robot(done.files[0])[0].links, read_robot(robot)[0].links, strict=True):
        for key in ("mimic", "limit", "spring", "motor", "coulomb", "viscous", "initial"):
            assert agree(getattr(ours, key), getattr(theirs, key)), (ours.name, key)


@pytest.mark.parametrize("to", ["mdh", "dh"])
def test_meshes_stay_where_they_are(to, tmp_path):
    done = armsim.export({**ODD, "joints": [TURNS, SCREW]}, to, tmp_path / "odd.yaml")
    found = []
    for of in (ODD, done.files[0]):
        arm, robot = read_robot(of)
        ((mesh, pose),) = visuals(robot, 0)
        assert (mesh.mesh, mesh.scale) == ("/meshes/arm.stl", (0.001, 0.001, 0.001))
        found.append((link_poses(arm, [0.3, 0.4])[0] @ pose).coordinates)
    np.testing.assert_allclose(*found, atol=1e-14)


def test_frames_that_need_not_move_stay_and_so_do_their_solids(tmp_path):
    told = yaml.safe_load(described("arm5", "mdh", tmp_path))
    assert [[*body] for joint in told["joints"] for body in joint["bodies"]] == [["cylinder"]] * 7
    told = yaml.safe_load(described("arm5", "dh", tmp_path))
    assert [[*body] for joint in told["joints"] for body in joint["bodies"]] == [["inertia"]] * 4 + [["cylinder"]]


FORK = {"name": "fork", "convention": "origin", "format": "armsim/robot/1"}
POINT = {"point": {"mass": 1, "center": [0.1, 0.2, 0.3]}}
PRONGS = {"A": {}, "B": {"xyz": [0.3, 0, 0.1], "rpy": [0.5, 0, 0]}, "C": {"xyz": [0, 0.4, 0.2], "rpy": [0, 0.8, 0]}}
FORK["joints"] = [
    {"name": name, "type": "revolute", "origin": {**at, "axis": [0, 0, 1]}, "bodies": [POINT]}
    for name, at in PRONGS.items()
]
FORK["joints"][2]["parent"] = "A"


@pytest.mark.parametrize("to", ["mdh", "dh"])
def test_joints_that_ask_for_different_frames_of_a_link_are_refused_by_name(to, tmp_path, told):
    with pytest.raises(armsim.UsageError) as refused:
        armsim.export(FORK, to, tmp_path / "fork.yaml")
    told(refused.value)
    assert not [*tmp_path.iterdir()]


def agree(one, other) -> bool:
    """Whether two parts of a joint are the same, but for the rounding of degrees and of the 17th digit."""
    if is_dataclass(one) and type(one) is type(other):
        return all(agree(getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    return one == (pytest.approx(other, rel=1e-15) if isinstance(other, float) else other)


@pytest.mark.parametrize("robot", [*robots(*TREES), pytest.param(ODD, id="odd")])
@pytest.mark.handful(1)
def test_out_and_in_again_it_is_the_same_arm(robot, tmp_path):
    urdf = pytest.importorskip("armsim.importing.urdf")
    imported = pytest.importorskip("armsim.importing.imported")
    path = tmp_path / "robot.urdf"
    armsim.export(robot, "urdf", path)
    (tmp_path / "robot.yaml").write_text(imported.text_of(urdf.read_urdf(str(path))), encoding="utf-8")
    same_arm(tmp_path / "robot.yaml", robot)
    ours, theirs = (read_robot(of)[0] for of in (tmp_path / "robot.yaml", robot))
    again = {joint.name: joint for joint in ours.links}
    for joint in theirs.links:
        for key in ("type", "pitch", "mimic", "limit", "spring", "motor", "coulomb", "viscous", "initial"):
            assert agree(getattr(again[joint.name], key), getattr(joint, key)), (joint.name, key)
    assert ours.gravity == theirs.gravity
    assert [payload.name for payload in ours.payloads] == [payload.name for payload in theirs.payloads]
