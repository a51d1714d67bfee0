"""Algorithm 1 of boolean-circuits: gates are trained level by level, each level on the outputs of the one below.

Once a level is trained its gates give signs, and all that the next level needs to know of the examples is again
a table of patterns: counted over a sample (or over every point with its weight), or computed exactly for laws
under which what is below a node depends on the rest through that node alone.
"""

import abc
import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Array, Bool, Float

from ..networks.gates import GateLevel, GateNetwork, first_levels
from ..targets import TreeCircuit
from ..targets.gates import PATTERNS, by_pattern
from .gates import Four, Method, Towards, TrainedGates, drift, train_gates
from .lanes import init_key

NEVER = 1e-12
"""A pattern whose probability is below this does not occur: float64 sums of weights are that exact."""


class AbstractPatterns(abc.ABC):
    """What the gates of one level see: the patterns of their inputs, and the label."""

    @property
    @abc.abstractmethod
    def gates(self) -> int:
        """How many gates the level has."""

    @abc.abstractmethod
    def tables(self) -> tuple[Four, Four]:
        """P(p) and E[y 1{p}] of each gate and pattern."""

    @abc.abstractmethod
    def above(self, outputs: Four) -> "AbstractPatterns":
        """What the next level sees where these gates give these signs."""


@dataclasses.dataclass(frozen=True, eq=False)
class SamplePatterns(AbstractPatterns):
    """Patterns counted over examples: a sample, or with `mass` every point of a support and its probability.

    >>> from paritylab.cube import cube
    >>> x = np.asarray(cube(2))
    >>> [table.tolist() for table in SamplePatterns(x, x[:, 0] * x[:, 1]).tables()]
    [[[0.25, 0.25, 0.25, 0.25]], [[0.25, -0.25, -0.25, 0.25]]]
    """

    x: Float[np.ndarray | Array, "points inputs"]
    y: Float[np.ndarray | Array, " points"]
    mass: Float[np.ndarray, " points"] | None = None

    def __post_init__(self) -> None:
        points, inputs = self.x.shape
        if points < 1 or (inputs % 2 and inputs != 1) or len(self.y) != points:  # one is the output of the last gate
            raise ValueError(
                f"Patterns need points of an even number of signs and one label each, got x {self.x.shape} "
                f"and y {self.y.shape}."
            )

    @property
    def gates(self) -> int:
        return self.x.shape[1] // 2

    def tables(self) -> tuple[Four, Four]:
        """From six moments of each gate: E[x1], E[x2], E[x1 x2], and the same times y."""
        points = len(self.y)
        exact = np.float32 if self.mass is None and points < 2**24 else float  # sums of so many signs are exact
        x = np.asarray(self.x, exact)
        labelled = np.stack([np.ones(points), np.asarray(self.y, float)])
        weights = (labelled if self.mass is None else labelled * self.mass).astype(exact)
        first, second = x[:, 0::2], x[:, 1::2]
        moments = [np.asarray(weights @ each, float) for each in (first, second, first * second)]
        total = weights.astype(float).sum(axis=1)[:, None]
        scale = total[0, 0]
        found = [
            (total + p * moments[0] + q * moments[1] + p * q * moments[2]) / (4 * scale) for p, q in PATTERNS.tolist()
        ]
        probability, signal = np.stack(found, axis=-1)
        return probability, signal

    def above(self, outputs: Four) -> "SamplePatterns":
        """By each gate's polynomial in its two inputs, which is exact for signs and faster than looking up."""
        x = np.asarray(self.x)
        first, second = x[:, 0::2], x[:, 1::2]
        characters = np.stack([np.ones(4), *PATTERNS.T, PATTERNS[:, 0] * PATTERNS[:, 1]], axis=1)
        constant, of_first, of_second, of_both = (outputs @ characters / 4).T.astype(x.dtype)
        values = constant + of_second * second + first * (of_first + of_both * second)
        return SamplePatterns(values, self.y, self.mass)


