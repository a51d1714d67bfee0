"""Theorem 2 of learning-parities: over fixed features, no linear function of small norm learns every parity.

Features Psi with values in [-1, 1], N of them, weights of norm at most B: for some A of size k the hinge
loss on D_A is at least 1/2 - sqrt(N) B / (2^k sqrt 2), if k <= n/16 (printed with sqrt(N B); the proof gives
sqrt(N) B). Half of D_A is uniform, and all the work is done there, where the mean over A is at least

- 1 - sqrt(2N) B / C(n,k)^(1/4), the proof before it puts 16^k for C(n, k) (the general form), and
- 1 - B sqrt(N / C(n,k)), because hinge >= 1 - y f and by Parseval (the elementary form, always stronger).

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

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...analysis import (
    AfterFirstStep,
    best_hinge,
    best_hinge_over_ball,
    gaussian_eigenvalues,
    level_eigenvalues,
    relu_ntk,
)
from ...bounds import fixed_features, fixed_features_by_convexity
from ...cube import cube
from ...figures import INKS, ink, panels
from ...sweep import Call, Results
from ..base import Claim, Measured, Region, exactly
from .embeddings import TITLES, Embedding, correlations, drawn_sets, sets, size, table

N, K = 12, 3
NORMS = (0.5, 1.0, 2.0)
CURVE = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
LARGE_NORMS = (1.0, 3.0, 10.0, 100.0)
LARGE: tuple[Embedding, ...] = ("relu", "fourier", "gates", "quadratic")
RADII = (1.0, 10.0, 100.0)
KERNELS = {"gaussian": "Gaussian kernel", "tangent": "ReLU tangent kernel", "cubic": "kernel ((1 + rho)/2)^k"}
PROVEN = 1e-6
"""The gap that a proof by duality may leave, and how far two routes to a kernel's best loss may be apart."""
HINGE_LEAST = 0.95


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


def exhaustive(embedding: Embedding, features: int, norm: float, seed: int) -> list[dict[str, float]]:
    """The best loss on the uniform half for every A at n = 12."""
    psi = table(embedding, N, K, features, seed)
    x = np.asarray(cube(N), np.float64)
    found = [best_hinge_over_ball(psi, x[:, list(chosen)].prod(axis=1), norm) for chosen in sets(N, K)]
    return [{"count": psi.shape[1], "least": each.primal, "gap": each.gap} for each in found]


def learned_table(chosen: tuple[int, ...], units: int, seed: int) -> np.ndarray:
    """The units of a network after one exact step on D_A, at all points, scaled into [-1, 1]."""
    network = AfterFirstStep(units, chosen)(N, key=pl.root_key(seed))
    x = np.asarray(cube(N), np.float64) / math.sqrt(N)
    units_of = np.clip(x @ np.asarray(network.hidden[0].weight, float).T + np.asarray(network.hidden[0].bias), 0, 6)
    return units_of / np.abs(units_of).max()


def curve(embedding: str, features: int, norms: tuple[float, ...], sets: int, seed: int) -> list[dict[str, float]]:
    """The best loss over the norm for some A: on the uniform half, and on D_A with its accuracy on the uniform half."""
    x, rows = np.asarray(cube(N), np.float64), []
    for which, chosen in enumerate(drawn_sets(N, K, sets, seed).tolist()):
        learned = embedding == "learned"
        psi = (
            learned_table(tuple(chosen), features, seed + which)
            if learned
            else table(cast(Embedding, embedding), N, K, features, seed)
        )
        y = x[:, chosen].prod(axis=1)
        equal = np.abs(x[:, chosen].sum(axis=1)) == K
        mixture = (2.0**-N + equal * 2.0 ** (K - 1 - N)) / 2
        for norm in norms:
            uniform = best_hinge_over_ball(psi, y, norm)
            both = best_hinge_over_ball(psi, y, norm, mixture)
            right = lambda found, psi=psi, y=y: float(np.mean(psi @ found.weights * y > 0))
            rows.append(
                {"norm": norm, "which": which, "least": uniform.primal, "gap": max(uniform.gap, both.gap)}
                | {"right": right(uniform), "loss_on_both": both.primal, "right_of_both": right(both)}
            )
    return rows


def lengths(embedding: Embedding, n: int, k: int, features: int, sets: int, seed: int) -> list[dict[str, float]]:
    """|E[f_A Psi]| for random A, exactly."""
    found = correlations(embedding, n, k, features, seed, drawn_sets(n, k, sets, seed))
    return [{"count": size(embedding, n, features), "length": float(each)} for each in found]


