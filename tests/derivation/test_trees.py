"""Equations of trees, and of joints that mimic others, against closed forms, and what is printed of them."""

from __future__ import annotations

import pytest
import sympy
from sympy import cos, sin

import armsim
from armsim.derivation import agreement, motion
from armsim.derivation.agreement import Disagreement
from armsim.derivation.base import base_parameters
from armsim.derivation.exact import exact_arm
from armsim.derivation.forms import EquationForm, Writer
from armsim.derivation.literature import published
from armsim.derivation.motion import MotionRing
from armsim.loading import load_robot_file

q1, q2, q3, qd1, qd2, qd3 = sympy.symbols("q1:4 qd1:4", real=True)
a, m1, m2, m3, d1, d2, d3, g, k, o, r, J = sympy.symbols("a m1 m2 m3 d1 d2 d3 g k o r J", real=True)
FORK = {  # a rod in a vertical plane that carries two pendulums at its tip
    "format": "armsim/robot/1",
    "name": "fork",
    "gravity": [0, "-g", 0],
    "parameters": {"a": 0.5, "m1": 2, "m2": 1, "m3": 1.5, "d1": 0.3, "d2": 0.4, "d3": 0.2, "g": 9.81},
    "joints": [
        {
            "name": name,
            "type": "revolute",
            "parent": parent,
            "mdh": {"a": length},
            "bodies": [{"point": {"mass": f"m{i}", "center": [f"d{i}", 0, 0]}}],
        }
        for i, (name, parent, length) in enumerate([("rod", "base", 0), ("left", "rod", "a"), ("right", "rod", "a")], 1)
    ],
}
CRANK = {  # a crank that leads a jaw about an axis like its own, by a motor at the jaw, and a rack that it lifts
    "format": "armsim/robot/1",
    "name": "crank",
    "gravity": [0, "-g", 0],
    "parameters": {
        "m1": 2,
        "m2": 1,
        "m3": 1.5,
        "d1": 0.3,
        "d2": 0.4,
        "k": 0.7,
        "o": 0.2,
        "r": 0.05,
        "J": 0.01,
        "g": 9.81,
    },
    "joints": [
        FORK["joints"][0] | {"name": "crank"},
        FORK["joints"][1]
        | {"name": "jaw", "parent": "base", "mdh": {}, "mimic": {"joint": "crank", "ratio": "-k", "offset": "o"}}
        | {"motor": {"gear": 3, "rotor_inertia": "J"}},
        {
            "name": "rack",
            "type": "prismatic",
            "parent": "base",
            "mdh": {"alpha": "-pi/2"},
            "mimic": {"joint": "crank", "ratio": "r"},
            "bodies": [{"point": {"mass": "m3", "center": [0, 0, 0]}}],
        },
    ],
    "tool": {"link": "jaw", "xyz": ["d2", 0, 0]},
}


@pytest.fixture(scope="module")
def fork():
    """The equations of `FORK`."""
    return armsim.derive(FORK)


@pytest.fixture(scope="module")
def crank():
    """The equations of `CRANK`."""
    return armsim.derive(CRANK)


def same(found, expected) -> bool:
    """Whether two matrices are the same functions: at a point of roots of primes, which cancel by no accident, to 40 digits."""
    rest = sympy.Matrix(found) - sympy.Matrix(expected)
    names = sorted(rest.free_symbols, key=str)
    point = {x: sympy.sqrt(sympy.prime(k)) / 7 for k, x in enumerate(names, 1)}
    return all(abs(x) < 1e-30 for x in rest.subs(point).evalf(40))


@pytest.mark.slow
def test_two_pendulums_on_a_rod_have_the_energies_of_their_points(fork):
    rod, left, right = (sympy.Matrix([cos(x), sin(x)]) for x in (q1, q1 + q2, q1 + q3))
    points = {m1: d1 * rod, m2: a * rod + d2 * left, m3: a * rod + d3 * right}
    rates = [x.jacobian([q1, q2, q3]) * sympy.Matrix([qd1, qd2, qd3]) for x in points.values()]
    assert same([fork.kinetic_energy], [sum(m * v.dot(v) / 2 for m, v in zip(points, rates, strict=True))])
    assert same([fork.potential_energy], [sum(g * m * x[1] for m, x in points.items())])
    assert same(fork.mass_matrix, sympy.hessian(fork.kinetic_energy, [qd1, qd2, qd3]))
    assert same(fork.gravity, sympy.Matrix([fork.potential_energy]).jacobian([q1, q2, q3]).T)
    assert fork.mass_matrix[1, 2] == 0  # on different branches
    assert same(fork.jacobian[3:5, :], points[m3].subs(d3, 0).jacobian([q1, q2, q3]))  # the tool is in the last link


