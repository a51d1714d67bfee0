"""The network of learning-parities, Theorem 3, at its start: pairs of ReLU6 units with weights in {-1, 0, 1}."""

from typing import Literal, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..demands import echo
from .activations import relu6
from .base import check_width
from .initializations import TernaryInitialization
from .mlp import MLP, FeedForward, Layer

Pairing = Literal["copied", "negated"]
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)


class TernaryPairs(eqx.Module):
    """Recipe of 2q = `width` ReLU6 units: w uniform on {-1, 0, 1}, b = 1/(8k), u uniform on [-n/k, n/k], in pairs.

    - `copied`: a pair shares w and b and differs in the sign of u; the network starts as the zero function, which
      the proof of the theorem needs.
    - `negated`: as it is printed, w and b change sign as well. u sigma(z) - u sigma(-z) is u times z clipped at
      6, so that the network starts as a large function.

    The theorem has no output bias: it is 0 here, and stays so if it is given no rate.

    >>> from paritylab import root_key
    >>> x = jnp.ones(9) / 3
    >>> [abs(float(TernaryPairs(8, 3, pairing)(9, key=root_key(0))(x))) > 1e-3 for pairing in PAIRINGS]
    [False, True]
    """

    width: int = eqx.field(static=True)
    k: int = eqx.field(static=True)
    pairing: Pairing = eqx.field(static=True, default="copied")

    def __check_init__(self) -> None:
        check_width(self.width)
        if self.pairing not in PAIRINGS:
            raise ValueError(f"There is no pairing {echo(self.pairing)}; choose one of {', '.join(PAIRINGS)}.")

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward:
        network = MLP(self.width, relu6, TernaryInitialization(n, self.k), paired=True)(n, key=key)
        if self.pairing == "copied":
            return network
        (hidden,) = network.hidden
        sign = jnp.repeat(jnp.array([1.0, -1.0], jnp.float32), self.width // 2)
        turned = Layer(sign[:, None] * hidden.weight, sign * hidden.bias)
        return FeedForward((turned,), network.output, network.activation)
