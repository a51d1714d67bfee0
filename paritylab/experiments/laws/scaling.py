"""A scaling function for biased inputs: how much bias makes a parity easy is a matter of h = mu sqrt(n).

On inputs of mean mu the parity is no longer orthogonal to its parts. The exact gradient of the relevant weights of a
ReLU unit with sign weights, times n^((k-1)/2), depends on h alone for large n, and grows from its value at h = 0 as
soon as h is about 1: its root mean square over units has the limit sqrt(sum_t C(k-1, t) c_t^2 h^(2(k-1-t))) with the
Hermite coefficients c_t of a step (`analysis.scaled_sign_gradient`). So a curriculum of biased examples pays from a
bias of n^(-1/2) on, and then the batch that sees the gradient falls like h^(-2(k-1)).

Beside it ReLU networks of width 100 are trained on biased inputs from uniform weights, in batches of 32, at rates 1
(that of figure 2 of hidden-progress) and 0.1, at two n of which the larger is four times the smaller. Two times are
measured: the end of the plateau, when the error on fresh biased points is first below 40%, and the step without a
mistake on 8,192 biased points. The law speaks of the first. The second was claimed to fall with it, and does not at
rate 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

import paritylab as pl

from ...analysis import biased_sign_gradient, scaled_sign_gradient
from ...figures import INKS, Axes, Figures, ink, panels
from ...statistics import median_interval
from ...sweep import Call, Results
from ..base import Claim, Measured, Null, Region, within_factor
from ..drawing import error_bars
from ..measures import UNKNOWN, bootstrap, largest

DEGREES = (2, 3, 4)
EXACT = (0.0, 0.5, 1.0, 2.0, 4.0)
"""The h of the exact gradients."""
TRAINED = (0.0, 0.5, 1.0, 1.5, 2.0)
"""The h of trained networks."""
CLOSE = 0.1
"""How far exact gradients may be from the limit, as a fraction of it."""
FACTOR = 1.5
"""How far the effect of a bias may differ between two n, where h is the same."""
RATES, BATCH, WIDTH, K = (1.0, 0.1), 32, 100, 4
LEFT = 0.4
"""The plateau is over where the error on fresh points is below."""
MARKERS = "os^D"


@dataclass(frozen=True)
class Settings:
    seeds: int
    sizes: tuple[int, ...] = (101, 301, 1001, 4001)
    """The n of the exact gradients."""
    trained: tuple[int, int] = (20, 80)
    """The n of trained networks: the larger is four times the smaller, so that its mu is half of that at the same h."""
    steps: int = 100_000


SETTINGS = {"quick": Settings(seeds=12, trained=(15, 60)), "paper": Settings(seeds=60)}
LAST_MISTAKES = "The plateau ends sooner; what takes longer, at rate 1, are the last mistakes on biased points."
TOO_FAST = (
    "The rate: steps of 1 are too large on biased inputs. At a tenth of it the plateau of the same networks is over in "
    "a fraction of the time, and they are done sooner, too."
)
NOT_TOLD = (
    "Unexplained: medians of this many seeds do not tell a factor of 1.5, and the larger n may gain somewhat more."
)
Times = dict[tuple[str, int, float, float], Float[np.ndarray, " seeds"]]
"""By what is timed (`plateau` or `done`), n, rate and h."""


class Scaling(NamedTuple):
    """The exact gradients, a row for each degree, n and h; and times of trained networks."""

    exact: pd.DataFrame
    times: Times


def plan(settings: Settings) -> Iterator[pl.Plan | Call]:
    for k in DEGREES:
        for n in settings.sizes:
            yield Call(gradients, {"n": n, "k": k}, seconds=n * k * 2e-4)
    for n in settings.trained:
        recording = pl.training.Recording((pl.FreshError(),), 10 * max(1, n // 15))
        for h in TRAINED:
            task = pl.Product(pl.Parity(n, support=range(K)), mean=h / np.sqrt(n))
            how: dict[str, Any] = {"rate": [*RATES], "batch": BATCH, "steps": settings.steps, "records": recording}
            yield pl.plan(task, pl.MLP(WIDTH), seeds=settings.seeds, labels={"size": n, "bias": h}, **how)


def gradients(n: int, k: int) -> pd.DataFrame:
    """The scaled gradients at every h."""
    scaled = [n ** ((k - 1) / 2) * biased_sign_gradient(n, k, h / np.sqrt(n)) for h in EXACT]
    return pd.DataFrame({"h": EXACT, "scaled": scaled})


def read(settings: Settings, results: Results) -> Scaling:
    table, curves = results.table(), results.curves()
    ends = curves[curves.fresh_error < LEFT].groupby("run").step.min()
    trained = table[table["size"].notna()]
    trained = trained.assign(
        done=trained.converged_at.astype(float).fillna(np.inf),
        plateau=trained.run.map(ends).astype(float).fillna(np.inf),
    )
    times = {
        (what, int(n), float(rate), float(h)): rows.sort_values("seed")[what].to_numpy(float)
        for (n, rate, h), rows in trained.groupby(["size", "rate", "bias"])
        for what in ("plateau", "done")
    }
    exact = table[table.scaled.notna()].astype({"n": int, "k": int})
    limiting = [float(scaled_sign_gradient(k, h)) for k, h in zip(exact.k, exact.h, strict=True)]
    return Scaling(exact.assign(limiting=limiting), times)


def claims(settings: Settings) -> Iterator[Claim]:
    for k in DEGREES:
        yield of_collapse(settings, k)
    for n in settings.trained:
        yield of_speed(n, large=n == settings.trained[1])
        yield from (of_plateau(n, rate) for rate in RATES)
    yield of_last(settings.trained[1])
    for h in TRAINED[1:]:
        yield of_sizes(settings.trained, h)


def of_collapse(settings: Settings, k: int) -> Claim:
    statement = (
        f"k = {k}, n = {settings.sizes[0]:,} to {settings.sizes[-1]:,}: the relevant gradient of sign units times "
        "n^((k-1)/2) is one function of h = mu sqrt(n), from 0 to 4; its largest relative distance from its limit"
    )
    without = 1 - float(scaled_sign_gradient(k, 0.0) / scaled_sign_gradient(k, EXACT[-1]))
    null = Null("a gradient that no bias changes", without)
    return Claim(f"k{k}/collapse", statement, None, Region(high=CLOSE), partial(distance, k), theory=0.0, null=null)


def distance(k: int, data: Scaling) -> Measured:
    """At odd k without bias the limit is 0, and so is the gradient."""
    rows = data.exact[(data.exact.k == k) & (data.exact.limiting > 0)]
    return largest(np.abs(rows.scaled / rows.limiting - 1))


def of_speed(n: int, large: bool) -> Claim:
    most, (rate, _) = TRAINED[-1], RATES
    statement = (
        f"ReLU networks on the {K}-parity of {n} bits, rate {rate:g}: with h = {most:g} the median time to no mistake "
        "is at most half of that without bias; the one over the other"
    )
    measure, null = lambda data: speed(data.times, "done", n, rate, most), Null("a bias that changes nothing", 1)
    first, second = RATES
    by = (f"n{n}/rate{second:g}/plateau", f"n{n}/rate{second:g}/done" if large else f"n{n}/rate{first:g}/plateau")
    region, why = Region(high=0.5), TOO_FAST if large else LAST_MISTAKES
    return Claim(f"n{n}/faster", statement, None, region, measure, explanation=why, null=null, tested_by=by)


def of_plateau(n: int, rate: float) -> Claim:
    most = TRAINED[-1]
    statement = (
        f"the same networks at rate {rate:g}: the plateau is over in at most half of the time; n = {n}, h = {most:g} "
        "over h = 0"
    )
    measure, null = lambda data: speed(data.times, "plateau", n, rate, most), Null("a bias that changes nothing", 1)
    why, by = (TOO_FAST, (f"n{n}/rate{RATES[1]:g}/plateau",)) if rate == RATES[0] else ("", ())
    name, region = f"n{n}/rate{rate:g}/plateau", Region(high=0.5)
    return Claim(name, statement, None, region, measure, explanation=why, null=null, tested_by=by)


def of_last(n: int) -> Claim:
    most, (_, rate) = TRAINED[-1], RATES
    statement = (
        f"rate {rate:g}, n = {n}: with h = {most:g} the time to no mistake is shorter than without bias; the ratio"
    )
    measure, null = lambda data: speed(data.times, "done", n, rate, most), Null("a bias that changes nothing", 1)
    return Claim(f"n{n}/rate{rate:g}/done", statement, None, Region(high=0.9), measure, null=null)


def of_sizes(sizes: tuple[int, int], h: float) -> Claim:
    """The null compares the same bias mu: at the larger n its h is twice as large."""
    (small, large), rate = sizes, RATES[-1]
    statement = (
        f"what h = {h:g} does to the plateau of ReLU networks at rate {rate:g} does not depend on n; its factor at n = "
        f"{large} over that at n = {small}"
    )
    half = min(TRAINED, key=lambda each: abs(each - h / 2))
    factor = lambda data, n, h: speed(data.times, "plateau", n, rate, h).value
    null = Null("the bias itself counts, not h", lambda data: factor(data, large, h) / factor(data, small, half))
    measure = lambda data: comparison(data.times, sizes, rate, h)
    region = within_factor(1.0, FACTOR)
    return Claim(f"h{h:g}/sizes", statement, None, region, measure, theory=1.0, explanation=NOT_TOLD, null=null)


def speed(times: Times, what: str, n: int, rate: float, h: float) -> Measured:
    """The median time at h over that at 0, with a bootstrap over seeds, which both share."""
    both = np.stack([times[what, n, rate, h], times[what, n, rate, 0.0]], axis=1)
    return quotient(both, lambda medians: medians[0] / medians[1])


def comparison(times: Times, sizes: tuple[int, int], rate: float, h: float) -> Measured:
    """The factor of the larger n over that of the smaller one."""
    four = np.stack([times["plateau", n, rate, each] for n in sizes[::-1] for each in (h, 0.0)], axis=1)
    return quotient(four, lambda medians: medians[0] / medians[1] / (medians[2] / medians[3]))


def quotient(times: np.ndarray, of: Callable[[np.ndarray], float]) -> Measured:
    """A function of medians over seeds; unknown where most runs of a column were not done."""
    value = lambda rows: float(of(np.median(rows, axis=0)))
    return bootstrap(times, value, resamples=1000) if np.isfinite(np.median(times, axis=0)).all() else UNKNOWN


def plot(settings: Settings, data: Scaling) -> Figures:
    """Exact gradients over h on their limits; times over h at either rate, and the limit's prediction of a time."""
    figure, axes = panels(1, 3, width=3.5, height=3.3)
    draw_exact(axes[0, 0], settings, data.exact)
    for axis, rate in zip(axes[0, 1:], RATES, strict=True):
        draw_times(axis, settings, data.times, rate)
    axes[0, 1].set_ylabel("median time / that at h = 0")
    low, high = np.array([axis.get_ylim() for axis in axes[0, 1:]]).T
    for axis in axes[0, 1:]:
        axis.set_ylim(low.min(), high.max())
    axes[0, 2].legend(fontsize=6.5, loc="lower left")
    figure.suptitle("Biased inputs: the gradient is a function of h, the mean times $\\sqrt{n}$")
    return {"scaling": figure}


