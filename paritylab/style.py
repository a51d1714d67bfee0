"""The look of all figures: inks that survive grey printing, and one for each architecture.

>>> import paritylab as pl
>>> pl.style.of("relu-mlp")
{'color': '#0b4f8a', 'linestyle': '-', 'marker': 'o'}
"""

from contextlib import AbstractContextManager
from typing import Any

import matplotlib

INKS = ("#0b4f8a", "#c8501e", "#3a7d44", "#7a4fa3", "#8a6d00", "#444444")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))

LOOK: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "figure.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.03,
}
"""Settings of matplotlib."""

ARCHITECTURES: dict[str, tuple[str, Any, str]] = {
    "relu-mlp": ("#0b4f8a", "-", "o"),
    "relu6-mlp": ("#3d84cc", "-", "s"),
    "sigmoid-mlp": ("#12807f", "-", "D"),
    "poly-mlp": ("#c8501e", "-", "^"),
    "quadratic-mlp": ("#b5740a", "--", "v"),
    "zigzag-mlp": ("#2f6b38", "-", "<"),
    "zigzag-neuron": ("#4f9a4a", "--", ">"),
    "oscillating-mlp": ("#5b2f86", "-", "P"),
    "oscillating-neuron": ("#9168c4", "--", "X"),
    "triangle-mlp": ("#8f1d5c", "-", "p"),
    "triangle-neuron": ("#c4588f", "--", "h"),
    "sinusoid-mlp": ("#6b4a00", "-", "*"),
    "sinusoid-neuron": ("#93801f", "--", "d"),
    "polynet": ("#222222", "-.", "8"),
    "disjoint-polynet": ("#777777", "-.", "H"),
    "transformer": ("#b3122f", ":", "o"),
}
"""Colour, line and marker of each architecture of `paritylab list networks`.

One hue for each activation, single neurons lighter and dashed. No two have the same line and marker.
"""


def ink(i: int) -> dict[str, Any]:
    """Colour and line style of the i-th curve; 36 of them differ.

    >>> ink(0) == ink(6), ink(0)["color"] == ink(6)["color"]
    (False, True)
    """
    turn = i // len(INKS)
    return {"color": INKS[i % len(INKS)], "linestyle": STYLES[(i + turn) % len(STYLES)]}


def of(name: object, otherwise: int = 0) -> dict[str, Any]:
    """Colour, line and marker of an architecture by its name; of any other thing those of a curve's number."""
    if name not in ARCHITECTURES:
        return {**ink(otherwise), "marker": "osD^v<"[otherwise % 6]}
    color, line, marker = ARCHITECTURES[str(name)]
    return {"color": color, "linestyle": line, "marker": marker}


def use() -> AbstractContextManager[None]:
    """A context in which matplotlib draws in this look: `with pl.style.use(): ...`."""
    context: AbstractContextManager[None] = matplotlib.rc_context(LOOK)
    return context
