"""The workload in PyTorch: a plain loop over one model, and `torch.func.vmap` over many."""

import time
from collections.abc import Callable

import torch

from .cases import Case, Timed


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _parameters(case: Case, *models: int) -> list[torch.Tensor]:
    shapes = [((case.width, case.n), case.n), ((case.width,), case.n), ((case.width,), case.width), ((), case.width)]
    return [(torch.rand((*models, *shape), device=_device()) * 2 - 1) * fan_in**-0.5 for shape, fan_in in shapes]


def _batch(case: Case, *models: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randint(0, 2, (*models, case.batch, case.n), device=_device(), dtype=torch.float32) * 2 - 1
    return x, x[..., : case.k].prod(dim=-1)


def _loss(parameters: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    weight, bias, output, constant = parameters
    out = torch.relu(x @ weight.T + bias) @ output + constant
    return torch.relu(1 - y * out).mean()


def _timed(step: Callable[[], None], models: int) -> Callable[[int], Timed]:
    """A measurement of so many steps of some models, after ten to warm up."""

    def run(steps: int) -> Timed:
        begun = time.perf_counter()
        for _ in range(steps):
            step()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return Timed(time.perf_counter() - begun, steps * models)

    run(10)
    return run


def loop(case: Case) -> Callable[[int], Timed]:
    """The usual loop: one model, autograd, an optimizer."""
    parameters = [each.requires_grad_() for each in _parameters(case)]
    optimizer = torch.optim.SGD(parameters, lr=case.rate)

    def step() -> None:
        optimizer.zero_grad()
        _loss(parameters, *_batch(case)).backward()
        optimizer.step()

    return _timed(step, 1)


def vmap(case: Case, models: int = 128) -> Callable[[int], Timed]:
    """Many models at once through torch.func."""
    parameters = _parameters(case, models)
    gradient = torch.func.vmap(torch.func.grad(_loss))

    def step() -> None:
        gradients = gradient(parameters, *_batch(case, models))
        for parameter, change in zip(parameters, gradients, strict=True):
            parameter.sub_(change, alpha=case.rate)

    return _timed(step, models)
