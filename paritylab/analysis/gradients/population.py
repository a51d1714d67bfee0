"""Exact population gradients of two-layer networks.

`population_gradient` sums over every example of a distribution. For one neuron, the correlation loss and a
parity on uniform points the gradient is a list of Fourier coefficients of sigma'(w . x + b): the i-th entry
E[chi_S x_i sigma'(w . x + b)] is the coefficient at S without i (for i in S) or at S with i. Two kinds of
activations have closed forms at any n and any weights: sinusoids, because E[chi_S exp(i t w . x)] is a
product over coordinates, and polynomials, by its expansion in t. Others are in `sums` and `thresholds`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Inexact, PyTree

from ...demands import as_numbers, check_kind, check_whole, echo
from ...distributions import AbstractDistribution
from ...distributions.base import check_distribution
from ...networks.activations import Activation, OscillatingPolynomial, Power, Sinusoid, square
from ...networks.mlp import FeedForward, Layer, OneNeuron
from ...training.rules.losses import Hinge, correlation
from .enumeration import blocks


class NeuronGradient(NamedTuple):
    """E[y x_i sigma'(w . x + b)] for every i, and E[y sigma'(w . x + b)].

    This is minus the gradient of the correlation loss -y sigma(w . x + b); for a neuron with output weight u
    in a network that is 0 everywhere, it is minus the gradient of the hinge loss divided by u.
    """

    weight: Float[np.ndarray, "*batch n"]
    bias: Float[np.ndarray, "*batch"]


def population_gradient(
    network: FeedForward | OneNeuron, distribution: AbstractDistribution, loss: Any = None
) -> PyTree:
    """The gradient of E[loss(y, network(x))] over all examples, a tree like the network, in float64.

    By the chain rule on every example of the distribution, for one hidden layer u . sigma(W x + b) + c or a
    neuron sigma(w . x + b) (hidden-progress, Section 4; learning-parities, Section 4). `loss` is one of
    `training.losses` or a function of a label and an output; the hinge loss if none is given. Entries that
    training does not change are None, as in `eqx.filter_grad`.

    >>> from paritylab import MLP, Parity, Uniform, root_key
    >>> gradient = population_gradient(MLP(4)(6, key=root_key(0)), Uniform(Parity(6, (0, 1))))
    >>> gradient.hidden[0].weight.shape, gradient.hidden[0].weight.dtype
    ((4, 6), dtype('float64'))
    """
    if isinstance(network, FeedForward) and len(network.hidden) != 1:
        raise ValueError(
            f"`population_gradient` needs one hidden layer, got {len(network.hidden)}; for a deeper network "
            "differentiate the mean loss over `distribution.support()`."
        )
    if not isinstance(network, FeedForward | OneNeuron):
        raise ValueError(
            f"`population_gradient` needs the network of an `MLP` or a `Neuron`, got {type(network).__name__}; "
            "for another one differentiate the mean loss over `distribution.support()`."
        )
    check_distribution(distribution, "population_gradient")
    if not all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(network) if eqx.is_inexact_array(leaf)):
        raise ValueError("A gradient is that of finite weights, got some that are not. Leave out what diverged.")
    first = network.hidden[0] if isinstance(network, FeedForward) else network.hidden
    if first.weight.shape[-1] != distribution.n:
        raise ValueError(
            f"The network takes {first.weight.shape[-1]} coordinates and the distribution has n={distribution.n}. Give "
            "both the same number."
        )
    loss = Hinge() if loss is None else loss
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        in_float64 = lambda leaf: jnp.asarray(leaf, jnp.float64) if eqx.is_inexact_array(leaf) else leaf
        exact = jax.tree.map(in_float64, network)
        parts = [_block_gradient(exact, loss, *map(jnp.asarray, block)) for block in blocks(distribution)]
        total = jax.tree.map(lambda *leaves: np.sum([np.asarray(leaf) for leaf in leaves], axis=0), *parts)
    return jax.tree.map(np.asarray, total)


def gradient_by_enumeration(
    weights: Float[np.ndarray, "neurons n"],
    activation: Activation,
    distribution: AbstractDistribution,
    *,
    bias: int | float | Float[np.ndarray, " neurons"] = 0.0,
) -> NeuronGradient:
    """E[y x_i sigma'(w . x + b)] of many neurons at once, under any distribution, over all of its examples.

    >>> from paritylab import Parity, Uniform, relu
    >>> gradient_by_enumeration(np.ones((1, 5)), relu, Uniform(Parity(5, (0, 1)))).weight.tolist()
    [[0.1875, 0.1875, -0.0625, -0.0625, -0.0625]]
    """
    count = len(weights)
    with jax.enable_x64(True):
        biases = jnp.broadcast_to(jnp.asarray(bias, jnp.float64), (count,))
        hidden = Layer(jnp.asarray(weights, jnp.float64), biases)
        network = FeedForward((hidden,), Layer(jnp.ones(count), jnp.zeros(())), activation)
        gradient = population_gradient(network, distribution, correlation)
    return NeuronGradient(-gradient.hidden[0].weight, -gradient.hidden[0].bias)


@eqx.filter_jit
def _block_gradient(
    network: FeedForward | OneNeuron,
    loss: Any,
    x: Float[Array, "points n"],
    y: Float[Array, " points"],
    probability: Float[Array, " points"],
) -> PyTree:
    """The contribution of some examples to the gradient, by the chain rule."""
    layer = network.hidden[0] if isinstance(network, FeedForward) else network.hidden
    z = layer(x.T)
    value, slope = jax.jvp(network.activation, (z,), (jnp.ones_like(z),))
    output = network.output(value) if isinstance(network, FeedForward) else value
    # The slope of the loss in the output, times the probability of the example.
    error = probability * jax.vmap(jax.grad(loss, argnums=1))(y, output)
    parameters = eqx.filter(network, eqx.is_inexact_array)
    arrays: tuple[Array, ...]
    places: Callable[[Any], tuple[Any, ...]]
    if isinstance(network, FeedForward):
        back = network.output.weight[:, None] * slope * error[None]
        arrays = (back @ x, jnp.sum(back, axis=1), value @ error, jnp.sum(error))
        places = lambda tree: (
            tree.hidden[0].weight, tree.hidden[0].bias, tree.output.weight, tree.output.bias,
        )  # fmt: skip
    else:
        back = slope * error
        arrays = (back @ x, jnp.sum(back))
        places = lambda tree: (tree.hidden.weight, tree.hidden.bias)
    return eqx.tree_at(places, parameters, arrays)


def gradient_of_sinusoid(
    weights: Float[np.ndarray, "*batch n"],
    support: Sequence[int],
    *,
    bias: int | float | Float[np.ndarray, "*batch"] = 0.0,
    frequency: int | float = 1.0,
    phase: int | float = 0.0,
) -> NeuronGradient:
    """E[chi_S x_i cos(frequency * (w . x + b) + phase)] for all i, times the frequency, at any n and weights.

    This is the gradient of sigma(z) = sin(frequency * z + phase). By E[chi_S exp(i w . x)] = i**|S| times the
    product of sin(w_i) over S and of cos(w_i) over the rest (the sinusoid of hidden-progress, Appendix C.1;
    there sigma' is sin(z / sqrt(n)), which is `phase=-pi/2` up to the factor of the frequency).

    >>> gradient = gradient_of_sinusoid(np.ones(1000) / 100, support=(0, 1), phase=-np.pi / 2)
    >>> gradient.weight[:3].round(8).tolist()
    [0.0095126, 0.0095126, -9.5e-07]
    """
    check_finite(weights, bias)
    angles = frequency * np.asarray(weights, float)
    turn = np.asarray(frequency * np.asarray(bias, float) + phase)
    member = members(angles.shape[-1], support)
    others, own, every = leave_one_out(np.where(member, np.sin(angles), np.cos(angles)), angles, member)
    sizes = len(support) + np.where(member, -1, 1)
    # Re(i**size * exp(i * turn)) = cos(turn + size * pi/2), by quarter turns without rounding pi.
    weight = frequency * others * own * quarter_cos(turn[..., None], sizes)
    return NeuronGradient(weight, np.asarray(frequency * every * quarter_cos(turn, np.asarray(len(support)))))


def check_finite(weights: np.ndarray, bias: int | float | np.ndarray) -> None:
    """Refuse NaN and infinity, at which every slope would count as 0 and the gradient would vanish."""
    for name, values in (("weights", weights), ("bias", bias)):
        if not np.all(np.isfinite(as_numbers(name, values))):
            raise ValueError(
                f"A gradient is that of finite {name}, got {name}={echo(values)}. Leave out what diverged."
            )


def members(n: int, support: Sequence[int]) -> np.ndarray:
    """The mask of the support."""
    check_kind("support", support, (Sequence, np.ndarray), "a sequence of coordinates, such as (0, 2)")
    for i in support:
        check_whole("support", i)
    if len(set(support)) < len(support) or not all(0 <= i < n for i in support):
        raise ValueError(
            f"A parity on n={n} coordinates needs distinct ones in 0..{n - 1}, got support={echo(support)}."
        )
    return np.isin(np.arange(n), np.asarray(support, int))


def leave_one_out(
    factors: Float[np.ndarray, "*batch n"], angles: Float[np.ndarray, "*batch n"], member: np.ndarray
) -> tuple[Float[np.ndarray, "*batch n"], Float[np.ndarray, "*batch n"], Float[np.ndarray, "*batch"]]:
    """The product of all factors but the i-th, the factor that i has once it changes sides, and the whole product."""
    own = np.where(member, np.cos(angles), np.sin(angles))
    return product_of_others(factors), own, np.asarray(np.prod(factors, axis=-1))


def product_of_others(factors: Inexact[np.ndarray, "*batch n"]) -> Inexact[np.ndarray, "*batch n"]:
    """The product of all entries but the i-th, without division, so that entries may be 0.

    >>> product_of_others(np.array([2.0, 0.0, 3.0])).tolist()
    [0.0, 6.0, 0.0]
    """
    ones = np.ones((*factors.shape[:-1], 1))
    before = np.cumprod(np.concatenate([ones, factors[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, factors[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return before * after


def quarter_cos(turn: Float[np.ndarray, "..."], quarters: np.ndarray) -> Float[np.ndarray, "..."]:
    """cos(turn + quarters * pi / 2)."""
    even = np.where(quarters % 2 == 0, np.cos(turn), -np.sin(turn))
    return np.asarray(even * (1.0 - 2.0 * (quarters // 2 % 2)))


def gradient_of_polynomial(
    weights: Float[np.ndarray, " n"],
    support: Sequence[int],
    slope: Sequence[int | float] | Float[np.ndarray, " terms"],
    *,
    bias: int | float = 0.0,
) -> NeuronGradient:
    """E[chi_S x_i p(w . x + b)] for all i, where p = sigma' has the coefficients `slope`, lowest first.

    By moments: E[chi_S exp(t (w . x + b))] is exp(t b) times the product of sinh(w_i t) over S and cosh(w_i t)
    over the rest, and E[chi_S (w . x + b)**d] is d! times its coefficient at t**d. Of degree below |S| - 1 all
    are 0: a polynomial of low degree does not correlate with a parity (hidden-progress).

    >>> gradient_of_polynomial(np.array([1.0, 2.0, 3.0]), (0, 1), slope=[0, 1]).weight.tolist()
    [2.0, 1.0, 0.0]
    """
    check_finite(weights, bias)
    if not len(slope):
        raise ValueError("A polynomial has at least one coefficient, got none. Write [0] for the constant 0.")
    w = np.asarray(weights, float)
    terms = len(slope)
    member = members(len(w), support)
    factorials = np.array([math.factorial(d) for d in range(terms)], float)
    powers = w[:, None] ** np.arange(terms) / factorials
    odd = np.arange(terms) % 2 == 1
    factors, swapped = np.where(odd == member[:, None], powers, 0.0), np.where(odd != member[:, None], powers, 0.0)
    before, after = [bias ** np.arange(terms) / factorials], [np.eye(1, terms)[0]]
    for factor in factors:
        before.append(_times(before[-1], factor))
    for factor in factors[::-1]:
        after.append(_times(after[-1], factor))
    moments = np.asarray(slope, float) * factorials
    weight = [moments @ _times(_times(before[i], after[len(w) - 1 - i]), swapped[i]) for i in range(len(w))]
    return NeuronGradient(np.array(weight), np.asarray(moments @ before[-1]))


def _times(first: Float[np.ndarray, " terms"], second: Float[np.ndarray, " terms"]) -> Float[np.ndarray, " terms"]:
    """The product of two power series, cut off."""
    return np.convolve(first, second)[: len(first)]


def slope_polynomial(activation: Activation) -> Float[np.ndarray, " terms"]:
    """The coefficients of sigma', lowest first, of an activation that is a polynomial.

    >>> from paritylab.networks import Power
    >>> slope_polynomial(Power(3)).tolist()
    [0.0, 0.0, 3.0]
    """
    if activation is square:
        return np.array([0.0, 2.0])
    if isinstance(activation, Power):
        degree = int(activation.k)
        return np.eye(1, degree, degree - 1)[0] * degree
    if isinstance(activation, OscillatingPolynomial):
        step = np.polynomial.Polynomial([int(activation.k) / 2, -0.5])
        total = term = np.polynomial.Polynomial([1.0])
        for i in range(int(activation.k)):
            term = term * (step - i) * (-2 / (i + 1))
            total = total + term
        return np.asarray(total.deriv().coef)
    raise ValueError(
        f"There is no polynomial for the activation {echo(activation)}; `gradient_of_polynomial` takes `square`, "
        "`Power` and `OscillatingPolynomial`, or coefficients of your own."
    )


def slope_at(activation: Activation, z: Float[np.ndarray, " points"]) -> Float[np.ndarray, " points"]:
    """sigma'(z), elementwise, as in training: at a kink it is 0 for ReLU and ReLU6.

    >>> from paritylab import relu
    >>> slope_at(relu, np.array([-1.0, 0.0, 2.0])).tolist()
    [0.0, 0.0, 1.0]
    """
    with jax.enable_x64(True):
        points = jnp.asarray(z, jnp.float64)
        return np.asarray(jax.jvp(activation, (points,), (jnp.ones_like(points),))[1])


def turns_of(activation: Sinusoid) -> tuple[float, float]:
    """Frequency and phase of a `Sinusoid`, for `gradient_of_sinusoid`."""
    return np.pi / 2 * activation.scale, np.pi / 2 * (1 - int(activation.k))
