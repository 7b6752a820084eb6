"""The search for common factors and sums: what it finds is the same polynomial in fewer operations."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from armsim.derivation.factoring import factored, operations, product


def poly(*terms) -> dict:
    """A polynomial from terms such as (2, "x", "x", "y")."""
    found: dict = {}
    for k, *names in terms:
        m = ()
        for name in names:
            m = product(m, ((name, 1),))
        found[m] = found.get(m, Fraction(0)) + Fraction(k)
    return found


def value(p: dict, at: dict) -> Fraction:
    total = Fraction(0)
    for m, k in p.items():
        term = k
        for name, power in m:
            term *= at[name] ** power
        total += term
    return total


@pytest.mark.parametrize("tries", [1, 8])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.handful(6)
def test_factored_polynomials_are_the_same_functions_in_no_more_operations(seed, tries):
    rng = random.Random(seed)
    names = ["a", "b", "c", "u", "v"]
    given = {}
    for k in range(3):
        terms = [(rng.choice([-2, -1, 1, 1, 3]), *rng.choices(names, k=rng.randint(0, 4))) for _ in range(8)]
        given[f"p{k}"] = {m: x for m, x in poly(*terms).items() if x}
    found = factored(given, tries=tries)
    at = {name: Fraction(rng.randint(-9, 9), 7) for name in names}
    for name, p in found.items():  # in order
        at[name] = value(p, at)
    assert [at[name] for name in given] == [value(p, at) for p in given.values()]
    assert sum(operations(found.values())) <= sum(operations(given.values()))


def test_a_common_factor_is_taken_out():
    found = factored({"p": poly((1, "a", "x"), (1, "b", "x"), (1, "c", "x"))})
    assert operations(found.values()) == (1, 2)


def test_a_common_sum_is_worked_out_once():
    found = factored({"p": poly((1, "x"), (1, "y"), (1, "u")), "q": poly((1, "x"), (1, "y"), (-1, "v"))})
    assert operations(found.values()) == (0, 3)


def test_a_sum_is_found_under_a_factor_and_a_sign():
    found = factored({"p": poly((1, "a", "x"), (-1, "a", "y")), "q": poly((1, "y"), (-1, "x"), (1, "b"))})
    assert operations(found.values()) == (1, 2)


def test_products_of_constants_cost_nothing():
    found = factored({"p": poly((1, "k", "l", "x"), (1, "k", "l", "y"))}, constants=["k", "l"])
    body = [p for p in found.values() if not all(name in ("k", "l") for m in p for name, _ in m)]
    assert operations(body) == (1, 1)


def test_the_two_link_arm_comes_down_to_12_products_and_7_sums_in_rates_of_its_links():
    # and 3 more sums for those rates and the angle of the second link; Z1, Z2, A, G1, G2 are grouped constants
    tau2 = [(1, "Z2", "wd"), (1, "A", "c2", "a1"), (1, "A", "s2", "v1", "v1"), (1, "G2", "c12")]
    tau1 = [*tau2, (1, "Z1", "a1"), (1, "A", "c2", "wd"), (-1, "A", "s2", "w", "w"), (1, "G1", "c1")]
    assert operations(factored({"tau1": poly(*tau1), "tau2": poly(*tau2)}, tries=20).values()) == (12, 7)
