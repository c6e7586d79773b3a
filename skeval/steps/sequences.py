"""Sequences of rows of a table, with ties and gaps, and features of each sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.relational_context import RelationalContext
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.stats.intervals import to_its_error
from skeval.stats.joint_classes import joint_classes
from skeval.stats.rounded_ends import rounded_ends
from skeval.steps.aggregates import kind_of_values
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.foreign_keys import subject_positions
from skeval.steps.samples import named_seed
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import Kind
from skeval.utils.formatting import format_count

MIN_SEQUENCES = 10  # plotted numbers describe at least this number of sequences
_MAX_POINTS = 40  # maximum number of points of a line over time
_LINES = ("mean", "low", "high")


@dataclass(frozen=True)
class Sequences:
    """The rows of a table, ordered by sequence and within each sequence."""

    order: np.ndarray
    offsets: np.ndarray
    times: np.ndarray | None
    n_without_key: int
    n_without_index: int

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def lengths(self) -> np.ndarray:
        """Number of rows of each sequence, shape (n_sequences,)."""
        return np.diff(self.offsets)

    @cached_property
    def owners(self) -> np.ndarray:
        """Number of the sequence of each row, shape (n_rows,)."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Place of each row in its sequence, from 0, shape (n_rows,)."""
        return np.arange(self.order.size) - self.offsets[self.owners]

    def pairs(self, lag: int = 1) -> np.ndarray:
        """Return the places i in `order` such that i + lag is in the same sequence."""
        firsts = np.arange(max(0, self.order.size - lag))
        return firsts[self.owners[firsts] == self.owners[firsts + lag]]

    @cached_property
    def steps(self) -> np.ndarray:
        """Differences of the index from row to row, shape (n_pairs,), or empty without an index."""
        firsts = self.pairs()
        return np.empty(0) if self.times is None else self.times[firsts + 1] - self.times[firsts]


@shared
def sequences(context: RelationalContext, role: str, table: str, ordered: bool = True) -> Sequences:
    """Return the sequences of a table, where `ordered` ignores rows without an index."""
    key = context.relations.sequences[table]
    codes = _key_codes(context.original_frame(role)[table][list(key.key)])
    times = _times(context, role, table, key.index)
    no_key, no_index = codes < 0, np.zeros(codes.size, dtype=bool)
    if times is not None:
        no_index = np.isnan(times) & ~no_key
    places = np.flatnonzero(~no_key & ~(no_index & ordered))
    if times is None:
        order = places[np.argsort(codes[places], kind="stable")]
    else:
        order = places[np.lexsort((times[places], codes[places]))]
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return Sequences(
        order,
        np.append(starts, order.size),
        None if times is None else times[order],
        int(no_key.sum()),
        int(no_index.sum()),
    )


def _key_codes(keys: pd.DataFrame) -> np.ndarray:
    """Return integers in the order of the keys, or -1 if a cell is missing."""
    columns = [pd.factorize(keys[name], sort=True)[0] for name in keys]
    missing = np.any([codes < 0 for codes in columns], axis=0)
    codes = columns[0] if len(columns) == 1 else joint_classes(np.column_stack(columns))
    return np.where(missing, -1, codes)


def _times(
    context: RelationalContext, role: str, table: str, index: str | None
) -> np.ndarray | None:
    if index is None:
        return None
    kind = context.relations.tables[table].kinds[index]
    if kind in NUMERIC:
        return column_values(context[role][table][index])
    if kind == "id":  # distinct integers are detected as a key
        given = context.original_frame(role)[table][index]
        numbers = pd.to_numeric(given, errors="coerce").to_numpy("float64", na_value=np.nan)
        if not np.isnan(numbers).all():
            return np.asarray(numbers)
    raise InvalidParameterError(
        f"The sequences of {table} are ordered by {index}, which must be numerical or datetime, "
        f"but is {kind}. Specify its column type in the schema, or omit the index to use the order "
        "of the table."
    )


@shared
def units(context: RelationalContext, role: str, table: str) -> np.ndarray:
    """Return the code of the subject of each ordered sequence, which is the independent unit.

    If the table does not belong to a subject, or if a row does not, the sequence is the unit.
    """
    own, relations = sequences(context, role, table), context.relations
    alone = np.arange(len(own))
    if relations.role(table) != "dependent":
        return alone
    subject = next(name for name in relations.subjects if relations.paths_to(table, name))
    of_rows = subject_positions(context, role, table, subject)
    of_first = of_rows[own.order[own.offsets[:-1]]]
    return np.asarray(pd.factorize(np.where(of_first >= 0, of_first, -1 - alone))[0])


def unit_name(context: RelationalContext, table: str) -> str:
    """Return the word for the units of a table."""
    return "subject" if context.relations.role(table) == "dependent" else "sequence"


