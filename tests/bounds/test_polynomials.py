"""Theorem I: exact cases, hundreds of networks by enumeration, samples, and what it refuses."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import paritylab as pl
from paritylab import bounds
from paritylab.bounds import OutputLaw, ShallowNetwork
from paritylab.bounds.polynomials import ImpreciseError
from paritylab.networks import Comb, comb_network


def comb(ors: int, ands: int) -> tuple[ShallowNetwork, np.ndarray]:
    """The comb of least error on uniform points, on the easy half or not."""
    gates = np.array([1] * ors + [-1] * ands)
    combs = (Comb(ors, ands, 1, start) for start in range(ors + ands))
    best = min(combs, key=lambda each: each.error)
    return ShallowNetwork.of(comb_network(pl.GateProduct(gates), best)), bounds.gate_product_matrix(gates)


def true_moments(values: np.ndarray, signs: np.ndarray, degree: int) -> np.ndarray:
    return np.array([np.mean(signs * values**j) for j in range(degree + 1)])


@pytest.mark.parametrize(
    ("ors", "ands", "error", "expected"),
    [(3, 3, 0.3120, (0.264, 0.305, 0.312, 0.312)), (5, 3, 0.3205, (0.264, 0.310, 0.320, 0.321))],
)
def test_the_bound_of_true_moments_is_tight_for_combs(ors, ands, error, expected):
    network, signs = comb(ors, ands)
    values = network.values()
    assert np.mean(signs * values <= 0) == pytest.approx(error, abs=6e-5)
    law = OutputLaw.exact(values)
    for degree, value in zip((1, 3, 5, 7), expected, strict=True):
        moments = true_moments(values, signs, degree)
        found = bounds.polynomial_error(ors + ands, law, np.abs(moments))
        assert found.value == pytest.approx(value, abs=6e-4) and found.allows(np.mean(signs * values <= 0))
        signed = bounds.error_of_moments(law, moments)
        assert found.value - 1e-9 <= signed.value and signed.allows(np.mean(signs * values <= 0))


@pytest.mark.parametrize(("degree", "error"), [(1, 0.239), (3, 0.301), (5, 0.332), (7, 0.352)])
def test_a_gaussian_law_and_no_correlation(degree, error):
    places = scipy.stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = bounds.polynomial_error(99, OutputLaw.exact(places), np.zeros(degree + 1))
    assert found.value == pytest.approx(error, abs=1.5e-3)


def test_degree_one_by_hand():
    """min over a line through 0 of E|sgn N - c N| is 1 - max E[...]: for N = +-1, +-3 with equal chances the best is
    c = 1/3 or 1, with E = 1/3 or 1: a piecewise linear function of c."""
    law = OutputLaw.exact(np.array([-3.0, -1.0, 1.0, 3.0]))
    for allowed in (0.0, 0.3, 0.6, 5.0):
        cost = lambda c, allowed=allowed: (abs(1 - c) + abs(1 - 3 * c)) / 2 + allowed * abs(c)
        best = min(cost(c) for c in (0.0, 1 / 3, 1.0))
        found = bounds.polynomial_error(9, law, np.array([0.0, allowed]))
        assert found.value == pytest.approx((1 - best) / 2, abs=1e-9)
        assert found.part("distance") + found.part("correlation") == pytest.approx(best, abs=1e-9)


def random_network(half: int, rng: np.random.Generator) -> ShallowNetwork:
    width, scale = int(rng.choice([1, 4, 24])), 10 ** rng.uniform(-1, 1)
    left, right = scale * rng.normal(size=(2, width, half))
    if rng.random() < 0.3:
        left, right = np.round(left), np.round(right)
    bias = scale * rng.normal(size=width) * rng.choice([0, 1, 3])
    return ShallowNetwork(left, right, bias, rng.normal(size=width), float(scale * rng.normal()))


@pytest.mark.parametrize("half", [2, 3, 4, 6])
def test_no_network_violates_theorem_one_nor_its_moments(half):
    """60 random networks and 12 of weights that were fitted to the signs, for each of four sizes."""
    rng = np.random.default_rng(half)
    signs = bounds.gate_product_matrix(rng.choice([-1, 1], half))
    networks = [random_network(half, rng) for _ in range(72)]
    networks[60:] = [fitted(network, signs) for network in networks[60:]]
    errors = []
    for network in networks:
        values = network.values()
        law, allowed = OutputLaw.exact(values), bounds.moment_bounds(network, 5)
        moments = true_moments(values, signs, 5)
        assert np.all(np.abs(moments) <= allowed * (1 + 1e-9))
        error = float(np.mean(signs * values <= 0))
        for given in (allowed, np.abs(moments)):
            assert bounds.polynomial_error(half, law, given).allows(error)
        errors.append(error)
    assert min(errors) < (0.3 if half < 4 else 0.48)  # some have learned something


def fitted(network: ShallowNetwork, signs: np.ndarray) -> ShallowNetwork:
    """Outputs by least squares: what these hidden units do best."""
    alone = [
        ShallowNetwork(network.left[[i]], network.right[[i]], network.bias[[i]], np.ones(1)).values().ravel()
        for i in range(len(network.output))
    ]
    output = np.linalg.lstsq(np.stack([*alone, np.ones(signs.size)], axis=1), signs.ravel(), rcond=None)[0]
    return ShallowNetwork(network.left, network.right, network.bias, output[:-1], float(output[-1]))


def test_moment_bounds_are_integrals_of_roots_of_tails():
    """Against quadrature, and below Hoeffding's form."""
    rng = np.random.default_rng(3)
    network = ShallowNetwork(*rng.normal(size=(2, 3, 5)), rng.normal(size=3), rng.normal(size=3), 0.4)
    x = 1 - 2 * ((np.arange(32)[:, None] >> np.arange(5)) & 1)
    for j in (2, 4):
        total = 0.4
        for left, right, bias, output in zip(network.left, network.right, network.bias, network.output, strict=True):
            first, second = np.sort(x @ left), np.sort(x @ right + bias)
            grid = np.linspace(-second[-1], first[-1], 100_001)
            more = 1 - np.searchsorted(first, grid, side="right") / 32
            reached = 1 - np.searchsorted(second, -grid, side="left") / 32
            root = ((more * reached) ** (0.5 / j)).mean() * max(grid[-1] - grid[0], 0)
            norms = np.linalg.norm(left) + np.linalg.norm(right)
            assert root <= math.sqrt(math.pi * j) * norms + max(bias, 0) + 1e-3
            total += abs(output) * root
        assert bounds.moment_bounds(network, j)[j] == pytest.approx(2**-2.5 * total**j, rel=3e-3 * j)


