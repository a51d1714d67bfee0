"""Section 6 of boolean-circuits: what depth-two networks cannot express, and how much of it shows at small sizes.

The sign-rank of a matrix is the least rank of a real matrix with its signs. Lemma 23: a depth-two network with
integer weights up to B has small rank over its two halves of inputs. Theorem 12: so has one with real weights
and a margin, after rounding its weights. A function of large sign-rank therefore needs a wide network: the paper
takes f_m, the AND over m of the OR over m^2 of x AND y, whose sign-rank is 2^Omega(m) (Theorem 11); the inner
product modulo 2 on n' bits has at least 2^(n'/2) by Forster's theorem.

At sizes where matrices fit: both lemmas on random and on trained networks; Forster's bound for the inner product;
for f_1 and f_2 the plain bound (1.41 and 1.89, which say nothing: different rows already need 2) and its weighted
form, N over the least norm of a matrix with the signs and entries of at least 1 in size, found by a convex search;
sign-ranks from above by a search for factors; and the width at which training finds the function.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import (
    forster,
    forster_weighted,
    gate_product_matrix,
    integer_network_rank,
    margin_network_rank,
    razborov_sherstov_matrix,
    search_weights,
    sign_rank_found,
)
from ...cube import cube
from ...figures import INKS, panels
from ...names import make_optimizer
from ...statistics import wilson_interval
from ...sweep import Call, Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, exactly

FUNCTIONS = {"f_1": 1, "f_2": 8, "inner product 3": 3, "inner product 4": 4, "inner product 6": 6}
"""Functions and the bits of one half."""
TRAINED = {"f_2": 8, "inner product 4": 4}


@dataclass(frozen=True)
class Settings:
    networks: int
    widths: tuple[int, ...]
    seeds: int
    steps: int
    searched: int = 200
    """Steps of the search for weights."""


SETTINGS = {
    "quick": Settings(networks=40, widths=(4, 16, 64), seeds=8, steps=6_000),
    "paper": Settings(networks=500, widths=(2, 4, 8, 16, 32, 64, 128, 256), seeds=25, steps=100_000, searched=2000),
}


def matrix(function: str) -> np.ndarray:
    kind, size = function.rsplit("_" if function.startswith("f") else " ", 1)
    return razborov_sherstov_matrix(int(size)) if kind == "f" else gate_product_matrix(np.ones(int(size), int))


def ranks(function: str, searched: int) -> dict[str, object]:
    """The sign-rank of a function from below and from above."""
    signs = matrix(function)
    plain = forster(signs).value
    weighted = forster_weighted(signs, search_weights(signs, steps=searched)).value
    largest = int(min(len(signs), max(4, 2 * math.ceil(weighted) + 4)))
    found = sign_rank_found(signs, largest, tries=2)
    return {
        "plain": plain,
        "weighted": weighted,
        "above": math.nan if found is None else found.rank,
        "rows": len(signs),
    }


def integer_networks(half: int, networks: int) -> list[dict[str, object]]:
    """Random networks with integer weights: the rank of their matrix over Lemma 23's bounds."""
    chance, points = np.random.default_rng(half), np.asarray(cube(half), float)
    rows: list[dict[str, object]] = []
    for number in range(networks):
        width, weight = int(chance.integers(1, 6)), int(chance.integers(1, 4))
        drawn = lambda *shape, weight=weight: chance.integers(-weight, weight + 1, shape).astype(float)
        left, right = points @ drawn(half, width), points @ drawn(half, width)
        hidden = np.maximum(left[:, None, :] + right[None, :, :] + drawn(width), 0)
        rank = int(np.linalg.matrix_rank(hidden @ chance.standard_normal(width)))
        rows.append(
            {
                "number": number,
                "over_printed": rank / (4 * weight * width * half),
                "over_corrected": rank / integer_network_rank(width, half, weight=weight).value,
            }
        )
    return rows