def sequence_columns(
    context: RelationalContext, table: str, columns: ColumnChoice = None, kinds: Any = None
) -> tuple[str, ...]:
    """Return the chosen columns of some column types, without keys and index."""
    schema, key = context.relations.tables[table], context.relations.sequences[table]
    allowed: tuple[Kind, ...] = kinds or (*NUMERIC, *NOMINAL)
    apart = {*key.key, key.index, *context.relations.primary_keys.get(table, ())}
    names = chosen_columns(schema, columns)
    return tuple(n for n in names if n not in apart and schema.kinds[n] in allowed)


@shared
def sequence_values(
    context: RelationalContext, role: str, table: str, column: str, ordered: bool = True
) -> np.ndarray:
    """Return a column in the order of its sequences as numbers, seconds, codes, or nan."""
    own = sequences(context, role, table, ordered)
    return column_values(context[role][table][column])[own.order]


@shared
def usual_step(context: RelationalContext, table: str) -> float:
    """Return the step that at least half of the positive training steps have, or nan."""
    steps = sequences(context, "train", table).steps
    values, counts = np.unique(steps[steps > 0], return_counts=True)
    if not counts.size or 2 * counts.max() < counts.sum():
        return float("nan")
    return float(values[counts.argmax()])


@shared
def irregularities(context: RelationalContext, role: str, table: str) -> dict[str, int]:
    """Return the numbers of ties, gaps, and rows without an index or a key of a table."""
    # `ties` are rows with the same index as the previous row. `gaps` are steps that are longer than
    # the usual training step, if there is a usual step.
    own = sequences(context, role, table)
    gaps = own.steps > usual_step(context, table) * (1.0 + 1e-9)
    return {
        "ties": int((own.steps == 0).sum()),
        "gaps": int(gaps.sum()),
        "without_index": own.n_without_index,
        "without_key": own.n_without_key,
    }


def order_warnings(
    context: RelationalContext, tables: tuple[str, ...]
) -> tuple[MetricWarning, ...]:
    """Return warnings about ties, gaps, and rows without an index or a key in both tables."""
    said = []
    for table in tables:
        key = context.relations.sequences[table]
        what = {
            "ties": f"with the same {key.index} as the previous row (in the order of the table)",
            "gaps": "after a gap in the index",
            "without_index": f"without {key.index} (ignored if the order matters)",
            "without_key": f"without {', '.join(key.key)} (ignored)",
        }
        for role in ("train", "synthetic"):
            counts = irregularities(context, role, table)
            named = [f"{format_count(n, 'row')} {what[kind]}" for kind, n in counts.items() if n]
            if named:
                n_rows = len(context.original_frame(role)[table])
                said.append(f"{table}: the {n_rows:,} {role} rows include {', '.join(named)}.")
    return tuple(MetricWarning(text) for text in said)


def statistic_by_sequence(own: Sequences, values: np.ndarray, statistic: str) -> np.ndarray:
    """Return mean, median, std, min or max of the present values of each sequence, or nan."""
    if not len(own):
        return np.empty(0)
    grouped = pd.Series(values).groupby(own.owners, sort=False)
    return np.asarray(getattr(grouped, statistic)().to_numpy(dtype=np.float64))


@shared
def sequence_features(
    context: RelationalContext, role: str, table: str, columns: ColumnChoice = None
) -> pd.DataFrame:
    """Return a row of features for each ordered sequence of a table."""
    own = sequences(context, role, table)
    features: dict[str, Any] = {"length": own.lengths.astype(np.float64)}
    if own.times is not None:
        last, first = own.offsets[1:] - 1, own.offsets[:-1]
        span = own.times[last] - own.times[first]
        steps = np.where(own.lengths > 1, own.lengths - 1.0, np.nan)
        features |= {"duration": span, "mean step": span / steps}
    for name in sequence_columns(context, table, columns):
        values = sequence_values(context, role, table, name)
        rows = context[role][table][name]
        nominal = isinstance(rows.dtype, pd.CategoricalDtype)
        if nominal:
            found = dict(_features_of_categories(own, values))
            for what, places in (("first", own.offsets[:-1]), ("last", own.offsets[1:] - 1)):
                found[what] = rows.iloc[own.order[places]].array
        else:
            found = dict(_features_of_numbers(own, values))
        features |= {f"{name} {what}": of_each for what, of_each in found.items()}
    return pd.DataFrame(features)


