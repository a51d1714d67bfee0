"""Whether a store is sound: every shard as it was written, every run once. Nothing is touched."""

from pathlib import Path
from typing import Any

from .rows import mixed, said_of
from .shards import SUFFIXES, DamagedShard, NewerShard, Shard, inspect, read
from .store import store_format

Finding = dict[str, str]


def check_store(folder: Path) -> dict[str, Any]:
    """What a store holds, and what is wrong with it: a list of findings, each with its file and a sentence."""
    version = store_format(folder)
    shards, findings = _looked_at(folder / "runs")
    schemas, rows = {}, 0
    for name in shards:
        table = read(folder / "runs" / name)
        schemas[name], rows = table.schema, rows + len(table)
    findings += _twice(shards)
    listed = {name: _names(folder / name) for name in ("unfinished", "aside", "leases", "failures")}
    return {
        "store": str(folder),
        "format": version,
        "files": len(shards),
        "runs": len({run for shard in shards.values() for run in shard.runs}),
        "rows": rows,
        "without_hash": sum(not shard.hashed for shard in shards.values()),
        **{name: len(files) for name, files in listed.items()},
        "mixed": [said_of(name, files) for name, files in mixed(schemas).items()],
        "findings": findings,
    }


def _looked_at(runs: Path) -> tuple[dict[str, Shard], list[Finding]]:
    """The shards that are whole, and what is wrong with other files."""
    shards: dict[str, Shard] = {}
    findings: list[Finding] = []
    for name in _names(runs):
        try:
            if Path(name).suffix not in SUFFIXES:
                raise DamagedShard("it has another ending than shards have")
            shards[name] = inspect(runs / name)
        except (DamagedShard, NewerShard, OSError) as error:
            findings.append({"file": name, "finding": f"It is no whole shard of this store ({error})."})
    return shards, findings


def _twice(shards: dict[str, Shard]) -> list[Finding]:
    """Shards whose runs are in an earlier one as well."""
    seen: set[str] = set()
    findings = []
    for name, shard in sorted(shards.items()):
        if again := sum(run in seen for run in shard.runs):
            told = f"{again} of its {len(shard.runs)} runs are in another shard, which counts."
            findings.append({"file": name, "finding": told})
        seen.update(shard.runs)
    return findings


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
