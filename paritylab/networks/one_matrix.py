"""One matrix of attention scores and a fixed link function: the one-layer Transformer of arXiv 2410.08633."""

from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..demands import check_number, check_whole, echo

Mask = Literal["position", "level"]


def two_parity_link(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """4 z^2 - 1 up to |z| = 1/2, then 1 - 4 (1 - |z|)^2: the mean of two signs becomes their product.

    Flat at -1, 0 and 1 (Appendix D of the paper, whose three pieces these are).

    >>> two_parity_link(jnp.array([-1.0, -0.5, 0.0, 0.5, 1.0])).tolist()
    [1.0, 0.0, -1.0, 0.0, 1.0]
    """
    return jnp.where(jnp.abs(z) < 0.5, 4 * z**2 - 1, 1 - 4 * (1 - jnp.abs(z)) ** 2)


class OneMatrixNetwork(eqx.Module):
    """Each step is the link of a softmax-weighted mean of the coordinates and steps before it.

    A step that is given (not 0) is what later steps see; where it is 0 they see what the network says itself.
    """

    scores: Float[Array, "outputs n"]
    groups: tuple[int, ...] = eqx.field(static=True)
    """Steps in groups; those of a group see the groups before theirs."""
    confidence: float | None = eqx.field(static=True)

    @property
    def attention(self) -> Float[Array, "outputs n"]:
        """How much each step attends to each coordinate and to each step but the last."""
        inputs = self.scores.shape[1] - self.scores.shape[0] + 1
        rows, first = [], 0
        for size in self.groups:
            seen = jax.nn.softmax(self.scores[first : first + size, : inputs + first], axis=1)
            rows.append(jnp.pad(seen, ((0, 0), (0, self.scores.shape[1] - seen.shape[1]))))
            first += size
        return jnp.concatenate(rows)

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, "outputs points"]:
        attention = self.attention
        inputs = len(x) - len(attention) + 1
        given = jnp.concatenate([x[inputs:], jnp.zeros_like(x[:1])])  # the last step is nobody's to see
        means = attention[:, :inputs] @ x[:inputs]
        said, seen, first, sure = [], jnp.zeros((0, x.shape[1]), x.dtype), 0, jnp.array(True)
        for size in self.groups:
            rows = slice(first, first + size)
            z = means[rows] + attention[rows, inputs : inputs + first] @ seen
            out = jnp.where(sure, two_parity_link(z), 0)
            said.append(out)
            seen = jnp.concatenate([seen, jnp.where(given[rows] != 0, given[rows], out)])
            if self.confidence is not None:
                sure = jnp.all(jnp.max(attention[rows], axis=1) > self.confidence)
            first += size
        return jnp.concatenate(said)

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, " outputs"]:
        return self.columns(x[:, None])[:, 0]


class OneMatrix(eqx.Module):
    """Recipe of the model of arXiv 2410.08633 with so many steps, for points of `WithChain`: scores start at 0.

    The paper's matrix has (d + k - 1)^2 entries, d inputs and k - 1 steps; those that a mask hides have no effect and
    are left out. Steps see all that comes before them (`"position"`), or the inputs and the levels of the binary tree
    below their own (`"level"`; `outputs` is 1, 3, 7, ...). With a `confidence` (the paper's filter: .4) the steps of a
    level say 0 until each step of the level below has a softmax score above it.

    >>> from paritylab.cube import root_key
    >>> OneMatrix(3, mask="level")(10, key=root_key(0)).groups
    (2, 1)
    """

    outputs: int = eqx.field(static=True)
    mask: Mask = eqx.field(static=True, default="position")
    confidence: float | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        check_whole("outputs", self.outputs, 1)
        if self.mask not in get_args(Mask):
            raise ValueError(f"A mask is 'position' or 'level', got mask={echo(self.mask)}.")
        if self.mask == "level" and self.outputs & (self.outputs + 1):
            raise ValueError(
                f"The levels of a binary tree have 1, 3, 7, ... steps together, got outputs={self.outputs}. "
                "Use such a number, or mask='position'."
            )
        if self.confidence is not None:
            check_number("confidence", self.confidence, 0, 1)

    @property
    def groups(self) -> tuple[int, ...]:
        """The steps that are said together: one by one, or level by level."""
        if self.mask == "position":
            return (1,) * self.outputs
        return tuple(2**level for level in reversed(range((self.outputs + 1).bit_length() - 1)))

    def __call__(self, n: int, *, key: PRNGKeyArray) -> OneMatrixNetwork:
        check_steps(n, self.outputs)
        return OneMatrixNetwork(jnp.zeros((self.outputs, n), jnp.float32), self.groups, self.confidence)


def check_steps(n: int, outputs: int) -> None:
    """Raise unless points of n coordinates have an input beside the steps that are not the last."""
    if n < outputs:
        raise ValueError(
            f"Points for {outputs} outputs have n >= {outputs} coordinates, one for each step but the last and at "
            f"least one input, got n={n}."
        )
