"""Lemmas 5 to 16 of learning-parities, one by one, each with its exact or measured constant beside the paper's.

The first step of a ReLU6 neuron with weights in {-1, 0, 1} is known in closed form, and it depends on the weights
through three counts. So statements that hold "with probability over w" are checked with exact probabilities,
and statements about all neurons by looking at every kind of neuron. Corrected: the paired
start is the zero function, Lemmas 10 and 11 have ReLU in place of ReLU6, Lemma 15 has + 2 rate t decay n/k.

A claim of our own: k is odd, so where the weights in A add up to 0 one of them is 0, and the label's sign
cancels over that bit on the uniform half. So a good neuron's weights outside A and its bias shift are exactly 0:
in Lemma 9, C_2 = C_3 = 0, and Lemmas 5 and 6 are not needed for good neurons. It also makes Lemma 12
checkable on its full support of 2^n points: a separator over good neurons is a function of the k bits in A alone.

Lemma 12 asks for q of the order of k^7 log k pairs, 5 million for k = 7; here it is 60,000, and the separator is that
of the proof: for each r the good neurons nearest to psi_r share the coefficient of psi_r.
"""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

import paritylab as pl

from ...analysis import AfterFirstStep, first_step_quality, step_table
from ...cube import cube
from ...figures import INKS, panels
from ...sweep import Call, Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, exactly
from .good_neurons import (
    constants_of_lemma_12,
    interval_of,
    kind_probabilities,
    separator_of_lemma_12,
    worst_feature_error,
)

POPULATION_N, POPULATION_K, POPULATION_PAIRS = 10, 3, 20
LEAST_N = 160_001
"""Lemma 9 asks for k <= n^(1/4) / (2 sqrt 2): this n is just large enough for k = 7."""


@dataclass(frozen=True)
class Settings:
    dimensions: tuple[int, ...]
    degrees: tuple[int, ...] = (3, 5, 7)
    neurons: int = 10
    """Random neurons where not every kind is looked at."""
    separator_pairs: int = 60_000
    steps: int = 200


SETTINGS = {
    "quick": Settings(dimensions=(13, 101, 401)),
    "paper": Settings(dimensions=(13, 101, 401, 1601), neurons=100, separator_pairs=1_000_000, steps=2000),
}


def lemmas_5_and_6(n: int, k: int) -> dict[str, float]:
    """Exact probabilities over w that a coefficient on the uniform half is large; points +-1, which is stronger."""
    table, scale = step_table(n, k, 1 / (8 * k), 0.0), math.comb(n - 1, k) ** -0.5
    rest, all_kinds = kind_probabilities(n - 1, k), kind_probabilities(n, k)
    # A coordinate outside A with weight 0 (probability 1/3) has coefficient 0; else it is one of the active ones.
    outside, bias = np.abs(table.outside[1:]), np.abs(table.bias)
    square = max(2 / 3 * float(np.sum(rest * outside**2)), float(np.sum(all_kinds * bias**2))) / scale**2
    tail = max(
        c * max(2 / 3 * float(rest[outside > c * scale].sum()), float(all_kinds[bias > c * scale].sum()))
        for c in (2, 5, 10)
    )
    worst = np.maximum(bias, np.abs(table.outside))
    union = max(c * float(all_kinds[worst > c * (n - 1) * scale].sum()) for c in (0.1, 0.5, 1, 2))
    return {"lemma-5-square": square, "lemma-5": tail, "lemma-6": union}


