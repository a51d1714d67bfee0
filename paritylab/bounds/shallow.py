"""Lower bounds on the loss and error of a shallow network on products of gates, from its weights.

The discrepancy of its units bounds E[F N] by c(N); a convex loss that falls with the margin cannot be
small then (Theorem A), and the error can be small only where the output is small, or of high rank
(Z1 to Z4). Source: depth-separation. F is any product of n gates, under the uniform distribution.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float

from ..cube import cube
from ..networks import relu
from ..networks.mlp import FeedForward
from .base import Assumption, Bound, check_positive, number, parts_of
from .discrepancy import unit_bounds

Form = Literal["length", "tails", "norms", "best"]

LARGEST_HALF = 12


@dataclasses.dataclass(frozen=True)
class ShallowNetwork:
    """N(x, z) = output_bias + sum of output_i relu(<left_i, x> + <right_i, z> + bias_i).

    >>> one = np.ones((1, 2))
    >>> ShallowNetwork(one, one, np.zeros(1), np.ones(1), -1.0).values()[0].tolist()
    [3.0, 1.0, 1.0, -1.0]
    """

    left: Float[np.ndarray, "units half"]
    right: Float[np.ndarray, "units half"]
    bias: Float[np.ndarray, " units"]
    output: Float[np.ndarray, " units"]
    output_bias: float = 0.0

    @classmethod
    def of(cls, network: FeedForward) -> "ShallowNetwork":
        """A trained ReLU network with one hidden layer; x is the first half of its inputs and z the second."""
        if len(network.hidden) != 1 or network.activation is not relu:
            raise ValueError(
                f"These bounds are for one hidden layer of ReLU units, got {len(network.hidden)} layers with "
                f"{network.activation}."
            )
        weights = np.asarray(network.hidden[0].weight, np.float64)
        if weights.shape[1] % 2:
            raise ValueError(f"A network on two halves needs an even number of inputs, got {weights.shape[1]}.")
        left, right = np.split(weights, 2, axis=1)
        bias, output = (np.asarray(part, np.float64) for part in (network.hidden[0].bias, network.output.weight))
        return cls(left, right, bias, output, float(network.output.bias))

    @property
    def half(self) -> int:
        """The length of x, and of z."""
        return self.left.shape[1]

    @property
    def size(self) -> float:
        """L, the largest value that the weights allow: |u0| + sum of |u_i| (|w_i|_1 + |v_i|_1 + b_i)_+."""
        reach = np.abs(self.left).sum(axis=1) + np.abs(self.right).sum(axis=1) + self.bias
        return abs(self.output_bias) + float(np.abs(self.output) @ np.maximum(reach, 0))

    def values(self) -> Float[np.ndarray, "rows columns"]:
        """N at all points, rows x and columns z in the order of the cube."""
        if self.half > LARGEST_HALF:
            raise ValueError(
                f"The values on two halves of {self.half} bits are 4**{self.half} numbers; they are listed up to "
                f"{LARGEST_HALF} bits (128 MB). The bounds need the weights only."
            )
        points = np.asarray(cube(self.half), np.float64)
        total = np.full((len(points), len(points)), self.output_bias)
        units = zip(self.left @ points.T, self.right @ points.T, self.bias, self.output, strict=True)
        for rows, columns, bias, output in units:
            total += output * np.maximum(rows[:, None] + columns + bias, 0)
        return total


def network_correlation(network: ShallowNetwork, form: Form = "best") -> Bound:
    """c(N) >= |E[F N]|: |u0| 2^-n plus the bounds of the units times |u_i| (depth-separation, Theorem A).

    `form` is the bound used for the units: `length` (B1), `tails` (B2), `norms` (B3) or the best.

    >>> one = np.ones((1, 4))
    >>> round(network_correlation(ShallowNetwork(one, one, np.zeros(1), np.ones(1)), "length").value, 4)
    2.0
    """
    units = getattr(unit_bounds(network.left, network.right, network.bias), form)
    value = abs(network.output_bias) * 2.0**-network.half + float(np.abs(network.output) @ units)
    sentence = f"This network correlates with every product of {network.half} gates by at most {number(value)}."
    return Bound(value, "at most", sentence, "depth-separation, Theorem A")


def network_hinge(network: ShallowNetwork, *, share: int | float = 1.0, form: Form = "best") -> Bound:
    """The hinge loss of a given network on a product of gates is at least share (1 - c(N)).

    `share` is the weight of the uniform distribution in a mixture (1/2 in depth-separation). By Jensen the same holds
    for every convex loss l that does not grow with the margin: at least l(c); the part `square` is (1 - c)^2.
    Source: depth-separation, Theorem A.

    >>> nothing = ShallowNetwork(np.zeros((1, 4)), np.zeros((1, 4)), np.zeros(1), np.ones(1), 0.0)
    >>> print(network_hinge(nothing, share=0.5))
    The hinge loss of this network on a product of 4 gates is at least 0.5. [depth-separation, Theorem A]
    """
    _check_share(share)
    correlation = network_correlation(network, form).value
    left = max(0.0, 1 - correlation)
    sentence = (
        f"The hinge loss of this network on a product of {network.half} gates is at least {number(share * left)}."
    )
    parts = parts_of(correlation=correlation, square=share * left**2)
    return Bound(share * left, "at least", sentence, "depth-separation, Theorem A", parts=parts)


def hinge_of_sizes(
    half: int, *, width: int, weight: int | float, output: int | float, share: int | float = 1.0
) -> Bound:
    """The same for all networks with this width, inner weights and biases up to B, outer weights up to U.

    c <= k U B (2n + 1) 2^(-n/2) + U 2^-n (depth-separation, Theorem A).

    >>> round(hinge_of_sizes(40, width=1000, weight=1, output=1).value, 4)
    0.9228
    """
    _check_share(share)
    check_positive(half=half, width=width, weight=weight, output=output)
    correlation = output * (width * weight * (2 * half + 1) * 2.0 ** (-half / 2) + 2.0**-half)
    value = share * max(0.0, 1 - correlation)
    sentence = (
        f"No network of {width:,} ReLU units with weights up to {number(weight)} and outputs up to {number(output)} "
        f"has a hinge loss below {number(value)} on a product of {half} gates."
    )
    return Bound(value, "at least", sentence, "depth-separation, Theorem A", parts=parts_of(correlation=correlation))


def hinge_curve(
    halves: Sequence[int], *, width: int, weight: int | float, output: int | float, share: int | float = 1.0
) -> Float[np.ndarray, " halves"]:
    """`hinge_of_sizes` for several n: the loss of shallow networks over n.

    >>> hinge_curve([10, 20, 30, 40], width=100, weight=1, output=1).round(3).tolist()
    [0.0, 0.0, 0.814, 0.992]
    """
    curve = [hinge_of_sizes(n, width=width, weight=weight, output=output, share=share).value for n in halves]
    return np.array(curve)


def discrepancy_width(half: int, *, correlation: int | float, weight: int | float, output: int | float) -> Bound:
    """The width without which no network correlates so much: (c/U - 2^-n) 2^(n/2) / (B (2n + 1)).

    A margin gamma everywhere needs correlation gamma; a hinge loss of h where the uniform distribution has weight
    s needs 1 - h/s (depth-separation, Theorem A: for h = 1/4 and s = 1/2 this is 1/2).

    >>> discrepancy_width(60, correlation=0.5, weight=1, output=1).value
    4436950.0
    """
    check_positive(half=half, correlation=correlation, weight=weight, output=output)
    exact = (correlation / output - 2.0**-half) * 2.0 ** (half / 2) / (weight * (2 * half + 1))
    value = max(0, math.ceil(exact * (1 - 1e-12)))  # an integer that rounding lifted is not raised by one
    sentence = (
        f"A ReLU network with weights up to {number(weight)} and outputs up to {number(output)} needs at least "
        f"{value:,} units to correlate by {number(correlation)} with a product of {half} gates."
    )
    return Bound(float(value), "at least", sentence, "depth-separation, Theorem A")


def weighted_error(half: int, *, correlation: int | float, mean_size: int | float) -> Bound:
    """Z1: the error weighted by |N|, E[|N| 1{F N < 0}] / E|N|, is at least 1/2 - c / (2 E|N|).

    It equals (1 - E[F N] / E|N|) / 2 (depth-separation, Z1). `correlation` is c(N).

    >>> weighted_error(8, correlation=0.5, mean_size=2.0).value
    0.375
    """
    check_positive(half=half, mean_size=mean_size)
    value = max(0.0, 0.5 - correlation / (2 * mean_size))
    sentence = (
        f"Weighted by its confidence, the error of this network on a product of {half} gates is at least "
        f"{number(value)}."
    )
    return Bound(value, "at least", sentence, "depth-separation, Z1")


def error_from_moments(
    half: int, *, correlation: int | float, mean_size: int | float, mean_square: int | float
) -> Bound:
    """Z2: the error is at least (E|N| - c)_+^2 / (4 E[N^2]) (Z1 and Cauchy-Schwarz; depth-separation, Z2).

    >>> error_from_moments(8, correlation=1.0, mean_size=2.0, mean_square=4.0).value
    0.0625
    """
    check_positive(half=half, mean_size=mean_size, mean_square=mean_square)
    value = max(0.0, mean_size - correlation) ** 2 / (4 * mean_square)
    sentence = f"The error of this network on a product of {half} gates is at least {number(value)}."
    assumptions = (Assumption("E|N|^2 <= E[N^2]", mean_size**2 <= mean_square * (1 + 1e-12)),)
    return Bound(value, "at least", sentence, "depth-separation, Z2", assumptions)


def margin_error(network: ShallowNetwork, *, margin: int | float, form: Form = "best") -> Bound:
    """Z3: P[F N < gamma] >= (gamma - c) / (gamma + L), with L the largest value that the weights allow.

    c <= L 2^(-n/2), the form of depth-separation, Z3.

    >>> nothing = ShallowNetwork(np.zeros((1, 4)), np.zeros((1, 4)), np.zeros(1), np.ones(1), 0.0)
    >>> margin_error(nothing, margin=1.0).value
    1.0
    """
    check_positive(margin=margin)
    correlation = network_correlation(network, form).value
    value = max(0.0, (margin - correlation) / (margin + network.size))
    sentence = (
        f"This network misses the margin {number(margin)} on a product of {network.half} gates with probability at "
        f"least {number(value)}."
    )
    return Bound(value, "at least", sentence, "depth-separation, Z3")


def error_from_rank(half: int, *, rank: int) -> Bound:
    """Z4, a robust form of Forster's theorem: a matrix of rank r has the wrong sign, or 0, on a fraction of entries.

    At least (1 - r 2^(-n/2))_+^2 / (4r), for any real matrix against a product of n gates. In isotropic
    position the entries have mean square 1/r, and the wrong ones carry at most sqrt(error / r) of the sum
    (depth-separation, Z4). A network with integer inner weights has r = 1 + the sum of `rank_of_units`.

    >>> round(error_from_rank(20, rank=16).value, 4)
    0.0151
    """
    check_positive(half=half, rank=rank)
    value = max(0.0, 1 - rank * 2.0 ** (-half / 2)) ** 2 / (4 * rank)
    sentence = f"A network of rank {rank:,} has an error of at least {number(value)} on a product of {half} gates."
    return Bound(value, "at least", sentence, "depth-separation, Z4")


def _check_share(share: int | float) -> None:
    if not 0 < share <= 1:
        raise ValueError(f"The share of the uniform distribution lies in (0, 1], got share={share}.")
