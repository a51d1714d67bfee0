"""Work, packed for another process.

Functions that JAX has wrapped (`jax.nn.relu` is one) cannot be pickled; they go by the name under
which they can be imported, as in a configuration's canonical form.
"""

import functools
import importlib
import io
import pickle
import types
from typing import Any

from .canonical import qualified


class _Packer(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        if hasattr(thing, "__wrapped__") and not isinstance(thing, types.FunctionType | type):
            return _imported, tuple(qualified(thing))
        return NotImplemented


def _imported(module: str, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def pack(thing: Any) -> bytes:
    """The thing as bytes."""
    buffer = io.BytesIO()
    _Packer(buffer).dump(thing)
    return buffer.getvalue()


def unpack(parcel: bytes) -> Any:
    """The thing again."""
    return pickle.loads(parcel)
