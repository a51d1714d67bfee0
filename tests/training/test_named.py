"""What anyone would write in Python works, or is answered in one sentence."""

import os
import pty
import subprocess
import sys

import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.registry import LOSSES, NETWORKS
from paritylab.training.named import make_loss, network_named

TASK = pl.Uniform(pl.Parity(6, (0, 1)))
SMALL = {"seeds": 2, "steps": 20, "validation": 64}

SENTENCES = {
    "pl.train(TASK, 'relu-mpl')": "ValueError: There is no network 'relu-mpl'; did you mean 'relu-mlp'?",
    "pl.train(TASK, 'zigzag-neuron')": "ValueError: The network 'zigzag-neuron' has a degree",
    "pl.train(TASK, pl.MLP(4), loss='hnge')": "ValueError: There is no loss 'hnge'; did you mean 'hinge'?",
    "pl.train(TASK, pl.MLP(4), optimizer='adm')": "ValueError: There is no optimizer 'adm'; did you mean 'adam'?",
    "pl.train(TASK, pl.MLP(4), loss=3)": "TypeError: A loss is a function of a label and an output",
    "pl.train(TASK, pl.MLP(4)(6, key=pl.root_key(0)))": "is a network itself. Write a function `def recipe(",
    "pl.train(TASK, eqx.nn.MLP(6, 'scalar', 4, 1, key=pl.root_key(0)))": "got a MLP, which is a network itself",
    "pl.train(TASK, pl.MLP)": "TypeError: A network is given by a recipe, got the class; write, for example, MLP(...)",
    "pl.train(TASK, None)": "TypeError: A network is given by a recipe",
    "pl.train(TASK, lambda n, key: 3.0)": "TypeError: A network is given by a recipe",
    "pl.Parity(10, 3)": "sequence of coordinates, as in Parity(10, (0, 2)), got 3",
    "pl.Parity(5, '12')": "TypeError: The support of a `Parity` is a sequence of coordinates",
    "pl.Parity(3.5, ())": "TypeError: A target has a whole number of coordinates, got n=3.5",
    "pl.train(TASK, pl.MLP(4), rate=optax.cosine_decay_schedule(0.1, 9))": "`rate` is a number, got a function",
    "pl.train(TASK, pl.MLP(4), decay=[0.1, optax.constant_schedule(1)])": "as `Decay(value, schedule=...)`",
    "pl.plan(TASK, pl.MLP(4), batch=[1, 32])": "TypeError: A plan holds runs of one shape",
    "pl.plan(TASK, [pl.MLP(4), pl.MLP(5)])": "TypeError: A plan holds runs of one shape",
    "pl.train(TASK, pl.MLP(4), batch=[32, 32])": "ValueError: A list for `batch` names each once",
    "pl.train(TASK, [])": "ValueError: A list for `network` names each once, and at least one",
    "pl.Uniform(lambda x: x[0])": "Points are labelled by a target, such as Parity(n, support), got <function",
    "pl.Product(lambda x: x[0], 0.5)": "TypeError: Points are labelled by a target",
    "pl.FlippedLabels(pl.Parity(3, (0,)))": "`FlippedLabels` is made from a distribution, got the target Parity",
    "pl.FlippedLabels(TASK)": "TypeError: `FlippedLabels` needs a probability",
    "pl.Mixture([pl.Parity(3, (0,))], [1.0])": "`Mixture` is made from a distribution, got the target Parity",
    "pl.distributions.Encoded(3, 'unit')": "TypeError: "
    "`Encoded` is made from a distribution, such as Uniform(target), got 3",
    "pl.distributions.ShiftedInputs(pl.Parity(3, (0,)), 0.1)": "TypeError: `ShiftedInputs` is made from a distribution",
    "pl.distributions.HeldOut(TASK, pl.Parity(6, (0,)))": "TypeError: `HeldOut` is made from a distribution",
    "Sweep([1])": "TypeError: A sweep is made of plans and calls, plan(...) or Call(f, ...), got 1",
    "pl.train(TASK, pl.MLP(4), labels={'steps': 3})": "ValueError: A column 'steps' is in every table of runs",
    "pl.train(TASK, pl.MLP(4), labels={'run': 'a'})": "ValueError: A column 'run' is in every table of runs",
    "pl.train(TASK, pl.MLP(4), labels=[1])": "TypeError: `labels` are names with values",
}


