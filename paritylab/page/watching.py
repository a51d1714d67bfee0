"""`watch`: the live page's pictures where Python runs, in a notebook."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..training.plans import Plan
from ..training.views import Viewed

if TYPE_CHECKING:
    from .widget import Board


def watch(what: Plan | Viewed, *, by: str | Sequence[str] | None = None) -> "Board":
    """Watches runs in a notebook: a plan's while they train, or what finished ones recorded.

    A plan begins to train at once, in the background, with what the pictures need recorded beside its own records;
    looking on changes no number. The board that is shown has the buttons of the live page, and `board.runs` waits for
    the runs. Runs that have ended, and results of a sweep, are shown with the records of one number that they have;
    with `Neurons`, `Weights` and `SupportFourier` also what is inside.

    - `what`: a plan (`pl.plan` takes what `pl.train` does), runs, or results.
    - `by`: the columns that tell curves apart; all that differ, but for seeds, if none is named.

    It needs the extra `notebook` (anywidget), and asks nothing of any other machine.

    >>> import paritylab as pl
    >>> plan = pl.plan(pl.Uniform(pl.Parity(6, (0, 1))), pl.MLP(10), rate=0.3, seeds=2, steps=2000)
    >>> board = watch(plan)  # as the last line of a cell, this shows it
    >>> board.runs.summary()[0]["runs"]
    2
    """
    if not isinstance(what, Plan | Viewed):
        raise TypeError(
            f"`watch` takes a plan, runs or results, got {type(what).__name__}. Use pl.plan(task, network), say."
        )
    try:
        from .widget import Board
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"Watching in a notebook needs {missing.name}: pip install 'paritylab[notebook]'. Without it, "
            "`paritylab serve` shows the same in a browser, and plot() draws figures."
        ) from None
    from .finished import Finished
    from .session import Training
    from .watchable import watchable

    if isinstance(what, Viewed):
        return Board(Finished(what, by), what)
    return Board(Training(watchable(what), by, keep=[record.name for record in what.cells[0].records]))
