"""Gradient descent on single hard-tanh units in the place of gates, from the four numbers a pattern table holds.

A unit hard_tanh(w . p + b) sees one of four patterns p, or of 2^q where gates have q inputs. Under the hinge loss of
Algorithm 1 of boolean-circuits, which is always active below outputs of 1, a step moves (w, b) by the rate times the
sum of drift(p) (p, 1) over the patterns whose output is within (-1, 1) (depth-separation): what a step costs does not
depend on the size of the sample that the drifts come from. Units of any number of runs are trained together.
"""

import dataclasses

import numpy as np
from jaxtyping import Bool, Float, Int

from ..cube import cube
from ..networks.gate_units import UnitGates
from ..targets.gates import PATTERNS

UNIT_RATE = 0.05
UNIT_STEPS = 20_000
COMPACT_EVERY = 32
"""Steps after which converged units are dropped from the batch."""
LIFTED = np.concatenate([PATTERNS, np.ones((4, 1))], axis=1)
"""The vectors (p, 1) of gates of two inputs."""
Drifts = Float[np.ndarray, "units patterns"]


@dataclasses.dataclass(frozen=True)
class TrainedUnits:
    """Units after training."""

    gates: UnitGates
    outputs: Drifts
    """The output at each pattern: a sign where it is saturated."""
    steps: Int[np.ndarray, " units"]
    """The number of steps in which a unit moved: none after all four outputs are saturated."""

    @property
    def saturated(self) -> Bool[np.ndarray, " units"]:
        """Whether all four outputs of each unit are saturated."""
        return np.all(np.abs(self.outputs) == 1, axis=1)


def train_units(drifts: Drifts, *, rate: float = UNIT_RATE, steps: int = UNIT_STEPS) -> TrainedUnits:
    """Gradient descent from w = 0, b = 0 on each unit's own loss, in float64, until all saturate or `steps` are over.

    `drifts` are those of `drift`, or of the patterns of q inputs in the order of `cube(q)`. If their signs are those of
    a gate that is a threshold of its inputs, the unit becomes that gate.

    >>> train_units(np.array([[0.08, 0.08, 0.08, -0.25], [0.25, -0.08, -0.08, -0.08]])).outputs.tolist()
    [[1.0, 1.0, 1.0, -1.0], [1.0, -1.0, -1.0, -1.0]]
    """
    if not rate > 0 or steps < 0:
        raise ValueError(f"Gradient descent needs a rate > 0 and steps >= 0, got rate={rate} and steps={steps}.")
    drifts, inputs = np.asarray(drifts, float), drifts.shape[1].bit_length() - 1
    if drifts.shape[1] != 2**inputs:
        raise ValueError(f"A unit of q inputs has 2^q patterns, got {drifts.shape[1]} drifts. Give one a pattern.")
    lifted = np.concatenate([np.asarray(cube(inputs), float), np.ones((2**inputs, 1))], axis=1)
    place, used = np.zeros((len(drifts), inputs + 1)), np.zeros(len(drifts), int)
    moving = np.arange(len(drifts))
    now, own = place.copy(), drifts
    for count in range(steps):
        inside = np.abs(now @ lifted.T) < 1
        moves = inside.any(axis=1)  # one that does not has converged
        used[moving] += moves
        if count % COMPACT_EVERY == 0 and not moves.all():
            place[moving] = now
            moving, now, own, inside = (each[moves] for each in (moving, now, own, inside))
            if not len(moving):
                break
        now = now + rate * (own * inside) @ lifted
    place[moving] = now
    return TrainedUnits(UnitGates(place[:, :-1], place[:, -1]), np.clip(place @ lifted.T, -1, 1), used)
