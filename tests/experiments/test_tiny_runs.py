"""Every experiment is measured and drawn: made tiny here, from results that never were, or from its exhibit."""

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from judging import values
from slow import SLOW_EXHIBITS, SLOW_EXPERIMENTS

from paritylab.experiments.base import load
from paritylab.experiments.followups.chain_of_thought import MODELS, Sizes
from paritylab.experiments.followups.quantization import Part
from paritylab.experiments.followups.shared.skills import Skills
from paritylab.experiments.laws.sgd_time import Cell
from paritylab.registry import EXPERIMENTS
from paritylab.report.gallery import exhibits
from paritylab.sweep import Sweep

HERE, GALLERY = Path(__file__).parent, Path(__file__).parents[2] / "docs" / "gallery"

SKILLS = Part(
    Skills(bits=4, tasks=2, k=1, alpha=0.4, disjoint=True), width=8, loss="logistic", optimizer="sgd", rate=0.5,
    batch=32, steps=400, every=20, seeds=2,
)  # fmt: skip

TINY = {
    "followups/two-circuits": {"width": 20, "seeds": 3, "epochs": 10, "every": 5, "keep": (3, 6, 20)},
    "followups/high-degree": {
        "d": 6, "widths": (8, 8), "samples": (200,), "steps": 200, "seeds": 3, "frozen": (6,), "exponents": (0.5, 1.0),
        "frozen_seeds": 3,
    },
    "followups/unseen": {
        "features": 16, "field": 16, "widths": (8,), "steps": 20, "seeds": 3, "wide_seeds": 3, "functions": ("f2",),
    },
    "followups/curriculum": {
        "d": 8, "degrees": (2,), "widths": (8,), "samples": (100, 200), "window": 20, "steps": 200, "seeds": 3,
    },
    "followups/leap": {"sizes": (4, 5, 6), "width": 8, "steps": 1000, "seeds": 4},
    "followups/sign-descent": {"sizes": {2: (4, 5, 6), 3: (4, 5, 6)}, "tries": 2, "seeds": 4, "turned": 4},
    "hidden-progress/fig5": {"starts": 1, "seeds": 2, "blocks": (50, 100), "steps": 400},
    "hidden-progress/fig7-readings": {"seeds": 2, "steps": 50},
    "hidden-progress/fig12": {"draws": 20, "seeds": 2, "steps": 200},
    "hidden-progress/fig18": {"degrees": (1, 2, 3)},
    "hidden-progress/statements": {
        "embedding": 8, "heads": 1, "transformer_seeds": 2, "transformer_steps": 20, "n": 8, "seeds": 8, "steps": 100,
        "networks": 50, "random_sizes": (4, 6), "drift_sizes": (5, 10, 20), "trials": 3, "most": 2**12,
    },
    "learning-parities/lemmas": {
        "dimensions": (13, 101), "degrees": (3,), "neurons": 2, "separator_pairs": 500, "steps": 10,
    },
    "symmetry/fig2": {"epochs": {5: 40}, "records": 4, "seeds": {5: 6}, "second": 6, "points": 100},
    "symmetry/fig3": {"n": 5, "epochs": {2: 20, 3: 40, 4: 40}, "every": 10, "seeds": 6, "points": 100},
    "symmetry/fig4": {"n": 5, "epochs": 40, "every": 10, "seeds": 6, "beside": 40, "points": 100},
    "symmetry/fig7": {"n": 5, "axis": 40, "epochs": 40, "every": 10, "seeds": 6, "points": 100},
    "symmetry/fig8": {"n": 5, "axis": 40, "epochs": 40, "every": 10, "seeds": 6, "points": 100},
    "symmetry/theory": {"problems": 100, "epochs": 40, "seeds": 2, "ties": (10,), "largest": 3},
    "symmetry/fig1": {"largest": 2, "on_the_cube": 1},
    "symmetry/theorem1": {"samples": (40,), "seeds": 2, "n": 4, "epochs": 500, "points": 100},
    "boolean-circuits/regularizer": {"seeds": 2, "samples": 1000},
    "boolean-circuits/lemmas": {"circuits": 1, "resamples": 20, "longest": 50},
    "boolean-circuits/log-parity": {"depths": (3, 4), "problems": 3},
    "boolean-circuits/statements": {"circuits": 3, "networks": 2},
    "depth-separation/stage-two": {
        "seeds": 2, "hard_tanh": (3, 5), "relu": (3, 5), "one_step": (5,), "trained": (3,), "steps": 100,
        "trained_seeds": 2,
    },
    "depth-separation/samples": {"trials": 4, "shared": (9,), "subset": (9,), "independent": (9,), "hopeless": 9},
    "depth-separation/mixing": {"trials": 3},
    "depth-separation/certificates": {
        "exact": (2, 4, 6), "networks": 3, "trained": ((3, 8, 100),), "seeds": 3, "searched": (2, 3, 4), "tries": 2,
        "points": 1000, "factor_steps": 5, "integers": 1,
    },
    "depth-separation/noise": {"trials": 3, "n": 5, "rates": (0.0, 0.1), "seeds": 1, "whole": (0.0, 0.1)},
    "depth-separation/certified-error": {
        "pairs": (9,), "widths": (8,), "rates": 2, "steps": 20, "points": 2048, "degree": 3,
    },
    "depth-separation/unit-proof": {"tables": 200, "radii": (0.9, 1.5), "others": 200, "pairs": (9,), "trials": 3},
    "depth-separation/linear-samples": {"pairs": (5, 9), "multiples": (20, 60), "seeds": 2, "fitted": 5},
    "depth-separation/fan-in": {"gates": ("OR of 3", "majority of 7"), "blocks": (3,), "trials": 2},
    "depth-separation/unlearning": {"pairs": (5,), "seeds": 3, "steps": 20, "records": 2, "points": 2048},
    "depth-separation/pairing": {"trials": 2, "sizes": (5, 9)},
    "followups/chain-of-thought": {
        "grid": ((8, tuple(MODELS), 2),), "points": 64, "epochs": 20, "longer": 30,
        "causal": Sizes(4, (1, 2), (4, 1, 1), (0.01,), 8, 40, 20, 32, 2),
    },
    "followups/distillation": {
        "n": 6, "k": 2, "teacher": 64, "student": 16, "rate": 0.1, "teacher_steps": 600, "longest": 600,
        "checkpoints": 12, "phases": 3, "seeds": 2, "points": 256,
    },
    "followups/pareto": {"widths": (5,), "sizes": (20, 40), "steps": 200, "seeds": 2, "n": 8, "nonzero": 4},
    "followups/quantization": {
        "adam": dataclasses.replace(SKILLS, optimizer="adam", rate=0.05), "widths": (4,), "sgd": SKILLS, "nam": SKILLS,
    },
    "laws/sgd-time": {"cells": (Cell(3, 20, 20, 6, 2000, calls=1),), "n": 8, "samples": 2000},
}  # fmt: skip
"""What is replaced in the settings at quick scale."""