def trained_networks(seeds: int, steps: int) -> list[dict[str, object]]:
    """Networks of 32 units trained on f_2 until they are right: Theorem 12's rounding, on all 65,536 points."""
    half, width = 8, 32
    runs = pl.train(
        pl.Uniform(pl.razborov_sherstov(2)),
        pl.MLP(width),
        rate=0.01,
        batch=128,
        optimizer=make_optimizer("adam"),
        seeds=seeds,
        steps=steps,
        every=100,
        keep=True,
    )
    points, signs = np.asarray(cube(half), float), razborov_sherstov_matrix(2)
    rows: list[dict[str, object]] = []
    for run in range(seeds):
        network = runs.network(run)
        weights = np.asarray(network.hidden[0].weight, float)
        biases, outputs = np.asarray(network.hidden[0].bias, float), np.asarray(network.output.weight, float)
        # The circuit interleaves x and y. The output's bias is one more unit, whose input is constant.
        left, right = np.vstack([weights[:, 0::2], np.zeros(half)]), np.vstack([weights[:, 1::2], np.zeros(half)])
        biases, outputs = np.append(biases, 1.0), np.append(outputs, float(network.output.bias))
        value = lambda left, right, biases, outputs=outputs: (
            np.maximum((points @ left.T)[:, None] + (points @ right.T)[None] + biases, 0) @ outputs
        )
        exact = value(left, right, biases)
        margin, size = float(np.min(exact * signs)), float(max(np.abs(p).max() for p in (left, right, biases, outputs)))
        if margin <= 0:
            rows.append({"number": run, "margin": margin})
            continue
        pieces = math.ceil(2 * size * (width + 1) * (2 * half + 1) / margin)
        rounded = value(*(np.ceil(part * pieces) / pieces for part in (left, right, biases)))
        allowed = size * (width + 1) * (2 * half + 1) / pieces
        rows.append(
            {
                "number": run,
                "margin": margin,
                "off": float(np.abs(rounded - exact).max() / allowed),
                "same_signs": bool(np.all(np.sign(rounded) == signs)),
                "rank_over_bound": float(
                    np.linalg.matrix_rank(rounded)
                    / margin_network_rank(width + 1, half, weight=size, margin=margin).value
                ),
            }
        )
    return rows


def plan(settings: Settings) -> Iterator[Plan | Call]:
    for function in FUNCTIONS:
        yield Call(
            ranks, {"function": function, "searched": settings.searched}, labels={"function": function}, seconds=8.0
        )
    for half in (4, 6):
        yield Call(integer_networks, {"half": half, "networks": settings.networks}, seconds=1.0)
    yield Call(trained_networks, {"seeds": 4, "steps": 6_000}, seconds=15.0)
    targets = {"f_2": pl.razborov_sherstov(2), "inner product 4": pl.GateProduct(("OR",) * 4)}
    for function, target in targets.items():
        for width in settings.widths:
            yield pl.plan(
                pl.Uniform(target),
                pl.MLP(width),
                rate=0.01,
                batch=128,
                optimizer=make_optimizer("adam"),
                seeds=settings.seeds,
                steps=settings.steps,
                every=100,
                labels={"function": function, "width": width},
            )


def claims(settings: Settings) -> list[Claim]:
    """No verdict is known yet."""
    return [replace(claim, recorded={}) for claim in _claims(settings)]


