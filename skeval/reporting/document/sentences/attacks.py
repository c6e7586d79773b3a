"""The sentences of the page on attacks, made from typed values."""

from __future__ import annotations

from collections.abc import Sequence

from skeval.reporting.document.membership import MembershipCurve
from skeval.reporting.document.numbers import capitalize, count, count_word, points, rate, score
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.questions import Question
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.sentences.privacy_rows import MODES, QUESTIONS
from skeval.reporting.document.spans import Text, compose, name, paragraph
from skeval.reporting.document.trials import Trial

_MIN_SOME, _MIN_MANY = 0.05, 0.5  # fractions of training records found at 1 false alarm in 100


def attacks_title(trials: Sequence[Trial]) -> Text:
    """Return how many attacks work better on the training data."""
    n, found = len(trials), sum(trial.is_significant for trial in trials)
    if n == 1:
        not_better = "works better" if found else "does not work better"
        return compose(f"The only attack {not_better} on the training data")
    if not found:
        return compose(f"None of {count_word(n)} attacks works better on the training data")
    verb = "works" if found == 1 else "work"
    who = capitalize(count_word(found))
    return compose(
        f"{who} {'attack' if found == 1 else 'attacks'} of {n} {verb} better on the training data"
    )


def attacks_deck(trials: Sequence[Trial], noun: Noun) -> Text:
    """Return how attacks were made, which of them work, and through which column."""
    sizes = {trial.counts.n for trial in trials if trial.counts}
    made = ""
    if sizes:
        low, high = min(sizes), max(sizes)
        times = count(high) if low == high else f"{count(low)} to {count(high)}"
        made = (
            f"Each attack is made {times} times on {noun.many} in the training data and on unseen "
            f"{noun.many}."
        )
    significant = [trial for trial in trials if trial.is_significant]
    if not significant:
        return compose(f"{made} After correction for all tests, no difference is significant.")
    return paragraph(compose(made), _which_work(significant, len(trials)), _through(significant))


def _which_work(significant: Sequence[Trial], n: int) -> Text:
    if len(significant) == 1:
        return compose(
            "Only one attack gains more than expected by chance, after correction for all tests: "
            "{what}.",
            what=(*compose("to "), *trial_label(significant[0], Noun(), is_sentence=True)),
        )
    return compose(
        f"{capitalize(count_word(len(significant)))} attacks gain more than expected by chance, "
        "after correction for all tests."
    )


def _through(significant: Sequence[Trial]) -> Text:
    strongest = max(significant, key=lambda trial: (trial.has_tested_numbers, trial.excess))
    if not strongest.places:
        return ()
    place = strongest.places[0]
    return compose(
        "The strongest one works through **{column}** ({own} of {n} attempts, {other} on unseen "
        "rows).",
        column=name(place.column),
        own=count(place.n_train),
        n=count(place.n),
        other=count(place.n_holdout),
    )


def trial_label(trial: Trial, noun: Noun, *, is_sentence: bool = False) -> Text:
    """Return the goal of an attack. Names are not cut."""
    template = QUESTIONS[trial.question]
    if trial.question is Question.GUESS and trial.column:
        template = "Guess {column}"
        if trial.is_of_most_confident:
            template += ", most confident guesses"
    elif trial.question is Question.PICK_OUT and trial.mode in MODES:
        template += f", {MODES[trial.mode]}"
    if is_sentence:
        template = template[:1].lower() + template[1:]
    return compose(template, column=name(trial.column), one=noun.one, many=noun.many)


def further_attacks(hidden: Sequence[Trial]) -> Text:
    """Return the differences of attacks that are not listed."""
    low, high = (points(end(trial.excess for trial in hidden), 1) for end in (min, max))
    lead = "One further attack has" if len(hidden) == 1 else f"{len(hidden)} further attacks have"
    between = f"{low} points" if low == high else f"{low} to {high} points"
    return compose(f"{lead} a difference of {between}. None is significant.")


# membership ----------------------------------------------------------------------------------


def membership_title(curve: MembershipCurve) -> str:
    """Return how many records an attacker finds at few false alarms."""
    at = curve.found_at(0.01)
    if at is None:
        return "Who was in the data"
    many = "few" if at.found < _MIN_SOME else "some" if at.found < _MIN_MANY else "many"
    return f"Who was in the data: {many} are found"


