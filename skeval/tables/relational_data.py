"""Several related tables, and the positions of the rows that keys refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MissingInputError, TableError
from skeval.tables.csv_dialect import PLAIN, Dialect
from skeval.tables.file_endings import ENDINGS, PACKINGS
from skeval.tables.keys import ForeignKey, key_codes
from skeval.tables.one_table import as_frame
from skeval.tables.reading import read_table
from skeval.tables.relational_schema import RelationalSchema

ORPHAN, NULL = -1, -2  # position of a key without a parent row, and of a missing key


class RelationalData(Mapping[str, pd.DataFrame]):
    """Mapping of names to tables, together with the relational schema of the tables.

    Parameters
    ----------
    tables : mapping of str to table
        Tables of pandas, polars or pyarrow.
    schema : RelationalSchema, optional
        The keys, roles and sequences. If None, the schema is detected from names and values with
        :meth:`RelationalSchema.detect`.

    Raises
    ------
    TableError
        If a table is not valid, or if there are no tables.

    See Also
    --------
    RelationalSchema : Keys and roles of the tables.
    split_by_subject : Splits the data into train and holdout.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import RelationalData
    >>> data = RelationalData({"users": pd.DataFrame({"id": [1, 2], "age": [31, 45]})})
    >>> data
    RelationalData(users: 2 rows)
    """

    def __init__(self, tables: Mapping[str, Any], schema: RelationalSchema | None = None) -> None:
        if not isinstance(tables, Mapping) or not tables:
            raise TableError(
                "RelationalData requires a mapping of names to tables with at least one table, got "
                f"{type(tables).__name__}. Pass {{name: table}}."
            )
        self._tables = {str(name): as_frame(table, str(name)) for name, table in tables.items()}
        self.schema = schema or RelationalSchema.detect(self._tables)

    @classmethod
    def from_folder(
        cls,
        folder: str | Path,
        schema: RelationalSchema | str | Path | None = None,
        *,
        header: bool = False,
        dialect: Dialect = PLAIN,
    ) -> RelationalData:
        """Read a folder with one file per table in CSV, Parquet, JSON lines, Arrow or Excel format.

        Parameters
        ----------
        folder : path
            Folder with files such as users.csv. Other endings are .tsv, .parquet, .jsonl, .feather
            and .xlsx, and compressed files such as .csv.gz.
        schema : RelationalSchema or path, optional
            The schema, or a JSON file with SDV metadata, with a data package or with the result of
            :meth:`RelationalSchema.to_dict`. If None, such a JSON file in the folder is used. If
            there is no such file, keys are detected.
        header : bool, default=False
            Whether the first rows of CSV files contain names, even if they look like numbers or
            dates.
        dialect : Dialect, default=Dialect()
            Separator, encoding and decimal sign of CSV files. Values that are None are detected.

        Returns
        -------
        RelationalData
            The tables that are in both the schema and the folder, or all tables of the folder if
            the schema is detected.

        Raises
        ------
        TableError
            If the folder does not exist, if it contains no table, or if two files have the same
            table name.
        InvalidParameterError
            If several JSON files of the folder could be the schema.
        """
        folder = Path(folder)
        if schema is None:
            schema = _schema_in(folder)
        elif not isinstance(schema, RelationalSchema):
            schema = RelationalSchema.from_json(schema)
        names = None if schema is None else set(schema.tables)
        files = {n: p for n, p in table_files(folder).items() if names is None or n in names}
        if not files:
            raise TableError(
                f"{folder} contains no file for {', '.join(sorted(names)) if names else 'a table'}."
                f" The file name must be the table name with an ending of {', '.join(ENDINGS)}."
            )
        read = {n: read_table(path, header=header, dialect=dialect) for n, path in files.items()}
        return cls(read, schema)

    @classmethod
    def from_sqlalchemy(cls, engine: Any, schema: RelationalSchema | None = None) -> RelationalData:
        """Read all tables of a database and the keys between them.

        Parameters
        ----------
        engine : Engine or Connection
            SQLAlchemy engine or connection.
        schema : RelationalSchema, optional
            Schema with roles or sequences. If None, the schema of the database is used.

        Returns
        -------
        RelationalData

        Raises
        ------
        TableError
            If the database cannot be read, or one of its tables has no rows.
        """
        schema = schema or RelationalSchema.from_sqlalchemy(engine)
        return cls({name: pd.read_sql_table(name, engine) for name in schema.tables}, schema)

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(rows)} rows" for name, rows in self._tables.items())
        return f"RelationalData({sizes})"

    def taken(self, positions: Mapping[str, np.ndarray]) -> RelationalData:
        """Return the data with only the rows at these positions for each table in `positions`."""
        rows = {
            name: table.iloc[positions[name]].reset_index(drop=True) if name in positions else table
            for name, table in self._tables.items()
        }
        return self._from_frames(rows, self.schema)

    @classmethod
    def _from_frames(
        cls, tables: dict[str, pd.DataFrame], schema: RelationalSchema
    ) -> RelationalData:
        """Return data of canonical frames, which may be empty."""
        data = object.__new__(cls)
        data._tables, data.schema = tables, schema
        return data

    def validate(self) -> pd.DataFrame:
        """Return a table of key faults, which often occur in real data.

        The faults do not have to be fixed before an evaluation.

        Returns
        -------
        DataFrame
            One row per fault, with the columns `table`, `key` (columns of the key), `fault`,
            `n_rows` (number of affected rows) and `share` (fraction of the rows of the table).
            Faults are "missing table", "missing columns", "duplicate key" (an earlier row has the
            same primary key), "null key" (primary or foreign), "orphan" (there is no row with this
            key) and "circle" (the chain of parent rows never ends).

        Examples
        --------
        >>> from skeval.datasets import make_relational
        >>> make_relational(100, orphans=0.1).validate()["fault"].tolist()
        ['null key', 'orphan']
        """
        faults = [
            (table, _join_names(columns), fault, n_rows, n_rows / max(len(self.get(table, ())), 1))
            for table, columns, fault, n_rows in self._faults()
            if n_rows or fault.startswith("missing")
        ]
        return pd.DataFrame(faults, columns=["table", "key", "fault", "n_rows", "share"])

    def _faults(self) -> Iterator[tuple[str, Sequence[str], str, int]]:
        usable = set()
        for name in self.schema.tables:
            if name not in self:
                yield name, (), "missing table", 0
                continue
            usable.add(name)
            named = self.schema.columns_named(name)
            if lacking := [column for column in named if column not in self[name]]:
                yield name, lacking, "missing columns", 0
                usable.discard(name)
        for name, columns in self.schema.primary_keys.items():
            if name in usable:
                rows = self[name][list(columns)]
                codes, _ = key_codes(rows, rows.iloc[:0])
                present = pd.Series(codes[codes >= 0])
                yield name, columns, "duplicate key", int(present.duplicated().sum())
                yield name, columns, "null key", int((codes < 0).sum())
        positions = {
            key: self.parent_positions(key)
            for key in self.schema.foreign_keys
            if {key.child, key.parent} <= usable
        }
        for key, above in positions.items():
            yield key.child, key.columns, "orphan", int((above == ORPHAN).sum())
            yield key.child, key.columns, "null key", int((above == NULL).sum())
        for ring in self.schema.circles():
            if all(key in positions for key in ring):
                around = positions_along(ring, positions.__getitem__)
                yield ring[0].child, ring[0].columns, "circle", n_endless(around)

    def parent_positions(self, key: ForeignKey) -> np.ndarray:
        """Return the parent of each child row. See :func:`parent_positions`."""
        return parent_positions(self[key.child], self[key.parent], key)


def split_by_subject(
    data: RelationalData, test_size: float | int = 0.5, random_state: int | None = None
) -> tuple[RelationalData, RelationalData]:
    """Split several tables randomly into train and holdout by subject.

    All rows of a subject are in the same part. If rows were split independently, train and holdout
    would share subjects, so comparisons of the two would not be valid.

    Parameters
    ----------
    data : RelationalData
        Tables whose schema specifies the subject table or allows to infer it.
    test_size : float or int, default=0.5
        Fraction of the subjects in (0, 1), or number of subjects, for the holdout.
    random_state : int, optional
        Seed of the split. If None, each call returns a different split.

    Returns
    -------
    train, holdout : RelationalData
        Dependent rows are in the same part as their subject. Orphans have no subject, so they are
        split randomly, together with the rows that depend on them. Both parts contain the complete
        reference tables.

    Raises
    ------
    MissingInputError
        If the roles of the tables are not known.
    InvalidParameterError
        If `test_size` leaves one side without a subject.

    See Also
    --------
    RelationalData : Data to split.

    Notes
    -----
    Other keys between subjects, for example the receiver of a message, may refer to a row of the
    other part. Such keys become orphans. Subject-level metrics search for orphans in both parts.
    If there are several subject tables, each table is split independently, and dependent rows
    follow the first subject table that they lead to.

    Examples
    --------
    >>> from skeval.datasets import make_relational
    >>> from skeval.relational import split_by_subject
    >>> train, holdout = split_by_subject(make_relational(100), test_size=0.3, random_state=0)
    >>> len(train["people"]), len(holdout["people"])
    (70, 30)
    """
    schema = data.schema
    if unknown := schema.undetermined:
        raise MissingInputError(f"split_by_subject {unknown}")
    rng = np.random.default_rng(random_state)
    held: dict[str, np.ndarray] = {}  # mask of the rows in the holdout
    for name in schema.subjects:
        n_rows = len(data[name])
        n_held = _n_held(test_size, n_rows)
        held[name] = rng.permutation(n_rows) < n_held
    share = float(np.mean(np.concatenate(list(held.values()))))

    def follow(name: str) -> np.ndarray:
        if name not in held:
            subject = next(s for s in schema.subjects if schema.paths_to(name, s))
            key = schema.path(name, subject)[0]
            above, own = data.parent_positions(key), rng.random(len(data[name])) < share
            with_it = np.append(follow(key.parent), False)[np.maximum(above, ORPHAN)]
            held[name] = np.where(above >= 0, with_it, own)
        return held[name]

    for name in schema.tables:
        if schema.role(name) == "dependent":
            follow(name)
    train = data.taken({name: np.flatnonzero(~rows) for name, rows in held.items()})
    return train, data.taken({name: np.flatnonzero(rows) for name, rows in held.items()})


def _n_held(test_size: float, n_rows: int) -> int:
    n_held = test_size if isinstance(test_size, int | np.integer) else round(test_size * n_rows)
    if not 0 < n_held < n_rows:
        raise InvalidParameterError(
            f"split_by_subject: test_size must leave subjects in both parts, got {test_size!r} for "
            f"{n_rows} subjects."
        )
    return int(n_held)


def positions_along(
    path: Sequence[ForeignKey], parents: Callable[[ForeignKey], np.ndarray]
) -> np.ndarray:
    """Return the position of the ancestor at the end of a path, for each row of the first child.

    The position is `ORPHAN` or `NULL` if a key of the path has no parent row or is missing.
    """
    positions = parents(path[0])
    for key in path[1:]:
        above = np.append(parents(key), ORPHAN)
        positions = np.where(positions >= 0, above[np.maximum(positions, ORPHAN)], positions)
    return positions


def n_endless(positions: np.ndarray) -> int:
    """Count rows whose chain of positions never ends, because it contains a circle."""
    ahead = np.append(np.maximum(positions, ORPHAN), ORPHAN)
    for _ in range(len(ahead).bit_length()):  # the number of steps doubles each time
        ahead = ahead[ahead]
    return int((ahead[:-1] >= 0).sum())


def table_files(folder: Path) -> dict[str, Path]:
    """Return the table files in a folder by table name."""
    if not folder.is_dir():
        raise TableError(f"there is no folder {folder}.")
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        bare = path.with_suffix("") if path.suffix.lower() in PACKINGS else path
        if not path.is_file() or bare.suffix.lower() not in ENDINGS:
            continue
        name = bare.stem
        if name in files:
            raise TableError(
                f"{folder} contains two files for the table {name}: {files[name].name} and "
                f"{path.name}. Remove one."
            )
        files[name] = path
    return files


def _schema_in(folder: Path) -> RelationalSchema | None:
    """Return the schema from the JSON file of a folder, if there is one."""
    schemas = {}
    for path in sorted(folder.glob("*.json")):
        with suppress(InvalidParameterError, TableError):
            schemas[path.name] = RelationalSchema.from_json(path)
    if len(schemas) > 1:
        raise InvalidParameterError(
            f"{folder} contains several files that could be the schema: {', '.join(schemas)}. "
            "Specify one."
        )
    return next(iter(schemas.values()), None)


def _join_names(columns: Sequence[str]) -> str:
    return ", ".join(columns)


def parent_positions(child: pd.DataFrame, parent: pd.DataFrame, key: ForeignKey) -> np.ndarray:
    """Return the position of the parent row for each child row."""
    codes, named = key_codes(child[list(key.columns)], parent[list(key.parent_columns)])
    first = np.full(max(codes.max(initial=0), named.max(initial=0)) + 1, ORPHAN, dtype=np.int64)
    places = np.flatnonzero(named >= 0)[::-1]
    first[named[places]] = places  # the last assignment is for the first row
    return np.where(codes < 0, NULL, first[np.maximum(codes, 0)])
