"""How a panel and a figure end: names, ticks, legend and title. Not an experiment; three papers draw with it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....figures import panels
from ...base import Measured


def one_panel(width: int | float, height: int | float) -> tuple[Figure, Axes]:
    """A figure with one pair of axes."""
    figure, axes = panels(1, 1, width=width, height=height)
    return figure, axes[0, 0]


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
    figure.suptitle(title, fontsize=11)
    return {name: figure}
