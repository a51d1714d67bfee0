"""Figure 8 of symmetry: every coordinate of every point moved by a uniform number in [-0.1, 0.1], n = 30, 10 n points.

The label is that of the point before it is moved. The true error is on moved points as well: the text says that
the vectors of the space are shifted. h and beta are those of figure 2. Of the 4n + 3 units those after the first
n + 3 could fire only on a point whose coordinates sum to more than n + 2, which has a probability below 2^-n.
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
    "paper": Settings(n=30, epochs=12_000, look=100, seeds=20),
}
SHIFT = 0.1
WORDS = {"shift": "every entry moved by at most 0.1"}


def plan(settings: Settings) -> Iterator[Plan]:
    """One law."""
    yield train_on(SymmetricTask(settings.n, shift=SHIFT), settings, "shift")


def claims(settings: Settings) -> list[Claim]:
    """Section 5.4."""
    return claims_of(settings, WORDS)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """The median over seeds."""
    return measure_by_panel(results, WORDS)


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One panel."""
    return {"figure8": plot_panels(settings, results, WORDS, "Shifted inputs, in the sample and in the true error")}
