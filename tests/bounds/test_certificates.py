"""The bound that is recorded along a run, against enumeration and against the bounds of the final network."""

import equinox as eqx
import jax
import numpy as np
import pytest

import paritylab as pl
from paritylab import bounds
from paritylab.bounds.certificates import uniform_part
from paritylab.cube import cube, root_key
from paritylab.networks.base import outputs
from paritylab.networks.neural_gates import hard_tanh

ACTIVATIONS = {
    "relu": pl.relu,
    "relu6": pl.networks.relu6,
    "sigmoid": pl.networks.sigmoid,
    "hard-tanh": hard_tanh,
    "sinusoid": pl.networks.Sinusoid(2),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_no_network_correlates_more_than_its_weights_allow(name):
    """Networks of one unit each, so that nothing cancels, of three scales; 5 pairs, all points."""
    target = pl.GateProduct(np.array([1, -1, 1, 1, -1]))
    points = cube(target.n)
    signs = jax.vmap(target)(points)

    @jax.jit
    def both(key, scale):
        network = pl.MLP(1, ACTIVATIONS[name], pl.networks.StandardNormalInitialization())(target.n, key=key)
        network = jax.tree.map(lambda leaf: scale * leaf if eqx.is_array(leaf) and leaf.ndim else leaf, network)
        return abs((signs * outputs(network, points)).mean()), bounds.correlation_bound(network)

    found, bound = np.array([both(root_key(i), np.float32(scale)) for scale in (0.2, 1, 3) for i in range(60)]).T
    assert np.all(found <= bound)
    assert (found / bound).max() > 0.2  # and not far from it


def test_a_run_records_its_bound_and_its_moments():
    task = pl.distributions.separation(pl.distributions.equal_gates(pl.GateProduct(("OR",) * 21)))
    record = bounds.CorrelationCertificate(4096)
    runs = pl.train(
        task,
        pl.MLP(6),
        seeds=2,
        steps=20,
        records=pl.training.Recording([record], 20),
        validation=0,
        keep=True,
        lanes=1,
    )
    last = runs.curves().groupby("run").last()
    for run, found in enumerate(last.certificate):
        network = runs.network(run)
        bound, correlation, size, square = found
        # Both are upper sums over a grid of their own: rounding may move a cell from one side of 0 to the other.
        assert 0.995 <= bound / bounds.network_correlation(bounds.ShallowNetwork.of(network)).value <= 1.005
        x, y = task.parts[1].sample(root_key(7), 4096)
        values = np.asarray(outputs(network, x))
        for mine, other in ((size, abs(values)), (square, values**2), (correlation, values * np.asarray(y))):
            assert abs(mine - other.mean()) < 5 * np.sqrt(2 / 4096) * other.std()


@pytest.mark.parametrize(
    ("left", "right", "bias", "output"),
    [
        ((1e-19, 1e-19), (1e-19, 1e-19), 0.0, 1e19),  # squares vanish
        ((0.38785523, 0.91936266, 0.7639627), (0.9182521, 0.48904604, 0.79135793), -4.2698364, 1e7),  # sums cancel
    ],
)
def test_rounding_makes_no_bound_too_small(left, right, bias, output):
    """Units in single precision, their correlation in double precision."""
    target = pl.GateProduct(np.ones(len(left)))
    points = np.asarray(cube(target.n), float)
    inner = points @ np.asarray([*left, *right], np.float32).astype(float) + float(np.float32(bias))
    found = output * abs(np.mean(np.asarray(jax.vmap(target)(points.astype(np.float32))) * np.maximum(inner, 0)))
    weights = [np.asarray(part, np.float32)[None] for part in (left, right)]
    bound = output * float(jax.jit(bounds.best_unit_bounds)(*weights, np.asarray([bias], np.float32))[0])
    assert 0 < found <= bound


def test_what_has_no_certificate_says_so():
    with pytest.raises(ValueError, match="one hidden layer"):
        bounds.correlation_bound(pl.MLP((3, 3))(4, key=root_key(0)))
    with pytest.raises(ValueError, match="relu, relu6, hard_tanh, sigmoid and Sinusoid"):
        bounds.correlation_bound(pl.MLP(3, pl.networks.square)(4, key=root_key(0)))
    with pytest.raises(ValueError, match="equal batches"):
        bounds.CorrelationCertificate(100, 64)
    with pytest.raises(ValueError, match="products of gates, got Parity"):
        record = bounds.CorrelationCertificate(64, 64)
        settings = {"seeds": 1, "steps": 10, "validation": 0}
        pl.train(pl.Uniform(pl.Parity(4, (0, 1))), pl.MLP(2), records=[record], **settings)
    with pytest.raises(ValueError, match="about the uniform distribution"):
        uniform_part(pl.Product(pl.Parity(3, (0, 1)), 0.5))


def test_a_run_records_what_theorem_one_needs():
    """The law and the powers of a trained network, against those of the network that was kept."""
    task = pl.distributions.separation(pl.distributions.equal_gates(pl.GateProduct(("OR",) * 21)))
    record = bounds.ErrorCertificate(4096, degree=3, cells=60)
    how = {"steps": 20, "records": pl.training.Recording([record], 20), "validation": 0, "keep": True, "lanes": 1}
    runs = pl.train(task, pl.MLP(6), seeds=1, **how)
    (found,) = runs.curves().groupby("run").last().error_certificate
    network = bounds.ShallowNetwork.of(runs.network(0))
    exact = bounds.moment_bounds(network, 3)
    assert np.allclose(found[0], exact[1], rtol=5e-3)
    powers = 2**-10.5 * np.asarray(found[1:4], float) ** np.arange(1, 4)
    assert np.all((powers[1:] >= exact[2:] * 0.995) & (powers[1:] <= exact[2:] * 1.02))
    laws = np.split(np.asarray(found[4:]), 2)
    places = bounds.kept_places(4096, 60)
    assert laws[0].shape == places.shape and np.all(np.diff(laws) >= 0) and not np.array_equal(*laws)
    x, _ = task.parts[1].sample(root_key(7), 65_536)
    values = np.sort(np.asarray(outputs(runs.network(0), x)))
    middle = (places > 200) & (places < 3900)
    for law in laws:
        share = np.searchsorted(values, law[middle]) / len(values)
        assert np.all(abs(share - places[middle] / 4096) <= 5 * np.sqrt(0.25 / 4096))
    bound = bounds.certified_error(21, found, record)
    assert 0.3 < bound.value <= 0.5 and "four standard errors" in bound.sentence
    assert bounds.certified_error(21, found, record, share=0.5).value == pytest.approx(bound.value / 2)
    assert bounds.certified_error(21, np.full(len(found), np.nan), record).value == 0


def test_what_has_no_bound_on_its_powers_says_so():
    with pytest.raises(ValueError, match="bounded for relu, relu6 and hard_tanh units"):
        bounds.power_sizes(pl.MLP(3, pl.networks.sigmoid)(4, key=root_key(0)), 2)
    with pytest.raises(ValueError, match="even number of inputs, got 5"):
        bounds.correlation_bound(pl.MLP(3)(5, key=root_key(0)))
    with pytest.raises(ValueError, match="got degree=40"):
        bounds.ErrorCertificate(degree=40)


@pytest.mark.parametrize("name", ["relu6", "hard-tanh"])
def test_powers_of_clipped_units_stay_below_their_bounds(name):
    target = pl.GateProduct(np.array([1, -1, 1, 1, -1]))
    points = cube(target.n)
    signs = np.asarray(jax.vmap(target)(points), float)

    @jax.jit
    def both(key):
        network = pl.MLP(2, ACTIVATIONS[name], pl.networks.StandardNormalInitialization())(target.n, key=key)
        return outputs(network, points), bounds.power_sizes(network, 3)

    used = []
    for seed in range(30):
        values, sizes = (np.asarray(part, float) for part in both(root_key(seed)))
        moments = np.array([np.mean(signs * values**j) for j in (1, 2, 3)])
        used.append(np.abs(moments) / (2**-2.5 * sizes ** np.arange(1, 4)))
    assert np.max(used) <= 1 and np.max(used) > 0.02
