"""A record of the correlation bound of a depth-two network, computed from its weights during training.

The correlation of a network with any product of gates under the uniform distribution is at most c(N), a function
of its weights alone; its hinge loss there is at least 1 - c(N) (depth-separation, Theorem A). A
store keeps no networks, so the bound is computed where the weights are: on the device, along the run.
"""

import functools
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..distributions import AbstractDistribution, Mixture, Uniform
from ..networks import Sinusoid, relu, relu6, sigmoid
from ..networks.activations import Activation
from ..networks.base import outputs
from ..networks.mlp import FeedForward
from ..networks.neural_gates import hard_tanh
from ..targets import GateProduct
from ..training import AbstractRecord, Snapshot
from .base import Bound
from .discrepancy import (
    ROUNDED_UP,
    Each,
    Halves,
    best_unit_bounds,
    norms_of,
    sigmoid_integrals,
    threshold_correlation,
    unit_integrals,
)
from .polynomials import ImpreciseError, OutputLaw, check_degree, kept_places, polynomial_error

CERTIFICATE_STREAM = 5
LAW_STREAM = 6
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
        check_batches(self.points, self.together)

    def __call__(self, snapshot: Snapshot) -> Float[Array, " moments"]:
        network, hard = snapshot.network, hard_half(snapshot)
        key = jr.fold_in(jr.fold_in(snapshot.data_key, CERTIFICATE_STREAM), snapshot.step)

        def lot(key: PRNGKeyArray) -> Array:
            x, y = hard.sample(key, self.together)
            values, y = outputs(network, x.astype(snapshot.rule.dtype)), y.astype(snapshot.rule.dtype)
            return jnp.stack([jnp.mean(y * values), jnp.mean(jnp.abs(values)), jnp.mean(values**2)])

        moments = jnp.mean(jax.lax.map(lot, jr.split(key, self.points // self.together)), axis=0)
        return jnp.concatenate([correlation_bound(network)[None], moments])


class ErrorCertificate(AbstractRecord):
    """What Theorem I needs of a network along its run: `certified_error` makes the bound of it.

    In this order: c(N); Lambda_1, ..., Lambda_J, for which |E[F N^j]| <= 2^(-n/2) Lambda_j^j, in the precision of
    training, rounded up; and some order statistics of N on two samples of fresh uniform examples: a polynomial that is
    chosen on the first is tested on the second.
    """

    points: int = eqx.field(static=True, default=65_536)
    together: int = eqx.field(static=True, default=2048)
    degree: int = eqx.field(static=True, default=9)
    cells: int = eqx.field(static=True, default=200)
    name = "error_certificate"

    def __check_init__(self) -> None:
        check_batches(self.points, self.together)
        check_degree(self.degree)

    def __call__(self, snapshot: Snapshot) -> Float[Array, " parts"]:
        network, hard = snapshot.network, hard_half(snapshot)
        key = jr.fold_in(jr.fold_in(snapshot.data_key, LAW_STREAM), snapshot.step)
        places = kept_places(self.points, self.cells)

        def lot(key: PRNGKeyArray) -> Array:
            x, _ = hard.sample(key, self.together)
            return outputs(network, x.astype(snapshot.rule.dtype))

        def law(key: PRNGKeyArray) -> Array:
            return jnp.sort(jax.lax.map(lot, jr.split(key, self.points // self.together)).ravel())[places]

        laws = [law(each) for each in jr.split(key)]
        return jnp.concatenate([power_bounds(network, self.degree), *laws])


def certified_error(
    half: int, recorded: Float[np.ndarray, " parts"], record: ErrorCertificate, *, share: int | float = 1.0
) -> Bound:
    """Theorem I for a network from what an `ErrorCertificate` recorded of it, at the best degree up to its own.

    The distance of the sign from the polynomial is a mean over a sample, and counts with four standard errors more.
    A network whose outputs are not finite proves an error of 0, a constant sign one of about 1/2.
    """
    values = np.asarray(recorded, float)
    sizes, kept = values[: record.degree + 1], values[record.degree + 1 :]
    nothing = Bound(0.0, "at least", "This network proves nothing.", "depth-separation, Theorem I")
    if not np.all(np.isfinite(values)):
        return nothing
    first, second = (OutputLaw.of_order_statistics(law, record.points, record.cells) for law in np.split(kept, 2))
    with np.errstate(over="ignore"):
        powers = 2.0 ** (-half / 2) * sizes[1:] ** np.arange(1, record.degree + 1)
    correlations = np.array([2.0**-half, min(sizes[0], powers[0]), *powers[1:]])
    best = nothing
    for degree in range(1, record.degree + 1):
        try:
            found = polynomial_error(half, second, correlations[: degree + 1], chosen_on=first, share=share)
        except ImpreciseError:
            break  # so are those above
        best = max(best, found, key=lambda bound: bound.value)
    return best


def check_batches(points: int, together: int) -> None:
    """Raise unless the points are some batches."""
    if together < 1 or points < 1 or points % together:
        raise ValueError(
            f"The points are evaluated in equal batches, got points={points} and together={together}. "
            "Make the first a multiple of the second."
        )


def hard_half(snapshot: Snapshot) -> Uniform:
    """The uniform part of what a run learns, a product of gates."""
    hard = uniform_part(snapshot.distribution.clean())
    if not isinstance(hard.target, GateProduct):
        raise ValueError(f"The certificate is about products of gates, got {type(hard.target).__name__}.")
    return hard


def correlation_bound(network: FeedForward) -> Float[Array, ""]:
    """c(N) of a network with one hidden layer, in JAX: for networks under training.

    >>> from paritylab import MLP, root_key
    >>> from paritylab.bounds import ShallowNetwork, network_correlation
    >>> network = MLP(5)(44, key=root_key(0))
    >>> exact = network_correlation(ShallowNetwork.of(network)).value
    >>> 1 <= float(correlation_bound(network)) / exact <= 1.002
    True
    """
    left, right, bias = halves_of(network)
    units = activation_bounds(network.activation, left, right, bias)
    constant = ROUNDED_UP * 2.0 ** -left.shape[1] * jnp.abs(network.output.bias)
    return constant + jnp.sum(jnp.abs(network.output.weight) * units)


def power_sizes(network: FeedForward, degree: int) -> Float[Array, " degree"]:
    """Lambda_1, ..., Lambda_J of a network with one hidden layer, in JAX and rounded up (`moment_bounds`).

    ReLU6 is clip(t, 0, 6), and hard-tanh clip(t + 1, 0, 2) - 1: integrals of smaller rectangles, and a constant.

    >>> from paritylab import MLP, root_key
    >>> from paritylab.bounds import ShallowNetwork, moment_bounds
    >>> network = MLP(5)(44, key=root_key(0))
    >>> powers = np.asarray(power_sizes(network, 3), float)[1:] ** np.array([2, 3]) * 2.0**-11
    >>> exact = moment_bounds(ShallowNetwork.of(network), 3)[2:]
    >>> bool(np.all((exact <= powers) & (powers <= 1.02 * exact)))
    True
    """
    return power_bounds(network, degree)[1:]


def power_bounds(network: FeedForward, degree: int) -> Float[Array, " bounds"]:
    """c(N) by B1, B2 and B4, and then `power_sizes`, all from one computation of the tails."""
    left, right, bias = halves_of(network)
    clips: dict[Any, tuple[float, float]] = {relu: (0.0, math.inf), relu6: (0.0, 6.0), hard_tanh: (1.0, 2.0)}
    if network.activation not in clips:
        raise ValueError(
            f"Powers of a network are bounded for relu, relu6 and hard_tanh units, got {network.activation!r}. "
            "Its correlation may be bounded still: `correlation_bound`."
        )
    shift, ceiling = clips[network.activation]
    bias, sizes = bias + shift, jnp.abs(network.output.weight)
    reach = jnp.sum(jnp.abs(left), axis=1) + jnp.sum(jnp.abs(right), axis=1) + jnp.abs(bias)
    both = [unit_integrals(left, right, bias, ceiling, degree)]
    if ceiling < math.inf:
        both.append(unit_integrals(right, left, bias, ceiling, degree))
    lost = (len(sizes) + 4) * float(jnp.finfo(sizes.dtype).eps) * jnp.sum(sizes)  # by rounding, where terms cancel
    constant = jnp.abs(network.output.bias - shift * jnp.sum(network.output.weight)) + shift * lost
    norms = norms_of(left) + norms_of(right)
    roots = jnp.sqrt(jnp.pi * jnp.arange(1, degree + 1, dtype=bias.dtype))
    hoeffding = norms[:, None] * roots[None] + jnp.maximum(bias, 0)[:, None]
    longest = reach[:, None] * jnp.ones_like(hoeffding)
    units = functools.reduce(jnp.minimum, [*(each.roots for each in both), hoeffding, longest])
    shrink = 2.0 ** (-left.shape[1] / 2)
    centred = (shrink * each.centred + shrink**2 * each.means for each in both)
    single = functools.reduce(jnp.minimum, [*centred, *(shrink * each.tails for each in both), shrink * reach])
    correlation = shrink**2 * constant + sizes @ single
    return ROUNDED_UP * jnp.concatenate([correlation[None], constant + sizes @ units])


def halves_of(network: FeedForward) -> tuple[Halves, Halves, Each]:
    """The weights on x and on z and the biases of the only hidden layer."""
    if not isinstance(network, FeedForward) or len(network.hidden) != 1:
        raise ValueError(f"This certificate is for networks with one hidden layer, got {type(network).__name__}.")
    weight = network.hidden[0].weight
    if weight.shape[1] % 2:
        raise ValueError(f"A network on two halves needs an even number of inputs, got {weight.shape[1]}.")
    left, right = jnp.split(weight, 2, axis=1)
    return left, right, network.hidden[0].bias


def activation_bounds(activation: Activation, left: Halves, right: Halves, bias: Each) -> Each:
    """A bound on |E[F phi(t)]| for each unit, t = <w, x> + <v, z> + b: phi is an integral or a sum of products.

    - ReLU6 is clip(t, 0, 6), an integral of smaller rectangles than a ReLU. Hard-tanh is clip(t + 1, 0, 2) - 1; it has
      variation 2, too, so that Lemma 3 bounds it.
    - A sigmoid is an integral of products too, see `sigmoid_integrals`, in two ways: either half may be that of the
      thresholds.
    - sin(a + c) = sin a cos c + cos a sin c, so a sinusoid correlates by at most 2^(-n/2), by Lindsey's lemma.

    >>> one = jnp.ones((1, 20))
    >>> units = (relu, relu6, hard_tanh, sigmoid)
    >>> [round(float(activation_bounds(phi, one, one, jnp.zeros(1))[0]), 4) for phi in units]
    [0.0025, 0.003, 0.0022, 0.0008]
    """
    half = left.shape[1]
    if activation is relu:
        return best_unit_bounds(left, right, bias)
    if activation is relu6:
        return best_unit_bounds(left, right, bias, ceiling=6)
    if activation is hard_tanh:
        clipped = best_unit_bounds(left, right, bias + 1, ceiling=2) + ROUNDED_UP * 2.0**-half
        steps = jnp.where(
            jnp.isfinite(clipped), ROUNDED_UP * (2 * threshold_correlation(half).value + 2.0**-half), jnp.nan
        )
        return jnp.minimum(clipped, steps.astype(clipped.dtype))
    if activation is sigmoid:
        slices = jnp.minimum(sigmoid_integrals(left, right, bias), sigmoid_integrals(right, left, bias))
        return ROUNDED_UP * (2.0 ** (-half / 2) * slices + 2.0**-half)
    if isinstance(activation, Sinusoid):
        finite = jnp.isfinite(jnp.sum(left, axis=1) + jnp.sum(right, axis=1) + bias)
        return jnp.where(finite, ROUNDED_UP * 2.0 ** (-half / 2), jnp.nan).astype(bias.dtype)
    raise ValueError(f"Bounds are known for relu, relu6, hard_tanh, sigmoid and Sinusoid units, got {activation!r}.")


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
