"""
Stop a generator before it memorizes its training rows
======================================================

A generator becomes better with each epoch. At some point, it improves only because it repeats its
training rows. A small suite that is evaluated after each epoch shows when this begins. Training
ends if a privacy test finds a leak, and the best epoch before the leak is selected.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import optuna
import pandas as pd
from sklearn.model_selection import train_test_split

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.fidelity import SimilarityScore
from skeval.model_selection import report_trial
from skeval.privacy import DCRShare, ExactMatchShare, MembershipInference

columns = ["age", "school_years", "hours_per_week"]
table = make_census(2_000, random_state=0)[columns]
train, holdout = train_test_split(table, test_size=0.5, random_state=0)

# %%
# The generator in this example adds noise to the numbers of training rows, and replaces some of
# their cells by cells of other rows. Each epoch reduces the noise, similar to a diffusion model.
# In the first epochs, the dependence between columns is lost. In the last epochs, rows are copied.


class Smoothed:
    def __init__(self, train: pd.DataFrame, rate: float = 0.8) -> None:
        self.train = train
        self.rate = rate
        self.noise = 1.0

    def learn(self) -> None:
        self.noise *= self.rate

    def sample(self, n: int, random_state: int) -> pd.DataFrame:
        rng = np.random.default_rng(random_state)
        rows = self.train.iloc[rng.integers(len(self.train), size=n)].reset_index(drop=True)
        for name in rows:
            others = self.train[name].iloc[rng.integers(len(self.train), size=n)]
            if pd.api.types.is_numeric_dtype(rows[name]):
                width = self.noise * self.train[name].std()
                blurred = rows[name] + rng.normal(scale=width, size=n)
                rows[name] = blurred.round().clip(self.train[name].min(), self.train[name].max())
            else:
                changed = rng.random(n) < self.noise
                rows[name] = rows[name].where(~changed, others.to_numpy())
        return rows


# %%
# The suite is small, because it is evaluated after each epoch. One metric measures how good the
# rows are, the others look for leaks. An epoch may be chosen if its verdict is neither a leak nor
# copies. Each evaluation is a chance for a false alarm. Therefore, training stops at a lower level:
# 5% divided by the number of epochs.

suite = MetricSuite(
    [
        ("similarity", SimilarityScore()),
        ("dcr_share", DCRShare()),
        ("exact_matches", ExactMatchShare()),
        ("membership", MembershipInference("distance")),
    ]
).fit(train, holdout)

n_epochs = 20
generator = Smoothed(train)
rows = []
for epoch in range(1, n_epochs + 1):
    generator.learn()
    result = suite.evaluate(generator.sample(len(train), random_state=epoch))
    verdict = result.verdict()
    rows.append(
        {
            "epoch": epoch,
            "similarity": result["similarity"].value,
            "p_value": min(verdict.adjusted.values()),
            "eligible": not (verdict.alarm or verdict.copies),
        }
    )
    if result.verdict(0.05 / n_epochs).alarm:
        break
history = pd.DataFrame(rows).set_index("epoch")
best = history.loc[history["eligible"], "similarity"].idxmax()
print(history.round(3))
print(f"Stopped at epoch {epoch}. The best epoch without a leak is {best}.")

# %%
# The upper panel shows the score, the lower one the smallest p-value of each epoch.

figure, (upper, lower) = plt.subplots(2, sharex=True, layout="constrained")
upper.plot(history["similarity"], marker="o")
upper.axvline(best, color="grey", linestyle=":")
upper.set_ylabel("similarity")
lower.semilogy(history["p_value"], marker="o")
for level in (0.05, 0.05 / n_epochs):
    lower.axhline(level, color="grey", linestyle="--")
lower.set(xlabel="epoch", ylabel="smallest p-value")
plt.show()

# %%
# In a study of Optuna, each trial is a training. ``report_trial`` reports the best score of the
# epochs without a leak, so that no candidate wins by copying.

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial: optuna.Trial) -> float:
    generator = Smoothed(train, trial.suggest_float("rate", 0.5, 0.9))
    for epoch in range(1, 9):
        generator.learn()
        result = suite.evaluate(generator.sample(len(train), random_state=epoch))
        best = report_trial(trial, epoch, result, "similarity")
        if result.verdict(0.05 / 8).alarm:
            break
    return best


study = optuna.create_study(
    direction="maximize",
    sampler=optuna.samplers.TPESampler(seed=0),
    pruner=optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=2),
)
study.optimize(objective, n_trials=5)
trials = study.trials_dataframe(["params", "value", "user_attrs", "state"])
print(trials.round(3).to_string())
