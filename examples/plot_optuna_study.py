"""
A study of two objectives with Optuna
=====================================

This example searches for a family of generators and its settings. A grid over all combinations
would be large. Optuna instead tries one candidate at a time and uses the previous results to choose
the next. A study with two objectives, here utility and a privacy risk, returns the candidates that
no other candidate exceeds in both.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import optuna
import pandas as pd

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.exceptions import MetricWarning
from skeval.generators import (
    GaussianCopula,
    GeneratorAdapter,
    RandomForestImputation,
    SequentialCART,
)
from skeval.model_selection import (
    best_subject_to,
    cross_validate_generator,
    hypervolume,
    pareto_front,
)
from skeval.privacy import DCROverfittingProtection, MembershipInference
from skeval.reporting import ParetoDisplay, theme
from skeval.utility import TSTR

optuna.logging.set_verbosity(optuna.logging.WARNING)

# %%
# The first metric is the performance on real rows of a model that is trained on synthetic rows. The
# second metric is the AUC of a membership attack on the training rows.
columns = ["age", "schooling", "occupation", "hours_per_week", "marital_status", "weight", "income"]
real = make_census(1_200, random_state=0)[columns]
suite = MetricSuite(
    [
        ("utility", TSTR("income", estimators="linear", n_bootstrap=0)),
        ("attack", MembershipInference("distance", n_permutations=19)),
    ],
    check_holdout=False,
)

# %%
# A trial suggests a generator. Settings of a single family are suggested in its branch.


def generator_of(trial):
    family = trial.suggest_categorical("family", ["trees", "forest", "copula"])
    if family == "trees":
        return SequentialCART(trial.suggest_int("min_samples_leaf", 1, 200, log=True))
    if family == "forest":
        return RandomForestImputation(trial.suggest_float("p", 0.0, 1.0), n_estimators=10)
    return GaussianCopula()


# %%
# The objective is a cross-validation. The generator is fitted to two folds, and the third fold is
# the holdout of both metrics. An undefined value is nan. Optuna would treat such a trial as failed
# and might suggest the same settings again. Therefore the objective returns the worst possible
# values, so that Optuna avoids these settings. The standard errors of the means are stored with the
# trial.
WORST = 0.0, 1.0


def objective(trial):
    found = cross_validate_generator(generator_of(trial), real, suite, cv=3).frame()
    trial.set_user_attr("errors", found["standard_error"].to_dict())
    trial.set_user_attr("baseline", found["baseline"]["utility"])
    values = found["mean"]
    return WORST if values.isna().any() else (values["utility"], values["attack"])


study = optuna.create_study(
    directions=["maximize", "minimize"], sampler=optuna.samplers.TPESampler(seed=0)
)
with warnings.catch_warnings():
    # some of the hundred attacks warn about a group of rows without a leak
    warnings.filterwarnings("ignore", "The average over all rows hides it", MetricWarning)
    study.optimize(objective, n_trials=40)

# %%
# ``study.best_trials`` are the trials on the Pareto front, and ``pareto_front`` finds the same
# trials. It requires scores for which higher is better. Therefore "fooled" is 1 minus the AUC of
# the attacker, that is, the fraction of pairs of a training row and another row in which the
# attacker chooses the wrong row. If intervals of the scores are specified, here one standard error
# on each side, a difference counts only if the intervals do not overlap. Many trials are then not
# significantly below the front.


def label(trial):
    return " ".join(f"{v:.2g}" if isinstance(v, float) else str(v) for v in trial.params.values())


trials = pd.DataFrame([t.values for t in study.trials], columns=["utility", "attack"])
trials["fooled"] = 1 - trials["attack"]
errors = pd.DataFrame([t.user_attrs["errors"] for t in study.trials])
errors["fooled"] = errors["attack"]
both = ["utility", "fooled"]
low, high = trials[both] - errors[both], trials[both] + errors[both]
on_front = pareto_front(trials, both)
print("the same:", [t.number for t in study.best_trials] == on_front.index[on_front].to_list())
print("on the front:", on_front.sum(), "of", len(trials))
print("or within an error of it:", pareto_front(trials, both, low=low, high=high).sum())

# %%
# The left panel shows the candidates, rounded to two digits because of the standard errors. The
# right panel shows the progress of the study: the area that the candidates dominate, relative to a
# model that guesses and an attacker who is always correct. The dotted line is the area for new real
# rows.
area = [hypervolume(trials[:n], both, reference=[0.5, 0]) for n in range(1, len(trials) + 1)]
fresh = pd.DataFrame({"utility": [study.trials[0].user_attrs["baseline"]], "fooled": [0.5]})
candidates = trials.set_axis([label(t) for t in study.trials])[both].round(2).drop_duplicates()
with theme():
    fig, (left, right) = plt.subplots(
        1, 2, figsize=(9, 4), width_ratios=(3, 2), layout="constrained"
    )
    ParetoDisplay(candidates, y="fooled").plot(left)
    for family, marker in {"forest": "s", "copula": "^"}.items():
        own = candidates[candidates.index.str.startswith(family)]
        left.plot(own["utility"], own["fooled"], marker, color="#0072b2", label=family, zorder=4)
    left.plot([], [], "o", color="0.4", label="trees")
    left.legend(loc="lower left")
    left.set_title("Candidates")
    right.step(range(1, len(trials) + 1), area, where="post")
    right.axhline(hypervolume(fresh, both, reference=[0.5, 0]), color="0.6", ls=":")
    right.set_xlabel("trials")
    right.set_ylabel("dominated area")
    right.set_title("Progress of the study")

# %%
# Most forests are below trees with the same utility, because the attacker identifies more rows. One
# candidate on the front must be selected. ``best_subject_to``, which is used as ``refit`` in
# searches of scikit-learn, also accepts any table of scores. It selects the candidate with the
# highest utility among the candidates with an AUC of at most 0.55. It uses all digits, although the
# third digit is mostly noise. In the figure, candidates with the same two digits are one point.
rule = best_subject_to("attack", at_most=0.55, maximise="utility", scoring=["utility", "attack"])
scores = {"mean_test_utility": trials["utility"], "mean_test_attack": -trials["attack"]}
chosen = study.trials[rule(scores)]
print(label(chosen), chosen.values)

# %%
# The scores of the best of forty candidates are optimistic. Therefore the selected generator is
# fitted to all rows and evaluated with new rows. The attack is now the best of four attacks. The
# adapter sets the seed of the generator. In the cross-validation, each fold had its own seed.
suite = MetricSuite(
    [
        ("utility", TSTR("income", estimators="linear")),
        ("screen", DCROverfittingProtection()),
        ("attack", MembershipInference()),
    ],
    check_holdout=False,
).fit(real, make_census(1_200, random_state=1)[columns])
synthetic = GeneratorAdapter(generator_of(chosen)).fit(real).sample(random_state=0)
checked = suite.evaluate(synthetic).frame()[
    ["metric", "value", "low", "high", "p_value", "baseline"]
]
checked.round(3)

# %%
# The utility is close to the baseline, which is the utility of the training data. The AUC of the
# attack is below the bound, but the number of rows is too small to be certain, because the interval
# extends well above the bound. Both the screen and the attack find a leak. The study shows the
# trade-off between utility and privacy, but it did not find a table that can be released.
