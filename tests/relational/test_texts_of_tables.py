"""Texts of several tables: suites look at those of each table, and list none where there is none."""

import numpy as np
import pytest

from skeval import MetricSuite
from skeval.datasets import make_relational
from skeval.exceptions import TextLeftOutWarning
from skeval.relational import RelationalData
from skeval.suites.presets import text_screens
from skeval.suites.relational_presets import metrics_of_each_table, relational_metrics

WORDS = np.array(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
    ]
)


def with_notes(seed, copied=None):
    data, rng = make_relational(60, seed), np.random.default_rng(seed)
    visits = data["visits"].copy()
    visits["note"] = [" ".join(rng.choice(WORDS, 8)) for _ in range(len(visits))]
    if copied is not None:
        visits.loc[:59, "note"] = copied["visits"]["note"].iloc[::2].to_numpy()[:60]
    return RelationalData({**data, "visits": visits}, data.schema)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_copied_notes_are_found_in_their_table():
    train, holdout = with_notes(0), with_notes(1)
    tables = ("people", "visits")
    suite = MetricSuite(
        metrics_of_each_table(tables, lambda: text_screens()[:1]), optional=("text",)
    )
    result = suite.fit(train, holdout).evaluate(with_notes(2, copied=train))
    assert list(result) == ["visits/text_exact_matches"]  # people have no texts
    assert "In visits, 60 of" in result.verdict().sentence
    assert result["visits/text_exact_matches"].p_value < 0.05
    assert not [one for one in result.notices if isinstance(one, TextLeftOutWarning)]


@pytest.mark.parametrize("preset", ["report", "fidelity", "privacy", "screens", "attacks"])
def test_presets_measure_texts_of_each_table(preset):
    names = [name for name, _ in relational_metrics(preset, make_relational(20).schema)]
    assert any(name.startswith("visits/") and "text" in name for name in names)
