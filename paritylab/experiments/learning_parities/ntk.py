"""Theorem 2 of learning-parities on its most natural example: the tangent kernel of a wide ReLU network.

The theorem says that over any fixed features, no linear function of small norm has a hinge loss much
below 1 on every parity of k out of n coordinates. In its elementary form, with features of length
one: the mean over parities of the best loss over the ball of radius R is at least
1 - R / sqrt(C(n, k)) (also Theorem 6 of hidden-progress, direct form). The kernel of an infinitely
wide two-layer ReLU network treats all k-parities alike, so that its best loss is exactly
max(0, 1 - R sqrt(lambda_k)), with lambda_k the eigenvalue of Fourier level k.

Without biases the kernel is rho plus an even function of the inner product rho, and so its eigenvalue is
exactly 0 at all odd levels from 3 on: no radius helps, the best loss is 1. Biases (here with the
variance of w . x) repair that, and the loss stays above the bound. Eigenvalues are sums of
non-negative terms, in which nothing cancels: 0 means 0.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...analysis import best_hinge, relu_conjugate_kernel, relu_ntk
from ...figures import INKS, Axes, Figures, ink, panels
from ...sweep import Call
from ..base import Claim, Null, Region
from ..measures import largest, least

DEGREES = (2, 3, 4)
DRAWN = 30
"""The figure's n."""
ENORMOUS = 1e100
"""A radius at which every positive eigenvalue of these sizes gives a loss of 0."""


@dataclass(frozen=True)
class Settings:
    dimensions: tuple[int, ...]
    biases: tuple[float, ...] = (0.1, 1.0)
    """Variances of a hidden bias, relative to that of w . x."""


SETTINGS = {"quick": Settings(dimensions=(10, 20, 30, 50)), "paper": Settings(dimensions=(10, 20, 30, 50, 100, 200))}


def spectrum(kernel: str, n: int, bias: float) -> list[dict[str, object]]:
    """The eigenvalue and the share of K(x, x) of every level, for features of length one."""
    made = {"tangent": relu_ntk, "conjugate": relu_conjugate_kernel}[kernel](n, bias).normalized()
    return [
        {"level": level, "eigenvalue": float(value), "share": float(value * math.comb(n, level))}
        for level, value in enumerate(made.eigenvalues())
    ]


def plan(settings: Settings) -> Iterator[Call]:
    """Tangent kernel and random features, without and with biases."""
    biases = (0.0, *settings.biases)
    for kernel, n, bias in itertools.product(("tangent", "conjugate"), settings.dimensions, biases):
        yield Call(spectrum, {"kernel": kernel, "n": n, "bias": bias}, seconds=0.1)


def claims(settings: Settings) -> Iterator[Claim]:
    """Zeros without biases; with them, none, and losses above the bound."""
    sizes = "n = " + ", ".join(map(str, settings.dimensions))
    yield of_zeros("tangent", "ReLU tangent kernel", sizes)
    yield of_zeros("conjugate", "kernel of ReLU random features", sizes)
    text = f"without biases the best hinge loss of a 3-parity is 1 at any radius ({sizes}); the least of them"
    losses = lambda table: [best_hinge(value, ENORMOUS) for value in tangent(table, 3, biases=False).eigenvalue]
    found = lambda table: [best_hinge(value, ENORMOUS) for value in tangent(table, 3).eigenvalue]
    null = Null("with biases", lambda table: max(found(table)))
    yield Claim("no-biases/hinge", text, None, Region(1.0, 1.0), lambda table: least(losses(table)), 1.0, null=null)
    text = f"with biases of variance {' and '.join(map(str, settings.biases))} level 3 has a share of the tangent "
    text += f"kernel's diagonal ({sizes}); the least of them"
    shares = lambda table: least(tangent(table, 3).share)
    null = Null("without biases", lambda table: float(tangent(table, 3, biases=False).share.max()))
    yield Claim("biases/odd-levels", text, None, Region(low=1e-4), shares, null=null)
    yield from (of_bound(k, sizes) for k in DEGREES)


