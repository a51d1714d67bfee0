"""Figure 1, right, of hidden-progress: median convergence times for small n and k, on logarithmic axes.

The time to learn a k-parity of n bits grows like a power of n, with an exponent that grows with k; the paper takes
this as evidence against random search, whose time would grow exponentially in n. It does not name the network. Here
it is setting (ii), the ReLU network of width 100 at rate 1, whose curves are also the second panel of figure 10: both
share their runs.

Exponents are fitted to the medians at n <= 30. For "n to the O(k)" we accept exponents of at most 2k.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from ...figures import panels
from ...statistics import bootstrap_interval, power_law
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, Scale, Verdict
from .medians import (
    RESAMPLES,
    UNKNOWN,
    Curves,
    draw_curves,
    exponent_measured,
    growth_measured,
    known,
    plan_curves,
    times_of,
)


@dataclass(frozen=True)
class Settings:
    curves: Curves
    judged: tuple[int, ...]
    """The degrees that claims speak of."""


def relu_100(sizes: tuple[int, ...], degrees: tuple[int, ...], seeds: int, steps: int) -> Curves:
    return Curves("ii", "ii", 1.0, sizes, degrees, seeds, steps)


SETTINGS = {
    "quick": Settings(relu_100((10, 15, 20, 30), (2, 3, 4), seeds=40, steps=10_000), judged=(2, 3, 4)),
    "paper": Settings(
        relu_100(tuple(range(10, 41)), (2, 3, 4, 5, 6, 7, 8), seeds=1000, steps=100_000), judged=(2, 3, 4)
    ),
}

HOLDS: dict[Scale, Verdict] = {"quick": "holds"}
UNDECIDED: dict[Scale, Verdict] = {"quick": "inconclusive"}
"""Four medians of 40 runs cannot tell a power of n from an exponential law."""


def plan(settings: Settings) -> Iterator[Plan]:
    yield from plan_curves([settings.curves])


def claims(settings: Settings) -> list[Claim]:
    """Powers of n, larger ones for larger k, and nothing like an exponential law."""
    exponents = [
        Claim(
            f"k{k}/exponent",
            f"k = {k}: the time is n to the O(k); the exponent, fitted to the medians",
            None,
            Region(0, 2 * k),
            HOLDS,
        )
        for k in settings.judged
    ]
    growth = [
        Claim(
            f"k{k}/steeper",
            f"the exponent grows with k; that of k = {k} less that of k = {k - 1}",
            None,
            Region(low=0),
            HOLDS,
        )
        for k in settings.judged[1:]
    ]
    laws = [
        Claim(
            f"k{k}/power",
            f"k = {k}: the time is closer to a power of n than to an exponential law, as random search would have; "
            "the misfit of the best power law over that of the best exponential one (root mean squares of logarithms)",
            None,
            Region(high=1),
            UNDECIDED,
        )
        for k in settings.judged[1:]
    ]
    return [*exponents, *growth, *laws]


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Bootstrap over seeds."""
    table, curves = results.table(), settings.curves
    times = {k: times_of(table, curves, k) for k in settings.judged}
    exponents = {f"k{k}/exponent": exponent_measured(curves, times[k]) for k in settings.judged}
    growth = {f"k{k}/steeper": growth_measured(curves, times[k - 1], times[k]) for k in settings.judged[1:]}
    laws = {f"k{k}/power": power_measured(curves, times[k]) for k in settings.judged[1:]}
    return exponents | growth | laws


def power_measured(curves: Curves, times: np.ndarray) -> Measured:
    """Misfit of the power law over misfit of the exponential law, over all sizes before the curve halts."""
    count = known(times)
    if count < 3:
        return UNKNOWN
    sizes = np.array(curves.sizes[:count], float)
    capped = np.minimum(times[:, :count], curves.steps)
    value = lambda sample: misfit(sizes, sample) / misfit(np.exp(sizes), sample)  # a power of exp(n) is exponential
    return Measured(value(capped), bootstrap_interval(capped, value, resamples=RESAMPLES))


def misfit(x: np.ndarray, times: np.ndarray) -> float:
    """Root mean square of log(median) less its best power law in x."""
    medians = np.median(times, axis=0)
    law = power_law(x, medians)
    return float(np.sqrt(np.mean((np.log(medians / law.constant) - law.exponent * np.log(x)) ** 2)))


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One line per degree."""
    curves = settings.curves
    figure, axes = panels(1, 1, width=4.8, height=3.4)
    draw_curves(axes[0, 0], curves, results.table(), (10, 15, 20, 30, 40))
    axes[0, 0].set_ylabel("median convergence time (steps)")
    axes[0, 0].set_title(
        f"(ii) ReLU, width 100, batch 32, rate 1\nmedians over {curves.seeds} runs; slopes grow with k (bars: 95%)"
    )
    axes[0, 0].legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return {"figure1-right": figure}