@dataclasses.dataclass(frozen=True, eq=False)
class TreePatterns(AbstractPatterns):
    """Exact patterns under a law for which inputs below a node meet the rest of the circuit in that node alone.

    Product distributions and the generative one are such laws, mixtures are not. `probability` and `signal` are
    the tables of the true gates, as `analysis.gate_tables` gives them. Every node keeps the probability of what
    was learned there given its true value (its `channel`), so that also circuits that were learned wrong are
    followed exactly, at any depth.

    >>> from paritylab import circuit_from_formula
    >>> circuit = circuit_from_formula("AND(x0,x1)")
    >>> chance, signal = np.full((1, 4), 0.25), np.array([[0.25, -0.25, -0.25, -0.25]])
    >>> wrong = TreePatterns(circuit, chance, signal).above(np.array([[1.0, 1.0, 1.0, -1.0]]))
    >>> wrong.mistakes.tolist()  # OR in the place of AND
    [0.5]
    """

    circuit: TreeCircuit
    probability: Four
    signal: Four
    channel: Float[np.ndarray, "nodes 2 2"] | None = None
    """P(learned value | true value) at [node, true, learned], 0 for +1 and 1 for -1; at first the inputs are known."""

    @property
    def nodes(self) -> int:
        return self.circuit.n if self.channel is None else len(self.channel)

    @property
    def gates(self) -> int:
        return self.nodes // 2

    def _here(self) -> slice:
        return slice(self.gates - 1, 2 * self.gates - 1)

    def _seen(self, table: Four) -> Four:
        """A table of true patterns as one of learned patterns; the two inputs are told apart independently."""
        if self.channel is None:
            return table
        squares = table.reshape(-1, 2, 2)  # the second input is the higher bit
        seen = np.einsum("gdc,gca,gdb->gba", squares, self.channel[0::2], self.channel[1::2])
        return seen.reshape(-1, 4)

    def tables(self) -> tuple[Four, Four]:
        return self._seen(self.probability[self._here()]), self._seen(self.signal[self._here()])

    def above(self, outputs: Four) -> "TreePatterns":
        truth = np.asarray(by_pattern(np.asarray(self.circuit.tables, float)))[self._here()]
        chance = self.probability[self._here()]
        channel = np.zeros((self.gates, 2, 2))
        for value, sign in enumerate((1.0, -1.0)):
            seen = self._seen(np.where(truth == sign, chance, 0.0))
            total = np.maximum(seen.sum(axis=1), np.finfo(float).tiny)
            for learned, output in enumerate((1.0, -1.0)):
                channel[:, value, learned] = np.sum(np.where(outputs == output, seen, 0.0), axis=1) / total
        return dataclasses.replace(self, channel=channel)

    @property
    def _wrong(self) -> Float[np.ndarray, "nodes 2"]:
        """P(learned differs) and P(learned agrees) of each node: the second is wrong up to its sign."""
        if self.channel is None:
            return np.zeros((self.circuit.n, 2))
        here = slice(self.nodes - 1, 2 * self.nodes - 1)
        truth = np.asarray(by_pattern(np.asarray(self.circuit.tables, float)))[here]
        up = np.sum(np.where(truth > 0, self.probability[here], 0), axis=1)
        differs = up * self.channel[:, 0, 1] + (1 - up) * self.channel[:, 1, 0]
        agrees = up * self.channel[:, 0, 0] + (1 - up) * self.channel[:, 1, 1]
        return np.stack([differs, agrees], axis=1)

    @property
    def mistakes(self) -> Float[np.ndarray, " nodes"]:
        """P(what was learned differs from the true value) at each node of the level that is known by now."""
        return self._wrong[:, 0]

    @property
    def recovered(self) -> Bool[np.ndarray, " nodes"]:
        """Whether each node of that level gives its true value, or always its negative."""
        return np.min(self._wrong, axis=1) <= NEVER


def _tables(outputs: Four) -> Float[np.ndarray, "gates 2 2"]:
    """Outputs by pattern as the tables that circuits are made of."""
    return outputs.reshape(-1, 2, 2).swapaxes(-1, -2)


@dataclasses.dataclass(frozen=True, eq=False)
class LearnedCircuit:
    """What Algorithm 1 made of one run's examples; levels from the inputs up."""

    trained: tuple[TrainedGates, ...]
    occurs: tuple[Bool[np.ndarray, "_ 4"], ...]
    """Which patterns the gates of each level saw."""

    @property
    def network(self) -> GateNetwork:
        """The trained network."""
        return GateNetwork(tuple(each.level for each in self.trained))

    @property
    def circuit(self) -> TreeCircuit:
        """The signs of the gates' outputs as a circuit; where `saturated`, this is the network itself."""
        tables = [_tables(_signs(each.outputs)) for each in reversed(self.trained)]
        return TreeCircuit(2 * len(self.trained[0].outputs), np.concatenate(tables))

    @property
    def saturated(self) -> bool:
        """Whether every gate gave signs at all patterns that it saw, as the reduction to tables needs."""
        return all(
            bool(np.all(np.abs(each.outputs[occurs]) == 1))
            for each, occurs in zip(self.trained, self.occurs, strict=True)
        )

    @property
    def steps(self) -> tuple[float, ...]:
        """The steps after which no gate of a level changed its output any more, level by level from the inputs up."""
        return tuple(
            float(np.max(each.saturated_at[occurs], initial=0.0))
            for each, occurs in zip(self.trained, self.occurs, strict=True)
        )


