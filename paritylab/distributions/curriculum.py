"""Curricula: one distribution after another, each run switching on its own."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..demands import check_kind, check_number, check_whole
from .base import AbstractDistribution, Examples, Support, check_distribution

MOST_STEPS = 2**31 - 1


class Phase(eqx.Module):
    """A part of a curriculum, and what ends it: a number of steps, a low loss, or whichever comes first.

    The loss is the mean of the training loss over `window` steps, looked at when they are over.

    >>> from paritylab import Parity, Product
    >>> phase = Phase(Product(Parity(3, (0, 1)), 0.5), loss_below=0.01, window=100)
    >>> int(phase.steps) == 2**31 - 1
    True
    """

    distribution: AbstractDistribution
    steps: Int[Array | np.ndarray, "*runs"]
    loss_below: Float[Array | np.ndarray, "*runs"]
    window: int = eqx.field(static=True)

    def __init__(
        self,
        distribution: AbstractDistribution,
        steps: int | None = None,
        loss_below: int | float | None = None,
        window: int = 1,
    ):
        check_distribution(distribution, "Phase")
        if steps is not None:
            check_whole("steps", steps, 1, MOST_STEPS)
        if loss_below is not None:
            check_number("loss_below", loss_below)
        check_whole("window", window, 1)
        self.distribution = distribution
        self.steps = np.asarray(MOST_STEPS if steps is None else steps, np.int32)
        self.loss_below = np.asarray(-np.inf if loss_below is None else loss_below, float)
        self.window = window

    @property
    def ends(self) -> bool:
        """Whether anything ends it."""
        return bool(np.any(np.asarray(self.steps) < MOST_STEPS) or np.any(np.asarray(self.loss_below) > -np.inf))


class Curriculum(AbstractDistribution):
    """Trained on one distribution after another; validated on the last.

    Every run goes from phase to phase on its own. The last phase has no end.

    >>> from paritylab import Parity, Product, Uniform
    >>> parity = Parity(9, (0, 1, 2))
    >>> curriculum = Curriculum([Phase(Product(parity, 0.5), steps=1000), Phase(Uniform(parity))])
    >>> type(curriculum.clean()).__name__, len(curriculum.parts)
    ('Uniform', 2)
    """

    phases: tuple[Phase, ...]

    def __init__(self, phases: Sequence[Phase]):
        check_kind("phases", phases, Sequence, "a sequence of phases")
        for phase in phases:
            check_kind("phases", phase, Phase, "phases such as Phase(distribution, steps=1000)")
        if len(phases) < 2:
            raise ValueError(f"A `Curriculum` has at least two phases, got {len(phases)}. Train on the distribution.")
        if any(isinstance(phase.distribution, Curriculum) for phase in phases):
            raise ValueError("A phase of a `Curriculum` is no curriculum itself. Name all phases in one list.")
        for number, phase in enumerate(phases[:-1]):
            if not phase.ends:
                raise ValueError(
                    f"Phase {number} of the `Curriculum` never ends, so the next is never reached. "
                    "Give it `steps` or `loss_below`."
                )
        if phases[-1].ends:
            raise ValueError("The last phase of a `Curriculum` has no end. Leave out its `steps` and `loss_below`.")
        if len({phase.distribution.n for phase in phases}) > 1:
            raise ValueError(
                f"The phases of a `Curriculum` must share n, got n={[phase.distribution.n for phase in phases]}."
            )
        self.phases = tuple(phases)

    @property
    def parts(self) -> tuple[AbstractDistribution, ...]:
        """The distributions of the phases."""
        return tuple(phase.distribution for phase in self.phases)

    @property
    def n(self) -> int:
        return self.parts[-1].n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        """Examples of the last phase."""
        return self.parts[-1].sample(key, batch)

    def support(self) -> Support:
        """The support of the last phase."""
        return self.parts[-1].support()

    def clean(self) -> AbstractDistribution:
        return self.parts[-1].clean()

    def check_switches(self, steps: int) -> None:
        """Raise unless runs of so many steps can reach the last phase."""
        counted = [int(np.max(phase.steps)) for phase in self.phases[:-1] if not np.any(np.isfinite(phase.loss_below))]
        if sum(counted) >= steps:
            raise ValueError(
                f"The curriculum's phases before the last take {sum(counted)} steps, and runs have {steps}, so it "
                "never reaches the last. Give runs more steps, or phases fewer."
            )
