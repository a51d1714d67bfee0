"""Explicit weights with which each architecture is a parity, exactly.

`realize(recipe, parity)` shows that an architecture can represent the target, and how wide it must be.
All but the products are ridge functions: with s the sum of
x over the support, which takes the k + 1 values -k, -k + 2, ..., k, the network needs to pass
through the k + 1 points (s, (-1)**((k - s) / 2)).
"""

import functools

import numpy as np
from jaxtyping import Float

from ..demands import echo
from ..targets import Parity
from .activations import (
    AbstractOfDegree,
    OscillatingPolynomial,
    Power,
    Sinusoid,
    TriangleWave,
    Zigzag,
    relu,
    relu6,
    sigmoid,
    square,
)
from .base import Network, as_floats
from .mlp import MLP, FeedForward, Layer, Neuron, OneNeuron
from .polynet import DisjointPolyNet, DisjointPolyNetwork, PolyNet, PolyNetwork
from .transformer import Transformer, TransformerNetwork

OSCILLATING = (Zigzag, TriangleWave, OscillatingPolynomial, Sinusoid)


@functools.singledispatch
def realize(recipe: object, parity: Parity) -> Network:
    """The network of this recipe with weights that make it the given parity on the whole cube."""
    raise TypeError(f"No explicit parity is known for the recipe {echo(recipe)}; recipes of this package have one.")


def _too_narrow(what: str, width: object, k: int, least: object) -> ValueError:
    return ValueError(f"{what} of width {width} cannot be a parity of k={k} coordinates; the least width is {least}.")


