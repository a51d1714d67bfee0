"""Curricula: every run goes from phase to phase on its own, inside the engine."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import paritylab as pl
from paritylab.distributions import Curriculum, HeldOut, Phase, Stratified
from paritylab.distributions.samples import size_of_sample, trained_on
from paritylab.training import CurriculumPhase, ErrorAtMost, SampleError
from paritylab.training.engine.lanes import data_key, init_key
from paritylab.training.rules.gradient_descent import SAMPLE_STREAM
from paritylab.training.rules.phases import PhaseProgress

N, BATCH, STEPS, SEEDS, RATE = 10, 16, 150, 6, 0.1
PARITY = pl.Parity(N, (0, 1, 2))
EASY, HARD = pl.Product(PARITY, 0.8), pl.Uniform(PARITY)
BY_LOSS = Curriculum([Phase(EASY, loss_below=0.6, window=5), Phase(pl.Product(PARITY, 0.3), steps=40), Phase(HARD)])
SETTINGS = {"rate": RATE, "batch": BATCH, "seeds": SEEDS, "steps": STEPS, "validation": 0}


def phases(runs):
    """The phase of each run after each step."""
    return np.stack(runs.curves().phase.to_numpy().reshape(len(runs), -1))


def test_float64_agrees_with_torch_whenever_each_run_switches():
    """The same draws, losses and switches, written with PyTorch from the definition."""
    torch = pytest.importorskip("torch", reason="needs the bench extra: pip install 'paritylab[bench]'")
    runs = pl.train(
        BY_LOSS, pl.MLP(12), every=1, records=[CurriculumPhase()], keep=True, float64=True, lanes=4, **SETTINGS
    )
    draw = jax.jit(lambda seed, step: [part.sample(jr.fold_in(data_key(seed), step), BATCH) for part in BY_LOSS.parts])
    seen = phases(runs)
    assert len({tuple(row) for row in seen}) > 2, "runs have to switch at different steps"
    assert (seen[:, -1] == 2).any()
    for seed in range(SEEDS):
        start = pl.MLP(12)(N, key=init_key(np.uint32(seed)))
        arrays = [start.hidden[0].weight, start.hidden[0].bias, start.output.weight, start.output.bias]
        w, b, u, c = (torch.tensor(np.asarray(each, np.float64), requires_grad=True) for each in arrays)
        phase, since, total = 0, 0, 0.0
        for step in range(STEPS):
            assert seen[seed, step] == phase, (seed, step)
            x, y = (torch.tensor(np.asarray(each, np.float64)) for each in draw(np.uint32(seed), step)[phase])
            loss = torch.relu(1 - y * (torch.relu(x @ w.T + b) @ u + c)).mean()
            grads = torch.autograd.grad(loss, (w, b, u, c))
            with torch.no_grad():
                for array, grad in zip((w, b, u, c), grads, strict=True):
                    array -= RATE * grad
            since, total = since + 1, total + loss.item()
            done = [since % 5 == 0 and total / 5 < 0.6, since >= 40, False][phase]
            total = 0.0 if phase == 0 and since % 5 == 0 else total
            if done:
                phase, since, total = phase + 1, 0, 0.0
        trained = runs.network(seed)
        ours = [trained.hidden[0].weight, trained.hidden[0].bias, trained.output.weight, trained.output.bias]
        for one, other in zip(ours, (w, b, u, c), strict=True):
            np.testing.assert_allclose(one, other.detach().numpy(), rtol=1e-10, atol=1e-10)


def test_a_phase_of_some_steps_ends_after_them():
    """Two phases are what training goes through: a first phase that is the last one's own changes nothing."""
    runs = pl.train(
        Curriculum([Phase(EASY, steps=30), Phase(HARD)]), pl.MLP(8), every=10, records=[CurriculumPhase()], **SETTINGS
    )
    np.testing.assert_array_equal(phases(runs)[0], np.arange(0, STEPS + 1, 10) >= 30)
    same, plain = (
        pl.train(task, pl.MLP(8), keep=True, **SETTINGS)
        for task in (Curriculum([Phase(HARD, steps=30), Phase(HARD)]), HARD)
    )
    np.testing.assert_allclose(
        same.network(0).hidden[0].weight, plain.network(0).hidden[0].weight, rtol=1e-4, atol=1e-5
    )


def test_validation_is_on_the_last_phase():
    task = Curriculum([Phase(EASY, steps=10**6), Phase(HARD)])
    assert task.clean() == HARD and HeldOut(task, EASY).clean() == EASY
    learned = pl.train(
        Curriculum([Phase(EASY, loss_below=0.3, window=10), Phase(HARD)]),
        pl.MLP(64),
        rate=0.2,
        batch=32,
        seeds=3,
        steps=4000,
        validation=256,
        learned=ErrorAtMost(0.0),
        records=[CurriculumPhase()],
    )
    assert (learned.outcome == pl.Outcome.LEARNED).all()


def test_progress_counts_windows_from_the_start_of_a_phase():
    task = Curriculum([Phase(EASY, steps=7, loss_below=0.5, window=3), Phase(HARD)])
    follow = lambda losses: [int(each.phase) for each in _followed(task, losses)]
    assert follow([0.1, 0.1, 0.9, 0.9]) == [0, 0, 1, 1]  # mean .37 over three
    assert follow([0.9, 0.9, 0.9, 0.1, 0.1, 0.1]) == [0, 0, 0, 0, 0, 1]
    assert follow([0.9] * 8) == [0] * 6 + [1, 1]


