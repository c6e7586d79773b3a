"""The page on free text, with copies and similarities. No word of a text is shown."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.document.axis_rows import ticks, trial_row
from skeval.reporting.document.blocks import (
    Block,
    Cell,
    Comparison,
    ComparisonRow,
    Figure,
    Headline,
    Page,
    RowGroup,
    Table,
)
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.drawings.overlay import Overlay
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.measures import measure_rows
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import count, score
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.sentences import texts as say
from skeval.reporting.document.sentences.cases import kind_note
from skeval.reporting.document.shares import read_shares
from skeval.reporting.document.spans import Text, compose, name
from skeval.reporting.document.tables import results_with_value
from skeval.reporting.document.trials import Trial
from skeval.results.result import Result

_MAX_TYPES = 12


def texts_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on free text; None if no metric read any."""
    own = {
        name: one
        for name, one in results_with_value(found.results).items()
        if one.tags is not None and "text" in one.tags.needs
    }
    if not own:
        return None
    titles = metric_titles(found.results)
    trials = [trial for trial in found.privacy.trials if trial.result in own]
    title, deck = say.texts_title(trials), say.TEXTS_DECK
    blocks: list[Block] = [Headline("headline", None, title, deck, facts)]
    if trials:
        blocks.append(_tests(trials, titles, own))
    blocks += _entities(own)
    if measures := results_with_value(own, "fidelity"):
        blocks.append(measure_rows("How similar texts are", measures, titles))
    blocks += _lengths(own)
    return Page("texts", "Texts", tuple(blocks))


def _tests(trials: list[Trial], titles: dict[str, str], results: dict[str, Result]) -> Comparison:
    return Comparison(
        name="tests",
        title="What synthetic texts repeat",
        heads=("Test", "training", "unseen", "outcome"),
        legend=(
            ("value", "training texts"),
            ("reference", "unseen texts, or expected by chance"),
            ("gap", "revealed"),
            ("interval", "95% interval"),
        ),
        groups=(RowGroup("", tuple(_test_row(one, titles, results) for one in trials)),),
        low=0.0,
        high=100.0,
        ticks=ticks(0.0, 100.0, unit="%"),
        alternative="Rates of training and of unseen texts that are repeated.",
    )


def _test_row(trial: Trial, titles: dict[str, str], results: dict[str, Result]) -> ComparisonRow:
    outcome = Outcome.LEAK if trial.is_significant else Outcome.NONE_FOUND
    label = compose("{title}", title=titles[trial.result])
    words, note = say.test_words(trial), kind_note(trial)
    if not trial.has_tested_numbers or trial.expected is None:
        one = results[trial.result]
        shown, expected = one.value, one.baseline
        if one.contrast is not None:
            shown, expected = one.contrast.observed, one.contrast.expected
        return ComparisonRow(label, note, outcome, words, score(shown), score(expected))
    return trial_row(trial, label, note, outcome, words)


def _entities(results: dict[str, Result]) -> Iterator[Table]:
    """Yield how many names and numbers of one real text are repeated, by their type."""
    for result in results.values():
        types = mapping_at(result.details, "types")
        counts = {
            kind: (number_at(types, kind, "train"), number_at(types, kind, "holdout"))
            for kind in types
        }
        known = {kind: pair for kind, pair in counts.items() if pair[0] + pair[1] >= 0}
        worst = sorted(known, key=lambda kind: -known[kind][0])[:_MAX_TYPES]
        if worst:
            rows = tuple(
                (Cell((name(kind),)), *(Cell(compose(count(n))) for n in known[kind]))
                for kind in worst
            )
            heads = ("Repeated names and numbers", "from one training text", "from one unseen text")
            aligned = ("left", "right", "right")
            title = "Names and numbers of single texts"
            yield Table("entities", title, (), heads, aligned, (("", rows),))


def _lengths(results: dict[str, Result]) -> Iterator[Figure]:
    """Yield the distribution of the lengths of texts, by column."""
    for result in results.values():
        for column in mapping_at(result.details, "marginals"):
            if shares := read_shares(result, column):
                svg = Overlay(shares).to_svg()
                words = say.LENGTHS_ALTERNATIVE
                yield Figure("lengths", f"Lengths of texts: {column}", say.LENGTHS_NOTE, svg, words)
