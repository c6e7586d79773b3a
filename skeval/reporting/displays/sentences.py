"""The titles of displays, which state findings, and their subtitles."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from skeval.reporting.document.numbers import capitalize, count, rate, score
from skeval.results.result import Result
from skeval.utils.formatting import join_names, title_of

_END_OF_SENTENCE = re.compile(r"(?<=[^.A-Z])\.\s")
_MAX_NAMED = 3


def join_facts(facts: Iterable[str]) -> str:
    """Return the facts of a subtitle in one line."""
    return " \N{MIDDLE DOT} ".join(filter(None, facts))


def count_things(n: int, what: str) -> str:
    """Return a number of things."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def state_finding(result: Result) -> str:
    """Return the first sentence that the metric states, or otherwise the value."""
    if math.isnan(result.value):
        reason = str(result.warnings[0]) if result.warnings else "no value"
        return f"Not defined: {_first_sentence(reason)}"
    return _first_sentence(result.summary) or f"{_metric_of(result)} {score(result.value)}".strip()


def describe_result(
    result: Result, *facts: str, has_value: bool = True, has_baseline: bool = True
) -> str:
    """Return the metric, the table, more facts, and the value with its interval."""
    table = f"table {result.table}" if result.table else ""
    value = state_value(result, has_baseline=has_baseline) if has_value else ""
    return join_facts((_metric_of(result), table, *facts, value))


def state_value(result: Result, *, has_baseline: bool = True) -> str:
    """Return the value, its interval and the score of unseen data."""
    if math.isnan(result.value):
        return ""
    text = _with_interval("value", result.value, result.interval)
    if not has_baseline or result.baseline is None or math.isnan(result.baseline):
        return text
    return f"{text}, {name_baseline(result)} {score(result.baseline, result.interval)}"


def name_baseline(result: Result) -> str:
    """Return the name of the data that have the score of the baseline."""
    is_utility = result.tags is not None and result.tags.aspect == "utility"
    return "real data" if is_utility else "unseen data"


def state_auc(auc: float, interval: Sequence[float] | None) -> str:
    """Return the area under a curve with its one interval."""
    is_known = interval is not None and len(interval) == 2
    return _with_interval("AUC", auc, (interval[0], interval[1]) if is_known and interval else None)


def state_worst_column(name: str, value: str, baseline: str, *, is_high_good: bool) -> str:
    """Return which column has the worst score."""
    unseen = f" (unseen data {baseline})" if baseline else ""
    return f"{'Lowest' if is_high_good else 'Highest'} score: {name}, {value}{unseen}"


def state_equal_columns(n: int, value: str) -> str:
    """Return that all columns have the same score."""
    return f"All {n} columns have a score of {value}" if n > 1 else f"The score is {value}"


def state_not_drawn(n: int, what: str) -> str:
    """Return how many rows of a figure are not drawn."""
    return f"{n:,} more {what} not drawn" if n > 0 else ""


def state_observed(what: str, observed: float, expected: float, reference: str) -> str:
    """Return the two rates that a test of privacy compared."""
    against = "expected by chance" if reference == "by chance" else reference
    return capitalize(f"{what}: {rate(observed)} ({rate(expected)} {against})")


def state_found_records(false_alarms: float, found: float, by_chance: float) -> str:
    """Return how many records an attack finds at a rate of false alarms."""
    n = round(1.0 / false_alarms)
    expected = by_chance if math.isfinite(by_chance) else false_alarms
    counts = [f"{share * n:.1f}".removesuffix(".0") for share in (found, expected)]
    return (
        f"At 1 false alarm in {n:,}, {counts[0]} of {n:,} training records are found "
        f"({counts[1]} expected by chance)"
    )


def state_attacks(n_significant: int, n_attacks: int) -> str:
    """Return how many attacks work better on the training data."""
    if not n_attacks:
        return "No attack was made"
    how_many = {0: "No attack", 1: "One attack"}.get(n_significant, f"{n_significant} attacks")
    of_all = f" of {n_attacks}" if n_attacks > 1 else ""
    verb = "works" if n_significant < 2 else "work"
    return f"{how_many}{of_all} {verb} significantly better on the training data"


