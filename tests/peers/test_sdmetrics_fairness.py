"""Equalized odds are those of SDMetrics: of given calls, and of the same models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from skeval.utility import EqualizedOddsImprovement
from skeval.utility.groups import gap, group_counts, group_rates

pytestmark = pytest.mark.peers

OF_CALLS = """
import numpy as np
from sdmetrics.single_table.equalized_odds import EqualizedOddsImprovement as Peer

found = []
for truth, called, groups in given:
    counts = Peer._compute_prediction_counts(*(np.array(part) for part in (called, truth, groups)))
    found.append(float(Peer._compute_equalized_odds_score(counts)))
"""
OF_TABLES = """
import pandas as pd
from sdmetrics.single_table.equalized_odds import EqualizedOddsImprovement
from sklearn.tree import DecisionTreeClassifier

def trained(cls, table, target):
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(
        table.drop(columns=target), table[target]
    )

# xgboost is no dependency of theirs, and its trees depend on the order of rows
EqualizedOddsImprovement._train_classifier = classmethod(trained)
kinds = {"x": "numerical", "z": "numerical", "group": "categorical", "y": "categorical"}
metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
metadata = {"tables": {"t": metadata}}
found = []
for tables in given:
    train, holdout, synthetic = (pd.DataFrame(table) for table in tables)
    result = EqualizedOddsImprovement.compute_breakdown(
        train, synthetic, holdout, metadata, "t", "y", "yes", "group", "a"
    )
    found.append([
        result["score"],
        result["real_training_data"]["equalized_odds"],
        result["synthetic_data"]["equalized_odds"],
    ])
"""


def test_of_given_calls(peer):
    rng = np.random.default_rng(0)
    tables = [tuple(rng.random(200) < share for share in (0.5, 0.4, 0.3)) for _ in range(10)]
    given = [
        [truth.astype(int).tolist(), called.astype(int).tolist(), groups.tolist()]
        for truth, called, groups in tables
    ]
    for (truth, called, groups), theirs in zip(
        tables, peer("sdmetrics", OF_CALLS, given), strict=True
    ):
        counts = group_counts(groups.astype(int), truth, called, np.ones((1, 200)), 2)
        assert 1 - gap(group_rates(counts), "equalized_odds")[0] == pytest.approx(theirs)


def drawn(n, seed, tilt=1.0):
    rng = np.random.default_rng(seed)
    group = rng.random(n) < 0.4
    x, z = rng.normal(size=n).round(3), rng.normal(group * 0.8).round(3)
    positive = x + z + tilt * group + rng.normal(size=n) > 0.7
    return pd.DataFrame(
        {"x": x, "z": z, "group": np.where(group, "a", "b"), "y": np.where(positive, "yes", "no")}
    )


def test_of_models_of_the_same_rows(peer):
    """The whole measure, with a tree of one setting as the model of both."""
    tables = [
        (drawn(400, 3 * i), drawn(600, 3 * i + 1), drawn(400, 3 * i + 2, tilt))
        for i, tilt in enumerate((1.0, -1.0, 3.0))
    ]
    theirs = peer("sdmetrics", OF_TABLES, [[t.to_dict("list") for t in three] for three in tables])
    for (train, holdout, synthetic), (score, real, made) in zip(tables, theirs, strict=True):
        model = DecisionTreeClassifier(max_depth=3, random_state=0)
        metric = EqualizedOddsImprovement(
            "y", "group", pos_label="yes", estimators=model, n_bootstrap=0
        )
        found = metric.fit(train, holdout).evaluate(synthetic)
        odds = found.details["equalized_odds"]
        assert odds == pytest.approx({"trtr": real, "tstr": made}, abs=1e-12)
        assert found.value == pytest.approx(score, abs=1e-12)
