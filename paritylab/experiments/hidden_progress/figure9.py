"""Figure 9 of hidden-progress: coarse scaling of the convergence time with n, for every architecture.

With t(n) the 10th percentile of the convergence time at the best rate, as in figure 7, a cell shows c = t(10) and the
smallest alpha such that t(n) <= c (n - 9)^alpha for n = 20 and 30, by D.2. Boxes are coloured by alpha, and blank where
fewer than a tenth of the runs learn for some n. The paper gives the cells as colours and small print only, so there are
no numbers to compare.

It says that the times are at most c n^(alpha k) with small constants: we accept exponents of at most 2k. They should
grow with k, as n^Theta(k) does; that is judged at batch 32. Times come in steps of ten, and at n = 10 and k = 2 most
networks need one or two of them, so exponents at quick scale can be off by log(2) / log(11) = 0.3.
"""

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from jaxtyping import Float

import paritylab as pl

from ...figures import Figures, one_panel
from ...registry import NETWORKS, SETTINGS as ARCHITECTURES
from ...statistics import Interval, best_quantile_interval
from ...sweep import Results
from ..base import Claim, Measured, Region
from ..measures import UNKNOWN
from .shared.grid import RATES, Table as Settings, name_of, random_parities
from .shared.measures import best_t10

SIZES = (10, 20, 30)
BATCH = 32
"""Where exponents of different degrees are compared."""

Times = Float[np.ndarray, "seeds sizes rates"]


SETTINGS = {
    "quick": Settings(60, 500, architectures=("xi", "xii", "xv"), degrees=(2, 3), batches=(32,)),
    "paper": Settings(seeds=25, steps=100_000),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    """The runs at n = 30 are those of figure 7."""
    for setting, k, batch, n in itertools.product(settings.architectures, settings.degrees, settings.batches, SIZES):
        labels, seeds, steps = {"setting": setting, "k": k}, settings.seeds, settings.steps
        yield random_parities(setting, n, k, rate=RATES, batch=batch, seeds=seeds, steps=steps, labels=labels)


Data = dict[tuple[str, int, int], Times]
"""By setting, degree and batch: the time of every seed at every n and rate; infinite if it did not learn."""


def read(settings: Settings, results: Results) -> Data:
    found = {}
    for (setting, k, batch), rows in results.table().groupby(["setting", "k", "batch"]):
        wide = rows.pivot(index="seed", columns=["n", "rate"], values="converged_at")
        times = wide[list(itertools.product(SIZES, RATES))].to_numpy(float, na_value=np.inf)
        found[str(setting), int(k), int(batch)] = times.reshape(-1, len(SIZES), len(RATES))
    return found


def claims(settings: Settings) -> Iterator[Claim]:
    for setting in settings.architectures:
        name, words = name_of(setting), f"({setting}) {NETWORKS[ARCHITECTURES[setting][0]].what}"
        for k in settings.degrees:
            text = f"{words}, k = {k}: the time is n to the O(k); the largest alpha over batch sizes"
            measure = partial(largest_of, [(setting, k, batch) for batch in settings.batches])
            yield Claim(f"{name}/k{k}/exponent", text, None, Region(high=2 * k), measure)
        for k in settings.degrees[1:]:
            text = f"{words}: alpha grows with k; that of k = {k} less that of k = {k - 1}, batch {BATCH}"
            measure = partial(growth, (setting, k - 1, BATCH), (setting, k, BATCH))
            yield Claim(f"{name}/k{k}/steeper", text, None, Region(low=0), measure)


def scaling(times: Times) -> tuple[float, float]:
    """c and alpha; alpha is infinite where some n has no 10th percentile."""
    first, *others = (best_t10(times[:, place]) for place in range(len(SIZES)))
    if math.inf in (first, *others):
        return first, math.inf
    return first, max(math.log(t / first) / math.log(n - 9) for n, t in zip(SIZES[1:], others, strict=True))


def scaling_interval(times: Times, confidence: float) -> Interval:
    """An interval of alpha: every t(n) may be anywhere in its own, and all of these hold with the confidence."""
    each = 1 - (1 - confidence) / len(SIZES)
    (low, high), *others = (best_quantile_interval(times[:, place], 0.1, each) for place in range(len(SIZES)))
    with np.errstate(divide="ignore"):  # an end of which nothing is known is 0 or infinite
        least, most = np.log([(end[0] / high, end[1] / low if low else math.inf) for end in others]).T
    lengths = np.log(np.array(SIZES[1:]) - 9)
    return float(np.max(least / lengths)), float(np.max(most / lengths))


def largest_of(places: list[tuple[str, int, int]], data: Data) -> Measured:
    """The largest alpha of the cells that have one, from intervals of all their times, which hold together."""
    cells = [data[place] for place in places if math.isfinite(scaling(data[place])[1])]
    if not cells:
        return UNKNOWN
    ends = [scaling_interval(cell, 1 - 0.05 / len(cells)) for cell in cells]
    low, high = np.max(ends, axis=0).tolist()
    return Measured(max(scaling(cell)[1] for cell in cells), (low, high))


def growth(lower: tuple[str, int, int], higher: tuple[str, int, int], data: Data) -> Measured:
    """How much larger the alpha of the second cell is."""
    cells = data[lower], data[higher]
    alphas = [scaling(cell)[1] for cell in cells]
    if math.inf in alphas:
        return UNKNOWN
    (low, high), (other_low, other_high) = (scaling_interval(cell, 0.975) for cell in cells)
    return Measured(alphas[1] - alphas[0], (other_low - high, other_high - low))


def plot(settings: Settings, data: Data) -> Figures:
    """Rows are architectures, columns degrees and batch sizes; a cell says c and alpha."""
    columns = list(itertools.product(settings.degrees, settings.batches))
    found = [[scaling(data[setting, *column]) for column in columns] for setting in settings.architectures]
    alphas = np.array([[alpha for _, alpha in row] for row in found])
    rows = len(settings.architectures)
    figure, axis = one_panel(width=2.4 + 0.8 * len(columns), height=1.1 + 0.3 * rows)
    shown = np.where(np.isfinite(alphas), alphas, np.nan)
    image = axis.imshow(shown, cmap="viridis_r", vmin=0, aspect="auto")
    for (row, column), alpha in np.ndenumerate(alphas):
        if np.isfinite(alpha):
            color = "white" if alpha > np.nanmax(shown) / 2 else "black"
            text = f"{found[row][column][0]:.0f}, {alpha:.2f}"
            axis.text(column, row, text, ha="center", va="center", color=color, fontsize=8)
    axis.set_xticks(range(len(columns)), [f"k = {k}\nB = {batch}" for k, batch in columns])
    axis.set_yticks(range(rows), [f"({setting}) {name_of(setting)}" for setting in settings.architectures])
    axis.tick_params(length=0)
    axis.grid(False)
    figure.colorbar(image, ax=axis, label="exponent $\\alpha$")
    axis.set_title("$c$, $\\alpha$ of $t(n) \\leq c\\,(n-9)^\\alpha$, n = 10, 20, 30 (t: 10th percentile, best rate)")
    return {"figure9": figure}
