"""Gradient descent on batches, as a rule: fresh examples at every step, or a finite sample in many passes."""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from ...cube import root_key
from ...distributions import AbstractDistribution
from ...distributions.base import Examples, shape_of_labels
from ...distributions.samples import curriculum_of, points_trained_on, size_of_sample, stratified_sample
from ...networks.base import Network, Recipe, outputs
from .base import AbstractRule
from .criteria import AbstractCriterion, LossBelow
from .leaves import Leaves, Shape, split
from .once import once_for_a_shape
from .optimizers import Optimizer
from .outcomes import Outcome
from .phases import PhaseProgress, chosen
from .shuffle import shuffled
from .traceable import traceable
from .validation import Draw, Judged, Validation, Witnesses, first_witnesses, validate, validation_levels

SAMPLE_STREAM, ORDER_STREAM = 2, 3


@once_for_a_shape
def network_made_by(recipe: Recipe, n: int) -> Network:
    """The network of a recipe, without its leaves."""
    return eqx.filter_eval_shape(recipe, n, key=root_key(0))


@once_for_a_shape
def _network_giving(recipe: Recipe, n: int, *labels: int) -> Shape[Network]:
    """The shape of a recipe's network, if that gives as many numbers for a point as that has labels."""
    made, point = network_made_by(recipe, n), jax.ShapeDtypeStruct((n,), jnp.float32)
    with traceable("This network"):
        shape = eqx.filter_eval_shape(lambda network, point: network(point), made, point).shape
    if shape == labels:
        return split(made)[1]
    if not labels:
        raise ValueError(
            f"A network gives one number for one point, and this one gives an array of shape {shape}: "
            'let it return a scalar (`"scalar"` as the output size of `eqx.nn.MLP`).'
        )
    raise ValueError(
        f"Each point of this task has labels of shape {labels}, and the network gives {shape or 'one number'}: "
        f"let it give as many, as `MLP(width, outputs={labels[0]})` does."
    )


labels_of = once_for_a_shape(shape_of_labels)


class Problem(eqx.Module):
    """All that a user names about a run."""

    distribution: AbstractDistribution
    network: Recipe
    loss: Any
    optimizer: Optimizer
    learned: AbstractCriterion | None = None


class TrainingState(NamedTuple):
    arrays: Leaves
    """The arrays of the network; those of floating point are trained."""
    optimizer: optax.OptState
    progress: PhaseProgress | None = None
    """How far a run has come in its curriculum, if it has one."""


