"""Figure 1, left, of hidden-progress: training curves on the (50, 3)-parity problem.

Seven ways to train (the paper's eighth is a Transformer): different architectures, batch sizes and
rates, each with its error flat at one half for a long time and then falling to zero.
The paper shows one run each; here seed 0 is drawn bold and further seeds thin.

Setting (x): the paper says that its sinusoid is scaled by 2 here, for more robust convergence. With
sin(pi z + shift) only 12 of 40 seeds learn within 20,000 steps at the printed rate of 0.05; with
sin(pi z / 2 + shift) it is 39 of 40, in 330 steps (median). The unscaled one is drawn.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import paritylab as pl

from ...figures import INKS, panels, save
from ...networks.base import Recipe

N, K = 50, 3
SEEDS, STEPS, RECORD_EVERY = 8, 30_000, 20


@dataclass(frozen=True)
class Setting:
    """One panel: the paper's number of the setting, and how it is trained (Appendix D.1.5)."""

    number: str
    title: str
    network: Recipe
    batch: int
    rate: float


SETTINGS = (
    Setting("i", "ReLU, width 10", pl.MLP(10), 32, 0.5),
    Setting("i", "ReLU, width 10", pl.MLP(10), 1024, 0.05),
    Setting("ii", "ReLU, width 100", pl.MLP(100), 1, 0.05),
    Setting("iv", "$z^3$, width 10", pl.MLP(10, pl.Power(K)), 32, 0.05),
    Setting("vii", "3-zigzag, width 1", pl.MLP(1, pl.Zigzag(K)), 32, 0.2),
    Setting("x", "sinusoid, width 1", pl.MLP(1, pl.Sinusoid(K)), 32, 0.05),
    Setting("xv", "PolyNet, degree 3", pl.PolyNet(K), 32, 0.07),
)


def run(seeds: int = SEEDS, steps: int = STEPS) -> list[pd.DataFrame]:
    """The error on fresh points of every seed over steps, a table for each panel."""
    task = pl.Uniform(pl.Parity(N, support=range(K)))
    tables = []
    for setting in SETTINGS:
        runs = pl.train(
            task,
            setting.network,
            batch=setting.batch,
            rate=setting.rate,
            seeds=seeds,
            steps=steps,
            records=(pl.FreshError(),),
            record_every=RECORD_EVERY,
        )
        learned = sum(runs.outcome == pl.Outcome.LEARNED)
        print(f"({setting.number}) {setting.title}, batch {setting.batch}: {learned} of {seeds} learned", flush=True)
        tables.append(runs.curves())
    return tables


def plot(tables: list[pd.DataFrame]) -> Figure:
    """One panel per setting, in the paper's order."""
    columns = 4
    figure, axes = panels(2, columns)
    for axis, setting, table in zip(axes.flat, SETTINGS, tables, strict=False):
        for number, curve in table.groupby("run"):
            bold = {"color": INKS[0], "linewidth": 1.6, "zorder": 3}
            thin = {"color": "0.65", "linewidth": 0.6}
            axis.plot(curve.step, curve.fresh_error, **(bold if number == 0 else thin))
        axis.set_title(f"({setting.number}) {setting.title}\nbatch {setting.batch}, rate {setting.rate}")
        axis.set_ylim(-0.02, 0.6)
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(4))
    for axis in axes[:, 0]:
        axis.set_ylabel("error on fresh points")
    for axis in axes[-1]:
        axis.set_xlabel("step")
    axes[0, -1].set_xlabel("step")
    _legend(axes[-1, -1])
    figure.suptitle(f"Learning the parity of {K} out of {N} bits: a long plateau, then a sudden drop", fontsize=11)
    return figure


def _legend(axis: Axes) -> None:
    """The last place of the grid says what the lines are."""
    axis.axis("off")
    axis.plot([], [], color=INKS[0], linewidth=1.6, label="seed 0")
    axis.plot([], [], color="0.65", linewidth=0.6, label="further seeds")
    axis.legend(loc="center")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"))
    out: Path = parser.parse_args().out
    picture, _ = save(plot(run()), out / "figure1-left")
    print(picture)


if __name__ == "__main__":
    main()
