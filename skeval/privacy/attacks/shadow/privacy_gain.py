"""Privacy gain: reduction of the advantage of an attacker by a release instead of the raw rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import SHADOW_TAGS
from skeval.generators.anonymization import MondrianAnonymization
from skeval.privacy.attacks.shadow.game import GeneratorLike
from skeval.privacy.attacks.shadow.shadow_attack import ShadowAttack
from skeval.results.result import Result, undefined_result
from skeval.stats.row_scores import difference_interval
from skeval.utils.formatting import percent
from skeval.utils.parameters import Legal

Attack = Annotated[
    ShadowAttack,
    Legal(
        "a ShadowMembershipInference or a ShadowAttributeInference",
        lambda value: isinstance(value, ShadowAttack),
        "no attack",
    ),
]


@declared
class PrivacyGain(Metric):
    r"""Reduction of the advantage of an attacker by publishing synthetic data.

    An attacker with the raw rows knows all members and their sensitive values. Publishing a
    synthetic table instead reduces this advantage, and so does publishing an anonymized table. Both
    tables are attacked in the same game on the same records. The comparison shows which of them
    protects the most exposed records better. The value is 1 if the release removes the whole
    advantage and 0 if it removes nothing. Higher is better.

    Parameters
    ----------
    attack : ShadowMembershipInference or ShadowAttributeInference
        The attack, with the generator and all settings of the game. It is cloned and not fitted
        itself.
    comparator : object, class or pair of callables, optional
        Another method to create a release, in any form that
        :class:`~skeval.generators.GeneratorAdapter` accepts. None uses ``MondrianAnonymization()``,
        which is five-anonymity over all columns. Specify the quasi-identifiers to evaluate the
        release that you would publish.

    Raises
    ------
    InvalidParameterError
        At fit, if parameters of the attack contradict each other, or if one of the two games
        exceeds `max_fits` of the attack.

    Warnings
    --------
    The value describes one attacker and the chosen targets, so a gain of 1 does not clear a
    release.

    See Also
    --------
    ShadowMembershipInference, ShadowAttributeInference : The attacks on each target.
    skeval.generators.MondrianAnonymization : Creates the anonymized release.

    Notes
    -----
    With the advantage of the attack on target t with the raw rows and with the release,

    .. math:: \mathrm{PG}_t = \mathrm{Adv}_t(\mathrm{raw}) - \mathrm{Adv}_t(\mathrm{release})

    where :math:`\mathrm{Adv}_t(\mathrm{raw})` is 1 for membership and :math:`1 - 1/m` for an
    attribute of m values. The value is the smallest gain over the targets. The interval and the
    p-value come from the largest advantage, corrected for the choice among the targets. The
    baseline is the gain without a leak. Random variation may cause a larger gain.

    ``details["targets"]`` contains both gains of each target by rank, and ``details["comparator"]``
    the same numbers for the other release. ``details["difference"]`` is the value minus the value
    of the other release, with an interval that covers the uncertainty of both games. Only if this
    interval is above 0, the generator protects better than the anonymization. Both are fitted on
    drawn tables as in the attack, so each row of the anonymized table is in a class of `k` within
    such a table.

    The gain refers to one attack. Another attacker may be more successful, so a gain of 1 does not
    clear a release. :meth:`estimate_cost` returns the number of fits for both games together. A
    comparator has no uncertain parameters. Therefore, it is attacked with ``access="black-box"`` if
    the generator is attacked with "uncertain-box".

    References
    ----------
    T. Stadler, B. Oprisanu, C. Troncoso, "Synthetic data: anonymisation groundhog day", USENIX
    Security 2022, arXiv:2011.07018.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap
    >>> from skeval.privacy import PrivacyGain, ShadowMembershipInference
    >>> train, holdout = make_mixed(60, random_state=0), make_mixed(60, random_state=1)
    >>> attack = ShadowMembershipInference(Bootstrap(), n_targets=1, n_shadow=20, features="query")
    >>> gain = PrivacyGain(attack).fit(train, holdout)
    >>> result = gain.evaluate(make_mixed(120, random_state=2))
    >>> result.value, result.details["comparator"]["value"] > 0.5
    (0.0, True)
    """

    tags = replace(SHADOW_TAGS, greater_is_better=True, bounds=(-1.0, 2.0))

    attack: Attack
    comparator: GeneratorLike | None = None

    def estimate_cost(self) -> int:
        """Return how often generator and comparator are fitted to score one synthetic table."""
        return 2 * self.attack.estimate_cost()

    def named_columns(self) -> dict[str, list[str]]:
        """Return the columns that parameters of the attack name."""
        return {**super().named_columns(), **self.attack.named_columns()}

    def _prepare(self, context: Context) -> None:
        for attack in self._attacks():
            attack.fit_context(context)

    def _compute(self, context: Context) -> Result:
        of_release, of_other = (attack.evaluate_context(context) for attack in self._attacks())
        if np.isnan(of_release.value):
            return undefined_result(str(of_release.warnings[0]))
        raw, targets = of_release.details["raw_advantage"], of_release.details["targets"]
        own, other = (
            [target["privacy_gain"] for target in one.details["targets"]]
            for one in (of_release, of_other)
        )
        gains = [
            {"target": target["target"], "privacy_gain": one, "comparator_gain": two}
            for target, one, two in zip(targets, own, other, strict=True)
        ]
        value, interval = least_gain(of_release)
        compared, around = least_gain(of_other)
        return Result(
            value,
            interval=interval,
            p_value=of_release.p_value,
            baseline=raw - (of_release.baseline or 0.0),
            details={
                "targets": gains,
                "n_targets": len(gains),
                "n_better": sum(one > two for one, two in zip(own, other, strict=True)),
                "raw_advantage": raw,
                "mean_gain": float(np.mean(own)),
                "comparator": {
                    "name": self._name,
                    "value": compared,
                    "interval": list(around),
                    "p_value": of_other.p_value,
                    "mean_gain": float(np.mean(other)),
                },
                "difference": {
                    "value": value - compared,
                    "interval": list(difference_interval(value, interval, compared, around)),
                },
                "n_fits": of_release.details["n_fits"] + of_other.details["n_fits"],
            },
            warnings=of_release.warnings,
            contrast=of_release.contrast,
            advice=of_release.advice,
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        other, (low, high) = details["comparator"], details["difference"]["interval"]
        raw = details["raw_advantage"]
        left = [percent(max(0.0, raw - value)) for value in (result.value, other["value"])]
        compared = "better" if low > 0.0 else "worse" if high < 0.0 else "neither better nor worse"
        beyond = " beyond chance" if low <= 0.0 <= high else ""
        return (
            f"Over the most exposed of {details['n_targets']} rows, releases of this generator "
            f"leave an attacker an advantage of {left[0]}, where raw rows give {percent(raw)} and "
            f"{other['name']} leaves {left[1]}: it protects {compared}{beyond}."
        )

    @property
    def _name(self) -> str:
        """Name of the comparator."""
        of = self.comparator if isinstance(self.comparator, type) else type(self._comparator)
        return "the comparator" if of in (tuple, list) else of.__name__

    @property
    def _comparator(self) -> Any:
        return MondrianAnonymization() if self.comparator is None else self.comparator

    def _attacks(self) -> tuple[ShadowAttack, ShadowAttack]:
        """Return the attack on the generator, and the same attack on the comparator."""
        same: dict[str, Any] = {"generator": self._comparator}
        if self.attack.get_params(deep=False)["access"] == "uncertain-box":
            same |= {"access": "black-box", "shadow_parameters": None}
        return clone(self.attack), clone(self.attack).set_params(**same)


def least_gain(result: Result) -> tuple[float, tuple[float, float]]:
    """Return the smallest privacy gain over the targets of an attack, and its interval."""
    raw = result.details["raw_advantage"]
    low, high = result.interval or (result.value, result.value)
    return raw - result.value, (raw - high, raw - low)
