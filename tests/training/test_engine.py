"""The engine: the same bits whatever shares the lanes, exact convergence times, outcomes, records."""

import dataclasses
import hashlib
import os
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.cube import cube
from paritylab.training.call import plan
from paritylab.training.host.workers import work_through
from paritylab.training.rules.gradient_descent import GradientDescent
from paritylab.training.rules.validation import validate, validation_levels

TASK = pl.Uniform(pl.Parity(20, (3, 7)))
SETTINGS = {"rate": 0.3, "batch": 8, "steps": 80, "keep": True, "lanes": 8}
"""Some runs learn in these steps and some do not."""


def arrays(network) -> list[np.ndarray]:
    return [leaf for leaf in jax.tree.leaves(network) if isinstance(leaf, np.ndarray)]


def bits(runs: pl.Runs, run: int) -> tuple[int, int, int, bytes]:
    """All that a run gives back, to the last bit."""
    weights = b"".join(array.tobytes() for array in arrays(runs.network(run)))
    return int(runs.outcome[run]), int(runs.steps[run]), int(runs.mistakes[run]), weights


@pytest.fixture(scope="module")
def many() -> pl.Runs:
    """71 runs, more than the lanes of all workers together."""
    runs = pl.train(TASK, pl.MLP(60), seeds=range(71), **SETTINGS)
    assert len(runs) > 2 * runs.lanes[0] and len(set(runs.outcome.tolist())) == 2
    return runs


@pytest.mark.parametrize("seeds", [[5], [5, 1, 2, 3, 4, 40, 70], range(70, -1, -1)], ids=["alone", "of 7", "reversed"])
def test_a_run_does_not_depend_on_its_neighbours(many, seeds):
    seeds = list(seeds)
    runs = pl.train(TASK, pl.MLP(60), seeds=seeds, **SETTINGS)
    for place, seed in enumerate(seeds):
        assert bits(runs, place) == bits(many, seed)


def test_refilling_changes_nothing(many):
    runs = dataclasses.replace(pl.plan(TASK, pl.MLP(60), seeds=range(71), **SETTINGS), refill=False).run()
    assert [bits(runs, i) for i in range(71)] == [bits(many, i) for i in range(71)]


def test_other_rates_beside_it_change_nothing(many):
    runs = pl.train(TASK, pl.MLP(60), seeds=range(20), **{**SETTINGS, "rate": [1.0, 0.3, 0.01]})
    assert [bits(runs, 20 + i) for i in range(20)] == [bits(many, i) for i in range(20)]


ON_DEVICES = """
import hashlib, jax, numpy as np, paritylab as pl
task = pl.Uniform(pl.Parity(20, (3, 7)))
runs = pl.train(task, pl.MLP(60), seeds=range(71), rate=0.3, batch=8, steps=80, keep=True, lanes=8)
leaves = [leaf for i in range(71) for leaf in jax.tree.leaves(runs.network(i)) if isinstance(leaf, np.ndarray)]
everything = b"".join(a.tobytes() for a in [runs.outcome, runs.steps, runs.mistakes, *leaves])
print(len(jax.devices()), hashlib.sha256(everything).hexdigest())
"""


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="devices are simulated on a CPU: other bits than a GPU's")
def test_two_devices_give_the_same_bits_as_one(many):
    given = os.environ.get("XLA_FLAGS", "")  # other options of the compiler would give other bits
    flags = {"XLA_FLAGS": f"{given} --xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", ON_DEVICES]
    found = subprocess.run(command, env=os.environ | flags, capture_output=True, text=True, check=True, timeout=300)
    leaves = [array for i in range(71) for array in arrays(many.network(i))]
    everything = b"".join(a.tobytes() for a in [many.outcome, many.steps, many.mistakes, *leaves])
    assert found.stdout.split() == ["2", hashlib.sha256(everything).hexdigest()]


@dataclasses.dataclass(frozen=True)
class EverythingEachTime(GradientDescent):
    """The same training, with all validation points evaluated at every look."""

    @property
    def levels(self):
        return 1

    def measure(self, state, memory, numbers, level):
        distribution = self.problem.fill(numbers).distribution.clean()
        last = len(validation_levels(self.validation)) - 1
        network, draw = self.network_of(state), lambda key, size: self._cast(distribution.sample(key, size))
        return validate(network, draw, memory, self.validation, last)[0], memory


