"""Shards: the files of a store, each with the finished runs of some jobs.

A shard has the manifests of its jobs and its format inside, and its name ends with a hash of all its bytes: it is read
as it was written or not at all. Small ones are Arrow files, since thousands of them are read several times faster;
large ones, and what is merged to be carried elsewhere, are Parquet files. Shards of format 1 are Parquet files without
a hash in their names; there, Parquet's own checksums of pages are all that there is.
"""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from ..documents import other_kind
from .canonical_form import digest

FORMAT = 2
ARROW, PARQUET = ".arrow", ".parquet"
SUFFIXES = (ARROW, PARQUET)
KEY = b"paritylab"
"""Under this key the metadata of a table has our own."""
SMALL = 2**20
"""Bytes from which on a shard is compressed."""
HASHED = re.compile(r".*-sha256-([0-9a-f]{32})\.(arrow|parquet)")


class DamagedShard(ValueError):
    """A file that is not what was written, or never was a shard."""


class NewerShard(ValueError):
    """A shard of a format that came after this version."""


class Shard(NamedTuple):
    """What is known of a shard, without its rows."""

    runs: tuple[str, ...]
    """The names of its runs, each once."""
    about: bytes
    """Its manifests and format, in JSON."""
    hashed: bool
    """Whether its name tells what its content must be."""

    @property
    def manifests(self) -> dict[str, Any]:
        """Where the runs of each of its jobs come from."""
        return json.loads(self.about)["manifests"]


class Encoded(NamedTuple):
    """A shard that can be written."""

    name: str
    content: pa.Buffer
    shard: Shard


def encode(table: pa.Table, manifests: dict[str, Any], merged: bool = False) -> Encoded:
    """The shard of these rows."""
    about = json.dumps({"format": FORMAT, "manifests": manifests}).encode()
    whole = table.combine_chunks().replace_schema_metadata({KEY: about})
    if merged or whole.nbytes >= SMALL:
        suffix, content = PARQUET, parquet(whole)
    else:
        suffix, sink = ARROW, pa.BufferOutputStream()
        with ipc.new_file(sink, whole.schema) as file:
            file.write_table(whole)
        content = sink.getvalue()
    runs = tuple(table.column("run").unique().to_pylist())
    return Encoded(f"{digest(sorted(runs))}-sha256-{_hash(content)}{suffix}", content, Shard(runs, about, hashed=True))


def parquet(table: pa.Table, level: int | None = None) -> pa.Buffer:
    """A table as a file. Seeds, which rise one by one, take no room as differences; no two names of runs are alike."""
    ways = {"seed": "DELTA_BINARY_PACKED", "run": "DELTA_LENGTH_BYTE_ARRAY"}
    plain = [field.name for field in table.schema if pa.types.is_integer(field.type) or pa.types.is_string(field.type)]
    own = {name: way for name, way in ways.items() if name in plain}
    sink = pa.BufferOutputStream()
    others = [name for name in table.column_names if name not in own]
    how: dict[str, Any] = {"compression": "zstd", "compression_level": level}
    pq.write_table(table, sink, use_dictionary=others, column_encoding=own or None, **how)
    return sink.getvalue()


def inspect(path: Path) -> Shard:
    """What a shard holds. Every byte of it was looked at."""
    table, hashed = _rows(path, lambda schema, hashed: ["run"] if hashed else schema.names)
    about = (table.schema.metadata or {}).get(KEY, b"")
    _check_about(path, about, hashed)
    runs = table.column("run")
    if not pa.types.is_string(runs.type) or runs.null_count:
        raise DamagedShard("its runs have no names")
    return Shard(tuple(dict.fromkeys(runs.to_pylist())), about, hashed)


def read(path: Path, plain: bool = False) -> pa.Table:
    """The rows of a shard; `plain` leaves out what was recorded on the way."""

    def wanted(schema: pa.Schema, hashed: bool) -> list[str]:
        curves = plain and "recorded_step" in schema.names
        return [field.name for field in schema if not (curves and pa.types.is_nested(field.type))]

    return _rows(path, wanted)[0].replace_schema_metadata(None)


def _rows(path: Path, wanted: Callable[[pa.Schema, bool], list[str]]) -> tuple[pa.Table, bool]:
    """Some columns of a file whose content is what its name says, and whether the name says anything."""
    if (kind := other_kind(path)) is not None:
        raise DamagedShard(f"it is {kind}")
    content, hashed = path.read_bytes(), HASHED.fullmatch(path.name)
    if hashed and hashed[1] != _hash(content):
        raise DamagedShard("its content is not what was written")
    source = pa.BufferReader(content)
    try:
        if path.suffix == ARROW and hashed:
            file = ipc.open_file(source)
            table = file.read_all().select(wanted(file.schema, True))
        else:
            # In this thread: whoever reads many shards does so in several.
            with pq.ParquetFile(source, page_checksum_verification=not hashed) as file:
                table = file.read(columns=wanted(file.schema_arrow, bool(hashed)), use_threads=False)
        if not hashed:
            table.validate(full=True)
        if "run" not in table.column_names:
            raise DamagedShard("it has no column of runs")
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise DamagedShard(str(error).split("\n")[0] or type(error).__name__) from error
    return table, bool(hashed)


def _check_about(path: Path, about: bytes, hashed: bool) -> None:
    """Says what is wrong with the metadata."""
    try:
        found = json.loads(about)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("manifests"), dict):
        raise DamagedShard("it does not say which jobs its runs come from")
    version = found.get("format")
    if hashed and isinstance(version, int) and version > FORMAT:
        raise NewerShard(
            f"{path} has format {version}, and this paritylab reads formats up to {FORMAT}. Use the paritylab that "
            "wrote it, or another folder; nothing was touched."
        )
    if version != (FORMAT if hashed else 1):
        raise DamagedShard(f"it claims to have format {version!r:.20}")


def _hash(content: Any) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
