"""What runs take is said before it is taken. Peaks of the process were measured once, on a machine with two cores."""

import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab import runtime
from paritylab.training.host.footprint import peak_of

GIB = 2**30
TASK = pl.RandomTask(pl.random_parity, (30, 3))
MEASURED = {
    "a wide network": ({"network": pl.MLP(20_000)}, 2.99),
    "many validation points": ({"validation": 10**6}, 2.26),
    "two wide layers": (
        {
            "task": pl.RandomTask(pl.random_parity, (50, 3)),
            "network": pl.MLP((3000, 3000)),
            "batch": 64,
            "optimizer": optax.adam,
        },
        1.28,
    ),
    "a large batch": ({"batch": 200_000, "validation": 64}, 1.02),
    "records": ({"network": pl.MLP(1000), "seeds": 40, "steps": 100, "records": [pl.training.Parameters()]}, 0.78),
    "many runs": (
        {"network": pl.MLP(1), "seeds": 10**6, "validation": 0, "batch": 1, "every": 1, "steps": 1},
        0.54,
    ),
    "networks that are kept": (
        {"network": pl.MLP(1000), "seeds": 10_000, "validation": 0, "keep": True, "batch": 1, "every": 1, "steps": 1},
        1.64,
    ),
}
"""GiB of the process with two workers at its largest."""


def small(**given):
    return pl.plan(**{"task": TASK, "network": pl.MLP(100), "seeds": 4, "steps": 10, **given})


@pytest.fixture
def four_gib(monkeypatch):
    monkeypatch.setenv("PARITYLAB_MEMORY", "4")


@pytest.mark.parametrize("what", MEASURED)
def test_estimates_are_within_a_factor_of_two(what, four_gib):
    given, peak = MEASURED[what]
    takes = small(**given).footprint("cpu")
    ratio = (takes.host + 2 * takes.worker) / GIB / peak
    assert 0.5 < ratio < 2, ratio


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"network": pl.MLP(100_000), "seeds": 2}, r"of which the validation is \d.* Use fewer validation points"),
        ({"validation": 10**7}, "Use fewer validation points"),
        ({"network": pl.MLP(100_000), "validation": 0, "seeds": 10**4, "keep": True}, "keep no networks"),
        ({"batch": 10**7, "validation": 0}, "Use a smaller batch, width or n"),
        ({"records": [pl.training.Parameters()], "seeds": 10**3, "steps": 10**4}, "Record less, or less often"),
    ],
)
def test_what_does_not_fit_is_said_before_it_is_taken(given, sentence, four_gib):
    with pytest.raises(ValueError, match=f"GiB.*this process may use 4.0 GiB.*{sentence}|{sentence}"):
        small(**given).ensemble  # noqa: B018


def test_tables_of_too_many_runs_are_not_made(four_gib):
    with pytest.raises(ValueError, match="The tables of 100000000 runs would take about"):
        small(seeds=10**8)


def test_lanes_do_not_depend_on_the_memory_of_the_machine(monkeypatch):
    found = set()
    for memory in ("1000", "16", "4"):
        monkeypatch.setenv("PARITYLAB_MEMORY", memory)
        found.add(tuple(small(network=pl.MLP(width)).size("cpu").lanes for width in (100, 20_000, 200_000)))
    assert len(found) == 1


def test_fewer_workers_where_not_all_fit(four_gib):
    takes = small(network=pl.MLP(20_000)).footprint("cpu")
    assert takes.workers(8, 4 * GIB) == 1 and takes.workers(8, 1000 * GIB) == 8


def test_a_product_is_held_and_what_is_fused_is_not():
    a = np.zeros((100, 100), np.float32)
    assert peak_of(lambda a: (a @ a + 1).sum(), a) <= 2 * a.nbytes + 8
    assert peak_of(lambda a: ((a + 1) * 2).sum(), a) <= 8


def test_memory_is_that_of_the_control_group(tmp_path, monkeypatch):
    own = tmp_path / "cgroup"
    own.write_text("4:memory:/a/b\n1:cpu:/\n0::/c\n")
    for path, text in (("memory/a/memory.limit_in_bytes", "5000"), ("c/memory.max", "max"), ("memory.max", "7000")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"{text}\n")
    assert sorted(runtime._limits_of_groups(own, tmp_path)) == [5000, 7000]
    for wrong in ("many", "0", "-1", "nan"):
        monkeypatch.setenv("PARITYLAB_MEMORY", wrong)
        with pytest.raises(ValueError, match="PARITYLAB_MEMORY is a number of GiB above 0"):
            runtime.memory()
