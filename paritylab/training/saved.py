"""Runs in a folder: tables as Parquet, networks as npz, and a page of JSON that says what each file must be.

Nothing in it is code: a recipe is written down as the name of an export of `paritylab.networks` and its fields.
"""

import dataclasses
import hashlib
import io
import json
import os
import shutil
import uuid
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .. import networks
from ..cube import root_key
from ..demands import check_kind
from ..documents import DocumentCannotBeWritten, document, make_folder, other_kind, write_whole
from ..manifest import manifest
from ..networks.base import Recipe
from .rules.leaves import Leaves, Shape, split
from .runs import Log, Part, Runs

ABOUT, FORMAT = "runs.json", 1
TABLE = "table.parquet"
ROWS = ("outcome", "steps", "mistakes", "points", "lanes", "loss")
LARGEST_ABOUT = 2**26
"""Bytes beyond which the page is none of ours."""


class SavedPart(NamedTuple):
    """Runs of one shape, as they were read from a folder."""

    init_seeds: np.ndarray
    log: Log
    weights: Leaves | None
    shape: Shape[Any] | None

    @property
    def array_shapes(self) -> list[tuple[int, ...]]:
        """The shape of each array of a network."""
        if self.weights is None:
            raise ValueError(
                "Networks were not kept, so that a folder does not tell their shapes; train with keep=True."
            )
        return [array.shape[1:] for array in self.weights]

    def network(self, leaves: Leaves) -> Any:
        """The network with these arrays."""
        if self.shape is None:
            raise ValueError(
                "The recipe of these networks is not the lab's own, so their folder does not tell it. Say it: "
                "pl.load(folder, network=recipe)."
            )
        return self.shape.fill(leaves)


def save(runs: Runs, folder: str | os.PathLike[str]) -> None:
    """Writes runs to a new folder, which appears whole or not at all."""
    check_kind("folder", folder, (str, os.PathLike), "the path of a folder")
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise ValueError(f"{place} is there already. Runs are saved to a new folder, so that nothing is overwritten.")
    files, parts = _files_of(runs)
    about = {
        "format": FORMAT,
        "kind": "paritylab runs",
        "interrupted": runs.interrupted,
        "columns": [*runs.columns],
        "parts": parts,
        "files": {name: _hash(content) for name, content in files.items()},
        "manifest": manifest(),
    }
    draft = place.with_name(f".{place.name}-{uuid.uuid4().hex}")
    try:
        make_folder(draft)
        for name, content in files.items():
            write_whole(draft / name, content)
        write_whole(draft / ABOUT, document(about))
        draft.replace(place)
    except OSError as error:
        raise DocumentCannotBeWritten(error.errno, error.strerror or str(error), str(place)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def load(folder: str | os.PathLike[str], network: Recipe | None = None) -> Runs:
    """The runs that `Runs.save` wrote to a folder: the same table, curves and networks.

    - `network`: the recipe of the networks, where it is not one of the lab's own.

    >>> import tempfile
    >>> import paritylab as pl
    >>> runs = pl.train(pl.Uniform(pl.Parity(10, (0, 1))), pl.MLP(20), seeds=2, steps=2000, keep=True)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     runs.save(place + "/runs")
    ...     again = pl.load(place + "/runs")
    >>> again.table().equals(runs.table()), float(abs(again.network(0).output.bias - runs.network(0).output.bias))
    (True, 0.0)
    """
    check_kind("folder", folder, (str, os.PathLike), "the path of a folder")
    place = Path(folder)
    about = _about(place)
    contents = {name: _content(place / name, known) for name, known in about["files"].items()}
    try:
        table = _parquet(contents[TABLE])
        columns = {name: _column(table.column(name)) for name in about["columns"]}
        rows = {name: table.column(f"_{name}").to_numpy() for name in ROWS if f"_{name}" in table.column_names}
        rows.setdefault("loss", np.full(len(table), np.nan))  # folders of before have none
        of_part = table.column("_part").to_numpy()
        seeds = table.column("_init_seed").to_numpy()
        parts = [_part(i, each, seeds[of_part == i], contents, network, place) for i, each in enumerate(about["parts"])]
    except (pa.ArrowException, KeyError, TypeError, IndexError, AttributeError, zipfile.BadZipFile) as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        raise ValueError(f"{place} does not hold what its {ABOUT} says ({reason:.120}). {WAY_OUT}") from None
    return Runs(columns, interrupted=bool(about["interrupted"]), _parts=tuple(parts), **rows)


WAY_OUT = "Take another copy, or train again."


def _about(place: Path) -> dict[str, Any]:
    """The page of a folder, if it is one of ours."""
    path = place / ABOUT
    if (place / "store.json").exists():
        raise ValueError(f"{place} is the store of a sweep. Open it with pl.Store({str(place)!r}).")
    if not path.exists():
        raise ValueError(f"There are no saved runs in {place!s:.200} (it has no {ABOUT}). Check the path.")
    try:
        if other_kind(path) is not None or path.stat().st_size > LARGEST_ABOUT:
            raise ValueError
        about = json.loads(path.read_text())
        kinds = {"format": int, "columns": list, "parts": list, "files": dict, "interrupted": bool}
        if about["kind"] != "paritylab runs" or not all(isinstance(about[name], kinds[name]) for name in kinds):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is damaged, or not a page of saved runs. {WAY_OUT}") from None
    if about["format"] != FORMAT:
        raise ValueError(
            f"The runs in {place} have format {about['format']}, and this paritylab reads {FORMAT}. Use the paritylab "
            "that saved them."
        )
    if wrong := [name for name in about["files"] if Path(name).name != name]:
        raise ValueError(f"{path} names a file outside of its folder, {wrong[0]!r:.80}. {WAY_OUT}")
    return dict(about)


def _content(path: Path, known: str) -> bytes:
    """A file's bytes, if they are what was written."""
    try:
        if (kind := other_kind(path)) is not None:
            raise ValueError(f"{path} is {kind}, and not a file. {WAY_OUT}")
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}). {WAY_OUT}") from None
    if _hash(content) != known:
        raise ValueError(f"{path} is damaged: its content is not what was written. {WAY_OUT}")
    return content