def kernel_values(kernel: str, n: int, k: int) -> tuple[np.ndarray, float]:
    """A kernel with K(x, x) = 1 by the number of coordinates that differ, and its eigenvalue of level k by another way:
    a product over coordinates, a series of non-negative terms, or k! / (2 n)^k from the only power that reaches k."""
    rho = 1 - 2 * np.arange(n + 1) / n
    if kernel == "gaussian":
        return np.exp(rho - 1), float(gaussian_eigenvalues(n, math.sqrt(n))[k])
    if kernel == "tangent":
        made = relu_ntk(n, 1.0).normalized()
        return made(rho), float(made.eigenvalues()[k])
    return ((1 + rho) / 2) ** k, math.factorial(k) / (2 * n) ** k


def by_formula(kernel: str, n: int, k: int) -> list[dict[str, float]]:
    """max(0, 1 - R sqrt(lambda_k)), with the eigenvalue by two routes."""
    values, other = kernel_values(kernel, n, k)
    eigenvalue = max(float(level_eigenvalues(values)[k]), 0.0)
    return [
        {"radius": radius, "least": best_hinge(other, radius), "second": best_hinge(eigenvalue, radius)}
        for radius in RADII
    ]


def by_duality(kernel: str, n: int, k: int) -> list[dict[str, float]]:
    """The same at small n by optimization over the kernel's own features sqrt(lambda_|S|) chi_S, for all S."""
    values, other = kernel_values(kernel, n, k)
    x = np.asarray(cube(n), np.float64)
    member = x < 0  # row S of the cube as a set
    characters = 1 - 2 * ((x < 0).astype(int) @ member.T.astype(int) % 2)
    psi = characters * np.sqrt(np.maximum(level_eigenvalues(values), 0))[member.sum(axis=1)]
    found = [(radius, best_hinge_over_ball(psi, x[:, :k].prod(axis=1), radius)) for radius in (1.0, 3.0, 10.0)]
    return [{"radius": radius, "least": best_hinge(other, radius), "second": each.primal} for radius, each in found]


