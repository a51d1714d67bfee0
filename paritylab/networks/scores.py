"""Networks that score a class: multi-class labels in an engine for networks of one output."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from .activations import Activation, relu
from .base import check_width
from .initializations import UniformInitialization
from .mlp import Layer, _layer


class ScoreNetwork(eqx.Module):
    """log P(class | x) - log(1 - P(class | x)) by softmax, where the class is the last coordinate.

    With label 1 the logistic loss of this score is the cross-entropy of the class.
    """

    layers: tuple[Layer, ...]
    activation: Activation

    def logits(self, x: Float[Array, "n points"]) -> Float[Array, "classes points"]:
        """One number for each class; the last coordinate is ignored."""
        x = x[:-1]
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, " points"]:
        logits = self.logits(x)
        mine = jnp.arange(len(logits), dtype=jnp.int32)[:, None] == x[-1].astype(jnp.int32)[None]
        others = jax.nn.logsumexp(jnp.where(mine, -jnp.inf, logits), axis=0)
        return jnp.sum(jnp.where(mine, logits, 0), axis=0) - others

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.columns(x[:, None])[0]


class PatchScores(eqx.Module):
    """Recipe of a ReLU network from inputs to classes, with the class to be scored as the last coordinate.

    >>> from paritylab.cube import root_key
    >>> network = PatchScores((16, 8), classes=10)(28, key=root_key(0))
    >>> [layer.weight.shape for layer in network.layers]
    [(16, 27), (8, 16), (10, 8)]
    """

    widths: tuple[int, ...] = eqx.field(static=True)
    classes: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        for width in self.widths:
            check_width(width)
        if self.classes < 2:
            raise ValueError(f"A network that scores classes needs at least two, got classes={self.classes}.")

    def __call__(self, n: int, *, key: PRNGKeyArray) -> ScoreNetwork:
        sizes = (n - 1, *self.widths, self.classes)
        keys = jr.split(key, len(sizes) - 1)
        start = UniformInitialization()
        layers = [_layer(start, each, *pair) for each, pair in zip(keys, itertools.pairwise(sizes), strict=True)]
        return ScoreNetwork(tuple(layers), relu)
