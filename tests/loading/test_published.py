"""Published arms as robot files: Pinocchio's figures, and what `check` says of their numbers."""

import math

import pytest
import yaml

from armsim.dynamics import crba, frame_pose, gravity_torque, rnea
from armsim.loading import read_robot
from armsim.loading.check import check
from armsim.spatial import Pose, Symmetric, Vector, rotation_x
from tests.published import ARMS, motion, within_digits

GOLDEN = [name for name, entry in ARMS.items() if "golden" in entry]
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")

# the table of Corke and Armstrong-Helouvry as it was printed, in standard DH
PUMA_DH = [
    {"a": a, "alpha": alpha, "d": d}
    for a, alpha, d in zip(
        (0, 0.4318, 0.0203, 0, 0, 0),
        ("pi/2", 0, "-pi/2", "pi/2", "-pi/2", 0),
        (0.67183, 0, 0.15005, 0.4318, 0, 0),
        strict=True,
    )
]
PUMA_ALPHA = (math.pi / 2, 0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, 0.0)


def robot_file(entry, **rest):
    """An entry as the data of a robot file, in modified DH."""
    joints = [
        {
            "name": f"J{i}",
            "type": link["joint"],
            "mdh": {"a": link["a"], "alpha": link["alpha"], "d": link["d"], "theta": link["theta_offset"]},
            "bodies": [{"inertia": {"mass": link["mass"], "center": link["com"], "about": "com", **link["inertia"]}}],
        }
        for i, link in enumerate(entry["links"], start=1)
    ]
    tool = [row[3] for row in entry["tool_from_last_frame"]]
    gravity = entry.get("golden", {}).get("gravity", [0, 0, -9.81])
    file = {
        "format": "armsim/robot/1",
        "name": "published",
        "gravity": gravity,
        "joints": joints,
        "tool": {"xyz": tool},
    }
    return {**file, **rest}


def puma_in_standard_dh():
    """The Puma with its bodies in standard DH frames, which lie beyond Craig's by a and alpha of their own row."""
    file = robot_file(ARMS["puma560_corke"], convention="dh")
    for joint, row, alpha in zip(file["joints"], PUMA_DH, PUMA_ALPHA, strict=True):
        del joint["mdh"]
        joint["dh"] = row
        back = Pose(rotation_x(alpha), Vector(row["a"], 0.0, 0.0)).inverse
        body = joint["bodies"][0]["inertia"]
        tensor = back.rotation.turn(Symmetric(*(body[c] for c in COMPONENTS)))
        body["center"] = list(back.point(Vector(*body["center"])))
        body.update({c: getattr(tensor, c) for c in COMPONENTS})
    return file


def agrees(arm, entry):
    """Whether an arm has the golden figures of an entry, to the digits printed."""
    golden, (q, qd, qdd) = entry["golden"], motion(entry)
    found = {
        "holding_torque": gravity_torque(arm, q),
        "mass_matrix_diag": [row[-1] for row in crba(arm, q)],
        "rnea_tau": rnea(arm, q, qd, qdd),
        "tool_position": list(frame_pose(arm, q, arm.tool).position),
    }
    for quantity, values in found.items():
        assert within_digits(values, golden[quantity]), (quantity, values)


@pytest.fixture
def warnings(tmp_path, monkeypatch):
    """What `check` warns of in a robot file, as (path, found)."""
    monkeypatch.chdir(tmp_path)

    def run(file):
        (tmp_path / "arm.yaml").write_text(yaml.safe_dump(file))
        checked = check("arm.yaml")
        assert checked.faults == ()
        return [(warning.path, warning.found) for warning in checked.warnings]

    return run


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.handful(3)
def test_a_published_arm_in_a_robot_file_gives_pinocchios_figures(name):
    agrees(read_robot(robot_file(ARMS[name]))[0], ARMS[name])


def test_the_puma_in_standard_dh_gives_pinocchios_figures_too():
    agrees(read_robot(puma_in_standard_dh())[0], ARMS["puma560_corke"])


@pytest.mark.parametrize(
    ("q", "torque"),
    [
        ((0, 0, 0, 0, 0, 0), (0, 37.4837, 0.2489, 0, 0, 0)),
        ((0, math.pi / 4, -math.pi, 0, math.pi / 4, 0), (0, 31.6399, 6.0351, 0, 0.0283, 0)),
    ],
)
def test_the_puma_in_standard_dh_holds_with_the_torques_of_the_robotics_toolbox(q, torque):
    arm, _ = read_robot(puma_in_standard_dh())
    assert gravity_torque(arm, list(q)) == pytest.approx(torque, abs=0.51e-4)  # printed to four decimals


SOUND = [name for name in ARMS if name not in ("puma560_akb", "puma560_corke", "manutec_r3")]


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.handful(4)
def test_a_sound_published_arm_gives_no_warning(warnings, name):
    assert warnings(robot_file(ARMS[name])) == []


