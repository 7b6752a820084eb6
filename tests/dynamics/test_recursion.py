"""Recursions as scans: the bits of unrolled ones at every size, against Pinocchio, and text that grows little with the arm."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest

from armsim.dynamics import aba, bias, crba, momenta_and_forces, rnea
from armsim.expr import leaves, replay, trace, unrolled_up_to, with_jacobian
from armsim.loading import read_robot
from armsim.spatial import Vector
from tests.trees import chain, motion, tree, without_mimics


def questions(arm, wrenches):
    """Inverse and forward dynamics of an arm, traced: of positions, velocities, and accelerations or forces."""
    n = arm.n

    def forces(*x):
        return rnea(arm, x[:n], x[n : 2 * n], x[2 * n :], wrenches)

    def accelerations(*x):
        return aba(arm, x[:n], x[n : 2 * n], x[2 * n :], wrenches)

    return [forces] if arm.followers else [forces, accelerations]


def wrenches_on(arm, seed):
    rng = random.Random(seed)
    vectors = [Vector(*(rng.uniform(-3.0, 3.0) for _ in range(3))) for _ in range(2 * len(arm.links))]
    return list(zip(vectors[::2], vectors[1::2], strict=True))


ARMS = {
    "tree 3": tree(3),
    "tree 10": tree(10),
    "tree 11 without followers": without_mimics(tree(11)),
    "chain": chain(tree(7)),
    "large tree": without_mimics(tree(26)),
}


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.handful(1)
def test_scans_have_the_bits_of_unrolled_recursions_on_numbers_in_scalars_and_in_lanes(name, evaluate):
    arm, _ = read_robot(ARMS[name])
    rows = [np.random.default_rng(k).uniform(-2.0, 2.0, 3 * arm.n).tolist() for k in range(9)]
    for wrenches in (None, wrenches_on(arm, 3)):
        for question in questions(arm, wrenches):
            found = []
            for longest in (0, 1000):
                with unrolled_up_to(longest):
                    traced = trace(question, [f"x{i}" for i in range(3 * arm.n)])
                assert any(node.op == "scan" for node in traced.live()) is (longest == 0)
                expected = [question(*row) for row in rows]
                lanes = evaluate(traced, np.array(rows).T.tolist()).T.tolist()
                scalars = evaluate(traced, np.array(rows).T.tolist(), lanes=1).T.tolist()
                assert lanes == scalars == expected
                found.append(expected)
            assert found[0] == found[1]


@pytest.mark.parametrize("name", ["tree 10", "large tree"])
@pytest.mark.handful(1)
def test_rolled_mass_matrices_and_momenta_have_the_bits_of_numbers(name, evaluate):
    arm, _ = read_robot(ARMS[name])
    rows = [np.random.default_rng(k).uniform(-2.0, 2.0, 2 * arm.n).tolist() for k in range(3)]

    def question(*x):
        q, qd = x[: arm.n], x[arm.n :]
        return leaves([crba(arm, q), momenta_and_forces(arm, q, qd, wrenches_on(arm, 4))])

    with unrolled_up_to(2):
        traced = trace(question, [f"x{i}" for i in range(2 * arm.n)])
    assert any(node.op == "scan" for node in traced.live())
    expected = [question(*row) for row in rows]
    assert [replay(traced, row) for row in rows] == expected
    assert evaluate(traced, np.array(rows).T.tolist()).T.tolist() == expected
    with unrolled_up_to(1000):
        assert [question(*row) for row in rows] == expected


def large(count, kind="chain"):
    """A chain or tree of general revolute and prismatic joints."""
    rng = random.Random(count)
    joints = []
    for i in range(count):
        place = {"a": rng.uniform(-0.1, 0.1), "alpha": rng.uniform(-1.5, 1.5), "d": rng.uniform(0.0, 0.1), "theta": 0.3}
        center, tensor = [rng.uniform(-0.05, 0.05) for _ in range(3)], {"xx": 2e-3, "yy": 1.5e-3, "zz": 1e-3}
        inertia = {"mass": rng.uniform(0.3, 0.8), "center": center, "about": "com", "rpy": [0.1, 0.2, 0.3]}
        body = {"inertia": {**inertia, **tensor}}
        made = {"name": f"J{i}", "type": "prismatic" if i % 5 == 3 else "revolute", "mdh": place, "bodies": [body]}
        parent = {"parent": f"J{max(i - 4, min(i - 1, 2))}"} if kind == "tree" and i else {}
        joints.append({**made, **parent})
    place = {"xyz": [0.1, -0.2, 0.3], "rpy": [0.3, -0.4, 1.2]}
    file = {"format": "armsim/robot/1", "name": kind, "convention": "mdh", "gravity": [1.0, -3.0, -9.0], "base": place}
    return {**file, "joints": joints, "tool": place, "frames": {}, "payload": []}


@pytest.mark.parametrize("kind", ["chain", "tree"])
def test_an_arm_of_64_joints_has_the_figures_that_pinocchio_finds(kind):
    pytest.importorskip("pinocchio")
    from tests.surveys.trees import by_pinocchio

    file = large(64, kind)
    state = motion(5, 64)
    arm, _ = read_robot(file)
    theirs = by_pinocchio(file, **state)
    tau, qdd = np.array(theirs["tau"]), np.array(theirs["qdd"])
    M = np.zeros((64, 64))
    M[np.tril_indices(64)] = theirs["M"]
    condition = np.linalg.cond(M + np.tril(M, -1).T)
    found = leaves(crba(arm, state["q"]))
    assert np.abs(np.array(found) - theirs["M"]).max() <= 1e-12 * np.abs(M).max()
    found = rnea(arm, state["q"], state["qd"], state["qdd"])
    assert np.abs(np.array(found) - tau).max() <= 1e-12 * np.abs(tau).max()
    found = aba(arm, state["q"], state["qd"], state["tau"])
    assert np.abs(np.array(found) - qdd).max() <= 10 * 2.0**-52 * condition * np.abs(qdd).max()


def test_the_text_of_a_recursion_does_not_grow_with_the_arm_but_for_its_joints():
    def nodes(count):
        arm, _ = read_robot(large(count))
        return [len(trace(f, [f"x{i}" for i in range(3 * count)]).graph.nodes) for f in questions(arm, None)]

    for few, many in zip(nodes(20), nodes(40), strict=True):
        assert many < 2 * few  # sines, cosines, and what goes into arrays and comes out of them


@pytest.mark.parametrize("question", [rnea, aba], ids=["rnea", "aba"])
@pytest.mark.handful(1)
def test_jacobians_of_scans_have_the_entries_of_unrolled_recursions(question, evaluate):
    arm, _ = read_robot(large(5, "tree"))
    row = np.random.default_rng(1).uniform(-1.0, 1.0, 15).tolist()
    parts = [row[:5], row[5:10], row[10:]]

    def differences(k):
        ends = [question(arm, *np.split(np.array(row) + way * np.eye(15)[k], 3)) for way in (1e-5, -1e-5)]
        return (np.array(ends[0]) - ends[1]) / 2e-5

    value, columns = question(arm, *parts), np.transpose([differences(k) for k in range(15)])
    expected = np.array([*value, *columns.ravel()])
    unrolled = leaves(with_jacobian(partial(question, arm), (0, 1, 2), "slopes")(*parts))
    assert unrolled == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())

    def slopes(*x):
        return leaves(with_jacobian(partial(question, arm), (0, 1, 2), "slopes")(x[:5], x[5:10], x[10:]))

    for longest in (0, 1000):
        with unrolled_up_to(longest):
            traced = trace(slopes, [f"x{i}" for i in range(15)])
        (body,) = (node.args[0] for node in traced.live() if node.op == "call")
        assert any(node.op == "scan" for node in body.live()) is (longest == 0)
        found = replay(traced, row)
        assert found == pytest.approx(unrolled, abs=1e-13 * np.abs(unrolled).max())
        if longest == 0 and question is rnea:
            assert evaluate(traced, [[x] * 3 for x in row]).T.tolist() == [found] * 3


def test_the_text_of_a_jacobian_grows_with_the_arm_and_not_with_its_square():
    def nodes(count):
        arm, _ = read_robot(large(count))
        body = with_jacobian(partial(bias, arm), (0,), "slopes")
        traced = trace(lambda *q: leaves(body(q, [0.1] * count)), [f"q{i}" for i in range(count)])
        (inner,) = (node.args[0] for node in traced.live() if node.op == "call")
        return sum(len(node.args[0].body.live()) for node in inner.live() if node.op == "scan")

    assert nodes(40) < 2 * nodes(20)
