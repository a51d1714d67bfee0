"""Section C.7 of hidden-progress: deep networks learn parities that no layer of theirs could learn alone.

Networks with squares for activations, L - 1 hidden layers and a linear output have degree 2^(L-1) in the input. One
layer with a head of its own has degree 2, so that for k > 2 it is uncorrelated with a k-parity, and the population
gradient of the correlation loss is zero: layer by layer there is nothing to learn. Trained end to end (SGD, rate 0.01,
batches of 32, uniform initialization) the networks of the paper learn k-parities with k up to 2^(L-1), all 10 of 10
seeds: L = 3 with widths (2, 1) in 20,000 steps, L = 4 with widths (10, 10, 1) and k <= 6 in 50,000. Above 2^(L-1)
they fail.

How we read it. The formula in the text has no output bias. With a last hidden layer of width 1 that network is a
constant times a square and has one sign everywhere, so that it can be no parity at all; as in the other settings there
is a trained output bias. "All of 10 seeds" allows a success probability down to 0.72 (the lower end of Wilson's
interval of 10 of 10), which is the region of these claims. For L = 2 the text gives no width; we take 10.

The control is layerwise training: the first layer with a head of its own, which is L = 2 with the widths of that layer,
and then the rest on top of a first layer that stays at its start, where its gradient of zero leaves it. At L = 3 and k
= 3, 4 our runs fail more often than the paper's; three readings of what it does not print are tried there: an output
bias that starts at 0, Glorot's weights with biases of 0, and hidden weights larger by sqrt(3), which keeps the size of
a uniform layer's outputs from layer to layer.

The exact part goes through all points of the cube, for random networks with weights and biases in {-1, 0, 1}: all sums
are whole numbers below 2^53, so that a zero is a zero and not a rounding error. A network with y f(x) > 0 everywhere
has a positive correlation, so that zero correlation says that the network is not the parity in sign.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.patches import Rectangle

import paritylab as pl

from ...analysis.gradients.enumeration import blocks
from ...analysis.gradients.population import gradient_by_enumeration
from ...figures import INKS, Axes, Figures, panels
from ...networks.base import outputs
from ...networks.mlp import FeedForward, Layer
from ...statistics import quantile, wilson_interval
from ...sweep import Call
from ..base import Claim, Measured, Null, Region
from ..measures import fraction, largest
from .shared.curves import NEVER

RATE, BATCH = 0.01, 32
WIDTHS = {2: (10,), 3: (2, 1), 4: (10, 10, 1)}
"""The hidden layers of a network with L layers."""
SMALL = {2: (4,), 3: (2, 1), 4: (3, 2, 1)}
"""Hidden layers of the networks that are enumerated: small enough for exact sums at L = 4."""
PAPER_SEEDS = 10
ALWAYS = Region(low=wilson_interval(PAPER_SEEDS, PAPER_SEEDS)[0])
NEVER_LEARNS = Region(high=0.1)
ALL_OF_THEM = Region(low=wilson_interval(12 * PAPER_SEEDS, 12 * PAPER_SEEDS)[0])
"""L = 3 with three n and four degrees, ten seeds each, without a failure."""


class Case(NamedTuple):
    """Networks of some depth on parities of some degrees, with the steps that the paper says they need."""

    layers: int
    n: int
    degrees: tuple[int, ...]
    steps: int


@dataclass(frozen=True)
class Settings:
    seeds: int
    cases: tuple[Case, ...]
    enumerated: int = 10
    """n of the exact part."""
    draws: int = 20
    """Random networks of the exact part, for each depth and degree."""
    layerwise: tuple[Case, ...] = ()
    """L = 3 networks of which first the first layer is trained alone, then the others."""
    readings: tuple[Case, ...] = ()
    """L = 3 networks that start in other ways, or are validated on fewer points."""


class ZeroOutputBias(pl.networks.UniformInitialization):
    """Uniform, with an output bias of 0."""

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        drawn = super().biases(key, shape, fan_in)
        return drawn if shape else jnp.zeros_like(drawn)


class LargerWeights(pl.networks.UniformInitialization):
    """Uniform with a variance of 1 / fan-in: outputs of linear layers keep their size with depth."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return super().weights(key, shape, fan_in) * 3**0.5


