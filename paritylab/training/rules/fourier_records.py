"""Records of Fourier coefficients: of the network's output, and of each of its hidden units.

Coefficients are those under the uniform distribution, whatever the network is trained on: over all points of the cube
up to n = 12, else an average over fresh uniform points, with a standard deviation of at most max |f| / sqrt(points).
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float

from ...cube import Encoding, cube, encode, random_signs
from ...demands import check_kind, check_whole
from ...distributions import AbstractDistribution, Encoded, Mixture
from ...networks.base import outputs
from ...targets import AbstractTarget, Parity
from .records import RECORD_STREAM, AbstractRecord, Snapshot

LARGEST_CUBE = 12
"""Up to this n coefficients are exact."""
POINT_STREAM = 1
AT_ONCE, PART = 2**13, 2**11
"""So many points are taken together; if there are more, in such parts."""


class OutputFourier(AbstractRecord):
    """The coefficients E[f(x) chi_S(x)] of the network's output f, for each subset S."""

    subsets: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    points: int = eqx.field(static=True, default=8192)
    name = "output_fourier"

    def __check_init__(self) -> None:
        _check(self.subsets, self.points)

    def __call__(self, snapshot: Snapshot) -> Array:
        x, characters = _points(snapshot, self.subsets, self.points)
        return characters @ _outputs(snapshot.network, x) / len(x)


class NeuronFourier(AbstractRecord):
    """The coefficients E[h_j(x) chi_S(x)] of first-layer units h_j, a row for each unit, a column for each subset S.

    For networks with a first hidden layer and an activation, such as `MLP`. Where the label is the parity of S, the
    column of S is the correlation of each unit with the label.
    """

    subsets: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    neurons: tuple[int, ...] | None = eqx.field(static=True, default=None)
    """Their numbers; all units if None."""
    points: int = eqx.field(static=True, default=8192)
    name = "neuron_fourier"

    def __check_init__(self) -> None:
        _check(self.subsets, self.points)
        for neuron in self.neurons or ():
            check_whole("neurons", neuron, 0)

    def __call__(self, snapshot: Snapshot) -> Array:
        x, characters = _points(snapshot, self.subsets, self.points)
        hidden = hidden_units(snapshot.network, x)
        if self.neurons is not None:
            if not all(neuron < len(hidden) for neuron in self.neurons):
                raise ValueError(f"The first layer has units 0 to {len(hidden) - 1}, got neurons={self.neurons}.")
            hidden = hidden[np.array(self.neurons, int)]
        return hidden @ characters.T / len(x)


class SupportFourier(AbstractRecord):
    """The coefficients E[f(x) chi_T(x)] of the output f for subsets T of the support of each run's own parity.

    A subset names places in the support, whose coordinates are counted from the least: with degree 3, (0, 1, 2) is the
    parity itself, wherever it lies. So supports may be drawn at random. Of a parity of another degree nothing is
    recorded but NaN.
    """

    degree: int = eqx.field(static=True)
    subsets: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    points: int = eqx.field(static=True, default=8192)
    name = "support_fourier"

    def __check_init__(self) -> None:
        check_whole("degree", self.degree, 1)
        _check(self.subsets, self.points)
        if wrong := [subset for subset in self.subsets if max(subset, default=0) >= self.degree]:
            raise ValueError(f"A support of {self.degree} has places 0 to {self.degree - 1}, got {wrong[0]}.")

    def __call__(self, snapshot: Snapshot) -> Array:
        target = target_of(snapshot.distribution)
        if not isinstance(target, Parity):
            raise ValueError("`SupportFourier` is for parities, whose support it follows. Use `OutputFourier`.")
        x, signs = _signs(snapshot, self.points)
        (places,) = jnp.nonzero(target.mask, size=self.degree)
        found = _characters(signs[:, places], self.subsets) @ outputs(snapshot.network, x) / len(x)
        return jnp.where(jnp.sum(target.mask) == self.degree, found, jnp.nan)


