"""
Is this synthetic table any good?
=================================

A small copula generator imitates a census. Each score comes with its baseline, what fresh real rows
would get, because a number alone means nothing: chance keeps even a perfect table below 1.
"""

# %%
# Real rows are split before the generator sees any of them: it learns from one half, the other half
# is held out.
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from skeval import make_suite
from skeval.datasets import make_census
from skeval.generators import GaussianCopula

train, holdout = train_test_split(make_census(4_000, random_state=0), test_size=0.5, random_state=0)
synthetic = GaussianCopula().fit(train).sample(2_000, random_state=0)

# %%
# One suite measures everything; steps that metrics share, such as the search for nearest rows, run
# once.
result = make_suite("report").fit(train, holdout).evaluate(synthetic)
result.frame()[["metric", "value", "low", "high", "baseline", "direction", "evidence"]]

# %%
# The dot is the value, the band its interval, the line the baseline.
fig, ax = plt.subplots(figsize=(8, 4))
result.plot(ax=ax)

# %%
# Which columns and pairs are off? The similarity matrix shows the share of rows that would not have
# to move for the synthetic table to have the shares of train.
fig, ax = plt.subplots(figsize=(8, 7))
result["similarity"].display().plot(ax=ax)
