"""Lemmas 15 to 22 of boolean-circuits along a run: what the proof of Theorem 4 says of single units, step by step.

Every level of a random AND/OR/NAND/NOR circuit of depth 3 under its generative distribution, with the inputs
of the level flipped by random signs as Lemma 14 allows. Constants as corrected: the gradient
at a pattern is 4 v_l / n_i E[(lambda - y) 1{p}], the threshold of the set A_t is 8 eta / n_i, and A_t asks that -p
does not occur, not that it does. The rate is n_i / (32 k), the largest that Lemma 22 allows. Every step is
checked, for longer than it takes until nothing changes any more; Lemma 16 on fresh tables of samples, which are
multinomial.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...circuits.gate_training import Towards, default_rate
from ...figures import INKS, panels
from ...networks.neural_gates import first_gates
from ...sweep import Call
from ...targets.gates import PATTERNS
from ..base import Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, largest, least, proportion
from .shared.problems import Problem, generative, problem, safe_width

DEPTH, DELTA = 3, 0.1
"""Of the circuits; the probability with which Lemma 16 may fail."""
SCARCE = 100


@dataclass(frozen=True)
class Settings:
    circuits: int
    resamples: int = 2000
    longest: int = 6000
    """Steps that are checked one by one."""


SETTINGS = {"quick": Settings(circuits=2), "paper": Settings(circuits=20, resamples=10_000, longest=40_000)}


def drifts_of(known: Problem, level: int, towards: Towards = -1) -> np.ndarray:
    here = slice(2**level - 1, 2 ** (level + 1) - 1)
    return pl.circuits.drift(known.tables.probability[here], known.tables.signal[here], known.regularizer, towards)


def wanted_of(known: Problem, level: int) -> np.ndarray:
    """gamma(p) nu of every gate and pattern: what its neural gate should give."""
    here = slice(2**level - 1, 2 ** (level + 1) - 1)
    return known.tables.gates[here] * np.sign(known.tables.correlation[here])[:, None]


def flipped(table: np.ndarray, flips: np.ndarray) -> np.ndarray:
    """A table whose inputs are multiplied by signs, two a gate."""
    order = (np.arange(4)[None, :] & 1) ^ (flips[:, :1] < 0) | ((np.arange(4)[None, :] >> 1) ^ (flips[:, 1:] < 0)) << 1
    return np.take_along_axis(table, order, axis=1)


def along(seed: int, level: int, longest: int) -> dict[str, object]:
    """One level of one circuit, checked after every step."""
    known = generative(DEPTH, seed)
    gates, width = 2**level, safe_width(2**DEPTH)
    flips = np.random.default_rng(seed).choice([-1, 1], (gates, 2))
    drifts, wanted = flipped(drifts_of(known, level), flips), flipped(wanted_of(known, level), flips)
    size = known.least * known.slack  # epsilon Delta
    rate = default_rate(width)  # eta = rate * n_i / 2
    bound = 12 / (math.sqrt(2) * rate * size)
    steps = min(longest, math.ceil(bound))
    start = first_gates(gates, width, key=pl.root_key(seed))
    weights = pl.circuits.gate_history(start, drifts, rate=rate, steps=steps)
    height = np.einsum("tgwi,pi->tgwp", weights, PATTERNS)
    signs = np.asarray(start.signs, float)
    raw = np.einsum("tgwp,gw->tgp", np.maximum(height, 0), signs)
    exceptions = exceptions_along(height, raw, signs[:, :, None] * wanted[:, None, :], rate, size)
    exchanged = exceptions_along(height, raw, -signs[:, :, None] * wanted[:, None, :], rate, size)
    learned = np.all(np.clip(raw[-1], -1, 1) == wanted)
    never = np.where(np.clip(raw, -1, 1) != wanted, np.arange(steps + 1)[:, None, None], -1).max(axis=0) + 1
    return {
        "lemma15": float(np.min(4 * math.sqrt(2) * wanted * drifts) / size),
        **exceptions,
        **{f"{name}_exchanged": count for name, count in exchanged.items()},
        "lemma22": float(never.max() / bound) if learned else math.inf,
        "started": float(np.abs(raw[0]).max()),
        "units": int(np.prod(height.shape[1:])),
        "steps": steps,
    }


def exceptions_along(
    height: np.ndarray, raw: np.ndarray, direction: np.ndarray, rate: float, size: float
) -> dict[str, int]:
    """How often lemmas fail along a run, with gamma(p) v_l nu_j as the right directions."""
    opposite = direction[:, :, ::-1]  # every pattern occurs, and -p stands at the other end
    in_set = (direction < 0) & (height <= 4 * rate) & (opposite < 0)
    relu = np.maximum(height, 0)
    outside = (height[1:] > 0) & ~in_set[1:]
    free = np.abs(raw[:-1]) < 1
    times = np.arange(1, len(height))[:, None, None]
    best = np.max(relu[1:] * direction, axis=2)
    grown = best >= rate * times * size / (4 * math.sqrt(2)) - 1e-12
    return {
        "lemma18": int(np.sum(in_set[:-1] & ~in_set[1:])),
        "lemma19": int(np.sum(outside & ((relu[1:] - relu[:-1]) * direction < -1e-12))),
        "corollary20": int(np.sum(outside & ((relu[1:] - relu[:1]) * direction < -1e-12))),
        "lemma21": int(np.sum(free & ~grown)),
    }


def resampled(seed: int, resamples: int) -> dict[str, object]:
    """Lemma 16: how often a sample of the theorem's size has a gate's gradient too far off, at the lowest level."""
    known = generative(DEPTH, seed)
    size = known.least * known.slack
    samples = math.ceil(2**11 / size**2 * math.log(8 / DELTA))
    gate = 2 ** (DEPTH - 1) - 1
    chance, signal = known.tables.probability[gate], known.tables.signal[gate]
    cells = np.concatenate([chance + signal, chance - signal]) / 2
    exact, chance_of = drifts_of(known, DEPTH - 1)[0], np.random.default_rng(seed)

    def off(size_of_sample: int) -> np.ndarray:
        """The largest error of a sampled gradient, over epsilon Delta / (4 sqrt(2) n_i)."""
        counts = chance_of.multinomial(size_of_sample, cells, resamples) / size_of_sample
        up, down = counts[:, :4], counts[:, 4:]
        drifts = pl.circuits.drift(up + down, up - down, known.regularizer)
        return np.asarray(np.max(np.abs(drifts - exact), axis=1) * 16 * math.sqrt(2) / size)

    enough, scarce = off(samples), off(samples // SCARCE)
    bad, most = int(np.sum(enough > 1)), float(enough.max())
    return {"lemma16": bad, "lemma16_scarce": int(np.sum(scarce > 1)), "resamples": resamples, "largest_off": most,
            "samples": samples}  # fmt: skip


def printed() -> dict[str, object]:
    """Lemma 15 where E[y] > 0, with both signs of the regularizer."""
    circuit = pl.targets.circuit_from_formula("OR(AND(x0,x1),AND(x2,x3))")
    known = problem(circuit, pl.Product(circuit, 2 * 0.632 - 1))
    size = known.least * known.slack
    ratio = lambda towards: float(np.min(4 * math.sqrt(2) * wanted_of(known, 1) * drifts_of(known, 1, towards)) / size)
    return {"corrected": ratio(-1), "printed": ratio(1)}


def plan(settings: Settings) -> Iterator[Call]:
    for seed in range(settings.circuits):
        for level in range(DEPTH):
            yield Call(along, {"seed": seed, "level": level, "longest": settings.longest}, seconds=3.0)
        yield Call(resampled, {"seed": seed, "resamples": settings.resamples}, seconds=0.2)
    yield Call(printed, {}, seconds=0.1)


def claims(settings: Settings) -> Iterator[Claim]:
    runs = f"{settings.circuits} circuits of depth {DEPTH}, all levels"

    def without_exception(name: str, words: str) -> Claim:
        statement = f"{words} ({runs}); the number of exceptions"
        null = Null("the other sign of every correlation", lambda table: float(table[f"{name}_exchanged"].sum()))
        return Claim(name, statement, 0.0, Region(0.0, 0.0), lambda table: exactly(table[name].sum()), null=null)

    statement = (
        f"the gradient at every pattern points the right way by more than epsilon Delta / (sqrt(2) n_i) ({runs}); "
        "the least ratio"
    )
    measure, null = lambda table: least(table.lemma15.dropna()), Null("a gate without correlation", 0.0)
    yield Claim("lemma15", statement, "above 1", Region(low=1.0), measure, null=null)
    statement = (
        "with the printed regularizer it points the wrong way at some pattern where E[y] > 0 "
        "((x1 AND x2) OR (x3 AND x4), p = 0.632); the least ratio"
    )
    measure = lambda table: exactly(table.printed.dropna().iloc[0])
    null = Null("the other sign", lambda table: float(table.corrected.dropna().iloc[0]))
    yield Claim("lemma15/printed", statement, "above 1", Region(high=0.0), measure, null=null)
    statement = (
        "a sample of the theorem's size gives the gradient to epsilon Delta / (4 sqrt(2) n_i) but with "
        f"probability {DELTA}; the fraction of samples that do not"
    )
    measure = lambda table: proportion(int(table.lemma16.sum()), int(table.resamples.sum()))
    scarce = lambda table: float(table.lemma16_scarce.sum() / table.resamples.sum())
    null = Null(f"a sample {SCARCE} times smaller", scarce)
    yield Claim("lemma16", statement, f"at most {DELTA}", Region(high=DELTA), measure, null=null)
    yield without_exception("lemma18", "what is in A_t stays in it")
    yield without_exception("lemma19", "units outside A_t move in the right direction at every step")
    yield without_exception("corollary20", "units outside A_t are further in the right direction than at the start")
    yield without_exception(
        "lemma21", "each pattern has a unit that grows by eta epsilon Delta / (2 sqrt(2) n_i) a step"
    )
    statement = (
        f"every gate is right after 6 n_i / (sqrt(2) eta epsilon Delta) steps ({runs}); the largest fraction of "
        "them that was used"
    )
    measure, null = lambda table: largest(table.lemma22.dropna()), Null("a gate that is never right", math.inf)
    yield Claim("lemma22", statement, "at most 1", Region(0.0, 1.0), measure, null=null)


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """How much room the lemmas leave."""
    figure, axes = panels(1, 2, width=3.4, height=2.7)
    lemmas = (
        ("lemma15", "gradient / Lemma 15's bound", "Lemma 15: at least 1"),
        ("lemma22", "steps used / Lemma 22's bound", "Lemma 22: at most 1"),
    )
    for axis, (name, words, line) in zip(axes[0], lemmas, strict=True):
        for level, rows in table[table.lemma15.notna()].groupby("level"):
            axis.plot(np.full(len(rows), level), rows[name], "o", color=INKS[0], markersize=4)
        axis.axhline(1, color=INKS[1], linewidth=1, linestyle="--", label=line)
        axis.set(yscale="log", xlabel="level (0 is the label)", ylabel=words)
        axis.set_xticks(range(DEPTH))
        dress(axis, legend="best", size=8)
    return shown("lemmas", figure, "The proof of Theorem 4 along runs")
