"""The leaky parity of learning-parities: its exact moments, its halves, its family, its population."""

import numpy as np
import pytest

import paritylab as pl


@pytest.mark.parametrize(("n", "support"), [(6, (0, 1, 2)), (7, (1, 2, 4, 5, 6))])
def test_exact_moments(n, support):
    """E[y] = 0; E[y x_j] = 1/(2 sqrt n) in A and 0 outside, all of it from the half with equal bits."""
    task = pl.distributions.leaky(pl.Parity(n, support))
    inside = np.isin(np.arange(n), support)
    for distribution, share in (
        (task, 0.5),
        *((pl.distributions.Encoded(part, "unit"), i) for i, part in enumerate(task.base.parts)),
    ):
        x, y, probability = (np.asarray(part, float) for part in distribution.support())
        assert probability.sum() == pytest.approx(1) and probability @ y == pytest.approx(0, abs=1e-7)
        np.testing.assert_allclose((probability * y) @ x, share * inside / np.sqrt(n), atol=1e-7)
        assert np.allclose(np.linalg.norm(x, axis=1), 1, atol=1e-6)


def test_equal_bits_are_equal_and_the_others_are_fair():
    half = pl.distributions.EqualBits(pl.Parity(9, (1, 4, 8)))
    x, y = (np.asarray(part) for part in half.sample(pl.root_key(0), 10_000))
    assert np.all(x[:, [1, 4, 8]] == y[:, None])
    assert np.max(np.abs(x.mean(axis=0))) < 5 / 100
    pairs = x.T @ x / 10_000 - np.eye(9)
    assert np.max(np.abs(pairs[np.ix_([0, 2, 3, 5, 6, 7], range(9))])) < 5 / 100


def test_the_population_has_every_example_as_often_as_it_is_likely():
    task = pl.distributions.leaky(pl.Parity(5, (0, 2, 3)))
    points = pl.distributions.population(task)
    x, y, probability = (np.asarray(part) for part in task.support())
    assert len(points.x) == 2**6
    rows = {}
    for row, label, share in zip(np.sign(x).tolist(), y.tolist(), probability.tolist(), strict=True):
        rows[(*row, label)] = rows.get((*row, label), 0) + share
    for row, label in zip(np.sign(points.x).tolist(), np.asarray(points.y).tolist(), strict=True):
        rows[(*row, label)] -= 1 / 2**6
    assert max(map(abs, rows.values())) < 1e-6


def test_the_family_draws_its_sets():
    task = pl.distributions.RandomLeaky(9, 3)
    masks = {tuple(np.asarray(task(pl.root_key(seed)).base.parts[0].target.mask)) for seed in range(5)}
    assert len(masks) > 1 and all(sum(mask) == 3 for mask in masks)


def test_wrong_input_says_so():
    with pytest.raises(ValueError, match="odd number of coordinates, got k=2"):
        pl.distributions.EqualBits(pl.Parity(5, (0, 1)))
    with pytest.raises(ValueError, match="multiples of the least"):
        pl.distributions.population(pl.Product(pl.Parity(2, (0, 1)), 0.3))
