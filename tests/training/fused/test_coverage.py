"""What fused kernels train, and that nothing else is taken for it."""

import functools

import equinox as eqx
import optax
import pytest

import paritylab as pl
from paritylab.networks.mlp import FeedForward
from paritylab.sweep import Sweep
from paritylab.training.call import plan
from paritylab.training.fused.kernels import ACTIVATIONS, VERSION
from paritylab.training.rules.schedules import LinearFall

TASK = pl.Uniform(pl.Parity(12, (0, 1)))


def made(task=TASK, network=None, **options):
    return plan(task, network or pl.MLP(8), **{"seeds": 1, "steps": 20, **options})


class Lookalike(FeedForward):
    """A subclass may compute anything."""

    def columns(self, x):
        return -super().columns(x)


def lookalike(n, *, key):
    network = pl.MLP(8)(n, key=key)
    return Lookalike(network.hidden, network.output, network.activation)


class Hooked(eqx.Module):
    inner: FeedForward

    def __call__(self, x):
        return self.inner(x)


def hooked(n, *, key):
    return Hooked(pl.MLP(8)(n, key=key))


def steeper(z):
    return pl.relu(2 * z)


NOT_COVERED = {
    "a subclass": (made(network=lookalike), "its network is not a two-layer MLP"),
    "a wrapper": (made(network=hooked), "its network is not a two-layer MLP"),
    "a deeper network": (made(network=pl.MLP((8, 8))), "its network is not a two-layer MLP"),
    "an own activation": (made(network=pl.MLP(8, activation=steeper)), "its activation is not one of the lab's"),
    "an own loss": (made(loss=lambda y, output: (y - output) ** 2), "its loss is none of"),
    "Adam": (made(optimizer="adam"), "its optimizer is not plain SGD"),
    "momentum": (made(optimizer=functools.partial(optax.sgd, momentum=0.9)), "its optimizer is not plain SGD"),
    "a schedule": (made(schedule=LinearFall(20)), "its rate or its decay has a schedule"),
    "a finite sample": (made(sample=64, batch=8), "it trains on a finite sample"),
    "float64": (made(float64=True), "it trains in float64"),
    "shifted inputs": (made(pl.distributions.ShiftedInputs(TASK, 0.1)), "its examples are not independent signs"),
    "a real-valued target": (
        made(pl.Uniform(pl.targets.staircase(12, 3)), loss="square", learned=pl.training.LossBelow(0.1)),
        "it has a criterion of its own",
    ),
    "many terms": (
        made(pl.Uniform(pl.targets.PolynomialSign(pl.targets.Polynomial(17, [(i,) for i in range(17)], [1.0] * 17)))),
        "its polynomial has more than 16 terms",
    ),
    "an encoding": (made(pl.distributions.Encoded(TASK, "unit")), "its examples are not independent signs"),
    "few validation points": (made(validation=32), "it has no more than 32 validation points"),
    "a large batch": (made(network=pl.MLP(20), batch=2**16), "a step does not fit into shared memory"),
    "a large batch, many inputs": (made(pl.Uniform(pl.Parity(99, (0,))), network=pl.MLP(300)), "its batch is larger"),
    "a very wide network": (made(network=pl.MLP(3000), batch=1), "its weights do not fit into registers"),
}


@pytest.mark.parametrize("name", NOT_COVERED)
def test_what_is_not_covered_goes_the_general_way_and_says_why(kernels, name):
    planned, why = NOT_COVERED[name]
    assert planned.way.startswith(f"the general engine, because {why}") and planned.fused() is planned


@pytest.mark.parametrize("activation", ACTIVATIONS[:-1])
def test_every_activation_of_one_number_is_covered(kernels, activation):
    function = getattr(pl.networks, activation)
    assert made(network=pl.MLP(8, function(3) if isinstance(function, type) else function)).way.startswith("a fused")


