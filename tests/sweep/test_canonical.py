"""Names of configurations: the same everywhere and for ever, and different where anything differs."""

import functools
import math
import pickle
import subprocess
import sys
from enum import Enum

import equinox as eqx
import jax
import numpy as np
import optax
import pytest
from hypothesis import given, strategies as st

import paritylab as pl
from paritylab.experiments.symmetry.shared.runs import SymmetricTask
from paritylab.sweep.canonical_form import canonical, digest, qualified
from paritylab.sweep.pickling import pack, unpack
from paritylab.sweep.workloads import TrainingWorkload
from paritylab.training.rules import optimizers
from paritylab.training.rules.schedules import FirstThen

TASK = pl.Uniform(pl.Parity(10, (0, 1)))


class Colour(Enum):
    RED = 1


class Net(eqx.Module):
    width: int
    scale: float = 1.0


def names(*args, **kwargs) -> list[str]:
    return TrainingWorkload(pl.plan(*args, **kwargs)).names


def test_the_name_of_a_run_is_pinned():
    """Another name means that no result of today would be found: then `RESULTS` is the thing to change, not this."""
    (name,) = names(TASK, pl.MLP(10), rate=0.1, batch=32, seeds=[7], steps=1000)
    assert name == PINNED


PINNED = "ef0f60a18cd0a01d2cfd11cbb74be7eb"


def test_a_name_does_not_depend_on_what_else_is_planned():
    alone = names(TASK, pl.MLP(10), rate=0.3, seeds=[4])
    among = names(TASK, pl.MLP(10), rate=[0.1, 0.3], seeds=range(6))
    assert among[10] == alone[0] and len(set(among)) == 12


BASE = {"rate": 0.1, "batch": 32, "seeds": [3], "steps": 1000}
OTHERS = {
    "rate": {"rate": 0.2},
    "rate by layer": {"rate": {"hidden": 0.1}},
    "batch": {"batch": 31},
    "steps": {"steps": 1010},
    "every": {"every": 5},
    "validation": {"validation": 100},
    "sample": {"sample": 100},
    "loss": {"loss": pl.training.square_loss},
    "margin": {"loss": pl.Hinge(0.5)},
    "optimizer": {"optimizer": optax.adam},
    "decay": {"decay": 0.1},
    "convention": {"decay": pl.training.Decay(0.1, "loss")},
    "schedule": {"schedule": FirstThen(1.0, 0.5)},
    "seed": {"seeds": [4]},
    "target seed": {"seeds": pl.training.Seeds([4], [3])},
    "data seed": {"seeds": pl.training.Seeds(init=[3], data=[4])},
    "records": {"records": (pl.FreshError(),)},
    "points of a record": {"records": (pl.FreshError(7),)},
    "record_every": {"records": pl.training.Recording((pl.FreshError(),), 20)},
    "float64": {"float64": True},
    "lanes": {"lanes": 16},
}


def test_whatever_differs_gives_another_name():
    networks = [
        pl.MLP(10),
        pl.MLP(11),
        pl.MLP(10, pl.networks.Power(2)),
        pl.MLP(10, pl.networks.Power(3)),
        pl.PolyNet(2),
    ]
    tasks = [TASK, pl.Uniform(pl.Parity(10, (0, 2))), pl.FlippedLabels(TASK, 0.1), pl.FlippedLabels(TASK, 0.2)]
    tasks += [pl.RandomTask(pl.random_parity, (10, 2)), pl.RandomTask(pl.random_parity, (10, 2), 0.1)]
    found = [names(TASK, pl.MLP(10), **{**BASE, **other})[0] for other in OTHERS.values()]
    found += [names(task, network, **BASE)[0] for task in tasks for network in networks]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("more", [{"labels": {"a": 1}}, {"watch": print}], ids=["labels", "watch"])
def test_what_cannot_change_a_result_is_not_in_its_name(more):
    assert names(TASK, pl.MLP(10), **BASE, **more) == names(TASK, pl.MLP(10), **BASE)


