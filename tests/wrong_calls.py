"""Wrong command lines and wrong calls, and a program that makes them as a user does: without checked annotations.

`python tests/wrong_calls.py commands` (or `calls`) makes all of them in one process and prints what came of each, a
line of JSON each; numbers after the word choose some.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

SECONDS = 20
"""What is wrong is said within so many."""

DEEP, LONG, HUGE = "OR(" * 3000, "x" * 5000, 10**13
TINY = "train --n 6 --k 2 --width 4 --batch 8 --seeds 2 --steps 20 --validation 64"
"""A command that would do something, were it not for the option that follows."""

WRONG_OPTIONS: dict[str, dict[str, str]] = {
    TINY: {
        "--n": f"0 -1 1 x 1.5 1e3 nan '' {HUGE}",
        "--k": f"0 -1 7 x 2.5 '' {HUGE}",
        "--support": "'' x 1,1,1 6 -1 1,,2 0.5 0,1,2 1-2",
        "--network": f"'' relu MLP relu-mpl polynet zigzag-neuron {LONG}",
        "--width": f"0 -1 x 4,0 '' 1.5 4, {HUGE} 100000000",
        "--init": "'' gauss uniform2 0",
        "--batch": f"0 -1 x 1.5 '' {HUGE} 1000000000",
        "--rate": "-0.1 nan inf x '' 0.1,0.1 0.1, 1e39 -inf 0.1;0.2",
        "--loss": "'' hing Hinge 0 mse",
        "--optimizer": "'' adamm lbfgs sm3 SGD sgd() scale_by_adam _sgd chain",
        "--decay": "-1 nan inf x 1e39 ''",
        "--noise": "-0.1 1.5 nan inf x ''",
        "--inputs": f"'' x uniform(1) product product(2) 0.5uniform product(nan) uniform+uniform {LONG}",
        "--mean": "-1.1 1.5 nan inf x ''",
        "--share": "0.5 -0.1 1.5 nan x ''",
        "--encoding": "'' bit SIGNS 0",
        "--sample": f"0 -1 x 1.5 {HUGE} ''",
        "--seeds": f"0 -1 x 1.5 {HUGE} 100000001 ''",
        "--steps": f"0 -10 25 x 1e5 {HUGE} ''",
        "--every": f"0 -10 3 x 1.5 {HUGE} ''",
        "--validation": f"-1 x 1.5 {HUGE} 100000000000 ''",
        "--target": "'' paritty majority full-parity random-symmetric 3",
        "--speed": "3",
        "--out": "/dev/null/x /proc/x",
    },
    "train --network transformer --n 6 --steps 20 --seeds 1": {"--width": "8,2,2,8 0 8,0 8,2,0 100000000"},
    "train --target disjoint-parity --n 6 --steps 20 --seeds 1": {"--k": "4 0 7 -1"},
    "train --target full-parity --n 6 --width 4 --steps 20 --seeds 1": {
        "--k": "2",
        "--support": "1",
        "--n": "0 1000001",
    },
    "train --network poly-mlp --n 20 --steps 20 --seeds 1": {"--k": "16 0 21"},
    "analyze fourier": {
        "--target": "'' parety disjoint-parity",
        "--n": f"0 -1 10 x {HUGE} 1.5 ''",
        "--mean": "1 -1 2 nan inf x",
        "--rho": "2 -2 nan x '' 0.5,,0.9",
        "--seed": f"-1 x 4294967296 1.5 {10**30} 5",
        "--k": "2 x",
        "--formula": f"'' OR OR(x0,x1 OR(x0,x2) FOO(x0,x1) {DEEP} OR(x0,OR(x1,x2)) x0 OR(x1,x0) {LONG}",
    },
    "analyze fourier --target parity --n 8": {"--k": "0 9 -1 x", "--seed": "3"},
    "analyze fourier --target parity --k 2": {"--n": "1 40 27 0"},
    "analyze fourier --formula OR(x0,x1)": {"--target": "parity", "--n": "5", "--k": "2", "--seed": "3"},
    "analyze gap --n 9 --k 2": {
        "--n": f"1 0 -3 x {HUGE} 2",
        "--k": "0 9 10 -1 x",
        "--weights": "'' gauss one",
        "--activation": "'' tanh ReLU",
        "--bias": "nan inf -inf x",
        "--seed": f"-1 x {10**30}",
    },
    "analyze gap --n 9 --k 2 --weights ones": {"--seed": "3"},
    "analyze gap --n 101 --k 3 --weights gaussian": {"--activation": "sigmoid"},
    "analyze correlation": {
        "--formula": f"'' OR( {DEEP} FOO(x0,x1) x0",
        "--pairs": f"0 -1 x {HUGE} 500001 1.5 100000",
        "--distribution": "uniform generative nonsense",
        "--share": "0.5",
        "--seed": "3",
    },
    "analyze correlation --formula AND(x0,x1)": {
        "--distribution": "'' equal stealth generativ",
        "--mean": "2 -2 nan inf x",
        "--share": "2 0.5 nan",
        "--colour": "'' red",
        "--failure": "0 1 -1 nan 2 x",
        "--seed": "3",
        "--pairs": "3",
    },
    "analyze correlation --formula AND(x0,x1) --distribution generative": {"--mean": "0.5 0 1", "--failure": "0 2"},
    "analyze correlation --pairs 5 --distribution stealth": {
        "--share": "0 1 2 -1 nan x",
        "--mean": "0.5 0",
        "--failure": "0 0.1 2",
    },
    "analyze correlation --pairs 5": {
        "--share": "2 0.5",
        "--distribution": "generative equql",
        "--colour": "influence red",
    },
    "analyze correlation --pairs 4": {"--distribution": "equal"},
    "analyze margin": {
        "--n": f"0 -1 x '' 5, {HUGE} 5000 100000 1.5",
        "--target": "'' parity disjoint-parity",
        "--seed": f"-1 x {10**30} 3",
    },
    "analyze margin --target majority": {"--n": "10 0"},
    "analyze kernel": {
        "--n": f"0 -1 x {HUGE} 1.5",
        "--bias": "-1 nan inf x",
        "--kind": "'' nkt",
        "--radius": "0 -1 nan inf x",
    },
    "serve": {"--port": f"-1 70000 x 1.5 '' {HUGE}", "--host": f"0.0.0.0 :: 192.0.2.1 example.org '' {LONG}"},
    "serve --expose": {"--host": f"192.0.2.1 nowhere.invalid '' 1.2.3 {LONG}"},
    "serve nowhere": {"--port": "0"},
    "bound kernel --n 30 --k 3": {"--norm": "0 -1 nan inf x '' 1,,2", "--nrom": "3"},
    "bound linear --n 30 --k 3 --norm 1": {"--features": "0 -1 1.5 x nan"},
    "bound kernel-dimension --n 30 --k 3 --norm 1": {"--dimension": "0 -1 1.5 x"},
    "bound queries --n 30 --k 3": {"--tolerance": "0 -1 nan x"},
    "bound gate-queries --n 30": {"--tolerance": "0 -1 2 nan x"},
    "bound integer-rank --width 10 --half 5": {"--weight": "0 -1 1.5 x"},
    "bound integer-width --half 5 --weight 1": {"--sign-rank": "0 -1 nan x"},
    "bound margin-rank --width 10 --half 5 --weight 1": {"--margin": "0 -1 nan x"},
    "bound margin-width --half 5 --weight 1 --margin 0.1": {"--sign-rank": "0 -1 nan"},
    "bound threshold": {"--half": "0 -1 1.5 x nan"},
    "bound hard-tanh --half 5": {"--radius": "-1 nan x"},
    "bound variation --half 5": {"--variation": "-1 nan x"},
    "bound depth-two --half 5 --width 4 --weight 1 --output 1": {"--share": "-1 2 nan x"},
    "bound depth-two-width --half 5 --weight 1 --output 1": {"--correlation": "0 -1 nan"},
    "bound depth-two-rank --half 5": {"--rank": "0 -1 1.5"},
    "bound two-layer --n 30 --k 3 --width 100 --steps 100": {"--failure": "0 1 -1 nan 2", "--constants": "1"},
    "bound two-layer-sizes --k 3 --loss 0.1": {"--failure": "0 1 -1 nan"},
    "bound one-step --n 30 --k 3": {"--loss": "0 -1 nan 2"},
    "bound near-chance --block 10 --k 3": {"--error": "0 -1 nan"},
    "bound polynet --block 10 --k 3 --error 0.1": {"--failure": "0 1 -1 nan"},
    "bound circuit --n 8 --correlation 0.1 --pattern 0.1": {"--failure": "0 1 -1 nan"},
    "bound circuit-product --n 8 --correlation 0.1": {"--failure": "0 1 -1 nan"},
    "bound symmetric --n 8 --error 0.1": {"--failure": "0 1 -1 nan"},
    "list": {"": "loses '' --speed"},
    "bench": {"--cases": "0 99 x '' 1,,2 -1", "--rounds": "0 -1 x 1.5"},
    "sweep": {"": "absent.toml '' --store"},
    "sweep absent.toml --store s": {"--attempts": "0 -1 x", "--workers": "0 -1 x", "--executor": "nonsense"},
    "reproduce": {"": "nothing hidden-progress/fig0 ''", "--scale": "'' huge", "--data": "absent"},
    "report": {"": "absent '' --gallery"},
}
"""Words of a command, and for each option values that it does not take there; an option '' is an argument."""

WRONG_LINES = (
    *(
        "tarin",
        "train train",
        "analyze nothing",
        "bound",
        "bound nothing",
        "bound kernel",
        "bound kernel --n",
    ),
    *(
        "bound kernel --n 30",
        "bound kernel -n 30 --k 3 --norm 1",
        "bound kernel n 30",
        "bound kernel --n=30 --k=3 --norm=",
    ),
    *("bound kernel --n 3 --k 4 --norm 1", "bound kernel --n 0 --k 0 --norm 1", "bound linear --n 3"),
    *("bound polynet --block 10 --k 1000000 --error 0.1 --failure 0.1", "bound kernel --n 30 --n"),
    *("bound kernel --n 30 --n 40 --k 3 --norm 1", "bound threshold --half 5 --half 6", "--nothing", "report"),
    *("sweep", "sweep a b", "reproduce --scale", "list experiments networks", "bench --json --cases"),
    *("train --width 100000 --seeds 2", "train --validation 10000000", "train --seeds 100000000"),
    *("train --n 1000000 --width 10000", "train --width 30000,30000"),
    *("analyze correlation --formula OR(x0,x1) --pairs 3", "analyze correlation --pairs 100001 --distribution stealth"),
    *("analyze fourier --n 1000001", "analyze kernel --n 1000000", "analyze margin --n 5000,5"),
)
"""Whole lines."""


def commands() -> list[list[str]]:
    """All wrong command lines."""
    made = [
        [*shlex.split(words), *filter(None, [option]), value]
        for words, options in WRONG_OPTIONS.items()
        for option, values in options.items()
        for value in shlex.split(values)
    ]
    return made + [shlex.split(line) for line in WRONG_LINES]


SETTING = """
import math
import equinox as eqx, jax, jax.numpy as jnp, numpy as np, optax
import paritylab as pl
from paritylab import analysis as an, bounds as bd, statistics
from paritylab.cube import bit_mask, cube, encode, root_key
from paritylab.sweep import Call, Store, Sweep
KEY, PARITY = root_key(0), pl.Parity(6, (0, 1))
TASK, MLP, CIRCUIT = pl.Uniform(PARITY), pl.MLP(4), pl.targets.circuit_from_formula("OR(AND(x0,x1),AND(x2,x3))")
PRODUCT, NAN = pl.GateProduct(("OR", "AND", "OR")), np.full(6, math.nan)
def plan(**given): return pl.plan(**{"task": TASK, "network": MLP, "seeds": 2, "steps": 20, "validation": 64, **given})
"""
"""What the expressions below know."""

WRONG_CALLS = """
pl.Parity(3.5, ())
pl.Parity(5, "12")
pl.Parity(5, 3)
pl.Parity(5, (0, 0))
pl.Parity(5, (5,))
pl.Parity(5, (-1,))
pl.Parity(5, (0.5,))
pl.Parity(0, ())
pl.Parity(-1, ())
pl.Parity("5", ())
pl.Parity(None, ())
pl.Parity(5, None)
pl.Parity(True, ())
pl.random_parity(5, 6, key=KEY)
pl.random_parity(5, 0, key=KEY)
pl.random_parity(5, 2.5, key=KEY)
pl.random_parity(5, 2, key=0)
pl.targets.random_disjoint_parity(6, 4, key=KEY)
pl.targets.random_disjoint_parity(6, "2", key=KEY)
pl.targets.full_parity(0)
pl.targets.full_parity(2.5)
pl.majority(4)
pl.majority("x")
pl.targets.random_symmetric(0, key=KEY)
pl.Symmetric(3, (1, -1))
pl.Symmetric(3, (1, -1, 0, 1))
pl.Symmetric(3, (1, -1, math.nan, 1))
pl.Symmetric(3, "abcd")
pl.Symmetric(3, None)
pl.targets.NearlySymmetric(pl.majority(3), ())
pl.targets.NearlySymmetric(pl.majority(3), (0, 0))
pl.targets.NearlySymmetric(pl.majority(3), (3,))
pl.targets.NearlySymmetric(PARITY, (0,))
pl.targets.NearlySymmetric(pl.majority(3), 1)
pl.TreeCircuit(3, ("OR", "AND"))
pl.TreeCircuit(4, ("OR",))
pl.TreeCircuit(4, ("OR", "AND", "FOO"))
pl.TreeCircuit(4, 3)
pl.TreeCircuit(2, ([[1, 0], [1, 1]],))
pl.targets.circuit_from_formula("")
pl.targets.circuit_from_formula("OR(x0")
pl.targets.circuit_from_formula("OR(" * 5000)
pl.targets.circuit_from_formula(3)
pl.targets.circuit_from_formula("OR(x1,x0)")
pl.targets.parity_circuit(4, (0, 0))
pl.targets.parity_circuit(5, (0,))
pl.targets.parity_circuit(4, ("a",))
pl.targets.parity_circuit(4, 2)
pl.targets.random_circuit(4, (), key=KEY)
pl.targets.random_circuit(4, ("FOO",), key=KEY)
pl.targets.random_circuit(5, key=KEY)
pl.targets.count_of_functions(3)
pl.targets.count_of_functions("x")
pl.targets.razborov_sherstov(3)
pl.targets.razborov_sherstov(0)
pl.targets.razborov_sherstov(2.0)
pl.GateProduct(())
pl.GateProduct(("XOR",))
pl.GateProduct(3)
pl.GateProduct("OR")
pl.targets.random_gate_product(0, key=KEY)
pl.targets.random_gate_product(2.5, key=KEY)
pl.targets.as_inner_product(PARITY)
bit_mask((-1,))
bit_mask("ab")
bit_mask(3)
pl.root_key("x")
pl.root_key(1.5)
pl.root_key(-1)
pl.root_key(2**40)
pl.root_key(None)
cube(-1)
cube(40)
cube(2.5)
encode(jnp.ones(3), "nothing")
statistics.quantile(np.ones(3), 2)
statistics.quantile(np.ones(0), 0.5)
statistics.quantile(np.ones(3), math.nan)
statistics.wilson_interval(5, 3)
statistics.wilson_interval(-1, 3)
statistics.wilson_interval(1, 0)
pl.Uniform(None)
pl.Uniform(TASK)
pl.Uniform(pl.Parity)
pl.Product(PARITY, 2)
pl.Product(PARITY, math.nan)
pl.Product(PARITY, [0.1, 0.2])
pl.Product(PARITY, "a")
pl.Product(None, 0)
pl.Mixture([TASK], [0.5])
pl.Mixture([TASK, TASK], [0.5])
pl.Mixture([], [])
pl.Mixture([TASK, PARITY], [0.5, 0.5])
pl.Mixture([TASK, TASK], [math.nan, 1])
pl.Mixture([TASK, TASK], "ab")
pl.Mixture([TASK, pl.Uniform(pl.Parity(5, ()))], [0.5, 0.5])
pl.FlippedLabels(TASK, 2)
pl.FlippedLabels(TASK)
pl.FlippedLabels(TASK, math.nan)
pl.FlippedLabels(PARITY, 0.1)
pl.FlippedLabels(TASK, "a")
pl.distributions.ShiftedInputs(TASK, -1)
pl.distributions.ShiftedInputs(TASK, math.nan)
pl.distributions.ShiftedInputs(TASK, math.inf)
pl.distributions.ShiftedInputs(TASK, 1.0).support()
pl.distributions.Encoded(TASK, "other")
pl.distributions.Encoded(None, "bits")
pl.distributions.HeldOut(TASK, pl.Uniform(pl.Parity(5, ())))
pl.distributions.HeldOut(TASK, None)
pl.distributions.EqualBits(TASK)
pl.distributions.EqualBits(pl.majority(3))
pl.distributions.Generative(PARITY)
pl.distributions.Generative(None)
pl.Points(np.ones((0, 3)), np.ones(0))
pl.Points(np.ones((2, 3)), np.zeros(2))
pl.Points(np.ones((2, 3)), np.ones(3))
pl.Points(np.ones(3), np.ones(3))
pl.Points([[1.0]], [1.0])
pl.Points(np.full((2, 3), math.nan), np.ones(2))
TASK.sample(KEY, -1)
TASK.sample(KEY, 2.5)
TASK.sample(0, 4)
TASK.sample(None, 4)
pl.Product(PARITY, 0.5).sample(KEY, -1)
pl.Mixture([TASK, TASK], [0.5, 0.5]).sample(KEY, -1)
pl.Uniform(pl.Parity(40, ())).support()
pl.distributions.draw(TASK, 0, key=KEY)
pl.distributions.draw(TASK, -1, key=KEY)
pl.distributions.draw(TASK, 10**13, key=KEY)
pl.distributions.draw(TASK, 2.5, key=KEY)
pl.distributions.draw(PARITY, 5, key=KEY)
pl.distributions.population(PARITY)
pl.distributions.population(pl.Uniform(pl.Parity(40, ())))
pl.RandomTask(pl.random_parity, (6, 2), 2)
pl.distributions.RandomProduct(pl.random_parity, (6, 2), mean=2)
pl.RandomTask(None, (6, 2))
pl.distributions.RandomLeaky(6, 7)
pl.distributions.Inputs(mean=2)
pl.distributions.Inputs(mixture="uniform + uniform")
pl.distributions.Inputs(mean=0.5, mixture="uniform")
pl.distributions.RandomTaskOn(3, (6, 2), pl.distributions.Inputs())
pl.distributions.RandomTaskOn(pl.random_parity, (6, 2), 3)
pl.distributions.leaky(PARITY, 2)
pl.distributions.leaky(TASK)
pl.distributions.EasyHalf(PRODUCT, pl.distributions.SharedSign(np.ones(2), 0.0))
pl.distributions.EasyHalf(PARITY, pl.distributions.SharedSign(np.ones(3), 0.0))
pl.distributions.SharedSign(np.zeros(3), 0.0)
pl.distributions.SharedSign(np.ones(3), 2.0)
pl.distributions.SharedSign(np.ones(3), 0.0, 2.0)
pl.distributions.IndependentOutputs([2.0])
pl.distributions.RandomSubset(5, np.ones(3))
pl.distributions.RandomSubset(1.5, np.ones(3))
pl.distributions.equal_gates(pl.GateProduct(("OR", "AND")))
pl.distributions.equal_gates(PARITY)
pl.distributions.leave_one_out(PRODUCT)
pl.distributions.random_subset(PRODUCT, 2)
pl.distributions.random_subset(PRODUCT, 1, "other")
pl.distributions.independent_gates(PRODUCT, 1)
pl.distributions.independent_gates(PRODUCT, math.nan)
pl.distributions.noisy_equal(PRODUCT, 2)
pl.distributions.sparse_pairs(PRODUCT, 2)
pl.distributions.separation(pl.distributions.equal_gates(PRODUCT), 2)
pl.distributions.separation(TASK)
pl.distributions.image_folder("absent")
pl.distributions.cifar10("absent")
pl.distributions.mnist("absent", download=False)
pl.MLP(0)
pl.MLP(-1)
pl.MLP(2.5)
pl.MLP("4")
pl.MLP(())
pl.MLP((4, 0))
pl.MLP(None)
pl.MLP(3, paired=True)
pl.MLP(4, 3)
pl.MLP(4, pl.relu, "gaussian")
pl.Neuron(3)
pl.PolyNet(0)
pl.PolyNet(2.5)
pl.networks.DisjointPolyNet(0)
pl.networks.DisjointPolyNet(4)(6, key=KEY)
pl.Transformer(0)
pl.Transformer(8, 0)
pl.Transformer(8, 2, 0)
pl.networks.Staircase(0)
pl.networks.Staircase(trained="none")
pl.networks.RandomFeatures(0)
pl.networks.FourierFeatures(0)
pl.networks.FourierFeatures(4, -1)
pl.networks.FrozenGates(0)
pl.networks.LocalPairs(0, (4,))
pl.networks.LocalPairs(2, (0,))
pl.networks.NeuralGates(0)
pl.networks.PooledGates(0)
pl.networks.TernaryPairs(0, 3)
pl.networks.TernaryPairs(4, 3, "other")
pl.networks.Power(0)
pl.networks.Power(2.5)
pl.networks.Zigzag(0)
pl.networks.Zigzag(math.nan)
pl.networks.Sinusoid(0)
pl.networks.Sinusoid(2, math.nan)
pl.networks.TriangleWave(0)
pl.networks.OscillatingPolynomial(0)
pl.networks.SignInitialization(0)
pl.networks.TernaryInitialization(6, 7)
pl.networks.narrowest_polynomial(0)
pl.networks.narrowest_polynomial(5, 2)
pl.networks.realize(TASK, PARITY)
pl.networks.realize(None, PARITY)
pl.networks.sharp_staircase(0)
pl.networks.indicator_network(PARITY)
pl.networks.gate_product_network(PARITY)
pl.training.Optimizer(rate=-1)
pl.training.Optimizer(rate=math.nan)
pl.training.Optimizer(rate={})
pl.training.Optimizer(rate=True)
pl.training.Optimizer(rate="fast")
pl.training.Optimizer(rate=[[0.1]])
pl.training.Optimizer(rate=None)
pl.training.Optimizer(decay=-1)
pl.training.Optimizer(decay="x")
pl.training.Optimizer(convention="other")
pl.training.Optimizer(optax.lbfgs)
pl.training.Optimizer(3)
pl.training.Optimizer(schedule=3)
pl.training.LinearFall(0)
pl.training.LinearFall(2.5)
pl.training.LinearFall("x")
pl.training.FirstThen("a", 1)
pl.training.FirstThen(math.nan, 1)
pl.Hinge(-1)
pl.Hinge(math.nan)
pl.Hinge("x")
pl.training.Confidence(-1)
pl.training.Confidence(0, 0)
pl.training.RegularizedHinge(-1)
pl.training.RegularizedHinge(1, 2)
pl.FreshError(0)
pl.FreshError(-1)
pl.FreshError(2.5)
pl.training.FreshLoss(0)
pl.training.TopAccuracy(0)
pl.training.ClassBits(0)
pl.training.Weights(())
pl.training.Weights((-1,))
pl.training.Weights(3)
pl.training.OutputFourier(())
pl.training.OutputFourier(((0, 0),))
pl.training.OutputFourier((0, 1))
pl.training.OutputFourier(((0,),), 0)
pl.training.NeuronFourier(3)
pl.training.NeuronFourier(((0,),), (-1,))
pl.watch(3)
pl.watch(pl.Uniform(PARITY))
pl.load("nothing")
pl.load("/dev/null")
pl.load(3)
pl.load("")
pl.Sweep.over(3, width=[1])
pl.Sweep.over(lambda width: 3, width=[])
pl.Sweep.over(lambda width: 3, width=[1])
pl.Sweep.over(lambda width: 3, width=3)
pl.training.ErrorsByPart(0)
pl.training.ErrorsByPart(100, 64)
plan(task=None)
plan(task=PARITY)
plan(task=lambda key: 3)
plan(network=None)
plan(network=pl.MLP)
plan(network=3)
plan(network="relu-mpl")
plan(network="poly-mlp")
plan(network=[MLP, MLP])
plan(network=lambda n: None)
plan(network=lambda n, *, key: None)
plan(network=eqx.nn.MLP(6, "scalar", 4, 1, key=KEY))
plan(rate={})
plan(rate=True)
plan(rate=[[0.1]])
plan(rate=[])
plan(rate=-1)
plan(rate=None)
plan(rate="fast")
plan(rate=[0.1, "a"])
plan(rate=np.array([[0.1]]))
plan(rate={"nothing": 0.1})
plan(rate={3: 0.1})
plan(rate={"hidden": {"x": 1}})
plan(rate=optax.constant_schedule(0.1))
plan(rate=1j)
plan(decay=-1)
plan(decay=True)
plan(decay=[[0.1]])
plan(decay="x")
plan(decay={})
plan(batch=0)
plan(batch=2.5)
plan(batch="x")
plan(batch=True)
plan(batch=None)
plan(seeds=0)
plan(seeds=-1)
plan(seeds=2.5)
plan(seeds="12")
plan(seeds=[])
plan(seeds=[0.5])
plan(seeds=[-1])
plan(seeds=True)
plan(seeds=None)
plan(seeds=10**9)
plan(seeds=[[1, 2]])
plan(seeds=pl.training.Seeds([1], 2))
plan(seeds=pl.training.Seeds(init=2, data=[1, 2, 3]))
plan(seeds=pl.training.Seeds("ab"))
plan(steps=0)
plan(steps=25)
plan(steps=None)
plan(steps=True)
plan(every=0)
plan(every=None)
plan(validation=-1)
plan(validation=None)
plan(validation=10**13)
plan(sample=0)
plan(sample=1.5)
plan(learned=0.01)
plan(learned=pl.training.LossBelow)
plan(learned=pl.training.LossBelow("x"))
plan(learned=pl.training.ErrorAtMost(2))
plan(task=pl.distributions.Curriculum([pl.distributions.Phase(TASK, steps=30)] * 2))
plan(task=pl.distributions.Curriculum([pl.distributions.Phase(TASK, steps=30), pl.distributions.Phase(TASK)]), steps=20)
pl.distributions.Curriculum([])
pl.training.Taught(TASK, 3)
pl.training.Taught(TASK, pl.MLP(4))
pl.training.SignDescent(-1)
pl.training.PrunedErrors(())
pl.networks.PerturbedSigns(-1)
pl.networks.PerturbedSigns("x")
pl.networks.SparseInitialization(0)
pl.networks.NormalInitialization(-1)
pl.distributions.Phase(3)
pl.distributions.Phase(TASK, steps=0)
pl.distributions.Phase(TASK, loss_below="x")
pl.distributions.Stratified([pl.Uniform(pl.Parity(4, (0,)))], [1, 2])
pl.distributions.Stratified([], [])
plan(loss=3)
plan(loss="hing")
plan(loss=pl.Hinge)
plan(loss=lambda y: y)
plan(optimizer="adamm")
plan(optimizer=optax.adam(0.1))
plan(optimizer=optax.lbfgs)
plan(optimizer=optax.sm3)
plan(optimizer=3)
plan(optimizer=lambda: None)
plan(optimizer=lambda rate: 3)
plan(decay=pl.training.Decay(0.1, convention="other"))
plan(schedule=3)
plan(schedule=0.5)
plan(decay=pl.training.Decay(0.1, schedule="x"))
plan(schedule=lambda: 1)
plan(records=pl.FreshError())
plan(records=[3])
plan(records=[pl.FreshError])
plan(records=[pl.FreshError(), pl.FreshError()])
plan(records=3)
plan(records=pl.training.Recording([pl.FreshError()], 3))
plan(records=pl.training.Recording([pl.FreshError()], 0))
plan(records=pl.training.Recording(every=10))
plan(keep="yes")
plan(float64=1)
plan(lanes=0)
plan(lanes=2.5)
plan(labels=[1])
plan(labels={"seed": 1})
plan(labels={3: 1})
plan(labels={"k": [1, 2]})
plan(race=2)
plan(race="x")
plan(race=math.nan)
plan(watch=3)
pl.train(TASK, [], seeds=1, steps=10)
pl.train(TASK, [MLP, MLP], seeds=1, steps=10)
pl.train(TASK, MLP, batch=[], seeds=1, steps=10)
pl.train(TASK, MLP, batch=[8, 8], seeds=1, steps=10)
pl.train(TASK, MLP, batch=[8, "x"], seeds=1, steps=10)
pl.circuits.learn_circuits([], width=4, regularizer=0.1)
an.spectrum(np.ones(3))
an.spectrum(PARITY, 1)
an.spectrum(PARITY, math.nan)
an.spectrum("x")
an.spectrum(len)
an.spectrum(lambda x: x, n=3)
an.spectrum(lambda x: 1.0, n=27)
an.spectrum(lambda x: 1.0, n=1.5)
an.spectrum(lambda x: "x", n=3)
an.spectrum(PARITY, n=3)
an.values_of(3, 3)
an.spectrum(NAN[:4])
an.spectrum(PARITY).noise_stability(2)
an.table_of(pl.Parity(40, ()))
an.symmetric_spectrum(PARITY)
an.symmetric_spectrum(pl.majority(3), 2)
an.neuron_gradient(NAN, pl.relu, (0, 1))
an.neuron_gradient(np.full(30, math.nan), pl.relu, (0, 1))
an.neuron_gradient(np.ones(6), pl.relu, (6,))
an.neuron_gradient(np.ones(6), pl.relu, (0, 0))
an.neuron_gradient(np.ones(6), pl.relu, (0, 1), bias=math.nan)
an.neuron_gradient(np.ones((2, 6)), pl.relu, (0, 1))
an.neuron_gradient(np.ones(6), 3, (0, 1))
an.neuron_gradient(np.ones(6), pl.relu, "ab")
an.gradient_by_enumeration(NAN[None], pl.relu, TASK)
an.gradient_by_enumeration(np.ones((1, 5)), pl.relu, TASK)
an.gradient_by_enumeration(np.ones((1, 6)), pl.relu, PARITY)
an.gradient_by_sums(np.ones(6), (0, 1), pl.relu)
an.gradient_of_sinusoid(NAN, (0, 1))
an.gradient_of_polynomial(NAN, (0, 1), [0, 1])
an.gradient_of_polynomial(np.ones(6), (0, 1), [])
an.gradient_of_threshold(NAN, (0, 1))
an.gradient_of_threshold(np.zeros(6), (0, 1))
an.sign_coefficients(np.full(6, math.inf), (0, 1))
an.population_gradient(None, TASK)
an.population_gradient(MLP(6, key=KEY), PARITY)
an.population_gradient(pl.MLP((4, 4))(6, key=KEY), TASK)
an.maximal_margin(np.ones((0, 2)), np.ones(0))
an.maximal_margin(np.ones((2, 2)), np.zeros(2))
an.maximal_margin(np.full((2, 2), math.nan), np.ones(2))
an.maximal_margin(np.ones((2, 2)), np.ones(3))
an.symmetric_embedding(0)
an.symmetric_embedding(2.5)
an.symmetric_embedding(10**6)
an.perceptron_bound(-1, 1)
an.perceptron_bound(1, math.nan)
pl.circuits.audit(PARITY, TASK)
pl.circuits.audit(CIRCUIT, TASK)
pl.circuits.audit(CIRCUIT, pl.Uniform(CIRCUIT), failure=0)
pl.circuits.gate_tables(CIRCUIT, TASK)
pl.circuits.sampled_tables(CIRCUIT, pl.Uniform(CIRCUIT), 0, key=KEY)
an.gap_of_gradient(NAN, (0, 1))
an.majority_gap(4, 2)
an.samples_to_detect(0, 0.1)
an.samples_to_detect(10, 0)
an.relu_ntk(0)
an.relu_ntk(5, -1)
an.relu_ntk(5, math.nan)
an.relu_conjugate_kernel(2.5)
an.best_hinge(-1, 1)
an.walsh_hadamard(np.ones(3))
an.walsh_hadamard(np.ones(0))
bd.kernel(3, 4, norm=1)
bd.kernel(30, 3, norm=0)
bd.kernel(30, 3, norm=math.nan)
bd.kernel(30, 2.5, norm=1)
bd.kernel("x", 3, norm=1)
bd.fixed_features(30, 3, features=0, norm=1)
bd.parity_queries(30, 3, tolerance=0)
bd.threshold_correlation(0)
bd.threshold_correlation(2.5)
bd.layerwise_circuit(8, correlation=0.1, pattern=0.1, failure=0)
bd.polynet_steps(10, 3, error=0, failure=0.1)
bd.forster(np.zeros((2, 2)))
bd.forster(np.full((2, 2), math.nan))
bd.razborov_sherstov_matrix(0)
Sweep([3])
Sweep(3)
Sweep([plan(keep=True)])
Sweep([plan()]).jobs("cpu", 0)
Sweep([plan()]).run("s", attempts=0)
Sweep([plan()]).run("s", runs_per_job=0)
Sweep([plan()]).run("s", executor=3)
Sweep([plan()]).run(3)
Store("absent")
Call(3, {})
Call(len, 3)
Call(len, {"x": 1}, labels=[1])
Call(len, {"x": 1}, seconds="x")
""".strip().splitlines()
"""Expressions, each of them wrong."""


class TooLongError(BaseException):
    """No handler of the lab's may take it for an error of its own."""


