"""Pattern tables: the probabilities and signals of a gate's four input patterns, on which its training depends.

For every gate and every pattern p of its two inputs the table holds P(p) and the signal E[y 1{p}]. They
come from a recursion over the tree where the distribution allows one, from closed forms for products of
gates, from the support where it can be enumerated, or, by `sampled_tables` alone, from a sample.
"""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..cube import cube
from ..distributions import AbstractDistribution, EasyHalf, FlippedLabels, Generative, Mixture, Points, Product, Uniform
from ..distributions.gate_outputs import IndependentOutputs
from ..distributions.generative import uniform_patterns
from ..targets import GateProduct, TreeCircuit
from ..targets.gates import PATTERNS, by_pattern
from .gate_training import Four as Four

GateTarget = TreeCircuit | GateProduct
PerPoint = Float[np.ndarray, " points"]

LARGEST_ENUMERATED = 20
SAMPLE_BATCH = 2**14
SUM_BLOCK = 2**12


@dataclasses.dataclass(frozen=True)
class GateTables:
    """Probabilities and signals of all gates; patterns are in the order of `cube(2)`, gates in that of their target."""

    names: tuple[str, ...]
    gates: Four
    """The gate's own output at each pattern."""
    probability: Four
    """P(p)"""
    signal: Four
    """E[y 1{p}]"""
    label_mean: float
    """E[y]"""
    route: str
    samples: int | None = None
    """The number of examples averaged over; None where the tables are exact."""

    @property
    def mean(self) -> Float[np.ndarray, " gates"]:
        """E of each gate's output."""
        return np.sum(self.gates * self.probability, axis=1)

    @property
    def correlation(self) -> Float[np.ndarray, " gates"]:
        """c = E[y * output] of each gate (boolean-circuits, Section 3)."""
        return np.sum(self.gates * self.signal, axis=1)

    @property
    def input_mean(self) -> Float[np.ndarray, "gates 2"]:
        """E of both inputs of each gate."""
        return self.probability @ PATTERNS

    @property
    def input_correlation(self) -> Float[np.ndarray, "gates 2"]:
        """E[y * input] of both inputs of each gate."""
        return self.signal @ PATTERNS


def gate_tables(target: GateTarget, distribution: AbstractDistribution) -> GateTables:
    """The tables of every gate of a circuit or product of gates, exactly.

    By recursion over the tree for uniform, product and generative distributions of the circuit, by the
    closed forms of the distribution of outputs for easy halves, at any size; else over the support, where it
    has at most 2**20 points. Tables are linear, so mixtures and flipped labels follow from their parts.

    >>> from paritylab.targets import circuit_from_formula
    >>> circuit = circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")
    >>> gate_tables(circuit, Generative(circuit)).correlation.round(4).tolist()
    [1.0, 0.6667, 0.6667]
    """
    _check_dimension(target, distribution)
    if isinstance(distribution, Mixture):
        parts = [gate_tables(target, part) for part in distribution.parts]
        return _mixed(parts, np.asarray(distribution.weights, float))
    if isinstance(distribution, FlippedLabels):
        tables, kept = gate_tables(target, distribution.base), 1 - 2 * float(distribution.probability)
        return dataclasses.replace(tables, signal=kept * tables.signal, label_mean=kept * tables.label_mean)
    if isinstance(distribution, Uniform | Product | Generative | EasyHalf) and _same(target, distribution.target):
        if isinstance(target, TreeCircuit):
            if isinstance(distribution, Generative):
                return _generative(target)
            if isinstance(distribution, Uniform | Product):
                return _product(target, distribution.mean if isinstance(distribution, Product) else np.zeros(target.n))
        if isinstance(target, GateProduct):
            if isinstance(distribution, Uniform):
                distribution = EasyHalf(target, IndependentOutputs(np.asarray(target.ors, float) / 2))
            if isinstance(distribution, EasyHalf):
                return _closed_form(target, distribution)
    return enumerated_tables(target, distribution)


