"""Schedules by name: what multiplies a rate or a decay, step by step. The first step is number 0."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ...demands import check_number, check_whole
from ...networks.base import as_floats


@dataclasses.dataclass(frozen=True)
class FirstThen:
    """One factor at the first step, another at all others (learning-parities, Theorem 3).

    >>> [float(FirstThen(1.0, 0.25)(jnp.asarray(step))) for step in (0, 1, 2)]
    [1.0, 0.25, 0.25]
    """

    first: float
    then: float

    def __post_init__(self) -> None:
        check_number("first", self.first)
        check_number("then", self.then)

    def __call__(self, step: Int[Array, ""]) -> Float[Array, ""]:
        return jnp.where(step == 0, as_floats(self.first), as_floats(self.then))


@dataclasses.dataclass(frozen=True)
class LinearFall:
    """From 1 in a straight line to 0 after `steps` steps, and 0 from then on.

    >>> [float(LinearFall(4)(jnp.asarray(step))) for step in (0, 1, 4, 9)]
    [1.0, 0.75, 0.0, 0.0]
    """

    steps: int

    def __post_init__(self) -> None:
        check_whole("steps", self.steps)
        if self.steps < 1:
            raise ValueError(f"A linear fall takes at least one step, got steps={self.steps}.")

    def __call__(self, step: Int[Array, ""]) -> Float[Array, ""]:
        return jnp.maximum(0.0, 1 - as_floats(step) / self.steps)
