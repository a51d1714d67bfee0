"""Kernels against the general engine, on emulated GPUs: the same draws, the same outcomes, sums in another order."""

import ctypes
import functools
import re

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import paritylab as pl
from paritylab.cube import random_signs
from paritylab.networks import Sinusoid, Zigzag, gelu
from paritylab.training import Decay
from paritylab.training.call import plan
from paritylab.training.engine.lanes import data_key
from paritylab.training.fused import kernels as sources
from paritylab.training.fused.descent import packed, unpacked
from paritylab.training.fused.kernels import ACTIVATIONS, _with_includes
from paritylab.training.rules.leaves import split

STEPS, TOLERANCE = 40, 2e-5
"""Rounding grows a little with each step; a step of the other sign, or an example more, would change 1e-3."""
NOISY = pl.FlippedLabels(pl.Product(pl.Symmetric(11, (1, -1) * 6), mean=0.3), 0.2)
BIASED = pl.FlippedLabels(pl.Product(pl.Parity(12, (0, 1, 2)), mean=0.3), 0.2)
STAIRCASE = pl.Uniform(
    pl.targets.PolynomialSign(pl.targets.Polynomial(37, ((), (3,), (3, 35), (3, 35, 36)), (0.2, 1.0, 1.5, -0.9)))
)
parity = lambda n, k: pl.Uniform(pl.Parity(n, range(k)))
SHRINKING = Decay(0.1, "loss")
LOSS = pl.training.ChosenLoss((pl.Hinge(), pl.training.square_loss, pl.training.logistic), 2)
FEWER = {"steps": 10, "seeds": 1, "lanes": 1, "validation": 64}
few = {"seeds": 5, "steps": STEPS, "validation": 300, "lanes": 4, "keep": True}
RUNS = {
    "a few threads": (parity(37, 3), pl.MLP(10), {"batch": 1, "rate": [0.3, 0.02]}),
    "a block": (parity(40, 3), pl.MLP(110), {"batch": 2, "seeds": 2}),
    "zigzags": (NOISY, pl.MLP(6, Zigzag(3)), {"batch": 3, "loss": "square", "decay": Decay(0.1, "rate")}),
    "a neuron": (parity(37, 3), pl.Neuron(Sinusoid(3)), {"batch": 20, "rate": [{"hidden": 0.1}]}),
    "a neuron of four threads": (NOISY, pl.Neuron(Sinusoid(3)), {"batch": 130, "rate": 0.1, "steps": 20}),
    "a PolyNet of two threads": (parity(35, 3), pl.PolyNet(2), {"batch": 65, "rate": 0.01, **FEWER}),
    "a PolyNet": (BIASED, pl.PolyNet(3), {"batch": 9, "loss": "correlation", "rate": 0.01, "decay": SHRINKING}),
    "a whole network": (NOISY, pl.MLP(2, gelu), {"batch": 40, "loss": "logistic", "decay": SHRINKING, "steps": 20}),
    "a whole network, many threads": (parity(12, 3), pl.MLP(3, Zigzag(3)), {"batch": 520, "rate": 0.1, **FEWER}),
    "tiles of a warp": (NOISY, pl.MLP(12), {"batch": 20, "decay": [0.0, 0.05], "seeds": 2, "steps": 20}),
    "tiles of two warps": (parity(35, 3), pl.MLP(40), {"batch": 88, "loss": "logistic", **FEWER}),
    "three tiles of examples": (NOISY, pl.MLP(20, gelu), {"batch": 48, "loss": "logistic", **FEWER}),
    "a loss by number": (NOISY, pl.MLP(12), {"batch": 20, "loss": LOSS, "seeds": 2, "steps": 20}),
    "many inputs": (parity(75, 3), pl.MLP(20), {"batch": 20, **FEWER}),
    "a staircase": (STAIRCASE, pl.MLP(10), {"batch": 4, "rate": 0.1}),
    "a staircase in tiles": (pl.FlippedLabels(STAIRCASE, 0.1), pl.MLP(12, gelu), {"batch": 20, **FEWER}),
    "chunks": (NOISY, pl.MLP(40), {"batch": 150, "decay": 0.05, **FEWER}),
    "chunks of a warp": (parity(35, 3), pl.MLP(9), {"batch": 192, "loss": "square", "rate": 0.01, **FEWER}),
}  # fmt: skip


