"""What to keep of a run on its way: statistics at multiples of a number of steps."""

import abc
import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from ...demands import check_kind, check_whole
from ...distributions import AbstractDistribution, Encoded, Mixture
from ...networks.base import outputs
from ...networks.mlp import FeedForward, OneNeuron
from .criteria import wrong
from .leaves import Leaves, split
from .validation import Validation

if TYPE_CHECKING:
    from .gradient_descent import GradientDescent

RECORD_STREAM = 4
LOG_BYTES = 2**26


class Snapshot(NamedTuple):
    """A run at one step, as a record sees it."""

    rule: "GradientDescent"
    state: Any
    step: Int[Array, ""]
    init_key: PRNGKeyArray
    data_key: PRNGKeyArray
    leaves: Leaves

    @property
    def network(self) -> Any:
        return self.rule.network_of(self.state)

    @property
    def first_network(self) -> Any:
        """The network before the first step: drawn again, which another program may round in another way."""
        first = self.rule.network_of(self.rule.init(self.init_key, self.leaves))
        return jax.tree.map(
            lambda then, now: jnp.where(self.step == 0, now, then) if eqx.is_array(then) else then, first, self.network
        )

    @property
    def distribution(self) -> AbstractDistribution:
        return self.rule.problem.fill(self.leaves).distribution

    def fresh(self, points: int) -> tuple[Float[Array, "points n"], Float[Array, "points *labels"]]:
        """Examples that no step has seen, other ones at every step, labels free of noise."""
        key = jr.fold_in(jr.fold_in(self.data_key, RECORD_STREAM), self.step)
        x, y = self.distribution.clean().sample(key, points)
        return x.astype(self.rule.dtype), y.astype(self.rule.dtype)


class AbstractRecord(eqx.Module):
    """A named statistic of a run at one step.

    Records are a static part of what is compiled, so that those with arrays are told apart by their values.
    """

    def _values(self) -> tuple[Any, ...]:
        leaves, shape = split(self)
        arrays = [np.asarray(leaf) for leaf in leaves]
        return shape, tuple((array.dtype.str, array.shape, array.tobytes()) for array in arrays)

    def __hash__(self) -> int:
        return hash(self._values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractRecord) and self._values() == other._values()

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The column it becomes."""

    @abc.abstractmethod
    def __call__(self, snapshot: Snapshot) -> Array:
        """The value, of any fixed shape."""


class FreshLoss(AbstractRecord):
    """The mean loss on examples that no step has seen."""

    points: int = eqx.field(static=True, default=1024)
    name = "fresh_loss"

    def __check_init__(self) -> None:
        check_whole("points", self.points, 1)

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.fresh(self.points)
        loss = snapshot.rule.problem.fill(snapshot.leaves).loss
        return jnp.mean(jax.vmap(loss)(y, outputs(snapshot.network, x)))


class FreshError(AbstractRecord):
    """The fraction of mistakes on examples that no step has seen."""

    points: int = eqx.field(static=True, default=1024)
    name = "fresh_error"

    def __check_init__(self) -> None:
        check_whole("points", self.points, 1)

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.fresh(self.points)
        return _error(snapshot.network, x, y)


class TopAccuracy(AbstractRecord):
    """The fraction of fresh examples whose class is among the `best` classes of a `ScoreNetwork`."""

    best: int = eqx.field(static=True, default=1)
    points: int = eqx.field(static=True, default=1024)

    def __check_init__(self) -> None:
        check_whole("best", self.best, 1)
        check_whole("points", self.points, 1)

    @property
    def name(self) -> str:
        return f"top_{self.best}"

    def __call__(self, snapshot: Snapshot) -> Array:
        x, _ = snapshot.fresh(self.points)
        logits = snapshot.network.logits(x.T)
        own = jnp.take_along_axis(logits, x[:, -1].astype(jnp.int32)[None], axis=0)
        return jnp.mean(jnp.sum(logits > own, axis=0) < self.best, dtype=jnp.float32)


class ClassBits(AbstractRecord):
    """What a `ScoreNetwork` tells of the class of fresh examples, in bits: log2(classes) less its log loss.

    A uniform guess gives 0; where classes are equally frequent no network gives more than the information that inputs
    have of them. With `deviation` it is the standard deviation over examples.
    """

    points: int = eqx.field(static=True, default=1024)
    deviation: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        check_whole("points", self.points, 1)

    @property
    def name(self) -> str:
        return "bits_deviation" if self.deviation else "bits"

    def __call__(self, snapshot: Snapshot) -> Array:
        x, _ = snapshot.fresh(self.points)
        probabilities = jax.nn.log_softmax(snapshot.network.logits(x.T), axis=0)
        own = jnp.take_along_axis(probabilities, x[:, -1].astype(jnp.int32)[None], axis=0)[0]
        bits = (own + jnp.log(len(probabilities))) / jnp.log(2)
        return jnp.std(bits) if self.deviation else jnp.mean(bits)


class ValidationError(AbstractRecord):
    """The fraction of mistakes on the whole validation batch."""

    name = "validation_error"

    def __call__(self, snapshot: Snapshot) -> Array:
        rule = snapshot.rule
        nothing = rule.memory(snapshot.leaves)
        seen, _ = rule.measure(snapshot.state, nothing, snapshot.leaves, rule.levels - 1)
        if rule.validation == 0 or not isinstance(seen, Validation):
            raise ValueError(
                "A `ValidationError` needs validation points, which there are none of here; use `FreshError`."
            )
        return seen.mistakes.astype(jnp.float32) / seen.points.astype(jnp.float32)


class SampleError(AbstractRecord):
    """The fraction of mistakes on the run's own finite sample: the training error."""

    name = "sample_error"

    def __call__(self, snapshot: Snapshot) -> Array:
        rule = snapshot.rule
        if rule.sample is None:
            raise ValueError("A `SampleError` needs a finite sample; train with sample=SIZE.")
        x, y = rule.whole_sample(snapshot.distribution, snapshot.data_key)
        return _error(snapshot.network, x, y)


