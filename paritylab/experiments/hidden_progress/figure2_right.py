"""Figure 2, right, of hidden-progress: the exponent of the convergence time grows with n.

Where the time is a power of n for small n, it is a steeper one for larger n: at a constant rate, n to the Theta(k) does
not go on for ever. The paper does not name the network. Here it is setting (ii), the ReLU network of width 100 at rate
1, whose larger sizes are also a panel of figure 10.

The exponent d log t / d log n is fitted to the medians at n <= 30 and, apart from them, at n >= 60.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...figures import Figures, ink, one_panel
from ...statistics import power_law
from ..base import Claim, Null, Region
from .shared import medians
from .shared.medians import LARGE, SMALL, Curves, Medians, degradation, plan as plan, read as read, relu_100

LARGER_SIZES = (10, 20, 30, 40, 60, 75, 90, 120, 150)


@dataclass(frozen=True)
class Settings:
    curves: Curves


SETTINGS = {
    "quick": Settings(relu_100((15, 30, 60, 90), (2, 3), seeds=40, steps=10_000)),
    "paper": Settings(relu_100(LARGER_SIZES, (2, 3, 4), seeds=400, steps=100_000)),
}


def claims(settings: Settings) -> Iterator[Claim]:
    for k in settings.curves.degrees:
        text = f"k = {k}: the exponent is larger for larger n; that at n >= {LARGE} less that at n <= {SMALL}"
        region, null = Region(low=0.1), Null("one power of n for all sizes", 0)
        yield Claim(f"k{k}/degrades", text, None, region, partial(degradation, settings.curves, k), null=null)


def plot(settings: Settings, data: Medians) -> Figures:
    """Medians, and the power law of the small sizes drawn on."""
    curves = settings.curves
    figure, axis = one_panel(width=5.6, height=3.4)
    medians.draw_medians(axis, curves, data, (10, 15, 30, 60, 90, 150))
    for place, k in enumerate(curves.degrees):
        times = data[curves, k]
        sizes = np.array(curves.sizes[: medians.known(times)], float)
        small = np.flatnonzero(sizes <= SMALL)
        if len(small) >= 2:
            law = power_law(sizes[small], np.median(times[:, small], axis=0))
            label = f"k = {k}: $n^{{{law.exponent:.1f}}}$, fitted to n ≤ {SMALL}"
            line = {**ink(place), "linestyle": (0, (1, 2)), "linewidth": 1}
            axis.plot(sizes, law.constant * sizes**law.exponent, label=label, **line)
    axis.set_ylabel("median convergence time (steps)")
    words = f"medians over {curves.seeds} runs leave the power law of small n"
    axis.set_title(f"(ii) ReLU, width 100, batch 32, rate 1\n{words}")
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return {"figure2-right": figure}
