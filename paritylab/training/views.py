"""How runs are looked at: what plots, notebooks and data frames take from them, wherever they come from."""

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..demands import check_kind
from ..registry import load, nearest
from ..tables import Summary, shown
from .summaries import counted_outcomes, summarize

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..page.widget import Board


@dataclasses.dataclass(frozen=True)
class View:
    """A row for each run, under the name that it has in the curves, and what tells the runs apart."""

    table: "pd.DataFrame"
    names: tuple[str, ...]
    recorded: bool
    curves: "Callable[[], pd.DataFrame]"


class Viewed(abc.ABC):
    """Runs that can be looked at."""

    @abc.abstractmethod
    def _view(self) -> View: ...

    def summary(self, *names: str) -> Summary:
        """For each combination of the named columns: how many learned, the 10th percentile and the median of the time.

        If none is named, those are all that tell runs apart but for their seeds. See `summarize` for what an entry
        means. It is a list of dictionaries, which a notebook shows as a table.
        """
        view = self._view()
        return Summary(summarize(view.table, names or view.names))

    def plot(
        self,
        what: str | None = None,
        *,
        by: str | Sequence[str] | None = None,
        band: tuple[float, float] | None = (0.1, 0.9),
        ax: "Axes | None" = None,
    ) -> "Figure":
        """Curves over steps, one for each combination of the columns `by`; its figure.

        - `what`: `"learned"` for the fraction of runs that learned (Kaplan-Meier, so that unfinished runs count as long
          as they were watched), or the name of a record. If none is named, the first error or loss that was recorded,
          else `"learned"`.
        - `by`: the columns that tell curves apart; all that differ, but for seeds, if none is named.
        - `band`: two quantiles over runs between which a record is shaded, around its median; None draws a line for
          each run. A run that learned or settled keeps its last value; one that was stopped leaves the band, which
          ends where less than half of the runs are left. Around the fraction that learned any band is that of Hall
          and Wellner, which holds the whole true curve with probability 95%; None leaves it out.
        - `ax`: axes of matplotlib to draw on, if not a new figure.
        """
        from .plots import plot

        return plot(self._view(), what, by, band, ax)

    def heat_map(self, value: str = "learned", *, over: Sequence[str], ax: "Axes | None" = None) -> "Figure":
        """A map over two columns, the first from left to right; its figure.

        - `value`: `"learned"`, the fraction of runs that learned; `"median"` or `"t10"`, percentiles of the time; or
          the name of a column of numbers, for its median.
        """
        from .plots import heat_map

        return heat_map(self._view(), value, over, ax)

    def watch(self, *, by: str | Sequence[str] | None = None) -> "Board":
        """Shows the runs in a notebook as the live page does: curves of all records, and what is inside of one run.

        See `pl.watch`, which takes a plan too and shows it while it trains.
        """
        return load("page:watch")(self, by=by)  # type: ignore[no-any-return]

    def _sentence(self) -> str:
        return counted_outcomes(self._view().table)

    def _repr_html_(self) -> str:
        from ..tables import sentence_html

        return sentence_html(self._sentence()) + self.summary()._repr_html_()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table of runs for polars, DuckDB and whoever else reads Arrow streams."""
        return self._arrow().__arrow_c_stream__(requested_schema)

    @abc.abstractmethod
    def _arrow(self) -> Any: ...


def grouping(view: View, by: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns whose values tell the curves apart; if none is named, those that differ from run to run."""
    if by is None:
        return tuple(name for name in view.names if view.table[name].nunique(dropna=False) > 1)
    check_kind("by", by, (str, Sequence), "a column, or several in a tuple")
    names = (by,) if isinstance(by, str) else tuple(by)
    for name in names:
        if name not in view.table:
            raise ValueError(nearest("column of these runs called", name, view.table))
    return names


def said(name: str, value: Any) -> str:
    """What a run has in a column, in a legend."""
    return f"{name} {value if isinstance(value, bool) else shown(value)}"
