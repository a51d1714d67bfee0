"""Parities with their intermediate steps: several labels for each point, the parity last."""

import itertools
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..cube import character, check_key
from ..demands import check_kind, echo
from .base import AbstractRealTarget, check_dimension
from .parity import check_size
from .polynomials import as_supports


class ParityChain(AbstractRealTarget):
    """The parities of several sets, as the labels of a point: steps on the way to the last of them.

    The sets are stored as masks, an array: an ensemble can hold others in every run. All labels are -1 or +1, so that
    training asks for no criterion: a run has learned when no label of any point is wrong.

    >>> chain = ParityChain(4, [(0, 1), (2, 3), (0, 1, 2, 3)])
    >>> chain(jnp.array([-1.0, 1.0, 1.0, 1.0])).tolist()
    [-1.0, 1.0, -1.0]
    """

    n: int = eqx.field(static=True)
    masks: Bool[Array | np.ndarray, "*runs labels n"]

    def __init__(self, n: int, supports: Sequence[Sequence[int]]):
        check_dimension(n)
        sets = as_supports(n, supports)
        if not sets:
            raise ValueError(f"A chain has at least one set, the parity's own, got supports={echo(supports)}.")
        self.n = n
        self.masks = np.array([np.isin(np.arange(n), each) for each in sets])

    @property
    def supports(self) -> tuple[tuple[int, ...], ...]:
        """The set of each label, in their order."""
        return tuple(tuple(np.flatnonzero(mask).tolist()) for mask in np.asarray(self.masks))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, " labels"]:
        return jax.vmap(character, (0, None))(jnp.asarray(self.masks), x)


def tree_parity(n: int, support: Sequence[int]) -> ParityChain:
    """The products at the nodes of a binary tree over the support, level by level up to the parity (arXiv 2410.08633).

    The support has 2, 4, 8, ... coordinates; neighbours in its order are multiplied. There are k - 1 labels.

    >>> tree_parity(9, (7, 2, 0, 5)).supports
    ((2, 7), (0, 5), (0, 2, 5, 7))
    """
    leaves = _leaves(n, support)
    _check_tree(len(leaves))
    return ParityChain(n, [leaves[first:end] for first, end in _nodes(len(leaves))])


def running_parity(n: int, support: Sequence[int]) -> ParityChain:
    """Before each coordinate of the support the product of those that come earlier, then the parity (arXiv 2410.05459).

    There are k + 1 labels, the first of which is always +1.

    >>> running_parity(9, (7, 2, 5)).supports
    ((), (2,), (2, 5), (2, 5, 7))
    """
    leaves = sorted(_leaves(n, support))
    return ParityChain(n, [leaves[:end] for end in range(len(leaves) + 1)])


def random_tree_parity(n: int, k: int, *, key: PRNGKeyArray) -> ParityChain:
    """A tree over k random coordinates in a random order; `jax.vmap` over keys gives one per run of an ensemble."""
    _check_drawn(n, k, key)
    _check_tree(k)
    place = jr.permutation(key, n)[None]
    first, end = jnp.asarray(_nodes(k), jnp.int32).T[:, :, None]
    return _with_masks(tree_parity(n, range(k)), (place >= first) & (place < end))


def random_running_parity(n: int, k: int, *, key: PRNGKeyArray) -> ParityChain:
    """Running products over k random coordinates; `jax.vmap` over keys gives one per run of an ensemble."""
    _check_drawn(n, k, key)
    secret = jr.permutation(key, n) < k
    earlier = jnp.cumsum(secret)[None] <= jnp.arange(k + 1)[:, None]
    return _with_masks(running_parity(n, range(k)), secret[None] & earlier)


def _leaves(n: int, support: Sequence[int]) -> list[int]:
    """The support in its own order."""
    check_dimension(n)
    check_kind("support", support, Sequence, "a sequence of coordinates, such as (0, 1)")
    as_supports(n, [support])
    return [int(i) for i in support]


def _check_drawn(n: int, k: int, key: PRNGKeyArray) -> None:
    check_dimension(n)
    check_size(n, k)
    check_key(key)


def _check_tree(k: int) -> None:
    if k < 2 or k & (k - 1):
        raise ValueError(f"A binary tree has 2, 4, 8, ... leaves, got k={k}. Use such a k, or `running_parity`.")


def _nodes(k: int) -> list[tuple[int, int]]:
    """The first leaf of each node, and the one after its last; level by level."""
    sizes = itertools.takewhile(lambda size: size <= k, (2**level for level in itertools.count(1)))
    return [(first, first + size) for size in sizes for first in range(0, k, size)]


def _with_masks(chain: ParityChain, masks: Bool[Array, "labels n"]) -> ParityChain:
    return eqx.tree_at(lambda made: made.masks, chain, masks)
