"""Figures 7 and 8 of symmetry: the symmetric start on corrupted data, n = 30, samples of 10 n points.

Figure 7: labels of the sample are flipped at random. The probability is unreadable in print, a fraction with numerator
1: both 1/10 and 1/100 are run. A sample with flipped labels has points of one weight with different labels: no network
that depends on |x| alone fits it, so the training error stays near the share of flipped labels, and training does not
end. The true error is on clean labels.

Figure 8: every coordinate of every point is moved by a uniform number in [-0.1, 0.1]. The label is that of the point
before it is moved. The true error is on moved points as well: the text says that the vectors of the space are shifted.
Of the 4n + 3 units those after the first n + 3 could fire only on a point whose coordinates sum to more than n + 2,
which has a probability below 2^-n.

h and beta are those of figure 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.figure import Figure

from ...figures import panels
from ...training.plans import Plan
from ..base import Claim, Region
from ..measures import median
from .shared.runs import Curves, SymmetricTask, draw_errors, finish, read as read, sgd

SATISFYING = 0.25
"""Half of chance; the paper gives no number."""


@dataclass(frozen=True)
class Panel:
    name: str
    words: str
    flips: float = 0.0
    """The probability of a flipped label."""
    shift: float = 0.0
    """By how much a coordinate is moved at most."""


@dataclass(frozen=True)
class Settings:
    figure: str
    title: str
    panels: tuple[Panel, ...]
    n: int
    epochs: int
    every: int
    seeds: int
    points: int = 10_000


FLIPPED = Panel("p10", "1 label in 10 flipped", flips=1 / 10), Panel("p100", "1 label in 100 flipped", flips=1 / 100)
MOVED = (Panel("shift", "every entry moved by at most 0.1", shift=0.1),)
NOISY = Settings(
    "figure7", "Flipped labels in the sample, true error on clean ones", FLIPPED, n=30, epochs=7000, every=100, seeds=20
)
SHIFTED = Settings(
    "figure8", "Shifted inputs, in the sample and in the true error", MOVED, n=30, epochs=12_000, every=100, seeds=20
)
FIGURE7, FIGURE8 = (
    {"quick": replace(whole, n=20, epochs=4000, every=200, points=2000), "paper": whole} for whole in (NOISY, SHIFTED)
)


def plan(settings: Settings) -> Iterator[Plan]:
    """Both layers with h = n^-6 and beta = n^3 h, as in figure 2."""
    common: dict[str, Any] = {"every": settings.every, "seeds": settings.seeds, "points": settings.points}
    for panel in settings.panels:
        task, labels = SymmetricTask(settings.n, flips=panel.flips, shift=panel.shift), {"panel": panel.name}
        yield sgd(task, "both", sample=10 * settings.n, epochs=settings.epochs, labels=labels, **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.4: satisfying results on corrupted data."""

    def satisfying(panel: Panel) -> Claim:
        statement = (
            f"n = {settings.n}, m = 10 n, {panel.words}: the true error is satisfying, taken as less than half of "
            f"chance; its median after {settings.epochs} epochs"
        )
        measure = lambda data: median(data.of(panel=panel.name).true_error)
        return Claim(f"{panel.name}/true", statement, None, Region(high=SATISFYING), measure)

    yield from map(satisfying, settings.panels)


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """Training and true error over epochs."""
    figure, axes = panels(1, len(settings.panels), width=4.4, height=2.8)
    for axis, panel in zip(axes.flat, settings.panels, strict=True):
        draw_errors(axis, data.all[data.all.panel == panel.name], ("both",))
        axis.set_title(f"n = {settings.n}, m = {10 * settings.n}, {panel.words}")
    return {settings.figure: finish(figure, axes, settings.title)}