def _files_of(runs: Runs) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """The files by their names, and what is said of each part."""
    counts = [len(part.init_seeds) for part in runs._parts]
    columns = {name: pa.array(values.tolist()) for name, values in runs.columns.items()}
    rows = {f"_{name}": pa.array(getattr(runs, name)) for name in ROWS}
    where = {
        "_part": pa.array(np.repeat(np.arange(len(counts)), counts)),
        "_init_seed": pa.array(np.concatenate([part.init_seeds for part in runs._parts])),
    }
    files = {TABLE: _written(pa.table({**columns, **rows, **where}))}
    parts = []
    for i, part in enumerate(runs._parts):
        about: dict[str, Any] = {"recipe": None, "n": None}
        if part.log:
            about["curves"], about["shapes"] = f"curves-{i}.parquet", _shapes(part.log)
            files[about["curves"]] = _written(_curves(part.log))
        if part.weights is not None:
            about["networks"] = f"networks-{i}.npz"
            about |= _recipe_of(part)
            buffer = io.BytesIO()
            arrays = {f"array{j}": np.asarray(each) for j, each in enumerate(part.weights)}
            np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
            files[about["networks"]] = buffer.getvalue()
        parts.append(about)
    return files, parts


def _part(
    i: int, about: dict[str, Any], seeds: np.ndarray, contents: dict[str, bytes], network: Recipe | None, place: Path
) -> SavedPart:
    log, weights, shape = [], None, None
    if "curves" in about:
        table = _parquet(contents[about["curves"]])
        values = {
            name: np.asarray(_flat(table.column(name))).reshape(len(table), *size)
            for name, size in about["shapes"].items()
        }
        log = [(table.column("run").to_numpy(), table.column("step").to_numpy(), values)]
    if "networks" in about:
        with np.load(io.BytesIO(contents[about["networks"]]), allow_pickle=False) as arrays:
            weights = tuple(arrays[f"array{j}"] for j in range(len(arrays.files)))
        recipe = network if network is not None else recipe_from(about["recipe"])
        if recipe is not None:
            shape = _shape(recipe, int(about["n"]), weights, place)
    return SavedPart(seeds.astype(np.uint32), log, weights, shape)


