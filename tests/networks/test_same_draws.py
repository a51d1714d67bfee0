"""Draws are made in float32 whatever the precision: where float64 is on they are the same, to the bit."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import paritylab as pl
from paritylab.cube import cube, fair_signs
from paritylab.distributions.images import made_up_images

IMAGES = made_up_images(20, side=4)
DIGITS = pl.distributions.Images(IMAGES.train.pixels[..., 0], IMAGES.train.classes.astype(np.uint8))
INITIALIZATIONS = {
    "uniform": pl.networks.UniformInitialization(),
    "Gaussian": pl.networks.GaussianInitialization(),
    "Bernoulli": pl.networks.BernoulliInitialization(),
    "signs": pl.networks.SignInitialization(3),
    "ternary": pl.networks.TernaryInitialization(9, 3),
}
DISTRIBUTIONS = {
    "generative": pl.distributions.Generative(pl.targets.random_circuit(4, key=pl.root_key(3))),
    "points": pl.Points(np.asarray(cube(3)), np.asarray(cube(3)[:, 0])),
    "strips": pl.distributions.Strips(DIGITS, 2),
    "patches": pl.distributions.RandomPatches(IMAGES, 2),
    "mixture": pl.distributions.leaky(pl.Parity(5, (0, 1, 2))),
    "shifted": pl.distributions.ShiftedInputs(pl.FlippedLabels(pl.Product(pl.Parity(5, (0, 1)), 0.3), 0.2), 0.5),
}
OUTPUTS = {
    "shared sign": pl.distributions.SharedSign(np.ones(5), 0.2, 0.1),
    "independent outputs": pl.distributions.IndependentOutputs(np.full(5, 0.4)),
    "random subset": pl.distributions.RandomSubset(3, np.zeros(5)),
}
DRAWS = {
    **{
        f"{part} of {name}": lambda key, start=start, part=part: getattr(start, part)(key, (40, 3), 3)
        for name, start in INITIALIZATIONS.items()
        for part in ("weights", "biases", "outputs")
    },
    **{name: lambda key, each=each: each.sample(key, 40) for name, each in (DISTRIBUTIONS | OUTPUTS).items()},
    "frozen gates": lambda key: pl.networks.FrozenGates(6)(4, key=key),
    "neural gates": lambda key: pl.networks.NeuralGates(6)(4, key=key),
    "transformer": lambda key: pl.Transformer(embedding=5, attention=3, heads=2)(4, key=key),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_are_the_same_where_float64_is_on(draw):
    draw = eqx.filter_jit(draw)  # as the engine draws
    plain = jax.tree.leaves(draw(pl.root_key(0)))
    with jax.enable_x64(True):
        wide = jax.tree.leaves(draw(pl.root_key(0)))
    for one, other in zip(plain, wide, strict=True):
        assert jnp.result_type(one) == jnp.result_type(other)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("shape", [(), (7,), (50, 3)])
def test_fair_signs_are_those_of_jax_in_float32(shape):
    for seed in range(5):
        key = pl.root_key(seed)
        np.testing.assert_array_equal(fair_signs(key, shape), jr.rademacher(key, shape, jnp.float32))
