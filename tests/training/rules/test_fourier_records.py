"""Fourier coefficients along the way are those of the transform, and what is sampled is near them."""

import math

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.analysis import spectrum
from paritylab.cube import bit_mask, encode
from paritylab.distributions import Encoded
from paritylab.training import Hinge, NeuronFourier, Optimizer, OutputFourier, SupportFourier
from paritylab.training.rules import fourier_records
from paritylab.training.rules.gradient_descent import GradientDescent, Problem
from paritylab.training.rules.leaves import split
from paritylab.training.rules.records import Snapshot

SUBSETS = ((), (1,), (0, 2), (0, 1, 3))


def snapshot(distribution, recipe):
    """A run before its first step."""
    problem = Problem(distribution, recipe, Hinge(), Optimizer(optax.sgd, rate=0.1))
    rule = GradientDescent.of(problem, batch=4, validation=40, sample=None, float64=False)
    leaves = tuple(jnp.asarray(leaf, jnp.float32 if leaf.dtype.kind == "f" else None) for leaf in split(problem)[0])
    keys = pl.root_key(1), pl.root_key(2)
    return Snapshot(rule, rule.init(keys[0], leaves), jnp.int32(7), *keys, leaves)


@pytest.mark.parametrize("encoding", ["signs", "bits"])
def test_coefficients_are_those_of_the_transform(encoding):
    seen = snapshot(Encoded(pl.Uniform(pl.Parity(5, (0, 2))), encoding), pl.MLP(3))
    network = seen.network
    masks = [bit_mask(subset) for subset in SUBSETS]
    exact = spectrum(lambda x: network(encode(x, encoding)), n=5).coefficients[masks]
    np.testing.assert_allclose(OutputFourier(SUBSETS)(seen), exact, atol=2e-6)
    unit = lambda j: spectrum(lambda x: network.activation(network.hidden[0](encode(x, encoding)[:, None]))[j, 0], n=5)
    for j, row in enumerate(NeuronFourier(SUBSETS)(seen)):
        np.testing.assert_allclose(row, unit(j).coefficients[masks], atol=2e-6)
    chosen = NeuronFourier(SUBSETS, (2, 0))(seen)
    np.testing.assert_array_equal(chosen, NeuronFourier(SUBSETS)(seen)[np.array([2, 0])])


def test_what_is_sampled_is_near_the_exact_value(monkeypatch):
    seen = snapshot(pl.Uniform(pl.Parity(6, (0, 2))), pl.MLP(3))
    exact = OutputFourier(SUBSETS)(seen)
    monkeypatch.setattr(fourier_records, "LARGEST_CUBE", 5)
    points, most = 20_000, float(np.abs(pl.analysis.values_of(seen.network, 6)).max())
    sampled = OutputFourier(SUBSETS, points)(seen)
    assert np.abs(sampled - exact).max() < 5 * most / math.sqrt(points)
    assert np.abs(sampled - exact).max() > 0


def test_many_points_are_taken_in_parts(monkeypatch):
    seen = snapshot(pl.Uniform(pl.Parity(14, (0, 2))), pl.MLP(3))
    together = OutputFourier(SUBSETS, 1000)(seen)
    monkeypatch.setattr(fourier_records, "AT_ONCE", 999)
    monkeypatch.setattr(fourier_records, "PART", 64)
    np.testing.assert_allclose(OutputFourier(SUBSETS, 1000)(seen), together, atol=1e-6)


def test_subsets_of_a_support_are_followed_where_it_lies():
    """Also below labels that are flipped, in bits, and in a mixture; a parity of another degree has no such subsets."""
    target = pl.Parity(6, (1, 3, 4))
    biased = pl.distributions.Mixture([pl.Uniform(target), pl.Product(target, 0.5)], [0.5, 0.5])
    seen = snapshot(Encoded(pl.FlippedLabels(biased, 0.1), "bits"), pl.MLP(3))
    expected = OutputFourier(((), (1,), (3, 4), (1, 3, 4)))(seen)
    np.testing.assert_array_equal(SupportFourier(3, ((), (0,), (1, 2), (0, 1, 2)))(seen), expected)
    assert np.isnan(SupportFourier(2, ((0, 1),))(seen)).all()


def test_a_unit_of_a_network_that_learned_carries_the_parity():
    """Along training: the largest coefficient at the support grows, and the output's ends near a margin of one."""
    support = (0, 1)
    runs = pl.train(
        pl.Uniform(pl.Parity(8, support)),
        pl.MLP(16),
        seeds=1,
        steps=2000,
        lanes=2,
        records=(OutputFourier((support,)), NeuronFourier((support, (2, 3)))),
        watch=False,
    )
    curves = runs.curves()
    first, last = curves.iloc[0], curves.iloc[-1]
    assert np.shape(last.neuron_fourier) == (16, 2)
    assert last.output_fourier[0] > 0.5 > abs(first.output_fourier[0])
    relevant, other = np.abs(last.neuron_fourier).max(axis=0)
    assert relevant > 2 * other


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (lambda: OutputFourier(()), "Name at least one"),
        (lambda: OutputFourier(((0, 0),)), "names each coordinate once"),
        (lambda: NeuronFourier(((0,),), (-1,)), "neurons=-1"),
        (lambda: OutputFourier(((9,),))(SEEN), r"coordinates 0 to 4, got \(9,\)"),
        (lambda: NeuronFourier(((0,),), (3,))(SEEN), r"units 0 to 2, got neurons=\(3,\)"),
        (lambda: NeuronFourier(((0,),))(WITHOUT), "none under the names"),
        (lambda: SupportFourier(2, ((0, 2),)), r"places 0 to 1, got \(0, 2\)"),
        (lambda: SupportFourier(0, ((),)), "degree=0"),
        (lambda: SupportFourier(2, ((0, 1),))(NO_PARITY), "is for parities"),
    ],
)
def test_what_cannot_be_recorded_is_said_in_a_sentence(record, sentence):
    with pytest.raises(ValueError, match=sentence):
        record()


SEEN = snapshot(pl.Uniform(pl.Parity(5, (0, 2))), pl.MLP(3))
WITHOUT = snapshot(pl.Uniform(pl.Parity(5, (0, 2))), pl.PolyNet(2))
NO_PARITY = snapshot(pl.Uniform(pl.majority(5)), pl.MLP(3))
