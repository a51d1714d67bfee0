"""Tasks with a random target, a function of a key."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jaxtyping import PRNGKeyArray

from ..cube import Encoding
from ..demands import check_function, check_kind, check_number, echo
from ..registry import INPUT_DISTRIBUTIONS, find
from ..targets import AbstractTarget, Parity
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

    A `share` of the examples has independent coordinates of this mean, the others are uniform. In the place of both,
    `mixture` names a distribution (`paritylab list inputs`), or several with their shares.

    >>> from paritylab import Parity
    >>> Inputs(mean=0.5, share=0.25).task(Parity(3, (0, 1))).weights.tolist()
    [0.75, 0.25]
    >>> Inputs(mixture="0.5 uniform + 0.3 product(0.2) + 0.2 equal-bits").task(Parity(3, (0, 1, 2))).weights.tolist()
    [0.5, 0.3, 0.2]
    """

    mean: float = 0.0
    share: float = 1.0
    encoding: Encoding = "signs"
    noise: float = 0.0
    """The probability of a flipped label in training."""
    mixture: str | None = dataclasses.field(default=None, metadata={"unnamed_if_none": True})

    def __post_init__(self) -> None:
        check_number("mean", self.mean, -1, 1)
        check_number("share", self.share, 0, 1)
        check_number("noise", self.noise, 0, 1)
        if self.mixture is not None:
            parts_of(self.mixture)
            if self.mean != 0 or self.share != 1:
                raise ValueError(
                    f"A mixture says the means of its parts, got {echo(self.mixture)} and also mean={self.mean}, "
                    f"share={self.share}. Write product(MEAN) into it."
                )

    def task(self, target: AbstractTarget) -> AbstractDistribution:
        """The distribution of a target on such inputs."""
        noisy = with_noise(self._base(target), self.noise)
        return noisy if self.encoding == "signs" else Encoded(noisy, self.encoding)

    def _base(self, target: AbstractTarget) -> AbstractDistribution:
        if self.mixture is not None:
            return mixture_of(parts_of(self.mixture), target)
        if self.mean == 0 or self.share == 0:
            return Uniform(target)
        parts = [Part(1 - self.share, "uniform"), Part(self.share, "product", self.mean)]
        return mixture_of(parts if self.share != 1 else parts[1:], target)


class Part(NamedTuple):
    """A part of a mixture: its share, its name, and its mean where it has one."""

    share: float
    name: str
    mean: float | None = None


PART = re.compile(r"(?:([\d.]+(?:e-?\d+)?)\s*(?:\*|\s)\s*)?([a-z][a-z-]*)(?:\(\s*([^()]*?)\s*\))?")


def parts_of(mixture: str) -> list[Part]:
    """What a mixture is made of.

    >>> [tuple(part) for part in parts_of("0.5 uniform + 0.5 product(0.2)")]
    [(0.5, 'uniform', None), (0.5, 'product', 0.2)]
    """
    words = mixture.split("+")
    parts = [_part(word.strip(), len(words) > 1) for word in words]
    total = sum(part.share for part in parts)
    if abs(total - 1) > 1e-9:
        raise ValueError(f"The shares of a mixture add up to 1, got {echo(mixture)} with {total:g}.")
    return parts


def _part(word: str, several: bool) -> Part:
    found = PART.fullmatch(word)
    if found is None:
        raise ValueError(f"A part of a mixture reads like '0.5 product(0.2)' or 'uniform', got {echo(word)}.")
    share, name, mean = found.groups()
    row = find("distribution of inputs", name, INPUT_DISTRIBUTIONS)
    if several and share is None:
        raise ValueError(f"Each part of a mixture has its share in front, such as '0.5 {name}', got {echo(word)}.")
    if row.has("mean") != (mean is not None):
        takes = f"takes a mean, such as {name}(0.5)" if row.has("mean") else f"takes nothing, and is written {name}"
        raise ValueError(f"{name!r} {takes}, got {echo(word)}.")
    return Part(1.0 if share is None else _number(share, word), name, None if mean is None else _number(mean, word))


def _number(text: str, word: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"A share and a mean are numbers, got {echo(word)}.") from None
    if not -1 <= value <= 1:
        raise ValueError(f"A share is between 0 and 1 and a mean between -1 and 1, got {echo(word)}.")
    return value


def mixture_of(parts: Sequence[Part], target: AbstractTarget) -> AbstractDistribution:
    """The distribution of a target on such inputs; of one part, that part itself."""
    made = [_of(part, target) for part in parts]
    return made[0] if len(made) == 1 else Mixture(made, [part.share for part in parts])


def _of(part: Part, target: AbstractTarget) -> AbstractDistribution:
    if part.name == "equal-bits" and not isinstance(target, Parity):
        raise ValueError(f"Inputs of equal-bits are for parities, got the target {type(target).__name__}.")
    given = {"target": target, "mean": part.mean}
    row = INPUT_DISTRIBUTIONS[part.name]
    return row.load()(*(given[name] for name in row.takes.split()))  # type: ignore[no-any-return]


@dataclasses.dataclass(frozen=True)
class RandomTaskOn:
    """A random target per run, on inputs of a few words.

    >>> from paritylab import random_parity, root_key
    >>> RandomTaskOn(random_parity, (6, 2), Inputs(mean=0.5, share=0.25))(root_key(0)).weights.tolist()
    [0.75, 0.25]
    """

    target: Callable[..., AbstractTarget]
    arguments: tuple[int, ...]
    inputs: Inputs

    def __post_init__(self) -> None:
        check_function("target", self.target, "random_parity")
        check_kind("inputs", self.inputs, Inputs, "inputs, such as Inputs(mean=0.5)")

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        return self.inputs.task(self.target(*self.arguments, key=key))


def with_noise(task: AbstractDistribution, noise: float) -> AbstractDistribution:
    """The same with labels flipped in training, where the probability is not 0."""
    return FlippedLabels(task, noise) if noise > 0 else task
