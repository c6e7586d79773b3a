"""Rows of several tables, and the positions of the rows that their keys name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MissingInputError, TableError
from skeval.tables.frames import as_frame
from skeval.tables.keys import ForeignKey, key_codes
from skeval.tables.places import PARQUET
from skeval.tables.reading import ENDINGS, PACKINGS, PLAIN, Dialect, read_table
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.sources import is_large

ORPHAN, NULL = -1, -2  # what a key that names no row, or holds no value, has for a position


class RelationalData(Mapping[str, pd.DataFrame]):
    """Tables under their names, with the schema that relates them.

    Parameters
    ----------
    tables : mapping of str to table
        pandas, polars or pyarrow.
    schema : RelationalSchema, optional
        The keys, roles and orders; without one, what :meth:`RelationalSchema.detect` concludes
        from names and values.

    Raises
    ------
    TableError
        If one of the tables cannot be used, or there is none.

    See Also
    --------
    RelationalSchema : Keys and roles.
    split_by_subject : Train and holdout of it.

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
                "RelationalData needs a mapping of names to tables with at least one, got "
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
        """Read a folder of files, each a table of its name: CSV, Parquet, JSON lines, Arrow, Excel.

        Parameters
        ----------
        folder : path
            With users.csv (.tsv, .parquet, .jsonl, .feather, .xlsx, or packed as .csv.gz), and so
            on.
        schema : RelationalSchema or path, optional
            Or a JSON file: metadata of SDV, a datapackage.json or what
            :meth:`RelationalSchema.to_dict` returned. If not given, the one JSON file of the
            folder that is any of these; if there is none, keys are detected.
        header : bool, default=False
            Whether first rows of CSV files hold names even where they look like numbers or dates.
        dialect : Dialect, default=Dialect()
            Separator, encoding and decimal sign of CSV files; what it leaves open is found out.

        Returns
        -------
        RelationalData
            With the tables that the schema names and the folder has, or all, if it is detected.

        Raises
        ------
        TableError
            If there is no such folder, or no file of a table in it, or several of one name.
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
                f"{folder} has no file of {', '.join(sorted(names)) if names else 'a table'}; each "
                f"table is a file of its name, ending in {', '.join(ENDINGS)}."
            )
        read = {n: read_table(path, header=header, dialect=dialect) for n, path in files.items()}
        return cls(read, schema)

    @classmethod
    def from_sqlalchemy(cls, engine: Any, schema: RelationalSchema | None = None) -> RelationalData:
        """Read all tables of a database, and the keys between them.

        Parameters
        ----------
        engine : Engine or Connection
            An engine of SQLAlchemy.
        schema : RelationalSchema, optional
            If roles or orders are to be given too; otherwise that of the database.

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
        """Return the data with only these rows, possibly none, of the tables that are named."""
        rows = {
            name: table.iloc[positions[name]].reset_index(drop=True) if name in positions else table
            for name, table in self._tables.items()
        }
        return self._from_frames(rows, self.schema)

    @classmethod
    def _from_frames(
        cls, tables: dict[str, pd.DataFrame], schema: RelationalSchema
    ) -> RelationalData:
        """Return data of frames that were read already; they may be empty."""
        data = object.__new__(cls)
        data._tables, data.schema = tables, schema
        return data

    def validate(self) -> pd.DataFrame:
        """Return the faults of keys, one a row: real data have them, and they need no mending.

        Returns
        -------
        DataFrame
            `table`; `key`, its columns; `fault`; `n_rows`, how many rows have it; and `share`, of
            the rows of the table. Faults are "missing table", "missing columns", "duplicate key"
            (rows whose primary key an earlier row has), "null key" (primary or foreign), "orphan"
            (the key names no row) and "circle" (rows whose parents, and theirs, never end).

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
        """Return of each row of the child table its parent; see :func:`parent_positions`."""
        return parent_positions(self[key.child], self[key.parent], key)


def split_by_subject(
    data: RelationalData, test_size: float | int = 0.5, random_state: int | None = None
) -> tuple[RelationalData, RelationalData]:
    """Divide several tables at random into train and holdout, each subject with all its rows.

    Rows of one subject are one piece of evidence: divided row by row, train and holdout would share
    subjects, and nothing that contrasts the two would hold.

    Parameters
    ----------
    data : RelationalData
        Its schema says, or lets infer, which table holds the subjects.
    test_size : float or int, default=0.5
        Share of the subjects in (0, 1), or their number, that go to the holdout.
    random_state : int, optional
        Seed of the draw; None draws anew each time.

    Returns
    -------
    train, holdout : RelationalData
        Dependent rows stand where their subject stands; those without one, orphans, are divided
        at random, with what belongs to them. Reference tables are whole in both.

    Raises
    ------
    MissingInputError
        If the roles of the tables are not known.
    InvalidParameterError
        If `test_size` leaves one side without a subject.

    See Also
    --------
    RelationalData : What is split.

    Notes
    -----
    Other keys between subjects, such as who receives a message that somebody sent, may name a row
    of the other side; they are orphans then, which metrics of subjects look for on both sides.
    If several tables hold subjects, each is divided on its own, and dependent rows follow the first
    subject that they lead to.

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
    held: dict[str, np.ndarray] = {}  # which rows go to the holdout
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
            f"split_by_subject: test_size must leave subjects on both sides, got {test_size!r} of "
            f"{n_rows} subjects."
        )
    return int(n_held)