def test_the_oddities_of_both_pumas_are_found_and_they_load(warnings):
    massless = ("joints[0]", "link J1 has mass 0")
    assert warnings(robot_file(ARMS["puma560_akb"])) == [massless]
    assert warnings(robot_file(ARMS["puma560_corke"])) == [
        massless,
        (
            "joints[2].bodies[0].inertia",
            "principal moments 0.0125, 0.066, 0.086 kg·m², for link J3: the largest is 0.0075 more",
        ),
    ]


def test_the_first_link_of_the_manutec_r3_is_no_body(warnings):
    found = "principal moments 0, 0, 1.16 kg·m², for link J1: the largest is 1.16 more"
    assert warnings(robot_file(ARMS["manutec_r3"])) == [("joints[0].bodies[0].inertia", found)]


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.handful(3)
def test_the_links_that_check_doubts_are_those_that_pinocchio_calls_unphysical(warnings, name):
    entry = ARMS[name]
    doubted = {path.split(".")[0] for path, _ in warnings(robot_file(entry))}
    for i, (link, physical) in enumerate(zip(entry["links"], entry["golden"]["physical_tensor"], strict=True)):
        # a point mass has no tensor of its own, which Pinocchio counts as unphysical and we do not
        point = link["mass"] > 0 and not any(link["inertia"].values())
        assert (f"joints[{i}]" in doubted) == (not physical and not point)


def stanford(centers=None):
    """The Stanford arm as it went through the tables of several toolboxes; masses and tensors of R. P. Paul."""
    alphas, d = (0, "-pi/2", "pi/2", 0, "-pi/2", "pi/2"), (0.412, 0.154, 0, 0, 0, 0.263)
    masses = (9.29, 5.01, 4.25, 1.08, 0.63, 0.51)
    published = [[0, 0.0175, -0.1105], [0, -1.054, 0], [0, 0, -6.447], [0, 0.092, -0.054], [0, 0, 0.566], [0, 0, 1.554]]
    tensors = [[0.276, 0.255, 0.071], [0.108, 0.018, 0.100], [2.51, 2.51, 0.006], [0.002, 0.001, 0.001],
               [0.003, 0.003, 0.0004], [0.013, 0.013, 0.0003]]  # fmt: skip
    joints = []
    for i in range(6):
        body = {"mass": masses[i], "center": (centers or published)[i], "about": "com"}
        body.update(zip(("xx", "yy", "zz"), tensors[i], strict=True))
        row = {"alpha": alphas[i], "d": d[i]}
        joint = {"name": f"J{i + 1}", "type": "revolute", "mdh": row, "bodies": [{"inertia": body}]}
        if i == 2:
            joint |= {"type": "prismatic", "initial": 0.5, "limits": {"lower": 0.3048, "upper": 1.27}}
        joints.append(joint)
    return {"format": "armsim/robot/1", "name": "stanford", "joints": joints}


def test_the_centre_of_mass_of_the_stanford_boom_is_too_far_out(warnings):
    found = warnings(stanford())
    assert ("joints[2].bodies[0].inertia.center", "6.447 m, for link J3") in found


def test_the_inertia_of_the_stanford_hand_looks_as_if_it_were_about_the_origin(warnings):
    metres = [[0, 0.0175, -0.1105], [0, -0.1054, 0], [0, 0, -0.6447], [0, 0.0092, -0.0054], [0, 0, 0.0566],
              [0, 0, 0.1554]]  # fmt: skip
    found = warnings(stanford(metres))
    assert ("joints[5].bodies[0].inertia", "one that looks as if it were about the frame's origin, for link J6: most of it "
            "is mass × distance²") in found  # fmt: skip


def test_the_centres_of_mass_of_the_irb140_that_went_round_are_too_far_out(warnings):
    """abb irb140, mm turned into km for link 2 and left alone for link 3."""
    rows = [{"d": 0.352}, {"a": 0.07, "alpha": "-pi/2"}, {"a": 0.36}]
    centers = [[0, 0, 0], [198290, 9730, 92430], [-4.56, -79.96, -5.86]]
    joints = [
        {"name": f"J{i + 1}", "type": "revolute", "mdh": row, "bodies": [
            {"inertia": {"mass": 10, "center": center, "about": "com", "xx": 0.1, "yy": 0.1, "zz": 0.1}}]}
        for i, (row, center) in enumerate(zip(rows, centers, strict=True))
    ]  # fmt: skip
    found = warnings({"format": "armsim/robot/1", "name": "irb140", "joints": joints})
    assert found == [
        ("joints[1].bodies[0].inertia.center", "218991 m, for link J2"),
        ("joints[2].bodies[0].inertia.center", "80.304 m, for link J3"),
    ]