def lemma_7_and_good(n: int, k: int) -> dict[str, float]:
    """The largest weight outside A and bias shift of neurons whose weights in A add up to 0."""
    even = np.arange((k + 1) // 2)
    largest = lambda table: max(float(np.max(np.abs(part[:, even, even]))) for part in (table.outside, table.bias))
    return {
        "lemma-7": largest(step_table(n, k, 1 / (8 * k), 1.0)),
        "good": largest(step_table(n, k, 1 / (8 * k), 0.5)),
        "lemma-14": float(np.max(np.abs(step_table(n, k, 1 / (8 * k)).output))) * math.sqrt(n) / k,
    }


def lemma_8(n: int, k: int, neurons: int) -> dict[str, float]:
    """The worst constant over random neurons, for the worst sign h of the bits in A."""
    weights = np.random.default_rng((n, k)).integers(-1, 2, (neurons, n))
    found = [first_step_quality(each, 1 / (8 * k), range(k)).scaled_deviation for each in weights]
    return {"lemma-8": max(found)}


def balanced(n: int, k: int, neurons: int) -> np.ndarray:
    """Random neurons whose weights in A add up to 0."""
    rng = np.random.default_rng((n, k, 1))
    weights = rng.integers(-1, 2, (neurons, n))
    inside = rng.integers(-1, 2, (100 * neurons, k))
    weights[:, :k] = inside[inside.sum(axis=1) == 0][:neurons]
    return weights


def lemmas_9_and_11(n: int, k: int, neurons: int) -> dict[str, float]:
    """Good neurons at an n that the lemmas allow: alpha, C_1, and the probability over u of an ideal feature."""
    trinomial = kind_probabilities(n, k, outside=False)
    share = float(sum(trinomial[i, i] for i in range(k // 2 + 1)))
    qualities = [first_step_quality(each, 1 / (8 * k), range(k)) for each in balanced(n, k, neurons)]
    alphas = np.array([each.alpha for each in qualities])
    # |w_j - alpha u / sqrt(n)| for the best alpha and the largest u = n/k
    spread = float(np.max(np.ptp(alphas, axis=1))) / 2 * math.sqrt(n) / k
    epsilon, patterns = 1.0, np.asarray(cube(k), float)
    ratios = []
    for r in range(-k, k + 1, 2):
        error = functools.partial(worst_feature_error, r=r, k=k, n=n, patterns=patterns)
        reach = [
            interval_of(functools.partial(error, alphas=alpha), r, float(alpha.mean()), n, k, 2 * epsilon)
            for alpha in alphas
        ]
        ratios.append(share * float(np.mean(reach)) / (epsilon / (112 * k**2.5)))
    return {
        "lemma-9-share": share * 14 * math.sqrt(k),
        "lemma-9-least": float(alphas.min()),
        "lemma-9-most": float(alphas.max()),
        "lemma-9-c1": spread,
        "lemma-11": min(ratios),
    }


def lemma_10(k: int) -> dict[str, float]:
    """The least probability over u, for all r and some alpha and epsilon, over eps / (8 k^2); any n is the same."""
    n, ratios = 1000, []
    for r in range(-k, k + 1, 2):
        for alpha in (0.25, 0.5, 1.0):
            for epsilon in (0.1, 1.0, 0.5 * k):
                # All that is between is straight: it is enough to look at ends and kinks, on a line of z.
                error = lambda u, alpha=alpha, r=r: worst_feature_error(
                    u, np.array([alpha]), r, k, n, np.array([[-k], [k], [r], [_kink(u, alpha, k, n)]], float)
                )
                ratios.append(interval_of(error, r, alpha, n, k, epsilon) / (epsilon / (8 * k**2)))
    return {"lemma-10": min(ratios)}


def _kink(u: float, alpha: float, k: int, n: int) -> float:
    """Where the unit's argument is 0, if that is within [-k, k]."""
    return float(np.clip(-n / (8 * k * alpha * u), -k, k)) if u else float(k)


def lemma_12(n: int, k: int, pairs: int) -> dict[str, float]:
    """The separator of the proof: its margin over the full support, and its constants."""
    found = separator_of_lemma_12(n, k, pairs, seed=0)
    return {
        "lemma-12": found.margin,
        "lemma-12-norm": float(np.linalg.norm(found.outputs)) * math.sqrt(pairs) / k**5,
        "lemma-12-count": float(np.count_nonzero(found.outputs)) * k**2.5 / pairs,
        "lemma-12-largest": found.largest_unit,
        "lemma-12-outside": found.outside,
    }


def theorem_13(rounds: int, dimension: int, seed: int) -> dict[str, float]:
    """How much of its last term the bound needs, for linear functions (where it is half) and for quadratic ones."""
    from scipy.signal import lfilter

    rng, rate = np.random.default_rng(seed), 0.1
    gradients = rng.normal(size=(rounds, dimension))
    theta = np.concatenate([np.zeros((1, dimension)), -rate * np.cumsum(gradients, axis=0)[:-1]])
    best = -rate * gradients.sum(axis=0)
    needed = [_needed(np.sum(gradients * theta, axis=1), gradients @ best, best, gradients, rate)]
    # f_t = |theta - z_t|^2 / 2: theta_(t+1) = (1 - rate) theta_t + rate z_t, a linear filter
    z = rng.normal(size=(rounds, dimension)) + 1
    theta = np.concatenate([np.zeros((1, dimension)), lfilter([rate], [1, rate - 1], z, axis=0)[:-1]])
    best = z.mean(axis=0)
    losses, compared = (np.sum((each - z) ** 2, axis=1) / 2 for each in (theta, best))
    needed.append(_needed(losses, compared, best, theta - z, rate))
    return {"theorem-13": max(needed)}


def _needed(losses: np.ndarray, compared: np.ndarray, best: np.ndarray, gradients: np.ndarray, rate: float) -> float:
    """The part of rate * mean |gradient|^2 that the difference of the losses takes up; the first theta is 0."""
    difference = losses.mean() - compared.mean() - best @ best / (2 * rate * len(losses))
    return float(difference / (rate * np.mean(np.sum(gradients**2, axis=1))))


def rate_and_decay(settings: Settings) -> tuple[float, float]:
    """The theorem's: k^2 / (T sqrt(q)) and k/n."""
    return POPULATION_K**2 / (settings.steps * math.sqrt(POPULATION_PAIRS)), POPULATION_K / POPULATION_N


def plan(settings: Settings) -> Iterator[Plan | Call]:
    """Calculations, and one run of exact population gradient descent for Lemmas 15 and 16."""
    rate, decay = rate_and_decay(settings)
    population = pl.population(pl.leaky(pl.Parity(POPULATION_N, range(POPULATION_K))))
    yield pl.plan(
        population,
        AfterFirstStep(2 * POPULATION_PAIRS, tuple(range(POPULATION_K))),
        rate={"hidden": rate, "output.weight": rate},
        decay={"hidden.0.weight": decay, "output.weight": decay},
        convention="loss",
        batch=len(population.x),
        sample=len(population.x),
        seeds=2,
        steps=settings.steps,
        every=settings.steps // 10,
        validation=0,
        records=(pl.LayerDrift(), pl.Parameters()),
        float64=True,
        labels={"part": "population"},
    )
    for k in settings.degrees:
        for n in settings.dimensions:
            yield Call(lemmas_5_and_6, {"n": n, "k": k}, labels={"part": "table"}, seconds=0.3)
            yield Call(lemma_7_and_good, {"n": n, "k": k}, labels={"part": "table"}, seconds=0.3)
            if n > 13:
                yield Call(lemma_8, {"n": n, "k": k, "neurons": settings.neurons}, {"part": "table"}, seconds=0.3)
        yield Call(lemma_10, {"k": k}, labels={"part": "table"}, seconds=0.3)
    yield Call(lemmas_9_and_11, {"n": LEAST_N, "k": 7, "neurons": settings.neurons}, {"part": "table"}, seconds=3.0)
    yield Call(lemma_12, {"n": 1601, "k": 7, "pairs": settings.separator_pairs}, {"part": "table"}, seconds=3.0)
    yield Call(theorem_13, {"rounds": 500, "dimension": 20, "seed": 0}, {"part": "table"}, seconds=0.3)


NORM, COUNT = constants_of_lemma_12(7)
"""What the proof of Lemma 12 promises."""


@dataclass(frozen=True)
class Row:
    """A line of the table: which numbers, how to put several together, what the paper says, and what is allowed."""

    name: str
    statement: str
    paper: float | str | None
    region: Region
    together: Callable[[np.ndarray], float] = np.max


ROWS = (
    Row(
        "lemma-5-square",
        "Lemma 5: E_w[coefficient^2] C(n-1,k), largest over j and the bias",
        "at most 1",
        Region(high=1),
    ),
    Row(
        "lemma-5", "Lemma 5: c P(|coefficient| > c / sqrt(C(n-1,k))), exact, c = 2, 5, 10", "at most 1", Region(high=1)
    ),
    Row("lemma-6", "Lemma 6: C P(some coefficient > C (n-1) / sqrt(C(n-1,k))), exact", "at most 1", Region(high=1)),
    Row(
        "lemma-7",
        "Lemma 7: largest coefficient outside A on the half with equal bits, all good kinds",
        0.0,
        Region(0, 0),
    ),
    Row("lemma-8", "Lemma 8: the constant C of C k / sqrt(|J|), worst h", "a constant", Region(high=1)),
    Row(
        "lemma-9-share",
        "Lemma 9: share of good neurons over 1/(14 sqrt(k)), exact",
        "at least 1",
        Region(low=1),
        np.min,
    ),
    Row(
        "lemma-9-least",
        "Lemma 9: the least alpha of good neurons (n = 160,001, k = 7)",
        "at least 1/4",
        Region(low=0.25 - 1e-12),
        np.min,
    ),
    Row("lemma-9-most", "Lemma 9: the largest alpha of good neurons (n = 160,001, k = 7)", "at most 1", Region(high=1)),
    Row(
        "lemma-9-c1",
        "Lemma 9: C_1, the largest |w_j - alpha u / sqrt(n)| in A (n = 160,001, k = 7)",
        "a constant",
        Region(high=1),
    ),
    Row("good", "ours: C_2 = C_3 = 0, weights outside A and bias shift of all good kinds on D_A", None, Region(0, 0)),
    Row("lemma-10", "Lemma 10: probability over u, over eps/(8 k^2)", "at least 1", Region(low=1 - 1e-9), np.min),
    Row(
        "lemma-11",
        "Lemma 11: probability over (w, u), over eps/(112 k^2.5) (n = 160,001, k = 7, eps = 1)",
        "at least 1",
        Region(low=1),
        np.min,
    ),
    Row(
        "lemma-12",
        "Lemma 12: least margin of the separator over the full support, k = 7",
        "at least 1",
        Region(low=1),
        np.min,
    ),
    Row("lemma-12-outside", "Lemma 12: largest weight outside A of its neurons", None, Region(0, 0)),
    Row(
        "lemma-12-norm",
        "Lemma 12: B of |u*| <= B k^5 / sqrt(q); the proof's count of neurons gives 25.4",
        25.4,
        Region(high=NORM),
    ),
    Row(
        "lemma-12-count",
        "Lemma 12: neurons used, times k^2.5 / q; the proof counts on 0.036",
        0.036,
        Region(low=COUNT),
        np.min,
    ),
    Row("lemma-12-largest", "Lemma 12: largest output of a neuron that is used", "at most 1", Region(high=1)),
    Row("theorem-13", "Theorem 13: share of its last term that is needed", "at most 1", Region(high=0.5 + 1e-9)),
    Row(
        "lemma-14",
        "Lemma 14: |u| sqrt(n) / k after the first step, largest over all kinds",
        "at most 1",
        Region(high=1),
    ),
    Row("lemma-15-w", "Lemma 15: drift of w over its bound, along exact descent", "at most 1", Region(high=1)),
    Row("lemma-15-b", "Lemma 15: drift of b over its bound, along exact descent", "at most 1", Region(high=1)),
    Row("lemma-15-u", "Lemma 15: |u| over its bound, along exact descent", "at most 1", Region(high=1)),
    Row("lemma-16", "Lemma 16: change of the loss at any point over its bound", "at most 1", Region(high=1)),
)


def claims(settings: Settings) -> list[Claim]:
    return [Claim(row.name, row.statement, row.paper, row.region) for row in ROWS]


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Exact numbers, or the worst over some neurons."""
    table, along = results.table(), along_descent(settings, results)
    found = {}
    for row in ROWS:
        values = along[row.name] if row.name in along else table[row.name].dropna().to_numpy(float)
        found[row.name] = exactly(float(row.together(values)))
    return found


def along_descent(settings: Settings, results: Results) -> dict[str, np.ndarray]:
    """Lemmas 15 and 16 at every recorded step: what happened over what the bound allows."""
    curves = results.curves()
    curves = curves[curves.part == "population"]
    n, k, (rate, decay) = POPULATION_N, POPULATION_K, rate_and_decay(settings)
    x = np.asarray(cube(n), float) / math.sqrt(n)
    y = np.sign(x[:, :k].prod(axis=1))
    ratios: dict[str, list[float]] = {name: [] for name in ("lemma-15-w", "lemma-15-b", "lemma-15-u", "lemma-16")}
    for _, run in curves.groupby("run"):
        steps, drifts = run.step.tolist(), [np.asarray(each, float) for each in run.layer_drift]
        units = [_units(np.asarray(each, float), x) for each in run.parameters]
        first = units[steps.index(0)]
        u = parity_by_least_squares(first, y)
        before = np.maximum(0, 1 - y * (first @ u))
        for t, drift, now in zip(steps, drifts, units, strict=True):
            if t == 0:
                continue
            moved = 6 * rate**2 * t**2 + rate * t * k / math.sqrt(n)
            bounds = moved + 2 * rate * t * decay * n / k, moved, 6 * rate * t + k / math.sqrt(n)
            for name, value, bound in zip(ratios, drift, bounds, strict=False):
                ratios[name].append(float(value) / bound)
            change = np.abs(np.maximum(0, 1 - y * (now @ u)) - before)
            room = 2 * np.linalg.norm(u) * math.sqrt(np.count_nonzero(u)) * (moved + rate * t * decay * n / k)
            ratios["lemma-16"].append(float(change.max() / room))
    return {name: np.array(values) for name, values in ratios.items()}


def _units(parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The outputs of all units at all points."""
    units, n = 2 * POPULATION_PAIRS, x.shape[1]
    weight, bias = parameters[: units * n].reshape(units, n), parameters[units * n : units * (n + 1)]
    return np.clip(x @ weight.T + bias, 0, 6)


def parity_by_least_squares(units: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Some second layer that has to do with the label: Lemma 16 is about any."""
    return np.asarray(np.linalg.lstsq(units, y, rcond=1e-6)[0])


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """The table: each statement, ours, and the paper's."""
    measured = measure(settings, results)
    figure, axes = panels(1, 1, width=9.5, height=0.27 * len(ROWS) + 0.8)
    axis = axes[0, 0]
    axis.axis("off")
    axis.set(xlim=(0, 1), ylim=(len(ROWS) + 0.5, -0.8))
    for place, text in ((0.0, "statement"), (0.76, "here"), (0.87, "paper")):
        axis.text(place, -0.3, text, weight="bold", va="center")
    for i, row in enumerate(ROWS):
        value = measured[row.name].value
        shown = "0 (exactly)" if value == 0 else f"{value:.3g}"
        if i % 2:
            axis.axhspan(i + 0.2, i + 1.2, color="0.95", linewidth=0)
        axis.text(0.0, i + 0.7, row.statement, va="center", fontsize=8)
        axis.text(0.76, i + 0.7, shown, va="center", fontsize=8, color=INKS[0])
        paper = "ours" if row.paper is None else row.paper if isinstance(row.paper, str) else f"{row.paper:g}"
        axis.text(0.87, i + 0.7, paper, va="center", fontsize=8)
    axis.set_title("The lemmas of learning-parities with their exact or measured constants", fontsize=11)
    return {"lemmas": figure}
