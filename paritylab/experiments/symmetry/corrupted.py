"""Figures 7 and 8 of symmetry: the symmetric start on corrupted data, n = 30, samples of 10 n points."""

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure

from ...figures import panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region
from .runs import SymmetricTask, curves, draw_errors, ends, finish, median_of, sgd

SATISFYING = 0.25
"""Half of chance; the paper gives no number."""


@dataclass(frozen=True)
class Settings:
    n: int
    epochs: int
    look: int
    seeds: int
    points: int = 10_000


def train_on(task: SymmetricTask, settings: Settings, panel: str) -> Plan:
    """Both layers with h = n^-6 and beta = n^3 h, as in figure 2."""
    return sgd(
        task,
        "both",
        sample=10 * settings.n,
        power=6,
        epochs=settings.epochs,
        look=settings.look,
        seeds=settings.seeds,
        points=settings.points,
        labels={"panel": panel},
    )


def claims_of(settings: Settings, words: Mapping[str, str]) -> list[Claim]:
    """Section 5.4: satisfying results on corrupted data."""
    return [
        Claim(
            f"{panel}/true",
            f"n = {settings.n}, m = 10 n, {what}: the true error is satisfying, taken as less than half of chance; its "
            f"median after {settings.epochs} epochs",
            None,
            Region(high=SATISFYING),
        )
        for panel, what in words.items()
    ]


def measure_by_panel(results: Results, words: Mapping[str, str]) -> dict[str, Measured]:
    """Order statistics over seeds."""
    last = ends(curves(results))
    return {f"{panel}/true": median_of(last[last.panel == panel].true_error) for panel in words}


def plot_panels(settings: Settings, results: Results, words: Mapping[str, str], title: str) -> Figure:
    """Training and true error over epochs."""
    curve = curves(results)
    figure, axes = panels(1, len(words), width=4.4, height=2.8)
    for axis, (panel, what) in zip(axes.flat, words.items(), strict=True):
        draw_errors(axis, curve[curve.panel == panel], ("both",))
        axis.set_title(f"n = {settings.n}, m = {10 * settings.n}, {what}")
    return finish(figure, axes, title)
