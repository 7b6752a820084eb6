"""The robots and scenarios that come with armsim, by name."""

from __future__ import annotations

import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = (os.path.join(PACKAGE, "shipped"), os.path.dirname(PACKAGE))  # in a wheel; in a checkout
ENDINGS = (".yaml", ".yml", ".urdf", ".xacro", ".sdf", ".mjcf", ".xml")
KINDS = {"robots": "robot", "configs": "scenario"}


def shipped_folder(kind: str) -> str | None:
    """The folder of shipped "robots" or "configs"; None if they did not come along."""
    for folder in FOLDERS:
        path = os.path.join(folder, kind)
        if os.path.isdir(path):
            return path
    return None


def shipped_names(kind: str) -> list[str]:
    """The names of shipped "robots" or "configs", sorted."""
    folder = shipped_folder(kind)
    return [] if folder is None else sorted(n.removesuffix(".yaml") for n in os.listdir(folder) if n.endswith(".yaml"))


def shipped_path(kind: str, name: str) -> str | None:
    """The file of a shipped robot ("robots") or scenario ("configs"); None if there is none of that name."""
    folder = shipped_folder(kind)
    path = None if folder is None else os.path.join(folder, f"{name}.yaml")
    return path if path is not None and os.path.isfile(path) else None


def looks_like_a_file(text: str) -> bool:
    """Whether someone who writes this means a file, not the name of something shipped."""
    return "/" in text or os.sep in text or text.endswith(ENDINGS)
