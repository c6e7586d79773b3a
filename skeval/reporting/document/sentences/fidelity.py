"""The sentences on fidelity and on the pair whose relation is lost."""

from __future__ import annotations

from collections.abc import Mapping

from skeval.reporting.document.fidelity import FidelityFindings, Kept, Scale
from skeval.reporting.document.loss import PairLoss
from skeval.reporting.document.numbers import whole_percent
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import Text, compose, name, paragraph
from skeval.results.result import Result

_SCALE_LABELS = {
    Scale.NUMBERS: "Single columns: numbers",
    Scale.CATEGORIES: "Single columns: categories",
    Scale.PAIRS: "Pairs of columns",
    Scale.ASSOCIATIONS: "Associations of pairs",
    Scale.ALL_COLUMNS: "All columns at once",
}


def scale_label(scale: Scale) -> Text:
    """Return the label of one of the five values of fidelity."""
    return compose(_SCALE_LABELS[scale])


def fidelity_sentence(fidelity: FidelityFindings, loss: PairLoss | None) -> Text:
    """Return which parts of the table agree with the training data."""
    if fidelity.outcome is Outcome.CLOSER:
        return compose(
            "Columns are closer to the training data than unseen real rows are, which may "
            "indicate memorizing."
        )
    if fidelity.outcome is not Outcome.BELOW or fidelity.deciding is None:
        return ()
    columns = [fidelity.get(Scale.NUMBERS), fidelity.get(Scale.CATEGORIES)]
    single = [one for one in columns if one.result]
    deciding = fidelity.deciding
    lead: Text = ()
    is_relation = deciding.scale in (Scale.PAIRS, Scale.ASSOCIATIONS, Scale.ALL_COLUMNS)
    if is_relation and single and all(one.outcome is not Outcome.BELOW for one in single):
        lead = compose(
            "Single columns are similar ({n} of 100).", n=f"{max(one.value for one in single):.0f}"
        )
    is_lost = is_relation and not _is_slight(deciding)
    return paragraph(lead, _survival(deciding, bool(lead)), _most_lost(loss) if is_lost else ())


_NEARLY = 0.9  # of the similarity of unseen rows


def _is_slight(kept: Kept) -> bool:
    return kept.value >= _NEARLY * (kept.unseen or 0.0)


def _survival(kept: Kept, is_second: bool) -> Text:
    unseen = kept.unseen or 0.0
    n_digits = int(f"{kept.value:.0f}" == f"{unseen:.0f}")
    numbers = {"a": f"{kept.value:.{n_digits}f}", "b": f"{unseen:.{n_digits}f}"}
    if kept.scale in (Scale.PAIRS, Scale.ASSOCIATIONS, Scale.ALL_COLUMNS):
        lead = "Relations between columns are not" + ("" if is_second else " preserved")
        if _is_slight(kept):
            lead = "Relations between columns are slightly less similar"
        return compose(lead + " (**{a} of 100**, unseen real rows {b}).", **numbers)
    what = "Numbers" if kept.scale is Scale.NUMBERS else "Categories"
    return compose(
        what + " have a similarity of **{a} of 100** to the training data, unseen real rows {b}.",
        **numbers,
    )


def _most_lost(loss: PairLoss | None) -> Text:
    if loss is None or not loss.is_weaker:
        return ()
    first, second = loss.names
    return compose(
        "Most is lost between {first} and {second}.", first=name(first), second=name(second)
    )


def further_sentence(fidelity: FidelityFindings, results: Mapping[str, Result]) -> Text:
    """Return how many measures of texts, keys and sequences are below their baselines."""
    if not fidelity.further:
        return ()
    needs = {need for one in fidelity.further if (tags := results[one].tags) for need in tags.needs}
    what = [word for need, word in _FURTHER_WORDS.items() if need in needs]
    n, n_below = len(fidelity.further), sum(o is Outcome.BELOW for o in fidelity.further.values())
    measures = "measure" if n == 1 else "measures"
    be = "is" if n_below == 1 else "are"
    below = f"{n_below} {be}" if n_below else "none is"
    return compose(f"Of {n} further {measures} of {' and '.join(what)}, {below} below unseen rows.")


_FURTHER_WORDS = {"relational": "linked rows", "text": "texts"}


def measure_note(worst: str, *, is_lower_better: bool) -> Text:
    """Return which column is worst, and which way is good if it is not the usual one."""
    where = compose("worst: {worst}", worst=name(worst)) if worst else ()
    direction = compose("lower is better") if is_lower_better else ()
    return (*where, *compose("; "), *direction) if where and direction else where or direction


def loss_title(loss: PairLoss, is_loss: bool) -> Text:
    """Return the heading of the two tables of a pair."""
    lead = "The biggest loss" if is_loss else "The least similar pair"
    first, second = loss.names
    table = compose(" in {table}", table=name(loss.table)) if loss.table else ()
    pair = compose(": {first} and {second}", first=name(first), second=name(second))
    return (*compose(lead), *table, *pair)


def loss_note(loss: PairLoss, reversed_order: Text) -> Text:
    """Return how to read the two tables, and combinations that few or no real rows have."""
    template = "For each {row}: % of rows by {column}."
    if not loss.is_of_row:
        template = "In % of all rows."
    what = compose(template, row=name(loss.rows.column), column=name(loss.columns.column))
    return paragraph(what, invention_sentence(loss) or reversed_order or _empty_cells(loss))


def _empty_cells(loss: PairLoss) -> Text:
    has_empty = any(share is None for row in (*loss.real, *loss.synthetic) for share in row)
    return compose("Cells with fewer than 10 rows are empty.") if has_empty else ()


def invention_sentence(loss: PairLoss) -> Text:
    """Return the largest combination that synthetic rows have and no real row has."""
    largest = loss.largest_invention
    if largest is None:
        return ()
    row, column, share = largest
    if not loss.is_of_row:
        return compose(
            "Framed: {share} of synthetic rows have combinations that no real row has.",
            share=whole_percent(loss.pair.invented_share),
        )
    return compose(
        "Framed cells have no real rows. {share} of synthetic rows with {rows} {row} have "
        "{columns} {column}.",
        share=whole_percent(share),
        rows=name(loss.rows.column),
        row=name(row),
        columns=name(loss.columns.column),
        column=name(column),
    )
