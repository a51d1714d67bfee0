"""Halves that make a product of gates learnable, and their mixtures with the uniform half that no shallow
network can approximate (depth-separation; the families E1 to E7 of docs/depth-separation.md).

An easy half is a distribution of the gates' outputs and one of patterns given the outputs. The label is the
product of the outputs, so the first decides which gates correlate with it.
"""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..cube import cube, sign_of_parity
from ..demands import check_kind, check_number, check_whole, echo
from ..targets import GateProduct
from ..targets.gates import by_pattern
from .base import AbstractDistribution, Examples, Support, check_draw
from .gate_outputs import AbstractOutputs, IndependentOutputs, RandomSubset, SharedSign
from .generative import draw_patterns, uniform_patterns
from .inputs import Uniform
from .wrappers import Mixture

Family = Callable[[GateProduct], AbstractDistribution]


class EasyHalf(AbstractDistribution):
    """Outputs of the gates by `outputs`; then each pair a pattern with its gate's output, by `patterns`.

    `patterns[i, p]` is P(pair i shows pattern p | its gate's output at p), patterns in the order of
    `cube(2)`; it sums to 1 over the patterns of either output, and is uniform where it is not given.

    >>> half = EasyHalf(GateProduct(("OR",)), SharedSign(np.ones(1), mean=0.0))
    >>> [round(p, 4) for p in half.support()[2].tolist()]
    [0.1667, 0.1667, 0.1667, 0.5]
    """

    target: GateProduct
    outputs: AbstractOutputs
    patterns: Float[Array | np.ndarray, "*runs pairs 4"]

    def __init__(
        self,
        target: GateProduct,
        outputs: AbstractOutputs,
        patterns: Float[Array | np.ndarray, "pairs 4"] | None = None,
    ):
        check_product(target)
        check_kind(
            "outputs", outputs, AbstractOutputs, "a distribution of outputs, such as SharedSign(np.ones(3), 0.0)"
        )
        if outputs.pairs != target.pairs:
            raise ValueError(
                f"The target has {target.pairs} gates and the distribution of outputs {outputs.pairs}. Give one "
                "output a gate."
            )
        gates = by_pattern(target.tables)
        self.target, self.outputs = target, outputs
        self.patterns = uniform_patterns(gates) if patterns is None else patterns
        if isinstance(gates, np.ndarray) and isinstance(self.patterns, np.ndarray):
            self._check(gates, self.patterns)

    def _check(self, gates: Float[np.ndarray, "pairs 4"], patterns: Float[np.ndarray, "pairs 4"]) -> None:
        if patterns.shape != gates.shape or not np.all(patterns >= 0):
            raise ValueError(
                f"`patterns` needs four probabilities for each of {len(gates)} pairs, got {echo(patterns)}."
            )
        for output in (1, -1):
            totals = np.sum(np.where(gates == output, patterns, 0), axis=1)
            wrong = np.flatnonzero(np.abs(totals - 1) > 1e-6)
            if len(wrong):
                i = int(wrong[0])
                raise ValueError(
                    f"The patterns with output {output:+d} of gate {i}, {self.target.gates[i]}, have probabilities of "
                    f"sum {totals[i]:.6g} given that output. Let those of each output sum to 1, or it is impossible."
                )

    @property
    def n(self) -> int:
        return self.target.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        output_key, pattern_key = jr.split(key)
        s = self.outputs.sample(output_key, batch)
        gates = by_pattern(jnp.asarray(self.target.tables, jnp.float32))
        x, z = draw_patterns(pattern_key, s, gates, jnp.asarray(self.patterns, jnp.float32))
        return jnp.concatenate([x, z], axis=1), sign_of_parity(jnp.sum(s < 0, axis=1, dtype=jnp.int32), jnp.float32)

    def probability(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """The probability of one point."""
        first, second = x[: self.target.pairs] < 0, x[self.target.pairs :] < 0
        pattern = first.astype(jnp.int32) + 2 * second.astype(jnp.int32)
        given = jnp.take_along_axis(jnp.asarray(self.patterns, x.dtype), pattern[:, None], axis=1)
        return self.outputs.probability(self.target.gate_outputs(x)) * jnp.prod(given)

    def support(self) -> Support:
        x = cube(self.n)
        return x, jax.vmap(self.target)(x), jax.vmap(self.probability)(x)


def equal_gates(target: GateProduct) -> EasyHalf:
    """E1: all gates equal one fair sign; an odd number of them, so that the label is that sign.

    >>> equal_gates(GateProduct(("OR", "AND", "OR"))).outputs.moments().correlation.tolist()
    [1.0, 1.0, 1.0]
    """
    _check_odd(target, "E1")
    return EasyHalf(target, SharedSign(np.ones(target.pairs), 0.0))


def leave_one_out(target: GateProduct) -> EasyHalf:
    """E1': all gates equal one fair sign except a random one, which is +1: E1 for an even number of gates.

    >>> leave_one_out(GateProduct(("OR", "AND"))).outputs.moments().correlation.round(4).tolist()
    [0.5, 0.5]
    """
    check_product(target)
    if target.pairs % 2:
        raise ValueError(
            f"Leaving one out (E1') needs an even number of gates, got {target.pairs}. "
            "Use `equal_gates` (E1), which serves odd numbers."
        )
    return EasyHalf(target, RandomSubset(target.pairs - 1, np.ones(target.pairs)))


def random_subset(target: GateProduct, r: int, rest: Literal["true", "uniform"] = "true") -> EasyHalf:
    """E2(r): r random gates, r odd, equal one fair sign; the rest are +1, or see uniform pairs (E2').

    >>> random_subset(GateProduct(("OR", "AND")), 1).outputs.moments().correlation.round(4).tolist()
    [0.5, 0.5]
    """
    check_product(target)
    check_whole("r", r)
    if rest not in ("true", "uniform"):
        raise ValueError(f"The rest of the gates is 'true' or 'uniform', got rest={echo(rest)}.")
    if not 1 <= r <= target.pairs or r % 2 == 0:
        raise ValueError(
            f"A random subset (E2) needs an odd r between 1 and {target.pairs}, got r={r}. "
            "With an even r the shared sign cancels from the label."
        )
    means = np.ones(target.pairs) if rest == "true" else target.ors / 2
    return EasyHalf(target, RandomSubset(r, means))


def independent_gates(target: GateProduct, b: int | float | None = None) -> EasyHalf:
    """E3(b): independent gates of mean b, 1 - 1/m on m pairs unless given.

    >>> independent_gates(GateProduct(("OR", "AND")), 0.5).outputs.moments().correlation.round(4).tolist()
    [0.5, 0.5]
    """
    check_product(target)
    b = 1 - 1 / target.pairs if b is None else b
    check_number("b", b)
    if not 0 < b < 1:
        raise ValueError(f"Independent gates (E3) need a mean 0 < b < 1, got b={b}. Mean 0 is `balanced_gates` (E4).")
    return EasyHalf(target, IndependentOutputs(np.full(target.pairs, float(b))))


def balanced_gates(target: GateProduct) -> EasyHalf:
    """E4: independent fair gates, the generative distribution of boolean-circuits with a parity above.

    No gate correlates with the label, though E[x_i] shows which gate is which.

    >>> balanced_gates(GateProduct(("OR", "AND"))).outputs.moments().correlation.round(4).tolist()
    [0.0, 0.0]
    """
    check_product(target)
    return EasyHalf(target, IndependentOutputs(np.zeros(target.pairs)))


def sparse_pairs(target: GateProduct, c: int | float = 0.25) -> EasyHalf:
    """E5(c): independent pairs, (+,+) but for each other pattern with probability c/m on m pairs, whatever the gates.

    >>> sparse_pairs(GateProduct(("OR", "AND")), 0.25).outputs.moments().correlation.round(4).tolist()
    [0.25, 0.75]
    """
    check_product(target)
    check_number("c", c)
    if not 0 < 3 * c < target.pairs:
        raise ValueError(
            f"Sparse pairs (E5) need 0 < 3c < {target.pairs}, the number of pairs, got c={c}: a pair differs from "
            "(+,+) with probability 3c over that number."
        )
    rare = c / target.pairs
    shown = np.array([1 - 3 * rare, rare, rare, rare])
    gates = by_pattern(target.tables)
    alike = (1 + gates[:, :, None] * gates[:, None, :]) / 2
    means, given = (gates * shown[None]).sum(-1), shown[None] / (alike * shown[None, None]).sum(-1)
    return EasyHalf(target, IndependentOutputs(means), given)


def noisy_equal(target: GateProduct, e: int | float) -> EasyHalf:
    """E6(e): E1 with every gate's output flipped with probability e.

    >>> noisy_equal(GateProduct(("OR", "AND", "OR")), 0.1).outputs.moments().correlation.round(4).tolist()
    [0.64, 0.64, 0.64]
    """
    _check_odd(target, "E6")
    check_number("e", e)
    if not 0 <= e < 0.5:
        raise ValueError(f"Noisy equal gates (E6) need a flip rate 0 <= e < 1/2, got e={e}.")
    return EasyHalf(target, SharedSign(np.ones(target.pairs), 0.0, e))


def stealth(target: GateProduct) -> EasyHalf:
    """E7: s_i = o_i w with o_i = +1 for OR, -1 for AND and P(w = 1) = 3/4: every single pair is exactly uniform.

    >>> stealth(GateProduct(("OR", "AND", "OR"))).outputs.moments().correlation.round(4).tolist()
    [-1.0, 1.0, -1.0]
    """
    _check_odd(target, "E7")
    return EasyHalf(target, SharedSign(target.ors, 0.5))


def separation(easy: EasyHalf, share: int | float = 0.5) -> Mixture:
    """D = share * easy + (1 - share) * uniform, the distribution that separates depths (depth-separation).

    >>> separation(equal_gates(GateProduct(("OR", "AND", "OR")))).weights.tolist()
    [0.5, 0.5]
    """
    check_kind("easy", easy, EasyHalf, "an easy half, such as equal_gates(target)")
    check_number("share", share)
    if not 0 < share < 1:
        raise ValueError(f"A separation needs both halves, 0 < share < 1, got share={share}.")
    return Mixture([easy, Uniform(easy.target)], [float(share), 1 - float(share)])


def check_product(target: object) -> None:
    """Raise unless the target is a product of gates."""
    check_kind("target", target, GateProduct, "a product of gates, such as GateProduct(('OR', 'AND'))")


def _check_odd(target: GateProduct, family: str) -> None:
    check_product(target)
    if target.pairs % 2 == 0:
        raise ValueError(
            f"{family} needs an odd number of gates, got {target.pairs}: the shared sign would cancel from the label. "
            "Use `leave_one_out` (E1'), which serves even numbers."
        )
