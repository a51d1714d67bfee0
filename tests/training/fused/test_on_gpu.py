"""Kernels on a GPU, against the general engine there and against float64. Without a GPU there is nothing to run."""

import functools
import os
import signal
import time

import jax
import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from test_fused_kernels import RUNS, few

import paritylab as pl
from paritylab.networks import Power, Sinusoid, TriangleWave, gelu, sigmoid
from paritylab.training.call import plan
from paritylab.training.rules.leaves import split

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.skipif(jax.default_backend() != "gpu", reason="kernels are for GPUs"),
]
parity = lambda n, k: pl.Uniform(pl.Parity(n, range(k)))
SMOOTH = {
    "tiles of a warp": (parity(30, 3), pl.MLP(10, gelu), {"batch": 32}),
    "tiles of four warps": (parity(50, 3), pl.MLP(100, sigmoid), {"batch": 32}),
    "tiles, recomputed": (parity(30, 3), pl.MLP(1000, gelu), {"batch": 48, "seeds": 16}),
    "a neuron": (parity(30, 3), pl.Neuron(Sinusoid(3)), {"batch": 32, "rate": 0.01}),
}
LAWS = {
    "batch 1": (parity(20, 2), pl.MLP(10), {"batch": 1}),
    "batch 4": (parity(20, 3), pl.MLP(30), {"batch": 4}),
    "a block": (parity(40, 2), pl.MLP(100), {"batch": 1}),
    "batch 32": (parity(30, 3), pl.MLP(10), {"batch": 32}),
    "wider": (parity(50, 3), pl.MLP(100), {"batch": 32}),
    "logistic": (parity(20, 2), pl.MLP(20, gelu), {"batch": 16, "loss": "logistic", "rate": 1.0}),
    "square": (parity(20, 2), pl.MLP(20, gelu), {"batch": 32, "loss": "square", "rate": 0.1}),
    "noise": (pl.FlippedLabels(pl.Product(pl.Parity(20, (0, 1)), 0.3), 0.1), pl.MLP(10), {"batch": 8, "decay": 0.001}),
    "a neuron": (parity(30, 3), pl.Neuron(Sinusoid(3)), {"batch": 32}),
    "a wave": (parity(20, 2), pl.Neuron(TriangleWave(2)), {"batch": 8}),
    "a power": (parity(15, 2), pl.MLP(10, Power(2)), {"batch": 16, "rate": 0.01}),
    "a PolyNet": (parity(20, 2), pl.PolyNet(2), {"batch": 16}),
}
OF_A_LAW = 420
"""Runs of each way: 5,040 in all."""


@functools.cache
def pair(name):
    task, network, options = LAWS[name]
    options = {"rate": 0.1, "seeds": OF_A_LAW, "steps": 30_000, "validation": 1024, "lanes": 512, **options}
    return plan(task, network, **options).run(), plan(task, network, fused=False, **options).run()


@pytest.mark.parametrize("name", LAWS)
def test_times_have_the_law_of_the_general_engine(name):
    """Two samples of one law with the same seeds: with Bonferroni's share of 0.001 for each of the cases."""
    fused, general = pair(name)
    times = [np.where(np.isfinite(runs.converged_at), runs.converged_at, 1e9) for runs in (fused, general)]
    learned = np.mean(np.isfinite(fused.converged_at))
    p = ks_2samp(*times).pvalue
    print(f"{name}: learned {learned:.3f}, p {p:.3g}, same step {np.mean(fused.steps == general.steps):.3f}")
    assert p > 0.001 / len(LAWS) and learned > 0.2


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_trajectories_agree(name):
    """200 steps; where there are corners, rounding decides on which side of one an example lies."""
    task, network, options = SMOOTH[name]
    options = {"loss": "logistic", "seeds": 64, "steps": 200, "validation": 0, "keep": True, "lanes": 64, **options}
    ours, theirs = plan(task, network, **options).run(), plan(task, network, fused=False, **options).run()
    exact = plan(task, network, **options, float64=True).run()
    distances = [[], []]
    for run in range(len(ours)):
        reference = split(exact.network(run))[0]
        for into, runs in zip(distances, (ours, theirs), strict=True):
            parts = zip(split(runs.network(run))[0], reference, strict=True)
            into.append(max(np.abs(part - true).max() / np.abs(true).max() for part, true in parts if true.ndim))
    print(f"{name}: from float64 {np.max(distances[0]):.2e}, general engine {np.max(distances[1]):.2e}")
    assert np.max(distances[0]) < 1e-4


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_those_of_the_general_engine_on_a_gpu(name):
    task, network, options = RUNS[name]
    options = {**few, **options, "seeds": 40, "lanes": 64}
    fused, general = plan(task, network, **options).run(), plan(task, network, fused=False, **options).run()
    same = [
        np.mean([
            np.allclose(ours, theirs, atol=1e-4 * np.abs(theirs).max(), rtol=0)
            for ours, theirs in zip(split(fused.network(run))[0], split(general.network(run))[0], strict=True)
        ])
        for run in range(len(fused))
    ]  # fmt: skip
    print(f"{name}: {np.mean(np.array(same) == 1):.3f} of the runs agree to 1e-4")
    assert np.mean(np.array(same) == 1) > 0.85 and np.mean(fused.outcome == general.outcome) > 0.95


def test_a_shape_compiles_in_two_seconds():
    from paritylab.training.fused import cuda_backend, nvrtc

    slowest = 0.0
    for name in (*LAWS, *SMOOTH):
        task, network, options = (LAWS | SMOOTH)[name]
        planned = plan(task, network, **{**options, "seeds": 1})
        kernel = planned.cells[0].fused_kernel
        source = kernel.source(kernel.lanes, 20, 10)
        begun = time.perf_counter()
        nvrtc._compile(source, [f"--gpu-architecture=sm_{''.join(map(str, cuda_backend.capability()))}", "--std=c++17"])
        slowest = max(slowest, time.perf_counter() - begun)
    print(f"slowest compilation {slowest:.2f} s")
    assert slowest < 2


def test_results_do_not_depend_on_neighbours_or_lanes():
    of = functools.partial(plan, parity(20, 2), pl.MLP(10), batch=1, steps=20_000, validation=1024)
    alone, together, many = of(seeds=[7], lanes=4).run(), of(seeds=300).run(), of(seeds=5000).run()
    assert alone.lanes < together.lanes < many.lanes
    assert alone.steps[0] == together.steps[7] and (together.steps == many.steps[:300]).all()


def test_a_sweep_that_is_killed_loses_nothing(tmp_path):
    """Killed three times with all of its workers, a sweep by kernels comes to the table of one left alone."""
    from sweeps import finish, start, table, write_file

    size = {"seeds": 400, "rates": [0.05, 0.1, 0.2], "runs_per_job": 100, "steps": 100_000}
    (alone := tmp_path / "alone").mkdir()
    undisturbed = finish(write_file(alone, **size), alone / "store")
    file = write_file(tmp_path, **size)
    shards, done = lambda: {path.name for path in (tmp_path / "store/runs").glob("*-sha256-*")}, []
    for _ in range(3):
        before, process = shards(), start(file, tmp_path / "store")
        while len(shards()) < len(before) + 5:
            assert process.poll() is None, file.with_suffix(".err").read_text()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert before < shards()
        done.append(len(shards()))
    assert finish(file, tmp_path / "store")["done"] == undisturbed["done"] == 400 * 24
    pd.testing.assert_frame_equal(table(tmp_path / "store"), table(alone / "store"))
    print(f"jobs done when it was killed: {done} of {len(shards())}")
    assert done[-1] < len(shards())
