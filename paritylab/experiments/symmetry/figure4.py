"""Figure 4 of symmetry: beta = 0 does not impair the performance.

A random symmetric function, n = m = 30, four curves as in figure 2, axis to 2,500 epochs. The step is not printed;
n^-6 as in figure 2. With beta = 0 training ends as soon as no example is misclassified: the perceptron. The
confidence beta = n^3 h of the theory is trained beside it from the same seeds, to compare.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from ...figures import panels
from ...training.plans import Plan
from ..base import Claim, Region
from ..measures import median
from .shared.runs import BOTH_WAYS, Curves, SymmetricTask, draw_errors, finish, read as read, sgd, without_error

SIMILAR = 0.05


@dataclass(frozen=True)
class Settings:
    n: int
    epochs: int
    every: int
    seeds: int
    beside: int
    """Epochs of the runs with beta = n^3 h."""
    points: int = 10_000


SETTINGS = {
    "quick": Settings(n=20, epochs=5000, every=100, seeds=20, beside=20_000, points=2000),
    "paper": Settings(n=30, epochs=10_000, every=100, seeds=20, beside=60_000),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """beta = 0 for both ways of training, and beta = n^3 h for the second layer alone."""
    common: dict[str, Any] = {"every": settings.every, "seeds": settings.seeds, "points": settings.points}
    for trained in BOTH_WAYS:
        yield sgd(SymmetricTask(settings.n), trained, epochs=settings.epochs, confidence=0, **common)
    yield sgd(SymmetricTask(settings.n), "output", epochs=settings.beside, **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.2, second paragraph."""
    n = settings.n
    both = lambda data: data.of(trained="both", confidence=0)
    second = lambda data: data.of(trained="output", confidence=0)
    confident = lambda data: data.of(trained="output", confidence=n**3)
    statement = (
        f"n = m = {n}, beta = 0, both layers: the training error becomes 0; fraction of seeds within "
        f"{settings.epochs} epochs"
    )
    yield Claim("zero", statement, 1.0, Region(low=0.75), lambda data: without_error(both(data)))
    statement = f"n = m = {n}, beta = 0: both ways of training perform alike; median difference of their true errors"
    apart = lambda data: (both(data).true_error - second(data).true_error).abs()
    yield Claim("similar", statement, "similar", Region(high=SIMILAR), lambda data: median(apart(data)))
    statement = (
        f"n = m = {n}: beta = 0 does not impair the performance; median over seeds of the true error with beta = 0 "
        "less that with beta = n^3 h, second layer alone"
    )
    impaired = lambda data: second(data).true_error - confident(data).true_error
    yield Claim("unimpaired", statement, None, Region(high=SIMILAR), lambda data: median(impaired(data)))
    statement = (
        f"n = m = {n}: with beta = 0 the training error is 0 no later; median over seeds of the epochs as a "
        "fraction of those with beta = n^3 h (0 if the latter do not suffice)"
    )
    ratio = lambda data: (second(data).zero_epoch / confident(data).zero_epoch).dropna()
    yield Claim("sooner", statement, None, Region(high=1.0), lambda data: median(ratio(data)))


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """The four curves with beta = 0; beside them those of the second layer with beta > 0."""
    figure, axes = panels(1, 2, width=4.2, height=3.0)
    for axis, free, title in ((axes[0, 0], True, "β = 0"), (axes[0, 1], False, "β = n³h")):
        draw_errors(axis, data.all[(data.all.confidence == 0) == free])
        axis.set_title(f"n = m = {settings.n}, {title}")
    return {"figure4": finish(figure, axes, "The confidence β = 0 does as well, and sooner")}