def enumerated_tables(target: GateTarget, distribution: AbstractDistribution) -> GateTables:
    """The same by summing over every point of the support: any distribution that has one, n <= 20.

    >>> from paritylab.targets import parity_circuit
    >>> circuit = parity_circuit(4, (0, 1))
    >>> enumerated_tables(circuit, Product(circuit, 0.5)).correlation.tolist()
    [1.0, 1.0, 0.25]
    """
    _check_dimension(target, distribution)
    if distribution.n > LARGEST_ENUMERATED and not isinstance(distribution, Points):
        gibibytes = 8 * distribution.n * 2.0**distribution.n / 2**30
        raise ValueError(
            f"The support of a distribution on n={distribution.n} coordinates would need {gibibytes:.3g} GiB; it is "
            f"enumerated for n <= {LARGEST_ENUMERATED}. Use `sampled_tables`, or a distribution whose own target "
            "is this one (product, generative, easy halves), which `gate_tables` knows at any size."
        )
    x, y, probability = _support(distribution)
    return _averaged(target, x, y, probability, "enumeration")


def sampled_tables(
    target: GateTarget, distribution: AbstractDistribution, size: int, *, key: PRNGKeyArray
) -> GateTables:
    """The tables of a sample of `size` examples, for distributions of any kind and size.

    `correlation_intervals` gives their confidence intervals.

    >>> from paritylab import root_key
    >>> from paritylab.targets import circuit_from_formula
    >>> circuit = circuit_from_formula("OR(x0,x1)")
    >>> sampled_tables(circuit, Generative(circuit), 1000, key=root_key(0)).samples
    1000
    """
    _check_dimension(target, distribution)
    if size < 1:
        raise ValueError(f"A sample needs at least one example, got size={size}.")
    parts, weights = [], []
    for number, start in enumerate(range(0, size, SAMPLE_BATCH)):
        batch = min(SAMPLE_BATCH, size - start)
        x, y = _drawn(distribution, jr.fold_in(key, number), batch)
        equal = np.full(batch, 1 / batch)
        parts.append(_averaged(target, x, np.asarray(y, float), equal, "sample"))
        weights.append(batch / size)
    return dataclasses.replace(_mixed(parts, np.array(weights)), samples=size)


def nested_signals(
    target: GateProduct, distribution: AbstractDistribution, sizes: Sequence[int], *, key: PRNGKeyArray
) -> Float[np.ndarray, "sizes gates 4"]:
    """The mean of y 1{p} over the first so many examples of one sample, for each of several sizes; products of gates.

    One program for all sizes and for all distributions of one type: blocks of examples are drawn, and sums of
    signs, which float32 holds exactly, are added up in float64.

    >>> from paritylab import root_key
    >>> target = GateProduct(("OR", "AND"))
    >>> nested_signals(target, Uniform(target), (4, 100), key=root_key(0)).shape
    (2, 2, 4)
    """
    _check_dimension(target, distribution)
    if not len(sizes) or min(sizes) < 1:
        raise ValueError(f"Samples need at least one example each, got sizes={tuple(sizes)}.")
    total = np.zeros((len(sizes), 1 + 3 * target.pairs))
    for number, start in enumerate(range(0, max(sizes), SUM_BLOCK)):
        inside = np.clip(np.asarray(sizes) - start, 0, SUM_BLOCK).astype(np.int32)
        total += np.asarray(_label_sums(distribution, jr.fold_in(key, number), inside), float)
    moments = total / np.asarray(sizes, float)[:, None]
    parts = moments[:, 1:].reshape(len(sizes), 3, target.pairs)[..., None]
    characters = np.stack([*PATTERNS.T, PATTERNS[:, 0] * PATTERNS[:, 1]])
    return (moments[:, :1, None] + np.sum(parts * characters[:, None, :], axis=1)) / 4


