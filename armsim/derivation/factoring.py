"""Polynomials in few operations: common factors and common sums, found by a greedy search.

The search extracts two kinds of divisors, as logic synthesis does with Boolean functions: products of two variables, and sums of
two terms without a common factor. Each is given a name of its own where that saves most; names take part in what is found next,
so larger ones grow out of pairs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

Monomial = tuple[tuple[str, int], ...]  # variables with their exponents, by name
Polynomial = dict[Monomial, Fraction]
Pair = tuple[str, str]  # a product of two variables
Sum = tuple[Monomial, Monomial, int, int]  # the first monomial + so many times the second, as a quotient
ONE: Monomial = ()
ONCE = Fraction(1)
WORK = 4000  # of all searches together: one takes as long as the terms are many, squared


def operations(polynomials: Iterable[Polynomial]) -> tuple[int, int]:
    """Multiplications and additions that the polynomials take as they stand; negation is free."""
    products = additions = 0
    for p in polynomials:
        products += sum(_products(k, m) for m, k in p.items())
        additions += max(len(p) - 1, 0)
    return products, additions


def factored(
    polynomials: Mapping[str, Polynomial], prefix: str = "%x", tries: int = 1, constants: Iterable[str] = ()
) -> dict[str, Polynomial]:
    """The polynomials in few operations, with further names for what they share.

    Args:
        polynomials: By name, in an order in which each needs none that follow.
        prefix: Of the names of what they share, which a number ends.
        tries: Searches, fewer of many terms; all but the first choose among divisors that save as much at random, by seeds
            of their own.
        constants: Names whose products and sums cost nothing, because they are worked out beforehand.

    Returns:
        The shortest found, in an order in which each needs none that follow.
    """
    best: dict[str, Polynomial] | None = None
    least = (0, 0)
    terms = sum(map(len, polynomials.values()))
    for seed in range(max(1, min(tries, WORK // max(terms, 1) ** 2))):
        search = _Search(polynomials, prefix, random.Random(seed) if seed else None, frozenset(constants))
        found = search.run()
        cost = _cost(p for name, p in found.items() if name not in search.constants)
        if best is None or cost < least:
            best, least = found, cost
    assert best is not None  # one try at least
    needs = {name: [x for m in p for x, _ in m] for name, p in best.items()}
    return {name: best[name] for name in ordered(needs, best)}


def product(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    powers = Counter(dict(a))
    for x, k in b:
        powers[x] += k
    return tuple(sorted((x, k) for x, k in powers.items() if k))


def variable(name: str, factor: int | Fraction = 1) -> Polynomial:
    """The polynomial that is this name, or a multiple of it."""
    return {((name, 1),): Fraction(factor)}


def plus(a: Polynomial, b: Polynomial, factor: int | Fraction = 1) -> Polynomial:
    """A polynomial and a multiple of another."""
    found = dict(a)
    for m, k in b.items():
        found[m] = found.get(m, Fraction(0)) + factor * k
    return {m: k for m, k in found.items() if k}


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    found: Polynomial = {}
    for m, j in a.items():
        found = plus(found, {product(m, n): j * k for n, k in b.items()})
    return found


def _cost(polynomials: Iterable[Polynomial]) -> tuple[int, int]:
    products, additions = operations(polynomials)
    return products + additions, products


def _products(k: Fraction, m: Monomial) -> int:
    degree = 0
    for _, e in m:
        degree += e
    return degree - (k.denominator == 1 and -1 <= k.numerator <= 1) if degree else 0


def _common(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(b)
    return tuple((x, min(k, powers[x])) for x, k in a if x in powers)


def _quotient(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(b)
    return tuple((x, k - powers.get(x, 0)) for x, k in a if k > powers.get(x, 0))


class _Search:
    """One greedy search.

    Attributes:
        polynomials: As far as it has come.
        constants: Names whose products and sums cost nothing.
        pairs: How many terms have a product of two variables, by polynomial.
        sums: What a sum saves in a polynomial, by polynomial.
    """

    def __init__(
        self,
        polynomials: Mapping[str, Polynomial],
        prefix: str,
        chance: random.Random | None,
        constants: frozenset[str],
    ) -> None:
        self.polynomials = {name: dict(p) for name, p in polynomials.items()}
        self.constants = set(constants)
        self.prefix = prefix
        self.chance = chance
        self.count = 0
        self.pairs: dict[str, Counter[Pair]] = {}
        self.sums: dict[str, Counter[Sum]] = {}
        self.all_pairs: Counter[Pair] = Counter()
        self.all_sums: Counter[Sum] = Counter()
        for name in self.polynomials:
            self.note(name)

    def run(self) -> dict[str, Polynomial]:
        """The polynomials, when nothing saves an operation any more."""
        while True:
            value, divisor = self.best()
            if value <= 0:
                return self.polynomials
            self.count += 1
            name = f"{self.prefix}{self.count}"
            if self.is_constant(divisor):
                self.constants.add(name)
            if len(divisor) == 2:
                self.extract_pair(name, divisor)
            else:
                self.extract_sum(name, divisor)

    def best(self) -> tuple[float, Pair | Sum]:
        """The divisor that saves most operations."""
        values: list[tuple[float, Pair | Sum]] = []
        for pair, count in self.all_pairs.items():
            if (value := count - (not self.is_constant(pair))) > 0:
                values.append((value, pair))
        for divisor, saved in self.all_sums.items():
            if saved <= 1:
                continue
            a, b, *k = divisor
            defining = 0 if self.is_constant(divisor) else 1 + _products(ONCE, a) + _products(Fraction(*k), b)
            if (value := saved - defining) > 0:
                values.append((value, divisor))
        if not values:
            return 0, ("", "")
        most = max(value for value, _ in values)
        if self.chance is None:
            return most, min((d for value, d in values if value == most), key=_key)
        near = sorted((d for value, d in values if value >= most - self.chance.choice((0, 0, 0, 1))), key=_key)
        return most, self.chance.choice(near)

    def is_constant(self, divisor: Pair | Sum) -> bool:
        """Whether a divisor is worked out beforehand."""
        if len(divisor) == 2:
            return divisor[0] in self.constants and divisor[1] in self.constants
        return all(x in self.constants for m in divisor[:2] for x, _ in m)

    def note(self, name: str) -> None:
        """Count the divisors of a polynomial anew."""
        self.all_pairs.subtract(self.pairs.pop(name, Counter()))
        self.all_sums.subtract(self.sums.pop(name, Counter()))
        p = self.polynomials[name]
        if all(x in self.constants for m in p for x, _ in m):
            self.constants.add(name)  # worked out beforehand: nothing in it needs to be shorter
            return
        pairs: Counter[Pair] = Counter()
        for m in p:
            for i, (x, power) in enumerate(m):
                if power > 1:
                    pairs[x, x] += power // 2
                for y, other in m[i + 1 :]:
                    pairs[x, y] += min(power, other)
        sums: Counter[Sum] = Counter()
        taken: dict[Sum, set[Monomial]] = {}
        terms = list(p.items())
        for i, (a, j) in enumerate(terms):
            for b, k in terms[i + 1 :]:
                divisor, shared, factor = _divided(a, j, b, k)
                used = taken.setdefault(divisor, set())
                if a not in used and b not in used:
                    used |= {a, b}
                    after = _products(factor, (*shared, ("", 1)))
                    sums[divisor] += _products(j, a) + _products(k, b) + 1 - after
        self.pairs[name], self.sums[name] = pairs, sums
        self.all_pairs.update(pairs)
        self.all_sums.update(sums)

    def extract_pair(self, name: str, pair: Pair) -> None:
        """Give a product of two variables a name."""
        x, y = pair
        divisor: Monomial = ((x, 2),) if x == y else ((x, 1), (y, 1))
        for target, p in list(self.polynomials.items()):
            if target in self.pairs and self.pairs[target][pair]:
                changed = {}
                for m, k in p.items():
                    powers = dict(m)
                    times = powers.get(x, 0) // 2 if x == y else min(powers.get(x, 0), powers.get(y, 0))
                    for _ in range(times):
                        m = _quotient(m, divisor)
                    changed[product(m, ((name, times),)) if times else m] = k
                self.polynomials[target] = changed
                self.note(target)
        self.polynomials[name] = {divisor: Fraction(1)}
        self.note(name)

    def extract_sum(self, name: str, divisor: Sum) -> None:
        """Give a sum of two terms a name."""
        for target, p in list(self.polynomials.items()):
            while target in self.sums and self.sums[target][divisor] > 0:
                found = _found(p, divisor)
                if found is None:
                    break
                a, b, shared, factor = found
                rest = {m: k for m, k in p.items() if m not in (a, b)}
                term = product(shared, ((name, 1),))
                p = rest | {term: rest.get(term, Fraction(0)) + factor}
                self.polynomials[target] = p
                self.note(target)
        a, b, *k = divisor
        self.polynomials[name] = {a: ONCE, b: Fraction(*k)}
        self.note(name)


def _divided(a: Monomial, j: Fraction, b: Monomial, k: Fraction) -> tuple[Sum, Monomial, Fraction]:
    """The sum j a + k b as a divisor, and the monomial and number that it is multiplied with."""
    shared = _common(a, b)
    a, b = _quotient(a, shared), _quotient(b, shared)
    if j == k or j == -k:
        if b < a:
            a, j, b, k = b, k, a, j
        return (a, b, 1 if j == k else -1, 1), shared, j
    if abs(k) < abs(j):
        a, j, b, k = b, k, a, j
    ratio = k / j
    return (a, b, ratio.numerator, ratio.denominator), shared, j


def _found(p: Polynomial, divisor: Sum) -> tuple[Monomial, Monomial, Monomial, Fraction] | None:
    """Two terms of a polynomial that are a multiple of a sum; the multiple."""
    terms = list(p.items())
    for i, (a, j) in enumerate(terms):
        for b, k in terms[i + 1 :]:
            other, shared, factor = _divided(a, j, b, k)
            if other == divisor:
                return a, b, shared, factor
    return None


def _key(divisor: Pair | Sum) -> tuple[int, str]:
    return len(divisor), str(divisor)


def ordered(needs: Mapping[str, Iterable[str]], wanted: Iterable[str]) -> list[str]:
    """Names that are wanted, each after those that it needs."""
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in done or name not in needs:
            return
        for other in needs[name]:
            visit(other)
        done[name] = None

    for name in wanted:
        visit(name)
    return list(done)