@pytest.mark.acceptance
def test_levels_of_looking_give_the_times_of_looking_at_everything():
    """500 runs, of which many come close to the target long before they learn it."""
    made = plan(pl.Uniform(pl.Parity(16, (0, 5))), pl.MLP(10), rate=0.3, batch=1, seeds=500, steps=1500)
    program = made.ensemble.program
    everything = EverythingEachTime(**{f.name: getattr(program.rule, f.name) for f in dataclasses.fields(program.rule)})
    plain = dataclasses.replace(made.ensemble, program=dataclasses.replace(program, rule=everything))
    quick, slow = made.run(), work_through(plain)
    np.testing.assert_array_equal(quick.outcome, slow.outcome)
    np.testing.assert_array_equal(quick.steps, slow.step)
    np.testing.assert_array_equal(quick.mistakes, slow.statistics[0])
    assert 50 < np.sum(quick.outcome == pl.Outcome.LEARNED) < 500


def test_the_time_is_the_first_look_without_a_mistake():
    runs = pl.train(TASK, pl.MLP(60), seeds=20, records=(pl.training.ValidationError(),), **{**SETTINGS, "keep": False})
    for run, curve in runs.curves().groupby("run"):
        perfect = curve.step[(curve.validation_error == 0) & (curve.step > 0)]
        expected = perfect.min() if len(perfect) else np.inf
        assert runs.converged_at[run] == expected
        assert curve.step.tolist() == list(range(0, runs.steps[run] + 1, 10))


def test_a_run_that_diverges_touches_no_other():
    rates = [1e-3, 1e30, 0.05]
    settings = {"batch": 4, "seeds": 30, "steps": 300, "keep": True}
    runs = pl.train(TASK, pl.PolyNet(2), rate=rates, **settings)
    assert np.all(runs.outcome[30:60] == pl.Outcome.DIVERGED) and np.all(np.isnan(runs.error[30:60]))
    for rate, first in ((1e-3, 0), (0.05, 60)):
        calm = pl.train(TASK, pl.PolyNet(2), rate=rate, **settings)
        assert [bits(calm, i) for i in range(30)] == [bits(runs, first + i) for i in range(30)]
    assert pl.Outcome.DIVERGED.sentence.endswith("Lower the rate.")


def test_a_module_of_ones_own_trains_the_same_way():
    recipe = lambda n, *, key: eqx.nn.MLP(n, "scalar", 32, 1, key=key)
    runs = pl.train(pl.Uniform(pl.Parity(10, (0, 1))), recipe, rate=0.1, seeds=8, steps=2000, keep=True)
    assert np.all(runs.outcome == pl.Outcome.LEARNED)
    x = cube(10)
    outputs = jax.vmap(runs.network(3))(x)
    assert np.mean(outputs * jax.vmap(pl.Parity(10, (0, 1)))(x) > 0) > 0.999


def test_seeds_of_target_start_and_data_are_separate():
    task = lambda key: pl.Uniform(pl.random_parity(12, 2, key=key))
    seeds = pl.training.Seeds(target=[4, 4, 5, 4], init=[1, 1, 1, 2], data=[7, 8, 7, 7])
    settings = {"rate": 0.1, "seeds": seeds, "steps": 50, "every": 50, "validation": 0, "keep": True}
    same = pl.train(task, pl.PolyNet(2), **settings)
    again = pl.train(task, pl.PolyNet(2), **settings)
    assert [bits(same, i) for i in range(4)] == [bits(again, i) for i in range(4)]
    assert len({bits(same, i)[3] for i in range(4)}) == 4


def test_numbers_may_differ_from_run_to_run():
    """Noise and biases are numbers: a run in a mixed ensemble equals the run in an ensemble of its own."""
    noises = jnp.array([0.0, 0.1, 0.2])
    base = pl.Uniform(pl.Parity(12, (0, 1)))

    def noisy(key):
        probability = noises[jax.random.randint(key, (), 0, 3)]
        return eqx.tree_at(lambda task: task.probability, pl.FlippedLabels(base, 0.5), probability)

    settings = {"rate": 0.1, "steps": 200, "keep": True}
    mixed = pl.train(noisy, pl.MLP(20), seeds=12, **settings)
    chosen = [float(noisy(pl.root_key(seed)).probability) for seed in range(12)]
    assert len(set(chosen)) == 3
    for probability in set(chosen):
        alone = pl.train(pl.FlippedLabels(base, probability), pl.MLP(20), seeds=12, **settings)
        for seed in np.flatnonzero(np.array(chosen) == probability):
            assert bits(alone, seed) == bits(mixed, seed)


