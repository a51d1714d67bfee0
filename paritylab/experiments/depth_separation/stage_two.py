"""Stage two of depth-separation: four ways to learn the parity of n gate outputs, once the gates are right.

The gates' outputs s are all equal on the easy half (E1), and independent with means +-1/2 on the uniform half; the
label is their product. On these:

(a) a given staircase of n hard-tanh units, and a perceptron on fresh examples;
(b) symmetry's staircase of n + 3 ReLU units, and the same perceptron;
(c) no layer given: 8n ReLU units from W = 0, one large gradient step, then the output layer by least squares;
(d) the standard start, 256 ReLU units, both layers by SGD (rates 0.1 and 0.02) or Adam (rates 0.003 and 0.001), fresh
    batches of 256, hinge loss.

Counted are the examples until the error on the uniform half is at most 1%. For (a) and (b) that error is known
exactly, and examples that change nothing are jumped over; the bounds on updates are Novikoff's, R^2 / gamma^2, n (n+1)
for (a), and about (16/3) n^4 for (b), whose ramps are long and overlap. For (c) it is the least of some multiples of
n^2 at which most seeds have learned. For (d) the error is measured on 8,192 points every 50 steps, and the best rate
counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
import pandas as pd
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

import paritylab as pl

from ...analysis import parity_margin, perceptron_bound, symmetric_embedding
from ...circuits import (
    count_distribution,
    hidden_outputs,
    least_squares_output,
    one_step_layer,
    sharp_embedding,
    sign_parity,
)
from ...distributions import AbstractDistribution
from ...distributions.points import growing_sample
from ...figures import ink, one_panel
from ...statistics import power_law, quantile
from ...sweep import Call, Results
from ...training import streamed_perceptron
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import dress
from ..measures import exactly, largest, share
from .shared.families import ERROR, mixture_of, random_target

EMBEDDINGS = {"hard-tanh": sharp_embedding, "relu": symmetric_embedding}
MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Of n^2, for (c)."""
BATCH, EVERY = 256, 50
"""Examples of a step, and steps between two validations."""
RATES = {"sgd": (0.1, 0.02), "adam": (0.003, 0.001)}
WORDS = {
    "hard-tanh": "(a) hard-tanh staircase",
    "relu": "(b) ReLU staircase",
    "one step": "(c) no layer given",
    "sgd": "(d) standard start, SGD",
    "adam": "(d) standard start, Adam",
}


@dataclass(frozen=True)
class GateOutputs:
    """The gates' outputs of a random product of gates under half E1, half uniform, as points of n signs; tested on the
    uniform half alone."""

    n: int

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        parity = pl.Parity(self.n, support=range(self.n))
        means = pl.targets.random_gate_product(self.n, key=key).ors / 2
        hard = eqx.tree_at(lambda distribution: distribution.mean, pl.Product(parity, 0.0), means)
        return pl.distributions.HeldOut(pl.Mixture([pl.distributions.EqualBits(parity), hard], [0.5, 0.5]), hard)


@dataclass(frozen=True)
class Settings:
    seeds: int
    hard_tanh: tuple[int, ...]
    relu: tuple[int, ...]
    one_step: tuple[int, ...]
    trained: tuple[int, ...]
    steps: int
    trained_seeds: int
    """Seeds of (d)."""


SETTINGS = {
    "quick": Settings(10, (5, 9, 15, 25, 51, 101), (5, 9, 15), (15, 25, 51), (5,), 3000, 5),
    "paper": Settings(20, (5, 9, 15, 25, 51, 101, 201), (5, 9, 15, 25, 51, 101), (15, 25, 51, 101), (5, 9, 15, 25),
                      40_000, 10),
}  # fmt: skip


def streamed(n: int, units: str, seeds: int) -> list[dict[str, object]]:
    """Ways (a) and (b), until both halves are good enough."""
    points, labels = EMBEDDINGS[units](n), sign_parity(n)

    def one(seed: int) -> dict[str, object]:
        target, rng = random_target(n, seed), np.random.default_rng(seed)
        hard, mixed = (count_distribution(target, each) for each in (pl.Uniform(target), mixture_of("E1", target)))
        enough = lambda wrong: not wrong[0] and not wrong[-1] and float(hard.probability[wrong].sum()) <= ERROR
        found = streamed_perceptron(points, labels, mixed.probability, until=enough, rng=rng, most=10**7)
        return {"seed": seed, "updates": found.updates, "examples": found.examples}

    return [one(seed) for seed in range(seeds)]


