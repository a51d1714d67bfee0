"""Examples labelled by a trained network: what a student learns from."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..demands import echo
from ..distributions.base import AbstractDistribution, Examples, Support, check_distribution
from ..networks.base import Network, outputs


class Taught(AbstractDistribution):
    """The inputs of a distribution with a teacher's outputs as labels; validated on the distribution's own labels.

    The teacher is a trained network, such as `runs.network(0)` or, of a moment on its way, `runs.checkpoint(0, step)`.
    Its arrays are leaves: another teacher of the same shape compiles nothing new, and the phases of a curriculum may
    have one each.

    >>> import paritylab as pl
    >>> parity = pl.Uniform(pl.Parity(6, (0, 1)))
    >>> x, y = Taught(parity, pl.MLP(4)(6, key=pl.root_key(0))).sample(pl.root_key(1), 3)
    >>> y.shape
    (3,)
    """

    base: AbstractDistribution
    teacher: Network

    def __init__(self, base: AbstractDistribution, teacher: Network):
        check_distribution(base, "Taught")
        if not callable(teacher) or not any(map(eqx.is_inexact_array, jax.tree.leaves(teacher))):
            raise TypeError(f"A teacher is a network that was trained, such as runs.network(0), got {echo(teacher)}.")
        point = jax.ShapeDtypeStruct((base.n,), jnp.float32)
        try:
            shape = eqx.filter_eval_shape(lambda network, point: network(point), teacher, point).shape
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The teacher does not take the points of this task, which have n={base.n} coordinates."
            ) from error
        if shape:
            raise ValueError(f"A teacher gives one number for a point, and this one gives an array of shape {shape}.")
        self.base, self.teacher = base, teacher

    @property
    def n(self) -> int:
        return self.base.n

    def _labels(self, x: Any) -> Any:
        dtype = next(leaf.dtype for leaf in jax.tree.leaves(self.teacher) if eqx.is_inexact_array(leaf))
        return jax.lax.stop_gradient(outputs(self.teacher, x.astype(dtype))).astype(x.dtype)

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        x, _ = self.base.sample(key, batch)
        return x, self._labels(x)

    def support(self) -> Support:
        x, _, probability = self.base.support()
        return x, self._labels(x), probability

    def clean(self) -> AbstractDistribution:
        return self.base.clean()
