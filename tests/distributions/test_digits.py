"""Digits from idx files, a cache or a mirror, and strips of them. The files are tiny ones of our own."""

import gzip
import hashlib
import importlib.util
import math
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import paritylab as pl
from paritylab.distributions import digits, strips
from paritylab.distributions.digits import FILES, find_mnist, mnist, small_digits

RNG = np.random.default_rng(0)
TRAIN = pl.distributions.Images(RNG.integers(0, 256, (6, 4, 2), np.uint8), np.array([0, 1, 2, 3, 9, 4], np.uint8))
TEST = pl.distributions.Images(RNG.integers(0, 256, (3, 4, 2), np.uint8), np.array([7, 8, 5], np.uint8))


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape) + array.tobytes()


CONTENTS = dict(zip(FILES, map(idx, (*TRAIN, *TEST)), strict=True))
IMAGES, LABELS, *_ = FILES


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """MNIST is our six and three images; the mirrors are folders, the cache is empty, no folder is named."""
    monkeypatch.setattr(digits, "FILES", {name: hashlib.sha256(whole).hexdigest() for name, whole in CONTENTS.items()})
    mirrors = tmp_path / "broken", tmp_path / "mirror"
    for mirror in mirrors:
        mirror.mkdir()
    for name, whole in CONTENTS.items():
        (mirrors[1] / f"{name}.gz").write_bytes(gzip.compress(whole))
        (mirrors[0] / f"{name}.gz").write_bytes(gzip.compress(whole)[:-9])  # breaks off
    monkeypatch.setattr(digits, "MIRRORS", tuple(f"{mirror.as_uri()}/" for mirror in mirrors))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PARITYLAB_DATA", raising=False)
    return tmp_path


