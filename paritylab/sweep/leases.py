"""Leases: at most one process works on a job, and a lease ends with its owner.

On a local disk a lease is a held file lock, which the operating system lets go of when its owner
ends, however it ends. On network folders, where locks are often promised and not kept, it is a file
with a heartbeat. No clock on a wall is asked: whoever waits counts the seconds, on a clock of its own
that never jumps, during which a heartbeat stood still.
"""

import abc
import errno
import os
import threading
import time
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.sshfs", "9p", "afs")


class LeaseLost(RuntimeError):
    """Another took the lease, since its owner seemed to have ended."""


class AbstractLeases(abc.ABC):
    """Leases by name, kept in a folder."""

    _held: Collection[str]

    def __init__(self, folder: Path):
        self.folder = folder

    @abc.abstractmethod
    def take(self, name: str) -> bool:
        """Whether the lease could be had; it is held from now on."""

    def holds(self, name: str) -> bool:
        """Whether this process took the lease and has not given it back."""
        return name in self._held

    @abc.abstractmethod
    def kept(self, name: str) -> bool:
        """Whether a lease that was taken still is this process's: the disk is asked."""

    def check(self, name: str) -> None:
        """Raises `LeaseLost` if another has the lease by now."""
        if not self.kept(name):
            raise LeaseLost(name)

    @abc.abstractmethod
    def give_back(self, name: str) -> None:
        """Lets go of a lease that is held."""

    @contextmanager
    def waiting_for(self, name: str) -> Iterator[None]:
        """Holds the lease, after waiting for it if need be."""
        while not self.take(name):
            time.sleep(0.01)
        try:
            yield
        finally:
            self.give_back(name)


class LockLeases(AbstractLeases):
    """A lease is a locked file."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self._held: dict[str, int] = {}

    def take(self, name: str) -> bool:
        path = self.folder / name
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(handle)
                if error.errno in (errno.EAGAIN, errno.EACCES):
                    return False
                raise
            self._held[name] = handle
            # Its last owner may have removed the file between our opening it and our locking it.
            if self.kept(name):
                return True
            os.close(self._held.pop(name))

    def kept(self, name: str) -> bool:
        try:
            return os.fstat(self._held[name]).st_ino == (self.folder / name).stat().st_ino
        except FileNotFoundError:
            return False

    def give_back(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        os.close(self._held.pop(name))


class HeartbeatLeases(AbstractLeases):
    """A lease is a file whose content changes every `beat` seconds; one that stood still for `patience` has ended."""

    def __init__(self, folder: Path, beat: float = 5.0, patience: float = 60.0):
        super().__init__(folder)
        self.beat, self.patience = beat, patience
        self.owner = uuid.uuid4().hex
        self._held: set[str] = set()
        self._seen: dict[str, tuple[bytes, float]] = {}
        self._lock, self._beats = threading.RLock(), 0
        self._heart: threading.Thread | None = None

    def take(self, name: str) -> bool:
        path = self.folder / name
        if path.exists() and not self._stood_still(path):
            return False
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        with os.fdopen(handle, "w") as file:
            file.write(f"{self.owner} 0")
        with self._lock:
            self._held.add(name)
            if self._heart is None or not self._heart.is_alive():
                self._heart = threading.Thread(target=self._keep_beating, daemon=True)
                self._heart.start()
        return True

    def _stood_still(self, path: Path) -> bool:
        """Whether the owner is gone; then the file is removed, by one of those who wait."""
        now = time.monotonic()
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return True
        before, since = self._seen.setdefault(path.name, (content, now))
        if content != before:
            self._seen[path.name] = (content, now)
            return False
        if now - since < self.patience:
            return False
        ended = path.with_name(f"{path.name}.{self.owner}.ended")
        try:
            path.rename(ended)  # only one of those who wait can do this
        except FileNotFoundError:
            return False
        ended.unlink()
        self._seen.pop(path.name, None)
        return True

    def _keep_beating(self) -> None:
        while True:
            time.sleep(self.beat)
            with self._lock:
                if not self._held:
                    self._heart = None
                    return
                self._beats += 1
                for name in self._held:
                    if self.kept(name):
                        (self.folder / name).write_text(f"{self.owner} {self._beats}")

    def kept(self, name: str) -> bool:
        try:
            with self._lock:  # no beat is half written
                return (self.folder / name).read_text().startswith(self.owner)
        except FileNotFoundError:
            return False

    def give_back(self, name: str) -> None:
        with self._lock:
            self._held.discard(name)
            if self.kept(name):
                (self.folder / name).unlink()


def leases_in(folder: Path) -> AbstractLeases:
    """The kind of lease that the folder's file system can be trusted with."""
    if fcntl is None or any(file_system(folder).startswith(name) for name in NETWORK):
        return HeartbeatLeases(folder)
    return LockLeases(folder)


def file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """The type of the file system that holds the folder, or nothing where that cannot be found out."""
    if not mounts.exists():
        return ""
    place, found, length = folder.resolve(), "", 0
    for line in mounts.read_text().splitlines():
        _, mounted, kind, *_ = line.split(" ")
        point = Path(mounted.replace("\\040", " "))
        if place.is_relative_to(point) and len(point.parts) >= length:
            found, length = kind, len(point.parts)
    return found
