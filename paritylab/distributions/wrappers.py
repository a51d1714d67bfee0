"""Distributions made from others: mixtures, label flips, shifted inputs, other encodings, held-out test data."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..cube import ENCODINGS, Encoding, encode
from ..demands import as_numbers, check_kind, check_number, echo
from .base import AbstractDistribution, Examples, Support, check_distribution, check_draw


class Mixture(AbstractDistribution):
    """Each example comes from `parts[i]` with probability `weights[i]`."""

    parts: tuple[AbstractDistribution, ...]
    weights: Float[Array | np.ndarray, "*runs parts"]

    def __init__(self, parts: Sequence[AbstractDistribution], weights: Sequence[float]):
        check_kind("parts", parts, Sequence, "a sequence of distributions")
        for part in parts:
            check_distribution(part, "Mixture")
        shares = as_numbers("weights", weights)
        if (
            not parts
            or shares.ndim != 1
            or len(parts) != len(shares)
            or not np.all(shares >= 0)
            or abs(shares.sum() - 1) > 1e-9
        ):
            raise ValueError(
                f"`Mixture` needs a weight >= 0 for each of its {len(parts)} parts, with sum 1, "
                f"got weights={echo(weights)}."
            )
        if len({part.n for part in parts}) != 1:
            raise ValueError(f"The parts of a `Mixture` must share n, got n={[part.n for part in parts]}.")
        self.parts = tuple(parts)
        self.weights = shares

    @property
    def n(self) -> int:
        return self.parts[0].n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        choice_key, *keys = jr.split(key, 1 + len(self.parts))
        bounds = jnp.cumsum(jnp.asarray(self.weights, jnp.float32))[:-1]
        choice = jnp.sum(jr.uniform(choice_key, (batch, 1), jnp.float32) >= bounds[None], axis=1, dtype=jnp.int32)
        drawn = [part.sample(part_key, batch) for part, part_key in zip(self.parts, keys, strict=True)]
        x, y = drawn[0]
        for i, (other_x, other_y) in enumerate(drawn[1:], start=1):
            x, y = _where(choice == i, other_x, x), _where(choice == i, other_y, y)
        return x, y

    def support(self) -> Support:
        pieces = [part.support() for part in self.parts]
        weights = jnp.asarray(self.weights, jnp.float32)
        return (
            jnp.concatenate([x for x, _, _ in pieces]),
            jnp.concatenate([y for _, y, _ in pieces]),
            jnp.concatenate([weights[i] * probability for i, (_, _, probability) in enumerate(pieces)]),
        )

    def clean(self) -> "Mixture":
        return eqx.tree_at(lambda mixture: mixture.parts, self, tuple(part.clean() for part in self.parts))


def _where(choice: Bool[Array, " batch"], new: Array, old: Array) -> Array:
    """Row by row, whatever a row is."""
    return jnp.where(choice.reshape(-1, *[1] * (new.ndim - 1)), new, old)


class FlippedLabels(AbstractDistribution):
    """Each label is flipped with the given probability, independently (hidden-progress, noisy parities)."""

    base: AbstractDistribution
    probability: Float[Array | np.ndarray, "*runs"]

    def __init__(self, base: AbstractDistribution, probability: float | None = None):
        check_distribution(base, "FlippedLabels")
        if probability is None:
            raise TypeError("`FlippedLabels` needs a probability, such as FlippedLabels(Uniform(target), 0.1).")
        check_number("probability", probability)
        if not 0 <= probability <= 1:
            raise ValueError(f"A flip needs a probability between 0 and 1, got probability={probability}.")
        self.base = base
        self.probability = np.asarray(probability, float)

    @property
    def n(self) -> int:
        return self.base.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        base_key, flip_key = jr.split(key)
        x, y = self.base.sample(base_key, batch)
        flip = jr.uniform(flip_key, (batch,), jnp.float32) < jnp.asarray(self.probability, jnp.float32)
        return x, _where(flip, -y, y)

    def support(self) -> Support:
        x, y, probability = self.base.support()
        flip = jnp.asarray(self.probability, probability.dtype)
        return (
            jnp.concatenate([x, x]),
            jnp.concatenate([y, -y]),
            jnp.concatenate([(1 - flip) * probability, flip * probability]),
        )

    def clean(self) -> AbstractDistribution:
        return self.base.clean()


class ShiftedInputs(AbstractDistribution):
    """Each coordinate is moved by an independent uniform number in [-amplitude, amplitude]; labels stay."""

    base: AbstractDistribution
    amplitude: Float[Array | np.ndarray, "*runs"]

    def __init__(self, base: AbstractDistribution, amplitude: float):
        check_distribution(base, "ShiftedInputs")
        check_number("amplitude", amplitude)
        if amplitude < 0:
            raise ValueError(f"A shift needs an amplitude >= 0, got amplitude={amplitude}.")
        self.base = base
        self.amplitude = np.asarray(amplitude, float)

    @property
    def n(self) -> int:
        return self.base.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        base_key, shift_key = jr.split(key)
        x, y = self.base.sample(base_key, batch)
        shift = jr.uniform(shift_key, x.shape, jnp.float32, -1.0, 1.0)
        return x + jnp.asarray(self.amplitude, jnp.float32) * shift, y

    def support(self) -> Support:
        raise ValueError(
            f"`ShiftedInputs` with amplitude={self.amplitude} is continuous and has no finite support; "
            "use `sample`, or the support of its base."
        )

    def clean(self) -> "ShiftedInputs":
        return eqx.tree_at(lambda shifted: shifted.base, self, self.base.clean())


class Encoded(AbstractDistribution):
    """The same distribution with its points written +-1/sqrt(n) (`unit`) or 0 and 1 (`bits`); labels stay."""

    base: AbstractDistribution
    encoding: Encoding = eqx.field(static=True)

    def __check_init__(self) -> None:
        check_distribution(self.base, "Encoded")
        if self.encoding not in ENCODINGS:
            raise ValueError(f"There is no encoding {echo(self.encoding)}; choose one of {', '.join(ENCODINGS)}.")

    @property
    def n(self) -> int:
        return self.base.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        x, y = self.base.sample(key, batch)
        return encode(x, self.encoding), y

    def support(self) -> Support:
        x, y, probability = self.base.support()
        return encode(x, self.encoding), y, probability

    def clean(self) -> "Encoded":
        return Encoded(self.base.clean(), self.encoding)


class HeldOut(AbstractDistribution):
    """Trained on one distribution and validated on another: validation points and fresh examples come from `test`.

    >>> from paritylab import Parity, Product, Uniform
    >>> task = HeldOut(Product(Parity(3, (0, 1)), 0.5), Uniform(Parity(3, (0, 1))))
    >>> type(task.clean()).__name__
    'Uniform'
    """

    train: AbstractDistribution
    test: AbstractDistribution

    def __check_init__(self) -> None:
        for part in (self.train, self.test):
            check_distribution(part, "HeldOut")
        if self.train.n != self.test.n:
            raise ValueError(f"Both distributions of `HeldOut` must share n, got n={self.train.n} and {self.test.n}.")

    @property
    def n(self) -> int:
        return self.train.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        return self.train.sample(key, batch)

    def support(self) -> Support:
        return self.train.support()

    def clean(self) -> AbstractDistribution:
        return self.test.clean()