READINGS: dict[str, tuple[pl.networks.AbstractInitialization, dict[str, Any], str]] = {
    "zero-bias": (ZeroOutputBias(), {}, "an output bias that starts at 0"),
    "glorot": (pl.networks.GlorotInitialization(), {}, "Glorot's initialization, biases 0"),
    "larger": (LargerWeights(), {}, "weights larger by sqrt(3)"),
    "128-points": (pl.networks.UniformInitialization(), {"validation": 128}, "validated on 128 points"),
}
"""Other ways to start at L = 3, and to say what was learned."""
FIRST_ALONE, REST_ALONE = "first layer alone, with a head of its own", "the other layers on a first layer at its start"


PAPER_SIZES = (10, 20, 30)
QUICK_CASES = (
    Case(2, 10, (1, 2, 3), 5_000),
    *(Case(3, n, (1, 2, 3, 4, 5), 20_000) for n in (10, 30)),
    Case(4, 10, (2, 4, 5, 6), 50_000),
)
PAPER_CASES = (
    *(Case(2, n, (1, 2, 3, 4), 20_000) for n in PAPER_SIZES),
    *(Case(3, n, (1, 2, 3, 4, 5, 6), 20_000) for n in PAPER_SIZES),
    *(Case(4, n, (1, 2, 3, 4, 5, 6), 50_000) for n in PAPER_SIZES),
    *(Case(4, n, (7,), 500_000) for n in PAPER_SIZES),
    Case(4, 10, (8, 9), 500_000),
)
SETTINGS = {
    "quick": Settings(40, QUICK_CASES, layerwise=(Case(3, 10, (3,), 10_000),), readings=(Case(3, 10, (4,), 20_000),)),
    "paper": Settings(
        100,
        PAPER_CASES,
        layerwise=tuple(Case(3, n, (3, 4), 20_000) for n in PAPER_SIZES),
        readings=tuple(Case(3, n, (3, 4), 20_000) for n in PAPER_SIZES),
    ),
}

NOTHING = Null("a degree above 2^(L-1)", 0)
SOMETHING = Null("the least that whole weights give at a lower degree", 2.0**-10)
EXACT_DEGREES = {2: (2, 3, 4), 3: (2, 3, 4, 5), 4: (5, 8, 9)}
"""Degrees of the exact part by depth; those of L = 2 are a single layer with a head."""
TOO_LATE = (
    "Unexplained: at k = 3 and 4 about one seed in eight has not learned after 20,000 steps (at every n), and the "
    "times of the others reach up to that limit, so that this is the tail of one distribution. Neither 128 validation "
    "points (`L3/128-points`) nor three other starts (`L3/zero-bias`, `L3/glorot`, `L3/larger`) make it go away for "
    "certain."
)
NOR_THIS = "Unexplained: this reading does not account for the paper's all of ten seeds either."


def plan(settings: Settings) -> Iterator[pl.Plan | Call]:
    for case in settings.cases:
        network, seeds, steps = pl.MLP(WIDTHS[case.layers], pl.networks.square), settings.seeds, case.steps
        for k in case.degrees:
            task, labels = pl.Uniform(pl.Parity(case.n, support=range(k))), {"case": name_of(case.layers, case.n, k)}
            yield pl.plan(task, network, rate=RATE, batch=BATCH, seeds=seeds, steps=steps, labels=labels)
    yield from controls(settings)
    for layers, degrees in EXACT_DEGREES.items():
        for k in degrees:
            configuration = {"layers": layers, "n": settings.enumerated, "k": k, "draws": settings.draws}
            yield Call(enumerated, configuration, {"case": f"exact/L{layers}/k{k}"}, seconds=1.0)


