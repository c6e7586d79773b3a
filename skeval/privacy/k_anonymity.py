"""Groups of equal rows: how large, and whom of train they single out.

Classes are rows with one combination of quasi-identifiers; clusters are those of k-means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import DISCLOSURE_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.results.result import Result, undefined
from skeval.results.verdict import Contrast
from skeval.stats.disclosure import class_counts, joint_classes
from skeval.steps.exposure import advice_on_leak
from skeval.steps.manifolds import grouped
from skeval.steps.relabelled import share_contrast, with_contrast
from skeval.steps.samples import cells, chosen_columns, column_key, finite_values
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC, Cells, inner_edges, numbers
from skeval.tables.schema import TableSchema
from skeval.tables.spaces import TablePreprocessor
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Columns, Count, Legal, Scaling, is_text

CAP = 999  # larger clusters count as this
_N_CLUSTERS = (2, 5, 10, 15)
_DEFAULT_BINS = 10


def _are_edges(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(edges, list | tuple) and len(edges) > 0
        for name, edges in value.items()
    )


BinChoice = (
    BinCount
    | Annotated[
        Mapping[str, Sequence[float | str]],
        Legal("a mapping of column names to non-empty lists of edges", _are_edges, "no mapping"),
    ]
)
SensitiveColumn = Annotated[str, Legal("the name of a column", is_text, -1)]


@declared
class ClassMetric(Metric):
    """Base of measures of classes: groups of rows that agree in the quasi-identifiers.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere: all, the first *n*, or a list of names.
    n_bins : int or mapping of str to list, default=10
        Numbers and dates are cut into this many bins of equal share of train; frequent values have
        bins of their own (see :class:`~skeval.Discretizer`). A mapping gives the inner edges of the
        bins by column, in the column's unit or as date strings; columns that it does not name have
        ten bins. A column with no more distinct values than bins has one bin a value.
    """

    quasi_identifiers: Columns = None
    _: KW_ONLY
    n_bins: BinChoice = 10

    def _prepare(self, context: Context) -> None:
        """Raise one error that names every column whose edges cannot be used."""
        if not isinstance(self.n_bins, Mapping):
            return
        schema, numeric = context.schema, context.schema.columns(*NUMERIC)
        faults = [
            f"{name} is no column of numbers or dates"
            if name not in numeric
            else f"the edges of {name} must be finite and ascending, got {list(edges)!r}"
            for name, edges in self.n_bins.items()
            if name not in numeric or not _ascending(_edges(schema, name, edges))
        ]
        if faults:
            raise InvalidParameterError(f"{type(self).__name__}: n_bins: {'; '.join(faults)}.")

    def _columns(self, schema: TableSchema, without: str | None = None) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, a sensitive column left out."""
        chosen = chosen_columns(schema, self.quasi_identifiers)
        return tuple(name for name in chosen if name != without)

    def _counts(self, context: Context, *roles: str, neutral: bool = False) -> np.ndarray:
        """Return the number of rows in each class, shape (n_roles, n_classes).

        `neutral` classes favour neither train nor the holdout, see :func:`classes`.
        """
        columns = self._columns(context.schema)
        numbered, counts = classes(context, roles, columns, self.n_bins, neutral)
        return class_counts(*numbered, weights=counts)

    def _population(self, context: Context) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how many rows of train, of all real tables and of the release each class has."""
        rest = ("holdout",) if "holdout" in context else ()
        table = self._counts(context, "train", *rest, "synthetic")
        return table[0], table[:-1].sum(axis=0), table[-1]

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context, column_key(context.schema, self.quasi_identifiers))


@declared
class ClusterableMetric(ClassMetric):
    """Base of the measures of classes that synthcity takes of clusters.

    Parameters
    ----------
    mode : {"equivalence", "cluster"}, default="equivalence"
        Classes of equal rows; or the clusters of k-means that synthcity counts, for comparison
        with its values only.
    """

    _: KW_ONLY
    mode: Literal["equivalence", "cluster"] = "equivalence"

    @property
    def _scaling(self) -> Scaling:
        """How it scales: classes are counted, clusters have to be found."""
        return "sampled" if self.mode == "cluster" else self.tags.scaling

    def _clusters(self, context: Context) -> list[np.ndarray]:
        """Return the rows of train and of the release in each cluster of train, run by run."""
        columns = self._columns(context.schema)
        runs = [clusters(context, "train", columns, role) for role in ("train", "synthetic")]
        return [class_counts(train, synthetic) for train, synthetic in zip(*runs, strict=True)]


@declared
class SmallestClassMetric(ClusterableMetric):
    """Base of the measures of the smallest class, or of the smallest cluster as synthcity has it.

    Parameters
    ----------
    k0 : int, default=5
        The class size that counts as large enough in ``details["below_k0"]``.
    """

    tags = replace(
        DISCLOSURE_TAGS,
        greater_is_better=True,
        bounds=(1.0, float("inf")),
        risks=frozenset({"singling out"}),
    )

    _: KW_ONLY
    k0: Count = 5


def _ascending(edges: np.ndarray) -> bool:
    return bool(np.isfinite(edges).all() and (np.diff(edges) > 0).all())


def _edges(schema: TableSchema, column: str, edges: Sequence[float | str]) -> np.ndarray:
    """Return edges on the scale of the column's numbers; nan where they cannot be read."""
    if schema.kinds[column] == "datetime":
        dates = pd.to_datetime(pd.Series(list(edges)), errors="coerce", format="ISO8601", utc=True)
        return numbers(pd.DataFrame({column: dates.dt.tz_localize(None)})).ravel()
    read = pd.to_numeric(pd.Series(list(edges)), errors="coerce")
    return read.to_numpy(dtype=np.float64)


