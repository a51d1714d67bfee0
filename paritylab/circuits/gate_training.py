"""Gradient descent on single neural gates, from the four numbers a pattern table holds.

A neural gate receives one of four patterns p of two signs. With P(p) and the signal E[y 1{p}] its gradient is
known exactly (boolean-circuits, proof of Lemma 15), so that a step costs as much as the gate is wide, whatever
the size of the sample that the numbers come from. Patterns come in two opposite couples, and a unit's weights
have one coordinate along each: the couples do not meet but in the unit's sign. Along a couple a unit stands on
one side of zero and moves with constant speed while that side's pattern has an output within (-1, 1). The
dynamics is linear between events (a unit crosses zero, a pattern saturates), and can jump from one to the next.
"""

import dataclasses
import functools
import math
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..networks.neural_gates import GateLevel

Method = Literal["jump", "step"]
METHODS: tuple[Method, ...] = get_args(Method)
Towards = Literal[-1, 1]
Four = Float[np.ndarray, "gates 4"]

FORWARD, BACKWARD = np.array([0, 1]), np.array([3, 2])
"""The patterns on the two sides of each couple: (+,+) and (-,-), then (-,+) and (+,-)."""
MOST_STEPS = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class TrainedGates:
    """Gates after training, in the order of the patterns."""

    level: GateLevel
    outputs: Four
    """The gate's output at each pattern: a sign where it is saturated."""
    saturated_at: Four
    """The step from which on the output stays a sign; infinite where it never does."""


class Couples(NamedTuple):
    """Gates in the coordinates of their couples of patterns."""

    place: Any  # float64 of numpy or of JAX: gates, 2, width
    """<w, p> with p the forward pattern; on the backward one it is the negative."""
    signs: Any  # gates, 1, width
    forward: Any  # gates, 2
    """The motion per step of a unit of sign +1 towards larger outputs, at the forward pattern."""
    backward: Any


def drift(probability: Four, signal: Four, regularizer: int | float | np.ndarray, towards: Towards = -1) -> Four:
    """E[(y - R') 1{p}]: the velocity of a gate's output at each pattern.

    The loss is hinge plus lambda |output - towards|. The proofs of boolean-circuits need -1, its printed
    regularizer has +1. `regularizer` is lambda, or one for each gate.

    >>> drift(np.array([[0.25, 0.25, 0.25, 0.25]]), np.array([[0.25, 0.1, 0.1, -0.25]]), 0.2).round(3).tolist()
    [[0.2, 0.05, 0.05, -0.3]]
    """
    if towards not in (-1, 1):
        raise ValueError(f"A regularizer draws outputs towards -1 or +1, got towards={towards}.")
    return signal + towards * np.asarray(regularizer, float).reshape(-1, 1) * probability


def default_rate(width: int) -> float:
    """1 / (16 width): the largest step of a gate's own loss that the proof of Lemma 22 allows.

    Algorithm 1 averages over the n_i / 2 gates of a level; its rate is this times n_i / 2.

    >>> default_rate(10)
    0.00625
    """
    return 1 / (16 * width)


def train_gates(
    level: GateLevel, drifts: Four, *, rate: float | None = None, steps: int | None = None, method: Method = "jump"
) -> TrainedGates:
    """`steps` steps of gradient descent on each gate's own loss, in float64; without a number, until convergence.

    `rate` is that of a gate's own loss (see `default_rate`). `jump` goes from event to event, `step` takes every
    step: they differ by rounding alone.

    >>> from paritylab.cube import root_key
    >>> from paritylab.networks.neural_gates import first_gates
    >>> level = first_gates(1, 12, key=root_key(0))
    >>> wanted = np.array([[0.2, 0.2, 0.2, -0.3]])
    >>> train_gates(level, wanted).outputs.tolist(), train_gates(level, wanted, method="step").outputs.tolist()
    ([[1.0, 1.0, 1.0, -1.0]], [[1.0, 1.0, 1.0, -1.0]])
    """
    if method not in METHODS:
        raise ValueError(f"There is no method {method!r}; choose one of {', '.join(METHODS)}.")
    if steps is not None and not 0 <= steps <= MOST_STEPS:
        raise ValueError(f"A number of steps is from 0 to {MOST_STEPS}, got steps={steps}.")
    width = level.signs.shape[-1]
    rate = default_rate(width) if rate is None else rate
    if not rate > 0:
        raise ValueError(f"Gradient descent needs a rate > 0, got rate={rate}.")
    start = couples(level, drifts, rate)
    place, saturated_at = (_jumped if method == "jump" else _stepped)(start, steps)
    along, against = raw_outputs(place, start.signs)
    outputs, times = np.empty_like(drifts), np.empty_like(drifts)
    for side, raw, patterns in ((0, along, FORWARD), (1, against, BACKWARD)):
        outputs[:, patterns] = np.clip(raw, -1, 1)
        times[:, patterns] = saturated_at[..., side]
    weights = np.stack([place[:, 0] - place[:, 1], place[:, 0] + place[:, 1]], axis=-1) / 2
    return TrainedGates(GateLevel(weights, np.asarray(level.signs)), outputs, times)


