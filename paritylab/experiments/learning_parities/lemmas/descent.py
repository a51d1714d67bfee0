"""Gradient descent after the first step: how much of their bounds Theorem 13 and Lemmas 15 and 16 need."""

import math

import numpy as np
import pandas as pd

from ....cube import cube


def theorem_13(rounds: int, dimension: int, seed: int) -> dict[str, float]:
    """How much of its last term the bound needs, for linear functions (where it is half) and for quadratic ones."""
    from scipy.signal import lfilter

    rng, rate = np.random.default_rng(seed), 0.1
    gradients = rng.normal(size=(rounds, dimension))
    theta = np.concatenate([np.zeros((1, dimension)), -rate * np.cumsum(gradients, axis=0)[:-1]])
    best = -rate * gradients.sum(axis=0)
    needed = [_needed(np.sum(gradients * theta, axis=1), gradients @ best, best, gradients, rate)]
    # f_t = |theta - z_t|^2 / 2: theta_(t+1) = (1 - rate) theta_t + rate z_t, a linear filter
    z = rng.normal(size=(rounds, dimension)) + 1
    theta = np.concatenate([np.zeros((1, dimension)), lfilter([rate], [1, rate - 1], z, axis=0)[:-1]])
    best = z.mean(axis=0)
    losses, compared = (np.sum((each - z) ** 2, axis=1) / 2 for each in (theta, best))
    needed.append(_needed(losses, compared, best, theta - z, rate))
    return {"theorem-13": max(needed)}


def _needed(losses: np.ndarray, compared: np.ndarray, best: np.ndarray, gradients: np.ndarray, rate: float) -> float:
    """The part of rate * mean |gradient|^2 that the difference of the losses takes up; the first theta is 0."""
    difference = losses.mean() - compared.mean() - best @ best / (2 * rate * len(losses))
    return float(difference / (rate * np.mean(np.sum(gradients**2, axis=1))))


def along_descent(curves: pd.DataFrame, n: int, k: int, rate: float, decay: float) -> dict[str, np.ndarray]:
    """Lemmas 15 and 16 at every recorded step: what happened over what the bound allows; the least loss on D_A."""
    x = np.asarray(cube(n), float) / math.sqrt(n)
    y = np.sign(x[:, :k].prod(axis=1))
    ratios: dict[str, list[float]] = {name: [] for name in ("lemma-15-w", "lemma-15-b", "lemma-15-u", "lemma-16")}
    equal = np.abs(np.sign(x[:, :k]).sum(axis=1)) == k
    loss_of = lambda outputs: float(
        (np.maximum(0, 1 - y * outputs).mean() + np.maximum(0, 1 - y * outputs)[equal].mean()) / 2
    )
    losses, errors = [], []
    for _, run in curves.groupby("run"):
        steps, drifts = run.step.tolist(), [np.asarray(each, float) for each in run.layer_drift]
        units = [_units(np.asarray(each, float), x) for each in run.parameters]
        first = units[steps.index(0)]
        u = parity_by_least_squares(first, y)
        before = np.maximum(0, 1 - y * (first @ u))
        for t, drift, now in zip(steps, drifts, units, strict=True):
            if t == 0:
                continue
            moved = 6 * rate**2 * t**2 + rate * t * k / math.sqrt(n)
            bounds = moved + 2 * rate * t * decay * n / k, moved, 6 * rate * t + k / math.sqrt(n)
            for name, value, bound in zip(ratios, drift, bounds, strict=False):
                ratios[name].append(float(value) / bound)
            change = np.abs(np.maximum(0, 1 - y * (now @ u)) - before)
            room = 2 * np.linalg.norm(u) * math.sqrt(np.count_nonzero(u)) * (moved + rate * t * decay * n / k)
            ratios["lemma-16"].append(float(change.max() / room))
        outputs = [now @ _outputs(np.asarray(each, float), n) for now, each in zip(units, run.parameters, strict=True)]
        losses.append(min(map(loss_of, outputs)))
        errors.append(min(float(np.mean(y * each <= 0)) for each in outputs))
    found = {name: np.array(values) for name, values in ratios.items()}
    return found | {"theorem-3-loss": np.array(losses), "theorem-3-error": np.array(errors)}


def _units(parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The outputs of all units at all points."""
    n = x.shape[1]
    units = len(parameters) // (n + 2)  # each has n weights, a bias and an output weight
    weight, bias = parameters[: units * n].reshape(units, n), parameters[units * n : units * (n + 1)]
    return np.clip(x @ weight.T + bias, 0, 6)


def _outputs(parameters: np.ndarray, n: int) -> np.ndarray:
    """The second layer, behind weights and biases; its own bias, if there is one, stays 0."""
    units = len(parameters) // (n + 2)
    return parameters[units * (n + 1) : units * (n + 2)]


def parity_by_least_squares(units: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Some second layer that has to do with the label: Lemma 16 is about any."""
    return np.asarray(np.linalg.lstsq(units, y, rcond=1e-6)[0])
