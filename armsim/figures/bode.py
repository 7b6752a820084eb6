"""The Bode diagram of a joint's loop, with its margins."""

from __future__ import annotations

from typing import Any

from armsim.figures.style import BLUE, GREEN, GREY, PURPLE, VERMILION, new_figure, plain, tick, whole_angles
from armsim.linear.loop import JointLoop

INCHES = (8.0, 6.5)


def bode_figure(loop: JointLoop, title: str) -> Any:
    """A figure of magnitude and phase of a loop over the frequency, with its margins.

    Args:
        loop: The loop.
        title: Above it.
    """
    curve, margins = loop.bode(loop.frequencies), loop.margins
    figure = new_figure(*INCHES, title)
    axes = figure.subplots(2, 1, sharex=True)
    axes[1].set_xscale("log")
    for k, name in enumerate(("magnitude [dB]", "phase [deg]")):
        axes[k].plot(curve.frequencies, curve[k + 1], color=BLUE, linewidth=2.2)
        axes[k].set_ylabel(name)
        plain(axes[k], x=True)
    axes[1].set_xlabel("frequency [Hz]")
    whole_angles(axes[1])

    late = f"delay margin {tick(1e3 * margins.delay.margin, 3)} ms\nphase"
    marks = (
        (0, margins.gain, VERMILION, "gain", "dB"),
        (0, margins.lower_gain, PURPLE, "gain", "dB"),
        (1, margins.phase, GREEN, late, "deg"),
    )
    for k, (size, frequency), color, name, unit in marks:
        if frequency >= 0.0:
            own = loop.bode([frequency])[k + 1][0]
            limit = own - size if k else 0.0
            label = f"{name} margin {tick(size, 3)} {unit} at {frequency:.3g} Hz"
            axes[k].plot([frequency] * 2, [own, limit], "o-", color=color, linewidth=2.2, label=label)
            axes[k].axhline(limit, color=GREY, linewidth=1.0)
            axes[k].legend(loc="best", framealpha=0.9)
            axes[1 - k].axvline(frequency, color=color, linewidth=1.0, linestyle="--")
    return figure
