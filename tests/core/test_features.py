"""What was fitted names its columns as scikit-learn's estimators do."""

from __future__ import annotations

import pickle

import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed, make_relational
from skeval.fidelity import KSComplement
from skeval.generators import Bootstrap, GeneratorAdapter
from skeval.relational import ReferentialIntegrity

TABLE = make_mixed(30)


@pytest.mark.parametrize(
    "estimator",
    [
        KSComplement(),
        MetricSuite([("ks", KSComplement())]),
        Bootstrap(),
        GeneratorAdapter(Bootstrap()),
    ],
)
def test_fitted_estimators_name_their_columns(estimator):
    assert not hasattr(estimator, "n_features_in_")
    estimator.fit(TABLE)
    assert estimator.n_features_in_ == TABLE.shape[1]
    assert list(estimator.feature_names_in_) == list(TABLE.columns)
    assert pickle.loads(pickle.dumps(estimator)).n_features_in_ == TABLE.shape[1]


def test_several_tables_have_no_one_list_of_columns():
    metric = ReferentialIntegrity().fit(make_relational(20))
    assert not hasattr(metric, "feature_names_in_")
