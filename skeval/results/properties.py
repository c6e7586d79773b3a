"""Mean scores of the properties of a quality report. Properties are prefixes of names."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning, NothingToMeasureWarning
from skeval.results.result import Result
from skeval.utils.formatting import as_float


def property_scores(results: Mapping[str, Result]) -> pd.DataFrame:
    """Return the mean score of each property of a quality report, and their mean."""
    # A property is the part of a name before a slash, for example `column_shapes` in
    # `column_shapes/ks_complement`. Its score is the mean over all columns or pairs of columns that
    # its metrics scored, so each metric is weighted by their number. A metric of the whole table
    # has weight one.
    #
    # Only scores with the same scale should share a property. In the overall number, one property
    # can compensate for another, so show both.
    rows = {
        group: _means([part[1:] for part in _scored_parts(results, group).values()])
        for group in _groups(results)
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["score", "baseline", "n_used"])
    overall = [*(frame[name].mean() for name in ("score", "baseline")), frame["n_used"].sum()]
    frame.loc["overall"] = overall
    return frame.astype({"n_used": int}).rename_axis("property")


def property_details(results: Mapping[str, Result], group: str) -> pd.DataFrame:
    """Return the scores behind one property of a quality report."""
    if group not in (known := _groups(results)):
        raise InvalidParameterError(
            f"unknown property {group!r}. Valid properties: {', '.join(known) or 'none'}."
        )
    rows = [
        ("" if place.endswith("/") else place, _format_key(what), *scores)
        for (place, what), scores in _scored_parts(results, group).items()
    ]
    frame = pd.DataFrame(rows, columns=["table", "what", "metric", "score", "baseline"])
    return frame.astype({"score": float, "baseline": float})


def property_warnings(results: Mapping[str, Result]) -> list[MetricWarning]:
    """Return the warnings of all results, with one warning per property without a score."""
    # If a column type or a strong pair is missing, no warning is needed as long as other metrics of
    # the property have a score.
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


def _groups(results: Mapping[str, Result]) -> list[str]:
    """Return the properties, which are the prefixes of names before a slash."""
    return list(dict.fromkeys(name.partition("/")[0] for name in results if "/" in name))


def _scored_parts(
    results: Mapping[str, Result], group: str
) -> dict[tuple[str, Hashable], tuple[str, float, float]]:
    """Return metric, score and baseline of each column or pair, by place and name."""
    # The place is the table. For relations between tables it is the metric, so that two metrics of
    # the same key, such as the presence and the number of its rows, both count.
    return {
        (result.table or _relation_of_tables(result), what): (result.metric, *scores)
        for name, result in results.items()
        if name.partition("/")[0] == group and "/" in name
        for what, scores in _parts(result)
    }


def _format_key(what: Hashable) -> Hashable:
    return ", ".join(sorted(what)) if isinstance(what, frozenset) else what


def _relation_of_tables(result: Result) -> str:
    between = result.tags is not None and "relational" in result.tags.needs
    return f"{result.metric}/" if between else ""


def _parts(result: Result) -> Iterator[tuple[Hashable, tuple[float, float]]]:
    """Yield each column or pair with its score and baseline."""
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


def _means(scored: Sequence[tuple[float, float]]) -> tuple[float, float, int]:
    if not scored:
        return float("nan"), float("nan"), 0
    scores, fresh = np.array(scored).T
    known = fresh[~np.isnan(fresh)]
    return float(scores.mean()), float(known.mean()) if known.size else float("nan"), len(scored)
