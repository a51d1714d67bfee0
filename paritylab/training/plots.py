"""What runs look like: the share that learned over steps, bands of what was recorded, maps over two axes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from ..figures import one_panel
from ..registry import nearest
from ..style import of, use
from ..survival import Survival
from ..tables import shown
from .rules.outcomes import Outcome
from .summaries import censored_times, summarize
from .views import grouping, said

if TYPE_CHECKING:
    import pandas as pd

    from .views import View

LEARNED = "learned"
USUAL = ("validation_error", "fresh_error", "sample_error", "fresh_loss", "progress")
"""Records that are drawn if none is named, the first of them that is there."""
MOST_IN_A_LEGEND = 6
"""Entries of a legend inside the axes; more of them stand beside."""
ENDED = (Outcome.LEARNED.word, Outcome.SETTLED.word)
"""Runs that ended by themselves: what was last recorded of them stays what it is."""
TIMES = {"median": "median time", "t10": "10th percentile of the time"}

Points = dict[tuple[Any, ...], Bool[np.ndarray, " runs"]]
"""The runs of each group, by the values that they have in common."""


def plot(
    view: "View",
    what: str | None,
    by: str | Sequence[str] | None,
    band: tuple[float, float] | None,
    ax: Axes | None,
) -> Figure:
    """The figure of `Runs.plot` and `Results.plot`."""
    curves = view.curves() if view.recorded and what != LEARNED else None
    if what is None:
        known = () if curves is None else [name for name in USUAL if name in curves]
        what = known[0] if known else LEARNED
    if what != LEARNED and (curves is None or what not in curves):
        records = [] if curves is None else [name for name in curves if name not in view.table and name != "step"]
        raise ValueError(nearest("record of these runs called", what, [LEARNED, *records]))
    told = grouping(view, by)
    axis = one_panel(5.0, 3.2)[1] if ax is None else ax
    with use():
        if curves is None or what == LEARNED:
            _draw_fractions(axis, view, told, checked_band(band) is not None)
        else:
            _draw_records(axis, view, told, curves, what, checked_band(band))
        axis.set_xlabel("step")
        _add_legend(axis, told)
    return figure_of(axis)


def figure_of(axis: Axes) -> Figure:
    """The whole figure that axes belong to."""
    holder = axis.figure
    return holder if isinstance(holder, Figure) else holder.figure


def checked_band(band: tuple[float, float] | None) -> tuple[float, float] | None:
    """Two quantiles in order, or None for a line for each run."""
    if band is not None and not (len(band) == 2 and 0 <= band[0] < band[1] <= 1):
        raise ValueError(f"A band lies between two quantiles, such as (0.1, 0.9), got {band}. Or None: a line per run.")
    return band


def _groups(table: "pd.DataFrame", names: Sequence[str]) -> Points:
    """In the order in which they come."""
    columns = [table[name].astype(object).where(table[name].notna(), None).tolist() for name in names]
    rows = list(zip(*columns, strict=True)) if names else [()] * len(table)
    return {point: np.array([row == point for row in rows], bool) for point in dict.fromkeys(rows)}


def _looks(names: Sequence[str], points: Points) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Label, colour and line of each group; an architecture has its own where networks are what differs."""
    looks = {}
    for i, point in enumerate(points):
        name = point[0] if tuple(names) == ("network",) else None
        look = {key: value for key, value in of(name, i).items() if key != "marker"}
        looks[point] = {**look, "label": ", ".join(map(said, names, point)) or None}
    return looks


def _add_legend(axis: Axes, names: Sequence[str]) -> None:
    if not names:
        return
    entries = len(axis.get_legend_handles_labels()[1])
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "fontsize": 7}
    axis.legend(**(beside if entries > MOST_IN_A_LEGEND else {}))


def _draw_fractions(axis: Axes, view: "View", names: Sequence[str], banded: bool) -> None:
    """The share that has learned by each step (Kaplan-Meier), with a tick where runs were lost from view, and the band
    that holds the whole true curve with probability 95%."""
    lost, points = False, _groups(view.table, names)
    last = view.table.steps.max()
    for point, look in _looks(names, points).items():
        times = censored_times(view.table[points[point]])
        step, at_risk, learned, share = times.survival()
        whole = Survival(
            np.append(0.0, step), np.append(at_risk[:1], at_risk), np.append(0, learned), np.append(1.0, share)
        )
        beyond = 1 if len(step) == 0 or not np.isfinite(times.step).all() else 0
        to_the_end = lambda values, end, beyond=beyond: np.append(values, [end] * beyond)
        reach = to_the_end(whole.step, last)
        axis.step(reach, to_the_end(1 - whole.share, 1 - whole.share[-1]), where="post", **look)
        if banded and len(step):
            low, high = (to_the_end(1 - each, 1 - each[-1]) for each in whole.band())
            axis.fill_between(reach, low, high, step="post", color=look["color"], alpha=0.13, linewidth=0)
        # Runs that left while others went on: the share is an estimate from here.
        left = (np.append(at_risk[1:], 0) + learned < at_risk) & (step < last)
        lost |= bool(left.any())
        axis.plot(step[left], 1 - share[left], "|", color=look["color"], markersize=6)
    label = "fraction of runs that learned" + (", estimated" if lost else "")
    axis.set_ylabel(f"{label}\nshaded: 95% band" if banded else label)
    axis.set_ylim(0, 1.02)