def _cut(context: Context, column: str, n_bins: BinChoice, neutral: bool) -> Cells | None:
    if context.schema.kinds[column] in NOMINAL:
        return None
    if isinstance(n_bins, Mapping) and column in n_bins:
        edges = _edges(context.schema, column, n_bins[column])
        return Cells(n_own=len(edges) + 1, edges=edges)
    count = _DEFAULT_BINS if isinstance(n_bins, Mapping) else n_bins
    if not neutral:
        return cells(context, count, "quantile", None).cells_[column]
    real = np.concatenate([finite_values(context, role, column) for role in ("train", "holdout")])
    inner = inner_edges(real, count, "quantile")
    edges = np.array([]) if inner is None else inner
    return Cells(n_own=len(edges) + 1, edges=edges)


@shared
def column_codes(
    context: Context, role: str, column: str, n_bins: BinChoice, neutral: bool = False
) -> np.ndarray:
    """Return one code a value: bins of numbers and dates, categories as they are."""
    # Missing is a code of its own: below all categories, above all bins. A category that
    # train never had keeps its own code, since two rows that differ in it are not one class.
    return _codes_of(context[role], {column: _cut(context, column, n_bins, neutral)})[0]


def _codes_of(frame: Any, cuts: Mapping[str, Cells | None]) -> list[np.ndarray]:
    """Return the codes of columns that are cut, None for those whose categories are codes."""
    return [
        frame[name].cat.codes.to_numpy(dtype=np.int32)
        if cut is None
        else cut.codes(column_values(frame[name]))
        for name, cut in cuts.items()
    ]


@shared
def distinct_rows(
    context: Context, role: str, columns: tuple[str, ...], n_bins: BinChoice, neutral: bool = False
) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """Return the codes of distinct rows by column, and how many rows have each.

    None where each row has its code, see :func:`~skeval.steps.manifolds.grouped`.
    """
    cuts = {name: _cut(context, name, n_bins, neutral) for name in columns}
    found = grouped(context, role, columns, partial(_codes_of, cuts=cuts))
    return None if found is None else (dict(zip(columns, found[0], strict=True)), found[1])


