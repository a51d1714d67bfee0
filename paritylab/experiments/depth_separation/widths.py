"""How wide must depth two be to err on at most 10%? Minimal widths over n, from above and from below.

From above: the narrowest network that Adam finds (the best of several seeds, on the uniform half, at the end of a fixed
number of steps), and the explicit one, a polynomial in the number of pairs that are both false, with
n^O(sqrt(n)) units; the smaller of the two counts. From below: Z4, the robust form of Forster's theorem. A network of k
units whose inner weights are integers up to B has rank at most k(Bn + 1) + 1, and a rank too small for an error of
10% is ruled out. It needs small weights and says little at these n: a width of 1. The trained widths grow exponentially
over this range (a first trial: 2, 3, 8, 12, 28, 80, 128 for n = 2 to 8).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import error_from_rank, integer_network_rank
from ...figures import INKS, one_panel
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import dress
from ..measures import exactly
from .shared.baselines import RandomSeparation, falling, last_records
from .shared.fits import exponential

ERROR = 0.1
FOUND_BEFORE = {2: 2, 3: 3, 4: 8, 5: 12, 6: 28, 7: 80, 8: 128}
"""The smallest widths of a first trial."""

MISSED = {5: "Unexplained: at quick scale, 3,000 steps, the best of 16 seeds with 12 units ends at 13.8%."}


@dataclass(frozen=True)
class Settings:
    widths: tuple[tuple[int, tuple[int, ...]], ...]
    """For each n, the widths that are tried."""
    seeds: int
    steps: int
    rate: float = 0.01
    batch: int = 256
    points: int = 16_384

    @property
    def pairs(self) -> list[int]:
        return [pairs for pairs, _ in self.widths]

    def seeds_of(self, pairs: int) -> int:
        """Where runs are short there are more of them."""
        return 8 * self.seeds if pairs <= 3 else self.seeds


SETTINGS = {
    "quick": Settings(widths=((4, (8,)), (5, (12,))), seeds=16, steps=3000),
    "paper": Settings(
        widths=(
            (2, (1, 2)),
            (3, (2, 3, 4, 5)),
            (4, (4, 5, 6, 8, 10)),
            (5, (8, 10, 12, 14, 16)),
            (6, (16, 20, 24, 28, 32, 40)),
            (7, (32, 40, 48, 56, 64, 80)),
            (8, (64, 80, 96, 112, 128)),
            (9, (128, 160, 192, 224, 256, 320)),
        ),
        seeds=16,
        steps=20_000,
    ),
}


def plan(settings: Settings) -> Iterator[Plan]:
    steps = settings.steps
    how: dict[str, Any] = {"rate": settings.rate, "batch": settings.batch, "steps": steps, "every": steps // 4}
    how |= {"lanes": settings.seeds // 2, "points": settings.points}
    for pairs, widths in settings.widths:
        task, seeds = RandomSeparation(pairs, "hard"), settings.seeds_of(pairs)
        for width in widths:
            yield falling(task, pl.MLP(width), seeds=seeds, labels={"pairs": pairs, "width": width}, **how)


def below(pairs: int, weight: int = 1) -> int:
    """The least width that Z4 allows for this error and integer inner weights up to `weight`."""
    width = 1
    while error_from_rank(pairs, rank=int(integer_network_rank(width, pairs, weight=weight).value)).value > ERROR:
        width += 1
    return width


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """For each n: the narrowest trained width with an error of at most 10%, the explicit one, and the smaller."""
    ends = last_records(results.curves())
    best = ends.groupby(["pairs", "width"]).hard_error.min()
    rows = []
    for pairs, widths in settings.widths:
        enough = [width for width in widths if best[pairs, width] <= ERROR]
        trained = float(min(enough)) if enough else np.inf
        explicit = float(pl.networks.narrowest_polynomial(pairs, ERROR).width)
        rows.append({"pairs": pairs, "trained": trained, "explicit": explicit, "least": min(trained, explicit)})
    return pd.DataFrame(rows).set_index("pairs")


def claims(settings: Settings) -> Iterator[Claim]:
    """A width that was found is exact."""
    yield from (as_before(pairs) for pairs in settings.pairs if pairs in FOUND_BEFORE)
    if len(settings.pairs) > 2:  # two points always lie on a line
        statement = (
            "the least width grows like 2^(e n) over these n; e lies between the proven 1/2 of networks with small "
            "weights, less its polynomial factor, and 1 (2^n units, one for each x, would do)"
        )
        measure = lambda found: exponential(found.index, found.least)
        yield Claim(
            "growth", statement, None, Region(0.5, 1.5), measure, theory="about 1", null=Null("one width for all", 0.0)
        )


def as_before(pairs: int) -> Claim:
    statement = (
        f"n = {pairs}: the least width with an error of at most 10% on the uniform half, trained or explicit, "
        "is at most that of a first trial"
    )
    region, measure = Region(high=float(FOUND_BEFORE[pairs])), lambda found: exactly(found.least[pairs])
    null = Null("no network found", np.inf)
    return Claim(f"n{pairs}", statement, None, region, measure, explanation=MISSED.get(pairs, ""), null=null)


def plot(settings: Settings, found: pd.DataFrame) -> dict[str, Figure]:
    """Widths over n, from both sides."""
    figure, axis = one_panel(width=5.6, height=3.6)
    n = found.index.to_numpy(float)
    axis.semilogy(n, found.explicit, "s--", color=INKS[1], markersize=4, label="explicit polynomial")
    axis.semilogy(n, found.trained, "o", color=INKS[0], label="trained with Adam, best seed")
    if len(n) > 2:
        rate = exponential(n, found.least).value
        level = float(np.mean(np.log2(found.least) - rate * n))
        axis.semilogy(n, 2 ** (level + rate * n), color=INKS[0], linewidth=0.9, label=f"$2^{{{rate:.2f}n}}$ fit")
    known = [pairs for pairs in settings.pairs if pairs in FOUND_BEFORE]
    axis.semilogy(known, [FOUND_BEFORE[pairs] for pairs in known], "x", color="0.5", label="first trial, trained")
    axis.semilogy(n, [*map(below, settings.pairs)], "v-", color=INKS[2], markersize=4, label="at least (Z4)")
    axis.set_xticks(settings.pairs)
    title = "Depth two: minimal width on the uniform half"
    dress(axis, xlabel="n (pairs)", ylabel="hidden units at 10% error", title=title, legend="beside")
    return {"widths": figure}
