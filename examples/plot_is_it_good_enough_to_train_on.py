"""
Is it good enough to train on?
==============================

A team receives a synthetic census and fits a model that predicts income. A report shows the
performance of a model that is trained on synthetic rows, and the performance of the same model
trained on real rows.
"""

# %%
# The example evaluates two synthetic tables. The first is from a copula. The second consists of
# independent columns, so a model cannot learn anything from it.
import pandas as pd
from sklearn.model_selection import train_test_split

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.fidelity import PhikMatrixDifference, SimilarityScore
from skeval.generators import GaussianCopula, IndependentMarginals
from skeval.utility import TSTR, CalibrationPreservation, FeatureImportanceAgreement

train, holdout = train_test_split(make_census(4_000, random_state=0), test_size=0.5, random_state=0)
suite = MetricSuite(
    [
        ("similarity", SimilarityScore()),
        ("phik_difference", PhikMatrixDifference()),
        ("tstr", TSTR("income")),
        ("calibration", CalibrationPreservation("income")),
        ("importances", FeatureImportanceAgreement("income")),
    ]
).fit(train, holdout)

# %%
# The tile of utility shows both scores and whether their difference is significant. The table below
# contains the same comparison for calibration, which is relevant if the predicted probabilities are
# used.
of_copula = suite.evaluate(GaussianCopula().fit(train).sample(2_000, random_state=0))
of_copula

# %%
# For comparison, the table without dependence between columns.
of_marginals = suite.evaluate(IndependentMarginals().fit(train).sample(2_000, random_state=0))
of_marginals

# %%
# The scores of both tables.
pd.DataFrame(
    {
        name: result.frame().set_index("metric")["value"]
        for name, result in (("copula", of_copula), ("marginals", of_marginals))
    }
)
