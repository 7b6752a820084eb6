"""Picture files: refused before any work is done, written whole or not at all; and windows, where one is asked for."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from os import PathLike
from typing import IO, Any

from armsim.errors import UsageError, spelled
from armsim.files.new_file import check_output, output_file

DPI = 120
WINDOWLESS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  # backends of matplotlib


def check_picture(
    path: str | PathLike[str], force: bool = True, option: str = "--plot", endings: Sequence[str] = ()
) -> None:
    """Refuse a picture that cannot be drawn, before anything else is done.

    Args:
        path: The picture.
        force: Whether it may replace a file that is there.
        option: That names it on the command line.
        endings: Formats that are known; all of matplotlib's if none is given.

    Raises:
        UsageError: matplotlib is missing, the format is unknown, the folder is not there, or the file cannot be written or is
            there already.
    """
    name = os.fspath(path)
    asked = spelled(f"{option} {name}", name)
    check_matplotlib(asked)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    known = endings or sorted(FigureCanvasAgg.get_supported_filetypes())
    ending, example = ending_of(name), f"out.{known[0] if endings else 'png'}"
    if ending not in known:
        raise UsageError.of(
            asked,
            f"a file that ends in {', '.join(f'.{known}' for known in known)}",
            f".{ending}" if ending else "no ending",
            f"write for example {spelled(f'{option} {example}', example)}",
        )
    folder = os.path.dirname(os.path.abspath(name))
    if not os.path.isdir(folder):
        raise UsageError.of(asked, "a folder that is there", f"no folder {folder}", "make it, or name another")
    check_output(name, force=force, option=option)


def check_matplotlib(asked: str) -> None:
    """Refuse to draw where matplotlib is missing.

    Args:
        asked: What asks for it.

    Raises:
        UsageError: It is missing.
    """
    try:
        import matplotlib.backends.backend_agg  # what a broken installation lacks shows in one of them
        import matplotlib.figure  # noqa: F401  whether it is there
    except ImportError:
        mend = 'pip install "armsim[plot]"'
        raise UsageError.of(asked, "matplotlib, which draws", "it is not installed", mend) from None


def ending_of(name: str) -> str:
    """The ending of a file's name, in lower case and without its dot."""
    return os.path.splitext(name)[1].removeprefix(".").lower()


def save(figure: Any, path: str | PathLike[str], option: str = "--plot") -> None:
    """Write a figure into a file, whole or not at all.

    Args:
        figure: Of matplotlib.
        path: The picture; its suffix gives the format.
        option: That names it on the command line.

    Raises:
        UsageError: It cannot be written.
    """
    with output_file(os.fspath(path), option) as file:
        _write(figure, file, ending_of(os.fspath(path)), DPI)


def png_of(figure: Any, dpi: int = DPI) -> bytes:
    """A figure of matplotlib as PNG, at so many pixels an inch."""
    made = io.BytesIO()
    _write(figure, made, "png", dpi)
    return made.getvalue()


def _write(figure: Any, file: IO[bytes], ending: str, dpi: int) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # of a name, that the font lacks: a box is drawn
        figure.savefig(file, format=ending, dpi=dpi)


def show(figure: Any) -> None:
    """Show a figure in a window, until it is closed.

    Raises:
        UsageError: matplotlib has no backend here that opens windows.
    """
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    if mpl.get_backend().lower() in WINDOWLESS:
        mend = "leave --show out, and open the file; or install a toolkit such as PyQt6"
        raise UsageError.of("--show", "a display, and a toolkit that opens windows", "none", mend)
    manager = plt.figure().canvas.manager
    assert manager is not None  # pyplot makes one
    manager.canvas.figure = figure
    figure.set_canvas(manager.canvas)
    plt.show()
