"""Colour images with classes: CIFAR-10's binary files, folders of images, and single random patches of them.

A data set is searched for in the folder that the caller or `PARITYLAB_DATA` names. Where there is none, synthetic
images stand in, under a name of their own.
"""

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray, UInt8

from ..documents import check_regular
from .base import AbstractDistribution, Examples, Support
from .data_sets import CIFAR10, VARIABLE, Images, named_folder
from .idx import contents

CIFAR_SIDE, CIFAR_RECORD, MOST_RECORDS = 32, 1 + 3 * 32 * 32, 10_000
CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ENDINGS = (".png", ".jpg", ".jpeg")
FORMATS = ("PNG", "JPEG")
"""No other format is tried, whatever the ending: some of them start programs."""
TEST_SHARE = 5
"""Of a folder that has no test part, every fifth image of a class is kept for testing."""


class ImageSet(NamedTuple):
    """A data set in its two parts."""

    name: str
    classes: tuple[str, ...]
    train: Images
    test: Images


def find_cifar10(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Where CIFAR-10's binary files are: in the named folder itself or in its subfolder `cifar-10-batches-bin`."""
    place = named_folder(folder)
    return None if place is None else CIFAR10.inside(place)


def cifar10(folder: str | os.PathLike[str] | None = None) -> ImageSet:
    """CIFAR-10 from its binary version: every `data_batch_*.bin` that is there, and `test_batch.bin`.

    A record is a byte with the class and 3,072 bytes of pixels, red, green and blue, row by row
    (Krizhevsky 2009). Files with fewer records than the 10,000 that the original have are a sample of it.

    >>> cifar10("nowhere")
    Traceback (most recent call last):
        ...
    ValueError: nowhere is not a folder. Name one that holds MNIST or CIFAR-10 with --data or PARITYLAB_DATA.
    """
    place = find_cifar10(folder)
    if place is None:
        raise ValueError(
            f"There is no CIFAR-10 in {named_folder(folder) or 'any folder that was named'}. Put data_batch_1.bin ... "
            f"and test_batch.bin into a folder and name it with --data or {VARIABLE}."
        )
    batches = sorted(place.glob("data_batch_*.bin"))
    if not batches:
        raise ValueError(f"{place} has a test_batch.bin but no data_batch_1.bin to train on. Copy it there too.")
    parts = [_records(path) for path in batches]
    train = Images(np.concatenate([part.pixels for part in parts]), np.concatenate([part.classes for part in parts]))
    test = _records(place / "test_batch.bin")
    whole = len(train.classes) == 50_000 and len(test.classes) == 10_000
    sizes = f"{len(train.classes):,} and {len(test.classes):,} images"
    return ImageSet("CIFAR-10" if whole else f"a sample of CIFAR-10 ({sizes})", CIFAR_CLASSES, train, test)


def _records(path: Path) -> Images:
    data = np.frombuffer(contents(path, lambda file: file.read(MOST_RECORDS * CIFAR_RECORD + 1)), np.uint8)
    if data.size > MOST_RECORDS * CIFAR_RECORD:
        raise ValueError(f"{path} has more than the {MOST_RECORDS:,} records of a file of CIFAR-10. Copy it again.")
    if not data.size or data.size % CIFAR_RECORD:
        raise ValueError(
            f"{path} has {data.size} bytes, which is no number of records of {CIFAR_RECORD} bytes. Copy it again."
        )
    records = data.reshape(-1, CIFAR_RECORD)
    classes = records[:, 0].astype(np.int32)
    if classes.max() >= len(CIFAR_CLASSES):
        raise ValueError(f"{path} has a class {classes.max()}; those of CIFAR-10 are 0 to 9. Copy it again.")
    pixels = records[:, 1:].reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE).transpose(0, 2, 3, 1)
    return Images(np.ascontiguousarray(pixels), classes)