def lay(folder, **changed):
    """The four files in a folder, with the contents of some changed; None leaves one out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, whole in CONTENTS.items():
        part, kind, *_ = name.split("-")
        given = changed.get(f"{part}_{kind}", whole)
        if given is not None:
            (folder / name).write_bytes(given)
    return folder


def same(found):
    for part, expected in ((found.train, TRAIN), (found.test, TEST)):
        np.testing.assert_array_equal(part.pixels, expected.pixels)
        np.testing.assert_array_equal(part.classes, expected.classes)
    return found.name == "MNIST"


def test_a_folder_of_files_gzipped_or_not(tiny, monkeypatch):
    folder = lay(tiny / "data" / "mnist", train_images=gzip.compress(CONTENTS[IMAGES]))
    (folder / LABELS).rename(folder / f"{LABELS}.gz")  # a name may lie
    assert same(mnist(folder)) and same(mnist(tiny / "data"))
    monkeypatch.setenv("PARITYLAB_DATA", str(folder))
    assert same(mnist()) and find_mnist() == folder
    assert not (tiny / "cache").exists()


def test_what_is_not_here_is_fetched_once_from_the_first_mirror_that_has_it(tiny, monkeypatch):
    assert find_mnist() is None
    with pytest.raises(ValueError, match="MNIST is not on this machine"):
        mnist(download=False)
    assert same(mnist())
    cache = tiny / "cache" / "paritylab" / "mnist"
    assert sorted(path.name for path in cache.iterdir()) == sorted(f"{name}.gz" for name in FILES)
    monkeypatch.setattr(digits, "MIRRORS", ())
    assert same(mnist()) and find_mnist() == cache


@pytest.mark.parametrize(
    ("mirrors", "message"),
    [
        (("{}/nothing/",), "MNIST is not on this machine and cannot be downloaded (file://"),
        (("{}/broken/",), "is truncated or damaged: its gzip stream does not end"),
        (("{}/wrong/",), "has other contents than it should have"),
    ],
)
def test_a_failed_download_says_what_to_do_and_leaves_nothing(tiny, monkeypatch, mirrors, message):
    (tiny / "wrong").mkdir()
    (tiny / "wrong" / f"{IMAGES}.gz").write_bytes(gzip.compress(b"other"))
    monkeypatch.setattr(digits, "MIRRORS", tuple(mirror.format(tiny.as_uri()) for mirror in mirrors))
    with pytest.raises(ValueError) as said:
        mnist()
    assert message in str(said.value) and "name it with --data or PARITYLAB_DATA." in str(said.value)
    assert list((tiny / "cache" / "paritylab" / "mnist").iterdir()) == []


def test_a_cache_that_cannot_be_written(tiny, monkeypatch):
    (tiny / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tiny / "file"))
    with pytest.raises(ValueError, match="Move it with XDG_CACHE_HOME, or name a folder"):
        mnist()


def test_a_full_disk_leaves_nothing(tiny, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(digits.os, "replace", full)
    with pytest.raises(ValueError, match="No space left on device"):
        mnist()
    assert list((tiny / "cache" / "paritylab" / "mnist").iterdir()) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"train_images": CONTENTS[IMAGES][:-5]}, "ubyte is truncated: 59 bytes, where its header asks for 64. Copy"),
        ({"train_images": CONTENTS[IMAGES] + b"0"}, "ubyte is too long: its header asks for 64 bytes, and it has mor"),
        ({"train_images": bytes([0, 0, 8, 3, *[255] * 12])}, "ubyte asks for 79228162458924105385300197391 bytes, and"),
        ({"train_images": CONTENTS[IMAGES][:6]}, "ubyte is truncated: 6 bytes, where its header asks for "),
        ({"train_images": gzip.compress(CONTENTS[IMAGES])[:-5]}, "is truncated or damaged: its gzip stream does not"),
        ({"train_images": b"PNG"}, "is not an idx file of bytes: it begins with 50 4e 47, and should with 00 00 08"),
        ({"train_images": b""}, "is not an idx file of bytes: it begins with nothing"),
        ({"t10k_labels": idx(np.zeros(2, np.uint8))}, "t10k images are (3, 4, 2) and the labels (2,). Copy both"),
        ({"t10k_labels": idx(np.zeros(3, np.uint8))}, "t10k-labels-idx1-ubyte is not MNIST's: its contents have anot"),
        ({"t10k_labels": None}, "holds neither t10k-labels-idx1-ubyte nor t10k-labels-idx1-ubyte.gz. Put "),
    ],
)
def test_files_that_are_not_as_they_should_be(tiny, changed, message):
    with pytest.raises(ValueError) as said:
        mnist(lay(tiny / "data", **changed))
    assert message in str(said.value) and "\n" not in str(said.value)


def test_a_small_file_that_unpacks_to_a_large_one_is_not_unpacked(tiny):
    """It is read as far as its header asks for, and one byte more."""
    folder = lay(tiny / "data", train_images=gzip.compress(CONTENTS[IMAGES] + bytes(2**25)))
    tracemalloc.start()
    with pytest.raises(ValueError, match="train-images-idx3-ubyte is too long: its header asks for 64 bytes"):
        mnist(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def test_the_small_digits_are_those_of_scikit_learn(monkeypatch):
    images = np.arange(10 * 4).reshape(10, 2, 2) % 17
    loaded = SimpleNamespace(images=images.astype(float), target=np.arange(10))
    fake = SimpleNamespace(load_digits=lambda: loaded)
    monkeypatch.setitem(sys.modules, "sklearn", SimpleNamespace(datasets=fake))
    monkeypatch.setitem(sys.modules, "sklearn.datasets", fake)
    found = small_digits()
    assert (found.train.classes.tolist(), found.test.classes.tolist()) == ([0, 1, 2, 3, 5, 6, 7, 8], [4, 9])
    np.testing.assert_array_equal(found.test.pixels, np.round(images[[4, 9]] * 255 / 16))

    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ValueError, match="Neither MNIST nor scikit-learn"):
        small_digits()


@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="needs scikit-learn (extra `data`)")
def test_scikit_learn_ships_1797_digits():
    found = small_digits()
    assert (found.train.pixels.shape, found.test.pixels.shape) == ((1438, 8, 8), (359, 8, 8))
    assert (found.train.pixels.max(), set(found.test.classes.tolist())) == (255, set(range(10)))


def test_a_strip_shows_its_digits_side_by_side():
    distribution = pl.distributions.Strips(TRAIN, 3, strips.scaled("signs", TRAIN))
    x, y = (np.asarray(part) for part in distribution.sample(pl.root_key(0), 50))
    shown = np.round((x.reshape(50, 4, 3, 2) + 1) * 255 / 2)
    known = {
        image.tobytes(): int(digit) for image, digit in zip(TRAIN.pixels.astype(float), TRAIN.classes, strict=True)
    }
    sums = [sum(known[strip[:, place].copy().tobytes()] for place in range(3)) for strip in shown.astype(float)]
    np.testing.assert_array_equal(y, [(-1) ** total for total in sums])
    assert distribution.n == 24 and len(set(y.tolist())) == 2


def test_scales_of_grey():
    assert strips.scaled("unit", TRAIN)[[0, 255]].tolist() == [0, 1]
    standard = strips.scaled("standard", TRAIN)[TRAIN.pixels]
    assert (standard.mean(), standard.std()) == (pytest.approx(0, abs=1e-12), pytest.approx(1, abs=1e-12))
    task = pl.distributions.digit_strips(pl.distributions.Digits("tiny", TRAIN, TEST), 2, "standard")
    assert isinstance(task.train, pl.distributions.Strips) and isinstance(task.test, pl.distributions.Strips)
    np.testing.assert_array_equal(task.test.values, task.train.values)
    np.testing.assert_array_equal(task.clean().digits, TEST.classes)


def test_one_distribution_trains_and_another_examines():
    """The test distribution has the opposite labels: what is learned is wrong everywhere there."""
    target = pl.Parity(4, (0, 1))
    x, y, _ = pl.Uniform(target).support()
    task = pl.distributions.HeldOut(pl.Uniform(target), pl.Points(np.asarray(x), -np.asarray(y)))
    runs = pl.train(
        task, pl.MLP(20), rate=0.1, seeds=1, steps=400, every=400, validation=0, records=(pl.FreshError(64),), lanes=1
    )
    assert runs.curves().fresh_error.tolist()[-1] == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pl.distributions.Strips(TRAIN, 0), "at least one digit, got k=0"),
        (
            lambda: pl.distributions.Strips(TRAIN, 10**9),
            "512 strips of k=1000000000 digits of 8 pixels need 15258.8 GiB, and ",
        ),
        (lambda: pl.distributions.Strips(TRAIN, 40).support(), "strips of k=40 of 6 images, which need "),
        (
            lambda: pl.distributions.HeldOut(pl.distributions.Strips(TRAIN, 1), pl.distributions.Strips(TRAIN, 2)),
            "must share n, got n=8 and 16",
        ),
        (
            lambda: pl.distributions.pooled(pl.distributions.Digits("tiny", TRAIN, TEST), 3),
            "cannot be cut into squares of by=3",
        ),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError) as said:
        make()
    assert message in str(said.value)


def test_the_most_digits_that_are_allowed_are_allowed(monkeypatch):
    monkeypatch.setattr(strips, "memory", lambda: 8 * 4 * 512 * 8 * 3)
    assert pl.distributions.Strips(TRAIN, 3).k == 3
    with pytest.raises(ValueError, match="Use k <= 3"):
        pl.distributions.Strips(TRAIN, 4)
    assert math.isclose(float(pl.distributions.Strips(TRAIN, 1).support()[2].sum()), 1, abs_tol=1e-6)
