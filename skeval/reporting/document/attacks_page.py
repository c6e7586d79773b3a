"""The page on attacks, sorted by their excess, and on membership."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from skeval.reporting.document.axis_rows import ticks, trial_row
from skeval.reporting.document.blocks import (
    Block,
    Comparison,
    ComparisonRow,
    Entries,
    Entry,
    Figure,
    Headline,
    Page,
    Paragraphs,
    RowGroup,
)
from skeval.reporting.document.details import number_at
from skeval.reporting.document.drawings.log_curve import LogCurve, Mark
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.membership import MembershipCurve, find_membership, read_curve
from skeval.reporting.document.numbers import points, rate
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.questions import WITHOUT_ATTACKER
from skeval.reporting.document.sentences import attacks as say
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Text, compose
from skeval.reporting.document.trials import Trial

MAX_ROWS = 22
_MAX_LETTERS, _SECOND_LINE = 26, 0.4  # per line of a name, and the height of a second line in rows


def attacks_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on attacks; None if no attack was made."""
    trials = [
        trial
        for trial in found.privacy.trials
        if trial.question not in WITHOUT_ATTACKER and trial.expected is not None
    ]
    trials.sort(key=lambda one: (not one.is_significant, not one.has_tested_numbers, -one.excess))
    if not trials:
        return None
    blocks: list[Block] = [
        Headline(
            "headline", None, say.attacks_title(trials), say.attacks_deck(trials, found.noun), facts
        )
    ]
    blocks.append(_attack_rows(trials, found))
    quoted = find_membership(found.results)
    if quoted is not None and (curve := read_curve(quoted)):
        blocks.append(_membership(curve, found.noun))
    blocks.append(_risks(found))
    blocks += _audits(found)
    return Page("attacks", "Privacy: attacks on records", tuple(blocks))


def _attack_rows(trials: Sequence[Trial], found: Findings) -> Comparison:
    n_shown = _n_rows_on_page(trials)
    shown, hidden = trials[:n_shown], trials[n_shown:]
    ends = [
        end
        for trial in shown
        for end in (trial.observed, *(trial.interval or ()), *(trial.expected_interval or ()))
    ]
    high = min(100.0, 25.0 * max(1, math.ceil(100.0 * max(ends) / 25.0 - 1e-9)))
    n_ticks = round(high / (12.5 if high > 25.0 else 6.25))
    return Comparison(
        name="attacks",
        title="",
        heads=(
            "An attacker tries to \N{HORIZONTAL ELLIPSIS} (% of attempts that succeed)",
            "training",
            "unseen",
            "points",
        ),
        legend=(
            ("value", "in the training data"),
            ("reference", "unseen, or expected by chance"),
            ("gap", "revealed"),
            ("interval", "95% interval"),
        ),
        groups=(RowGroup("", tuple(_attack_row(trial, found) for trial in shown)),),
        low=0.0,
        high=high,
        ticks=ticks(0.0, high, n_ticks, "%"),
        alternative="Rates of attacks on training and on unseen records.",
        more=say.further_attacks(hidden) if hidden else (),
    )


def _n_rows_on_page(trials: Sequence[Trial]) -> int:
    """Return how many rows fit on the page, which depends on the lines of their names."""
    lines = (1.0 + _SECOND_LINE * (len(trial.column) > _MAX_LETTERS) for trial in trials)
    return sum(place <= MAX_ROWS for place in accumulate(lines))


def _attack_row(trial: Trial, found: Findings) -> ComparisonRow:
    outcome = Outcome.LEAK if trial.is_significant else Outcome.NONE_FOUND
    answer = points(trial.excess, 1) if trial.has_tested_numbers else outcome.word
    row = trial_row(trial, say.trial_label(trial, found.noun), (), outcome, answer)
    shown, expected = row.shown.rstrip("%"), row.shown_reference.rstrip("%")
    return replace(row, shown=shown, shown_reference=expected)


def _membership(curve: MembershipCurve, noun: Noun) -> Figure:
    """Return the ROC curve of the attack on membership that summaries quote."""
    marks = [
        Mark(at.false_alarms, at.found, rate(at.found))
        for at in curve.at
        if at.false_alarms in (0.01, 0.1) and at.found > 0
    ]
    x_title = f"unseen {noun.many} classified as training {noun.many}"
    y_title = f"training {noun.many} found"
    x, y = curve.false_alarms, curve.found
    svg = LogCurve(x, y, marks, x_title, y_title, "expected by chance").to_svg()
    title, note = say.membership_title(curve), say.membership_note(curve, noun)
    words = say.membership_alternative(curve, noun)
    return Figure("membership", title, note, svg, words, is_wide=False)


def _risks(found: Findings) -> Entries:
    entries = []
    for question, title in say.RISK_TITLES.items():
        own = [t for t in found.privacy.trials if t.question is question and t.expected is not None]
        outcome = say.risk_outcome(own)
        gap = max((t.excess for t in own if t.is_significant), default=0.0)
        answer = f"leak: {points(gap)} points" if outcome is Outcome.LEAK else outcome.word
        sentence = say.risk_sentence(question, own, found.noun)
        entries.append(Entry(compose(title), sentence, outcome, answer))
    return Entries(
        "risks",
        "The three risks of EU guidance",
        compose("Article 29 working party, Opinion 05/2014"),
        tuple(entries),
    )


def _audits(found: Findings) -> Iterator[Paragraphs]:
    for result in found.results.values():
        details = result.details
        n_correct, n_guesses = (number_at(details, key) for key in ("n_correct", "n_guesses"))
        if result.metric == "OneRunDPAudit" and n_guesses > 0:
            ceiling = number_at(details, "ceiling")
            text = say.audit_sentences(n_correct, n_guesses, result.value, ceiling, found.noun)
            yield Paragraphs("audit", "Differential privacy", (text,))
            return
