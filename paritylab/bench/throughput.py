"""Steps per second over all runs, of the lab and its alternatives, in one process (`paritylab bench`).

The engines take turns, round by round, so that a slower machine slows all of them; the
median round counts. Every engine draws its own data inside the measured time.
"""

import contextlib
import importlib.util
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..manifest import manifest
from ..runtime import cache_folder
from ..sweep.leases import leases_in
from .cases import CASES as CASES, Case, Timed
from .costs import cost, rates as device_rates
from .jax_engines import engine, plain, plain_models, trained_by_kernels

BLOCK_STEPS = 1000
"""Steps in which weights move to and from memory once, at the most, where kernels keep them in registers."""
SECONDS = 0.8
"""The duration of one measurement of an alternative, within a factor of two."""

Engine = Callable[[], Timed]
"""One round, compiled and warmed up beforehand."""


def engines(case: Case, torch: bool = True) -> dict[str, tuple[Engine, int]]:
    """Every engine of a case, with the number of models that it trains side by side."""
    found: dict[str, tuple[Engine, int]] = {}
    if torch and importlib.util.find_spec("torch") and case.network == "mlp":
        from . import torch_engines

        found["torch loop"] = _of_one_length(torch_engines.loop(case)), 1
        found["torch vmap"] = _of_one_length(torch_engines.vmap(case)), 128
    made: dict[str, Callable[[], tuple[Engine, int]]] = {}
    for name, validate in (("plain jax", False), ("plain jax, validated", True)):
        made[name] = partial(lambda v: (plain(case, validate=v), plain_models(case, validate=v)), validate)
    ways = {"paritylab, general": False, "paritylab": True} if trained_by_kernels(case) else {"paritylab": True}
    for name, fused in ways.items():
        made[name] = partial(engine, case, validate=False, fused=fused)
        made[f"{name}, validated"] = partial(engine, case, validate=True, fused=fused)
    with ThreadPoolExecutor(len(made)) as pool:  # they compile side by side, and run one after the other
        compiled = {name: pool.submit(make) for name, make in made.items()}
    return found | {name: future.result() for name, future in compiled.items()}


def measure(
    cases: list[Case], rounds: int, say: Callable[[str], None], torch: bool = True
) -> tuple[list[dict[str, Any]], bool]:
    """One row per case and engine; and whether Ctrl-C came first, in which case the cases that are done are there."""
    rows: list[dict[str, Any]] = []
    for case in cases:
        try:
            rows += _measured(case, rounds, say, torch)
        except KeyboardInterrupt:
            say(f"Interrupted: {len(rows)} rows of the cases before n={case.n} width={case.width} batch={case.batch}.")
            return rows, True
    return rows, False


def _measured(case: Case, rounds: int, say: Callable[[str], None], torch: bool) -> list[dict[str, Any]]:
    contenders = engines(case, torch)
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    with leases_in(cache_folder().parent).waiting_for("benchmark"):  # the others of this user compile meanwhile
        for number in range(rounds):
            for name, (run, _) in contenders.items():
                timed = run()
                rates[name].append(timed.steps / timed.seconds)
            say(f"n={case.n} k={case.k} width={case.width} batch={case.batch}: round {number + 1} of {rounds}")
    medians = {name: float(np.median(values)) for name, values in rates.items()}
    say("; ".join(f"{name} {rate:,.0f} steps/s" for name, rate in medians.items()))
    return [_row(case, name, lanes, medians) for name, (_, lanes) in contenders.items()]


def _of_one_length(run: Callable[[int], Timed]) -> Engine:
    """Rounds of as many steps as take about `SECONDS`."""
    steps = 100
    while (seconds := run(steps).seconds) < SECONDS / 2:
        steps = int(steps * max(2.0, SECONDS / max(seconds, 1e-4)))
    if seconds > 2 * SECONDS:
        steps = max(10, int(steps * SECONDS / seconds))
    return lambda: run(steps)


def _row(case: Case, name: str, lanes: int, rates: dict[str, float]) -> dict[str, Any]:
    rate = rates[name]
    return {
        **{field: getattr(case, field) for field in ("network", "n", "k", "width", "batch")},
        "engine": name,
        "side_by_side": lanes,
        "steps_per_second": rate,
        "ratio_to_torch_loop": rate / rates["torch loop"] if "torch loop" in rates else None,
        "ratio_to_plain_jax": rate / rates["plain jax"],
        "ratio_to_plain_jax_validated": rate / rates["plain jax, validated"],
        "ratio_to_general_engine": rate / rates[general] if (general := _general(name)) in rates else None,
        "fraction_of_sgemm": rate * case.operations / sgemm(),
        "fraction_of_floor": rate * cost(case, BLOCK_STEPS).floor(device_rates(), _on_tensor_cores(case)),
    }


def _general(name: str) -> str:
    """The general engine that does what the lab's does with fused kernels, if an engine is the lab's."""
    return name.replace("paritylab", "paritylab, general") if name.startswith("paritylab") else ""


def _on_tensor_cores(case: Case) -> bool:
    """Whether products with inputs of +-1 can be exact there and fill a tile."""
    return jax.default_backend() == "gpu" and case.network == "mlp" and case.batch >= 16


@cache
def sgemm(size: int = 2048) -> float:
    """The machine's rate of float32 matrix products in numpy, operations per second, best of ten."""
    left, right = np.random.default_rng(0).random((2, size, size), np.float32)
    best = float("inf")
    for _ in range(10):
        begun = time.perf_counter()
        left @ right
        best = min(best, time.perf_counter() - begun)
    return 2 * size**3 / best


def machine() -> dict[str, Any]:
    """The machine and the versions of its software."""
    models: list[str] = []
    with contextlib.suppress(OSError):  # not Linux
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        **manifest(),
        "date": time.strftime("%Y-%m-%d"),
        "processor": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "devices": len(jax.devices()),
        "sgemm_gflops": round(sgemm() / 1e9, 1),
        **{f"device_{name}_per_second": float(f"{value:.3g}") for name, value in device_rates()._asdict().items()},
    }
