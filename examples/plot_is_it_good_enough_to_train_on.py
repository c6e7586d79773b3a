"""
Is it good enough to train on?
==============================

A team will be given a synthetic census and wants to predict income from it. The decision page
answers: what a model reaches that learns from the synthetic rows, what it would have reached with
the real ones, and which columns to mend if that is not enough.
"""

# %%
# Two releases of one train table: of a copula, and of one that draws each column by itself, so that
# nothing can be learned from it.
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import train_test_split

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.fidelity import PhikMatrixDifference, SimilarityScore
from skeval.generators import GaussianCopula, IndependentMarginals
from skeval.reporting import DecisionPage, draw_decision_page
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
# The line on utility gives both scores, and whether the difference is more than chance; the table
# has the same of calibration, if probabilities are to be used and not only ranks.
of_copula = suite.evaluate(GaussianCopula().fit(train).sample(2_000, random_state=0))
_ = draw_decision_page(of_copula, "Census of a copula", figure=plt.figure())

# %%
# For comparison the release that keeps no relation. The same line says so, and what to do next
# names the columns whose associations are lost.
of_marginals = suite.evaluate(IndependentMarginals().fit(train).sample(2_000, random_state=0))
print(DecisionPage.of(of_marginals))

# %%
# Both lines next to each other.
pd.DataFrame(
    {
        name: {facet.name: facet.status for facet in DecisionPage.of(result).facets}
        for name, result in (("copula", of_copula), ("marginals", of_marginals))
    }
)
