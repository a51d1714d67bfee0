"""Many skills in one task: how they are drawn for each run, and the loss of each."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, PRNGKeyArray

from ....distributions import Encoded, zipf_tasks
from ....networks.base import outputs
from ....targets import random_multitask_parity
from ....training import AbstractRecord
from ....training.rules.records import RECORD_STREAM, Snapshot


class TaskLosses(AbstractRecord):
    """The mean loss on fresh points of each task in turn, of the run's own supports; of every task or of some."""

    tasks: tuple[int, ...] = eqx.field(static=True)
    points: int = eqx.field(static=True)
    name = "task_losses"

    def __call__(self, snapshot: Snapshot) -> Array:
        key = jr.fold_in(jr.fold_in(snapshot.data_key, RECORD_STREAM), snapshot.step)
        whole: Any = snapshot.distribution
        loss = snapshot.rule.problem.fill(snapshot.leaves).loss

        def of(task: Array) -> Array:
            only = (jnp.arange(whole.base.target.tasks) == task).astype(jnp.float32)
            alone = eqx.tree_at(lambda given: given.base.weights, whole, only)
            x, y = alone.sample(jr.fold_in(key, task), self.points)
            values = outputs(snapshot.network, x.astype(snapshot.rule.dtype))
            return jnp.mean(jax.vmap(loss)(y.astype(snapshot.rule.dtype), values))

        return jax.lax.map(of, jnp.asarray(self.tasks))


@dataclass(frozen=True)
class Skills:
    """Random parities of k bits with Zipf frequencies, on points of zeros and ones."""

    bits: int
    tasks: int
    k: int
    alpha: float
    disjoint: bool

    def __call__(self, key: PRNGKeyArray) -> Encoded:
        drawn = random_multitask_parity(self.bits, self.tasks, self.k, disjoint=self.disjoint, key=key)
        return Encoded(zipf_tasks(drawn, self.alpha + 1), "bits")
