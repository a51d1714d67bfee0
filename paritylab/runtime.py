"""What the lab asks of JAX before it uses it, the persistent compilation cache, and of the machine.

Compiling one ensemble takes seconds and training it often takes less, so compiled programs are kept
on disk between processes. `JAX_COMPILATION_CACHE_DIR` (JAX's own variable) moves the folder;
`JAX_ENABLE_COMPILATION_CACHE=false` turns the cache off.
"""

import os
from pathlib import Path

import jax

MOST_CORES = 4096
"""More threads than this on one machine are a slip of the pen."""


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


def memory() -> int:
    """Bytes of main memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


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
