"""A comparison drawn: both time series of every quantity, and their difference beside them."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

from armsim.errors import UsageError
from armsim.files.new_file import check_output, unwritable, whole_file
from armsim.recording.comparison import Comparison

MOST = 12  # quantities in one picture
INCHES = (11.0, 1.9)  # width, and height per quantity
BLUE, ORANGE, RED = "#1f77b4", "#ff7f0e", "#b22222"


def check_plot(path: str | PathLike[str], force: bool = True) -> None:
    """Refuse a picture that cannot be drawn, before anything else is done.

    Args:
        path: The picture.
        force: Whether it may replace a file that is there.

    Raises:
        UsageError: matplotlib is missing, the format is unknown, the folder is not there, or the file cannot be written or is
            there already.
    """
    name = os.fspath(path)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise UsageError.of(
            f"--plot {name}", "matplotlib, which draws", "it is not installed", 'pip install "armsim[plot]"'
        ) from None
    known = sorted(FigureCanvasAgg.get_supported_filetypes())
    ending = os.path.splitext(name)[1].removeprefix(".").lower()
    if ending not in known:
        raise UsageError.of(
            f"--plot {name}",
            f"a file that ends in {', '.join(f'.{known}' for known in known)}",
            f".{ending}" if ending else "no ending",
            "write for example --plot out.png",
        )
    folder = os.path.dirname(os.path.abspath(name))
    if not os.path.isdir(folder):
        raise UsageError.of(
            f"--plot {name}", "a folder that is there", f"no folder {folder}", "make it, or name another"
        )
    if not force and os.path.isfile(name):
        raise UsageError.of(
            f"--plot {name}", "a new file", "one that exists", "choose another name, or add --force to replace it"
        )
    check_output(name, "--plot")


def save(figure: Any, path: str | PathLike[str]) -> None:
    """Write a figure into a file, whole or not at all.

    Args:
        figure: Of matplotlib.
        path: The picture; its suffix gives the format.

    Raises:
        UsageError: It cannot be written.
    """
    name = os.fspath(path)
    try:
        with whole_file(name) as file:
            figure.savefig(file, format=os.path.splitext(name)[1].removeprefix(".").lower(), dpi=120)
    except OSError as error:
        raise unwritable(name, error, "--plot") from None


def plot_comparison(path: str | PathLike[str], comparison: Comparison, title: str, names: tuple[str, str]) -> None:
    """Draw a comparison into a file: positions if there are any, else the first columns.

    Args:
        path: The picture; its suffix gives the format.
        comparison: What to draw.
        title: Above it.
        names: Legends of the two time series.

    Raises:
        UsageError: It cannot be drawn or written.
    """
    check_plot(path)
    from matplotlib.figure import Figure  # without pyplot: no window, nothing global

    chosen = [i for i, d in enumerate(comparison.differences) if d.column.quantity == "q"]
    chosen = (chosen or list(range(len(comparison.differences))))[:MOST]
    figure = Figure(figsize=(INCHES[0], 0.8 + INCHES[1] * len(chosen)), layout="constrained")
    figure.suptitle(title)
    axes: Any = figure.subplots(len(chosen), 2, sharex=True, squeeze=False)
    for (left, right), i in zip(axes, chosen, strict=True):
        column = comparison.differences[i].column
        label = " ".join(filter(None, [column.quantity if column.of else "", column.of])) or column.heading
        unit = f" [{column.unit}]" if column.unit else ""
        left.plot(comparison.t, comparison.first[:, i], color=BLUE, linewidth=2.2, label=names[0])
        left.plot(comparison.t, comparison.second[:, i], color=ORANGE, linewidth=1.0, label=names[1])
        left.set_ylabel(label + unit)
        right.plot(comparison.t, comparison.second[:, i] - comparison.first[:, i], color=RED, linewidth=1.0)
        right.set_ylabel(f"difference{unit}")
        for axis in (left, right):
            axis.grid(alpha=0.3)
    axes[0, 0].legend(loc="best")
    for axis in axes[-1]:
        axis.set_xlabel("t [s]")
    save(figure, path)
