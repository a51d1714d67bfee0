"""XLA's foreign calls, received in Python: what its C interface hands to a function, read with ctypes.

XLA calls `receive` whenever a compiled program comes to a fused kernel. On a GPU that only puts a launch into the
device's stream, which takes microseconds; no library has to be built for it.
"""

import ctypes
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

import jax

TARGET = "paritylab_fused"
"""The name of the call in compiled programs."""
METADATA, EXECUTE, INTERNAL = 1, 3, 13
"""An extension that asks for a version, the stage in which work is done, and the code of an error."""
API_VERSION = (0, 1)
"""The oldest version of the interface that has all that is used here."""

Launch = Callable[[list[int], int | None], None]
"""Starts the kernel whose number is in the last of some buffers, on the others; with the stream on a GPU."""


class LaunchError(RuntimeError):
    """A kernel could not be started."""


class _Extension(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("type", c_int), ("next", c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int)]


class _Metadata(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("version", _Version), ("traits", c_uint32)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", POINTER(_Metadata))]


class _Api(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("version", _Version),
        ("internal", c_void_p),
        ("create_error", c_void_p),
        ("read_error", c_void_p),
        ("destroy_error", c_void_p),
        ("register", c_void_p),
        ("get_stream", c_void_p),
    ]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class _Buffers(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("each", POINTER(POINTER(_Buffer))),
    ]


class _Frame(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", POINTER(_Extension)),
        ("api", POINTER(_Api)),
        ("context", c_void_p),
        ("stage", c_int32),
        ("arguments", _Buffers),
        ("results", _Buffers),
    ]


class _StreamArguments(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("stream", c_void_p)]


class _ErrorArguments(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int)]


_Function = ctypes.CFUNCTYPE(c_void_p, c_void_p)
_Handler = ctypes.CFUNCTYPE(c_void_p, POINTER(_Frame))
_registered: dict[str, Any] = {}
"""What XLA may call must not be collected as garbage."""


def receive_calls(platform: str, launch: Launch) -> None:
    """Registers the call for a platform of JAX, once per process."""
    if platform in _registered:
        return

    def receive(frame: Any) -> int | None:
        called = frame.contents
        if called.extension and called.extension.contents.type == METADATA:
            asked = ctypes.cast(called.extension, POINTER(_MetadataExtension)).contents.metadata.contents
            asked.version.major, asked.version.minor = API_VERSION
            asked.traits = 0
            return None
        if called.stage != EXECUTE:
            return None
        try:
            buffers = [called.arguments.each[i].contents.data or 0 for i in range(called.arguments.size)]
            launch(buffers, _stream(called) if platform == "CUDA" else None)
        except (LaunchError, OSError, LookupError) as error:
            return _error(called, str(error))
        return None

    handler = _Handler(receive)
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(handler), platform=platform, api_version=1)
    _registered[platform] = handler


def _stream(called: _Frame) -> int:
    arguments = _StreamArguments(ctypes.sizeof(_StreamArguments), None, called.context, None)
    _Function(called.api.contents.get_stream)(ctypes.addressof(arguments))
    return arguments.stream or 0


def _error(called: _Frame, message: str) -> int | None:
    arguments = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, message.encode(), INTERNAL)
    made: int | None = _Function(called.api.contents.create_error)(ctypes.addressof(arguments))
    return made
