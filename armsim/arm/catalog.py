"""The shipped robots, scenarios and studies, with a line of description."""

from __future__ import annotations

from typing import Any

from armsim.compile import cache
from armsim.files.shipped import shipped_names, shipped_path
from armsim.sources import digest

DIRECTIVE = "yaml-language-server:"


def catalog() -> dict[str, list[dict[str, Any]]]:
    """The shipped "robots", "scenarios" and "studies", each with name, about (one line) and file.

    Robots have also their number of joints, their reach [m], and what their files say `about` them: payload [kg], inertias.
    """
    robots = _listed("robots")
    facts = _facts([item["file"] for item in robots])
    robots = [item | more for item, more in zip(robots, facts, strict=True)]
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


def _facts(paths: list[str]) -> list[dict[str, Any]]:
    """What is said of robots by their files; it is kept, because their reaches take half a second."""
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    name = cache.key("robots", digest(), *texts)
    known: list[dict[str, Any]] | None = cache.load_json(name)
    if known is None:
        from armsim.arm.robot_overview import robot_overview

        known = [{"joints": len(of.joints), "reach": of.reach, **(of.about or {})} for of in map(robot_overview, paths)]
        cache.store_json(name, known)
    return known


def _listed(kind: str) -> list[dict[str, Any]]:
    paths = {name: shipped_path(kind, name) for name in shipped_names(kind)}
    return [{"name": name, "about": about(path), "file": path} for name, path in paths.items() if path is not None]
