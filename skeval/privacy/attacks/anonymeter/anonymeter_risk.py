"""Singling out, linkability and inference together: the largest risk of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks.anonymeter.inference import InferenceRiskAll
from skeval.privacy.attacks.anonymeter.linkability import LinkabilityRisk
from skeval.privacy.attacks.anonymeter.risks import Attack, LargestRiskMetric
from skeval.privacy.attacks.anonymeter.singling_out import MODES, SinglingOutRisk
from skeval.results.result import Result
from skeval.results.verdict import raises_alarm
from skeval.utils.formatting import as_float, number
from skeval.utils.parameters import Count, NonNegative


@declared
class AnonymeterRisk(LargestRiskMetric):
    """Largest risk of singling out, linkability and inference: 0 if none succeeds, 1 if one always.

    European data protection names three harms: a person is singled out, two records of a person
    are linked, a secret of a person is inferred. Each is attempted on train and on the holdout,
    which the generator never saw, as by :class:`SinglingOutRisk` in both modes,
    :class:`LinkabilityRisk` and :class:`InferenceRiskAll`. The value is the largest of the residual
    risks.

    Parameters
    ----------
    n_attacks : int, default=500
        Number of predicates, and of rows of train and of the holdout that are attacked.
    n_cols : int, default=3
        Number of columns of a predicate that singles out by several.
    n_neighbors : int, default=1
        Number of synthetic rows nearest to each part of a record that is linked.
    n_splits : int, default=5
        Number of random halves of the columns that records are linked by.
    tolerance : float, default=0.05
        How near the guess of a number or date must be.
    tolerance_kind : {"relative", "range"}, default="relative"
        Whether the tolerance is a share of the secret itself or of the column's range.

    Raises
    ------
    InvalidParameterError
        At fit, if there is one column only.

    Warnings
    --------
    These are a few adversaries of many: a low value does not clear a release.

    See Also
    --------
    SinglingOutRisk, LinkabilityRisk, InferenceRiskAll : The attacks one by one.

    Notes
    -----
    ``details["worst_attack"]`` is the attack of the value, ``details["surest_attack"]`` the most
    significant one. ``details["attacks"]`` has all of them, and ``details["level"]`` is "low",
    "medium" or "high". The largest of many noisy numbers is above 0 even where nothing leaks: the
    baseline is the mean of the largest over random choices of which real rows are train. The
    intervals of all attacks hold at once (Bonferroni). The interval of the value reaches from the
    largest of the lower bounds to the largest of the upper ones. Attacks that cannot be made, or
    that succeed on every holdout row, are left out.

    The p-values of all attacks hold at once, too (`p_adjusted`); the least is that of the result.
    Linkability and all inferences attack the same rows, and are tested together after Westfall and
    Young, as in :class:`InferenceRiskAll`. This test and the two of singling out are corrected for
    being three (Bonferroni). So the number of columns hardly matters.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055; Article 29 Data Protection Working Party, "Opinion 05/2014
    on anonymisation techniques" (2014).

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import AnonymeterRisk
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> AnonymeterRisk().fit(train, holdout).evaluate(train).details["level"]
    'high'
    """

    tags = replace(
        LargestRiskMetric.tags,
        risks=frozenset({"singling out", "linkability", "inference"}),
        headline=5,
        weight=1.0,
    )

    _: KW_ONLY
    n_attacks: Count = 500
    n_cols: Count = 3
    n_neighbors: Count = 1
    n_splits: Count = 5
    tolerance: NonNegative = 0.05
    tolerance_kind: Literal["relative", "range"] = "relative"

    def _attacks(self, context: Context) -> dict[str, Attack | None]:
        """Return all attacks by name, each with its risk; None for one that cannot be made."""
        common = self._common()
        attacks: dict[str, Attack | None] = {}
        for mode in MODES:
            attack = SinglingOutRisk(mode, n_cols=self.n_cols, **common)._attack(context)
            attacks[f"{mode} singling out"] = _with_description(attack, risk="singling out")
        linkability = LinkabilityRisk(
            n_neighbors=self.n_neighbors, n_splits=self.n_splits, **common
        )
        attacks["linkability"] = _with_description(linkability._attack(context), risk="linkability")
        for name, attack in self._inference()._attacks(context).items():
            attacks[f"inference of {name}"] = _with_description(
                attack, risk="inference", secret=name
            )
        return attacks

    def _voids(self, context: Context) -> Sequence[MetricWarning]:
        return self._inference()._voids(context)

    def _common(self) -> dict[str, Any]:
        return {
            "n_attacks": self.n_attacks,
            "columns": self.columns,
            "random_state": self.random_state,
        }

    def _inference(self) -> InferenceRiskAll:
        return InferenceRiskAll(
            tolerance=self.tolerance, tolerance_kind=self.tolerance_kind, **self._common()
        )

    def _summary(self, result: Result) -> str:
        details, alarm = result.details, raises_alarm(result)
        worst, surest = details["worst_attack"], details["surest_attack"]
        # next to an alarm the name of a level, "low", would take the alarm back
        level = f": {details['level']}" if "level" in details and not alarm else ""
        shown, fresh = number(result.value), number(result.baseline)
        found = f"residual risk, {shown}, where chance alone gives {fresh} on average"
        if self.reference == "baseline":
            found = f"risk beyond guessing, {shown}, where holdout rows have {fresh}"
        sentence = (
            f"Of {details['n_attacks_made']} attacks, {worst} has the largest {found}{level}."
        )
        if alarm and surest != worst:
            risk = as_float(details["attacks"][surest]["residual_risk"])
            sentence += f" The most significant is {surest}, {number(risk)}."
        if result.contrast is None:
            return sentence
        return f"{sentence} The test compared {result.contrast}."


def _with_description(attack: Attack | None, **about: str) -> Attack | None:
    return None if attack is None else replace(attack, about=about)
