"""Mean scores of the properties of a quality report, the parts of names before a slash."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning, NothingToMeasureWarning
from skeval.results.result import Result
from skeval.utils.formatting import as_float


def property_scores(results: Mapping[str, Result]) -> pd.DataFrame:
    """Return the mean score of each property of a quality report, and their mean."""
    # A property is what the names of several metrics have before a slash: in
    # `column_shapes/ks_complement` it is `column_shapes`. Its score is the mean over all
    # columns, or pairs of columns, that its metrics scored, so that a metric counts by the
    # number of them; one of the table as a whole counts once.
    #
    # Only scores on one scale should share a property. The overall number lets one property
    # buy back the other: show both.
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
            f"There is no property {group!r}. There are: {', '.join(known) or 'none'}."
        )
    rows = [
        ("" if place.endswith("/") else place, _format_key(what), *scores)
        for (place, what), scores in _scored_parts(results, group).items()
    ]
    frame = pd.DataFrame(rows, columns=["table", "what", "metric", "score", "baseline"])
    return frame.astype({"score": float, "baseline": float})


def property_warnings(results: Mapping[str, Result]) -> list[MetricWarning]:
    """Return the warnings of all results, those of a property without a score as one."""
    # That the table has no columns of some kind, or no strong pair, is nothing to warn of
    # where the other metrics of the property score what there is.
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
    """Return the properties: what names have before a slash, where they have one."""
    return list(dict.fromkeys(name.partition("/")[0] for name in results if "/" in name))


def _scored_parts(
    results: Mapping[str, Result], group: str
) -> dict[tuple[str, Hashable], tuple[str, float, float]]:
    """Return metric, score and that of fresh rows of each column or pair, by place and name."""
    # The place is the table; of what relates several tables, the metric: two that judge one
    # key, as whether its rows are there and how many, count both.
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


def _means(scored: Sequence[tuple[float, float]]) -> tuple[float, float, int]:
    if not scored:
        return float("nan"), float("nan"), 0
    scores, fresh = np.array(scored).T
    known = fresh[~np.isnan(fresh)]
    return float(scores.mean()), float(known.mean()) if known.size else float("nan"), len(scored)
