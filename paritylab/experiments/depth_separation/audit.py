"""Which easy halves work? The correlation audit of depth-separation, and what 'reveals the function' has to do with it.

For each family, mixed half and half with uniform points: the correlations c_i = E[y g_i], E[y], the signals E[y 1{p}],
the least probability of a pattern, the means of the inputs and whether unlabelled inputs reveal the gates. Three
routes: closed forms of the package, the formulas as they are derived by hand, and a sample.

The draft hopes that its easy half 'reveals the target function directly from the data points, without the need to
observe the labels'. That is neither necessary (E5 has the same inputs for all choices of gates, and is learned) nor
sufficient (E4 shows every gate in the means of its inputs, and no gate correlates with the label). What counts is
local correlation: that the number of examples which the sign test asks for grows like a power of n, not like 4^n.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...circuits import GateTables, audit, gate_tables, predicted_samples, reveals_gates, sampled_tables
from ...figures import INKS, panels
from ...sweep import Call, Results
from ..base import IDENTITY, Claim, Null, Region
from ..drawing import shown
from ..measures import exactly, largest
from .shared.families import MEANINGS, alternating, mixture_of, odd_near, random_target

NAMES = ("E1", "E1'", "E2", "E3", "E4", "E5", "E6", "E7", "hard")
PRINTED = (*NAMES[:-1], "uniform")
SQUARE = {"E1": (True, True), "E5": (False, True), "E4": (True, False), "hard": (False, False)}
"""Reveals the gates; has local correlation."""
FARTHEST = 4.5
"""Standard deviations; one in 150,000 normal numbers is farther out, and about 1,300 are compared."""
POLYNOMIAL = 4.0
"""Above this exponent of n, between n = 15 and 25, the number of examples counts as exponential (4^n has 27)."""


@dataclass(frozen=True)
class Settings:
    n: int
    points: int = 400_000


SETTINGS = {"quick": Settings(15), "paper": Settings(25, 4_000_000)}


class Moments(NamedTuple):
    """What was derived by hand."""

    correlation: np.ndarray
    """c of every gate."""
    label: float
    """E[y]"""
    inputs: np.ndarray
    """E[x_i], and E[z_i], which is the same."""


def by_hand(family: str, target: pl.GateProduct) -> Moments:
    """The easy half's moments as derived by hand; E[x_i] = (mean of gate i times 2 - o_i) / 3 where
    patterns are uniform given their gate."""
    n, o = target.pairs, np.asarray(target.ors, float)
    ones, r, b, e, q = np.ones(n), odd_near(n / 3), 1 - 1 / n, 0.5 / n, 0.25 / n
    mu = np.where(o > 0, 1 - 2 * q, 1 - 6 * q)
    inputs: Callable[[np.ndarray | float], np.ndarray] = lambda mean: (2 * mean - o) / 3
    formulas: dict[str, tuple[np.ndarray, float, np.ndarray]] = {
        "E1": (ones, 0.0, inputs(0.0)),
        "E1'": ((1 - 1 / n) * ones, 0.0, inputs(1 / n)),
        "E2": (r / n * ones, 0.0, inputs(1 - r / n)),
        "E3": (b ** (n - 1) * ones, b**n, inputs(b)),
        "E4": (0 * ones, 0.0, inputs(0.0)),
        "E5": (np.prod(mu) / mu, float(np.prod(mu)), (1 - 4 * q) * ones),
        "E6": ((1 - 2 * e) ** (n - 1) * ones, 0.0, inputs(0.0)),
        "E7": (o * np.prod(o), float(np.prod(o)) / 2, 0 * ones),
        "hard": (np.prod(o) * o / 2 ** (n - 1), float(np.prod(o)) / 2**n, 0 * ones),
    }
    return Moments(*formulas[family])


def mixed(family: str, target: pl.GateProduct) -> Moments:
    """The same for the mixture with the uniform half."""
    easy, hard = by_hand(family, target), by_hand("hard", target)
    if family == "hard":
        return hard
    return Moments(*((getattr(easy, name) + getattr(hard, name)) / 2 for name in Moments._fields))


def farthest(sampled: GateTables, exact: GateTables, points: int) -> float:
    """The largest distance of a sampled number from the exact one, in its standard deviations."""
    square = lambda mean: np.maximum(1 - np.asarray(mean) ** 2, 1e-12)
    pairs: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [
        (sampled.correlation, exact.correlation, square(exact.correlation)),
        (np.array(sampled.label_mean), np.array(exact.label_mean), square(exact.label_mean)),
        (sampled.probability, exact.probability, exact.probability * (1 - exact.probability)),
        (sampled.signal, exact.signal, exact.probability - exact.signal**2),
        (sampled.input_mean, exact.input_mean, square(exact.input_mean)),
    ]
    return max(float(np.max(np.abs(a - b) / np.sqrt(variance / points))) for a, b, variance in pairs)


def count_of(family: str, n: int) -> int:
    """E1' serves even n."""
    return n + 1 if family == "E1'" else n