def _shape(recipe: Recipe, n: int, weights: Leaves, place: Path) -> Shape[Any]:
    """The networks of a recipe without their arrays, if those in the folder fit."""
    leaves, shape = split(eqx.filter_eval_shape(recipe, n, key=root_key(0)))
    wanted, found = [leaf.shape for leaf in leaves], [each.shape[1:] for each in weights]
    if wanted != found:
        raise ValueError(
            f"The networks in {place} have arrays of shapes {found!s:.120}, and those of this recipe {wanted!s:.120}. "
            "Give the recipe that they were trained with."
        )
    return shape


def _recipe_of(part: Part | SavedPart) -> dict[str, Any]:
    """The recipe of a part's networks and their n, as far as both can be written down."""
    if isinstance(part, SavedPart):
        raise ValueError("These runs were loaded, and their folder is a copy of them already. Copy the folder.")
    ensemble = part.ensemble
    leaves = ensemble.program.whole(tuple(array[0] for array in ensemble.own), ensemble.common)
    problem = ensemble.program.rule.problem.fill(leaves)  # type: ignore[attr-defined]
    return {"recipe": recipe_form(problem.network), "n": problem.distribution.n}


def recipe_form(thing: Any) -> Any:
    """A thing made of exports of `paritylab.networks` as JSON knows it; None if something else is in it.

    >>> recipe_form(networks.MLP(5))["fields"]["activation"]
    {'export': 'relu'}
    """
    try:
        return _form(thing)
    except _NotOurs:
        return None


class _NotOurs(Exception):
    """Something that is no export of the lab's networks."""


def _form(thing: Any) -> Any:
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    if isinstance(thing, np.ndarray | np.generic | jax.Array):
        values = np.asarray(thing)
        return {"array": values.tolist(), "dtype": str(values.dtype)}
    if isinstance(thing, tuple | list):
        return {"items": [_form(each) for each in thing]}
    exports = {name: getattr(networks, name) for name in dir(networks)}
    if callable(thing) and (name := next((name for name, each in exports.items() if each is thing), None)):
        return {"export": name}
    name = next((name for name, each in exports.items() if each is type(thing)), None)
    if name is None or not dataclasses.is_dataclass(thing):
        raise _NotOurs
    return {"made": name, "fields": {each.name: _form(getattr(thing, each.name)) for each in dataclasses.fields(thing)}}


def recipe_from(form: Any) -> Any:
    """What `recipe_form` wrote down. Nothing but exports of `paritylab.networks` can come of it."""
    if not isinstance(form, dict):
        return form
    if "array" in form:
        return np.array(form["array"], np.dtype(form["dtype"]))
    if "items" in form:
        return tuple(recipe_from(each) for each in form["items"])
    name = form.get("export", form.get("made"))
    if name not in dir(networks):
        raise KeyError(f"no network is called {name!r}")
    if "export" in form:
        return getattr(networks, name)
    made = object.__new__(getattr(networks, name))
    for field, value in form["fields"].items():
        object.__setattr__(made, field, recipe_from(value))
    return made


def _curves(log: Log) -> pa.Table:
    """The log as one table; a record of several numbers is a list of fixed size."""
    joined = {name: np.concatenate([values[name] for _, _, values in log]) for name in log[0][2]}
    columns = {
        "run": pa.array(np.concatenate([run for run, _, _ in log])),
        "step": pa.array(np.concatenate([step for _, step, _ in log])),
    }
    for name, values in joined.items():
        flat = pa.array(np.asarray(values).reshape(-1))
        columns[name] = flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, int(values[0].size))
    return pa.table(columns)


def _shapes(log: Log) -> dict[str, list[int]]:
    return {name: [*values.shape[1:]] for name, values in log[0][2].items()}


def _flat(column: pa.ChunkedArray) -> np.ndarray:
    whole = column.combine_chunks()
    values = whole.flatten() if pa.types.is_fixed_size_list(whole.type) else whole
    return values.to_numpy(zero_copy_only=False)


def _column(column: pa.ChunkedArray) -> np.ndarray:
    """A column as `train` makes it: numbers as numbers, words as words."""
    values = column.to_pylist()
    return np.array(values, object) if None in values else np.array(values)


def _written(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _parquet(content: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(content))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
