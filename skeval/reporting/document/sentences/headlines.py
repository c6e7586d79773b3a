"""The headline of the first page."""

from __future__ import annotations

from skeval.reporting.document.numbers import capitalize, count_word
from skeval.reporting.document.outcomes import Strength
from skeval.reporting.document.privacy import Obstacle, PrivacyFindings
from skeval.reporting.document.spans import Text, compose

_HEADLINES = {
    Strength.SMALL: "A small leak was found. Judge it before release.",
    Strength.MEDIUM: "A leak was found. Hold this release.",
    Strength.SEVERE: "A severe leak was found. Do not release this table.",
    None: "A leak was found. Hold this release.",
}
_OBSTACLE_HEADLINES = {
    Obstacle.NO_HOLDOUT: "Privacy could not be tested: no unseen rows were given.",
    Obstacle.NO_TRAIN: "Privacy could not be tested: no real rows were given.",
    Obstacle.WHOLE_POPULATION: "Privacy could not be tested: there are no unseen rows.",
    Obstacle.NO_METRIC: "Privacy was not evaluated.",
    Obstacle.SHIFTED: "Privacy could not be tested: training and unseen rows differ.",
    Obstacle.GROUPED: "Privacy could not be tested: rows come in groups.",
    Obstacle.HOLDOUT_USED: "Privacy could not be tested: the generator may have seen the holdout.",
    Obstacle.SHARED_ROWS: "Privacy could not be tested: the real tables share their rows.",
    Obstacle.EXTRA_COLUMNS: "Privacy could not be tested: the release has further columns.",
    Obstacle.UNTESTED_COLUMNS: "Privacy was not tested in all columns.",
    Obstacle.UNREADABLE_CELLS: "Privacy could not be tested: cells are missing or unreadable.",
    Obstacle.TOO_LITTLE: "Privacy could not be tested: there is too little to compare.",
}


def headline(privacy: PrivacyFindings, places: int, is_usable: bool) -> Text:
    """Return the finding, and how to proceed with the release."""
    if privacy.is_alarm and privacy.is_grouped:
        return compose("A leak was found, or rows come in groups. Hold this release.")
    if privacy.is_alarm and privacy.is_shifted:
        return compose("A leak was found, or unseen rows differ. Hold this release.")
    if privacy.has_copies and privacy.strength is not Strength.SEVERE:
        if privacy.obstacle is Obstacle.NO_HOLDOUT:
            return compose("Copies of training records were found. Other leaks were not tested.")
        return compose("Copies of training records were found. Do not release this table.")
    if privacy.is_alarm:
        return compose(_HEADLINES[privacy.strength])
    if privacy.obstacle:
        return compose(_OBSTACLE_HEADLINES[privacy.obstacle])
    if not is_usable:
        return compose("No leak was found by these tests. The table is not usable yet.")
    if places:
        return compose(
            "No leak was found by these tests. {n} {fall} short.",
            n=capitalize(count_word(places)),
            fall="result falls" if places == 1 else "results fall",
        )
    return compose("No leak was found by these tests.")
