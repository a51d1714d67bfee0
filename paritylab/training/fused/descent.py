"""Gradient descent by a fused kernel, as a rule: a block of rounds is one launch."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt32

from ...distributions.inputs import Uniform
from ...distributions.wrappers import FlippedLabels
from ...targets.polynomials import Polynomial
from ..rules.base import AbstractBlockRule
from ..rules.gradient_descent import GradientDescent, TrainingState
from ..rules.leaves import Leaves
from ..rules.losses import ChosenLoss, Hinge
from ..rules.optimizers import spread
from ..rules.outcomes import Outcome
from ..rules.validation import SECOND_LEVEL, Validation, Witnesses, points_of_validation
from .coverage import inputs_of, number_of_loss
from .frames import TARGET
from .kernels import WITNESSES, Face, Kernel
from .launching import prepared


@dataclasses.dataclass(frozen=True)
class FusedDescent(GradientDescent, AbstractBlockRule):
    """`GradientDescent` whose blocks a kernel takes: the same draws, sums in another order.

    The kernel validates on a run's witnesses and, where all runs have the same, on the points of the batch. Where it
    does not know all of them, a run that passes is validated once more by the general engine, whose word counts.
    """

    face: Face = dataclasses.field(kw_only=True)
    kernel: Kernel | None = dataclasses.field(kw_only=True)
    """None in a compiled program, which is told at each call which one to start."""

    @classmethod
    def by(cls, rule: GradientDescent, kernel: Kernel) -> "FusedDescent":
        fields = {field.name: getattr(rule, field.name) for field in dataclasses.fields(GradientDescent)}
        return cls(**fields, face=kernel.face, kernel=kernel)

    @property
    def form(self) -> "FusedDescent":
        """Batches of all sizes have one: only the kernel sees them."""
        return dataclasses.replace(self, batch=1, kernel=None)

    def prepared(self, lanes: int, rounds: int, every: int) -> UInt32[np.ndarray, "2"]:
        assert self.kernel is not None
        return prepared(self.kernel, lanes, rounds, every)

    @property
    def levels_taken(self) -> int:  # type: ignore[override]
        if self.validated_here:
            return self.levels
        return min(2 if self.face.points >= SECOND_LEVEL else 1, self.levels - 1)

    @property
    def validated_here(self) -> bool:
        """Whether the kernel tries the whole validation batch."""
        return 0 < self.validation == self.face.points

    def block(
        self,
        state: TrainingState,
        memory: Witnesses,
        key: Key[Array, " lanes"],
        step: Int[Array, " lanes"],
        limit: Int[Array, " lanes"],
        on: Bool[Array, " lanes"],
        kernel: UInt32[Array, "2"],
        own: Leaves,
        whole: Callable[[Leaves], Leaves],
    ) -> tuple[TrainingState, Witnesses, Int[Array, " lanes"], Int[Array, " lanes"], Validation]:
        face, lanes = self.face, len(step)
        problems = jax.vmap(lambda one: self._numbers(whole(one)))(own)
        trained, others = state.arrays[: len(face.arrays)], state.arrays[len(face.arrays) :]
        nothing = jnp.full(lanes, Outcome.RUNNING.value, jnp.int32)
        # In the order of `Kernel.parameters`; what a kernel changes comes first. Its number comes last.
        changed = (*trained, step, nothing, packed(memory.x), memory.y)
        given = (
            limit,
            on,
            jr.key_data(key),
            *problems,
            self._points(tuple(leaf[0] for leaf in own), whole),
            *others,
            kernel,
        )
        launch = jax.ffi.ffi_call(
            TARGET,
            [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in changed],
            input_output_aliases={i: i for i in range(len(changed))},
        )
        *arrays, step, outcome, witnesses, labels = launch(*changed, *given)
        seen = Validation(
            jnp.where(outcome == Outcome.LEARNED.value, 0, 1).astype(jnp.int32),
            jnp.full(lanes, self.validation if self.validated_here else WITNESSES, jnp.int32),
            outcome != Outcome.DIVERGED.value,
        )
        memory = Witnesses(unpacked(witnesses, face.n), labels)
        return TrainingState((*arrays, *others), state.optimizer), memory, step, outcome.astype(jnp.int8), seen

    def _numbers(self, leaves: Leaves) -> tuple[Float[Array, " numbers"], Array, Float[Array, " up"]]:
        """Of one run: rates, decays, margin, flips and loss; its target; how often each coordinate is up."""
        problem = self.problem.fill(leaves)
        optimizer, distribution = problem.optimizer, problem.distribution
        params, _ = self._partition(tuple(jnp.zeros((), jnp.float32) for _ in range(self.network.count)))
        rates = jax.tree.leaves(spread(optimizer.rate, params))[: len(self.face.arrays)]
        shrinks: list[Any] = [0.0] * len(rates)
        if optimizer.decay:
            factors = {"loss": [2 * rate for rate in rates], "decoupled": [1.0] * len(rates), "rate": rates}
            decays = jax.tree.leaves(spread(optimizer.decay, params))[: len(rates)]
            shrinks = [decay * by for decay, by in zip(decays, factors[optimizer.convention], strict=True)]
        losses = problem.loss.losses if isinstance(problem.loss, ChosenLoss) else (problem.loss,)
        margin = next((loss.margin for loss in losses if isinstance(loss, Hinge)), 0.0)
        which = problem.loss.which if isinstance(problem.loss, ChosenLoss) else 0
        loss = jnp.array([number_of_loss(each) for each in losses])[which]
        flips = distribution.probability if isinstance(distribution, FlippedLabels) else 0.0
        numbers = jnp.stack([jnp.asarray(each, jnp.float32) for each in (*rates, *shrinks, margin, flips, loss)])
        inputs = inputs_of(distribution)
        assert inputs is not None
        target: Any = inputs.target
        if self.face.terms:
            values = _words_of_terms(target.polynomial)
        else:
            values = _words(jnp.asarray(target.mask)) if self.face.parity else jnp.asarray(target.values, jnp.float32)
        up = jnp.zeros(0) if isinstance(inputs, Uniform) else (1 + jnp.asarray(inputs.mean, jnp.float32)) / 2
        return numbers, values, up

    def _points(self, own: Leaves, whole: Callable[[Leaves], Leaves]) -> UInt32[Array, "points words"]:
        """The first validation points, which are the same for all runs if inputs are uniform."""
        if not self.face.points:
            return jnp.zeros((0, self.face.words), jnp.uint32)
        clean = self.problem.fill(whole(own)).distribution.clean()
        assert isinstance(clean, Uniform)
        return packed(points_of_validation(clean.sample, self.face.points)[0][: self.face.points])


def _words_of_terms(polynomial: Polynomial) -> UInt32[Array, " words"]:
    """Of each term its mask, and the bits of its coefficient."""
    masks, coefficients = jnp.asarray(polynomial.masks), jnp.asarray(polynomial.coefficients, jnp.float32)
    bits = jax.lax.bitcast_convert_type(coefficients, jnp.uint32)
    return jnp.concatenate([_words(masks), bits[:, None]], axis=1).reshape(-1)


def packed(x: Float[Array, "*points n"]) -> UInt32[Array, "*points words"]:
    """Points as bits: bit j is 1 where coordinate j is -1."""
    return _words(x < 0)


def unpacked(words: UInt32[Array, "*points words"], n: int) -> Float[Array, "*points n"]:
    """The points of such bits."""
    bits = (words[..., None] >> _places(words.ndim)) & 1
    return (1 - 2 * bits.astype(jnp.int32)).astype(jnp.float32).reshape(*words.shape[:-1], -1)[..., :n]


def _words(bits: Bool[Array, "*points n"]) -> UInt32[Array, "*points words"]:
    padded = jnp.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, -bits.shape[-1] % 32)])
    by_word = padded.reshape(*bits.shape[:-1], -1, 32).astype(jnp.uint32)
    return jnp.sum(by_word << _places(bits.ndim), axis=-1, dtype=jnp.uint32)


def _places(after: int) -> UInt32[Array, "..."]:
    """The places of the bits of a word, on an axis after so many others."""
    return jnp.arange(32, dtype=jnp.uint32).reshape((1,) * after + (32,))