def _values(k: int) -> tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]:
    """The values of s in increasing order, and the parity at each."""
    s = np.arange(-k, k + 1, 2)
    return s.astype(float), 1.0 - 2.0 * (((k - s) // 2) % 2)


@realize.register
def _(recipe: MLP, parity: Parity) -> FeedForward:
    if recipe.activation is square:
        return _products(recipe, parity)
    if len(recipe.widths) > 1:
        raise ValueError(
            f"Explicit weights are known for one hidden layer, or for `square` units; got {recipe.widths}."
        )
    k, (width,) = len(parity.support), recipe.widths
    least = 1 if isinstance(recipe.activation, OSCILLATING) else max(k, 1)
    if width < least:
        raise _too_narrow("An MLP", width, k, least)
    slope, biases, outputs, constant = _ridge(recipe, k)
    units = np.arange(width) < len(biases)
    weight = slope * np.outer(units, np.asarray(parity.mask))
    pad = (0, width - len(biases))
    return FeedForward(
        (Layer(as_floats(weight), as_floats(np.pad(biases, pad))),),
        Layer(as_floats(np.pad(outputs, pad)), as_floats(constant)),
        recipe.activation,
    )


def _ridge(recipe: MLP, k: int) -> tuple[float, np.ndarray, np.ndarray, float]:
    """slope, biases, outputs and constant with sum_j outputs_j act(slope s + biases_j) + constant = parity(s)."""
    s, values = _values(k)
    jumps = np.diff(values)
    if isinstance(recipe.activation, OSCILLATING):
        _same_degree(recipe.activation, k)
        return 1.0, np.zeros(1), np.ones(1), 0.0
    if recipe.activation is relu or recipe.activation is relu6:
        # One kink at each point but the last. A small slope keeps every unit below 6.
        slope = 2 / max(k, 1)
        turns = np.diff(jumps / 2, prepend=0.0)
        return slope, -slope * s[:-1], turns / slope, values[0]
    if recipe.activation is sigmoid:
        # One step half-way between neighbours, steep enough to be flat at both.
        steep = 25.0
        return steep, -steep * (s[:-1] + 1), jumps, values[0]
    if isinstance(recipe.activation, Power):
        _same_degree(recipe.activation, k)
        return _powers(k, s, values)
    raise ValueError(f"No explicit parity is known for an MLP with activation {recipe.activation!r}.")


def _powers(k: int, s: np.ndarray, values: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, float]:
    """The parity is a polynomial of degree k in s; k powers (s + b_j)**k and a constant span those.

    Shifts at the Chebyshev points keep the system well conditioned; s is scaled to [-1, 1].
    """
    slope = 1 / k
    shifts = np.cos(np.pi * (np.arange(k) + 0.5) / k)
    columns = np.append((slope * s[:, None] + shifts) ** k, np.ones((k + 1, 1)), axis=1)
    *outputs, constant = np.linalg.solve(columns, values)
    return slope, shifts, np.array(outputs), float(constant)


def _products(recipe: MLP, parity: Parity) -> FeedForward:
    """Squares multiply: (a + b)**2 = 2 + 2ab for signs. Each layer halves the number of factors.

    A layer with fewer factors than twice its units pairs the odd one with the constant 1.
    """
    k, depth = len(parity.support), len(recipe.widths)
    needed = [max(1, -(-k // 2 ** (i + 1))) for i in range(depth)]
    if k > 2**depth or any(width < need for width, need in zip(recipe.widths, needed, strict=True)):
        depth_needed = max(1, (max(k, 1) - 1).bit_length())
        least = tuple(max(1, -(-k // 2 ** (i + 1))) for i in range(max(depth, depth_needed)))
        raise _too_narrow("A network of squares", recipe.widths, k, least)
    # `factors` holds each factor as an affine function of the layer below: a row and a constant.
    factors = [(row, 0.0) for row in np.eye(parity.n)[list(parity.support)]]
    fan_in, hidden = parity.n, []
    for width in recipe.widths:
        one = (np.zeros(fan_in), 1.0)
        factors += [one] * (len(factors) % 2 if factors else 2)
        pairs = list(zip(factors[0::2], factors[1::2], strict=True))
        weight, bias = np.zeros((width, fan_in)), np.zeros(width)
        for unit, ((left, left_constant), (right, right_constant)) in enumerate(pairs):
            weight[unit], bias[unit] = left + right, left_constant + right_constant
        hidden.append(Layer(as_floats(weight), as_floats(bias)))
        factors, fan_in = [(row / 2, -1.0) for row in np.eye(width)[: len(pairs)]], width
    ((row, constant),) = factors
    return FeedForward(tuple(hidden), Layer(as_floats(row), as_floats(constant)), recipe.activation)


def _same_degree(activation: AbstractOfDegree, k: int) -> None:
    if int(activation.k) != k:
        raise ValueError(f"{type(activation).__name__}(k={int(activation.k)}) is made for another degree than k={k}.")
    if isinstance(activation, Sinusoid) and activation.scale != 1:
        raise ValueError(f"Explicit weights are for Sinusoid at scale 1, got scale={activation.scale}.")


@realize.register
def _(recipe: Neuron, parity: Parity) -> OneNeuron:
    if not isinstance(recipe.activation, OSCILLATING):
        raise _too_narrow("A neuron without an output layer", 1, len(parity.support), "that of an MLP")
    _same_degree(recipe.activation, len(parity.support))
    return OneNeuron(Layer(as_floats(parity.mask), as_floats(0)), recipe.activation)


@realize.register
def _(recipe: PolyNet, parity: Parity) -> PolyNetwork:
    k, rows = len(parity.support), np.eye(parity.n)[list(parity.support)]
    if recipe.degree < k:
        raise _too_narrow("A PolyNet", recipe.degree, k, k)
    weight = np.pad(rows, ((0, recipe.degree - k), (0, 0)))
    return PolyNetwork(as_floats(weight), as_floats(np.arange(recipe.degree) >= k))


@realize.register
def _(recipe: DisjointPolyNet, parity: Parity) -> DisjointPolyNetwork:
    if parity.n % recipe.degree:
        raise ValueError(f"A disjoint PolyNet of degree {recipe.degree} needs equal blocks, got n={parity.n}.")
    weight = np.asarray(parity.mask).reshape(recipe.degree, -1)
    if not np.all(weight.sum(axis=1) == 1):
        raise ValueError(
            f"A disjoint PolyNet of degree {recipe.degree} holds parities with one coordinate in each block "
            f"of {weight.shape[1]}, got support={parity.support}."
        )
    return DisjointPolyNetwork(as_floats(weight))


@realize.register
def _(recipe: Transformer, parity: Parity) -> TransformerNetwork:
    """One head attends to the support alone and reads its mean; GeLUs at zero and far from it are ReLUs."""
    k = len(parity.support)
    d, a, h, m = recipe.embedding, recipe.attention, recipe.heads, recipe.mlp_width
    if m < k or d < 4 or k < 1:
        raise _too_narrow("A Transformer", f"(embedding {d}, MLP {m})", k, (4, k))
    sign, marked, read, result = np.eye(4, d)
    focus = 40.0 * np.sqrt(a)
    zeros = np.zeros
    query, key, value, out = zeros((h, d, a)), zeros((h, d, a)), zeros((h, d, a)), zeros((h, a, d))
    query[0, :, 0], key[0, :, 0], value[0, :, 0], out[0, 0] = focus * result, marked, sign, read
    # After attention: s / k along `read`, and 1 along `result` (left by the CLS token itself).
    s, values = _values(k)
    # A kink at each value of s but the last, as for ReLUs: GeLU(0) is 0, and at the next value it is linear.
    kinks, steep = s[:-1] / k, 5.0 * k
    turns = np.diff(np.diff(values) * k / 2, prepend=0.0)
    first_weight, second_weight = zeros((m, d)), zeros((d, m))
    first_weight[:k], second_weight[:, :k] = steep * read, np.outer(result, turns / steep)
    return TransformerNetwork(
        tokens=as_floats(np.stack([-sign, sign, result])),
        positions=as_floats(np.outer(parity.mask, marked)),
        query=as_floats(query),
        key=as_floats(key),
        value=as_floats(value),
        out=as_floats(out),
        first_weight=as_floats(first_weight),
        first_bias=as_floats(np.pad(-steep * kinks, (0, m - k))),
        second_weight=as_floats(second_weight),
        second_bias=as_floats((values[0] - 1) * result),
        head=as_floats(result),
    )