@eqx.filter_jit
def _label_sums(
    distribution: AbstractDistribution, key: PRNGKeyArray, inside: Int[Array | np.ndarray, " sizes"]
) -> Float[Array, "sizes moments"]:
    """The sums of y, y x_i, y z_i and y x_i z_i over the first so many examples of a block."""
    x, y = distribution.sample(key, SUM_BLOCK)
    first, second = jnp.split(x, 2, axis=1)
    features = jnp.concatenate([jnp.ones_like(y)[:, None], first, second, first * second], axis=1)
    taken = jnp.arange(SUM_BLOCK, dtype=jnp.int32)[None] < jnp.asarray(inside)[:, None]
    return jnp.matmul(jnp.where(taken, y[None], 0.0), features, precision="highest")


def _check_dimension(target: GateTarget, distribution: AbstractDistribution) -> None:
    if target.n != distribution.n:
        raise ValueError(
            f"The target has n={target.n} inputs and the distribution n={distribution.n}. Give both the same number."
        )


def _same(target: GateTarget, other: object) -> bool:
    return isinstance(other, type(target)) and np.array_equal(np.asarray(target.tables), np.asarray(other.tables))


def _names(target: GateTarget) -> tuple[str, ...]:
    if isinstance(target, GateProduct):
        return tuple(f"gate {i} ({gate})" for i, gate in enumerate(target.gates))
    places = [(level, j) for level in range(target.depth) for j in range(2**level)]
    return tuple(f"gate ({i}, {j}) ({gate})" for (i, j), gate in zip(places, target.gates, strict=True))


def _tables(target: GateTarget, probability: Four, signal: Four, label_mean: float, route: str) -> GateTables:
    gates = np.asarray(by_pattern(np.asarray(target.tables, float)))
    return GateTables(_names(target), gates, probability, signal, label_mean, route)


def _mixed(parts: list[GateTables], weights: Float[np.ndarray, " parts"]) -> GateTables:
    mean = lambda name: sum(weight * getattr(part, name) for weight, part in zip(weights, parts, strict=True))
    probability, signal, label_mean = mean("probability"), mean("signal"), float(mean("label_mean"))
    route = " and ".join(dict.fromkeys(part.route for part in parts))
    return dataclasses.replace(parts[0], probability=probability, signal=signal, label_mean=label_mean, route=route)


def _product(circuit: TreeCircuit, mean: Float[Array | np.ndarray, " n"]) -> GateTables:
    """Independent inputs. Means go up the tree; E[y | node = v] = level + slope * v comes down it, since y depends on
    what is below a gate only through its output, and the other input of the gate above is independent."""
    means = circuit.gate_means(np.asarray(mean, float))
    gates = np.asarray(by_pattern(np.asarray(circuit.tables, float)))
    probability, signal = np.zeros_like(gates), np.zeros_like(gates)
    level, slope = np.zeros(1), np.ones(1)
    for i in range(circuit.depth):
        here = slice(2**i - 1, 2 ** (i + 1) - 1)
        inputs = means[i + 1].reshape(-1, 2)
        chance = (1 + PATTERNS[:, 0] * inputs[:, :1]) * (1 + PATTERNS[:, 1] * inputs[:, 1:]) / 4
        expected = level[:, None] + slope[:, None] * gates[here]
        probability[here], signal[here] = chance, chance * expected
        # Given one input, average over the other: a line through its two values.
        chances = (1 + PATTERNS * inputs[:, None, :]) / 2
        weighted = expected[:, :, None] * chances[:, :, ::-1] / 2
        level, slope = weighted.sum(axis=1).ravel(), np.sum(weighted * PATTERNS, axis=1).ravel()
    return _tables(circuit, probability, signal, float(means[0][0]), "recursion")


