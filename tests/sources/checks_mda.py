"""The rows of minimum distance accumulation, and of what the framework promises."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from skeval import Metric, MetricSuite, MetricTags, Result, check_metric, make_suite
from skeval.fidelity import KSComplement, MDAResemblance, TVComplement
from skeval.generators import Bootstrap, IndependentMarginals, RandomForestImputation
from skeval.model_selection import cross_validate_generator, make_generator_scorer
from skeval.privacy import DCRBaselineProtection, HoldoutDistanceRatio, MinimumDistanceAccumulation
from skeval.reporting import FigureRenderer, HTMLRenderer, PDFRenderer
from tests.sources.checks import (
    DENSE_HOLDOUT,
    DENSE_SYNTHETIC,
    DENSE_TRAIN,
    HOLDOUT,
    SYNTHETIC,
    TRAIN,
    nearest,
    row,
)


def areas(threshold: float, *, observed: bool = False) -> tuple[float, float]:
    """Return the areas left and right of a threshold under the shares of nearest distances."""
    u = np.linspace(0.0, 1.0, 100_001)
    left, right = u[u <= threshold], u[u >= threshold]
    found = []
    # the points of both tables, which are as many here
    points = np.concatenate([nearest(TRAIN, SYNTHETIC, TRAIN), nearest(SYNTHETIC, TRAIN, TRAIN)])
    points = np.sort(points / (points.max() if observed else 1.0))
    for part in (left, right):
        share = np.searchsorted(points, part, side="right") / len(points)
        found.append(np.trapezoid(share, part) / (part[-1] - part[0]))
    return found[0], found[1]


@row(184, 185, 186, 187, 188, 189, 190, 193)
def accumulation(number: int) -> Any:
    scale = "observed" if number == 187 else "max"
    thresholds = [0.1, 0.3, 0.5] if number in (186, 193) else [0.2]
    kind = MDAResemblance if number == 189 else MinimumDistanceAccumulation
    result = kind(thresholds, scale=scale).fit(TRAIN).evaluate(SYNTHETIC)
    if number == 193:
        return result.plot()
    if number == 184:
        points = nearest(SYNTHETIC, TRAIN, TRAIN)
        one_way = MinimumDistanceAccumulation(0.2, direction="synthetic").fit(TRAIN)
        return one_way.score(SYNTHETIC), np.maximum(0.0, 0.2 - points).mean() / 0.2, 1e-6
    if number == 185:
        curve = result.details["curve"]["synthetic"]
        return np.diff(curve["share"]) >= 0, np.ones(len(curve["share"]) - 1)
    if number == 190:
        far = DENSE_TRAIN * 50 + 1e6
        ours = [
            MinimumDistanceAccumulation(0.2).fit(DENSE_TRAIN).score(far),
            MDAResemblance(0.2).fit(DENSE_TRAIN).score(DENSE_TRAIN),
        ]
        return ours, [0.0, 1.0]
    own = [areas(t, observed=scale == "observed")[number == 189] for t in thresholds]
    name = "resemblance" if number == 189 else "privacy_area"
    return result.details[name], own, 1e-4


@row(191, 192)
def imputation(number: int) -> Any:
    """Check that no chance leaves the table as it is, and that areas fall as chances grow."""
    few = TRAIN[["age", "visits", "plan"]].head(60)
    made = {
        p: RandomForestImputation(p, random_state=0).fit(few).sample(60) for p in (0.0, 0.5, 1.0)
    }
    if number == 191:
        return made[0.5]
    of = [MinimumDistanceAccumulation(0.1).fit(few).score(one) for one in made.values()]
    return [of[0], *(np.diff(of) < 0)], [1.0, True, True]


@row(194)
def fit_and_score() -> Any:
    metric = KSComplement().fit(TRAIN, HOLDOUT)
    return metric.score(SYNTHETIC), metric.evaluate(SYNTHETIC).value


@row(195)
def suites() -> Any:
    inner = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    suite = MetricSuite([("shapes", inner), ("mda", MinimumDistanceAccumulation())])
    off = clone(suite).set_params(shapes__ks="passthrough").fit(TRAIN)
    assert not [name for name in off.evaluate(SYNTHETIC) if "ks" in name]
    return suite + make_suite("diagnostic")


@row(196)
def own_preprocessor() -> Any:
    """Check distances of rows that the transformer has scaled by train and holdout together."""
    tables = DENSE_TRAIN, DENSE_HOLDOUT, DENSE_SYNTHETIC
    space = ColumnTransformer([("scaled", StandardScaler(), list(DENSE_TRAIN))])
    value = HoldoutDistanceRatio(space=space).fit(*tables[:2]).score(tables[2])
    pooled = np.concatenate([tables[0], tables[1]])
    train, holdout, synthetic = ((t - pooled.mean(axis=0)) / pooled.std(axis=0) for t in tables)
    of = [
        np.median(
            np.sqrt(((a.to_numpy()[:, None] - train.to_numpy()[None]) ** 2).sum(axis=2)).min(axis=1)
        )
        for a in (synthetic, holdout)
    ]
    return value, of[0] / of[1], 1e-5


@row(197)
def renderers() -> Any:
    """Check that each writes its kind of files."""
    result = MetricSuite([("ks", KSComplement())]).fit(TRAIN).evaluate(SYNTHETIC)
    with tempfile.TemporaryDirectory() as folder:
        PDFRenderer().render(result, Path(folder) / "a.pdf")
        HTMLRenderer().render(result, Path(folder) / "a.html")
        FigureRenderer().render(result, Path(folder) / "figures")
        return {path.suffix for path in Path(folder).rglob("*.*")}


@row(198)
def search() -> Any:
    scorer = make_generator_scorer(KSComplement())
    searched = GridSearchCV(IndependentMarginals(), {"random_state": [0, 1]}, scoring=scorer, cv=2)
    return searched.fit(TRAIN).best_estimator_


@row(199)
def cross_validated() -> Any:
    suite = MetricSuite([("dcr", DCRBaselineProtection())])
    return cross_validate_generator(Bootstrap(), TRAIN, suite, cv=2)


class Widest(Metric):
    """Greatest synthetic value by the greatest of train.

    Parameters
    ----------
    column : str, default="age"
        The column.
    """

    tags = MetricTags(aspect="fidelity", greater_is_better=None, bounds=(0.0, float("inf")))

    def __init__(self, column: str = "age") -> None:
        self.column = column

    def _compute(self, context: Any) -> Result:
        most = {role: context[role][self.column].max() for role in ("train", "synthetic")}
        return Result(most["synthetic"] / most["train"])


@row(200)
def own_metric() -> Any:
    check_metric(Widest())
    return Widest().fit(TRAIN).score(SYNTHETIC), SYNTHETIC["age"].max() / TRAIN["age"].max()
