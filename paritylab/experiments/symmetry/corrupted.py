"""Figures 7 and 8 of symmetry: the symmetric start on corrupted data, n = 30, samples of 10 n points.

Figure 7: labels of the sample are flipped at random. The probability is unreadable in print, a fraction with numerator
1: both 1/10 and 1/100 are run. A sample with flipped labels has points of one weight with different labels: no network
that depends on |x| alone fits it, so the training error stays near the share of flipped labels, and training does not
end. The true error is on clean labels.

Figure 8: every coordinate of every point is moved by a uniform number in [-0.1, 0.1]. The label is that of the point
before it is moved. The true error is on moved points as well: the text says that the vectors of the space are shifted.
Of the 4n + 3 units those after the first n + 3 could fire only on a point whose coordinates sum to more than n + 2,
which has a probability below 2^-n. The sum of 30 such moves has a standard deviation of 0.32, and beyond 1/2 a point
looks like one of the next weight: no function of the sum of the coordinates errs on less than about 6%.

The paper calls the results satisfying and gives no number. They are held against a clean sample of the same functions,
trained as long; against the random start on the corrupted sample; and against the vote: the majority of the sample's
labels at each sum of coordinates, rounded. Runs with beta = n^3 h do not end, so a network that is stopped has just
learned some flipped label: the median of its errors in the last quarter of the epochs is taken.

h and beta are those of figure 2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ...figures import panels
from ...training.plans import Plan
from ...training.rules.weight_records import VoteError
from ..base import Claim, Null, Region
from ..measures import median, median_difference
from .shared.runs import Curves, SymmetricTask, Trained, draw_errors, finish, read as read, sgd

SIMILAR = 0.05
"""Two errors are similar when they differ by less than this, a tenth of chance."""
UNTRAINED = (
    "A clean sample of the same function, trained as long, is as far above its vote: training is not at its end, and "
    "flipped labels add little to that."
)
FLOOR = (
    "Moved points of one weight look like those of the next: the vote on moved points errs by that much more than on "
    "clean ones. The rest is of training that has not ended."
)
SEPARABLE = (
    "Unexplained: no function of the sum of the coordinates fits the sample, so the perceptron never ends, and its "
    "error stays above that of the vote."
)


@dataclass(frozen=True)
class Panel:
    name: str
    words: str
    flips: float = 0.0
    """The probability of a flipped label."""
    shift: float = 0.0
    """By how much a coordinate is moved at most."""


CLEAN = Panel("clean", "a clean sample")
MOVED = Panel("shift", "every entry moved by at most 0.1", shift=0.1)
FLIPPED = Panel("p10", "1 label in 10 flipped", flips=1 / 10), Panel("p100", "1 label in 100 flipped", flips=1 / 100)


@dataclass(frozen=True)
class Settings:
    figure: str
    title: str
    panels: tuple[Panel, ...]
    n: int
    axis: int
    """Where the paper's axis ends."""
    epochs: int
    every: int
    seeds: int
    points: int = 10_000


NOISY = Settings("figure7", "Flipped labels in the sample, true error on clean ones", FLIPPED, 30, 7000, 7000, 100, 40)
SHIFTED = Settings(
    "figure8", "Shifted inputs, in the sample and in the true error", (MOVED,), 30, 12_000, 48_000, 200, 40
)
QUICK: dict[str, Any] = {"n": 20, "axis": 4000, "epochs": 4000, "every": 200, "seeds": 20, "points": 2000}
FIGURE7, FIGURE8 = ({"quick": replace(whole, **QUICK), "paper": whole} for whole in (NOISY, SHIFTED))


