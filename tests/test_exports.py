"""Every export of the rooms with contracts is of a kind that has one, or it is said here why it is not."""

import inspect

import pytest
from exports import KINDS, exports, of_kind, row, without_a_row

from paritylab import targets

NO_KIND = {
    "targets": {
        "GATES": "a constant",
        "count_of_functions": "a number",
        "as_inner_product": "a helper",
        "inner_product_mod_two": "a function of two points",
    },
    "distributions": {
        "Images": "data",
        "Digits": "data",
        "Inputs": "words, of which it makes distributions",
        "mnist": "loads data",
        "small_digits": "loads data",
        "cifar10": "loads data",
        "image_folder": "loads data",
        "made_up_images": "makes data",
        "pooled": "changes data",
        "OutputMoments": "numbers",
        "Phase": "an argument of `Curriculum`",
    },
    "networks": {
        "Network": "a type",
        "Recipe": "the protocol of recipes",
        "gelu": "an activation",
        "relu": "an activation",
        "relu6": "an activation",
        "sigmoid": "an activation",
        "square": "an activation",
        "Power": "an activation",
        "Sinusoid": "an activation",
        "TriangleWave": "an activation",
        "Zigzag": "an activation",
        "OscillatingPolynomial": "an activation",
        "Frozen": "a part of networks",
        "GateLevel": "a part of networks",
        "UnitGates": "a part of networks",
        "first_gates": "a part of networks",
        "first_levels": "parts of networks",
        "sharp_staircase": "a part of networks",
        "GateNetwork": "a network, made by a recipe",
        "AboveGates": "a network, made of trained parts",
        "realize": "a network of explicit weights",
        "gate_product_network": "a network of explicit weights",
        "polynomial_network": "a network of explicit weights",
        "indicator_network": "a network of explicit weights",
        "paired": "changes a network",
        "PolynomialWindow": "numbers of a construction",
        "Comb": "numbers of a construction",
        "best_comb": "finds a `Comb`",
        "comb_network": "a network of explicit weights",
        "law_of_count": "a distribution of a number",
        "narrowest_polynomial": "finds a `PolynomialWindow`",
    },
    "training": {
        "streamed_perceptron": "trains",
        "train": "trains",
        "plan": "plans training",
        "Plan": "runs to train",
        "Cell": "runs to train",
        "Runs": "trained runs",
        "load": "reads trained runs",
        "Outcome": "how runs ended",
        "Seeds": "an argument of `plan`",
        "Recording": "an argument of `plan`",
        "Decay": "an argument of `plan`",
        "Optimizer": "the only one of its kind",
        "ErrorAtMost": "an argument of `plan`",
        "LossBelow": "an argument of `plan`",
        "SignDescent": "an argument of `plan`",
        "Taught": "a distribution that a network labels (tests/training/test_teachers.py)",
        "Snapshot": "what records see",
    },
    "circuits": {
        "Audit": "an account",
        "audit": "gives an account",
        "CountDistribution": "a distribution of a number",
        "count_distribution": "a distribution of a number",
        "correlation_intervals": "numbers",
        "influences": "numbers",
        "label_gap": "a number",
        "node_correlations": "numbers",
        "reveals_gates": "a truth value",
        "TrainedGates": "an account of training",
        "drift": "how gates move",
        "gate_history": "how gates move",
        "train_gates": "trains",
        "LearnedCircuit": "an account of training",
        "follow": "trains",
        "learn_circuits": "trains",
        "hidden_outputs": "a part of networks",
        "least_squares_output": "a part of networks",
        "one_step_layer": "a part of networks",
        "sharp_embedding": "a part of networks",
        "sign_parity": "a part of networks",
        "with_output": "a part of networks",
        "failure_probability": "a number",
        "predicted_samples": "a number",
        "signal_to_noise": "a number",
        "smallest_sample": "a number",
        "GateTables": "tables of patterns",
        "enumerated_tables": "tables of patterns",
        "gate_tables": "tables of patterns",
        "nested_signals": "tables of patterns",
        "sampled_tables": "tables of patterns",
        "TrainedUnits": "an account of training",
        "train_units": "trains",
    },
}
"""Exports without a contract, and what they are."""


@pytest.mark.parametrize("room", KINDS, ids=lambda room: room.__name__)
def test_every_export_is_of_one_kind_or_it_is_said_why_not(room):
    found = {name: [kind for kind in KINDS[room] if name in of_kind(room, kind)] for name in exports(room)}
    assert all(len(kinds) <= 1 for kinds in found.values()), found
    abstract = {name for name, export in exports(room).items() if inspect.isabstract(export)}
    listed = {*NO_KIND[room.__name__.split(".")[-1]]}
    assert {name for name, kinds in found.items() if not kinds} - abstract == listed


def test_an_export_without_a_row_is_found():
    rows = [row(targets.majority, 3), row(targets.Parity, 3, (0,))]
    missing = without_a_row(targets, "target", rows)
    assert {"Symmetric", "random_parity", "NearlySymmetric"} <= missing
    assert not missing & {"majority", "Parity", "AbstractTarget", "GATES", "as_inner_product"}