def _outputs(network: Any, x: Float[Array, "points n"]) -> Float[Array, " points"]:
    """What the network gives, at so many points a part at a time: units times points are more than the weights."""
    if (count := len(x)) <= AT_ONCE:
        return outputs(network, x)
    parts = jnp.pad(x, ((0, -count % PART), (0, 0))).reshape(-1, PART, x.shape[1])
    return jax.lax.map(lambda part: outputs(network, part), parts).reshape(-1)[:count]


def hidden_units(network: Any, x: Float[Array, "points n"]) -> Float[Array, "units points"]:
    """What the units of the first layer give at some points."""
    layers, activation = getattr(network, "hidden", None), getattr(network, "activation", None)
    if layers is None or activation is None:
        raise ValueError(
            f"`NeuronFourier` needs a first layer and its activation, and {type(network).__name__} has none under the "
            "names `hidden` and `activation`. Use `OutputFourier`."
        )
    first = layers[0] if isinstance(layers, tuple) else layers
    return jnp.atleast_2d(activation(first(x.T)))


def _check(subsets: Any, points: Any) -> None:
    check_kind("subsets", subsets, tuple, "a tuple of subsets, such as ((0, 1), (0, 1, 2))")
    if not subsets:
        raise ValueError("Coefficients of no subset would record nothing. Name at least one, such as ((0, 1),).")
    for subset in subsets:
        check_kind("subsets", subset, tuple, "a tuple of subsets, such as ((0, 1), (0, 1, 2))")
        for coordinate in subset:
            check_whole("subsets", coordinate, 0)
        if len(set(subset)) < len(subset):
            raise ValueError(f"A subset names each coordinate once, got {subset}.")
    check_whole("points", points, 1)


def _points(
    snapshot: Snapshot, subsets: Sequence[tuple[int, ...]], points: int
) -> tuple[Float[Array, "points n"], Float[Array, "subsets points"]]:
    """Uniform points as the network sees them, and the characters of the subsets there."""
    n = snapshot.distribution.n
    if wrong := [subset for subset in subsets if max(subset, default=0) >= n]:
        raise ValueError(f"A subset has coordinates 0 to {n - 1}, got {wrong[0]}.")
    x, signs = _signs(snapshot, points)
    return x, _characters(signs, subsets)


def _signs(snapshot: Snapshot, points: int) -> tuple[Float[Array, "points n"], Float[Array, "points n"]]:
    """Uniform points as the network sees them, and as signs."""
    n = snapshot.distribution.n
    if n <= LARGEST_CUBE:
        signs = cube(n)
    else:
        key = jr.fold_in(jr.fold_in(jr.fold_in(snapshot.data_key, RECORD_STREAM), POINT_STREAM), snapshot.step)
        signs = random_signs(key, points, n)
    dtype = snapshot.rule.dtype
    return encode(signs, encoding_of(snapshot.distribution)).astype(dtype), signs.astype(dtype)


def _characters(signs: Float[Array, "points n"], subsets: Sequence[tuple[int, ...]]) -> Float[Array, "subsets points"]:
    return jnp.stack([jnp.prod(signs[:, np.array(subset, int)], axis=1) for subset in subsets])


def encoding_of(distribution: AbstractDistribution) -> Encoding:
    """How the points of a distribution are written."""
    here: Any = distribution
    while here is not None:
        if isinstance(here, Encoded):
            return here.encoding
        here = getattr(here, "base", None)
    return "signs"


def target_of(distribution: AbstractDistribution) -> AbstractTarget | None:
    """What the labels of a distribution are, without its wrappers; of a mixture, those of its first part."""
    here: Any = distribution
    while here is not None and not hasattr(here, "target"):
        here = here.parts[0] if isinstance(here, Mixture) else getattr(here, "base", None)
    return None if here is None else here.target  # type: ignore[no-any-return]
