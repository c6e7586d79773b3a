"""Detection of target leakage through a single column."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import balanced_accuracy_score, r2_score

from skeval.core.context import Context, shared
from skeval.steps.problem import Question, problem_of, rows_of_role

SURE = 0.99  # minimum balanced accuracy or R2 on holdout rows that counts as leakage


@shared
def giveaway(context: Context, question: Question) -> str:
    """Return the column that predicts the target almost perfectly alone, or an empty string."""
    # A tree for each column is fitted on the training data and scored on the holdout, and the best
    # one counts. The synthetic rows are not used.
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    problem = problem_of(context, question)
    train, holdout = (rows_of_role(context, role, question) for role in ("train", "holdout"))
    made = DecisionTreeClassifier if problem.has_labels else DecisionTreeRegressor
    score = balanced_accuracy_score if problem.has_labels else r2_score
    if np.unique(holdout.target).size < 2:
        return ""
    sure = {}
    for j, name in enumerate(problem.features):
        tree = made(min_samples_leaf=5, random_state=0).fit(train.features[:, [j]], train.target)
        sure[name] = float(score(holdout.target, tree.predict(holdout.features[:, [j]])))
    best = max(sure, key=lambda name: sure[name], default="")
    return best if best and sure[best] >= SURE else ""
