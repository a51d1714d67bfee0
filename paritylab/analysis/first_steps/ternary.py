"""The network of learning-parities after its first step, exact at any n, as an initialization.

The first step of population gradient descent from the zero function is known in closed form (`first_step`).
A neuron's part of it depends on its weights through few numbers: how many of them are +1 and -1 in A,
how many are not 0 outside. So all cases fit into a table, and a network after its first step can be drawn
inside a compiled run, like any other initialization.

In the table the signs of the patterns of the bits in A are summed as integers before anything is
rounded. What cancels is exactly 0: outside weights and bias shift of every neuron that has a weight
of 0 in A, on the uniform half.
"""

import functools
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ...networks.activations import relu6
from ...networks.mlp import FeedForward, Layer
from ...networks.ternary import TernaryPairs
from .exact import LARGEST_DEGREE, given_sum


class StepTable(NamedTuple):
    """Correlations of a ReLU6 neuron with weights in {-1, 0, 1} with the parity of k bits, by the neuron's kind.

    The first axes are the number of weights outside A that are not 0, of +1s in A and of -1s in A.
    """

    inside: Float[np.ndarray, "active plus minus 3"]
    """sqrt(n) E[y x_j sigma'] for j in A with weight -1, 0, 1."""
    outside: Float[np.ndarray, "active plus minus"]
    """sqrt(n) E[y x_j sigma'] for j outside A with weight 1; with weight -1 it is the negative, with 0 it is 0."""
    bias: Float[np.ndarray, "active plus minus"]
    """E[y sigma']"""
    output: Float[np.ndarray, "active plus minus"]
    """E[y sigma]"""


@functools.lru_cache(maxsize=16)
def step_table(n: int, k: int, bias: float, leak: float = 0.5) -> StepTable:
    """The correlations of every kind of neuron, on D_A with the given share of equal bits.

    leak = 0 is the uniform half, 1 the half with equal bits, 1/2 the mixture of learning-parities.

    >>> table = step_table(7, 3, 1 / 24)
    >>> float(table.inside[3, 1, 1, 1].round(4)), float(table.outside[3, 1, 1]), float(table.bias[3, 1, 1])
    (0.25, 0.0, 0.0)
    """
    if not 1 <= k <= min(n, LARGEST_DEGREE) or k % 2 == 0:
        raise ValueError(f"The first step needs an odd k <= min(n, {LARGEST_DEGREE}), got k={k} and n={n}.")
    sums = [given_sum(n, active, bias, k + 1) for active in range(n - k + 1)]
    value, slope = np.stack([each.value for each in sums]), np.stack([each.slope for each in sums])
    # With one of the active weights taken out, if there is one.
    others = np.concatenate([np.zeros((1, slope.shape[1])), slope[:-1]])
    shape = (n - k + 1, k + 1, k + 1)
    table = StepTable(np.zeros((*shape, 3)), np.zeros(shape), np.zeros(shape), np.zeros(shape))
    for plus in range(k + 1):
        for minus in range(k + 1 - plus):
            label, relevant = _sums_by_total(k, plus, minus, leak)
            here = (slice(None), plus, minus)
            table.inside[here] = slope @ relevant
            table.outside[here] = (others[:, 2:] - others[:, :-2]) @ label[1:-1] / 2
            table.bias[here], table.output[here] = slope @ label, value @ label
    return table


def _sums_by_total(
    k: int, plus: int, minus: int, leak: float
) -> tuple[Float[np.ndarray, " totals"], Float[np.ndarray, "totals 3"]]:
    """E[y 1{total = s}] and E[y x_j 1{total = s}] by the weight of j, for s = -k - 1, ..., k + 1.

    The total is the sum of w_j x_j over A. Counts are integers until the last line.
    """
    weights = np.array([1] * plus + [-1] * minus + [0] * (k - plus - minus))
    member = {0: k - 1, 1: 0, -1: plus}  # some j of each weight that occurs
    found = []
    for patterns in (1 - 2 * ((np.arange(2**k)[:, None] >> np.arange(k)) & 1), np.array([[1] * k, [-1] * k])):
        y, total = np.prod(patterns, axis=1), patterns @ weights
        kinds = [patterns[:, member[w]] if w in weights else np.zeros_like(y) for w in (-1, 0, 1)]
        at = lambda signs, total=total: np.bincount(total + k + 1, signs, minlength=2 * k + 3) / len(total)
        found.append((at(y), np.stack([at(y * kind) for kind in kinds], axis=1)))
    (uniform, uniform_by_kind), (equal, equal_by_kind) = found
    return (1 - leak) * uniform + leak * equal, (1 - leak) * uniform_by_kind + leak * equal_by_kind


class AfterFirstStep(eqx.Module):
    """Recipe of the network of learning-parities, Theorem 3, after the exact first step on D_A.

    `width` is 2q: pairs of ReLU6 units with weights in {-1, 0, 1} (`TernaryPairs`), which one step
    of rate 1 and decay 1/2 of population gradient descent has moved. There is no output bias in the theorem:
    it is 0 here, and stays so if it is given no rate.

    >>> from paritylab import root_key
    >>> network = AfterFirstStep(20, support=(0, 1, 2))(101, key=root_key(0))
    >>> size = np.abs(np.asarray(network.hidden[0].weight)).mean(axis=0)
    >>> bool(size[:3].mean() > 1000 * size[3:].mean())
    True
    """

    width: int = eqx.field(static=True)
    support: tuple[int, ...] = eqx.field(static=True)

    @property
    def start(self) -> TernaryPairs:
        """The recipe of the same network before the step."""
        return TernaryPairs(self.width, len(self.support))

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward:
        network, k = self.start(n, key=key), len(self.support)
        weight, u = network.hidden[0].weight, network.output.weight
        table = step_table(n, k, 1 / (8 * k))
        member = np.isin(np.arange(n), self.support)
        inside = jnp.round(weight[:, member]).astype(jnp.int32)
        counted = (weight[:, ~member] != 0, inside == 1, inside == -1)  # as the table's first axes
        kinds = tuple(jnp.sum(each, axis=1, dtype=jnp.int32) for each in counted)
        numbers = lambda values: jnp.asarray(np.asarray(values, np.float32))
        relevant = jnp.take_along_axis(numbers(table.inside)[kinds], inside + 1, axis=1)
        moved = weight * numbers(table.outside)[kinds][:, None]
        moved = moved.at[:, np.flatnonzero(member)].set(relevant) * (u[:, None] * np.float32(n**-0.5))
        hidden = Layer(moved, network.hidden[0].bias + u * numbers(table.bias)[kinds])
        return FeedForward((hidden,), Layer(numbers(table.output)[kinds], network.output.bias), relu6)