@contextlib.contextmanager
def time_limit():
    def stop(*_):
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fault_of_command(words: list[str]) -> str | None:
    """What is wrong with the answer to a wrong command line; None if nothing is."""
    from typer.testing import CliRunner

    from paritylab.cli import app

    try:
        with time_limit():
            said = CliRunner().invoke(app, words)
    except TooLongError:
        return f"takes more than {SECONDS} s"
    if isinstance(said.exception, TooLongError):
        return f"takes more than {SECONDS} s"
    if said.exception is not None and not isinstance(said.exception, SystemExit):
        return "".join(traceback.format_exception(said.exception))[-2000:]
    if said.exit_code != 2:
        return f"exit code {said.exit_code}: {said.stdout[:200]} {said.stderr[:200]}"
    if said.stdout or not said.stderr.strip():
        return None if "Usage: " in said.stdout else f"standard output: {said.stdout[:200]!r}"
    if "Error: " in said.stderr.splitlines()[-1]:  # the parser's own words
        return None
    return fault_of_sentence(said.stderr.strip())


def fault_of_sentence(told: str) -> str | None:
    if not told.endswith("."):
        return f"no sentence: {told[-300:]}"
    if told.count("\n") > 1 or len(told.partition("There are: ")[0]) > LONGEST:
        return f"too long: {told[:600]}"
    return None


