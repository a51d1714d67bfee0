"""Figure 1, left, of hidden-progress: training curves on the (50, 3)-parity problem.

Seven ways to train (the paper's eighth is a Transformer): different architectures, batch sizes and
rates, each with its error flat at one half for a long time and then falling to zero.
The paper shows one run each; here seed 0 is drawn bold and further seeds thin.

Setting (x): the paper says that its sinusoid is scaled by 2 here, for more robust convergence. With
sin(pi z + shift) only 12 of 40 seeds learn within 20,000 steps at the printed rate of 0.05; with
sin(pi z / 2 + shift) it is 39 of 40, in 330 steps (median). The unscaled one is drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import paritylab as pl

from ...figures import Figures, panels
from ..base import Claim
from .shared.curves import Panel, TrainingCurves, draw_curves, name_lines, of_learning, of_plateau, read as read

N, K = 50, 3


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int = 30_000
    record_every: int = 20


SETTINGS = {"quick": Settings(seeds=12), "paper": Settings(seeds=100, steps=100_000)}

PANELS = (
    Panel("relu-10/B32", "i", "ReLU, width 10", pl.MLP(10), 32, 0.5),
    Panel("relu-10/B1024", "i", "ReLU, width 10", pl.MLP(10), 1024, 0.05),
    Panel("relu-100/B1", "ii", "ReLU, width 100", pl.MLP(100), 1, 0.05),
    Panel("cubic-10/B32", "iv", "$z^3$, width 10", pl.MLP(10, pl.networks.Power(K)), 32, 0.05),
    Panel("zigzag-1/B32", "vii", "3-zigzag, width 1", pl.MLP(1, pl.networks.Zigzag(K)), 32, 0.2),
    Panel("sinusoid-1/B32", "x", "sinusoid, width 1", pl.MLP(1, pl.networks.Sinusoid(K)), 32, 0.05),
    Panel("polynet/B32", "xv", "PolyNet, degree 3", pl.PolyNet(K), 32, 0.07),
)


def plan(settings: Settings) -> Iterator[pl.Plan]:
    """Online SGD with hinge loss; the error on fresh points is recorded."""
    for panel in PANELS:
        yield panel.plan(seeds=settings.seeds, steps=settings.steps, record_every=settings.record_every)


def claims(settings: Settings) -> Iterator[Claim]:
    """The figure shows that each way of training learns, and that its curve is flat for a long time, then falls."""
    text = "learns the parity of 3 out of 50 bits; the fraction of seeds that do"
    yield from (of_learning(panel.name, panel.words, text) for panel in PANELS)
    yield from (of_plateau(panel.name, panel.words) for panel in PANELS)


def plot(settings: Settings, curves: TrainingCurves) -> Figures:
    """One panel per setting, in the paper's order."""
    figure, axes = panels(2, 4)
    for axis, panel in zip(axes.flat, PANELS, strict=False):
        draw_curves(axis, curves.of(panel.name))
        axis.set_title(f"({panel.number}) {panel.title}\nbatch {panel.batch}, rate {panel.rate}")
    for axis in axes[:, 0]:
        axis.set_ylabel("error on fresh points")
    for axis in (*axes[-1], axes[0, -1]):
        axis.set_xlabel("step")
    name_lines(axes[-1, -1])
    figure.suptitle(f"Learning the parity of {K} out of {N} bits: a long plateau, then a sudden drop")
    return {"figure1-left": figure}
