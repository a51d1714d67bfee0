"""Dask clusters, where one machine is not enough. Needs the extra `cluster`."""

import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from typing import Any

from .executors import WorkStopped

PROTOCOLS = {"dask": "tcp", "tls": "tls"}
"""What the two kinds of addresses are to Dask."""
PATIENCE = 10
"""Seconds in which a scheduler should answer."""

LOGGERS = ("distributed", "distributed.client", "tornado.application", "asyncio")
"""Who prints tracebacks when a connection breaks, of which we say one sentence."""


class ClusterLost(WorkStopped):
    """The Dask scheduler is gone, and with it all that its workers were doing."""


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The workers of the Dask scheduler at `dask://HOST:PORT`, or `tls://HOST:PORT`, as an executor."""
    parts = re.fullmatch(r"(dask|tls)://([^/\s]+):(\d{1,5})", address)
    if parts is None or not 1 <= int(parts[3]) <= 65535:
        raise ValueError(
            f"An executor is written dask://HOST:PORT or tls://HOST:PORT (ports are 1 to 65535), got {address!r}. "
            "Leave it out for this machine."
        )
    try:
        from distributed import Client, Security
    except ImportError:
        raise ValueError("A Dask executor needs the extra `cluster`: pip install 'paritylab[cluster]'.") from None
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    security = Security()  # from Dask's own configuration
    if parts[1] == "tls":
        _check_certificates(security)
    try:
        client = Client(f"{PROTOCOLS[parts[1]]}://{parts[2]}:{parts[3]}", timeout=PATIENCE, security=security)
    except OSError as error:
        raise ValueError(f"No Dask scheduler answers at {address} ({error}). Start one: dask scheduler.") from None
    try:
        yield ClientExecutor(client)
    finally:
        with suppress(TimeoutError):  # it would take leave of a scheduler that is gone for a while
            client.close(timeout=PATIENCE if client.status == "running" else 1)


def _check_certificates(security: Any) -> None:
    """Says which settings of Dask are missing for a connection that is encrypted, or wrong."""
    try:
        ready = security.get_connection_args("client")["ssl_context"] is not None
    except OSError as error:
        raise ValueError(
            f"The certificates for tls:// cannot be used ({error.strerror or error}). Dask's configuration has ca-file "
            f"{security.tls_ca_file}, client.cert {security.tls_client_cert} and client.key {security.tls_client_key}."
        ) from None
    if not ready:
        raise ValueError(
            "An executor at tls:// needs certificates. Name their files in Dask's configuration: distributed.comm.tls."
            "ca-file, .client.cert and .client.key, or DASK_DISTRIBUTED__COMM__TLS__CA_FILE, __CLIENT__CERT and "
            "__CLIENT__KEY in the environment."
        )


class ClientExecutor(Executor):
    """The workers of a Dask client. Give each of them one thread: a job uses all cores that it finds."""

    def __init__(self, client: Any, platform: str = "cpu"):
        self._client, self.platform = client, platform
        self._executor: Executor = client.get_executor(pure=False)
        self._address = client.scheduler.address

    @property
    def workers(self) -> int:
        """Twice as many jobs as there are workers, so that none waits for its next; workers come and go."""
        self._check()
        known = self._client.scheduler_info(n_workers=-1)
        self._check()  # it may have gone while it was asked
        return max(2, 2 * len(known["workers"]))

    def _check(self) -> None:
        """Dask cancels all futures when the connection breaks, so there is nothing to wait for."""
        if self._client.status != "running":
            raise ClusterLost(
                f"The Dask scheduler at {self._address} is gone. What was finished is kept; start one and run the same "
                "command again."
            )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._check()
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=wait)
