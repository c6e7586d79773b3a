"""The answers and the evidence of the four tiles."""

from __future__ import annotations

import math

from skeval.reporting.document.blocks import Tile
from skeval.reporting.document.checks import Shortfall, UtilityFindings, ValidityFindings
from skeval.reporting.document.fidelity import FidelityFindings
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.numbers import count, points, score, three_digits, whole_percent
from skeval.reporting.document.outcomes import Outcome, Strength
from skeval.reporting.document.privacy import PrivacyFindings
from skeval.reporting.document.sentences.fidelity import scale_label
from skeval.reporting.document.spans import Text, compose, name, names, plain
from skeval.utils.formatting import scoring_in_words, title_of


def aspect_tiles(found: Findings) -> tuple[Tile, ...]:
    """Return the tiles of the four aspects."""
    tiles = {
        "Privacy": privacy_tile(found.privacy),
        "Fidelity": _fidelity_tile(found.fidelity),
        "Validity": _validity_tile(found.validity),
        "Utility": _utility_tile(found.utility),
    }
    return tuple(Tile(label, *content) for label, content in tiles.items())


def privacy_tile(privacy: PrivacyFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on privacy."""
    if privacy.is_alarm:
        answer = "Severe leak" if privacy.strength is Strength.SEVERE else "Leak found"
        if privacy.strength is Strength.SMALL:
            answer = "Small leak"
        gap = leak_size(privacy)
        if privacy.strength is Strength.MEDIUM:
            gap = f"medium leak: {gap}"
        copied = f"{count(privacy.copies[0].train.n)} copied rows" if privacy.copies else ""
        if not copied and any(one.is_significant and one.is_weighted for one in privacy.trials):
            copied = "copied rare values"
        elif not copied and privacy.is_counted:
            copied = _few_copies(privacy)
        return Outcome.LEAK, answer, compose("; ".join(filter(None, (gap, copied))))
    if privacy.has_copies:
        n = privacy.copies[0].train.n
        rest = "no test could run" if not privacy.n_tests else "no other leak found"
        return Outcome.COPIES, f"{count(n)} copies found", compose(rest)
    if privacy.obstacle:
        ran = "no test could run" if not privacy.n_tests else "tests allow no conclusion"
        return Outcome.INCONCLUSIVE, "Inconclusive", compose(ran)
    tests = "1 test" if privacy.n_tests == 1 else f"{privacy.n_tests} tests"
    few = f"; {_few_copies(privacy)}" if privacy.is_counted else ""
    return Outcome.NONE_FOUND, "No leak found", compose(f"by {tests}{few}")


def _few_copies(privacy: PrivacyFindings) -> str:
    n = privacy.n_copies
    return (
        f"{count(n)} copied {'row' if n == 1 else 'rows'}, as expected by chance"
        if n
        else "no copied rows"
    )


def leak_size(privacy: PrivacyFindings) -> str:
    """Return the largest excess over unseen records in points, by which a leak is graded."""
    significant = (one for one in privacy.trials if one.is_significant and one.is_rate_of_records)
    largest = max(significant, key=lambda one: one.excess_of_records, default=None)
    if largest is None:
        return f"{privacy.n_significant} of {privacy.n_tests} tests"
    # a row of the most confident guesses has more points than all guesses have
    overall = " overall" if largest.rates_of_all is not None else ""
    return f"{points(largest.excess_of_records)} points{overall}"


_ANSWERS = {
    Outcome.BELOW: "Below baseline",
    Outcome.CLOSER: "Closer than real",
    Outcome.AS_GOOD: "As good as real",
    Outcome.NO_TEST: "No test",
    Outcome.NOT_EVALUATED: "Not evaluated",
}


def _fidelity_tile(fidelity: FidelityFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on fidelity."""
    deciding, outcome = fidelity.deciding, fidelity.outcome
    if deciding is None:
        return outcome, _ANSWERS[outcome], compose("no metric of fidelity was run")
    label = plain(scale_label(deciding.scale))
    what = f"{label[0].lower()}{label[1:]}"
    if deciding.unseen is None:
        return (
            outcome,
            _ANSWERS[outcome],
            compose(f"{what} {deciding.value:.1f} of 100, no unseen rows"),
        )
    return (
        outcome,
        _ANSWERS[outcome],
        compose(f"{what} {deciding.value:.1f} of 100 (unseen: {deciding.unseen:.1f})"),
    )


def _validity_tile(validity: ValidityFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on validity."""
    outcome = validity.outcome
    if not validity.n_checks:
        return outcome, _ANSWERS[outcome], compose("no check was run")
    if not validity.shortfalls:
        n = validity.n_checks
        answer = f"All {n} checks pass" if n > 1 else "The check passes"
        what = "tables, keys, references" if validity.is_of_keys else "columns, ranges, categories"
        return outcome, answer, compose(what)
    return outcome, _ANSWERS[outcome], shortfall_sentence(validity.shortfalls[0])


_SHORTFALLS = {
    "RangeCoverage": "{column} covers {value} of the training range",
    "CategoryCoverage": "{column} has {value} of the training categories",
    "BoundaryAdherence": "{column}: {value} in training range",
    "CategoryAdherence": "{column}: {value} in known categories",
    "MissingValueSimilarity": "{column}: missing cells {value} similar",
    "KeyUniqueness": "{column}: {value} of keys unique",
}


def shortfall_sentence(short: Shortfall) -> Text:
    """Return the finding of a check in its worst column, without a period."""
    if short.metric == "TableStructure" and short.columns:
        return compose("{columns} missing", columns=names(short.columns, 1))
    template = _SHORTFALLS.get(short.metric)
    if template is None or not short.column:
        what = title_of(short.metric)
        return compose(f"{what} {score(short.value)}, expected {score(short.expected)}")
    return compose(template, column=name(short.column), value=whole_percent(short.column_value))


def _utility_tile(utility: UtilityFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on utility."""
    outcome = utility.outcome
    if outcome is Outcome.NOT_EVALUATED:
        return outcome, _ANSWERS[outcome], compose("no target column was named")
    if utility.measure:
        shown = f"worst measure {score(utility.value)}"
        if not math.isnan(utility.trained_on_real):
            shown += f", real rows {score(utility.trained_on_real)}"
        return outcome, _ANSWERS[outcome], compose(shown)
    scoring = scoring_in_words(utility.scoring)
    value, real = three_digits(utility.value), three_digits(utility.trained_on_real)
    if math.isnan(utility.trained_on_real):
        return outcome, _ANSWERS[outcome], compose(f"{scoring} {value}")
    return outcome, _ANSWERS[outcome], compose(f"{scoring} {value}, trained on real {real}")
