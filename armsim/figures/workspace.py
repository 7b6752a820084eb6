"""A slice of an arm's workspace, drawn."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

import numpy as np

from armsim.arm.workspace import PLANES, Workspace
from armsim.errors import UsageError
from armsim.figures.picture import save
from armsim.figures.style import SKY, VERMILION, new_figure, plain, with_unit, worded

UNITS = {"reach": None, "manipulability": None, "payload": "kg"}


def plot_workspace(
    path: str | PathLike[str],
    found: Workspace,
    show: Literal["reach", "manipulability", "payload"],
    plane: str,
    title: str,
) -> None:
    """Draw a slice into a file; what is not reached stays white.

    Args:
        path: The picture; its suffix gives the format.
        found: The workspace.
        show: What is told by colours.
        plane: Its plane.
        title: Above it.

    Raises:
        UsageError: Of the payload, that no motor limits it; or the picture cannot be written.
    """
    values = np.where(found.reachable, 1.0, np.nan) if show == "reach" else getattr(found, show)
    shown = np.ma.masked_invalid(values)
    if show == "payload" and np.isinf(values).any() and not shown.count():
        raise UsageError.of("payload", "motors with limits", "none", "give the motors limits, or draw manipulability")
    across, up = PLANES[plane]
    x, y = found.position[0, :, across], found.position[:, 0, up]
    figure = new_figure(7.0, 6.0)
    axis = figure.subplots()
    axis.set_title(worded(title))
    if show == "reach":
        axis.pcolormesh(x, y, shown, cmap=_one_color())
    else:
        colors = axis.pcolormesh(x, y, shown, cmap="viridis", vmin=0.0)
        figure.colorbar(colors, label=with_unit(show, UNITS[show]))
    axis.plot([x.mean()], [y.mean()], "+", color=VERMILION, label="first joint")
    axis.legend(loc="upper right", framealpha=0.9)
    axis.set_xlabel(with_unit(plane[0], "m"))
    axis.set_ylabel(with_unit(plane[1], "m"))
    axis.set_aspect("equal")
    plain(axis, x=True)
    save(figure, path)


def _one_color() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([SKY])
