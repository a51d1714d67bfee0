"""Work, packed for another process.

Functions that JAX has wrapped (`jax.nn.relu` is one) cannot be pickled; they go by the name under
which they can be imported, as in a configuration's canonical form.
"""

import io
import pickle
import types
from typing import Any

from .canonical_form import imported, qualified


class _Packer(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        if hasattr(thing, "__wrapped__") and not isinstance(thing, types.FunctionType | type):
            return _imported, tuple(qualified(thing))
        return NotImplemented


class _Unpacker(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _imported(module, name)


def _imported(module: str, name: str) -> Any:
    try:
        return imported(module, name)
    except AttributeError:
        if module != "__main__":
            raise
        raise ValueError(
            f"A worker cannot import {name!r}, which is defined in another process (in a notebook, say). "
            "Write it into a file, a module of its own, and import it from there."
        ) from None


def pack(thing: Any) -> bytes:
    """The thing as bytes."""
    buffer = io.BytesIO()
    try:
        _Packer(buffer).dump(thing)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"Work for another process must be importable there, and something in it is not ({error}). "
            "Give functions a name at the top of a module, and arguments that can be pickled."
        ) from error
    return buffer.getvalue()


def unpack(parcel: bytes) -> Any:
    """The thing again."""
    return _Unpacker(io.BytesIO(parcel)).load()
