"""Functions of two halves of bits, and depth-two networks on them held against Lemma 23 and Theorem 12.

Not an experiment. It stays in this place because the names of stored runs contain those of its functions.
"""

import math
from typing import Any, NamedTuple

import numpy as np

import paritylab as pl

from ....bounds import gate_product_matrix, integer_network_rank, razborov_sherstov_matrix
from ....cube import cube

FUNCTIONS = {"f_1": 1, "f_2": 8, "inner product 3": 3, "inner product 4": 4, "inner product 6": 6}
"""Functions and the bits of one half."""


def matrix(function: str) -> np.ndarray:
    kind, size = function.rsplit("_" if function.startswith("f") else " ", 1)
    return razborov_sherstov_matrix(int(size)) if kind == "f" else gate_product_matrix(np.ones(int(size), int))


def target_of(function: str) -> pl.TreeCircuit | pl.GateProduct:
    return pl.targets.razborov_sherstov(2) if function == "f_2" else pl.GateProduct(("OR",) * FUNCTIONS[function])


def integer_networks(half: int, networks: int) -> list[dict[str, object]]:
    """Random networks with integer weights: the rank of their matrix over Lemma 23's bounds."""
    chance, points = np.random.default_rng(half), np.asarray(cube(half), float)
    rows: list[dict[str, object]] = []
    for number in range(networks):
        width, weight = int(chance.integers(1, 6)), int(chance.integers(1, 4))
        drawn = lambda *shape, weight=weight: chance.integers(-weight, weight + 1, shape).astype(float)
        left, right = points @ drawn(half, width), points @ drawn(half, width)
        hidden = np.maximum(left[:, None, :] + right[None, :, :] + drawn(width), 0)
        rank = int(np.linalg.matrix_rank(hidden @ chance.standard_normal(width)))
        printed, corrected = 4 * weight * width * half, integer_network_rank(width, half, weight=weight).value
        rows.append({"number": number, "over_printed": rank / printed, "over_corrected": rank / corrected})
    return rows


def tight_networks(half: int, networks: int) -> list[dict[str, object]]:
    """Networks against Lemma 23, where its printed bound is below the number of rows: the rank over its bounds.

    The inputs from a half take all values that integer weights up to B allow, or nearly (1, 2, ..., B - 1, B, B, ...),
    and a unit's matrix over these values is triangular, so that its rank is their number.
    """
    chance, points = np.random.default_rng(half), np.asarray(cube(half), float)
    rows: list[dict[str, object]] = []
    for number in range(networks):
        weight = int(chance.integers(1, 4))
        most = (2**half - 1) // (4 * weight * half)
        width = int(chance.integers(1, min(most, 5) + 1))
        sizes = np.minimum(np.arange(1, half + 1), weight)
        drawn = lambda sizes=sizes: chance.permuted(sizes) * chance.choice([-1, 1], half)
        matrix, signs = np.zeros((2**half, 2**half)), chance.choice([-1.0, 1.0], width)
        for sign in signs:
            one = drawn()
            matrix += sign * np.maximum((points @ one)[:, None] + (points @ one)[None, :] + 1, 0)
        rank, printed = int(np.linalg.matrix_rank(matrix)), 4 * weight * width * half
        of = {"over_printed": rank / printed, "over_corrected": rank / (width * (weight * half + 1))}
        rows.append({"number": number, **of, "full_over_printed": 2**half / printed})
    return rows


class Network(NamedTuple):
    """A depth-two ReLU network on two halves of inputs; an output bias is one more unit, whose input is constant."""

    left: np.ndarray
    right: np.ndarray
    biases: np.ndarray
    outputs: np.ndarray

    def matrix(self) -> np.ndarray:
        """Its output at every pair of halves."""
        points = np.asarray(cube(self.left.shape[1]), float)
        left, right = points @ self.left.T, points @ self.right.T
        hidden = np.maximum(left[:, None, :] + right[None, :, :] + self.biases, 0)
        made: np.ndarray = hidden @ self.outputs
        return made

    def rounded(self, pieces: int) -> "Network":
        """Inner weights rounded up to multiples of 1 / pieces."""
        up = [np.ceil(part * pieces) / pieces for part in self[:3]]
        return Network(up[0], up[1], up[2], self.outputs)