def assert_like_the_general_engine(fused, general, tolerance):
    assert fused.outcome.tolist() == general.outcome.tolist() and fused.steps.tolist() == general.steps.tolist()
    for run in range(len(fused)):
        reference = split(general.network(run))[0]
        largest = max(np.abs(part).max() for part in reference)
        for ours, theirs in zip(split(fused.network(run))[0], reference, strict=True):
            size = np.abs(theirs).max() if np.ndim(theirs) else largest  # a single number may be near 0
            np.testing.assert_allclose(ours, theirs, atol=tolerance * size, rtol=0)


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_those_of_the_general_engine(kernels, name):
    task, network, options = RUNS[name]
    before = kernels.launches
    fused = plan(task, network, **{**few, **options})
    assert fused.way.startswith("a fused kernel")
    runs = fused.run()
    assert kernels.launches > before
    assert_like_the_general_engine(runs, plan(task, network, fused=False, **{**few, **options}).run(), TOLERANCE)


@pytest.mark.parametrize(("activation", "most"), [(pl.relu, 4), (gelu, 2)])
def test_tiles_take_passes_and_portions(kernels, monkeypatch, activation, most):
    """As wide networks with large batches do: two warps of three tiles, two of which go together, a chunk at a time."""
    monkeypatch.setattr(sources, "MOST_WARPS", most)
    monkeypatch.setattr(sources, "SUMS_BYTES", 0)
    task, options = parity(20, 3), {**few, "seeds": 2, "lanes": 2, "steps": 10, "batch": 200, "rate": 0.1}
    network = pl.MLP(75, activation)
    source = plan(task, network, **options).cells[0].fused_kernel.source(2, 1, 10)
    macros = dict(re.findall(r"#define (\w+) (\w+)$", source, re.MULTILINE))
    names = ("WARPS", "TILES", "PAIR", "CHUNKS", "PORTION_CHUNKS")
    assert [macros[name] for name in names] == ["2", "3", "2", "4", "1"]
    runs, general = plan(task, network, **options).run(), plan(task, network, fused=False, **options).run()
    assert_like_the_general_engine(runs, general, TOLERANCE)


@pytest.mark.parametrize("batch", [6, 16])
def test_runs_that_learn_halt_where_they_learn_and_others_take_their_lanes(kernels, batch):
    options = {"batch": batch, "rate": [0.5, 1e9], "seeds": 11, "steps": 400, "lanes": 4, "validation": 200}
    fused = plan(parity(9, 2), pl.MLP(14), **options, keep=True)
    runs, general = fused.run(), plan(parity(9, 2), pl.MLP(14), fused=False, **options).run()
    assert set(np.unique(runs.outcome)) == {pl.Outcome.LEARNED, pl.Outcome.DIVERGED}
    # Rounding may move a run across a corner: a time may differ, not the law of the times.
    learned = general.outcome == pl.Outcome.LEARNED
    assert runs.outcome.tolist() == general.outcome.tolist()
    assert np.mean(runs.steps[learned] == general.steps[learned]) > 0.8
    assert np.all(runs.mistakes[learned] == 0) and np.all(runs.points[learned] == 200)


def test_a_block_is_its_rounds_one_by_one(kernels):
    """Records are kept every round; neither they nor neighbours nor blocks change a run."""
    of = functools.partial(plan, parity(37, 3), pl.MLP(10), **{**few, "batch": 1, "seeds": 3})
    whole, by_rounds = of().run(), of(records=[pl.FreshError(points=64)]).run()
    assert by_rounds.curves().groupby("run").step.apply(list)[0] == list(range(0, STEPS + 1, 10))
    assert_like_the_general_engine(whole, by_rounds, 0)
    assert_like_the_general_engine(of(seeds=[1]).run(), dataclass_of(whole, 1), 0)


def dataclass_of(runs, run):
    """One run of several, as far as it is compared."""

    class One:
        outcome, steps = runs.outcome[run : run + 1], runs.steps[run : run + 1]

        def __len__(self):
            return 1

        def network(self, _):
            return runs.network(run)

    return One()


