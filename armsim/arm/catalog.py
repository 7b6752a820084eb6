"""The shipped robots, scenarios and studies, with a line of description."""

from __future__ import annotations

from dataclasses import field, replace

from armsim.compile import cache
from armsim.files.shipped import shipped_names, shipped_path
from armsim.records import PARTS, optional, record
from armsim.sources import digest

DIRECTIVE = "yaml-language-server:"


@record
class RobotFacts:
    """What is said of a robot.

    Attributes:
        joints: How many it has.
        reach: Of its tool [m]; None without an end.
        payload: Its rated payload [kg], as its file says.
        inertias: Whether they are published or estimated, likewise.
    """

    joints: int
    reach: float | None
    payload: float | None = optional(default=None)
    inertias: str | None = optional(default=None)


@record
class ShippedFile:
    """A file that comes with armsim.

    Attributes:
        name: By which commands take it.
        about: What it is, in a line.
        file: Its path.
        robot: Of a robot, what is said of it.
    """

    name: str
    about: str
    file: str
    robot: RobotFacts | None = field(default=None, metadata=PARTS)


def catalog() -> dict[str, list[ShippedFile]]:
    """The shipped "robots", "scenarios" and "studies"."""
    robots = _listed("robots")
    facts = _facts([item.file for item in robots])
    robots = [replace(item, robot=of) for item, of in zip(robots, facts, strict=True)]
    return {"robots": robots, "scenarios": _listed("configs"), "studies": _listed("studies")}


def about(path: str) -> str:
    """The first line of a file's leading comment, without directives of editors; empty if there is none."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                break
            text = line.lstrip("#").strip()
            if text and not text.startswith(DIRECTIVE):
                return text
    return ""


def _facts(paths: list[str]) -> list[RobotFacts]:
    """What is said of robots by their files; it is kept, because their reaches take half a second."""
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    name = cache.key("robots", digest(), *texts)
    known = cache.load_json(name)
    if known is None:
        from armsim.arm.robot_overview import robot_overview

        known = [{"joints": len(of.joints), "reach": of.reach, **(of.about or {})} for of in map(robot_overview, paths)]
        cache.store_json(name, known)
    return [RobotFacts(**facts) for facts in known]


def _listed(kind: str) -> list[ShippedFile]:
    paths = {name: shipped_path(kind, name) for name in shipped_names(kind)}
    return [ShippedFile(name, about(path), path) for name, path in paths.items() if path is not None]
