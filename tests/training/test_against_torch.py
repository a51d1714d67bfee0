"""Training agrees with a PyTorch implementation that is written here from the formulas alone.

Both sides start from the same weights and see the same points; labels, networks, gradients and
optimizers are PyTorch's own. In float64 nothing but a mistake can part them. In float32 one run in
ten may part when rounding moves an example or a unit across a kink.
"""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.training.engine.lanes import data_key, init_key

torch = pytest.importorskip("torch", reason="needs the bench extra: pip install 'paritylab[bench]'")

N, SUPPORT = 15, (1, 4, 9)
TASK = pl.Uniform(pl.Parity(N, SUPPORT))
BATCH, STEPS, SEEDS = 32, 200, 10


def relu_mlp(p, x):
    """u . relu(W x + b) + c."""
    hidden = torch.relu(x @ p["hidden.0.weight"].T + p["hidden.0.bias"])
    return hidden @ p["output.weight"] + p["output.bias"]


def cubic_mlp(p, x):
    """u . (W x + b)^3 + c."""
    hidden = (x @ p["hidden.0.weight"].T + p["hidden.0.bias"]) ** 3
    return hidden @ p["output.weight"] + p["output.bias"]


def sinusoid_neuron(p, x):
    """sin(pi/2 (w . x + b) + pi/2 (1 - k)) at k = 3."""
    return torch.sin(math.pi / 2 * (x @ p["hidden.weight"] + p["hidden.bias"]) - math.pi)


def polynet(p, x):
    """The product of three affine functions."""
    one, two, three = (x @ p["weight"].T + p["bias"]).unbind(-1)
    return one * two * three


def transformer(p, x):
    """All n + 1 tokens are embedded, every head attends from CLS to all of them; then the MLP block and the head."""
    minus, plus, cls = p["tokens"]
    bits = torch.where(x[..., None] > 0, plus, minus) + p["positions"]
    tokens = torch.cat([cls.expand(len(x), 1, -1), bits], dim=1)
    z = cls
    for query, key, value, out in zip(p["query"], p["key"], p["value"], p["out"], strict=True):
        scores = (cls @ query) @ (tokens @ key).mT / math.sqrt(query.shape[-1])
        attention = torch.softmax(scores, dim=-1)
        z = z + (attention[:, None, :] @ (tokens @ value) @ out)[:, 0]
    hidden = torch.nn.functional.gelu(z @ p["first_weight"].T + p["first_bias"])
    return (z + hidden @ p["second_weight"].T + p["second_bias"]) @ p["head"]


class Case(NamedTuple):
    recipe: Any
    formula: Any
    rate: float


CASES = {
    "relu": Case(pl.MLP(48), relu_mlp, 0.1),
    "cubic": Case(pl.MLP(48, pl.networks.Power(3)), cubic_mlp, 0.1),
    "sinusoid": Case(pl.Neuron(pl.networks.Sinusoid(3)), sinusoid_neuron, 0.1),
    # At rate 0.1 a product amplifies float32 rounding to about 1e-4, in PyTorch against itself as well.
    "polynet": Case(pl.PolyNet(3), polynet, 0.05),
    "transformer": Case(pl.Transformer(embedding=16, attention=4, heads=2), transformer, 0.1),
}
TAKEN = [
    pytest.param(case, id=name, marks=[pytest.mark.acceptance] if name == "transformer" else [])
    for name, case in CASES.items()
]


