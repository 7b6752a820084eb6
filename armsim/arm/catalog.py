"""The shipped robots, scenarios and studies, with a line of description."""

from __future__ import annotations

from armsim.files.shipped import shipped_names, shipped_path

DIRECTIVE = "yaml-language-server:"


def catalog() -> dict[str, list[dict[str, str]]]:
    """The shipped "robots", "scenarios" and "studies", each with name, about (one line) and file."""
    return {"robots": _listed("robots"), "scenarios": _listed("configs"), "studies": _listed("studies")}


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


def _listed(kind: str) -> list[dict[str, str]]:
    paths = {name: shipped_path(kind, name) for name in shipped_names(kind)}
    return [{"name": name, "about": about(path), "file": path} for name, path in paths.items() if path is not None]
