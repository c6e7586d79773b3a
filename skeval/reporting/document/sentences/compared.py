"""The sentences of a report that compares several synthetic tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from skeval.reporting.document.compared import ComparedFindings, Margin, Place, Standing
from skeval.reporting.document.numbers import (
    NOTHING,
    capitalize,
    count_word,
    list_words,
    points,
    score,
)
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.privacy import Answer, PrivacyFindings
from skeval.reporting.document.sentences.tiles import leak_size, privacy_tile
from skeval.reporting.document.shortening import shorten_end
from skeval.reporting.document.spans import Span, Text, compose, name, names, paragraph
from skeval.results.comparison import AS_FRESH, OTHER_INPUTS, UNTOLD
from skeval.results.recommendation import (
    Conclusion,
    Difference,
    Lead,
    Mismatch,
    Shortfall,
    Violation,
    weaknesses,
)
from skeval.results.verdict import ALARM_LEVEL

_MAX_NAMED, _MAX_WEAK = 3, 3
_MAX_REASON = 150  # letters


# the first page ------------------------------------------------------------------------------


def compared_title(compared: ComparedFindings) -> Text:
    """Return which table is ahead and should be used, or that no table is recommended."""
    decided = compared.recommendation
    if decided.outcome is Conclusion.TAKE:
        table = name(decided.tables[0])
        lead = next((one for one in decided.leads if one.better in decided.tables), None)
        if lead is None:
            return compose("Only {table} is not ruled out. Use this table.", table=table)
        return compose(f"{{table}} is ahead in {lead.aspect}. Use this table.", table=table)
    if decided.outcome is Conclusion.TIED:
        tables = names(decided.tables, _MAX_NAMED)
        return compose("{tables} cannot be distinguished. Use any of them.", tables=tables)
    if decided.outcome is Conclusion.OPEN:
        return compose("Each table is ahead in something. Choose by the purpose.")
    return compose(f"No table can be recommended. {_why_none(compared)}")


def _why_none(compared: ComparedFindings) -> str:
    decided = compared.recommendation
    if decided.outcome is Conclusion.INCOMPARABLE:
        return "The real tables differ."
    if decided.outcome is Conclusion.LEAKS:
        is_leak = all(one.place is Place.LEAK for one in compared.tables)
        return "A leak was found in each." if is_leak else "A leak or copies were found in each."
    n_reasons = sum(map(bool, (decided.leaking, decided.violations, decided.shortfalls)))
    if n_reasons > 1:
        return "Each is ruled out."
    violated = decided.outcome is Conclusion.VIOLATED
    return "Each violates a threshold." if violated else "None is good enough."


def compared_deck(compared: ComparedFindings) -> Text:
    """Return why the recommended table is ahead, and why others are out."""
    decided = compared.recommendation
    if decided.outcome is Conclusion.INCOMPARABLE:
        return paragraph(*map(mismatch_sentence, decided.mismatches[:1]))
    in_favor = [one for one in decided.leads if one.better in decided.tables]
    leads = in_favor if decided.outcome is Conclusion.TAKE else decided.leads
    first = lead_sentence(leads[0], compared) if leads else ()
    return paragraph(first, _ruled_out(compared), _against(compared))


def _ruled_out(compared: ComparedFindings) -> Text:
    reasons = {
        Place.LEAK: "because a leak was found",
        Place.COPIES: "because copies were found",
        Place.VIOLATES: "because of a violated threshold",
        Place.NOT_GOOD_ENOUGH: "because the table is not good enough",
    }
    sentences = []
    for place, reason in reasons.items():
        out = [one.name for one in compared.tables if one.place is place]
        if out:
            be = "is" if len(out) == 1 else "are"
            reason = reason.replace("the table is", "the tables are") if len(out) > 1 else reason
            sentences.append(
                compose(f"{{tables}} {be} ruled out {reason}.", tables=names(out, _MAX_NAMED))
            )
    return paragraph(*sentences)


def _against(compared: ComparedFindings) -> Text:
    """Return the aspect in which the recommended table is behind another remaining table."""
    decided = compared.recommendation
    if decided.outcome is not Conclusion.TAKE:
        return ()
    behind = [one for one in decided.leads if one.worse in decided.tables]
    if not behind:
        return ()
    return compose(
        f"However, {{better}} is ahead of {{worse}} in {behind[0].aspect}.",
        better=name(behind[0].better),
        worse=name(behind[0].worse),
    )


PLACE_WORDS = {
    Place.RECOMMENDED: "recommended",
    Place.TIED: "cannot be distinguished",
    Place.REMAINS: "remains",
    Place.LEAK: "ruled out: leak",
    Place.COPIES: "ruled out: copies",
    Place.VIOLATES: "ruled out: threshold",
    Place.NOT_GOOD_ENOUGH: "ruled out: not good enough",
    Place.BEHIND: "behind",
    Place.NOT_COMPARED: "not compared",
}


def points_note(answers: Sequence[Answer]) -> Text:
    """Return the excess of each table in points, in the order of the tables."""
    shown = [NOTHING if math.isnan(one.excess) else points(one.excess, 1) for one in answers]
    return compose(", ".join(shown)) if {*shown} != {NOTHING} else ()


def answers_words(tables: Sequence[str], answers: Sequence[Answer], outcome: Outcome) -> Text:
    """Return the outcome of a question over all tables, with the largest excess."""
    own = [
        (table, one)
        for table, one in zip(tables, answers, strict=True)
        if one.outcome is outcome and outcome in (Outcome.LEAK, Outcome.COPIES)
    ]
    if not own:
        return compose(outcome.word)
    excesses = {table: 0.0 if math.isnan(one.excess) else one.excess for table, one in own}
    table = max(excesses, key=lambda one: excesses[one])
    shown = f" {points(excesses[table])}" if excesses[table] > 0 else ""
    more = f", {count_word(len(own) - 1)} more" if len(own) > 1 else ""
    return compose(f"{outcome.word}: {{table}}{shown}{more}", table=name(table))


_REASONS = {
    UNTOLD: "cannot be distinguished",
    AS_FRESH: "as good as unseen rows",
    OTHER_INPUTS: "not compared",
    "no direction": "neither is better",
}


def reason(said: str) -> str:
    """Return why a metric puts neither of two tables ahead."""
    return _REASONS.get(said, said)


def standing_words(standing: Standing, scale: float = 1.0, digits: int | None = None) -> Text:
    """Return which tables are ahead and by how much, or why there are none."""
    if not standing.ahead:
        return compose(", ".join(map(reason, standing.reasons)) or "not in all tables")
    ahead = compose("{tables}", tables=names(standing.ahead, _MAX_NAMED))
    if standing.margin is None:
        return (*ahead, *compose(" ahead"))
    ends = margin_words(standing.margin, scale, digits)
    return (*ahead, *compose(f" ahead by {ends}"))


def margin_words(margin: Margin, scale: float = 1.0, digits: int | None = None) -> str:
    """Return the interval of a difference."""
    low, high = scale * margin.low, scale * margin.high
    if digits is not None:
        return f"{low:.{digits}f} to {high:.{digits}f}"
    return f"{score(low, margin.ends)} to {score(high, margin.ends)}"


# why -----------------------------------------------------------------------------------------


def lead_sentence(lead: Lead, compared: ComparedFindings) -> Text:
    """Return the aspect in which one table is ahead of another one, and by how much."""
    margin = compared.margin_of(lead)
    first = f"**{{better}}** is ahead of {{worse}} in {lead.aspect}"
    values: dict[str, Text | Span | str] = {"better": name(lead.better), "worse": name(lead.worse)}
    if not lead.headline:
        total = lead.wins + lead.losses + lead.untold
        first += f" by {lead.wins} of {total} metrics"
    if margin is None:
        return compose(f"{first}.", **values)
    results = compared.results_of(margin.metric)
    numbers = [score(results[table].value) for table in (margin.better, margin.worse)]
    values["title"] = compared.titles[margin.metric]
    what = "{title} is" if lead.headline else "Most clearly, {title} is"
    second = f"{what} {numbers[0]}, compared with {numbers[1]} (difference {margin_words(margin)})."
    sentence = compose(f"{first}. {second}", **values)
    if not lead.against:
        return sentence
    other = compose(
        "By {title}, {worse} is ahead, but {better} falls less short of unseen rows there.",
        title=compared.titles[lead.against],
        better=name(lead.better),
        worse=name(lead.worse),
    )
    return paragraph(sentence, other)


def reasons(compared: ComparedFindings) -> tuple[Text, ...]:
    """Return everything that decided about each table."""
    found = tuple(filter(None, _reasons(compared)))
    return found or (compose("By no deciding metric is a table ahead of another table."),)


def _reasons(compared: ComparedFindings) -> Iterator[Text]:
    decided, kept = compared.recommendation, compared.recommendation.tables
    is_taken = decided.outcome is Conclusion.TAKE
    leads = [one for one in decided.leads if not is_taken or {one.better, one.worse} & {*kept}]
    yield from (lead_sentence(one, compared) for one in leads)
    yield from map(mismatch_sentence, decided.mismatches)
    for one in compared.tables:
        if one.place in (Place.LEAK, Place.COPIES):
            yield _leak_sentence(one.name, one.found.privacy)
    yield from map(_violation_sentence, decided.violations)
    yield from (_shortfall_sentence(one, compared) for one in decided.shortfalls)
    for table in kept if is_taken else ():
        yield _weaknesses(table, compared)


def _leak_sentence(table: str, privacy: PrivacyFindings) -> Text:
    if privacy.is_alarm and privacy.excess is not None:
        grade = f"{privacy.strength.value} leak" if privacy.strength is not None else "leak"
        return compose(
            f"In {{table}}, a {grade} was found: {leak_size(privacy)}.", table=name(table)
        )
    what = "a leak was found" if privacy.is_alarm else "copies of training records were found"
    return compose(f"In {{table}}, {what}.", table=name(table))


def _violation_sentence(one: Violation) -> Text:
    return compose(
        "{table} violates the agreed threshold {rule} ({reason}).",
        table=name(one.table),
        rule=one.rule,
        reason=one.reason.rstrip("."),
    )


def _shortfall_sentence(one: Shortfall, compared: ComparedFindings) -> Text:
    real = "a model of real rows" if one.aspect == "utility" else "unseen rows"
    return compose(
        f"{{table}} is not good enough: {{title}} is {score(one.value)}, which is closer to a "
        f"useless table than to {real} ({score(one.fresh)}).",
        table=name(one.table),
        title=compared.titles[one.metric],
    )


def _weaknesses(table: str, compared: ComparedFindings) -> Text:
    weak = weaknesses(table, compared.comparison[table])
    if not weak:
        return ()
    shown = [
        f"{compared.titles[one.metric]} ({score(one.value)}, unseen rows {score(one.fresh)})"
        for one in weak[:_MAX_WEAK]
    ]
    more = [f"{len(weak) - len(shown)} more"] if len(weak) > len(shown) else []
    return compose(
        "However, **{table}** is closer to a useless table than to unseen rows in {listed}.",
        table=name(table),
        listed=list_words([*shown, *more]),
    )


def mismatch_sentence(one: Mismatch) -> Text:
    """Return how a real table was not the same for all results."""
    role, _, table = one.role.partition("/")
    data = compose(f"{_REAL_DATA.get(role, role)} data")
    if table:
        data = (*data, *compose(" of {table}", table=name(table)))
    columns = names(one.columns, _MAX_NAMED)
    if one.difference is Difference.CONTENT:
        return compose("The results are based on different {data}.", data=data)
    if one.difference is Difference.KINDS:
        return compose(
            "The {data} come from one file, but {columns} was read as another kind of column. "
            "**Evaluate all tables with one schema.**",
            data=data,
            columns=columns,
        )
    return compose(
        "The {data} were read with other kinds of columns ({columns}), so that their cells cannot "
        "be compared. **Evaluate all tables with one schema.**",
        data=data,
        columns=columns,
    )


_REAL_DATA = {"train": "training"}


def privacy_words(privacy: PrivacyFindings) -> str:
    """Return the verdict on one table, with the largest excess in points."""
    _, answer, _ = privacy_tile(privacy)
    if privacy.is_alarm and privacy.excess is not None:
        return f"{answer}: {points(privacy.excess)} points"
    return answer


# how it was compared -------------------------------------------------------------------------

RULE = (
    "The real tables must be the same. A table with a leak or with copies is never recommended.",
    "A table is also ruled out if it violates an agreed threshold, or if a deciding metric is "
    "closer to the value of a useless table than to the value of unseen rows.",
    "Of the tables that remain, the table that is ahead in utility is recommended, then the table "
    "that is ahead in fidelity. TSTR decides utility. Relation score (all columns together) and "
    "similarity score (columns and pairs) decide fidelity. If these two disagree, the metric "
    "counts in which the table behind falls farther short of unseen rows.",
    "If no deciding metric was evaluated, the table that is ahead by more metrics is recommended, "
    "unless another aspect speaks against it.",
)
AHEAD = (
    "A table is ahead of another table by a metric if the 95% interval of their difference does "
    "not contain 0, and if the other table is worse than unseen rows by more than chance explains. "
    "The interval holds for all pairs of tables and all metrics of an aspect together. Being "
    "closer to the training data than unseen rows is no advantage.",
    "Paired: both tables were compared with the same real rows, whose noise is counted once. "
    "Independent: only the intervals of the two values are known, so that a difference may be "
    "missed. None: there is no interval, and therefore no table is ahead.",
)


def untold(compared: ComparedFindings) -> Iterator[Text]:
    """Yield the limits of the comparison, for example ties and missing metrics."""
    standings = [compared.standing_of(metric) for metric in compared.comparison.metrics]
    n_tied = sum(UNTOLD in one.reasons for one in standings)
    if n_tied:
        metrics = "metric" if n_tied == 1 else "metrics"
        yield compose(
            f"By {n_tied} of {len(standings)} {metrics}, the tables cannot be distinguished. More "
            "rows make intervals narrower."
        )
    if n_lacking := len(compared.comparison.lacking()):
        metrics = "metric was" if n_lacking == 1 else "metrics were"
        yield compose(f"{capitalize(count_word(n_lacking))} {metrics} not evaluated in all tables.")
    n_tests = max(one.found.privacy.n_tests for one in compared.tables)
    yield _caution(len(compared.tables), n_tests)


def _caution(n_tables: int, n_tests: int) -> Text:
    if not n_tests:
        return compose("No test of privacy was made, so that nothing is known of leaks.")
    level = f"{100 * ALARM_LEVEL:.0f}%"
    any_of = f"{100 * (1 - (1 - ALARM_LEVEL) ** n_tables):.0f}%"
    return compose(
        f"Each of the {count_word(n_tables)} tables is tested for leaks at a level of {level}. If "
        f"none of them leaks, at least one is accused with a probability of up to {any_of}. "
        "**No test can show that nothing leaks.**"
    )


METRICS_NOTE = compose(
    "Privacy tests show two rates: the rate on the training data, and in brackets the rate on "
    "unseen rows or the rate expected by chance. Unseen is the value of real rows that no "
    "generator saw. Ahead names the tables that are better than another table and worse than "
    "none, and by how much they are better than the nearest one."
)

DIFFERENCES_NOTE = compose("The value of the first table minus the value of the second table.")


def caveats(compared: ComparedFindings) -> Iterator[Text]:
    """Yield the differences in how results were evaluated."""
    n_known = len(compared.recommendation.mismatches)
    for text in compared.comparison.caveats()[n_known:]:
        yield compose("{text}", text=text)


FRONT_TITLE = "Tables by two mean scores"
MAPS_TITLE = "All tables on one map"


FRONT_NOTE = compose(
    "No other table is better in both scores than the orange tables. The scores have no "
    "interval, so that small differences may be chance."
)


def front_alternative(front: Sequence[str]) -> str:
    """Return the drawing of two scores in words."""
    return f"No table is better in both scores than {list_words(front)}."


MAPS_NOTE = compose(
    "Share of rows by place, on two directions that the training data define. Darker places "
    "have more rows. Places with too few rows are empty, and no row is drawn."
)


def map_alternative(table: str) -> str:
    """Return a map in words."""
    return f"Share of rows by place: {table}."


def not_in_all(compared: ComparedFindings) -> Iterator[Text]:
    """Yield the metrics without a value for some table, with the reasons."""
    for metric, why in compared.comparison.lacking().items():
        title = Span(compared.titles[metric], strong=True)
        if len({*why.values()}) == 1 and len(why) == len(compared.tables):
            reason = next(iter(why.values()))
            yield compose("{title}. {reason}", title=title, reason=_sentence(reason))
            continue
        parts = [
            compose("{table}: {reason}", table=name(table), reason=_sentence(reason))
            for table, reason in why.items()
        ]
        yield paragraph((title, Span(".")), *parts)


def _sentence(reason: str) -> str:
    return f"{capitalize(shorten_end(reason, _MAX_REASON).rstrip('.'))}."