MEASURED_IN = {
    "hidden-progress/fig1-left": "test_training_curves.py",
    "hidden-progress/fig1-right": "test_times.py",
    "hidden-progress/fig2-left": "test_times.py",
    "hidden-progress/fig2-centre": "test_times.py",
    "hidden-progress/fig2-right": "test_times.py",
    "hidden-progress/fig3": "test_training_curves.py",
    "hidden-progress/fig4-left": "test_widths_and_samples.py",
    "hidden-progress/fig4-right": "test_widths_and_samples.py",
    "hidden-progress/fig6": "test_training_curves.py",
    "hidden-progress/fig9": "test_times.py",
    "hidden-progress/fig10": "test_times.py",
    "hidden-progress/fig11": "test_gap_figures.py",
    "hidden-progress/fig13": "test_training_curves.py",
    "hidden-progress/fig14": "test_widths_and_samples.py",
    "hidden-progress/fig15": "test_widths_and_samples.py",
    "hidden-progress/fig16": "test_training_curves.py",
    "hidden-progress/fig17": "test_training_curves.py",
    "hidden-progress/counterexample": "test_widths_and_samples.py",
    "hidden-progress/robust-space": "test_widths_and_samples.py",
    "hidden-progress/theorem4": "test_theory_runs.py",
    "hidden-progress/proposition5": "test_theory_runs.py",
    "hidden-progress/theorem7": "test_theory_runs.py",
    "hidden-progress/theorem8": "test_theory_runs.py",
    "learning-parities/ntk": "test_margin_and_ntk.py",
    "learning-parities/linear": "test_leaky_parity.py",
    "learning-parities/mnist": "test_mnist.py",
    "learning-parities/separation": "test_leaky_parity.py",
    "symmetry/fig5": "test_symmetry.py",
    "symmetry/fig6": "test_symmetry.py",
    "symmetry/beyond": "test_symmetry.py",
    "symmetry/margin": "test_margin_and_ntk.py",
    "boolean-circuits/necessity": "test_boolean_circuits.py",
    "boolean-circuits/comparison": "test_boolean_circuits.py",
    "boolean-circuits/shallow": "test_boolean_circuits.py",
    "boolean-circuits/corollary13": "test_boolean_circuits.py",
    "boolean-circuits/fig1": "test_boolean_circuits.py",
    "boolean-circuits/recovery": "test_boolean_circuits.py",
    "boolean-circuits/fig4": "test_boolean_circuits.py",
}
"""Experiments that a test of their own measures and draws, and where."""


def test_every_experiment_is_measured_and_drawn():
    shown = {about["experiment"] for about in exhibits(GALLERY) if about["curves_kept"]} - {*SLOW_EXHIBITS}
    assert {*EXPERIMENTS} - shown - {*TINY} - {*MEASURED_IN} == set()
    assert {*TINY} | {*MEASURED_IN} <= {*EXPERIMENTS}
    for name, file in MEASURED_IN.items():
        text = (HERE / file).read_text()
        module = EXPERIMENTS[name].module.split(".")[-1]
        assert (module in text or f'"{name}"' in text) and ("values(" in text or "verdicts(" in text), (name, file)


MADE = [pytest.param(name, marks=[pytest.mark.acceptance] if name in SLOW_EXPERIMENTS else []) for name in TINY]


@pytest.mark.parametrize("name", MADE)
def test_an_experiment_made_tiny(name, tmp_path):
    experiment = load(name)
    settings = dataclasses.replace(experiment.SETTINGS["quick"], **TINY[name])
    with ThreadPoolExecutor(1) as here:
        results = Sweep(experiment.plan(settings)).run(tmp_path, executor=here)
    assert results.missing == 0
    found = values(experiment, settings, results)
    assert [*found] == [claim.name for claim in experiment.claims(settings)]
    for low, high in (each.interval for each in found.values()):
        assert low <= high and not math.isnan(low)  # can be judged
