"""Algorithm 1 of boolean-circuits: gates are trained level by level, each level on the outputs of the one below."""

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Bool, Float

from ..networks.neural_gates import GateLevel, GateNetwork, first_levels
from ..targets import TreeCircuit
from ..targets.gates import by_pattern
from ..training.engine.lanes import init_key
from .gate_training import Four, Method, Towards, TrainedGates, drift, train_gates
from .patterns import NEVER, AbstractPatterns, TreePatterns


@dataclasses.dataclass(frozen=True, eq=False)
class LearnedCircuit:
    """The result of Algorithm 1 on the examples of one run; levels from the inputs up."""

    trained: tuple[TrainedGates, ...]
    occurs: tuple[Bool[np.ndarray, "_ 4"], ...]
    """The patterns that occurred at the gates of each level."""

    @property
    def network(self) -> GateNetwork:
        """The trained network."""
        return GateNetwork(tuple(each.level for each in self.trained))

    @property
    def circuit(self) -> TreeCircuit:
        """The signs of the gates' outputs as a circuit; where `saturated`, this is the network itself."""
        by_pattern = np.concatenate([_signs(each.outputs) for each in reversed(self.trained)])
        return TreeCircuit(2 * len(self.trained[0].outputs), by_pattern.reshape(-1, 2, 2).swapaxes(-1, -2))

    @property
    def saturated(self) -> bool:
        """Whether every gate saturated at all patterns that occurred, as the reduction to tables needs."""
        levels = zip(self.trained, self.occurs, strict=True)
        return all(bool(np.all(np.abs(each.outputs[occurs]) == 1)) for each, occurs in levels)

    @property
    def steps(self) -> tuple[float, ...]:
        """The steps after which no gate of a level changed its output any more, level by level from the inputs up."""
        levels = zip(self.trained, self.occurs, strict=True)
        return tuple(float(np.max(each.saturated_at[occurs], initial=0.0)) for each, occurs in levels)


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
    """Algorithm 1 of boolean-circuits on the patterns of each run; runs of one size are trained together.

    `regularizer` is lambda, E[y] + Delta / 4 in the theorems, of all runs or of each. `rate` is that of a gate's
    own loss, `steps` are those of each level (until convergence if not given). A seed gives the initial weights that
    it gives in `train`. Where a gate does not saturate the sign of its output is used (`LearnedCircuit.saturated`).

    >>> from paritylab.targets import circuit_from_formula
    >>> from paritylab.circuits import gate_tables
    >>> from paritylab.distributions import Generative
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
        level = jax.tree.map(lambda *each: np.concatenate(each), *(levels[height] for levels in starts))
        whole = train_gates(level, np.concatenate(drifts), rate=rate, steps=steps, method=method)
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

    >>> from paritylab import Product
    >>> from paritylab.targets import circuit_from_formula
    >>> from paritylab.circuits import gate_tables
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


def _part(whole: TrainedGates, here: slice) -> TrainedGates:
    level = GateLevel(whole.level.weights[here], whole.level.signs[here])
    return TrainedGates(level, whole.outputs[here], whole.saturated_at[here])