LONGEST = 500
"""Characters of a sentence, but for the names that there are."""


def fault_of_call(expression: str, setting: dict) -> str | None:
    """What is wrong with the answer to a wrong call; None if nothing is."""
    import paritylab

    home = str(Path(paritylab.__file__).parent)
    try:
        with time_limit():
            made = eval(expression, setting)
    except TooLongError:
        return f"takes more than {SECONDS} s"
    except (ValueError, TypeError) as error:
        raised_at = traceback.extract_tb(error.__traceback__)[-1].filename
        if not raised_at.startswith(home):
            return f"raised in {raised_at}: {type(error).__name__}: {str(error)[:300]}"
        return fault_of_sentence(str(error))
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return f"accepted: {made!r:.100}"


def main(kind: str, *chosen: str) -> None:
    os.environ["PARITYLAB_MEMORY"] = "4"  # whatever this machine has
    made = commands() if kind == "commands" else WRONG_CALLS
    setting: dict = {}
    if kind == "calls":
        exec(SETTING, setting)
    for number in map(int, chosen) if chosen else range(len(made)):
        begun = time.monotonic()
        fault = fault_of_command(made[number]) if kind == "commands" else fault_of_call(made[number], setting)
        if left := sorted(os.listdir()):
            fault = f"{fault or ''} leaves {left}"
        what = made[number] if isinstance(made[number], str) else shlex.join(made[number])
        found = {"what": what[:200], "fault": fault, "seconds": round(time.monotonic() - begun, 2)}
        print(json.dumps(found), flush=True)
        if left:
            for path in left:
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
