"""The first layer of depth-separation: how many examples do the gates need, for each easy half?

The prediction is the sign test's: the smallest m at which sum over gates and patterns of Phi(-sqrt(m) signal / sd) is
0.1, from the exact tables, with lambda = 0. Measured is the sample size at which nine in ten random choices of gates
are recovered, all n of them. Families E1, E2 with five r, E3 (mean 1 - 1/n), E5 (c = 1/4), E6 (flips 1/(2n)) and
E7, three n each and one more: from about 100 examples to more than a million. For three mixtures the test predicts that
no sample that anybody draws will do: E4, whose gates are fair and independent; E1 with an even n, whose label is
constant; and the uniform half alone. There all signals are of size 2^-n.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...circuits import gate_tables, nested_signals, predicted_samples
from ...distributions import AbstractDistribution
from ...figures import INKS, panels
from ...sweep import Call
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, fraction
from .shared.families import MEANINGS, alternating, mixture_of, random_target, signs_of
from .shared.fits import power
from .shared.recovery import FACTOR, as_predicted, measured_size, ratio, recovered, trials_of

SUBSETS = (1, 3, 5, 7, 9)
GROUPS: dict[str, tuple[str, ...]] = {
    "shared": ("E1", "E6", "E7"),
    "subset": tuple(f"E2/{r}" for r in SUBSETS),
    "independent": ("E3", "E5"),
    "far": ("E3",),
}
"""Families whose distributions are of one kind and share a compiled program."""
WORDS = {"E4": "E4: fair independent gates", "even": "E1 with an even n", "hard": "the uniform half alone"}
HOPELESS_SIZE = 20_000
MARKS = {"E1": "o", "E6": "s", "E7": "D", "E3": "^", "E5": "v", "E2": "."}


@dataclass(frozen=True)
class Settings:
    trials: int
    shared: tuple[int, ...]
    """n of E1, E6 and E7."""
    subset: tuple[int, ...]
    """n of E2."""
    independent: tuple[int, ...]
    """n of E3 and E5."""
    far: tuple[int, ...] = ()
    """n of E3 where more than a million examples are needed."""
    hopeless: int = 15

    def trials_of(self, group: str) -> int:
        return self.trials // 5 if group == "far" else self.trials

    def sizes(self, group: str) -> tuple[int, ...]:
        found: tuple[int, ...] = getattr(self, group)
        return found


SETTINGS = {
    "quick": Settings(40, (9, 25, 101), (9, 15), (9, 15)),
    "paper": Settings(200, (9, 51, 401), (9, 15, 25), (9, 15, 25), far=(37,)),
}


def runs(families: tuple[str, ...], n: int, trials: int, first: int) -> pd.DataFrame:
    """Trials of some families of one kind."""
    rows = lambda family: trials_of(functools.partial(mixture_of, family), n, trials, first)
    return pd.concat([pd.DataFrame(rows(family)).assign(family=family) for family in families])


def hopeless_mixture(which: str, target: pl.GateProduct) -> AbstractDistribution:
    if which != "even":
        return mixture_of(which, target)
    equal = pl.distributions.SharedSign(np.ones(target.pairs), 0.0)
    return pl.distributions.separation(pl.distributions.EasyHalf(target, equal))


def hopeless(which: str, n: int, trials: int) -> list[dict[str, object]]:
    """A sample that every other family here would do with at this n, or nearly."""
    rows: list[dict[str, object]] = []
    for seed in range(trials):
        target = random_target(n, seed)
        distribution = hopeless_mixture(which, target)
        exact = gate_tables(target, distribution)
        towards = np.sign(exact.correlation)[:, None] * signs_of(target)
        signals = nested_signals(target, distribution, [HOPELESS_SIZE], key=pl.root_key(2**20 + seed))
        rows.append(
            {
                "family": which,
                "trial": seed,
                "predicted": predicted_samples(exact),
                "recovered": bool(recovered(signals, towards)[0]),
                "gates": float(np.mean(np.all(signals[0] * towards > 0, axis=1))),
            }
        )
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    for group, families in GROUPS.items():
        for n in reversed(settings.sizes(group)):
            parts = 4 if group != "shared" and n >= 15 else 1  # the cores share what is long
            each = settings.trials_of(group) // parts
            for part in range(parts):
                which = {"families": families, "n": n, "trials": each, "first": part * each}
                yield Call(runs, which, {"group": group}, seconds=4.0)
    for name in WORDS:
        n = settings.hopeless + (name == "even")
        yield Call(hopeless, {"which": name, "n": n, "trials": settings.trials}, {"group": "hopeless"}, seconds=2.0)


def cases(settings: Settings) -> dict[tuple[str, int], str]:
    """All families and n, with the groups that they belong to."""
    return {
        (family, n): group for group, families in GROUPS.items() for family in families for n in settings.sizes(group)
    }


def claims(settings: Settings) -> Iterator[Claim]:
    """A bootstrap over trials for sizes, Wilson's interval for fractions."""
    known, far = cases(settings), bool(settings.far)
    all_sizes = lambda table: [measured_size(rows_of(table, *case)) for case in known]
    yield from (at_case(*case, settings.trials_of(group)) for case, group in known.items())
    yield from (is_hopeless(which, settings.hopeless + (which == "even")) for which in WORDS)
    statement = (
        "these three laws need more than 10^9 examples by the sign test; the least of their predictions, as a "
        "power of ten"
    )
    measure = lambda table: exactly(np.log10(table[table.group == "hopeless"].predicted.min()))
    null = Null("E1", float(np.log10(predicted("E1", settings.hopeless))))
    yield Claim("hopeless/predicted", statement, None, Region(low=9.0), measure, null=null)
    statement = f"the measured sizes span at least {'four' if far else 'three'} decades; as a power of ten"
    measure = lambda table: exactly(np.log10(max(all_sizes(table)) / min(all_sizes(table))))
    null = Null("one size for all", 0.0)
    yield Claim("decades", statement, None, Region(low=4.0 if far else 3.0), measure, null=null)
    statement = "E2 needs about 1/r^2 as many examples; the exponent of r through the measured sizes at the largest n"
    with_r = lambda table, r: measured_size(rows_of(table, f"E2/{r}", settings.subset[-1]))
    measure = lambda table: power(SUBSETS, [with_r(table, r) for r in SUBSETS])
    null = Null("one size for every r", 0.0)
    yield Claim("E2/power", statement, None, Region(-2.3, -1.7), measure, theory=-2.0, null=null)
    first, last = settings.shared[0], settings.shared[-1]
    statement = (
        "E1 needs log n examples: ten times as many gates ask for at most twice as many; the factor from the "
        "smallest n to the largest"
    )
    measure = lambda table: growth(rows_of(table, "E1", first), rows_of(table, "E1", last))
    region, null = Region(1.0, 2.0 * np.log10(last / first)), Null("n examples", last / first)
    yield Claim("E1/growth", statement, None, region, measure, null=null)


