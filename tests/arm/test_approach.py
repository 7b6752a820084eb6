"""How near an arm comes to itself and to the world: poses, and motions between their rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.arm.collision import collisions
from armsim.arm.robot import Robot
from armsim.dynamics import distances, least_distance, watched_pairs
from armsim.errors import FileFaults, ShapeError, UsageError
from armsim.expr import replay, trace
from armsim.files.shipped import shipped_names
from armsim.loading import read_robot, read_scenario
from armsim.loading.build import build_robot
from armsim.loading.robot_file import load_robot_file

HAND = {  # a rod of 1 m along x that turns about z, its tip a ball of radius 0.1
    "name": "hand",
    "joints": [
        {
            "name": "R1",
            "type": "revolute",
            "mdh": {},
            "bodies": [
                {"rod": {"axis": "x", "length": 1.0, "mass": 1.0, "center": [0.5, 0, 0]}},
                {"sphere": {"radius": 0.1, "mass": 1.0, "center": [1.0, 0, 0]}},
            ],
        }
    ],
}


def robot(world, arm=HAND, engine="llvm"):
    return armsim.load_robot({"format": "armsim/robot/1", **arm, "world": world}, engine=engine)


def ball(x, y, radius=0.1):
    return {"post": {"sphere": {"radius": radius}, "xyz": [x, y, 0]}}


@pytest.fixture(scope="module")
def tree():
    """Slides, screws, turns, a follower and a branch, above a floor and beside a crate."""
    box = {"box": {"size": [0.1, 0.2, 0.3], "mass": 1, "center": [0.1, 0, 0.1]}}
    tube = {"tube": {"axis": "y", "height": 0.4, "outer_radius": 0.05, "inner_radius": 0.04, "mass": 1}}
    joints = [
        {"name": "P1", "type": "prismatic", "mdh": {"d": 0.3}, "bodies": [box]},
        {"name": "R2", "type": "revolute", "mdh": {"a": 0.3, "alpha": 1.2}, "bodies": [tube]},
        {"name": "S3", "type": "screw", "pitch": 0.4, "mdh": {"a": 0.4, "d": 0.1}, "bodies": [box]},
        {
            "name": "R4",
            "type": "revolute",
            "mdh": {"a": 0.5},
            "mimic": {"joint": "R2", "ratio": -0.5},
            "bodies": [tube],
        },
        {"name": "R5", "type": "revolute", "parent": "P1", "mdh": {"a": -0.7, "alpha": 0.5}, "bodies": [box]},
    ]
    world = {"floor": {"plane": {"point": [0, 0, -0.5]}}, "crate": {"box": {"size": [1, 1, 1]}, "xyz": [1.5, 1, 0]}}
    return robot(world, {"name": "tree", "joints": joints})


def test_pairs_are_links_that_are_no_neighbours_and_links_and_the_world(tree):
    assert tree.link_names == ["P1", "R2", "S3", "R4", "R5"]
    assert {*tree.arm.pairs} == {
        *("P1_S3", "P1_R4", "R2_R4", "R2_R5", "S3_R5", "R4_R5"),
        *(f"{link}_{it}" for link in tree.link_names for it in ("floor", "crate")),
    }


def test_a_link_without_solids_leaves_those_on_both_sides_of_it_neighbours():
    solid, none = [{"sphere": {"radius": 0.1, "mass": 1}}], [{"point": {"mass": 1, "center": [0, 0, 1]}}]
    joints = [
        {"name": name, "type": "revolute", "mdh": {"a": 1}, "bodies": bodies}
        for name, bodies in [("A", solid), ("B", none), ("C", solid), ("D", solid)]
    ]
    assert [*robot({}, {"name": "chain", "joints": joints}).arm.pairs] == ["A_D"]


def test_distances_of_arrays_are_those_of_floats_to_the_bit(tree):
    q = np.random.default_rng(1).uniform(-1, 1, (4, 4))
    found = tree.distances(q)
    assert found.shape == (4, len(tree.pairs))
    for row, expected in zip(q, found, strict=True):
        assert distances(tree.arm, row.tolist(), tree.pairs) == expected.tolist()
    assert tree.distances(q[0], ["R2_R4"]) == found[0, tree.pairs.index("R2_R4")]
    with pytest.raises(UsageError, match="names of pairs"):
        tree.distances(q[0], ["R2_R3"])


def test_distances_of_the_hand_are_closed_forms():
    hand = robot(ball(0.0, 2.0, 0.3))
    for q in (0.6, 1.0, 1.5, math.pi / 2):  # where no point of the rod is nearer
        tip = math.hypot(math.cos(q), 2.0 - math.sin(q)) - 0.4
        assert hand.distances([q])[0] == pytest.approx(tip, abs=1e-14)


@pytest.mark.parametrize("name", shipped_names("robots"))
@pytest.mark.handful(8)
def test_in_the_initial_pose_of_a_shipped_robot_nothing_touches_but_the_wrist_of_arm5(name):
    arm, _ = read_robot(name)
    touching = [name for name, watched in watched_pairs(arm).items() if not watched]
    assert touching == (["R3_R5"] if name.startswith("arm5") else [])
    assert least_distance(arm, arm.initial) > 0.0


def test_a_link_on_the_base_may_stand_on_the_floor_and_others_may_not():
    world = {"floor": {"plane": {}}, "post": {"sphere": {"radius": 0.2}, "xyz": [0.85, 0, 0.5]}}
    file = load_robot_file("arm5")
    arm = build_robot(file.document.replaced(world=read_scenario_world(world)))
    low = {**HAND, "joints": [{**HAND["joints"][0], "mdh": {"d": 0.05}}]}
    assert robot(world, low).pairs == ["R1_post"]
    assert watched_pairs(arm)["R5_floor"] is True


def read_scenario_world(world):
    given = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 1, "world": world}
    return read_scenario(given).file.document.world


def test_least_distance_with_numbers_left_open_is_that_of_the_file_with_them():
    path = "joints[0].bodies[1].sphere.radius"
    world = ball(0.0, 2.0)
    file = load_robot_file({"format": "armsim/robot/1", **HAND, "world": world})
    traced = trace(lambda r, q: [least_distance(build_robot(file.document, {path: r}), [q])], ["r", "q"])
    for r in (0.1, 0.3, 2.5):  # the last one touches in the initial pose
        made = load_robot_file({"format": "armsim/robot/1", **HAND, "world": world}, {path: r})
        assert replay(traced, [r, 0.4]) == [least_distance(build_robot(made.document), [0.4])]


@pytest.mark.parametrize("depth", [2e-6, -4e-6])
def test_a_graze_exactly_between_two_rows_is_found(depth):
    """A quarter of a turn and φ more is farther by 1.3/(2 0.3) φ², by the law of cosines."""
    hand = robot(ball(0.0, 1.3 + depth, 0.2))
    for share in (0.5, 0.31):  # of the time between two rows, 0.6 rad apart: halved intervals meet the first one alone
        angle = math.pi / 2 - 0.6 * share
        t, q = [0.0, 1.5 - share, 2.5 - share, 3.0], [[0.0], [angle], [angle + 0.6], [math.pi]]
        assert hand.distances(q).min() > 0.01
        (found,) = hand.approaches(t, q, [[1.0], [0.6], [0.6], [1.0]] if share == 0.5 else None)
        if depth > 0:
            assert found.touch is None
            assert found.distance == pytest.approx(depth, abs=1e-4)
            assert found.time == pytest.approx(1.5, abs=0.05)
        else:
            back = math.sqrt((1e-6 - depth) * 0.6 / 1.3)  # where it comes within a micrometre
            assert found.touch == pytest.approx(1.5 - back / 0.6, abs=2e-4)


def test_a_rod_that_sweeps_over_a_grain_between_two_rows_touches_it():
    hand = robot(ball(0.0, 0.5, 1e-7))
    (found,) = hand.approaches([0.0, 1.0], [[math.pi / 2 - 0.31], [math.pi / 2 + 0.69]])
    assert found.touch == pytest.approx(0.31, abs=4e-6)  # within 1.1 µm of its centre, half a metre out


def test_the_first_touch_is_where_the_circle_of_the_tip_meets_the_ball():
    hand = robot(ball(0.6, 0.8, 0.2))
    angle = math.atan2(0.8, 0.6) - 2 * math.asin(0.3 / 2)  # centres 0.3 apart: a chord of the unit circle
    t = np.linspace(0.0, 2.0, 6)
    (found,) = hand.approaches(t, t[:, None])
    assert found.touch == pytest.approx(angle, abs=3e-6)
    (found,) = hand.approaches(t, t[:, None], np.ones((6, 1)))
    assert found.touch == pytest.approx(angle, abs=3e-6)


def test_the_motion_between_rows_is_cubic_where_velocities_are_given():
    hand = robot(ball(0.0, 2.0, 0.3))
    (found,) = hand.approaches([0.0, 1.0], [[0.0], [0.0]], [[4.0], [-4.0]])  # 4 t (1 - t): up to 1 rad
    assert found.time == pytest.approx(0.5, abs=0.01)
    assert found.distance == pytest.approx(math.hypot(math.cos(1.0), 2.0 - math.sin(1.0)) - 0.4, abs=1e-4)


@pytest.mark.slow
def test_no_motion_comes_nearer_than_it_is_told(tree):
    rng = np.random.default_rng(3)
    t = np.array([0.0, 0.3, 1.0, 1.4])
    for _ in range(2):
        q, qd = rng.uniform(-0.8, 0.8, (4, 4)), rng.uniform(-2, 2, (4, 4))
        dense = np.linspace(0.0, 1.4, 2001)
        rows = np.clip(np.searchsorted(t, dense, side="right") - 1, 0, 2)
        h = np.diff(t)[rows][:, None]
        s = (dense - t[rows])[:, None] / h
        at = (  # Hermite's basis
            (1 + 2 * s) * (1 - s) ** 2 * q[rows] + s * (1 - s) ** 2 * h * qd[rows]
            + s**2 * (3 - 2 * s) * q[rows + 1] + s**2 * (s - 1) * h * qd[rows + 1]
        )  # fmt: skip
        every = tree.distances(at)
        for one in tree.approaches(t, q, qd):
            column = every[:, tree.pairs.index(one.pair)]
            if one.touch is None:
                assert column.min() - 5e-3 <= one.distance <= column.min() + max(1e-4, 1e-3 * one.distance)
            else:
                touching = dense[column <= 1e-6]
                assert one.touch <= (touching[0] if len(touching) else math.inf) + 1e-9
                assert np.interp(one.touch, dense, column) < 5e-3


def test_those_that_touch_come_first_by_time_and_the_others_by_distance():
    world = {**ball(0.6, 0.8, 0.2), "far": {"sphere": {"radius": 0.1}, "xyz": [0, -3, 0]}}
    world["near"] = {"sphere": {"radius": 0.1}, "xyz": [0, -2, 0]}
    world["first"] = {"sphere": {"radius": 0.1}, "xyz": [0.95, 0.35, 0]}
    found = robot(world).approaches([0, 2], [[0], [2]])
    assert [one.pair for one in found] == ["R1_first", "R1_post", "R1_near", "R1_far"]


def test_an_arm_at_rest_is_looked_at_once(tree):
    rows = [[0.1, 0.2, 0.3, 0.4]] * 3
    nearest = tree.approaches([0, 1, 2], rows, np.zeros((3, 4)))[0]
    assert nearest.distance == tree.distances(rows[0]).min()


def test_rows_of_a_motion_must_fit_and_its_times_increase(tree):
    q = np.zeros((3, 4))
    for t, rows, rates in [([0, 1], q, None), ([0, 1, 2], q[0], None), ([0, 1, 2], q, q[:2])]:
        with pytest.raises(ShapeError, match="approaches"):
            tree.approaches(t, rows, rates)
    with pytest.raises(UsageError, match="increase"):
        tree.approaches([0, 1, 1], q)


SCENARIO = {
    "format": "armsim/scenario/1",
    "robot": {"format": "armsim/robot/1", **HAND},
    "duration": 2,
    "integrator": {"method": "rk4", "dt": 0.01},
    "initial": {"qd": [1.0]},
    "world": {"floor": {"plane": {"normal": [0, -1, 0], "point": [0, 0.9, 0]}}},
    "log": {"every": 0.5, "distances": ["R1_floor"]},
}


def test_a_free_hand_touches_a_wall_between_rows_when_its_tip_gets_there():
    found = collisions(read_scenario(SCENARIO))  # gravity along its axis: it turns at 1 rad/s
    assert [one.pair for one in found.touches] == ["R1_floor"]
    assert found.touches[0].touch == pytest.approx(math.asin(0.8), abs=3e-6)
    assert found.until == 2.0


def test_the_reference_of_a_controller_is_looked_at_without_a_run():
    reference = {"via": [[0.0], [1.0]], "times": [0.0, 2.0], "profile": "cubic"}
    control = {"law": "pd", "output": "torque", "kp": 0, "kd": 0, "reference": reference}
    scenario = read_scenario({**SCENARIO, "control": control})
    found = collisions(scenario, reference=True)
    (touch,) = found.touches
    s = touch.touch / 2.0
    assert s * s * (3 - 2 * s) == pytest.approx(math.asin(0.8), abs=1e-5)
    with pytest.raises(UsageError, match="none"):
        collisions(read_scenario(SCENARIO), reference=True)


def test_rows_measures_and_formulas_have_distances(tmp_path):
    run = armsim.simulate(SCENARIO, measure=["least_distance", "min(distance_R1_floor)"])
    expected = [0.8 - max(math.sin(t), 0.0) for t in run.t]
    assert run["distance_R1_floor_m"] == pytest.approx(expected, abs=1e-9)
    assert run.measures["least_distance"] == run.measures["min(distance_R1_floor)"]
    assert run.measures["least_distance"] == pytest.approx(-0.2, abs=1e-4)
    again = armsim.load_run(run.save(tmp_path / "run"))
    assert again["distance_R1_floor_m"].tolist() == run["distance_R1_floor_m"].tolist()
    assert run.scenario.logged.distances == ("R1_floor",)


def test_all_pairs_can_be_logged_and_unknown_ones_are_refused(told):
    every = read_scenario({**SCENARIO, "log": {"distances": ["all"]}})
    assert every.logged.distances == ("R1_floor",)
    with pytest.raises(FileFaults) as caught:
        read_scenario({**SCENARIO, "log": {"distances": ["R1_flor"]}})
    told(caught.value)


def test_what_has_nothing_to_touch_is_refused(told):
    alone = {key: value for key, value in SCENARIO.items() if key not in ("world", "log")}
    with pytest.raises(UsageError) as caught:
        collisions(read_scenario(alone))
    told(caught.value)
    with pytest.raises(UsageError) as caught:
        armsim.simulate(alone, measure=["least_distance"])
    told(caught.value)


def test_both_engines_give_the_same_distances(tree):
    q = np.random.default_rng(5).uniform(-1, 1, (3, 4))
    assert (Robot(tree.arm, engine="python").distances(q) == tree.distances(q)).all()
