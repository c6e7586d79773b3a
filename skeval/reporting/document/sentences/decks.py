"""The sentences below the headline of the first page."""

from __future__ import annotations

from skeval.reporting.document.fidelity import FidelityFindings
from skeval.reporting.document.loss import PairLoss
from skeval.reporting.document.numbers import capitalize, count, count_word, of_100
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.privacy import Obstacle, PrivacyFindings
from skeval.reporting.document.questions import Question
from skeval.reporting.document.sentences.cases import case_template
from skeval.reporting.document.sentences.distances import changed_cells
from skeval.reporting.document.sentences.fidelity import fidelity_sentence
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Span, Text, compose, name, names, paragraph
from skeval.reporting.document.trials import Trial
from skeval.stats.copied_rows import Copies


def deck(
    privacy: PrivacyFindings, fidelity: FidelityFindings, loss: PairLoss | None, noun: Noun
) -> Text:
    """Return at most three sentences on the tests, the clearest case and the place of a leak."""
    lost = fidelity_sentence(fidelity, loss) if fidelity.outcome in (_BELOW, Outcome.CLOSER) else ()
    if privacy.is_alarm:
        return paragraph(
            _tests_that_found(privacy, noun),
            _clearest_case(privacy.clearest, noun),
            copies_sentence(privacy.copies[0]) if privacy.copies else _place(privacy),
        )
    if privacy.has_copies:
        sentence = copies_sentence(privacy.copies[0])
        return paragraph(sentence, _no_test(privacy, noun), _until_tested(privacy))
    if privacy.obstacle:
        room = _smallest_leaks(privacy, noun) if privacy.obstacle is Obstacle.TOO_LITTLE else ()
        rest = lost if privacy.obstacle is Obstacle.NO_METRIC else _no_copies(privacy, noun)
        return paragraph(_no_test(privacy, noun), room, rest, _until_tested(privacy))
    n = privacy.n_tests
    who = f"{capitalize(count_word(n))} statistical tests find"
    if n == 1:
        who = "The only statistical test finds"
    return paragraph(
        compose(
            f"{who} no difference between training and unseen {{many}}. A leak may still exist.",
            many=noun.many,
        ),
        _smallest_leaks(privacy, noun),
        lost,
    )


_BELOW = Outcome.BELOW


def _smallest_leaks(privacy: PrivacyFindings, noun: Noun) -> Text:
    """Return how large a leak must be for these tests to find it (power 80%)."""
    if privacy.smallest_leaks is None or not privacy.n_unseen:
        return ()
    low, high = (round(100.0 * min(1.0, one)) for one in privacy.smallest_leaks)
    about = f"{max(1, low)}" if high <= max(1, low) else f"{max(1, low)} to {high}"
    return compose(
        "With {n} unseen {many}, the smallest leak that {tests} would have found is about "
        "**{about} percentage points**{which}.",
        n=count(privacy.n_unseen),
        many=noun.many,
        about=about,
        tests="the test" if privacy.n_tests == 1 else "these tests",
        which="" if high <= max(1, low) else ", depending on the test",
    )


def _tests_that_found(privacy: PrivacyFindings, noun: Noun) -> Text:
    n, n_tests = privacy.n_significant, privacy.n_tests
    who = "{n} of {m} statistical tests find"
    if n_tests == 1:
        who = "The only statistical test finds"
    elif n == n_tests:
        who = "All {m} statistical tests find"
    elif n == 1:
        who = "One of {m} statistical tests finds"
    return compose(
        who + " that the synthetic table reveals more about training {many} than about unseen "
        "{many}.",
        n=capitalize(count_word(n)),
        m=count_word(n_tests),
        many=noun.many,
    )


