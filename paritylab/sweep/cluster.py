"""Dask clusters, where one machine is not enough. Needs the extra `cluster`."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

SCHEME = "dask://"


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The workers of the Dask scheduler at `dask://HOST:PORT`, as an executor."""
    if not address.startswith(SCHEME) or ":" not in address.removeprefix(SCHEME):
        raise ValueError(f"An executor is written {SCHEME}HOST:PORT, got {address!r}. Leave it out for this machine.")
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("A Dask executor needs the extra `cluster`: pip install 'paritylab[cluster]'.") from None
    try:
        client = Client(address.replace(SCHEME, "tcp://"), timeout=10)
    except OSError as error:
        raise ValueError(f"No Dask scheduler answers at {address} ({error}). Start one: dask scheduler.") from None
    with client:
        yield ClientExecutor(client)


class ClientExecutor(Executor):
    """The workers of a Dask client. Give each of them one thread: a job uses all cores that it finds."""

    def __init__(self, client: Any, platform: str = "cpu"):
        self._client, self.platform = client, platform
        self._executor: Executor = client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        """Twice as many jobs as there are workers, so that none waits for its next; workers come and go."""
        return max(2, 2 * len(self._client.scheduler_info(n_workers=-1)["workers"]))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=wait)
