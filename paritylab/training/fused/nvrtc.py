"""NVIDIA's runtime compiler, which comes with JAX for GPUs, called with ctypes. What it compiled is kept on disk."""

import ctypes
import ctypes.util
import functools
import hashlib
import importlib.util
import os
import tempfile
from pathlib import Path

from ...runtime import cache_folder
from .frames import LaunchError


@functools.cache
def library() -> ctypes.CDLL:
    """The compiler, from the packages beside JAX or from an installed CUDA."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    found = [str(path) for folder in folders for path in sorted(folder.glob("*/lib/libnvrtc.so.*"))]
    found += [name for name in (ctypes.util.find_library("nvrtc"), "/usr/local/cuda/lib64/libnvrtc.so") if name]
    for name in found:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise LaunchError('The compiler NVRTC was not found. It comes with `pip install "jax[cuda12]"` (or `cuda13`).')


@functools.cache
def version() -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def compiled(source: str, capability: tuple[int, int]) -> bytes:
    """Machine code for GPUs of a compute capability, from disk if it was compiled before."""
    options = [f"--gpu-architecture=sm_{capability[0]}{capability[1]}", "--std=c++17"]
    name = hashlib.sha256("\n".join([*map(str, version()), *options, source]).encode()).hexdigest()
    kept = cache_folder().parent / "kernels" / f"{name}.cubin"
    try:
        return kept.read_bytes()
    except OSError:
        pass
    code = _compile(source, options)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as draft:
            draft.write(code)
        os.replace(draft.name, kept)
    except OSError:  # a folder that cannot be written costs half a second each time
        pass
    return code


def _compile(source: str, options: list[str]) -> bytes:
    nvrtc, program = library(), ctypes.c_void_p()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"paritylab.cu", 0, None, None))
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), given):
            raise LaunchError(f"NVRTC does not compile a kernel: {_log(nvrtc, program)}")
        size = ctypes.c_size_t()
        _check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
        code = ctypes.create_string_buffer(size.value)
        _check(nvrtc.nvrtcGetCUBIN(program, code))
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


def _log(nvrtc: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _check(nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(nvrtc.nvrtcGetProgramLog(program, text))
    return text.value.decode()


def _check(code: int) -> None:
    if code:
        raise LaunchError(f"NVRTC answers with error {code}.")