def controls(settings: Settings) -> Iterator[pl.Plan]:
    """Layerwise training, and other starts."""
    for case in settings.layerwise:
        widths = WIDTHS[case.layers]
        rest = {f"hidden.{i}": RATE for i in range(1, len(widths))} | {"output": RATE}
        for k, (stage, width, rate) in itertools.product(
            case.degrees, (("first", widths[:1], RATE), ("rest", widths, rest))
        ):
            task, labels = pl.Uniform(pl.Parity(case.n, support=range(k))), {"case": f"{stage}/n{case.n}/k{k}"}
            how: dict[str, Any] = {
                "rate": rate,
                "batch": BATCH,
                "seeds": settings.seeds,
                "steps": case.steps,
                "labels": labels,
            }
            yield pl.plan(task, pl.MLP(width, pl.networks.square), **how)
    for case in settings.readings:
        for k, (name, (start, options, _)) in itertools.product(case.degrees, READINGS.items()):
            task, labels = pl.Uniform(pl.Parity(case.n, support=range(k))), {"case": f"{name}/n{case.n}/k{k}"}
            network = pl.MLP(WIDTHS[case.layers], pl.networks.square, start)
            how = {"rate": RATE, "batch": BATCH, "seeds": settings.seeds, "steps": case.steps, "labels": labels}
            yield pl.plan(task, network, **how, **options)


def name_of(layers: int, n: int, k: int) -> str:
    return f"L{layers}/n{n}/k{k}"


def enumerated(layers: int, n: int, k: int, draws: int) -> list[dict[str, float]]:
    """For random networks: the largest entries of two exact gradients of the first layer, and the correlation.

    `alone` is the gradient with a head directly on the first layer, `end_to_end` that through all layers.
    """
    task, rng = pl.Uniform(pl.Parity(n, support=range(k))), np.random.default_rng([layers, n, k])
    rows, most = [], lambda entries: float(np.abs(entries).max())
    for _ in range(draws):
        network = random_network(rng, (n, *SMALL[layers]))
        first = network.hidden[0]
        alone = gradient_by_enumeration(np.asarray(first.weight), pl.networks.square, task, bias=np.asarray(first.bias))
        correlation, gradient = correlation_and_gradient(network, task)
        end_to_end, size = most(gradient.hidden[0].weight), abs(float(correlation))
        rows.append({"alone": most(alone.weight), "end_to_end": end_to_end, "correlation": size})
    return rows


def random_network(rng: np.random.Generator, sizes: tuple[int, ...]) -> FeedForward:
    """Weights and biases in {-1, 0, 1}, output weights in {-1, 1}."""
    with jax.enable_x64(True):
        hidden = tuple(
            Layer(whole(rng.integers(-1, 2, (after, before))), whole(rng.integers(-1, 2, after)))
            for before, after in itertools.pairwise(sizes)
        )
        output = Layer(whole(rng.choice([-1, 1], sizes[-1])), whole(np.zeros(())))
        return FeedForward(hidden, output, pl.networks.square)


def whole(numbers: np.ndarray) -> Float[Array, "..."]:
    """Integers as float64."""
    return jnp.asarray(numbers, jnp.float64)


def correlation_and_gradient(network: FeedForward, task: pl.Uniform) -> tuple[Float[Array, ""], FeedForward]:
    """E[y f(x)] over all points, and its gradient."""
    (cube,) = blocks(task)
    with jax.enable_x64(True):
        x, y = jnp.asarray(cube.x), jnp.asarray(cube.y)
        value, gradient = eqx.filter_value_and_grad(lambda net: jnp.mean(y * outputs(net, x)))(network)
        return value, gradient


