"""Figure 7 of symmetry: labels of the sample flipped at random, n = 30, 10 n points.

The probability is unreadable in print, a fraction with numerator 1: both 1/10 and 1/100 are run. h and beta are
those of figure 2. A sample with flipped labels has points of one weight with different labels: no network that
depends on |x| alone fits it, so the training error stays near the share of flipped labels, and training does not
end. The true error is on clean labels.
"""

from collections.abc import Iterator

from matplotlib.figure import Figure

from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured
from .corrupted import Settings, claims_of, measure_by_panel, plot_panels, train_on
from .runs import SymmetricTask

SETTINGS = {
    "quick": Settings(n=20, epochs=4000, look=200, seeds=20, points=2000),
    "paper": Settings(n=30, epochs=7000, look=100, seeds=20),
}
FLIPS = {"p10": 1 / 10, "p100": 1 / 100}
WORDS = {"p10": "1 label in 10 flipped", "p100": "1 label in 100 flipped"}


def plan(settings: Settings) -> Iterator[Plan]:
    """Both readings of the probability."""
    for panel, flips in FLIPS.items():
        yield train_on(SymmetricTask(settings.n, flips=flips), settings, panel)


def claims(settings: Settings) -> list[Claim]:
    """Section 5.4."""
    return claims_of(settings, WORDS)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """The median over seeds."""
    return measure_by_panel(results, WORDS)


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One panel per probability."""
    return {"figure7": plot_panels(settings, results, WORDS, "Flipped labels in the sample, true error on clean ones")}
