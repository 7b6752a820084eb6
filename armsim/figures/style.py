"""How everything is drawn: colours and marks of joints, panels with units, and axes that do not magnify rounding.

Colours are those of Okabe and Ito (*Color Universal Design*, 2008), which the colour-blind tell apart, without their yellow, too
pale on white. A mark goes with each, so that lines are told apart in grey.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from armsim.errors import UsageError, spelled, visible
from armsim.figures.picture import png_of
from armsim.files.faults import suggestion
from armsim.records import record

if TYPE_CHECKING:
    from armsim.arrays import ArrayLike

View = Literal["auto", "iso", "top", "side", "front"]
VIEWS: tuple[str, ...] = get_args(View)
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BLACK, GREY = "#e69f00", "#56b4e9", "#000000", "#666666"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKS = "os^DvPX"
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))  # of runs, the first one solid
WIDTH = 8.0  # inches of a figure of one column
RELATIVE = 1e-3  # least height of a panel, as a share of the largest number in it
FLOORS = {  # least height of a panel by its unit: what nobody would call a motion, or a force
    "rad": 0.01, "deg": 0.5, "m": 1e-3, "rad/s": 0.01, "deg/s": 0.5, "m/s": 1e-3, "rad/s²": 0.1, "deg/s²": 5.0, "m/s²": 0.01,
    "N·m": 1e-3, "N": 1e-2, "V": 1e-2, "A": 1e-3, "W": 1e-3, "J": 1e-3,
}  # fmt: skip
TINY = 1e-9  # least height of a panel of any other unit


@record
class Stroke:
    """How a joint, or one of several parts, is drawn.

    Attributes:
        color: Of its line.
        mark: Set on it here and there.
    """

    color: str
    mark: str


def look(i: int) -> Stroke:
    """The look of joint i, the same in all figures; after 7 colours they repeat with other marks."""
    return Stroke(PALETTE[i % len(PALETTE)], MARKS[(i + i // len(PALETTE)) % len(MARKS)])


def check_view(view: str) -> None:
    """Refuse a view that there is not.

    Raises:
        UsageError: It is none of `VIEWS`.
    """
    if view not in VIEWS:
        where = spelled(f"--view {view}", "view")
        raise UsageError.of(where, "a view", repr(view), suggestion(view, VIEWS, "take one of"))


def worded(text: str, most: int = 90) -> str:
    """Text from outside as matplotlib draws it word for word: no formula between dollar signs, and a long one cut."""
    lines = [line if len(line) <= most else f"{line[: most - 1]}…" for line in text.split("\n")]
    shown = visible("\n".join(lines), "\n").replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # labels that begin so are left out of legends


def with_unit(name: str, unit: str | None) -> str:
    """A name as an axis has it: "payload.mass [kg]"."""
    return f"{name} [{unit}]" if unit else name


def new_figure(width: float, height: float, title: str | None = None, size: str = "large") -> Any:
    """A figure without a window, laid out so that no texts meet; of matplotlib. A notebook shows it as PNG.

    Args:
        width: [inches].
        height: [inches].
        title: Above its panels; None for none.
        size: Of the title, as matplotlib calls it.
    """
    from matplotlib.figure import Figure  # without pyplot: no window, nothing global

    figure: Any = Figure(figsize=(width, height), layout="constrained")
    if title is not None:
        figure.suptitle(worded(title), fontsize=size)
    figure._repr_png_ = partial(png_of, figure, 80)  # without pyplot nobody else tells a notebook how
    return figure


def plain(axis: Any, x: bool = False) -> None:
    """Grid lines, and numbers written in full: no offset or power of ten apart, which would touch the panel above."""
    from matplotlib.ticker import FuncFormatter

    axis.grid(alpha=0.3, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    for one in (axis.xaxis, axis.yaxis) if x else (axis.yaxis,):
        one.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def whole_angles(axis: Any) -> None:
    """Numbers at a vertical axis of degrees: 45, 90, 30 rather than 50, 100, 25."""
    from matplotlib.ticker import MaxNLocator

    axis.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 1.5, 3, 4.5, 6, 9, 10]))


def tick(value: float, digits: int = 6) -> str:
    """A number at an axis: 0.25, 1200, 2e−5, −∞."""
    text = f"{value:.{digits}g}"
    if "e" in text:
        mantissa, power = text.split("e")
        text = f"{mantissa}e{int(power)}"
    return "0" if text in ("-0", "0") else text.replace("-", "−").replace("inf", "∞")


def within(axis: Any, values: Iterable[ArrayLike], unit: str, least: float = 0.0, also: Sequence[float] = ()) -> None:
    """Set the height of a panel: all values, and at least what makes rounding look like rounding.

    Args:
        axis: The panel.
        values: Drawn in it.
        unit: Theirs.
        least: Height at least, besides that by the unit.
        also: Numbers, such as limits, that are shown if they lie within a quarter of the height from the values.
    """
    import numpy as np

    arrays = [np.asarray(x, float) for x in values]
    finite = [x[np.isfinite(x)] for x in arrays]
    seen = np.concatenate(finite) if finite else np.array([])
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 0.0)
    most = max(abs(low), abs(high))
    height = max(high - low, RELATIVE * most, least or FLOORS.get(unit, TINY))
    reach = 0.25 * height
    near = [x for x in also if low - reach <= x <= high + reach]
    low, high = min([low, *near]), max([high, *near])
    extra = max(0.0, height - (high - low)) / 2
    margin = 0.06 * max(high - low, height)
    if math.isfinite(high - low) and most < 1e300:
        axis.set_ylim(low - extra - margin, high + extra + margin)


def marked(times: Any, shift: float, count: int = 6) -> list[int]:
    """Where a line gets its marks: indices of times about as far apart, moved by a share of their distance."""
    import numpy as np

    if len(times) < 2 or not times[-1] > times[0]:
        return list(range(len(times)))
    at = times[0] + (times[-1] - times[0]) * (np.arange(count) + 0.15 + 0.7 * shift) / count
    return sorted({int(k) for k in np.searchsorted(times, at).clip(0, len(times) - 1)})
