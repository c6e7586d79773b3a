"""Summary of results in a few sentences about fidelity, utility and privacy."""

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
    """Describe in a few sentences how similar the tables are and whether a leak was found."""
    found = results.verdict().sentence
    of_privacy = "" if found == NOTHING_OF_PRIVACY else found
    return " ".join(
        filter(None, [fidelity_sentence(results), utility_sentence(results), of_privacy])
    )


def _quoted_result(results: SuiteResult, sentence: Quoted) -> Result | None:
    """Return the first value that a sentence quotes. With several tables, return the worst.

    The worst table has the lowest value compared with its baseline.
    """
    known = [r for r in results.values() if is_quoted(r, sentence) and not math.isnan(r.value)]
    return min(known, key=lambda r: r.value - (r.baseline or 0.0) if r.table else 0.0, default=None)


def fidelity_sentence(results: SuiteResult) -> str:
    """Describe how similar the tables are, by columns and pairs and by all columns together."""
    return " ".join(filter(None, [_similarity_sentence(results), _relations_sentence(results)]))


def _relations_sentence(results: SuiteResult) -> str:
    score = _quoted_result(results, "relations")
    if score is None:
        return ""
    fresh = "" if score.baseline is None else f" (baseline {_whole_percent(score.baseline)})"
    where, whom = "The synthetic data", "the training data"
    if score.table:
        where, whom = (
            f"In {score.table}, the least similar table, the synthetic data",
            "the real rows",
        )
    return (
        f"{where} preserve {_whole_percent(score.value)} of the dependence between the columns of "
        f"{whom}{fresh}. Independently shuffled columns preserve 0%."
    )


def _whole_percent(share: float) -> str:
    return percent(share, 0)


def _similarity_sentence(results: SuiteResult) -> str:
    score = _quoted_result(results, "similarity")
    if score is None:
        return ""
    fresh = "" if score.baseline is None else f" (baseline {score.baseline:.1f})"
    worst = score.details.get("worst")
    pair = worst.get("columns") if isinstance(worst, Mapping) else None
    least = f" and lowest in {_place(pair)}" if isinstance(pair, list | tuple) else ""
    where, whom = "The similarity", "the training data"
    if score.table:
        where, whom = f"In {score.table}, the least similar table, the similarity", "the real rows"
    return f"{where} to {whom} is {score.value:.1f} of 100{fresh}{least}."


def _place(pair: Sequence[Any]) -> str:
    """Return a pair of columns in words. An element of the diagonal is a single column."""
    names = list(dict.fromkeys(map(str, pair)))
    return f"the pair {' and '.join(names)}" if len(names) > 1 else f"the column {names[0]}"


def utility_sentence(results: SuiteResult) -> str:
    """Describe how well a model performs, or return an empty text without a model."""
    tstr = _quoted_result(results, "learning")
    if tstr is None or tstr.baseline is None:
        return ""
    score = scoring_in_words(str(tstr.details.get("scoring", "score")))
    target = tstr.details.get("target", "the target")
    return (
        f"A model of {target} that is trained on the synthetic data reaches {score} "
        f"{tstr.value:.3g} on holdout rows, compared with {tstr.baseline:.3g} for a model of the "
        "training data."
    )
