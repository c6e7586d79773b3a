"""
Stop a generator before it learns its rows by heart
===================================================

A generator gets better with each epoch, until it gets better by repeating its training rows. A
monitor looks at it as it learns: a small suite is measured every few epochs, training ends when a
test of privacy finds a leak, and the best epoch before is named.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import optuna
import pandas as pd

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.fidelity import SimilarityScore
from skeval.model_selection import TrainingMonitor, report_trial
from skeval.privacy import DCRShare, ExactMatchShare, MembershipInference

columns = ["age", "school_years", "hours_per_week"]
table = make_census(2_000, random_state=0)[columns]
train, holdout = table[:1_000], table[1_000:]

# %%
# The generator is a smoothed table: a training row with noise in its numbers, and with some of its
# cells taken from other rows. Each epoch makes the noise smaller, as diffusion models do on their
# way. At first relations are blurred, at the end rows are copied.


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
# The suite is small, since it is measured at each look. One metric says how good the rows are, the
# others look for leaks.

suite = MetricSuite(
    [
        ("similarity", SimilarityScore()),
        ("dcr_share", DCRShare()),
        ("exact_matches", ExactMatchShare()),
        ("membership", MembershipInference("distance")),
    ]
)

generator = Smoothed(train)
monitor = TrainingMonitor(suite, train, holdout, sample=generator.sample, n_looks=20)
for epoch in range(1, 21):
    generator.learn()
    if monitor.on_epoch_end(epoch):
        break
print(monitor.sentence)
print(monitor.history[["utility", "p_value", "alarm", "eligible", "best"]].round(3))

# %%
# The upper panel shows the score, the lower one the least p-value. An epoch may be chosen if no
# test is significant at 5% by itself. Training is stopped at a much lower level, 5% over all looks
# together: of a hundred trainings without a leak, at most five are stopped for nothing.

monitor.plot()
plt.show()

# %%
# In a study of Optuna, each trial has a monitor of its own. What a trial reports is the best epoch
# before any leak, so that no candidate wins by copying.

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial: optuna.Trial) -> float:
    generator = Smoothed(train, trial.suggest_float("rate", 0.5, 0.9))
    monitor = TrainingMonitor(suite, train, holdout, sample=generator.sample, n_looks=8)
    for epoch in range(1, 9):
        generator.learn()
        stopped = monitor.on_epoch_end(epoch)
        report_trial(trial, monitor)
        if stopped:
            break
    return monitor.best_score


study = optuna.create_study(
    direction="maximize",
    sampler=optuna.samplers.TPESampler(seed=0),
    pruner=optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=2),
)
study.optimize(objective, n_trials=5)
trials = study.trials_dataframe(["params", "value", "user_attrs", "state"])
print(trials.round(3).to_string())
