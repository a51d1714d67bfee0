"""A layer above trained gates that learns the parity of their outputs.

Its hidden layer is given or takes one step. Given: the sharp staircase of the number of outputs at +1, on which the
output layer is a perceptron on n + 1 points. Found: one large gradient step from W = 0 with random biases (in the
manner of learning-parities), which leaves every unit with the direction of the correlations E[y s], and an output
layer that minimizes the square loss.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..networks.activations import relu
from ..networks.mlp import FeedForward, Layer

CUT = 1e-12
"""Directions whose mean square is below this share of the largest are left out of a least-squares fit."""


def sharp_embedding(n: int) -> Float[np.ndarray, "{n+1} {n+1}"]:
    """The n + 1 points to which `sharp_staircase` maps n signs, one per number of signs at +1, lifted.

    All have length sqrt(n + 1), and the parity of the signs is an output of weights +-1 on them, of length sqrt(n) for
    odd n: a perceptron makes at most n (n + 1) updates (depth-separation).

    >>> sharp_embedding(2).astype(int).tolist()
    [[-1, -1, 1], [1, -1, 1], [1, 1, 1]]
    """
    if n < 1:
        raise ValueError(f"A staircase needs at least one sign, got n={n}.")
    steps = np.clip(2 * (np.arange(n + 1)[:, None] - np.arange(1, n + 1)) + 1, -1, 1)
    return np.hstack([steps.astype(float), np.ones((n + 1, 1))])


def sign_parity(n: int) -> Float[np.ndarray, " counts"]:
    """The product of n signs by the number of them at +1, from 0 to n.

    >>> sign_parity(3).tolist()
    [-1.0, 1.0, -1.0, 1.0]
    """
    return 1.0 - 2.0 * ((n - np.arange(n + 1)) % 2)


def one_step_layer(
    s: Float[np.ndarray, "examples n"],
    y: Float[np.ndarray, " examples"],
    units: int,
    *,
    rng: np.random.Generator,
    rate: int | float = 2.0,
) -> Layer:
    """The hidden layer after one step of gradient descent from W = 0, b uniform in (0, n), outputs +1 and -1 in pairs.

    The two units of a pair share their bias, so that the network starts as zero and the slope of the hinge loss (and
    half that of the square loss) is -y on every example; b > 0, so that every unit is active. The step adds
    rate * u_i * mean(y s) to the weights of unit i and rate * u_i * mean(y) to its bias. (learning-parities, Section 4,
    with W = 0 in the place of small weights; depth-separation)

    >>> layer = one_step_layer(np.ones((4, 3)), np.ones(4), 2, rng=np.random.default_rng(0))
    >>> layer.weight.tolist()
    [[2.0, 2.0, 2.0], [-2.0, -2.0, -2.0]]
    """
    if units < 2 or units % 2:
        raise ValueError(f"Units come in pairs, got units={units}. Use an even number.")
    outputs = np.repeat([1.0, -1.0], units // 2)
    biases = np.tile(rng.uniform(0, s.shape[1], units // 2), 2)
    weights = rate * np.outer(outputs, y @ s / len(y))
    return Layer(jnp.asarray(weights), jnp.asarray(biases + rate * float(np.mean(y)) * outputs))


def hidden_outputs(layer: Layer, s: Float[np.ndarray, "examples n"]) -> Float[np.ndarray, "examples units"]:
    """The ReLU outputs of a layer, in float64."""
    return np.maximum(s @ np.asarray(layer.weight, float).T + np.asarray(layer.bias, float), 0)


def least_squares_output(
    hidden: Float[np.ndarray, "examples units"], y: Float[np.ndarray, " examples"]
) -> Float[np.ndarray, " lifted"]:
    """The output weights and bias (last) of least norm that minimize the square loss.

    From the eigenvectors of the second moments: what gradient descent from zero on the square loss tends to.

    >>> least_squares_output(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])).round(9).tolist()
    [2.0, 1.0]
    """
    features = np.hstack([hidden, np.ones((len(hidden), 1))])
    sizes, directions = np.linalg.eigh(features.T @ features)
    kept = sizes > CUT * sizes[-1]
    along = directions[:, kept]
    return np.asarray(along @ (along.T @ (features.T @ y) / sizes[kept]))


def with_output(layer: Layer, output: Float[np.ndarray, " lifted"]) -> FeedForward:
    """A hidden layer of ReLUs with output weights and bias (last) as a network.

    >>> float(with_output(Layer(jnp.ones((1, 2)), jnp.zeros(1)), np.array([2.0, 1.0]))(jnp.ones(2)))
    5.0
    """
    return FeedForward((layer,), Layer(jnp.asarray(output[:-1]), jnp.asarray(output[-1])), relu)
