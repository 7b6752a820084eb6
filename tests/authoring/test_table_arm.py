"""Arms from Denavit-Hartenberg tables, and in a plane: `armsim new --dh`, `armsim new --planar`."""

import re
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim.authoring.starter import CONVENTIONS, write_starter
from armsim.authoring.table_arm import read_table
from armsim.errors import FileFaults
from armsim.loading.check import check

ROOT = Path(__file__).parents[2]
TABLE = re.search(
    r"<!-- table -->\n```text\n(.*?)```", (ROOT / "docs" / "your-arm.md").read_text(encoding="utf-8"), re.DOTALL
).group(1)
ROWS = [(0, 90, 160, 0), (250, 0, 0, 0), (220, 0, 0, 0)]  # mm and degrees
PUMA = "a\talpha\td\ttheta\n0\t0\t0\tθ1\n0\t−π/2\t0.2435\tθ2\n0.4318\t0\t-0.0934\tθ3\n-0.0203\tpi/2\t0.4331\tθ4\n"


def written(tmp_path, text, convention, degrees=False):
    """The robot file of a table, and its scenario."""
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return write_starter(str(tmp_path / "arm"), 4, convention, table=read_table(str(path), degrees).rows)[:2]


def place(rows, q, convention):
    """Where the last frame is, by the matrices of the books."""

    def about(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.eye(4)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
        return turn

    def along(axis, length):
        shift = np.eye(4)
        shift[axis, 3] = length
        return shift

    pose = np.eye(4)
    for (a, alpha, d, theta), x in zip(rows, q, strict=True):
        before, own = about(0, alpha) @ along(0, a), about(2, theta + x) @ along(2, d)
        pose = pose @ (before @ own if convention == "mdh" else own @ before)
    return pose[:3, 3]


def test_the_table_of_the_page_is_its_arm(tmp_path):
    robot, scenario = written(tmp_path, TABLE, "dh")
    arm = armsim.load_robot(robot)
    q = np.array([0.3, -0.8, 1.1])
    rows = [(a / 1e3, np.radians(alpha), d / 1e3, theta) for a, alpha, d, theta in ROWS]
    assert arm.forward_kinematics(q).position == pytest.approx(place(rows, q, "dh"), abs=1e-14)
    for path in (robot, scenario):
        checked = check(path)
        assert (checked.faults, checked.warnings) == ((), ())
    assert armsim.simulate(scenario).q[-1] == pytest.approx([0.5] * 3, abs=1e-4)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_radians_and_formulas_are_those_of_the_page_in_either_convention(tmp_path, convention):
    arm = armsim.load_robot(written(tmp_path, PUMA, convention)[0])
    rows = [(0, 0, 0, 0), (0, -np.pi / 2, 0.2435, 0), (0.4318, 0, -0.0934, 0), (-0.0203, np.pi / 2, 0.4331, 0)]
    q = np.array([0.3, -0.8, 1.1, 0.4])
    assert arm.forward_kinematics(q).position == pytest.approx(place(rows, q, convention), abs=1e-14)


@pytest.mark.parametrize(
    ("text", "degrees"),
    [
        ("a alpha d theta\n0.25 90 0 0\n", True),
        ("| i | a_{i-1} [mm] | α_{i-1} [deg] | d_i | θ_i |\n| - | - | - | - | - |\n| 1 | 250 | 90 | 0 | θ₁ |\n", False),
        ("alpha(rad);a(mm);theta;d\npi/2;250;q1;0\n", False),
        ('"theta","d","a_mm","alpha_deg"\n"","0","250","90°"\n', False),
        ("a,alpha,d,theta\n250 mm,90°,0 cm,q1 + 0 deg\n", False),
        ("a [mm],alpha [deg],d,theta\n0.25 m,pi/2 rad,0,*\n", True),
    ],
)
def test_tables_of_other_shapes_are_read(tmp_path, text, degrees):
    path = tmp_path / "table.txt"
    path.write_text(text, encoding="utf-8")
    ((row,), _) = read_table(str(path), degrees)
    assert (row.a, row.d, row.theta, row.slides) == (0.25, 0.0, 0.0, False)
    assert row.alpha == pytest.approx(np.pi / 2, rel=1e-14)


def test_a_variable_in_d_slides_and_offsets_stay(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("a,alpha [deg],d [mm],theta [deg]\n0,0,0,q1 - 90\n0,90,100 + d2,180\n0,0,*,0\n", encoding="utf-8")
    rows = read_table(str(path), False).rows
    assert [row.slides for row in rows] == [False, True, True]
    assert [row.theta for row in rows] == pytest.approx([-np.pi / 2, np.pi, 0])
    assert [row.d for row in rows] == [0, 0.1, 0]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("a,alpha,d\n0,0,0\n", "table.csv", "columns a, alpha, d; rows: 1"),
        ("a,alpha,d,theta\n", "table.csv", "columns a, alpha, d, theta; rows: 0"),
        ("", "table.csv", "columns of other names; rows: 0"),
        (
            "a,alpha,d,theta\n0,0,0,q1\nl1,0,0,q2\n",
            "table.csv:3: a",
            "write its value; the robot file makes a parameter of it",
        ),
        ("a,alpha,d,theta\n0,0,d1,q1\n", "table.csv:2: d", "found:    d1"),
        ("a,alpha,d,theta\n0,-90,0,q1\n", "table.csv:2: alpha", "write the heading `alpha [deg]`, or give --deg"),
        ("a,alpha,d,theta\n0,0,0,q1 + 90\n", "table.csv:2: theta", "or `theta [rad]` if they are radians"),
        ("a,alpha,d,theta,mass\n0,0,0,q1,\n", "table.csv:2: mass", "found:    an empty cell"),
        ("a,alpha,d,theta\n0,0,0,q1\n0.25\n", "table.csv:3", "expected: 4 cells, as the heading has\n  found:    1"),
        ("a alpha d theta\n0 0 0 q1 + pi/2\n", "table.csv:2", "found:    6"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(tmp_path, text, where, words):
    with pytest.raises(FileFaults) as refused:
        written(tmp_path, text, "mdh")
    assert f"{where}\n" in str(refused.value)
    assert words in str(refused.value)


def test_masses_of_a_table_are_the_links_and_columns_of_other_names_are_told(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("i,a,alpha,d,theta,m [g],qmax\n1,0,0,0.4,q1,3000,2\n2,0.3,pi/2,0,q2,1.5 kg,2\n", encoding="utf-8")
    read = read_table(str(path), False)
    assert ([row.mass for row in read.rows], read.others) == ([3.0, 1.5], ("qmax",))
    robot, _ = written(tmp_path, path.read_text(encoding="utf-8"), "mdh")
    assert armsim.load_robot(robot).arm.links[1].inertia.mass == 1.5


def test_radians_beyond_a_turn_are_taken_where_the_heading_says_so(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,alpha [rad],d,theta\n0.3,7,0,q1\n", encoding="utf-8")
    assert read_table(str(path), True).rows[0].alpha == 7


@pytest.mark.parametrize("cell", ["-q1", "90 - q1", "-θ1"])
def test_a_negated_variable_is_refused_and_does_not_lose_its_sign(tmp_path, cell):
    path = tmp_path / "table.csv"
    path.write_text(f"a,alpha,d,theta\n1,0,0,{cell}\n", encoding="utf-8")
    with pytest.raises(FileFaults, match="a joint variable with the sign"):
        read_table(str(path), False)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.slow
def test_a_planar_arm_speaks_in_l1_and_m1(tmp_path, convention):
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    robot, scenario, *_ = write_starter(str(tmp_path / "arm"), 2, convention, flat=True)
    for path in (robot, scenario):
        checked = check(path)
        assert (checked.faults, checked.warnings) == ((), ())
    l1, l2, m1, m2, q2 = sympy.symbols("l1 l2 m1 m2 q2", real=True)
    # Spong, Hutchinson, Vidyasagar, Robot Modeling and Control, section 7.4, with rods: lc = l/2, I = m l²/12
    M = armsim.derive(robot).mass_matrix
    coupling = m2 * l1 * l2 * sympy.cos(q2) / 2
    whole = m1 * l1**2 / 3 + m2 * l1**2 + m2 * l2**2 / 3 + 2 * coupling
    for entry, expected in ((M[0, 0], whole), (M[1, 0], m2 * l2**2 / 3 + coupling), (M[1, 1], m2 * l2**2 / 3)):
        assert sympy.expand(entry - expected) == 0


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_table_whose_axes_are_parallel_is_an_arm_in_a_vertical_plane(tmp_path, convention):
    rows = [0, 0.3, 0.25] if convention == "mdh" else [0.3, 0.25, 0.1]
    text = "a,alpha,d,theta\n" + "".join(f"{a},0,0,q{i}\n" for i, a in enumerate(rows, 1))
    arm = armsim.load_robot(written(tmp_path, text, convention)[0])
    reach = np.array([0.3, 0.25, 0.5 if convention == "mdh" else 0.1])  # such a modified table has no last length
    # rods of 1 kg, stretched out level
    moments = [9.81 * sum(reach[k:j].sum() + 0.5 * reach[j] for j in range(k, 3)) for k in range(3)]
    np.testing.assert_allclose(arm.gravity_torque([0, 0, 0]), moments, rtol=1e-12)
    assert arm.forward_kinematics([0, 0, 0])[0] == pytest.approx([reach.sum(), 0, 0])


@pytest.mark.parametrize("row", ["0.2,0,0.1,q2", "0.2,pi/2,0,q2", "0.2,0,d2,0", "0,0,0,q2"])
def test_other_tables_keep_gravity_along_the_worlds_z_axis(tmp_path, row):
    robot, _ = written(tmp_path, f"a,alpha,d,theta\n0.3,0,0,q1\n{row}\n0.1,0,0,q3\n", "dh")
    assert "gravity: [0, 0, -g]" in Path(robot).read_text(encoding="utf-8")
