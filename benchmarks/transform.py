"""The Walsh-Hadamard transform against boofun and numpy, in one run. Prints one JSON document.

python benchmarks/transform.py          on a CPU: n = 14 and 20, 1,024 functions at n = 10, memory at n = 24
python benchmarks/transform.py gpu      on a GPU: n = 30 against the rate at which the device copies
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.analysis import walsh_hadamard
from paritylab.manifest import manifest

ROUNDS = 9


def in_place(values: np.ndarray) -> None:
    """The butterflies in numpy, level by level."""
    half = 1
    while half < values.size:
        pairs = values.reshape(-1, 2, half)
        above = pairs[:, 0].copy()
        pairs[:, 0] += pairs[:, 1]
        np.subtract(above, pairs[:, 1], out=pairs[:, 1])
        half *= 2


def seconds(what: Callable[[Any], Any], argument: Callable[[], Any]) -> float:
    """The best of ten, each on a fresh argument: the first after another engine find cold caches, idle threads."""
    taken = []
    for _ in range(10):
        given = argument()
        begun = time.perf_counter()
        jax.block_until_ready(what(given))
        taken.append(time.perf_counter() - begun)
        if taken[-1] > 1:
            break
    return min(taken)


def interleaved(engines: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]]) -> dict[str, float]:
    """The median of several rounds in which the engines take turns, after one that compiles."""
    rounds = [{name: seconds(*engine) for name, engine in engines.items()} for _ in range(ROUNDS + 1)]
    return {name: float(np.median([each[name] for each in rounds[1:]])) for name in engines}


def against_numpy(n: int, dtype: str, functions: int = 1) -> dict[str, float]:
    table = np.random.default_rng(n).choice([-1.0, 1.0], (functions, 2**n)).astype(dtype)
    with jax.enable_x64(True):
        fresh = lambda: jax.block_until_ready(jnp.array(table))
        ours = lambda values: walsh_hadamard(values, donate=True)
        loop = lambda values: [in_place(row) for row in values]
        return interleaved({"numpy": (loop, table.copy), "paritylab": (ours, fresh)})


def boofun_seconds() -> dict[str, float]:
    """What its users call (`fourier`, n = 14), and its fast transform (n = 20); once each."""
    import boofun
    from boofun.core.optimizations import fast_walsh_hadamard

    bits = np.random.default_rng(14).integers(0, 2, 2**14).tolist()
    table = np.random.default_rng(20).choice([-1.0, 1.0], 2**20)
    return {
        "fourier, n = 14": seconds(lambda bits: boofun.create(bits).fourier(), lambda: bits),
        "fast_walsh_hadamard, n = 14": seconds(fast_walsh_hadamard, lambda: table[: 2**14].copy()),
        "fast_walsh_hadamard, n = 20": seconds(fast_walsh_hadamard, lambda: table),
    }


MEMORY = """
import jax, jax.numpy as jnp
from paritylab.analysis import walsh_hadamard
known = lambda name: next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
walsh_hadamard(jnp.ones(2**10), donate=True).block_until_ready()
resting = known("VmRSS")
values = jax.block_until_ready(jnp.ones(2**24, jnp.float32))
walsh_hadamard(values, donate=True).block_until_ready()
print((known("VmHWM") - resting) / (4 * 2**24))  # the compiler's memory is counted too
"""


def memory_at_24() -> float:
    """Peak memory of a transform of 2**24 numbers beyond what the process held before them, in sizes of the table."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    return round(float(done.stdout), 2)


def cpu() -> dict[str, Any]:
    ours = {f"n = {n}, {dtype}": against_numpy(n, dtype) for n in (14, 20) for dtype in ("float32", "float64")}
    known = boofun_seconds()
    at = lambda n: ours[f"n = {n}, float32"]["paritylab"]  # exact: sums of 2**20 signs
    return {
        "seconds": {**ours, "1,024 functions, n = 10": against_numpy(10, "float64", 1024), "boofun": known},
        "times faster than boofun": {
            "fourier, n = 14": known["fourier, n = 14"] / at(14),
            "fast_walsh_hadamard, n = 14": known["fast_walsh_hadamard, n = 14"] / at(14),
            "fast_walsh_hadamard, n = 20": known["fast_walsh_hadamard, n = 20"] / at(20),
        },
        "times faster than numpy": {key: each["numpy"] / each["paritylab"] for key, each in ours.items()},
        "memory at n = 24, in tables": memory_at_24(),
    }


def gpu(n: int = 30) -> dict[str, Any]:
    """One read and one write of the table for every four levels, at the rate of a copy, against the transform."""
    fresh = lambda: jax.block_until_ready(jnp.ones(2**n, jnp.float32))
    copy = jax.jit(lambda values: values * 1.0000001)
    found = interleaved({"copy": (copy, fresh), "transform": (lambda v: walsh_hadamard(v, donate=True), fresh)})
    ideal = found["copy"] * n / 4
    rate = 2 * 4 * 2**n / found["copy"]
    return {"seconds": found, "copy, bytes per second": rate, "times the ideal": found["transform"] / ideal}


if __name__ == "__main__":
    result = gpu() if sys.argv[1:] == ["gpu"] else cpu()
    print(json.dumps({**result, "machine": manifest()}, indent=1))