@dataclasses.dataclass(frozen=True)
class GradientDescent(AbstractRule):
    """Gradient descent on batches, fresh ones or (with `sample`) from a finite sample drawn once per run."""

    problem: Shape[Problem]
    network: Shape[Network]
    batch: int
    validation: int
    sample: int | None
    float64: bool

    @classmethod
    def of(
        cls, problem: Problem, *, batch: int, validation: int, sample: int | None, float64: bool
    ) -> "GradientDescent":
        """The rule of a problem; the problem's leaves are replaced by those passed later."""
        distribution = problem.distribution
        network = _network_giving(problem.network, distribution.n, *labels_of(distribution))
        return cls(split(problem)[1], network, batch, validation, sample, float64)

    @property
    def levels(self) -> int:  # type: ignore[override]
        return len(validation_levels(self.validation))

    @property
    def judged_by_loss(self) -> bool:
        """Whether a low loss is what it means to have learned."""
        return isinstance(self.problem.fill((0.0,) * self.problem.count).learned, LossBelow)

    @property
    def dtype(self) -> Any:
        return jnp.float64 if self.float64 else jnp.float32

    def _cast(self, tree: PyTree) -> PyTree:
        """Draws are made in float32 whatever the precision, then cast."""
        return jax.tree.map(lambda leaf: leaf.astype(self.dtype) if eqx.is_inexact_array(leaf) else leaf, tree)

    def init(self, key: PRNGKeyArray, leaves: Leaves) -> TrainingState:
        problem = self.problem.fill(leaves)
        drawn, _ = split(problem.network(problem.distribution.n, key=key))
        arrays = self._cast(tuple(jnp.asarray(array) for array in drawn))
        params, _ = self._partition(arrays)
        progress = None if curriculum_of(problem.distribution) is None else PhaseProgress.first(self.dtype)
        return TrainingState(arrays, problem.optimizer.init(params), progress)

    def _partition(self, arrays: Leaves) -> tuple[PyTree, PyTree]:
        """The network's trainable arrays, and the rest of it."""
        return eqx.partition(self.network.fill(arrays), eqx.is_inexact_array)

    def step(self, state: TrainingState, key: PRNGKeyArray, count: Int[Array, ""], leaves: Leaves) -> TrainingState:
        problem, progress = self.problem.fill(leaves), state.progress
        params, rest = self._partition(state.arrays)
        if progress is None:
            x, y = self._batch(problem.distribution, key, count)
            grads = jax.grad(mean_loss)(params, rest, problem.loss, x, y)
        else:
            curriculum = curriculum_of(problem.distribution)
            assert curriculum is not None
            x, y = chosen(progress.phase, [self._batch(part, key, count) for part in curriculum.parts])
            loss, grads = jax.value_and_grad(mean_loss)(params, rest, problem.loss, x, y)
            progress = progress.after(curriculum, loss)
        params, optimizer = problem.optimizer.update(grads, state.optimizer, params, count)
        arrays, _ = split(eqx.combine(params, rest))
        return TrainingState(arrays, optimizer, progress)

    def _batch(self, distribution: AbstractDistribution, key: PRNGKeyArray, count: Int[Array, ""]) -> Examples:
        size = size_of_sample(distribution, self.sample)
        if size is None:
            examples = distribution.sample(jr.fold_in(key, count), self.batch)
        else:
            places = count * self.batch + jnp.arange(self.batch, dtype=jnp.int32)
            order = jr.fold_in(key, ORDER_STREAM)
            index = jax.vmap(lambda place: shuffled(order, place // size, place % size, size))(places)
            examples = self._examples(distribution, key, index)
        return self._cast(examples)

    def _examples(self, distribution: AbstractDistribution, key: PRNGKeyArray, index: Int[Array, " batch"]) -> Examples:
        """Members of the run's finite sample. Each is drawn anew from its own key: nothing is stored."""
        if (points := points_trained_on(distribution)) is not None:
            return points.examples(index)
        sample_key = jr.fold_in(key, SAMPLE_STREAM)
        if (strata := stratified_sample(distribution)) is not None:
            x, y = jax.vmap(lambda i: strata.member(jr.fold_in(sample_key, i), i))(index)
            return x, y
        x, y = jax.vmap(lambda i: distribution.sample(jr.fold_in(sample_key, i), 1))(index)
        return x[:, 0], y[:, 0]

    def whole_sample(self, distribution: AbstractDistribution, key: PRNGKeyArray) -> Examples:
        """All members of the run's finite sample."""
        return self._cast(self._examples(distribution, key, jnp.arange(self.sample, dtype=jnp.int32)))

    def network_of(self, state: Any) -> Network:
        """The network as a callable pytree."""
        return self.network.fill(state.arrays)

    def memory(self, leaves: Leaves) -> Witnesses:
        return first_witnesses(self._drawn_clean(leaves))

    def measure(
        self, state: TrainingState, memory: Witnesses, leaves: Leaves, level: int
    ) -> tuple[Validation, Witnesses]:
        """Mistakes on the validation batch, the same for all runs of a task; labels are free of noise here."""
        problem = self.problem.fill(leaves)
        judged = None if problem.learned is None else Judged(problem.learned, problem.loss)
        return validate(self.network_of(state), self._drawn_clean(leaves), memory, self.validation, level, judged)

    def _drawn_clean(self, leaves: Leaves) -> Draw:
        distribution = self.problem.fill(leaves).distribution.clean()
        return lambda key, size: self._cast(distribution.sample(key, size))

    def ended(self, statistics: Validation) -> Int[Array, ""]:
        enough = statistics.mistakes == 0 if statistics.met is None else statistics.met
        learned = jnp.where(enough, Outcome.LEARNED.value, Outcome.RUNNING.value)
        return jnp.where(statistics.finite, learned, Outcome.DIVERGED.value).astype(jnp.int8)


def mean_loss(
    params: PyTree, rest: PyTree, loss: Any, x: Float[Array, "batch n"], y: Float[Array, "batch *labels"]
) -> Float[Array, ""]:
    """The mean loss of a network, given as its trainable arrays and the rest, over a batch (and over its labels)."""
    network = eqx.combine(params, rest)
    return jnp.mean(jax.vmap(loss)(y, outputs(network, x)))
