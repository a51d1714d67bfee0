"""Arrays of bytes in idx files, the format of MNIST: gzipped or not, whole or not at all."""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

GZIP = b"\x1f\x8b"
BYTES = 8
"""The code of unsigned bytes, the one type of entry that the digits have."""


def contents(path: Path) -> bytes:
    """The bytes of a file, unpacked where it is gzipped."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror or error}). Choose another folder.") from None
    return unpacked(raw, str(path))


def unpacked(raw: bytes, name: str) -> bytes:
    """The same bytes, or what they are the gzipped form of."""
    if not raw.startswith(GZIP):
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ValueError(f"{name} is truncated or damaged: its gzip stream does not end. Copy it again.") from None


def parse_idx(data: bytes, name: str) -> UInt8[np.ndarray, "..."]:
    """The array that an idx file holds: two zeros, the type, the number of axes, their lengths, the entries.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4]), "labels").tolist()
    [5, 0, 4]
    """
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] != BYTES or not 1 <= data[3] <= 3:
        raise ValueError(
            f"{name} is not an idx file of bytes: it begins with {data[:4].hex(' ') or 'nothing'}, and should with "
            "00 00 08 and the number of axes. Copy it again."
        )
    first = 4 + 4 * data[3]
    shape = tuple(int.from_bytes(data[place : place + 4], "big") for place in range(4, min(first, len(data)), 4))
    whole = first + math.prod(shape)
    if len(data) != whole:
        problem = "truncated" if len(data) < whole else "too long"
        raise ValueError(f"{name} is {problem}: {len(data)} bytes, where its header asks for {whole}. Copy it again.")
    return np.frombuffer(data, np.uint8, offset=first).reshape(shape)
