"""The store: a folder of Parquet files that survives anything.

    store.json      the version of the store's format
    runs/           finished jobs, one file each, rows of runs; a manifest is inside each file
    failures/       the last traceback of each job that failed
    leases/         who works on what just now
    unfinished/     a file that is being written
    aside/          files that could not be read

A file appears in `runs` under its name only when it is whole. Whoever writes holds the lease `commit`,
and writes no run that is already there: every run is in the store once.
"""

import contextlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..training.runs import standard
from .canonical import digest
from .leases import AbstractLeases, leases_in

FORMAT = 1
FOLDERS = ("runs", "failures", "leases", "unfinished", "aside")
OURS = {*FOLDERS, "store.json"}
"""What another process that makes the same store may have put there already."""
KEY = b"paritylab"
"""Under this key the metadata of a Parquet file has our own."""


class Shard(NamedTuple):
    """One file of finished runs, without what was recorded."""

    runs: frozenset[str]
    manifests: dict[str, Any]
    merged: tuple[str, ...]
    """Names of the files that this one replaces."""


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
        _check(self.folder)
        self.leases = leases(self.folder / "leases")
        self._shards: dict[str, Shard] = {}
        self._unreadable: set[str] = set()
        self._present: set[str] = set()
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
        files = {path.name: path for path in (self.folder / "runs").glob("*.parquet")}
        if vanished := self._shards.keys() - files.keys():
            self._shards = {name: shard for name, shard in self._shards.items() if name not in vanished}
            self._present = set().union(*(shard.runs for shard in self._shards.values()))
        for name in sorted(files.keys() - self._shards.keys() - self._unreadable):
            shard = self._inspect(files[name])
            if shard is not None:
                self._shards[name] = shard
                self._present |= shard.runs
        replaced = {name for shard in self._shards.values() for name in shard.merged}
        for name in replaced & self._shards.keys():
            del self._shards[name]

    def _inspect(self, path: Path) -> Shard | None:
        try:
            with pq.ParquetFile(path) as file:
                about = json.loads((file.schema_arrow.metadata or {})[KEY])
                runs = file.read(columns=["run"]).column("run")
            return Shard(frozenset(runs.unique().to_pylist()), about["manifests"], tuple(about["merged"]))
        except FileNotFoundError:
            return None  # merged into another file in this moment
        except (pa.ArrowException, OSError, KeyError, ValueError) as error:
            self._set_aside(path, error)
            return None

    def _set_aside(self, path: Path, error: BaseException) -> None:
        """A file that cannot be read is kept, but elsewhere; its runs count as missing."""
        self._unreadable.add(path.name)
        if gone := self._shards.pop(path.name, None):
            self._present -= gone.runs
        place = self.folder / "aside" / path.name
        numbered = (place.with_name(f"{path.stem}-{i}{path.suffix}") for i in range(1, 10**6))
        while place.exists():
            place = next(numbered)
        try:
            path.replace(place)
            where = f"was set aside as {place}"
        except OSError:
            where = "was left where it is"
        self._say(
            f"{path} is no whole file of this store ({_reason(error)}); it {where}, and its runs count as missing."
        )

    def missing(self, names: Sequence[str]) -> list[int]:
        """The places of those runs that are not in the store."""
        return [i for i, name in enumerate(names) if name not in self._present]

    def add(self, table: pa.Table, manifest: dict[str, Any]) -> int:
        """Writes finished runs, except those that are there by now; their number.

        Raises `OSError` if they cannot be written; the store stays as it was.
        """
        with self.leases.waiting_for("commit"):
            self._sweep_unfinished()
            self.refresh()
            table = table.filter(
                pa.array([n not in self._present for n in table.column("run").to_pylist()], pa.bool_())
            )
            names = table.column("run").unique().to_pylist()
            if names:
                self._write(table, {manifest["job"]: manifest}, ())
        return len(names)

    def _write(self, table: pa.Table, manifests: dict[str, Any], merged: tuple[str, ...]) -> None:
        names = frozenset(table.column("run").unique().to_pylist())
        about = json.dumps({"format": FORMAT, "manifests": manifests, "merged": list(merged)}).encode()
        sink = pa.BufferOutputStream()
        whole = table.replace_schema_metadata({KEY: about})
        pq.write_table(whole, sink, compression="zstd", write_page_checksum=True)
        name = f"{digest(sorted(names))}{'-merged' if merged else ''}.parquet"
        write_whole(self.folder / "runs" / name, sink.getvalue(), self.folder / "unfinished")
        self._shards[name] = Shard(names, manifests, merged)
        self._present |= names

    def _sweep_unfinished(self) -> None:
        """Whoever holds the lease on writing is the only one who writes: other files have lost their owner."""
        for path in (self.folder / "unfinished").iterdir():
            path.unlink(missing_ok=True)

    def compact(self) -> Path:
        """Merges all files into one, which can then be carried elsewhere; its path."""
        with self.leases.waiting_for("commit"):
            self._sweep_unfinished()
            self.refresh()
            if len(self._shards) > 1:
                old = tuple(self._shards)
                gone = {name for shard in self._shards.values() for name in shard.merged}
                manifests = {job: each for shard in self._shards.values() for job, each in shard.manifests.items()}
                self._write(self.arrow(), manifests, (*old, *sorted(gone - set(old))))
                for name in old:
                    (self.folder / "runs" / name).unlink(missing_ok=True)
                    self._shards.pop(name)
        return self.folder / "runs" / next(iter(self._shards), "")

    def arrow(self, columns: Iterable[str] | None = None, runs: Iterable[str] | None = None) -> pa.Table:
        """All rows or those of some runs, in the order of the runs' names, with all columns or some of them."""
        wanted = None if columns is None else list(dict.fromkeys(["run", *columns]))
        asked = self._present if runs is None else set(runs)
        files = sorted(name for name, shard in self._shards.items() if not asked.isdisjoint(shard.runs))
        with ThreadPoolExecutor() as pool:
            tables = [table for table in pool.map(lambda name: self._read(name, wanted), files) if table]
        if runs is not None:  # what other runs have in a column of this name is of no concern
            names = pa.array(sorted(asked), pa.string())
            tables = [table.filter(pc.is_in(table.column("run"), names)) for table in tables]
        if not tables:
            return pa.table({"run": pa.array([], pa.string())})
        order = pa.concat_tables(together(tables), promote_options="permissive").combine_chunks()
        return order.take(pc.sort_indices(order.column("run")))

    def _read(self, name: str, columns: list[str] | None) -> pa.Table | None:
        path = self.folder / "runs" / name
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                known = file.schema_arrow.names
                return file.read(columns=None if columns is None else [c for c in columns if c in known])
        except (pa.ArrowException, OSError) as error:
            self._set_aside(path, error)
            return None

    def table(self) -> pd.DataFrame:
        """One row per run: what it was and how it ended; what was recorded is in `curves`."""
        schemas = [pq.read_schema(self.folder / "runs" / name) for name in self._shards]
        plain = dict.fromkeys(
            field.name for schema in schemas for field in schema if not pa.types.is_nested(field.type)
        )
        return table_of(self.arrow(plain))

    def curves(self) -> pd.DataFrame:
        """What was recorded: one row per run and recorded step."""
        return curves_of(self.arrow())

    def manifests(self) -> dict[str, Any]:
        """Where each job's runs come from: versions, commit, device, configuration, time."""
        return {job: each for shard in self._shards.values() for job, each in shard.manifests.items()}

    def note_failure(self, job: str, about: dict[str, Any]) -> None:
        """Keeps the last failure of a job. A disk that is full keeps nothing, and that is no further failure."""
        try:
            write_whole(
                self.folder / "failures" / f"{job}.json",
                json.dumps(about, indent=1).encode(),
                self.folder / "failures",  # files in `unfinished` belong to whoever may write runs
            )
        except OSError as error:
            self._say(f"The failure of job {job} could not be written down ({_reason(error)}).")

    def forget_failure(self, job: str) -> None:
        (self.folder / "failures" / f"{job}.json").unlink(missing_ok=True)

    def failures(self) -> dict[str, Any]:
        """The last failure of each job that has not succeeded since."""
        return {path.stem: json.loads(path.read_text()) for path in sorted((self.folder / "failures").glob("*.json"))}

    def __len__(self) -> int:
        return len(self._present)


