"""How much of the easy half is needed? Samples for the first layer against the mixing weight a.

D = a E1 + (1 - a) uniform. The signal of every pattern is a times that of the easy half, but for terms of size 2^-n,
while the noise is that of a pattern's probability, so that the sign test asks for about 1/a^2 as many examples. (The
noise shrinks a little as a grows: the patterns of E1 are noiseless given their gate.) Measured as in `samples`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...circuits import gate_tables, predicted_samples
from ...figures import ink, one_panel
from ...sweep import Call
from ..base import Claim, Null, Region
from ..drawing import dress
from ..measures import exactly
from .shared.families import alternating, mixture_of
from .shared.fits import power
from .shared.recovery import as_predicted, measured_size, trials_over

SMALL = 0.5
"""The power of a is fitted up to here."""


@dataclass(frozen=True)
class Settings:
    trials: int
    sizes: tuple[int, ...]
    shares: tuple[float, ...]


SETTINGS = {
    "quick": Settings(40, (15,), (0.05, 0.1, 0.2, 0.5, 0.9)),
    "paper": Settings(100, (9, 25, 101), (0.03, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99)),
}


def runs(n: int, shares: tuple[float, ...], trials: int) -> pd.DataFrame:
    """All weights of one n."""
    return trials_over("share", shares, lambda target, share: mixture_of("E1", target, share), n, trials)


def plan(settings: Settings) -> Iterator[Call]:
    for n in settings.sizes:
        yield Call(runs, {"n": n, "shares": settings.shares, "trials": settings.trials}, seconds=4.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """A bootstrap over trials for single sizes."""
    small = [share for share in settings.shares if share <= SMALL]
    yield from (at_share(n, share) for n in settings.sizes for share in settings.shares)
    for n in settings.sizes:
        yield from powers(n, small)


def at_share(n: int, share: float) -> Claim:
    words = "the sample size at which 90% are recovered over the one that the sign test predicts"
    return as_predicted(f"n{n}/a{share:g}", f"n = {n}, a = {share:g}: {words}", lambda table: rows_of(table, n, share))


def powers(n: int, small: list[float]) -> Iterator[Claim]:
    null = Null("as many examples for every a", 0.0)
    statement = f"n = {n}: the measured size grows like 1/a^2 for a up to 1/2; the exponent"
    measure = lambda table: power(small, [measured_size(rows_of(table, n, share)) for share in small])
    yield Claim(f"n{n}/power", statement, None, Region(-2.3, -1.7), measure, theory=-2.0, null=null)
    statement = f"n = {n}: the same exponent in the predictions, for alternating gates"
    measure = lambda table: exactly(power(small, [predicted(n, share) for share in small]).value)
    yield Claim(f"n{n}/predicted-power", statement, None, Region(-2.2, -1.8), measure, theory=-2.0, null=null)


def rows_of(table: pd.DataFrame, n: int, share: float) -> pd.DataFrame:
    return table[(table.n == n) & (table.share == share)]


def predicted(n: int, share: float) -> float:
    target = alternating(n)
    return predicted_samples(gate_tables(target, mixture_of("E1", target, float(share))))


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Examples over a, with the prediction as a line."""
    figure, axis = one_panel(width=4.6, height=3.2)
    a = np.geomspace(min(settings.shares), max(settings.shares), 40)
    for i, n in enumerate(settings.sizes):
        axis.plot(a, [predicted(n, share) for share in a], label=f"n = {n}: sign test", linewidth=1, **ink(i))
        sizes = [measured_size(rows_of(table, n, share)) for share in settings.shares]
        axis.plot(settings.shares, sizes, "osD"[i % 3], color=ink(i)["color"], markersize=5, label="measured")
    first = predicted(settings.sizes[0], a[0])
    axis.plot(a, first * (a / a[0]) ** -2.0, color="0.6", linewidth=0.8, linestyle=":", label="$1/a^2$")
    axis.set(xscale="log", yscale="log", xlabel="share a of the easy half", ylabel="examples that recover all gates")
    title = "A small easy half suffices, at the price of $1/a^2$"
    dress(axis, title=title, ticks=[share for share in settings.shares if share <= 0.9], legend="best")
    return {"mixing": figure}
