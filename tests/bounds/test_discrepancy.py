"""The discrepancy bounds of units against exact enumeration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import scipy.stats

from paritylab import bounds
from paritylab.bounds import discrepancy
from paritylab.cube import cube

HALVES = (2, 4, 6, 8)
UNITS = 300


def random_units(half: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units of several scales: Gaussian, with one heavy half, with few weights, with integer weights."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-1, 1, (UNITS, 1))
    left, right = scale * rng.normal(size=(2, UNITS, half))
    kind = rng.integers(0, 4, UNITS)[:, None]
    right = np.where(kind == 1, 0.1 * right, right)
    sparse = rng.random((2, UNITS, half)) < 0.5
    left, right = (np.where((kind == 2) & mask, 0, part) for part, mask in zip((left, right), sparse, strict=True))
    left, right = (np.where(kind == 3, np.round(part), part) for part in (left, right))
    bias = rng.normal(size=UNITS) * np.abs(left).sum(axis=1) * rng.choice([0, 0.3, 1.0], UNITS)
    return left, right, bias


def correlations(left, right, bias, signs, activation) -> np.ndarray:
    """E[F activation(t)] over all points, for each unit."""
    x = np.asarray(cube(left.shape[1]), float)
    found = [
        np.mean(signs * activation(rows[:, None] + columns + shift))
        for rows, columns, shift in zip(left @ x.T, right @ x.T, bias, strict=True)
    ]
    return np.array(found)


relu = lambda t: np.maximum(t, 0)
step = lambda t: (t > 0).astype(float)
hard_tanh = lambda t: np.clip(t, -1, 1)


@pytest.mark.parametrize("half", HALVES)
def test_the_last_term_of_b4_is_attained(half):
    """By a unit of z alone that points at the one z at which F is constant: w = 0, v = o. Its first term is 0."""
    gates = np.random.default_rng(half).choice([-1, 1], half)
    left, right, bias = np.zeros((1, half)), gates[None].astype(float), np.zeros(1)
    found = np.abs(correlations(left, right, bias, bounds.gate_product_matrix(gates), relu))
    np.testing.assert_allclose(bounds.unit_bounds(left, right, bias).centred, found)
    np.testing.assert_allclose(found, half / 2**half)


@pytest.mark.parametrize("half", HALVES)
def test_no_unit_violates_its_bound(half):
    """1,200 ReLU units and 1,200 threshold units over the four sizes; none of them may."""
    left, right, bias = random_units(half, seed=half)
    signs = bounds.gate_product_matrix(np.random.default_rng(half).choice([-1, 1], half))
    found = np.abs(correlations(left, right, bias, signs, relu))
    forms = bounds.unit_bounds(left, right, bias)
    slack = 1e-12 * (1 + forms.length)
    for name, form in zip(forms._fields, forms, strict=True):
        assert np.all(found <= form + slack), name
    assert np.all(forms.tails <= forms.length + slack)
    assert found.max() > 0
    thresholds = np.abs(correlations(left, right, bias, signs, step))
    assert bounds.threshold_correlation(half).allows(thresholds.max())
    assert bounds.variation_correlation(half, variation=1).allows(thresholds.max())


@pytest.mark.parametrize("half", [3, 5])
def test_other_activations(half):
    left, right, bias = random_units(half, seed=7)
    signs = bounds.gate_product_matrix(np.random.default_rng(1).choice([-1, 1], half))
    found = np.abs(correlations(left, right, bias, signs, hard_tanh))
    radius = np.abs(left).sum(axis=1) + np.abs(right).sum(axis=1) + np.abs(bias)
    tight = np.array([bounds.hard_tanh_correlation(half, radius=max(float(r), 1e-9)).value for r in radius])
    assert np.all(found <= tight + 1e-12)
    assert bounds.variation_correlation(half, variation=2, start=-1).allows(found.max())
    logistic = np.abs(correlations(left, right, bias, signs, lambda t: 1 / (1 + np.exp(-t))))
    assert bounds.variation_correlation(half, variation=1).allows(logistic.max())


def ascend(half: int, signs: np.ndarray, units: int, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units that gradient ascent makes correlate as much as it can for their length |w|_1 + |v|_1 + |b|."""
    rng = np.random.default_rng(5)
    x = np.asarray(cube(half), float)
    weights = rng.normal(size=(units, 2 * half + 1))
    for count in range(steps):
        rows, columns = weights[:, :half] @ x.T, weights[:, half:-1] @ x.T
        active = (rows[:, :, None] + columns[:, None] + weights[:, -1, None, None] > 0) * signs / signs.size
        by_row, by_column = active.sum(axis=2), active.sum(axis=1)
        slope = np.column_stack([by_row @ x, by_column @ x, by_row.sum(axis=1)])
        value, length = (slope * weights).sum(axis=1, keepdims=True), np.abs(weights).sum(axis=1, keepdims=True)
        slope = slope / length - value / length**2 * np.sign(weights)
        weights += 0.3 / (1 + count / 10) * slope / (np.linalg.norm(slope, axis=1, keepdims=True) + 1e-9)
    return weights[:, :half], weights[:, half:-1], weights[:, -1]


