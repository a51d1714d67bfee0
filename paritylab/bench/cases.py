"""The workloads of `paritylab bench`."""

from typing import Literal, NamedTuple


class Case(NamedTuple):
    """A workload: networks on an (n, k)-parity, hinge loss, SGD.

    Networks are of two layers with ReLU units, single sinusoid neurons, or PolyNets with `width` factors.
    """

    n: int
    k: int
    width: int
    batch: int
    network: Literal["mlp", "neuron", "polynet"] = "mlp"
    window: float = 1.0
    """Seconds of a validated round on a GPU: so long that half of the lanes and more get a second run."""
    rate: float = 0.1

    @property
    def operations(self) -> int:
        """Multiplications and additions of one step, forward and backward."""
        return 6 * self.n * self.width * self.batch

    @property
    def numbers(self) -> int:
        """Weights of one network."""
        return self.width * (self.n + 1) + (self.width + 1 if self.network == "mlp" else 0)


class Timed(NamedTuple):
    """A measurement."""

    seconds: float
    steps: int
    """Steps over all models."""


CASES = (
    Case(30, 3, 10, 1),
    Case(30, 3, 10, 32),
    Case(50, 3, 100, 1, window=3),
    Case(50, 3, 100, 32, window=1.5),
    Case(30, 3, 1000, 32, window=2),
    Case(30, 3, 100, 1024, window=2),
    Case(30, 3, 10, 4),
    Case(50, 3, 100, 4, window=1.5),
    Case(30, 4, 1000, 1, window=4),
    Case(30, 3, 1, 32, "neuron"),
    Case(30, 3, 3, 32, "polynet"),
)
VALIDATION, EVERY = 8192, 10
