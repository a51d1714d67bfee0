"""MNIST-parity made small, on digits of our own; which digits it takes, and that it says so."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import paritylab as pl
from paritylab.cli import app
from paritylab.distributions.digits import VARIABLE
from paritylab.experiments.learning_parities import mnist
from paritylab.experiments.reproduce import judged
from paritylab.figures import plt
from paritylab.sweep import Sweep

TINY = replace(
    mnist.SETTINGS["quick"], seeds=2, epochs=2, steps_per_epoch=100, every=100, width=16, pool=1, test_strips=400
)


def bars(count, seed):
    """Images of 2 by 5 pixels: digit d is a bar over pixel d, in noise."""
    rng = np.random.default_rng(seed)
    digits = np.arange(count) % 10
    pixels = rng.integers(0, 60, (count, 10))
    pixels[np.arange(count), digits] = 255
    return pl.Images(pixels.reshape(count, 2, 5).astype(np.uint8), digits.astype(np.uint8))


def test_the_experiment_made_small(monkeypatch, tmp_path):
    """Parity of one bar is linear in the pixels; what is claimed comes from the last epoch's rows."""
    monkeypatch.setattr(mnist, "LINEAR", mnist.LINEAR[1:2])
    monkeypatch.setattr(mnist, "MODELS", (mnist.NETWORK, mnist.LINEAR[0]))
    monkeypatch.setattr(mnist, "digits_of", lambda _: pl.Digits("bars", bars(400, 0), bars(200, 1)))
    monkeypatch.setattr(mnist, "data_name", lambda _: "bars")
    with ThreadPoolExecutor(1) as here:
        results = Sweep(mnist.plan(TINY)).run(tmp_path, executor=here)
    assert results.missing == 0
    measured = {claim.name: found for claim, found in judged(mnist, TINY, results)}
    curves = results.curves()
    last = curves[(curves.k == 1) & (curves.model == "network") & (curves.step == 200)]
    assert len(last) == 2 and measured["k1/network"].value == pytest.approx(1 - last.fresh_error.mean())
    assert measured["k1/network"].value > 0.9
    assert mnist.accuracies(results).epoch.unique().tolist() == [0, 1, 2]
    for figure in mnist.plot(TINY, results).values():
        assert "bars" in figure.get_suptitle()
        figure.canvas.draw()
        plt.close(figure)


def test_the_bandwidth_is_the_root_mean_square_distance_of_two_strips():
    images = bars(30, 0)
    task = pl.digit_strips(pl.Digits("bars", images, images), 2, "unit")
    x = np.asarray(task.support()[0], float)  # all 900 strips
    squares = np.sum(x**2, axis=1)
    mean = 2 * squares.mean() - 2 * np.sum(x.mean(axis=0) ** 2)  # the mean over all pairs
    assert mnist.bandwidth_of(task) == pytest.approx(mean**0.5, abs=1e-3)


def test_without_mnist_the_quick_scale_takes_other_digits_and_says_so(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    loaded = SimpleNamespace(images=np.zeros((20, 8, 8)), target=np.arange(20) % 10)
    fake = SimpleNamespace(load_digits=lambda: loaded)
    monkeypatch.setitem(sys.modules, "sklearn", SimpleNamespace(datasets=fake))
    monkeypatch.setitem(sys.modules, "sklearn.datasets", fake)
    quick, paper = mnist.SETTINGS["quick"], mnist.SETTINGS["paper"]
    assert all(claim.statement.startswith("scikit-learn's digits, ") for claim in mnist.claims(quick))
    assert all(claim.statement.startswith("MNIST, ") for claim in mnist.claims(paper))
    assert mnist.digits_of(quick).train.pixels.shape == (16, 8, 8)
    monkeypatch.setattr("paritylab.distributions.digits.MIRRORS", (f"{tmp_path.as_uri()}/",))
    with pytest.raises(ValueError, match="MNIST is not on this machine and cannot be downloaded"):
        mnist.digits_of(paper)


def test_a_folder_without_mnist_is_said_before_anything_is_done(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, "")  # and put back afterwards
    words = ["reproduce", "learning-parities/mnist", "--out", str(tmp_path / "out"), "--data", str(tmp_path)]
    said = CliRunner().invoke(app, words)
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith(f"paritylab: {tmp_path} holds neither train-images-idx3-ubyte nor ")
    assert said.stderr.count("\n") == 1 and not (tmp_path / "out").exists()
