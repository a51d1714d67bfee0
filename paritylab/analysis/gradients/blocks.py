"""Gradients of a neuron at large n where blocks of coordinates are independent: biased inputs, products of gates.

Under a product distribution and a parity, or a product of gates on independent pairs, the signed measure y dP is a
product over blocks of one or two coordinates. A mixture of such measures, as the easy half of the depth separation
with its shared sign, is a sum of them. So E[y x_i exp(i t w . x)] is a product of small sums, and with it all that
depends on w . x alone: at one t for a sinusoid, at all multiples of a smallest t for integer weights, whose sums take
few values (the discrete Fourier transform).
"""

from functools import singledispatch
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float, Int

from ...cube import cube
from ...demands import echo
from ...distributions import AbstractDistribution, EasyHalf, FlippedLabels, Mixture, Product, Uniform
from ...distributions.base import check_distribution
from ...distributions.gate_outputs import AbstractOutputs, IndependentOutputs, SharedSign
from ...networks.activations import Activation, Sinusoid
from ...networks.base import check_activation
from ...targets import AbstractTarget, GateProduct, Parity
from ...targets.gates import by_pattern
from .population import NeuronGradient, check_finite, product_of_others, slope_at, turns_of

ENTRIES = 2**21
"""Complex numbers of an array that is held at once."""


class SignedProduct(NamedTuple):
    """A part of y dP: `share` times a product over blocks, each with a signed mass for every pattern it can show."""

    share: float
    places: Int[np.ndarray, "blocks size"]
    """The coordinates of each block."""
    masses: Float[np.ndarray, "blocks patterns"]
    """Patterns in the order of `cube(size)`."""


def gradient_by_blocks(
    weights: Float[np.ndarray, " n"],
    activation: Activation,
    distribution: AbstractDistribution,
    *,
    bias: int | float = 0.0,
    scale: int | float = 1.0,
) -> NeuronGradient:
    """E[y x_i sigma'(scale * w . x + b)] for all i, where blocks of coordinates are independent, at any n.

    For a parity or a product of gates on uniform or independent coordinates, easy halves of independent outputs or of
    a shared sign, flipped labels, and mixtures of those: real weights with a sinusoid, integer weights with any
    activation. Rounding is that of sums of terms of size 1: some 1e-15 in each entry.

    >>> from paritylab import Parity, Product, relu
    >>> gradient_by_blocks(np.ones(101), relu, Product(Parity(101, (0, 1)), mean=0.1)).weight[[0, 2]].round(6).tolist()
    [0.108211, 0.000841]
    """
    check_finite(weights, bias)
    check_activation(activation)
    check_distribution(distribution, "gradient_by_blocks")
    w = np.asarray(weights, float)
    if w.shape != (distribution.n,):
        raise ValueError(
            f"The neuron has weights of shape {w.shape} and the distribution n={distribution.n}. Give one weight a "
            "coordinate."
        )
    if isinstance(activation, Sinusoid):
        frequency, phase = turns_of(activation)
        angles, pull = np.array([frequency * scale]), np.array([frequency * np.exp(1j * (frequency * bias + phase))])
    else:
        angles, pull = frequencies(w, activation, bias, scale)
    parts = signed_products(distribution)
    found = np.zeros(distribution.n + 1)
    for part in parts:
        found += part.share * _pulled(part, w, angles, pull)
    return NeuronGradient(found[:-1], np.asarray(found[-1]))


def frequencies(
    w: Float[np.ndarray, " n"], activation: Activation, bias: float, scale: float
) -> tuple[Float[np.ndarray, " angles"], Complex[np.ndarray, " angles"]]:
    """Angles and factors: sigma'(scale * s + b) = Re of the sum of factor * exp(i angle s) at all sums s."""
    if not np.all(w == np.round(w)):
        raise ValueError(
            f"At large n an activation that is no sinusoid needs integer weights, got {echo(w[w != np.round(w)][0])}. "
            "Use `scale` for a common factor, a `Sinusoid`, or `gradient_by_enumeration` to n = 26."
        )
    reach = int(np.abs(w).sum())
    sums = np.arange(-reach, reach + 1, 2)
    order = np.arange(reach + 1)
    slope = slope_at(activation, scale * sums + float(bias))
    angles = np.pi * order / (reach + 1)
    return angles, np.fft.fft(slope) / (reach + 1) * np.exp(1j * angles * reach)


