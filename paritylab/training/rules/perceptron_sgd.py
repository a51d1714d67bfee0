"""Batch one on a finite sample with a hinge: examples whose margin holds change nothing, so they are jumped over.

Plain SGD in batches of one looks at the examples one after the other. Under a `Confidence` loss it moves only
at those with y * output <= beta. `PerceptronSGD` evaluates a block of coming examples at the current weights, all at
once, and goes to the first of them that asks for an update: the same sequence of updates in fewer rounds. The
runs of all lanes jump on their own and wait for each other only at the end of a round of whole epochs.

The order of the sample is that of ordinary training with the same seeds: a fresh one each epoch.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray, PyTree

from ...networks.base import outputs
from .base import AbstractRoundRule
from .gradient_descent import ORDER_STREAM, GradientDescent, TrainingState
from .leaves import Leaves, split
from .optimizers import Optimizer, constant
from .outcomes import Outcome
from .shuffle import shuffled
from .validation import Validation


class JumpState(NamedTuple):
    arrays: Leaves
    optimizer: optax.OptState
    updates: Int[Array, ""]
    """How many examples have asked for an update so far."""
    quiet: Bool[Array, ""]
    """Whether none did in the last round of whole epochs: then none ever will."""


class Rest(NamedTuple):
    """Statistics of a run: it ends when it comes to rest. Nothing is validated."""

    examination: Validation
    quiet: Bool[Array, ""]


class Pass(NamedTuple):
    """What a lane trains on in one round: the sample, the order of its places, and the leaves of the run."""

    x: Float[Array, "*lanes sample n"]
    y: Float[Array, "*lanes sample"]
    order: Int[Array, "*lanes places"]
    own: Leaves


@dataclasses.dataclass(frozen=True)
class PerceptronSGD(GradientDescent, AbstractRoundRule):
    """SGD of batch one on a finite sample with a `Confidence` loss, by jumps."""

    @property
    def levels(self) -> int:  # type: ignore[override]
        return 1

    def init(self, key: PRNGKeyArray, leaves: Leaves) -> Any:
        started = super().init(key, leaves)
        return JumpState(started.arrays, started.optimizer, jnp.zeros((), jnp.int32), jnp.array(False))

    def step(self, state: Any, key: PRNGKeyArray, count: Int[Array, ""], leaves: Leaves) -> Any:
        """One example, whether it asks for an update or not; what a round of jumps must be equal to."""
        stepped = super().step(TrainingState(state.arrays, state.optimizer), key, count, leaves)
        return JumpState(stepped.arrays, stepped.optimizer, state.updates, state.quiet)

    def round(
        self,
        state: Any,
        key: Key[Array, " lanes"],
        first: Int[Array, " lanes"],
        on: Bool[Array, " lanes"],
        every: int,
        own: Leaves,
        whole: Callable[[Leaves], Leaves],
    ) -> Any:
        """Whole epochs of every lane, each at its own pace."""
        passes = jax.vmap(lambda key, first, own: self._pass(key, first, every, own, whole))(key, first, own)
        jump = lambda at, state, one: self._jump(at, state, one, every, whole)

        def body(loop: tuple[Array, Any]) -> tuple[Array, Any]:
            return jax.vmap(jump)(*loop, passes)

        begun = (jnp.where(on, 0, every).astype(jnp.int32), state._replace(arrays=jax.vmap(_turned)(state.arrays)))
        _, ended = jax.lax.while_loop(lambda loop: jnp.any(loop[0] < every), body, begun)
        return ended._replace(arrays=jax.vmap(_turned)(ended.arrays), quiet=ended.updates == state.updates)

    def _pass(
        self, key: PRNGKeyArray, first: Int[Array, ""], every: int, own: Leaves, whole: Callable[[Leaves], Leaves]
    ) -> Pass:
        """The sample and its orders in the epochs of this round."""
        size = self.sample
        assert size is not None
        distribution = self.problem.fill(whole(own)).distribution
        x, y = self._examples(distribution, key, jnp.arange(size, dtype=jnp.int32))
        stream, places = jr.fold_in(key, ORDER_STREAM), jnp.arange(size, dtype=jnp.int32)
        epochs = first // size + jnp.arange(every // size, dtype=jnp.int32)
        order = jax.vmap(lambda epoch: jax.vmap(lambda place: shuffled(stream, epoch, place, size))(places))(epochs)
        # Blocks may look beyond the end; what they see there is not asked.
        return Pass(x, y, jnp.pad(order.reshape(-1), (0, self._block)), own)

    @property
    def _block(self) -> int:
        block = self.problem.fill((0,) * self.problem.count).loss.block
        assert block is not None
        return int(block)

    def _jump(
        self, at: Int[Array, ""], state: Any, one: Pass, every: int, whole: Callable[[Leaves], Leaves]
    ) -> tuple[Int[Array, ""], Any]:
        """From place `at` behind the next example that asks for an update, or behind the block."""
        problem, block = self.problem.fill(whole(one.own)), self._block
        ahead = jnp.arange(block, dtype=jnp.int32)
        index = jax.lax.dynamic_slice(one.order, (at,), (block,))
        x, y = one.x[index].astype(self.dtype), one.y[index].astype(self.dtype)
        params, rest = self._partition(state.arrays)
        at_points = lambda params, x: outputs(_turned(eqx.combine(params, rest)), x)
        margins = y * at_points(params, x)
        asks = ~(margins > problem.loss.beta) & (at + ahead < every)
        place, found = jnp.argmax(asks).astype(jnp.int32), jnp.any(asks)
        # The first that asks, picked by a sum: quicker in lanes than an index. Without one the gradient is 0. A block
        # of one example is taken as it is, so that the compiler sees one forward pass where two are written.
        first = ahead == place
        point = x[0] if block == 1 else jnp.sum(jnp.where(first[:, None], x, 0), axis=0)
        label = jnp.where(found, jnp.sum(jnp.where(first, y, 0)), 0)
        grads = jax.grad(lambda params: -label * at_points(params, point[None])[0])(params)
        params, optimizer = problem.optimizer.update(grads, state.optimizer, params, at)
        arrays, _ = split(eqx.combine(params, rest))
        updates = state.updates + found.astype(jnp.int32)
        return at + jnp.where(found, place + 1, block), JumpState(arrays, optimizer, updates, state.quiet)

    def memory(self, leaves: Leaves) -> Any:
        return ()

    def measure(self, state: Any, memory: Any, leaves: Leaves, level: int) -> tuple[Any, Any]:
        finite = jnp.array([jnp.all(jnp.isfinite(array)) for array in state.arrays])
        nothing = jnp.zeros((), jnp.int32)
        return Rest(Validation(nothing, nothing, jnp.all(finite)), state.quiet), memory

    def ended(self, statistics: Any) -> Int[Array, ""]:
        rested = jnp.where(statistics.quiet, Outcome.SETTLED.value, Outcome.RUNNING.value)
        return jnp.where(statistics.examination.finite, rested, Outcome.DIVERGED.value).astype(jnp.int8)


def _turned(tree: PyTree) -> PyTree:
    """The same with all matrices transposed. They lie so inside a round: a product with one point is quicker then."""
    return jax.tree.map(lambda leaf: leaf.T if eqx.is_array(leaf) and leaf.ndim == 2 else leaf, tree)


def check_perceptron_sgd(optimizer: Optimizer, batch: int, sample: int | None, every: int) -> None:
    """Jumps need examples that change nothing, one at a time, and rounds of whole epochs."""
    if batch != 1 or sample is None:
        raise ValueError(
            f"Jumps to the next violation go one example at a time through a finite sample, got batch={batch} and "
            f"sample={sample}. Use batch=1 and a sample, or `Confidence` without a block."
        )
    if optimizer.rule is not optax.sgd or optimizer.decay or optimizer.schedule is not constant:
        raise ValueError(
            "Jumps need plain SGD at a constant rate without decay, where an example whose margin holds changes "
            f"nothing, got {optimizer.rule.__name__}. Use `Confidence` without a block."
        )
    if every % sample:
        raise ValueError(
            f"Jumps are validated after whole epochs, got every={every} with sample={sample}. "
            f"Use, for example, every={max(1, round(every / sample)) * sample}."
        )
