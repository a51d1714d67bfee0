"""Theorem 3 of learning-parities beside Theorem 2: a network learns what no linear method can.

On D_A half of the examples are uniform, and half have all bits in A equal; the label is the parity of A. The
network has q pairs of ReLU6 units with weights in {-1, 0, 1}, b = 1/(8k), u uniform on [-n/k, n/k]. Paired units
share w and b and differ in the sign of u, so that it starts as the zero function (printed with w and b
negated as well, which is a large function). The first step has rate 1 and decay 1/2: it erases the start and
leaves what correlates with the label. It is taken exactly here, in closed form, at any n. With a sampled
batch of B examples the weights outside A are noise, and their size only says how large B is.

Then online gradient descent trains both layers with hinge loss and no decay. The theorem's own constants (n at
least k^34, a rate of k^2/(T sqrt(q))) are out of reach, and k = 3 and 5 are below its k >= 7; for k = 3 a rate of 0.5,
for k = 5 a rate of 1 that falls linearly to 0 are enough (0.1 with twice as many steps still errs on one in ten). A
network succeeds if it makes no mistake on more than 100,000 fresh points of each half. The larger n, the fewer seeds
do; a fifth of the rate for five times the steps (k = 5: ten times the steps) is the control.

Freezing the first layer after its first step is what the proof compares with. For the loss of the second layer alone
online gradient descent promises, on average over its steps, at most |u|^2 / (2 sum of rates) + rate / 2 * E|units|^2,
for any second layer u with margin 1 over all units. For k = 3 the sum of the rates is 1,000 in both of two ways: at
0.5 the second term is large, the output jumps from step to step, and few seeds succeed; at 0.02 the promise is below 1
and all do. For k = 5 the promise says nothing within ten times the steps of both layers: the frozen network ends near
the majority of A, a linear function that is right on 68.75% of the uniform half.

The linear side, for comparison: the exact least hinge loss on the uniform half of two kernels over the
ball of radius 10, and the bound for any kernel. See `learning-parities/linear` for more of them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import paritylab as pl

from ...analysis import AfterFirstStep, best_hinge, gaussian_eigenvalues, maximal_margin, relu_ntk
from ...bounds import kernel as kernel_bound
from ...cube import cube
from ...figures import Figures, panels
from ...statistics import power_law
from ...sweep import Call, Results
from ...training.engine.lanes import init_key
from ...training.rules.optimizers import constant
from ..base import Claim, Measured, Null, Region
from ..measures import exactly, fraction, largest, least, mean, median
from .separation_panels import draw_accuracy, draw_losses, draw_step

POINTS = 102_400
"""Of each half; the first multiple of 2,048 above 100,000."""
RADIUS = 10.0
DRAWS = 12
"""Draws of the bits outside A for each pattern of A."""
LEAST_RATIO = 1000.0
UNLIKELY = Null("the second layer alone, at the same rate", 0.0)
TOO_FAST = (
    "The larger n, the smaller the units after the first step, and the fewer seeds succeed at this rate. With a "
    "smaller rate or more steps they do."
)
LARGE = (
    "The second term is rate / 2 E|units|^2, and the units grow with n: a fourth of the rate for four times the steps "
    "brings the promise below 1. Gradient descent does better than that: see the fraction of seeds."
)
GROWS = "The ratio grows as n^(3/2), and is below 1,000 at small n."


@dataclass(frozen=True)
class Case:
    """A size of the problem, and how the network is trained after its first step."""

    n: int
    k: int
    pairs: int
    batch: int
    rate: float
    steps: int
    frozen: tuple[tuple[float, int], ...]
    """Rates and steps of the second layer alone, the fastest first."""
    slower: tuple[float, int]
    """Another rate and number of steps of both layers."""

    @property
    def name(self) -> str:
        return f"n{self.n}-k{self.k}"

    @property
    def task(self) -> pl.AbstractDistribution:
        return pl.distributions.leaky(pl.Parity(self.n, range(self.k)))

    @property
    def recipe(self) -> AfterFirstStep:
        return AfterFirstStep(2 * self.pairs, tuple(range(self.k)))

    @property
    def few(self) -> str:
        return "Unexplained: too few seeds at quick scale for a fraction of 0.9." if self.batch == 32 else ""

    @property
    def words(self) -> str:
        return f"n = {self.n}, k = {self.k}, q = {self.pairs}"

    def ways(self) -> Iterator[tuple[str, float, int, bool]]:
        """A name, a rate, a number of steps, and whether both layers are trained."""
        yield "both layers", self.rate, self.steps, True
        yield "slower", *self.slower, True
        for name, (rate, steps) in zip(("fast", "slow"), self.frozen, strict=True):
            yield name, rate, steps, False


def three(n: int, batch: int = 128) -> Case:
    return Case(n, 3, 100, batch, 0.5, 2000, ((0.5, 2000), (0.02, 50_000)), (0.1, 10_000))


FIVE = Case(301, 5, 200, 64, 1.0, 10_000, ((1.0, 10_000), (0.05, 100_000)), (1.0, 100_000))


@dataclass(frozen=True)
class Settings:
    seeds: int
    more: int
    """Seeds of the second layer alone, and of slower training."""
    cases: tuple[Case, ...]
    dimensions: tuple[int, ...] = (31, 51, 101, 201, 301)
    """Where the linear side is computed."""
    lanes: int | None = None


SETTINGS = {
    "quick": Settings(seeds=36, more=4, cases=(three(31, batch=32), three(51, batch=32)), lanes=2),
    "paper": Settings(seeds=100, more=40, cases=(three(51), three(101), three(201), FIVE)),
}


def contrast(case: Case, seed: int) -> dict[str, float]:
    """The network of this seed after the exact first step: weights inside A and outside, and a short second layer.

    Units whose weights in A do not add up to 0 also see the bits outside A. So the second layer with the largest margin
    is found on all patterns of A, each with some drawn bits outside, and its margin is the least on many more points.
    """
    network = case.recipe(case.n, key=init_key(np.uint32(seed)))
    weight, bias = np.asarray(network.hidden[0].weight, float), np.asarray(network.hidden[0].bias, float)
    rng = np.random.default_rng(seed)
    units, labels = drawn_units(case, weight, bias, rng, DRAWS)
    found = maximal_margin(units, labels)
    more, right = drawn_units(case, weight, bias, rng, 20 * DRAWS)
    least = float(np.min(right * (more @ found.weights))) if found.separable else 0.0
    separator = 1 / least if least > 0 else math.inf
    good = np.all(weight[:, case.k :] == 0, axis=1)
    size = float(np.mean(np.sum(more**2, axis=1)))
    return {**sizes(weight, case.k), "good": float(good.mean()), "separator": separator, "units": size}


def drawn_units(
    case: Case, weight: np.ndarray, bias: np.ndarray, rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """All units on every pattern of A, with so many draws of the other bits each, and the labels."""
    patterns = np.repeat(np.asarray(cube(case.k), float), draws, axis=0)
    x = np.column_stack([patterns, rng.choice([-1.0, 1.0], (len(patterns), case.n - case.k))])
    return np.clip(x @ weight.T / math.sqrt(case.n) + bias, 0, 6), patterns.prod(axis=1)


def sizes(weight: np.ndarray, k: int) -> dict[str, float]:
    """The mean |w| inside A and outside."""
    return {"inside": float(np.abs(weight[:, :k]).mean()), "outside": float(np.abs(weight[:, k:]).mean())}


def sampled_contrast(case: Case, examples: int, seed: int) -> dict[str, float]:
    """The same after a first step on a batch of examples."""
    start = case.recipe.start(case.n, key=init_key(np.uint32(seed)))
    x, y = (np.asarray(part) for part in case.task.sample(pl.root_key(seed), examples))
    z = x @ np.asarray(start.hidden[0].weight[: case.pairs]).T + 1 / (8 * case.k)
    weight = (y[:, None] * ((z > 0) & (z < 6))).T @ x / examples
    return sizes(weight * np.asarray(start.output.weight)[: case.pairs, None], case.k)


def start_size(case: Case, pairing: str) -> dict[str, float]:
    """The standard deviation of the network's output at its start, over points of D_A, in float64."""
    made = pl.networks.TernaryPairs(2 * case.pairs, case.k, pairing)(case.n, key=init_key(np.uint32(0)))  # type: ignore[arg-type]
    x = np.asarray(case.task.sample(pl.root_key(1), 4096)[0], float)
    units = np.clip(x @ np.asarray(made.hidden[0].weight, float).T + np.asarray(made.hidden[0].bias, float), 0, 6)
    return {"size": float(np.std(units * np.asarray(made.output.weight, float) @ np.ones(2 * case.pairs)))}