def _check(folder: Path) -> None:
    """Makes sure that there is a store that we can read; none is made."""
    about = folder / "store.json"
    if not about.exists():
        raise ValueError(
            f"There is no store in {folder} (it has no store.json). Check the path; a sweep that runs there makes one, "
            "and so does `Store.create`."
        )
    try:
        version = json.loads(about.read_text())["format"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{about} does not say the version of a store's format. Choose another folder.") from None
    if version != FORMAT:
        raise ValueError(
            f"The store {folder} has format {version}, and this paritylab reads format {FORMAT}. "
            "Use the paritylab that made it, or another folder; nothing was touched."
        )
    with contextlib.suppress(OSError):  # one that is there can be read, even if not written
        _make_folders(folder)  # a copy may lack those that were empty


def _make(folder: Path) -> None:
    """Makes a store where there is none; nothing else is touched."""
    about = folder / "store.json"
    if about.exists():
        return
    # A folder with nothing but ours in it is a store that is just being made, here or by another process.
    if folder.exists() and (not folder.is_dir() or any(path.name not in OURS for path in folder.iterdir())):
        raise ValueError(f"{folder} is not empty and no store (it has no store.json). Choose a new folder.")
    try:
        _make_folders(folder)
        write_whole(about, json.dumps({"format": FORMAT}).encode(), folder / "unfinished")
    except OSError as error:
        if not about.exists():  # another process may have made it meanwhile
            raise ValueError(f"The store {folder} cannot be made ({_reason(error)}). Choose another folder.") from None


def _make_folders(folder: Path) -> None:
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)