def learn_circuits(
    patterns: Sequence[AbstractPatterns],
    *,
    width: int,
    regularizer: int | float | Sequence[float],
    towards: Towards = -1,
    seeds: Sequence[int] | None = None,
    rate: float | None = None,
    steps: int | None = None,
    scale: int | float | None = None,
    method: Method = "jump",
) -> list[LearnedCircuit]:
    """Algorithm 1 of boolean-circuits on what each run sees of its examples; runs of one size are trained together.

    `regularizer` is lambda, E[y] + Delta / 4 in the theorems, of all runs or of each. `rate` is that of a gate's
    own loss, `steps` are those of each level (until nothing moves if not given). A seed gives the first weights that
    it gives in `train`. A gate that does not saturate at a
    pattern hands on the sign of its output there; `LearnedCircuit.saturated` says whether that ever happened.

    >>> from paritylab import circuit_from_formula
    >>> from paritylab.analysis import gate_tables
    >>> from paritylab import Generative
    >>> circuit = circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")
    >>> tables = gate_tables(circuit, Generative(circuit))
    >>> (learned,) = learn_circuits(
    ...     [TreePatterns(circuit, tables.probability, tables.signal)], width=20, regularizer=1 / 6
    ... )
    >>> learned.circuit.formula, learned.saturated
    ('OR(AND(x0,x1),NAND(x2,x3))', True)
    """
    sizes = {each.gates for each in patterns}
    if len(sizes) != 1:
        raise ValueError(f"Runs that are trained together need circuits of one size, got {sorted(sizes)} gates below.")
    runs = len(patterns)
    weights = np.broadcast_to(np.asarray(regularizer, float), (runs,))
    seeds = range(runs) if seeds is None else seeds
    if len(seeds) != runs:
        raise ValueError(f"There are {runs} runs and {len(seeds)} seeds; give one seed a run.")
    (lowest,) = sizes
    starts = [first_levels(2 * lowest, width, scale, key=init_key(np.uint32(seed))) for seed in seeds]
    trained: list[list[TrainedGates]] = [[] for _ in range(runs)]
    occurs: list[list[Bool[np.ndarray, "gates 4"]]] = [[] for _ in range(runs)]
    now = list(patterns)
    for height in range(lowest.bit_length()):
        gates = lowest >> height
        tables = [each.tables() for each in now]
        drifts = [drift(*table, weight, towards) for table, weight in zip(tables, weights, strict=True)]
        whole = train_gates(
            _together([levels[height] for levels in starts]),
            np.concatenate(drifts),
            rate=rate,
            steps=steps,
            method=method,
        )
        for run in range(runs):
            mine = _part(whole, slice(run * gates, (run + 1) * gates))
            trained[run].append(mine)
            occurs[run].append(tables[run][0] > NEVER)
            now[run] = now[run].above(_signs(mine.outputs)) if gates > 1 else now[run]
    return [LearnedCircuit(tuple(t), tuple(o)) for t, o in zip(trained, occurs, strict=True)]


def follow(
    patterns: TreePatterns, circuit: TreeCircuit
) -> tuple[Float[np.ndarray, " gates"], Bool[np.ndarray, " gates"]]:
    """P(learned differs from true) and whether it was recovered up to its sign, for every gate in a circuit's order.

    The first entry is the error of the whole, exactly.

    >>> from paritylab import Product, circuit_from_formula
    >>> from paritylab.analysis import gate_tables
    >>> circuit = circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")
    >>> tables = gate_tables(circuit, Product(circuit, 0.0))
    >>> negated = circuit_from_formula("IMPLIES(NAND(x0,x1),NAND(x2,x3))")  # both give the same label
    >>> mistakes, recovered = follow(TreePatterns(circuit, tables.probability, tables.signal), negated)
    >>> mistakes.tolist(), recovered.tolist()
    ([0.0, 1.0, 0.0], [True, True, True])
    """
    learned = np.asarray(by_pattern(np.asarray(circuit.tables, float)))
    mistakes, recovered = [], []
    while patterns.gates:
        patterns = patterns.above(learned[patterns.gates - 1 : 2 * patterns.gates - 1])
        mistakes.append(patterns.mistakes)
        recovered.append(patterns.recovered)
    return np.concatenate(mistakes[::-1]), np.concatenate(recovered[::-1])


def _signs(outputs: Four) -> Four:
    return np.where(outputs >= 0, 1.0, -1.0)


def _together(levels: Sequence[GateLevel]) -> GateLevel:
    weights, signs = ([np.asarray(getattr(level, name)) for level in levels] for name in ("weights", "signs"))
    return GateLevel(np.concatenate(weights), np.concatenate(signs))


def _part(whole: TrainedGates, here: slice) -> TrainedGates:
    level = GateLevel(whole.level.weights[here], whole.level.signs[here])
    return TrainedGates(level, whole.outputs[here], whole.saturated_at[here])
