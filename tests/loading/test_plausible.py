"""Every rule of plausibility, with an arm just inside its bound and one just outside."""

import json
import math
import random

import pytest
import yaml

from armsim.loading.check import check


def point(mass=1, x=0.5):
    return {"point": {"mass": mass, "center": [x, 0, 0]}}


def joint(name, *bodies, type="revolute", mdh=None, **rest):
    return {"name": name, "type": type, "mdh": mdh or {"a": 0}, "bodies": list(bodies), **rest}


def robot(*joints, **rest):
    return {"format": "armsim/robot/1", "name": "arm", "joints": list(joints), **rest}


def tensor(xx, yy, zz, mass=1, about="com", center=(0, 0, 0), **products):
    body = {"mass": mass, "center": list(center), "about": about, "xx": xx, "yy": yy, "zz": zz, **products}
    return {"inertia": body}


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """What `check` finds in a file: faults and warnings."""
    monkeypatch.chdir(tmp_path)

    def run(file, name="arm.yaml"):
        (tmp_path / name).write_text(yaml.safe_dump(file))
        result = check(name)
        return result.faults, result.warnings

    return run


@pytest.fixture
def faults(checked):
    return lambda file: checked(file)[0]


@pytest.fixture
def warnings(checked):
    def run(file):
        faults, warnings = checked(file)
        assert faults == ()
        return warnings

    return run


@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_a_joint_that_mimics_another_is_judged_without_an_initial_position(warnings, type):
    leader = joint("R1", point(), mdh={"a": 300})
    follower = joint("J2", type=type, mdh={"a": 400}, mimic={"joint": "R1"})
    assert [warning.expected for warning in warnings(robot(leader, follower, tool={"xyz": [300, 0, 0]}))] == [
        "a link with a mass",
        "an arm of 30 m at most",
    ]


def test_a_tree_is_as_long_as_its_longest_branch(warnings):
    def arms(far, **more):
        links = [
            joint("L1", point()),
            joint("L2", point(), mdh={"a": 14}),
            joint("R1", point(), mdh={"a": far}, **more),
        ]
        return robot(*links, tool={"link": "L2", "xyz": [14, 0, 0]})

    assert warnings(arms(20, parent="base")) == ()
    (doubt,) = warnings(arms(31, parent="base"))
    assert "31 m here, and 31 m from" in doubt.found
    (doubt,) = warnings(arms(20, parent="L2"))
    assert "20 m here, and 34 m from" in doubt.found


def test_a_slide_that_mimics_another_is_as_long_as_that_one_moves_it(warnings):
    leader = joint("P1", point(), type="prismatic", limits={"lower": 0, "upper": 2})
    for ratio, count in ((14, 0), (15, 1)):
        follower = joint("P2", point(), type="prismatic", mimic={"joint": "P1", "ratio": -ratio})
        assert len(warnings(robot(leader, follower))) == count


def test_the_warnings_that_explain_an_undetermined_arm_come_with_it(checked):
    faults, warnings = checked(robot(joint("R1", tensor(1, 1, -0.5))))
    assert len(faults) == 1
    assert warnings[0].expected == "moments of inertia that are not negative"


def test_a_link_without_mass_is_doubted(warnings, told):
    doubts = warnings(robot(joint("R1", tensor(0.1, 0.1, 0.1, mass=1e-9))))
    assert "a link with a mass" not in [doubt.expected for doubt in doubts]
    ball = {"sphere": {"mass": 1, "radius": 0.1, "center": [0.5, 0, 0]}}
    for arm in (robot(joint("R1", tensor(0, 0, 0.35, mass=0))), robot(joint("R1"), joint("R2", ball, mdh={"a": 1}))):
        (doubt,) = warnings(arm)
        told(doubt)


FAR = {"a long arm": (1.5, 3.0), "a short arm": (0.1, 1.0)}  # length, and the bound: twice that, and 1 m at least


@pytest.mark.parametrize("name", FAR)
def test_a_centre_of_mass_far_beyond_the_arm_is_doubted(warnings, name, told):
    length, bound = FAR[name]
    arms = [robot(joint("R1", point(x=x)), tool={"xyz": [length, 0, 0]}) for x in (0.999 * bound, 1.001 * bound)]
    near, (doubt,) = map(warnings, arms)
    assert near == ()
    told(doubt)


