"""
A search for utility, subject to privacy
========================================

A generator has settings, and the best ones for utility alone copy train. Here a search goes by
both: each candidate learns from the training folds, is measured against the test fold that it has
not seen, and the winner is the most useful of those that keep the rows of train to themselves.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import GridSearchCV

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.generators import GeneratorAdapter, SequentialCART
from skeval.model_selection import best_subject_to, knee, make_generator_scorer
from skeval.privacy import DCROverfittingProtection
from skeval.reporting import ParetoDisplay
from skeval.utility import TSTR

# %%
# The generator draws each column from trees on the columns before it. The fewer rows a leaf of its
# trees may have, the closer it follows train, down to copies. Any other generator goes in its
# place: one of SDV, say, with ``GeneratorAdapter(CTGANSynthesizer)`` and ``generator__epochs``.
columns = ["age", "schooling", "occupation", "hours_per_week", "marital_status", "weight", "income"]
real = make_census(1_500, random_state=0)[columns]
suite = MetricSuite(
    [
        ("utility", TSTR("income", estimators="bayes", n_bootstrap=0)),
        ("privacy", DCROverfittingProtection()),
    ],
    check_holdout=False,
)
leaves = [1, 2, 5, 10, 20, 50, 200]
search = GridSearchCV(
    GeneratorAdapter(SequentialCART()),
    {"generator__min_samples_leaf": leaves},
    scoring=make_generator_scorer(suite),
    refit=best_subject_to("privacy", at_least=0.8, maximise="utility"),
    cv=3,
).fit(real)
print(search.best_params_)

# %%
# Every candidate by both scores. The steps are the front: who is left of it is beaten in both by
# someone on it.
found = pd.DataFrame(
    {name: search.cv_results_[f"mean_test_{name}"] for name in ("utility", "privacy")},
    index=[f"{leaf} a leaf" for leaf in leaves],
)
fig, ax = plt.subplots(figsize=(6, 4.5))
ParetoDisplay(found).plot(ax)
ax.axhline(0.8, color="0.6", lw=0.8, ls=(0, (4, 3)))
_ = ax.set_title("Candidates by utility and privacy; dashed is the bound", loc="left")

# %%
# Without a bound one may take the candidate that gives up least of either.
print("knee:", knee(found, ["utility", "privacy"]))
print(found.round(3))

# %%
# The winner was fitted again, on all rows. Its scores above are optimistic, since the search chose
# the luckiest: measure it on rows that no fold had before anything is released. A score of distance
# screens clears no release, whatever the bound.
synthetic = search.best_estimator_.sample(1_500, random_state=1)
fresh = make_census(1_500, random_state=1)[columns]
suite.fit(real, fresh).evaluate(synthetic).frame()[["metric", "value", "low", "high", "baseline"]]
