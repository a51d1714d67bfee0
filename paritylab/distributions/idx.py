"""Arrays of bytes in idx files, the format of MNIST, gzipped or not.

A file is decompressed only up to the length in its header: a small one can expand to gigabytes.
"""

import contextlib
import gzip
import math
import zlib
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from ..documents import check_regular

GZIP = b"\x1f\x8b"
BYTES = 8
"""The code of unsigned bytes, the one type of entry that the digits have."""
MOST_AXES = 3
LARGEST = 2**26
"""The most bytes of a decompressed file. The largest of MNIST has 47,040,016, and one of CIFAR-10 30,730,000."""


def contents(path: Path, read: Callable[[BufferedIOBase], bytes]) -> bytes:
    """The result of `read` on a file, decompressed if gzipped."""
    try:
        check_regular(path)
        with open(path, "rb") as file:
            return unpacked(file, str(path), read)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror or error}). Choose another folder.") from None


def unpacked(file: BufferedIOBase, name: str, read: Callable[[BufferedIOBase], bytes]) -> bytes:
    """The result of `read` on the bytes of a file, decompressed if gzipped."""
    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    if not packed:
        return read(file)
    with _gzip_stream(file, name) as stream:
        return read(stream)


@contextlib.contextmanager
def _gzip_stream(file: BufferedIOBase, name: str) -> Iterator[BufferedIOBase]:
    try:
        with gzip.open(file) as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ValueError(f"{name} is truncated or damaged: its gzip stream does not end. Copy it again.") from None


def idx_bytes(file: BufferedIOBase) -> bytes:
    """An idx file up to the length in its header and one byte more; of another file the first bytes."""
    head = file.read(4 + 4 * MOST_AXES)
    return head + file.read(max(0, min(implied_length(head), LARGEST) + 1 - len(head)))


def implied_length(head: bytes) -> int:
    """The length in bytes that the header of an idx file implies; 0 if it is none."""
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] != BYTES or not 1 <= head[3] <= MOST_AXES:
        return 0
    return 4 + 4 * head[3] + math.prod(_shape(head))


def _shape(head: bytes) -> tuple[int, ...]:
    first = 4 + 4 * head[3]
    return tuple(int.from_bytes(head[place : place + 4], "big") for place in range(4, min(first, len(head)), 4))


def parse_idx(data: bytes, name: str) -> UInt8[np.ndarray, "..."]:
    """The array that an idx file holds: two zeros, the type, the number of axes, their lengths, the entries.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4]), "labels").tolist()
    [5, 0, 4]
    """
    whole = implied_length(data)
    if not whole:
        raise ValueError(
            f"{name} is not an idx file of bytes: it begins with {data[:4].hex(' ') or 'nothing'}, and should with "
            "00 00 08 and the number of axes. Copy it again."
        )
    if whole > LARGEST:
        raise ValueError(f"The header of {name} asks for {whole} bytes, and {LARGEST} are allowed. Copy it again.")
    if len(data) > whole:
        raise ValueError(f"{name} is too long: its header asks for {whole} bytes, and it has more. Copy it again.")
    if len(data) < whole:
        raise ValueError(f"{name} is truncated: {len(data)} bytes, where its header asks for {whole}. Copy it again.")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(_shape(data))