def audited(family: str, n: int, points: int) -> dict[str, object]:
    """One family: exact, by hand and sampled."""
    target = random_target(count_of(family, n), 7)
    distribution = mixture_of(family, target)
    exact = gate_tables(target, distribution)
    found = audit(target, exact)
    correlation, label, inputs = mixed(family, target)
    apart = exact.correlation - correlation, exact.label_mean - label, exact.input_mean[:, 0] - inputs
    small, large = (alternating(count_of(family, size)) for size in (15, 25))
    needed = [predicted_samples(gate_tables(each, mixture_of(family, each))) for each in (small, large)]
    return {
        "correlation": float(np.min(np.abs(exact.correlation))),
        "label_mean": exact.label_mean,
        "slack": found.slack,
        "least_pattern": found.least_probability,
        "largest_input_mean": float(np.max(np.abs(exact.input_mean))),
        "reveals": reveals_gates(lambda each: mixture_of(family, each), random_target(5 + (family == "E1'"), 1)),
        "samples": found.samples,
        "exponent": math.log(needed[1] / needed[0]) / math.log(large.pairs / small.pairs),
        "off_by_hand": max(float(np.max(np.abs(each))) for each in apart),
        "farthest": farthest(sampled_tables(target, distribution, points, key=pl.root_key(3)), exact, points),
    }


def plan(settings: Settings) -> Iterator[Call]:
    for family in NAMES:
        yield Call(audited, {"family": family, "n": settings.n, "points": settings.points}, seconds=3.0)


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """The numbers by family."""
    return results.table().set_index("family")


def claims(settings: Settings) -> Iterator[Claim]:
    """All exact but for the distances of samples, whose region has the chance in it."""
    yield from (as_sampled(family, settings.points) for family in NAMES)
    yield from map(in_the_square, SQUARE)
    statement = (
        "the formulas derived by hand are the closed forms of the package: c_i, E[y] and E[x_i] of all families; "
        "the largest difference"
    )
    measure = lambda table: largest(table.off_by_hand)
    yield Claim("by-hand", statement, None, Region(0.0, 1e-12), measure, theory=0.0, null=IDENTITY)
    statement = (
        "under E7 no single pair shows anything: all means of inputs are 0 and all patterns have probability 1/4, "
        "and two pairs together reveal the gates; 1 if so"
    )
    measure = lambda table: exactly(is_stealthy(table.loc["E7"]))
    null = Null("E1", lambda table: float(is_stealthy(table.loc["E1"])))
    yield Claim("E7/uniform-pairs", statement, None, Region(1.0, 1.0), measure, theory=1.0, null=null)
    statement = (
        f"E1 has a slack |c| - |E[y]| of at least 1/2 - 3/2^(n+1) in the mixture; the slack less that, n = {settings.n}"
    )
    measure = lambda table: exactly(table.slack["E1"] - (0.5 - 3 * 2.0 ** -(settings.n + 1)))
    null = Null("no correlation", 3 * 2.0 ** -(settings.n + 1) - 0.5)
    yield Claim("E1/slack", statement, None, Region(low=-1e-12), measure, null=null)


