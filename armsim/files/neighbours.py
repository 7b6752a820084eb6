"""Other files that were probably meant: the nearest name, the scenarios of a robot, the robot of a scenario."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches

from armsim.files.nodes import clipped
from armsim.files.regular_file import read_regular
from armsim.files.shipped import looks_like_a_file, shipped_folder, shipped_path

ROBOT = re.compile(r"""^robot:[ \t]*(["']?)([^\s"'{].*?)\1(?:[ \t]+#.*)?\s*$""", re.MULTILINE)
MOST_FILES = 1000  # of a folder
MOST_READ = 10_000  # bytes of a file: its robot is named near the top
LONGEST = 100  # letters of a name that others are compared with
CLOSE, CLOSER = 0.65, 0.85  # of `difflib`: `arm55` is near `arm5`, `my_arm` is not near `arm5`


def nearest_file(name: str, names: Iterable[str]) -> str | None:
    """The name that looks most like another, endings left aside; None if none does. One of another ending must be nearer."""
    stem, ending = os.path.splitext(name)
    if len(name) > LONGEST:
        return None
    stems = [os.path.splitext(other) for other in sorted(names)]
    for cutoff, endings in ((CLOSE, {ending}), (CLOSER, {other for _, other in stems})):
        known = {other.lower(): other + end for other, end in stems if end in endings}
        if close := get_close_matches(stem.lower(), known, n=1, cutoff=cutoff):
            return known[close[0]]
    return None


def look_around(path: str) -> str:
    """How to mend a path at which there is no file: by the nearest name in its folder."""
    folder, name = os.path.split(path)
    try:
        names = sorted(os.listdir(folder or "."))[:MOST_FILES]
    except (OSError, ValueError):
        return f"check the folder `{clipped(folder)}`: it is not there" if folder else "check the name"
    close = nearest_file(name, names)
    return f"did you mean `{os.path.join(folder, close)}`?" if close else "check the name and the folder"


def robot_of(scenario: str) -> str | None:
    """The robot that a scenario file names, as a path from here or the name of a shipped one; None if it names none."""
    try:
        found = ROBOT.search(read_regular(scenario, MOST_READ).decode(errors="replace"))
    except (OSError, ValueError):
        return None
    if found is None:
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(scenario), found[2]))
    return path if looks_like_a_file(found[2]) or os.path.isfile(path) else found[2]


def scenarios_of(robot: str) -> list[str]:
    """The scenarios of a robot file: shipped ones by name, those in its own folder by path."""
    shipped, own = shipped_folder("configs"), os.path.dirname(robot)
    found = []
    for folder in dict.fromkeys(filter(None, [shipped, own or "."])):
        try:
            names = [name for name in sorted(os.listdir(folder))[:MOST_FILES] if name.endswith((".yaml", ".yml"))]
        except OSError:
            continue
        for name in names:
            named = robot_of(os.path.join(folder, name))
            path = None if named is None else named if os.path.isfile(named) else shipped_path("robots", named)
            if path is not None and os.path.samefile(path, robot):
                found.append(os.path.splitext(name)[0] if folder == shipped else os.path.join(own, name))
    return found
