"""Files that a robot description names: within its own package, and within packages that a user names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

MANIFEST = "package.xml"
SCHEME = "package://"


def find_resource(uri: str, of: str, packages: Mapping[str, str]) -> str | None:
    """The path of a file that a robot description names; None where there is none. It looks only within packages.

    Args:
        uri: `package://NAME/PATH`, or a path relative to the description.
        of: The description's file. Its own package is a folder above it: that of the name asked for, or for a path the nearest
            one with a `package.xml`, or else the folder that it is in.
        packages: Folders of other packages, by name. Those on ROS_PACKAGE_PATH are known.
    """
    above = list(Path(os.path.abspath(of)).parents)
    if uri.startswith(SCHEME):
        name, _, inner = uri.removeprefix(SCHEME).partition("/")
        roads = [Path(road) for road in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if road]
        known = [*above, *roads, *(road / name for road in roads)]
        folders = [folder for folder in known if folder.name == name and name not in ("", "..")]
        folders[:0] = [Path(os.path.abspath(packages[name]))] if name in packages else []
    else:
        folders = [next((folder for folder in above if (folder / MANIFEST).is_file()), above[0])]
        inner = os.path.relpath(above[0] / uri, folders[0])
    for folder in folders:
        path = os.path.normpath(folder / inner)
        if Path(path).is_relative_to(folder) and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            if os.path.isfile(path):
                return path
    return None
