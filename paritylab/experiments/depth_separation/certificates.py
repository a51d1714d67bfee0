"""The proven bounds on depth-two networks against random, trained and adversarial ones: no violation, and how tight.

F is a product of n ANDs and ORs on uniform points, N a ReLU network with one hidden layer. B1 to B3 bound the
correlation of a unit with F; Z1 to Z3 the weighted error, the error and the probability of a small
margin; Z4 the error of any matrix of rank r. Here every network that we could think of is held
against them, by enumeration of all points for halves of up to 8 bits (12 for integer weights):

- random networks of several widths and scales;
- networks trained with Adam on the mixture;
- adversaries: units that climb their exact correlation over its bound, and networks made of such units;
- for Z4 factors of rank r < 2^(n/2) trained towards F, and networks with integer weights, whose rank is known.

Above 8 bits the correlation is sampled, and a violation would be one by four standard errors. The best single
unit found shows how far the bound 2^(-n/2) is from the truth: a first trial saw a decay of 2^(-0.93 n).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ... import bounds
from ...bounds import ShallowNetwork, gate_product_matrix
from ...bounds.shallow import Form
from ...bounds.unit_search import FoundUnit
from ...figures import INKS, ink, panels
from ...sweep import Call
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, shown
from ..measures import exactly
from .shared.fits import exponential

FORMS: dict[str, Form] = {"B1": "length", "B2": "tails", "B3": "norms"}
EXACT = (*FORMS, "Z1", "Z2", "Z3")
MARGINS = (0.01, 0.1, 1.0)
FIRST_RATIOS = {2: 0.93, 4: 0.84, 6: 0.75}
"""What a first trial's adversaries reached of B2."""
SIZES = {"2^-0": 1.0, "2^-5": 2.0**-5, "2^-10": 2.0**-10}
"""Outer weights of the curves of the bound over n."""


BLIND = (
    "Unexplained: a correlation less four standard errors is below a thousandth of its bound for all of these "
    "networks, so that samples of this size could not show a bound to fail."
)


@dataclass(frozen=True)
class Settings:
    exact: tuple[int, ...]
    """Pairs of networks that are enumerated."""
    networks: int
    """Random networks of each size."""
    trained: tuple[tuple[int, int, int], ...]
    """Pairs (odd), width and steps of trained networks."""
    seeds: int
    searched: tuple[int, ...]
    tries: int
    sampled: tuple[int, ...]
    points: int
    ranks: tuple[tuple[int, tuple[int, ...]], ...]
    """Pairs, and ranks of factors trained towards F."""
    factor_steps: int
    integers: int
    """Networks with integer weights at n = 12."""


SETTINGS = {
    "quick": Settings(
        exact=(2, 4, 6, 8),
        networks=6,
        trained=((5, 32, 2000),),
        seeds=6,
        searched=(2, 3, 4, 5, 6, 7),
        tries=6,
        sampled=(12, 30),
        points=20_000,
        ranks=((6, (2, 5)), (8, (3, 10)), (10, (8,))),
        factor_steps=30,
        integers=2,
    ),
    "paper": Settings(
        exact=(2, 3, 4, 5, 6, 7, 8),
        networks=60,
        trained=((3, 32, 10_000), (5, 64, 20_000), (7, 128, 30_000)),
        seeds=20,
        searched=(2, 3, 4, 5, 6, 7, 8, 9),
        tries=20,
        sampled=(12, 20, 30, 60),
        points=200_000,
        ranks=((6, (1, 2, 3, 5, 7)), (8, (1, 3, 6, 10, 15)), (10, (1, 4, 8, 16, 31))),
        factor_steps=200,
        integers=12,
    ),
}


def random_network(half: int, rng: np.random.Generator) -> ShallowNetwork:
    """Gaussian weights of a random scale, a random width."""
    width, scale = int(rng.choice([1, 5, 40])), 10 ** rng.uniform(-1.5, 1)
    left, right = scale * rng.normal(size=(2, width, half))
    bias, output = rng.normal(size=(2, width))
    return ShallowNetwork(left, right, scale * bias, output / width, float(0.1 * rng.normal()))


