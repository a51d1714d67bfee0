"""The store: a folder of shards that survives anything.

    store.json      the version of the store's format
    runs/           finished jobs: shards, one for each job or one for many
    failures/       the last traceback of each job that failed
    leases/         who works on what just now
    unfinished/     a shard that is being written
    aside/          files that could not be read

A shard appears in `runs` under its name only when it is whole. Whoever writes holds the lease `commit`,
and writes no run that is already there. Should two shards hold the same run, one of them counts.
"""

import contextlib
import json
import os
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..documents import DocumentCannotBeWritten, publish, write_whole
from .leases import AbstractLeases, LeaseLost, leases_in
from .rows import alike, curves_of, each_run_once, joined, table_of, with_plain_texts, without_empty
from .shards import FORMAT, PARQUET, SUFFIXES, DamagedShard, Shard, encode, inspect, read

Looked = TypeVar("Looked")

READABLE = (1, FORMAT)
PROBED, MOSTLY = 64, 5
"""How many shards tell how slow the disk is, and how many times as long as Python computes it is to take for that."""
FOLDERS = ("runs", "failures", "leases", "unfinished", "aside")
OURS = {*FOLDERS, "store.json"}
"""What another process that makes the same store may have put there already."""


class Store:
    """Finished runs, on disk. `Store(folder)` opens one that is there, `Store.create(folder)` makes it if need be."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        leases: Callable[[Path], AbstractLeases] = leases_in,
        say: Callable[[str], None] = warnings.warn,
    ):
        self.folder, self._say = Path(folder), say
        store_format(self.folder)
        with contextlib.suppress(OSError):  # one that is there can be read, even if not written
            _make_folders(self.folder)  # a copy may lack those that were empty
        self.leases = leases(self.folder / "leases")
        self._shards: dict[str, Shard] = {}
        self._unreadable: set[str] = set()
        self._holder: dict[str, str] = {}
        """The shard that counts, for each run: of several that hold it the first by name."""
        self.refresh()

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        *,
        leases: Callable[[Path], AbstractLeases] = leases_in,
        say: Callable[[str], None] = warnings.warn,
    ) -> "Store":
        """The store in this folder, which is made if there is none."""
        _make(Path(folder))
        return cls(folder, leases=leases, say=say)

    def refresh(self) -> None:
        """Takes note of what other processes have finished since."""
        with os.scandir(self.folder / "runs") as files:
            there = {file.name for file in files if file.name.endswith(SUFFIXES) and _is_file(file)}
        self._forget(self._shards.keys() - there)
        for name, shard in self._each(there - self._shards.keys() - self._unreadable, inspect).items():
            self._note(name, shard)

    def _note(self, name: str, shard: Shard) -> None:
        self._shards[name] = shard
        for run in shard.runs:
            if self._holder.setdefault(run, name) > name:
                self._holder[run] = name

    def _forget(self, names: Iterable[str]) -> None:
        """What only these shards held is missing from now on."""
        gone = set(names) & self._shards.keys()
        if not gone:
            return
        left = {name: shard for name, shard in self._shards.items() if name not in gone}
        self._shards, self._holder = {}, {}
        for name, shard in left.items():
            self._note(name, shard)

    def _each(self, names: Iterable[str], look: Callable[[Path], Looked]) -> dict[str, Looked]:
        """What a look at each shard gives, in the order of their names. What is no shard is set aside.

        One that is gone was merged into another in this moment.
        """
        paths, found = [self.folder / "runs" / name for name in sorted(names)], dict[str, Looked]()
        for path, seen in zip(paths, _looks(look, paths), strict=True):
            if not isinstance(seen, BaseException):
                found[path.name] = seen
            elif not isinstance(seen, FileNotFoundError):
                self._set_aside(path, seen)
        return found

    def _set_aside(self, path: Path, error: BaseException) -> None:
        """A file that cannot be read is kept, but elsewhere; its runs count as missing."""
        self._unreadable.add(path.name)
        self._forget([path.name])
        place = self.folder / "aside" / path.name
        try:
            numbered = (place.with_name(f"{path.stem}-{i}{path.suffix}") for i in range(1, 10**6))
            while place.exists():
                place = next(numbered)
            path.replace(place)
            where = f"was set aside as {place}"
        except OSError:
            where = "was left where it is"
        self._say(
            f"{path} is no whole file of this store ({_reason(error)}); it {where}, and its runs count as missing."
        )

    def missing(self, names: Sequence[str]) -> list[int]:
        """The places of those runs that are not in the store."""
        return [i for i, name in enumerate(names) if name not in self._holder]

    def add(self, table: pa.Table, manifest: dict[str, Any]) -> int:
        """Writes finished runs, except those that are there by now; their number.

        Raises `OSError` if they cannot be written; the store stays as it was.
        """
        table = each_run_once(with_plain_texts(table))
        while True:
            with contextlib.suppress(LeaseLost), self._writing() as draft:
                absent = pa.array([name not in self._holder for name in table.column("run").to_pylist()], pa.bool_())
                fresh = table.filter(absent)
                if len(fresh):
                    self._publish(draft, fresh, {manifest["job"]: manifest})
                return len(fresh.column("run").unique())

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Path]:
        """Holds the right to write, and an empty file for what is written.

        A process that slept until its lease ended and goes on writing can do no harm. Whoever takes the lease removes
        all drafts before looking at what is there: either the sleeper's shard has appeared by then and is seen, or its
        draft is gone and can appear no more (`LeaseLost`). For that a draft is made before it is checked that the
        lease is still held.
        """
        with self.leases.waiting_for("commit"):
            for left in (self.folder / "unfinished").iterdir():
                if not left.is_dir():
                    left.unlink(missing_ok=True)
            draft = self.folder / "unfinished" / uuid.uuid4().hex
            try:
                draft.touch(exist_ok=False)
                self.leases.check("commit")
                self.refresh()
                yield draft
            finally:
                draft.unlink(missing_ok=True)

    def _publish(self, draft: Path, table: pa.Table, manifests: dict[str, Any], merged: bool = False) -> str:
        """Writes a shard; its name."""
        name, content, shard = encode(table, manifests, merged)
        try:
            publish(draft, content, self.folder / "runs" / name)
        except FileNotFoundError as error:
            raise LeaseLost("commit") from error
        except OSError as error:
            raise DocumentCannotBeWritten(error.errno, error.strerror, str(self.folder / "runs" / name)) from error
        self._note(name, shard)
        return name

    def compact(self) -> list[Path]:
        """Merges all files into as few as possible, which can then be carried elsewhere; their paths.

        That is one, unless a column has texts in some and numbers in others: no value may change.
        """
        while True:
            with contextlib.suppress(LeaseLost), self._writing() as draft:
                tables = self._tables()
                old = set(self._shards)
                groups = alike(tables)
                merged = all(name.endswith(PARQUET) and self._shards[name].hashed for name in old)
                if len(groups) < len(old) or not merged:
                    made = set[str]()
                    for group in groups:
                        draft.touch()
                        self.leases.check("commit")
                        manifests = {job: each for name in group for job, each in self._shards[name].manifests.items()}
                        made.add(self._publish(draft, joined(group), manifests, merged=True))
                    for name in old - made:  # all that they hold is in the new ones
                        (self.folder / "runs" / name).unlink(missing_ok=True)
                    self._forget(old - made)
                return [self.folder / "runs" / name for name in sorted(self._shards)]

    def arrow(self, runs: Iterable[str] | None = None, *, plain: bool = False) -> pa.Table:
        """All rows or those of some runs, in the order of the runs' names; `plain` leaves out what was recorded.

        A column that has texts in some shards and numbers in others is text; `paritylab store check` names those.
        """
        rows = self.rows(runs, plain=plain)
        return rows.take(pc.sort_indices(rows.column("run")))

    def rows(self, runs: Iterable[str] | None = None, *, plain: bool = False) -> pa.Table:
        """The same in the order of the shards, and of the rows of each: for who has an order of his own."""
        tables = self._tables(None if runs is None else set(runs), plain)
        if runs is not None:  # columns of other runs in merged shards are of no concern
            tables = {name: without_empty(table) for name, table in tables.items()}
        return joined(tables) if tables else pa.table({"run": pa.array([], pa.string())})

    def _tables(self, asked: set[str] | None = None, plain: bool = False) -> dict[str, pa.Table]:
        """The rows of all runs or these by the shards that they are in, each run once.

        Shards may be merged meanwhile.
        """
        found: dict[str, pa.Table] = {}
        while True:
            wanted = {name: own for name, shard in self._shards.items() if (own := self._own(name, shard, asked))}
            if wanted.keys() <= found.keys():
                break
            found |= self._each(wanted.keys() - found.keys(), lambda path: read(path, plain))
            if wanted.keys() - found.keys():
                self.refresh()
        return {
            name: found[name]
            if len(names) == len(self._shards[name].runs)
            else found[name].filter(pc.is_in(found[name].column("run"), pa.array(names, pa.string())))
            for name, names in sorted(wanted.items())
        }

    def _own(self, name: str, shard: Shard, asked: set[str] | None) -> list[str]:
        """The runs for which this shard counts, of those that are asked for."""
        return [run for run in shard.runs if self._holder[run] == name and (asked is None or run in asked)]

    def table(self) -> pd.DataFrame:
        """One row per run: what it was and how it ended; what was recorded is in `curves`."""
        return table_of(self.arrow(plain=True))

    def curves(self) -> pd.DataFrame:
        """What was recorded: one row per run and recorded step."""
        return curves_of(self.arrow())

    def manifests(self) -> dict[str, Any]:
        """Where each job's runs come from: versions, commit, device, configuration, time."""
        return {job: each for shard in self._shards.values() for job, each in shard.manifests.items()}

    def note_failure(self, job: str, about: dict[str, Any]) -> None:
        """Keeps the last failure of a job. A disk that is full keeps nothing, and that is no further failure."""
        try:
            # Files in `unfinished` belong to whoever may write runs.
            write_whole(self.folder / "failures" / f"{job}.json", json.dumps(about, indent=1).encode())
        except OSError as error:
            self._say(f"The failure of job {job} could not be written down ({_reason(error)}).")

    def forget_failure(self, job: str) -> None:
        (self.folder / "failures" / f"{job}.json").unlink(missing_ok=True)

    def failures(self) -> dict[str, Any]:
        """The last failure of each job that has not succeeded since."""
        found = {}
        for path in sorted((self.folder / "failures").glob("*.json")):
            try:
                found[path.stem] = json.loads(path.read_text())
            except (OSError, ValueError) as error:
                self._say(f"{path} cannot be read ({_reason(error)}), so why that job failed is not known.")
        return found

    @property
    def shard_count(self) -> int:
        """In how many files the runs are; it changes when runs are added or merged."""
        return len(self._shards)

    def __len__(self) -> int:
        return len(self._holder)


