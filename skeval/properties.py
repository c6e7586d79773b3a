"""Mean scores of the properties of a quality report, the parts of names before a slash."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.exceptions import MetricWarning, NothingToMeasureWarning
from skeval.formatting import as_float

if TYPE_CHECKING:
    from skeval.result import Result


def property_scores(results: Mapping[str, Result]) -> pd.DataFrame:
    """Return the mean score of each property of a quality report, and their mean.

    A property is what the names of several metrics have before a slash: in
    ``column_shapes/ks_complement`` it is ``column_shapes``. Its score is the mean over all columns,
    or pairs of columns, that its metrics scored, so that a metric counts by the number of them; one
    of the table as a whole counts once.

    Parameters
    ----------
    results : SuiteResult or mapping of str to Result
        By the names in the suite. Names without a slash are left out, and so are metrics that
        failed. Where two metrics of a property scored the same column or pair, the later counts.

    Returns
    -------
    DataFrame
        By property, then "overall": `score`, `baseline` (what fresh real rows score; nan without a
        holdout) and `n_used`, the number of columns or pairs. A property whose pairs were all left
        out is nan, and the overall mean is that of the others; `evaluate` has warned, and why.

    Notes
    -----
    Only scores on one scale should share a property. The overall number lets one property buy back
    the other: show both.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement, TVComplement
    >>> from skeval.properties import property_scores
    >>> shapes = [("shapes/ks", KSComplement()), ("shapes/tv", TVComplement())]
    >>> result = MetricSuite(shapes).fit(make_mixed()).evaluate(make_mixed())
    >>> property_scores(result)["score"].to_dict()
    {'shapes': 1.0, 'overall': 1.0}
    """
    parts: dict[str, dict[Hashable, tuple[float, float]]] = {}
    for name, result in results.items():
        group, slash, _ = name.partition("/")
        if slash:
            parts.setdefault(group, {}).update(_parts(result))
    rows = {group: _means(list(scores.values())) for group, scores in parts.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["score", "baseline", "n_used"])
    overall = [*(frame[name].mean() for name in ("score", "baseline")), frame["n_used"].sum()]
    frame.loc["overall"] = overall
    return frame.astype({"n_used": int}).rename_axis("property")


def property_warnings(results: Mapping[str, Result]) -> list[MetricWarning]:
    """Return the warnings of all results, those of a property without a score as one.

    That the table has no columns of some kind, or no strong pair, is nothing to warn of where the
    other metrics of the property score what there is.
    """
    kept: list[MetricWarning] = []
    lacking: dict[str, list[str]] = {}
    for name, result in results.items():
        group, slash, _ = name.partition("/")
        for warning in () if result.error else result.warnings:
            if slash and isinstance(warning, NothingToMeasureWarning):
                lacking.setdefault(group, []).append(str(warning).rstrip("."))
            else:
                kept.append(warning)
    for group, reasons in lacking.items():
        scores = [r.value for name, r in results.items() if name.startswith(f"{group}/")]
        if np.isnan(scores).all():
            why = "; ".join(dict.fromkeys(reasons))
            kept.append(NothingToMeasureWarning(f"{group} has no score: {why}."))
    return kept


def _parts(result: Result) -> Iterator[tuple[Hashable, tuple[float, float]]]:
    """Yield each column or pair that a metric scored, with its score and that of fresh rows."""
    fresh, details = as_float(result.baseline), result.details
    if "matrix" in details:
        names, matrix = details["names"], np.asarray(details["matrix"], dtype=np.float64)
        for i, j in zip(*np.nonzero(np.triu(~np.isnan(matrix), 1)), strict=True):
            yield frozenset((names[i], names[j])), (float(matrix[i, j]), fresh)
    elif "columns" in details:
        of_fresh = details.get("baseline_columns", {})
        for name, score in details["columns"].items():
            if not np.isnan(as_float(score)):
                yield name, (float(score), float(of_fresh.get(name, fresh)))
    elif not np.isnan(result.value):
        yield result.metric, (result.value, fresh)


def _means(scored: list[tuple[float, float]]) -> tuple[float, float, int]:
    if not scored:
        return float("nan"), float("nan"), 0
    scores, fresh = np.array(scored).T
    known = fresh[~np.isnan(fresh)]
    return float(scores.mean()), float(known.mean()) if known.size else float("nan"), len(scored)
