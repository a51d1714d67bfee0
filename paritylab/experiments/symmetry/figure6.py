"""Figure 6 of symmetry: a random symmetric function, n = 20, from the symmetric start and from a random one.

Samples of n, n^2, n^3 and n^4 points (quick: n and n^2). With the symmetric start both errors become small quickly;
from a random start a small sample is learned by heart while the true error stays near one half, and a large one is
not even learned by heart. See `starts` for the settings and what the paper does not print.
"""

from collections.abc import Iterator

from matplotlib.figure import Figure

from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured
from .starts import Panel, Settings, claims_of_starts, measure_starts, plan_starts, plot_starts

SETTINGS = {
    "quick": Settings(panels=(Panel(1, 2000, 100, 12_000), Panel(2, 400, 40, 2000)), seeds=20, many=200),
    "paper": Settings(
        panels=(Panel(1, 450, 10, 20_000), Panel(2, 180, 10, 2000), Panel(3, 250, 10, 500), Panel(4, 25, 1, 100)),
        seeds=20,
        many=600,
    ),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """Both starts on each sample size."""
    return plan_starts(settings, "random")


def claims(settings: Settings) -> list[Claim]:
    """Section 5.3."""
    return claims_of_starts(settings, "random")


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """As in `starts`."""
    return measure_starts(settings, results)


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One panel per size of the sample."""
    return {
        "figure6": plot_starts(
            settings, results, "Random symmetric functions: learned from the symmetric start, not from a random one"
        )
    }