def majority(k: int) -> dict[str, float]:
    """How often the majority of k fair bits is their parity: counted, and by the formula."""
    x = np.asarray(cube(k), np.float64)
    counted = float(np.mean(np.sign(x.sum(axis=1)) == x.prod(axis=1)))
    return {"counted": counted, "formula": 0.5 + (-1) ** ((k - 1) // 2) * math.comb(k - 1, (k - 1) // 2) / 2**k}


def plan(settings: Settings) -> Iterator[Call]:
    for seed in range(settings.seeds):
        for embedding in TITLES:
            for norm in NORMS:
                count = 299 if embedding == "cubic" else 79 if embedding == "quadratic" else settings.features
                given = {"embedding": embedding, "features": count, "norm": norm, "seed": seed}
                yield Call(exhaustive, given, labels={"part": "exhaustive"}, seconds=8.0)
    for name in ("relu", "fourier", "gates", "learned"):
        count = 6 * settings.features if name == "learned" else settings.features
        about = {"embedding": name, "features": count, "norms": CURVE, "sets": settings.curve_sets, "seed": 0}
        yield Call(curve, about, labels={"part": "curve"}, seconds=8.0)
    for n, k in settings.large:
        for embedding in LARGE:
            given = {"embedding": embedding, "n": n, "k": k, "features": settings.large_features}
            yield Call(
                lengths, {**given, "sets": settings.large_sets, "seed": 0}, labels={"part": "large"}, seconds=8.0
            )
    for kernel in KERNELS:
        for n in settings.dimensions:
            for k in (3, 5):
                yield Call(by_formula, {"kernel": kernel, "n": n, "k": k}, labels={"part": "formula"}, seconds=0.5)
        yield Call(by_duality, {"kernel": kernel, "n": 8, "k": 3}, labels={"part": "duality"}, seconds=1.0)
    for k in (3, 5):
        yield Call(majority, {"k": k}, labels={"part": "majority"}, seconds=0.01)


def claims(settings: Settings) -> list[Claim]:
    return [
        *of_every_set(),
        *of_learned(settings),
        *of_kernels(settings),
        *of_many_features(settings),
        *of_majorities(),
    ]


def of_every_set() -> list[Claim]:
    """Optima at n = 12, against both forms of the bound."""
    every = f"n = {N}, k = {K}, all {math.comb(N, K)} sets A, norms {', '.join(f'{norm:g}' for norm in NORMS)}"
    small = [
        Claim(
            f"exhaustive/{name}",
            f"{title}: the mean over A of the least hinge loss on the uniform half is at least 1 - B sqrt(N/C(n,k)) "
            f"({every}); the least difference",
            "at least 0",
            Region(low=0.0),
        )
        for name, title in TITLES.items()
    ]
    forms = [
        Claim(
            "exhaustive/general-form",
            "the same with the bound inside the paper's proof, 1 - sqrt(2N) B / C(n,k)^(1/4); the least difference",
            "at least 0",
            Region(low=0.0),
        ),
        Claim(
            "exhaustive/proven",
            f"each of these losses, and of those over larger norms in the figure, is proven by duality to be the least "
            f"({every}); the largest gap",
            None,
            Region(high=PROVEN),
        ),
    ]
    return [*small, *forms]


def of_learned(settings: Settings) -> list[Claim]:
    return [
        Claim(
            "learned",
            f"features after one exact step on D_A (n = {N}, k = {K}) are no fixed embedding: over norms of at most "
            f"{CURVE[-1]:g} the least hinge loss on the uniform half, the largest over {settings.curve_sets} sets A",
            0.0,
            Region(high=0.05),
        ),
        Claim(
            "learned/accuracy",
            "the accuracy there of that predictor, the least over the sets A",
            1.0,
            Region(low=1.0),
        ),
    ]


def of_kernels(settings: Settings) -> list[Claim]:
    kernels = [
        Claim(
            f"kernels/n{n}",
            f"kernels of the inner product on n = {n} bits: the least hinge loss of a k-parity over the ball of radius "
            f"R is max(0, 1 - R sqrt(lambda_k)), k = 3, 5; with lambda_k by two routes, the largest difference",
            0.0,
            Region(high=PROVEN),
        )
        for n in settings.dimensions
    ]
    solved = Claim(
        "kernels/duality",
        "the same formula against the optimum over the kernel's own features, n = 8, k = 3; the largest difference",
        0.0,
        Region(high=PROVEN),
    )
    return [*kernels, solved]


def of_many_features(settings: Settings) -> list[Claim]:
    """What is exact at large n."""
    large = [
        Claim(
            f"large/n{n}-k{k}/{name}",
            f"{TITLES[name]}, N = {size(name, n, settings.large_features):,} features, n = {n}, k = {k}: the mean over "
            f"{settings.large_sets} random A of 1 - B |E[f_A Psi]| at B = 1, which no loss there is below",
            "about 1",
            Region(low=HINGE_LEAST),
        )
        for n, k in settings.large
        for name in LARGE
    ]
    above = Claim(
        "large/elementary",
        f"the same at norms {', '.join(f'{norm:g}' for norm in LARGE_NORMS)} is above 1 - B sqrt(N/C(n,k)) wherever "
        "that is positive; the least difference",
        "at least 0",
        Region(low=0.0),
    )
    return [*large, above]


def of_majorities() -> list[Claim]:
    return [
        Claim(
            f"majority/k{k}",
            f"k = {k}: the majority of A is right on the uniform half with probability 1/2 + (-1)^((k-1)/2) C(k-1, "
            "(k-1)/2) / 2^k; counted over all patterns",
            value,
            Region(value, value),
        )
        for k, value in ((3, 0.25), (5, 0.6875))
    ]


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """No chance enters but that of drawing features and, at large n, A: these have an interval over A."""
    rows = results.table()
    part = {name: group.dropna(axis=1, how="all") for name, group in rows.groupby("part")}
    means = part["exhaustive"].groupby(["embedding", "norm", "count", "seed"]).least.mean().reset_index()
    excess = lambda bound, row: row.least - bound(N, K, features=int(row["count"]), norm=float(row.norm)).value
    measured = {}
    for name in TITLES:
        here = means[means.embedding == name]
        measured[f"exhaustive/{name}"] = exactly(min(excess(fixed_features, row) for _, row in here.iterrows()))
    measured["exhaustive/general-form"] = exactly(
        min(excess(fixed_features_by_convexity, row) for _, row in means.iterrows())
    )
    measured["exhaustive/proven"] = exactly(float(max(part["exhaustive"].gap.max(), part["curve"].gap.max())))
    learned = part["curve"][(part["curve"].embedding == "learned") & (part["curve"].norm == CURVE[-1])]
    measured["learned"] = exactly(float(learned.least.max()))
    measured["learned/accuracy"] = exactly(float(learned.right.min()))
    for n in settings.dimensions:
        here = part["formula"][part["formula"].n == n]
        measured[f"kernels/n{n}"] = exactly(float((here.least - here.second).abs().max()))
    measured["kernels/duality"] = exactly(float((part["duality"].least - part["duality"].second).abs().max()))
    measured |= large_losses(settings, part["large"])
    measured |= {f"majority/k{int(row.k)}": exactly(row.counted) for _, row in part["majority"].iterrows()}
    return measured


def large_losses(settings: Settings, rows: pd.DataFrame) -> dict[str, Measured]:
    """Means over random A with their normal interval of 95%."""
    measured, differences = {}, []
    for n, k in settings.large:
        for name in LARGE:
            here = rows[(rows.n == n) & (rows.k == k) & (rows.embedding == name)]
            mean, half = here.length.mean(), 1.96 * here.length.std() / math.sqrt(len(here))
            measured[f"large/n{n}-k{k}/{name}"] = Measured(1 - mean, (1 - mean - half, 1 - mean + half))
            for norm in LARGE_NORMS:
                bound = fixed_features(n, k, features=int(here["count"].iloc[0]), norm=norm).value
                if bound > 0:
                    differences.append((1 - norm * mean - bound, norm * half))
    least, half = min(differences)
    measured["large/elementary"] = Measured(least, (least - half, least + half))
    return measured


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """Losses over the norm at n = 12; kernels; many features at large n."""
    rows = results.table()
    figure, axes = panels(1, 3, width=3.6, height=3.6)
    draw_curves(axes[0, 0], settings, rows)
    draw_kernels(axes[0, 1], settings, rows[rows.part == "formula"])
    draw_large(axes[0, 2], settings, rows[rows.part == "large"])
    figure.suptitle("No linear method with fixed features learns parities: hinge loss on the uniform half", fontsize=11)
    return {"linear": figure}


def draw_curves(axis: Axes, settings: Settings, rows: pd.DataFrame) -> None:
    """The best loss over the norm, and the bound for as many features."""
    curves = rows[rows.part == "curve"]
    for i, name in enumerate(("relu", "fourier", "gates", "learned")):
        losses = curves[curves.embedding == name].groupby("norm").least.agg(["mean", "min", "max"])
        label = "learned (after one step on D_A)" if name == "learned" else TITLES[name]  # type: ignore[index]
        axis.plot(losses.index, losses["mean"], marker="osD^"[i], markersize=3.5, label=label, **ink(i))
        axis.fill_between(losses.index, losses["min"], losses["max"], color=INKS[i], alpha=0.15, linewidth=0)
    norms = np.geomspace(CURVE[0], CURVE[-1], 300)
    bound = [max(0.0, fixed_features(N, K, features=settings.features, norm=float(norm)).value) for norm in norms]
    axis.plot(norms, bound, color="0.5", linewidth=1, label=f"bound for {settings.features} fixed features")
    axis.set(xscale="log", xlabel="norm B of the weights", ylabel="least hinge loss", ylim=(-0.03, 1.1))
    axis.set_title(f"n = {N}, k = {K}: proven optimum")
    axis.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.24))


