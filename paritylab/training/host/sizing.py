"""How many runs one device trains side by side, and in which portions: a cost model of a step, from its shapes."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..engine.lanes import data_key, init_key
from ..rules.base import AbstractRule
from ..rules.leaves import Leaves

LANES = {"cpu": (8, 128, 2**23), "gpu": (1, 16384, 2**33)}
"""The least and the most lanes, and the bytes that they may take together."""
LARGE_STEP = 2**28
"""A step of one run that writes more bytes fills a core by itself."""
RECORD_BYTES = 2**32
"""What the records of all lanes may take together on the way to what is kept, on a GPU."""
BLOCK_BYTES = 10 * 2**32
"""What the steps of a block may write."""
SMALL_STEP, UNROLLED = 2**17, 10
"""A step of one run that writes no more bytes is small: so many of them are written out in a row."""


def choose_lanes(rule: AbstractRule, one: Leaves, platform: str) -> int:
    """How many lanes fit a rule: the fewest that are about as fast as any number would be.

    On a CPU that is from 8 to 128, so that what a step touches stays in cache; on a GPU it is what
    fills the chip. The number depends on nothing but the rule, the shapes of the leaves (those of
    `one` run are given) and the kind of device, as the bits of a result do: not on the memory of a machine,
    which decides how many workers there are (see `footprint.py`). So a run that trains alone on a CPU
    pays for all lanes of its program, which is little.
    """
    need = bytes_of_a_step(rule, one)
    least, most, budget = LANES.get(platform, LANES["gpu"])
    if need > LARGE_STEP:
        least = 1
    return int(np.clip(2 ** int(math.log2(max(1, budget / need))), least, most))


def lanes_of_job(most: int, runs: int, platform: str) -> int:
    """Where a chip has thousands of lanes, a job has no more than a power of two that holds its runs.

    >>> lanes_of_job(16384, 5, "gpu"), lanes_of_job(64, 100, "gpu"), lanes_of_job(128, 5, "cpu")
    (8, 64, 128)
    """
    return most if platform == "cpu" else min(most, 2 ** (runs - 1).bit_length())


def choose_recorded(one: int, lanes: int) -> int | None:
    """How many lanes of a GPU are recorded at a time, where the records of one take so many bytes; None for all.

    >>> choose_recorded(2**29, 64), choose_recorded(2**20, 64)
    (8, None)
    """
    few = 2 ** int(math.log2(max(1, RECORD_BYTES / max(one, 1))))
    return None if few >= lanes else few


def choose_block(rule: AbstractRule, one: Leaves, lanes: int, every: int, platform: str) -> int:
    """How many rounds go by before runs are validated.

    On a CPU one: a condition costs nothing there. On a GPU it costs a synchronization with the host,
    worth some steps if steps are small; but a run that seems to have ended waits for the end of the
    block, so a block is at most 240 steps, and 20 where steps are large.
    """
    if platform == "cpu":
        return 1
    steps = np.clip(BLOCK_BYTES / (lanes * bytes_of_a_step(rule, one)), 20, 240)
    return max(1, int(steps) // every)


def choose_unrolled(rule: AbstractRule, one: Leaves, every: int, platform: str) -> int:
    """How many steps the loop over steps writes out: on a GPU counting is a launch, felt if steps are small."""
    return min(every, UNROLLED) if platform != "cpu" and bytes_of_a_step(rule, one) <= SMALL_STEP else 1


def bytes_of_a_step(rule: AbstractRule, one: Leaves) -> int:
    """The sizes of everything that one step of one run computes, added up."""
    seed = jax.ShapeDtypeStruct((), np.uint32)
    state = jax.eval_shape(lambda seed, one: rule.init(init_key(seed), one), seed, one)
    program = jax.make_jaxpr(lambda state, seed, one: rule.step(state, data_key(seed), jnp.int32(0), one))(
        state, seed, one
    )
    return _bytes_inside(program.jaxpr)


def _bytes_inside(program: Any) -> int:
    total = 0
    for equation in program.eqns:
        if equation.primitive.name == "optimization_barrier":  # writes nothing
            continue
        inner = [value.jaxpr for value in equation.params.values() if hasattr(value, "jaxpr")]
        if inner:
            total += sum(_bytes_inside(each) for each in inner)
        else:
            total += sum(v.aval.size * v.aval.dtype.itemsize for v in equation.outvars if hasattr(v.aval, "dtype"))
    return total
