"""Finite samples that are drawn member by member, and which one a task trains on."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..demands import check_kind, check_whole
from .base import AbstractDistribution, Examples, Support, check_distribution, check_draw
from .curriculum import Curriculum
from .points import Points
from .wrappers import HeldOut, Mixture


class Stratified(AbstractDistribution):
    """A finite sample of exactly `sizes[i]` examples of `parts[i]`, in this order.

    Two of them that begin alike share their first members: the phases of a curriculum may train on more and more of
    one sample. `sample` draws members' distributions with replacement.

    >>> from paritylab import Parity, Product, Uniform
    >>> parity = Parity(9, (0, 1))
    >>> Stratified([Product(parity, 0.9), Uniform(parity)], [10, 990]).size
    1000
    """

    parts: tuple[AbstractDistribution, ...]
    sizes: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, parts: Sequence[AbstractDistribution], sizes: Sequence[int]):
        for name, given in (("parts", parts), ("sizes", sizes)):
            check_kind(name, given, Sequence, "a sequence")
        for part in parts:
            check_distribution(part, "Stratified")
        for size in sizes:
            check_whole("sizes", size, 1)
        if not parts or len(parts) != len(sizes):
            raise ValueError(f"`Stratified` needs a size for each of its parts, got {len(parts)} and {len(sizes)}.")
        if len({part.n for part in parts}) != 1:
            raise ValueError(f"The parts of `Stratified` must share n, got n={[part.n for part in parts]}.")
        self.parts, self.sizes = tuple(parts), tuple(int(size) for size in sizes)

    @property
    def n(self) -> int:
        return self.parts[0].n

    @property
    def size(self) -> int:
        """The number of members."""
        return sum(self.sizes)

    def member(self, key: PRNGKeyArray, index: Int[Array, ""]) -> tuple[Float[Array, " n"], Float[Array, "*labels"]]:
        """The member with this number, drawn from its own key."""
        stratum = jnp.searchsorted(jnp.asarray(np.cumsum(self.sizes), jnp.int32), index, side="right")
        drawn = [part.sample(key, 1) for part in self.parts]
        x, y = drawn[0]
        for i, (other_x, other_y) in enumerate(drawn[1:], start=1):
            x, y = jnp.where(stratum == i, other_x, x), jnp.where(stratum == i, other_y, y)
        return x[0], y[0]

    def _mixture(self) -> Mixture:
        return Mixture(self.parts, [size / self.size for size in self.sizes])

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        return self._mixture().sample(key, batch)

    def support(self) -> Support:
        return self._mixture().support()

    def clean(self) -> "Stratified":
        return Stratified([part.clean() for part in self.parts], self.sizes)


def trained_on(task: AbstractDistribution) -> AbstractDistribution:
    """What a task trains on in the end: the last phase, without what is held out."""
    while isinstance(task, HeldOut | Curriculum):
        task = task.train if isinstance(task, HeldOut) else task.parts[-1]
    return task


def curriculum_of(task: AbstractDistribution) -> Curriculum | None:
    """The curriculum that a task goes through, if it has one."""
    while isinstance(task, HeldOut):
        task = task.train
    return task if isinstance(task, Curriculum) else None


def points_trained_on(task: AbstractDistribution) -> Points | None:
    """The points that a task trains on, if it has some."""
    train = trained_on(task)
    return train if isinstance(train, Points) else None


def stratified_sample(task: AbstractDistribution) -> Stratified | None:
    """The stratified sample that a task trains on, if it has one."""
    train = trained_on(task)
    return train if isinstance(train, Stratified) else None


def size_of_sample(task: AbstractDistribution, sample: int | None) -> int | None:
    """How many examples a task trains on, with so many if it does not say; None for fresh ones."""
    if (points := points_trained_on(task)) is not None and sample is not None:
        return len(points.x)
    stratified = stratified_sample(task)
    return sample if stratified is None else stratified.size