def couples(level: GateLevel, drifts: Four, rate: float) -> Couples:
    """The gates along their couples; <p, p> = 2 doubles the speed."""
    weights, signs = np.asarray(level.weights, float), np.asarray(level.signs, float)
    if drifts.shape != (weights.shape[0], 4):
        raise ValueError(f"{weights.shape[0]} gates need a table of {weights.shape[0]} x 4, got {drifts.shape}.")
    place = np.stack([weights[..., 0] + weights[..., 1], weights[..., 1] - weights[..., 0]], axis=1)
    return Couples(place, signs[:, None, :], 2 * rate * drifts[:, FORWARD], 2 * rate * drifts[:, BACKWARD])


def raw_outputs(
    place: Float[np.ndarray, "*gates width"], signs: Float[np.ndarray, "*others width"]
) -> tuple[Float[np.ndarray, "*gates"], Float[np.ndarray, "*gates"]]:
    """The sums that hard tanh is taken of, at the forward and at the backward pattern."""
    return np.sum(signs * np.maximum(place, 0), axis=-1), np.sum(signs * np.maximum(-place, 0), axis=-1)


def gate_history(
    level: GateLevel, drifts: Four, *, rate: float | None = None, steps: int
) -> Float[np.ndarray, "times gates width 2"]:
    """The weights before every step and after the last, in float64.

    >>> from paritylab.cube import root_key
    >>> from paritylab.networks.neural_gates import first_gates
    >>> gate_history(first_gates(2, 5, key=root_key(0)), np.full((2, 4), 0.1), steps=3).shape
    (4, 2, 5, 2)
    """
    start = couples(level, drifts, default_rate(level.signs.shape[-1]) if rate is None else rate)
    with jax.enable_x64(True):
        places = np.asarray(_history(Couples(*(jnp.asarray(each) for each in start)), steps))
    return np.stack([places[:, :, 0] - places[:, :, 1], places[:, :, 0] + places[:, :, 1]], axis=-1) / 2


def _moved(now: Float[Array, "gates 2 width"], start: Couples) -> tuple[Array, Bool[Array, "gates 2 sides"], Array]:
    """One step: the places after it, which outputs were within (-1, 1) before it, and whether anything moved."""
    along, against = jnp.maximum(now, 0), jnp.maximum(-now, 0)
    free = jnp.abs(jnp.stack([jnp.sum(start.signs * each, axis=-1) for each in (along, against)], axis=-1)) < 1
    forward, backward = (
        jnp.where(free[..., side], speed, 0)[..., None] for side, speed in ((0, start.forward), (1, start.backward))
    )
    change = start.signs * (jnp.where(now > 0, forward, 0) - jnp.where(now < 0, backward, 0))
    return now + change, free, jnp.any(change != 0)


