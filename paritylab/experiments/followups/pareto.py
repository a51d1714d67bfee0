"""Width against samples in offline sparse parity (Edelman, Goel, Kakade, Malach, Zhang, 2309.03800).

A two-layer ReLU network learns a parity of k of n bits from a finite sample of N examples. By the abstract, success is
to be had if one is 'sufficiently rich (large model), knowledgeable (large dataset), patient (many training iterations),
or lucky (many random guesses)'; 'sparse initialization and increasing network width yield significant improvements in
sample efficiency', and 'width plays the role of parallel search'. Sparse: each unit begins with s > k weights +-1 /
sqrt(s), all others are 0; dense: uniform in +-1 / sqrt(n), the default of deep-learning packages.

Only abstract and introduction could be read. Hinge loss, SGD of rate 0.1, batch 32, weight decay 0.01 (times the rate),
100,000 steps, success at an error of at most 1%, (n, k) = (50, 3), widths 10 to 100,000 and samples from 100 on are
from memory: a reading. So are s = 20 and the scales of the weights. The paper scale here ends at width 3,000 and
12,800 examples. The quick scale has n = 30 and s = 10.

Where we differ: a batch is drawn from the N examples with replacement, in place of shuffled epochs, which makes N an
array of the run; a run succeeds at the first validation, every 100 steps, at which at most 1% of 2,048 fresh points are
misclassified. Samples needed are, of each seed, the least N of the grid with a success; where there is none, the step
of the grid after its largest, so that ratios are understated rather than overstated.

*What comes out* at the quick scale: width helps, the start does not tell. (Read off the first runs.) The sample is
fitted first, and it is weight decay that makes a network right elsewhere; but decay forgets the start after 1 / (rate x
decay) = 1,000 steps, long before a small sample is understood. Two controls: a hundredth of the decay, and the time of
success in units of that of forgetting. So wide networks also need more patience: within 6,000 steps of the quick scale
420 examples were too few for 250 units, and with 25,000 they were enough.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

import paritylab as pl

from ...analysis import Elimination, Needed, SupportSearch, what_is_needed
from ...cube import root_key
from ...distributions.base import Examples, Support
from ...figures import INKS, Figures, panels
from ...networks import ChosenInitialization, SparseInitialization, UniformInitialization
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..drawing import draw_baselines, dress, shown
from ..measures import bootstrap, fraction, median

RATE, BATCH, EVERY, ENOUGH = 0.1, 32, 100, 0.01
DECAY, WEAK = 0.01, 0.0001
"""Weight decay, and that of a control."""
STARTS = ("dense", "sparse")
BASELINE_SEEDS = 25
FORGOTTEN = "Success takes weight decay, which forgets the start long before."


class FiniteSample(pl.AbstractDistribution):
    """Draws, with replacement, from the first `size` of the examples that a seed stands for; nothing is stored.

    The size is an array, so that runs of all sizes fit into one compiled program.
    """

    base: pl.Uniform
    seed: Int[Array | np.ndarray, "*runs"]
    size: Int[Array | np.ndarray, "*runs"]

    @property
    def n(self) -> int:
        return self.base.n

    def members(self, index: Int[Array, " some"]) -> Examples:
        """The examples with these numbers, each drawn anew from its own key."""
        key = root_key(self.seed)
        x, y = jax.vmap(lambda i: self.base.sample(jr.fold_in(key, i), 1))(index)
        return x[:, 0], y[:, 0]

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        return self.members(jr.randint(key, (batch,), 0, self.size))

    def support(self) -> Support:
        size = int(self.size)
        return *self.members(jnp.arange(size)), jnp.full(size, 1 / size)

    def clean(self) -> pl.AbstractDistribution:
        return self.base


@dataclass(frozen=True)
class SampledParity:
    """A random parity with a sample of its own; fresh points are the test."""

    n: int
    k: int
    size: int

    def __call__(self, key: PRNGKeyArray) -> FiniteSample:
        target_key, sample_key = jr.split(key)
        seed = jr.randint(sample_key, (), 0, 2**31 - 1)
        return FiniteSample(
            pl.Uniform(pl.random_parity(self.n, self.k, key=target_key)), seed, jnp.asarray(self.size, jnp.int32)
        )


@dataclass(frozen=True)
class Settings:
    n: int
    k: int
    nonzero: int
    """Weights of a unit that a sparse initialization leaves."""
    widths: tuple[int, ...]
    sizes: tuple[int, ...]
    """Numbers of examples, in a geometric row."""
    steps: int
    seeds: int


SETTINGS = {
    "quick": Settings(
        n=30, k=3, nonzero=10, widths=(8, 40, 200), sizes=(300, 420, 600, 850, 1200), steps=16_000, seeds=24,
    ),
    "paper": Settings(
        n=50, k=3, nonzero=20, widths=(10, 30, 100, 300, 1000, 3000),
        sizes=(100, 200, 400, 800, 1600, 3200, 6400, 12_800), steps=100_000, seeds=50,
    ),
}  # fmt: skip


def plan(settings: Settings) -> Iterator[pl.Plan]:
    laws = (UniformInitialization(), SparseInitialization(settings.nonzero))
    whole = [(width, size, DECAY) for width, size in itertools.product(settings.widths, settings.sizes)]
    for (width, size, decay), start in itertools.product(
        [*whole, (settings.widths[-1], settings.sizes[-1], WEAK)], STARTS
    ):
        yield pl.plan(
            SampledParity(settings.n, settings.k, size),
            pl.MLP(width, initialization=ChosenInitialization(laws, STARTS.index(start))), rate=RATE, batch=BATCH,
            steps=settings.steps, every=EVERY, validation=2048, seeds=settings.seeds,
            decay=pl.training.Decay(decay, convention="rate"), learned=pl.training.ErrorAtMost(ENOUGH),
            labels={"width": width, "examples": size, "start": start},
        )  # fmt: skip


@dataclass(frozen=True)
class Data:
    """Arrays of runs: starts, widths, sizes, seeds."""

    success: np.ndarray
    time: np.ndarray
    """Steps to success, infinite where there was none."""
    weak: np.ndarray
    """Success with weak decay, of the widest networks with the most examples: starts, seeds."""
    baselines: tuple[Needed, ...]


def read(settings: Settings, results: Results) -> Data:
    table = results.table().sort_values("seed")
    cells = dict(iter(table.groupby(["start", "width", "examples", "decay"])))
    of = lambda *cell, decay=DECAY: cells[*cell, decay].converged_at.astype(float).fillna(np.inf).to_numpy()
    time = np.array(
        [[[of(start, width, size) for size in settings.sizes] for width in settings.widths] for start in STARTS]
    )
    weak = np.array([of(start, settings.widths[-1], settings.sizes[-1], decay=WEAK) for start in STARTS])
    target = partial(drawn, settings)
    found = tuple(what_is_needed(each, target, BASELINE_SEEDS) for each in (Elimination(), SupportSearch(settings.k)))
    return Data(np.isfinite(time), time, np.isfinite(weak), found)


def drawn(settings: Settings, key: PRNGKeyArray) -> pl.Parity:
    return pl.random_parity(settings.n, settings.k, key=key)


def needed(settings: Settings, data: Data) -> np.ndarray:
    """Logarithms, to base 2, of the least samples of each seed: starts, widths, seeds."""
    sizes = np.log2([*settings.sizes, settings.sizes[-1] ** 2 / settings.sizes[-2]])
    ever = np.concatenate([data.success, np.ones_like(data.success[:, :, :1])], axis=2)
    least: np.ndarray = sizes[ever.argmax(axis=2)]
    return least


def claims(settings: Settings) -> Iterator[Claim]:
    most, widest, narrowest = settings.sizes[-1], settings.widths[-1], settings.widths[0]
    for i, start in enumerate(STARTS):
        yield Claim(
            f"{start}/learns", f"{start}, {widest:,} units, {most:,} examples: such networks succeed; "
            "the fraction of seeds", 1.0, Region(low=0.7), partial(succeeds, i), null=Null("a guess", 0.0),
        )  # fmt: skip
        yield Claim(
            f"{start}/wider", f"{start}: increasing width improves sample efficiency; samples needed with {narrowest} "
            f"units over those with {widest:,}, geometric mean over seeds", None, Region(low=1.2),
            partial(gain_of_width, settings, i), null=Null("width does not matter", 1.0),
        )  # fmt: skip
    yield Claim(
        "sparse/fewer", "sparse initialization improves sample efficiency; samples needed from a dense one over those "
        "from a sparse one of the same width, geometric mean over widths and seeds", None, Region(low=1.1),
        partial(gain_of_sparsity, settings), explanation=FORGOTTEN, null=Null("the start does not matter", 1.0),
        tested_by=("decay/needed", "decay/forgets"),
    )  # fmt: skip
    yield Claim(
        "sparse/fewer-when-wide", f"the same at {widest:,} units alone", None, Region(low=1.1),
        partial(gain_of_sparsity, settings, first=-1), explanation=FORGOTTEN,
        null=Null("the start does not matter", 1.0), tested_by=("decay/needed", "decay/forgets"),
    )  # fmt: skip
    yield Claim(
        "decay/needed", f"control: with a hundredth of the weight decay {widest:,} units do not succeed from {most:,} "
        "examples; the fraction of seeds that do, both starts", None, Region(high=0.3), without_decay,
        null=Null("as with decay", with_decay),
    )  # fmt: skip
    yield Claim(
        "decay/forgets", "control: a start is forgotten after 1 / (rate x decay) steps, before success from few "
        "examples; the median time of success of the widest networks, each seed at the least sample with which it has "
        "one, in units of that", None, Region(low=2), slowness, null=Null("as soon as that", 1.0),
    )  # fmt: skip
    yield Claim(
        "knowledgeable", "more examples help: the share of runs that succeed with the most examples, less that with "
        "the least; all widths and starts", None, Region(low=0.3), knowledge, null=Null("samples do not matter", 0.0),
    )  # fmt: skip
    yield Claim(
        "patient", "more steps help: the share of runs that succeed within all steps, less that within a quarter of "
        "them", None, Region(low=0.05), partial(patience, settings), null=Null("steps do not matter", 0.0),
    )  # fmt: skip
    yield Claim(
        "lucky", "some are lucky: the share of cells of the grid in which of equally large networks with as many "
        "examples some succeed and some do not", None, Region(low=0.2), luck,
        null=Null("size and sample decide", 0.0),
    )  # fmt: skip
    yield Claim(
        "gap", "what gradient descent needs lies above what is enough for a computation: the least samples of the "
        "widest networks, from the better start, over those of Gaussian elimination, medians", None, Region(low=2),
        partial(gap, settings), null=Null("no gap", 1.0),
    )  # fmt: skip


def succeeds(start: int, data: Data) -> Measured:
    return fraction(data.success[start, -1, -1])


def gain_of_width(settings: Settings, start: int, data: Data) -> Measured:
    least = needed(settings, data)[start]
    return bootstrap(least[0] - least[-1], lambda each: float(2 ** each.mean()))


def gain_of_sparsity(settings: Settings, data: Data, first: int = 0) -> Measured:
    """Seeds are the rows that are drawn again; dense and sparse networks of a seed have the same sample."""
    dense, sparse = needed(settings, data)[:, first:]
    return bootstrap((dense - sparse).T, lambda each: float(2 ** each.mean()))


def without_decay(data: Data) -> Measured:
    return fraction(data.weak.ravel())


def with_decay(data: Data) -> float:
    return float(data.success[:, -1, -1].mean())


def slowness(data: Data) -> Measured:
    """Both starts together; infinite where a seed has no success."""
    first = data.success[:, -1].argmax(axis=1)
    times = np.take_along_axis(data.time[:, -1], first[:, None], axis=1)
    return median(times.ravel() * RATE * DECAY)


def knowledge(data: Data) -> Measured:
    by_seed = np.moveaxis(data.success[:, :, -1] * 1.0 - data.success[:, :, 0], -1, 0)
    return bootstrap(by_seed, lambda each: float(each.mean()))


def patience(settings: Settings, data: Data) -> Measured:
    late = np.moveaxis(data.success & (data.time > settings.steps / 4), -1, 0)
    return bootstrap(late.astype(float), lambda each: float(each.mean()))


def luck(data: Data) -> Measured:
    by_seed = np.moveaxis(data.success, -1, 0).astype(float)
    return bootstrap(by_seed, lambda each: float(np.mean(np.ptp(each, axis=0))))


def gap(settings: Settings, data: Data) -> Measured:
    least, (enough, _) = needed(settings, data)[:, -1].T, data.baselines[0].median()
    return bootstrap(least, lambda each: float(2 ** np.median(each, axis=0).min()) / enough)


def plot(settings: Settings, data: Data) -> Figures:
    """Shares of success over widths and samples, and the frontier with the baselines."""
    figure, axes = panels(1, 3, width=2.9, height=2.8)
    for i, start in enumerate(STARTS):
        axis, shares = axes[0, i], data.success[i].mean(axis=2)
        axis.imshow(shares, origin="lower", aspect="auto", cmap="Greys", vmin=0, vmax=1.4)
        for row, column in np.ndindex(shares.shape):
            axis.text(column, row, f"{shares[row, column]:.2f}".lstrip("0"), ha="center", va="center", fontsize=7)
        axis.grid(False)
        axis.set_yticks(range(len(settings.widths)), [f"{width:,}" for width in settings.widths])
        axis.set_xticks(range(len(settings.sizes)), [f"{size:,}" for size in settings.sizes], rotation=60)
        dress(axis, xlabel="examples", ylabel="units" if i == 0 else "", title=f"{start}: share of seeds that succeed")
    axis, least = axes[0, 2], needed(settings, data)
    for i, start in enumerate(STARTS):
        found = [bootstrap(each, lambda seeds: float(2 ** seeds.mean())) for each in least[i]]
        low, high = np.array([each.interval for each in found]).T
        values = np.array([each.value for each in found])
        places = np.array(settings.widths) * (1 + 0.06 * (2 * i - 1))
        axis.errorbar(places, values, [values - low, high - values], color=INKS[i], marker="os"[i],
                      linestyle=("-", "--")[i], label=start)  # fmt: skip
    draw_baselines(axis, data.baselines, "samples")
    dress(axis, xlabel="units", ylabel="samples needed", xscale="log", yscale="log", ticks=settings.widths,
          title="frontier, and baselines", legend="center left")  # fmt: skip
    title = f"Parity of {settings.k} of {settings.n} bits from N examples: {settings.seeds} seeds"
    return shown("pareto", figure, f"{title}, {settings.steps:,} steps")