@shared
def classes(
    context: Context,
    roles: tuple[str, ...],
    columns: tuple[str, ...],
    n_bins: BinChoice,
    neutral: bool = False,
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray | None, ...]]:
    """Return the class of each row, numbered over all `roles` together; one array a role."""
    # If workers count, it is the class of each distinct row; the second result is how many
    # rows have it. Bins are `neutral` if all real rows choose them: a test that exchanges
    # train and holdout needs that. Bins of train hold train rows in equal numbers and holdout
    # rows as they come, and so differ where the two do not.
    found = [distinct_rows(context, role, columns, n_bins, neutral) for role in roles]
    sizes = [
        context.n_rows(role) if distinct is None else distinct[1].size
        for role, distinct in zip(roles, found, strict=True)
    ]
    codes = (
        np.concatenate(
            [
                column_codes(context, role, name, n_bins, neutral)
                if distinct is None
                else distinct[0][name]
                for role, distinct in zip(roles, found, strict=True)
            ]
        )
        for name in columns
    )
    joint = joint_classes(codes, sum(sizes))
    counts = tuple(None if distinct is None else distinct[1] for distinct in found)
    return tuple(np.split(joint, np.cumsum(sizes)[:-1])), counts


def _matrix(context: Context, role: str, columns: tuple[str, ...]) -> np.ndarray:
    # in the order of their names: the start of k-means must not depend on the table's order
    names = sorted(name for name in columns if context.train[name].notna().any())
    if not names:
        return np.empty((context.n_rows(role), 0))
    schema = TableSchema({name: context.schema.kinds[name] for name in names})
    fitted = TablePreprocessor(schema).fit(context.train[names])
    return np.asarray(fitted.transform(context[role][names]), dtype=np.float64)


@shared
def clusters(
    context: Context, fitted_to: str, columns: tuple[str, ...], role: str
) -> tuple[np.ndarray, ...]:
    """Return the cluster of each row of `role`, one array for each number of clusters."""
    # k-means of the rows of `fitted_to`, standardised and one-hot as train has them. A number
    # of clusters is left out if there are not ten rows a cluster, or fewer distinct rows than
    # clusters.
    from sklearn.cluster import KMeans

    rows = _matrix(context, fitted_to, columns)
    if rows.shape[1] == 0:
        return ()
    distinct = np.unique(rows.round(9), axis=0).shape[0]
    rows = rows[np.lexsort(rows.T)]
    queries = _matrix(context, role, columns)
    return tuple(
        KMeans(n, init="k-means++", n_init=1, random_state=0).fit(rows).predict(queries)
        for n in _N_CLUSTERS
        if len(rows) >= 10 * n and distinct >= n
    )


def too_few_to_cluster(role: str) -> Result:
    """Return the result of a table that is too small for any number of clusters."""
    return undefined(
        f"mode='cluster' needs 20 {role} rows, two of them distinct in the quasi-identifiers."
    )