def image_folder(folder: str | os.PathLike[str], *, side: int = 64, most: int | None = None) -> ImageSet:
    """Images in one folder per class, as ImageNet's are: in FOLDER/CLASS, or FOLDER/train/CLASS and FOLDER/val/CLASS.

    Each is cut to its largest middle square and scaled to `side` pixels. `most` limits the images of a class.

    >>> image_folder("nowhere")
    Traceback (most recent call last):
        ...
    ValueError: nowhere is not a folder. Name one with a folder of images for each class.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ValueError(f"{place} is not a folder. Name one with a folder of images for each class.")
    if side < 1:
        raise ValueError(f"Images need a side of at least one pixel, got side={side}.")
    inside = place / "train" if (place / "train").is_dir() else place
    classes = tuple(sorted(each.name for each in inside.iterdir() if each.is_dir()))
    train = _folder(inside, classes, side, most)
    if (place / "val").is_dir():
        return ImageSet(place.name, classes, train, _folder(place / "val", classes, side, most))
    sizes = np.bincount(train.classes)
    test = np.concatenate([np.arange(size) % TEST_SHARE == TEST_SHARE - 1 for size in sizes])
    if not test.any():
        raise ValueError(
            f"No class in {place} has the {TEST_SHARE} images that leave one for testing; the largest has "
            f"{sizes.max()}. Add images, or divide them into folders train and val."
        )
    parts = (Images(train.pixels[part], train.classes[part]) for part in (~test, test))
    return ImageSet(place.name, classes, *parts)


def _folder(place: Path, classes: tuple[str, ...], side: int, most: int | None) -> Images:
    found = [
        (path, number)
        for number, name in enumerate(classes)
        for path in sorted(each for each in (place / name).glob("*") if each.suffix.lower() in ENDINGS)[:most]
    ]
    if not found:
        raise ValueError(
            f"{place} has no images: it needs a folder for each class with files that end in {', '.join(ENDINGS)}."
        )
    return Images(
        np.stack([_image(path, side) for path, _ in found]), np.array([number for _, number in found], np.int32)
    )


def _image(path: Path, side: int) -> UInt8[np.ndarray, "side side 3"]:
    image = rgb_image(path)
    edge = min(image.size)
    left, top = (image.width - edge) // 2, (image.height - edge) // 2
    return np.asarray(image.resize((side, side), box=(left, top, left + edge, top + edge)), np.uint8)


def rgb_image(path: Path) -> Any:
    """The image of PIL in a PNG or JPEG file, in colours."""
    from PIL import Image

    check_regular(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS) as opened:
                return opened.convert("RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValueError(
            f"{path} has more than the {Image.MAX_IMAGE_PIXELS:,} pixels that an image may have. Remove it, or scale "
            "it down."
        ) from None
    except (OSError, SyntaxError, ValueError):  # what PIL raises for truncated and broken files
        raise ValueError(f"{path} is not an image that can be read. Remove it, or copy it again.") from None


def made_up_images(images: int = 2000, classes: int = 10, side: int = 32) -> ImageSet:
    """Textures of noise whose colours and grain differ a little from class to class: a stand-in for photographs.

    >>> made_up_images(images=40).train.pixels.shape
    (40, 32, 32, 3)
    """
    chance = np.random.default_rng(0)
    colours, grains = chance.normal(0, 12, (classes, 3)), chance.uniform(10, 60, classes)

    def part(count: int) -> Images:
        kind = np.arange(count) % classes
        base = 128 + colours[kind] + chance.normal(0, 45, (count, 3))
        noise = chance.normal(0, 1, (count, side, side, 1)) * grains[kind][:, None, None, None]
        pixels = np.clip(base[:, None, None, :] + noise, 0, 255).astype(np.uint8)
        return Images(pixels, kind.astype(np.int32))

    return ImageSet("made-up textures", tuple(f"texture {i}" for i in range(classes)), part(images), part(images // 2))


class RandomPatches(AbstractDistribution):
    """One square patch of each image, anywhere in it: x is its pixels, from -1 to 1, and the class at the end; y is 1.

    The class stands in x so that a network of one output can score it (`networks.PatchScores`). Accuracy is
    measured on patches of the test images (`clean`).
    """

    pixels: UInt8[Array | np.ndarray, "images height width channels"]
    classes: Int[Array | np.ndarray, " images"]
    test_pixels: UInt8[Array | np.ndarray, "tests height width channels"]
    test_classes: Int[Array | np.ndarray, " tests"]
    side: int = eqx.field(static=True)

    def __init__(self, images: ImageSet, side: int):
        largest = min(images.train.pixels.shape[1:3])
        if not 1 <= side <= largest:
            raise ValueError(f"A patch of these images has a side of 1 to {largest} pixels, got side={side}.")
        self.pixels, self.classes = images.train
        self.test_pixels, self.test_classes = images.test
        self.side = side

    @property
    def n(self) -> int:
        return self.side**2 * self.pixels.shape[-1] + 1

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        image_key, row_key, column_key = jr.split(key, 3)
        pixels, classes = jnp.asarray(self.pixels), jnp.asarray(self.classes)
        number = jr.randint(image_key, (batch,), 0, len(classes), jnp.int32)
        row = jr.randint(row_key, (batch,), 0, pixels.shape[1] - self.side + 1, jnp.int32)
        column = jr.randint(column_key, (batch,), 0, pixels.shape[2] - self.side + 1, jnp.int32)
        size = (1, self.side, self.side, pixels.shape[3])
        cut = lambda i, r, c: jax.lax.dynamic_slice(pixels, (i, r, c, jnp.zeros((), i.dtype)), size).reshape(-1)
        patches = jax.vmap(cut)(number, row, column).astype(jnp.float32) / 127.5 - 1
        x = jnp.concatenate([patches, classes[number].astype(jnp.float32)[:, None]], axis=1)
        return x, jnp.ones(batch, jnp.float32)

    def support(self) -> Support:
        raise ValueError("Patches of images are not enumerated; use `sample`.")

    def clean(self) -> "RandomPatches":
        return eqx.tree_at(
            lambda patches: (patches.pixels, patches.classes), self, (self.test_pixels, self.test_classes)
        )
