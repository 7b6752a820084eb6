"""Where wrenches act on an arm that is driven from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from armsim import document
from armsim.document.base import Subdocument
from armsim.dynamics import ExternalWrench
from armsim.errors import UsageError
from armsim.expr import Scalars
from armsim.files.faults import Report
from armsim.files.nodes import Place
from armsim.files.plain_data import nodes_of
from armsim.formulas.quantity import Context
from armsim.loading.scenario import build_wrench
from armsim.loading.settle import settle
from armsim.model import Arm
from armsim.spatial import Vector

ANOTHER = ("force", "moment", "from", "to")  # keys of a scenario's `external` that a step is given, or has no use for


def applied_wrenches(arm: Arm, external: Sequence[Mapping[str, Any]]) -> tuple[ExternalWrench, ...]:
    """Wrenches of zero at the places that mappings name: {link: R5, point: [0, 0, 0], axes: world}, as in a scenario.

    Raises:
        FileFaults: A link is unknown, or another value invalid.
        UsageError: A mapping has forces, moments or times.
    """
    report = Report()
    context = Context(report, joints=tuple((joint.name, joint.type) for joint in arm.joints))
    context.links, context.frames = tuple(arm.link_names), tuple(frame.name for frame in arm.frames)
    read = []
    for i, item in enumerate(external):
        here = context.at(f"external[{i}]")
        surplus = [key for key in ANOTHER if key in item]
        if surplus:
            mend = "leave it out, and give `wrench` to `step`"
            raise UsageError.of(here.path, "frame, or link and point, and axes alone", f"`{surplus[0]}`", mend)
        read.append(Subdocument(document.External).read(nodes_of(dict(item), Place("<external>")), here))
    report.raise_if_any()
    return tuple(build_wrench(settle(item), arm) for item in read if item is not None)  # or there was a fault


def with_numbers(places: Sequence[ExternalWrench], numbers: Scalars) -> tuple[ExternalWrench, ...]:
    """The wrenches with their moments [N·m] and forces [N]: six numbers for each, the moment first."""
    return tuple(
        replace(place, moment=Vector(*numbers[6 * i : 6 * i + 3]), force=Vector(*numbers[6 * i + 3 : 6 * i + 6]))
        for i, place in enumerate(places)
    )