def claims(settings: Settings) -> Iterator[Claim]:
    yield from (trained(case, k) for case in settings.cases for k in case.degrees)
    possible = [name_of(3, case.n, k) for case in settings.cases if case.layers == 3 for k in case.degrees if k <= 4]
    text = "3 layers: all models with k <= 4 converged within 20,000 steps; the fraction over all n, k and seeds"
    learned = lambda table: fraction(table[table.case.isin(possible)].outcome == "learned")
    yield Claim("L3/all", text, 1.0, ALL_OF_THEM, learned, null=NEVER, explanation=TOO_LATE)
    yield from of_controls(settings)
    for layers, degrees in EXACT_DEGREES.items():
        for k in degrees:
            yield from exact(layers, k, settings.enumerated)


def share_of(cases: list[str], table: pd.DataFrame) -> Measured:
    """The fraction of the runs of some cases that learn."""
    return fraction(table[table.case.isin(cases)].outcome == "learned")


def of_controls(settings: Settings) -> Iterator[Claim]:
    for stage, words in (("first", FIRST_ALONE), ("rest", REST_ALONE)):
        for case, k in [(each, k) for each in settings.layerwise for k in each.degrees]:
            text = (
                f"layerwise training, {words}; n = {case.n}, k = {k}: learns nothing; the fraction of seeds that learn"
            )
            null = Null("end to end", partial(learned_end_to_end, case, k))
            measure = partial(share_of, [f"{stage}/n{case.n}/k{k}"])
            yield Claim(f"layerwise/{stage}/n{case.n}/k{k}", text, 0.0, NEVER_LEARNS, measure, null=null)
    if settings.readings:
        for name, (_, _, words) in READINGS.items():
            text = f"3 layers, {words}: all models with k above 2 converge within 20,000 steps; the fraction"
            cases = [f"{name}/n{case.n}/k{k}" for case in settings.readings for k in case.degrees]
            how: dict[str, Any] = {"null": NEVER, "explanation": NOR_THIS}
            yield Claim(f"L3/{name}", text, 1.0, ALL_OF_THEM, partial(share_of, cases), **how)


def learned_end_to_end(case: Case, k: int, table: pd.DataFrame) -> float:
    return share_of([name_of(case.layers, case.n, k)], table).value


def trained(case: Case, k: int) -> Claim:
    name = name_of(case.layers, case.n, k)
    network = f"{case.layers} layers of widths {WIDTHS[case.layers]}, n = {case.n}, k = {k}"
    learned = lambda table: fraction(table[table.case == name].outcome == "learned")
    if k <= 2 ** (case.layers - 1):
        text = f"{network}: learns within {case.steps:,} steps; the fraction of seeds"
        return Claim(f"{name}/learns", text, 1.0, ALWAYS, learned, null=NEVER)
    text = f"{network}, more than 2^(L-1): fails; the fraction of seeds that learn"
    return Claim(f"{name}/fails", text, 0.0, NEVER_LEARNS, learned, null=Null("a degree that it can have", 1))