def write_whole(path: Path, content: Any, unfinished: Path) -> None:
    """The file appears under its name when all of it is on disk, or not at all."""
    temporary = unfinished / f"{path.name}.{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def together(tables: list[pa.Table]) -> list[pa.Table]:
    """Tables whose columns fit: where a column is text in one and a number in another, it becomes text."""
    kinds: dict[str, set[bool]] = {}
    for table in tables:
        for field in table.schema:
            if not pa.types.is_null(field.type):
                kinds.setdefault(field.name, set()).add(pa.types.is_string(field.type))
    mixed = [name for name, texts in kinds.items() if len(texts) > 1]

    def as_text(table: pa.Table) -> pa.Table:
        for name in set(mixed) & set(table.column_names):
            table = table.set_column(table.column_names.index(name), name, table.column(name).cast(pa.string()))
        return table

    return [as_text(table) for table in tables]


def table_of(rows: pa.Table) -> pd.DataFrame:
    """Rows for people, without what was recorded."""
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    return standard(rows.select(plain).to_pandas())


def curves_of(table: pa.Table) -> pd.DataFrame:
    """List columns in long form: one row per run and recorded step."""
    if "recorded_step" not in table.column_names:
        raise ValueError("Nothing was recorded; plan with records=(...).")
    table = table.filter(pc.is_valid(table.column("recorded_step"))).combine_chunks()
    lengths = pc.list_value_length(table.column("recorded_step")).to_numpy()
    row = np.repeat(np.arange(len(table)), lengths)
    columns: dict[str, Any] = {}
    for field in table.schema:
        values = table.column(field.name)
        if not pa.types.is_nested(field.type):
            columns[field.name] = values.to_pandas().to_numpy()[row]
        elif values.null_count == 0:
            flat = values.combine_chunks().flatten()
            name = "step" if field.name == "recorded_step" else field.name
            columns[name] = flat.to_pylist() if pa.types.is_nested(flat.type) else flat.to_numpy(zero_copy_only=False)
    return pd.DataFrame(columns)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error).split("\n")[0] or type(error).__name__
