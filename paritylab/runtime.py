"""What the lab asks of JAX before it uses it, the persistent compilation cache, and of the machine.

Compiling one ensemble takes seconds and training it often takes less, so compiled programs are kept
on disk between processes. `JAX_COMPILATION_CACHE_DIR` (JAX's own variable) moves the folder;
`JAX_ENABLE_COMPILATION_CACHE=false` turns the cache off.
"""

import contextlib
import functools
import importlib.metadata
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

import jax

from .demands import echo

MOST_CORES = 4096
"""More threads than this on one machine are almost certainly a typo."""


def cache_folder() -> Path:
    """Where compiled programs are kept unless the user said otherwise."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "paritylab" / "compiled"


def keep_compiled_programs() -> None:
    """Turns the persistent cache on, unless the user has already chosen a folder or none."""
    if jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def leave_devices_to_workers() -> None:
    """Keeps this process off the GPUs, which its worker processes need for themselves."""
    jax.config.update("jax_platforms", "cpu")


CONTROL_GROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """Bytes that this process may use: those of the machine, or of its control group where that has a limit.

    `PARITYLAB_MEMORY` says another number, in GiB.
    """
    if given := os.environ.get("PARITYLAB_MEMORY"):
        try:
            size = float(given)
        except ValueError:
            size = math.nan
        if not 0 < size < math.inf:
            raise ValueError(
                f"PARITYLAB_MEMORY is a number of GiB above 0, got {echo(given)}. Unset it to use all memory."
            )
        return int(size * 2**30)
    return _of_the_machine()


@functools.cache  # every plan asks
def _of_the_machine() -> int:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([there, *_limits_of_groups(Path("/proc/self/cgroup"), CONTROL_GROUPS)])


def _limits_of_groups(own: Path, root: Path) -> Iterator[int]:
    """The limits of the groups that a process is in, of either version, and of all groups around them."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:  # not Linux
        return
    for _, kinds, path in lines:
        if kinds not in ("", "memory"):
            continue
        top, name = (root, "memory.max") if kinds == "" else (root / "memory", "memory.limit_in_bytes")
        inside = top / path.lstrip("/")
        for folder in (inside, *inside.parents):
            if folder != top and top not in folder.parents:
                break
            with contextlib.suppress(OSError, ValueError):  # no such file, or the word "max"
                yield int((folder / name).read_text())


def gibibytes(size: int | float) -> str:
    """A number of bytes for people.

    >>> gibibytes(3 * 2**29), gibibytes(2**50)
    ('1.5 GiB', '1,048,576 GiB')
    """
    size = size / 2**30
    return f"{size:.1f} GiB" if size < 1000 else f"{size:,.0f} GiB"


def check_memory(need: int | float, what: str, way_out: str) -> None:
    """Says what would take more memory than there is, before any of it is taken."""
    if need > (have := memory()):
        raise ValueError(
            f"{what} would take about {gibibytes(need)}, and this process may use {gibibytes(have)}. {way_out}"
        )


def make_room_for_programs(limit: int | None = None) -> None:
    """Forgets what is compiled if it takes half of the memory maps that a process may have, or of `limit`.

    A program for a CPU takes some 600 of them. Linux allows 65,530, and beyond that the compiler ends the process.
    What is needed again comes from the compilation cache on disk.
    """
    try:
        allowed = limit or int(Path("/proc/sys/vm/max_map_count").read_text())
        with open("/proc/self/maps") as maps:
            held = sum(1 for _ in maps)
    except OSError:  # not Linux
        return
    if held > allowed / 2:
        jax.clear_caches()


def cores() -> list[int]:
    """The cores that this process may use, by number; with `PARITYLAB_CORES` at most so many of them."""
    there = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    given = os.environ.get("PARITYLAB_CORES")
    if not given:
        return there
    if not given.isdecimal() or not 1 <= int(given) <= MOST_CORES:
        raise ValueError(
            f"PARITYLAB_CORES is a whole number from 1 to {MOST_CORES}, got {given!r}. Unset it to use all cores."
        )
    return there[: int(given)]


def gpus() -> list[int]:
    """The GPUs that JAX can use, by number. JAX itself is not asked: it would seize them."""
    wanted = os.environ.get("JAX_PLATFORMS", "")
    plugin = any("cuda" in entry.name for entry in importlib.metadata.entry_points(group="jax_plugins"))
    if not plugin or (wanted and "cuda" not in wanted and "gpu" not in wanted):
        return []
    if (visible := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [int(number) for number in visible.split(",") if number.isdigit()]
    devices = (re.fullmatch(r"nvidia(\d+)", path.name) for path in Path("/dev").glob("nvidia*"))
    return sorted(int(match[1]) for match in devices if match)


@contextlib.contextmanager
def precision(float64: bool) -> Iterator[None]:
    """float32 matrix products in full (the default of recent GPUs is less), and float64 only on request."""
    with jax.enable_x64(float64), jax.default_matmul_precision("float32"):
        yield