def _generative(circuit: TreeCircuit) -> GateTables:
    """Patterns are uniform given the output of their gate: P(p) = P(p | output) (1 + output * mean) / 2, and the
    signal likewise from c; the inputs' own means and c are those of the next level (boolean-circuits, Lemma 8)."""
    gates = np.asarray(by_pattern(np.asarray(circuit.tables, float)))
    given = np.asarray(uniform_patterns(gates))
    probability, signal = np.zeros_like(gates), np.zeros_like(gates)
    mean, correlation = np.zeros(1), np.ones(1)
    for i in range(circuit.depth):
        here = slice(2**i - 1, 2 ** (i + 1) - 1)
        probability[here] = given[here] * (1 + gates[here] * mean[:, None]) / 2
        signal[here] = given[here] * gates[here] * correlation[:, None] / 2
        mean, correlation = (probability[here] @ PATTERNS).ravel(), (signal[here] @ PATTERNS).ravel()
    return _tables(circuit, probability, signal, 0.0, "recursion")


def _closed_form(target: GateProduct, half: EasyHalf) -> GateTables:
    """E[y 1{p}] = P(p | output) (E[y] + g(p) c) / 2, since patterns depend on y only through their gate's output
    (depth-separation)."""
    gates = np.asarray(by_pattern(np.asarray(target.tables, float)))
    given, moments = np.asarray(half.patterns, float), half.outputs.moments()
    probability = given * (1 + gates * moments.mean[:, None]) / 2
    signal = given * (moments.label_mean + gates * moments.correlation[:, None]) / 2
    return _tables(target, probability, signal, moments.label_mean, "closed form")


def _averaged(
    target: GateTarget, x: Float[Array, "points n"], y: PerPoint, weights: PerPoint, route: str
) -> GateTables:
    """Tables of examples with weights."""
    points = np.asarray(x)
    if not np.all(np.abs(points) == 1):
        raise ValueError(
            f"Gates read points of -1 and +1, got a coordinate {float(points[np.abs(points) != 1][0]):.3g}. "
            "Use the distribution without its encoding or shift."
        )
    if isinstance(target, TreeCircuit):
        levels = [np.asarray(level) < 0 for level in _nodes(target, x)[1:]]
        patterns = [level[:, 0::2] + 2 * level[:, 1::2] for level in levels]
    else:
        bits = points < 0
        patterns = [bits[:, : target.pairs] + 2 * bits[:, target.pairs :]]
    labelled = weights * y
    sums = [
        [np.stack([vector @ (pattern == p) for p in range(4)], axis=1) for pattern in patterns]
        for vector in (weights, labelled)
    ]
    probability, signal = (np.concatenate(part) for part in sums)
    return _tables(target, probability, signal, float(labelled.sum()), route)


_drawn = eqx.filter_jit(lambda distribution, key, batch: distribution.sample(key, batch))
_nodes = eqx.filter_jit(lambda circuit, x: jax.vmap(circuit.gate_outputs)(x))
_chances = eqx.filter_jit(lambda distribution, x: jax.vmap(distribution.probability)(x))


def _support(distribution: AbstractDistribution) -> tuple[Float[Array, "points n"], PerPoint, PerPoint]:
    """Every example with its probability in float64."""
    if isinstance(distribution, Uniform | Product | Generative | EasyHalf):
        x = cube(distribution.n)
        y = np.asarray(jax.jit(jax.vmap(distribution.target))(x), float)
        if isinstance(distribution, Generative | EasyHalf):
            with jax.enable_x64(True):
                return x, y, np.asarray(_chances(distribution, jnp.asarray(x, jnp.float64)), float)
        mean = np.asarray(distribution.mean, float) if isinstance(distribution, Product) else np.zeros(distribution.n)
        return x, y, np.prod((1 + mean * np.asarray(x)) / 2, axis=1)
    x, labels, rounded = distribution.support()
    probability = np.asarray(rounded, float)
    return x, np.asarray(labels, float), probability / probability.sum()