def exact(layers: int, k: int, n: int) -> Iterator[Claim]:
    """What is enumerated: gradients of the first layer, and correlations with the parity."""
    where, above = f"exact/L{layers}/k{k}", k > 2 ** (layers - 1)
    about = f"{layers} layers of squares, n = {n}, k = {k}, all points of the cube"
    worst = lambda column: lambda table: largest(table[table.case == where][column])
    if layers == 2:
        alone = "the largest entry of a first layer's population gradient when it is trained with a head of its own"
        text = f"{about}: {alone}"
        control = f"{text} (the control: of degree 2, it is not zero)"
        paper, region, null = (
            (0.0, Region(0, 0), Null("the same at k = 2", 2)) if above else (None, Region(low=1), NOTHING)
        )
        yield Claim(f"{where}/alone", text if above else control, paper, region, worst("alone"), null=null)
    elif above:
        text = f"{about}: the largest entry of the first layer's gradient through all layers"
        yield Claim(f"{where}/end-to-end", text, None, Region(0, 0), worst("end_to_end"), theory=0.0, null=SOMETHING)
    else:
        text = f"{about}: the fraction of random networks whose first layer has a gradient through all layers"
        some = lambda table: fraction(table[table.case == where].end_to_end > 0)
        yield Claim(f"{where}/end-to-end", text, None, Region(low=0.2), some, null=NOTHING)
    if above:
        text = f"{about}: the largest correlation of a random network with the parity"
        yield Claim(f"{where}/correlation", text, None, Region(0, 0), worst("correlation"), theory=0.0, null=SOMETHING)


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """A table: networks down, degrees across, with a line at k = 2^(L-1)."""
    networks = list(dict.fromkeys((case.layers, case.n) for case in settings.cases))
    tried = [*(case.degrees for case in settings.cases), *EXACT_DEGREES.values()]
    degrees = range(1, 1 + max(map(max, tried)))
    figure, axes = panels(
        1, 1, width=1.5 + 0.95 * len(degrees), height=1.4 + 0.42 * (len(networks) + len(EXACT_DEGREES) + 1)
    )
    axis = axes[0, 0]
    for row, (layers, n) in enumerate(networks):
        for k in degrees:
            trained_cell(axis, row, k, table[table.case == name_of(layers, n, k)])
        limit_line(axis, row, layers)
    first = len(networks) + 0.6
    for row, (layers, exact_degrees) in enumerate(EXACT_DEGREES.items()):
        for k in exact_degrees:
            column = "alone" if layers == 2 else "end_to_end"
            exact_cell(axis, first + row, k, table[table.case == f"exact/L{layers}/k{k}"][column])
        limit_line(axis, first + row, layers)
    axis.set(xlim=(0.5, len(degrees) + 0.5), ylim=(first + len(EXACT_DEGREES) - 0.5, -0.5))
    axis.set_xlabel("degree k of the parity")
    axis.set_xticks(list(degrees))
    titles = {2: "first layer alone, with a head", 3: "L = 3, end to end", 4: "L = 4, end to end"}
    names = [f"L = {layers}, widths {', '.join(map(str, WIDTHS[layers]))}; n = {n}" for layers, n in networks]
    names += [f"{titles[layers]}; n = {settings.enumerated}" for layers in EXACT_DEGREES]
    axis.set_yticks([*range(len(networks)), *(first + i for i in range(len(EXACT_DEGREES)))], names)
    axis.tick_params(length=0)
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set_visible(False)
    title = (
        "Seeds that learn (paper: all left of the heavy line, $k = 2^{L-1}$, none right of it); below: exact gradients"
    )
    axis.set_title(title, loc="left")
    return {"counterexample": figure}


def trained_cell(axis: Axes, row: int | float, k: int, runs: pd.DataFrame) -> None:
    if not len(runs):
        return
    learned = (runs.outcome == "learned").mean()
    median = quantile(runs.converged_at.to_numpy(float, na_value=np.inf), 0.5)
    steps = f"\n{median:,.0f} steps" if np.isfinite(median) else "\nmost never"
    cell(axis, row, k, f"{learned:.0%}{steps if learned else ''}", learned)


def exact_cell(axis: Axes, row: int | float, k: int, gradients: "pd.Series[float]") -> None:
    zero = bool((gradients == 0).all())
    cell(axis, row, k, "exactly 0" if zero else "not zero", float(not zero))


def cell(axis: Axes, row: int | float, k: int, text: str, strength: float) -> None:
    """A rectangle, darker for success, with a text in it."""
    color, alpha = INKS[0] if strength else "0.5", 0.08 + 0.27 * strength
    axis.add_patch(Rectangle((k - 0.48, row - 0.46), 0.96, 0.92, color=color, alpha=alpha, linewidth=0))
    axis.text(k, row, text, ha="center", va="center", fontsize=7)


def limit_line(axis: Axes, row: int | float, layers: int) -> None:
    axis.plot([2 ** (layers - 1) + 0.5] * 2, [row - 0.5, row + 0.5], color=INKS[1], linewidth=2)
