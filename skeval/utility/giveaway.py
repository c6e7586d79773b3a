"""Whether one column alone gives a target away, as a chapter does of a cause of death."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import balanced_accuracy_score, r2_score

from skeval.core.context import Context, shared
from skeval.steps.problem import Question, problem_of, rows_of_role

SURE = 0.99  # of balanced accuracy or R2 on holdout rows, from which on a column gives all away


@shared
def giveaway(context: Context, question: Question) -> str:
    """Return the column that alone predicts the target all but surely; empty if none does."""
    # A tree of each column is grown on train and scored on the holdout; it is the best that
    # counts. The synthetic rows are not looked at.
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
