"""
Is it good enough to train on?
==============================

A team will be given a synthetic census and wants to predict income from it. A report answers what
a model reaches that learns from the synthetic rows, and what it would have reached with real rows.
"""

# %%
# Two releases of one train table: of a copula, and of one that draws each column by itself, so that
# nothing can be learned from it.
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
# The tile of utility has both scores and says whether their difference is more than chance. The
# table below has the same for calibration, which matters if probabilities are used and not only
# ranks.
of_copula = suite.evaluate(GaussianCopula().fit(train).sample(2_000, random_state=0))
of_copula

# %%
# For comparison, the release that keeps no relation.
of_marginals = suite.evaluate(IndependentMarginals().fit(train).sample(2_000, random_state=0))
of_marginals

# %%
# Both next to each other.
pd.DataFrame(
    {
        name: result.frame().set_index("metric")["value"]
        for name, result in (("copula", of_copula), ("marginals", of_marginals))
    }
)
