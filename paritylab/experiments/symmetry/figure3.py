"""Figure 3 of symmetry: steps larger than the theory allows reach zero training error sooner and cost true error.

A random symmetric function, n = m = 30, beta = n^3 h, h = n^-2, n^-3 and n^-4. The text says that two of the three
are much larger than the theory suggests; all of them are larger than n^-6.

With only the second layer trained, h is a unit of measure (output and beta are multiples of it): its curves are
the same run for every h, which the paper draws three times. The paper's axes end at 16,000, 80,000 and 90,000
epochs; runs end here when no example violates the margin.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from ...figures import panels
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..measures import median, median_difference
from .shared.runs import Curves, SymmetricTask, draw_difference, draw_errors, finish, read as read, sgd, without_error

NEVER = Null("a constant answer", 0.0)
LARGE, SMALL = 2, 4
"""The largest and the smallest step, as powers of 1/n."""


@dataclass(frozen=True)
class Settings:
    n: int
    epochs: Mapping[int, int]
    """The end of each axis, by the power of 1/n that h is."""
    every: int
    seeds: int
    points: int = 10_000


SETTINGS = {
    "quick": Settings(n=20, epochs={2: 3000, 3: 20_000, 4: 20_000}, every=200, seeds=20, points=2000),
    "paper": Settings(n=30, epochs={2: 16_000, 3: 80_000, 4: 90_000}, every=250, seeds=20),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """Both layers at each step, and the second layer once for all."""
    common: dict[str, Any] = {"every": settings.every, "seeds": settings.seeds, "points": settings.points}
    for power, epochs in settings.epochs.items():
        yield sgd(SymmetricTask(settings.n), "both", power=power, epochs=epochs, **common)
    yield sgd(SymmetricTask(settings.n), "output", power=0, epochs=max(settings.epochs.values()), **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.2."""
    n = settings.n
    large, small = (lambda data, power=power: data.of(trained="both", power=power) for power in (LARGE, SMALL))
    statement = f"n = m = {n}, both layers, h = n^-2: the training error becomes 0; fraction of seeds"
    yield Claim("zero", statement, 1.0, Region(low=0.75), lambda data: without_error(large(data)), null=NEVER)
    statement = (
        f"n = m = {n}, both layers: the training error falls to 0 much faster with the larger step; median over "
        "seeds of the epochs with h = n^-2 as a fraction of those with h = n^-4 (0 if the latter do not suffice)"
    )
    ratio = lambda data: (large(data).zero_epoch / small(data).zero_epoch).fillna(math.inf)  # neither does
    yield Claim(
        "faster", statement, None, Region(high=0.5), lambda data: median(ratio(data)), null=Null("steps alike", 1.0)
    )
    statement = (
        f"n = m = {n}: with a large step generalization ceases; median over seeds of the true error with both "
        "layers at h = n^-2 less that with the second layer alone"
    )
    loss = lambda data: large(data).true_error - data.of(trained="output").true_error
    null = Null("ways that are alike", 0.0)
    yield Claim("loses", statement, "large", Region(low=0.05), lambda data: median_difference(loss(data)), null=null)
    statement = f"n = m = {n}, both layers, h = n^-2: the true error is large; its median"
    second = Null("the second layer alone", lambda data: float(data.of(trained="output").true_error.median()))
    yield Claim(
        "chance", statement, "large", Region(low=0.25), lambda data: median(large(data).true_error), null=second
    )


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """One panel per step; the second layer alone is the same in each, and below is what both layers differ from it."""
    curve = data.all
    figure, axes = panels(2, len(settings.epochs), width=3.2, height=2.2)
    for column, (power, epochs) in enumerate(settings.epochs.items()):
        here = curve[((curve.power == power) | (curve.trained == "output")) & (curve.epoch <= epochs)]
        draw_errors(axes[0, column], here, single=True)
        draw_difference(axes[1, column], here)
        axes[0, column].set_title(f"h = n$^{{-{power}}}$")
    axes[1, 0].set_ylabel("true error, both layers\nless second layer only")
    title = f"Larger steps: zero training error sooner, at the expense of the true error (n = m = {settings.n})"
    return {"figure3": finish(figure, axes, title)}