@pytest.mark.parametrize("name", FAR)
def test_a_radius_of_gyration_far_beyond_the_arm_is_doubted(warnings, name, told):
    length, bound = FAR[name]
    moments = [(0.999 * bound) ** 2, (1.001 * bound) ** 2]
    arms = [robot(joint("R1", tensor(J, J, J)), tool={"xyz": [length, 0, 0]}) for J in moments]
    near, (doubt,) = map(warnings, arms)
    assert near == ()
    told(doubt)


def test_a_solid_in_millimetres_is_doubted(warnings):
    ball = {"sphere": {"radius": 50, "mass": 1}}
    (doubt,) = warnings(robot(joint("R1", ball)))
    assert doubt.mend == "lengths are in metres: divide millimetres by 1000"


def test_a_slide_counts_with_its_travel(warnings):
    slide = joint("P1", point(x=11.9), type="prismatic", limits={"lower": 0, "upper": 6})
    assert warnings(robot(slide)) == ()
    assert len(warnings(robot({**slide, "limits": {"lower": 0, "upper": 5.9}}))) == 1


def test_a_screw_counts_with_what_its_turns_slide(warnings):
    screw = joint("S1", point(x=11.9), type="screw", pitch=0.01, limits={"lower": 0, "upper": 2 * math.pi * 600})
    assert warnings(robot(screw)) == ()
    assert len(warnings(robot({**screw, "limits": {"lower": 0, "upper": 2 * math.pi * 590}}))) == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_pitch_in_millimetres_is_doubted(sign, warnings, told):
    screw = joint("S1", point(), type="screw")
    assert warnings(robot({**screw, "pitch": sign * 0.5})) == ()
    (doubt,) = warnings(robot({**screw, "pitch": sign * 5}))
    told(doubt)


def test_a_negative_moment_is_doubted_beyond_rounding(warnings, told):
    near, (doubt,) = (warnings(robot(joint("R1", tensor(least, 1, 1, mass=2)))) for least in (-0.9e-3, -1.1e-3))
    assert near == ()
    told(doubt)


def test_a_moment_above_the_sum_of_the_others_is_doubted_beyond_rounding(warnings, told):
    near, (doubt,) = (warnings(robot(joint("R1", tensor(0.4, 0.6 - excess, 1, mass=2)))) for excess in (0.9e-3, 1.1e-3))
    assert near == ()
    told(doubt)


def test_products_of_inertia_count(warnings):
    # a tensor of (1, 1, 1) with xy has the principal moments 1 - xy, 1, 1 + xy: no body's from xy = 0.5 on
    near, far = (warnings(robot(joint("R1", tensor(1, 1, 1, mass=2, xy=xy)))) for xy in (0.5003, 0.5006))
    assert (len(near), len(far)) == (0, 1)


def test_a_tensor_about_the_centre_of_mass_given_as_about_the_origin_is_doubted(warnings, told):
    own, center = (0.1, 0.1, 0.02), (0, 0, 0.4)
    shifted = (0.1 + 0.16, 0.1 + 0.16, 0.02)
    assert warnings(robot(joint("R1", tensor(*shifted, about="origin", center=center)))) == ()
    (doubt,) = warnings(robot(joint("R1", tensor(*own, about="origin", center=center))))
    told(doubt)


def test_a_tensor_that_is_mostly_mass_times_distance_squared_is_doubted(warnings, told):
    near, (doubt,) = (
        warnings(robot(joint("R1", tensor(1, 1, 0.3, center=(0, 0, math.sqrt(share)))))) for share in (0.74, 0.76)
    )
    assert near == ()
    told(doubt)


def test_a_body_whose_tensor_cannot_have_been_shifted_is_not_doubted(warnings):
    # a rod about its middle, its end at the origin: m d² is three times its moment
    assert warnings(robot(joint("R1", tensor(0, 1 / 12, 1 / 12, center=(0.5, 0, 0))))) == ()


