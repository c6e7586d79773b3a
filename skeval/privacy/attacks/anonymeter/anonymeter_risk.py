"""The largest risk of singling out, linkability and inference."""

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
    """Largest residual risk of singling out, linkability and inference.

    European data protection names three risks: an individual is singled out, two records of an
    individual are linked, or an attribute of an individual is inferred. The metric attempts these
    attacks on the training data and on the holdout data, which the generator never saw, with
    :class:`SinglingOutRisk` in both modes, :class:`LinkabilityRisk` and :class:`InferenceRiskAll`.
    The residual risk of an attack is ``(p - c) / (1 - c)``, or 0 if this is negative, where p and c
    are its success rates on training and holdout rows. The value is the largest residual risk of
    all attacks. It ranges from 0 (no excess) to 1 (an attack always succeeds on training rows and
    not always on holdout rows). Lower is better.

    Parameters
    ----------
    n_attacks : int, default=500
        Number of predicates for singling out, which are conditions that exactly one synthetic row
        matches. The other attacks are made on this number of training rows and the same number of
        holdout rows.
    n_cols : int, default=3
        Number of columns of a multivariate predicate.
    n_neighbors : int, default=1
        Number of most similar synthetic rows that an attacker finds for each of two parts of a
        record. The parts are linked if they have one of these rows in common.
    n_splits : int, default=5
        Number of random splits of the columns into two halves that are linked.
    tolerance : float, default=0.05
        Maximum error of a correct guess of a number or date.
    tolerance_kind : {"relative", "range"}, default="relative"
        Whether the tolerance is relative to the true value or to the range of the column.

    Raises
    ------
    InvalidParameterError
        At fit, if there is only one column.

    Warnings
    --------
    These are only a few of many possible attackers, so a low value does not clear a release.

    See Also
    --------
    SinglingOutRisk, LinkabilityRisk, InferenceRiskAll : The individual attacks.

    Notes
    -----
    ``details["worst_attack"]`` is the attack with the largest risk, ``details["surest_attack"]``
    the most significant attack. ``details["attacks"]`` contains all attacks, and
    ``details["level"]`` is "low", "medium" or "high". The maximum of many noisy numbers is positive
    even if there is no leak. Therefore, the training rows are chosen at random among all real rows
    many times, and the baseline is the mean of the maximum over these choices. The intervals of the
    attacks are simultaneous (Bonferroni). The interval of the value ranges from the maximum of the
    lower bounds to the maximum of the upper bounds. Attacks that are not possible, or that succeed
    on every holdout row, are skipped.

    The p-values `p_adjusted` are corrected for the number of attacks, and the smallest is the
    p-value of the result. Linkability and all inferences attack the same rows. They are tested
    together with the method of Westfall and Young, as in :class:`InferenceRiskAll`. This test and
    the two tests of singling out have a Bonferroni correction for three tests. The correction
    therefore depends little on the number of columns.

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
        """Return all attacks by name, None for an attack that is not possible."""
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
        # the level "low" would contradict a significant test
        level = f" (level: {details['level']})" if "level" in details and not alarm else ""
        shown, fresh = number(result.value), number(result.baseline)
        found = f"residual risk, {shown}, compared with {fresh} expected by chance"
        if self.reference == "baseline":
            found = f"excess over guessing, {shown}, compared with {fresh} for holdout rows"
        sentence = (
            f"Of {details['n_attacks_made']} attacks, {worst} has the largest {found}{level}."
        )
        if alarm and surest != worst:
            risk = as_float(details["attacks"][surest]["residual_risk"])
            sentence += f" The most significant attack is {surest} with a risk of {number(risk)}."
        if result.contrast is None:
            return sentence
        return f"{sentence} The test compared {result.contrast}."


def _with_description(attack: Attack | None, **about: str) -> Attack | None:
    return None if attack is None else replace(attack, about=about)
