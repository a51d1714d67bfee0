"""A causal Transformer of the shape of GPT-2: layer norm before each block, learned positions, tied tokens."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..demands import check_whole
from .base import check_initialization, check_width
from .initializations import AbstractInitialization, NormalInitialization
from .one_matrix import check_steps

EPSILON = 1e-5


class Norm(eqx.Module):
    """Layer norm."""

    scale: Float[Array, "*layers embedding"]
    shift: Float[Array, "*layers embedding"]

    def __call__(self, h: Float[Array, "tokens embedding"]) -> Float[Array, "tokens embedding"]:
        centred = h - jnp.mean(h, axis=1, keepdims=True)
        deviation = jnp.sqrt(jnp.mean(centred**2, axis=1, keepdims=True) + EPSILON)
        return centred / deviation * self.scale[None] + self.shift[None]


class Affine(eqx.Module):
    """Token by token."""

    weight: Float[Array, "*layers out inputs"]
    bias: Float[Array, "*layers out"]

    def __call__(self, h: Float[Array, "tokens inputs"]) -> Float[Array, "tokens out"]:
        return h @ self.weight.T + self.bias[None]


class Block(eqx.Module):
    """Attention and a layer of hidden units, each added to what went in; of all layers, one after the other."""

    before_attention: Norm
    query: Affine
    key: Affine
    value: Affine
    mix: Affine
    before_hidden: Norm
    hidden: Affine
    output: Affine


class Memory(eqx.Module):
    """Keys and values of all positions; those that nothing was said at yet are 0 and not attended to."""

    keys: Float[Array, "*layers length heads attention"]
    values: Float[Array, "*layers length heads attention"]


class CausalNetwork(eqx.Module):
    """Reads the inputs, then says one number after the other; the sign of each is the next token.

    A step that is given (not 0) is the next token in its place. An output is the logit of +1 less that of -1, each the
    product with the token's own embedding.
    """

    tokens: Float[Array, "2 embedding"]  # -1, +1
    positions: Float[Array, "n embedding"]
    blocks: Block
    last: Norm
    heads: int = eqx.field(static=True)
    outputs: int | None = eqx.field(static=True)

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, "*outputs"]:
        length, width = self.positions.shape
        inputs = length - (1 if self.outputs is None else self.outputs) + 1
        layers = self.blocks.query.bias.shape[0]
        nothing = jnp.zeros((layers, length, self.heads, width // self.heads), x.dtype)
        memory, first = self._read(Memory(nothing, nothing), x[:inputs], jnp.int32(0))
        if self.outputs is None:
            return first

        def say(
            so_far: tuple[Memory, Float[Array, ""]], step: tuple[Float[Array, ""], Int[Array, ""]]
        ) -> tuple[tuple[Memory, Float[Array, ""]], Float[Array, ""]]:
            memory, said = so_far
            given, place = step
            token = jnp.where(given != 0, given, jnp.where(said >= 0, 1, -1).astype(x.dtype))
            memory, said = self._read(memory, token[None], place)
            return (memory, said), said

        places = jnp.arange(inputs, length, dtype=jnp.int32)
        _, others = jax.lax.scan(say, (memory, first), (x[inputs:], places))
        return jnp.concatenate([first[None], others])

    def _read(
        self, memory: Memory, x: Float[Array, " tokens"], first: Int[Array, ""]
    ) -> tuple[Memory, Float[Array, ""]]:
        """What is known after some more tokens, from place `first` on, and what is said after the last of them."""
        minus, plus = self.tokens
        place = jax.lax.dynamic_slice_in_dim(self.positions, first, len(x))
        up = (1 + x)[:, None] / 2
        h = up * plus[None] + (1 - up) * minus[None] + place

        def through(h: Float[Array, "tokens embedding"], layer: tuple[Block, Memory]) -> tuple[Any, Memory]:
            return _layer(layer[0], h, layer[1], first, self.heads)

        h, memory = jax.lax.scan(through, h, (self.blocks, memory))
        return memory, self.last(h[-1:])[0] @ (plus - minus)


def _layer(
    block: Block, h: Float[Array, "tokens embedding"], memory: Memory, first: Int[Array, ""], heads: int
) -> tuple[Float[Array, "tokens embedding"], Memory]:
    """One layer: the new tokens attend to all that came before each of them, and to themselves."""
    normed = block.before_attention(h)
    split = lambda each: each.reshape(len(h), heads, -1)
    query, key, value = split(block.query(normed)), split(block.key(normed)), split(block.value(normed))
    keys, values = (
        jax.lax.dynamic_update_slice_in_dim(old, new, first, axis=0)
        for old, new in ((memory.keys, key), (memory.values, value))
    )
    places = jnp.arange(len(keys), dtype=jnp.int32)
    seen = places[None] <= (first + places[: len(h)])[:, None]
    scores = jnp.einsum("tha,sha->hts", query, keys) / query.shape[-1] ** 0.5
    weights = jax.nn.softmax(jnp.where(seen[None], scores, -jnp.inf), axis=2)
    mixed = jnp.einsum("hts,sha->tha", weights, values).reshape(h.shape)
    h = h + block.mix(mixed)
    h = h + block.output(jax.nn.gelu(block.hidden(block.before_hidden(h)), approximate=True))
    return h, Memory(keys, values)


class CausalTransformer(eqx.Module):
    """Recipe of a causal Transformer of the shape of GPT-2, which reads coordinates as tokens; no dropout.

    With `outputs` it is for points of `WithChain` with so many labels: it says the first after the inputs, and each of
    the others after the step before it. The units of the MLP block are four times the embedding unless given. Weights
    are drawn from the initialization, those that are added to the stream divided by the root of twice the layers;
    biases are 0.

    >>> from paritylab.cube import root_key
    >>> CausalTransformer(8, layers=2, heads=2, outputs=3)(10, key=root_key(0)).positions.shape
    (10, 8)
    """

    embedding: int = eqx.field(static=True, default=64)
    layers: int = eqx.field(static=True, default=1)
    heads: int = eqx.field(static=True, default=4)
    hidden: int | None = eqx.field(static=True, default=None)
    initialization: AbstractInitialization = eqx.field(default_factory=lambda: NormalInitialization(0.02))
    outputs: int | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        for width in (self.embedding, self.layers, self.heads, self.units):
            check_width(width)
        if self.embedding % self.heads:
            raise ValueError(
                f"Heads share the embedding in equal parts, got embedding={self.embedding} and heads={self.heads}."
            )
        check_initialization(self.initialization)
        if self.outputs is not None:
            check_whole("outputs", self.outputs, 1)

    @property
    def units(self) -> int:
        """The units of the MLP block."""
        return 4 * self.embedding if self.hidden is None else self.hidden

    def __call__(self, n: int, *, key: PRNGKeyArray) -> CausalNetwork:
        check_steps(n, self.outputs or 1)
        width, residual = self.embedding, (2 * self.layers) ** -0.5
        keys = iter(jr.split(key, 8))
        draw = lambda shape, fan_in: self.initialization.weights(next(keys), shape, fan_in)

        def affine(out: int, inputs: int, factor: float = 1.0) -> Affine:
            one = lambda key: factor * self.initialization.weights(key, (out, inputs), inputs)
            weight = jax.vmap(one)(jr.split(next(keys), self.layers))
            return Affine(weight, jnp.zeros((self.layers, out), jnp.float32))

        def norm(*layers: int) -> Norm:
            return Norm(jnp.ones((*layers, width), jnp.float32), jnp.zeros((*layers, width), jnp.float32))

        return CausalNetwork(
            tokens=draw((2, width), width),
            positions=draw((n, width), width),
            blocks=Block(
                before_attention=norm(self.layers),
                query=affine(width, width),
                key=affine(width, width),
                value=affine(width, width),
                mix=affine(width, width, residual),
                before_hidden=norm(self.layers),
                hidden=affine(self.units, width),
                output=affine(width, self.units, residual),
            ),
            last=norm(),
            heads=self.heads,
            outputs=self.outputs,
        )