def test_what_cannot_be_is_answered_in_one_sentence(said_to_users):
    said = said_to_users(*SENTENCES)
    for expression, sentence in SENTENCES.items():
        assert sentence in said[expression] and "\n" not in said[expression], f"{expression}: {said[expression]}"


def test_names_are_what_they_stand_for():
    named = pl.train(TASK, "relu-mlp", loss="square", optimizer="adam", rate=0.01, **SMALL)
    made = pl.train(TASK, pl.MLP(100), loss=pl.training.square_loss, optimizer=optax.adam, rate=0.01, **SMALL)
    assert named.table().equals(made.table())
    assert all(make_loss(name) is not None for name in LOSSES)
    without = [name for name, entry in NETWORKS.items() if not entry.has("k")]
    assert "relu-mlp" in without and "transformer" in without
    for name in without:
        assert callable(network_named(name))


def test_lists_of_networks_and_batches_are_a_grid():
    runs = pl.train(TASK, [pl.MLP(4), pl.MLP(5)], batch=[4], rate=[0.1, 0.2], keep=True, **SMALL)
    table = runs.table()
    assert len(table) == 8 and [len(group) for _, group in table.groupby(["network", "batch", "rate"])] == [2] * 4
    assert len(runs.summary()) == 4 and runs.lanes.shape == (8,)
    alone = pl.train(TASK, pl.MLP(5), batch=4, rate=[0.1, 0.2], keep=True, **SMALL)
    assert np.array_equal(runs.steps[4:], alone.steps) and np.array_equal(runs.mistakes[4:], alone.mistakes)
    assert np.array_equal(runs.network(5).hidden[0].weight, alone.network(1).hidden[0].weight)
    assert np.array_equal(runs.network(-1).hidden[0].weight, alone.network(3).hidden[0].weight)
    assert len(runs.keys) == 8


def test_curves_of_several_shapes_keep_their_runs():
    records = {"records": pl.training.Recording((pl.FreshError(64),), 10)}
    runs = pl.train(TASK, pl.MLP(4), batch=[2, 4], **SMALL, **records)
    alone = pl.train(TASK, pl.MLP(4), batch=4, **SMALL, **records).curves()
    later = runs.curves()[runs.curves().batch == 4]
    assert later.run.unique().tolist() == [2, 3] and later.fresh_error.tolist() == alone.fresh_error.tolist()


SCRIPT = """
import paritylab as pl
pl.train(pl.Uniform(pl.Parity(6, (0, 1))), pl.MLP(4), rate=0.0, seeds=20, steps=200, validation=64, lanes=4{})
"""


@pytest.mark.parametrize(("more", "shown"), [("", True), (", watch=False", False)])
def test_a_bar_is_shown_where_standard_error_is_a_terminal(more, shown):
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as terminal:
        command = [sys.executable, "-c", SCRIPT.format(more)]
        with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL) as process:
            os.close(theirs)
            said = b"".join(iter(lambda: read_or_end(terminal), b""))
    assert process.returncode == 0, said
    assert (b"0/20" in said or b"20/20" in said) == shown, said


def read_or_end(terminal):
    try:
        return terminal.read(4096)
    except OSError:  # the other end is closed
        return b""


def test_no_bar_where_nobody_looks():
    done = subprocess.run([sys.executable, "-c", SCRIPT.format("")], capture_output=True, text=True, check=True)
    assert done.stderr == done.stdout == ""