def state_audit(epsilon: float, ceiling: float) -> str:
    """Return the lower bound on epsilon, and the largest one that could be shown."""
    bound = f"Epsilon is at least {score(epsilon)}"
    bound = bound if epsilon > 0.0 else "The audit gives no lower bound on epsilon"
    could = f"; these guesses could show at most {score(ceiling)}"
    return bound if math.isnan(ceiling) else f"{bound}{could}"


def state_medians(where: str, medians: Sequence[tuple[str, float]]) -> str:
    """Return the medians of two distributions of distances."""
    return f"Median distance {where}: " + ", ".join(f"{name} {at:.3g}" for name, at in medians)


def state_areas(left: float, right: float) -> str:
    """Return the areas below a curve on both sides of a threshold, if both are known."""
    if math.isnan(left + right):
        return ""
    return f"{rate(left)} of the area left of the threshold is filled, {rate(right)} on the right"


def state_tails(synthetic: float, real: float, real_row: str) -> str:
    """Return the fractions of training rows in the tails of both proximity ratios."""
    return (
        f"{rate(synthetic)} of training rows are much closer to a synthetic row than to another "
        f"training row ({rate(real)} to {real_row})"
    )


def state_pair(first: str, second: str, value: float, ceiling: float) -> str:
    """Return the least similar column or pair of columns."""
    best = "" if math.isnan(ceiling) else f" (two samples of one population: {score(ceiling)})"
    names = first if first == second else f"{first} and {second}"
    return f"Least similar: {names}, {score(value)}{best}"


def state_association(first: str, second: str, real: float, synthetic: float) -> str:
    """Return the pair of columns whose association changes most."""
    return (
        f"The association of {first} and {second} changes most: {score(real)} in the training "
        f"data, {score(synthetic)} in the synthetic data"
    )


def state_largest_gap(value: str, real: float, synthetic: float, what: str = "rows") -> str:
    """Return the value whose share differs most between the training and the synthetic data."""
    return f"{value}: {rate(synthetic)} of synthetic {what}, {rate(real)} of training {what}"


def state_f_scores(beta: float, high: float, low: float) -> str:
    """Return the two F scores of precision and recall."""
    return f"F{beta:g} {score(high)}, F1/{beta:g} {score(low)}"


def state_front(names: Sequence[str], n: int) -> str:
    """Return which candidates are on the front."""
    if not names:
        return "No candidate has both scores"
    more = len(names) - _MAX_NAMED
    listed = [*names[:_MAX_NAMED], *([f"{more} more"] if more > 0 else [])]
    verb = "is" if len(names) == 1 else "are"
    return f"{join_names(listed)} {verb} not dominated, of {count_things(n, 'candidate')}"


def state_ranks(name: str, n_open: int) -> str:
    """Return which candidate has the best rank, and how many may share it within chance."""
    if not name:
        return "No candidate has a rank"
    return f"{name} ranks first" + (f"; {n_open} more may be first within chance" if n_open else "")


def state_named(step: int) -> str:
    """Return how many columns of a matrix are named, if a part of them is."""
    return f"one of {step} columns is named" if step > 1 else ""


def state_tables(n_tables: int, n_keys: int) -> str:
    """Return how many tables there are, and how many foreign keys join them."""
    return f"{count_things(n_tables, 'table')}, {count_things(n_keys, 'foreign key')}"


def state_scores(n: int, n_below: int, n_compared: int) -> str:
    """Return how many scores are significantly worse than the score of unseen data."""
    if not n_compared:
        return count_things(n, "metric")
    verb = "is" if n_below == 1 else "are"
    below = f"{n_below or 'none'} of {n_compared} {verb} significantly worse than unseen data"
    return f"{count_things(n, 'metric')}: {below}"


def state_sizes(sizes: Iterable[tuple[float, str]]) -> str:
    """Return the numbers of rows of tables, without the numbers that are not known."""
    known = [f"{count(n)} {what}" for n, what in sizes if math.isfinite(n)]
    return join_names(known)


def _with_interval(name: str, value: float, interval: tuple[float, float] | None) -> str:
    text = f"{name} {score(value, interval)}"
    if interval is None:
        return text
    low, high = (score(end, interval) for end in interval)
    return f"{text} (95% interval {low} to {high})"


def _first_sentence(text: str) -> str:
    return _END_OF_SENTENCE.split(text, maxsplit=1)[0].strip().rstrip(".")


def _metric_of(result: Result) -> str:
    return title_of(result.metric) if result.metric else ""
