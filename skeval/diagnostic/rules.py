"""Check whether synthetic rows keep rules between columns, specified or found in train."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.counts import missing_cells
from skeval.core.declared import declared
from skeval.core.tags import VALIDITY_TAGS
from skeval.diagnostic.columns import ShareTally, lacks
from skeval.diagnostic.expressions import GRAMMAR, Condition
from skeval.exceptions import InvalidParameterError, MetricWarning, NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.steps.column_choice import columns_of
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Count, Legal

MINED = ("dependencies", "hierarchies", "inequalities")
_TEXTS = ("string", "mixed", "mixed-integer")  # column types that contain texts
_PROBE = 500  # rows that break most pairs of columns at once
# which rows keep a rule, and to which rows it applies
Kept = tuple[np.ndarray, np.ndarray]


def _are_rules(value: object) -> bool:
    given = list(value.values()) if isinstance(value, Mapping) else value
    return value is None or (
        isinstance(given, list | tuple)
        and len(given) > 0
        and all(isinstance(text, str) and text.strip() for text in given)
    )


def _are_kinds(value: object) -> bool:
    return isinstance(value, list | tuple) and all(kind in MINED for kind in value)


Rules = Annotated[
    Sequence[str] | Mapping[str, str] | None,
    Legal("None, a list of expressions or a mapping of names to them", _are_rules, "a < b"),
]
Kinds = Annotated[
    Sequence[str],
    Legal(f"a list of some of {', '.join(map(repr, MINED))}", _are_kinds, ["correlations"]),
]


@declared
class RuleAdherence(Metric):
    r"""Fraction of rows that keep the rules between columns.

    Each cell of a row may be possible although the row is not, for example a landing before the
    take-off, a city in another country, or a pension at the age of twelve. An expert of the data
    sees such a row at once, and a program that relies on the table fails. You can specify rules as
    expressions. In addition, the metric mines rules that no training row breaks although unrelated
    columns would break them. The score ranges from 0 (no row keeps a rule) to 1 (all rows keep all
    rules). Higher is better.

    Parameters
    ----------
    rules : list of str or mapping of str to str, optional
        Conditions on columns that are true of a row that keeps the rule, such as ``"arrival >=
        departure"`` or ``"age >= 16 or income == 0"``. The notes describe the complete syntax. A
        mapping gives names to the rules.
    mine : list of str, default=("dependencies", "hierarchies", "inequalities")
        Types of rules to mine. "dependencies" are values of one column that determine the values of
        another, if one of the columns is numerical or datetime. "hierarchies" are the same for two
        categorical columns, such as city and country. "inequalities" are pairs of numerical or of
        datetime columns, one of which is never above the other. If empty, no rule is mined.
    min_chances : int, default=30
        A rule is mined if all training rows keep it although independent columns would break it in
        at least this number of rows on average.
    columns : None, int or list of str, default=None
        Columns in which rules are mined: all (None), the first *n*, or the named ones.

    Raises
    ------
    InvalidParameterError
        At fit, if a rule is outside the grammar. Rules are checked before any table is read. Also
        if a rule cannot be evaluated on the training data, or is not a condition.

    Warnings
    --------
    Mined rules may be accidents of the training data. If the holdout data also break a rule, the
    rule is not a property of the population. A copy of the training data scores 1.

    See Also
    --------
    BoundaryAdherence, CategoryAdherence : Check single cells.
    skeval.fidelity.ContingencySimilarity : Compares the frequencies of pairs of values.

    Notes
    -----
    The value is the mean over the rules of the fraction of rows that keep the rule,

    .. math:: \frac{1}{R} \sum_r \frac{|\{i \in S_r : i \text{ keeps } r\}|}{|S_r|}

    where :math:`S_r` are the synthetic rows to which the rule applies. A rule applies to rows
    without missing cells in its columns. A cell that cannot be read is not missing, and it breaks
    every specified rule. A rule of the form "one value determines another" applies to rows whose
    first value occurs in the training data. ``details["columns"]`` contains the fraction for each
    rule, `worst` the rule with the smallest fraction, and ``details["rules"]`` the type of each
    rule and, for specified rules, the fraction of training rows. ``details["rows"]`` is the
    fraction of rows that break no rule. The baseline is the same mean for the holdout rows. If
    holdout rows break a mined rule, the rule is specific to this training data. A rule about a
    column that is missing from the synthetic data scores 0.

    Consider the rule that one column determines another. Let n be the number of rows in which both
    values are known, G the number of distinct values of the first column, and p the fractions of
    the values of the second column. Unrelated columns would break the rule in about :math:`(n -
    G)(1 - \sum p^2)` rows. They would break an inequality in n times the probability that a value
    drawn from one column is above a value drawn from the other. Rules of three or more columns and
    rules with exceptions are not mined. Specify such rules in `rules`.

    Specified rules consist of names of columns (in backticks if they are not valid Python names),
    numbers, texts in quotes, ``True`` and ``False``, ``+ - * / // % **``, ``== != < <= > >=`` (also
    in chains), ``in`` and ``not in`` with a list, ``and``, ``or``, ``not``, parentheses,
    ``isna(column)``, ``notna(column)``, ``abs(number)`` and ``date("2024-01-31")``. Nothing else is
    evaluated, and nothing is run as Python. A text that is compared with a date is read as a date.
    A text that is compared with a difference of two dates is read as a duration such as ``"3
    days"``. Ordered categories are compared by their order. Numbers and texts cannot be compared.
    If a rule uses ``isna`` or ``notna`` with a column, the rule also applies to rows in which that
    column is missing. In these rows, other comparisons with the column are false, as in
    ``"isna(left) or left >= entered"``.

    Rules that follow from other rules are counted as well. For example, a wrong city breaks both
    the rule for its country and the rule for its continent. The interval of a rule is Wilson's
    interval. The interval of the mean treats rows, not cells, as independent. A copy of the
    training data scores 1.

    References
    ----------
    J. Liu, J. Li, C. Liu, Y. Chen, "Discover dependencies from data: a review", IEEE Transactions
    on Knowledge and Data Engineering 24 (2012), doi:10.1109/TKDE.2010.197.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import RuleAdherence
    >>> train = pd.DataFrame({"city": ["Rome", "Oslo", "Bari"] * 30, "land": ["I", "N", "I"] * 30})
    >>> synthetic = pd.DataFrame({"city": ["Rome", "Oslo", "Bari"], "land": ["I", "I", "I"]})
    >>> RuleAdherence().fit(train).evaluate(synthetic).details["columns"]
    {'city -> land': 0.6666666666666666}
    >>> RuleAdherence(["city != 'Bari'"], mine=[]).fit(train[:2]).score(synthetic)
    0.6666666666666666
    """

    tags = VALIDITY_TAGS

    rules: Rules = None
    _: KW_ONLY
    mine: Kinds = MINED
    min_chances: Count = 30
    columns: Columns = None

    def named_columns(self) -> dict[str, list[str]]:
        """Return the columns that parameters name, and reject invalid rules."""
        named = super().named_columns()
        if faults := [fault for rule in self._given_rules() if (fault := rule.misspelt())]:
            raise InvalidParameterError(f"RuleAdherence: {'; '.join(faults)}. {GRAMMAR}.")
        return named

    def _prepare(self, context: Context) -> None:
        faults = [fault for rule in self._given_rules() if (fault := rule.fault(context))]
        if faults:
            raise InvalidParameterError(f"RuleAdherence: {'; '.join(faults)}.")

    def _compute(self, context: Context) -> Result:
        rules, n_rows = self._rules(context), context.n_rows("synthetic")
        if not rules:
            text = "no rule was specified, and none was found. Pass rules=[...]."
            return undefined_result(text, NothingToMeasureWarning)
        tally, unbroken, idle = ShareTally(n_rows), np.ones(n_rows, dtype=bool), []
        for name, rule in rules.items():
            valid, about = check_synthetic_rows(context, rule)
            if about.any():
                tally.add(name, valid & about, about)
                unbroken &= valid | ~about
            else:
                idle.append(name)
        result = mean_of_columns(
            {name: tally.shares.get(name, np.nan) for name in rules},
            n_total=len(rules),
            greater_is_better=True,
            warnings=_notices(context, self._given_rules(), idle),
            intervals=tally.intervals,
            rules={
                name: {"kind": rule.kind, "train": share_kept(context, "train", rule)}
                for name, rule in rules.items()
            },
            rows=float(unbroken.mean()),
        )
        return replace(result, interval=tally.interval())

    def _summary(self, result: Result) -> str:
        details = result.details
        worst, of_fresh = details["worst"], details.get("baseline_columns", {})
        fresh = of_fresh.get(worst["column"])
        compared = "" if fresh is None else f" (holdout rows: {percent(fresh)})"
        mean, rows, least = map(percent, (result.value, details["rows"], worst["value"]))
        return (
            f"On average {mean} of the rows keep each of {details['n_used']} rules between "
            "columns, and "
            f" {rows} break no rule. Only {least} keep {worst['column']}{compared}."
        )

    def _given_rules(self) -> list[Expression]:
        given = self.rules or {}
        named = given if isinstance(given, Mapping) else {text: text for text in given}
        return [Expression(name, text) for name, text in named.items()]

    def _rules(self, context: Context) -> dict[str, Rule]:
        names = tuple(columns_of(context, self.columns, (*NUMERIC, *NOMINAL)))
        mined = mined_rules(context, names, tuple(self.mine), self.min_chances)
        return {rule.name: rule for rule in (*mined, *self._given_rules())}


# ------------------------------------------------------------------------------ kinds of rules


@dataclass(frozen=True)
class Expression:
    """A specified rule, which is true for the rows that keep it."""

    name: str
    text: str
    kind: str = "given"

    def misspelt(self) -> str:
        """Return why the text is not a rule, or an empty string."""
        try:
            Condition(self.text)
        except InvalidParameterError as error:
            return str(error)
        return ""

    def columns(self, names: Sequence[str]) -> list[str]:
        """Return the names that the expression uses."""
        mentioned = Condition(self.text).names
        return [name for name in names if name in mentioned]

    def fault(self, context: Context) -> str:
        """Return why the rule cannot be evaluated on the training data, or an empty string."""
        try:
            truth = Condition(self.text).truth(self._read(context, "train"))
        except InvalidParameterError as error:
            return f"the rule {self.name!r} cannot be evaluated: {error}"
        return "" if truth is not None else f"the rule {self.name!r} is not a condition"

    def check_rows(self, context: Context, role: str) -> Kept:
        """Return which rows keep the rule, and to which rows it applies."""
        table, condition = self._read(context, role), Condition(self.text)
        try:
            truth = condition.truth(table)
        except InvalidParameterError:  # cells are not numbers although the rule requires numbers
            truth = None
        if truth is None:
            return np.zeros(len(table), dtype=bool), np.ones(len(table), dtype=bool)
        needed = [name for name in table if name not in condition.asked]
        # a cell that cannot be read is not missing, so it breaks the rule
        about = np.ones(len(table), dtype=bool)
        for name in needed:
            about &= ~missing_cells(context, role, name)
        return truth & about, about

    def _read(self, context: Context, role: str) -> pd.DataFrame:
        """Return the columns of the expression, with texts read as dates or numbers."""
        # Texts are read as the type of the training column. If a file contains one unreadable cell
        # in a column of numbers, the full column is text.
        table = context.original_frame(role)
        table = table[self.columns(list(table.columns))]
        kinds, columns = context.schema.kinds, {}
        for name in table:
            kind, given = kinds.get(name), table[name]
            is_date = pd.api.types.is_datetime64_any_dtype(given.dtype)
            says = kind == "datetime" and not is_date
            says |= kind == "continuous" and pd.api.types.infer_dtype(given) in _TEXTS
            columns[name] = context.column(role, name).array if says else given
        return pd.DataFrame(columns, index=table.index)


@dataclass(frozen=True)
class _OfTwo:
    """A rule of two columns."""

    first: str
    second: str
    kind: str

    def columns(self, names: Sequence[str]) -> list[str]:
        """Return the names that the rule uses."""
        return [name for name in names if name in (self.first, self.second)]


class Dependency(_OfTwo):
    """Values of one column determine the values of another column."""

    @property
    def name(self) -> str:
        """The rule in words."""
        return f"{self.first} -> {self.second}"

    def check_rows(self, context: Context, role: str) -> Kept:
        """Return which rows keep the rule, and to which rows it applies."""
        determined = _second_by_first(
            *(value_codes(context, "train", c) for c in (self.first, self.second))
        )
        first, second = (value_codes(context, role, c) for c in (self.first, self.second))
        known = (first >= 0) & (first < determined.size)
        wanted = np.where(known, determined[np.where(known, first, 0)], -1)
        about = (wanted >= 0) & (second != -1)
        return about & (wanted == second), about


@dataclass(frozen=True)
class Inequality(_OfTwo):
    """Values of one column are never above the values of another column."""

    kind: str = "inequalities"

    @property
    def name(self) -> str:
        """The rule in words."""
        return f"{self.first} <= {self.second}"

    def check_rows(self, context: Context, role: str) -> Kept:
        """Return which rows keep the rule, and to which rows it applies."""
        first, second = (_values_of(context, role, name) for name in (self.first, self.second))
        about = ~np.isnan(first) & ~np.isnan(second)
        return about & (first <= second), about


Rule = Expression | Dependency | Inequality


def check_synthetic_rows(context: Context, rule: Rule) -> Kept:
    """Return which synthetic rows keep a rule, and to which rows it applies."""
    if any(lacks(context, name) for name in rule.columns(list(context.schema.kinds))):
        n_rows = context.n_rows("synthetic")
        return np.zeros(n_rows, dtype=bool), np.ones(n_rows, dtype=bool)
    return rule.check_rows(context, "synthetic")


def share_kept(context: Context, role: str, rule: Rule) -> float:
    """Return the fraction of the rows of a role that keep a rule, or nan if it never applies."""
    valid, about = rule.check_rows(context, role)
    return float(valid.sum() / about.sum()) if about.any() else float("nan")


def _notices(
    context: Context, given: Sequence[Expression], idle: Sequence[str]
) -> tuple[MetricWarning, ...]:
    texts = []
    if idle:
        texts.append(f"these rules do not apply to any synthetic row: {', '.join(idle)}.")
    if strays := [rule.name for rule in given if share_kept(context, "train", rule) < 1.0]:
        texts.append(f"the training data break the rules {', '.join(strays)}.")
    return tuple(MetricWarning(text) for text in texts)


# -------------------------------------------------------------------------------------- mining


@shared
def mined_rules(
    context: Context, columns: tuple[str, ...], kinds: tuple[str, ...], min_chances: int
) -> list[Rule]:
    """Return the rules between two columns that every training row keeps."""
    rules: list[Rule] = []
    nominal = set(context.schema.columns(*NOMINAL))
    if {"dependencies", "hierarchies"} & set(kinds):
        codes = {name: value_codes(context, "train", name) for name in columns}
        for first, second in _may_determine(codes, min_chances):
            kind = "hierarchies" if {first, second} <= nominal else "dependencies"
            if kind in kinds and dependency_chances(codes[first], codes[second]) >= min_chances:
                rules.append(Dependency(first, second, kind))
    if "inequalities" in kinds:
        for kind in NUMERIC:
            own = set(context.schema.columns(kind))
            values = {c: _values_of(context, "train", c) for c in columns if c in own}
            for first, second in _candidate_inequalities(values):
                if inequality_chances(values[first], values[second]) >= min_chances:
                    rules.append(Inequality(first, second))
    return rules


def _may_determine(codes: Mapping[str, np.ndarray], min_chances: int) -> Iterator[tuple[str, str]]:
    """Yield the pairs of columns whose first rows break no dependency."""
    # All second columns are tested together, because a wide table has many pairs. Columns whose
    # values rarely repeat are ignored, because they determine nothing.
    names = list(codes)
    rows = np.array([codes[name][:_PROBE] for name in names])
    for first, own in zip(names, rows, strict=True):
        present = codes[first][codes[first] >= 0]
        if present.size - np.count_nonzero(np.bincount(present)) < min_chances:
            continue
        order = np.argsort(own, kind="stable")
        order = order[own[order] >= 0]
        again = np.flatnonzero(np.diff(own[order]) == 0)  # rows with the value of the previous row
        before, after = rows[:, order[again]], rows[:, order[again + 1]]
        broken = ((before != after) & (before >= 0) & (after >= 0)).any(axis=1)
        yield from ((first, names[j]) for j in np.flatnonzero(~broken) if names[j] != first)


def _candidate_inequalities(values: Mapping[str, np.ndarray]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of columns whose first rows have no first value above the second."""
    names = list(values)
    rows = np.array([values[name][:_PROBE] for name in names])
    for first, own in zip(names, rows, strict=True):
        above = (own > rows).any(axis=1)
        yield from ((first, names[j]) for j in np.flatnonzero(~above) if names[j] != first)