@pytest.mark.parametrize(
    ("half", "units", "steps", "reached"),
    [(2, 40, 100, 0.271), (4, 40, 100, 0.0742), (6, 20, 60, 0.0210), (8, 4, 25, 0.004)],
)
def test_no_adversary_violates_its_bound(half, units, steps, reached):
    """`reached` is what an earlier ascent reached for the correlation over the length (ours at n = 8)."""
    signs = bounds.gate_product_matrix(np.ones(half, int))
    left, right, bias = ascend(half, signs, units, steps)
    found = np.abs(correlations(left, right, bias, signs, relu))
    forms = bounds.unit_bounds(left, right, bias)
    assert np.all(found <= forms.best * (1 + 1e-12))
    length = np.abs(left).sum(axis=1) + np.abs(right).sum(axis=1) + np.abs(bias)
    assert (found / length).max() > 0.85 * reached  # the adversary is worth its name


def test_the_integral_of_tails_against_quadrature():
    left, right, bias = random_units(5, seed=2)
    x = np.asarray(cube(5), float)
    for unit in range(10):
        first, second = np.sort(x @ left[unit]), np.sort(x @ right[unit] + bias[unit])
        grid = np.linspace(-second[-1], first[-1], 200_001)
        more = 1 - np.searchsorted(first, grid, side="right") / 32
        reached = 1 - np.searchsorted(second, -grid, side="left") / 32
        expected = np.sqrt(more * reached).mean() * max(grid[-1] - grid[0], 0)
        found = bounds.unit_bounds(left[[unit]], right[[unit]], bias[[unit]]).tails[0] * 2**2.5
        assert found == pytest.approx(expected, rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("half", [6, 12])
def test_lattice_tails_are_above_the_exact_ones_and_not_far(half):
    left, right, bias = (part[:40] for part in random_units(half, seed=4))
    for shifts in (np.zeros(40), bias):
        units = zip(left, right, shifts, strict=True)
        exact = np.array([np.hstack(discrepancy.exact_integrals(*unit, degree=3)) for unit in units])
        with jax.enable_x64(True):
            above = np.column_stack(discrepancy.unit_integrals(left, right, shifts, degree=3))
        size = (np.abs(left) + np.abs(right)).sum(axis=1, keepdims=True)
        assert np.all(exact <= above + 1e-12)
        assert np.all(above <= 1.08 * exact + 0.003 * size * (exact[:, :1] > 0) + 1e-9)


@pytest.mark.parametrize("half", [4, 6])
def test_a_unit_with_a_ceiling_keeps_its_bound_which_is_no_more_than_a_relus(half):
    left, right, bias = random_units(half, seed=half + 20)
    signs = bounds.gate_product_matrix(np.random.default_rng(half).choice([-1, 1], half))
    for ceiling in (0.5, 6.0):
        found = np.abs(correlations(left, right, bias, signs, lambda t, top=ceiling: np.clip(t, 0, top)))
        with jax.enable_x64(True):
            relus = np.asarray(discrepancy.unit_integrals(left, right, bias).tails)
            tails = np.asarray(discrepancy.unit_integrals(left, right, bias, ceiling).tails)
            best = np.asarray(bounds.best_unit_bounds(*(jnp.asarray(part) for part in (left, right, bias)), ceiling))
        assert np.all(found <= best) and np.all(best <= 1.001 * 2 ** (-half / 2) * tails + 1e-300)
        assert np.all(tails <= relus * (1 + 1e-12))
        assert np.median(tails / np.maximum(relus, 1e-300)) < 0.7 or ceiling == 6  # the ceiling is felt


@pytest.mark.parametrize("half", [4, 6])
def test_sigmoids_keep_their_bound_which_is_that_of_the_exact_slices(half):
    left, right, bias = (part[:100] for part in random_units(half, seed=half + 30))
    signs = bounds.gate_product_matrix(np.random.default_rng(half).choice([-1, 1], half))
    found = np.abs(correlations(left, right, bias, signs, scipy.special.expit))
    with jax.enable_x64(True):
        slices = np.asarray(discrepancy.sigmoid_integrals(left, right, bias))
    assert np.all(found <= 2 ** (-half / 2) * slices + 2.0**-half)
    x = np.asarray(cube(half), float)
    for unit in range(0, 100, 10):
        first, second = np.sort(x @ left[unit]), x @ right[unit] + bias[unit]
        grid = np.linspace(-1, 1, 4001) * np.abs(left[unit]).sum()
        below = np.searchsorted(first, grid, side="right") / 2**half
        slope = scipy.special.expit(grid[:, None] + second) * scipy.special.expit(-grid[:, None] - second)
        exact = np.trapezoid(np.sqrt(np.minimum(below, 1 - below) * (slope**2).mean(axis=1)), grid)
        assert 0.99 * exact <= slices[unit] <= 1.1 * exact + 0.01 * np.abs(left[unit]).sum() + 1e-12


def test_bounds_in_float32_are_those_in_float64_rounded_up():
    """Units of all scales, with biases of both signs, some without weights in one half."""
    left, right, bias = (part[:64] for part in random_units(21, seed=9))
    left[:5] = 0.0
    expected = bounds.unit_bounds(left, right, bias).best
    found = np.asarray(
        jax.jit(bounds.best_unit_bounds)(*(np.asarray(part, np.float32) for part in (left, right, bias)))
    )
    assert np.all(found >= expected) and np.all(found <= 1.002 * expected + 1e-9)


def test_the_tails_on_a_lattice_are_around_those_of_the_binomial_and_sharper_than_chernoffs():
    places = np.arange(-60.0, 61.0, 2.0)
    exact = scipy.stats.binom.sf((places + 60) / 2 - 1, 60, 0.5)
    with jax.enable_x64(True):
        tails = discrepancy.Tails.of(jnp.ones(60))
        above, below = (np.asarray(side(jnp.asarray(places))) for side in (tails.at_most, tails.at_least))
    assert np.all(exact * (1 - 1e-9) <= above) and np.all(below <= exact * (1 + 1e-9))
    assert np.allclose(above[places <= 0], exact[places <= 0], rtol=1e-9)  # equal weights are on the lattice
    hoeffding = np.minimum(1, np.exp(-(np.maximum(places, 0) ** 2) / 120))
    assert np.all(above <= hoeffding * (1 + 1e-9))


@pytest.mark.parametrize("half", [30, 100])
def test_beyond_sorting_the_tails_stay_near_or_below_the_norms(half):
    rng = np.random.default_rng(6)
    left, right = rng.normal(size=(2, 5, half))
    forms = bounds.unit_bounds(left, right, -np.abs(rng.normal(size=5)))
    assert np.all(forms.tails <= 1.01 * forms.norms)
    assert np.all(forms.tails > 0)


def test_a_unit_that_never_fires_correlates_with_nothing():
    forms = bounds.unit_bounds(np.ones((1, 3)), np.ones((1, 3)), np.array([-7.0]))
    assert forms.length[0] == forms.tails[0] == 0
    assert bounds.unit_correlation(np.ones(25), np.ones(25), -60).value == 0


@pytest.mark.parametrize("rows", [2, 3, 8, 64])
def test_the_norm_of_truncation_is_that_of_its_factors_and_no_matrix_passes_it(rows):
    """The weights of the unitary products by an FFT; norms of matrices before and after, of Hilbert's too."""
    sequence = np.where(np.arange(2 * rows) < rows, 0.5, -0.5)
    assert bounds.truncation_norm(rows) == pytest.approx(np.abs(np.fft.fft(sequence)).sum() / (2 * rows), rel=1e-12)
    places = np.arange(rows)
    centred = np.where(places[:, None] >= places, 0.5, -0.5)
    rng = np.random.default_rng(rows)
    worst = 1 / (places[:, None] - places + 0.5)  # Hilbert's matrix, whose triangle grows like the logarithm
    for matrix in (worst, *rng.normal(size=(20, rows, rows))):
        assert np.linalg.norm(centred * matrix, 2) <= bounds.truncation_norm(rows) * np.linalg.norm(matrix, 2)
    triangle = np.linalg.norm((centred + 0.5) * worst, 2) / np.linalg.norm(worst, 2)
    assert triangle > 0.4 * (bounds.truncation_norm(rows) + 0.5)


def test_both_forms_of_the_norm_of_truncation():
    halves = np.arange(1, 400)
    found = np.array([bounds.truncation_norm(2 ** int(half)) for half in halves])
    assert np.all(found <= 0.5 + halves * np.log(2) / np.pi)
    assert np.all(np.diff(found) > 0) and found[399 - 1] / (400 * np.log(2) / np.pi) < 1.01
    assert bounds.truncation_norm(4096) < bounds.truncation_norm(4097) < bounds.truncation_norm(4096) + 0.02


@pytest.mark.parametrize("half", HALVES)
def test_thresholds_stay_below_lemma_3_which_is_below_the_dyadic_form(half):
    """Thresholds at every place of the sums of 100 units, for other gates than above."""
    left, right, _ = (part[:100] for part in random_units(half, seed=half + 50))
    signs = bounds.gate_product_matrix(np.random.default_rng(half + 1).choice([-1, 1], half))
    x = np.asarray(cube(half), float)
    largest = 0.0
    for rows, columns in zip(left @ x.T, right @ x.T, strict=True):
        order = np.argsort((rows[:, None] + columns).ravel(), kind="stable")
        sums, cumulated = (rows[:, None] + columns).ravel()[order], np.cumsum(signs.ravel()[order])
        ends = np.append(np.diff(sums) > 1e-9, True)  # equal sums are on one side
        largest = max(largest, float(np.abs(cumulated[-1] - cumulated[ends]).max()) / signs.size)
    bound = bounds.threshold_correlation(half).value
    assert 0 < largest <= bound <= (half + 1) * 2 ** (-half / 2)
