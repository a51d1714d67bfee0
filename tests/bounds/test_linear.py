"""The bounds of linear methods against the best predictor over the ball, found with a certificate."""

import itertools
import math

import numpy as np
import pytest

from paritylab import bounds
from paritylab.cube import cube

K = 3


def tanh_features(n: int, count: int, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.tanh(scale * (np.asarray(cube(n), float) @ rng.normal(size=(n, count))) + rng.normal(size=count))


def parities(n: int, k: int) -> np.ndarray:
    x = np.asarray(cube(n), float)
    return np.array([x[:, chosen].prod(axis=1) for chosen in map(list, itertools.combinations(range(n), k))])


def best_hinge(features: np.ndarray, labels: np.ndarray, norm: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row of labels the least hinge loss over |w| <= norm, between a dual and a primal value.

    It is the saddle point of mean(a (1 - y Psi w)) over |w| <= norm and 0 <= a <= 1, found by primal-dual
    steps; every `a` proves the lower value mean(a) - norm |mean(a y Psi)|, every w attains an upper one.
    """
    points, ratio = len(features), 3.0
    step = 0.99 * math.sqrt(points) / np.linalg.norm(features, 2)
    weights = ahead = np.zeros((len(labels), features.shape[1]))
    multipliers = np.ones(labels.shape)
    above, below = np.ones(len(labels)), np.full(len(labels), -np.inf)
    for count in range(1, steps + 1):
        multipliers = np.clip(multipliers + step / ratio * (1 - labels * (ahead @ features.T)), 0, 1)
        pull = (multipliers * labels) @ features / points
        moved = weights + step * ratio * pull
        moved *= np.minimum(1, norm / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-300))
        ahead, weights = 2 * moved - weights, moved
        if count % 10 == 0:
            below = np.maximum(below, multipliers.mean(axis=1) - norm * np.linalg.norm(pull, axis=1))
            above = np.minimum(above, np.maximum(1 - labels * (weights @ features.T), 0).mean(axis=1))
    return below, above


@pytest.mark.parametrize("n", [8, 9, pytest.param(10, marks=pytest.mark.acceptance)])
def test_no_predictor_beats_the_bounds(n):
    labels = parities(n, K)
    for count, norm in itertools.product((4, 16, 64), (0.2, 1.0, 5.0)):
        features = tanh_features(n, count)
        below, above = best_hinge(features, labels, norm, steps=200)
        numbers = bounds.fixed_features(n, K, features=count, norm=norm)
        given = bounds.given_features(features, K, norm=norm)
        convex = bounds.fixed_features_by_convexity(n, K, features=count, norm=norm)
        assert np.all(below <= above + 1e-12) and np.all(above - below < 0.06)  # both routes find the minimum
        assert given.allows(above.mean()) and numbers.allows(above.mean()) and convex.allows(above.mean())
        assert above.max() >= given.part("worst") - 1e-12
        assert given.value >= numbers.value
        if max(numbers.value, convex.value) > 0:
            assert numbers.value >= convex.value


def test_numbers_worked_out_by_hand():
    """Its 0.911 does not come with the scale of the weights: ours at scales 1/sqrt(n) and 1 lie on either side."""
    both = tanh_features(8, 16), tanh_features(8, 16, scale=1 / math.sqrt(8))
    means = [best_hinge(features, parities(8, K), 1.0, steps=200)[1].mean() for features in both]
    assert 0.87 < means[0] < 0.911 < means[1] < 0.97
    assert bounds.fixed_features(8, K, features=16, norm=1).value == pytest.approx(0.466, abs=1e-3)
    assert bounds.fixed_features_by_convexity(8, K, features=16, norm=1).value == pytest.approx(-1.07, abs=5e-3)


@pytest.mark.parametrize("n", [4, 7])
def test_parseval_over_all_parities(n):
    features = tanh_features(n, 5)
    energy = sum((bounds.parity_correlations(features, k) ** 2).sum(axis=0) for k in range(1, n + 1))
    np.testing.assert_allclose(energy + features.mean(axis=0) ** 2, (features**2).mean(axis=0), rtol=1e-12)
    mean = (bounds.parity_correlations(features, 2) ** 2).sum(axis=1).mean()
    assert bounds.gradient_at_zero(n, 2, features=5).allows(mean)


def test_the_bound_is_attained_by_the_parities_themselves():
    """N = C(n, k) features that are the parities: one weight B gives the loss 1 - B, which is the bound."""
    features = parities(6, 2).T
    bound = bounds.given_features(features, 2, norm=0.5)
    assert bound.value == pytest.approx(0.5) == bounds.fixed_features(6, 2, features=15, norm=0.5).value
    _, above = best_hinge(features, parities(6, 2), 0.5, steps=10)
    np.testing.assert_allclose(above, 0.5, atol=1e-9)


@pytest.mark.parametrize("norm", [0.5, 2.0, 8.0])
def test_kernels_of_unit_norm(norm):
    features = tanh_features(8, 20)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    below, above = best_hinge(features, parities(8, K), norm, steps=200)
    assert bounds.kernel(8, K, norm=norm).allows(above.mean())
    assert bounds.kernel_of_dimension(8, K, dimension=20, norm=norm).allows(above.max())
    assert (above - below).max() < 0.06


def test_theorem_2_follows_from_the_form_with_binomials():
    """C(n, k) >= 16^k for k <= n/16: the printed theorem, corrected, is half of form (c) or less."""
    for n, k in ((48, 3), (80, 5), (160, 9)):
        theorem = bounds.fixed_features_theorem(n, k, features=7, norm=0.3)
        assert theorem.applies
        assert theorem.value <= bounds.fixed_features_by_convexity(n, k, features=7, norm=0.3).value / 2
    assert not bounds.fixed_features_theorem(47, 3, features=7, norm=0.3).applies
    assert not bounds.fixed_features_theorem(64, 4, features=7, norm=0.3).applies


def test_wrong_numbers_say_so():
    with pytest.raises(ValueError, match="got k=9 on n=8"):
        bounds.kernel(8, 9, norm=1)
    with pytest.raises(ValueError, match="got norm=-1"):
        bounds.fixed_features(8, 3, features=2, norm=-1)
    with pytest.raises(ValueError, match="got 6 rows of 1"):
        bounds.parity_correlations(np.zeros((6, 1)), 1)
    with pytest.raises(ValueError, match="has no part 'width'; it has mixture"):
        bounds.fixed_features(8, 3, features=2, norm=1).part("width")


def test_a_bound_that_does_not_apply_says_so_and_allows_everything():
    bound = bounds.fixed_features_theorem(20, 3, features=1, norm=0.1)
    assert not bound.applies and bound.allows(-1)
    assert "It does not apply here: k <= n/16, here 3 <= 1.25 fails." in str(bound)


def test_a_notebook_shows_the_sentence_and_every_assumption():
    made = lambda n: bounds.Bound(
        0.25, "at least", "No <such> thing.", "nowhere", (bounds.Assumption("k <= n", n > 3),), (bounds.Part("q", 2.0),)
    )
    applies, fails = made(5)._repr_html_(), made(2)._repr_html_()
    assert "holds" in applies and "FAILS" not in applies and "k &lt;= n" in applies
    assert "FAILS" in fails and "It does not apply here" in fails and "&lt;such&gt;" in fails and ">q<" in fails