def linear_side(n: int, k: int) -> dict[str, float]:
    """The least hinge loss on the uniform half of kernels with K(x, x) = 1 over the ball of radius 10."""
    return {
        "tangent": best_hinge(float(relu_ntk(n, 1.0).normalized().eigenvalues()[k]), RADIUS),
        "gaussian": best_hinge(float(gaussian_eigenvalues(n, math.sqrt(n))[k]), RADIUS),
        "bound": kernel_bound(n, k, norm=RADIUS).value,
    }


def plan(settings: Settings) -> Iterator[pl.Plan | Call]:
    for case in reversed(settings.cases):  # the longest first
        for kind, rate, steps, both in case.ways():
            yield pl.plan(
                case.task,
                case.recipe,
                rate={"hidden": rate if both else 0.0, "output.weight": rate},
                schedule=pl.training.LinearFall(steps) if case.k > 3 and kind != "slow" else constant,
                batch=case.batch,
                seeds=settings.seeds if kind == "both layers" else settings.more,
                steps=steps,
                every=min(steps, 1000),
                validation=0,
                records=pl.training.Recording((pl.training.ErrorsByPart(POINTS),), steps),
                lanes=settings.lanes,
                labels={"part": "train", "case": case.name, "kind": kind},
            )
    for case in settings.cases:
        for seed in range(min(settings.seeds, 36)):
            labels = {"part": "contrast", "case": case.name}
            yield Call(contrast, {"case": case, "seed": seed}, labels=labels, seconds=0.2)
        for pairing in ("copied", "negated"):
            labels = {"part": "start", "case": case.name}
            yield Call(start_size, {"case": case, "pairing": pairing}, labels=labels, seconds=0.2)
    yield Call(sampled_contrast, {"case": three(101), "examples": 20_000, "seed": 0}, {"part": "sampled"}, seconds=1.0)
    for n in settings.dimensions:
        for k in (3, 5):
            yield Call(linear_side, {"n": n, "k": k}, labels={"part": "linear"}, seconds=0.2)


