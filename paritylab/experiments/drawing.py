"""What figures of experiments share: names, ticks and legends of a panel, error bars, the title of a figure."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .base import Measured


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


def shown(name: str, figure: Figure, title: str) -> dict[str, Figure]:
    """A figure by its name, under a title."""
    figure.suptitle(title)
    return {name: figure}
