"""Tables for people: numbers in words, summaries of runs in cells, cells as HTML for notebooks."""

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

COUNTS = {"unfinished": "unfinished", "not_started": "not started"}
"""Columns that are shown where they are not 0 throughout."""
ENTRIES = ("learned", "runs", *COUNTS, "t10", "median", "interval")
STYLE = "text-align: right; padding: 0.1em 0.7em; font-variant-numeric: tabular-nums"


class Summary(list[dict[str, Any]]):
    """Rows of a summary: a list of dictionaries, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return html_table(*cells_of_summary(self)) if self else "no runs"


def cells_of_summary(summary: Sequence[dict[str, Any]]) -> tuple[list[list[str]], list[str]]:
    """The cells of a summary, and the names of its columns."""
    counts = [name for name in COUNTS if any(row[name] for row in summary)]
    names = [name for name in summary[0] if name not in ENTRIES]
    rows = [
        [
            *(shown(row[name]) for name in names),
            f"{row['learned']} of {row['runs']}",
            *(shown(row[name]) for name in (*counts, "t10", "median")),
            shown_interval(row["interval"]),
        ]
        for row in summary
    ]
    times = ["10th percentile", "median time", "95% interval of the median"]
    return rows, [*names, "learned", *(COUNTS[name] for name in counts), *times]


def shown_interval(interval: tuple[float, float] | None) -> str:
    """An interval that may have no upper end, or be none at all."""
    if interval is None:
        return "too few runs"
    low, high = interval
    if math.isinf(high):
        return "-" if math.isinf(low) else f"at least {shown(low)}"
    return f"{shown(low)} to {shown(high)}"


def shown(value: Any) -> str:
    """A value in a cell.

    >>> shown(0.12345), shown(12345.6), shown(float("inf")), shown(12345)
    ('0.1235', '12,346', '-', '12,345')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def html_table(rows: Iterable[Sequence[str]], names: Sequence[str], title: str = "") -> str:
    """A table in HTML with no colour of its own, so that it can be read on light and dark pages alike."""
    line = lambda cells, tag: (
        "<tr>" + "".join(f'<{tag} style="{STYLE}">{html.escape(cell)}</{tag}>' for cell in cells) + "</tr>"
    )
    head = f'<caption style="text-align: left; caption-side: top">{html.escape(title)}</caption>' if title else ""
    body = "".join(line(row, "td") for row in rows)
    return f"<table>{head}<thead>{line(names, 'th')}</thead><tbody>{body}</tbody></table>"


def sentence_html(text: str) -> str:
    """A sentence as a paragraph."""
    return f"<p>{html.escape(text)}</p>"
