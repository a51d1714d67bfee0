"""Images of handwritten digits: MNIST from a folder, a cache or a mirror, and the small ones of scikit-learn.

MNIST is searched for in the folder that a caller names, or `PARITYLAB_DATA`, or `paritylab reproduce --data`;
without one in the cache (`XDG_CACHE_HOME` moves it), and is downloaded into it. Its contents are checked
against their SHA-256, whatever they are packed with.
"""

import hashlib
import io
import os
import tempfile
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..runtime import cache_folder
from .data_sets import CIFAR10, MNIST, VARIABLE, Images, named_folder, path_in
from .idx import LARGEST, contents, idx_bytes, parse_idx, unpacked

FILES = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
"""The files of MNIST, and the SHA-256 of each when it is not gzipped."""

MIRRORS = ("https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/")
PATIENCE_SECONDS = 20

WHAT_TO_DO = f"Put {', '.join(FILES)} (or the same with .gz) into a folder and name it with --data or {VARIABLE}."


class Digits(NamedTuple):
    """A data set of digits, in the two parts that it came in."""

    name: str
    train: Images
    test: Images


def mnist(folder: str | os.PathLike[str] | None = None, *, download: bool = True) -> Digits:
    """MNIST: 60,000 images to train on, 10,000 to test on, of 28 by 28 pixels (LeCun, Cortes and Burges 1998).

    `folder` holds the original idx files, gzipped or not, itself or in a subfolder `mnist`; without it
    `PARITYLAB_DATA` names it. If neither does, the cache is used, and filled from the public mirrors.

    >>> mnist("nowhere", download=False)
    Traceback (most recent call last):
        ...
    ValueError: nowhere is not a folder. Name one that holds MNIST or CIFAR-10 with --data or PARITYLAB_DATA.
    """
    place = find_mnist(folder)
    if place is None:
        if not download:
            raise ValueError(f"MNIST is not on this machine. {WHAT_TO_DO}")
        place = fetch()
    data = {name: contents(path_in(place, name), idx_bytes) for name in FILES}
    arrays = {name: parse_idx(data[name], str(path_in(place, name))) for name in FILES}
    parts = [_paired(arrays[f"{part}-images-idx3-ubyte"], arrays[f"{part}-labels-idx1-ubyte"], part, place)
             for part in ("train", "t10k")]  # fmt: skip
    for name, whole in data.items():
        if hashlib.sha256(whole).hexdigest() != FILES[name]:
            raise ValueError(
                f"{path_in(place, name)} is not MNIST's: its contents have another SHA-256 than {FILES[name][:16]}... "
                "Copy it again, or delete it to have it downloaded."
            )
    return Digits("MNIST", *parts)


def pooled(digits: Digits, by: int) -> Digits:
    """The same images with every square of `by` times `by` pixels made one, of their mean grey: `by`^2 times cheaper.

    >>> four = Images(np.array([[[0, 100], [100, 200]]], np.uint8), np.array([4], np.uint8))
    >>> pooled(Digits("four", four, four), 2).test.pixels.tolist()
    [[[100]]]
    """
    if by < 1 or any(side % by for side in digits.train.pixels.shape[1:]):
        raise ValueError(f"Images of {digits.train.pixels.shape[1:]} pixels cannot be cut into squares of by={by}.")
    return Digits(
        digits.name, *(Images(_pooled(part.pixels, by), part.classes) for part in (digits.train, digits.test))
    )


def _pooled(pixels: np.ndarray, by: int) -> np.ndarray:
    images, height, width = pixels.shape
    squares = pixels.reshape(images, height // by, by, width // by, by)
    return np.round(squares.mean(axis=(2, 4), dtype=np.float32)).astype(np.uint8)


def _paired(pixels: np.ndarray, digits: np.ndarray, part: str, place: Path) -> Images:
    if pixels.ndim != 3 or digits.ndim != 1 or len(pixels) != len(digits):
        raise ValueError(
            f"Every image needs one label: in {place} the {part} images are {pixels.shape} and the labels "
            f"{digits.shape}. Copy both files from one place."
        )
    return Images(pixels, digits)


def find_mnist(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder of MNIST on this machine.

    A folder that is named must hold it; one that `PARITYLAB_DATA` names may hold another data set instead.
    """
    place = named_folder(folder)
    if place is not None and (folder or MNIST.inside(place) or not CIFAR10.inside(place)):
        inside = place / MNIST.subfolder if (place / MNIST.subfolder).is_dir() else place
        if missing := [name for name in FILES if not path_in(inside, name).is_file()]:
            raise ValueError(f"{inside} holds neither {missing[0]} nor {missing[0]}.gz. {WHAT_TO_DO}")
        return inside
    cache = data_cache()
    return cache if all(path_in(cache, name).is_file() for name in FILES) else None


def data_cache() -> Path:
    """The folder for downloaded data."""
    return cache_folder().parent / "mnist"


def fetch() -> Path:
    """Download the missing files of MNIST into the cache, each atomically."""
    cache = data_cache()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            if not path_in(cache, name).is_file():
                _keep(cache, name)
    except OSError as error:
        raise ValueError(
            f"The cache {cache} cannot be written ({error.strerror or error}). Move it with XDG_CACHE_HOME, or name a "
            f"folder that holds MNIST with --data or {VARIABLE}."
        ) from None
    return cache


def _keep(cache: Path, name: str) -> None:
    """Download one file under a temporary name, created first so that no download is wasted."""
    handle, temporary = tempfile.mkstemp(prefix=f".{name}-", dir=cache)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_downloaded(name))
        os.replace(temporary, cache / f"{name}.gz")
    finally:
        Path(temporary).unlink(missing_ok=True)


def _downloaded(name: str) -> bytes:
    """The gzipped file from the first mirror that has it with the right hash."""
    problem = ""
    for mirror in MIRRORS:
        address = f"{mirror}{name}.gz"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:
                raw: bytes = answer.read(LARGEST)
            if hashlib.sha256(unpacked(io.BytesIO(raw), address, idx_bytes)).hexdigest() == FILES[name]:
                return raw
            problem = f"{address} has other contents than it should have"
        except (OSError, HTTPException) as error:  # no network, no such address, an answer that breaks off
            problem = f"{address}: {getattr(error, 'reason', None) or error or type(error).__name__}"
        except ValueError as error:
            problem = str(error)
    raise ValueError(f"MNIST is not on this machine and cannot be downloaded ({problem}). {WHAT_TO_DO}")


def small_digits() -> Digits:
    """The 1,797 images of 8 by 8 pixels that scikit-learn ships; every fifth is kept for testing.

    They are the test set of Alpaydin and Kaynak's optical recognition of handwritten digits (UCI 1998),
    with 17 shades of grey, here spread over those of a byte.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ValueError(
            "Neither MNIST nor scikit-learn, which ships small digits, is on this machine. Install it with "
            f"pip install 'paritylab[data]', or name a folder that holds MNIST with --data or {VARIABLE}."
        ) from None
    loaded = load_digits()
    pixels = np.round(np.asarray(loaded.images) * (255 / 16)).astype(np.uint8)
    digits = np.asarray(loaded.target).astype(np.uint8)
    test = np.arange(len(digits)) % 5 == 4
    return Digits("scikit-learn digits", Images(pixels[~test], digits[~test]), Images(pixels[test], digits[test]))