def _draw_records(
    axis: Axes,
    view: "View",
    names: Sequence[str],
    curves: "pd.DataFrame",
    what: str,
    band: tuple[float, float] | None,
) -> None:
    """The median and a band around it, or a line for each run."""
    if curves[what].dtype == object:
        raise ValueError(
            f"At each step {what!r} is several numbers, and a curve has one. Draw what you need of curves()."
        )
    points = _groups(view.table, names)
    for point, look in _looks(names, points).items():
        members = view.table[points[point]]
        wide = _wide(curves, what, members)
        if band is None:
            lines = axis.plot(wide.index, wide.to_numpy(), **{**look, "label": None}, linewidth=0.8, alpha=0.7)
            lines[0].set_label(look["label"])
            continue
        watched = wide[wide.count(axis=1) >= len(members) / 2]
        low, middle, high = (watched.quantile(q, axis=1) for q in (band[0], 0.5, band[1]))
        axis.fill_between(watched.index, low, high, color=look["color"], alpha=0.18, linewidth=0)
        axis.plot(watched.index, middle, **look)
    axis.set_ylabel(what.replace("_", " ") + ("" if band is None else f"\nmedian, {band[0]:.0%} to {band[1]:.0%}"))
    if np.nanmin(curves[what].to_numpy(float)) >= 0:
        axis.set_ylim(bottom=0)


def _wide(curves: "pd.DataFrame", what: str, members: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each step, a column for each run: one that ended by itself keeps its last value."""
    rows = curves[curves["run"].isin(members["run"])]
    wide = rows.pivot(index="step", columns="run", values=what)
    if what == "validation_error":  # that is what it means to have learned
        at = members[members.outcome == Outcome.LEARNED.word]
        wide = wide.reindex(wide.index.union(at.converged_at.to_numpy(int)).astype(int))
        for run, step in zip(at["run"], at.converged_at, strict=True):
            if run in wide:
                wide.loc[step, run] = 0.0
    # Where only some of the runs were looked at, the others are between two of their own values.
    wide = wide.interpolate(method="index", limit_area="inside")
    for run in members["run"][members.outcome.isin(ENDED)]:
        if run in wide:
            wide[run] = wide[run].ffill()
    return wide


def heat_map(view: "View", value: str, over: Sequence[str], ax: Axes | None) -> Figure:
    """The figure of `Runs.heat_map` and `Results.heat_map`."""
    if len(names := grouping(view, over)) != 2 or names[0] == names[1]:
        raise ValueError(f"A map lies over two columns, such as over=('width', 'batch'), got over={tuple(over)}.")
    cells = {tuple(row[name] for name in names): row for row in _cells(view, value, names)}
    across, down = (_in_order({point[i] for point in cells}) for i in (0, 1))
    shades = np.full((len(down), len(across)), np.nan)
    for (x, y), row in cells.items():
        if np.isfinite(row["shade"]):
            shades[down.index(y), across.index(x)] = row["shade"]
    axis = one_panel(1.8 + 0.65 * len(across), 1.4 + 0.42 * len(down))[1] if ax is None else ax
    with use():
        _draw_cells(axis, shades, cells, across, down, value)
    axis.set(xlabel=names[0], ylabel=names[1])
    return figure_of(axis)


def _cells(view: "View", value: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """What each cell shows: the share or a percentile of all its runs, or the median of a column."""
    if value in (LEARNED, *TIMES):
        rows = summarize(view.table, names)
        of_row = lambda row: row[LEARNED] / max(1, row["runs"]) if value == LEARNED else row[value]
        return [{**row, "shade": float(of_row(row))} for row in rows]
    if value not in view.table or view.table[value].dtype.kind not in "biuf":
        numbers = [name for name in view.table if view.table[name].dtype.kind in "iuf"]
        raise ValueError(nearest("value of runs called", value, [LEARNED, *TIMES, *numbers]))
    groups = _groups(view.table, names)
    median = lambda members: float(view.table[value][members].median())
    return [{**dict(zip(names, point, strict=True)), "shade": median(here)} for point, here in groups.items()]


def _in_order(values: set[Any]) -> list[Any]:
    numbers = all(isinstance(value, int | float) for value in values)
    return sorted(values) if numbers else sorted(values, key=str)


def _draw_cells(
    axis: Axes, shades: np.ndarray, cells: dict[Any, Any], across: list[Any], down: list[Any], value: str
) -> None:
    known = shades[np.isfinite(shades)]
    is_time = value in TIMES and len(known) > 0 and known.min() > 0 and known.max() > known.min()
    norm = Normalize(0, 1) if value == LEARNED else LogNorm() if is_time else Normalize()
    picture = axis.imshow(np.ma.masked_invalid(shades), norm=norm, cmap="cividis", origin="lower", aspect="auto")
    axis.set_facecolor("0.85")
    axis.grid(False)
    axis.set_xticks(range(len(across)), [shown(each) for each in across])
    axis.set_yticks(range(len(down)), [shown(each) for each in down])
    for row, y in enumerate(down):
        for column, x in enumerate(across):
            shade, there = shades[row, column], (x, y) in cells
            text = _number(shade, value) if np.isfinite(shade) else "not\nreached" if there else "no runs"
            dark = np.isfinite(shade) and np.mean(picture.cmap(picture.norm(shade))[:3]) < 0.5
            axis.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
    labels = {LEARNED: "fraction of runs that learned"} | {name: f"{what} (steps)" for name, what in TIMES.items()}
    axis.figure.colorbar(picture, ax=axis, label=labels.get(value, value))


def _number(shade: float, value: str) -> str:
    return f"{shade:.0%}" if value == LEARNED else shown(float(shade))