def test_beyond_enumeration_the_lattice_bounds_the_same_integrals():
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(2, 2, 20))
    network = ShallowNetwork(*weights, np.array([0.5, -1.0]), np.array([1.0, -2.0]))
    wider = [np.concatenate([part, np.zeros((2, 1))], axis=1) for part in weights]  # the same sums, 21 bits
    above = bounds.moment_bounds(ShallowNetwork(*wider, network.bias, network.output), 3)
    ratio = above[2:] / (bounds.moment_bounds(network, 3)[2:] * 2**-0.5)
    assert np.all((ratio >= 1 - 1e-9) & (ratio <= 1.2))


def test_a_law_in_cells_proves_no_more_than_its_values_do():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2, 20_000)) + 0.3
    allowed = np.array([0.0, 0.01, 0.01, 0.01])
    first = OutputLaw.sampled(values[0])
    whole = bounds.polynomial_error(99, OutputLaw.sampled(values[1]), allowed, chosen_on=first)
    for cells, lost in ((400, 0.02), (60, 0.08)):
        law = OutputLaw.sampled(values[1], cells)
        assert law.probability.sum() == pytest.approx(1)
        inside = (values[1][:, None] >= law.low) & (values[1][:, None] <= law.high)
        assert inside.any(axis=1).all()
        found = bounds.polynomial_error(99, law, allowed, chosen_on=OutputLaw.sampled(values[0], cells))
        assert whole.value - lost <= found.value <= whole.value + 0.002  # chosen on other places


def test_a_polynomial_is_at_its_worst_in_each_cell():
    rng = np.random.default_rng(6)
    edges = np.sort(rng.normal(size=30))
    law = OutputLaw(edges[:-1], edges[1:], np.full(29, 1 / 29))
    polynomial = bounds.Polynomial(rng.normal(size=6), 0.7)
    found = polynomial.distances(law)
    for low, high, value in zip(law.low, law.high, found, strict=True):
        places = np.linspace(low, high, 20_001)
        reached = np.abs(np.sign(places) - polynomial(places)).max()
        assert reached <= value * (1 + 1e-12)
        assert value <= reached + 0.01 or low < 0 < high  # there either sign may occur anywhere


