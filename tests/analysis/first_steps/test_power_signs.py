import math

import numpy as np
import pytest

from paritylab.analysis import examples_for_signs, exponent_of_examples, sign_step
from paritylab.cube import cube


@pytest.mark.parametrize("support", [(1,), (0, 3), (1, 2, 4), (0, 1, 2, 5)])
@pytest.mark.parametrize("weights", [np.ones(6), np.array([1.0, -1, -1, 1, 1, -1]), np.array([1, 0.5, -2, 0.1, 0, 3])])
def test_mean_and_deviation_are_those_of_all_points(support, weights):
    x = np.asarray(cube(6), float)
    k = len(support)
    terms = np.prod(x[:, support], axis=1)[:, None] * x * k * (x @ weights)[:, None] ** (k - 1)
    step = sign_step(weights, support)
    np.testing.assert_allclose(step.mean, terms.mean(axis=0), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(step.deviation, terms.std(axis=0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_gradient_of_signs_is_a_factorial_where_relevant_and_0_elsewhere(k):
    signs = np.random.default_rng(k).choice([-1.0, 1.0], 40)
    step = sign_step(signs, range(k))
    np.testing.assert_allclose(step.mean[:k], math.factorial(k) * np.prod(signs[:k]) * signs[:k], rtol=1e-12)
    np.testing.assert_allclose(step.mean[k:], 0, atol=1e-9)
    # k^2 (2k - 3)!! n^(k-1) to leading order, and k^2 n at k = 2.
    leading = k * math.sqrt(math.prod(range(2 * k - 3, 0, -2)) * 40.0 ** (k - 1))
    assert step.deviation[-1] == pytest.approx(leading, rel=1e-12 if k == 2 else 0.1)


@pytest.mark.parametrize(("batch", "zone"), [(400, 2.0), (2000, 0.6), (1500, 0.0)])
def test_wrong_signs_are_as_frequent_as_predicted(batch, zone):
    n, k, draws = 12, 3, 1500
    rng = np.random.default_rng(batch)
    step = sign_step(np.ones(n), range(k))
    right = np.sign(step.mean)
    wrong = np.zeros(n)
    for _ in range(draws):
        x = rng.choice([-1.0, 1.0], (batch, n))
        mean = (x[:, :k].prod(axis=1) * k * x.sum(axis=1) ** (k - 1)) @ x / batch
        wrong += np.where(np.abs(mean) > zone, np.sign(mean), 0) != right
    predicted = step.wrong(batch, zone)
    # Binomial counts, and 2% for the third moment of what is averaged, which the normal law leaves out.
    tolerance = 5 * np.sqrt(predicted * (1 - predicted) / draws) + 0.02
    assert np.all(np.abs(wrong / draws - predicted) <= tolerance)


def test_the_batch_is_the_smallest():
    for n, k in ((50, 2), (80, 3), (30, 4)):
        batch, step = examples_for_signs(n, k), sign_step(np.ones(n), range(k))
        zone = 0.1 * math.factorial(k)
        assert step.wrong(batch, zone).sum() <= 0.01 < step.wrong(0.999 * batch, zone).sum()


def test_the_exponent_is_k_less_one_and_a_little():
    for k in (2, 3, 4):
        near, far = exponent_of_examples(100, k), exponent_of_examples(800, k)
        assert k - 1 < far < near < k - 1 + 0.25
        # As many failures for each coordinate: no more is asked of the tails, and the rest is the moment's own.
        same = math.log2(examples_for_signs(1600, k, failures=1.6) / examples_for_signs(800, k, failures=0.8))
        assert same == pytest.approx(k - 1, abs=0.01)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: examples_for_signs(20, 3, 6.0), r"relevant entries, k! = 6, .* got dead_zone=6\.0 and failures=0\.01"),
        (lambda: examples_for_signs(20, 3, 0.0), r"got dead_zone=0\.0"),
        (lambda: examples_for_signs(2, 3), r"`n` is a whole number of at least 3, got n=2"),
        (lambda: sign_step(np.ones(4), ()), r"`k` is a whole number of at least 1, got k=0"),
        (lambda: sign_step(np.ones(4), (4,)), r"distinct ones in 0\.\.3"),
        (lambda: sign_step(np.ones(4), (0,)).wrong(0, 0.1), r"`batch` is a number of at least 1"),
    ],
)
def test_what_cannot_be_says_so(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
