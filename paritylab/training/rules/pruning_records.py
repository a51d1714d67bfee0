"""Records of which units of a two-layer network matter: their norms, and what a few of them do alone."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from ...demands import check_kind, check_whole
from ...networks.base import outputs
from ...networks.mlp import FeedForward
from .criteria import wrong
from .records import RECORD_STREAM, AbstractRecord, Snapshot


class UnitNorms(AbstractRecord):
    """The length of each hidden unit's incoming weights, the largest first; bias left out (2303.11873)."""

    name = "unit_norms"

    def __call__(self, snapshot: Snapshot) -> Array:
        return -jnp.sort(-_norms(_two_layers(snapshot.network)))


class PrunedErrors(AbstractRecord):
    """What the units of largest norm do alone: for each number of units kept, how often they err, and leave the whole.

    A row a number: the fraction of mistakes of the network without all other units, on fresh examples, and the fraction
    of examples on which its sign is not that of the whole network (its faithfulness, subtracted from 1). With
    `at_random` other units are kept, chosen at random: the control.
    """

    keep: tuple[int, ...] = eqx.field(static=True)
    points: int = eqx.field(static=True)
    at_random: bool = eqx.field(static=True)

    def __init__(self, keep: Sequence[int], points: int = 8192, *, at_random: bool = False):
        check_kind("keep", keep, Sequence, "a sequence of numbers of units, such as (3, 6, 12)")
        for each in keep:
            check_whole("keep", each, 1)
        if not keep:
            raise ValueError("`PrunedErrors` of no number of units would record nothing. Name at least one.")
        check_whole("points", points, 1)
        self.keep, self.points, self.at_random = tuple(int(each) for each in keep), points, at_random

    @property
    def name(self) -> str:
        return "random_errors" if self.at_random else "pruned_errors"

    def __call__(self, snapshot: Snapshot) -> Array:
        network = _two_layers(snapshot.network)
        if (most := max(self.keep)) > (units := len(network.output.weight)):
            raise ValueError(f"The network has {units} units, got keep={most}. Keep fewer.")
        x, y = snapshot.fresh(self.points)
        whole = outputs(network, x)
        importance = _norms(network)
        if self.at_random:
            importance = jr.uniform(jr.fold_in(snapshot.init_key, RECORD_STREAM), importance.shape, jnp.float32)

        def row(kept: int) -> Array:
            values = outputs(only(network, importance, kept), x)
            return jnp.stack(
                [jnp.mean(wrong(y, values), dtype=jnp.float32), jnp.mean(wrong(whole, values), dtype=jnp.float32)]
            )

        return jnp.stack([row(kept) for kept in self.keep])


def pruned(network: FeedForward, keep: int) -> FeedForward:
    """A two-layer network without all units but those whose incoming weights are longest."""
    return only(network, _norms(network), keep)


def only(network: FeedForward, importance: Float[Array, " units"], keep: int) -> FeedForward:
    """A two-layer network without all units but the most important."""
    rank = jnp.argsort(jnp.argsort(-importance))
    output = jnp.where(rank < keep, network.output.weight, 0)
    made: FeedForward = eqx.tree_at(lambda each: each.output.weight, network, output)
    return made


def _norms(network: FeedForward) -> Float[Array, " units"]:
    return jnp.linalg.norm(network.hidden[0].weight, axis=1)


def _two_layers(network: Any) -> FeedForward:
    if not isinstance(network, FeedForward) or len(network.hidden) != 1 or network.output.weight.ndim != 1:
        raise ValueError(f"Units are those of a two-layer MLP of one output, got a {type(network).__name__}.")
    return network
