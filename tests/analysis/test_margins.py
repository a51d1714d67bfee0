"""Margins with certificates, perceptron bounds, and the embedding at the start of symmetry's network."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from paritylab.analysis import (
    check_drift,
    explicit_separator,
    largest_step,
    lifted,
    maximal_margin,
    modified_perceptron_bounds,
    parity_margin,
    perceptron_bound,
    symmetric_embedding,
)

N = range(5, 41)


def parity(n):
    return 1 - 2 * (np.arange(n + 1) % 2)


def random_values(n, count, seed=0):
    return np.random.default_rng(seed).choice([-1, 1], (count, n + 1))


def proven(found, points, labels, tolerance):
    """Checks the certificate with nothing but the definition."""
    signed = points * labels[:, None]
    assert np.all(found.multipliers >= 0) and found.multipliers.sum() == pytest.approx(1, abs=1e-12)
    above = np.linalg.norm(found.multipliers @ signed)
    if found.separable:
        assert np.linalg.norm(found.weights) == pytest.approx(1, abs=1e-12)
        assert np.min(signed @ found.weights) == pytest.approx(found.margin, abs=tolerance)
        assert above == pytest.approx(found.margin, abs=tolerance)
    else:
        assert found.margin == 0 and above < tolerance
    assert abs(found.gap) < tolerance


def test_the_margin_of_a_plane_by_geometry():
    """Two points at angles +-a from an axis, with length r, have margin r cos a."""
    angle, radius = 1.5, 7.0
    points = radius * np.array([[math.cos(angle), math.sin(angle)], [math.cos(angle), -math.sin(angle)]])
    found = maximal_margin(points, np.array([1, 1]))
    assert found.margin == pytest.approx(radius * math.cos(angle), rel=1e-13)
    np.testing.assert_allclose(found.weights, [1, 0], atol=1e-12)
    np.testing.assert_allclose(found.multipliers, 0.5, atol=1e-12)
    assert found.support.all()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([1e-6, 1.0, 1e6]))
def test_every_margin_is_proven_whether_separable_or_not(count, dimension, seed, scale):
    random = np.random.default_rng(seed)
    points = scale * random.normal(size=(count, dimension)).round(1)
    labels = random.choice([-1, 1], count)
    found = maximal_margin(points, labels)
    proven(found, points, labels, 1e-10 * scale)


def test_a_few_hundred_points_to_nine_digits():
    random = np.random.default_rng(1)
    points = random.normal(size=(400, 60))
    labels = np.where(points @ random.normal(size=60) > 0, 1, -1)
    found = maximal_margin(points, labels)
    assert found.separable and 0 < found.margin < 0.2
    proven(found, points, labels, 1e-9 * np.linalg.norm(points, axis=1).max())
    assert not maximal_margin(points, random.choice([-1, 1], 400)).separable


def test_another_solver_finds_no_better_direction():
    """Sequential quadratic programming on min |w|^2, y w . v >= 1."""
    random = np.random.default_rng(2)
    points = random.normal(size=(30, 6))
    labels = np.where(points @ random.normal(size=6) > 0, 1, -1)
    signed = points * labels[:, None]
    found = maximal_margin(points, labels)
    start = found.weights + 0.1 * random.normal(size=6)
    other = minimize(
        lambda w: w @ w,
        start / found.margin,
        jac=lambda w: 2 * w,
        constraints={"type": "ineq", "fun": lambda w: signed @ w - 1, "jac": lambda w: signed},
        method="SLSQP",
        options={"ftol": 1e-10},  # |w|^2 is about 10 and rounded by 1e-13: asked for more, it may end without success
    )
    assert other.success
    assert 1 / np.linalg.norm(other.x) == pytest.approx(found.margin, rel=1e-6)


@pytest.mark.parametrize(
    ("points", "labels"),
    [
        ([[1.0, 2.0], [1.0, 2.0]], [1, -1]),  # a point with both labels
        ([[1.0], [-1.0], [0.5]], [1, 1, 1]),  # both sides of the origin
        ([[0.0, 0.0], [1.0, 0.0]], [1, 1]),  # the origin itself
        ([[0.0, 0.0]], [1]),
        ([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], [1, 1, 1]),  # the origin inside a triangle
    ],
)
def test_what_is_not_separable_has_a_farkas_certificate(points, labels):
    points, labels = np.array(points), np.array(labels)
    found = maximal_margin(points, labels)
    assert not found.separable and not found.weights.any()
    proven(found, points, labels, 1e-12)


def test_repeated_points_change_nothing():
    points, labels = symmetric_embedding(6), parity(6)
    found = maximal_margin(np.repeat(points, 4, axis=0), np.repeat(labels, 4))
    assert found.margin == pytest.approx(parity_margin(6), rel=1e-11)


def test_wrong_input_is_one_sentence():
    with pytest.raises(ValueError, match=r"Labels are -1 or \+1, got 0.0"):
        maximal_margin(np.ones((2, 2)), np.array([1, 0]))
    with pytest.raises(ValueError, match="at least one point"):
        maximal_margin(np.ones((0, 2)), np.ones(0))
    with pytest.raises(ValueError, match="finite points"):
        maximal_margin(np.array([[np.nan]]), np.ones(1))
    with pytest.raises(ValueError, match="margin=0"):
        perceptron_bound(1.0, 0)
    with pytest.raises(ValueError, match="confidence=-1"):
        modified_perceptron_bounds(1, 1, 1, -1)
    with pytest.raises(ValueError, match="per weight"):
        explicit_separator(np.array([1, 0, 1]))
    with pytest.raises(ValueError, match="n=0"):
        symmetric_embedding(0)
    with pytest.raises(ValueError, match="n=1"):
        parity_margin(1)


def test_the_embedding_is_the_first_layer_of_the_network():
    """Over all points of the cube of 6 bits, from the matrices of symmetry's Section 3.1."""
    n = 6
    bits = np.array(list(itertools.product([0, 1], repeat=n)))
    weights, biases = np.ones((n + 3, n)), 2 - np.arange(1, n + 4)
    hidden = np.maximum(bits @ weights.T + biases, 0)
    np.testing.assert_array_equal(lifted(hidden), symmetric_embedding(n)[bits.sum(axis=1)])


