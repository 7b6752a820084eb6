"""`armsim inertia` as a user meets it."""

from __future__ import annotations

import json

import pytest

COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


def answer(run, *args) -> dict:
    done = run("inertia", *args, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_the_links_of_arm5_have_the_published_inertias(armsim, reference):
    published = reference("model_links").columns
    for k, link in enumerate(answer(armsim, "arm5")["links"]):
        assert link["mass"] == pytest.approx(published["mass"][k], rel=1e-15)
        assert link["com"] == pytest.approx([published[f"c{x}"][k] for x in "xyz"], rel=1e-15, abs=1e-17)
        about = [link["about_origin"][name] for name in COMPONENTS]
        # 1e-15, but for link 5, whose published yy itself is a difference of larger numbers
        assert about == pytest.approx(
            [published[f"I{name}"][k] for name in COMPONENTS], rel=1e-15, abs=1e-18 if k < 4 else 6e-20
        )


# the seven cylinders of arm5 by hand: m r²/2 along the axis, m (3 r² + h²)/12 across it; then m |c|² - m c c
CYLINDERS = {
    "joints[R1].bodies[0]": ("z", 0.3, 0.085, 3.0, (0, 0, 0)),
    "joints[R1].bodies[1]": ("y", 0.14, 0.05, 1.5, (0.085, 0, 0)),
    "joints[R2].bodies[0]": ("x", 0.38, 0.05, 1.0, (0.19, 0, 0)),
    "joints[R2].bodies[1]": ("z", 0.1, 0.04, 1.0, (0.38, 0, 0)),
    "joints[R3].bodies[0]": ("y", 0.425, 0.04, 1.0, (0, 0.2125, 0)),
    "joints[R4].bodies[0]": ("y", 0.1, 0.02, 0.3, (0, 0, 0)),
    "joints[R5].bodies[0]": ("y", 0.085, 0.01, 0.2, (0, 0.0425, 0)),
}


def test_the_seven_cylinders_of_arm5_have_the_tensors_of_the_table(armsim):
    solids = {solid["path"]: solid for link in answer(armsim, "arm5")["links"] for solid in link["solids"]}
    assert list(solids) == list(CYLINDERS)
    for path, (axis, h, r, m, c) in CYLINDERS.items():
        solid = solids[path]
        assert (solid["shape"], solid["mass"], solid["center"]) == ("cylinder", m, list(c))
        assert solid["sizes"] == {"axis": axis, "height": h, "radius": r}
        own = {a: m * r * r / 2 if a == axis else m * (3 * r * r + h * h) / 12 for a in "xyz"}
        square = sum(x * x for x in c)
        for k, a in enumerate("xyz"):
            assert solid["about_center"][f"{a}{a}"] == pytest.approx(own[a], rel=1e-15)
            moved = own[a] + m * (square - c[k] * c[k])
            assert solid["about_origin"][f"{a}{a}"] == pytest.approx(moved, rel=1e-15)
        assert [solid[about][name] for about in ("about_center", "about_origin") for name in ("xy", "xz", "yz")] == [
            0
        ] * 6


def test_off_diagonals_have_the_sign_of_the_matrix(armsim, empty_folder):
    (empty_folder / "corner.yaml").write_text(
        "format: armsim/robot/1\nname: corner\njoints:\n"
        "  - {name: A, type: revolute, mdh: {}, bodies: [{point: {mass: 2, center: [1, 2, 3]}}]}\n"
    )
    (link,) = answer(armsim, "corner.yaml")["links"]
    assert link["about_origin"] == {"xx": 26, "yy": 20, "zz": 10, "xy": -4, "xz": -6, "yz": -12}
    assert link["solids"][0]["about_center"] == dict.fromkeys(COMPONENTS, 0)
    assert link["com"] == [1, 2, 3]


def test_a_tabulated_body_about_the_origin_keeps_its_tensor_there(armsim, empty_folder):
    (empty_folder / "cad.yaml").write_text(
        "format: armsim/robot/1\nname: cad\njoints:\n  - name: A\n    type: revolute\n    mdh: {}\n    bodies:\n"
        "      - inertia: {mass: 2, center: [0, 1, 0], about: origin, xx: 5, yy: 1, zz: 6}\n"
    )
    solid = answer(armsim, "cad.yaml")["links"][0]["solids"][0]
    assert solid["about_origin"] == {"xx": 5, "yy": 1, "zz": 6, "xy": 0, "xz": 0, "yz": 0}
    assert solid["about_center"] == {"xx": 3, "yy": 1, "zz": 4, "xy": 0, "xz": 0, "yz": 0}


def test_density_makes_the_mass(armsim, empty_folder):
    (empty_folder / "block.yaml").write_text(
        "format: armsim/robot/1\nname: block\njoints:\n  - name: A\n    type: revolute\n    mdh: {}\n    bodies:\n"
        "      - box: {size: [0.1, 0.2, 0.3], density: 1000}\n"
    )
    solid = answer(armsim, "block.yaml")["links"][0]["solids"][0]
    assert solid["mass"] == pytest.approx(6, rel=1e-15)
    assert solid["about_center"]["zz"] == pytest.approx(6 * (0.01 + 0.04) / 12, rel=1e-15)
    assert "A[0] box, size 0.1 x 0.2 x 0.3" in armsim("inertia", "block.yaml").out


def test_in_standard_dh_everything_is_seen_from_the_users_frame(armsim, empty_folder):
    # the frame of a standard DH link sits at its far end: the centre lies half way back
    (empty_folder / "dh.yaml").write_text(
        "format: armsim/robot/1\nname: planar\nconvention: dh\njoints:\n"
        "  - {name: A, type: revolute, dh: {a: 1, alpha: pi/2}, bodies: [{point: {mass: 2, center: [-0.5, 0, 0]}}]}\n"
    )
    assert answer(armsim, "dh.yaml")["links"][0]["com"] == [-0.5, 0, 0]
    facts = armsim("info", "dh.yaml", "--json").out
    assert json.loads(facts)["links"][0]["com"] == pytest.approx([-0.5, 0, 0], abs=1e-15)


def test_a_payload_stands_apart_in_the_tools_frame(armsim):
    found = answer(armsim, "two_link")
    assert [payload["mass"] for payload in found["payloads"]] == [0.5]
    assert found["links"][1]["mass"] == 1.5
    report = armsim("inertia", "two_link").out
    assert "a payload of 0.5 kg in the tool's frame" in " ".join(report.split())
    assert "Links, their solids summed, without the payload" in report


def test_set_changes_what_is_counted(armsim):
    assert answer(armsim, "arm5", "--set", "joints[R5].bodies[0].cylinder.mass=1")["links"][4]["mass"] == 1


def test_a_robot_without_solids_has_an_empty_table(armsim, empty_folder):
    (empty_folder / "frame.yaml").write_text(
        "format: armsim/robot/1\nname: frame\njoints: [{name: A, type: revolute, mdh: {}, bodies: []}]\n"
    )
    done = armsim("inertia", "frame.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("frame: 0 solids on 1 link, 0 kg\n")


def test_degrees_change_nothing(armsim):
    assert armsim("inertia", "arm5", "--deg").out == armsim("inertia", "arm5").out
