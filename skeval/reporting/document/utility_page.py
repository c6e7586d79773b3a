"""The page on utility, with the scores of models of the synthetic table."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.document.blocks import (
    Block,
    Cell,
    Entries,
    Entry,
    Figure,
    Headline,
    Page,
    Table,
)
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.fidelity import outcome_of_difference
from skeval.reporting.document.figures import ON_UTILITY, figures_of
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.sentences import utility as say
from skeval.reporting.document.spans import Text, compose
from skeval.reporting.document.tables import results_with_value
from skeval.results.verdict import is_quoted
from skeval.utils.formatting import scoring_in_words


def utility_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on utility; None if no model was trained."""
    entries = tuple(_entries(found))
    if not entries:
        return None
    title, deck = say.utility_title(found.utility), say.utility_sentence(found.utility)
    blocks: list[Block] = [Headline("headline", None, title, deck, facts)]
    if scores := _scores(found):
        blocks.append(scores)
    note = compose("Each value is next to the value of real rows in place of synthetic rows.")
    measures = Entries("measures", "All measures of utility", note, entries)
    figures = (*figures_of(found.results, ON_UTILITY), measures)
    blocks += sorted(figures, key=lambda one: isinstance(one, Figure) and one.is_wide)
    return Page("utility", "Utility", tuple(blocks))


def _scores(found: Findings) -> Table | None:
    """Return the scores of the two models by each way of scoring."""
    for result in found.results.values():
        scores = mapping_at(result.details, "scores")
        if not is_quoted(result, "learning") or not scores:
            continue
        rows = tuple(
            (
                Cell(compose("{scoring}", scoring=scoring_in_words(scoring))),
                Cell(compose(f"{number_at(one, 'tstr'):.3f}")),
                Cell(compose(f"{number_at(one, 'trtr'):.3f}")),
            )
            for scoring, one in scores.items()
        )
        heads = ("Score on unseen real rows", "Trained on synthetic", "Trained on real")
        aligned = ("left", "right", "right")
        return Table("scores", "Scores of two models", (), heads, aligned, (("", rows),))
    return None


def _entries(found: Findings) -> Iterator[Entry]:
    titles = metric_titles(found.results)
    for name, result in results_with_value(found.results, "utility").items():
        outcome = outcome_of_difference(result)
        sentence = say.value_sentence(result.value, result.baseline)
        yield Entry(compose("{title}", title=titles[name]), sentence, outcome, outcome.word)