def plan(settings: Settings) -> Iterator[Plan]:
    """Both layers with h = n^-6 and beta = n^3 h, as in figure 2, on corrupted and on clean samples."""
    common: dict[str, Any] = {"every": settings.every, "seeds": settings.seeds, "points": settings.points}
    common |= {"sample": 10 * settings.n, "epochs": settings.epochs, "records": (VoteError(settings.points),)}
    for panel in (*settings.panels, CLEAN):
        task, labels = SymmetricTask(settings.n, flips=panel.flips, shift=panel.shift), {"panel": panel.name}
        yield sgd(task, "both", labels=labels, **common)
        if panel is not CLEAN:
            yield sgd(
                task,
                "random",
                labels=labels,
                **common | {"epochs": settings.axis // 4 // settings.every * settings.every},
            )


def late(settings: Settings, data: Curves, panel: Panel, trained: Trained = "both") -> pd.DataFrame:
    """The median of each run's errors, by seed, over the last quarter of the epochs; a run at rest keeps its own."""
    rows = data.all[(data.all.panel == panel.name) & (data.all.trained == trained)]
    names = ["sample_error", "true_error", "vote_error"]
    last = rows[rows.epoch > 0.75 * settings.epochs].groupby("seed")[names].median()
    ends = data.of(panel=panel.name, trained=trained)[names]
    return last.combine_first(ends)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.4: satisfying results on corrupted data."""
    for panel in settings.panels:
        yield from satisfying(settings, panel)
        if panel.shift:
            yield floor(settings, panel)
            yield converged(settings, panel)


def satisfying(settings: Settings, panel: Panel) -> Iterator[Claim]:
    """What corruption costs, against a clean sample, a random start and a vote."""
    where = f"n = {settings.n}, m = 10 n, {panel.words}"
    of = lambda data, panel=panel, trained="both": late(settings, data, panel, trained)
    against: dict[str, tuple[str, Callable[[Curves], pd.Series]]] = {
        "clean": ("that on a clean sample of the same function", lambda data: of(data, CLEAN).true_error),
        "vote": ("that of the vote of the sample at each |x|", lambda data: of(data).vote_error),
    }
    for name, (words, other) in against.items():
        statement = (
            f"{where}: the true error is satisfying; its median over seeds less {words}, after {settings.epochs:,} "
        )
        measure = lambda data, other=other: median_difference(of(data).true_error - other(data))
        random = lambda data, other=other: float((of(data, trained="random").true_error - other(data)).median())
        null, words = Null("the random start", random), f"{statement}epochs"
        yield Claim(f"{panel.name}/{name}", words, None, Region(high=SIMILAR), measure, null=null, **why(panel, name))
    statement = (
        f"{where}: the true error from the symmetric start is far below that from a random one; median over seeds "
    )
    gain = lambda data: median_difference(of(data, trained="random").true_error - of(data).true_error)
    null = Null("starts that are alike", 0.0)
    yield Claim(f"{panel.name}/random", f"{statement}of the difference", None, Region(low=0.1), gain, null=null)


def why(panel: Panel, name: str) -> dict[str, Any]:
    """What is known of an excess, and the claims that test it."""
    if panel.shift:
        return {"explanation": FLOOR, "tested_by": ("shift/floor",)} if name == "clean" else {"explanation": SEPARABLE}
    return {"explanation": UNTRAINED, "tested_by": (f"{panel.name}/clean",)} if name == "vote" else {}


def floor(settings: Settings, panel: Panel) -> Claim:
    """What moved points cost a vote, which nothing has to be trained for."""
    statement = (
        f"n = {settings.n}, m = 10 n, {panel.words}: a vote errs more often on them than on clean points; median "
    )
    vote = lambda data, panel: late(settings, data, panel).vote_error
    measure = lambda data: median_difference(vote(data, panel) - vote(data, CLEAN))
    words, null = f"{statement}over seeds of the difference", Null("points that are not moved", 0.0)
    return Claim(f"{panel.name}/floor", words, None, Region(low=0.015), measure, null=null)


def converged(settings: Settings, panel: Panel) -> Claim:
    """The training error no longer falls."""

    def measure(data: Curves) -> Any:
        rows = data.all[(data.all.panel == panel.name) & (data.all.trained == "both")]
        part = lambda low: rows[(rows.epoch > low * settings.epochs) & (rows.epoch <= (low + 0.25) * settings.epochs)]
        errors = [part(low).groupby("seed").sample_error.mean() for low in (0.5, 0.75)]
        return median(errors[1] / errors[0])

    statement = (
        f"n = {settings.n}, m = 10 n, {panel.words}: after {settings.epochs:,} epochs the training error no longer "
    )
    statement += (
        "falls; its mean over the last quarter of the epochs over that in the quarter before, median over seeds"
    )
    null = Null("an error that is still halved", 0.5)
    early = "Unexplained: within the epochs of this scale the error still falls." * (settings.n < 30)
    return Claim(f"{panel.name}/converged", statement, None, Region(0.9, 1.1), measure, None, early, null)


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """Training and true error over epochs, the vote's beside them."""
    figure, axes = panels(1, len(settings.panels), width=4.4, height=2.8)
    for axis, panel in zip(axes.flat, settings.panels, strict=True):
        draw_errors(axis, data.all[data.all.panel == panel.name], ("both",))
        vote, clean = late(settings, data, panel).vote_error, late(settings, data, CLEAN).true_error
        axis.axhline(vote.median(), color="0.2", linewidth=0.9, linestyle=(0, (1, 2)), label="vote at each |x|, true")
        axis.axhline(
            clean.median(), color="0.5", linewidth=0.9, linestyle=(0, (4, 2)), label="clean sample, true, late"
        )
        if settings.axis < settings.epochs:
            axis.axvline(settings.axis, color="0.7", linewidth=0.8, label="end of the paper's axis")
        axis.set_title(f"n = {settings.n}, m = {10 * settings.n}, {panel.words}")
    return {settings.figure: finish(figure, axes, settings.title)}
