"""What figures of experiments share: names, ticks and legends of a panel, error bars, the title of a figure."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..analysis import Needed
from .base import Measured

GREYS = ("#1a1a1a", "#4d4d4d", "#737373", "#999999", "#b3b3b3")
DASHES = ((0, (6, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (3, 3)), (0, (1, 3)))
"""How baselines are told apart, also without colours, and from the curves of networks."""


def dress(
    axis: Axes,
    *,
    ticks: Iterable[Any] = (),
    legend: str | None = None,
    size: int | float = 7,
    columns: int = 1,
    **names: Any,
) -> None:
    """Names, scales and limits; ticks at these places alone and a legend there, or beside the panel, if asked for."""
    axis.set(**names)
    if places := [*ticks]:
        axis.set_xticks(places, [str(place) for place in places])
        axis.minorticks_off()
    if legend == "beside":
        axis.legend(fontsize=size, loc="center left", bbox_to_anchor=(1.0, 0.5))
    elif legend is not None:
        axis.legend(fontsize=size, loc=legend, ncols=columns)


def error_bars(found: Sequence[Measured]) -> tuple[np.ndarray, np.ndarray]:
    """Values, and how far their intervals reach below and above them."""
    values = np.array([each.value for each in found])
    low, high = np.array([each.interval for each in found]).T
    return values, np.maximum([values - low, high - values], 0)


def draw_baselines(
    axis: Axes,
    baselines: Sequence[Needed | Sequence[Needed]],
    what: Literal["examples", "samples", "queries", "seconds"] = "examples",
    x: Sequence[int | float] | None = None,
    first: int = 0,
) -> None:
    """What baselines need, as grey dashed lines with a name each, beside the learning times of networks.

    One `Needed` for each is a level line over the whole panel; with places `x` there is one for each place, and a curve
    through them. Bands are the intervals of the medians. A baseline that does not learn in half of its runs has no line
    there. Examples are samples and queries. Where a panel has others already, `first` is their number.
    """
    for i, one in enumerate(baselines, first):
        rows = [one] if isinstance(one, Needed) else [*one]
        medians = [row.median(what) for row in rows]
        values = np.array([value if np.isfinite(value) else np.nan for value, _ in medians])
        low, high = np.array([bounds for _, bounds in medians]).T
        look: dict[str, Any] = {"color": GREYS[i % len(GREYS)], "zorder": 1.5}
        label = rows[0].name if np.any(np.isfinite(values)) else f"{rows[0].name}: does not learn"
        if x is None:
            axis.axhline(values[0], linestyle=DASHES[i % len(DASHES)], linewidth=1.1, label=label, **look)
        else:
            axis.plot(x, values, linestyle=DASHES[i % len(DASHES)], linewidth=1.1, label=label, **look)
        known = np.isfinite(low) & np.isfinite(high) & (low > 0) & np.isfinite(values)
        if x is None and known[0]:
            axis.axhspan(low[0], high[0], alpha=0.12, linewidth=0, **look)
        elif x is not None:
            axis.fill_between(x, low, high, where=known, alpha=0.12, linewidth=0, **look)


def shown(name: str, figure: Figure, title: str) -> dict[str, Figure]:
    """A figure by its name, under a title."""
    figure.suptitle(title)
    return {name: figure}