def test_kernels_are_for_gpus_and_can_be_turned_off(kernels, monkeypatch):
    assert made().way == f"a fused kernel (units, version {VERSION})"
    assert made(batch=4).way == f"a fused kernel (units, version {VERSION})"
    assert made(fused=False).way == "the general engine, because fused kernels are off or there is no GPU for them"
    monkeypatch.setattr("paritylab.training.plans.kernels_run_here", lambda: False)
    assert made().cells[0].kernel is None


def test_the_version_of_the_kernel_is_part_of_the_name_and_of_nothing_else(kernels, monkeypatch):
    names = lambda planned: [name for work in Sweep([planned]).works for name in work.names]
    fused, general = names(made()), names(made(fused=False))
    assert fused != general
    monkeypatch.setattr("paritylab.training.plans.VERSION", VERSION + 1)
    assert names(made()) not in (fused, general)
    monkeypatch.setattr("paritylab.training.plans.kernels_run_here", lambda: False)
    assert names(made()) == general  # as in stores from before there were kernels


def test_a_plan_for_kernels_is_not_trained_without_a_gpu(kernels, monkeypatch):
    planned = made()
    monkeypatch.setattr("paritylab.training.fused.launching._backends", {})
    with pytest.raises(RuntimeError, match="were planned for fused kernels of a GPU, and this process trains on cpu"):
        planned.run()


def test_blocks_are_long_where_steps_are_small_and_one_round_with_records(kernels):
    program = made(batch=1).size("gpu").program
    assert (program.lanes, program.block) == (2**12, 100)
    large = {"batch": 128, "network": pl.MLP(1000)}
    assert made(**large, seeds=5000).size("gpu").program.block == 2
    assert made(**large, seeds=1).size("gpu").program.block == 100  # the time of a block is that of the runs it has
    assert made(batch=1, records=[pl.FreshError()]).size("gpu").program.block == 1


def test_lanes_are_as_many_as_the_runs_in_five_sizes(kernels):
    lanes = lambda seeds: made(batch=1, seeds=seeds).size("gpu").lanes
    assert [lanes(seeds) for seeds in (1, 4096, 4097, 30_000, 100_000)] == [2**12, 2**12, 2**13, 2**15, 2**16]


def test_batches_of_all_sizes_share_one_compiled_program(kernels):
    """What differs is the kernel that it is told to start; what XLA sees, such as validation, makes another form."""
    form = lambda **options: made(**options).size("gpu").program.form
    shared = form(batch=1)
    assert hash(form(batch=20)) == hash(shared)
    assert all(form(batch=batch, loss=pl.Hinge(0.5)) == shared for batch in (4, 16, 1000))
    assert form(batch=1, validation=300) != shared and form(batch=1, network=pl.MLP(9)) != shared
    numbers = [tuple(made(batch=batch).ensemble.program.rule.prepared(4, 2, 10)) for batch in (1, 2)]
    assert numbers[0] != numbers[1]


def test_jobs_that_record_have_no_lanes_without_runs(kernels):
    """What is recorded is computed for every lane; where nothing is, jobs of all sizes share a few programs."""
    lanes = lambda **options: made(seeds=5, **options).size("cpu").lanes
    kernel = made().cells[0].fused_kernel
    assert lanes() == kernel.lanes // 16 > 8 == lanes(records=[pl.FreshError(points=64)])


def test_a_kernel_that_does_not_fit_goes_the_general_way(kernels, monkeypatch):
    large = {"network": pl.MLP(100), "batch": 1024}
    assert "tiles" in made(**large).way
    monkeypatch.setattr("paritylab.training.plans.shared_memory_here", lambda: 48 * 2**10)
    assert made(**large).way.startswith("the general engine") and "tiles" in made(network=pl.MLP(100)).way


def test_a_kernel_writes_nothing_of_a_step_but_weights(kernels):
    """The general engine's step would be 70 times as large, and refused."""
    task = pl.Uniform(pl.Parity(30, (0, 1, 2)))
    of = lambda **way: pl.plan(task, pl.MLP(1000), batch=1024, seeds=2700, validation=128, **way)
    fused, general = of().footprint("cpu"), of(fused=False, lanes=2700).footprint("cpu")
    assert fused.steps < general.steps / 10 and fused.runs == general.runs
