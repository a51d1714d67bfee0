"""Figure 4 of symmetry: beta = 0 does not impair the performance.

A random symmetric function, n = m = 30, four curves as in figure 2, axis to 2,500 epochs. The step is not printed;
n^-6 as in figure 2. With beta = 0 training ends as soon as no example is misclassified: the perceptron. The
confidence beta = n^3 h of the theory is trained beside it from the same seeds, to compare.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ...figures import panels
from ...training.plans import Plan
from ..base import Claim, Region
from ..measures import fraction, median
from .shared.runs import BOTH_WAYS, Curves, SymmetricTask, Trained, draw_errors, finish, read as read, sgd

SIMILAR = 0.05


@dataclass(frozen=True)
class Settings:
    n: int
    epochs: int
    look: int
    seeds: int
    beside: int
    """Epochs of the runs with beta = n^3 h."""
    points: int = 10_000


SETTINGS = {
    "quick": Settings(n=20, epochs=5000, look=100, seeds=20, beside=20_000, points=2000),
    "paper": Settings(n=30, epochs=10_000, look=100, seeds=20, beside=60_000),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """beta = 0 for both ways of training, and beta = n^3 h for the second layer alone."""
    n = settings.n
    common: dict[str, Any] = {
        "sample": n,
        "power": 6,
        "look": settings.look,
        "seeds": settings.seeds,
        "points": settings.points,
    }
    for trained in BOTH_WAYS:
        yield sgd(SymmetricTask(n), trained, epochs=settings.epochs, confidence=0, **common)
    yield sgd(SymmetricTask(n), "output", epochs=settings.beside, **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.2, second paragraph."""
    n = settings.n
    statement = (
        f"n = m = {n}, beta = 0, both layers: the training error becomes 0; fraction of seeds within "
        f"{settings.epochs} epochs"
    )
    yield Claim(
        "zero", statement, 1.0, Region(low=0.75), lambda data: fraction(by_seed(data, "both").zero_epoch < math.inf)
    )
    yield Claim(
        "similar",
        f"n = m = {n}, beta = 0: both ways of training perform alike; median difference of their true errors",
        "similar",
        Region(high=SIMILAR),
        lambda data: median((by_seed(data, "both").true_error - by_seed(data, "output").true_error).abs()),
    )
    yield Claim(
        "unimpaired",
        f"n = m = {n}: beta = 0 does not impair the performance; median over seeds of the true error with beta = 0 "
        "less that with beta = n^3 h, second layer alone",
        None,
        Region(high=SIMILAR),
        lambda data: median(by_seed(data, "output").true_error - by_seed(data, "output", free=False).true_error),
    )
    yield Claim(
        "sooner",
        f"n = m = {n}: with beta = 0 the training error is 0 no later; median over seeds of the epochs as a "
        "fraction of those with beta = n^3 h (0 if the latter do not suffice)",
        None,
        Region(high=1.0),
        lambda data: median(
            (by_seed(data, "output").zero_epoch / by_seed(data, "output", free=False).zero_epoch).dropna()
        ),
    )


def by_seed(data: Curves, trained: Trained, free: bool = True) -> pd.DataFrame:
    """The ends of runs with beta = 0, or of those with beta = n^3 h."""
    return data.ends[(data.ends.trained == trained) & ((data.ends.confidence == 0) == free)].set_index("seed")


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """The four curves with beta = 0; beside them those of the second layer with beta > 0."""
    figure, axes = panels(1, 2, width=4.2, height=3.0)
    for axis, free, title in ((axes[0, 0], True, "β = 0"), (axes[0, 1], False, "β = n³h")):
        draw_errors(axis, data.all[(data.all.confidence == 0) == free])
        axis.set_title(f"n = m = {settings.n}, {title}")
    return {"figure4": finish(figure, axes, "The confidence β = 0 does as well, and sooner")}
