"""Easy halves of two products of gates, shared by tests."""

import numpy as np

from paritylab import GateProduct, distributions as dist

THREE, FOUR = GateProduct(("OR", "AND", "AND")), GateProduct(("AND", "OR", "AND", "AND"))
HALVES = {
    "E1": dist.equal_gates(THREE),
    "E1'": dist.leave_one_out(FOUR),
    "E2": dist.random_subset(FOUR, 3),
    "E2'": dist.random_subset(FOUR, 3, "uniform"),
    "E3": dist.independent_gates(THREE, 0.7),
    "E4": dist.balanced_gates(FOUR),
    "E5": dist.sparse_pairs(THREE, 0.25),
    "E6": dist.noisy_equal(THREE, 0.1),
    "E7": dist.stealth(THREE),
    "E1 with an even number": dist.EasyHalf(FOUR, dist.SharedSign(np.ones(4), 0.0)),
}