def weights(network):
    """The trainable arrays of a network by name."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(network, eqx.is_inexact_array))
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in leaves}


def stacked(networks):
    """The weights of many networks, one row per network; float64 holds those of float32 exactly."""
    each = [weights(network) for network in networks]
    return {name: np.stack([one[name] for one in each]).astype(np.float64) for name in each[0]}


def start(recipe):
    """The weights at which the runs of all seeds begin."""
    return stacked(recipe(N, key=init_key(np.uint32(seed))) for seed in range(SEEDS))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads cost small matrices far more than they save, above all where tests share the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def points():
    """The points of every batch: step, seed, example, coordinate."""
    draw = lambda step, seed: TASK.sample(jr.fold_in(data_key(seed), step), BATCH)[0]
    over_seeds = jax.vmap(draw, in_axes=(None, 0))
    over_steps = jax.vmap(over_seeds, in_axes=(0, None))
    return np.asarray(jax.jit(over_steps)(jnp.arange(STEPS), jnp.arange(SEEDS, dtype=jnp.uint32)))


def train_in_torch(case, points, dtype, optimizer, **settings):
    """The weights after all steps. The seeds are independent: their losses are summed, never averaged."""
    parameters = {name: torch.tensor(array, dtype=dtype) for name, array in start(case.recipe).items()}
    for parameter in parameters.values():
        parameter.requires_grad_()
    descent = optimizer(parameters.values(), lr=case.rate, **settings)
    outputs = torch.func.vmap(case.formula)
    for x in torch.tensor(points, dtype=dtype):
        labels = x[..., SUPPORT].prod(dim=-1)
        descent.zero_grad()
        torch.relu(1 - labels * outputs(parameters, x)).mean(dim=-1).sum().backward()
        descent.step()
    return {name: parameter.detach().double().numpy() for name, parameter in parameters.items()}


def train_here(case, *, float64, **settings):
    """With fewer lanes than runs, so that on few cores lanes are filled again; a small program compiles quickly."""
    runs = pl.train(
        TASK,
        case.recipe,
        rate=case.rate,
        batch=BATCH,
        seeds=SEEDS,
        steps=STEPS,
        every=STEPS,
        validation=0,
        keep=True,
        lanes=4,
        float64=float64,
        **settings,
    )
    networks = [runs.network(run) for run in range(SEEDS)]
    assert {array.dtype for array in weights(networks[0]).values()} == {np.dtype("float64" if float64 else "float32")}
    return stacked(networks)


def distances(ours, theirs):
    """|ours - theirs| / |theirs| of each seed, over all parameters together."""
    assert ours.keys() == theirs.keys()
    assert all(ours[name].shape == theirs[name].shape for name in ours)
    flat = lambda arrays: np.concatenate([arrays[name].reshape(SEEDS, -1) for name in sorted(arrays)], axis=1)
    return np.linalg.norm(flat(ours) - flat(theirs), axis=1) / np.linalg.norm(flat(theirs), axis=1)


def compare(case, ours, theirs):
    """The distances, of runs that have gone somewhere: agreement of runs that stand still says nothing."""
    assert np.all(distances(theirs, start(case.recipe)) > 0.01)
    return distances(ours, theirs)


@pytest.mark.parametrize("case", TAKEN)
def test_float64_agrees_in_all_seeds(case, points):
    theirs = train_in_torch(case, points, torch.float64, torch.optim.SGD)
    apart = compare(case, train_here(case, float64=True), theirs)
    assert np.all(apart <= 1e-10), apart


@pytest.mark.parametrize("case", TAKEN)
def test_float32_agrees_in_nine_of_ten_seeds(case, points):
    theirs = train_in_torch(case, points, torch.float32, torch.optim.SGD)
    apart = compare(case, train_here(case, float64=False), theirs)
    assert np.sum(apart <= 1e-4) >= 9, apart


def test_adam_agrees(points):
    """Adam keeps moments and a count of its own, which the engine carries from step to step."""
    case = CASES["relu"]._replace(rate=0.003)
    theirs = train_in_torch(case, points, torch.float64, torch.optim.Adam, eps=1e-8)
    apart = compare(case, train_here(case, float64=True, optimizer=optax.adam), theirs)
    assert np.all(apart <= 1e-8), apart


def test_decay_times_rate_agrees(points):
    """The convention `rate` is the weight decay of PyTorch's SGD."""
    case = CASES["relu"]
    theirs = train_in_torch(case, points, torch.float64, torch.optim.SGD, weight_decay=0.01)
    apart = compare(case, train_here(case, float64=True, decay=pl.training.Decay(0.01, convention="rate")), theirs)
    assert np.all(apart <= 1e-10), apart
