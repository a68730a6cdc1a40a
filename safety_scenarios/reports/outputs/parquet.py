# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Tables as Parquet, each column with its unit and meaning; needs pyarrow (extra ``table``).

Texts are as they are in the results: a program reads them, and what shows them has to see to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.reports.outputs.columns import Cell, Column, Type

try:
    import pyarrow
    from pyarrow import parquet
except ImportError:
    raise MissingDependencyError('Parquet', 'pyarrow',
                                 "pip install 'safety_scenarios[table]', or pip install "
                                 'pyarrow') from None


_TYPES: Mapping[Type, Any] = {'text': pyarrow.string(), 'int': pyarrow.int64(),
                              'float': pyarrow.float64(), 'bool': pyarrow.bool_()}


def write_parquet(path: Path, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
    """
    Write one table; the same rows give the same bytes.

    :raises OSError: the disk is full, or the folder is gone
    """
    made = list(rows)
    arrays = [pyarrow.array([_storable(row[number]) for row in made], _TYPES[column.type])
              for number, column in enumerate(columns)]
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(
        [pyarrow.field(column.name, _TYPES[column.type], nullable=True, metadata=_metadata(column))
         for column in columns])), path)


def _metadata(column: Column) -> dict[str, str]:
    return {name: text for name, text in (
        ('unit', column.unit), ('clock', column.clock), ('meaning', column.meaning),
        ('absent', column.absent)) if text}


def _storable(cell: Cell) -> Cell:
    """Return a cell without half a surrogate pair, which UTF-8 has no place for."""
    return cell.encode(errors='replace').decode() if isinstance(cell, str) else cell