@pytest.mark.parametrize("n", N)
def test_the_exact_margin_against_the_explicit_separator(n):
    """Lemma 3: the separator gives half a unit on every point and its length is O(sqrt(n))."""
    points = symmetric_embedding(n)
    for values in (parity(n), -parity(n), *random_values(n, 3, seed=n)):
        separator = explicit_separator(values)
        np.testing.assert_allclose(points @ separator, values / 2, atol=1e-12)
        explicit = 0.5 / np.linalg.norm(separator)
        assert explicit >= 0.5 / math.sqrt(4 * n - 11 / 4) * (1 - 1e-12)
        found = maximal_margin(points, values)
        proven(found, points, values, 1e-10)
        assert found.margin >= explicit - 1e-10
        assert found.margin >= parity_margin(n) - 1e-10


@pytest.mark.parametrize("n", [2, *N])
def test_the_margin_of_parity_in_closed_form(n):
    found = maximal_margin(symmetric_embedding(n), parity(n))
    assert found.margin == pytest.approx(parity_margin(n), rel=1e-10)
    assert found.support.all()


@pytest.mark.parametrize("n", [3, 5, 7])
def test_parity_has_the_least_margin_of_all_symmetric_functions(n):
    """All functions, and only parity and its negative attain it."""
    points = symmetric_embedding(n)
    margins = [maximal_margin(points, np.array(values)).margin for values in itertools.product([-1, 1], repeat=n + 1)]
    np.testing.assert_allclose(sorted(margins)[:2], parity_margin(n), rtol=1e-10)
    assert sorted(margins)[2] > parity_margin(n) * 1.001


def perceptron(points, labels, step, confidence):
    """symmetry, Algorithm 1, in the order of the points; the number of updates and the weights."""
    signed, w, updates = points * labels[:, None], np.zeros(points.shape[1]), 0
    while (short := np.flatnonzero(signed @ w <= confidence)).size:
        w, updates = w + step * signed[short[updates % short.size]], updates + 1
    return updates, w


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("confidence", [0.0, 0.3, 5.0])
def test_the_modified_perceptron_keeps_its_bounds(seed, confidence):
    random = np.random.default_rng(seed)
    points = random.normal(size=(12, 5))
    labels = np.where(points @ random.normal(size=5) > 0, 1, -1)
    margin, radius = maximal_margin(points, labels).margin, np.linalg.norm(points, axis=1).max()
    step = 0.1
    bounds = modified_perceptron_bounds(radius, margin, step, confidence)
    updates, w = perceptron(points, labels, step, confidence)
    assert 0 < updates <= bounds.updates
    assert ((points * labels[:, None]) @ w).min() / np.linalg.norm(w) >= bounds.margin
    if confidence == 0:
        assert bounds.updates == pytest.approx(perceptron_bound(radius, margin))
    natural = modified_perceptron_bounds(radius, margin, step, radius**2 * step)
    assert natural == pytest.approx((3 * (radius / margin) ** 2, margin / 3))


