"""The transform and what follows from it, by definition, by closed form and by another library."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import hadamard

import paritylab as pl
from paritylab.analysis import coefficients, heavy_coefficients, spectrum, symmetric_spectrum, table_of, walsh_hadamard
from paritylab.analysis.fourier.heavy import queries
from paritylab.analysis.fourier.krawtchouk import _stably
from paritylab.analysis.fourier.transform import _transform, kronecker
from paritylab.cube import bit_mask, cube

SIGNS = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
"""All functions on 3 variables."""


def by_definition(table: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """E[f phi_S], with every sum written out."""
    n = len(mean)
    x = np.asarray(cube(n), float)
    probability = np.prod((1 + mean * x) / 2, axis=1)
    phi = (x - mean) / np.sqrt(1 - mean**2)
    subsets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    return np.array([np.sum(table * probability * np.prod(phi, axis=1, where=subset)) for subset in subsets])


def test_all_functions_on_three_variables_are_exact():
    found = walsh_hadamard(SIGNS)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, SIGNS @ hadamard(8))
    for row, table in zip(found, SIGNS, strict=True):
        np.testing.assert_allclose(row / 8, by_definition(table, np.zeros(3)), atol=1e-15)


@pytest.mark.parametrize("n", range(13))
@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_random_functions_against_the_matrix(n, dtype):
    table = np.random.default_rng(n).choice(np.array([-1, 1], dtype), (2, 2**n))
    found = walsh_hadamard(table)
    assert found.dtype == {np.int8: np.int64}.get(dtype, dtype)
    np.testing.assert_array_equal(found, table.astype(float) @ hadamard(2**n))  # whole numbers: exact in any precision


@pytest.mark.parametrize("n", [14, 15, 16, 17, 20])
def test_large_tables_go_through_blocks(n):
    """Against the definition on some subsets."""
    table = np.random.default_rng(n).standard_normal(2**n)
    found, masks = walsh_hadamard(table), [0, 1, 2**n - 1, 2 ** (n - 1), 2**14 + 5 if n > 14 else 5]
    for mask in masks:
        parity = np.bitwise_count(np.arange(2**n) & mask) % 2
        assert found[mask] == pytest.approx(np.sum(table * (1 - 2.0 * parity)), abs=1e-10)
    np.testing.assert_allclose(walsh_hadamard(found) / 2**n, table, atol=1e-12)


def test_many_functions_at_once_are_each_alone():
    tables = np.random.default_rng(0).standard_normal((1024, 2**10)).astype(np.float32)
    together = walsh_hadamard(tables)
    for i in (0, 17, 1023):
        np.testing.assert_allclose(together[i], walsh_hadamard(tables[i]), rtol=1e-4, atol=1e-3)
    shaped = walsh_hadamard(tables.reshape(4, 256, -1))
    np.testing.assert_array_equal(shaped.reshape(together.shape), together)


def test_arrays_on_a_device_stay_there_and_can_be_overwritten():
    table = jnp.arange(16.0)
    found = walsh_hadamard(table)
    assert isinstance(found, jax.Array)
    np.testing.assert_array_equal(found, np.arange(16.0) @ hadamard(16))
    walsh_hadamard(table, donate=True)
    assert table.is_deleted()


def test_whole_numbers_are_exact_beyond_float64():
    table = np.array([2**60 + 1, 1, 2**58 + 3, -5])
    expected = [int(value) for value in np.array(table, object) @ hadamard(4).astype(object)]
    assert walsh_hadamard(table).tolist() == expected
    with pytest.raises(ValueError, match="do not fit into 64 bits"):
        walsh_hadamard(np.array([2**62, 0, 0, 0]))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ones(3), "on its last axis, got 3 of them"),
        (np.ones(4, complex), "got complex128"),
        (np.array(1.0), "got 0 of them"),
    ],
)
def test_wrong_tables_are_said(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        walsh_hadamard(table)


@given(st.integers(0, 8), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=30)
def test_parseval_and_involution(n, seed):
    table = np.random.default_rng(seed).standard_normal(2**n)
    found = coefficients(table)
    assert np.sum(found**2) == pytest.approx(np.mean(table**2))
    np.testing.assert_allclose(walsh_hadamard(found), table, atol=1e-12)


@pytest.mark.parametrize("mean", [np.zeros(5), np.array([0.5, -0.3, 0.0, 0.9, 0.1])], ids=["uniform", "biased"])
def test_everything_by_definition(mean):
    n, rng = 5, np.random.default_rng(1)
    x = np.asarray(cube(n), float)
    probability = np.prod((1 + mean * x) / 2, axis=1)
    table = rng.choice([-1.0, 1.0], 2**n)
    found = spectrum(table, mean)
    np.testing.assert_allclose(found.coefficients, by_definition(table, mean), atol=1e-14)
    sizes = np.array([bin(mask).count("1") for mask in range(2**n)])
    np.testing.assert_allclose(found.weight, [np.sum(found.coefficients[sizes == k] ** 2) for k in range(n + 1)])
    flipped = [table[np.arange(2**n) ^ (1 << i)] for i in range(n)]
    # For +-1 labels the variance over one coordinate is 4 p q where flipping it flips the label, else 0.
    influences = [(1 - mean[i] ** 2) * np.sum(probability * (table != flipped[i])) for i in range(n)]
    np.testing.assert_allclose(found.influences, influences, atol=1e-14)
    assert found.total_influence == pytest.approx(sum(influences))
    again = 0.3 * np.eye(2)[None] + 0.7 * np.stack([(1 + mean) / 2, (1 - mean) / 2], axis=1)[:, None, :]
    smoothed = kronecker(table, list(again))  # each coordinate kept with probability 0.3, else drawn anew
    assert found.noise_stability(0.3) == pytest.approx(np.sum(probability * table * smoothed))


def test_degrees_and_heavy_entries_of_known_functions():
    parity = spectrum(pl.Parity(9, (1, 4, 8)))
    assert parity.degree() == 3 and parity.heaviest(1) == [((1, 4, 8), 1.0)]
    assert spectrum(pl.majority(5)).degree() == 5
    assert spectrum(np.ones(8)).degree() == 0
    with pytest.raises(ValueError, match="a correlation from -1 to 1, got rho=2"):
        parity.noise_stability(2)


def test_a_table_of_labels():
    target = pl.random_parity(18, 5, key=pl.root_key(3))
    table = table_of(target)
    places = np.random.default_rng(0).integers(0, 2**18, 50)
    points = 1.0 - 2 * ((places[:, None] >> np.arange(18)) & 1)
    np.testing.assert_array_equal(table[places], jax.vmap(target)(jnp.asarray(points, jnp.float32)))
    with pytest.raises(ValueError, match="which would take 16 GiB"):
        table_of(pl.Parity(34, (0,)))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 11])
@pytest.mark.parametrize("mean", [0.0, 0.4, -0.8])
def test_symmetric_functions_against_the_table(n, mean):
    target = pl.targets.random_symmetric(n, key=pl.root_key(n))
    target = pl.Symmetric(n, np.asarray(target.values))
    found, whole = symmetric_spectrum(target, mean), spectrum(target, mean)
    np.testing.assert_allclose(found.weight, whole.weight, atol=1e-13)
    first = [2**k - 1 for k in range(n + 1)]
    np.testing.assert_allclose(found.coefficients, whole.coefficients[first], atol=1e-13)
    assert found.influence == pytest.approx(whole.influences[0])
    assert found.noise_stability(0.7) == pytest.approx(whole.noise_stability(0.7))


def test_symmetric_functions_of_many_coordinates():
    """Majority of 1,001: level one is n (C(n-1, (n-1)/2) / 2**(n-1))**2; two routes agree on every level."""
    n = 1001
    found = symmetric_spectrum(pl.majority(n))
    middle = math.comb(n - 1, (n - 1) // 2) / 2 ** (n - 1)
    assert found.coefficients[1] == pytest.approx(middle, rel=1e-15)
    assert found.total_influence == pytest.approx(n * middle, rel=1e-12)
    assert found.weight.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(_stably(np.asarray(pl.majority(n).values), 0.0).weight, found.weight, atol=1e-13)
    np.testing.assert_allclose(symmetric_spectrum(pl.targets.full_parity(n)).weight, np.arange(n + 1) == n, atol=1e-15)


def test_symmetric_functions_say_what_they_need():
    with pytest.raises(ValueError, match="got mean=1"):
        symmetric_spectrum(pl.majority(5), 1)
    with pytest.raises(ValueError, match="made for n <= 5000, got n=6001"):
        symmetric_spectrum(pl.targets.full_parity(6001), 0.1)


def test_heavy_coefficients_of_a_large_cube():
    """Majority of three characters on 60 coordinates: coefficients 1/2, 1/2, 1/2 and -1/2, nothing else."""
    sets = [(0, 31, 59), (1, 2), (40, 41, 42, 43)]
    parities = [pl.Parity(60, s) for s in sets]
    function = lambda x: jnp.sign(sum(parity(x) for parity in parities))
    found = heavy_coefficients(function, 60, 0.5, key=pl.root_key(1))
    assert {each.subset for each in found} == {*sets, tuple(sorted(sum(sets, ())))}
    for each in found:
        # The samples of the last level: four sigma of a mean of signs.
        samples = queries(60, 0.5) / 121
        assert abs(abs(each.coefficient) - 0.5) < 4 / math.sqrt(samples)
        assert (each.coefficient < 0) == (len(each.subset) == 9)


@pytest.mark.acceptance
def test_heavy_coefficients_under_a_bias():
    target = pl.Parity(12, (2, 7))
    exact = spectrum(target, 0.6)
    found = heavy_coefficients(target, 12, 0.45, key=pl.root_key(2), mean=0.6)
    heavy = {subset: size for subset, size in exact.heaviest(20) if abs(size) >= 0.45}
    assert set(heavy) <= {each.subset for each in found}
    for each in found:
        assert abs(each.coefficient - exact.coefficients[bit_mask(each.subset)]) < 0.45 / 2


def test_heavy_coefficients_say_what_they_need():
    with pytest.raises(ValueError, match="got threshold=0"):
        heavy_coefficients(pl.Parity(5, (0,)), 5, 0.0, key=pl.root_key(0))
    assert heavy_coefficients(lambda x: 0.0 * x[0], 5, 0.9, key=pl.root_key(0)) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [1, 4, 8, 10, 12])
def test_against_boofun(n):
    """Coefficients, influences and noise stability of random functions, by another library."""
    boofun = pytest.importorskip("boofun", reason="needs the extra `bench`: pip install 'paritylab[bench]'")
    bits = np.random.default_rng(n).integers(0, 2, 2**n)
    theirs, ours = boofun.create(bits.tolist()), spectrum(1 - 2 * bits)  # True is -1 there
    np.testing.assert_allclose(ours.coefficients, theirs.fourier(), atol=1e-12)
    np.testing.assert_allclose(ours.influences, theirs.influences(), atol=1e-12)
    assert ours.noise_stability(0.7) == pytest.approx(theirs.noise_stability(0.7))


@pytest.mark.parametrize(("functions", "n"), [(1, 12), (3, 7), (1, 3)])
def test_turns_give_what_butterflies_give(functions, n):
    """What a GPU does, done here."""
    table = np.random.default_rng(n).normal(size=(functions, 2**n))
    factors = np.random.default_rng(1).normal(size=(n, 2, 2))
    with jax.enable_x64(True):
        for matrices in (None, jnp.asarray(factors)):
            turned, plain = (_transform(jnp.asarray(table), matrices, turning) for turning in (True, False))
            np.testing.assert_allclose(turned, plain, rtol=1e-10, atol=1e-10)


def test_a_function_of_ones_own_has_the_spectrum_of_its_table():
    """Traced by JAX or called on every point, on a target and on a network."""
    target = pl.majority(5)
    expected = spectrum(target)
    traced, plain = lambda x: jnp.sign(jnp.sum(x)), lambda x: 1 if sum(float(each) for each in x) > 0 else -1
    for function in (traced, plain):
        np.testing.assert_allclose(spectrum(function, n=5).coefficients, expected.coefficients, atol=1e-7)
    biased = spectrum(target, 0.3)
    np.testing.assert_allclose(spectrum(traced, 0.3, n=5).coefficients, biased.coefficients, atol=1e-6)
    parity = pl.networks.realize(pl.MLP(4), pl.Parity(17, (0, 3, 16)))  # more points than are evaluated together
    ((subset, size),) = spectrum(parity, n=17).heaviest(1)
    assert subset == (0, 3, 16) and size == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: spectrum(lambda x: x[0]), TypeError, "does not tell its number of coordinates.*Give n="),
        (lambda: spectrum(lambda x: x, n=3), ValueError, r"one number for a point, got an array of shape \(3,\)"),
        (lambda: spectrum(lambda x: [float(x[0])], n=3), ValueError, r"got an array of shape \(1,\)"),
        (lambda: spectrum(lambda x: float(x[0]), n=17), ValueError, "n is at most 16, got n=17"),
        (lambda: spectrum(pl.majority(3), n=4), ValueError, "has 3 coordinates, got n=4"),
    ],
)
def test_what_is_no_function_of_a_point_is_said_in_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


def test_a_spectrum_is_shown_by_its_largest_parts():
    page = spectrum(pl.Parity(4, (1, 3)))._repr_html_()
    assert "Spectrum(n=4, weight 1, total influence 2)" in page and "(1, 3)" in page and "(0,)" not in page
    assert repr(pl.analysis.symmetric_spectrum(pl.majority(3))).startswith("SymmetricSpectrum(n=3, weight 1")
