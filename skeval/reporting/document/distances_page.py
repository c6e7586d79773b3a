"""The page on distances between rows, the most exposed records and copies."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.document.blocks import Block, Entries, Entry, Headline, Page, Paragraphs
from skeval.reporting.document.curve_figures import distance_figures
from skeval.reporting.document.distances import (
    find_exposed_columns,
    find_exposed_group,
    find_most_confident,
    find_unique_rows,
    find_worst_groups,
)
from skeval.reporting.document.figures import ON_DISTANCES, figures_of
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.sentences import distances as say
from skeval.reporting.document.spans import Text, compose

_CLOSER = ("DCROverfittingProtection", "DCRShare")


def distances_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on distances and copies; None if there is nothing to show."""
    closer = next((one for one in found.privacy.trials if one.metric in _CLOSER), None)
    title, deck = say.distances_title(closer), say.distances_deck(closer)
    blocks: list[Block] = [Headline("headline", None, title, deck, facts)]
    blocks += distance_figures(found.results)
    blocks += figures_of(found.results, ON_DISTANCES)
    if exposed := tuple(_exposed_sentences(found)):
        blocks.append(Paragraphs("exposed", "Who is most exposed", exposed))
    if columns := find_exposed_columns(found.results, found.privacy.verdict.alarms):
        said = say.exposed_columns_sentence(columns, found.noun)
        blocks.append(Paragraphs("columns", "Which columns", (said,)))
    if copies := tuple(_copies(found)):
        blocks.append(Entries("copies", "Copies", (), copies))
    return Page("distances", "Privacy: distances and copies", tuple(blocks)) if blocks[1:] else None


def _exposed_sentences(found: Findings) -> Iterator[Text]:
    if group := find_exposed_group(found.results):
        yield say.exposed_sentence(group, found.noun)
    if most := find_most_confident(found.results):
        yield say.confident_sentence(most, found.noun)
    if found.privacy.columns:
        yield say.leaking_columns(found.privacy.columns)
    for worst in find_worst_groups(found.results):
        yield say.worst_group_sentence(worst)
    if unique := find_unique_rows(found.results):
        yield say.unique_sentence(unique, found.noun)


def _copies(found: Findings) -> Iterator[Entry]:
    for one in found.privacy.counted:
        is_beyond = one.train.beyond_chance
        outcome = Outcome.COPIES if is_beyond else Outcome.NONE_FOUND
        term = compose(say.kind_of_copies(one))
        yield Entry(term, say.count_of_copies(one), outcome, outcome.word)
    for trial in found.privacy.trials:
        if trial.is_weighted and trial.expected is not None:
            outcome = Outcome.LEAK if trial.is_significant else Outcome.NONE_FOUND
            said = say.rare_values_sentence(trial, found.noun)
            yield Entry(compose("Rare values"), said, outcome, outcome.word)
