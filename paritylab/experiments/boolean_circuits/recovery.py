"""Theorems 2 and 4 and Corollary 10 of boolean-circuits: Algorithm 1 recovers every gate; from how many examples?

Random circuits of AND, OR, NAND and NOR under their generative law, and parities of log n out of n bits
under product laws with means of 0.4 to 0.6 in size. The theorems promise recovery from
2^11 / (epsilon Delta)^2 log(8 n d / delta) examples. A gate is learned where the average of (y - lambda) 1{p} has the
right sign at its four patterns, which is a sign test: it predicts the sample size at which all gates are
recovered with probability 0.9, with the same lambda = E[y] + Delta / 4.

Here Algorithm 1 itself runs (tables of a sample, every gate trained until nothing moves), on samples of multiples
of the predicted size. A run counts if every gate with influence gives its true value, or always the negative,
under the whole law, and the label is right everywhere: that is known exactly. At the largest multiple, what
was learned is also compared with the circuit on the whole cube (n <= 16) or on 100,000 uniform points.
Circuits are wide enough that first weights fail with probability below 0.001.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import layerwise_circuit
from ...cube import cube
from ...figures import INKS, panels
from ...statistics import bootstrap_interval, wilson_interval
from ...sweep import Call, Results
from ..base import Claim, Measured, Region, exactly, within_factor
from .problems import FAMILIES, Problem, generative, safe_width, sample, wrong_points

MULTIPLES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
POINTS = 100_000
TOGETHER = 3e7
"""Numbers in the samples that are held at a time."""
DEEPEST = 12


@dataclass(frozen=True)
class Settings:
    trials: int
    depths: tuple[tuple[str, int], ...]
    """Families and depths."""


def _depths(generative_to: int, parity_to: int) -> tuple[tuple[str, int], ...]:
    return (
        *(("generative", depth) for depth in range(1, generative_to + 1)),
        *(("biased parity", depth) for depth in range(2, parity_to + 1)),
    )


SETTINGS = {
    "quick": Settings(trials=50, depths=_depths(5, 4)),
    "paper": Settings(trials=200, depths=_depths(8, 6)),
}


def runs(family: str, depth: int, trials: int, first: int) -> list[dict[str, object]]:
    """Algorithm 1 on samples of several sizes, for circuits number `first` to `first + trials - 1`."""
    known = [FAMILIES[family](depth, seed) for seed in range(first, first + trials)]
    most = max(each.samples for each in known) * max(MULTIPLES)
    together = max(1, int(TOGETHER / (most * 2**depth)))
    rows = []
    for start in range(0, trials, together):
        rows += _rows(known[start : start + together], depth, first + start)
    return rows


def _rows(known: list[Problem], depth: int, first: int) -> list[dict[str, object]]:
    patterns, sizes = [], []
    for number, each in enumerate(known):
        x, y = sample(each.law, math.ceil(each.samples * max(MULTIPLES)), first + number)
        sizes.append([math.ceil(each.samples * multiple) for multiple in MULTIPLES])
        patterns += [pl.SamplePatterns(x[:size], y[:size]) for size in sizes[-1]]
    learned = pl.learn_circuits(
        patterns,
        width=safe_width(2**depth),
        regularizer=[each.regularizer for each in known for _ in MULTIPLES],
        seeds=[
            (first + number) * len(MULTIPLES) + place for number in range(len(known)) for place in range(len(MULTIPLES))
        ],
    )
    points = np.asarray(cube(2**depth)) if depth <= 4 else _points(2**depth)
    rows: list[dict[str, object]] = []
    for number, each in enumerate(known):
        bound = layerwise_circuit(2**depth, correlation=min(each.slack, 0.499), pattern=each.least, failure=0.1)
        for place, multiple in enumerate(MULTIPLES):
            found = learned[number * len(MULTIPLES) + place]
            mistakes, recovered = pl.follow(each.patterns, found.circuit)
            row: dict[str, object] = {
                "circuit": first + number,
                "multiple": multiple,
                "samples": sizes[number][place],
                "recovered": bool(mistakes[0] <= 1e-12 and np.all(recovered[each.matters])),
                "error": float(mistakes[0]),
                "steps": max(found.steps),
                "bound": bound.value,
                "bound_steps": bound.part("steps"),
            }
            if multiple == max(MULTIPLES):
                row["wrong_points"] = wrong_points(each.circuit, found.circuit, points)
            rows.append(row)
    return rows


def _points(n: int) -> np.ndarray:
    return np.random.default_rng(n).choice(np.array([-1, 1], np.float32), (POINTS, n))


def deepest(depth: int, method: str) -> dict[str, object]:
    """The population form once, at a large depth, with the time that it takes."""
    known = generative(depth, 0)
    width = safe_width(2**depth)
    started = time.perf_counter()
    (found,) = pl.learn_circuits(
        [known.patterns],
        width=width,
        regularizer=known.regularizer,
        method=method,  # type: ignore[arg-type]
    )
    seconds = time.perf_counter() - started
    mistakes, recovered = pl.follow(known.patterns, found.circuit)
    return {
        "recovered": bool(mistakes[0] <= 1e-12 and recovered.all()),
        "gates": int(recovered.sum()),
        "steps": max(found.steps),
        "training_seconds": seconds,
    }


def plan(settings: Settings) -> Iterator[Call]:
    for family, depth in settings.depths:
        parts = 1 if depth < 5 else 5  # the cores share what is long
        for part in range(parts):
            each = settings.trials // parts
            which = {"family": family, "depth": depth, "trials": each, "first": part * each}
            yield Call(runs, which, labels={"family": family}, seconds=2.0)
    yield Call(deepest, {"depth": DEEPEST, "method": "jump"}, labels={"family": "deepest"}, seconds=6.0)


def claims(settings: Settings) -> list[Claim]:
    """No verdict is known yet."""
    return [replace(claim, recorded={}) for claim in _claims(settings)]


def _claims(settings: Settings) -> list[Claim]:
    """Recovery at four times the predicted size, the size at which nine in ten recover, and depth 12."""
    made = []
    for family, depth in settings.depths:
        name, of = f"{family.replace(' ', '-')}/d{depth}", f"{family}, depth {depth}, {settings.trials} circuits"
        made += [
            Claim(
                f"{name}/recovers",
                f"Algorithm 1 recovers every gate from enough examples ({of}); the fraction at four times the size "
                "that the sign test predicts",
                1.0,
                Region(low=0.9),
            ),
            Claim(
                f"{name}/size",
                f"the sample size at which 90% recover is the one that the sign test predicts ({of}); measured over "
                "predicted",
                None,
                within_factor(1.0, 1.5),
            ),
        ]
    return [
        *made,
        Claim(
            "points",
            "whatever counts as recovered at four times the predicted size agrees with its circuit on the whole cube "
            f"(n <= 16) or on {POINTS:,} uniform points; the number of points where it does not",
            0.0,
            Region(0.0, 0.0),
        ),
        Claim(
            "below-theorem",
            "the theorem's sample size suffices and is generous; the least ratio of it to the measured size for 90%",
            None,
            Region(low=1.0),
        ),
        Claim(
            f"d{DEEPEST}",
            f"the population form recovers all {2**DEEPEST - 1:,} gates of a random circuit of depth {DEEPEST}; the "
            "number",
            2.0**DEEPEST - 1,
            Region(2**DEEPEST - 1, 2**DEEPEST - 1),
        ),
    ]


def size_for(recovered: np.ndarray, wanted: float = 0.9, multiples: tuple[float, ...] = MULTIPLES) -> float:
    """The multiple of the predicted size at which a fraction recovers; columns are multiples, rows circuits.

    Fractions are made monotone (pooling neighbours that are not), then interpolated over the logarithm.
    """
    fractions = recovered.mean(axis=0)
    for place in range(1, len(fractions)):
        start = place
        while start > 0 and fractions[start - 1 : place + 1].mean() < fractions[start - 1]:
            start -= 1
        fractions[start : place + 1] = fractions[start : place + 1].mean()
    fractions = np.maximum.accumulate(fractions)
    if fractions[-1] < wanted:
        return math.inf
    above = int(np.argmax(fractions >= wanted))
    if above == 0:
        return multiples[0]
    low, high = fractions[above - 1], fractions[above]
    share = (wanted - low) / (high - low)
    return float(np.exp(np.interp(share, (0, 1), np.log(multiples[above - 1 : above + 1]))))


def by_multiple(table: pd.DataFrame, family: str, depth: int) -> np.ndarray:
    here = table[(table.family == family) & (table.depth == depth)]
    return here.pivot(index="circuit", columns="multiple", values="recovered").to_numpy(float)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Wilson's interval for fractions, a bootstrap over circuits for sizes."""
    table = results.table()
    measured, ratios = {}, []
    for family, depth in settings.depths:
        name, recovered = f"{family.replace(' ', '-')}/d{depth}", by_multiple(table, family, depth)
        count = int(recovered[:, -1].sum())
        measured[f"{name}/recovers"] = Measured(count / len(recovered), wilson_interval(count, len(recovered)))
        size = size_for(recovered)
        measured[f"{name}/size"] = Measured(size, bootstrap_interval(recovered, size_for, resamples=500))
        here = table[(table.family == family) & (table.depth == depth) & (table.multiple == 1.0)]
        ratios.append(float((here.bound / (size * here.samples)).min()))
    whole = table[(table.multiple == max(MULTIPLES)) & (table.recovered == True)]  # noqa: E712 (objects)
    measured["points"] = exactly(float(whole.wrong_points.sum()))
    measured["below-theorem"] = exactly(min(ratios))
    measured[f"d{DEEPEST}"] = exactly(float(table[table.family == "deepest"].gates.iloc[0]))
    return measured


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """The fraction that recovers over the size of the sample, and sizes over depth beside theory."""
    table = results.table()
    figure, axes = panels(1, 3, width=3.3, height=2.9)
    for axis, family in zip(axes[0], FAMILIES, strict=False):
        draw_fractions(axis, table, family, [d for f, d in settings.depths if f == family])
    draw_sizes(axes[0, 2], table, settings)
    figure.suptitle("Algorithm 1: how many examples recover every gate", fontsize=11)
    return {"recovery": figure}