@shared
def _values_of(context: Context, role: str, column: str) -> np.ndarray:
    return column_values(context.column(role, column))


@shared
def value_codes(context: Context, role: str, column: str) -> np.ndarray:
    """Return the training code of each value, -1 if missing, and another code if unknown."""
    if column in context.schema.columns(*NOMINAL):
        return np.asarray(context.column(role, column).cat.codes.to_numpy(), dtype=np.int64)
    values, known = (column_values(context.column(r, column)) for r in (role, "train"))
    distinct = np.unique(known[~np.isnan(known)])
    places = np.searchsorted(distinct, values)
    found = distinct[np.minimum(places, distinct.size - 1)] if distinct.size else values + 1.0
    return np.where(np.isnan(values), -1, np.where(found == values, places, -2))


def _second_by_first(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return a value of the second column for each value of the first, or -1 without rows."""
    present = (first >= 0) & (second >= 0)
    values = np.full(int(first.max(initial=-1)) + 1, -1, dtype=np.int64)
    values[first[present]] = second[present]
    return values


def dependency_chances(first: np.ndarray, second: np.ndarray) -> float:
    """Return in how many rows unrelated columns would break a dependency, or 0 if a row does."""
    for rows in (slice(_PROBE), slice(None)):
        one, two = first[rows], second[rows]
        present = (one >= 0) & (two >= 0)
        if (_second_by_first(one, two)[one[present]] != two[present]).any():
            return 0.0
    shares = np.bincount(two[present]) / max(int(present.sum()), 1)
    n_again = int(present.sum()) - np.count_nonzero(np.bincount(one[present]))
    return float(n_again * (1.0 - (shares**2).sum()))


def inequality_chances(first: np.ndarray, second: np.ndarray) -> float:
    """Return in how many rows unrelated columns would break ``first <= second``, or 0."""
    if (first[:_PROBE] > second[:_PROBE]).any() or (first > second).any():
        return 0.0
    present = ~np.isnan(first) & ~np.isnan(second)
    one, two = first[present], np.sort(second[present])
    return float(np.searchsorted(two, one, side="left").sum()) / max(one.size, 1)