_CASES = {
    Question.PICK_OUT: "The clearest case: **{a} of 100** attempts to pick out a single {one} "
    "succeed on the training data, but {only}**{b} of 100** on unseen {many}.",
    Question.MEMBERSHIP: "The clearest case: given two {many}, an attacker names the one in the "
    "training data **{a} of 100** times. {best}**{b} of 100** are expected by chance.",
    Question.GUESS: "The clearest case: an attacker guesses {column} correctly for **{a} of 100** "
    "{many} in the training data and for **{b} of 100** unseen {many}.",
    Question.LINK: "The clearest case: an attacker links the two halves of **{a} of 100** {many} "
    "in the training data and of **{b} of 100** unseen {many}.",
    Question.COMPLETE: "The clearest case: an attacker completes **{a} of 100** {many} in the "
    "training data and **{b} of 100** unseen {many}.",
    Question.REFUTE: "The clearest case: of a training and an unseen {one}, an attacker names the "
    "training {one} in **{a} of 100** pairs. **{b} of 100** are expected by chance.",
    Question.COPIES: "The clearest case: **{a} of 100** synthetic rows copy or nearly copy a "
    "training row, and **{b} of 100** copy or nearly copy an unseen row.",
    Question.CLOSER: "The clearest case: **{a} of 100** synthetic rows are closer to the training "
    "data than to unseen rows. **{b} of 100** are expected by chance.",
}
_CONFIDENT = (
    "The clearest case: of the most confident guesses of {column} that are correct, **{a} of 100** "
    "are about training {many}. **{b} of 100** are expected by chance."
)
_MANY = 100  # correct guesses, from which they are stated as how many of 100
_FEW_CONFIDENT = (
    "The clearest case: **{k} of {n}** correct guesses of {column}, of which an attacker is most "
    "confident, are about training {many}. **{m} of {n}** are expected by chance."
)
_BY_RARITY = (
    "The clearest case: weighted by rarity, **{a} of 100** {what} of {column} in the training data "
    "also occur in the synthetic table. Without a leak, **{b} of 100** are expected in the "
    "clearest of all columns."
)
_CELLS = (
    "The clearest case: weighted by rarity, **{a} of 100** synthetic rows have the value of "
    "{column} of the most similar training row. Without a leak, **{b} of 100** are "
    "expected in the clearest of all columns."
)


def _clearest_case(trial: Trial | None, noun: Noun) -> Text:
    if trial is None or not trial.has_tested_numbers:
        return ()
    template = case_template(trial) or _CASES[trial.question]
    if trial.is_weighted:
        template = _CELLS if trial.mode == "copied cell" else _BY_RARITY
    elif trial.is_of_most_confident and trial.column:
        template = _FEW_CONFIDENT if trial.n_confident < _MANY else _CONFIDENT
    hidden = name(trial.column) if trial.column else Span("a hidden value")
    other = of_100(trial.expected or 0.0)
    return compose(
        template,
        a=of_100(trial.observed),
        b=other,
        only="only " if other[0].isdigit() else "",
        best="" if other == "50" else "For the best of several attacks, ",
        column=names(trial.columns) if trial.is_weighted else hidden,
        what="values" if len(trial.columns) == 1 else "combinations",
        k=count(trial.observed * trial.n_confident),
        m=count((trial.expected or 0.0) * trial.n_confident),
        n=count(trial.n_confident),
        one=noun.one,
        many=noun.many,
    )


def _place(privacy: PrivacyFindings) -> Text:
    if not privacy.columns:
        return ()
    return compose("The leak shows most in **{columns}**.", columns=names(privacy.columns))


