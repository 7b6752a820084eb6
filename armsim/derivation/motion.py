"""The motion of an arm as a polynomial ring: sines, cosines and lengths of its joints, velocities, accelerations.

The equations of motion of an arm are polynomials in them, with coefficients that are polynomials in the arm's constants. In a
ring sums and products are carried out at once, and two expressions are equal if they are the same polynomial.

A joint that mimics another has a cosine and a sine of its own, as they are no polynomials of the other's. The equations hold
whatever the offset between the two, so as if these positions were independent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import sympy
from sympy.polys.rings import PolyElement, PolyRing

from armsim.derivation.exact import ExactArm
from armsim.errors import ArmsimError
from armsim.expr import leaves

MOST_TERMS = 6000  # of one polynomial: some seconds of work


class TooLarge(ArmsimError):
    """A polynomial of more than `MOST_TERMS` terms."""


class Angle(NamedTuple):
    """The position of a joint that turns, with its offset, on its way to a sine or cosine.

    Attributes:
        joint: Index of the joint.
        length: The same as an element of the ring, for screws.
    """

    joint: int
    length: Any


class MotionRing:
    """The ring of an arm's motion.

    Attributes:
        ring: The ring over the rational numbers; its generators are the constants' atoms, then those of the motion.
        atoms: What the arm's constants are polynomials of: symbols, surds, sines and cosines of constant angles.
        constants: The ring of the constants alone; a generator more, as rings have one at least.
        q, qd, qdd, tau: SymPy symbols of joint positions, velocities, accelerations and forces.
        leaders: As `ExactArm.leaders`, the ratios as elements of the ring.
        turned: Of every link cosine and sine of position + offset, as elements of the ring; 1 and 0 where it does not turn.
        along: Of every link position + offset as an element of the ring, the position 0 where it does not slide.
        positions: Of every link the joint's position as a graph takes it.
        angles: The angle of each generator c_i, s_i that is a cosine or sine: SymPy expressions of q.
    """

    def __init__(self, exact_arm: ExactArm, most_terms: int | None = None) -> None:
        self.most_terms = MOST_TERMS if most_terms is None else most_terms
        arm = exact_arm.arm
        numbers = [x for x in leaves((arm, exact_arm.inertias, exact_arm.regrouped)) if not x.is_Rational]
        numbers += [1 / sympy.pi for joint in arm.links if joint.kind.has_pitch]
        self.atoms = atoms_of(numbers)
        taken = {str(atom) for atom in self.atoms} | set(exact_arm.symbols)

        def named(letter: str, i: int) -> sympy.Symbol:
            name = f"{letter}{i + 1}"
            while name in taken:
                name += "_"
            taken.add(name)
            return sympy.Symbol(name, real=True)

        n = range(arm.n)
        self.q, self.qd, self.qdd = ([named(letter, i) for i in n] for letter in ("q", "qd", "qdd"))
        self.tau = [named("tau", i) for i in n]
        self.c, self.s = ([named(letter, i) for i in range(len(arm.links))] for letter in "cs")
        generators = [*self.atoms]
        for joint, c, s, (leader, _) in zip(arm.links, self.c, self.s, exact_arm.leaders):
            generators += [c, s] if joint.kind.turns else []
            generators += [self.q[leader]] if joint.kind.slides else []
        self.ring = PolyRing([*dict.fromkeys(generators), *self.qd, *self.qdd], sympy.QQ)
        self.constants = PolyRing([*self.atoms, sympy.Symbol("_")], sympy.QQ)
        self.place = {symbol: i for i, symbol in enumerate(self.ring.symbols)}
        self.squares = self._relations(arm.links)
        self.inverses = [(self.place[x], self.place[1 / x]) for x in self.atoms if 1 / x in self.atoms and not x.is_Pow]
        self.turned: list[tuple[Any, Any]] = []
        self.angles: list[sympy.Expr] = []
        self.leaders = [(leader, self.constant(ratio)) for leader, ratio in exact_arm.leaders]
        self.along: list[Any] = []
        self.positions: list[Any] = []
        for i, (joint, x, (leader, ratio)) in enumerate(zip(arm.links, arm.positions(self.q), self.leaders)):
            cos, sin = sympy.cos(joint.offset), sympy.sin(joint.offset)
            quarters = cos.is_Integer and sin.is_Integer  # an offset of right angles changes but places and signs
            self.angles.append(x if quarters else x + joint.offset)
            if joint.kind.turns:
                c, s = self.gen(self.c[i]), self.gen(self.s[i])
                self.turned.append((c * int(cos) - s * int(sin), s * int(cos) + c * int(sin)) if quarters else (c, s))
            else:
                self.turned.append((self.ring.one, self.ring.zero))
            q = self.q[leader]
            moved = self.gen(q) * ratio + self.constant(x.subs(q, 0)) if joint.kind.slides else self.ring.zero
            self.along.append(moved + self.constant(joint.offset))
            self.positions.append(Angle(i, self.along[i]) if joint.kind.turns else moved)
        self.turns = [joint.kind.turns for joint in arm.links]

    def gen(self, symbol: sympy.Symbol) -> PolyElement:
        """The generator of that symbol."""
        return self.ring.gens[self.place[symbol]]

    def constant(self, x: sympy.Expr) -> PolyElement:
        """A constant of the arm as an element of the ring."""
        if not self.atoms or x.is_Rational:
            return self.ring(sympy.QQ(x.p, x.q))
        poly = sympy.Poly(x, *self.atoms, domain=sympy.QQ)
        width = len(self.ring.gens) - len(self.atoms)
        return self.reduced(self.ring.from_dict({(*m, *[0] * width): k for m, k in poly.rep.to_dict().items()}))

    def coefficient(self, m: tuple[int, ...], k: Any) -> PolyElement:
        """The factor of a term of the ring that is of constants, as an element of theirs."""
        return self.constants.from_dict({(*m[: len(self.atoms)], 0): k})

    def reduced(self, p: PolyElement) -> PolyElement:
        """The same function with no square of a sine or surd, and no product of inverses: s² = 1 - c², π (1/π) = 1.

        Raises:
            TooLarge: It has more terms than `most_terms`.
        """
        for place, square in self.squares.items():
            if not any(m[place] > 1 for m in p):
                continue
            parts: dict[int, Any] = {}
            for m, k in p.items():
                half, rest = divmod(m[place], 2)
                parts.setdefault(half, self.ring.zero)[(*m[:place], rest, *m[place + 1 :])] = k
            p = sum((part * square**half for half, part in parts.items()), start=self.ring.zero)
        for x, inverse in self.inverses:
            if any(m[x] and m[inverse] for m in p):
                p = sum((self.ring.from_dict({_cancelled(m, x, inverse): k}) for m, k in p.items()), self.ring.zero)
        if len(p) > self.most_terms:
            raise TooLarge(f"a polynomial of {len(p)} terms")
        return p

    def times(self, a: Any, b: Any) -> Any:
        """The product, reduced."""
        return self.reduced(a * b)

    def slope(self, p: PolyElement, i: int) -> PolyElement:
        """The derivative by joint position i."""
        result = self.ring.zero
        for k, (leader, ratio) in enumerate(self.leaders):
            if leader == i and self.turns[k]:
                c, s = self.gen(self.c[k]), self.gen(self.s[k])
                result = result - p.diff(c) * s * ratio + p.diff(s) * c * ratio
        if self.q[i] in self.place:
            result = result + p.diff(self.gen(self.q[i]))
        return self.reduced(result)

    def rate(self, p: PolyElement) -> PolyElement:
        """The derivative by time."""
        result = self.ring.zero
        for i, (qd, qdd) in enumerate(zip(self.qd, self.qdd)):
            result = result + self.slope(p, i) * self.gen(qd) + p.diff(self.gen(qd)) * self.gen(qdd)
        return self.reduced(result)

    def _relations(self, joints: Iterable[Any]) -> dict[int, PolyElement]:
        squares = {}
        for i, joint in enumerate(joints):
            if joint.kind.turns:
                squares[self.place[self.s[i]]] = 1 - self.gen(self.c[i]) ** 2
        for atom in self.atoms:
            if isinstance(atom, sympy.sin):
                squares[self.place[atom]] = 1 - self.gen(sympy.cos(atom.args[0])) ** 2
            elif isinstance(atom, sympy.Pow) and atom.exp == sympy.Rational(1, 2) and atom.base.is_Rational:
                squares[self.place[atom]] = self.ring(sympy.QQ(atom.base.p, atom.base.q))
        return squares


def _cancelled(m: tuple[int, ...], x: int, inverse: int) -> tuple[int, ...]:
    """A monomial without what a factor and its inverse have in common."""
    common = min(m[x], m[inverse])
    return tuple(power - common if place in (x, inverse) else power for place, power in enumerate(m))


def atoms_of(numbers: list[sympy.Expr]) -> list[sympy.Expr]:
    """What these numbers are polynomials of."""
    if not numbers:
        return []
    _, options = sympy.parallel_poly_from_expr([*numbers, sympy.Symbol("_x")], expand=True)
    atoms = [gen for gen in options.gens if str(gen) != "_x"]
    for atom in list(atoms):
        if isinstance(atom, sympy.sin) and sympy.cos(atom.args[0]) not in atoms:
            atoms.append(sympy.cos(atom.args[0]))
    return sorted(atoms, key=lambda atom: (not atom.is_Symbol, str(atom)))
