"""Rows of many shards as one table."""

from collections.abc import Container, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..training.summaries import standard


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with these values in the place of a column of that name, or behind the last."""
    known = table.column_names
    return table.set_column(known.index(name), name, values) if name in known else table.append_column(name, values)


def with_plain_texts(table: pa.Table) -> pa.Table:
    """Texts as Parquet keeps them. Pandas has several kinds of its own, of which no two fit."""
    for field in table.schema:
        if kind_of(field.type) == "texts" and not pa.types.is_string(field.type):
            table = with_column(table, field.name, table.column(field.name).cast(pa.string()))
    return table


def each_run_once(table: pa.Table) -> pa.Table:
    """The first row of each run that was trained; a call may give several."""
    if "outcome" not in table.column_names:
        return table
    first = pd.Series(table.column("run").to_pylist()).duplicated().to_numpy()
    return table.filter(pa.array(~first)) if first.any() else table


def kind_of(form: pa.DataType) -> str:
    """What a column holds, in a word."""
    if pa.types.is_dictionary(form):
        return kind_of(form.value_type)
    if pa.types.is_string(form) or pa.types.is_large_string(form) or pa.types.is_string_view(form):
        return "texts"
    if pa.types.is_boolean(form):
        return "truth values"
    if pa.types.is_integer(form) or pa.types.is_floating(form) or pa.types.is_decimal(form):
        return "numbers"
    if pa.types.is_nested(form):
        return "lists"
    return f"values of type {form}"


def mixed(schemas: Mapping[str, pa.Schema]) -> dict[str, dict[str, str]]:
    """Columns that hold things of several kinds: for each the kinds, and a file for each of them."""
    files = {schema: file for file, schema in reversed([*schemas.items()])}  # thousands of files have a few schemas
    kinds: dict[str, dict[str, str]] = {}
    for schema, file in files.items():
        for field in schema:
            if not pa.types.is_null(field.type):
                kinds.setdefault(field.name, {}).setdefault(kind_of(field.type), file)
    return {name: files for name, files in kinds.items() if len(files) > 1}


def alike(tables: Mapping[str, pa.Table]) -> list[dict[str, pa.Table]]:
    """The tables in a few groups, in none of which a column has things of several kinds."""
    groups: list[tuple[dict[str, str], dict[str, pa.Table]]] = []
    for file, table in tables.items():
        kinds = {field.name: kind_of(field.type) for field in table.schema if not pa.types.is_null(field.type)}
        fits = (group for group in groups if all(group[0].get(name, kind) == kind for name, kind in kinds.items()))
        if (group := next(fits, None)) is None:
            groups.append(group := ({}, {}))
        group[0].update(kinds)
        group[1][file] = table
    return [members for _, members in groups]


def said_of(name: str, files: Mapping[str, str]) -> str:
    """A column of several kinds, in words."""
    return f"The column {name!r} has " + " and ".join(f"{kind} in {file}" for kind, file in files.items())


def joined(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The rows of all tables, which are given by the names of their files; a column of several kinds becomes text."""
    alike: dict[pa.Schema, dict[str, pa.Table]] = {}  # thousands of files have a few schemas
    for file, table in tables.items():
        alike.setdefault(table.schema, {})[file] = table
    several = mixed({next(iter(group)): schema for schema, group in alike.items()})
    for name, files in several.items():
        if "lists" in files:
            raise ValueError(f"{said_of(name, files)}: no table holds both. Read them apart, or rename one of them.")

    def as_text(table: pa.Table) -> pa.Table:
        for name in several.keys() & set(table.column_names):
            table = with_column(table, name, table.column(name).cast(pa.string()))
        return table

    parts = (as_text(pa.concat_tables(group.values()).combine_chunks()) for group in alike.values())
    return pa.concat_tables(parts, promote_options="permissive").combine_chunks()


def without_empty(table: pa.Table, kept: Container[str] = ()) -> pa.Table:
    """The table without columns in which nothing stands, but for those that are kept."""
    full = lambda name: name in kept or table.column(name).null_count < max(1, len(table))
    return table.select([name for name in table.column_names if full(name)])


def table_of(rows: pa.Table) -> pd.DataFrame:
    """Rows for people, without what was recorded on the way."""
    recorded = recorded_in(rows)
    return standard(rows.select([name for name in rows.column_names if name not in recorded]).to_pandas())


def recorded_in(rows: pa.Table) -> Container[str]:
    """The columns with a list of values for each run, one value for each recorded step."""
    if "recorded_step" not in rows.column_names or not _is_list(rows.schema.field("recorded_step").type):
        return ()
    steps = pc.list_value_length(rows.column("recorded_step"))
    lists = [field.name for field in rows.schema if _is_list(field.type)]
    return {name for name in lists if steps.equals(pc.list_value_length(rows.column(name)))}


def _is_list(form: pa.DataType) -> bool:
    return pa.types.is_list(form) or pa.types.is_large_list(form)


def curves_of(table: pa.Table) -> pd.DataFrame:
    """What was recorded in long form: one row per run and recorded step."""
    recorded = recorded_in(table)
    if "recorded_step" not in recorded:
        raise ValueError("Nothing was recorded; plan with records=(...).")
    table = table.filter(pc.is_valid(table.column("recorded_step"))).combine_chunks()
    lengths = pc.list_value_length(table.column("recorded_step")).to_numpy()
    row = np.repeat(np.arange(len(table)), lengths)
    columns: dict[str, Any] = {}
    for field in table.schema:
        values = table.column(field.name)
        if field.name not in recorded and field.name != "step":  # calls may have a column of that name
            columns[field.name] = values.to_pandas().to_numpy()[row]
        elif field.name in recorded and values.null_count == 0:
            flat = values.combine_chunks().flatten()
            name = "step" if field.name == "recorded_step" else field.name
            columns[name] = flat.to_pylist() if pa.types.is_nested(flat.type) else flat.to_numpy(zero_copy_only=False)
    return pd.DataFrame(columns)