def copies_sentence(copies: Copies) -> Text:
    """Return how many units of the training data are copied and how many are expected."""
    n, most = copies.train.n, copies.train.most
    be, cells = "is" if n == 1 else "are", changed_cells(copies)
    chance = (
        f"At most {count(most)} {'is' if most == 1 else 'are'} expected by chance."
        if most
        else "None is expected by chance."
    )
    if copies.form == "near copies":
        lead = "**{n}** training {what} have a near copy in the synthetic table. "
    elif copies.form == "near copies in part":
        lead = "**{n}** training {what} have many of their values in one synthetic row. "
    elif copies.form == "near copies of one":
        lead = "**{n}** synthetic {what} are near copies of one training record. "
    elif copies.form == "values in a cell":
        rows = "row" if n == 1 else "rows"
        lead = f"Single synthetic cells contain {{what}} of **{{n}}** training {rows}. "
    elif copies.form == "values inside cells":
        lead = "Synthetic cells contain, at least in part, **{n}** {what} that occur once in the "
        lead += "training data. "
    elif copies.form == "copies of a value":
        lead = "The synthetic table contains **{n}** {what}, which a single training row has. "
    elif copies.what == "rows" or cells:
        what = "row" if n == 1 else "rows"
        lead = f"**{{n}}** {what} unique in the training data {be} in the synthetic table"
        lead += ", apart from {cells}. " if cells else ". "
    else:
        lead = "**{n}** {what} that occur once in the training data are in the synthetic table, "
        lead += "in the same or another form. "
    return compose(lead + chance, n=count(n), what=copies.what, cells=cells)


_NO_TEST = {
    Obstacle.NO_HOLDOUT: "{ran} training {many} with unseen {many}, and no unseen "
    "{many} were given.",
    Obstacle.NO_TRAIN: "No privacy test could run, because each test compares training {many} with "
    "unseen {many}, and only synthetic {many} were given.",
    Obstacle.WHOLE_POPULATION: "No privacy test can run, because the training data are the whole "
    "population, and no unseen {many} exist.",
    Obstacle.NO_METRIC: "No metric of privacy was in this suite. **Evaluate the suite report.**",
    Obstacle.SHIFTED: "The training data and the holdout differ more than two samples of one "
    "population usually do. Therefore the privacy tests allow no conclusion.",
    Obstacle.GROUPED: "Several rows have the same value in a column, for example the same "
    "patient number. Such rows are similar, so tests that treat rows as independent allow no "
    "conclusion.",
    Obstacle.HOLDOUT_USED: "The synthetic table agrees with the holdout more than two samples of "
    "one population usually do, so the generator may have seen the holdout.",
    Obstacle.SHARED_ROWS: "Most holdout rows also occur in the training data, so that they are not "
    "unseen. **Remove the shared rows from one of the tables.**",
    Obstacle.EXTRA_COLUMNS: "The synthetic table has columns that the training data do not have. "
    "No test examined them.",
    Obstacle.UNREADABLE_CELLS: "Synthetic cells are missing or cannot be compared with real cells. "
    "They may contain copies.",
    Obstacle.TOO_LITTLE: "The tables are too small for a test to find a leak.",
}


_UNTIL = "**Treat the synthetic table like the training data until its privacy is tested.**"
_UNTESTABLE = (Obstacle.NO_METRIC, Obstacle.NO_TRAIN, Obstacle.WHOLE_POPULATION)


def _no_test(privacy: PrivacyFindings, noun: Noun) -> Text:
    if privacy.obstacle is None:
        return ()
    if privacy.obstacle is Obstacle.UNTESTED_COLUMNS:
        return compose(
            "No test examined {columns}. Most of the values occur once, so they may be copies.",
            columns=names(privacy.unexamined),
        )
    ran = "No privacy test could run, because each test compares"
    if privacy.is_counted:
        ran = "Only copies were counted, because the other tests compare"
    return compose(_NO_TEST[privacy.obstacle], many=noun.many, ran=ran)


def _until_tested(privacy: PrivacyFindings) -> Text:
    return () if privacy.obstacle in (None, *_UNTESTABLE) else compose(_UNTIL)


def _no_copies(privacy: PrivacyFindings, noun: Noun) -> Text:
    if not privacy.is_counted or privacy.has_copies:
        return ()
    said = "no more training rows are copied than expected by chance."
    if not privacy.n_copies:
        said = "no synthetic row copies a training row."
    if privacy.obstacle is Obstacle.UNTESTED_COLUMNS:
        return compose("In the other columns, " + said)
    return compose(capitalize(said))
