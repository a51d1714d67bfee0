"""Covered runs of these tests are trained by emulated kernels."""

import pytest
from emulation import COMPILER, Emulator

from paritylab.training.fused import launching


@pytest.fixture(scope="session")
def emulator(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    return Emulator(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def kernels(emulator, monkeypatch):
    """As on a machine with a GPU, but that kernels run on this one."""
    launching.use_backend("cpu", emulator)
    monkeypatch.setattr("paritylab.training.plans.kernels_run_here", lambda: True)
    yield emulator
    launching._backends.pop("cpu", None)
