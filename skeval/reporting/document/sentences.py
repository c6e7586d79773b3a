"""All sentences of reports, made from typed values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skeval.reporting.document.checks import Shortfall, UtilityFindings, ValidityFindings
from skeval.reporting.document.fidelity import FidelityFindings, Kept, Scale
from skeval.reporting.document.loss import PairLoss
from skeval.reporting.document.numbers import (
    capitalized,
    count,
    count_word,
    of_100,
    points,
    score,
    whole_percent,
)
from skeval.reporting.document.outcomes import Outcome, Strength
from skeval.reporting.document.privacy import Answer, NotRun, Obstacle, PrivacyFindings
from skeval.reporting.document.questions import Question
from skeval.reporting.document.spans import Span, Text, compose, name, names, paragraph
from skeval.reporting.document.trials import Trial
from skeval.stats.copied_rows import Copies
from skeval.utils.formatting import scoring_in_words


@dataclass(frozen=True)
class Noun:
    """What a row of the table describes, in singular and plural."""

    one: str = "record"
    many: str = "records"


# headline ------------------------------------------------------------------------------------

_HEADLINES = {
    Strength.SMALL: "A small leak was found. Judge it before release.",
    Strength.MEDIUM: "A leak was found. Hold this release.",
    Strength.SEVERE: "A severe leak was found. Do not release this table.",
    None: "A leak was found. Hold this release.",
}
_OBSTACLE_HEADLINES = {
    Obstacle.NO_HOLDOUT: "Privacy could not be tested: no unseen rows were given.",
    Obstacle.WHOLE_POPULATION: "Privacy could not be tested: there are no unseen rows.",
    Obstacle.NO_METRIC: "Privacy was not evaluated.",
    Obstacle.SHIFTED: "Privacy could not be tested: training and unseen rows differ.",
    Obstacle.HOLDOUT_USED: "Privacy could not be tested: the release contains unseen rows.",
    Obstacle.SHARED_ROWS: "Privacy could not be tested: the real tables share their rows.",
    Obstacle.EXTRA_COLUMNS: "Privacy could not be tested: the release has further columns.",
    Obstacle.UNTESTED_COLUMNS: "Privacy could not be tested: columns were left out of all tests.",
    Obstacle.TOO_LITTLE: "Privacy could not be tested: there is too little to compare.",
}


def headline(privacy: PrivacyFindings, places: int, is_usable: bool) -> Text:
    """Return what was found, and what to do with the release."""
    if privacy.is_alarm and privacy.is_shifted:
        return compose("A leak was found, or unseen rows differ. Hold this release.")
    if privacy.has_copies and privacy.strength is not Strength.SEVERE:
        if privacy.obstacle is Obstacle.NO_HOLDOUT:
            return compose("Copies of training records were found. Other leaks were not tested.")
        return compose(
            "Copies of training records were found. Do not release this table with them."
        )
    if privacy.is_alarm:
        return compose(_HEADLINES[privacy.strength])
    if privacy.obstacle:
        return compose(_OBSTACLE_HEADLINES[privacy.obstacle])
    if not is_usable:
        return compose("No leak was found by these tests. The table is not usable yet.")
    if places:
        return compose(
            "No leak was found by these tests. It falls short in {n} {places}.",
            n=count_word(places),
            places="place" if places == 1 else "places",
        )
    return compose("No leak was found by these tests.")


# deck ----------------------------------------------------------------------------------------


def deck(
    privacy: PrivacyFindings, fidelity: FidelityFindings, loss: PairLoss | None, noun: Noun
) -> Text:
    """Return at most three sentences: the tests, the clearest case, and the place of a leak."""
    if privacy.is_alarm:
        return paragraph(
            _tests_that_found(privacy, noun),
            _clearest_case(privacy.clearest, noun),
            copies_sentence(privacy.copies[0]) if privacy.copies else _place(privacy),
        )
    if privacy.has_copies:
        sentence = copies_sentence(privacy.copies[0])
        return paragraph(sentence, _no_test(privacy, noun))
    if privacy.obstacle:
        return paragraph(_no_test(privacy, noun), _no_copies(privacy, noun))
    lost = fidelity_sentence(fidelity, loss) if fidelity.outcome in (_BELOW, Outcome.CLOSER) else ()
    return paragraph(
        compose(
            "{n} privacy tests find no difference between training {many} and unseen "
            "ones. That does not show that nothing leaks.",
            n=capitalized(count_word(privacy.n_tests)),
            many=noun.many,
        ),
        lost,
    )


_BELOW = Outcome.BELOW


def _tests_that_found(privacy: PrivacyFindings, noun: Noun) -> Text:
    n, n_tests = privacy.n_significant, privacy.n_tests
    who = "All {m} privacy tests show" if n == n_tests > 1 else "{n} of {m} privacy tests show"
    if n_tests == 1:
        who = "The only privacy test shows"
    elif n == 1:
        who = "One of {m} privacy tests shows"
    return compose(
        who + " that the synthetic table reveals more about training {many} than about unseen "
        "{many}.",
        n=capitalized(count_word(n)),
        m=count_word(n_tests),
        many=noun.many,
    )


_CASES = {
    Question.PICK_OUT: "The clearest case: **{a} of 100** attempts to pick out a single {one} "
    "succeed on the training data, **{b} of 100** on unseen {many}.",
    Question.MEMBERSHIP: "The clearest case: given two {many}, an attacker names the one in the "
    "training data **{a} of 100** times; **{b} of 100** are expected by chance.",
    Question.GUESS: "The clearest case: an attacker guesses {column} correctly for **{a} of 100** "
    "{many} in the training data and for **{b} of 100** unseen {many}.",
    Question.LINK: "The clearest case: an attacker links the two halves of **{a} of 100** {many} "
    "in the training data and of **{b} of 100** unseen {many}.",
    Question.COMPLETE: "The clearest case: an attacker completes **{a} of 100** {many} in the "
    "training data and **{b} of 100** unseen {many}.",
    Question.REFUTE: "The clearest case: of a training and an unseen {one}, an attacker names the "
    "training {one} in **{a} of 100** pairs; **{b} of 100** are expected by chance.",
    Question.COPIES: "The clearest case: **{a} of 100** synthetic rows copy a training row or "
    "nearly copy it, **{b} of 100** an unseen row.",
    Question.CLOSER: "The clearest case: **{a} of 100** synthetic rows are closer to the training "
    "data than to unseen rows; **{b} of 100** are expected by chance.",
}
_CONFIDENT = (
    "The clearest case: the most confident guesses of {column} are correct for **{a} of 100** "
    "{many} in the training data and for **{b} of 100** unseen {many}."
)
_BY_RARITY = (
    "The clearest case: **{a} of 100** training {many} have values of {column} that occur in the "
    "synthetic table, weighted by rarity; **{b} of 100** are expected by chance."
)


def _clearest_case(trial: Trial | None, noun: Noun) -> Text:
    if trial is None or not trial.has_tested_numbers:
        return ()
    template = _CASES[trial.question]
    if trial.is_weighted:
        template = _BY_RARITY
    elif trial.is_of_most_confident and trial.column:
        template = _CONFIDENT
    hidden = name(trial.column) if trial.column else Span("a hidden value")
    return compose(
        template,
        a=of_100(trial.observed),
        b=of_100(trial.expected or 0.0),
        column=names(trial.columns) if trial.is_weighted else hidden,
        one=noun.one,
        many=noun.many,
    )


def _place(privacy: PrivacyFindings) -> Text:
    if not privacy.columns:
        return ()
    return compose("The leak shows most in **{columns}**.", columns=names(privacy.columns))


def copies_sentence(copies: Copies) -> Text:
    """Return how many units of the training data are copied, and how many are by chance."""
    n, most = copies.train.n, copies.train.most
    chance = (
        f"At most {count(most)} {'is' if most == 1 else 'are'} expected by chance."
        if most
        else "None is expected by chance."
    )
    if copies.form == "near copies":
        lead = "**{n}** training {what} have a near copy in the synthetic table. "
    elif copies.form == "near copies of one":
        lead = "**{n}** synthetic {what} are near copies of one training record. "
    elif copies.form == "copies of a value":
        lead = "**{n}** {what} of a single training row occur in the synthetic table. "
    elif copies.what == "rows":
        lead = "**{n}** synthetic rows copy a training row that occurs only once. "
    else:
        lead = "**{n}** {what} that occur once in the training data are in the synthetic table. "
    return compose(lead + chance, n=count(n), what=copies.what)


_NO_TEST = {
    Obstacle.NO_HOLDOUT: "No privacy test could run, because each test compares training {many} "
    "with unseen {many}, and no unseen {many} were given. **Set rows aside before training, and "
    "pass them as holdout.**",
    Obstacle.WHOLE_POPULATION: "No privacy test can run, because the training data are the whole "
    "population, and no unseen {many} exist.",
    Obstacle.NO_METRIC: "No metric of privacy was in this suite. **Evaluate the suite report.**",
    Obstacle.SHIFTED: "The training data and the holdout are not samples of one population. "
    "Therefore a difference between them does not show a leak, and its absence shows nothing.",
    Obstacle.HOLDOUT_USED: "The synthetic table contains unseen rows, so that they are not unseen.",
    Obstacle.SHARED_ROWS: "Most holdout rows also occur in the training data, so that they are not "
    "unseen. **Remove the shared rows from one of the tables.**",
    Obstacle.EXTRA_COLUMNS: "The synthetic table has columns that the training data do not have. "
    "No test examined them.",
    Obstacle.TOO_LITTLE: "The tables are too small or too empty for a test to find a leak.",
}


def _no_test(privacy: PrivacyFindings, noun: Noun) -> Text:
    if privacy.obstacle is None:
        return ()
    if privacy.obstacle is Obstacle.UNTESTED_COLUMNS:
        return compose(
            "No test examined {columns}, and most values of these columns occur once. They may be "
            "copies.",
            columns=names(privacy.untested_columns),
        )
    return compose(_NO_TEST[privacy.obstacle], many=noun.many)


def _no_copies(privacy: PrivacyFindings, noun: Noun) -> Text:
    if not privacy.is_counted or privacy.has_copies:
        return ()
    if not privacy.n_copies:
        return compose("No synthetic row copies a training row.")
    return compose("No more training rows are copied than expected by chance.")


# tiles ---------------------------------------------------------------------------------------


def privacy_tile(privacy: PrivacyFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on privacy."""
    if privacy.is_alarm:
        answer = "Severe leak" if privacy.strength is Strength.SEVERE else "Leak found"
        if privacy.strength is Strength.SMALL:
            answer = "Small leak"
        gap = _largest_gap(privacy)
        copied = f"{count(privacy.copies[0].train.n)} copies" if privacy.copies else ""
        if not copied and privacy.is_counted:
            copied = _few_copies(privacy)
        return Outcome.LEAK, answer, compose("; ".join(filter(None, (gap, copied))))
    if privacy.has_copies:
        n = privacy.copies[0].train.n
        rest = "no test could run" if not privacy.n_tests else "no other leak found"
        return Outcome.COPIES, f"{count(n)} copies found", compose(rest)
    if privacy.obstacle:
        ran = "no test could run" if not privacy.n_tests else "tests allow no conclusion"
        return Outcome.INCONCLUSIVE, "Inconclusive", compose(ran)
    tests = "1 test" if privacy.n_tests == 1 else f"{privacy.n_tests} tests"
    few = f"; {_few_copies(privacy)}" if privacy.is_counted else ""
    return Outcome.NONE_FOUND, "No leak found", compose(f"by {tests}{few}")


