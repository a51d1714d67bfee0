"""Images from files, patches of them, and errors of folders without them."""

import gzip
import os

import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image

import paritylab as pl
from paritylab.distributions.data_sets import CIFAR10, named_folder
from paritylab.distributions.digits import find_mnist
from paritylab.distributions.images import CIFAR_RECORD, find_cifar10, made_up_images


@pytest.fixture
def cifar(tmp_path, monkeypatch):
    """Two files of a few records in CIFAR-10's format: class, then red, green and blue planes."""
    chance = np.random.default_rng(0)
    folder = tmp_path / CIFAR10.subfolder
    folder.mkdir()
    for name, count in (("data_batch_1.bin", 6), ("test_batch.bin", 3)):
        records = chance.integers(0, 256, (count, CIFAR_RECORD), np.uint8)
        records[:, 0] = np.arange(count)
        (folder / name).write_bytes(records.tobytes())
    monkeypatch.setenv("PARITYLAB_DATA", str(tmp_path))
    return folder


def test_cifar_files_are_read_plane_by_plane(cifar):
    images = pl.distributions.cifar10()
    assert images.name == "a sample of CIFAR-10 (6 and 3 images)" and images.train.classes.tolist() == [*range(6)]
    raw = np.frombuffer((cifar / "data_batch_1.bin").read_bytes(), np.uint8).reshape(6, CIFAR_RECORD)
    row, column, green = 5, 7, 1
    assert images.train.pixels[2, row, column, green] == raw[2, 1 + 1024 * green + 32 * row + column]