@pytest.mark.parametrize(("key", "bound"), [("stiffness", 4e12), ("damping", 2e6)])
def test_a_stop_that_no_explicit_step_can_take_is_doubted(warnings, key, bound, told):
    # on 1 kg·m² the stop's fastest motion is sqrt(stiffness) or damping; an explicit step of 1 µs follows up to 2e6 1/s
    def arm(value):
        limits = {"lower": -1, "upper": 1, "stiffness": 1000, "damping": 1, key: value}
        return robot(joint("R1", tensor(1, 1, 1), limits=limits))

    assert warnings(arm(0.99 * bound)) == ()
    (doubt,) = warnings(arm(1.01 * bound))
    told(doubt)


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ({"mass": 1, "center": [50, 0, 0]}, "payload.center"),
        ({"box": {"size": [100, 50, 50], "mass": 1}}, "payload.box"),
        (tensor(1, 1, 3), "payload.inertia"),
    ],
)
def test_a_payload_is_doubted_like_a_link(checked, payload, path):
    arm = robot(joint("R1", point()), payload=payload)
    faults, doubts = checked(arm)
    assert faults == ()
    assert [doubt.path for doubt in doubts] == [path]
    scenario = {"format": "armsim/scenario/1", "robot": arm, "duration": 1, "integrator": {"method": "rk4", "dt": 0.1}}
    assert [doubt.path for doubt in checked(scenario)[1]] == [f"robot.{path}"]
    own = {**scenario, "robot": robot(joint("R1", point())), "payload": payload}
    assert [doubt.path for doubt in checked(own)[1]] == [path]
    emptied = {**scenario, "payload": {"mass": 1}}
    assert checked(emptied) == ((), ())


@pytest.mark.parametrize(
    ("times", "covered"),
    [
        ([0, 0.5, 1], True),
        ([0, 0.25, 0.5, 0.75], True),  # samples: the last counts for as long as the others
        ([-1, 2], True),
        ([0, 0.25, 0.5], False),
        ([0.2, 1], False),
        ([0.5], False),
    ],
    ids=str,
)
def test_a_recorded_input_that_does_not_cover_the_run_is_doubted(warnings, tmp_path, times, covered, told):
    (tmp_path / "tau.csv").write_text("t_s,tau\n" + "".join(f"{t},1\n" for t in times))
    doubts = warnings(
        {
            "format": "armsim/scenario/1",
            "robot": robot(joint("R1", point()), joint("R2", point())),
            "duration": 1,
            "integrator": {"method": "rk4", "dt": 0.01},
            "inputs": {"period": 0.05, "torque": [0, {"csv": "tau.csv", "column": "tau"}]},
        }
    )
    assert (doubts == ()) == covered
    for doubt in doubts:
        told(doubt)


@pytest.mark.parametrize("bound", [0.99, 1.01])
def test_payloads_whose_times_exclude_each_other_are_not_counted_at_once(warnings, bound):
    # as above: whichever it carries, there is 1 kg·m² on the stop
    limits = {"lower": -1, "upper": 1, "stiffness": bound * 4e12, "damping": 1}
    times = [{"to": 0.2}, {"from": 0.2, "to": 0.4}, {"from": 0.4}]
    payload = [{"name": f"P{i}", "mass": 0.75, "center": [0, 1, 0], **at} for i, at in enumerate(times)]
    doubts = warnings(
        {
            "format": "armsim/scenario/1",
            "robot": robot(joint("R1", tensor(0.25, 0.25, 0.25), limits=limits)),
            "duration": 1,
            "integrator": {"method": "rk4", "dt": 0.01},
            "payload": payload,
        }
    )
    assert [doubt.path for doubt in doubts] == (["robot.joints[0].limits"] if bound > 1 else [])


def test_a_doubt_points_at_the_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(
        "format: armsim/robot/1\nname: arm\njoints:\n  - name: R1\n    type: revolute\n    mdh: {a: 1}\n    initial: 0\n"
        "    bodies:\n      - inertia: {mass: 0, about: com, xx: 0, yy: 0, zz: 1}\n"
    )
    assert str(check("arm.yaml").warnings[0].where) == "arm.yaml:9:25"


def test_no_numbers_however_odd_bring_check_down(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)

    def x():
        return rng.choice([0, 1, -1, 5e-324, 1e-300, 1e308, -1e154, 1e9, 0.3]) * rng.choice([1, rng.random()])

    for _ in range(200):
        joints = []
        for i in range(rng.randint(1, 3)):
            body = tensor(x(), x(), x(), abs(x()), rng.choice(["com", "origin"]), (x(), x(), x()), xy=x(), yz=x())
            limits = {"lower": -1e-3, "upper": 1e-3 + abs(x()), "stiffness": abs(x()), "damping": abs(x())}
            row = {"a": x(), "alpha": x(), "d": x()}
            joints.append(joint(f"J{i}", body, type=rng.choice(["revolute", "prismatic"]), mdh=row, limits=limits))
        # JSON is YAML, too, and quickly written
        (tmp_path / "odd.yaml").write_text(
            json.dumps(robot(*joints, payload={"mass": abs(x()), "center": [x(), x(), x()]}))
        )
        checked = check("odd.yaml")
        for fault in (*checked.faults, *checked.warnings):
            assert len(str(fault).splitlines()) == 4
