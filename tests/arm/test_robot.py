"""An arm's answers on arrays: shapes, agreement of the engines, and the laws between the answers."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim import dynamics
from armsim.arm.arrays import LEAST
from armsim.arm.robot import Robot
from armsim.errors import FileFaults, ShapeError, UsageError

QUESTIONS = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "bias": 2,
    "gravity_torque": 1,
    "limit_torque": 2,
    "kinetic_energy": 2,
    "potential_energy": 1,
    "forward_kinematics": 1,
    "link_poses": 1,
    "jacobian": 1,
    "wrenches": 3,
}
SHAPES = {"wrenches": (5, 6), "mass_matrix": (5, 5), "kinetic_energy": (), "potential_energy": (), "jacobian": (6, 5)}


@pytest.fixture(scope="module")
def arm():
    return armsim.load_robot("arm5")


@pytest.fixture(scope="module")
def states():
    rng = np.random.default_rng(3)
    return [rng.uniform(-1.5, 1.5, (7, 5)) for _ in range(3)]


def parts(answer) -> list[np.ndarray]:
    return list(answer) if isinstance(answer, tuple) else [answer]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.handful(6)
def test_one_state_gives_what_its_row_among_many_gives(arm, states, question):
    ask = getattr(arm, question)
    many = parts(ask(*states[: QUESTIONS[question]]))
    for k in range(7):
        one = parts(ask(*(state[k] for state in states[: QUESTIONS[question]])))
        for few, all_of_them in zip(one, many):
            np.testing.assert_array_equal(few, all_of_them[k])


def test_threads_change_no_bit_of_many_states():
    many = np.random.default_rng(4).uniform(-1, 1, (3, 3 * LEAST + 5, 5))
    found = [armsim.load_robot("arm5", threads=threads).forward_dynamics(*many).tobytes() for threads in (1, 2, 3)]
    assert found[1:] == found[:1] * 2
    with pytest.raises(UsageError, match="threads"):
        armsim.load_robot("arm5", threads=True)


@pytest.mark.parametrize("question", QUESTIONS)
def test_shapes_are_those_of_the_question_with_the_rows_before(arm, states, question):
    args = states[: QUESTIONS[question]]
    single = getattr(arm, question)(*(x[0] for x in args))
    several = getattr(arm, question)(*args)
    if question == "forward_kinematics":
        assert (single.position.shape, single.quaternion.shape) == ((3,), (4,))
        assert (several.position.shape, several.quaternion.shape) == ((7, 3), (7, 4))
    elif question == "link_poses":
        assert (single.position.shape, several.quaternion.shape) == ((5, 3), (7, 5, 4))
    else:
        shape = SHAPES.get(question, (5,))
        assert single.shape == shape
        assert several.shape == (7, *shape)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.handful(6)
def test_both_engines_give_the_same_bits(arm, states, question):
    floats = armsim.load_robot("arm5", engine="python")
    args = states[: QUESTIONS[question]]
    for native, slow in zip(parts(getattr(arm, question)(*args)), parts(getattr(floats, question)(*args))):
        np.testing.assert_array_equal(native, slow)


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_rows_give_no_rows(arm, question):
    empty = [np.zeros((0, 5))] * QUESTIONS[question]
    for part in parts(getattr(arm, question)(*empty)):
        assert part.shape[0] == 0


def test_one_state_beside_many_is_taken_for_each_of_them(arm, states):
    q, qd, qdd = states
    np.testing.assert_array_equal(
        arm.inverse_dynamics(q, qd[0], qdd), arm.inverse_dynamics(q, np.tile(qd[0], (7, 1)), qdd)
    )


def test_what_is_left_out_is_zero(arm, states):
    q, qd, _ = states
    zero = np.zeros((7, 5))
    np.testing.assert_array_equal(arm.inverse_dynamics(q), arm.inverse_dynamics(q, zero, zero))
    np.testing.assert_array_equal(arm.forward_dynamics(q, qd), arm.forward_dynamics(q, qd, zero))


def test_wrenches_at_names_are_those_of_the_whole_in_any_order_and_one_name_alone_has_no_axis(arm, states):
    whole = arm.wrenches(*states)
    np.testing.assert_array_equal(arm.wrenches(*states, at=["R3", "R1"]), whole[:, [2, 0]])
    np.testing.assert_array_equal(arm.wrenches(*states, at="R5"), whole[:, 4])
    np.testing.assert_array_equal(arm.wrenches(states[0][0], at="R5"), arm.wrenches(states[0][0])[4])


def test_a_sensor_at_the_tool_carries_the_payload():
    loaded = armsim.load_robot("two_link", {"payload": {"mass": 0.3}})
    level = loaded.wrenches([0.0, 0.0], at="tool")
    assert level == pytest.approx([0, 0, 0, 0, 0.3 * 9.81, 0], abs=1e-15)


def test_a_joint_called_base_is_meant_before_the_base():
    link = {"type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 2, "center": [0.3, 0, 0]}}]}
    named = [armsim.load_robot({"format": "armsim/robot/1", "name": "arm", "joints": [{"name": name, **link}]})
             for name in ("base", "R1")]  # fmt: skip
    np.testing.assert_array_equal(named[0].wrenches([0.4], at="base"), named[1].wrenches([0.4], at="R1"))
    assert (named[1].wrenches([0.4], at="R1") != named[1].wrenches([0.4], at="base")).any()


def test_a_wrench_at_an_unknown_name_is_refused_with_the_nearest(arm):
    with pytest.raises(UsageError, match=r"(?s)joint or a frame.*'tol'.*did you mean `tool`"):
        arm.wrenches(arm.initial, at=["base", "tol"])


def test_lists_are_taken_too(arm):
    np.testing.assert_array_equal(arm.gravity_torque([0, -1.1, 0.3, 0, 0]), arm.gravity_torque(arm.initial))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((4,), r"q: expected shape \(5,\) or \(m, 5\), found \(4,\)"),
        ((5, 2), r"q: expected shape \(5,\) or \(m, 5\), found \(5, 2\)"),
        ((2, 3, 5), r"q: expected shape \(5,\) or \(m, 5\), found \(2, 3, 5\)"),
        ((), r"q: expected shape \(5,\) or \(m, 5\), found \(\)"),
    ],
)
def test_a_wrong_shape_is_refused_with_both_shapes(arm, shape, message):
    with pytest.raises(ShapeError, match=message):
        arm.gravity_torque(np.zeros(shape))


def test_different_numbers_of_rows_are_refused_with_all_shapes(arm):
    message = r"inverse_dynamics: expected as many rows in each array, found q \(2, 5\), qd \(3, 5\), qdd \(5,\)"
    with pytest.raises(ShapeError, match=message):
        arm.inverse_dynamics(np.zeros((2, 5)), np.zeros((3, 5)))


def test_a_shape_error_is_a_value_error_and_an_armsim_error():
    assert issubclass(ShapeError, ValueError)
    assert issubclass(ShapeError, armsim.ArmsimError)


def test_forward_dynamics_undoes_inverse_dynamics(arm, states):
    q, qd, qdd = states
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, arm.inverse_dynamics(q, qd, qdd)), qdd, rtol=0, atol=1e-9)


def test_torques_are_mass_times_acceleration_and_bias_less_what_stops_push(arm, states):
    q, qd, qdd = states
    tau = np.einsum("kij,kj->ki", arm.mass_matrix(q), qdd) + arm.bias(q, qd) - arm.limit_torque(q, qd)
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), tau, rtol=1e-12, atol=1e-11)


def test_bias_at_rest_is_gravity(arm, states):
    np.testing.assert_allclose(arm.bias(states[0]), arm.gravity_torque(states[0]), rtol=0, atol=1e-14)


def test_gravity_torque_is_the_slope_of_potential_energy(arm, states):
    q, h = states[0], 1e-6
    for i in range(5):
        step = h * np.eye(5)[i]
        slope = (arm.potential_energy(q + step) - arm.potential_energy(q - step)) / (2 * h)
        np.testing.assert_allclose(arm.gravity_torque(q)[:, i], slope, rtol=0, atol=1e-7)


def test_kinetic_energy_is_half_of_velocity_mass_velocity(arm, states):
    q, qd, _ = states
    np.testing.assert_allclose(
        arm.kinetic_energy(q, qd), np.einsum("ki,kij,kj->k", qd, arm.mass_matrix(q), qd) / 2, rtol=1e-12
    )


def test_the_jacobian_is_the_slope_of_the_tools_position(arm, states):
    q, h = states[0], 1e-6
    J = arm.jacobian(q)
    for i in range(5):
        step = h * np.eye(5)[i]
        slope = (arm.forward_kinematics(q + step).position - arm.forward_kinematics(q - step).position) / (2 * h)
        np.testing.assert_allclose(J[:, 3:, i], slope, rtol=0, atol=1e-9)


def test_a_frame_of_a_middle_link_has_its_pose_and_its_jacobian(states):
    frames = {"left-tip": {"link": "R3", "xyz": [0.1, -0.2, 0.3], "rpy": [0.1, 0.2, 0.3]}, "hand": {"link": "R5"}}
    arm, q, h = armsim.load_robot("arm5", {"frames": frames}), states[0], 1e-6
    J = arm.jacobian(q, frame="left-tip")
    assert not J[:, :, 3:].any()
    for i in range(5):
        step = h * np.eye(5)[i]
        ahead, behind = (arm.forward_kinematics(q + sign * step, "left-tip").position for sign in (1, -1))
        np.testing.assert_allclose(J[:, 3:, i], (ahead - behind) / (2 * h), rtol=0, atol=1e-9)
    place = arm.link_poses(q)
    np.testing.assert_array_equal(arm.forward_kinematics(q, frame="hand").position, place.position[:, 4])
    np.testing.assert_array_equal(arm.forward_kinematics(q, frame="tool").quaternion, arm.forward_kinematics(q)[1])
    python = armsim.load_robot("arm5", {"frames": frames}, engine="python")
    np.testing.assert_array_equal(python.jacobian(q, "left-tip"), J)


def test_a_frame_that_the_arm_lacks_is_refused_with_those_that_it_has(arm, told):
    said = []
    for ask in (arm.forward_kinematics, arm.jacobian):
        with pytest.raises(UsageError) as caught:
            ask(arm.initial, frame="R5")
        said.append(str(caught.value))
    assert said[0] == said[1]
    told(said[0])


def test_quaternions_have_length_one_and_no_negative_w(arm, states):
    quaternion = arm.link_poses(states[0]).quaternion
    np.testing.assert_allclose(np.linalg.norm(quaternion, axis=-1), 1, rtol=1e-15)
    assert (quaternion[..., 0] >= 0).all()


def test_rotors_are_in_mass_matrix_and_kinetic_energy(arms):
    geared = arms.serial("RPR", seed=4, motors=True)
    robot, bare = Robot(geared), Robot(arms.bare(geared))
    q, qd = np.array([0.1, 0.2, -0.3]), np.array([1.0, -2.0, 0.5])
    reflected = [joint.motor.gear**2 * joint.motor.rotor_inertia for joint in geared.joints]
    np.testing.assert_allclose(robot.mass_matrix(q) - bare.mass_matrix(q), np.diag(reflected), rtol=1e-9, atol=1e-14)
    extra = sum(J * v * v for J, v in zip(reflected, qd)) / 2
    assert robot.kinetic_energy(q, qd) - bare.kinetic_energy(q, qd) == pytest.approx(extra, rel=1e-9)


def test_motor_demand_is_ohms_law_with_back_emf_and_nan_without_a_motor(arm):
    voltage, current = arm.motor_demand([1, 0, 0, 0, 1], [20, 0, 0, 0, 3])
    np.testing.assert_array_equal(current, [2, 0, 0, 0, 3])
    np.testing.assert_array_equal(voltage, [2 + 10, 0, 0, 0, 3 + 1])
    assert np.isnan(armsim.load_robot("rr").motor_demand([0, 0], [1, 1])).all()


def test_stops_push_in_limit_torque_only_outside_the_range(arm):
    np.testing.assert_allclose(arm.limit_torque([0, 0.8, 0, 0, 0]), [0, -100, 0, 0, 0], rtol=1e-12)
    np.testing.assert_array_equal(arm.limit_torque([9, 0.6, 0, 0, 0]), np.zeros(5))


def test_names_initial_pose_and_representation(arm):
    assert arm.joints == ["R1", "R2", "R3", "R4", "R5"]
    np.testing.assert_array_equal(arm.initial, [0, -1.1, 0.3, 0, 0])
    assert repr(arm) == "Robot(arm5: R1, R2, R3, R4, R5)"


def test_overrides_change_the_arm():
    assert armsim.load_robot("arm5", {"joints[R2].motor.Kp": 12}).arm.joints[1].motor.Kp == 12
    longer = armsim.load_robot("arm5", {"parameters.upper": 0.5})
    assert longer.arm.joints[2].position.x == 0.5


def test_robots_come_from_paths_names_and_plain_data(tmp_path):
    text = (
        "format: armsim/robot/1\nname: one\njoints:\n"
        "  - {name: A, type: revolute, mdh: {}, bodies: [{point: {mass: 1, center: [1, 0, 0]}}]}\n"
    )
    (tmp_path / "one.yaml").write_text(text)
    assert armsim.load_robot(tmp_path / "one.yaml").mass_matrix([0]).tolist() == [[1]]
    assert armsim.load_robot(str(tmp_path / "one.yaml")).joints == ["A"]


def test_an_unknown_robot_and_an_unknown_engine_are_refused():
    with pytest.raises(FileFaults, match="did you mean `arm5`"):
        armsim.load_robot("arm6")
    with pytest.raises(UsageError, match="engine: expected one of llvm, python, found 'fast'"):
        armsim.load_robot("arm5", engine="fast")


def test_answers_are_the_physics_text_on_floats(arm, states):
    q, qd = (state[0].tolist() for state in states[:2])
    np.testing.assert_array_equal(arm.bias(q, qd), dynamics.bias(arm.arm, q, qd))
    np.testing.assert_array_equal(arm.gravity_torque(q), dynamics.gravity_torque(arm.arm, q))
