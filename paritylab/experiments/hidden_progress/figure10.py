"""Figure 10 of hidden-progress: median convergence times over n for twelve ways to train, k = 2 to 8.

Top row: the MLPs (i) to (vi), ReLU at rate 1 and z^k at rate 0.01. Bottom row: (viii), (xiv), the Transformer, the
PolyNet, and (ii) and (v) for larger n. Batches of 32; a median of 1,000 runs per point; curves halt where more than
half of the runs do not learn within 100,000 steps. For small n the time is a power of n, for all configurations; the
exponent grows with k, and for larger n it grows with n.

Three labels of the paper's list (D.1.7) are misprints: its "(vii)" with an oscillating polynomial is (viii), its "(iv)"
is the PolyNet (xv), and its "(xv)" of width 100 is (v). For the last it prints rate 1, against 0.01 in the top row; the
panel has 0.01, and a claim tries rate 1. The ranges of the larger n are not printed, nor is the number of validation
points: 128 here (`shared.medians`), and 8,192 as the other reading where the two disagree, in (iii) and (vi), with (ii)
beside them. The paper has every n from 10 to 40; so has figure 1 (right), here it is every tenth.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...figures import Axes, Figures, panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..measures import UNKNOWN, fraction
from .shared.medians import (
    LEAST_EXPONENT,
    SMALL,
    Curves,
    Medians,
    bootstrap_of_medians,
    degradation,
    draw_medians,
    exponent,
    known,
    plan_curves,
    power_claims,
    read_curves,
)

TITLES = {
    "i": "(i) ReLU, width 10",
    "ii": "(ii) ReLU, width 100",
    "iii": "(iii) ReLU, width 1000",
    "iv": "(iv) $z^k$, width 10",
    "v": "(v) $z^k$, width 100",
    "vi": "(vi) $z^k$, width 1000",
    "viii": "(viii) oscillating\npolynomial, width 1",
    "xiv": "(xiv) sinusoidal\nneuron",
    "*iii": "(*iii) Transformer",
    "xv": "(xv) PolyNet",
    "ii-larger": "(ii) ReLU, width 100,\nlarger n",
    "v-larger": "(v) $z^k$, width 100,\nlarger n",
}
RATES = {
    **dict.fromkeys(("i", "ii", "iii", "ii-larger"), 1.0),
    **dict.fromkeys(("iv", "v", "vi", "viii", "xiv", "v-larger"), 0.01),
    "*iii": 3e-4,
    "xv": 0.05,
}
PRINTED_RATE = 1.0
"""Of (v) for larger n."""


READING = 8192
"""The other number of validation points."""
WIDE = ("iii", "vi")
"""Width 1,000: where the two numbers of validation points give opposite signs."""
LARGER_RATES = (0.003, 0.03)
"""Other rates of (v) for larger n."""


@dataclass(frozen=True)
class Settings:
    curves: tuple[Curves, ...]
    judged: tuple[int, ...]
    """The degrees that claims speak of."""
    printed: Curves
    """(v) at the rate that the paper prints for larger n."""
    readings: tuple[Curves, ...] = ()
    """Some of the curves, validated on 8,192 points."""
    rates: tuple[Curves, ...] = ()
    """(v) for larger n at other rates."""

    @property
    def smaller(self) -> list[Curves]:
        return [curves for curves in self.curves if not curves.name.endswith("-larger")]

    @property
    def larger(self) -> list[Curves]:
        return [curves for curves in self.curves if curves.name.endswith("-larger")]

    @property
    def everything(self) -> list[Curves]:
        return [*self.curves, self.printed, *self.readings, *self.rates]


def curves_of(name: str, sizes: tuple[int, ...], degrees: tuple[int, ...], seeds: int, steps: int) -> Curves:
    return Curves(name, name.removesuffix("-larger"), RATES[name], sizes, degrees, seeds, steps, hard_seeds=100)


def validated(curves: Curves, points: int) -> Curves:
    """The same runs with other validation points."""
    return curves._replace(name=f"{points}/{curves.name}", validation=points)


def at_quick_scale() -> Settings:
    chosen = [curves_of(name, (10, 30), (2, 3), 40, 10_000) for name in ("i", "ii", "iv", "v", "xiv")]
    printed = curves_of("v", (30,), (2, 3), 40, 10_000)._replace(rate=PRINTED_RATE)
    return Settings(tuple(chosen), (2, 3), printed, (validated(chosen[1], READING),))


def at_paper_scale() -> Settings:
    """Every tenth n, and degrees up to where curves halt; fewer for wide networks."""
    sizes, degrees, wide = (10, 20, 30, 40), (2, 3, 4, 5, 6), (2, 3, 4, 5)
    top, bottom, larger = ("i", "ii", "iii", "iv", "v", "vi"), ("viii", "xiv", "xv"), ("ii-larger", "v-larger")
    chosen = [curves_of(name, sizes, wide if name in WIDE else degrees, 1000, 100_000) for name in top]
    chosen += [curves_of(name, sizes, (2, 3, 4, 5), 400, 100_000) for name in bottom]
    chosen += [curves_of("*iii", sizes, (2, 3, 4), 20, 4000)]
    chosen += [curves_of(name, (10, 20, 30, 60, 90), (2, 3), 400, 100_000) for name in larger]
    printed = curves_of("v", (30,), (2, 3), 400, 10_000)._replace(rate=PRINTED_RATE)
    again = [curves_of(name, (10, 20, 30), (2, 3, 4), 400, 20_000) for name in ("ii", *WIDE)]
    rates = [chosen[-1]._replace(name=f"v-larger/rate-{rate:g}", rate=rate, seeds=200) for rate in LARGER_RATES]
    return Settings(tuple(chosen), (2, 3, 4), printed, tuple(validated(each, READING) for each in again), tuple(rates))


SETTINGS = {"quick": at_quick_scale(), "paper": at_paper_scale()}

SHALLOWER = (
    "Unexplained: at rate 0.01 the exponent of (v) falls from about 1 between n = 10 and 30 to 0.3 (k = 2) and 0.7 (k "
    "= 3) between 60 and 90. The rate that the paper prints for this panel is 1, at which nearly all of our runs "
    "diverge; rates of 0.003 and 0.03 are tried beside it."
)
EIGHT_THOUSAND = (
    "On 8,192 points the last mistakes of wide networks count, which take most of the time where the degree is low and "
    "n is large: the exponent of the easier degree comes out too large. On 128 points, as the paper validated its "
    "larger probes, the exponents grow with k; those of width 100 do so on both."
)
WIDE_POWERS = (
    "Unexplained: with 1,000 units z^k the slopes of k = 2, 3 and 4 are 1.9, 1.9 and 1.7 between n = 10 and 30, that "
    "of k = 5 is 2.4; at n = 10 the times are shorter than with 100 units, at n = 40 they are not. On 8,192 points it "
    "is much the same, so the last mistakes are not the reason."
)
FLAT = (
    "Unexplained: at k = 2 the times of these few-unit networks grow by a quarter to a third from n = 10 to 40, like "
    "n^0.16 to n^0.26; the least exponent that is accepted, 0.1 k, was chosen before."
)
CLOSE = "Unexplained: the exponents of neighbouring degrees differ by about as little as is asked for."
WHY: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("viii/k2/exponent", "xiv/k2/exponent", "xv/k2/exponent"), (FLAT, ())),
    **dict.fromkeys(("v/k3/steeper", "xv/k3/steeper"), (CLOSE, ())),
    **dict.fromkeys((f"vi/k{k}/steeper" for k in (3, 4)), (WIDE_POWERS, ())),
    **dict.fromkeys((f"8192/vi/{name}" for name in ("k2/exponent", "k3/steeper", "k4/steeper")), (WIDE_POWERS, ())),
    "8192/iii/k3/steeper": (EIGHT_THOUSAND, ("iii/k3/steeper", "iii/k3/validation")),
}
"""By claim: our explanation, and what tests it."""
NOT_THE_POINTS = {"iii": "Unexplained: at k = 4 both numbers of points give much the same growth.", "vi": WIDE_POWERS}


def words_of(curves: Curves) -> str:
    return TITLES[curves.name.split("/")[-1]].replace("$", "").replace("\n", " ")


def plan(settings: Settings) -> Iterator[Plan]:
    yield from plan_curves(settings.everything)


def read(settings: Settings, results: Results) -> Medians:
    return read_curves(settings.everything, results.table())


def claims(settings: Settings) -> Iterator[Claim]:
    """For every configuration: a power of n, steeper for larger k; steeper for larger n; and the printed rate."""
    for curves in settings.smaller:
        judged = [k for k in settings.judged if k in curves.degrees]
        yield from power_claims(curves, judged, f"{curves.name}/", words_of(curves), WHY)
    for curves in settings.readings:
        yield from of_reading(settings, curves)
    for curves in (*settings.larger, *settings.rates):
        yield from of_larger(curves)
    printed = settings.printed
    text = f"(v) z^k, width 100, n = {printed.sizes[0]}: learns at the rate {PRINTED_RATE:g} that is printed for "
    text += "larger n, or its curve would halt; the fraction of runs"
    why = "The printed rate is taken for a misprint of 0.01, the rate of the same network in the top row."
    region, null, by = Region(low=0.5), Null("a run that never learns", 0), ("v/top-rate",)
    measure = partial(learned, printed)
    yield Claim("v/printed-rate", text, None, region, measure, null=null, explanation=why, tested_by=by)
    own = next(curves for curves in settings.smaller if curves.name == "v")
    text = (
        f"(v) z^k, width 100, n = {printed.sizes[0]}: the control, rate {own.rate:g}; the fraction of runs that learn"
    )
    yield Claim("v/top-rate", text, None, region, partial(learned, own, size=printed.sizes[0]), null=null)


def of_reading(settings: Settings, curves: Curves) -> Iterator[Claim]:
    """On 8,192 points; and what the number of points does to the growth of the exponent."""
    prefix, name = f"{curves.name}/", curves.setting
    judged = [k for k in settings.judged if k in curves.degrees]
    words = f"{words_of(curves)}, validated on {READING:,} points"
    yield from power_claims(curves, judged, prefix, words, WHY)
    if name in WIDE:
        own = next(each for each in settings.smaller if each.name == name)
        for k in judged[1:]:
            text = f"{words_of(curves)}: the growth of the exponent from k = {k - 1} to {k} on 128 points less that on "
            text += f"{READING:,}"
            region, null = Region(low=LEAST_EXPONENT), Null("points do not matter", 0)
            measure, why = partial(difference_of_growth, own, curves, k), NOT_THE_POINTS[name]
            yield Claim(f"{name}/k{k}/validation", text, None, region, measure, explanation=why, null=null)


def of_larger(curves: Curves) -> Iterator[Claim]:
    for k in curves.degrees:
        text = f"({curves.setting}), k = {k}, rate {curves.rate:g}: the exponent is larger for larger n; the difference"
        how: dict[str, Any] = {
            "null": Null("one power of n for all sizes", 0),
            "explanation": SHALLOWER if curves.setting == "v" else "",
        }
        measure = partial(degradation, curves, k)
        yield Claim(f"{curves.name}/k{k}/degrades", text, None, Region(low=0.1), measure, **how)


def difference_of_growth(first: Curves, second: Curves, k: int, data: Medians) -> Measured:
    """How much more the exponent grows to degree k in the first than in the second, over sizes that both know."""
    tables = [data[curves, degree] for curves in (first, second) for degree in (k - 1, k)]
    sizes = [n for n in second.sizes if n <= SMALL and n in first.sizes]
    count = min(known(times) for times in tables)
    runs = min(map(len, tables))
    sizes = sizes[:count]
    if len(sizes) < 2:
        return UNKNOWN
    columns = lambda curves: [curves.sizes.index(n) for n in sizes]
    picked = [
        times[:runs, columns(curves)] for times, curves in zip(tables, (first, first, second, second), strict=True)
    ]
    together = np.stack(picked, axis=1)
    signs = np.array([-1, 1, 1, -1])
    value = lambda rows: float(signs @ [exponent(sizes, rows[:, i]) for i in range(4)])
    return bootstrap_of_medians(together, value)


def learned(curves: Curves, data: Medians, size: int | None = None) -> Measured:
    """The fraction of the runs of degrees 2 and 3, at one size or the first, that learn."""
    place = 0 if size is None else curves.sizes.index(size)
    return fraction(np.isfinite([data[curves, k][:, place] for k in (2, 3)]))


def plot(settings: Settings, data: Medians) -> Figures:
    """Two rows of six, as in the paper, on common axes; what was not run is said."""
    figure, axes = panels(2, 6, width=2.1, height=2.5)
    chosen = {curves.name: curves for curves in settings.curves}
    finite = [times[np.isfinite(times)] for times in data.values()]
    low, high = (float(end([end(each) for each in finite if each.size])) for end in (np.min, np.max))
    for axis, name in zip(axes.flat, TITLES, strict=True):
        if name in chosen:
            draw(axis, chosen[name], data)
            axis.set_ylim(low / 1.5, high * 1.5)
        else:
            axis.axis("off")
            axis.text(0.5, 0.5, "not run\nat this scale", ha="center", va="center", color="0.5")
        axis.set_title(f"{TITLES[name]}\nrate {RATES[name]:g}")
        axis.label_outer(remove_inner_ticks=False)
        axis.xaxis.set_tick_params(labelbottom=True)
    for row in axes:
        row[0].set_ylabel("median time (steps)")
    fewest, most_runs = (end(curves.seeds for curves in settings.curves) for end in (min, max))
    counts = f"{fewest:,} to {most_runs:,}" if fewest < most_runs else f"{fewest:,}"
    most = max(settings.smaller, key=lambda curves: len(curves.degrees)).name
    handles, labels = axes.flat[list(TITLES).index(most)].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=len(labels))
    figure.suptitle(f"Median convergence times of {counts} runs, batch 32, validated on 128 points (bars: 95%)")
    return {"figure10": figure}


def draw(axis: Axes, curves: Curves, data: Medians) -> None:
    """One panel, on the axis of the small sizes or of the large ones."""
    larger = max(curves.sizes) > 40
    draw_medians(axis, curves, data, (10, 30, 90) if larger else (10, 20, 30, 40))
    axis.set_xlim(9, 100 if larger else 44)