def stepped(n: int, seed: int) -> list[dict[str, object]]:
    """Way (c) at multiples of n^2 examples."""
    target = random_target(n, seed)
    sizes = [round(multiple * n**2) for multiple in MULTIPLES]
    s, y = _outputs(target, mixture_of("E1", target), max(sizes), seed)
    tested, truth = _outputs(target, pl.Uniform(target), 4096, seed + 2**20)
    rows: list[dict[str, object]] = []
    for multiple, size in zip(MULTIPLES, sizes, strict=True):
        layer = one_step_layer(s[:size], y[:size], 8 * n, rng=np.random.default_rng(seed))
        output = least_squares_output(hidden_outputs(layer, s[:size]), y[:size])
        answers = hidden_outputs(layer, tested) @ output[:-1] + output[-1]
        error = float(np.mean(answers * truth <= 0))
        rows.append({"seed": seed, "multiple": multiple, "examples": size, "hard_error": error})
    return rows


def _outputs(target: pl.GateProduct, half: AbstractDistribution, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A sample of the gates' outputs, and labels."""
    x, y = growing_sample(half, size, key=pl.root_key(seed))
    first, second, o = x[:, : target.pairs], x[:, target.pairs :], np.asarray(target.ors, np.float32)
    return np.asarray((o * (1 - first * second) + first + second) / 2, float), np.asarray(y, float)


def plan(settings: Settings) -> Iterator[Plan | Call]:
    how: dict[str, Any] = {"batch": BATCH, "seeds": settings.trained_seeds, "steps": settings.steps, "every": EVERY}
    how |= {"records": pl.training.Recording((pl.training.ValidationError(),), EVERY)}
    for name, rates in RATES.items():
        for n in reversed(settings.trained):
            labels = {"way": name, "gates": n}
            yield pl.plan(GateOutputs(n), pl.MLP(256), rate=rates, optimizer=name, labels=labels, **how)
    for n in reversed(settings.relu):
        yield Call(streamed, {"n": n, "units": "relu", "seeds": settings.seeds}, {"way": "relu"}, seconds=n / 4)
    for n in reversed(settings.one_step):
        for seed in range(settings.seeds):
            yield Call(stepped, {"n": n, "seed": seed}, {"way": "one step"}, seconds=n / 50)
    for n in reversed(settings.hard_tanh):
        which = {"n": n, "units": "hard-tanh", "seeds": settings.seeds}
        yield Call(streamed, which, {"way": "hard-tanh"}, seconds=n / 100)


class Data(NamedTuple):
    table: pd.DataFrame
    times: pd.DataFrame
    """For each run of (d), the examples after which its error was at most 1% for the first time; infinite if never."""

    def units(self, way: str) -> pd.DataFrame:
        """The runs of (a) or (b)."""
        return self.table[self.table.way == way].astype({"updates": float, "n": float})


def read(settings: Settings, results: Results) -> Data:
    rows = []
    for (way, n, rate, seed), run in results.curves().groupby(["way", "gates", "rate", "seed"]):
        below = run.step[run.validation_error <= ERROR].min()
        rows.append((way, int(n), rate, seed, np.nanmin([np.inf, below, run.converged_at.iloc[0]]) * BATCH))
    return Data(results.table(), pd.DataFrame(rows, columns=["way", "n", "rate", "seed", "examples"]))


def claims(settings: Settings) -> Iterator[Claim]:
    """Facts about the seeds that ran: bounds hold for each of them."""
    both = max(settings.relu)
    updates = lambda data, way: data.units(way).groupby("n").updates.median()[both]
    statement = "(a) makes at most n (n + 1) updates; the largest share of that"
    used = lambda runs, bound: largest(runs.updates / runs.n.map(bound))
    measure = lambda data: used(data.units("hard-tanh"), lambda n: n * (n + 1))
    null = Null("points that no threshold separates", np.inf)
    yield Claim("hard-tanh/bound", statement, None, Region(high=1.0), measure, null=null)
    statement = "(b) makes at most R^2 / gamma^2 updates; the largest share"
    measure = lambda data: used(data.units("relu"), bound_of_ramps)
    yield Claim("relu/bound", statement, None, Region(high=1.0), measure, null=null)
    statement = f"saturating steps are far better than ramps: median updates of (b) over those of (a) at n = {both}"
    measure = lambda data: exactly(updates(data, "relu") / updates(data, "hard-tanh"))
    yield Claim("steepness", statement, None, Region(low=20.0), measure, null=Null("no difference", 1.0))
    statement = "(a) needs a number of examples between n and n^2; the exponent of n through the medians"
    measure = lambda data: exactly(power_of_medians(data.units("hard-tanh")))
    null = Null("as many at every n", 0.0)
    yield Claim("hard-tanh/growth", statement, None, Region(0.7, 2.0), measure, null=null)
    yield from map(one_step, settings.one_step)
    yield from (adam(n, settings.steps) for n in settings.trained)


def one_step(n: int) -> Claim:
    statement = (
        f"(c) learns from about n^2 examples, n = {n}; the least multiple of n^2 tried at which most seeds are at 1%"
    )
    measure = lambda data: exactly(multiple_needed(data.table, n))
    null = Null("no multiple is enough", np.inf)
    return Claim(f"one-step/n{n}", statement, None, Region(high=4.0), measure, null=null)


def adam(n: int, steps: int) -> Claim:
    statement = (
        f"(d) learns with Adam from the standard start, n = {n}; the fraction of seeds at 1% within "
        f"{steps:,} steps at the best rate"
    )
    measure = lambda data: share(np.isfinite(best(data.times, "adam", n)))
    return Claim(f"adam/n{n}", statement, None, Region(low=0.5), measure, null=Null("a guess", 0.0))


def bound_of_ramps(n: float) -> float:
    """Novikoff's bound for (b)."""
    radius = float(np.linalg.norm(symmetric_embedding(int(n)), axis=1).max())
    return perceptron_bound(radius, parity_margin(int(n)))


def power_of_medians(runs: pd.DataFrame) -> float:
    medians = runs.groupby("n").examples.median()
    return power_law(medians.index.to_numpy(float), medians.to_numpy(float)).exponent


def best(times: pd.DataFrame, way: str, n: int) -> np.ndarray:
    """The runs of (d) at the rate with the least median; with the most that learned, if that is infinite."""
    here = times[(times.way == way) & (times.n == n)]
    by_rate = [group.examples.to_numpy() for _, group in here.groupby("rate")]
    return min(by_rate, key=lambda each: (quantile(each, 0.5), -np.mean(np.isfinite(each))))


def multiple_needed(table: pd.DataFrame, n: int) -> float:
    """The least multiple of n^2 from which on most seeds have learned."""
    here = table[(table.way == "one step") & (table.n == n)]
    shares = here.assign(good=here.hard_error <= ERROR).groupby("multiple").good.mean()
    failed = [multiple for multiple in MULTIPLES if shares[multiple] <= 0.5]
    later = [multiple for multiple in MULTIPLES if not failed or multiple > failed[-1]]
    return later[0] if later else np.inf


def plot(settings: Settings, data: Data) -> dict[str, Figure]:
    """Examples to 1% over n, for each way."""
    table, times = data.table, data.times
    figure, axis = one_panel(width=6.4, height=3.6)
    for i, (way, words) in enumerate(WORDS.items()):
        if way in EMBEDDINGS:
            medians = table[table.way == way].groupby("n").examples.median()
            n, examples = medians.index.to_numpy(float), medians.to_numpy(float)
        elif way == "one step":
            n = np.array(settings.one_step, float)
            examples = n**2 * np.array([multiple_needed(table, int(each)) for each in n])
        else:
            n = np.array(settings.trained, float)
            examples = np.array([quantile(best(times, way, int(each)), 0.5) for each in n])
        axis.plot(n, examples, marker="osD^v"[i], markersize=4, label=words, **ink(i))
    ticks = sorted({*settings.hard_tanh, *settings.relu})
    axis.set(xscale="log", yscale="log", xlabel="gates n", ylabel="examples to 1% on the uniform half (median)")
    dress(axis, title="The parity of n gate outputs, learned in four ways", ticks=ticks, legend="beside", size=8)
    return {"stage-two": figure}
