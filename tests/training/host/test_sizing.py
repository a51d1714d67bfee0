"""Blocks of several rounds between close looks give the bits and the times of single rounds."""

import dataclasses

import numpy as np
import pytest

import paritylab as pl
from paritylab.training.call import plan
from paritylab.training.host.sizing import choose_block, choose_unrolled
from paritylab.training.host.workers import work_through

TASK = pl.Uniform(pl.Parity(20, (3, 7)))


def in_blocks(ensemble, block, unrolled=1, **options):
    program = dataclasses.replace(ensemble.program, block=block, unrolled=unrolled)
    return work_through(dataclasses.replace(ensemble, program=program), **options)


def assert_same(one, other):
    np.testing.assert_array_equal(one.outcome, other.outcome)
    np.testing.assert_array_equal(one.step, other.step)
    for some, others in ((one.statistics, other.statistics), (one.state, other.state)):
        assert [a.tobytes() for a in some] == [b.tobytes() for b in others]


@pytest.fixture(scope="module")
def mixed():
    """More runs than lanes; limits that are no multiples of a block; some runs learn and some do not."""
    settings = {"rate": 0.3, "batch": 8, "steps": 150, "keep": True, "lanes": 16}
    ensemble = plan(TASK, pl.MLP(60), seeds=range(100), **settings).ensemble
    limits = np.tile(np.array([10, 30, 70, 150, 150], np.int32), 20)
    ensemble = dataclasses.replace(ensemble, limits=limits)
    alone = in_blocks(ensemble, 1)
    assert {pl.Outcome.LEARNED, pl.Outcome.OUT_OF_STEPS} == set(alone.outcome.tolist())
    assert np.all(alone.step <= limits) and len(set(alone.step.tolist())) > 4
    return ensemble, alone


@pytest.mark.parametrize(("block", "refill", "unrolled"), [(3, True, 1), (8, True, 4), (8, False, 10)])
def test_blocks_change_no_bit(mixed, block, refill, unrolled):
    """Nor do steps that are written out in a row, four of ten or all."""
    ensemble, alone = mixed
    assert_same(alone, in_blocks(ensemble, block, unrolled, refill=refill))


@pytest.mark.acceptance
def test_a_run_that_diverges_in_the_midst_of_a_block():
    made = plan(TASK, pl.PolyNet(2), rate=[1e-3, 1e30, 0.05], batch=4, seeds=20, steps=150, keep=True, lanes=8)
    alone = in_blocks(made.ensemble, 1)
    assert np.all(alone.outcome[20:40] == pl.Outcome.DIVERGED) and np.all(alone.step[20:40] < 80)
    assert_same(alone, in_blocks(made.ensemble, 8))


@pytest.mark.acceptance
def test_a_run_whose_examination_fails_goes_on_where_it_was():
    """Runs that come close to the target long before they learn it are halted many times."""
    made = plan(pl.Uniform(pl.Parity(16, (0, 5))), pl.MLP(10), rate=0.3, batch=1, seeds=300, steps=1500, keep=True)
    alone = in_blocks(made.ensemble, 1)
    assert np.sum(alone.outcome == pl.Outcome.LEARNED) > 30
    assert_same(alone, in_blocks(made.ensemble, 8))


def test_without_validation_a_block_ends_at_the_limit():
    made = plan(TASK, pl.MLP(10), rate=0.1, seeds=20, steps=50, every=10, validation=0, keep=True, lanes=8)
    assert_same(in_blocks(made.ensemble, 1), in_blocks(made.ensemble, 8))


def test_blocks_are_for_gpus_and_short():
    ensemble = plan(TASK, pl.MLP(60), seeds=1, steps=100).ensemble
    rule, one = ensemble.program.rule, tuple(array[0] for array in ensemble.own)
    assert choose_block(rule, one, 128, 10, "cpu") == choose_block(rule, one, 2**20, 1000, "gpu") == 1
    assert choose_block(rule, one, 128, 10, "gpu") == 24 and choose_block(rule, one, 2**20, 10, "gpu") == 2
    assert choose_unrolled(rule, one, 10, "cpu") == 1 and choose_unrolled(rule, one, 500, "gpu") == 10


def test_a_job_of_few_runs_has_few_lanes_on_a_gpu_alone():
    """Of 16,384 lanes five runs would leave all but five idle, and pay for them."""
    lanes = lambda platform, seeds: plan(TASK, pl.MLP(60), seeds=seeds, batch=8, steps=20).size(platform).lanes
    assert [lanes("gpu", seeds) for seeds in (1, 5, 1000, 10**5)] == [1, 8, 1024, 16384]
    assert lanes("cpu", 5) == lanes("cpu", 10**5)
    assert plan(TASK, pl.MLP(60), seeds=5, lanes=32).size("gpu").lanes == 32


def test_records_of_a_few_lanes_at_a_time_are_those_of_all():
    records = [pl.FreshError(points=64), pl.training.Parameters()]
    made = plan(TASK, pl.MLP(10), seeds=11, batch=8, rate=0.3, steps=60, records=records, lanes=8)
    whole, size = made.run(), made.size("cpu")
    few = dataclasses.replace(made)
    few._sizes["cpu"] = size._replace(program=dataclasses.replace(size.program, recorded=4))
    assert few.ensemble.program.recorded == 4
    parts, together = few.run().curves(), whole.curves()
    assert (parts[["run", "step"]] == together[["run", "step"]]).all(axis=None) and len(parts) > 11 * 5
    np.testing.assert_array_equal(parts.fresh_error, together.fresh_error)
    for some, all_ in zip(parts.parameters, together.parameters, strict=True):
        np.testing.assert_allclose(some, all_, atol=1e-6)


def test_records_that_take_much_are_made_of_few_lanes_at_a_time_on_a_gpu():
    """512 subnetworks of 10,000 units on 8,192 points would be 160 GiB."""
    made = lambda points: plan(TASK, pl.MLP(10_000), seeds=512, records=[pl.FreshError(points)], lanes=512)
    few, all_ = made(8192), made(16)
    assert few.size("gpu").program.recorded < 512 and all_.size("gpu").program.recorded is None
    assert few.footprint("gpu").records < 2**33 < 512 * 8192 * 10_000 * 4
    assert few.size("cpu").program.recorded is None
