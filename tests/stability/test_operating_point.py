"""That a step is shown to be stable without eigenvalues: never where they tell otherwise, and mostly where they do not."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

import armsim
from armsim.expr import replay, trace
from armsim.loading import read_scenario
from armsim.plant import make_plant
from armsim.stability.operating_point import MARGIN, SHOWN, shown
from armsim.stability.wording import check_step

PLANTS = 400


def drawn(chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, damping and stiffness of a random plant; its stiffness is mostly not symmetric, its damping now and then not."""
    n = chance.integers(1, 6)
    A, B = chance.normal(size=(2, n, n))
    M = A @ A.T + 0.1 * np.eye(n)
    D = np.diag(np.exp(2 * chance.normal() + chance.normal(size=n)))
    if chance.random() < 0.3:
        C = chance.normal(size=(n, n))
        D += C @ C.T if chance.random() < 0.5 else np.exp(2 * chance.normal()) * np.triu(C, 1)
    S = B @ B.T * np.exp(2 * chance.normal()) + np.diag(np.exp(2 * chance.normal(size=n) + 2 * chance.normal()))
    if chance.random() < 0.7:
        S += chance.normal(size=(n, n)) * np.exp(2 * chance.normal() - 1)
    return M, D, S


def about(M, D, S, method: str, chance: np.random.Generator) -> SimpleNamespace:
    """As the linearisation of a plant that has a part of its damping and stiffness by feedback."""
    K, Kv = chance.normal(size=M.shape), np.diag(chance.normal(size=len(M)))
    law = SimpleNamespace(K=np.hstack([K, Kv]).tolist())
    blocks = {"M": M, "Fq": -S - 2 * K, "Fv": -D - 2 * Kv, "Fu": 2 * np.eye(len(M))}
    rows = {name: block.tolist() for name, block in blocks.items()}
    return SimpleNamespace(n=len(M), law=law, plant=SimpleNamespace(method=method), **rows)


def factors(M, D, S, method: str, h: float) -> np.ndarray:
    """Eigenvalues of the step."""
    n = len(M)
    one, none, by_q, by_v = np.eye(n), np.zeros((n, n)), -np.linalg.solve(M, S), -np.linalg.solve(M, D)
    if method == "semi_implicit_euler":
        v = np.hstack([h * by_q, one + h * by_v])
        return np.linalg.eigvals(np.vstack([np.hstack([one, none]) + h * v, v]))
    rates = np.linalg.eigvals(np.block([[none, one], [by_q, by_v]]))
    z = h * rates
    return 1 + z if method == "explicit_euler" else 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24


@pytest.mark.parametrize("method", SHOWN)
def test_no_step_is_shown_to_be_stable_that_is_not_and_most_that_are(method):
    chance = np.random.default_rng(3)
    told, stable = 0, 0
    for _ in range(PLANTS):
        M, D, S = drawn(chance)
        h = float(np.exp(2 * chance.normal() - 3))
        here = shown(about(M, D, S, method, chance), h / MARGIN) > 0
        decays = np.linalg.eigvals(
            np.block([[0 * M, np.eye(len(M))], [-np.linalg.solve(M, S), -np.linalg.solve(M, D)]])
        )
        holds = bool((np.abs(factors(M, D, S, method, h)) < 1).all() and (decays.real < 0).all())
        assert holds or not here
        told, stable = told + here, stable + holds
    assert told > 0.3 * stable > 30


@pytest.mark.parametrize("method", SHOWN)
def test_a_stiffness_that_is_not_symmetric_is_shown_to_be_stable_up_to_half_of_what_damping_bears(method):
    # λ² + d λ + s + i ν = 0 has a root that grows where ν > d √s
    chance, d, s = np.random.default_rng(4), 2.0, 9.0
    for share in (0.0, 0.5, 1.01, 1.5, 5.0):
        skew = share * d * math.sqrt(s)
        S = np.array([[s, skew], [-skew, s]])
        found = shown(about(np.eye(2), d * np.eye(2), S, method, chance), 1e-4)
        assert found == (share < 1)
    skew = np.array([[0, 0.8], [-0.8, 0]])
    if shown(about(np.eye(2), d * np.eye(2), s * np.eye(2) + skew, method, chance), 0.2 / MARGIN):
        assert np.abs(factors(np.eye(2), d * np.eye(2), s * np.eye(2) + skew, method, 0.2)).max() < 1


@pytest.mark.parametrize("method", SHOWN)
@pytest.mark.parametrize("damping", [0.0, -1.0])
def test_what_is_not_damped_is_not_shown_to_be_stable_where_it_is_traced_either(method, damping):
    given = np.eye(1), damping * np.eye(1), 9.0 * np.eye(1)
    plants = [about(*given, method, np.random.default_rng(5)) for _ in range(2)]
    assert shown(plants[0], 1e-4) == 0

    def traced(stiffness):
        plants[1].Fq[0][0] = plants[1].Fq[0][0] * stiffness
        return [shown(plants[1], 1e-4)]

    assert replay(trace(traced, ["stiffness"], "shown"), [1.0]) == [0.0]


def test_a_step_at_the_very_bound_is_not_shown_to_be_stable():
    plant = about(np.eye(1), [[2.0]] * np.eye(1), np.eye(1), "explicit_euler", np.random.default_rng(6))
    plant.law.K, plant.Fv = [[0.0, 0.0]], [[-2.0]]
    assert shown(plant, 1.0 / MARGIN) == 0  # 2 M = h D


def test_the_advice_on_a_run_leaves_out_the_stops_that_it_does_not_meet(monkeypatch, tmp_path):
    monkeypatch.setenv("ARMSIM_CACHE_DIR", str(tmp_path))
    scenario = read_scenario("arm5_hold", {"duration": 0.01})
    run = armsim.simulate(scenario)
    assert run.setup.advice.partial
    assert run.advice == check_step(scenario, make_plant(scenario))
    assert [*run.advice.chattering] == ["R4", "R5"]