class Data(NamedTuple):
    rows: pd.DataFrame
    """All rows, by part."""
    ends: pd.DataFrame
    """Errors and losses on the two halves at the end of each run."""

    def runs(self, case: Case, kind: str) -> pd.DataFrame:
        return self.ends[(self.ends["case"] == case.name) & (self.ends.kind == kind)]

    def first_steps(self, case: Case) -> pd.DataFrame:
        return self.rows[(self.rows.part == "contrast") & (self.rows["case"] == case.name)]


def read(settings: Settings, results: Results) -> Data:
    curves = results.curves()
    last = curves[curves.step == curves.limit]
    both = np.stack([np.stack(list(each)) for each in last.errors_by_part])
    ends = last.assign(
        uniform_error=both[:, 0, 0], uniform_loss=both[:, 0, 1], perfect=(both[:, :, 0] == 0).all(axis=1)
    )
    return Data(results.table(), ends)


def claims(settings: Settings) -> Iterator[Claim]:
    size = lambda data, pairing: data.rows.query(f"part == 'start' and pairing == '{pairing}'")["size"]
    copied, printed = (lambda data, name=name: size(data, name) for name in ("copied", "negated"))
    text = "paired units that share w and b start as the zero function; the largest standard deviation of the output"
    null = Null("paired as printed", lambda data: float(printed(data).min()))
    start = lambda data: largest(copied(data))
    yield Claim("start/copied", text, None, Region(high=1e-9), start, 0.0, null=null)
    text = "paired as printed, with w and b negated, the start is a large function; the least standard deviation"
    null = Null("paired with w and b copied", lambda data: float(copied(data).max()))
    yield Claim("start/printed", text, "0 intended", Region(low=1.0), lambda data: least(printed(data)), null=null)
    text = "with a first step on B = 20,000 examples (n = 101, k = 3) the ratio of weights inside and outside A only "
    text += "measures B; the ratio over 0.45 sqrt(B)"
    ratio = lambda data: data.rows.query("part == 'sampled'").eval("inside / outside / (0.45 * examples**0.5)").item()
    null = Null("the start", 1 / (0.45 * 20_000**0.5))
    yield Claim("first-step/sampled", text, None, Region(0.5, 2.0), lambda data: exactly(ratio(data)), 1.0, null=null)
    for case in settings.cases:
        yield from of_case(case)
        yield from of_frozen(case)
    yield from of_sizes([case for case in settings.cases if case.k == 3])


