"""Tasks with a random target, a function of a key."""

import dataclasses
from collections.abc import Callable
from typing import Any

from jaxtyping import PRNGKeyArray

from ..cube import Encoding
from ..demands import check_function, check_number
from ..targets import AbstractTarget
from .base import AbstractDistribution
from .inputs import Product, Uniform
from .wrappers import Encoded, FlippedLabels, Mixture


@dataclasses.dataclass(frozen=True)
class RandomTask:
    """A random target per run, on uniform inputs: `RandomTask(random_parity, (50, 3))`.

    `train` takes any function from a key to a distribution. This one can also be hashed and pickled, as a
    sweep needs.

    >>> from paritylab import random_parity, root_key
    >>> RandomTask(random_parity, (6, 2))(root_key(0)).target.mask.sum().item()
    2
    """

    target: Callable[..., AbstractTarget]
    arguments: tuple[Any, ...]
    noise: float = 0.0
    """The probability of a flipped label in training."""

    def __post_init__(self) -> None:
        check_function("target", self.target, "random_parity")
        check_number("noise", self.noise, 0, 1)

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        return with_noise(Uniform(self.target(*self.arguments, key=key)), self.noise)


@dataclasses.dataclass(frozen=True)
class RandomProduct(RandomTask):
    """A random target per run, on independent coordinates that all have one mean.

    >>> from paritylab import random_parity, root_key
    >>> RandomProduct(random_parity, (3, 2), mean=0.5)(root_key(0)).mean.tolist()
    [0.5, 0.5, 0.5]
    """

    mean: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("mean", self.mean, -1, 1)

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        return with_noise(Product(self.target(*self.arguments, key=key), self.mean), self.noise)


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The inputs of a task in a few words, as the command line and sweep files say them.

    A `share` of the examples has independent coordinates of this mean, the others are uniform.

    >>> from paritylab import Parity
    >>> Inputs(mean=0.5, share=0.25).task(Parity(3, (0, 1))).weights.tolist()
    [0.75, 0.25]
    """

    mean: float = 0.0
    share: float = 1.0
    encoding: Encoding = "signs"
    noise: float = 0.0
    """The probability of a flipped label in training."""

    def __post_init__(self) -> None:
        check_number("mean", self.mean, -1, 1)
        check_number("share", self.share, 0, 1)
        check_number("noise", self.noise, 0, 1)

    def task(self, target: AbstractTarget) -> AbstractDistribution:
        """The distribution of a target on such inputs."""
        base: AbstractDistribution = Uniform(target)
        if self.mean != 0 and self.share > 0:
            biased = Product(target, self.mean)
            base = biased if self.share == 1 else Mixture([base, biased], [1 - self.share, self.share])
        noisy = with_noise(base, self.noise)
        return noisy if self.encoding == "signs" else Encoded(noisy, self.encoding)


@dataclasses.dataclass(frozen=True)
class RandomTaskOn:
    """A random target per run, on such inputs."""

    target: Callable[..., AbstractTarget]
    arguments: tuple[int, ...]
    inputs: Inputs

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        return self.inputs.task(self.target(*self.arguments, key=key))


def with_noise(task: AbstractDistribution, noise: float) -> AbstractDistribution:
    """The same with labels flipped in training, where the probability is not 0."""
    return FlippedLabels(task, noise) if noise > 0 else task
