"""A record of the correlation bound of a depth-two network, computed from its weights during training.

The correlation of a network with any product of gates under the uniform distribution is at most c(N), a function
of its weights alone; its hinge loss there is at least 1 - c(N) (depth-separation, Theorem A). A
store keeps no networks, so the bound is computed where the weights are: on the device, along the run.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from ..distributions import AbstractDistribution, Mixture, Uniform
from ..networks import Sinusoid, relu, relu6, sigmoid
from ..networks.activations import Activation
from ..networks.base import outputs
from ..networks.mlp import FeedForward
from ..targets import GateProduct
from ..training import AbstractRecord, Snapshot
from .discrepancy import ROUNDED_UP, Each, Halves, best_unit_bounds, sigmoid_integrals

CERTIFICATE_STREAM = 5
MOMENTS = ("bound", "correlation", "mean_size", "mean_square")
"""The entries of a `CorrelationCertificate`."""


class CorrelationCertificate(AbstractRecord):
    """c(N), and E[F N], E|N| and E[N^2] on fresh uniform examples, in this order.

    For networks with one hidden layer that learn a product of gates F, on a uniform distribution or on a mixture
    with a uniform part. c(N) is `bounds.network_correlation` with lattices for tails, in the precision of
    training, rounded up. It bounds |E[F N]|, and with it the hinge loss and the weighted error (Z1) from below, for
    the network N in exact arithmetic, with its weights as they are.
    """

    points: int = eqx.field(static=True, default=8192)
    together: int = eqx.field(static=True, default=2048)
    name = "certificate"

    def __check_init__(self) -> None:
        if self.together < 1 or self.points < 1 or self.points % self.together:
            raise ValueError(
                f"The points are evaluated in equal batches, got points={self.points} and together={self.together}. "
                "Make the first a multiple of the second."
            )

    def __call__(self, snapshot: Snapshot) -> Float[Array, " moments"]:
        network, hard = snapshot.network, uniform_part(snapshot.distribution.clean())
        if not isinstance(hard.target, GateProduct):
            raise ValueError(f"The certificate is about products of gates, got {type(hard.target).__name__}.")
        key = jr.fold_in(jr.fold_in(snapshot.data_key, CERTIFICATE_STREAM), snapshot.step)

        def lot(key: PRNGKeyArray) -> Array:
            x, y = hard.sample(key, self.together)
            values, y = outputs(network, x.astype(snapshot.rule.dtype)), y.astype(snapshot.rule.dtype)
            return jnp.stack([jnp.mean(y * values), jnp.mean(jnp.abs(values)), jnp.mean(values**2)])

        moments = jnp.mean(jax.lax.map(lot, jr.split(key, self.points // self.together)), axis=0)
        return jnp.concatenate([correlation_bound(network)[None], moments])


def correlation_bound(network: FeedForward) -> Float[Array, ""]:
    """c(N) of a network with one hidden layer, in JAX: for networks under training.

    >>> from paritylab import MLP, root_key
    >>> from paritylab.bounds import ShallowNetwork, network_correlation
    >>> network = MLP(5)(44, key=root_key(0))
    >>> exact = network_correlation(ShallowNetwork.of(network)).value
    >>> 1 <= float(correlation_bound(network)) / exact <= 1.002
    True
    """
    if not isinstance(network, FeedForward) or len(network.hidden) != 1:
        raise ValueError(f"This certificate is for networks with one hidden layer, got {type(network).__name__}.")
    left, right = jnp.split(network.hidden[0].weight, 2, axis=1)
    units = activation_bounds(network.activation, left, right, network.hidden[0].bias)
    constant = ROUNDED_UP * 2.0 ** -left.shape[1] * jnp.abs(network.output.bias)
    return constant + jnp.sum(jnp.abs(network.output.weight) * units)


def activation_bounds(activation: Activation, left: Halves, right: Halves, bias: Each) -> Each:
    """A bound on |E[F phi(t)]| for each unit, t = <w, x> + <v, z> + b: phi is an integral or a sum of products.

    - ReLU6 is clip(t, 0, 6), an integral of smaller rectangles than a ReLU.
    - A sigmoid is an integral of products too, see `sigmoid_integrals`, in two ways: either half may be that of the
      thresholds.
    - sin(a + c) = sin a cos c + cos a sin c, so a sinusoid correlates by at most 2^(-n/2), by Lindsey's lemma.

    >>> one = jnp.ones((1, 20))
    >>> [round(float(activation_bounds(phi, one, one, jnp.zeros(1))[0]), 4) for phi in (relu, relu6, sigmoid)]
    [0.007, 0.006, 0.0008]
    """
    half = left.shape[1]
    if activation is relu:
        return best_unit_bounds(left, right, bias)
    if activation is relu6:
        return best_unit_bounds(left, right, bias, ceiling=6)
    if activation is sigmoid:
        slices = jnp.minimum(sigmoid_integrals(left, right, bias), sigmoid_integrals(right, left, bias))
        return ROUNDED_UP * (2.0 ** (-half / 2) * slices + 2.0**-half)
    if isinstance(activation, Sinusoid):
        finite = jnp.isfinite(jnp.sum(left, axis=1) + jnp.sum(right, axis=1) + bias)
        return jnp.where(finite, ROUNDED_UP * 2.0 ** (-half / 2), jnp.nan).astype(bias.dtype)
    raise ValueError(f"Bounds are known for relu, relu6, sigmoid and Sinusoid units, got {activation!r}.")


def uniform_part(distribution: AbstractDistribution) -> Uniform:
    """The distribution itself where it is uniform, or the uniform part of a mixture.

    >>> from paritylab import GateProduct
    >>> from paritylab.distributions import equal_gates, separation
    >>> uniform_part(separation(equal_gates(GateProduct(("OR",))))).n
    2
    """
    parts = distribution.parts if isinstance(distribution, Mixture) else (distribution,)
    uniform = [part for part in parts if isinstance(part, Uniform)]
    if not uniform:
        raise ValueError(
            f"The certificate is about the uniform distribution, got {type(distribution).__name__} without it."
        )
    return uniform[0]