def of_case(case: Case) -> Iterator[Claim]:
    """The network with both layers trained, and linear methods."""
    text = f"{case.words}: after the exact first step the mean |w| inside A is at least {LEAST_RATIO:g} times that "
    ratio = lambda data: least(data.first_steps(case).eval("inside / outside"))
    why: dict[str, Any] = {"explanation": GROWS, "tested_by": ("k3/growth",)} if case.n <= 51 else {}
    words, null = f"{text}outside; the least ratio over seeds", Null("the start", 1.0)
    yield Claim(f"{case.name}/first-step", words, None, Region(low=LEAST_RATIO), ratio, "large", null=null, **why)
    text = f"the fraction of seeds without a mistake on {POINTS:,} points of each half"
    perfect = lambda kind: lambda data: fraction(data.runs(case, kind).perfect)
    statement, region = f"{case.words}: gradient descent on both layers learns; {text}", Region(low=0.9)
    why = {"explanation": TOO_FAST, "tested_by": (f"{case.name}/slower",)}
    high = "with high probability"
    yield Claim(f"{case.name}/succeeds", statement, high, region, perfect("both layers"), null=UNLIKELY, **why)
    rate, steps = case.slower
    statement = f"{case.words}: both layers, rate {rate:g} for {steps:,} steps; {text}"
    yield Claim(f"{case.name}/slower", statement, high, region, perfect("slower"), None, case.few, UNLIKELY)
    text = f"{case.words}: the hinge loss of the network on the uniform half, median over seeds"
    loss, null = lambda data: median(data.runs(case, "both layers").uniform_loss), Null("linear methods", 1.0)
    yield Claim(f"{case.name}/network", text, "small", Region(high=0.5), loss, null=null)
    text = f"n = {case.n}, k = {case.k}: the least hinge loss on the uniform half of the tangent kernel and of the "
    text += f"Gaussian kernel over the ball of radius {RADIUS:g}, the smaller of the two"
    linear = f"part == 'linear' and n == {case.n} and k == {case.k}"
    smaller = lambda data: least(data.rows.query(linear)[["tangent", "gaussian"]])
    null = Null("the network", lambda data: loss(data).value)
    yield Claim(f"{case.name}/linear", text, None, Region(low=0.95), smaller, "about 1", null=null)