def draw_kernels(axis: Axes, settings: Settings, rows: pd.DataFrame) -> None:
    """1 - loss of kernels, which is a straight line here."""
    radius = np.geomspace(0.1, 1e5, 300)
    for i, name in enumerate(KERNELS):
        for n, style in zip(settings.dimensions, ("-", "--"), strict=False):
            here = rows[(rows.kernel == name) & (rows.n == n) & (rows.k == 3)]
            slope = float(((1 - here.least) / here.radius).iloc[0])
            label = f"{KERNELS[name]}, n = {n}"
            axis.plot(radius, np.maximum(0, 1 - radius * slope), color=INKS[i], linestyle=style, label=label)
    for n, style in zip(settings.dimensions, ("-", "--"), strict=False):
        bound = np.maximum(0, 1 - radius / math.sqrt(math.comb(n, 3)))
        axis.plot(radius, bound, color="0.6", linestyle=style, linewidth=1, label=f"bound, n = {n}")
    axis.set(xscale="log", xlabel="radius R", ylim=(-0.03, 1.1))
    axis.set_title("k = 3: kernels, exactly")
    axis.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.24))


def draw_large(axis: Axes, settings: Settings, rows: pd.DataFrame) -> None:
    """What is left of 1 at each norm, for up to 10,000 features."""
    for j, (n, k) in enumerate(settings.large):
        for i, name in enumerate(LARGE):
            here = rows[(rows.n == n) & (rows.k == k) & (rows.embedding == name)]
            losses = [1 - norm * here.length.mean() for norm in LARGE_NORMS]
            label = TITLES[name] if j == 0 else None
            style = "-" if j == 0 else "--"
            axis.plot(
                LARGE_NORMS, losses, marker="osD^"[i], markersize=3.5, color=INKS[i], linestyle=style, label=label
            )
        bound = [fixed_features(n, k, features=settings.large_features, norm=norm).value for norm in LARGE_NORMS]
        style = "-" if j == 0 else "--"
        axis.plot(LARGE_NORMS, bound, color="0.6", linestyle=style, linewidth=1, label=f"bound, n = {n}, k = {k}")
    axis.set(xscale="log", xlabel="norm B of the weights", ylim=(-0.03, 1.1))
    axis.set_title(f"{settings.large_features:,} features: least possible loss")
    axis.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.24))