@declared
class KAnonymity(SmallestClassMetric):
    r"""Size of the smallest group of alike rows: 1 if a row stands alone, n if all are alike.

    An attacker who knows the quasi-identifiers of a person (age, postcode, occupation) looks for
    them in the synthetic table. Rows that agree in all of them cannot be distinguished; the value
    is the number of rows in the smallest such class.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all, and then nearly every row
        stands alone and the value of any table is 1; name those that matter.

    Warnings
    --------
    Large classes say nothing of the secrets in them: if all rows of a class have one secret, it is
    disclosed. An attacker who knows other columns than the quasi-identifiers may find more.

    See Also
    --------
    KMap : Counts people of the population instead of synthetic rows.
    ReplicatedUniques : Rows that are unique in train and in the release.
    LDiversity, TCloseness : How sensitive values are distributed within the classes.

    Notes
    -----
    With the classes c of the synthetic table S, the value is

    .. math:: \min_c |S \cap c|

    Missing is a value of its own. ``details`` has the share of rows that stand alone (`uniques`),
    of rows in classes of fewer than `k0` (`below_k0`), the number of classes, and under `train` the
    same of train.

    In mode "cluster" the value is the size of the smallest cluster over k-means with 2, 5, 10 and
    15 clusters of the synthetic rows, at most 999; numbers that leave fewer than ten rows a cluster
    are skipped.

    Synthetic rows are no persons, so that k-anonymity of a synthetic table is neither necessary
    nor sufficient for privacy: a lone synthetic row need not be anyone, and a copy of train
    written out twice has k of at least 2. A copy scores what train scores, fresh rows nearly the
    same; noise scores more over few combinations and 1 over many. Compare with `train` and with the
    baseline, the value of holdout rows; and prefer
    :class:`~skeval.privacy.ReplicatedUniques`, which looks at train.

    It describes the release and makes no test. The value grows with the number of rows. There is
    no interval: the smallest class of a sample says little about the smallest of the population.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
    Fuzziness and Knowledge-Based Systems 10 (2002), doi:10.1142/S0218488502001648.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import KAnonymity
    >>> table = pd.DataFrame({"town": list("aabbbc")})
    >>> KAnonymity().fit(table).score(table), KAnonymity().fit(table).score(table[:5])
    (1.0, 2.0)
    """

    def _compute(self, context: Context) -> Result:
        roles, columns = ("synthetic", "train"), self._columns(context.schema)
        if self.mode == "cluster":
            k, of_train = (smallest_cluster(clusters(context, r, columns, r)) for r in roles)
            if k is None:
                return too_few_to_cluster("synthetic")
            return Result(k, details={"train": {"k": of_train}})
        released, train = (profile(self._counts(context, role)[0], self.k0) for role in roles)
        return Result(float(released["k"]), details={**released, "train": train})

    def _summary(self, result: Result) -> str:
        if self.mode == "cluster":
            return f"The smallest cluster of synthetic rows has {result.value:.0f}."
        smallest = f"The smallest class of rows with equal quasi-identifiers has {result.value:.0f}"
        uniques = percent(result.details["uniques"])
        return f"{smallest}; {uniques} of rows are alone in theirs."


