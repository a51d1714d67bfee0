"""Records of the embedding: the hidden layer as the network itself has it."""

import numpy as np
import pytest

import paritylab as pl
from paritylab.cube import cube, encode
from paritylab.training.engine.loop import init_key
from paritylab.training.rules.weight_records import Movement, Radius


@pytest.mark.parametrize("activation", [pl.relu, pl.networks.sigmoid], ids=["relu", "sigmoid"])
def test_the_embedding_is_that_of_the_networks_own_units(activation):
    task = pl.distributions.Encoded(pl.Uniform(pl.majority(5)), "bits")
    runs = pl.train(
        task, pl.MLP(6, activation), rate=0.5, batch=4, sample=8, seeds=1, steps=20, every=20, validation=0,
        records=(Movement(), Radius()), keep=True, lanes=1,
    )  # fmt: skip
    curves = runs.curves()
    x = encode(cube(5), "bits").T
    embedded = lambda network: np.asarray(network.activation(network.hidden[0](x)), float)
    first, last = embedded(pl.MLP(6, activation)(5, key=init_key(np.uint32(0)))), embedded(runs.network(0))
    assert curves.radius.iloc[-1] == pytest.approx(np.sqrt(1 + (last**2).sum(axis=0)).max(), rel=1e-5)
    assert curves.moved.iloc[-1] == pytest.approx(np.linalg.norm(last - first, axis=0).max(), rel=1e-4)
