"""Figures in the look of `style`: how they are made and written, and those of commands."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .documents import make_folder, write_whole
from .style import INKS as INKS, ink as ink, use

if TYPE_CHECKING:
    from .targets import TreeCircuit

Figures = dict[str, Figure]
"""By name, as an experiment returns them."""


class Picture(Figure):
    """A figure that belongs to no window and to no list of open figures, and that a notebook shows."""

    def _repr_png_(self) -> bytes:
        return drawn(self, "png")


def panels(
    rows: int, columns: int, *, width: int | float = 2.6, height: int | float = 2.0
) -> tuple[Figure, np.ndarray]:
    """A figure with a grid of axes of the given size in inches."""
    with use():
        figure = Picture(figsize=(width * columns, height * rows))
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, axes


def one_panel(width: int | float, height: int | float) -> tuple[Figure, Axes]:
    """A figure with one pair of axes of the given size in inches."""
    figure, axes = panels(1, 1, width=width, height=height)
    return figure, axes[0, 0]


def label_edges(axes: np.ndarray, x: str = "", y: str = "") -> None:
    """Says what the lower edge and the left edge of a grid of axes are."""
    for axis in axes[-1] if x else ():
        axis.set_xlabel(x)
    for axis in axes[:, 0] if y else ():
        axis.set_ylabel(y)


def save(figure: Figure, path: Path) -> list[Path]:
    """Writes the figure as PNG and PDF beside each other."""
    make_folder(path.parent)
    contents = {path.with_suffix(f".{kind}"): drawn(figure, kind) for kind in ("png", "pdf")}
    for each, content in contents.items():
        write_whole(each, content)
    return [*contents]


DESCRIBED = 6
"""Panels of a figure that are put into words."""


def seen(figure: Figure) -> str:
    """What a figure shows, in words: its title, and of each panel the axes with their ranges and the curves' names."""
    panels = [axis for axis in figure.axes if axis.axison and (axis.lines or axis.collections or axis.patches)]
    title = figure.get_suptitle()
    words = [_plain(title)] if title else []
    words += [_seen(axis, i + 1 if len(panels) > 1 else 0) for i, axis in enumerate(panels[:DESCRIBED])]
    if len(panels) > DESCRIBED:
        words.append(f"{len(panels) - DESCRIBED} further panels are alike")
    return ". ".join(words) + "." if words else ""


def _seen(axis: Axes, number: int) -> str:
    """One panel; with a number where there are several."""
    across, up = (
        f"{_plain(label) or 'values'} from {low:.3g} to {high:.3g}{', logarithmic' if scale == 'log' else ''}"
        for label, (low, high), scale in (
            (axis.get_xlabel(), axis.get_xlim(), axis.get_xscale()),
            (axis.get_ylabel(), axis.get_ylim(), axis.get_yscale()),
        )
    )
    head = f"Panel {number}" if number else "One panel"
    title = f", {_plain(axis.get_title())}" if axis.get_title() else ""
    names = [_plain(name) for name in axis.get_legend_handles_labels()[1]]
    return f"{head}{title}: {up}, over {across}{'; ' + ', '.join(names) if names else ''}"


def _plain(text: str) -> str:
    """A label without the marks of mathematics, in one line."""
    return " ".join(text.translate(str.maketrans("", "", "$\\{}")).split())


def drawn(figure: Figure, kind: str) -> bytes:
    """The bytes of a picture of this kind."""
    buffer = io.BytesIO()
    with use():
        figure.savefig(buffer, format=kind, dpi=200)
    return buffer.getvalue()


def plot_bars(heights: np.ndarray, label: str, title: str, log: bool = False) -> Figure:
    """One bar per Fourier level, or per gate."""
    figure, axis = one_panel(4.5, 2.6)
    axis.bar(range(len(heights)), heights, color=INKS[0])
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set(xlabel="level" if label != "|c|" else "gate", ylabel=label, title=title)
    if log:
        axis.set_yscale("log")
    return figure


def plot_gradient(gradient: np.ndarray, k: int, title: str) -> Figure:
    """Relevant coordinates stand out, or not."""
    figure, axis = one_panel(4.5, 2.6)
    axis.plot(range(k), abs(gradient[:k]), "o", color=INKS[1], label="relevant")
    axis.plot(range(k, len(gradient)), abs(gradient[k:]), ".", color=INKS[0], markersize=3, label="others")
    axis.set(xlabel="coordinate", ylabel="|population gradient|", title=title)
    axis.legend()
    return figure


def plot_margins(rows: list[dict[str, Any]], target: str) -> Figure:
    """Exact margins over n, beside those of an explicit separator."""
    figure, axis = one_panel(4.5, 2.6)
    sizes = [row["n"] for row in rows]
    for i, (key, label) in enumerate((("margin", "maximal"), ("explicit", "explicit separator"))):
        axis.loglog(sizes, [row[key] for row in rows], label=label, marker="o", **ink(i))
    axis.set(xlabel="n", ylabel="margin", title=f"{target} at the symmetric initialization")
    axis.set_xticks(sizes, map(str, sizes))
    axis.minorticks_off()
    axis.legend()
    return figure


NAMED_INPUTS = 32
"""Circuits of up to so many inputs are drawn with the names of their gates."""


def plot_circuit(circuit: "TreeCircuit", values: np.ndarray, label: str) -> Figure:
    """The tree of gates, each with its name and a colour from 0 (white) to 1 (dark) for its value.

    `values` has one number from 0 to 1 for each gate, in the circuit's order: |correlation|, influence, or
    1 for a gate that was recovered and 0 for one that was not.
    """
    shades = np.asarray(values, float)
    if shades.shape != (circuit.n - 1,) or not np.all((shades >= 0) & (shades <= 1)):
        raise ValueError(
            f"A circuit on n={circuit.n} inputs is coloured by {circuit.n - 1} numbers from 0 to 1, got {shades.shape} "
            f"numbers from {shades.min(initial=0):g} to {shades.max(initial=0):g}."
        )
    named = circuit.n <= NAMED_INPUTS
    width = float(np.clip(0.62 * circuit.n, 4, 14)) if named else 10.0
    figure, axis = one_panel(width, 0.75 * circuit.depth + 1.2)
    place = lambda level, j: ((j + 0.5) * circuit.n / 2**level, -level)
    for level in range(1, circuit.depth + 1):
        for j in range(2**level):
            (x, y), (above_x, above_y) = place(level, j), place(level - 1, j // 2)
            axis.plot([x, above_x], [y, above_y], color="0.7", linewidth=0.8 if named else 0.3, zorder=1)
    spots = [place(level, j) for level in range(circuit.depth) for j in range(2**level)]
    look: dict[str, Any] = {"cmap": "YlGnBu", "vmin": 0, "vmax": 1, "edgecolors": "0.3", "zorder": 2}
    across, down = zip(*spots, strict=True)
    dots = axis.scatter(across, down, c=shades, s=640 if named else 20, **look)
    if named:
        look = {"ha": "center", "va": "center", "fontsize": 5.5, "zorder": 3}
        for (x, y), name, shade in zip(spots, circuit.gates, shades, strict=True):
            axis.text(x, y, name.replace("_", "\n"), color="white" if shade > 0.6 else "black", **look)
        for j in range(circuit.n):
            axis.text(j + 0.5, -circuit.depth - 0.08, f"x{j}", ha="center", va="top", fontsize=7)
    axis.set_xlim(0, circuit.n)
    axis.set_ylim(-circuit.depth - 0.5, 0.5)
    axis.axis("off")
    figure.colorbar(dots, ax=axis, label=label, shrink=0.8)
    return figure
