"""
Which generator for my table?
=============================

Four generators, real flights, one call. Each generator learns from the training rows of each fold,
and what it samples is evaluated against the rows that are held out: a generator is judged, not one
table of it. What is recommended must meet a constraint, here that no leak is found.
"""

# %%
import matplotlib.pyplot as plt

from skeval import MetricSuite
from skeval.datasets import load_flights
from skeval.fidelity import SimilarityScore
from skeval.generators import Bootstrap, GaussianCopula, IndependentMarginals, SequentialCART
from skeval.model_selection import Entrant, tournament
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
    "trees": Entrant(SequentialCART(), seconds=60),
    "shuffled": IndependentMarginals(),
    "copies": Bootstrap(),
}
outcome = tournament(generators, flights, suite, cv=5, by="tstr", efficiency=True)
print(outcome.sentence)

# %%
# The page of it, which ``outcome.to_html("which.html")`` writes. Generators with leaks rank too:
# they are not recommended.
_ = outcome.page("Four generators of flights", figure=plt.figure())

# %%
# How sure are the ranks? Folds share training rows, so the test counts them for less than their
# number. `ties` names the generators that a generator cannot be distinguished from.
outcome.ranks()[["rank", "low", "high", "score", "score_low", "score_high", "ties"]]

# %%
# Each fold and draw is a row, and a fit that failed or took too long is one with its reason.
outcome.to_frame()[["generator", "fold", "status", "tstr", "similarity", "share", "fit_seconds"]]

# %%
# From a shell, with classes by their import paths, each with settings and limits of its own::
#
#     skeval tournament flights.csv --config tournament.toml --folder kept -o which.html
#
# A run that is killed goes on where it was: the folder holds results, and no row.