def _claims(settings: Settings) -> list[Claim]:
    inner = [
        Claim(
            f"forster/{name.replace(' ', '-')}",
            f"Forster's bound of the inner product on {half} bits is 2^({half}/2); the bound",
            2 ** (half / 2),
            Region(2 ** (half / 2) - 1e-9, 2 ** (half / 2) + 1e-9),
        )
        for name, half in FUNCTIONS.items()
        if name.startswith("inner")
    ]
    return [
        Claim(
            "lemma23/printed",
            f"a network with integer weights up to B has rank at most 4 B k n' ({2 * settings.networks} random ones); "
            "the largest ratio",
            "at most 1",
            Region(0, 1),
        ),
        Claim(
            "lemma23/corrected",
            "and at most k (B n' + 1) + 1 (the same networks); the largest ratio",
            None,
            Region(0, 1),
        ),
        Claim(
            "theorem12/rounding",
            "rounding weights to multiples of 1/N moves the output by at most B k (2n' + 1) / N (networks trained on "
            "f_2, all points); the largest ratio",
            "at most 1",
            Region(0, 1),
        ),
        Claim(
            "theorem12/rank",
            "the rounded network has the same signs, and a rank within the theorem's (the same networks); the largest "
            "ratio of ranks, infinite if a sign differs",
            "at most 1",
            Region(0, 1),
        ),
        *inner,
        *(
            Claim(
                f"f/m{m}/plain",
                f"Forster's plain bound of f_{m} says nothing, since different rows need a rank of 2; the bound",
                value,
                Region(value - 0.005, value + 0.005),
            )
            for m, value in ((1, 1.41), (2, 1.89))
        ),
        Claim(
            "f/m2/weighted",
            "weights improve the bound of f_2, and it stays below the rank that a search finds; the weighted bound",
            None,
            Region(low=2.0),
        ),
        Claim(
            "order",
            "bounds from below lie below ranks found (all functions); the largest ratio of the weighted bound to "
            "the rank",
            "at most 1",
            Region(0, 1),
        ),
        Claim(
            "width/f_2",
            f"training finds f_2 at a moderate width; the fraction of seeds that do with {max(settings.widths)} units",
            None,
            Region(low=0.5),
        ),
    ]


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Exact but for the fraction of seeds."""
    table = results.table()
    known = table[table.plain.notna()].set_index("function")
    trained = table[table.margin.notna() & (table.margin > 0)]
    same = bool((trained.same_signs == True).all())  # noqa: E712 (objects)
    measured = {
        "lemma23/printed": exactly(float(table.over_printed.max())),
        "lemma23/corrected": exactly(float(table.over_corrected.max())),
        "theorem12/rounding": exactly(float(trained.off.max())),
        "theorem12/rank": exactly(float(trained.rank_over_bound.max()) if same else math.inf),
    }
    for name in FUNCTIONS:
        if name.startswith("inner"):
            measured[f"forster/{name.replace(' ', '-')}"] = exactly(float(known.plain[name]))
    for m in (1, 2):
        measured[f"f/m{m}/plain"] = exactly(float(known.plain[f"f_{m}"]))
    measured["f/m2/weighted"] = exactly(float(known.weighted["f_2"]))
    measured["order"] = exactly(float((known.weighted / known.above).max()))
    here = table[(table.function == "f_2") & (table.width == max(settings.widths))]
    learned = int((here.outcome == "learned").sum())
    measured["width/f_2"] = Measured(learned / len(here), wilson_interval(learned, len(here)))
    return measured


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """Sign-ranks from both sides, and the fraction of seeds that learn over width."""
    table = results.table()
    known = table[table.plain.notna()].set_index("function").loc[list(FUNCTIONS)]
    figure, axes = panels(1, 2, width=4.2, height=3.1)
    axis, places = axes[0, 0], np.arange(len(known))
    for place, (low, high) in enumerate(zip(known.weighted, known.above, strict=True)):
        axis.plot([place, place], [low, high], color="0.75", linewidth=5, zorder=1)
    axis.plot(places, known.plain, "v", color=INKS[1], label="at least: Forster")
    axis.plot(places, known.weighted, "^", color=INKS[0], label="at least: weighted")
    axis.plot(places, known.above, "s", color=INKS[2], label="at most: factors found")
    names = [
        f"$f_{name[2:]}$" if name.startswith("f") else f"inner\nproduct,\n{name.split()[-1]} bits" for name in FUNCTIONS
    ]
    axis.set_xticks(places, names, fontsize=8)
    axis.set(ylabel="sign-rank", ylim=(0, None), title="between bound and search")
    axis.legend(fontsize=7, loc="upper left")
    for i, function in enumerate(TRAINED):
        rows = table[(table.function == function) & table.outcome.notna()].groupby("width").outcome
        fractions = rows.apply(lambda each: float((each == "learned").mean()))
        axes[0, 1].plot(
            fractions.index, fractions, "os"[i] + "-", color=INKS[i], label=function.replace("f_2", "$f_2$")
        )
    axes[0, 1].set(xscale="log", xlabel="units of a depth-two ReLU network", ylabel="fraction of seeds that learn it")
    axes[0, 1].set_xticks(settings.widths, [str(width) for width in settings.widths])
    axes[0, 1].minorticks_off()
    axes[0, 1].set(ylim=(-0.05, 1.05), title=f"Adam, {settings.steps:,} steps")
    axes[0, 1].legend(fontsize=8, loc="upper left")
    figure.suptitle("Depth-two networks and sign-rank", fontsize=11)
    return {"shallow": figure}
