"""How a run goes through a curriculum: in which phase it is, and when it switches."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ...distributions import Curriculum
from ...distributions.base import Examples


class PhaseProgress(NamedTuple):
    """How far a run has come in its curriculum."""

    phase: Int[Array, ""]
    since: Int[Array, ""]
    """Steps since the phase began."""
    total: Float[Array, ""]
    """The sum of the losses of the current window."""

    @classmethod
    def first(cls, dtype: Any) -> "PhaseProgress":
        """At the beginning."""
        nothing = jnp.zeros((), jnp.int32)
        return cls(nothing, nothing, jnp.zeros((), dtype))

    def after(self, curriculum: Curriculum, loss: Float[Array, ""]) -> "PhaseProgress":
        """After a step with this loss."""
        steps, below, window = (
            jnp.stack([jnp.asarray(getattr(phase, name), dtype) for phase in curriculum.phases])[self.phase]
            for name, dtype in (("steps", jnp.int32), ("loss_below", loss.dtype), ("window", jnp.int32))
        )
        since, total = self.since + 1, self.total + loss
        over = since % window == 0
        low = over & (total / window.astype(total.dtype) < below)
        switch = (self.phase < len(curriculum.phases) - 1) & (low | (since >= steps))
        nothing = jnp.zeros_like(total)
        return PhaseProgress(
            self.phase + switch.astype(jnp.int32), jnp.where(switch, 0, since), jnp.where(switch | over, nothing, total)
        )


def chosen(phase: Int[Array, ""], drawn: Sequence[Examples]) -> Examples:
    """The examples of the phase, of those that each part has drawn."""
    x, y = (jax.lax.select_n(phase, *each) for each in zip(*drawn, strict=True))
    return x, y
