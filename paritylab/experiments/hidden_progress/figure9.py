"""Figure 9 of hidden-progress: coarse scaling of the convergence time with n, for every architecture.

With t(n) the 10th percentile of the convergence time at the best rate, as in figure 7, a cell shows c = t(10) and the
smallest alpha such that t(n) <= c (n - 9)^alpha for n = 20 and 30, by D.2. Boxes are coloured by alpha, and blank where
fewer than a tenth of the runs learn for some n. The paper gives the cells as colours and small print only, so there are
no numbers to compare.

It says that the times are at most c n^(alpha k) with small constants. An exponent is accepted from k / 100, half of the
least that we know (a sinusoid neuron, 0.02 k), up to k, that of exhaustive search; and it should grow with k, as
n^Theta(k) does, which is judged at batch 32. Times come in steps of ten, and at n = 10 and k = 2 most networks need one
or two of them, so exponents can be off by log(2) / log(11) = 0.3: "grows" is judged over degrees 2 and 4 at paper
scale, and a cell whose interval is wider than that is undecided.

Validated on 128 points, as figure 7, with four times the paper's 25 seeds: fewer say nothing of a 10th percentile from
below, with an interval for every n, rate and batch size at once. 8,192 is the other reading, at batch 32. Rate 1 is
left out where figure 7 leaves it out (`grid.WITHOUT_ONE`).
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

import paritylab as pl

from ...figures import Figures, one_panel
from ...registry import NETWORKS, SETTINGS as ARCHITECTURES
from ...statistics import Interval, best_quantile_interval
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..measures import UNKNOWN, share
from .shared.grid import PRINTED_ORDER, RATES, WITHOUT_ONE, Table, name_of, random_parities
from .shared.measures import best_t10

SIZES = (10, 20, 30)
BATCH = 32
"""Where exponents of different degrees are compared."""

Times = Float[np.ndarray, "seeds sizes rates"]


POINTS, READING = 128, 8192
LEAST = 0.01
"""Times k: the least exponent that is accepted."""
COARSE = (
    "Unexplained: a time is a multiple of ten steps, and 100 seeds leave an exponent of two such times an interval "
    "wider than the growth from k = 2 to 4, here 0.05 to 0.26. Over more n, figure 10 tells the degrees of (viii) and "
    "(xiv) apart."
)
STILL = (
    "Unexplained: on 8,192 points the 10th percentiles at n = 10, 20 and 30 differ by a few multiples of ten steps, "
    "and their interval does not leave out that they are alike."
)


@dataclass(frozen=True)
class Settings(Table):
    readings: tuple[str, ...] = ()
    """Architectures that are validated on 8,192 points too, at batch 32."""

    @property
    def cells(self) -> list[tuple[str, int, int, int]]:
        """Setting, degree, batch and validation points."""
        own = itertools.product(self.architectures, self.degrees, self.batches, (POINTS,))
        return [*own, *itertools.product(self.readings, self.degrees, (BATCH,), (READING,))]


SETTINGS = {
    "quick": Settings(60, 500, ("xi", "xii", "xv"), degrees=(2, 3), batches=(32,), readings=("xv",)),
    "paper": Settings(100, 100_000, PRINTED_ORDER, batches=(1, 32, 1024), readings=("i", "iv", "xi", "xv")),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for (setting, k, batch, points), n in itertools.product(settings.cells, SIZES):
        labels, seeds, steps = {"setting": setting, "k": k}, settings.seeds, settings.steps
        how: dict[str, Any] = {
            "rate": RATES,
            "batch": batch,
            "seeds": seeds,
            "steps": steps_of(setting, batch, steps),
            "labels": labels,
        }
        yield random_parities(setting, n, k, validation=points, **how)


def steps_of(setting: str, batch: int, steps: int) -> int:
    """Fewer where a step is long; what learns there at n = 30 does so in 836 steps at batch 1,024, by figure 7."""
    return min(steps, 2000 if batch >= 1024 else 10_000 if setting in ("iii", "vi") else steps)


Data = dict[tuple[str, int, int, int], Times]
"""By setting, degree, batch and validation points: the time of every seed at every n and rate, or infinity."""


def read(settings: Settings, results: Results) -> Data:
    found = {}
    for (setting, k, batch, points), rows in results.table().groupby(["setting", "k", "batch", "validation"]):
        rates = RATES[1:] if setting in WITHOUT_ONE else RATES
        wide = rows.pivot(index="seed", columns=["n", "rate"], values="converged_at")
        times = wide[list(itertools.product(SIZES, rates))].to_numpy(float, na_value=np.inf)
        found[str(setting), int(k), int(batch), int(points)] = times.reshape(-1, len(SIZES), len(rates))
    return found


def claims(settings: Settings) -> Iterator[Claim]:
    for setting in settings.architectures:
        yield from of_architecture(setting, settings, POINTS, settings.batches, "")
    for setting in settings.readings:
        yield from of_architecture(setting, settings, READING, (BATCH,), f"{READING}/")
    text = (
        "all cells are at most c (n - 9)^(k/2), half of exhaustive search's exponent; the share of cells that have one"
    )
    places = [cell for cell in settings.cells if cell[-1] == POINTS]
    null = Null("exhaustive search", 0)
    yield Claim("small-constants", text, None, Region(low=0.9), partial(below_half, places), null=null)


def of_architecture(
    setting: str, settings: Settings, points: int, batches: tuple[int, ...], prefix: str
) -> Iterator[Claim]:
    name, words = prefix + name_of(setting), f"({setting}) {NETWORKS[ARCHITECTURES[setting][0]].what}"
    words += f", validated on {points:,} points" if prefix else ""
    for k in settings.degrees:
        text = f"{words}, k = {k}: the time is n to the Theta(k); the largest alpha over batch sizes"
        measure = partial(largest_of, [(setting, k, batch, points) for batch in batches])
        region, null = Region(LEAST * k, k), Null("a time that does not depend on n", 0)
        yield Claim(f"{name}/k{k}/exponent", text, None, region, measure, explanation=STILL, null=null)
    low, high = settings.degrees[0], settings.degrees[-1]
    text = f"{words}: alpha grows with k; that of k = {high} less that of k = {low}, batch {BATCH}"
    measure = partial(growth, (setting, low, BATCH, points), (setting, high, BATCH, points))
    region, null = Region(low=LEAST), Null("one exponent for all degrees", 0)
    yield Claim(f"{name}/k{high}/steeper", text, None, region, measure, explanation=COARSE, null=null)


def below_half(places: list[tuple[str, int, int, int]], data: Data) -> Measured:
    """The share of the cells with an exponent whose exponent is at most k / 2."""
    found = [(scaling(data[place])[1], place[1]) for place in places]
    known = [alpha <= k / 2 for alpha, k in found if math.isfinite(alpha)]
    return share(known) if known else UNKNOWN


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


def largest_of(places: list[tuple[str, int, int, int]], data: Data) -> Measured:
    """The largest alpha of the cells that have one, from intervals of all their times, which hold together."""
    cells = [data[place] for place in places if math.isfinite(scaling(data[place])[1])]
    if not cells:
        return UNKNOWN
    ends = [scaling_interval(cell, 1 - 0.05 / len(cells)) for cell in cells]
    low, high = np.max(ends, axis=0).tolist()
    return Measured(max(scaling(cell)[1] for cell in cells), (low, high))


def growth(lower: tuple[str, int, int, int], higher: tuple[str, int, int, int], data: Data) -> Measured:
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
    found = [[scaling(data[setting, *column, POINTS]) for column in columns] for setting in settings.architectures]
    alphas = np.array([[alpha for _, alpha in row] for row in found])
    rows = len(settings.architectures)
    figure, axis = one_panel(width=2.6 + 0.8 * len(columns), height=1.3 + 0.3 * rows)
    shown = np.where(np.isfinite(alphas), alphas, np.nan)
    image = axis.imshow(shown, cmap="viridis_r", vmin=0, aspect="auto")
    for (row, column), alpha in np.ndenumerate(alphas):
        if np.isfinite(alpha):
            color = "white" if alpha > np.nanmax(shown) / 2 else "black"
            text = f"{found[row][column][0]:.0f}, {alpha:.2f}"
            axis.text(column, row, text, ha="center", va="center", color=color, fontsize=8)
    axis.set_xticks(range(len(columns)), [f"{batch}" for _, batch in columns])
    axis.set_yticks(range(rows), [f"({setting}) {name_of(setting, ', width ')}" for setting in settings.architectures])
    axis.set_xlabel("batch size")
    for block, k in enumerate(settings.degrees):
        first = block * len(settings.batches)
        axis.text(first + (len(settings.batches) - 1) / 2, -0.65, f"k = {k}", ha="center", fontsize=9)
        axis.axvline(first - 0.5, color="0.2", linewidth=1)
    axis.tick_params(length=0)
    axis.grid(False)
    figure.colorbar(image, ax=axis, label="exponent $\\alpha$")
    axis.set_title("$c$, $\\alpha$ of $t(n) \\leq c\\,(n-9)^\\alpha$, n = 10, 20, 30", pad=18)
    return {"figure9": figure}
