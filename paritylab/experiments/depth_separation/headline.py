"""The separation in one picture: error on the hard half over n, for networks of depth three and of depth two.

All of them learn D, half E1 and half uniform, on random products of n gates. The runs are those of four other
experiments, which a store holds once: depth three layer by layer (`depth-separation/layerwise`), depth three from end
to end (`depth-separation/end-to-end`), and depth two at several widths, up to where it learns
(`depth-separation/frontier`) and far beyond (`depth-separation/depth-two`). Of depth two the best of all rates and
starts counts; of depth three, layer by layer, the 19th of 20 seeds. Beside them explicit networks of depth two, whose
errors are exact: what trained ones miss is not all that depth two cannot do.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...figures import INKS, one_panel
from ...sweep import Call, Results
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly
from . import depth_two, end_to_end, frontier, layerwise
from .shared.baselines import last_records
from .shared.combs import draw_over_pairs
from .shared.families import ERROR

GAP = 0.45


@dataclasses.dataclass(frozen=True)
class Settings:
    layerwise: layerwise.Settings
    end_to_end: end_to_end.Settings
    frontier: frontier.Settings
    depth_two: depth_two.Settings

    @property
    def far(self) -> list[int]:
        """Where both depths were tried, and depth two does not learn."""
        return sorted(set(self.depth_two.pairs) & set(self.layerwise.one_step))

    @property
    def widths(self) -> list[int]:
        """Of depth two, those that were tried on both sides of the frontier, or all if there is none."""
        both = set(self.frontier.widths) & set(self.depth_two.widths)
        return sorted(both or {*self.frontier.widths, *self.depth_two.widths})


SETTINGS = {
    scale: Settings(
        layerwise.SETTINGS[scale], end_to_end.SETTINGS[scale], frontier.SETTINGS[scale], depth_two.SETTINGS[scale]
    )
    for scale in ("quick", "paper")
}


def plan(settings: Settings) -> Iterator[Plan | Call]:
    yield from labelled("layerwise", layerwise.plan(settings.layerwise))
    yield from labelled("end-to-end", end_to_end.plan(settings.end_to_end))
    yield from labelled("frontier", frontier.plan(settings.frontier))
    yield from labelled("depth-two", depth_two.plan(settings.depth_two))


def labelled(source: str, parts: Iterable[Plan | Call]) -> Iterator[Plan | Call]:
    for part in parts:
        if isinstance(part, Call):
            yield dataclasses.replace(part, labels={**part.labels, "source": source})
        else:
            yield dataclasses.replace(part, columns={**part.columns, "source": np.full(len(part), source)})


class Data(NamedTuple):
    three: pd.DataFrame
    """Layer by layer with no layer given: the median error over seeds and the 19th of 20, by n."""
    end_to_end: end_to_end.Data
    near: pd.DataFrame
    """The least error of depth two for each n and width, trained for the longest time, where it learns."""
    far: pd.DataFrame
    """The ends of all runs of depth two, far beyond."""


def read(settings: Settings, results: Results) -> Data:
    """The parts, each of which is read like the experiment that it is taken from."""
    part = lambda source: results.part("source", source)
    layers = part("layerwise").table()
    errors = layers[layers.route == "one step"].groupby("n").hard_error
    three = pd.DataFrame({"median": errors.median(), "worst": errors.apply(layerwise.nearly_worst)})
    near = frontier.best_errors(part("frontier"))
    near = near[near.given_steps == max(settings.frontier.steps)]
    whole = end_to_end.read(settings.end_to_end, part("end-to-end"))
    return Data(three, whole, near, last_records(part("depth-two").curves()))


def claims(settings: Settings) -> Iterator[Claim]:
    """Errors are of samples of 10,000 points and more: both together are known to within 2%."""

    def gap(n: int) -> Claim:
        statement = (
            f"n = {n}: depth three learns layer by layer what no network of depth two does; the least error of depth "
            "two on the hard half less that of the 19th of 20 seeds of depth three"
        )
        measure = lambda data: exactly(data.far[data.far.pairs == n].hard_error.min() - data.three.worst[n])
        return Claim(f"n{n}/gap", statement, None, Region(low=GAP), measure, theory=0.5, null=Null("no gap", 0.0))

    yield from map(gap, settings.far)


def plot(settings: Settings, data: Data) -> dict[str, Figure]:
    figure, axis = one_panel(width=7.2, height=3.8)
    draw_three(axis, settings, data)
    far = data.far[data.far.activation == "ReLU"].groupby(["pairs", "width"], as_index=False).hard_error.min()
    errors = pd.concat([data.near, far]).sort_values("pairs")
    for i, width in enumerate(settings.widths):
        rows, label = errors[errors.width == width], f"depth two, {width:,} units: best"
        style: dict[str, Any] = {"marker": "s^Dv"[i % 4], "linestyle": ("-", "--", ":", "-.")[i % 4], "linewidth": 0.9}
        axis.plot(rows.pairs, rows.hard_error, color="0.15", markersize=4, fillstyle="none", label=label, **style)
    draw_over_pairs(axis, (*settings.frontier.pairs, *settings.depth_two.pairs, *settings.layerwise.one_step))
    axis.axhline(0.5, color="0.6", linewidth=0.8)
    axis.axhline(ERROR, color="0.6", linewidth=0.8, linestyle="--")
    sizes = (*settings.layerwise.one_step, *settings.frontier.pairs, *settings.depth_two.pairs)
    places = sorted({*sizes, settings.end_to_end.pairs})
    axis.set_yscale("symlog", linthresh=1e-3)
    axis.set(xscale="log", xlabel="gates n", ylabel="error on the hard half", ylim=(-2e-4, 0.8))
    axis.set_yticks([0, 0.001, 0.01, 0.1, 0.5], ["0", "0.1%", "1%", "10%", "50%"])
    axis.set_xticks(places, [str(n) for n in places], fontsize=7)
    axis.minorticks_off()
    dress(axis, legend="beside")
    title = "Products of n gates: depth three learns them layer by layer, depth two only the small ones"
    return shown("headline", figure, title)


def draw_three(axis: Axes, settings: Settings, data: Data) -> None:
    three, words = data.three, "depth three, layer by layer"
    axis.plot(three.index, three["median"], "o-", color=INKS[0], label=f"{words}: median")
    axis.plot(three.index, three.worst, "o:", color=INKS[0], fillstyle="none", label=f"{words}: 19th of 20")
    for i, network in enumerate(dict.fromkeys(network for network, _ in settings.end_to_end.cases)):
        here = data.end_to_end.of(network, "E1")
        places = np.full(len(here), settings.end_to_end.pairs)
        words = f"depth three from end to end, {network}: seeds"
        axis.plot(places, here.hard_error, "Px"[i], color=INKS[1], markersize=5, alpha=0.7, label=words)