def draw_exact(axis: Axes, settings: Settings, exact: pd.DataFrame) -> None:
    fine = np.linspace(0, EXACT[-1], 200)
    for i, k in enumerate(DEGREES):
        axis.plot(fine, scaled_sign_gradient(k, fine), label=f"limit, k = {k}", **ink(i))
        for n, marker in zip(settings.sizes, MARKERS, strict=False):
            rows = exact[(exact.k == k) & (exact.n == n) & (exact.limiting > 0)]
            look: dict[str, Any] = {
                "color": INKS[i],
                "markerfacecolor": "none",
                "markersize": 4 + 1.5 * settings.sizes.index(n),
            }
            axis.plot(rows.h, rows.scaled, marker, label=f"n = {n:,}" if i == 0 else None, **look)
    axis.set(
        yscale="log", xlabel="$h = \\mu \\sqrt{n}$", ylabel="relevant gradient $\\times\\ n^{(k-1)/2}$ (rms over units)"
    )
    axis.set_title("exact, ReLU units with sign weights")
    axis.legend(fontsize=7)


def draw_times(axis: Axes, settings: Settings, times: Times, rate: float) -> None:
    """Open marks: no mistake is left. Full ones: the plateau is over."""
    for i, n in enumerate(settings.trained):
        for what, face, words in (("plateau", INKS[i], "plateau over"), ("done", "white", "no mistake")):
            start = np.median(times[what, n, rate, 0.0])
            columns = (times[what, n, rate, h] for h in TRAINED)
            found = [Measured(float(np.median(each)), median_interval(each)) for each in columns]
            known = [each for each in found if np.isfinite([each.value, *each.interval]).all()]
            if len(known) < len(TRAINED):  # most runs of some h are not done: there is no curve
                continue
            medians, bars = (each / start for each in error_bars(known))
            look: dict[str, Any] = {"color": INKS[i], "markerfacecolor": face, "markersize": 5, "capsize": 2}
            style = "-" if what == "plateau" else ":"
            label = f"n = {n}, {words}"
            axis.errorbar(TRAINED, medians, bars, marker=MARKERS[i], linestyle=style, label=label, **look)
    fine = np.linspace(0, TRAINED[-1], 100)
    limit = scaled_sign_gradient(K, fine)
    axis.plot(fine, limit[0] / limit, color="0.4", linestyle="--", label="1 / gradient of sign units")
    axis.set(yscale="log", xlabel="$h = \\mu \\sqrt{n}$")
    axis.set_title(f"ReLU, width {WIDTH}, k = {K}, rate {rate:g}")
