"""Kernels on NVIDIA's GPUs: the driver, called with ctypes."""

import ctypes
import functools
import threading
from typing import Any, NamedTuple

import jax

from . import nvrtc
from .frames import LaunchError
from .kernels import STATIC_SHARED, Kernel
from .launching import AbstractBackend

LEAST_CAPABILITY = (8, 0)
"""The first generation whose tensor cores know bfloat16."""
MAJOR, MINOR, SHARED = 75, 76, 97
"""What the driver calls the two numbers of a compute capability, and the shared memory that a block may ask for."""
MOST_SHARED = 8
"""What the driver calls the shared memory that a function may ask for."""


@functools.cache
def driver() -> ctypes.CDLL:
    try:
        found = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise LaunchError("There is no driver of a GPU (libcuda.so.1).") from error
    check(found, found.cuInit(0))
    return found


def check(cuda: ctypes.CDLL, code: int) -> None:
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise LaunchError(f"The GPU's driver answers with error {code}: {(text.value or b'unknown').decode()}.")


def attributes(*asked: int, ordinal: int = 0) -> list[int]:
    """What the driver says of a GPU; no context is made for it."""
    cuda, device, value = driver(), ctypes.c_int(), ctypes.c_int()
    check(cuda, cuda.cuDeviceGet(ctypes.byref(device), ordinal))
    numbers = []
    for attribute in asked:
        check(cuda, cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device))
        numbers.append(value.value)
    return numbers


def capability(ordinal: int = 0) -> tuple[int, int]:
    """The compute capability of a GPU."""
    major, minor = attributes(MAJOR, MINOR, ordinal=ordinal)
    return major, minor


def check_available() -> None:
    """Raises `LaunchError` with a sentence unless kernels can be compiled and started here."""
    if (found := capability()) < LEAST_CAPABILITY:
        raise LaunchError(f"The GPU has compute capability {found[0]}.{found[1]}; kernels need 8.0 or later.")
    nvrtc.library()


class _Prepared(NamedTuple):
    code: bytes
    block: int
    blocks: int
    shared: int


class CudaBackend(AbstractBackend):
    """Launches go into the stream of the program that calls; each context loads a kernel once."""

    call_platform = "CUDA"

    def __init__(self) -> None:
        self._prepared: dict[int, _Prepared] = {}
        self._loaded: dict[tuple[int, int], ctypes.c_void_p] = {}
        self._lock = threading.Lock()

    def prepare(self, number: int, source: str, kernel: Kernel, blocks: int) -> None:
        if number in self._prepared:
            return
        code = nvrtc.compiled(source, capability(jax.devices()[0].id))
        self._prepared[number] = _Prepared(code, kernel.block, blocks, kernel.shared_bytes)

    def launch(self, buffers: list[int], stream: int | None) -> None:
        *buffers, named_at = buffers
        cuda, number = driver(), ctypes.c_uint64()
        context = ctypes.c_void_p()
        check(cuda, cuda.cuStreamGetCtx(ctypes.c_void_p(stream), ctypes.byref(context)))
        check(cuda, cuda.cuCtxPushCurrent_v2(context))
        try:
            # Waits for what the stream does before: some microseconds, of a block that takes milliseconds.
            named = ctypes.byref(number), ctypes.c_uint64(named_at), ctypes.c_size_t(8), ctypes.c_void_p(stream)
            check(cuda, cuda.cuMemcpyDtoHAsync_v2(*named))
            check(cuda, cuda.cuStreamSynchronize(ctypes.c_void_p(stream)))
            kernel = self._prepared[number.value]
            function = self._function(cuda, context.value or 0, number.value, kernel)
            pointers = (ctypes.c_void_p * len(buffers))(*buffers)
            each = (ctypes.c_void_p * len(buffers))(
                *(ctypes.addressof(pointers) + i * ctypes.sizeof(ctypes.c_void_p) for i in range(len(buffers)))
            )
            grid, block = (kernel.blocks, 1, 1), (kernel.block, 1, 1)
            shared, at = kernel.shared, ctypes.c_void_p(stream)
            check(cuda, cuda.cuLaunchKernel(function, *grid, *block, shared, at, each, None))
        finally:
            cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    def _function(self, cuda: Any, context: int, number: int, kernel: _Prepared) -> ctypes.c_void_p:
        with self._lock:
            if (context, number) not in self._loaded:
                module, function = ctypes.c_void_p(), ctypes.c_void_p()
                check(cuda, cuda.cuModuleLoadData(ctypes.byref(module), kernel.code))
                check(cuda, cuda.cuModuleGetFunction(ctypes.byref(function), module, b"train"))
                if kernel.shared > STATIC_SHARED:
                    check(cuda, cuda.cuFuncSetAttribute(function, MOST_SHARED, kernel.shared))
                self._loaded[context, number] = function
            return self._loaded[context, number]