def as_sampled(family: str, points: int) -> Claim:
    statement = (
        f"{family}: every correlation, signal, pattern probability and mean of a sample of {points:,} is "
        "what the closed forms say; the largest distance in standard deviations"
    )
    measure = lambda table: exactly(table.farthest[family])
    null = Null("a correlation that is off by 0.1", 0.1 * math.sqrt(points))
    return Claim(f"{family}/sampled", statement, None, Region(high=FARTHEST), measure, null=null)


def in_the_square(family: str) -> Claim:
    reveals, local = SQUARE[family]
    statement = (
        f"{family}: unlabelled inputs {'reveal' if reveals else 'do not reveal'} the gates, and local correlation "
        f"{'holds' if local else 'fails'}; 1 if so"
    )
    measure = lambda table: exactly((table.reveals[family] != "no", is_local(table, family)) == (reveals, local))
    null = Null("another place in the square", 0.0)
    return Claim(f"square/{family}", statement, None, Region(1.0, 1.0), measure, theory=1.0, null=null)


def is_local(table: pd.DataFrame, family: str) -> bool:
    """Whether the number of examples grows like a power of n."""
    return bool(table.exponent[family] <= POLYNOMIAL)


def is_stealthy(row: pd.Series) -> bool:
    hidden = row.largest_input_mean < 1e-12 and abs(row.least_pattern - 0.25) < 1e-12
    return bool(hidden and row.reveals == "two pairs")


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """The square, and beside it the numbers."""
    figure, axes = panels(1, 2, width=4.6, height=3.4)
    axis = axes[0, 0]
    rows = {"no": 0, "two pairs": 1, "single pairs": 2}
    offsets: dict[tuple[int, bool], int] = {}
    for family, words in zip(NAMES, PRINTED, strict=True):
        place = rows[table.reveals[family]], is_local(table, family)
        offsets[place] = offsets.get(place, -1) + 1
        x = place[1] - 0.3 + 0.2 * (offsets[place] % 4) + 0.1 * (family == "hard")
        y = place[0] + 0.15 - 0.3 * (offsets[place] // 4)
        style = {"fontsize": 11, "weight": "bold"} if family in SQUARE else {"fontsize": 8, "weight": "normal"}
        axis.text(x, y, words, ha="center", va="center", color=INKS[0 if place[1] else 1], **style)
    axis.set(xlim=(-0.5, 1.5), ylim=(-0.5, 2.5), title="what the first layer needs is on the right")
    axis.set_xticks([0, 1], ["no local correlation:\nexponentially many", "local correlation:\npolynomially many"])
    axis.set_yticks([0, 1, 2], ["inputs do not\nreveal the gates", "only two pairs\ntogether do", "single pairs do"])
    axis.grid(False)
    axis.axvline(0.5, color="0.6", linewidth=0.8)
    axis.axhline(0.5, color="0.6", linewidth=0.8)
    draw_table(axes[0, 1], table)
    return shown("audit", figure, "'Reveals the function' is neither necessary (E5) nor sufficient (E4)")


def draw_table(axis: Axes, table: pd.DataFrame) -> None:
    axis.axis("off")
    columns = ["correlation", "label_mean", "slack", "least_pattern", "samples"]
    numbers = table.loc[list(NAMES), columns].assign(label_mean=table.label_mean.abs())
    text = [[f"{value:.3g}" for value in row] for row in numbers.to_numpy(float)]
    names = ["least |c|", "|E[y]|", "slack", "least P(p)", "examples"]
    drawn = axis.table(
        text,
        rowLabels=[MEANINGS[name] if name == "hard" else f"{name} {MEANINGS[name]}" for name in NAMES],
        colLabels=names,
        loc="center",
        cellLoc="center",
    )
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7.5)
    drawn.scale(1, 1.25)
    axis.set_title(f"in the mixture, n = {table.loc['E1'].n:.0f}")
