"""
Which generator for my table?
=============================

Four generators of real flights. Each generator learns from the training rows of each fold, and what
it samples is evaluated against the rows that are held out: a generator is judged, not one table of
it. The recommended one must meet a constraint, here that no leak is found.
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
# How sure are the ranks? Folds share training rows, so the test counts them for less than their
# number. The lines end where other ranks are no longer possible.
_ = outcome.plot()

# %%
# The results of each fold are there as well, for example what a fit costs.
outcome.runs["trees"].frame()[["mean", "low", "high", "baseline", "n_folds"]]