def positions_along(
    path: Sequence[ForeignKey], parents: Callable[[ForeignKey], np.ndarray]
) -> np.ndarray:
    """Return of each row of the first child where the path ends, given the positions of parents.

    `ORPHAN` or `NULL` where a key on the way names no row or is missing.
    """
    positions = parents(path[0])
    for key in path[1:]:
        above = np.append(parents(key), ORPHAN)
        positions = np.where(positions >= 0, above[np.maximum(positions, ORPHAN)], positions)
    return positions


def n_endless(positions: np.ndarray) -> int:
    """Return how many rows lead into a circle, if each leads to the row at its position."""
    ahead = np.append(np.maximum(positions, ORPHAN), ORPHAN)
    for _ in range(len(ahead).bit_length()):  # each time twice as far
        ahead = ahead[ahead]
    return int((ahead[:-1] >= 0).sum())


def read_folder(tables: Any, schema: Any = None) -> Any:
    """Return the tables of a folder of files, each a table; what is no such folder as it is."""
    # A folder of Parquet files with the same columns, or of a single one, is one table.
    if not isinstance(tables, str | Path) or not (folder := Path(tables)).is_dir():
        return tables
    files = [] if is_large(folder) else list(table_files(folder).values())
    if not files or (len(files) == 1 and files[0].suffix.lower() in PARQUET):
        return tables
    return RelationalData.from_folder(
        folder, schema if isinstance(schema, RelationalSchema) else None
    )


def table_files(folder: Path) -> dict[str, Path]:
    """Return the files of tables in a folder, by the name of the table."""
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
                f"{folder} has two files of the table {name}: {files[name].name} and {path.name}. "
                "Leave one."
            )
        files[name] = path
    return files


def _schema_in(folder: Path) -> RelationalSchema | None:
    """Return the schema that a JSON file of a folder holds, if there is one."""
    schemas = {}
    for path in sorted(folder.glob("*.json")):
        with suppress(InvalidParameterError, TableError):
            schemas[path.name] = RelationalSchema.from_json(path)
    if len(schemas) > 1:
        raise InvalidParameterError(
            f"{folder} has several files that could be the schema: {', '.join(schemas)}. Name one."
        )
    return next(iter(schemas.values()), None)


def _join_names(columns: Sequence[str]) -> str:
    return ", ".join(columns)


def parent_positions(child: pd.DataFrame, parent: pd.DataFrame, key: ForeignKey) -> np.ndarray:
    """Return of each child row the position of its parent row."""
    codes, named = key_codes(child[list(key.columns)], parent[list(key.parent_columns)])
    first = np.full(max(codes.max(initial=0), named.max(initial=0)) + 1, ORPHAN, dtype=np.int64)
    places = np.flatnonzero(named >= 0)[::-1]
    first[named[places]] = places  # the last assignment holds: that of the first row
    return np.where(codes < 0, NULL, first[np.maximum(codes, 0)])