def membership_note(curve: MembershipCurve, noun: Noun) -> Text:
    """Return the rate at 1 false alarm of 100, and the area with its interval."""
    at = curve.found_at(0.01)
    found: Text = ()
    if at is not None:
        found = compose(
            f"At 1 false alarm in 100, the attack finds {100.0 * at.found:.1f} of 100 training "
            f"{noun.many}; {100.0 * at.by_chance:.1f} are expected by chance."
        )
    area = f"AUC {curve.auc:.3f}"
    if curve.interval is not None:
        area += f" ({curve.interval[0]:.3f} to {curve.interval[1]:.3f})"
    return paragraph(found, compose(f"{area}."))


def membership_alternative(curve: MembershipCurve, noun: Noun) -> str:
    """Return the curve in words."""
    listed = "; ".join(
        f"at {rate(one.false_alarms)} false alarms {rate(one.found)} of training {noun.many} are "
        f"found, {rate(one.by_chance)} expected by chance"
        for one in curve.at
    )
    return f"ROC curve of the attack on membership: {listed or f'AUC {curve.auc:.3f}'}."


# the three risks of the opinion of the Article 29 working party ----------------------------------

RISK_TITLES = {
    Question.PICK_OUT: "Singling out",
    Question.LINK: "Linking",
    Question.GUESS: "Inference",
}


def risk_sentence(question: Question, trials: Sequence[Trial], noun: Noun) -> Text:
    """Return one sentence on a risk, from its strongest attack."""
    if not trials:
        return compose("No attack was made.")
    strongest = max(
        trials, key=lambda one: (one.is_significant, one.has_tested_numbers, one.excess)
    )
    rates = {"a": rate(strongest.observed), "b": rate(strongest.expected), "many": noun.many}
    if strongest.is_of_most_confident and strongest.column:
        return compose(
            "{a} of the most confident correct guesses of {column} are about training {many}, and "
            "{b} are expected by chance.",
            column=name(strongest.column),
            **rates,
        )
    if question is Question.LINK:
        return compose("{a} of {many} are linked, {b} of unseen {many}.", **rates)
    if question is Question.PICK_OUT:
        how = f" {MODES[strongest.mode]}" if strongest.mode in MODES else ""
        return compose("{a} of attempts{how}, {b} on unseen {many}.", how=how, **rates)
    chance = "" if strongest.is_significant else ", within chance"
    hidden = name(strongest.column) if strongest.column else "a value"
    if len(trials) == 1:
        return compose(
            "{column} is guessed for {a} of {many}, {b} of unseen {many}.", column=hidden, **rates
        )
    return compose(
        "{n} columns are guessed. The largest difference is {column}, {gap} points{chance}.",
        n=str(len(trials)),
        column=hidden,
        gap=points(strongest.excess),
        chance=chance,
    )


def audit_sentences(
    n_correct: float, n_guesses: float, epsilon: float, ceiling: float, noun: Noun
) -> Text:
    """Return the result of an audit of differential privacy."""
    found = compose(
        f"An attacker separates {count(n_correct)} of {count(n_guesses)} pairs of a training and "
        f"an unseen {noun.one} correctly ({count(n_guesses / 2)} are expected by chance)."
    )
    if epsilon > 0:
        bound = f"Therefore epsilon is at least {score(epsilon)} (95% confidence)."
    else:
        bound = "No lower bound on epsilon can be shown."
    if ceiling > 0:
        bound += (
            f" If all pairs were separated correctly, epsilon would be at least {score(ceiling)}. "
            "No test of this number of pairs can show more."
        )
    return paragraph(found, compose(bound))


def risk_outcome(trials: Sequence[Trial]) -> Outcome:
    """Return the outcome of a risk."""
    if not trials:
        return Outcome.NOT_EVALUATED
    if any(trial.is_significant for trial in trials):
        return Outcome.LEAK
    is_tested = any(trial.is_tested for trial in trials)
    return Outcome.NONE_FOUND if is_tested else Outcome.NO_TEST