def at_case(family: str, n: int, trials: int) -> Claim:
    statement = (
        f"{family.replace('/', ' with r = ')}, n = {n}: the sample size at which 90% of {trials} random choices of "
        "gates are recovered, over the one that the sign test predicts"
    )
    return as_predicted(f"{family.replace('/', '-r')}/n{n}", statement, lambda table: rows_of(table, family, n))


def is_hopeless(which: str, n: int) -> Claim:
    statement = (
        f"{WORDS[which]}, n = {n}: {HOPELESS_SIZE:,} examples do not recover the gates; the fraction of runs in which "
        "they do"
    )
    measure = lambda table: fraction(table[table.family == which].recovered)
    null = Null("E1", 1.0)
    return Claim(f"hopeless/{which}", statement, None, Region(high=0.1), measure, theory=0.0, null=null)


def growth(small: pd.DataFrame, large: pd.DataFrame) -> Measured:
    """The factor between two measured sizes, each of which may be off as far as its interval goes."""
    factor, ends = measured_size(large) / measured_size(small), [ratio(rows) for rows in (small, large)]
    low = min(end.interval[0] / end.value for end in ends)
    high = max(end.interval[1] / end.value for end in ends)
    return Measured(factor, (factor * low, factor * high))


def rows_of(table: pd.DataFrame, family: str, n: int) -> pd.DataFrame:
    return table[(table.family == family) & (table.n == n)]


def predicted(family: str, n: int) -> float:
    """What the sign test asks for with alternating gates."""
    target = alternating(int(n))
    return predicted_samples(gate_tables(target, mixture_of(family, target)))


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Measured against predicted, and sizes over n."""
    figure, axes = panels(1, 2, width=4.4, height=3.6)
    draw_diagonal(axes[0, 0], table, settings)
    draw_growth(axes[0, 1], table, settings)
    return shown("samples", figure, "How many examples recover all n gates, for each easy half")


def draw_diagonal(axis: Axes, table: pd.DataFrame, settings: Settings) -> None:
    span, near = np.array([50.0, 6e6]), f"within a factor of {FACTOR}"
    axis.fill_between(span, span / FACTOR, span * FACTOR, color="0.9", linewidth=0, label=near)
    axis.plot(span, span, color="0.5", linewidth=0.8)
    for i, (kind, mark) in enumerate(MARKS.items()):
        chosen = [case for case in cases(settings) if case[0].split("/")[0] == kind]
        style: dict[str, Any] = {"fmt": mark, "color": INKS[i], "markersize": 6 if kind == "E2" else 4}
        for place, case in enumerate(chosen):
            rows = rows_of(table, *case)
            (value, (low, high)), size = ratio(rows), float(rows.predicted.median())
            down, up = max(0.0, value - low), max(0.0, high - value) if np.isfinite(high) else 0.0
            words = f"{kind} {MEANINGS[kind]}" + (", r = 1 to 9" if kind == "E2" else "")
            label = words if place == 0 else None
            axis.errorbar(size, size * value, [[size * down], [size * up]], linewidth=0.8, label=label, **style)
    axis.set(xscale="log", yscale="log", xlim=span, ylim=span, xlabel="predicted by the sign test (examples)")
    dress(axis, ylabel="measured, nine in ten recovered (examples)", legend="upper left", size=6)


def draw_growth(axis: Axes, table: pd.DataFrame, settings: Settings) -> None:
    n = np.unique(np.geomspace(5, settings.shared[-1], 16).astype(int) // 2 * 2 + 1)
    for i, kind in enumerate(MARKS):
        family = "E2/3" if kind == "E2" else kind
        axis.plot(n, [predicted(family, k) for k in n.tolist()], color=INKS[i], linewidth=0.8)
        sizes = next(settings.sizes(group) for group, families in GROUPS.items() if family in families)
        here = [measured_size(rows_of(table, family, k)) for k in sizes]
        axis.plot(
            sizes,
            here,
            MARKS[kind],
            color=INKS[i],
            markersize=4,
            label=f"{kind} {MEANINGS[kind]}" + (", r = 3" if kind == "E2" else ""),
        )
    n = np.arange(5, 14, 2)
    axis.plot(n, [predicted("E4", k) for k in n.tolist()], "--", color="0.4", linewidth=0.8, label="E4, uniform: fail")
    axis.set(xscale="log", yscale="log", xlabel="gates n", ylabel="examples (lines: predicted)", ylim=(50, 2e7))
    dress(axis, legend="beside")
