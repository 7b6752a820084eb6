"""What shells complete: words that armsim knows, and those of the files on the line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import click

FILES = ("scenario", "robot", "file")  # arguments of commands
FIXED = ("format", "name")  # keys that no one sets
ZSH = "        local -a behind\n        [[ ${completions[1]} == *= ]] && behind=(-S '')\n"
Complete = Callable[[click.Context, click.Parameter, str], list[Any]]


def pages(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes pages of the documentation."""
    from armsim.files.pages import PAGES

    return [name for name in PAGES if name.startswith(incomplete)]


def methods(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes integrators: those with steps of their own for `advance`, `all` as well for `converge`."""
    from armsim.integrate import METHODS

    of_advance = context.info_name == "advance"
    names = [name for name, method in METHODS.items() if method.adaptive or not of_advance]
    names += ["all"] if context.info_name == "converge" else []
    return [name for name in names if name.startswith(incomplete)]


def joints(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes the joints of the ROBOT on the line."""
    names = [joint.name for joint in _document(context).get("joints", ())]
    return [name for name in names if name.startswith(incomplete)]


def paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes paths of values, `control.kp[0]`, of the SCENARIO or ROBOT on the line."""
    return [path for path in _paths(_document(context)) if path.startswith(incomplete)]


def settings(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes paths as `paths` does, each with the `=` that its value follows."""
    return [f"{path}=" for path in paths(context, parameter, incomplete)]


COMPLETERS: dict[str, Complete] = {"--set": settings, "--unset": paths, "--joint": joints, "--method": methods}


def completed(command: click.Command) -> click.Command:
    """The command, its options completed by `COMPLETERS`."""
    for option in command.params:
        for name in option.opts:
            if name in COMPLETERS:
                option._custom_shell_complete = COMPLETERS[name]  # click takes it in the option's own text alone
    return command


def _document(context: click.Context) -> Any:
    """The content of the file on the line, a scenario's with its robot's; nothing if there is none, or none that is sound."""
    from armsim.errors import ArmsimError
    from armsim.loading import load_robot_file, load_scenario_file

    # an option that lacks its value, as here, ends click's parsing before words become arguments
    words = [context.params.get(key) for key in FILES] + context.args
    given = next((word for word in words if word), None)
    if given is None:
        return {}
    with suppress(ArmsimError):
        return load_scenario_file(given).whole
    with suppress(ArmsimError):
        return load_robot_file(given).document
    return {}


def _paths(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all values, and of lists of numbers as a whole; items with a name by their name."""
    from armsim.document.base import below

    here = below(value)
    if isinstance(here, Mapping):
        for key, item in here.items():
            if key not in FIXED:
                yield from _paths(item, f"{path}.{key}" if path else key)
    elif isinstance(here, tuple):
        if not any(isinstance(item, Mapping) for item in here):
            yield path
        for k, item in enumerate(here):
            name = item.get("name") if isinstance(item, Mapping) else None
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
