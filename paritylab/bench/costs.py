"""What a step must cost: its operations and bytes, and the times that follow from what the machine can do.

The rates are measured where the benchmark runs, by JAX: products in float32 and in bfloat16, and copies. A floor is
the longest of the times that operations, tensor cores and memory need by themselves, were each of them never waiting;
`fraction_of_floor` of a measured rate is how near it comes.
"""

import functools
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp

from .cases import Case

OF_A_WORD = 75
"""Operations that draw 32 bits by threefry."""
OF_A_UNIT = 12
"""Operations of a unit on an example besides the products: bias, activation, slope and their sums."""
PARTS = 3
"""Products of bfloat16 for one of float32."""


class Rates(NamedTuple):
    """Of a machine, a second."""

    operations: float
    tensor_operations: float
    bytes: float


class Cost(NamedTuple):
    """Of one step of one run."""

    products: int
    """Multiplications and additions of the two products with the inputs."""
    others: int
    """All other operations, the drawing of examples included."""
    bytes: float
    """That move if weights are read and written once in each block of steps."""

    def floor(self, rates: Rates, tensor: bool) -> float:
        """Seconds, with the products on tensor cores or not."""
        if tensor:
            arithmetic = max(PARTS * self.products / rates.tensor_operations, self.others / rates.operations)
        else:
            arithmetic = (self.products + self.others) / rates.operations
        return max(arithmetic, self.bytes / rates.bytes)


def cost(case: Case, steps_of_a_block: int) -> Cost:
    """The cost of a step.

    >>> cost(Case(30, 3, 10, 1), 1000)
    Cost(products=1200, others=870, bytes=2.568)
    """
    words = 1 + -(-case.n * case.batch // 32)
    others = OF_A_WORD * words + OF_A_UNIT * case.width * case.batch + 2 * case.n * case.width
    return Cost(4 * case.n * case.width * case.batch, others, 8 * case.numbers / steps_of_a_block)


@functools.cache
def rates() -> Rates:
    """Of the device in use, best of ten: each takes a GPU so long that the call itself does not count."""
    exact_size, half_size, copied = (1024, 1024, 1024) if jax.default_backend() == "cpu" else (4096, 8192, 16384)
    made = lambda size, form: jax.random.normal(jax.random.key(0), (size, size), jnp.float32).astype(form)
    exact = jax.jit(lambda a: jax.lax.dot(a, a, precision=jax.lax.Precision.HIGHEST))
    return Rates(
        2 * exact_size**3 / _best(exact, made(exact_size, jnp.float32)),
        2 * half_size**3 / _best(jax.jit(lambda a: a @ a), made(half_size, jnp.bfloat16)),
        2 * 4 * copied**2 / _best(jax.jit(lambda a: a + 1), made(copied, jnp.float32)),
    )


def _best(function: jax.stages.Wrapped, given: jax.Array) -> float:
    jax.block_until_ready(function(given))
    found = []
    for _ in range(10):
        begun = time.perf_counter()
        jax.block_until_ready(function(given))
        found.append(time.perf_counter() - begun)
    return min(found)
