"""Where a result comes from: versions, device, commit."""

import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from . import __version__


@cache
def manifest() -> dict[str, Any]:
    """What a result file carries beside its configuration."""
    return {
        "version": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "optax": metadata.version("optax"),
        "device": jax.devices()[0].device_kind,
        "matmul_precision": "float32",
    }


def commit() -> str | None:
    """The commit of the source, from git, or from PARITYLAB_COMMIT where there is no git."""
    if given := os.environ.get("PARITYLAB_COMMIT"):
        return given
    here = Path(__file__).parent
    if not (here.parent / ".git").exists():
        return None
    command = ["git", "-C", str(here), "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None