def trained(n, values, step, radius, every=50):
    """symmetry's coupled dynamics (its equations 2 to 5) until no point is short of beta = R^2 h.

    Inputs are the first |x| bits set and a random point of each weight; all of them are watched.
    """
    random = np.random.default_rng(0)
    bits = np.vstack([np.tri(n + 1, n, -1), random.permuted(np.tri(n + 1, n, -1), axis=1)])
    labels = values[bits.sum(axis=1).astype(int)]
    W, B, M, b = np.ones((n + 3, n)), 1.0 - np.arange(n + 3), np.zeros(n + 3), 0.0
    beta, updates, rows = radius**2 * step, 0, []
    embed = lambda: np.maximum(bits @ W.T + B, 0)
    start = embed()
    while True:
        hidden = embed()
        short = np.flatnonzero(labels * (hidden @ M + b) <= beta)
        if updates % every == 0 or not short.size:
            moved = np.linalg.norm(hidden - start, axis=1).max()
            radii = np.sqrt((hidden**2).sum(axis=1).max() + 1)
            rows.append((updates, moved, math.hypot(np.linalg.norm(M), b), radii))
        if not short.size:
            return bits, labels, np.array(rows).T
        i = short[updates % short.size]
        x, y, fired = bits[i], labels[i], (hidden[i] > 0) * M
        W, B, M, b = W + y * step * np.outer(fired, x), B + y * step * fired, M + y * step * hidden[i], b + y * step
        updates += 1


@pytest.fixture(scope="module")
def run():
    n = 5
    values = np.array([1, 1, -1, -1, 1, 1])
    points = symmetric_embedding(n)
    numbers = {
        "margin": maximal_margin(points, values).margin,
        "radius": float(np.linalg.norm(points, axis=1).max()),
        "input_radius": math.sqrt(n),
    }
    numbers["step"] = largest_step(**numbers)
    return numbers, *trained(n, values, numbers["step"], numbers["radius"])


def test_the_drift_of_a_run_keeps_the_bounds_of_lemma_4(run):
    numbers, _, _, (updates, moved, norms, radii) = run
    for known in (None, radii):
        drift = check_drift(updates, moved, norms, radii=known, **numbers)
        assert not drift.violations.any() and drift.unmet == ()
    assert 100 < updates[-1] <= drift.updates_bound
    # Not by a mile: at some time |(M, b)| is at least a tenth of what is allowed, and something has moved.
    assert (norms[1:] / drift.norm_bound[1:]).max() > 0.1 and moved[-1] > 0


def test_the_checker_finds_what_exceeds_a_bound(run):
    numbers, _, _, (updates, moved, norms, radii) = run
    last = np.arange(len(updates)) == len(updates) - 1
    bounds = check_drift(updates, moved, norms, radii=radii, **numbers)
    for much in (
        (updates, np.where(last, 1.01 * bounds.moved_bound, moved), norms),
        (updates, moved, np.where(last, 1.01 * bounds.norm_bound, norms)),
        (np.where(last, 1.01 * bounds.updates_bound, updates), moved, norms),
    ):
        assert check_drift(*much, radii=radii, **numbers).violations.tolist() == last.tolist()
    large = check_drift(updates, moved, norms, **{**numbers, "step": 2 * numbers["step"]})
    assert len(large.unmet) == 1 and "The step is at most" in large.unmet[0]
    strange = check_drift(updates, moved, norms, **{**numbers, "margin": 2.0, "input_radius": 0.5})
    assert len(strange.unmet) == 2
    with pytest.raises(ValueError, match="at least 0, got -1"):
        check_drift(np.array([-1.0]), np.zeros(1), np.zeros(1), **numbers)
