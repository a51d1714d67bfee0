"""Figure 6 of hidden-progress: 24 further training curves, four rows of six.

All with hinge loss on the (50, 3)-parity, except in the first row (Appendix D.1.6):

1. the same ReLU network of width 100, batch 32, rate 0.1, on other (n, k). The appendix says width 10, the caption and
   the number (ii) say 100;
2. PolyNets at batch sizes from 1 to 1,024;
3. networks that are barely wide enough, at batch size 1; they "converge with reasonable probability";
4. large networks: width 1,000, and the Transformer (Adam). The polynomial ones, (vi), have no plateau.

The paper shows one run each; here seed 0 is drawn bold and further seeds thin. The quick scale has some panels of each
row; Transformers are of the paper's size (embedding 1,024, attention 8, 128 heads) and stand at paper scale only.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import paritylab as pl

from ...figures import Figures, label_edges, panels
from ..base import Claim, Region
from .shared.curves import Panel, TrainingCurves, draw_curves, of_learning, of_plateau, read as read
from .shared.measures import slowdown

TRANSFORMER = pl.Transformer(embedding=1024, attention=8, heads=128)
OSCILLATING = pl.networks.OscillatingPolynomial(3)
ROWS = (
    tuple(
        Panel(f"relu-100/n{n}/k{k}", "ii", f"ReLU, width 100, n = {n}, k = {k}", pl.MLP(100), 32, 0.1, n, k)
        for n, k in ((30, 3), (60, 3), (90, 3), (30, 4), (30, 5), (30, 6))
    ),
    tuple(
        Panel(f"polynet/B{batch}", "xv", "PolyNet, degree 3", pl.PolyNet(3), batch, rate)
        for batch, rate in ((1, 0.005), (4, 0.01), (16, 0.1), (64, 0.1), (256, 0.1), (1024, 0.1))
    ),
    (
        Panel("relu-3/B1", "*i", "ReLU, width 3", pl.MLP(3), 1, 0.1),
        Panel("cubic-3/B1", "*ii", "$z^3$, width 3", pl.MLP(3, pl.networks.Power(3)), 1, 0.01),
        Panel("zigzag-1/B1", "vii", "3-zigzag, width 1", pl.MLP(1, pl.networks.Zigzag(3)), 1, 0.1),
        Panel("poly-1/B1", "viii", "osc. polynomial, width 1", pl.MLP(1, OSCILLATING), 1, 0.1),
        Panel("zigzag-neuron/B1", "xi", "3-zigzag neuron", pl.Neuron(pl.networks.Zigzag(3)), 1, 0.1),
        Panel("poly-neuron/B1", "xii", "osc. polynomial neuron", pl.Neuron(OSCILLATING), 1, 0.1),
    ),
    (
        Panel("relu-1000/B1", "iii", "ReLU, width 1000", pl.MLP(1000), 1, 0.1),
        Panel("relu-1000/B1024", "iii", "ReLU, width 1000", pl.MLP(1000), 1024, 0.1),
        Panel("cubic-1000/B1", "vi", "$z^3$, width 1000", pl.MLP(1000, pl.networks.Power(3)), 1, 0.001),
        Panel("cubic-1000/B1024", "vi", "$z^3$, width 1000", pl.MLP(1000, pl.networks.Power(3)), 1024, 0.01),
        Panel("transformer/B32", "*iii", "Transformer", TRANSFORMER, 32, 0.0003, optimizer="adam"),
        Panel("transformer/B1024", "*iii", "Transformer", TRANSFORMER, 1024, 0.0003, optimizer="adam"),
    ),
)
SOMETIMES = tuple(panel.name for panel in ROWS[2])
"""Where the paper says that some runs fail; a fifth is what it calls success elsewhere."""
NO_PLATEAU = ("cubic-1000/B1", "cubic-1000/B1024")
SLOWLY_RECORDED = {"relu-1000/B1": 200, "cubic-1000/B1": 200}
"""Where recording every twenty steps would cost more than the steps."""
HARDER = {"n": "relu-100/n60/k3", "k": "relu-100/n30/k4"}
EASY = "relu-100/n30/k3"


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int
    names: tuple[str, ...]
    record_every: int = 10

    @property
    def panels(self) -> tuple[Panel, ...]:
        return tuple(panel for row in ROWS for panel in row if panel.name in self.names)


QUICK = (EASY, *HARDER.values(), "polynet/B1", "polynet/B16", "polynet/B1024")
SETTINGS = {
    "quick": Settings(seeds=12, steps=20_000, names=QUICK),
    "paper": Settings(seeds=25, steps=100_000, names=tuple(panel.name for row in ROWS for panel in row)),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for panel in settings.panels:
        every = SLOWLY_RECORDED.get(panel.name, settings.record_every)
        yield panel.plan(seeds=settings.seeds, steps=settings.steps, record_every=every)


def claims(settings: Settings) -> Iterator[Claim]:
    for panel in settings.panels:
        words = f"{panel.words}, n = {panel.n}, k = {panel.k}"
        sometimes = panel.name in SOMETIMES
        text = f"learns{' with reasonable probability' if sometimes else ''}; the fraction of seeds"
        yield of_learning(panel.name, words, text, 0.2 if sometimes else 0.5)
        yield of_plateau(panel.name, words, panel.name not in NO_PLATEAU)
    yield from (harder(letter, name) for letter, name in HARDER.items())


def harder(letter: str, name: str) -> Claim:
    text = f"ReLU, width 100: a larger {letter} takes longer; the median time of {name} over that of {EASY}"
    times = lambda curves: slowdown(curves.times(name), curves.times(EASY))
    return Claim(f"harder-{letter}", text, None, Region(low=1), times)


def plot(settings: Settings, curves: TrainingCurves) -> Figures:
    """The paper's four rows of six; a panel that this scale does not have says so."""
    figure, axes = panels(4, 6, width=2.1, height=1.75)
    for axis, panel in zip(axes.flat, (panel for row in ROWS for panel in row), strict=True):
        axis.set_title(f"({panel.number}) {panel.title}\nbatch {panel.batch}, rate {panel.rate:g}", fontsize=8)
        if panel in settings.panels:
            draw_curves(axis, curves.of(panel.name))
        else:
            axis.set_xticks([])
            axis.set_yticks([])
            axis.text(0.5, 0.5, "at paper scale", ha="center", color="0.5", transform=axis.transAxes)
    label_edges(axes, "step", "error")
    figure.suptitle("Training curves on the (50, 3)-parity, first row as named (bold: seed 0; thin: further seeds)")
    return {"figure6": figure}
