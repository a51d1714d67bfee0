"""Correlations and influences of gates, and an audit of the properties 1 to 3 under which layerwise gradient descent
recovers a circuit (boolean-circuits, Theorem 4)."""

import dataclasses
import math
from typing import Literal

import numpy as np
from jaxtyping import Float

from ..demands import check_kind
from ..distributions import AbstractDistribution, EasyHalf, Mixture, Uniform
from ..distributions.gate_halves import Family
from ..distributions.gate_outputs import IndependentOutputs
from ..statistics import wilson_interval
from ..targets import GateProduct, TreeCircuit
from ..targets.gates import apply_gates, by_pattern
from .sign_test import predicted_samples
from .tables import GateTables, GateTarget, gate_tables

ROUNDING = 1e-9
"""Differences of float64 sums below this count as none."""
HOPELESS = 1e12
"""Sample sizes above this are infeasible."""


def node_correlations(circuit: TreeCircuit, tables: GateTables) -> tuple[Float[np.ndarray, " _"], ...]:
    """c_ij = E[y * node (i, j)] for every node: entry i holds level i, the last one the inputs.

    >>> from paritylab import Product
    >>> from paritylab.targets import circuit_from_formula
    >>> circuit = circuit_from_formula("XNOR(x0,x1)")
    >>> [level.tolist() for level in node_correlations(circuit, gate_tables(circuit, Product(circuit, [0.5, 0.25])))]
    [[1.0], [0.25, 0.5]]
    """
    levels = [tables.correlation[2**i - 1 : 2 ** (i + 1) - 1] for i in range(circuit.depth)]
    return (*levels, tables.input_correlation[circuit.n // 2 - 1 :].ravel())


def influences(circuit: TreeCircuit) -> tuple[Float[np.ndarray, " _"], ...]:
    """I_ij = P[the label changes with node (i, j)] where level i is uniform, for every node, exactly.

    (boolean-circuits, Section 3, with the map from level i to the label in place of the printed one.) Uniform
    values at level i give means to the nodes above it; a change passes a gate when the gate's other input
    lets it.

    >>> from paritylab.targets import circuit_from_formula
    >>> [level.tolist() for level in influences(circuit_from_formula("OR(AND(x0,x1),AND(x2,x3))"))]
    [[1.0], [0.5, 0.5], [0.375, 0.375, 0.375, 0.375]]
    """
    tables = np.asarray(circuit.tables, float)
    found = [np.ones(1)]
    for level in range(1, circuit.depth + 1):
        means = [np.zeros(2**level)]
        for above in reversed(range(level)):
            here = tables[2**above - 1 : 2 ** (above + 1) - 1]
            means.append(np.asarray(apply_gates(here, means[-1][0::2], means[-1][1::2])))
        passes = np.ones(1)
        for above in range(level):
            here = tables[2**above - 1 : 2 ** (above + 1) - 1]
            inputs = means[level - 1 - above]
            # Whether the output changes with the first input is a function of the second, and the reverse.
            by_second = np.abs(here[:, 0, :] - here[:, 1, :]) / 2
            by_first = np.abs(here[:, :, 0] - here[:, :, 1]) / 2
            chance = lambda mean, changes: (1 + mean) / 2 * changes[:, 0] + (1 - mean) / 2 * changes[:, 1]
            through = np.stack([chance(inputs[1::2], by_second), chance(inputs[0::2], by_first)], axis=1)
            passes = (passes[:, None] * through).ravel()
        found.append(passes)
    return tuple(found)


def correlation_intervals(tables: GateTables, confidence: float = 0.95) -> Float[np.ndarray, "gates 2"]:
    """Wilson's interval of each sampled correlation: y times a gate's output is a sign.

    >>> from paritylab import root_key
    >>> from paritylab.distributions import Generative
    >>> from paritylab.targets import circuit_from_formula
    >>> from paritylab.circuits import sampled_tables
    >>> circuit = circuit_from_formula("OR(AND(x0,x1),AND(x2,x3))")
    >>> tables = sampled_tables(circuit, Generative(circuit), 1000, key=root_key(0))
    >>> low, high = correlation_intervals(tables)[1]
    >>> bool(low < 2 / 3 < high)
    True
    """
    if tables.samples is None:
        return np.repeat(tables.correlation[:, None], 2, axis=1)
    agreeing = np.rint((1 + tables.correlation) / 2 * tables.samples).astype(int)
    bounds = [wilson_interval(int(count), tables.samples, confidence) for count in agreeing]
    return 2 * np.array(bounds) - 1


def label_gap(tables: GateTables) -> Float[np.ndarray, " gates"]:
    """The violation of property 2 at each gate: the largest |E[y | p] - E[y | q]| over patterns p, q of one output,
    less what rounding, or five standard errors of a sample, explain; at most 0 where the pattern is independent of
    the label given the output (boolean-circuits, Property 2).

    >>> from paritylab.distributions import Generative
    >>> from paritylab.targets import circuit_from_formula
    >>> circuit = circuit_from_formula("OR(AND(x0,x1),AND(x2,x3))")
    >>> bool(np.all(label_gap(gate_tables(circuit, Generative(circuit))) <= 0))
    True
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(tables.probability > 0, tables.signal / tables.probability, np.nan)
    gap = np.abs(expected[:, :, None] - expected[:, None, :])
    if tables.samples is not None:
        chance = 1 / np.maximum(tables.probability, 1 / tables.samples) / tables.samples
        gap = gap - 5 * np.sqrt(chance[:, :, None] + chance[:, None, :])
    alike = tables.gates[:, :, None] == tables.gates[:, None, :]
    return np.max(np.where(alike & ~np.isnan(gap), gap, -np.inf), axis=(1, 2)) - ROUNDING


@dataclasses.dataclass(frozen=True)
class Audit:
    """Local correlation of a target under a distribution, gate by gate."""

    tables: GateTables
    influence: Float[np.ndarray, " gates"]
    slack: float
    """Delta: the least |c| - |E[y]| over gates that influence the label, all that the proof of Theorem 4 needs."""
    slack_with_inputs: float
    """The same over inputs too, as the paper's assumption is printed; for products of gates the same as `slack`."""
    least_probability: float
    """epsilon: the least probability of a pattern that occurs (property 3)."""
    property_1: bool
    property_2: bool
    samples: float
    """The sample size that the sign test predicts."""
    weakest: int
    """The gate with the least slack."""

    @property
    def correlation(self) -> Float[np.ndarray, " gates"]:
        """c of each gate."""
        return self.tables.correlation

    @property
    def verdict(self) -> str:
        """The audit in words."""
        name, label = self.tables.names[self.weakest], abs(self.tables.label_mean)
        c = float(self.correlation[self.weakest])
        if not self.property_1:
            if self.slack > 0:
                return "Property 1 fails: a gate without influence depends on the label. Make it constant."
            return (
                f"Local correlation fails at {name}: |c| = {abs(c):.3g} is not above |E[y]| = {label:.3g}, "
                "so layerwise gradient descent cannot distinguish this gate from the frequency of the labels."
            )
        independent = (
            "patterns are independent of the label given their gate"
            if self.property_2
            else "but patterns are not independent of the label given their gate (property 2 fails)"
        )
        in_name = " in name only," if HOPELESS < self.samples < math.inf else ""
        needed = "no sample is large enough" if math.isinf(self.samples) else f"about {self.samples:.4g} examples are"
        enough = "" if math.isinf(self.samples) else " enough"
        return (
            f"Local correlation holds{in_name} with Delta = {self.slack:.3g}; the weakest is {name} with c = {c:.3g}; "
            f"{independent}; a pattern that occurs has probability at least {self.least_probability:.3g}; "
            f"by the sign test {needed}{enough}."
        )


def audit(
    target: GateTarget,
    distribution: AbstractDistribution | GateTables,
    *,
    failure: float = 0.1,
    regularizer: int | float = 0.0,
) -> Audit:
    """Properties 1 to 3 of boolean-circuits (Section 4), Delta, epsilon and the sign test's sample size.

    Tables of a sample may be given in place of a distribution.

    >>> from paritylab import Uniform
    >>> from paritylab.targets import circuit_from_formula, parity_circuit
    >>> circuit = parity_circuit(4, (0, 1, 2))
    >>> audit(circuit, Uniform(circuit)).verdict.split(":")[0]
    'Local correlation fails at gate (1, 0) (XNOR)'
    """
    check_kind("target", target, (TreeCircuit, GateProduct), "a circuit or a product of gates")
    tables = distribution if isinstance(distribution, GateTables) else gate_tables(target, distribution)
    if isinstance(target, TreeCircuit):
        levels = influences(target)
        influence, inputs = np.concatenate(levels[:-1]), tables.input_correlation[target.n // 2 - 1 :].ravel()
        of_inputs = np.abs(inputs[levels[-1] > 0])
    else:
        influence, of_inputs = np.ones(target.pairs), np.zeros(0)
    # A constant node carries no information and need not be learned: a wrong sign of it is undone above.
    matters, label = (influence > 0) & (np.abs(tables.mean) < 1 - ROUNDING), abs(tables.label_mean)
    if not matters.any():
        raise ValueError("The label is constant under this distribution, so there is nothing to correlate with.")
    strength = np.where(matters, np.abs(tables.correlation), np.inf)
    weakest = int(np.argmax(strength <= strength.min() * (1 + 1e-12)))  # the first of those alike but for rounding
    slack = float(strength[weakest]) - label
    if abs(slack) <= 1e-12 * (1.0 if "enumeration" in tables.route else label):  # rounding of a sum, or of a product
        slack = 0.0
    dependence = np.abs(tables.correlation - tables.mean * tables.label_mean)
    allowed = ROUNDING if tables.samples is None else 5 / math.sqrt(tables.samples)
    return Audit(
        tables,
        influence,
        slack,
        min(slack, float(of_inputs.min(initial=math.inf)) - label),
        float(np.min(tables.probability[tables.probability > 0])),
        slack > 0 and bool(np.all(dependence[~matters] <= allowed)),
        bool(np.all(label_gap(tables)[matters] <= 0)),
        predicted_samples(tables, failure=failure, regularizer=regularizer, gates=matters),
        weakest,
    )


def reveals_gates(family: Family, target: GateProduct) -> Literal["single pairs", "two pairs", "no"]:
    """Whether unlabelled inputs reveal which gate is OR and which AND, and whether single pairs suffice.

    The distribution of the inputs is compared with that of the target with one gate exchanged, for every gate:
    first of single pairs, then of two pairs. (Where gates are independent nothing more could differ.)

    >>> from paritylab.distributions import equal_gates, sparse_pairs, stealth
    >>> target = GateProduct(("OR", "AND", "OR"))
    >>> [reveals_gates(f, target) for f in (equal_gates, stealth, lambda target: sparse_pairs(target, 0.5))]
    ['single pairs', 'two pairs', 'no']
    """
    easy, signs, together = family(target), np.asarray(target.ors, float), False
    single = gate_tables(target, easy).probability
    for i in range(target.pairs):
        exchanged = GateProduct(np.where(np.arange(target.pairs) == i, -signs, signs))
        other = family(exchanged)
        if np.max(np.abs(gate_tables(exchanged, other).probability - single)) > ROUNDING:
            return "single pairs"
        together = together or bool(np.max(np.abs(_two_pairs(easy, i) - _two_pairs(other, i))) > ROUNDING)
    return "two pairs" if together else "no"


def _two_pairs(distribution: AbstractDistribution, i: int) -> Float[np.ndarray, "pairs 4 4"]:
    """P(pair i shows p and pair j shows q) at [j, p, q], for all j but i."""
    if isinstance(distribution, Mixture):
        parts = zip(np.asarray(distribution.weights, float), distribution.parts, strict=True)
        return np.asarray(sum(weight * _two_pairs(part, i) for weight, part in parts))
    if isinstance(distribution, Uniform) and isinstance(distribution.target, GateProduct):
        target = distribution.target
        distribution = EasyHalf(target, IndependentOutputs(np.asarray(target.ors, float) / 2))
    if not isinstance(distribution, EasyHalf):
        raise ValueError(
            f"What inputs reveal is known for easy halves, the uniform half and mixtures of them, got "
            f"{type(distribution).__name__}. Write it as an `EasyHalf`."
        )
    moments, given = distribution.outputs.moments(), np.asarray(distribution.patterns, float)
    gates = np.asarray(by_pattern(np.asarray(distribution.target.tables, float)))
    first, second = gates[i][None, :, None], gates[:, None, :]
    mean, products = moments.mean, moments.products[i]
    outputs = (1 + first * mean[i] + second * mean[:, None, None] + first * second * products[:, None, None]) / 4
    joint = given[i][None, :, None] * given[:, None, :] * outputs
    return np.delete(joint, i, axis=0)
