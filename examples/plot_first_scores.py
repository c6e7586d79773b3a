"""
A first evaluation of a synthetic table
=======================================

A copula generates synthetic rows of a census. Each score has a baseline, which is the score of
holdout data, that is, real data that the generator never saw. The baseline is needed to interpret
a score, because random variation keeps even perfect synthetic data below 1.
"""

# %%
# Split the real data before the generator is fitted. The generator uses only the training data. The
# other half is the holdout data.
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from skeval import make_suite
from skeval.datasets import make_census
from skeval.generators import GaussianCopula

train, holdout = train_test_split(make_census(4_000, random_state=0), test_size=0.5, random_state=0)
synthetic = GaussianCopula().fit(train).sample(2_000, random_state=0)

# %%
# A suite evaluates many metrics. Shared steps, such as the search for nearest rows, run only once.
result = make_suite("report").fit(train, holdout).evaluate(synthetic)
result.frame()[["metric", "value", "low", "high", "baseline", "direction", "evidence"]]

# %%
# In the figure, the dot is the value, the band is its interval, and the line is the baseline.
fig, ax = plt.subplots(figsize=(8, 4))
result.plot(ax=ax)

# %%
# The similarity matrix shows which columns and pairs of columns differ. Each entry is one minus the
# total variation distance between the training and the synthetic data.
fig, ax = plt.subplots(figsize=(8, 7))
result["similarity"].display().plot(ax=ax)
