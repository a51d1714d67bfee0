"""Steps on the way as further coordinates: teacher forcing, and points where the network says them itself."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..demands import echo
from .base import AbstractDistribution, Examples, Support, check_distribution, shape_of_labels
from .random import RandomTask
from .wrappers import HeldOut


class WithChain(AbstractDistribution):
    """Points of several labels with all labels but the last as further coordinates, or with 0 in their place.

    A coordinate of 0 says that a step is not given: the networks for chains (`OneMatrix`, `CausalTransformer`) put what
    they say themselves in its place. So one network is trained on given steps and validated on its own:
    `teacher_forcing`.

    >>> from paritylab import Uniform
    >>> from paritylab.targets import running_parity
    >>> from paritylab.cube import root_key
    >>> base = Uniform(running_parity(5, (0, 3)))
    >>> WithChain(base).n, WithChain(base, given=False).sample(root_key(0), 1)[0][0, 5:].tolist()
    (7, [0.0, 0.0])
    """

    base: AbstractDistribution
    given: bool = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    """How many coordinates are added."""

    def __init__(self, base: AbstractDistribution, given: bool = True):
        check_distribution(base, "WithChain")
        if not isinstance(given, bool):
            raise TypeError(f"`given` is True or False, got {echo(given)}.")
        labels = shape_of_labels(base)
        if len(labels) != 1:
            raise ValueError(
                "`WithChain` is for points of several labels, such as Uniform(running_parity(9, (0, 1))); those of "
                f"{type(base).__name__} have labels of shape {labels}."
            )
        self.base, self.given, self.steps = base, given, labels[0] - 1

    @property
    def n(self) -> int:
        return self.base.n + self.steps

    def _with_steps(self, x: Float[Array, "points n"], y: Float[Array, "points labels"]) -> Float[Array, "points _"]:
        steps = y[:, :-1] if self.given else jnp.zeros_like(y[:, :-1])
        return jnp.concatenate([x, steps.astype(x.dtype)], axis=1)

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        x, y = self.base.sample(key, batch)
        return self._with_steps(x, y), y

    def support(self) -> Support:
        x, y, probability = self.base.support()
        return self._with_steps(x, y), y, probability

    def clean(self) -> "WithChain":
        return WithChain(self.base.clean(), self.given)


def teacher_forcing(base: AbstractDistribution) -> HeldOut:
    """Train on the true steps, validate where none is given.

    >>> from paritylab import Uniform
    >>> from paritylab.targets import running_parity
    >>> task = teacher_forcing(Uniform(running_parity(5, (0, 3))))
    >>> task.train.given, task.clean().given
    (True, False)
    """
    return HeldOut(WithChain(base), WithChain(base, given=False))


@dataclasses.dataclass(frozen=True)
class RandomChain(RandomTask):
    """A random target of several labels per run, on uniform inputs, with its steps as further coordinates.

    With `forced` the steps are given in training, and never in validation; else in neither.

    >>> from paritylab.cube import root_key
    >>> from paritylab.targets import random_tree_parity
    >>> task = RandomChain(random_tree_parity, (9, 4))(root_key(0))
    >>> task.n, type(task).__name__
    (11, 'HeldOut')
    """

    forced: bool = True

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        base = super().__call__(key)
        return teacher_forcing(base) if self.forced else WithChain(base, given=False)