def ratios(network: ShallowNetwork, signs: np.ndarray) -> dict[str, float]:
    """What is allowed over what is, or the other way round, for each bound: at most 1 unless it is violated."""
    values = network.values()
    margins, half = signs * values, network.half
    size, square = float(np.abs(values).mean()), float((values**2).mean())
    error, correlation = float((margins <= 0).mean()), float(abs(margins.mean()))
    weighted = float((np.abs(values) * (margins < 0)).mean()) / size
    c = bounds.network_correlation(network).value
    found = {name: over(correlation, bounds.network_correlation(network, form).value) for name, form in FORMS.items()}
    found["Z1"] = over(bounds.weighted_error(half, correlation=c, mean_size=size).value, weighted)
    moments = bounds.error_from_moments(half, correlation=c, mean_size=size, mean_square=square)
    found["Z2"] = over(moments.value, error)
    missed = [(bounds.margin_error(network, margin=g).value, float((margins < g).mean())) for g in MARGINS]
    found["Z3"] = max(over(*pair) for pair in missed)
    hinge = float(np.maximum(1 - margins, 0).mean())
    return found | {"hinge": hinge, "proven_hinge": max(0.0, 1 - c), "error": error}


def over(part: float, whole: float) -> float:
    """A ratio, 0 where there is nothing to compare."""
    if part <= 1e-12:
        return 0.0
    return part / whole if whole > 0 else math.inf


def random_ones(half: int, networks: int) -> list[dict[str, float]]:
    rng = np.random.default_rng(half)
    signs = gate_product_matrix(rng.choice([-1, 1], half))
    return [ratios(random_network(half, rng), signs) for _ in range(networks)]


def adversaries(half: int, tries: int) -> list[dict[str, float]]:
    """Units that climb, alone and together."""
    signs = gate_product_matrix(np.ones(half, int))
    climb = lambda measure, seed: bounds.search_unit(half, measure, tries=tries, seed=seed)
    found = [climb(measure, seed) for measure in ("length", "tails") for seed in range(2)]

    def together(units: list[FoundUnit]) -> ShallowNetwork:
        left, right = np.stack([unit.left for unit in units]), np.stack([unit.right for unit in units])
        return ShallowNetwork(left, right, np.array([unit.bias for unit in units]), np.ones(len(units)))

    return [ratios(together(units), signs) for units in ([found[0]], [found[2]], found)]


