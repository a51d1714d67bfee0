"""Theorem 7 of hidden-progress: under gradient flow a disjoint PolyNet spends almost all of its time at chance.

A disjoint PolyNet is a product of k linear functions of blocks of n' coordinates; on the correlation loss its relevant
weights move as dv_i/dt = prod over j != i of v_j, and all others stay. From all ones, T(.49) is the time at which the
error falls below 49%, T(0) that at which it is 0, and T(.49) / T(0) = 1 - O(n'**(1 - k/2)).

The differential equation is solved by an adaptive Runge-Kutta method (diffrax) up to the weights at which the exact
error crosses; the closed form v(t) = (1 - (k-2) t)**(-1/(k-2)) is the second route, and for unequal starts an integral.
For large n' the sum of the other weights is normal, so that (1 - T(.49)/T(0)) n'**(k/2 - 1) has a limit, 2.88 at k = 3.
Weights at which the error crosses lie on a grid of spacing 2; that is the scatter in the figure.

Corollaries 11 (random signs) and 12 (Gaussian weights) put 1/2 - gamma in place of .49. A start of signs with a
positive product is the same as all ones. We take the constants that the proofs give after correction
and count violations: of Lemma 5 (times), of Lemma 6 (errors), and of what they imply for the two corollaries.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...analysis.polynet import gradient_flow
from ...analysis.polynet.errors import lemma6, sign_error
from ...figures import Axes, Figures, ink, panels
from ...sweep import Call
from ..base import IDENTITY, Claim, Measured, Null, Region
from ..measures import bootstrap, exactly, largest
from .shared.claims import about

GAMMA = 0.01
DEGREES = (3, 4, 5)
GAUSSIAN_DEGREES = (3, 4)
BLOCKS = (64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048, 2896, 4096, 5793, 8192)
GAMMAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4)
CHUNK = 20
PRINTED = (
    "Hoeffding's inequality has exp(-v**2 / (2 |u|**2)), and the Berry-Esseen ratio of the third to the second moments "
    "is at most max|u| / |u|, on both sides of 0; with these constants nothing is violated."
)


@dataclass(frozen=True)
class Settings:
    draws: int
    """Random starts for the two lemmas."""
    starts: int
    """Gaussian starts for Corollary 12, for each k and n'."""
    blocks: tuple[int, ...] = (16, 64, 256, 1024)


SETTINGS = {
    "quick": Settings(draws=200, starts=60),
    "paper": Settings(draws=5000, starts=1000, blocks=(16, 64, 256, 1024, 4096)),
}


def solved_flows(k: int, draws: int) -> pd.DataFrame:
    """Times by the solver and by another route: all ones to the two crossings at every n', and random starts."""
    shares = [gradient_flow.sign_shares(block, k, GAMMA) for block in BLOCKS]
    rng = np.random.default_rng([k, 0])
    random = np.abs(rng.normal(size=(draws, k)))
    gains = np.concatenate(
        [[each.near_chance for each in shares], [each.perfect for each in shares], np.exp(rng.uniform(-3, 8, draws))]
    )
    start = np.concatenate([np.ones((2 * len(shares), k)), random])
    count = len(shares)
    return pd.DataFrame(
        {
            "kind": ["near chance"] * count + ["perfect"] * count + ["random"] * draws,
            "block": [*BLOCKS, *BLOCKS, *[0] * draws],
            "solver": gradient_flow.flow_times(start, gains),
            "other": [gradient_flow.equal_time(k, 1.0, math.sqrt(1 + gain)) for gain in gains[: 2 * count]]
            + [gradient_flow.time_to_gain(v, float(gain)) for v, gain in zip(random, gains[2 * count :], strict=True)],
        }
    )


def sign_corollary(k: int) -> pd.DataFrame:
    """Corollary 11: what is left of the time, beside the bound, at every n' and gamma for which there is one."""
    rows = [
        {"block": block, "gamma": gamma, "rest": gradient_flow.sign_shares(block, k, gamma).rest,
         "bound": gradient_flow.sign_share_bound(block, k, gamma)}
        for block in BLOCKS for gamma in GAMMAS
    ]  # fmt: skip
    return pd.DataFrame([row for row in rows if math.isfinite(row["bound"])])