def _followed(task, losses):
    progress = PhaseProgress.first(jnp.float32)
    for loss in losses:
        progress = progress.after(task, jnp.float32(loss))
        yield progress


def random_curriculum(key):
    """A target of each run's own in both phases."""
    parity = pl.random_parity(N, 2, key=key)
    return Curriculum([Phase(pl.Uniform(parity), steps=30), Phase(pl.Product(parity, 0.0))])


def test_a_random_task_may_be_a_curriculum():
    runs = pl.train(random_curriculum, pl.MLP(64), every=10, records=[CurriculumPhase()], **{**SETTINGS, "steps": 60})
    np.testing.assert_array_equal(phases(runs), np.tile(np.arange(0, 61, 10) >= 30, (SEEDS, 1)))
    with pytest.raises(ValueError, match="take 30 steps, and runs have 30, so it never reaches the last"):
        pl.plan(random_curriculum, pl.MLP(4), steps=30, seeds=2)


class Third(pl.AbstractTarget):
    """A third of a coordinate: no label."""

    n: int = eqx.field(static=True, default=N)

    def __call__(self, x):
        return x[0] / 3


def test_labels_of_every_phase_are_looked_at():
    with pytest.raises(ValueError, match="The labels of a task are -1 or \\+1, and Uniform"):
        pl.plan(Curriculum([Phase(pl.Uniform(Third()), steps=10), Phase(HARD)]), pl.MLP(4), steps=100, seeds=1)


def test_thresholds_and_lengths_compile_one_program():
    make = lambda **options: pl.plan(Curriculum([Phase(EASY, **options), Phase(HARD)]), pl.MLP(8), steps=100, seeds=1)
    shapes = {make(steps=10).cells[0].shape, make(steps=20, loss_below=0.2).cells[0].shape}
    assert len(shapes) == 1


def test_a_stratified_sample_holds_exactly_so_many_of_each():
    certain, other = pl.Product(PARITY, 1.0), pl.Product(PARITY, -1.0)
    sample = Stratified([certain, other], [3, 9])
    rule = pl.plan(sample, pl.MLP(4), batch=4, seeds=1, steps=10).cells[0].rule
    x, y = rule.whole_sample(sample, data_key(np.uint32(5)))
    assert rule.sample == 12 and np.asarray(x[:, 0]).tolist() == [1.0] * 3 + [-1.0] * 9
    np.testing.assert_array_equal(y, jax.vmap(PARITY)(x))


def test_phases_share_the_members_of_their_samples():
    """The first phase trains on the first members of the sample that the second trains on as a whole."""
    few, all_of_it = Stratified([EASY], [5]), Stratified([EASY, HARD], [5, 20])
    task = HeldOut(Curriculum([Phase(few, steps=50), Phase(all_of_it)]), HARD)
    assert trained_on(task) is all_of_it and size_of_sample(task, None) == 25 and size_of_sample(few, None) == 5
    key = jr.fold_in(data_key(np.uint32(1)), SAMPLE_STREAM)
    for i in range(5):
        ours, theirs = (each.member(jr.fold_in(key, i), jnp.int32(i))[0] for each in (few, all_of_it))
        np.testing.assert_array_equal(ours, theirs)


def test_a_sample_in_phases_is_fitted():
    few, all_of_it = Stratified([EASY], [10]), Stratified([EASY, HARD], [10, 30])
    runs = pl.train(
        Curriculum([Phase(few, loss_below=0.2, window=5), Phase(all_of_it)]),
        pl.MLP(64),
        rate=0.3,
        batch=8,
        seeds=3,
        steps=2000,
        every=50,
        validation=64,
        records=[SampleError(), CurriculumPhase()],
    )
    curves = runs.curves()
    assert (curves.groupby("run").phase.last() == 1).all() and (curves.groupby("run").sample_error.last() == 0).all()


WRONG = {
    "no phases": (lambda: Curriculum([]), "at least two phases, got 0"),
    "an endless phase": (lambda: Curriculum([Phase(EASY), Phase(HARD)]), "Phase 0 of the `Curriculum` never ends"),
    "an end at the end": (
        lambda: Curriculum([Phase(EASY, steps=1), Phase(HARD, steps=3)]),
        "The last phase of a `Curriculum` has no end",
    ),
    "other sizes": (
        lambda: Curriculum([Phase(pl.Uniform(pl.Parity(4, (0,))), steps=1), Phase(HARD)]),
        r"must share n, got n=\[4, 10\]",
    ),
    "curricula in curricula": (
        lambda: Curriculum([Phase(Curriculum([Phase(EASY, steps=1), Phase(HARD)]), steps=1), Phase(HARD)]),
        "is no curriculum itself",
    ),
    "never the last": (
        lambda: pl.plan(Curriculum([Phase(EASY, steps=100), Phase(HARD)]), pl.MLP(4), steps=100),
        "take 100 steps, and runs have 100, so it never reaches the last",
    ),
    "another size of sample": (
        lambda: pl.plan(Stratified([EASY], [10]), pl.MLP(4), sample=20),
        "A `Stratified` sample of 10 is trained on as a whole, got sample=20",
    ),
    "sizes of other parts": (lambda: Stratified([EASY], [1, 2]), "a size for each of its parts, got 1 and 2"),
}


@pytest.mark.parametrize(("make", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_said(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