def _few_copies(privacy: PrivacyFindings) -> str:
    n = privacy.n_copies
    return "no copies" if not n else f"{count(n)} {'copy' if n == 1 else 'copies'}, as by chance"


def _largest_gap(privacy: PrivacyFindings) -> str:
    clearest = privacy.clearest
    if clearest is None or not clearest.is_rate_of_records:
        return f"{privacy.n_significant} of {privacy.n_tests} tests"
    return f"{points(clearest.excess)} points at most"


_ANSWERS = {
    Outcome.BELOW: "Below baseline",
    Outcome.CLOSER: "Closer than real",
    Outcome.AS_GOOD: "As good as real",
    Outcome.NO_TEST: "No test",
    Outcome.NOT_EVALUATED: "Not evaluated",
}
_SCALE_NAMES = {
    Scale.NUMBERS: "numbers",
    Scale.CATEGORIES: "categories",
    Scale.PAIRS: "pairs",
    Scale.ASSOCIATIONS: "associations",
    Scale.ALL_COLUMNS: "relations",
}


def fidelity_tile(fidelity: FidelityFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on fidelity."""
    deciding, outcome = fidelity.deciding, fidelity.outcome
    if deciding is None:
        return outcome, _ANSWERS[outcome], compose("no metric of fidelity was run")
    what = _SCALE_NAMES[deciding.scale]
    if deciding.unseen is None:
        return (
            outcome,
            _ANSWERS[outcome],
            compose(f"{what} {deciding.value:.1f} of 100; unseen rows needed"),
        )
    return (
        outcome,
        _ANSWERS[outcome],
        compose(f"{what} {deciding.value:.1f} of 100, unseen rows {deciding.unseen:.1f}"),
    )


def validity_tile(validity: ValidityFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on validity."""
    outcome = validity.outcome
    if not validity.n_checks:
        return outcome, _ANSWERS[outcome], compose("no check was run")
    if not validity.shortfalls:
        answer = f"All {validity.n_checks} checks hold"
        return outcome, answer, compose("columns, ranges, categories")
    return outcome, _ANSWERS[outcome], shortfall_sentence(validity.shortfalls[0])


_SHORTFALLS = {
    "RangeCoverage": "{column} spans {value} of its range",
    "CategoryCoverage": "{column} has {value} of its categories",
    "BoundaryAdherence": "{column}: {value} within its range",
    "CategoryAdherence": "{column}: {value} in known categories",
    "MissingValueSimilarity": "{column}: missing cells {value} alike",
    "KeyUniqueness": "{column}: {value} of keys unique",
}


def shortfall_sentence(short: Shortfall) -> Text:
    """Return what a check found in its worst column, without a period."""
    if short.metric == "TableStructure" and short.columns:
        return compose("{columns} missing", columns=names(short.columns, 1))
    template = _SHORTFALLS.get(short.metric)
    if template is None or not short.column:
        return compose(f"{score(short.value)}, expected {score(short.expected)}")
    return compose(template, column=name(short.column), value=whole_percent(short.column_value))


def utility_tile(utility: UtilityFindings) -> tuple[Outcome, str, Text]:
    """Return the outcome, the answer and the evidence of the tile on utility."""
    outcome = utility.outcome
    if outcome is Outcome.NOT_EVALUATED:
        return outcome, _ANSWERS[outcome], compose("no target column was named")
    scoring = scoring_in_words(utility.scoring)
    value, real = _score(utility.value), _score(utility.trained_on_real)
    if math.isnan(utility.trained_on_real):
        return outcome, _ANSWERS[outcome], compose(f"{scoring} {value}")
    return outcome, _ANSWERS[outcome], compose(f"{scoring} {value}, trained on real {real}")


def _score(value: float) -> str:
    return f"{value:.3f}"


# rows of privacy -----------------------------------------------------------------------------

_LABELS = {
    Question.PICK_OUT: "Pick out one {one}",
    Question.MEMBERSHIP: "Tell who was in the training data",
    Question.GUESS: "Guess a hidden value",
    Question.LINK: "Link two halves of a {one}",
    Question.COMPLETE: "Complete a whole {one}",
    Question.REFUTE: "Refute differential privacy",
    Question.COPIES: "Copies of training rows or values",
    Question.CLOSER: "Rows closer to training than unseen",
}
_NOT_RUN = {
    NotRun.NO_HOLDOUT: "not run: no holdout",
    NotRun.FAILED: "not run: the metric failed",
    NotRun.NOT_IN_SUITE: "not run: not in this suite",
}


def question_label(question: Question, noun: Noun) -> Text:
    """Return what an attacker tries to do."""
    return compose(_LABELS[question], one=noun.one)


def answer_words(answer: Answer) -> str:
    """Return the outcome of a row, with the excess in points if there is a leak."""
    trial = answer.trial
    if answer.outcome is Outcome.LEAK and trial and trial.is_rate_of_records:
        return f"leak: {points(trial.excess)} points"
    return answer.outcome.word


def answer_note(answer: Answer, noun: Noun) -> Text:
    """Return the small print of a row: which attack, and how many of how many."""
    if answer.trial is None:
        return compose(_NOT_RUN[answer.not_run]) if answer.not_run else ()
    trial = answer.trial
    counted = _counts(trial)
    if answer.question is Question.COPIES:
        return _copies_note(answer, trial)
    lead = _lead(answer, trial, noun)
    if not counted:
        return lead
    return (*lead, Span(": " if lead else ""), *counted)


def _lead(answer: Answer, trial: Trial, noun: Noun) -> Text:
    if trial.is_of_most_confident and trial.column:
        return compose("{column}, the most confident guesses", column=name(trial.column))
    if answer.question is Question.PICK_OUT:
        modes = {"univariate": "by one value", "multivariate": "by several values"}
        return compose(modes.get(trial.mode, ""))
    if answer.question is Question.MEMBERSHIP:
        return compose("names the right one of two {many}", many=noun.many)
    if answer.question is Question.GUESS and trial.column:
        if answer.n_trials > 1:
            return compose("{column}, worst of {n}", column=name(trial.column), n=answer.n_trials)
        return (name(trial.column),)
    if answer.question is Question.CLOSER:
        return compose("of all synthetic rows; chance: half") if trial.expected == 0.5 else ()
    return ()


def _counts(trial: Trial) -> Text:
    own, other = trial.counts, trial.expected_counts
    if own is None:
        return ()
    if trial.question is Question.REFUTE:
        return compose(f"{count(own.n_success)} of {count(own.n)} pairs; chance: half")
    text = f"{_n(own.n_success)} of {count(own.n)}"
    if other is not None:
        same = own.n == other.n
        text += f"; unseen {_n(other.n_success)}" + ("" if same else f" of {count(other.n)}")
    return compose(text)


def _n(n: float) -> str:
    return "fewer than 1" if 0.0 < n < 0.5 else count(n)


def _copies_note(answer: Answer, trial: Trial) -> Text:
    if trial.is_weighted and answer.outcome is Outcome.LEAK:
        columns = names(trial.columns, 1)
        return compose("values of {columns}, weighted by rarity", columns=columns)
    if answer.copies is not None and answer.outcome is Outcome.COPIES:
        most = count(answer.copies.train.most)
        return compose(f"{count(answer.copies.train.n)} of unique rows; by chance at most {most}")
    kind = "near copies" if trial.metric.startswith("Near") else "exact copies"
    return compose(f"{kind}, of all synthetic rows")


# fidelity ------------------------------------------------------------------------------------

_SCALE_LABELS = {
    Scale.NUMBERS: "Single columns: numbers",
    Scale.CATEGORIES: "Single columns: categories",
    Scale.PAIRS: "Pairs of columns",
    Scale.ASSOCIATIONS: "Associations of pairs",
    Scale.ALL_COLUMNS: "All columns at once",
}


def scale_label(scale: Scale) -> Text:
    """Return what one of the five values of fidelity compares."""
    return compose(_SCALE_LABELS[scale])


def fidelity_sentence(fidelity: FidelityFindings, loss: PairLoss | None) -> Text:
    """Return what of the table is right and what is not."""
    if fidelity.outcome is Outcome.CLOSER:
        return compose(
            "Columns are closer to the training data than unseen real rows are, which indicates "
            "memorizing."
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
            "Single columns are right ({n} of 100).", n=f"{max(one.value for one in single):.0f}"
        )
    return paragraph(lead, _survival(deciding, bool(lead)), _most_lost(loss) if is_relation else ())


def _survival(kept: Kept, is_second: bool) -> Text:
    numbers = {"a": f"{kept.value:.0f}", "b": f"{kept.unseen or 0.0:.0f}"}
    if kept.scale in (Scale.PAIRS, Scale.ASSOCIATIONS, Scale.ALL_COLUMNS):
        lead = "Relations are not" if is_second else "Relations between columns are lost"
        return compose(lead + ": **{a} of 100** survive, {b} in unseen real rows.", **numbers)
    what = "Numbers" if kept.scale is Scale.NUMBERS else "Categories"
    return compose(
        what + " agree with the training data at **{a} of 100**, unseen real rows at {b}.",
        **numbers,
    )


def _most_lost(loss: PairLoss | None) -> Text:
    if loss is None or not loss.real_association > loss.synthetic_association:
        return ()
    first, second = loss.names
    return compose(
        "Most is lost between {first} and {second}.", first=name(first), second=name(second)
    )


def loss_title(loss: PairLoss, is_loss: bool) -> Text:
    """Return the heading of the two tables of a pair."""
    lead = "The biggest loss: " if is_loss else "The least similar pair: "
    first, second = loss.names
    return compose(lead + "{first} and {second}", first=name(first), second=name(second))


def loss_note(loss: PairLoss) -> Text:
    """Return what the cells of the two tables contain."""
    template = "Rows with each {row} by {column}, in %."
    if not loss.is_of_row:
        template = "All rows by {column} and {row}, in %."
    what = compose(template, row=name(loss.rows.column), column=name(loss.columns.column))
    return paragraph(what, compose("Cells with fewer than 10 rows are empty."))


# what to do ----------------------------------------------------------------------------------


def step_close_columns(columns: Sequence[str]) -> Text:
    """Return how to change the columns in which a leak shows."""
    return compose("**Coarsen or drop {columns}**, then fit again.", columns=names(columns))


def step_remove_copies(copies: Copies) -> Text:
    """Return what to do about copies."""
    return compose(
        "**Remove the {n} copies** and fit with more noise or less training.",
        n=count(copies.train.n),
    )


def step_memorize_less() -> Text:
    """Return how to fit a generator that memorizes less."""
    return compose(
        "**Fit with less room to memorize:** fewer steps, larger leaves, more regularization or "
        "noise."
    )


def step_give_holdout() -> Text:
    """Return how to make tests possible."""
    return compose("**Set rows aside before training**, and pass them as holdout.")


def step_new_holdout() -> Text:
    """Return what to do about a holdout that is not comparable."""
    return compose("**Draw a new holdout** at random before training, then evaluate again.")


def step_share_no_rows() -> Text:
    """Return what to do about rows that both real tables contain."""
    return compose("**Remove the rows that training data and holdout share**, then evaluate again.")


def step_include_columns(columns: Sequence[str]) -> Text:
    """Return what to do about columns that no test examined."""
    return compose("**Drop or coarsen {columns}**, which no test examined.", columns=names(columns))


def step_model_jointly(loss: PairLoss) -> Text:
    """Return how to keep the relation of a pair of columns."""
    first, second = loss.names
    lead = "**Model {second} together with {first}.**"
    tail = "is lost" if loss.is_lost else "is weaker than in real rows"
    return compose(f"{lead} Their relation {tail}.", first=name(first), second=name(second))


def step_regularize() -> Text:
    """Return what to do about columns that are too close to the training data."""
    return compose("**Fit with more regularization.** Columns are too close to the training data.")


def step_fix_column(short: Shortfall) -> Text:
    """Return which column a check found to be wrong."""
    column = name(short.column or short.metric)
    return compose("**Check {column}:** {found}.", column=column, found=_found(short))


def _found(short: Shortfall) -> str:
    value = whole_percent(short.column_value)
    return {
        "RangeCoverage": f"it spans {value} of its range",
        "CategoryCoverage": f"it has {value} of its categories",
        "BoundaryAdherence": f"{value} of its values are within the training range",
        "CategoryAdherence": f"{value} of its values are known categories",
    }.get(short.metric, f"its score is {score(short.value)}, expected {score(short.expected)}")


def step_name_target() -> Text:
    """Return how to test utility."""
    return compose("**Name a target column** to test utility.")


def step_keep_target(utility: UtilityFindings) -> Text:
    """Return what to do if models learn less."""
    return compose(
        "**Keep the columns that predict {target}.** A model learns less from the synthetic table.",
        target=name(utility.target),
    )


def step_decide() -> Text:
    """Return what is left if nothing is to be fixed."""
    return compose("**Decide about the release.** These tests found nothing to fix.")


# not tested ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Untested:
    """What no test examined."""

    utility: bool = False
    known_columns: bool = False
    generator: bool = False
    several_records: bool = False
    texts: bool = False
    risks: tuple[str, ...] = ()


def untested_sentence(untested: Untested, noun: Noun) -> Text:
    """Return what was not tested; it ends with the sentence that every report needs."""
    attackers = [
        phrase
        for is_missing, phrase in (
            ("singling out" in untested.risks, f"who pick out single {noun.many}"),
            ("linkability" in untested.risks, f"who link parts of a {noun.one}"),
            ("inference" in untested.risks, "who guess hidden values"),
            (untested.known_columns, f"who know some columns of a {noun.one}"),
            (untested.generator, "who can run the generator"),
            (untested.several_records, f"who know several {noun.many} of one subject"),
            (untested.texts, "who search texts for passages and names"),
        )
        if is_missing
    ]
    listed = " or ".join(filter(None, (", ".join(attackers[:-1]), *attackers[-1:])))
    return paragraph(
        compose("Utility.") if untested.utility else (),
        compose("Attackers {listed}.", listed=listed) if attackers else (),
        compose("**No test can show that nothing leaks.**"),
    )


def check_columns(columns: Sequence[str], page: int | None) -> Text:
    """Return which columns no test examined."""
    return compose("No test examined {columns}.", columns=_some(columns, page))


def check_types(columns: Sequence[str], page: int | None) -> Text:
    """Return which columns may have another type than inferred."""
    return compose("The type of {columns} is in doubt.", columns=_some(columns, page))


def check_missing(columns: Sequence[str], page: int | None) -> Text:
    """Return in which columns cells that cannot be read count as missing."""
    return compose(
        "Cells of {columns} that cannot be read count as missing.", columns=_some(columns, page)
    )


def _some(columns: Sequence[str], page: int | None, most: int = 3) -> Text:
    shown = names(columns[:most], most)
    more = len(columns) - most
    if more <= 0:
        return shown
    where = f", page {page}" if page else ""
    listed = (span for one in columns[:most] for span in (name(one), Span(", ")))
    return (*listed, Span(f"and {more:,} more{where}"))
