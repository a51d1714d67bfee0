"""The sample size of a layer of gates: enough for the sign of every pattern's signal to be right.

Layerwise gradient descent moves a gate at pattern p by the average of (y - lambda) 1{p} (boolean-circuits,
Algorithm 1, with the corrected regularizer), so gate i is recovered, up to the sign of its correlation
c_i, where that average has the sign of c_i g_i(p) at all four patterns.
"""

import math

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import brentq
from scipy.special import ndtr

from .tables import GateTables

Chosen = Bool[np.ndarray, " gates"] | None
"""Some of the gates, or all."""


def signal_to_noise(tables: GateTables, regularizer: int | float = 0.0) -> Float[np.ndarray, "gates 4"]:
    """(E[(y - lambda) 1{p}] in the direction sign(c) g(p)) / its standard deviation from one example.

    Not a number where the pattern never occurs; infinite where there is no noise.

    >>> from paritylab.distributions import Generative
    >>> from paritylab.targets import circuit_from_formula
    >>> from paritylab.circuits import gate_tables
    >>> circuit = circuit_from_formula("OR(x0,x1)")
    >>> signal_to_noise(gate_tables(circuit, Generative(circuit))).round(4).tolist()
    [[0.4472, 0.4472, 0.4472, 1.0]]
    """
    drift = tables.signal - regularizer * tables.probability
    square = (1 + regularizer**2) * tables.probability - 2 * regularizer * tables.signal
    deviation = np.sqrt(np.maximum(square - drift**2, 0))
    towards = np.sign(tables.correlation)[:, None] * tables.gates * drift
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(tables.probability > 0, towards / deviation, np.nan)


def failure_probability(
    tables: GateTables, samples: int | float, *, regularizer: int | float = 0.0, gates: Chosen = None
) -> float:
    """Sum over i, p of Phi(-sqrt(m) signal / sd): a bound, up to the normal approximation, on P(some sign is wrong).

    `gates` selects the gates that count: those without influence need not (depth-separation).

    >>> from paritylab.distributions import Generative
    >>> from paritylab.targets import circuit_from_formula
    >>> from paritylab.circuits import gate_tables
    >>> circuit = circuit_from_formula("OR(x0,x1)")
    >>> round(failure_probability(gate_tables(circuit, Generative(circuit)), 20), 4)
    0.0683
    """
    return float(np.sum(ndtr(-math.sqrt(samples) * _ratios(tables, regularizer, gates))))


def predicted_samples(
    tables: GateTables, *, failure: int | float = 0.1, regularizer: int | float = 0.0, gates: Chosen = None
) -> float:
    """The smallest m at which `failure_probability` is at most `failure`; infinite where a signal has the wrong sign.

    >>> from paritylab import GateProduct
    >>> from paritylab.distributions import equal_gates, separation
    >>> from paritylab.circuits import gate_tables
    >>> target = GateProduct(("OR", "AND", "OR", "AND", "OR", "AND", "OR", "AND", "OR"))
    >>> predicted_samples(gate_tables(target, separation(equal_gates(target))))
    208.0
    """
    if not 0 < failure < 1:
        raise ValueError(f"A sign test fails with a probability 0 < failure < 1, got failure={failure}.")
    return smallest_sample(_ratios(tables, regularizer, gates), failure)


def _ratios(tables: GateTables, regularizer: int | float, gates: Chosen) -> Float[np.ndarray, " signs"]:
    """`signal_to_noise` at the patterns that occur, of the gates that count."""
    ratios = signal_to_noise(tables, regularizer)
    ratios = ratios if gates is None else ratios[gates]
    return ratios[~np.isnan(ratios)]


def smallest_sample(ratios: Float[np.ndarray, "*signs"], failure: int | float = 0.1) -> float:
    """The smallest m with sum of Phi(-sqrt(m) ratio) <= failure, for signals that are `ratio` times their noise.

    >>> smallest_sample(np.array([0.1, 0.2]), 0.1)
    171.0
    """
    ratios = np.asarray(ratios, float).ravel()
    if not np.all(ratios > 0):
        return math.inf
    ratios = ratios[np.isfinite(ratios)]  # without noise the sign is never wrong
    weakest = float(ratios.min(initial=math.inf))
    excess = lambda root: float(np.sum(ndtr(-root * ratios))) - failure
    if excess(0.0) <= 0:
        return 1.0
    enough = 40 / weakest  # Phi(-40) is 0 in float64
    samples = brentq(excess, 0.0, enough, xtol=1e-13 * enough, rtol=1e-14) ** 2
    return float(math.ceil(samples)) if samples < 2**53 else float(samples)
