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

ACTIVATIONS = {
    "relu": pl.relu,
    "relu6": pl.networks.relu6,
    "sigmoid": pl.networks.sigmoid,
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
    with pytest.raises(ValueError, match="relu, relu6, sigmoid and Sinusoid"):
        bounds.correlation_bound(pl.MLP(3, pl.networks.square)(4, key=root_key(0)))
    with pytest.raises(ValueError, match="equal batches"):
        bounds.CorrelationCertificate(100, 64)
    with pytest.raises(ValueError, match="products of gates, got Parity"):
        record = bounds.CorrelationCertificate(64, 64)
        settings = {"seeds": 1, "steps": 10, "validation": 0}
        pl.train(pl.Uniform(pl.Parity(4, (0, 1))), pl.MLP(2), records=[record], **settings)
    with pytest.raises(ValueError, match="about the uniform distribution"):
        uniform_part(pl.Product(pl.Parity(3, (0, 1)), 0.5))