def gaussian_corollary(k: int, block: int, starts: int, seed: int) -> pd.DataFrame:
    """Corollary 12: the same for Gaussian starts; where the lemmas say nothing the bound is infinite."""
    rng = np.random.default_rng([k, block, seed])
    weights = rng.normal(size=(starts, k, block))
    weights[:, :, 0] = np.abs(weights[:, :, 0])  # signs with a positive product can all be made positive
    rest = [gradient_flow.real_shares(each, GAMMA).rest for each in weights]
    bound = [gradient_flow.real_share_bound(each, GAMMA) for each in weights]
    return pd.DataFrame({"start": np.arange(starts), "rest": rest, "bound": bound})


def lemma5_slack(draws: int) -> pd.DataFrame:
    """Lemma 5: by how much its bounds are kept, relative to the time, for random starts of three distributions."""
    rng = np.random.default_rng(5)
    rows = []
    for draw in range(draws):
        k, which = 3 + draw % 4, draw % 3
        start = [np.abs(rng.normal(size=k)), rng.uniform(0.05, 1, k), np.ones(k)][which]
        i, whole = int(rng.integers(k)), gradient_flow.time_to_gain(start, math.inf)
        b = math.hypot(start[i], math.exp(rng.uniform(-2, 4)))
        bounds, time = gradient_flow.lemma5(start, i, b), gradient_flow.time_to_gain(start, b**2 - start[i] ** 2)
        rows.append({"low": (time - bounds.time_low) / whole, "high": (bounds.rest_high - (whole - time)) / whole})
    return pd.DataFrame(rows)


def lemma6_slack(draws: int) -> pd.DataFrame:
    """Lemma 6: by how much its bounds are kept, corrected and as printed, for weights of three distributions."""
    rng = np.random.default_rng(6)
    kept = lambda bounds: (float(bounds.error - bounds.low), float(bounds.high - bounds.error))
    rows = []
    for draw in range(draws):
        k, block, which = 2 + draw % 4, int(rng.integers(3, 13)), draw % 3
        shape = (k, block)
        weights = np.abs([rng.normal(size=shape), rng.uniform(-1, 1, shape), np.ones(shape)][which])
        weights[:, 0] = rng.uniform(0.2, 2.5) * np.linalg.norm(weights[:, 1:], axis=1) * rng.uniform(0.8, 1.2, k)
        rows.append((*kept(lemma6(weights)), *kept(lemma6(weights, printed=True))))
    return pd.DataFrame(rows, columns=["low", "high", "printed_low", "printed_high"])


