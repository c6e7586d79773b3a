"""The sentences of the page on distances and copies."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skeval.reporting.document.distances import ExposedGroup, WorstGroup
from skeval.reporting.document.numbers import count, rate, score
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Text, compose, name, names, paragraph
from skeval.reporting.document.trials import Counts, Trial
from skeval.stats.copied_rows import Copies
from skeval.utils.formatting import title_of


def distances_title(closer: Trial | None) -> Text:
    """Return how many synthetic rows are closer to the training data."""
    if closer is None or closer.expected is None:
        return compose("Distances between rows, and copies")
    return compose(
        f"{rate(closer.observed)} of synthetic rows are closer to the training data "
        f"({rate(closer.expected)} expected by chance)"
    )


def distances_deck(closer: Trial | None) -> Text:
    """Return the result of the test of distances."""
    if closer is None or not closer.is_tested:
        return ()
    if closer.is_significant:
        return compose(
            "The difference is significant. Therefore the synthetic rows contain more of the "
            "training rows than of unseen rows."
        )
    return compose("The difference is not significant after correction for all tests.")


def exposed_sentence(group: ExposedGroup, noun: Noun) -> Text:
    """Return which records are most exposed, and how much more than all."""
    low, high = map(rate, group.interval)
    return compose(
        "Most exposed: {who}. The attack names the training {one} of two in {auc} of cases "
        "({low} to {high}; all {many}: {all}).",
        who=_places(group, noun),
        one=noun.one,
        many=noun.many,
        auc=rate(group.auc),
        low=low,
        high=high,
        all=rate(group.auc_of_all),
    )


def exposed_columns_sentence(columns: Sequence[str], noun: Noun) -> Text:
    """Return the columns in which training records are closer to synthetic rows."""
    return compose(
        "Training {many} are closer to synthetic rows than unseen {many} are, most of all in "
        "**{columns}**.",
        many=noun.many,
        columns=names(columns),
    )


def _places(group: ExposedGroup, noun: Noun) -> str:
    low, high = round(100 * group.above), round(100 * group.up_to)
    if high >= 100:
        return f"the {100 - low}% of {noun.many} most distant from other {noun.many}"
    if low <= 0:
        return f"the {high}% of {noun.many} closest to other {noun.many}"
    return f"{noun.many} between percentiles {low} and {high} of distance to other {noun.many}"


def confident_sentence(found: Counts, noun: Noun) -> Text:
    """Return how many of the highest-ranked records are training records."""
    return compose(
        f"Among the {count(found.n)} {noun.many} that the attacker is most confident about, "
        f"{count(found.n_success)} are in the training data (half of them are expected by chance)."
    )


def unique_sentence(unique: Counts, noun: Noun) -> Text:
    """Return how many real records have a combination of values that no other record has."""
    return compose(
        f"Before synthesis, {count(unique.n_success)} of {count(unique.n)} real {noun.many} have a "
        f"combination of values that no other {noun.one} has."
    )


def leaking_columns(columns: Sequence[str]) -> Text:
    """Return the columns through which significant attacks work."""
    return compose("Attacks work through {columns}.", columns=names(columns, len(columns)))


def worst_group_sentence(group: WorstGroup) -> Text:
    """Return the group for which a metric is worst, next to the mean of all groups."""
    return compose(
        "{metric}: the worst group of {by} is {group} ({value}; mean of all groups {mean}).",
        metric=title_of(group.metric) if group.metric else "Privacy",
        by=name(group.by),
        group=name(group.group),
        value=score(group.value),
        mean=score(group.mean),
    )


def rare_values_sentence(trial: Trial, noun: Noun) -> Text:
    """Return whether rare values of training records occur in the synthetic table."""
    rates = compose(
        "Weighted by rarity, {a} of the values occur, and {b} are expected by chance.",
        a=rate(trial.observed),
        b=rate(trial.expected),
    )
    if not trial.is_significant:
        return rates
    lead = compose(
        "Rare values of {columns} in training {many} occur in the synthetic table.",
        columns=names(trial.columns),
        many=noun.many,
    )
    return paragraph(lead, rates)


_CHANGED = re.compile(r"rows \((?:any )?(.+) skipped(?:, .+)?\)")


def changed_cells(copies: Copies) -> str:
    """Return the cells in which copies differ from training rows, or an empty text."""
    found = _CHANGED.fullmatch(copies.what)
    return found[1] if found else ""


def kind_of_copies(copies: Copies) -> str:
    """Return the kind of copies."""
    if changed_cells(copies):
        return "Changed copies"
    return "Near copies" if copies.form.startswith("near") else "Exact copies"


def count_of_copies(copies: Copies) -> Text:
    """Return how many units are copied, and how many are expected at most."""
    n, most = count(copies.train.n), count(copies.train.most)
    form = "nearly copied" if copies.form.startswith("near") else "copied"
    verb = "is" if n == "1" else "are"
    cells = changed_cells(copies)
    what = f"{n} of the unique training {'rows' if cells else copies.what} {verb} {form}"
    what += ", apart from {cells}." if cells else "."
    chance = f" At most {most} {'is' if most == '1' else 'are'} expected by chance."
    return compose(what + chance, cells=cells)
