"""Rates, seeds, noise, supports and k are numbers: changing them compiles nothing new."""

import logging
from pathlib import Path

import equinox as eqx
import jax
import pytest

import paritylab as pl
from paritylab.runtime import make_room_for_programs


@pytest.fixture
def compilations(caplog):
    """The names of the engine's programs that JAX compiles from here on."""
    jax.clear_caches()  # so that there is room, and none is made in the middle of a test
    caplog.set_level(logging.WARNING)
    jax.config.update("jax_log_compiles", True)  # for all threads, as `jax.log_compiles` is not
    yield lambda: [text for text in caplog.messages if "Compiling" in text and "advance" in text]
    jax.config.update("jax_log_compiles", False)


def parities(n, k):
    return lambda key: pl.Uniform(pl.random_parity(n, k, key=key))


def test_rates_seeds_noise_and_supports_compile_once(compilations):
    settings = {"steps": 20, "batch": 3}
    noisy = lambda support, noise: pl.FlippedLabels(pl.Uniform(pl.Parity(11, support)), noise)
    pl.train(noisy((0, 1), 0.1), pl.MLP(13), rate=0.1, seeds=3, **settings)
    assert len(compilations()) == 1
    pl.train(noisy((0, 1), 0.1), pl.MLP(13), rate=[1.0, 0.01], seeds=50, **settings)
    pl.train(noisy((2, 3, 10), 0.3), pl.MLP(13), rate=0.5, seeds=range(100, 107), **settings)
    pl.train(noisy((2,), 0.0), pl.MLP(13), rate=0.5, seeds=1, **{**settings, "steps": 40})
    assert len(compilations()) == 1


@pytest.mark.parametrize(
    "network",
    [
        pytest.param(lambda k: pl.MLP(9), id="relu"),
        pytest.param(lambda k: pl.Neuron(pl.networks.Sinusoid(k)), id="sinusoid"),
        pytest.param(lambda k: pl.MLP(9, pl.networks.Power(k)), id="power", marks=pytest.mark.acceptance),
        pytest.param(
            lambda k: pl.MLP(1, pl.networks.OscillatingPolynomial(k)), id="oscillating", marks=pytest.mark.acceptance
        ),
        pytest.param(lambda k: pl.Neuron(pl.networks.Zigzag(k)), id="zigzag", marks=pytest.mark.acceptance),
        pytest.param(lambda k: pl.Neuron(pl.networks.TriangleWave(k)), id="triangle", marks=pytest.mark.acceptance),
    ],
)
def test_the_degree_compiles_nothing_new_where_no_shape_depends_on_it(compilations, network):
    for k in (2, 3, 5):
        pl.train(parities(12, k), network(k), rate=0.01, batch=5, seeds=2, steps=20)
    assert len(compilations()) == 1


@pytest.mark.acceptance
def test_the_degree_of_a_polynet_is_its_shape(compilations):
    for k in (2, 3, 2):
        pl.train(parities(12, k), pl.PolyNet(k), rate=0.01, batch=5, seeds=2, steps=20)
    assert len(compilations()) == 2


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="memory maps are counted and limited on Linux")
def test_programs_make_room_for_others():
    """A program takes hundreds of memory maps, and a process may have 65,530."""
    held = lambda: Path("/proc/self/maps").read_text().count("\n")
    train = lambda: pl.train(parities(10, 2), pl.MLP(7), steps=20, batch=3, seeds=3, keep=True)
    jax.clear_caches()
    before, first, with_programs = held(), train(), held()
    make_room_for_programs()
    # Far from the limit nothing is forgotten; threads of the runtime give back a map or take one now and then.
    assert held() > (before + with_programs) / 2 and with_programs > before + 20
    make_room_for_programs(limit=with_programs)
    assert held() < (before + with_programs) / 2
    again = train()
    assert (first.steps == again.steps).all() and bits(first) == bits(again)


def bits(runs):
    return [leaf.tobytes() for run in range(3) for leaf in jax.tree.leaves(runs.network(run)) if eqx.is_array(leaf)]
