"""The sentences of the appendix on columns, pairs of columns and metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skeval.reporting.document.distributions import Distribution
from skeval.reporting.document.numbers import count, rate, score
from skeval.reporting.document.pairs import PairMap
from skeval.reporting.document.shortening import shorten_name
from skeval.reporting.document.spans import Span, Text, compose, name, paragraph

_MAX_NAMED = 3  # categories in the words of a drawing
_MAX_LABEL = 16  # letters of a value


def each_column_title(n_shown: int, n: int) -> Text:
    """Return how many columns are shown."""
    if n_shown == n:
        return compose(
            "Appendix: the only column" if n == 1 else f"Appendix: each of the {n:,} columns"
        )
    return compose(f"Appendix: {n_shown:,} of {n:,} columns")


EACH_COLUMN_DECK = compose(
    "Real rows are filled, synthetic rows are an orange line, and unseen rows are dashed or a "
    "ring. Axes end at quantiles, rare categories are pooled, and bins with fewer than 10 real "
    "rows are empty. Bars to the right of an axis are single values and missing cells, with "
    "their percentages of the real rows. The first number is the similarity score of the "
    "shares that are drawn. The page on single columns uses other measures."
)


def distribution_note(one: Distribution) -> Text:
    """Return the similarity of a column, and the values next to its bins or categories."""
    similar = ""
    if not math.isnan(one.similarity):
        unseen = "" if math.isnan(one.unseen) else f", unseen {100 * one.unseen:.1f}"
        similar = f"{100 * one.similarity:.1f} of 100{unseen}."
    extra: list[Span] = []
    for label, real, synthetic in zip(
        one.extra_labels, one.extra.real, one.extra.synthetic, strict=True
    ):
        if real or synthetic:
            shown = rate(real) if real else f"{rate(synthetic)} of the synthetic rows"
            lead = ", " if extra else "Bars on the right: " if one.ends is not None else "Also: "
            extra += compose("{lead}{what} ({n})", lead=lead, what=_words_of_value(label), n=shown)
    return paragraph(compose(similar), (*extra, Span(".")) if extra else ())


_BESIDE = {
    "missing": "missing cells",
    "outside": "values outside of the training data",
    "new": "new categories",
    "1 others": "1 other category",
}


def _words_of_value(label: str) -> Text:
    """Return the words for a single number or for what has no place among categories."""
    if label.startswith("= "):
        return compose("the value {value}", value=_label(label.removeprefix("= ")))
    return compose(_BESIDE.get(label, label.replace(" others", " other categories")))


def distribution_alternative(one: Distribution) -> str:
    """Return a distribution in words."""
    if one.ends is not None:
        return f"Distribution of {one.column}, from {one.ends[0]} to {one.ends[1]}."
    shares = zip(one.labels, one.shares.real, one.shares.synthetic, strict=True)
    largest = sorted(shares, key=lambda three: -three[1])[:_MAX_NAMED]
    listed = "; ".join(f"{label} {rate(a)} and {rate(b)}" for label, a, b in largest)
    return f"Distribution of {one.column} in real and synthetic rows: {listed}."


def each_pair_title(n_shown: int, n: int) -> Text:
    """Return how many pairs are shown."""
    return compose(f"Appendix: {n_shown:,} of {n:,} pairs of columns")


def each_pair_deck(n_kept: int, n_shown: int, n: int) -> Text:
    """Return which pairs are shown, and how to read them."""
    how: Text = ()
    if n_kept < n:
        how = compose(
            f"The results contain {count(n_kept)} pairs, which are the least similar pairs and the "
            "pairs with the strongest associations in real rows."
        )
    ceiling = compose("The ceiling is the similarity of two samples of one population.")
    left = n_kept - n_shown
    agreeing: Text = ()
    if left:
        which = "1 other pair is" if left == 1 else f"{count(left)} other pairs are"
        agreeing = compose(f"{which} as similar as two samples of one population, and not shown.")
    return paragraph(how, agreeing, ceiling)


def pair_note(pair: PairMap) -> Text:
    """Return the similarity of a pair, its associations, and the ends of its axes."""
    similar = compose(
        f"Similarity {100 * pair.similarity:.0f} of 100 (ceiling {100 * pair.ceiling:.0f})."
    )
    associated: Text = ()
    if not math.isnan(pair.real_association + pair.synthetic_association):
        both = score(pair.real_association), score(pair.synthetic_association)
        associated = compose(f"Association {both[0]}, synthetic {both[1]}.")
    axes: Text = ()
    if len(pair.ends) == 2:
        (a, b), (c, d) = ([_label(end) for end in ends] for ends in pair.ends)
        axes = compose("Across {a} to {b}, up {c} to {d}.", a=a, b=b, c=c, d=d)
    framed = f"Framed: {rate(pair.invented_share)}." if pair.invented else ""
    return paragraph(similar, associated, axes, compose(framed))


def _label(text: str) -> Span:
    return name(shorten_name(text, _MAX_LABEL))


FURTHER_TITLE = compose("Appendix: all scores by column, and each metric in words")


def similarity_note(worst: Sequence[str], lowest: float) -> Text:
    """Return how to read the matrix of similarities."""
    how = compose(
        "Columns are on the diagonal, pairs of columns next to it. White cells are equal in both "
        f"tables. The darkest cell has a similarity of {100 * lowest:.0f} of 100. The ceiling is "
        "the expected similarity of two samples of one population."
    )
    if len(worst) != 2:
        return how
    first, second = map(name, worst)
    least = compose("The least similar pair is {a} and {b}.", a=first, b=second)
    return paragraph(least, how)


def scores_note(n_shown: int, n: int) -> Text:
    """Return how to read the table of scores by column."""
    first = compose(f"Shown are the first {n_shown:,} of {n:,} columns.") if n_shown < n else ()
    how = compose(
        "A cell contains the score of the synthetic rows and, behind a line, the score of unseen "
        "rows. Missing cells are percentages of the synthetic rows and of the training rows."
    )
    return paragraph(first, how)


WORDS_NOTE = compose(
    "Each sentence comes from the metric itself. The page with all numbers contains the "
    "intervals and the verdicts."
)


def not_drawn(reason: str) -> Text:
    """Return that a figure could not be drawn, and why."""
    return compose("The figure could not be drawn because of the error {reason}.", reason=reason)
