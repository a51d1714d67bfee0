"""Many tasks in one distribution: control bits say which parity is asked for, some more often than others."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..cube import LARGEST_ENUMERATION, cube, random_signs
from ..demands import as_numbers, check_kind, check_number, check_whole, echo
from ..runtime import check_memory
from ..targets import MultitaskParity
from .base import AbstractDistribution, Examples, Support, check_draw


class WeightedTasks(AbstractDistribution):
    """Tasks drawn with these probabilities: one control bit at -1, that of the task, and uniform task bits.

    `alone(task)` is the distribution of one task. It has the same shape, so that one program serves all tasks.

    >>> target = MultitaskParity(bits=2, supports=[(0, 1), (1,)])
    >>> x, y, probability = WeightedTasks(target, [0.75, 0.25]).support()
    >>> x[0].tolist(), float(probability[0]), float(probability[-1])
    ([-1.0, 1.0, 1.0, 1.0], 0.1875, 0.0625)
    """

    target: MultitaskParity
    weights: Float[Array | np.ndarray, "*runs tasks"]

    def __init__(self, target: MultitaskParity, weights: Sequence[int | float] | Float[np.ndarray, " tasks"]):
        check_kind("target", target, MultitaskParity, "a multitask parity, such as MultitaskParity(3, [(0, 1), (2,)])")
        shares = as_numbers("weights", weights)
        if shares.shape != (target.tasks,) or not np.all(shares >= 0) or not abs(shares.sum() - 1) <= 1e-9:
            raise ValueError(
                f"`WeightedTasks` needs a weight >= 0 for each of {target.tasks} tasks, with sum 1, got "
                f"weights={echo(weights)}."
            )
        self.target, self.weights = target, shares

    @property
    def n(self) -> int:
        return self.target.n

    def alone(self, task: int) -> "WeightedTasks":
        """One task with probability 1, counted from 0."""
        check_whole("task", task, 0, self.target.tasks - 1)
        return WeightedTasks(self.target, np.eye(self.target.tasks)[task])

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        task_key, bit_key = jr.split(key)
        # The last bound is 1 whatever the sums are rounded to, and a task of weight 0 has two equal bounds.
        bounds = jnp.cumsum(jnp.asarray(self.weights, jnp.float32))
        bounds = jnp.where(bounds >= bounds[-1], 1.0, bounds)
        task = jnp.searchsorted(bounds, jr.uniform(task_key, (batch,), jnp.float32), side="right")
        x = self._points(task, random_signs(bit_key, batch, self.target.bits))
        return x, jax.vmap(self.target)(x)

    def _points(self, task: Array, bits: Array) -> Array:
        asked = task[:, None] == jnp.arange(self.target.tasks)[None]
        return jnp.concatenate([jnp.where(asked, -1.0, 1.0).astype(bits.dtype), bits], axis=1)

    def support(self) -> Support:
        tasks, bits = self.target.tasks, self.target.bits
        way_out = "Sample instead, or ask for fewer tasks or bits."
        if bits > LARGEST_ENUMERATION:
            raise ValueError(f"The points of {bits} task bits are enumerated up to {LARGEST_ENUMERATION}. {way_out}")
        check_memory(20 * self.n * tasks * 2**bits, f"The points of {tasks} tasks on {bits} bits", way_out)
        corner = cube(bits)
        x = self._points(jnp.repeat(jnp.arange(tasks), len(corner)), jnp.tile(corner, (tasks, 1)))
        probability = jnp.repeat(jnp.asarray(self.weights, x.dtype), len(corner)) / len(corner)
        return x, jax.vmap(self.target)(x), probability


def zipf_tasks(target: MultitaskParity, exponent: int | float) -> WeightedTasks:
    """Task i, counted from 1, has a probability proportional to i**-exponent (arXiv 2303.13506: exponent 1.4).

    >>> zipf_tasks(MultitaskParity(3, [(0,), (1,), (2,)]), 1.0).weights.round(4).tolist()
    [0.5455, 0.2727, 0.1818]
    """
    check_kind("target", target, MultitaskParity, "a multitask parity, such as MultitaskParity(3, [(0, 1), (2,)])")
    check_number("exponent", exponent)
    # By logarithms, so that no power overflows.
    logarithms = -float(exponent) * np.log(np.arange(1, target.tasks + 1))
    shares = np.exp(logarithms - logarithms.max())
    return WeightedTasks(target, shares / shares.sum())
