"""The least hinge loss over a ball: against closed forms, against scipy, and by its duality gap."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from paritylab.analysis import best_hinge, best_hinge_over_ball, gaussian_eigenvalues
from paritylab.cube import cube


@pytest.mark.parametrize("radius", [0.3, 1.0, 3.0, 30.0, 1000.0])
@pytest.mark.parametrize("count", [3, 24])
def test_the_gap_proves_the_optimum(count, radius):
    rng = np.random.default_rng(count)
    x = np.asarray(cube(8), float)
    features, labels = np.tanh(x @ rng.normal(size=(8, count)) + rng.normal(size=count)), x[:, :3].prod(axis=1)
    found = best_hinge_over_ball(features, labels, radius)
    assert -1e-12 <= found.gap < 1e-6
    assert np.linalg.norm(found.weights) <= radius * (1 + 1e-12)
    assert np.mean(np.maximum(0, 1 - labels * (features @ found.weights))) == pytest.approx(found.primal, abs=1e-12)


def test_against_a_general_solver():
    """SLSQP on the same problem with slack variables; unequal probabilities."""
    rng = np.random.default_rng(1)
    features, labels, share = rng.normal(size=(12, 3)), rng.choice([-1.0, 1.0], 12), rng.dirichlet(np.ones(12))
    found = best_hinge_over_ball(features, labels, 0.7, share)
    signed = features * labels[:, None]
    other = minimize(
        lambda v: share @ v[3:],
        np.concatenate([np.zeros(3), np.full(12, 2.0)]),
        jac=lambda v: np.concatenate([np.zeros(3), share]),
        bounds=[(None, None)] * 3 + [(0, None)] * 12,
        constraints=[
            {
                "type": "ineq",
                "fun": lambda v: signed @ v[:3] + v[3:] - 1,
                "jac": lambda v: np.hstack([signed, np.eye(12)]),
            },
            {
                "type": "ineq",
                "fun": lambda v: 0.49 - v[:3] @ v[:3],
                "jac": lambda v: np.append(-2 * v[:3], np.zeros(12)),
            },
        ],
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert found.primal == pytest.approx(other.fun, abs=1e-6)


@pytest.mark.parametrize("radius", [1.0, 5.0, 20.0])
def test_a_kernel_of_the_inner_product_has_its_closed_form(radius):
    x = np.asarray(cube(6), float)
    member = x < 0
    characters = 1 - 2 * (member.astype(int) @ member.T.astype(int) % 2)
    values = gaussian_eigenvalues(6, math.sqrt(6))
    found = best_hinge_over_ball(characters * np.sqrt(values[member.sum(axis=1)]), x[:, :3].prod(axis=1), radius)
    assert found.primal == pytest.approx(best_hinge(float(values[3]), radius), abs=1e-6)


def test_features_that_know_nothing_leave_a_loss_of_1():
    x = np.asarray(cube(5), float)
    found = best_hinge_over_ball(x, x[:, :3].prod(axis=1), 10.0)
    assert (found.primal, found.dual) == (1.0, 1.0)


def test_points_without_probability_do_not_count():
    features, labels = np.array([[1.0], [1.0]]), np.array([1, -1])
    assert best_hinge_over_ball(features, labels, 1.0, np.array([1.0, 0.0])).primal == 0.0


def test_wrong_input_says_so():
    with pytest.raises(ValueError, match="radius above 0, got radius=0"):
        best_hinge_over_ball(np.ones((2, 1)), np.ones(2), 0)
    with pytest.raises(ValueError, match="add up to 1"):
        best_hinge_over_ball(np.ones((2, 1)), np.ones(2), 1, np.array([0.5, 0.4]))
