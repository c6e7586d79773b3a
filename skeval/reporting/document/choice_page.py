"""The first page of a comparison, with the table that is ahead and all tables on common axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skeval.reporting.document.axis_rows import axis_of_100, place
from skeval.reporting.document.blocks import (
    Block,
    Cell,
    Dot,
    DotRow,
    DotRows,
    Headline,
    Page,
    Paragraphs,
    SignOff,
    Table,
)
from skeval.reporting.document.compared import ComparedFindings, Place, TableFindings
from skeval.reporting.document.decision_page import SIGNED
from skeval.reporting.document.fidelity import Kept, Scale
from skeval.reporting.document.numbers import hundredths
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.privacy import Answer
from skeval.reporting.document.questions import Question
from skeval.reporting.document.sentences import compared as say
from skeval.reporting.document.sentences.fidelity import scale_label
from skeval.reporting.document.sentences.privacy_rows import question_label
from skeval.reporting.document.sentences.tiles import aspect_tiles
from skeval.reporting.document.shortening import shorten_names
from skeval.reporting.document.spans import Span, Text, compose, name
from skeval.results.recommendation import Conclusion
from skeval.utils.formatting import scoring_in_words, title_of

_MAX_NAME = 24
_WORST = (
    *(Outcome.LEAK, Outcome.COPIES, Outcome.INCONCLUSIVE, Outcome.NONE_FOUND),
    *(Outcome.NO_TEST, Outcome.NOT_EVALUATED),
)
_OUTCOMES = {
    Conclusion.TAKE: Outcome.AS_GOOD,
    Conclusion.LEAKS: Outcome.LEAK,
    Conclusion.VIOLATED: Outcome.BELOW,
    Conclusion.NOT_GOOD_ENOUGH: Outcome.BELOW,
}
_SCALED = {Scale.PAIRS: 1.0}  # the others are fractions, shown of 100


def choice_page(compared: ComparedFindings, facts: tuple[Text, ...], footer: Text) -> Page:
    """Return the first page."""
    title, deck = say.compared_title(compared), say.compared_deck(compared)
    outcome = _OUTCOMES.get(compared.recommendation.outcome, Outcome.INCONCLUSIVE)
    blocks: list[Block] = [
        Headline("headline", outcome, title, deck, facts),
        _tables(compared),
        privacy_dots(compared),
        fidelity_dots(compared),
        Paragraphs("reasons", "What decided", say.reasons(compared)),
        Paragraphs("untold", "What the comparison does not show", tuple(say.untold(compared))),
        SignOff("sign-off", "Sign-off", SIGNED, footer),
    ]
    return Page("choice", "Which table to use", shorten_names(tuple(blocks), _MAX_NAME))


def _tables(compared: ComparedFindings) -> Table:
    rows = tuple(map(_table_row, compared.tables))
    heads = ("Table", "Privacy", "Fidelity", "Validity", "Utility", "By the rule")
    return Table("tables", "", (), heads, ("left",) * len(heads), (("", rows),))


def _table_row(table: TableFindings) -> tuple[Cell, ...]:
    cells = [
        Cell((Span(f"{tile.answer}: ", strong=True), *tile.evidence), tile.outcome)
        for tile in aspect_tiles(table.found)
    ]
    words = say.PLACE_WORDS[table.place]
    is_kept = table.place in (Place.RECOMMENDED, Place.TIED, Place.REMAINS)
    first, last = Span(table.name, strong=True, name=True), Span(words, strong=is_kept)
    return Cell((first,)), *cells, Cell((last,))


# privacy -------------------------------------------------------------------------------------


def privacy_dots(compared: ComparedFindings) -> DotRows:
    """Return the eight rows of privacy, with the excess of each table in points."""
    rows = tuple(_privacy_row(question, compared) for question in Question)
    ends = [dot.value for row in rows for dot in row.dots if dot.value is not None]
    low = min(-5.0, 5.0 * math.floor(min(ends, default=0.0) / 5.0))
    high = max(20.0, 10.0 * math.ceil(max(ends, default=0.0) / 10.0))
    step = 10 if high <= 50.0 else 25
    first = step * math.ceil(low / step)
    ticks = tuple((float(x), f"{x:+d}" if x else "0") for x in range(first, int(high) + 1, step))
    return DotRows(
        name="privacy",
        title="Privacy: how much better an attack works on the training data",
        note=compose("In points above unseen rows, or above chance."),
        tables=_names(compared),
        reference="unseen rows or chance",
        rows=rows,
        low=low,
        high=high,
        ticks=ticks,
        alternative="Excess of attacks on training records over unseen records, by table.",
    )


def _names(compared: ComparedFindings) -> tuple[Text, ...]:
    return tuple((name(one.name),) for one in compared.tables)


def _privacy_row(question: Question, compared: ComparedFindings) -> DotRow:
    answers = [one.found.privacy.answer_to(question) for one in compared.tables]
    outcome = next(one for one in _WORST if any(a.outcome is one for a in answers))
    tables = [one.name for one in compared.tables]
    return DotRow(
        question_label(question, compared.first.noun),
        say.points_note(answers),
        outcome,
        say.answers_words(tables, answers, outcome),
        tuple(map(_privacy_dot, answers)),
        0.0,
    )


def _privacy_dot(answer: Answer) -> Dot:
    return Dot(answer.outcome, None if math.isnan(answer.excess) else place(100.0 * answer.excess))


# fidelity and utility ------------------------------------------------------------------------


def fidelity_dots(compared: ComparedFindings) -> DotRows:
    """Return the five rows of fidelity and the row of utility, from 0 to 100."""
    rows = [_fidelity_row(scale, compared) for scale in Scale]
    if utility := _utility_row(compared):
        rows.append(utility)
    low, shown = axis_of_100(
        end
        for row in rows
        for dot in row.dots
        for end in (dot.value, row.reference, *(dot.interval or ()))
    )
    return DotRows(
        name="fidelity",
        title="Fidelity and utility (100 = equal to real rows)",
        note=compose("A table is ahead if it is better by more than chance explains."),
        tables=_names(compared),
        reference="unseen rows, for utility a model of real rows",
        rows=tuple(rows),
        low=low,
        high=100.0,
        ticks=shown,
        alternative="Values of fidelity and utility by table, on a scale of 100.",
    )


def _fidelity_row(scale: Scale, compared: ComparedFindings) -> DotRow:
    kept = [one.found.fidelity.get(scale) for one in compared.tables]
    dots = tuple(map(_fidelity_dot, kept))
    unseen = next((one.unseen for one in kept if one.unseen is not None), None)
    metrics = {one.result for one in kept if one.result}
    answer = compose("not evaluated")
    if metrics:
        standing = [compared.standing_of(metric) for metric in metrics]
        factor = _SCALED.get(scale, 100.0)
        answer = say.standing_words(standing[0], factor, 1) if len(metrics) == 1 else ()
    return DotRow(
        scale_label(scale), _values_note(dots, unseen), Outcome.NO_TEST, answer, dots, unseen
    )


def _fidelity_dot(kept: Kept) -> Dot:
    if not kept.result:
        return Dot(kept.outcome)
    interval = None if kept.interval is None else (place(kept.interval[0]), place(kept.interval[1]))
    return Dot(kept.outcome, place(kept.value), interval)


def _values_note(dots: Sequence[Dot], reference: float | None, what: str = "unseen") -> Text:
    if all(dot.value is None for dot in dots):
        return ()
    shown = ", ".join(hundredths(dot.value) for dot in dots)
    return compose(shown if reference is None else f"{shown}; {what} {hundredths(reference)}")


def _utility_row(compared: ComparedFindings) -> DotRow | None:
    """Return the scores of models, or None without scores between 0 and 1."""
    found = [one.found.utility for one in compared.tables]
    known = [one for one in found if 0.0 <= one.value <= 1.0]
    if not known:
        return None
    dots = tuple(
        Dot(one.outcome, place(100.0 * one.value) if one in known else None) for one in found
    )
    real = next((100.0 * o.trained_on_real for o in known if 0.0 <= o.trained_on_real <= 1.0), None)
    label = compose("{measure}", measure=title_of(known[0].measure))
    if not known[0].measure:
        scoring = scoring_in_words(known[0].scoring)
        label = compose(f"Predicts {{target}} ({scoring})", target=name(known[0].target))
    metric = compared.learning
    answer = say.standing_words(compared.standing_of(metric), 100.0, 1) if metric else ()
    return DotRow(
        label, _values_note(dots, real, "trained on real"), Outcome.NO_TEST, answer, dots, real
    )