def _pulled(
    part: SignedProduct, w: Float[np.ndarray, " n"], angles: Float[np.ndarray, " angles"], pull: np.ndarray
) -> Float[np.ndarray, " more"]:
    """Re of the sum over angles of pull * E[y x_i exp(i angle w . x)] for every i, and without x_i in the end.

    Blocks with the same weights and masses are one kind, computed once.
    """
    size = part.places.shape[1]
    table = np.concatenate([w[part.places], part.masses], axis=1)
    kinds, kind, count = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    patterns = np.asarray(cube(size), float)
    sums, masses = kinds[:, :size] @ patterns.T, kinds[:, size:]
    found = np.zeros((len(kinds), size + 1))
    step = max(1, ENTRIES // table.size)
    for start in range(0, len(angles), step):
        turns = np.exp(1j * sums[:, :, None] * angles[start : start + step])
        whole = np.einsum("kp,kpa->ka", masses, turns)
        others = product_of_others((whole ** count[:, None]).T).T * whole ** (count - 1)[:, None]
        drawn = np.einsum("kp,ps,kpa->ksa", masses, patterns, turns)
        own = np.concatenate([drawn, whole[:, None]], axis=1)
        found += np.real(np.einsum("ksa,ka,a->ks", own, others, pull[start : start + step]))
    gradient = np.zeros(len(w) + 1)
    gradient[part.places] = found[kind, :size]
    gradient[-1] = found[0, -1]
    return gradient


@singledispatch
def signed_products(distribution: AbstractDistribution) -> list[SignedProduct]:
    """y dP as a sum of products over blocks; a sentence where it is none.

    >>> from paritylab import GateProduct
    >>> from paritylab.distributions import equal_gates
    >>> [part.share for part in signed_products(equal_gates(GateProduct(("OR", "AND", "OR"))))]
    [0.5, 0.5]
    """
    raise ValueError(
        f"There is no product over independent blocks for {type(distribution).__name__}; `gradient_by_blocks` knows "
        "`Uniform`, `Product`, `EasyHalf`, `FlippedLabels` and mixtures. Use `gradient_by_enumeration` to n = 26."
    )


@signed_products.register
def _uniform(distribution: Uniform) -> list[SignedProduct]:
    return _independent(distribution.target, np.zeros(distribution.n))


@signed_products.register
def _product(distribution: Product) -> list[SignedProduct]:
    return _independent(distribution.target, np.asarray(distribution.mean, float))


@signed_products.register
def _mixture(distribution: Mixture) -> list[SignedProduct]:
    shares = np.asarray(distribution.weights, float).tolist()
    return [
        part._replace(share=share * part.share)
        for each, share in zip(distribution.parts, shares, strict=True)
        for part in signed_products(each)
    ]


@signed_products.register
def _flipped(distribution: FlippedLabels) -> list[SignedProduct]:
    kept = 1 - 2 * float(distribution.probability)
    return [part._replace(share=kept * part.share) for part in signed_products(distribution.base)]


@signed_products.register
def _easy(distribution: EasyHalf) -> list[SignedProduct]:
    gates = _gates(distribution.target)
    patterns = np.asarray(distribution.patterns, float)
    return [
        SignedProduct(share, _pairs(len(gates)), gates * patterns * (1 + mean[:, None] * gates) / 2)
        for share, mean in _independent_outputs(distribution.outputs)
    ]


def _independent(target: AbstractTarget, mean: Float[np.ndarray, " n"]) -> list[SignedProduct]:
    """Independent coordinates with these means."""
    if isinstance(target, Parity):
        signs = np.array([1.0, -1.0])
        label = np.where(np.asarray(target.mask, bool)[:, None], signs, 1.0)
        return [SignedProduct(1.0, np.arange(target.n)[:, None], label * (1 + mean[:, None] * signs) / 2)]
    if isinstance(target, GateProduct):
        places, patterns = _pairs(target.pairs), np.asarray(cube(2), float)
        probability = np.prod((1 + mean[places][:, None] * patterns) / 2, axis=2)
        return [SignedProduct(1.0, places, _gates(target) * probability)]
    raise ValueError(
        f"{type(target).__name__} is no product over blocks of coordinates; `gradient_by_blocks` knows `Parity` and "
        "`GateProduct`. Use `gradient_by_enumeration` to n = 26."
    )


def _independent_outputs(outputs: AbstractOutputs) -> list[tuple[float, Float[np.ndarray, " pairs"]]]:
    """A law of outputs as a mixture of independent ones: shares and means."""
    if isinstance(outputs, IndependentOutputs):
        return [(1.0, np.asarray(outputs.mean, float))]
    if isinstance(outputs, SharedSign):
        mean, kept = float(outputs.mean), (1 - 2 * float(outputs.flip)) * np.asarray(outputs.direction, float)
        return [((1 + mean) / 2, kept), ((1 - mean) / 2, -kept)]
    raise ValueError(
        f"{type(outputs).__name__} is no mixture of few laws of independent outputs; `gradient_by_blocks` knows "
        "`IndependentOutputs` and `SharedSign`. Use `gradient_by_enumeration` to n = 26."
    )


def _gates(target: GateProduct) -> Float[np.ndarray, "pairs 4"]:
    return np.asarray(by_pattern(np.asarray(target.tables, float)), float)


def _pairs(pairs: int) -> Int[np.ndarray, "pairs 2"]:
    """The coordinates of each gate of a point (x, z)."""
    return np.arange(2 * pairs).reshape(2, pairs).T
