"""MNIST-parity made small, on digits of our own; which digits it takes, and that it says so."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from judging import results_of, values
from typer.testing import CliRunner

import paritylab as pl
from paritylab.cli import app
from paritylab.distributions.data_sets import VARIABLE
from paritylab.experiments.base import Measured
from paritylab.experiments.learning_parities import mnist

QUICK, PAPER = mnist.SETTINGS["quick"], mnist.SETTINGS["paper"]


def bars(count, seed):
    """Images of 2 by 5 pixels: digit d is a bar over pixel d, in noise."""
    rng = np.random.default_rng(seed)
    digits = np.arange(count) % 10
    pixels = rng.integers(0, 60, (count, 10))
    pixels[np.arange(count), digits] = 255
    return pl.distributions.Images(pixels.reshape(count, 2, 5).astype(np.uint8), digits.astype(np.uint8))


def trained(settings, accuracy):
    """Rows as training writes them: from chance at the start to an accuracy by k, model and seed in every epoch."""
    steps = [epoch * settings.steps_per_epoch for epoch in range(settings.epochs + 1)]
    return results_of([
        {"k": k, "model": model.name, "seed": seed, "recorded_step": steps,
         "fresh_error": [0.5, *settings.epochs * [1 - accuracy(k, model.name, seed)]]}
        for k in mnist.STRIPS for model in (*mnist.MODELS, mnist.KERAS) if k in model.strips
        for seed in range(settings.seeds)
    ])  # fmt: skip


def test_claims_are_measured_at_the_last_epoch_seed_by_seed(monkeypatch):
    monkeypatch.setattr(mnist, "data_name", lambda _: "bars")
    monkeypatch.setattr(mnist, "digits_of", lambda _: pl.distributions.Digits("bars", bars(40, 0), bars(20, 1)))
    linear = {"frozen-gates": 0.55, "relu-features": 0.54, "gaussian-features": 0.53}

    def accuracy(k, model, seed):
        """One digit is easy for all, three for the network; seeds differ, and models by the same in each."""
        return (0.4 if k == 1 else 0.0) + (linear.get(model, 0.57 if k == 1 else 0.7)) + 0.01 * seed

    results = trained(QUICK, accuracy)
    found = values(mnist, QUICK, results)
    assert found["k3/network"].value == pytest.approx(0.71)
    assert found["k3/network"].interval == pytest.approx(
        (0.71 - 4.30265 * 0.01 / 3**0.5, 0.71 + 4.30265 * 0.01 / 3**0.5)
    )
    # What models differ by is the same in each seed: no scatter is left.
    assert found["k3/gap"] == Measured(pytest.approx(0.15), (pytest.approx(0.15), pytest.approx(0.15)))
    assert (found["k1/similar"].value, found["k1/ahead"].value) == (pytest.approx(0.04), pytest.approx(0.02))
    assert mnist.read(mnist.SETTINGS["quick"], results).curves.epoch.unique().tolist() == [0, 1, 2, 3, 4, 5]
    full = values(mnist, PAPER, trained(PAPER, accuracy))
    assert full["k3/almost-80"].value == pytest.approx(0.745) and "k3/almost-80" not in found
    assert full["k3/almost-80-keras"].value == full["k3/almost-80"].value
    (figure,) = mnist.plot(QUICK, mnist.read(QUICK, results)).values()
    assert "bars" in figure.get_suptitle()


def test_the_plan_is_that_of_the_paper(monkeypatch):
    """Four models of 512 units on strips of one and three digits, 20 epochs of 60,000 strips in batches of 128."""
    monkeypatch.setattr(mnist, "digits_of", lambda _: pl.distributions.Digits("bars", bars(40, 0), bars(20, 1)))
    plans = list(mnist.plan(PAPER))
    assert [(plan.columns["k"][0], plan.columns["model"][0]) for plan in plans] == [
        *((k, model.name) for k in (1, 3) for model in mnist.MODELS), (3, "network-keras")
    ]  # fmt: skip
    for plan in plans:
        (cell,) = plan.cells
        assert (len(plan), cell.batch, cell.network.width if hasattr(cell.network, "width") else 512) == (10, 128, 512)
        assert cell.steps == 20 * cell.record_every and cell.record_every == -(-60_000 // 128)
        assert cell.problem.distribution.n == 10 * plan.columns["k"][0]


def test_the_bandwidth_is_the_root_mean_square_distance_of_two_strips():
    images = bars(30, 0)
    task = pl.distributions.digit_strips(pl.distributions.Digits("bars", images, images), 2, "unit")
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
    assert all(claim.statement.startswith("scikit-learn's digits, ") for claim in mnist.claims(QUICK))
    assert all(claim.statement.startswith("MNIST, ") for claim in mnist.claims(PAPER))
    assert mnist.digits_of(QUICK).train.pixels.shape == (16, 8, 8)
    monkeypatch.setattr("paritylab.distributions.digits.MIRRORS", (f"{tmp_path.as_uri()}/",))
    with pytest.raises(ValueError, match="MNIST is not on this machine and cannot be downloaded"):
        mnist.digits_of(PAPER)


def test_a_folder_without_mnist_is_said_before_anything_is_done(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, "")  # and put back afterwards
    words = ["reproduce", "learning-parities/mnist", "--out", str(tmp_path / "out"), "--data", str(tmp_path)]
    said = CliRunner().invoke(app, words)
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith(f"paritylab: {tmp_path} holds neither train-images-idx3-ubyte nor ")
    assert said.stderr.count("\n") == 1 and not (tmp_path / "out").exists()
