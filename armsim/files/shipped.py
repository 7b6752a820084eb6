"""The robots and scenarios that come with armsim, by name."""

from __future__ import annotations

import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = (os.path.join(PACKAGE, "shipped"), os.path.dirname(PACKAGE))  # in a wheel; in a checkout
ENDINGS = (".yaml", ".yml", ".urdf", ".xacro", ".sdf", ".mjcf", ".xml")
KINDS = {"robots": "robot", "configs": "scenario"}
STUDY = ".study.yaml"  # how files of studies end, which are among the scenarios


def _ending(kind: str) -> str:
    return STUDY if kind == "studies" else ".yaml"


def shipped_folder(kind: str) -> str | None:
    """The folder of shipped "robots", "configs" or "studies"; None if they did not come along."""
    for folder in FOLDERS:
        path = os.path.join(folder, "configs" if kind == "studies" else kind)
        if os.path.isdir(path):
            return path
    return None


def shipped_names(kind: str) -> list[str]:
    """The names of shipped "robots", "configs" or "studies", sorted."""
    folder, ending = shipped_folder(kind), _ending(kind)
    names = [] if folder is None else os.listdir(folder)
    return sorted(
        n.removesuffix(ending) for n in names if n.endswith(ending) and (ending == STUDY or not n.endswith(STUDY))
    )


def shipped_path(kind: str, name: str) -> str | None:
    """The file of a shipped robot ("robots"), scenario ("configs") or study ("studies"); None if there is none of that name."""
    folder = shipped_folder(kind)
    path = None if folder is None else os.path.join(folder, name + _ending(kind))
    return path if path is not None and os.path.isfile(path) else None


def is_shipped(path: str) -> bool:
    """Whether a file came with armsim."""
    return os.path.dirname(os.path.abspath(path)) in map(shipped_folder, KINDS)


def looks_like_a_file(text: str) -> bool:
    """Whether someone who writes this means a file, not the name of something shipped."""
    return "/" in text or os.sep in text or text.endswith(ENDINGS)
