import itertools
import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from paritylab.analysis import alignment_rate, initial_alignment
from paritylab.cube import cube


def by_enumeration(weights, bias, k):
    """The mean squares of the three population gradients of a ReLU unit, over rows of weights, by all points."""
    x = np.asarray(cube(weights.shape[1]), float)
    y = np.prod(x[:, :k], axis=1)
    z = weights @ x.T + bias[:, None]
    slope = (z > 0) * y[None] / len(x)
    squares = np.stack(
        [np.sum((slope @ x) ** 2, axis=1), slope.sum(axis=1) ** 2, (np.maximum(z, 0) @ y / len(x)) ** 2], axis=1
    )
    return squares.mean(axis=0), squares.std(axis=0) / math.sqrt(len(weights))


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 5), (6, 6), (7, 3), (5, 1), (6, 5)])
@pytest.mark.parametrize("bias", [False, True])
def test_of_signs_it_is_the_mean_over_all_signs(n, k, bias):
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n + bias)))
    expected, _ = by_enumeration(signs[:, :n], signs[:, -1] * bias, k)  # whole numbers: a sum of 0 is 0
    expected[2] /= n
    np.testing.assert_allclose(initial_alignment(n, k, 0, bias=bias), expected, rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 5), (6, 6), (5, 1)])
@pytest.mark.parametrize("sigma", [0.25, 0.5, 2.0, math.inf])
@pytest.mark.parametrize("bias", [False, True])
def test_of_perturbed_signs_it_is_the_mean_over_drawn_ones(n, k, sigma, bias):
    rng = np.random.default_rng(n + k)
    shape = (40_000, n + 1)
    signs, gaussians = rng.choice([-1.0, 1.0], shape), rng.normal(size=shape)
    drawn = gaussians if sigma == math.inf else (signs + sigma * gaussians) / math.sqrt(1 + sigma**2)
    drawn /= math.sqrt(n)
    expected, deviation = by_enumeration(drawn[:, :n], drawn[:, n] * bias, k)
    found = np.array(initial_alignment(n, k, sigma, bias=bias))
    assert np.all(np.abs(found - expected) <= 5 * deviation + 1e-12)


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("sigma", [0.3, 1.0])
def test_of_full_parities_it_is_the_sum_over_pairs_of_points(n, sigma):
    """E f(x) f(x') P(w . x > 0, w . x' > 0), the way of the paper's script: sums that cancel, and no integral in t."""
    total = 0.0
    for x, other in itertools.product(np.asarray(cube(n), float), repeat=2):
        covariance = sigma**2 * np.array([[n, x @ other], [x @ other, n]])
        both = multivariate_normal(cov=covariance, allow_singular=True).cdf([x.sum(), other.sum()])
        total += np.prod(x) * np.prod(other) * both / 4**n
    assert initial_alignment(n, n, sigma, bias=False).bias == pytest.approx(total, rel=1e-4)


def test_a_large_perturbation_is_a_gaussian():
    for n, k in ((9, 4), (30, 30), (31, 31)):
        np.testing.assert_allclose(initial_alignment(n, k, 3000.0), initial_alignment(n, k, math.inf), rtol=1e-5)


def test_a_finer_grid_changes_nothing(monkeypatch):
    coarse = [initial_alignment(n, n - 1, sigma) for n in (20, 100) for sigma in (0.1, 0.7)]
    monkeypatch.setattr("paritylab.analysis.first_steps.alignment.WIDTH", 2.0)
    fine = [initial_alignment(n, n - 1, sigma) for n in (20, 100) for sigma in (0.1, 0.7)]
    np.testing.assert_allclose(coarse, fine, rtol=1e-8)


@pytest.mark.parametrize("sigma", [0.1, 0.4, 1.0])
def test_the_rate_is_that_of_exact_values(sigma):
    # A saddle of width 1 / sqrt(n) in both directions: a factor 1 / n beside the power, and corrections of order 1 / n.
    found = [initial_alignment(n, n, sigma, bias=False).bias * n for n in (401, 501)]
    tail = 0.25 if sigma == 1.0 else 0.01  # near 1/2 the saddle is flat
    assert math.log(found[1] / found[0]) / 100 == pytest.approx(math.log(alignment_rate(sigma)), abs=tail / 100)


def test_signs_keep_what_perturbations_lose():
    """The claim of arXiv 2412.04910: polynomial for signs, exponentially small for a constant perturbation."""
    sizes = np.array([51, 101, 201])
    signs = np.array([initial_alignment(n, n, 0, bias=False).bias for n in sizes.tolist()])
    # The coefficient of majority at all coordinates is near sqrt(2 / (pi n)), half of it that of a step.
    np.testing.assert_allclose(signs * sizes, 1 / (2 * math.pi), rtol=0.02)
    for sigma in (0.4, math.inf):
        falls = np.array([initial_alignment(n, n, sigma, bias=False).bias for n in sizes.tolist()])
        assert falls[2] / falls[1] < (falls[1] / falls[0]) ** 1.9 < 1e-10
    assert alignment_rate(0.0) == 1 and alignment_rate(math.inf) == 0.5
    rates = [alignment_rate(sigma) for sigma in (0.0, 0.1, 0.4, 1.0, 5.0)]
    assert all(a > b for a, b in itertools.pairwise(rates))
    # 1 - (pi sigma)^2 / 4 for small sigma: at sigma = h / sqrt(n) the n-th power is exp(-(pi h)^2 / 4).
    assert alignment_rate(0.01) == pytest.approx(1 - (math.pi * 0.01) ** 2 / 4, abs=1e-7)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: initial_alignment(5, 6, 0), r"`k` is a whole number of at least 1 up to 5, got k=6"),
        (lambda: initial_alignment(5, 5, -0.1), r"`sigma` is a number of at least 0, got sigma=-0\.1"),
        (lambda: initial_alignment(5, 5, 1e-3), r"from sigma=0\.01 on, got sigma=0\.001\. Use 0, or raise it\."),
        (lambda: initial_alignment(2000, 5, 0), r"up to 1000, got n=2000"),
    ],
)
def test_what_cannot_be_says_so(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
