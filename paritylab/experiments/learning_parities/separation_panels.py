"""The panels of the figure of `separation`."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ...figures import INKS, Axes, ink
from ...training.engine.lanes import init_key

if TYPE_CHECKING:
    from .separation import Case, Data, Settings


def draw_step(axis: Axes, case: "Case") -> None:
    """Weights of all units before and after, by coordinate."""
    after = case.recipe(case.n, key=init_key(np.uint32(0)))
    size = np.abs(np.asarray(after.hidden[0].weight, float)).mean(axis=0)
    axis.plot(range(case.k, case.n), size[case.k :], ".", color=INKS[0], markersize=2.5, label="outside A")
    axis.plot(range(case.k), size[: case.k], "D", color=INKS[1], markersize=4, label="in A")
    axis.set(yscale="log", xlabel="coordinate", ylabel="mean |w| over units")
    axis.set_title(f"exact first step, n = {case.n}, k = {case.k}")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, fontsize=7)


def draw_losses(axis: Axes, settings: "Settings", data: "Data", radius: float) -> None:
    """Kernels just below 1, networks near 0: the loss of networks, and what kernels and the bound leave below 1."""
    for i, k in enumerate(sorted({case.k for case in settings.cases})):
        here = data.rows.query(f"part == 'linear' and k == {k}").sort_values("n")
        style = ink(i)["linestyle"]
        for name, words, colour in (("tangent", "tangent kernel", 0), ("gaussian", "Gaussian kernel", 2)):
            axis.plot(here.n, 1 - here[name], color=INKS[colour], linestyle=style, label=f"1 - loss, {words}, k = {k}")
        axis.plot(
            here.n, 1 - here.bound, color="0.6", linestyle=style, linewidth=1, label=f"the most of any kernel, k = {k}"
        )
        for j, case in enumerate(case for case in settings.cases if case.k == k):
            gained = 1 - data.runs(case, "both layers").uniform_loss.median()
            label = None if j else f"1 - loss, network, k = {k}"
            axis.plot([case.n], [gained], "oD"[i], color=INKS[1], markersize=5, label=label)
    axis.set(yscale="log", xscale="log", xlabel="n", ylabel="1 - hinge loss", ylim=(None, 2))
    places = settings.dimensions
    axis.set_xticks(places, [str(n) for n in places])
    axis.minorticks_off()
    axis.set_title(f"gain on the uniform half (kernels: radius {radius:g})")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, fontsize=6)


def draw_accuracy(axis: Axes, settings: "Settings", data: "Data", points: int) -> None:
    """Every seed a mark; what majority of A would score as a ghost."""
    kinds = (
        ("both layers", "o", "both layers trained"),
        ("fast", "x", "first layer frozen, fast"),
        ("slow", "+", "first layer frozen, slow"),
    )
    for place, case in enumerate(settings.cases):
        named = lambda label, place=place: label if place == 0 else None
        for i, (kind, mark, words) in enumerate(kinds):
            accuracy = 100 * (1 - data.runs(case, kind).uniform_error)
            spread = np.linspace(-0.1, 0.1, len(accuracy)) + (i - 1) * 0.27
            axis.plot(place + spread, accuracy, mark, color=INKS[(1, 0, 2)[i]], markersize=4, label=named(words))
        score = 50 + 100 * (-1) ** ((case.k - 1) // 2) * math.comb(case.k - 1, (case.k - 1) // 2) / 2**case.k
        label = named("majority of A (linear)")
        axis.plot([place - 0.4, place + 0.4], [score] * 2, color="0.5", linewidth=2, label=label)
    axis.axhline(50, color="0.8", linewidth=1, linestyle=":", label="chance")
    axis.set_xticks(range(len(settings.cases)), [f"n = {case.n}\nk = {case.k}" for case in settings.cases])
    axis.set(ylim=(0, 105), ylabel="accuracy (%)", title=f"on the uniform half, {points:,} points")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, fontsize=7)