def test_rates_of_links_and_sums_of_angles_follow_carriers_along_parallel_axes(fork):
    def joint(name: str, parent: str, alpha: str = "0", **more) -> dict:
        return FORK["joints"][0] | {"name": name, "parent": parent, "mdh": {"alpha": alpha, "a": 0.1}, **more}

    joints = [
        joint("rod", "base"),
        joint("follower", "rod", mimic={"joint": "left"}),
        joint("left", "rod"),
        joint("across", "rod", "pi/2"),
        joint("tip", "across", "pi"),
        joint("right", "rod"),
    ]
    exact = exact_arm(load_robot_file(FORK | {"joints": joints}).document)
    writer = Writer(exact, MotionRing(exact), EquationForm(harmonics=True, links=True))
    assert writer.runs == [[0, 2, 5], [3, 4]]
    total = {name: {m[0][0]: int(factor) for m, factor in p.items()} for name, p in writer.rates.items()}
    assert {name: x for name, x in total.items() if name[0] == "w"} == {
        "w3": {"qd1": 1, "qd2": 1},
        "w5": {"qd4": 1, "qd3": -1},
        "w6": {"qd1": 1, "qd5": 1},
    }
    assert "c13 = cos(q1 + q3)" in fork.to("text")


def test_couplings_add_inertia_by_the_square_of_their_ratio_and_gravity_by_the_ratio(crank):
    assert crank.joints == ["crank"]
    assert same(crank.mass_matrix, [[m1 * d1**2 + k**2 * (m2 * d2**2 + 9 * J) + r**2 * m3]])
    assert same(crank.coriolis, [[0]])
    assert same(crank.gravity, [[g * (m1 * d1 * cos(q1) - k * m2 * d2 * cos(o - k * q1) + r * m3)]])


def test_the_tool_of_a_follower_moves_by_the_ratio(crank):
    place = sympy.Matrix([d2 * cos(o - k * q1), d2 * sin(o - k * q1), 0])
    assert same(crank.forward_kinematics[:3, 3], place)
    assert same(crank.jacobian, [0, 0, -k, *place.diff(q1)])


@pytest.mark.parametrize("name", ["branches", "jaws"])
@pytest.mark.slow
def test_a_tree_too_large_for_a_closed_form_is_compared_at_points(monkeypatch, given, name):
    monkeypatch.setattr(motion, "MOST_TERMS", 3)
    d = armsim.derive(given(name))
    assert d.equations is None
    assert d.checks[0].how == "3 random points, 60 digits"  # of pi and sines of 0.3 or 0.4
    assert d.checks[0].difference < 1e-50
    assert d.checks[-1].difference < 1e-12
    right = agreement.lagrange_at
    monkeypatch.setattr(agreement, "lagrange_at", lambda *x: [tau + tau / 10**9 for tau in right(*x)])
    with pytest.raises(Disagreement, match=r"relative difference of 1\.0e-09"):
        agreement.compare_points(d.exact)


@pytest.mark.slow
def test_the_table_of_coordinates_shows_carriers_and_what_followers_do(derived, told):
    for name in ("jaws", "two_link"):
        told(derived(name).to("text").partition("\n\nSines and cosines")[0])


def test_numbers_of_a_coupling_may_be_symbols(given):
    found = exact_arm(load_robot_file(given("jaws")).document, ["x=joints[lower].mimic.offset"])
    assert found.values == {"x": 0.35}
    assert found.arm.links[1].mimic.offset == found.symbols["x"]


@pytest.mark.slow
def test_constants_of_a_coupling_say_what_they_are(monkeypatch, given):
    monkeypatch.setattr(motion, "MOST_TERMS", 3)  # a recursion, whose constants are the file's
    meanings = {constant["name"]: constant["meaning"] for constant in armsim.derive(given("jaws")).constants}
    assert meanings["ratio5"] == "ratio of joint 5 to the one that it mimics"
    assert meanings["shift2"] == "position of joint 2 where that one's is 0"


def test_counts_are_published_of_chains_alone():
    chain = [*FORK["joints"][:2], FORK["joints"][2] | {"parent": "left"}]
    coupled = [*chain[:2], chain[2] | {"mimic": {"joint": "left"}}]
    arms = [exact_arm(load_robot_file(FORK | {"joints": x}).document).arm for x in (chain, FORK["joints"], coupled)]
    assert [bool(published(arm)) for arm in arms] == [True, False, False]


def test_two_pendulums_on_a_rod_have_the_base_parameters_of_the_textbook():
    # as of a chain, but that both pendulums add to the rod: ZZ1 + a² (M2 + M3) and MX1 + a (M2 + M3)
    found = base_parameters(FORK)
    names = "ZZ1 Ia1 M2 M3 MX1 MY1 ZZ2 MX2 MY2 Ia2 ZZ3 MX3 MY3 Ia3"
    ZZ1, Ia1, M2, M3, MX1, MY1, *others = sympy.symbols(names)
    expected = [ZZ1 + Ia1 + a**2 * (M2 + M3), MX1 + a * (M2 + M3), MY1, *others]
    assert {sympy.expand(p.combination) for p in found.parameters} == {sympy.expand(x) for x in expected}
    assert (found.rank, found.of) == (11, 33)


def test_base_parameters_of_an_arm_with_followers_are_found_by_numbers():
    found = base_parameters(CRANK)
    assert found.notes == ["Not in symbols (joints that mimic others): the combinations have the file's numbers."]
    # the inertia; cosine and sine of the crank and of the jaw; the weight of the rack
    assert (found.rank, found.of) == (6, 33)
    inertia = found.parameters[0].combination.as_coefficients_dict()
    symbols = sympy.symbols("ZZ1 Ia1 ZZ2 Ia2 Ia3")
    assert [float(inertia[x]) for x in symbols] == pytest.approx([1, 1, 0.49, 0.49, 0.0025])
