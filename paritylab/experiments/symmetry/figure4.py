"""Figure 4 of symmetry: beta = 0 does not impair the performance.

A random symmetric function, n = m = 30, four curves as in figure 2, axis to 2,500 epochs. The step is not printed;
n^-6 as in figure 2. With beta = 0 training ends as soon as no example is misclassified: the perceptron. The
confidences of the theory, beta = n^3 h as the experiments have it and beta = R^2 h as the proof has it, are trained
beside it from the same seeds, to compare. Most of them are not at 0 when the epochs are over: their times are censored,
and a log-rank test takes that into account.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from ...figures import panels
from ...statistics import log_rank
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..measures import median_difference
from .shared.runs import (
    BOTH_WAYS,
    Curves,
    SymmetricTask,
    by_then,
    draw_errors,
    finish,
    read as read,
    sgd,
    squared_radius,
    unlike,
    without_error,
)

SIMILAR = 0.05
ALIKE = 0.5
"""Two ways of training are alike when their errors differ by half of what two seeds differ by, or less."""
AXIS = 2500
"""The epochs of the paper's figure."""
SOONER = 1.1
"""The least hazard ratio that counts as sooner; 1 is alike."""
NEVER = Null("a constant answer", 0.0)


@dataclass(frozen=True)
class Settings:
    n: int
    epochs: int
    every: int
    seeds: int
    beside: int
    """Epochs of the runs with beta = n^3 h and R^2 h."""
    points: int = 10_000


SETTINGS = {
    "quick": Settings(n=20, epochs=5000, every=100, seeds=40, beside=20_000, points=2000),
    "paper": Settings(n=30, epochs=10_000, every=100, seeds=100, beside=60_000),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """beta = 0 for both ways of training, and beta = n^3 h for the second layer alone."""
    common: dict[str, Any] = {"every": settings.every, "seeds": settings.seeds, "points": settings.points}
    for trained in BOTH_WAYS:
        yield sgd(SymmetricTask(settings.n), trained, epochs=settings.epochs, confidence=0, **common)
    for confidence in confidences(settings.n).values():
        yield sgd(SymmetricTask(settings.n), "output", epochs=settings.beside, confidence=confidence, **common)


def confidences(n: int) -> dict[str, int]:
    """The theory's beta in units of h, as the experiments and as the proof have it."""
    return {"n^3 h": n**3, "R^2 h": squared_radius(n)}


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.2, second paragraph."""
    n = settings.n
    both = lambda data: data.of(trained="both", confidence=0)
    second = lambda data: data.of(trained="output", confidence=0)
    where = f"n = m = {n}, beta = 0, both layers: the training error becomes 0"
    statement = f"{where} within the {AXIS:,} epochs of the figure; fraction of seeds"
    zero, late = lambda data: by_then(both(data), AXIS), "Some seeds need more epochs than the figure has."
    yield Claim("zero", statement, 1.0, Region(low=0.75), zero, None, late, NEVER, ("eventually",))
    statement = f"{where} in the end; fraction of seeds within {settings.epochs:,} epochs"
    yield Claim("eventually", statement, None, Region(low=0.9), lambda data: without_error(both(data)), null=NEVER)
    statement = (
        f"n = m = {n}, beta = 0: both ways of training perform alike; median difference of their true errors, over "
    )
    statement += "that of two seeds"
    apart = lambda data: unlike(second(data).true_error, both(data).true_error)
    yield Claim("similar", statement, "similar", Region(high=ALIKE), apart, null=Null("two seeds", 1.0))
    yield from (of for name, beta in confidences(n).items() for of in against(settings, name, beta))


def against(settings: Settings, name: str, confidence: int) -> Iterator[Claim]:
    """beta = 0 against a confidence of the theory, second layer alone."""
    place, where = name.split()[0].replace("^", ""), f"n = m = {settings.n}, second layer alone"
    free = lambda data: data.of(trained="output", confidence=0)
    confident = lambda data: data.of(trained="output", confidence=confidence)
    statement = f"{where}: beta = 0 does not impair the performance; median over seeds of the true error with beta = 0 "
    impaired = lambda data: median_difference(free(data).true_error - confident(data).true_error)
    null = Null("an untrained network", lambda data: float((0.5 - confident(data).true_error).median()))
    words = f"{statement}less that with beta = {name}"
    yield Claim(f"unimpaired/{place}", words, None, Region(high=SIMILAR), impaired, null=null)

    def sooner(data: Curves) -> Measured:
        first, second = (each(data).zero_epoch.to_numpy(float) for each in (free, confident))
        return Measured(*log_rank(first, second, horizon=min(settings.epochs, settings.beside)))

    statement = f"{where}: with beta = 0 the training error is 0 sooner than with beta = {name}; hazard ratio of the "
    statement += f"log-rank test over {min(settings.epochs, settings.beside):,} epochs"
    yield Claim(f"sooner/{place}", statement, None, Region(low=SOONER), sooner, null=Null("times that are alike", 1.0))


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """The four curves with beta = 0; beside them those of the second layer with beta > 0."""
    figure, axes = panels(1, 2, width=4.2, height=3.0)
    for axis, beta, title in ((axes[0, 0], 0, "β = 0"), (axes[0, 1], settings.n**3, "β = n³h")):
        draw_errors(axis, data.all[data.all.confidence == beta])
        axis.set_title(f"n = m = {settings.n}, {title}")
    axes[0, 0].axvline(AXIS, color="0.6", linewidth=0.8, linestyle=(0, (1, 2)), label="end of the paper's axis")
    return {"figure4": finish(figure, axes, "The confidence β = 0 does as well, and sooner")}
