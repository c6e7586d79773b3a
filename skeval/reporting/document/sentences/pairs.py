"""The sentences of the page on pairs of columns."""

from __future__ import annotations

import math

from skeval.reporting.document.fidelity import FidelityFindings, Scale
from skeval.reporting.document.numbers import rate, score
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.pairs import Associations, PairMap
from skeval.reporting.document.reversed_order import ReversedOrder
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Text, compose, name, paragraph

_MIN_LOST = 0.1  # by which a pair is below the similarity of two samples, to be mentioned


def pairs_title(fidelity: FidelityFindings) -> Text:
    """Return how many of 100 the pairs reach, next to unseen rows."""
    pairs = fidelity.get(Scale.PAIRS)
    if not pairs.result:
        return compose("Pairs of columns")
    value = f"Pairs of columns agree at {pairs.value:.0f} of 100"
    if pairs.unseen is None:
        return compose(value)
    return compose(f"{value}, unseen rows at {pairs.unseen:.0f}")


def pairs_deck(fidelity: FidelityFindings, worst: PairMap | None) -> Text:
    """Return the result of the comparison with unseen rows."""
    outcome = fidelity.get(Scale.PAIRS).outcome
    if outcome is Outcome.BELOW:
        return compose("The difference is significant. Relations between columns are lost.")
    if outcome is Outcome.CLOSER:
        return compose(
            "Pairs are closer to the training data than unseen rows are, which may "
            "indicate memorizing."
        )
    if outcome is not Outcome.AS_GOOD:
        return ()
    if worst is not None and worst.ceiling - worst.similarity > _MIN_LOST:
        return compose("The mean of all pairs is within chance. However, single pairs are lost.")
    return compose("The difference is within chance.")


def pair_title(pair: PairMap) -> Text:
    """Return the names of a pair."""
    first, second = pair.columns
    return compose("{first} and {second}", first=name(first), second=name(second))


def pair_sentence(pair: PairMap) -> Text:
    """Return the similarity of a pair and its associations."""
    similar = compose(
        f"Similarity {100 * pair.similarity:.0f} of 100; two samples of one population reach "
        f"{100 * pair.ceiling:.0f}."
    )
    invented = invented_note(pair)
    if math.isnan(pair.real_association + pair.synthetic_association):
        return paragraph(similar, invented)
    real, left = score(pair.real_association), score(pair.synthetic_association)
    lost = compose(f"Association {real} in real rows, {left} in synthetic rows.")
    return paragraph(similar, lost, invented)


def invented_note(pair: PairMap) -> Text:
    """Return how many synthetic rows are in cells that no real row fills."""
    if not pair.invented or not pair.invented_share:
        return ()
    share = rate(pair.invented_share)
    return compose(f"{share} of synthetic rows have combinations that no real row has (framed).")


def reversed_sentence(pair: ReversedOrder, noun: Noun) -> Text:
    """Return how often the order of two columns is reversed, and how often in real rows."""
    real = rate(pair.real) if pair.real is not None else f"less than {rate(pair.real_below)}"
    return compose(
        "In **{share}** of synthetic {many}, {above} is {larger} than {below}, compared "
        "with {real} of real {many}.",
        share=rate(pair.synthetic),
        many=noun.many,
        above=name(pair.above),
        larger="later" if pair.is_date else "larger",
        below=name(pair.below),
        real=real,
    )


PAIRS_NOTE = compose(
    "The first column runs across, the second up. Darker cells have more rows. In the third "
    "map, orange cells have more synthetic rows and purple cells fewer. Cells with fewer than "
    "10 rows are empty. Framed cells have synthetic rows and no real row."
)


def associations_note(associations: Associations) -> Text:
    """Return how to read the matrices, and which association changes most."""
    how = compose(
        "Darker cells are stronger associations, from 0 to 1. In the third matrix, orange cells "
        "are stronger in synthetic rows and purple cells weaker."
    )
    change = associations.largest_change
    if change is None:
        return how
    real, synthetic = associations.between(change)
    most = compose(
        "The largest change is between {first} and {second}: {real} in real rows, {synthetic} in "
        "synthetic rows.",
        first=name(change[0]),
        second=name(change[1]),
        real=score(real),
        synthetic=score(synthetic),
    )
    return paragraph(most, how)
