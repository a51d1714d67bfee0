"""Images with classes, and the folder of a data set: given by the caller or by `PARITYLAB_DATA`.

One folder is given for all data sets: each may be in it or in a subfolder of its own.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Integer, UInt8

VARIABLE = "PARITYLAB_DATA"


class Images(NamedTuple):
    """Images of one size, grey or in colours, and the number of each one's class (of a digit: the digit)."""

    pixels: UInt8[np.ndarray, "images height width *channels"]
    classes: Integer[np.ndarray, " images"]


class DataSet(NamedTuple):
    """The name of a data set, its subfolder, and a file by which it is recognized, gzipped or not."""

    name: str
    subfolder: str
    file: str

    def inside(self, folder: Path) -> Path | None:
        """Its place in a folder: the subfolder or the folder itself."""
        places = (folder / self.subfolder, folder)
        return next((place for place in places if path_in(place, self.file).is_file()), None)


MNIST = DataSet("MNIST", "mnist", "train-images-idx3-ubyte")
CIFAR10 = DataSet("CIFAR-10", "cifar-10-batches-bin", "test_batch.bin")


def named_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder that a caller, or else `PARITYLAB_DATA`, names."""
    named = folder or os.environ.get(VARIABLE)
    if not named:
        return None
    place = Path(named)
    if not os.path.isdir(place):  # unlike `Path.is_dir` it does not raise for names that are too long
        raise ValueError(f"{place} is not a folder. Name one that holds MNIST or CIFAR-10 with --data or {VARIABLE}.")
    return place


def path_in(folder: Path, name: str) -> Path:
    """The file with this name, as it is or gzipped."""
    plain = folder / name
    return plain if plain.is_file() else folder / f"{name}.gz"
