"""Theorem 2 of learning-parities: over fixed features, no linear function of small norm learns every parity.

Features Psi with values in [-1, 1], N of them, weights of norm at most B: for some A of size k the hinge
loss on D_A is at least 1/2 - sqrt(N) B / (2^k sqrt 2), if k <= n/16 (printed with sqrt(N B); the proof gives
sqrt(N) B). Half of D_A is uniform, and all the work is done there, where the mean over A is at least

- 1 - sqrt(2N) B / C(n,k)^(1/4), the proof before it puts 16^k for C(n, k) (the general form), and
- 1 - B sqrt(N / C(n,k)), because hinge >= 1 - y f and by Parseval (the elementary form, always stronger).

The theorem asks for k <= n/16. At n = 12, k = 3, where everything can be enumerated, that is violated: C(n, k) is less
than 16^k, so the theorem itself says nothing, and both forms above, which need no such condition, are what is tested.
The general form is negative but for small norms; it is judged where it is positive. At n = 101 and 301 k <= n/16 holds.

At n = 12, k = 3 the best loss over the ball is found for every one of the 220 sets A, with a proof by duality,
for five embeddings and three norms. A kernel of the inner product treats all A alike; its best loss is exactly
max(0, 1 - R sqrt(lambda_k)). At larger n the lower value 1 - B |E[f_A Psi]| is computed exactly for N up to 10,000
features and random A. The theorem's own form says nothing there: sqrt(10,000) is more than 2^k sqrt(2) / 2.

Features that gradient descent has learned are not fixed: after one exact step of the network on D_A, a linear
function of its units is right everywhere (and needs a large norm, because the units are small).

The bounds are about the loss. A linear predictor that does well on the other half, where every bit in A is the
label, can lean on all of these bits at once; then it is the majority of A, which on the uniform half is right
with probability 1/2 + (-1)^((k-1)/2) C(k-1, (k-1)/2) / 2^k: 25% for k = 3 and 68.75% for k = 5. It can as well lean on
one bit and be right half of the time: for k = 3 the loss on D_A is 1/2 in both cases. So its accuracy is
reported, and not bounded.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ....cube import cube
from ....figures import Figures, panels
from ....sweep import Call, Results
from ...base import Claim, Null, Region
from ...measures import exactly
from .embeddings import TITLES
from .kernels import KERNELS, by_duality, by_formula, draw_kernels, of_kernels
from .many_features import EMBEDDINGS, draw_large, lengths, of_many_features
from .small_cube import CURVE, DRAWN, NORMS, curve, draw_curves, exhaustive, of_every_set, of_learned


@dataclass(frozen=True)
class Settings:
    features: int
    """At n = 12."""
    seeds: int
    """Draws of random features."""
    curve_sets: int
    """Sets A for which the whole curve over norms is computed."""
    large_sets: int
    large: tuple[tuple[int, int], ...] = ((101, 3), (301, 5))
    large_features: int = 10_000
    dimensions: tuple[int, ...] = (100, 1000)


SETTINGS = {
    "quick": Settings(features=36, seeds=1, curve_sets=3, large_sets=40),
    "paper": Settings(features=64, seeds=5, curve_sets=20, large_sets=1000),
}


def majority(k: int) -> dict[str, float]:
    """How often the majority of k fair bits is their parity: counted, and by the formula."""
    x = np.asarray(cube(k), np.float64)
    counted = float(np.mean(np.sign(x.sum(axis=1)) == x.prod(axis=1)))
    return {"counted": counted, "formula": 0.5 + (-1) ** ((k - 1) // 2) * math.comb(k - 1, (k - 1) // 2) / 2**k}


def plan(settings: Settings) -> Iterator[Call]:
    for seed, embedding, norm in itertools.product(range(settings.seeds), TITLES, NORMS):
        count = 299 if embedding == "cubic" else 79 if embedding == "quadratic" else settings.features
        given = {"embedding": embedding, "features": count, "norm": norm, "seed": seed}
        yield Call(exhaustive, given, labels={"part": "exhaustive"}, seconds=8.0)
    for name in DRAWN:
        count = 6 * settings.features if name == "learned" else settings.features
        about = {"embedding": name, "features": count, "norms": CURVE, "sets": settings.curve_sets, "seed": 0}
        yield Call(curve, about, labels={"part": "curve"}, seconds=8.0)
    for (n, k), embedding in itertools.product(settings.large, EMBEDDINGS):
        given = {"embedding": embedding, "n": n, "k": k, "features": settings.large_features}
        given |= {"sets": settings.large_sets, "seed": 0}
        yield Call(lengths, given, labels={"part": "large"}, seconds=8.0)
    for kernel in KERNELS:
        for n, k in itertools.product(settings.dimensions, (3, 5)):
            yield Call(by_formula, {"kernel": kernel, "n": n, "k": k}, labels={"part": "formula"}, seconds=0.5)
        yield Call(by_duality, {"kernel": kernel, "n": 8, "k": 3}, labels={"part": "duality"}, seconds=1.0)
    for k in (3, 5):
        yield Call(majority, {"k": k}, labels={"part": "majority"}, seconds=0.01)


def read(settings: Settings, results: Results) -> dict[str, pd.DataFrame]:
    """The rows of each calculation."""
    return {str(part): rows.dropna(axis=1, how="all") for part, rows in results.table().groupby("part")}


def claims(settings: Settings) -> Iterator[Claim]:
    """No chance enters but that of drawing features and, at large n, A: these have an interval over A."""
    yield from of_every_set()
    yield from of_learned(settings.curve_sets)
    yield from of_kernels(settings.dimensions)
    yield from of_many_features(settings.large, settings.large_features, settings.large_sets)
    yield from (of_majority(k, value) for k, value in ((3, 0.25), (5, 0.6875)))


def of_majority(k: int, value: float) -> Claim:
    text = f"k = {k}: the majority of A is right on the uniform half with probability 1/2 + (-1)^((k-1)/2) C(k-1, "
    text += "(k-1)/2) / 2^k; counted over all patterns"
    counted = lambda parts: exactly(parts["majority"].set_index("k").counted[k])
    return Claim(f"majority/k{k}", text, None, Region(value, value), counted, value, null=Null("a guess", 0.5))


def plot(settings: Settings, parts: dict[str, pd.DataFrame]) -> Figures:
    """Losses over the norm at n = 12; kernels; many features at large n."""
    figure, axes = panels(1, 3, width=3.6, height=3.6)
    draw_curves(axes[0, 0], parts["curve"], settings.features)
    draw_kernels(axes[0, 1], parts["formula"], settings.dimensions)
    draw_large(axes[0, 2], parts, settings.large, settings.large_features)
    for axis in axes.flat:
        axis.set(xscale="log", ylim=(-0.03, 1.1))
        axis.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.24))
    figure.suptitle("No linear method with fixed features learns parities: hinge loss on the uniform half")
    return {"linear": figure}