def test_functions_go_by_the_shortest_name_under_which_they_are_offered():
    assert qualified(jax.nn.relu) == ("jax.nn", "relu")
    assert qualified(optax.adam) == ("optax", "adam")
    assert qualified(pl.MLP) == ("paritylab", "MLP")
    assert qualified(math.gcd) == ("math", "gcd")


def test_canonical_forms():
    assert canonical({"b": (1, 2.5, None, True), "a": "x"}) == {"b": [1, 2.5, None, True], "a": "x"}
    assert canonical(float("inf")) == "inf"
    assert canonical(np.arange(3)) == {"array": "int64", "shape": [3], "values": [0, 1, 2]}
    assert canonical(Colour.RED)["member"] == "RED"
    assert canonical(functools.partial(math.gcd, 4)) == {"partial": {"function": "math.gcd"}, "args": [4], "kwargs": {}}
    form = canonical(Net(3))
    assert form.pop("type").split("#")[0] == f"{__name__}.Net" and form == {"width": 3, "scale": 1.0}
    assert canonical({3, 1, 2}) == {"set": [1, 2, 3]}
    assert "values" not in canonical(np.zeros(1000))
    assert digest(canonical(np.zeros(1000))) != digest(canonical(np.ones(1000)))
    assert digest(canonical(np.zeros(1000))) != digest(canonical(np.zeros((10, 100))))


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (lambda x: x, "Define it with `def` or `class` at the top level of a module"),
        (object(), "A builtins.object cannot be written down"),
        (np.array([object()]), "An array of objects cannot be written down"),
        ({1: 2}, "The keys of a mapping must be strings to be written down, got 1."),
        (functools.partial(lambda x: x), "has no name under which it can be imported"),
    ],
    ids=["lambda", "object", "array of objects", "mapping", "partial of a lambda"],
)
def test_what_cannot_be_written_down_says_so(thing, sentence):
    with pytest.raises(ValueError) as said:
        canonical(thing)
    assert sentence in str(said.value)


@given(st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False) | st.text() | st.booleans()))
def test_a_digest_does_not_depend_on_the_order_of_keys(mapping):
    backwards = dict(reversed(mapping.items()))
    assert digest(canonical(mapping)) == digest(canonical(backwards))


SCRIPT = """
import paritylab as pl
from paritylab.sweep.canonical_form import canonical
def mine(z): return z * {factor}
print(canonical(pl.MLP(3, mine))["activation"]["function"])
"""


def test_what_a_script_defines_carries_its_source(tmp_path):
    said = []
    for factor in (2, 2, 3):
        script = tmp_path / f"{factor}.py"
        script.write_text(SCRIPT.format(factor=factor))
        ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
        said.append(ended.stdout.strip())
    assert said[0] == said[1] != said[2] and said[0].startswith("__main__.mine#")


def test_work_travels_to_another_process_and_keeps_its_names():
    work = TrainingWorkload(pl.plan(TASK, pl.MLP(10), **BASE))
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(work)  # jax.nn.relu has no pickle of its own
    assert TrainingWorkload(unpack(pack(work)).plan).names == work.names


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (pl.Neuron, "paritylab.NeuronRecipe"),
        (pl.training.Cell, "paritylab.training.Cell"),
        (pl.networks.gelu, "paritylab.networks.gelu"),
        (pl.networks.Zigzag, "paritylab.Zigzag"),
        (pl.distributions.FlippedLabels, "paritylab.FlippedLabels"),
        (pl.circuits.TreePatterns, "paritylab.TreePatterns"),
        (pl.analysis.OneStepMLP, "paritylab.analysis.OneStepMLP"),
        (optimizers.constant, "paritylab.training.optimizers.constant"),
        (SymmetricTask, "paritylab.experiments.symmetry.runs.SymmetricTask"),
    ],
)
def test_what_stood_elsewhere_keeps_its_name_in_stores(thing, name):
    assert canonical(thing) == {"function": name}