def draw_fractions(axis: Axes, table: pd.DataFrame, family: str, depths: list[int]) -> None:
    for i, depth in enumerate(depths):
        recovered = by_multiple(table, family, depth)
        shade = 0.75 - 0.75 * i / max(1, len(depths) - 1)
        axis.plot(MULTIPLES, recovered.mean(axis=0), "o-", color=str(shade), markersize=3, label=f"depth {depth}")
    axis.axhline(0.9, color=INKS[1], linewidth=0.8, linestyle=":")
    axis.axvline(1.0, color=INKS[1], linewidth=0.8, linestyle=":")
    axis.set(xscale="log", xlabel="examples / predicted by the sign test", ylabel="fraction recovered", title=family)
    axis.set_xticks([0.35, 0.5, 0.7, 1, 1.4, 2, 4], ["0.35", "0.5", "0.7", "1", "1.4", "2", "4"], fontsize=7)
    axis.minorticks_off()
    axis.legend(fontsize=7, loc="lower right")


def draw_sizes(axis: Axes, table: pd.DataFrame, settings: Settings) -> None:
    measured = measure_sizes(table, settings)
    for i, family in enumerate(FAMILIES):
        rows = measured[measured.family == family]
        axis.plot(rows.depth, rows.measured, "os"[i], color=INKS[i], markersize=5, label=f"{family}: measured, 90%")
        axis.plot(rows.depth, rows.predicted, color=INKS[i], linewidth=1, label="sign test")
        axis.plot(rows.depth, rows.bound, color=INKS[i], linewidth=1, linestyle="--", label="Theorem 4")
    axis.set(yscale="log", xlabel="depth", ylabel="examples (median over circuits)", title="sizes")
    axis.set_xticks(sorted({depth for _, depth in settings.depths}))
    axis.legend(fontsize=6.5, loc="upper left")


def measure_sizes(table: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Median sizes over circuits."""
    rows = []
    for family, depth in settings.depths:
        here = table[(table.family == family) & (table.depth == depth) & (table.multiple == 1.0)]
        predicted = float(here.samples.median())
        size = size_for(by_multiple(table, family, depth))
        rows.append((family, depth, predicted, size * predicted, float(here.bound.median())))
    return pd.DataFrame(rows, columns=["family", "depth", "predicted", "measured", "bound"])