def plan(settings: Settings) -> Iterator[Call]:
    for k in DEGREES:  # random starts together with the others: one compilation
        yield Call(solved_flows, {"k": k, "draws": settings.draws}, {"part": "flow"}, seconds=1)
    for k in DEGREES:
        yield Call(sign_corollary, {"k": k}, {"part": "corollary11"}, seconds=1)
    for k, block, seed in itertools.product(GAUSSIAN_DEGREES, settings.blocks, range(settings.starts // CHUNK)):
        configuration = {"k": k, "block": block, "starts": CHUNK, "seed": seed}
        yield Call(gaussian_corollary, configuration, {"part": "corollary12"}, seconds=1)
    yield Call(lemma5_slack, {"draws": settings.draws}, {"part": "lemma5"}, seconds=1)
    yield Call(lemma6_slack, {"draws": settings.draws}, {"part": "lemma6"}, seconds=1)


def claims(settings: Settings) -> Iterator[Claim]:
    """All but the medians of Corollary 12 are exact."""
    for k in DEGREES:
        yield from of_flow(k)
    for k in GAUSSIAN_DEGREES:
        yield from of_gaussian_starts(k, np.array(settings.blocks, float))
    cases = f"violations in {settings.draws} random cases"
    for lemma, title in (("lemma5", "Lemma 5"), ("lemma6", "Lemma 6, corrected")):
        for side, words in (("low", "lower bound"), ("high", "upper bound")):
            yield violations(f"{lemma}/{side}", f"{title}, {words}: {cases}", f"part == '{lemma}'", side)
    for side in ("low", "high"):
        text = f"Lemma 6 as printed, {side} bound: {cases}"
        yield violations(f"lemma6/printed-{side}", text, "part == 'lemma6'", f"printed_{side}", printed=True)


def violations(name: str, statement: str, rows: str, slack: str, printed: bool = False) -> Claim:
    """A bound that is proven, or printed: how often it is broken by more than rounding."""
    count = lambda table: exactly((table.query(rows).eval(slack) < -1e-9).sum())
    reversed_bound = Null("a bound on the other side", lambda table: float((table.query(rows).eval(slack) > 0).sum()))
    if printed:
        how: dict[str, Any] = {"explanation": PRINTED, "tested_by": (name.replace("printed-", ""),)}
        return Claim(name, statement, 0.0, Region(0, 0), count, null=reversed_bound, **how)
    return Claim(name, statement, None, Region(0, 0), count, theory=0.0, null=reversed_bound)


def apart(name: str, statement: str, rows: str) -> Claim:
    """Two routes to the same times."""
    off = lambda table: largest((table.query(rows).eval("solver / other") - 1).abs())
    text = f"{statement}; the largest relative difference"
    return Claim(name, text, None, Region(0, 1e-8), off, theory=0.0, null=IDENTITY)


def of_flow(k: int) -> Iterator[Claim]:
    """Starts of signs; times by the solver."""
    last, power, flow = max(BLOCKS), k / 2 - 1, f"part == 'flow' and k == {k} and kind"
    text = f"k = {k}: the solver's times from"
    yield apart(f"k{k}/solver", f"{text} all ones against the closed form", f"{flow} != 'random'")
    yield apart(f"k{k}/unequal", f"{text} random starts against the integral", f"{flow} == 'random'")
    text = f"1 - T(.49)/T(0) falls as a power of n' from {min(BLOCKS)} to {last:,}; the exponent"
    claim = about(f"k{k}", f"k = {k}", lambda table: rests(table, k))
    slope = lambda rest: exactly(exponent(rest.index.to_numpy(float), rest.to_numpy()))
    constant = Null("a share that does not depend on n'", 0)
    yield claim("exponent", text, Region(-power - 0.1, -power + 0.1), slope, paper=-power, null=constant)
    text = f"(1 - T(.49)/T(0)) n'^(k/2 - 1) at n' = {last:,} over its limit for normal sums (ours)"
    scaled = lambda rest: exactly(rest[last] * last**power / gradient_flow.limit_of_scaled(k, 0.5 - GAMMA))
    yield claim("limit", text, Region(0.9, 1.1), scaled, theory=1.0, null=Null("nothing is left of the time", 0))
    text = f"almost all of the time is spent at chance: T(.49)/T(0) at n' = {last:,}"
    null = Null("an error that falls in a straight line", 2 * GAMMA)
    yield claim("share", text, Region(low=0.95), lambda rest: exactly(1 - rest[last]), null=null)
    text = f"k = {k}: random signs: violations of the bound that Lemmas 5 and 6 give, over n' and gamma"
    yield violations(f"k{k}/corollary11", text, f"part == 'corollary11' and k == {k}", "bound - rest")


def of_gaussian_starts(k: int, blocks: np.ndarray) -> Iterator[Claim]:
    text = f"k = {k}: Gaussian starts: violations of the bound that Lemmas 5 and 6 give"
    yield violations(f"k{k}/corollary12", text, f"part == 'corollary12' and k == {k}", "bound - rest")

    def slope_of_medians(table: pd.DataFrame) -> Measured:
        rows = part_of(table, "corollary12", k)
        # One row for each start, one column for each n': the starts of different n' are independent.
        sample = np.stack([np.log(rows[rows.block == block].rest.to_numpy(float)) for block in blocks], axis=1)
        return bootstrap(sample, lambda sample: exponent(blocks, np.exp(np.median(sample, axis=0))))

    name, power = f"k{k}/corollary12-exponent", 1 - k / 2
    text = f"k = {k}: Gaussian starts: the median of 1 - T(.49)/T(0) falls as a power of n'"
    null = Null("a share that does not depend on n'", 0)
    yield Claim(name, text, power, Region(power - 0.15, power + 0.15), slope_of_medians, null=null)


def part_of(table: pd.DataFrame, part: str, k: int) -> pd.DataFrame:
    return table[(table.part == part) & (table.k == k)]


def rests(table: pd.DataFrame, k: int) -> "pd.Series[float]":
    """1 - T(.49)/T(0) by the solver, over n'."""
    rows = part_of(table, "flow", k)
    times = rows[rows.kind != "random"].pivot(index="block", columns="kind", values="solver")
    return 1 - times["near chance"] / times["perfect"]


def exponent(blocks: np.ndarray, values: np.ndarray) -> float:
    return float(np.polyfit(np.log(blocks), np.log(values), 1)[0])


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """Error over time; what is left of the time over n', from all ones and from Gaussian starts."""
    figure, axes = panels(1, 3, width=3.6, height=3.0)
    draw_errors(axes[0, 0])
    draw_rests(axes[0, 1], table)
    draw_gaussian(axes[0, 2], table, settings)
    figure.suptitle("Gradient flow on disjoint PolyNets: long at chance, then suddenly perfect")
    return {"theorem7": figure}


def draw_errors(axis: Axes) -> None:
    """The exact error over time at k = 3, from all ones."""
    k = DEGREES[0]
    for i, block in enumerate((16, 64, 256, 4096)):
        v = np.unique(np.concatenate([np.geomspace(1, block - 1, 600), np.arange(1, min(block, 400), 1.0)]))
        share = [
            gradient_flow.equal_time(k, 1.0, float(each)) / gradient_flow.equal_time(k, 1.0, block - 1.0) for each in v
        ]
        axis.step(share, sign_error(block, k, v), where="post", label=f"n' = {block:,}", **ink(i))
    axis.axhline(0.5 - GAMMA, color="0.6", linewidth=0.6)
    axis.set(xlabel="time, in units of T(0)", ylabel="error (line: 49%)", ylim=(-0.02, 0.52))
    axis.set_title(f"All ones, k = {k}")
    axis.legend(fontsize=7, loc="lower left")


def draw_rests(axis: Axes, table: pd.DataFrame) -> None:
    """From all ones, beside the limits."""
    for i, k in enumerate(DEGREES):
        rest = rests(table, k)
        limit = gradient_flow.limit_of_scaled(k, 0.5 - GAMMA) * rest.index.to_numpy(float) ** (1 - k / 2)
        axis.plot(rest.index, rest, "os^"[i], color=ink(i)["color"], markersize=3.5, label=f"k = {k}, solver")
        formula = f"{gradient_flow.limit_of_scaled(k, 0.5 - GAMMA):.2f} n'$^{{{1 - k / 2:g}}}$"
        axis.plot(rest.index, limit, linewidth=0.9, label=formula, **ink(i))
    axis.set(xscale="log", yscale="log", xlabel="size of a block, n'", ylabel="1 − T(.49) / T(0)", title="All ones")
    axis.legend(fontsize=6.5, ncols=1, loc="lower left")


def draw_gaussian(axis: Axes, table: pd.DataFrame, settings: Settings) -> None:
    """Medians and the middle 80% over Gaussian starts."""
    blocks = np.array(settings.blocks, float)
    for i, k in enumerate(GAUSSIAN_DEGREES):
        rows = part_of(table, "corollary12", k).groupby("block").rest
        low, middle, high = (rows.quantile(q).to_numpy() for q in (0.1, 0.5, 0.9))
        bars = np.stack([middle - low, high - middle])
        axis.errorbar(blocks * 1.06**i, middle, bars, fmt="os"[i], color=ink(i)["color"], markersize=4, linewidth=0.8,
                      label=f"k = {k}: median, 10% to 90%")  # fmt: skip
        axis.plot(blocks, middle[-1] * (blocks / blocks[-1]) ** (1 - k / 2), linewidth=0.9,
                  label=f"slope {1 - k / 2:g}", **ink(i))  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel="size of a block, n'", ylabel="1 − T(.49) / T(0)")
    axis.set_title("Gaussian starts")
    axis.legend(fontsize=6.5, loc="lower left")