@jax.jit
def _run(start: Couples, limit: Int[Array, ""]) -> tuple[Array, Array]:
    never = jnp.full((*start.forward.shape, 2), jnp.inf, start.place.dtype)

    def on(loop: tuple[Array, Array, Array, Array]) -> Array:
        count, _, _, moving = loop
        return (count < limit) & moving

    def body(loop: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        count, place, at, _ = loop
        moved, free, moving = _moved(place, start)
        return count + 1, moved, jnp.where(free, jnp.inf, jnp.minimum(at, count.astype(at.dtype))), moving

    count, place, at, _ = jax.lax.while_loop(on, body, (jnp.zeros((), jnp.int32), start.place, never, jnp.array(True)))
    _, free, _ = _moved(place, start)
    return place, jnp.where(free, jnp.inf, jnp.minimum(at, count.astype(at.dtype)))


@functools.partial(jax.jit, static_argnums=1)
def _history(start: Couples, steps: int) -> Float[Array, "times gates 2 width"]:
    last, before = jax.lax.scan(lambda now, _: (_moved(now, start)[0], now), start.place, length=steps)
    return jnp.concatenate([before, last[None]])


def _stepped(start: Couples, steps: int | None) -> tuple[np.ndarray, np.ndarray]:
    with jax.enable_x64(True):
        given = Couples(*(jnp.asarray(each) for each in start))
        place, at = _run(given, jnp.asarray(MOST_STEPS if steps is None else steps, jnp.int32))
        return np.asarray(place), np.asarray(at)


def _jumped(start: Couples, steps: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Every couple advances at its own pace, since they are independent."""
    gates, _, width = start.place.shape
    place = start.place.reshape(-1, width).copy()
    signs = np.broadcast_to(start.signs, start.place.shape).reshape(-1, width)
    speeds = np.stack([start.forward, start.backward], axis=-1).reshape(-1, 2)
    clock, at = np.zeros(2 * gates), np.full((2 * gates, 2), math.inf)
    limit = math.inf if steps is None else float(steps)
    busy = np.arange(2 * gates)
    while True:
        moves = _moves(place[busy], signs[busy], speeds[busy])
        at[busy] = np.where(moves.free, math.inf, np.minimum(at[busy], clock[busy, None]))
        jump = np.minimum(moves.jump, limit - clock[busy])
        goes_on = np.isfinite(jump) & (jump > 0)
        if not goes_on.any():
            return place.reshape(start.place.shape), at.reshape(gates, 2, 2)
        busy, jump = busy[goes_on], jump[goes_on]
        place[busy] = moves.after(jump, goes_on)
        clock[busy] += jump


class Moves(NamedTuple):
    """The motion of the units of some couples until the next event."""

    place: Float[np.ndarray, "couples width"]
    velocity: Float[np.ndarray, "couples width"]
    free: Bool[np.ndarray, "couples 2"]
    swings: Bool[np.ndarray, "couples width"]
    """Units near zero that are drawn back from both sides: they oscillate for ever."""
    band: Float[np.ndarray, "couples 2"]
    """The length of a step on either side."""
    jump: Float[np.ndarray, " couples"]
    """The number of steps that can be made at once; infinite where only oscillation is left."""

    def after(self, jump: Float[np.ndarray, " moving"], which: Bool[np.ndarray, " couples"]) -> np.ndarray:
        """The places after that many steps. A swinging unit turns on a circle as long as the two bands together."""
        jump = jump[:, None]
        place, swings, band = self.place[which], self.swings[which], self.band[which]
        down, up = band[:, :1], band[:, 1:]
        moved = place + jump * self.velocity[which]
        if not swings.any():
            return moved
        around = np.where(down + up > 0, down + up, 1.0)
        turned = np.mod(place + down - jump * down, around)
        return np.where(swings, np.where(turned > 0, turned, around) - down, moved)


def _moves(
    place: Float[np.ndarray, "couples width"],
    signs: Float[np.ndarray, "couples width"],
    speeds: Float[np.ndarray, "couples 2"],
) -> Moves:
    """The next event of every couple.

    A swinging unit holds back the output that all others drive, so that this cannot saturate before it would
    without the swinging ones: up to there is one jump, and the few steps after it are made one by one.
    """
    sides = (place > 0, place < 0)
    free = np.abs(np.stack(raw_outputs(place, signs), axis=1)) < 1
    speed = np.where(free, speeds, 0.0)
    velocity = signs * (sides[0] * speed[:, :1] - sides[1] * speed[:, 1:])
    back = (signs * speed[:, :1] < 0) & (signs * speed[:, 1:] < 0)
    band = np.abs(speed)
    swings = back & (place <= band[:, 1:]) & (place > -band[:, :1]) & (place != 0)
    crossing = (place * velocity < 0) & ~swings
    with np.errstate(divide="ignore", invalid="ignore"):
        jump = np.where(crossing, np.ceil(np.abs(place) / np.abs(velocity)), math.inf).min(axis=1)
    swinging = swings.sum(axis=1)
    for side, here in enumerate(sides):
        steady = here & ~swings
        height = np.sum(np.where(steady, signs * np.abs(place), 0), axis=1) * np.sign(speed[:, side])
        drive = band[:, side] * steady.sum(axis=1)
        with np.errstate(divide="ignore"):
            until = np.where(drive > 0, np.ceil((1 - height) / drive), math.inf)
        lowest = height - swinging * band[:, 1 - side]
        alone = np.where(lowest > -1, until - 1, 1.0)  # else swinging units might saturate it on their own
        jump = np.minimum(jump, np.where(swinging > 0, alone, until))
    return Moves(place, velocity, free, swings, band, np.maximum(jump, 1.0))
