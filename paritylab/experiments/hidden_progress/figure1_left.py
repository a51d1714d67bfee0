"""Figure 1, left, of hidden-progress: training curves on the (50, 3)-parity problem.

Eight ways to train: different architectures, batch sizes and rates, each with its error flat at one half for a long
time and then falling to zero. The eighth, a Transformer trained by Adam, is run at paper scale alone, with two widths
of its MLP block, which the paper does not print: the embedding's, which is drawn, and four times it. The paper shows
one run each; here seed 0 is drawn bold and further seeds thin.

Setting (x): the paper says that its sinusoid is scaled by 2 here, for more robust convergence. With
sin(pi z + shift) only 12 of 40 seeds learn within 20,000 steps at the printed rate of 0.05; with
sin(pi z / 2 + shift) it is 39 of 40, in 330 steps (median). The unscaled one is drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import paritylab as pl

from ...figures import Figures, label_edges, panels
from ..base import Claim
from .shared.curves import (
    Panel,
    TrainingCurves,
    draw_curves,
    draw_nothing,
    name_lines,
    of_learning,
    of_plateau,
    read as read,
)
from .shared.medians import ATTENTION, EMBEDDING, HEADS

N, K = 50, 3


def transformer(times: int) -> Panel:
    """With an MLP block of so many times the embedding."""
    network = pl.Transformer(EMBEDDING, ATTENTION, HEADS, hidden=times * EMBEDDING)
    name = "transformer/B32" if times == 1 else f"transformer-{times}/B32"
    return Panel(name, "*iii", "Transformer, Adam", network, 32, 0.0005, optimizer="adam", lanes=16)


PANELS = (
    Panel("relu-10/B32", "i", "ReLU, width 10", pl.MLP(10), 32, 0.5),
    Panel("relu-10/B1024", "i", "ReLU, width 10", pl.MLP(10), 1024, 0.05),
    Panel("relu-100/B1", "ii", "ReLU, width 100", pl.MLP(100), 1, 0.05),
    Panel("cubic-10/B32", "iv", "$z^3$, width 10", pl.MLP(10, pl.networks.Power(K)), 32, 0.05),
    Panel("zigzag-1/B32", "vii", "3-zigzag, width 1", pl.MLP(1, pl.networks.Zigzag(K)), 32, 0.2),
    Panel("sinusoid-1/B32", "x", "sinusoid, width 1", pl.MLP(1, pl.networks.Sinusoid(K)), 32, 0.05),
    transformer(1),
    Panel("polynet/B32", "xv", "PolyNet, degree 3", pl.PolyNet(K), 32, 0.07),
)
WIDER = transformer(4)


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int
    panels: tuple[Panel, ...]
    transformer_seeds: int = 10
    transformer_steps: int = 4000
    record_every: int = 20


SETTINGS = {
    "quick": Settings(12, 30_000, tuple(panel for panel in PANELS if panel.number != "*iii")),
    "paper": Settings(50, 50_000, (*PANELS, WIDER)),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    """Online SGD with hinge loss; the error on fresh points is recorded."""
    for panel in settings.panels:
        small = panel.number != "*iii"
        seeds, steps = (settings.seeds, settings.steps) if small else (
            settings.transformer_seeds, settings.transformer_steps
        )  # fmt: skip
        yield panel.plan(seeds=seeds, steps=steps, record_every=settings.record_every if small else 10)


def claims(settings: Settings) -> Iterator[Claim]:
    """The figure shows that each way of training learns, and that its curve is flat for a long time, then falls."""
    text = "learns the parity of 3 out of 50 bits; the fraction of seeds that do"
    yield from (of_learning(panel.name, panel.words, text) for panel in settings.panels)
    yield from (of_plateau(panel.name, panel.words) for panel in settings.panels)


def plot(settings: Settings, curves: TrainingCurves) -> Figures:
    """One panel per setting, in the paper's order."""
    figure, axes = panels(2, 4)
    for axis, panel in zip(axes.flat, PANELS, strict=True):
        if panel in settings.panels:
            draw_curves(axis, curves.of(panel.name))
        else:
            draw_nothing(axis)
        axis.set_title(f"({panel.number}) {panel.title}\nbatch {panel.batch}, rate {panel.rate}")
    label_edges(axes, "step", "error on fresh points")
    name_lines(figure)
    figure.suptitle(f"Learning the parity of {K} out of {N} bits: a long plateau, then a sudden drop")
    return {"figure1-left": figure}
