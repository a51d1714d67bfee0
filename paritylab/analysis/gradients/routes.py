"""The exact gradient of a neuron on a parity, by a route chosen from activation, weights and n.

All routes are exact up to rounding; nothing is sampled. Where there is none, the error names alternatives.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from ...distributions import Uniform
from ...networks.activations import Activation, OscillatingPolynomial, Power, Sinusoid, relu, relu6, square
from ...networks.base import check_activation
from ...targets import Parity
from . import population
from .sums import MOST_SUMS, gradient_by_sums
from .thresholds import gradient_of_threshold

Route = Literal["sinusoid", "polynomial", "enumeration", "sums", "integral"]

QUICK_ENUMERATION = 22
KINKS = ((relu, ((0.0, 1.0),)), (relu6, ((0.0, 1.0), (6.0, -1.0))))
"""The kinks of piecewise linear activations: places and jumps of the slope."""


class Routed(NamedTuple):
    """A gradient, the route that computed it, and its error beyond rounding."""

    gradient: population.NeuronGradient
    route: Route
    error: float = 0.0


def neuron_gradient(
    weights: Float[np.ndarray, " n"], activation: Activation, support: Sequence[int], *, bias: int | float = 0.0
) -> Routed:
    """E[chi_S x_i sigma'(w . x + b)] for all i and E[chi_S sigma'(w . x + b)], over uniform points.

    Closed forms come first, then enumeration to n = 22, then sums of integer weights, then the integral for
    ReLU and ReLU6 (see `gradients`, `sums` and `thresholds` for where the formulas are from).

    >>> found = neuron_gradient(np.ones(101), relu, (0, 1))
    >>> found.route, found.gradient.weight[0].round(6).item()
    ('sums', 0.039795)
    """
    population.check_finite(weights, bias)
    check_activation(activation)
    w = np.asarray(weights, float)
    if w.ndim != 1:
        raise ValueError(f"One neuron has a vector of weights, got an array of shape {w.shape}.")
    if isinstance(activation, Sinusoid):
        frequency, phase = population.turns_of(activation)
        exact = population.gradient_of_sinusoid(w, support, bias=bias, frequency=frequency, phase=phase)
        return Routed(exact, "sinusoid")
    if activation is square or isinstance(activation, Power | OscillatingPolynomial):
        slope = population.slope_polynomial(activation)
        return Routed(population.gradient_of_polynomial(w, support, slope, bias=bias), "polynomial")
    if len(w) <= QUICK_ENUMERATION:
        found = population.gradient_by_enumeration(w[None], activation, Uniform(Parity(len(w), support)), bias=bias)
        return Routed(population.NeuronGradient(found.weight[0], np.asarray(found.bias[0])), "enumeration")
    if np.all(w == np.round(w)) and np.sum(np.abs(w)) <= MOST_SUMS:
        return Routed(gradient_by_sums(w.astype(int), support, activation, bias=bias), "sums")
    for known, kinks in KINKS:
        if activation is known:
            integrated = gradient_of_threshold(w, support, bias=bias, kinks=kinks)
            return Routed(integrated.gradient, "integral", integrated.error)
    raise ValueError(
        f"There is no exact route for n={len(w)} real weights and this activation; use integer weights, a "
        f"sinusoid, a polynomial, ReLU or ReLU6, or n <= 26 with `gradient_by_enumeration`."
    )
