"""Membership inference on a release: can an attacker tell which rows the generator learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skeval._aggregate import undefined
from skeval._parameters import SPACE, Columns, Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.privacy.attacks._densities import DENSITIES
from skeval.privacy.attacks._membership_scores import (
    ATTACKS,
    MemberScores,
    member_scores,
    needs_of,
)
from skeval.privacy.attacks.membership_chosen import Chosen, by_auc, by_rate, told_of
from skeval.privacy.attacks.membership_outliers import outlier_risk
from skeval.privacy.attacks.membership_parameters import (
    AttackChoice,
    FalsePositiveRates,
    Table,
    read_reference,
)
from skeval.privacy.attacks.membership_rates import Halves, curve_points, precisions, rates
from skeval.result import Result
from skeval.stats.auc import auc
from skeval.stats.roc import tpr_at_fpr
from skeval.steps import nothing_to_measure
from skeval.steps.samples import column_key
from skeval.tags import MetricTags

__all__ = ["MembershipInference"]

_SLOW = frozenset({"domias", "eq1", "classifier"})
_TOO_SMALL = (
    "a false positive rate of {fpr:g} cannot be held to by {n_others} holdout rows: one of them is "
    "more. Give more rows, or a larger rate first in fpr."
)


class MembershipInference(Metric):
    """AUC of telling train from holdout rows by the release: 0.5 by chance, 1 without a mistake.

    An attacker holds the synthetic table and a real row, and wants to know whether the row was one
    of those that the generator learnt from: that alone may tell that a person was treated, or owed
    money. Each attack gives each row a score from what the release looks like around it. Train rows
    are the members, holdout rows the others; the value is the share of pairs of the two in which
    the member has the higher score. Which attack is best depends on how a generator leaks, so that
    all are tried.

    Parameters
    ----------
    attack : "best", str or list of str, default="best"
        "best": the attack that does best on a half of the rows, reported on the other half, which
        it has not seen. A list: all of them on all rows; the value is the largest AUC, corrected
        for the choice. Or one of "distance" (to the nearest synthetic row), "distance_calibrated"
        and "ratio" (that beside the distance to the nearest reference row), "monte_carlo" (number
        of synthetic rows within the median distance), "knn_density" (distance to the k-th nearest),
        "domias" (density of synthetic over that of reference rows), "classifier" (which has learnt
        synthetic from reference rows) and "eq1" (density of synthetic rows).
    reference : table, optional
        Rows of the population that the attacker has, disjoint of train and holdout. Otherwise a
        part of the holdout is taken, and "distance_calibrated", "ratio", "domias" and "classifier"
        are tried on the others. A fitted metric, and its pickle, hold this table.
    reference_fraction : float, default=0.5
        Which part.
    scoring : {"auc", "tpr_at_fpr"}, default="auc"
        The value: the AUC, or the largest share of members found at a false positive rate of at
        most the first of `fpr`.
    fpr : float or list of float, default=(0.1, 0.01, 0.001)
        False positive rates at which the share of members found is told.
    prior : float, default=0.5
        Share of members among the rows that the attacker looks at, for the precision of a call.
    density : {"kde", "knn", "gmm", "prior"}, default="kde"
        Of "domias" and "eq1", on at most 10 principal axes: Gaussian kernels with Scott's
        bandwidth; radii of the nearest rows; mixtures of at most five Gaussians; or kernels, and
        one Gaussian for the reference.
    n_neighbors : int, default=5
        The k of "knn_density" and of ``density="knn"``.
    n_permutations : int, default=200
        Random labellings behind the p-values of rates and of the largest advantage.
    max_rows : int or None, default=10_000
        Rows of each table that "domias", "eq1" and "classifier" score, a seeded sample. The other
        attacks score all. Densities are estimated from at most 5,000 rows.
    space : "gower", "euclidean" or transformer, default="gower"
        Of the distances: the mean over columns of capped differences, or Euclidean distance of a
        matrix. Densities and the classifier see standardised and one-hot columns, or the matrix of
        the transformer.
    columns : None, int or list of str, default=None
        The columns looked at (in space "gower").
    random_state : int, default=0
        Seed of samples, halves, labels and estimators.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    TableError, SchemaMismatchError
        At fit, if the reference cannot be used.

    Notes
    -----
    The interval is DeLong's on the logit scale, the p-value that of Mann and Whitney, one-sided.
    Given the release, the reference and whatever the attack was chosen on, the labels of the rows
    that are reported are exchangeable if nothing was learnt, so that the test holds for all
    attacks, however good or bad; ties have mid-ranks. With several attacks, the p-value is the
    smallest of Holm's, and the interval is simultaneous over the attacks (Bonferroni), so that it
    holds the largest AUC of the population. The baseline is 0.5.

    A value below 0.5 is no extra protection. One of 0.5 says that these attacks found nothing, not
    that there is nothing: an attacker who knows the generator does better. A release that holds a
    few rows of train has an AUC near 0.5 too: where the rates of `fpr` or the outlying rows say so,
    and the AUC does not, there is a warning. A release that is train
    moved by a constant is not found by any of them, see the gallery.

    In ``details``: `attacks`, the AUC of each; `protection`, ``1 - 2 max(0, AUC - 1/2)``.
    `tpr_at_fpr` has, for each of `fpr`, the largest share of members at no more false positives,
    not interpolated, nan where one of the others is already too many, with its interval given the
    threshold, its mean and p-value over random labels; `at_fixed_threshold` has both rates on the
    reported half at a threshold that the other half chose, since the realised false positive rate
    is not the one aimed at, and the precision of a call at `prior`. `advantage` is the true less
    the false positive rate at a threshold so chosen, with Newcombe's interval and the p-value of
    Fisher's test; `max_advantage` is the largest on the very rows, which is above 0 by chance.
    `precision_at` is the share of members among the highest scores of as many members as others.
    `outliers` has the AUC in each tenth of the rows by their distance to other real rows, and in
    the outermost 5%, 2% and 1%: what leaks of few rows is lost in the average. No p-value over
    exchanged labels can be below ``1 / 2 ** n`` if only n members of equally many rows are known.
    `curve` has at most 200 points of the ROC curve.

    Where the holdout was drawn later than train, or otherwise, the two differ without any leak:
    ``fit(check_holdout=True)`` looks for that. Rows that stand in both have the same score in both.

    References
    ----------
    D. Chen, N. Yu, Y. Zhang, M. Fritz, "GAN-Leaks", CCS 2020, doi:10.1145/3372297.3417238.
    B. Hilprecht, M. Haerterich, D. Bernau, "Monte Carlo and reconstruction membership inference
    attacks against generative models", PoPETs 2019(4) 232-249, doi:10.2478/popets-2019-0067.
    B. van Breugel, H. Sun, Z. Qian, M. van der Schaar, "Membership inference attacks against
    synthetic data through overfitting detection", AISTATS 2023, arXiv:2302.12580.
    J. Hayes, L. Melis, G. Danezis, E. De Cristofaro, "LOGAN", PoPETs 2019(1) 133-152,
    doi:10.2478/popets-2019-0008.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MembershipInference
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> metric = MembershipInference(attack="distance").fit(train, holdout)
    >>> metric.score(train), metric.evaluate(make_mixed(200, random_state=2)).p_value > 0.01
    (1.0, True)
    """

    tags = MetricTags(
        "privacy",
        needs=frozenset({"holdout"}),
        greater_is_better=False,
        bounds=(0.0, 1.0),
        evidence="attack",
        display="ROCDisplay",
    )
    _legal = {
        "attack": AttackChoice(),
        "reference": Nullable(Table()),
        "reference_fraction": Interval(float, 0.0, 1.0, "neither"),
        "scoring": Options(("auc", "tpr_at_fpr")),
        "fpr": FalsePositiveRates(),
        "prior": Interval(float, 0.0, 1.0, "neither"),
        "density": Options(DENSITIES),
        "n_neighbors": Interval(int, 1, None),
        "n_permutations": Interval(int, 19, None),
        "max_rows": Nullable(Interval(int, 20, None)),
        "space": SPACE,
        "columns": Columns(),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        attack: str | list[str] = "best",
        reference: Any = None,
        *,
        reference_fraction: float = 0.5,
        scoring: str = "auc",
        fpr: float | list[float] | tuple[float, ...] = (0.1, 0.01, 0.001),
        prior: float = 0.5,
        density: str = "kde",
        n_neighbors: int = 5,
        n_permutations: int = 200,
        max_rows: int | None = 10_000,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.attack = attack
        self.reference = reference
        self.reference_fraction = reference_fraction
        self.scoring = scoring
        self.fpr = fpr
        self.prior = prior
        self.density = density
        self.n_neighbors = n_neighbors
        self.n_permutations = n_permutations
        self.max_rows = max_rows
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        read_reference(context, self.reference)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        seed = self.random_state
        reference, notices = read_reference(context, self.reference)
        scored, left_out = self._scored(context, reference)
        if not scored:
            return undefined(" ".join(left_out.values()), left_out=left_out)
        chosen = self._chosen(context, scored)
        if chosen is None:
            return undefined("train and holdout need two rows each that can be scored.")
        details = {"left_out": left_out, **self._details(context, chosen)}
        if self.scoring == "auc":
            headline = by_auc(chosen)
        elif np.isnan(details["tpr_at_fpr"][0]["tpr"]):
            return undefined(_TOO_SMALL.format(fpr=self._alphas[0], **details), **details)
        else:
            headline = by_rate(chosen, details, self._alphas[0], self.n_permutations, seed)
        return Result(
            **headline, details=details, warnings=(*notices, *told_of(details, self.n_permutations))
        )

    @property
    def _alphas(self) -> tuple[float, ...]:
        return tuple(self.fpr) if isinstance(self.fpr, list | tuple) else (self.fpr,)

    def _scored(
        self, context: Context, reference: pd.DataFrame | None
    ) -> tuple[dict[str, MemberScores], dict[str, str]]:
        """Return the scores of each attack that can be run, and why others cannot."""
        names = ATTACKS if self.attack == "best" else np.atleast_1d(self.attack).tolist()
        lacking = {
            name: needs_of(context, name, self.reference_fraction, reference) for name in names
        }
        scored = {
            name: member_scores(
                context,
                name,
                self.max_rows if name in _SLOW else None,
                self.space,
                column_key(context.schema, self.columns),
                self.reference_fraction,
                self.random_state,
                self.density,
                self.n_neighbors,
                reference,
            )
            for name in dict.fromkeys(names)
            if not lacking[name]
        }
        return scored, {name: reason for name, reason in lacking.items() if reason}

    def _chosen(self, context: Context, scored: Mapping[str, MemberScores]) -> Chosen | None:
        """Return the attack to report, and on which rows; None where there are too few of them."""
        halves = {
            name: Halves.of(context, found, self.random_state) for name, found in scored.items()
        }
        if min(half.smallest for half in halves.values()) < 1:
            return None
        split = self.attack == "best"
        judged = {name: halves[name].chosen_on if split else scored[name] for name in scored}
        rows = {name: halves[name].reported if split else scored[name] for name in scored}
        best = max(judged, key=lambda name: self._goodness(judged[name]))
        return Chosen(best, rows, halves[best], split)

    def _goodness(self, scores: MemberScores) -> tuple[float, float]:
        area = auc(scores.members, scores.others)
        if self.scoring == "auc":
            return area, 0.0
        found = tpr_at_fpr(scores.members, scores.others, self._alphas[0])
        return (-1.0 if np.isnan(found) else found), area

    def _details(self, context: Context, chosen: Chosen) -> dict[str, Any]:
        scores, own = chosen.scores, chosen.told[chosen.name]
        columns = column_key(context.schema, self.columns)
        return {
            "attack": chosen.name,
            "attacks": chosen.told,
            "auc": own["auc"],
            "protection": 1.0 - 2.0 * max(0.0, own["auc"] - 0.5),
            "n_members": scores.members.size,
            "n_others": scores.others.size,
            **rates(
                scores,
                chosen.halves,
                self._alphas,
                prior=self.prior,
                n_permutations=self.n_permutations,
                seed=self.random_state,
            ),
            "precision_at": precisions(context, scores, self.random_state),
            "outliers": outlier_risk(context, scores, self.space, columns),
            "curve": curve_points(scores),
        }