def test_the_interval_of_a_sample_holds():
    """The bound of a sample is below that of its law in all of 100 samples (1 in 30,000 may not be)."""
    rng = np.random.default_rng(7)
    exact = OutputLaw.exact(scipy.stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000))
    best = bounds.polynomial_error(99, exact, np.zeros(4)).value
    found = [
        bounds.polynomial_error(
            99, OutputLaw.sampled(each[0]), np.zeros(4), chosen_on=OutputLaw.sampled(each[1], 100)
        ).value
        for each in rng.normal(size=(100, 2, 2000))
    ]
    assert max(found) <= best + 1e-6 and np.median(found) >= best - 0.03


def test_a_program_that_was_not_solved_gives_a_smaller_bound(monkeypatch):
    law, nothing = OutputLaw.exact(np.random.default_rng(8).normal(size=500)), np.zeros(4)
    whole = bounds.polynomial_error(20, law, nothing).value
    failed = scipy.optimize.OptimizeResult(status=1, x=None)
    monkeypatch.setattr("paritylab.bounds.polynomials.linprog", lambda *given, **options: failed)
    assert bounds.polynomial_error(20, law, nothing).value <= 1e-9 < whole


def test_what_theorem_one_refuses():
    law = OutputLaw.exact(np.array([-2.0, 1.0]), np.array([0.25, 0.75]))
    with pytest.raises(ValueError, match=r"does not allow E\[F N\^1\] = 1.5: its size is at most E\|N\|\^1 = 1.25"):
        bounds.error_of_moments(law, np.array([0.0, 1.5]))
    with pytest.raises(ValueError, match="no F between -1 and 1 has them all"):
        bounds.error_of_moments(OutputLaw.exact(np.array([1.0, 1.0001])), np.array([0.9, -0.9]))
    with pytest.raises(ValueError, match="got degree=16"):
        bounds.moment_bounds(ShallowNetwork(*np.ones((2, 1, 2)), np.zeros(1), np.ones(1)), 16)
    with pytest.raises(ValueError, match=r"are 0 or more, got -0\.1"):
        bounds.polynomial_error(5, law, np.array([-0.1]))
    with pytest.raises(ValueError, match="a polynomial chosen on it fits its noise"):
        bounds.polynomial_error(5, OutputLaw.sampled(np.array([1.0, 2.0])), np.zeros(2))
    with pytest.raises(ValueError, match=r"add up to 1, got 0\.5"):
        OutputLaw.exact(np.array([1.0]), np.array([0.5]))
    with pytest.raises(ValueError, match="got share=0"):
        bounds.polynomial_error(5, law, np.zeros(2), share=0)
    heavy = np.sign(np.arange(-40, 41)) * 1.6 ** np.abs(np.arange(-40.0, 41))
    with pytest.raises(ImpreciseError, match="The degree J=15 is too large for the precision"):
        polynomial = bounds.Polynomial(np.full(16, 1e9), 1.0)
        bounds.polynomials._distance(polynomial, OutputLaw.exact(heavy))


@pytest.mark.parametrize(("half", "units"), [(51, 5), (101, 11), (201, 21)])
def test_without_weights(half, units):
    """An error of 0.4 needs so many units; the formula again, over all t, by logarithms."""
    assert bounds.protocol_width(half, error=0.4).value == units
    for width in (1, units - 1, units):
        exponents = [(width * (1 + b) + b + 1 - half) / 2 for b in range(60)]
        advantage = min(2 * (width + 1) / 2**b + 2.0 ** min(e, 99) for b, e in enumerate(exponents))
        found = bounds.protocol_error(half, width=width)
        assert found.value == pytest.approx(max(0, (1 - advantage) / 2)) and found.part("groups") >= 2


def test_no_small_network_violates_the_bound_without_weights():
    """One unit at n = 12 and a half that it says something of: all that can be enumerated."""
    rng = np.random.default_rng(9)
    signs = bounds.gate_product_matrix(rng.choice([-1, 1], 12))
    bound = bounds.protocol_error(12, width=1)
    assert bounds.protocol_error(40, width=1).value > 0.49
    for _ in range(4):
        left, right = rng.normal(size=(2, 1, 12))
        network = ShallowNetwork(left, right, rng.normal(size=1), np.ones(1), -0.5)
        assert bound.allows(np.mean(signs * network.values() <= 0))
    with pytest.raises(ValueError, match=r"lies in \[0, 1/2\), got error=0.5"):
        bounds.protocol_width(20, error=0.5)