class Weights(AbstractRecord):
    """The first-layer weights of chosen neurons."""

    neurons: tuple[int, ...] = eqx.field(static=True, default=(0,))
    name = "weights"

    def __check_init__(self) -> None:
        check_kind("neurons", self.neurons, tuple, "a tuple of neurons' numbers, such as (0, 1)")
        if not self.neurons:
            raise ValueError("`Weights` of no neuron would record nothing. Name at least one, such as (0,).")
        for neuron in self.neurons:
            check_whole("neurons", neuron, 0)

    def __call__(self, snapshot: Snapshot) -> Array:
        weights = first_weights(snapshot.network)
        if not all(0 <= neuron < len(weights) for neuron in self.neurons):
            raise ValueError(f"The first layer has neurons 0 to {len(weights) - 1}, got neurons={self.neurons}.")
        return weights[np.array(self.neurons)]


class Neurons(AbstractRecord):
    """The first-layer weights of chosen neurons, each with its bias last: what the neuron's exact gradient needs.

    For a `FeedForward` network or a `OneNeuron`; of others `Weights` are recorded.
    """

    neurons: tuple[int, ...] = eqx.field(static=True, default=(0,))
    name = "neurons"

    def __check_init__(self) -> None:
        Weights(self.neurons)

    def __call__(self, snapshot: Snapshot) -> Array:
        network = snapshot.network
        if not isinstance(network, FeedForward | OneNeuron):
            raise ValueError(f"`Neurons` have weights and a bias, got a {type(network).__name__}; use `Weights`.")
        layer = network.hidden if isinstance(network, OneNeuron) else network.hidden[0]
        biases = jnp.atleast_1d(layer.bias)[np.array(self.neurons)]
        return jnp.concatenate([Weights(self.neurons)(snapshot), biases[:, None]], axis=1)


class Progress(AbstractRecord):
    """max |w_t - w_0| over the first-layer weights: the progress measure of hidden-progress, Section 5."""

    name = "progress"

    def __call__(self, snapshot: Snapshot) -> Array:
        return jnp.max(jnp.abs(first_weights(snapshot.network) - first_weights(snapshot.first_network)))


