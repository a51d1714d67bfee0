"""The network after the one large step of hidden-progress, Theorem 4, exactly or from a batch.

A two-layer ReLU network of sign weights w, outputs u = +-1 and biases |b| < 1 starts in pairs, as the zero function, so
that the slope of the hinge loss is -y everywhere. At odd n no point has w . x = 0, the slope of a ReLU is
(1 + majority(w * x)) / 2 whatever the bias, and the population gradient of every neuron is two Fourier coefficients of
majority (Lemma 2). The first step has rate 1 / (k |xi_{k-1}|) and erases the old weights; outputs become 0. What
is left is a network whose second layer can be trained to be the parity (Lemma 3).
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ...distributions import AbstractDistribution, Uniform
from ...networks.activations import relu
from ...networks.initializations import SignInitialization
from ...networks.mlp import MLP, FeedForward, Layer
from ...targets import Parity
from ..fourier.majority import majority_coefficients

BLOCK = 4096
"""Examples of a batch that are drawn together."""
BATCH_STREAM = 1


def sign_correlations(
    weights: Float[Array, "neurons n"], member: Bool[Array | np.ndarray, " n"], k: int
) -> Float[Array, "neurons n"]:
    """E[y x_j 1(w . x > 0)] of every neuron with sign weights, y the parity of the k members of S, n odd and k even.

    hidden-progress, Lemma 2: xi_{k-1} / 2 times the product of w over S without j for j in S, and xi_{k+1} / 2 times
    the product over S with j for the others.

    >>> sign_correlations(jnp.ones((1, 7)), np.arange(7) < 4, 4).tolist()
    [[-0.03125, -0.03125, -0.03125, -0.03125, 0.03125, 0.03125, 0.03125]]
    """
    n = weights.shape[1]
    _check(n, k)
    xi = majority_coefficients(n).astype(np.float32) / 2
    over_support = jnp.prod(jnp.where(member[None], weights, 1.0), axis=1, keepdims=True)
    # A sign is its own inverse: leaving j out of the product and taking it in are the same multiplication.
    return over_support * weights * jnp.where(member, xi[k - 1], xi[k + 1])[None]


def sampled_correlations(
    layer: Layer, task: AbstractDistribution, blocks: int | Int[Array | np.ndarray, ""], *, key: PRNGKeyArray
) -> tuple[Float[Array, "neurons n"], Float[Array, " neurons"]]:
    """The means of y x_j 1(w . x + b > 0) and of y 1(w . x + b > 0) over `blocks` blocks of fresh examples.

    The first batch of hidden-progress, Lemma 4. Sums over a block are integers below 2**24, exact in float32 and
    on tensor cores.
    """

    def add(i: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        x, y = task.sample(jr.fold_in(key, i), BLOCK)
        active = (_exact_product(x, layer.weight.T) + layer.bias[None] > 0).astype(x.dtype)
        return sums[0] + _exact_product(active.T, y[:, None] * x), sums[1] + y @ active

    nothing = jnp.zeros_like(layer.weight), jnp.zeros_like(layer.bias)
    # Integers up to 2**24 are exact in float32, and these sums stay near B times a small mean.
    weight, bias = jax.lax.fori_loop(0, blocks, add, nothing)
    examples = jnp.asarray(blocks, jnp.float32) * BLOCK
    return weight / examples, bias / examples


def _exact_product(left: Float[Array, "a b"], right: Float[Array, "b c"]) -> Float[Array, "a c"]:
    """A product of integers so small that the fastest arithmetic of a device is exact."""
    return jnp.matmul(left, right, precision=jax.lax.Precision.DEFAULT)


class OneStepMLP(eqx.Module):
    """Recipe of the network of hidden-progress, Theorem 4, after its first step and before the second layer is trained.

    The first step takes the exact gradient (Lemma 2), or with `batch` the mean over so many examples, in whole blocks
    of 4,096; the number of examples compiles nothing new. Train it with a rate for the output weights alone,
    `rate={"output.weight": ...}`: the first layer is frozen from here on, and there is no output bias.

    >>> from paritylab import root_key
    >>> network = OneStepMLP(Parity(31, range(4)), width=8)(31, key=root_key(0))
    >>> np.abs(np.asarray(network.hidden[0].weight[0, 2:6], float)).round(4).tolist()  # 1 / (2k), and 3/27 of it
    [0.125, 0.125, 0.0139, 0.0139]
    """

    task: Uniform
    width: int = eqx.field(static=True)
    k: int = eqx.field(static=True)
    blocks: Int[Array | np.ndarray, "*runs"] | None

    def __init__(self, parity: Parity, width: int, *, batch: int | None = None):
        _check(parity.n, len(parity.support))
        if batch is not None and batch < BLOCK:
            raise ValueError(
                f"A sampled first step takes at least one block of {BLOCK} examples, got batch={batch}. Raise it, or "
                "leave it out for the exact gradient."
            )
        self.task, self.width, self.k = Uniform(parity), width, len(parity.support)
        self.blocks = None if batch is None else np.asarray(round(batch / BLOCK), np.int32)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward:
        if n != self.task.n:
            raise ValueError(f"This first step is for a parity of n={self.task.n} coordinates, got n={n}.")
        start = MLP(self.width, relu, SignInitialization(self.k), paired=True)(n, key=key)
        hidden, outputs, half = start.hidden[0], start.output.weight, self.width // 2
        first = Layer(hidden.weight[:half], hidden.bias[:half])  # the others are copies of these
        if self.blocks is None:
            assert isinstance(self.task.target, Parity)
            member = jnp.asarray(self.task.target.mask)
            weight, bias = sign_correlations(first.weight, member, self.k), jnp.zeros_like(first.bias)
        else:
            batch_key = jr.fold_in(key, BATCH_STREAM)
            weight, bias = sampled_correlations(first, self.task, self.blocks, key=batch_key)
        move = first_rate(n, self.k) * outputs
        moved = Layer(move[:, None] * jnp.tile(weight, (2, 1)), hidden.bias + move * jnp.tile(bias, 2))
        return FeedForward((moved,), Layer(jnp.zeros_like(outputs), jnp.zeros_like(start.output.bias)), relu)


def first_rate(n: int, k: int) -> float:
    """1 / (k |xi_{k-1}|), the rate of the first step of hidden-progress, Theorem 10.

    >>> round(first_rate(31, 4), 2)
    50.19
    """
    _check(n, k)
    return float(1 / (k * abs(majority_coefficients(n)[k - 1])))


def parity_outputs(k: int) -> tuple[Float[np.ndarray, " units"], Float[np.ndarray, " units"]]:
    """Biases b and outputs u of k + 1 units with sum_i u_i relu(s / (2k) + b_i) = 2 (-1)**((k - s) / 2).

    s = -k, ..., k is the sum over the support. b_i = -1/2 + (i + 1) / k and u = 8k, -8k, ..., 8k, -6k, 2k, for even
    k >= 4 (hidden-progress, Lemma 3 and Claim 5 corrected: k units do not suffice, the sign was flipped).

    >>> biases, outputs = parity_outputs(4)
    >>> s = np.arange(-4, 5, 2)
    >>> (np.maximum(s[:, None] / 8 + biases, 0) @ outputs).tolist()
    [2.0, -2.0, 2.0, -2.0, 2.0]
    """
    _check(2 * k + 1, k)
    outputs = 8.0 * k * (-1.0) ** np.arange(k + 1)
    outputs[-2:] = -6.0 * k, 2.0 * k
    return -0.5 + (np.arange(k + 1) + 1) / k, outputs


def presence_probability(width: int, k: int) -> float:
    """The probability that the random start has, for each of the k + 1 biases of `parity_outputs`, a useful pair.

    A pair is useful if its weights on S are all equal, for then one of the two has the sign that Lemma 3 needs: with
    its bias a chance of p = 2**(1-k) / (2k-1). By inclusion and exclusion over the biases that no pair has
    (hidden-progress, Lemma 4).

    >>> round(presence_probability(768, 4), 4)
    0.9951
    """
    _check(2 * k + 1, k)
    if width < 2 or width % 2:
        raise ValueError(f"Units come in pairs, got width={width}. Use an even width.")
    p = 2.0 ** (1 - k) / (2 * k - 1)
    return math.fsum((-1) ** j * math.comb(k + 1, j) * (1 - j * p) ** (width // 2) for j in range(k + 2))


def _check(n: int, k: int) -> None:
    if n % 2 == 0 or k % 2 or not 4 <= k < n:
        raise ValueError(
            f"The first step of Theorem 4 needs an odd n and an even k from 4 to n - 1 (at k = 2 a bias of 1 would be "
            f"needed, at odd k there is no gap), got n={n} and k={k}."
        )