def test_one_named_folder_serves_all_data_sets(cifar, tmp_path, monkeypatch):
    """CIFAR-10 is found in a folder or its subfolder; where it is, MNIST may be missing, unless a caller asks."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for named in (tmp_path, cifar):
        monkeypatch.setenv("PARITYLAB_DATA", str(named))
        assert find_cifar10() == cifar and find_mnist() is None and find_cifar10(named) == cifar
    with pytest.raises(ValueError, match="holds neither train-images-idx3-ubyte"):
        find_mnist(tmp_path)
    monkeypatch.setenv("PARITYLAB_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="Name one that holds MNIST or CIFAR-10"):
        named_folder()


def test_patches_are_cut_out_of_images(cifar):
    images = pl.distributions.cifar10(cifar)
    distribution = pl.distributions.RandomPatches(images, 3)
    x, y = distribution.sample(pl.root_key(0), 20)
    assert x.shape == (20, 28) and np.all(np.asarray(y) == 1)
    windows = np.lib.stride_tricks.sliding_window_view(images.train.pixels, (3, 3), axis=(1, 2))
    for point in np.asarray(x):
        patch = np.rint((point[:-1] + 1) * 127.5).reshape(3, 3, 3)
        here = windows[int(point[-1])]  # class i is image i: rows, columns, channels, patch
        assert np.any(np.all(here.transpose(0, 1, 3, 4, 2) == patch, axis=(2, 3, 4)))
    tests, _ = distribution.clean().sample(pl.root_key(0), 20)
    assert set(np.asarray(tests)[:, -1].tolist()) <= {0.0, 1.0, 2.0}


def test_folders_of_images(tmp_path):
    for name, shade in (("cats", 10), ("dogs", 200)):
        (tmp_path / name).mkdir()
        for number in range(5):
            Image.new("RGB", (20, 12), (shade, 0, 0)).save(tmp_path / name / f"{number}.png")
    images = pl.distributions.image_folder(tmp_path, side=8)
    assert images.classes == ("cats", "dogs") and images.train.pixels.shape == (8, 8, 8, 3)
    assert images.test.classes.tolist() == [0, 1] and images.test.pixels[1, 3, 3].tolist() == [200, 0, 0]


def test_every_fifth_image_of_a_class_is_kept_for_testing(tmp_path):
    for name, count in (("a", 7), ("b", 5), ("c", 6)):
        (tmp_path / name).mkdir()
        for number in range(count):
            Image.new("RGB", (4, 4), (number, 0, 0)).save(tmp_path / name / f"{number}.png")
    images = pl.distributions.image_folder(tmp_path, side=4)
    assert images.test.classes.tolist() == [0, 1, 2] and images.test.pixels[:, 0, 0, 0].tolist() == [4, 4, 4]
    assert np.bincount(images.train.classes).tolist() == [6, 4, 5]
    with pytest.raises(ValueError, match="has the 5 images that leave one for testing; the largest has 4"):
        pl.distributions.image_folder(tmp_path, side=4, most=4)


def test_files_that_end_early_or_cannot_be_read_are_named(cifar, tmp_path):
    picture = tmp_path / "pictures" / "a" / "1.png"
    picture.parent.mkdir(parents=True)
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (20, 20, 3), np.uint8)).save(picture)
    whole = picture.read_bytes()
    for part in (whole[:20], whole[: len(whole) // 2], whole[:-40]):
        picture.write_bytes(part)
        with pytest.raises(ValueError, match="is not an image that can be read"):
            pl.distributions.image_folder(tmp_path / "pictures")
    (cifar / "data_batch_2.bin").mkdir()
    with pytest.raises(ValueError, match=r"data_batch_2.bin cannot be read \(Is a directory\)"):
        pl.distributions.cifar10()


@pytest.mark.parametrize("side", [12, 20], ids=["some", "many"])
def test_images_of_too_many_pixels_are_named(side, tmp_path, monkeypatch):
    """PIL warns of the first, and refuses the second."""
    (tmp_path / "a").mkdir()
    Image.new("RGB", (side, side)).save(tmp_path / "a" / "1.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(ValueError, match=r"1.png has more than the 100 pixels that an image may have. Remove it"):
        pl.distributions.image_folder(tmp_path)


def test_no_other_format_is_tried_than_the_endings_say(tmp_path):
    (tmp_path / "a").mkdir()
    Image.new("RGB", (4, 4)).save(tmp_path / "a" / "1.png", format="BMP")
    with pytest.raises(ValueError, match=r"1.png is not an image that can be read"):
        pl.distributions.image_folder(tmp_path)


def test_pipes_and_files_beyond_their_size_are_not_read(cifar, tmp_path, monkeypatch):
    (tmp_path / "pictures" / "a").mkdir(parents=True)
    os.mkfifo(tmp_path / "pictures" / "a" / "1.png")
    with pytest.raises(ValueError, match=r"1.png is a pipe, and not a file"):
        pl.distributions.image_folder(tmp_path / "pictures")
    os.mkfifo(cifar / "data_batch_2.bin")
    with pytest.raises(ValueError, match=r"data_batch_2.bin is a pipe, and not a file"):
        pl.distributions.cifar10()
    (cifar / "data_batch_2.bin").unlink()
    (cifar / "data_batch_2.bin").write_bytes(gzip.compress(bytes(10_001 * CIFAR_RECORD)))
    with pytest.raises(ValueError, match=r"data_batch_2.bin has more than the 10,000 records of a file of CIFAR-10."):
        pl.distributions.cifar10()
    with pytest.raises(ValueError, match="is not a folder"):
        pl.distributions.cifar10(300 * "a")


def test_wrong_data_is_said(cifar, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for make, words in (
        (lambda: pl.distributions.image_folder(empty), "has no images"),
        (lambda: pl.distributions.cifar10(empty), "no CIFAR-10 in"),
        (lambda: pl.distributions.RandomPatches(made_up_images(20), 40), "a side of 1 to 32 pixels"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
    (cifar / "test_batch.bin").write_bytes(b"123")
    with pytest.raises(ValueError, match="no number of records"):
        pl.distributions.cifar10()
    (empty / "a").mkdir()
    (empty / "a" / "1.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match="is not an image that can be read"):
        pl.distributions.image_folder(empty)


def test_the_score_of_a_class_gives_the_cross_entropy():
    network = pl.networks.PatchScores((6,), classes=4)(6, key=pl.root_key(1))
    x = jnp.array([0.1, -0.4, 0.2, 0.9, -1.0, 2.0])
    logits = network.logits(x[:, None])[:, 0]
    entropy = jnp.log(jnp.sum(jnp.exp(logits))) - logits[2]
    assert float(pl.training.logistic(jnp.array(1.0), network(x))) == pytest.approx(float(entropy), rel=1e-5)