def test_activations_and_their_slopes_are_those_of_jax(emulator):
    parts = []
    for number, name in enumerate(ACTIVATIONS):
        parts.append(f"""
#undef ACTIVATION
#undef LOSS
#define ACTIVATION {number}
#define LOSS {4 if number > 7 else number % 4}
#define SCALE 1.5f
namespace of_{name} {{
{_with_includes("functions.cuh")}
}}
extern "C" void {name}(const float *z, int k, float *out, float *slope, float *loss, int count) {{
  for (int i = 0; i < count; ++i) {{
    out[i] = of_{name}::activation(z[i], k), slope[i] = of_{name}::activation_slope(z[i], k);
    loss[i] = of_{name}::loss_slope(i % 2 ? 1 : -1, z[i], of_{name}::Objective{{1, {number % 4}}});
  }}
}}
""")
    library = emulator.library("typedef unsigned int u32;\n" + "".join(parts))
    # Corners too, where slopes are a convention.
    z = np.concatenate([np.linspace(-7, 7, 57), np.random.default_rng(0).normal(0, 3, 200)]).astype(np.float32)
    y = np.where(np.arange(len(z)) % 2, 1, -1).astype(np.float32)
    losses = [pl.Hinge(), pl.training.square_loss, pl.training.logistic, pl.training.correlation]
    for number, name in enumerate(ACTIVATIONS):
        function = {"identity": lambda z: z}.get(name) or getattr(pl.networks, name)
        for k in (1, 2, 3, 6) if isinstance(function, type) else (0,):
            activation = function
            if isinstance(function, type):
                activation = function(k, scale=1.5) if name == "Sinusoid" else function(k)
            out, slope, loss = (np.zeros_like(z) for _ in range(3))
            pointers = [ctypes.c_void_p(array.ctypes.data) for array in (out, slope, loss)]
            getattr(library, name)(ctypes.c_void_p(z.ctypes.data), k, *pointers, len(z))
            expected = jax.vmap(jax.value_and_grad(activation))(z)
            for ours, theirs in zip((out, slope), expected, strict=True):
                np.testing.assert_allclose(
                    ours, theirs, rtol=2e-5, atol=2e-5 * float(np.abs(theirs).max()), err_msg=name
                )
        expected = jax.vmap(jax.grad(losses[number % 4], argnums=1))(y, z)
        np.testing.assert_allclose(loss, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("n", "batch"), [(30, 32), (50, 3), (64, 1)])
def test_examples_are_drawn_bit_for_bit(emulator, n, batch):
    """1,000 steps of 5 runs each, as words, against `Uniform` as the general engine draws from it."""
    runs, steps, words = 5, 1000, -(-n // 32)
    source = "".join(
        f"#define {name} {value}\n"
        for name, value in {
            "N": n,
            "BATCH": batch,
            "UNIFORM_INPUTS": 1,
            "NOISY": 0,
            "PARITY": 1,
            "TARGET_TYPE": "u32",
        }.items()
    )
    source += _with_includes("threefry.cuh") + _with_includes("examples.cuh")
    source += """
extern "C" void draw(const u32 *keys, int runs, int steps, const u32 *mask, u32 *points, float *labels) {
  for (int run = 0; run < runs; ++run)
    for (int step = 0; step < steps; ++step) {
      u32 words[ITEMS + 1];
      const Key key = folded(Key{keys[2 * run], keys[2 * run + 1]}, step);
      for (int i = 0; i < ITEMS; ++i) words[i] = drawn(key, i, 0, 0);
      Stream stream(key, 0);  // one thread for a run, in every third run; in another third a thread for each example
      for (int b = 0; b < BATCH; ++b) {
        const Point x = run % 3 == 2 ? Stream(key, b).next(0) : run % 3 == 1 ? stream.next(0) : example(words, b);
        for (int q = 0; q < WORDS; ++q) *points++ = x.word[q];
        *labels++ = label(x, mask);
      }
    }
}
"""
    target = pl.Parity(n, (0, 2, n - 1))
    mask = np.asarray(packed(jnp.where(target.mask, -1.0, 1.0)))
    keys = jax.vmap(data_key)(jnp.arange(runs, dtype=jnp.uint32))
    points, labels = np.zeros((runs, steps, batch, words), np.uint32), np.zeros((runs, steps, batch), np.float32)
    raw = np.ascontiguousarray(jr.key_data(keys))
    at = lambda array: ctypes.c_void_p(array.ctypes.data)
    emulator.library(source).draw(at(raw), runs, steps, at(mask), at(points), at(labels))

    def step(key, count):
        x = random_signs(jr.fold_in(key, count), batch, n)
        return packed(x), jax.vmap(target)(x)

    x, y = jax.jit(jax.vmap(lambda key: jax.vmap(lambda count: step(key, count))(jnp.arange(steps, dtype=jnp.int32))))(
        keys
    )
    np.testing.assert_array_equal(points, x)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(packed(unpacked(x, n)), x)
