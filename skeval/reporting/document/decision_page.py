"""The first page, with the finding, its severity, its place and the next steps."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.exceptions import UnreadCellsWarning
from skeval.reporting.document.axis_rows import axis_of_100, row_of_100, ticks, trial_row
from skeval.reporting.document.blocks import (
    Block,
    Comparison,
    ComparisonRow,
    Headline,
    HeatCell,
    HeatTables,
    Page,
    Paragraphs,
    RowGroup,
    SignOff,
    Steps,
    Tiles,
)
from skeval.reporting.document.fidelity import Kept, Scale
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.loss import PairLoss
from skeval.reporting.document.outcomes import Outcome, Strength
from skeval.reporting.document.privacy import Answer, columns_of_notices
from skeval.reporting.document.questions import WITHOUT_ATTACKER
from skeval.reporting.document.sentences.decks import deck
from skeval.reporting.document.sentences.fidelity import (
    further_sentence,
    loss_note,
    loss_title,
    scale_label,
)
from skeval.reporting.document.sentences.headlines import headline
from skeval.reporting.document.sentences.pairs import reversed_sentence
from skeval.reporting.document.sentences.privacy_rows import (
    answer_note,
    answer_words,
    question_label,
    rows_note,
)
from skeval.reporting.document.sentences.steps import next_steps
from skeval.reporting.document.sentences.tiles import aspect_tiles
from skeval.reporting.document.sentences.untested import (
    check_cells,
    check_columns,
    check_types,
    untested_sentence,
)
from skeval.reporting.document.shortening import shorten_end, shorten_name, shorten_names
from skeval.reporting.document.spans import Text, compose, name, paragraph
from skeval.reporting.document.stated_release import release_block, threshold_limits

SIGNED = ("Decision (release, hold or refuse)", "Name and role", "Date")
_MAX_NAME, _MAX_NAME_IN_NOTE, _MAX_ROW_LABEL, _MAX_COLUMN_LABEL = 24, 14, 10, 10  # letters


def decision_page(found: Findings, facts: tuple[Text, ...], footer: Text) -> Page:
    """Return the first page."""
    title = headline(found.privacy, found.places, found.is_usable)
    blocks: list[Block] = [
        Headline(
            "headline",
            _headline_outcome(found),
            title,
            deck(found.privacy, found.fidelity, found.loss, found.noun),
            facts,
        )
    ]
    if release := release_block(found.results):
        blocks.append(release)
    blocks += [Tiles("tiles", aspect_tiles(found)), privacy_rows(found), fidelity_rows(found)]
    if found.loss is not None:
        blocks.append(_loss(found.loss, found))
    blocks += [
        Steps("steps", "What to do", next_steps(found)),
        Paragraphs("untested", "Not tested", (untested_sentence(found.results, found.noun),)),
    ]
    if checks := tuple(_checks(found)):
        blocks.append(Paragraphs("checks", "Please check", checks))
    blocks.append(SignOff("sign-off", "Sign-off", SIGNED, footer))
    return Page("decision", "Decision", shorten_names(tuple(blocks), _MAX_NAME))


def _headline_outcome(found: Findings) -> Outcome:
    """Return the outcome whose shape is next to the headline."""
    privacy = found.privacy
    if privacy.has_copies and privacy.strength is not Strength.SEVERE and not privacy.is_shifted:
        return Outcome.COPIES
    return privacy.outcome


# privacy -------------------------------------------------------------------------------------


def privacy_rows(found: Findings) -> Comparison:
    """Return the eight rows of privacy, each on one axis from 0 to 100%."""
    many = found.noun.many
    with_attacker = [a for a in found.privacy.answers if a.question not in WITHOUT_ATTACKER]
    without = [a for a in found.privacy.answers if a.question in WITHOUT_ATTACKER]
    return Comparison(
        name="privacy",
        title="Privacy: how often an attack works",
        heads=("", "training", "unseen"),
        legend=(
            ("value", f"training {many}"),
            ("reference", f"unseen {many} (not trained on) or chance"),
            ("gap", "difference (red: leak)"),
            ("interval", "95% interval"),
        ),
        groups=(
            RowGroup("An attacker tries to \N{HORIZONTAL ELLIPSIS}", _rows(with_attacker, found)),
            RowGroup("Tests without an attacker", _rows(without, found)),
        ),
        low=0.0,
        high=100.0,
        ticks=ticks(0.0, 100.0, unit="%"),
        alternative="Rates of attacks on training and on unseen records, from 0 to 100%.",
        more=rows_note(found.privacy),
    )


def _rows(answers: list[Answer], found: Findings) -> tuple[ComparisonRow, ...]:
    limits = threshold_limits(found.results)
    return tuple(_privacy_row(answer, found, limits) for answer in answers)


def _privacy_row(answer: Answer, found: Findings, limits: dict[str, float]) -> ComparisonRow:
    trial = answer.trial
    label = question_label(answer.question, found.noun)
    note = shorten_names(answer_note(answer, found.noun), _MAX_NAME_IN_NOTE)
    words = answer_words(answer)
    limit = None
    if trial is not None and abs(found.results[trial.result].value - trial.observed) < 1e-9:
        limit = limits.get(trial.result)
    return trial_row(trial, label, note, answer.outcome, words, limit)


# fidelity ------------------------------------------------------------------------------------


def fidelity_rows(found: Findings) -> Comparison:
    """Return the five rows of fidelity on one scale of 100."""
    limits = threshold_limits(found.results)
    rows = tuple(_fidelity_row(one, limits, _table(one, found)) for one in found.fidelity.kept)
    low, shown = axis_of_100(
        end for row in rows for end in (row.value, row.reference, *(row.interval or ()))
    )
    return Comparison(
        name="fidelity",
        title="Fidelity: similarity to real rows (100 = equal)",
        heads=("", "synth.", "unseen"),
        legend=(
            ("value", "synthetic"),
            ("reference", "unseen"),
            ("below", "below baseline"),
            ("closer", "closer than real"),
        ),
        groups=(RowGroup("", rows),),
        low=low,
        high=100.0,
        ticks=shown,
        alternative="Five values of fidelity of synthetic and unseen rows on a scale of 100.",
        more=further_sentence(found.fidelity, found.results),
    )


def _table(kept: Kept, found: Findings) -> Text:
    """Return the table of a value, if there are several."""
    table = found.results[kept.result].table if kept.result else ""
    return (name(shorten_name(table, _MAX_NAME_IN_NOTE)),) if table else ()


def _fidelity_row(kept: Kept, limits: dict[str, float], table: Text) -> ComparisonRow:
    limit = limits.get(kept.result)
    if limit is not None and kept.scale is not Scale.PAIRS:
        limit = 100.0 * (1.0 - limit if kept.scale is Scale.ASSOCIATIONS else limit)
    label = scale_label(kept.scale)
    return row_of_100(label, table, kept.outcome, kept.value, kept.unseen, kept.interval, limit)


# the rest ------------------------------------------------------------------------------------


def _loss(loss: PairLoss, found: Findings) -> HeatTables:
    is_loss = found.fidelity.is_relation_lost
    reversed_order: Text = ()
    for worst in found.reversed_orders[:1]:
        is_other = {worst.above, worst.below} != set(loss.names)
        lead = compose("Another pair:") if is_other else ()
        reversed_order = paragraph(lead, reversed_sentence(worst, found.noun))
    return HeatTables(
        "loss",
        loss_title(loss, is_loss),
        loss_note(loss, reversed_order),
        tuple(shorten_end(label, _MAX_ROW_LABEL) for label in loss.rows.labels),
        tuple(shorten_end(label, _MAX_COLUMN_LABEL) for label in loss.columns.labels),
        (
            ("Real", _heat_cells(loss.real, loss, is_real=True)),
            ("Synthetic", _heat_cells(loss.synthetic, loss, is_real=False)),
        ),
    )


def _heat_cells(
    shares: tuple[tuple[float | None, ...], ...], loss: PairLoss, *, is_real: bool
) -> tuple[tuple[HeatCell, ...], ...]:
    return tuple(
        tuple(
            _heat_cell(share, is_invented, is_real) for share, is_invented in zip(*row, strict=True)
        )
        for row in zip(shares, loss.invented, strict=True)
    )


def _heat_cell(share: float | None, is_invented: bool, is_real: bool) -> HeatCell:
    if is_invented and is_real:
        return HeatCell("0", 0.0)  # known to be 0, and not a few rows
    if share is None:
        return HeatCell("", None)
    return HeatCell(f"{100.0 * share:.0f}", round(share, 4), is_invented)


def _checks(found: Findings) -> Iterator[Text]:
    if found.privacy.unexamined:
        yield check_columns(found.privacy.unexamined)
    if unread := columns_of_notices(found.results, UnreadCellsWarning):
        yield check_cells(unread)
    if found.provenance is not None and found.provenance.doubts:
        yield check_types(tuple(found.provenance.doubts))
