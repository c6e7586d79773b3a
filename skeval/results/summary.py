"""A summary of results in a few sentences: similarity, what a model learns, and leaks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skeval.core.tags import Quoted
from skeval.results.result import Result
from skeval.results.verdict import NOTHING_OF_PRIVACY, is_quoted
from skeval.utils.formatting import percent, scoring_in_words

if TYPE_CHECKING:
    from skeval.results.suite_result import SuiteResult


def summary(results: SuiteResult) -> str:
    """Say in a few sentences how alike the tables are and whether a leak was found."""
    found = results.verdict().sentence
    of_privacy = "" if found == NOTHING_OF_PRIVACY else found
    return " ".join(
        filter(None, [fidelity_sentence(results), utility_sentence(results), of_privacy])
    )


def _quoted_result(results: SuiteResult, sentence: Quoted) -> Result | None:
    """Return the first value that a sentence quotes; if several tables have one, that of the worst.

    The worst table is the one whose value is lowest compared with fresh real rows.
    """
    known = [r for r in results.values() if is_quoted(r, sentence) and not math.isnan(r.value)]
    return min(known, key=lambda r: r.value - (r.baseline or 0.0) if r.table else 0.0, default=None)


def fidelity_sentence(results: SuiteResult) -> str:
    """Say how alike the tables are, by columns and pairs and by all columns together."""
    return " ".join(filter(None, [_similarity_sentence(results), _relations_sentence(results)]))


def _relations_sentence(results: SuiteResult) -> str:
    score = _quoted_result(results, "relations")
    if score is None:
        return ""
    fresh = (
        ""
        if score.baseline is None
        else f", where fresh real rows keep {_whole_percent(score.baseline)}"
    )
    where, whom = "All", "train"
    if score.table:
        where, whom = f"In {score.table}, the table that keeps least, all", "its real rows"
    return (
        f"{where} columns together keep {_whole_percent(score.value)} of the relations of "
        f"{whom}{fresh}; columns shuffled apart keep none."
    )


def _whole_percent(share: float) -> str:
    return percent(share, 0)


def _similarity_sentence(results: SuiteResult) -> str:
    score = _quoted_result(results, "similarity")
    if score is None:
        return ""
    fresh = "" if score.baseline is None else f", where fresh real rows score {score.baseline:.1f}"
    worst = score.details.get("worst")
    pair = worst.get("columns") if isinstance(worst, Mapping) else None
    least = f"; least in {_place(pair)}" if isinstance(pair, list | tuple) else ""
    where, whom = "Columns", "train"
    if score.table:
        where, whom = f"In {score.table}, the table least like train, columns", "it"
    return f"{where} and pairs agree with {whom} at {score.value:.1f} of 100{fresh}{least}."


def _place(pair: Sequence[Any]) -> str:
    """Return a pair of columns in words; one on the diagonal of the matrix is one column."""
    names = list(dict.fromkeys(map(str, pair)))
    return f"the pair {' and '.join(names)}" if len(names) > 1 else f"the column {names[0]}"


def utility_sentence(results: SuiteResult) -> str:
    """Say what a model learns from the table; nothing where none was trained."""
    tstr = _quoted_result(results, "learning")
    if tstr is None or tstr.baseline is None:
        return ""
    score = scoring_in_words(str(tstr.details.get("scoring", "score")))
    target = tstr.details.get("target", "the target")
    return (
        f"A model of {target} that learns from it reaches {score} {tstr.value:.3g} "
        f"on holdout rows, one that learns from train {tstr.baseline:.3g}."
    )
