"""What shells complete: words that armsim knows, and those of the files on the line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import click

FILES = ("scenario", "robot", "file")  # arguments of commands
FIXED = ("format", "name")  # keys that no one sets
ZSH = "        local -a behind\n        [[ ${completions[1]} == *= ]] && behind=(-S '')\n"
Complete = Callable[[click.Context, click.Parameter, str], list[Any]]


def shipped(*kinds: str) -> Complete:
    """Completes files, and the names of shipped "robots" or "configs"."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        from armsim.files.shipped import shipped_names

        names = [name for kind in kinds for name in shipped_names(kind) if name.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file"), *(CompletionItem(name) for name in names)]

    return complete


def pages(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes pages of the documentation."""
    from armsim.files.pages import PAGES

    return [name for name in PAGES if name.startswith(incomplete)]


def methods(*more: str, adaptive: bool = False) -> Complete:
    """Completes integrators, those with steps of their own alone if `adaptive`, and `more` words."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        from armsim.integrate import METHODS

        names = [name for name, method in METHODS.items() if method.adaptive or not adaptive]
        return [name for name in (*more, *names) if name.startswith(incomplete)]

    return complete


def joints(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes the joints of the ROBOT on the line."""
    names = [joint["name"] for joint in _data(context).get("joints", ())]
    return [name for name in names if name.startswith(incomplete)]


def settings(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes paths of values, `control.kp[0]=`, of the SCENARIO or ROBOT on the line."""
    return [f"{path}=" for path in _paths(_data(context)) if path.startswith(incomplete)]


def _data(context: click.Context) -> dict[str, Any]:
    """The data of the file on the line, a scenario's with its robot's; nothing if there is none, or none that is sound."""
    from armsim.errors import ArmsimError
    from armsim.loading import load_robot_file, load_scenario_file

    # an option that lacks its value, as here, ends click's parsing before words become arguments
    words = [context.params.get(key) for key in FILES] + context.args
    given = next((word for word in words if word), None)
    if given is None:
        return {}
    with suppress(ArmsimError):
        file = load_scenario_file(given)
        return {**file.data, "robot": file.robot.data}
    with suppress(ArmsimError):
        return load_robot_file(given).data
    return {}


def _paths(data: Any, path: str = "") -> Iterator[str]:
    """The paths of all values, and of lists of numbers as a whole; items with a name by their name."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in FIXED:
                yield from _paths(value, f"{path}.{key}" if path else key)
    elif isinstance(data, list):
        if not any(isinstance(item, dict) for item in data):
            yield path
        for k, item in enumerate(data):
            name = item.get("name") if isinstance(item, dict) else None
            yield from _paths(item, f"{path}[{name or k}]")
    else:
        yield path


def script(source: str) -> str:
    """A script of click's for bash or zsh that adds no space behind a word with `=`, after which a value is written."""
    bash = ("    return 0\n", "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n    return 0\n")
    zsh = ("        compadd -U", f'{ZSH}        compadd "${{behind[@]}}" -U')
    for old, new in (bash, zsh):
        source = source.replace(old, new)
    return source
