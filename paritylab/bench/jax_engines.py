"""The workload in JAX: hand-written `vmap` and `scan`, and the engine of the lab."""

import functools
import operator
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

import paritylab as pl

from ..cube import random_signs
from ..networks import Recipe, Sinusoid
from ..runtime import precision
from ..training.call import plan
from ..training.host.workers import work_through
from ..training.plans import Plan
from .cases import EVERY, VALIDATION, Case, Timed

ENGINE_SECONDS, VALIDATED_SECONDS = 2.0, 6.0
"""Seconds per round of the lab's engine on a CPU: longer with validation, as runs that learn are replaced."""
GPU_SECONDS = 0.5
"""The same on a GPU without validation; with it a case has its own."""
PLAIN_SECONDS = 0.4
"""Plain JAX is called again until a round has taken as long."""
PLAIN_OPERATIONS = 1e13
"""What one call of plain JAX does on a GPU at the most: less than two seconds."""

MANY, MOST_RUNS = 2**17, 4_000_000
"""Enough runs for all lanes that there can be, and more than any engine finishes in such a round."""

Parameters = tuple[jax.Array, ...]


def plain_models(case: Case, *, validate: bool) -> int:
    """The number of models that plain JAX trains side by side: 128 on a CPU, 16,384 on a GPU where they fit."""
    if jax.default_backend() == "cpu":
        return 128
    points = VALIDATION if validate else case.batch
    return 1024 if case.batch >= 1024 or case.width * points > 2**20 else 16384


def _parameters(case: Case, key: jax.Array) -> Parameters:
    keys = jr.split(key, 4)
    shapes = (((case.width, case.n), case.n), ((case.width,), case.n), ((case.width,), case.width), ((), case.width))
    drawn = [
        jr.uniform(each, shape, jnp.float32, -(fan_in**-0.5), fan_in**-0.5)
        for each, (shape, fan_in) in zip(keys, shapes, strict=True)
    ]
    return tuple(drawn if case.network == "mlp" else drawn[:2])


def _outputs(case: Case, parameters: Parameters, x: jax.Array) -> jax.Array:
    weight, bias, *output = parameters
    sums = x @ weight.T + bias
    if case.network == "neuron":
        return jnp.sin(np.pi / 2 * (sums[:, 0] + 1 - case.k))
    if case.network == "polynet":
        return functools.reduce(operator.mul, list(sums.T))
    return jax.nn.relu(sums) @ output[0] + output[1]


def _label(case: Case, x: jax.Array) -> jax.Array:
    return jnp.prod(x[:, : case.k], axis=1)


def plain(case: Case, *, validate: bool) -> Callable[[], Timed]:
    """vmap over models of a scan over steps; with `validate`, all validation points every ten steps.

    Its matrix products have the precision that the lab's have: float32, not the TF32 that recent GPUs default to.
    """
    models = plain_models(case, validate=validate)

    def loss(parameters: Parameters, x: jax.Array) -> jax.Array:
        return jnp.mean(jax.nn.relu(1 - _label(case, x) * _outputs(case, parameters, x)))

    def step(carry: tuple[Parameters, jax.Array], count: jax.Array) -> tuple[tuple[Parameters, jax.Array], None]:
        parameters, key = carry
        gradients = jax.grad(loss)(parameters, random_signs(jr.fold_in(key, count), case.batch, case.n))
        return (jax.tree.map(lambda p, g: p - case.rate * g, parameters, gradients), key), None

    def validated(carry: tuple[Parameters, jax.Array], first: jax.Array, points: jax.Array) -> Any:
        carry, _ = jax.lax.scan(step, carry, first + jnp.arange(EVERY))
        return carry, jnp.all(_outputs(case, carry[0], points) * _label(case, points) > 0)

    def run(parameters: Parameters, key: jax.Array, points: jax.Array, *, steps: int) -> Any:
        if not validate:
            return jax.lax.scan(step, (parameters, key), jnp.arange(steps))
        return jax.lax.scan(
            lambda carry, i: validated(carry, i * EVERY, points), (parameters, key), jnp.arange(steps // EVERY)
        )

    on_cpu = jax.default_backend() == "cpu"
    most = PLAIN_OPERATIONS / 200 if on_cpu else PLAIN_OPERATIONS
    steps = int(min(1000, max(EVERY, most / (models * case.operations)))) // EVERY * EVERY

    def many(parameters: Parameters, keys: jax.Array, points: jax.Array) -> Any:
        return jax.vmap(functools.partial(run, steps=steps), in_axes=(0, 0, None))(parameters, keys, points)

    def given() -> tuple[Parameters, jax.Array, jax.Array]:
        keys = jr.split(jr.key(0), models)
        return jax.vmap(lambda key: _parameters(case, key))(keys), keys, random_signs(jr.key(1), VALIDATION, case.n)

    with precision(False):
        compiled = jax.jit(many).lower(*jax.eval_shape(given)).compile()
    arguments = functools.cache(jax.jit(given))

    def timed() -> Timed:
        ready, calls = jax.block_until_ready(arguments()), 0
        begun = time.perf_counter()
        while calls == 0 or time.perf_counter() - begun < PLAIN_SECONDS:
            jax.block_until_ready(compiled(*ready))
            calls += 1
        return Timed(time.perf_counter() - begun, calls * steps * models)

    return timed


def _plans(case: Case) -> Callable[..., Plan]:
    networks: dict[str, Recipe] = {
        "mlp": pl.MLP(case.width),
        "neuron": pl.Neuron(Sinusoid(case.k)),
        "polynet": pl.PolyNet(case.width),
    }
    task = pl.Uniform(pl.Parity(case.n, range(case.k)))
    return functools.partial(plan, task, networks[case.network], batch=case.batch)


def trained_by_kernels(case: Case) -> bool:
    """Whether fused kernels cover a case on this machine."""
    return _plans(case)(seeds=1).cells[0].fused_kernel is not None


def engine(case: Case, *, validate: bool, fused: bool = True) -> tuple[Callable[[], Timed], int]:
    """The lab's engine with more runs than it can finish, stopped after a while; counts the steps that runs took.

    Runs that learn are replaced by others, as in any use of it. Also the number of lanes that the lab chooses for this
    shape. On a GPU fused kernels train them, unless they are turned off.
    """
    of_shape = _plans(case)
    lanes = of_shape(seeds=MANY, steps=100, fused=fused).ensemble.program.lanes
    options: dict[str, Any] = {"every": EVERY} if validate else {"validation": 0, "every": 500}
    seconds = VALIDATED_SECONDS if validate else ENGINE_SECONDS
    if jax.default_backend() != "cpu":
        seconds = (case.window if fused else min(case.window, 1.0)) if validate else GPU_SECONDS
    seeds = min(200 * lanes, MOST_RUNS)
    ready = of_shape(rate=case.rate, seeds=seeds, steps=100_000, lanes=lanes, fused=fused, **options)
    work_through(ready.ensemble, seconds=0)  # compiles

    def timed() -> Timed:
        begun = time.perf_counter()
        collected = work_through(ready.ensemble, seconds=seconds)
        if collected.interrupted:
            raise KeyboardInterrupt
        return Timed(time.perf_counter() - begun, int(np.sum(collected.step, dtype=np.int64)))

    return timed, lanes
