"""The workloads of `paritylab bench`."""

from typing import NamedTuple


class Case(NamedTuple):
    """A workload: two-layer ReLU networks on an (n, k)-parity, hinge loss, SGD."""

    n: int
    k: int
    width: int
    batch: int
    rate: float = 0.1

    @property
    def operations(self) -> int:
        """Multiplications and additions of one step, forward and backward."""
        return 6 * self.n * self.width * self.batch


class Timed(NamedTuple):
    """A measurement."""

    seconds: float
    steps: int
    """Steps over all models."""


CASES = (
    Case(30, 3, 10, 1),
    Case(30, 3, 10, 32),
    Case(50, 3, 100, 1),
    Case(50, 3, 100, 32),
    Case(30, 3, 1000, 32),
    Case(30, 3, 100, 1024),
)
VALIDATION, EVERY = 8192, 10
