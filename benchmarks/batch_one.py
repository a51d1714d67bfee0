"""SGD of batch one in float64: training by jumps against PyTorch loops, in one run. Prints one JSON document.

python benchmarks/batch_one.py          symmetry's network, n = m = 30, 4n + 3 units, both layers, 32 seeds

The loops train one model each, as one would write them: with autograd and an optimizer, and with the updates written
out by hand. All engines train on the sample of the paper's figure 2 from its start, and take turns; the median counts.
"""

import json
import time
from collections.abc import Callable

import numpy as np
import torch

import paritylab as pl
from paritylab.bench.throughput import machine
from paritylab.experiments.symmetry.shared.runs import SymmetricTask
from paritylab.training.host.workers import work_through

N, SEEDS, ROUNDS, EPOCHS = 30, 32, 5, 2000
WIDTH, H = 4 * N + 3, float(N) ** -6
BETA = N**3 * H
Engine = Callable[[], tuple[int, float]]
"""Steps that were done, and the seconds that they took."""


def sample() -> tuple[torch.Tensor, torch.Tensor]:
    points = np.random.default_rng(0).integers(0, 2, (N, N)).astype(float)
    values = np.random.default_rng(1).choice([-1.0, 1.0], N + 1)
    return torch.tensor(points), torch.tensor(values[points.sum(axis=1).astype(int)])


def start() -> list[torch.Tensor]:
    zero = {"dtype": torch.float64}
    return [
        torch.ones(WIDTH, N, **zero),
        1 - torch.arange(WIDTH, **zero),
        torch.zeros(WIDTH, **zero),
        torch.zeros((), **zero),
    ]


def timed(step: Callable[[torch.Tensor, torch.Tensor], None], steps: int = 2000) -> Engine:
    x, y = sample()

    def run() -> tuple[int, float]:
        begun = time.perf_counter()
        for _ in range(-(-steps // N)):
            for i in torch.randperm(N).tolist():
                step(x[i], y[i])
        return -(-steps // N) * N, time.perf_counter() - begun

    return run


def autograd() -> Engine:
    """A loss, `backward` and an optimizer."""
    w, b, m, c = parameters = [each.requires_grad_() for each in start()]
    optimizer = torch.optim.SGD(parameters, lr=H)

    def step(x: torch.Tensor, y: torch.Tensor) -> None:
        optimizer.zero_grad()
        loss = torch.relu(BETA - y * (torch.relu(w @ x + b) @ m + c))
        loss.backward()
        optimizer.step()

    return timed(step)


def by_hand() -> Engine:
    """The updates (2) to (5) of the paper, in place, where the margin does not hold."""
    w, b, m, c = start()

    def step(x: torch.Tensor, y: torch.Tensor) -> None:
        z = torch.addmv(b, w, x)
        v = torch.relu(z)
        if y * (v @ m + c) <= BETA:
            move = H * y * m * (z > 0)
            w.addr_(move, x)
            b.add_(move)
            m.add_(v * (H * y))
            c.add_(H * y)

    with torch.no_grad():
        return timed(step)


def jumps(block: int) -> tuple[Engine, list[float]]:
    """All seeds through the engine; also the share of examples that asked for an update."""
    plan = pl.plan(
        SymmetricTask(N), pl.networks.Staircase(WIDTH), rate=H, loss=pl.training.Confidence(BETA, block=block), batch=1,
        sample=N,
        seeds=SEEDS, steps=N * EPOCHS, every=100 * N, validation=0, float64=True, lanes=SEEDS // 2, keep=True,
    )  # fmt: skip
    work_through(plan.ensemble, seconds=0)  # compiles
    shares: list[float] = []

    def run() -> tuple[int, float]:
        begun = time.perf_counter()
        runs = plan.run()
        seconds, steps = time.perf_counter() - begun, int(runs.steps.sum())
        shares.append(float(runs._collected.state[-2].sum()) / steps)
        return steps, seconds

    return run, shares


def main() -> dict[str, object]:
    engine, shares = jumps(block=1)
    contenders = {"torch autograd loop": autograd(), "torch loop by hand": by_hand(), "paritylab": engine}
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, run in contenders.items():
            steps, seconds = run()
            rates[name].append(steps / seconds)
    medians = {name: float(np.median(values)) for name, values in rates.items()}
    ours = medians["paritylab"]
    return {
        "n": N, "sample": N, "width": WIDTH, "seeds": SEEDS, "precision": "float64",
        "steps per second": medians,
        "times the autograd loop": ours / medians["torch autograd loop"],
        "times the loop by hand": ours / medians["torch loop by hand"],
        "share of examples that asked for an update": shares[0],
        "machine": machine(),
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(main(), indent=1))
