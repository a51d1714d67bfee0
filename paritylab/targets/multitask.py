"""Many parities in one target: control bits say which of them is asked for."""

import itertools
import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..cube import character, check_key
from ..demands import check_whole, echo
from .base import AbstractTarget, check_dimension
from .parity import check_size
from .polynomials import as_supports


class MultitaskParity(AbstractTarget):
    """Control bits, one for each task, then task bits: the label is the parity of the task's own support.

    The task is the first whose control bit is -1, which is true of one bit alone in the points of `WeightedTasks`;
    where none is, the label is +1. Written as bits (`Encoded(..., "bits")`, where -1 is 1 and +1 is 0) these are the
    points of arXiv 2303.13506: a one-hot control of zeros and a one, then zeros and ones. Supports count task bits
    from 0 and may overlap. They are masks, an array: an ensemble can hold others in every run.

    >>> target = MultitaskParity(bits=3, supports=[(0, 1), (2,)])
    >>> target.n, float(target(jnp.array([1.0, -1.0, 1.0, 1.0, -1.0])))  # the second task: bit 2
    (5, -1.0)
    """

    n: int = eqx.field(static=True)
    bits: int = eqx.field(static=True)
    masks: Bool[Array | np.ndarray, "*runs tasks bits"]

    def __init__(self, bits: int, supports: Sequence[Sequence[int]]):
        check_whole("bits", bits, 1)
        sets = as_supports(bits, supports)
        if not sets or len(set(sets)) < len(sets):
            raise ValueError(
                f"A multitask parity has at least one task, and no two with one support, got {echo(supports)}."
            )
        check_dimension(len(sets) + bits)
        self.n, self.bits = len(sets) + bits, bits
        self.masks = np.array([np.isin(np.arange(bits), each) for each in sets])

    @property
    def tasks(self) -> int:
        """The number of tasks, which is that of control bits."""
        return self.n - self.bits

    @property
    def supports(self) -> tuple[tuple[int, ...], ...]:
        """The support of each task, among the task bits."""
        return tuple(tuple(np.flatnonzero(mask).tolist()) for mask in np.asarray(self.masks))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        asked = x[: self.tasks] < 0
        sign = character(jnp.asarray(self.masks)[jnp.argmax(asked)], x[self.tasks :])
        return jnp.where(jnp.any(asked), sign, jnp.ones_like(sign))


def random_multitask_parity(
    bits: int, tasks: int, k: int, *, disjoint: bool = False, key: PRNGKeyArray
) -> MultitaskParity:
    """Tasks with random supports of k bits: no two equal, or no two with a bit in common.

    The first is how arXiv 2303.13506 draws them, the second how arXiv 2404.17563 does. `jax.vmap` over keys gives one
    per run of an ensemble.
    """
    check_whole("bits", bits, 1)
    check_size(bits, k)
    check_key(key)
    check_whole("tasks", tasks, 1)
    most = bits // k if disjoint else math.comb(bits, k)
    if tasks > most:
        raise ValueError(
            f"There are {most} {'disjoint ' if disjoint else ''}sets of k={k} of {bits} bits, got tasks={tasks}. Lower "
            "it, or raise bits."
        )
    some = itertools.islice(itertools.combinations(range(bits), k), tasks)
    drawn = _disjoint if disjoint else _distinct
    return eqx.tree_at(lambda target: target.masks, MultitaskParity(bits, [*some]), drawn(bits, tasks, k, key))


def _disjoint(bits: int, tasks: int, k: int, key: PRNGKeyArray) -> Bool[Array, "tasks bits"]:
    """Consecutive blocks of a random order of the bits."""
    place = jr.permutation(key, bits)
    return (place[None] // k == jnp.arange(tasks)[:, None]) & (place[None] < tasks * k)


def _distinct(bits: int, tasks: int, k: int, key: PRNGKeyArray) -> Bool[Array, "tasks bits"]:
    """Sets are drawn anew as long as they equal an earlier one.

    A permutation of all sets of k bits changes nothing in what is done: every sequence of distinct ones is as likely.
    """

    def drawn(key: PRNGKeyArray) -> Bool[Array, "tasks bits"]:
        order = jax.vmap(lambda one: jr.permutation(one, bits))(jr.split(key, tasks))
        return order < k

    def repeated(masks: Bool[Array, "tasks bits"]) -> Bool[Array, " tasks"]:
        members = masks.astype(jnp.float32)
        shared = jnp.dot(members, members.T, precision="highest")
        return jnp.any(jnp.tril(shared == k, -1), axis=1)

    def again(state: tuple[Int[Array, ""], Bool[Array, "tasks bits"]]) -> tuple[Array, Array]:
        step, masks = state
        return step + 1, jnp.where(repeated(masks)[:, None], drawn(jr.fold_in(key, step)), masks)

    start = jnp.zeros((), jnp.int32)
    _, masks = jax.lax.while_loop(lambda state: jnp.any(repeated(state[1])), again, (start + 1, drawn(key)))
    return masks
