"""Motions by formulas of the time, whose derivatives follow from the formulas' graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

from armsim.control.reference import Desired
from armsim.expr import Scalar, Scalars, Table, with_jacobian


class OfTime:
    """A motion by formulas of the time; subclasses, dataclasses of scalars, give `positions`."""

    timed: ClassVar[bool] = True
    corners: ClassVar[Table | None] = None

    @property
    def ends(self) -> bool:
        """Whether it comes to an end that is known, and holds from then on."""
        return bool(self.knots)

    @property
    def knots(self) -> Scalars:
        """The times at which it is not smooth, as far as they are known [s]; it holds from the last on."""
        return []

    def positions(self, t: Scalar) -> Scalars:
        """Joint positions at time t [rad or m], n scalars."""
        raise NotImplementedError

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """The motion at time t [s], with the derivatives of the branches taken; since and middle are not looked at."""
        (q, qd), rates = self._twice(t)
        return Desired(list(q), list(qd), [slope[0] for slope in rates[1]])

    def __getstate__(self) -> object:
        """Without what is traced, which is traced again."""
        return {name: value for name, value in vars(self).items() if name != "_twice"}

    @cached_property
    def _twice(self) -> Callable[..., Any]:
        """Positions and velocities, and their derivatives by the time."""
        once = with_jacobian(self.positions, [0], "reference")

        def moving(t: Scalar) -> tuple[Scalars, Scalars]:
            q, slopes = once(t)
            return q, [slope[0] for slope in slopes]

        return with_jacobian(moving, [0], "reference_rates")