def theorem12(network: Network, signs: np.ndarray | None = None) -> dict[str, object]:
    """Theorem 12's rounding of a network, on all points: how far the output moves, the signs, the rank.

    `signs` are those of the function that it should compute; without them it is held against itself.
    """
    width, half = network.left.shape
    exact = network.matrix()
    signs = np.sign(exact) if signs is None else signs
    margin, weight = float(np.min(exact * signs)), float(max(np.abs(part).max() for part in network))
    if margin <= 0:
        return {"margin": margin, "weight": weight}
    pieces = math.ceil(2 * weight * width * (2 * half + 1) / margin)
    rounded, coarse = network.rounded(pieces).matrix(), network.rounded(pieces // 4).matrix()
    return {
        "margin": margin,
        "weight": weight,
        "off": float(np.abs(rounded - exact).max() * pieces / (weight * width * (2 * half + 1))),
        "same_signs": bool(np.all(np.sign(rounded) == signs)),
        "same_coarsely": bool(np.all(np.sign(coarse) == signs)),
    }


def edge_networks(half: int, units: int) -> list[dict[str, object]]:
    """Theorem 12 on a network for which its rounding is nearly as bad as can be: a NAND of all bits.

    All units but a constant one are alike and active at all points, and each of their weights is just above a multiple
    of 4/N, with the N that its margin asks for: all are rounded up by nearly 1/N, and that counts at the one point that
    should be -1.
    """
    rows: list[dict[str, object]] = []
    for number, quarter in enumerate((400, 500, 700, 1000)):
        width, pieces = units + 1, 4 * quarter
        margin = 2 * width * (2 * half + 1) / pieces * (1 + 1e-9)
        just_above = lambda value, quarter=quarter: math.floor(value * quarter) / quarter + 0.01 / (4 * quarter)
        slope = just_above(-0.98 / (2 * half))
        left = np.full((width, half), slope)
        left[-1] = 0.0
        biases = np.full(width, just_above(1 - 1 / quarter))
        biases[-1] = 1.0
        least = biases[0] + 2 * half * slope  # where all bits are 1
        outputs = np.append(np.ones(units), -(units * least + margin))
        rows.append({"number": number, **theorem12(Network(left, left.copy(), biases, outputs))})
    return rows


def random_networks(half: int, networks: int) -> list[dict[str, object]]:
    """Theorem 12 on networks with uniform weights; the last unit is constant, so that no output is exactly 0."""
    chance = np.random.default_rng(half)
    rows: list[dict[str, object]] = []
    for number in range(networks):
        width, weight = int(chance.integers(1, 6)), float(chance.uniform(0.5, 2))
        drawn = lambda *shape, weight=weight: chance.uniform(-weight, weight, shape)
        network = Network(drawn(width + 1, half), drawn(width + 1, half), drawn(width + 1), drawn(width + 1))
        for part in network[:2]:
            part[-1] = 0.0
        network.biases[-1] = weight
        rows.append({"number": number, **theorem12(network)})
    return rows


def trained_networks(function: str, width: int, seeds: int, steps: int) -> list[dict[str, object]]:
    """Theorem 12 on networks trained on a function at a rate that falls to 0."""
    target, signs, fall = target_of(function), matrix(function), pl.training.LinearFall(steps)
    how: dict[str, Any] = {"rate": 0.01, "batch": 128, "optimizer": "adam", "schedule": fall, "steps": steps}
    runs = pl.train(pl.Uniform(target), pl.MLP(width), seeds=seeds, every=steps // 4, validation=0, keep=True, **how)
    # The circuit of f_m interleaves the two halves, a product of gates has one after the other.
    order, nothing = np.arange(target.n), np.zeros((1, target.n // 2))
    halves = (order[0::2], order[1::2]) if function == "f_2" else np.split(order, 2)
    rows: list[dict[str, object]] = []
    for run in range(seeds):
        network = runs.network(run)
        weights, biases = (np.asarray(part, float) for part in (network.hidden[0].weight, network.hidden[0].bias))
        left, right = (np.vstack([weights[:, half], nothing]) for half in halves)
        outputs = np.append(np.asarray(network.output.weight, float), float(network.output.bias))
        rows.append({"number": run, **theorem12(Network(left, right, np.append(biases, 1.0), outputs), signs)})
    return rows
