"""Dask clusters: encrypted, with a job that hangs, and with a scheduler that dies in the middle."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paritylab.cli import app

pytest.importorskip("distributed", reason="needs the extra `cluster`: pip install 'paritylab[cluster]'")

HERE = Path(__file__).parent
CERTIFICATE = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out certificate.pem"


def sweep(folder: Path, job: str, *more: str):
    file, store = folder / "sweep.toml", folder / "store"
    file.write_text(job)
    said = CliRunner().invoke(app, ["sweep", str(file), "--store", str(store), "--json", "--module", "jobs", *more])
    return said, store


@pytest.fixture
def certificates(tmp_path, monkeypatch):
    """A certificate that vouches for itself, and Dask's settings for it, here and in processes that are started."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made with openssl")
    subprocess.run(["openssl", *CERTIFICATE.split()], cwd=tmp_path, check=True, capture_output=True)
    files = {"ca-file": "certificate.pem"}
    for role in ("client", "scheduler", "worker"):
        files |= {f"{role}.cert": "certificate.pem", f"{role}.key": "key.pem"}
    import dask

    with dask.config.set({f"distributed.comm.tls.{name}": str(tmp_path / file) for name, file in files.items()}):
        for name, file in files.items():
            variable = "DASK_DISTRIBUTED__COMM__TLS__" + name.upper().replace("-", "_").replace(".", "__")
            monkeypatch.setenv(variable, str(tmp_path / file))
        yield


@pytest.fixture
def cluster(certificates, tmp_path):
    """The process of a scheduler that talks TLS alone, with a worker, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tls://127.0.0.1:{free.getsockname()[1]}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[1])])}
    dask = [sys.executable, "-m", "dask"]
    words = {
        "scheduler": ["--host", "127.0.0.1", "--protocol", "tls", "--port", address.rsplit(":", 1)[1]],
        "worker": [address, "--nthreads", "1", "--no-nanny"],
    }
    started = {}
    for name, more in words.items():
        with open(tmp_path / f"{name}.log", "w") as log:
            started[name] = subprocess.Popen(
                [*dask, name, *more, "--no-dashboard"], stderr=log, env=environment, cwd=tmp_path
            )
    yield started["scheduler"], address
    for process in started.values():
        process.kill()
        process.wait()


def test_a_cluster_with_tls_a_job_that_hangs_and_a_scheduler_that_dies(cluster, tmp_path):
    scheduler, address = cluster
    give_up = time.monotonic() + 60
    hangs = 'job = "jobs:sleeps"\n[fixed]\nseconds = 60\n[axes]\nx = [1]\n'
    limits = ("--job-timeout", "0.5", "--attempts", "1")
    while (told := sweep(tmp_path, hangs, "--executor", address, *limits))[0].exit_code == 2:  # it is just starting
        assert time.monotonic() < give_up, told[0].stderr
    said, store = told
    assert (said.exit_code, json.loads(said.stdout)["done"]) == (1, 0)
    assert "JobTimeout: call jobs.sleeps, 1 runs in one job, took longer than the 0.5 s that a job may" in said.stderr

    kills = f'job = "jobs:kills"\n[fixed]\npid = {scheduler.pid}\n[axes]\nx = [0, 1]\n'
    said, store = sweep(tmp_path, kills, "--executor", address)
    assert (said.exit_code, json.loads(said.stdout)["done"]) == (1, 1)
    assert said.stderr == (
        f"paritylab: The Dask scheduler at {address} is gone. What was finished is kept; start one and run the same "
        "command again.\n"
    )
    assert not list((store / "leases").iterdir()) and not list((store / "failures").glob("*kills*"))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "needs certificates. Name their files in Dask's configuration: distributed.comm.tls.ca-file"),
        ({"ca-file": "none.pem", "client.cert": "none.pem"}, "cannot be used (No such file or directory). Dask's"),
    ],
    ids=["none", "wrong"],
)
def test_tls_without_certificates_is_wrong_input_and_leaves_nothing(tmp_path, settings, sentence):
    import dask

    with dask.config.set({f"distributed.comm.tls.{name}": value for name, value in settings.items()}):
        said, store = sweep(tmp_path, 'job = "jobs:square"\n[axes]\nx = [1]\n', "--executor", "tls://127.0.0.1:1")
    assert (said.exit_code, said.stdout) == (2, "")
    assert sentence in said.stderr and said.stderr.count("\n") == 1 and not store.exists()