def of_zeros(kernel: str, words: str, sizes: str) -> Claim:
    text = f"without biases the {words} has eigenvalue exactly 0 at odd levels from 3 on ({sizes}); the largest of them"
    odd = f"kernel == '{kernel}' and bias == 0 and level % 2 == 1 and level >= 3"
    most = lambda table: largest(table.query(odd).eigenvalue)
    even = f"kernel == '{kernel}' and bias == 0 and level == 2"
    null = Null("level 2, the least", lambda table: float(table.query(even).eigenvalue.min()))
    return Claim(f"no-biases/{kernel}", text, None, Region(0.0, 0.0), most, 0.0, null=null)


def of_bound(k: int, sizes: str) -> Claim:
    text = f"with biases, k = {k}: the best hinge loss over the ball of radius R is at least 1 - R / sqrt(C(n, k)) "
    text += f"({sizes}); the largest fall below 1, as a fraction of R / sqrt(C(n, k))"
    falls = lambda table: [fall(n, k, value) for n, value in tangent(table, k)[["n", "eigenvalue"]].to_numpy()]
    measure = lambda table: largest(falls(table))
    # A kernel with all of its diagonal at level k and the next: C(n, k) eigenvalues of 1 would break the bound.
    null = Null("an eigenvalue of 1", lambda table: min(fall(n, k, 1.0) for n in tangent(table, k).n))
    return Claim(f"biases/hinge/k{k}", text, None, Region(0.0, 1.0), measure, "at most 1", null=null)


def tangent(table: pd.DataFrame, level: int, biases: bool = True) -> pd.DataFrame:
    """A level of the tangent kernels with biases, or of those without."""
    return table[(table.kernel == "tangent") & (table.level == level) & ((table.bias > 0) == biases)]


def fall(n: int | float, k: int, eigenvalue: float) -> float:
    """How much the best loss falls below 1, as a fraction of what the bound allows, at the worst of some radii."""
    edge = math.sqrt(math.comb(int(n), k))
    return max((1 - best_hinge(eigenvalue, radius)) / (radius / edge) for radius in np.geomspace(0.1, 10 * edge, 50))


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """Shares of the levels, and the best loss over the radius beside the bound."""
    table = table[(table.kernel == "tangent") & (table.n == DRAWN)]
    figure, axes = panels(1, 2, width=3.8, height=2.8)
    draw_levels(axes[0, 0], table)
    draw_losses(axes[0, 1], table[table.bias == max(settings.biases)])
    figure.suptitle(f"The tangent kernel of a wide two-layer ReLU network on {DRAWN} bits")
    return {"ntk": figure}


def draw_levels(axis: Axes, table: pd.DataFrame) -> None:
    """What is 0 has no place on a logarithmic axis; it is marked at its edge."""
    floor = 1e-4
    for i, (bias, rows) in enumerate(table.groupby("bias")):
        rows = rows[rows.level <= 12]
        words = f"biases of variance {bias:g}" if bias else "no biases"
        positive, zero = rows[rows.share > 0], rows[rows.share == 0]
        axis.plot(positive.level, positive.share, "osD"[i], color=INKS[i], markersize=3.5, label=words)
        axis.plot(zero.level, np.full(len(zero), 1.4 * floor), "x", color=INKS[i], markersize=5)
    axis.plot([], [], "x", color=INKS[0], markersize=5, label="exactly 0")
    axis.set(yscale="log", ylim=(floor, 2), xlabel="level", ylabel="share of K(x, x)")
    axis.legend(fontsize=7, loc="upper right")


def draw_losses(axis: Axes, table: pd.DataFrame) -> None:
    """The best loss over the ball of each radius, and the bound."""
    radius = np.geomspace(0.3, 3e3, 400)
    for i, k in enumerate(DEGREES):
        (eigenvalue,) = table[table.level == k].eigenvalue
        loss = [best_hinge(eigenvalue, each) for each in radius]
        bound = np.maximum(0, 1 - radius / math.sqrt(math.comb(DRAWN, k)))
        axis.plot(radius, loss, color=INKS[i], label=f"k = {k}, best")
        axis.plot(radius, bound, label=f"k = {k}, bound", **{**ink(1), "color": INKS[i]})
    axis.set(xscale="log", xlabel="radius R", ylabel="hinge loss")
    axis.legend(fontsize=7, ncols=1)