def trained_ones(half: int, width: int, steps: int, seeds: int) -> list[dict[str, float]]:
    """Networks that Adam trains on the mixture with E1."""
    gates = np.random.default_rng(half).choice([-1, 1], half)
    task = pl.distributions.separation(pl.distributions.equal_gates(pl.GateProduct(gates)))
    fall, lanes = pl.training.LinearFall(steps), -(-seeds // 2)
    how: dict[str, Any] = {"rate": 0.01, "batch": 128, "optimizer": "adam", "schedule": fall, "steps": steps}
    runs = pl.train(task, pl.MLP(width), seeds=seeds, every=steps // 4, validation=0, keep=True, lanes=lanes, **how)
    signs = gate_product_matrix(gates)
    return [ratios(ShallowNetwork.of(runs.network(run)), signs) for run in range(seeds)]


def sampled_ones(half: int, networks: int, points: int) -> list[dict[str, float]]:
    """Correlations from a sample, four standard errors lower, over the bounds."""
    rng = np.random.default_rng(half)
    x, z = rng.choice([-1.0, 1.0], (2, points, half))
    gates = rng.choice([-1.0, 1.0], half)
    y = np.prod((gates * (1 - x * z) + x + z) / 2, axis=1)

    def ratios_of(net: ShallowNetwork) -> dict[str, float]:
        units = np.maximum(x @ net.left.T + z @ net.right.T + net.bias, 0)
        values = y * (units @ net.output + net.output_bias)
        least = max(0.0, abs(float(values.mean())) - 4 * float(values.std()) / math.sqrt(points))
        return {name: over(least, bounds.network_correlation(net, form).value) for name, form in FORMS.items()}

    return [ratios_of(random_network(half, rng)) for _ in range(networks)]


def best_units(half: int, tries: int) -> dict[str, float]:
    """The best that a single unit does of its length, and of B2."""
    longest, tightest = (bounds.search_unit(half, measure, tries=tries) for measure in ("length", "tails"))
    return {"by_length": longest.ratio, "of_tails": tightest.ratio * 2 ** (half / 2)}


def factors(half: int, rank: int, steps: int) -> dict[str, float]:
    """Factors of this rank, trained towards F, against Z4."""
    signs = gate_product_matrix(np.ones(half, int))
    found = bounds.low_rank_signs(signs, rank, steps=steps)
    error = float((signs * (found.left @ found.right) <= 0).mean())
    bound = bounds.error_from_rank(half, rank=rank).value
    return {"error": error, "bound": bound, "Z4": over(bound, error)}


def integer_network(number: int) -> dict[str, float]:
    """n = 12: one to three units with weights in {-1, 0, 1}; outputs with the signs of the units' correlations."""
    half, rng = 12, np.random.default_rng(number)
    width = 1 + number % 3
    left, right = rng.integers(-1, 2, (2, width, half)).astype(float)
    bias = rng.integers(-3, 4, width).astype(float)
    signs = gate_product_matrix(np.ones(half, int))
    alone = [ShallowNetwork(left[[i]], right[[i]], bias[[i]], np.ones(1)) for i in range(width)]
    output = np.array([float(np.vdot(signs, unit.values())) for unit in alone]) / signs.size
    network = ShallowNetwork(left, right, bias, output / np.abs(output).max(), 0.0)
    rank = 1 + int(bounds.rank_of_units(left, right).sum())
    bound = bounds.error_from_rank(half, rank=rank).value
    error = float((signs * network.values() <= 0).mean())
    return {"error": error, "bound": bound, "rank": rank, "Z4": over(bound, error)}


def plan(settings: Settings) -> Iterator[Call]:
    for half, width, steps in settings.trained:
        given = {"half": half, "width": width, "steps": steps, "seeds": settings.seeds}
        yield Call(trained_ones, given, labels={"kind": "trained"}, seconds=15.0)
    for half in settings.exact:
        yield Call(random_ones, {"half": half, "networks": settings.networks}, labels={"kind": "random"}, seconds=1.0)
        yield Call(adversaries, {"half": half, "tries": 2}, labels={"kind": "adversarial"}, seconds=1.0)
    for half in settings.sampled:
        given = {"half": half, "networks": settings.networks, "points": settings.points}
        yield Call(sampled_ones, given, labels={"kind": "sampled"}, seconds=1.0)
    for half in settings.searched:
        yield Call(best_units, {"half": half, "tries": settings.tries}, labels={"kind": "unit"}, seconds=1.0)
    for half, ranks in settings.ranks:
        for rank in ranks:
            given = {"half": half, "rank": rank, "steps": settings.factor_steps}
            yield Call(factors, given, labels={"kind": "factors"}, seconds=2.0)
    for number in range(settings.integers):
        yield Call(integer_network, {"number": number}, labels={"kind": "integers"}, seconds=4.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """Counts and maxima are exact; the exponent has Student's interval of a regression."""
    enumerated = ("random", "trained", "adversarial")
    for name in EXACT:
        words = f"{name} holds for every random, trained and adversarial network, by enumeration; violations"
        yield unviolated(name, words, enumerated, (name,))
    places = ", ".join(map(str, settings.sampled))
    words = f"B1 to B3 hold at n = {places}, by sampling; violations by four standard errors"
    yield unviolated("sampled", words, ("sampled",), tuple(FORMS))
    words = "Z4 holds for factors of rank r < 2^(n/2) trained towards F and for integer weights at n = 12; violations"
    yield unviolated("Z4", words, ("factors", "integers"), ("Z4",))
    statement = "the best correlation of a unit over its length decays like 2^(-0.93 n); the exponent"
    yield Claim("unit/decay", statement, None, Region(0.83, 1.03), decay, null=Null("no decay", 0.0))
    yield from (near_bound(half, FIRST_RATIOS[half]) for half in settings.searched if half in FIRST_RATIOS)


def unviolated(name: str, words: str, kinds: tuple[str, ...], bounds: tuple[str, ...]) -> Claim:
    def violations(table: pd.DataFrame) -> Measured:
        """How many ratios are above 1; where one is missing, nothing was shown."""
        values = table[table.kind.isin(kinds)][list(bounds)].to_numpy(float)
        return exactly((values > 1 + 1e-9).sum() if values.size and not np.isnan(values).any() else math.nan)

    def tightened(table: pd.DataFrame) -> float:
        return float((table[table.kind.isin(kinds)][list(bounds)].to_numpy(float) > 1e-3).sum())

    null = Null("bounds divided by a thousand", tightened)
    why = BLIND if name == "sampled" else ""
    return Claim(f"{name}/violations", words, None, Region(0, 0), violations, theory=0, null=null, explanation=why)


def near_bound(half: int, before: float) -> Claim:
    statement = f"n = {half}: an adversary comes as near to B2 as a first trial's; the correlation over B2"
    measure = lambda table: exactly(best_of(table).of_tails[half])
    null = Null("a unit without correlation", 0.0)
    return Claim(f"unit/n{half}", statement, None, Region(0.9 * before, 1 + 1e-9), measure, null=null)


def best_of(table: pd.DataFrame) -> pd.DataFrame:
    """The best units by n."""
    return table[table.kind == "unit"].set_index("half").sort_index()


def decay(table: pd.DataFrame) -> Measured:
    """The exponent e of 2^(-e n) through the best ratios."""
    units = best_of(table)
    return exponential(units.index, 1 / units.by_length)


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """How near networks come to each bound; the best unit over n; what sizes alone prove over n."""
    figure, axes = panels(1, 3, width=3.9, height=3.3)
    draw_shares(axes[0, 0], table)
    draw_units(axes[0, 1], best_of(table), decay(table).value)
    axis, halves = axes[0, 2], list(range(4, 81))
    for i, (name, output) in enumerate(SIZES.items()):
        curve = bounds.hinge_curve(halves, width=8192, weight=1, output=output)
        axis.plot(halves, curve, **ink(i), label=f"outer weights to $2^{{{name[2:]}}}$")
    axis.set(xlabel="n (pairs)", ylabel="proven hinge loss, hard half", ylim=(0, 1.3))
    dress(axis, title="8,192 units, inner weights to 1", legend="upper left")
    return shown("certificates", figure, "What depth-two networks cannot do, and how near they come")


def draw_shares(axis: Axes, table: pd.DataFrame) -> None:
    for i, (kind, mark) in enumerate({"random": "o", "trained": "s", "adversarial": "^"}.items()):
        for place, name in enumerate(EXACT):
            there = table[table.kind == kind][name].to_numpy(float)
            places, label = np.full(len(there), place + 0.22 * (i - 1)), kind if place == 0 else None
            axis.plot(places, there, mark, color=INKS[i], markersize=3, label=label)
    axis.axhline(1, color="0.3", linewidth=1)
    axis.set_xticks(range(len(EXACT)), EXACT)
    axis.set(ylabel="share of the bound that is used", ylim=(-0.03, 1.3))
    dress(axis, title="no network passes a bound (1)", legend="upper center", columns=3)


def draw_units(axis: Axes, units: pd.DataFrame, slope: float) -> None:
    n = units.index.to_numpy(float)
    axis.semilogy(n, units.by_length, "o", color=INKS[0], label="best unit found")
    level = float(np.mean(np.log2(units.by_length) + slope * n))
    axis.semilogy(n, 2 ** (level - slope * n), color=INKS[0], linestyle="--", label=f"$2^{{-{slope:.2f}n}}$ fit")
    axis.semilogy(n, 2 ** (-n / 2), color="0.3", label="proven: $2^{-n/2}$")
    axis.set(xlabel="n (pairs)", ylabel="correlation over length")
    dress(axis, title="one unit and a product of gates", legend="best")