def test_a_finite_sample_is_learned_by_heart():
    settings = {"rate": 0.5, "steps": 800, "seeds": 4, "validation": 64}
    records = pl.training.Recording((pl.training.SampleError(), pl.FreshError(4096)), 400)
    curves = pl.train(pl.Uniform(pl.Parity(30, range(8))), pl.MLP(60), sample=40, records=records, **settings).curves()
    last = curves[curves.step == 800]
    assert np.all(last.sample_error == 0) and np.all(np.abs(last.fresh_error - 0.5) < 0.1)


def test_points_given_by_hand_are_trained_on():
    points = pl.distributions.draw(pl.Uniform(pl.Parity(8, (0, 1, 2))), 24, key=pl.root_key(3))
    runs = pl.train(points, pl.MLP(100), sample=24, rate=0.3, seeds=3, steps=4000, records=(pl.training.SampleError(),))
    assert np.all(runs.outcome == pl.Outcome.LEARNED), "the validation batch of a sample is drawn from the sample"


def test_double_precision_follows_single_precision_for_a_while():
    settings = {"rate": 0.1, "seeds": 6, "steps": 20, "every": 20, "validation": 0, "keep": True}
    single = pl.train(TASK, pl.MLP(10), **settings)
    double = pl.train(TASK, pl.MLP(10), float64=True, **settings)
    for run in range(6):
        for one, other in zip(*(arrays(runs.network(run)) for runs in (single, double)), strict=True):
            assert (one.dtype, other.dtype) == (np.float32, np.float64)
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_progress_is_the_largest_movement_of_a_weight():
    runs = pl.train(
        TASK,
        pl.MLP(10),
        rate=0.1,
        seeds=3,
        steps=40,
        records=(pl.training.Progress(), pl.training.Weights((2, 5))),
        keep=True,
    )
    curves = runs.curves()
    for run, curve in curves.groupby("run"):
        assert curve.progress.iloc[0] == 0
        first = pl.MLP(10)(20, key=runs.keys[run]).hidden[0].weight
        final = runs.network(run).hidden[0].weight
        np.testing.assert_allclose(curve.progress.iloc[-1], np.abs(final - first).max(), rtol=1e-6)
        np.testing.assert_array_equal(curve.weights.iloc[0], first[np.array([2, 5])])
        np.testing.assert_array_equal(curve.weights.iloc[-1], final[np.array([2, 5])])


def test_work_that_is_stopped_keeps_what_is_finished():
    made = plan(pl.Uniform(pl.Parity(30, range(9))), pl.MLP(100), rate=1e-3, seeds=50, steps=10_000_000)
    collected = work_through(made.ensemble, seconds=1.0)
    begun = collected.step > 0
    assert np.array_equal(collected.outcome, np.where(begun, pl.Outcome.RUNNING, pl.Outcome.NOT_STARTED))
    assert begun.any() and collected.step.max() < 10_000_000


def test_the_watch_sees_every_run_finish():
    seen = []
    pl.train(TASK, pl.MLP(10), rate=1e-4, seeds=40, steps=100, watch=seen.append)
    assert seen[-1].finished == seen[-1].runs == 40
    assert all(status.seconds_left >= 0 for status in seen)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch": 0}, "got batch=0"),
        ({"steps": 15}, "got steps=15 and every=10"),
        ({"seeds": []}, "at least one seed"),
        ({"seeds": [-1]}, "from 0 to"),
        ({"seeds": pl.training.Seeds(init=2, data=[1])}, "as many as `seeds`"),
        ({"rate": -0.1}, "got rate=-0.1"),
        ({"records": pl.training.Recording((pl.FreshError(),), 15)}, "multiples of every=10"),
        ({"sample": 2**40}, f"got sample={2**40}"),
        ({"batch": 2**30}, "Use a smaller batch"),
    ],
)
def test_wrong_settings_are_said(settings, message):
    with pytest.raises(ValueError, match=message):
        plan(TASK, pl.MLP(10), **settings).ensemble  # noqa: B018
