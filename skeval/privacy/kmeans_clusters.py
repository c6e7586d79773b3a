"""Clusters of k-means in place of equivalence classes, because synthcity counts them."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.privacy.equivalence_classes import ClassMetric
from skeval.results.result import Result, undefined_result
from skeval.stats.joint_classes import class_counts
from skeval.tables.schema import TableSchema
from skeval.tables.spaces import TablePreprocessor
from skeval.utils.parameters import Scaling

CAP = 999  # larger clusters count as this
_N_CLUSTERS = (2, 5, 10, 15)


@declared
class ClusterableMetric(ClassMetric):
    """Base class of the metrics of classes that synthcity computes for clusters.

    Parameters
    ----------
    mode : {"equivalence", "cluster"}, default="equivalence"
        "equivalence" uses classes of equal rows. "cluster" uses the k-means clusters of synthcity,
        only for comparison with its values.
    """

    _: KW_ONLY
    mode: Literal["equivalence", "cluster"] = "equivalence"

    @property
    def _scaling(self) -> Scaling:
        """Scaling of the cost, which is larger for clusters than for classes."""
        return "sampled" if self.mode == "cluster" else self.tags.scaling

    def _clusters(self, context: Context) -> list[np.ndarray]:
        """Return the numbers of training and released rows in each training cluster, by run."""
        columns = self._columns(context.schema)
        runs = [clusters(context, "train", columns, role) for role in ("train", "synthetic")]
        return [class_counts(train, synthetic) for train, synthetic in zip(*runs, strict=True)]


def _matrix(context: Context, role: str, columns: tuple[str, ...]) -> np.ndarray:
    # sorted by name, because the start of k-means must not depend on the column order
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
    # k-means of the rows of `fitted_to`, standardized and one-hot as in the training data. A number
    # is skipped if there are not ten rows per cluster, or fewer distinct rows than clusters.
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
    return undefined_result(
        f"mode='cluster' needs 20 {role} rows, two of them distinct in the quasi-identifiers."
    )
