"""
How to choose a generator by cross-validation
=============================================

This example compares four generators of flights. Each generator is fitted to the training rows of
each fold, and its synthetic data are compared with the test rows of the fold. Therefore the scores
describe the generator and not one synthetic table. The recommended generator must meet a
constraint, in this example that no leak is found.
"""

# %%
from skeval import MetricSuite
from skeval.datasets import load_flights
from skeval.fidelity import SimilarityScore
from skeval.generators import Bootstrap, GaussianCopula, IndependentMarginals, SequentialCART
from skeval.model_selection import tournament
from skeval.privacy import DCRShare
from skeval.utility import TSTR

COLUMNS = ["month", "sched_dep_time", "dep_delay", "arr_delay", "carrier", "origin", "distance"]
flights = load_flights(1_500, random_state=0)[COLUMNS]

suite = MetricSuite(
    [("tstr", TSTR("arr_delay")), ("similarity", SimilarityScore()), ("share", DCRShare())],
    check_holdout=False,  # random folds cannot be distinguished
)
generators = {
    "copula": GaussianCopula(),
    "trees": SequentialCART(),
    "shuffled": IndependentMarginals(),
    "copies": Bootstrap(),
}
outcome = tournament(generators, flights, suite, by="tstr", cv=5)
print(outcome.sentence)

# %%
# Generators with leaks have a rank too, but they are not recommended.
outcome.frame()

# %%
# The folds have training rows in common and are not independent, which the test takes into account.
# The lines in the figure are confidence sets of the ranks.
_ = outcome.plot()

# %%
# The results of each fold are also available, for example the time of a fit.
outcome.runs["trees"].frame()[["mean", "low", "high", "baseline", "n_folds"]]
