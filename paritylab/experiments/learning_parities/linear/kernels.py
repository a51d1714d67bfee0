"""Kernels of the inner product, which treat all A alike: the best loss is max(0, 1 - R sqrt(lambda_k))."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from ....analysis import best_hinge, best_hinge_over_ball, gaussian_eigenvalues, level_eigenvalues, relu_ntk
from ....cube import cube
from ....figures import INKS, Axes
from ...base import IDENTITY, Claim, Measured, Region
from ...measures import largest

RADII = (1.0, 10.0, 100.0)
KERNELS = {"gaussian": "Gaussian kernel", "tangent": "ReLU tangent kernel", "cubic": "kernel ((1 + rho)/2)^k"}
CLOSE = 1e-6
"""How far two routes to a kernel's best loss may be apart."""


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


def of_kernels(dimensions: tuple[int, ...]) -> Iterator[Claim]:
    yield from map(of_formula, dimensions)
    text = "the same formula against the optimum over the kernel's own features, n = 8, k = 3; the largest difference"
    measure = lambda parts: apart(parts["duality"])
    yield Claim("kernels/duality", text, None, Region(high=CLOSE), measure, 0.0, null=IDENTITY)


def of_formula(n: int) -> Claim:
    text = f"kernels of the inner product on n = {n} bits: the least hinge loss of a k-parity over the ball of radius "
    text += "R is max(0, 1 - R sqrt(lambda_k)), k = 3, 5; with lambda_k by two routes, the largest difference"
    measure = lambda parts: apart(parts["formula"].query(f"n == {n}"))
    return Claim(f"kernels/n{n}", text, None, Region(high=CLOSE), measure, 0.0, null=IDENTITY)


def apart(rows: pd.DataFrame) -> Measured:
    return largest((rows.least - rows.second).abs())


def draw_kernels(axis: Axes, rows: pd.DataFrame, dimensions: tuple[int, ...]) -> None:
    """1 - loss of kernels, which is a straight line here."""
    radius = np.geomspace(0.1, 1e5, 300)
    styles = dict(zip(dimensions, ("-", "--"), strict=False))
    for i, (name, title) in enumerate(KERNELS.items()):
        for n, style in styles.items():
            here = rows[(rows.kernel == name) & (rows.n == n) & (rows.k == 3)]
            loss = np.maximum(0, 1 - radius * float(((1 - here.least) / here.radius).iloc[0]))
            axis.plot(radius, loss, color=INKS[i], linestyle=style, label=f"{title}, n = {n}")
    for n, style in styles.items():
        bound = np.maximum(0, 1 - radius / math.sqrt(math.comb(n, 3)))
        axis.plot(radius, bound, color="0.6", linestyle=style, linewidth=1, label=f"bound, n = {n}")
    axis.set(xlabel="radius R", title="k = 3: kernels, exactly")