@declared
class ReplicatedUniques(ClassMetric):
    r"""Share of train rows that are unique there and in the release: 0 if none, 1 if all.

    An attacker knows that a person is the only one in train with their quasi-identifiers. A
    synthetic row that is the only one with the same combination looks like that person's record,
    and its other columns are taken to be theirs.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all, and then only rows that the
        generator copied are replicated, up to the bins.

    Warnings
    --------
    Rows that share their quasi-identifiers with another row of train do not count. An attacker who
    knows other columns than the quasi-identifiers may find more.

    See Also
    --------
    KAnonymity : Size of the smallest class of synthetic rows.
    KMap : Fewest people of the population behind a synthetic row.
    SinglingOutRisk : An attack on persons that one predicate describes.

    Notes
    -----
    With T the rows of train and S the synthetic rows that have a combination c, the value is

    .. math:: \frac{1}{n_T} \sum_c [|T \cap c| = 1] \, [|S \cap c| = 1]

    Missing is a value of its own. ``details`` has the same count as a share of the rows unique in
    train (`of_uniques`, nan if there are none), the shares of unique rows in train (`uniques`) and
    in the synthetic table (`uniques_synthetic`), and the share of train rows that are unique and
    whose combination was released at all, however often (`released`).

    A copy scores `uniques`, the greatest value possible. Fresh rows replicate rare combinations by
    chance, and so does noise. Hence the baseline, the value of holdout rows: only the excess is the
    generator's. A table written out twice scores 0, since nothing is unique in it; `released` does
    not fall for that. The value depends on the number of synthetic rows: few hit few combinations,
    and many hit the same one twice.

    The p-value is one-sided and exact: of the real rows that are unique among train and holdout
    together and have exactly one synthetic row, it asks whether more are train than a random choice
    of the train rows would have. It needs a holdout. Its bins are of train and holdout together.
    Bins of train hold train rows in equal numbers, so that more of them are unique, and would
    accuse up to 12% of releases of generators that have learned nothing; these accuse at most 5%.

    The interval is Wilson's for a share over train rows, of the mean over tables like these. Rows
    are not independent, since one takes another's uniqueness; but rare combinations are hit nearly
    independently of each other, and in simulations the count varied as a binomial one does, or
    less.

    References
    ----------
    G. M. Raab, "Privacy risk from synthetic data: practical proposals", arXiv:2409.04257 (2024);
    known as repU in the R package synthpop.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import ReplicatedUniques
    >>> train = pd.DataFrame({"town": list("abbc")})
    >>> ReplicatedUniques().fit(train).score(pd.DataFrame({"town": list("aacd")}))
    0.25
    """

    tags = replace(DISCLOSURE_TAGS, risks=frozenset({"singling out"}))

    def _compute(self, context: Context) -> Result:
        train, synthetic = self._counts(context, "train", "synthetic")
        n_replicated, n_unique = replicated_uniques(train, synthetic)
        n = int(train.sum())
        interval = binomtest(n_replicated, n).proportion_ci(method="wilson")
        return Result(
            n_replicated / n,
            interval=(float(interval.low), float(interval.high)),
            details={
                "of_uniques": n_replicated / n_unique if n_unique else float("nan"),
                "uniques": n_unique / n,
                "uniques_synthetic": share_in_small(synthetic, 2),
                "released": float(((train == 1) & (synthetic > 0)).sum() / n),
            },
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if "holdout" not in context:
            return result
        tables = self._counts(context, "train", "holdout", "synthetic", neutral=True)
        p_value, contrast = replicated_evidence(*tables)
        return replace(result, p_value=p_value, contrast=contrast)

    def _summary(self, result: Result) -> str:
        lead = (
            f"{percent(result.value)} of train rows are alone with their quasi-identifiers and "
            "have exactly one synthetic row with the same"
        )
        return with_contrast(lead, result)


def profile(sizes: np.ndarray, k0: int) -> dict[str, Any]:
    """Return the size of the smallest class, and the shares of rows in small ones."""
    return {
        "k": int(sizes.min()),
        "uniques": share_in_small(sizes, 2),
        "below_k0": share_in_small(sizes, k0),
        "n_classes": sizes.size,
    }


def smallest_cluster(runs: tuple[np.ndarray, ...]) -> float | None:
    """Return the size of the smallest cluster over several runs; None if there are none."""
    return float(min(CAP, *(np.bincount(labels).min() for labels in runs))) if runs else None


def share_in_small(counts: np.ndarray, k: int) -> float:
    """Return the share of rows in classes of fewer than `k` rows: 0 if none, 1 if all."""
    return float(counts[counts < k].sum() / counts.sum())


def replicated_evidence(
    train: np.ndarray, holdout: np.ndarray, synthetic: np.ndarray
) -> tuple[float, Contrast]:
    """Hold train rows that are alone, and have one synthetic row, against such holdout rows.

    Who is unique among all real rows does not depend on which of them are train.
    """
    replicated = (train + holdout == 1) & (synthetic == 1)
    k, k_other = int(train[replicated].sum()), int(holdout[replicated].sum())
    what = "train rows unique among all real ones with exactly one synthetic row like them"
    return share_contrast(what, k, int(train.sum()), k_other, int(holdout.sum()))


def replicated_uniques(train: np.ndarray, synthetic: np.ndarray) -> tuple[int, int]:
    """Return how many classes have one row in both tables, and how many have one row in train."""
    unique = train == 1
    return int((unique & (synthetic == 1)).sum()), int(unique.sum())