def _features_of_numbers(own: Sequences, values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    values = np.where(np.isfinite(values), values, np.nan)
    yield "first", values[own.offsets[:-1]]
    yield "last", values[own.offsets[1:] - 1]
    mean = statistic_by_sequence(own, values, "mean")
    yield "mean", mean
    yield "std", statistic_by_sequence(own, values, "std")
    firsts, n = own.pairs(), len(own)
    owners, changes = own.owners[firsts], values[firsts + 1] - values[firsts]
    yield "mean difference", _means(changes, owners, n)
    centred = values - mean[own.owners]
    products = np.nan_to_num(centred[firsts] * centred[firsts + 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.bincount(own.owners, np.nan_to_num(centred**2), n)
        share = np.bincount(owners, products, n) / spread
    scale = np.abs(np.nan_to_num(mean)) ** 2 * own.lengths
    yield "lag-1 autocorrelation", np.where(spread > 1e-20 * scale, share, np.nan)


def _features_of_categories(own: Sequences, codes: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    n, n_codes = len(own), int(np.nanmax(codes, initial=-1.0)) + 2
    cells = np.where(np.isnan(codes), n_codes - 1, codes).astype(np.int64)
    distinct = np.unique(own.owners * n_codes + cells) // n_codes
    yield "distinct", np.bincount(distinct, minlength=n).astype(np.float64)
    firsts = own.pairs()
    joint = cells[firsts] * n_codes + cells[firsts + 1]
    pairs, counts = np.unique(own.owners[firsts] * n_codes**2 + joint, return_counts=True)
    most = np.zeros(n)
    np.maximum.at(most, pairs // n_codes**2, counts)
    n_pairs = own.lengths - 1
    yield "transition share", np.where(n_pairs > 0, most / np.maximum(n_pairs, 1), np.nan)


def _means(values: np.ndarray, owners: np.ndarray, n: int) -> np.ndarray:
    """Return the mean of the present values of each owner, or nan without values."""
    present = ~np.isnan(values)
    counts = np.bincount(owners[present], minlength=n)
    sums = np.bincount(owners[present], values[present], n)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def context_of_features(frames: Mapping[str, pd.DataFrame]) -> Context:
    """Return the context of frames of features by role, with one row per sequence.

    Categories and dates keep their column type, and all other columns are numbers.
    """
    kinds = {str(name): kind_of_values(column) for name, column in frames["train"].items()}
    context = Context.of(frames["train"], frames.get("holdout"), schema=kinds)
    return context.with_synthetic(frames["synthetic"])


@shared
def one_of_each_unit(context: RelationalContext, role: str, table: str, seed: int) -> np.ndarray:
    """Return a random sequence of each unit, because tests require independent sequences."""
    of_each = units(context, role, table)
    rng = np.random.default_rng(named_seed(f"{role} {table}", seed))
    order = rng.permutation(of_each.size)
    return np.sort(order[np.unique(of_each[order], return_index=True)[1]])


@shared
def feature_context(
    context: RelationalContext, table: str, columns: ColumnChoice, seed: int
) -> Context | None:
    """Return a table of features with one row per unit, for metrics of one table.

    The result is None if a role has no sequence.
    """
    frames = {}
    for role in ("train", "holdout", "synthetic"):
        if role in context:
            features = sequence_features(context, role, table, columns)
            kept = one_of_each_unit(context, role, table, seed)
            frames[role] = features.iloc[kept].reset_index(drop=True)
    return context_of_features(frames) if all(map(len, frames.values())) else None


@shared
def lines(
    context: RelationalContext, role: str, table: str, column: str, by: str
) -> dict[str, np.ndarray]:
    """Return mean and quartiles of a numeric column along its sequences."""
    own, values = sequences(context, role, table), sequence_values(context, role, table, column)
    if by == "position":
        # the first forty positions are plotted
        at, centres = own.ranks, np.arange(_MAX_POINTS) + 1.0
    else:
        times, reference = own.times, sequences(context, "train", table).times
        if times is None or reference is None or not reference.size:
            return dict.fromkeys(("x", *_LINES), np.empty(0))
        edges = np.linspace(*_ends(reference), _MAX_POINTS + 1)
        at = np.searchsorted(edges[1:-1], times, side="right")
        at = np.where((times < edges[0]) | (times > edges[-1]), _MAX_POINTS, at)
        centres = (edges[:-1] + edges[1:]) / 2.0
    kept = np.isfinite(values) & (at < _MAX_POINTS)
    frame = pd.DataFrame({"at": at[kept], "value": values[kept], "owner": own.owners[kept]})
    n_sequences = frame.drop_duplicates(["at", "owner"])["at"].value_counts()
    shown = sorted(n_sequences.index[n_sequences >= MIN_SEQUENCES])
    grouped = frame.groupby("at")["value"]
    drawn = pd.DataFrame(
        {
            "mean": grouped.mean(),
            "low": grouped.quantile(0.25),
            "high": grouped.quantile(0.75),
            "error": grouped.sem(),
        }
    )
    # rounded, because a quartile of thirteen values would be one of the values
    points = [to_its_error(drawn.loc[at].to_dict()) for at in shown]
    return {"x": centres[shown], **{n: np.array([one[n] for one in points]) for n in _LINES}}


def _ends(times: np.ndarray) -> tuple[float, float]:
    """Return the first and last time of lines, which do not depend on a single row."""
    tail = min(0.5, MIN_SEQUENCES / times.size)
    low = float(np.quantile(times, tail, method="lower"))
    return rounded_ends(low, float(np.quantile(times, 1.0 - tail, method="higher")))