class ErrorsByPart(AbstractRecord):
    """For each part of a mixture: the fraction of mistakes and the mean loss, on examples that no step has seen.

    A row a part. The examples are drawn and looked at some at a time.
    """

    points: int = eqx.field(static=True, default=8192)
    together: int = eqx.field(static=True, default=2048)
    name = "errors_by_part"

    def __check_init__(self) -> None:
        check_whole("points", self.points)
        check_whole("together", self.together)
        if self.together < 1 or self.points < 1 or self.points % self.together:
            raise ValueError(
                f"The points are looked at in equal lots, got points={self.points} and together={self.together}. Make "
                "the first a multiple of the second."
            )

    def __call__(self, snapshot: Snapshot) -> Array:
        distribution, network, rule = snapshot.distribution.clean(), snapshot.network, snapshot.rule
        encoding = distribution.encoding if isinstance(distribution, Encoded) else "signs"
        mixture = distribution.base if isinstance(distribution, Encoded) else distribution
        if not isinstance(mixture, Mixture):
            raise ValueError(f"`ErrorsByPart` is for mixtures, got {type(mixture).__name__}; use `FreshError`.")
        key = jr.fold_in(jr.fold_in(snapshot.data_key, RECORD_STREAM), snapshot.step)
        loss = rule.problem.fill(snapshot.leaves).loss

        def lot(part: int, key: PRNGKeyArray) -> Array:
            x, y = Encoded(mixture.parts[part], encoding).sample(key, self.together)
            values, y = outputs(network, x.astype(rule.dtype)), y.astype(rule.dtype)
            return jnp.stack([jnp.mean(~(values * y > 0), dtype=rule.dtype), jnp.mean(jax.vmap(loss)(y, values))])

        def whole(part: int) -> Array:
            keys = jr.split(jr.fold_in(key, part), self.points // self.together)
            return jnp.mean(jax.lax.map(lambda key: lot(part, key), keys), axis=0)

        return jnp.stack([whole(part) for part in range(len(mixture.parts))])


class LayerDrift(AbstractRecord):
    """How far a two-layer network has moved from its start: the quantities of learning-parities, Lemma 15.

    max over units of |w_i - w_i at the start|, of |b_i - b_i at the start|, and of |u_i|.
    """

    name = "layer_drift"

    def __call__(self, snapshot: Snapshot) -> Array:
        now, start = snapshot.network, snapshot.first_network
        moved = jnp.linalg.norm(now.hidden[0].weight - start.hidden[0].weight, axis=1)
        shifted = jnp.abs(now.hidden[0].bias - start.hidden[0].bias)
        return jnp.stack([jnp.max(moved), jnp.max(shifted), jnp.max(jnp.abs(now.output.weight))])


class Parameters(AbstractRecord):
    """All trained parameters of a network in one row, in the order of its arrays."""

    name = "parameters"

    def __call__(self, snapshot: Snapshot) -> Array:
        arrays = [leaf for leaf in jax.tree.leaves(snapshot.network) if eqx.is_inexact_array(leaf)]
        return jnp.concatenate([leaf.reshape(-1) for leaf in arrays])


class Updates(AbstractRecord):
    """How many examples have asked for an update so far, in training by jumps."""

    name = "updates"

    def __call__(self, snapshot: Snapshot) -> Array:
        if not hasattr(snapshot.state, "updates"):
            raise ValueError("Updates are counted in training by jumps alone; use a `Confidence` loss with a block.")
        return jnp.asarray(snapshot.state.updates)


def _error(network: PyTree, x: Float[Array, "points n"], y: Float[Array, "points *labels"]) -> Float[Array, ""]:
    return jnp.mean(wrong(y, outputs(network, x)), dtype=jnp.float32)


def first_weights(network: PyTree) -> Float[Array, "neurons n"]:
    """The weights of the layer that sees the input: the first array of at least one axis."""
    arrays = [leaf for leaf in jax.tree.leaves(network) if eqx.is_inexact_array(leaf) and leaf.ndim > 0]
    return jnp.atleast_2d(arrays[0])


@dataclasses.dataclass(frozen=True)
class RecordPlan:
    """Which records to keep, and every how many steps."""

    records: tuple[AbstractRecord, ...]
    every: int

    def values(
        self, rule: Any, state: Any, step: Array, init_key: PRNGKeyArray, data_key: PRNGKeyArray, leaves: Leaves
    ) -> dict[str, Array]:
        snapshot = Snapshot(rule, state, step, init_key, data_key, leaves)
        return {record.name: record(snapshot) for record in self.records}

    def capacity(self, values: PyTree, lanes: int) -> int:
        """Rows of the log on the device: as many as fit, within reason."""
        row = lanes * sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(values))
        return int(np.clip(LOG_BYTES // row, 32, 2048))