def _looks(look: Callable[[Path], Looked], paths: list[Path]) -> Iterator[Looked | BaseException]:
    """What each look gives, or its error.

    Threads are for disks that keep us waiting, as over a network: where Python has to compute, they take twice as long.
    """
    begun, computed = time.perf_counter(), time.thread_time()
    yield from [_or_error(look, path) for path in paths[:PROBED]]
    if time.perf_counter() - begun < MOSTLY * (time.thread_time() - computed):
        yield from (_or_error(look, path) for path in paths[PROBED:])
        return
    with ThreadPoolExecutor() as pool:
        yield from pool.map(lambda path: _or_error(look, path), paths[PROBED:])


def _or_error(look: Callable[[Path], Looked], path: Path) -> Looked | BaseException:
    try:
        return look(path)
    except (DamagedShard, OSError) as error:
        return error


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def store_format(folder: Path) -> int:
    """The version of a store that we can read; none is made."""
    about = folder / "store.json"
    if not os.path.exists(about):  # nor does a name exist that is too long
        raise ValueError(
            f"There is no store in {folder!s:.200} (it has no store.json). Check the path; a sweep that runs there "
            "makes one, and so does `Store.create`."
        )
    try:
        version = json.loads(about.read_text())["format"]
    except (ValueError, KeyError, TypeError, OSError):
        raise ValueError(f"{about} does not say the version of a store's format. Choose another folder.") from None
    if version not in READABLE:
        raise ValueError(
            f"The store {folder} has format {version!r:.80}, and this paritylab reads formats 1 to {FORMAT}. "
            "Use the paritylab that made it, or another folder; nothing was touched."
        )
    return int(version)


def _make(folder: Path) -> None:
    """Makes a store where there is none; nothing else is touched."""
    about = folder / "store.json"
    try:
        if about.exists():
            return
        # A folder with nothing but ours in it is a store that is just being made, here or by another process.
        if folder.exists() and (not folder.is_dir() or any(path.name not in OURS for path in folder.iterdir())):
            raise ValueError(f"{folder} is not empty and no store (it has no store.json). Choose a new folder.")
        _make_folders(folder)
        write_whole(about, json.dumps({"format": FORMAT}).encode(), folder / "unfinished")
    except OSError as error:
        if not os.path.exists(about):  # another process may have made it meanwhile
            raise ValueError(
                f"The store {folder!s:.80} cannot be made ({_reason(error)}). Choose another folder."
            ) from None


def _make_folders(folder: Path) -> None:
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error).split("\n")[0] or type(error).__name__