def of_frozen(case: Case) -> Iterator[Claim]:
    """The first layer stays as its first step left it: a slow second layer does for k = 3, and not for k = 5."""
    easy, name = case.k == 3, f"{case.name}/frozen"
    words = f"{case.words}, the first layer frozen after its first step"
    perfect = lambda kind: lambda data: fraction(data.runs(case, kind).perfect)
    for kind, (rate, steps), learns in zip(("fast", "slow"), case.frozen, (False, easy), strict=True):
        told = "it learns as well" if learns else "it does not learn"
        text = f"{words}, rate {rate:g} for {steps:,} steps: {told}; the fraction of seeds without a mistake"
        other = {"fast": "slow", "slow": "fast"}[kind] if easy else "both layers"
        null = Null(f"{other}, not {kind}", value_of(perfect(other)))
        region = Region(low=0.9) if learns else Region(high=0.5)
        yield Claim(f"{name}/{kind}", text, None, region, perfect(kind), None, case.few, null)
        text = f"{words}, rate {rate:g} for {steps:,} steps: what online gradient descent promises, |u|^2 / (2 sum of "
        text += f"rates) + rate / 2 E|units|^2, is {'not vacuous' if learns else 'vacuous'}; median over seeds"
        region = Region(high=0.99) if learns else Region(low=1.0)
        null = Null("the zero function", 1.0) if learns else Null("a loss of 0", 0.0)
        promise = lambda data, rate=rate, steps=steps: median(promised(case, data, rate, steps))
        why: dict[str, Any] = {"explanation": LARGE, "tested_by": (f"{name}/slower-bound",)} if learns else {}
        yield Claim(f"{name}/{kind}-bound", text, None, region, promise, null=null, **why)
    if easy:
        rate, steps = case.frozen[-1]
        text = (
            f"{words}: at rate {rate / 4:g} for {4 * steps:,} steps what it promises is not vacuous; median over seeds"
        )
        slower = lambda data: median(promised(case, data, rate / 4, 4 * steps))
        region, null = Region(high=0.99), Null("the zero function", 1.0)
        yield Claim(f"{name}/slower-bound", text, None, region, slower, null=null)


def value_of(measure: Callable[[Any], Measured]) -> Callable[[Any], float]:
    return lambda data: measure(data).value


def promised(case: Case, data: "Data", rate: float, steps: int) -> "pd.Series[float]":
    """The mean loss over the steps that online gradient descent from 0 cannot exceed, by seed."""
    falls = 0.5 if case.k > 3 and (rate, steps) == case.frozen[0] else 1.0  # a rate that falls to 0 is half on average
    found = data.first_steps(case)
    return found.separator**2 / (2 * falls * rate * steps) + rate * falls / 2 * found.units


def of_sizes(cases: list[Case]) -> Iterator[Claim]:
    """What changes with n at k = 3: the first step becomes sharper, success rarer."""
    sizes = f"k = 3, n = {', '.join(str(case.n) for case in cases)}"
    middle = lambda data, case: float(data.first_steps(case).eval("inside / outside").median())
    text = (
        f"{sizes}: after the exact first step the ratio of weights inside and outside A grows as a power of n; exponent"
    )
    growth = lambda data: exactly(
        power_law(
            np.array([case.n for case in cases], float), np.array([middle(data, case) for case in cases])
        ).exponent
    )
    yield Claim("k3/growth", text, None, Region(1.2, 1.8), growth, 1.5, null=Null("no growth", 0.0))
    text = (
        f"{sizes}: with the same rate and steps as many seeds succeed at the largest n as at the smallest; fraction at "
    )

    def decline(data: Data) -> Measured:
        first, last = (data.runs(case, "both layers").perfect.to_numpy(float) for case in (cases[0], cases[-1]))
        return mean(first - last)

    why: dict[str, Any] = {"explanation": TOO_FAST, "tested_by": (f"{cases[-1].name}/slower",)}
    words, null = f"{text}the smallest n less that at the largest", Null("none at the largest", 1.0)
    yield Claim("k3/decline", words, None, Region(high=0.1), decline, null=null, **why)


def plot(settings: Settings, data: Data) -> Figures:
    """What the first step does; then the hinge loss and the accuracy on the uniform half."""
    figure, axes = panels(1, 3, width=3.5, height=3.3)
    draw_step(axes[0, 0], settings.cases[-1])
    draw_losses(axes[0, 1], settings, data, RADIUS)
    draw_accuracy(axes[0, 2], settings, data, POINTS)
    figure.suptitle("A network learns the parity on which all linear methods fail")
    return {"separation": figure}
