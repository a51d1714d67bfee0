"""From a kernel to launches: sources are prepared while programs are traced, and started when XLA calls."""

import abc
import functools
import threading
import warnings

import jax
import numpy as np
from jaxtyping import UInt32

from ...runtime import gpus
from .frames import LaunchError, receive_calls
from .kernels import MOST_SHARED, Kernel, number_of


class AbstractBackend(abc.ABC):
    """Compiles and starts kernels on one kind of device."""

    call_platform: str
    """The platform's name in XLA's registry of calls."""

    @abc.abstractmethod
    def prepare(self, number: int, source: str, kernel: Kernel, blocks: int) -> None:
        """Compiles a source, so that what is wrong with it is said before anything trains."""

    @abc.abstractmethod
    def launch(self, buffers: list[int], stream: int | None) -> None:
        """Starts a kernel that was prepared, on buffers of which the last holds its number."""


_backends: dict[str, AbstractBackend] = {}
_lock = threading.Lock()


def use_backend(platform: str, backend: AbstractBackend) -> None:
    """Trains covered runs on a platform of JAX ("gpu") by this backend from now on."""
    _backends[platform] = backend
    receive_calls(backend.call_platform, lambda *call: _backends[platform].launch(*call))


@functools.cache
def kernels_run_here() -> bool:
    """Whether this machine has a GPU that fused kernels can use. If it has another, a warning says why not."""
    if not gpus():
        return False
    from .cuda_backend import check_available

    try:
        check_available()
    except LaunchError as error:
        warnings.warn(f"The general engine trains all runs. {error}", stacklevel=2)
        return False
    return True


@functools.cache
def shared_memory_here() -> int:
    """The bytes of shared memory that a kernel may have on this machine's GPU; without one, on any."""
    if not gpus():
        return MOST_SHARED
    from .cuda_backend import SHARED, attributes

    return attributes(SHARED)[0]


def prepared(kernel: Kernel, lanes: int, rounds: int, every: int) -> UInt32[np.ndarray, "2"]:
    """The number by which a compiled program calls the kernel, in two halves; it is ready for the device in use."""
    platform = jax.default_backend()
    with _lock:
        if platform == "gpu" and platform not in _backends:
            from .cuda_backend import CudaBackend

            use_backend(platform, CudaBackend())
    if platform not in _backends:
        raise LaunchError(
            f"These runs were planned for fused kernels of a GPU, and this process trains on {platform}. Plan them "
            "with fused=False."
        )
    source = kernel.source(lanes, rounds, every)
    number = number_of(source)
    _backends[platform].prepare(number, source, kernel, -(-lanes // kernel.runs))
    return np.array([number & 0xFFFFFFFF, number >> 32], np.uint32)
