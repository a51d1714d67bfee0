"""Stores as they are looked at: aggregates of all runs that match, however many there are."""

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from ..demands import echo
from ..documents import plain
from ..sweep.rows import table_of
from ..sweep.store import Store
from ..training.checks import RESERVED
from ..training.summaries import censored_times
from .curves import learned_by_step

MOST_GROUPS, MOST_PLACES, MOST_CELLS = 8, 80, 60 * 60
"""Curves of a picture, points of a curve, and cells of a map."""
MOST_VALUES = 1000
"""Values of a column that is offered as an axis."""
MOST_RUNS = 5_000_000
"""Of a store that is shown: its table takes some hundred bytes for each of them."""
ROWS = 50
KEPT = 4
"""Stores whose tables stay in memory."""
QUANTILES = (0.1, 0.5, 0.9)


class Looked(NamedTuple):
    """A store's table, with what is asked of every column once."""

    shards: int
    runs: int
    table: pd.DataFrame
    codes: dict[str, Int[np.ndarray, " runs"]]
    """For each axis, the place of every run's value among `values`."""
    values: dict[str, list[Any]]


class Stores:
    """Reads stores, and keeps the tables of the last ones until they have grown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, tuple[Store, Looked]] = OrderedDict()
        self.said: list[str] = []
        """What stores had to say of damaged files."""

    def look(self, folder: Path) -> Looked:
        """The table of a store as it is now."""
        with self._lock:
            store, looked = self._kept.pop(folder, (None, None))
            if store is None:
                store = Store(folder, say=self.said.append)
            else:
                store.refresh()
            if len(store) > MOST_RUNS:
                raise ValueError(
                    f"The page shows stores of up to {MOST_RUNS:,} runs, and this one has {len(store):,}. "
                    "Read it in Python: `Store(folder).table()`."
                )
            if looked is None or (looked.shards, looked.runs) != (store.shard_count, len(store)):
                looked = _looked(store)
            self._kept[folder] = store, looked
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return looked


def _looked(store: Store) -> Looked:
    table = table_of(store.arrow(plain=True))
    codes, values = {}, {}
    for name in table.columns:
        if (name in RESERVED and name != "rate") or name == "run":
            continue
        column = table[name]
        if column.map(type).isin((list, np.ndarray, dict)).any() if column.dtype == object else False:
            continue
        code, found = pd.factorize(column, sort=_sortable(column))
        if 1 <= len(found) <= MOST_VALUES:
            codes[name], values[name] = code, [plain(each) for each in found.tolist()]
    return Looked(store.shard_count, len(store), table, codes, values)


def _sortable(column: "pd.Series[Any]") -> bool:
    return bool(column.dtype != object or column.dropna().map(type).nunique() <= 1)


def aggregates(looked: Looked, asked: dict[str, Any]) -> dict[str, Any]:
    """What a view shows: counts, survival curves by one column, times along another, and a map over two.

    `asked` may name `by`, `x`, `y`, and `where`, a mapping from columns to one value each.
    """
    axes = {name: len(values) for name, values in looked.values.items()}
    several = sorted((name for name, count in axes.items() if count > 1), key=lambda name: axes[name])
    where = asked.get("where") or {}
    chosen = {name: _axis(asked.get(name), axes, name) for name in ("by", "x", "y")}
    mine = _matching(looked, where)
    shown: dict[str, Any] = {
        "runs": looked.runs,
        "rows": len(looked.table),
        "matching": int(mine.sum()),
        "axes": {name: looked.values[name] for name in axes},
        "columns": [str(name) for name in looked.table.columns],
        "sample": _sample(looked.table[mine]),
        "trained": "outcome" in looked.table,
    }
    if not shown["trained"]:
        return shown
    left = [name for name in several if name not in where]
    taken = {chosen["x"], chosen["y"]}
    by = chosen["by"] or next((name for name in left if name not in taken), left[0] if left else "")
    rest = [name for name in left if name not in {by, *taken}]
    x = chosen["x"] or (rest.pop() if rest else by)
    y = chosen["y"] or (rest.pop() if rest else by)
    outcomes = looked.table.outcome[mine].value_counts()
    return {
        **shown,
        "by": by,
        "x": x,
        "y": y,
        "outcomes": {str(name): int(count) for name, count in outcomes.items()},
        "survival": _survival(looked, mine, by),
        "times": _times(looked, mine, by, x) if x else None,
        "map": _map(looked, mine, x, y) if x and y and x != y else None,
    }


def _axis(name: Any, axes: dict[str, int], what: str) -> str:
    if name in (None, ""):
        return ""
    if not isinstance(name, str) or name not in axes:
        raise ValueError(
            f"{what} is a column of this store, {', '.join(axes) or 'of which it has none'}, got {echo(name)}."
        )
    return name


def _matching(looked: Looked, where: Any) -> Bool[np.ndarray, " runs"]:
    if not isinstance(where, dict):
        raise ValueError(f"A filter is an object of columns with a value each, got {echo(where)}.")
    mine = np.ones(len(looked.table), bool)
    for name, value in where.items():
        _axis(name, {each: 0 for each in looked.values}, "A filter")
        if value not in looked.values[name]:
            raise ValueError(f"{name} has no value {echo(value)} in this store.")
        mine &= looked.codes[name] == looked.values[name].index(value)
    return mine


def _sample(table: pd.DataFrame) -> list[list[Any]]:
    """The first rows, as they are."""
    return [[_cell(each) for each in row] for row in table.head(ROWS).astype(object).to_numpy().tolist()]


def _cell(value: Any) -> Any:
    if value is pd.NA:
        return None
    return str(value) if isinstance(value, list | np.ndarray | dict) else plain(value)


def _parts(looked: Looked, mine: Bool[np.ndarray, " runs"], name: str, most: int) -> list[tuple[Any, np.ndarray]]:
    """The matching runs by the value of a column: the first values that occur, and the places of their runs."""
    places = np.flatnonzero(mine)
    if not name:
        return [("all", places)]
    codes = looked.codes[name][places]
    there = np.unique(codes[codes >= 0])[:most]
    return [(looked.values[name][code], places[codes == code]) for code in there.tolist()]


def _survival(looked: Looked, mine: Bool[np.ndarray, " runs"], by: str) -> list[dict[str, Any]]:
    """The share of runs that has learned by each step (Kaplan-Meier), thinned where there are many steps."""
    curves = []
    for value, places in _parts(looked, mine, by, MOST_GROUPS):
        times = censored_times(looked.table.iloc[places])
        curves.append(
            {
                "name": plain(value),
                "runs": len(places),
                "learned": int(times.learned.sum()),
                "median": plain(times.quantile(0.5)),
                "survival": learned_by_step(times),
            }
        )
    return curves


def _times(looked: Looked, mine: Bool[np.ndarray, " runs"], by: str, x: str) -> list[dict[str, Any]]:
    """Quantiles of the time to learn at each value of `x`, a band for each value of `by`."""
    found = []
    for value, places in _parts(looked, mine, by if by != x else "", MOST_GROUPS):
        inside = np.zeros(len(mine), bool)
        inside[places] = True
        parts = _parts(looked, inside, x, MOST_PLACES)
        quantiles = [[plain(censored_times(looked.table.iloc[own]).quantile(q)) for q in QUANTILES] for _, own in parts]
        found.append({"name": plain(value), "x": [plain(each) for each, _ in parts], "quantiles": quantiles})
    return found


def _map(looked: Looked, mine: Bool[np.ndarray, " runs"], x: str, y: str) -> dict[str, Any] | None:
    """The share of runs that learned, over two columns; None where there would be too many cells."""
    across, down = len(looked.values[x]), len(looked.values[y])
    if across * down > MOST_CELLS:
        return None
    known = mine & (looked.codes[x] >= 0) & (looked.codes[y] >= 0)
    cell = looked.codes[y][known] * across + looked.codes[x][known]
    runs = np.bincount(cell, minlength=across * down)
    learned = np.bincount(cell, weights=looked.table.outcome[known] == "learned", minlength=across * down)
    share = np.where(runs > 0, learned / np.maximum(runs, 1), np.nan).reshape(down, across)
    return {
        "x": looked.values[x],
        "y": looked.values[y],
        "share": plain(share.tolist()),
        "runs": runs.reshape(down, across).tolist(),
    }
