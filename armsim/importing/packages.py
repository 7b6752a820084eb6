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
    home, *above = Path(os.path.abspath(of)).parents
    name, _, inner = uri.removeprefix(SCHEME).partition("/")
    if uri.startswith(SCHEME):
        roads = [Path(road, name) for road in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if road]
        folders = [folder for folder in (home, *above, *roads) if folder.name == name and name.strip(".")]
        folders = [Path(packages[name])] if name in packages else folders
    else:
        folders = [next((folder for folder in (home, *above) if (folder / MANIFEST).is_file()), home)]
        inner = os.path.relpath(home / uri, folders[0])
    paths = [os.path.normpath(folder / inner) for folder in folders if ".." not in Path(inner).parts]
    return next(filter(os.path.isfile, paths), None)
