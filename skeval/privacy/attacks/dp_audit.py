"""Lower bound of epsilon from many runs of a generator on two tables that differ in one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Any, Literal

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import AUDIT_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy.attacks.audit_runs import Candidate, Level, Plan, run_audit
from skeval.privacy.attacks.shadow.game import GeneratorAttack, check_cost
from skeval.privacy.attacks.worlds import ATTACKS, BASES, TARGETS, learns_from_runs
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.epsilon_bounds import against_claim
from skeval.stats.roc import Rates
from skeval.steps.column_choice import nothing_to_measure
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import Count, Interval, Legal, NonNegative

_WHAT = "tables made with one row that show it"
_PILOT_SHARE = 1.0 / 3.0  # pilot runs for each fresh run, so that they are a quarter of all runs
_NAMED_ATTACKS = (*ATTACKS, "classifier")


@declared
class DPAudit(GeneratorAttack):
    r"""Lower bound on epsilon of differential privacy, estimated from many runs of a generator.

    A generator may claim to be differentially private. The claim means that any table it releases
    would have nearly the same probability without any one row. The audit tests the claim. It fits
    the generator many times on a table and many times on the same table without one row, and
    guesses from each synthetic table which of the two tables was used. Epsilon limits the rate of
    correct guesses, so a guesser with a higher rate refutes the claim. The value is 0 if nothing is
    refuted, and lower is better. The metric tests the generator and not a release.

    Because the most revealing table, row and guess are not known in advance, pilot runs try all
    requested combinations. The best combination is run again, and the bound comes from these fresh
    runs only, so it is valid for any number of combinations.

    Parameters
    ----------
    generator : object, class or pair of functions
        Generator to audit, in any form that :class:`~skeval.generators.GeneratorAdapter` accepts.
        It is fitted again in each run, with a new value for its parameters `random_state` and
        `seed`.
    base : str or list of str, default="train"
        Rows around the target. "train" uses the training rows, "sample" `n_base` of them, "one_row"
        the training row that is most unlike the target, and "duplicates" `n_base` copies of this
        row. "empty" uses no other rows. Because a generator cannot be fitted to an empty table,
        "empty" requires ``adjacency="replace"`` or ``target="repeat"``, and otherwise "one_row" is
        used. "worst_case" uses the target and the row most unlike it, and attacks a third row with
        cells of both in turn, so that no new value reveals it. Small tables reveal most if the
        generator can be fitted to them.
    target : str or list of str, default="achilles"
        Attacked row. The methods "achilles", "gower-knn", "isolation-forest", "rare-value",
        "random" and "canary" (a new category in each categorical column, and a number above the
        maximum) are described in :class:`~skeval.privacy.ShadowMembershipInference`. "repeat" uses
        the row of "achilles", which occurs once in one table and twice in the other.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Difference of the two tables. "add_remove" adds one row, and "replace" replaces one row by
        the training row that is most unlike it. The bound refers to the epsilon of the same name.
        The two kinds of epsilon must not be compared with each other.
    n_runs : int, default=200
        Number of fresh runs for each table. The bound of a guess without errors grows with the
        logarithm: 2.6 for 50, 4.0 for 200, 5.6 for 1000.
    n_pilot : int or None, default=None
        Number of pilot runs for each table, for each combination of base and target. None uses a
        third of `n_runs`.
    n_base : int, default=100
        Number of rows of the bases "sample" and "duplicates".
    attack : str, function, classifier or list of such, default="best"
        Score for the guesses. "presence" is the number of synthetic rows equal to the target,
        "cells" the number of rows that agree with it by column, with more weight for rare values,
        "distance" the closeness of the nearest row, and "queries" the number of column sets in
        which rows agree with it. "classifier" is a random forest, or any classifier with
        `predict_proba`, that learns from half of the pilot runs. A function receives the synthetic
        table and a table of the target, and returns a number. "best" uses the four scores that need
        no training.
    delta : float, default=0.0
        The delta of the (epsilon, delta) that is bounded, in [0, 1).
    confidence : float, default=0.95
        Minimum probability that the bound is correct, in [3/4, 1).
    method : {"cp", "gdp"}, default="cp"
        "cp" is valid for any mechanism. "gdp" gives a higher bound, but is valid only if the
        trade-off function of the mechanism belongs to two normal distributions, as for the Gaussian
        mechanism. It requires `delta` above 0.
    threshold : "split" or float, default="split"
        Score above which the row is guessed to be in the table. "split" chooses it on the pilot
        runs. A number needs no pilot runs and requires a single base, target and attack. Choose it
        before you see results.
    claimed_epsilon : float, optional
        Epsilon that the generator claims, for the same adjacency and delta. ``details["verdict"]``
        compares the bound with it.
    n_synthetic : int or None, default=None
        Number of rows sampled in each run. None uses the size of the release. More rows reveal
        more.
    max_fits : int, default=5_000
        Maximum number of fits. If more are needed, fit raises an error. See :meth:`estimate_cost`.

    Raises
    ------
    InvalidParameterError
        If the parameters contradict each other, or require more fits than `max_fits`.

    Warnings
    --------
    The value is a lower bound of epsilon. A low value does not show that the claim is true, and a
    stronger attack may find more.

    See Also
    --------
    OneRunDPAudit : Requires only one release, but gives a lower bound.
    ShadowMembershipInference : A similar attack, with a classifier that learns from tables.
    skeval.generators.DPHistogram : A generator that is differentially private.

    Notes
    -----
    Let FPR and FNR be the upper bounds of Clopper and Pearson of both error rates over n runs with
    and n runs without the row, each at half the level. The value is 0 or, if it is larger,

    .. math::

        \max\left(\ln\frac{1 - \mathrm{FNR} - \delta}{\mathrm{FPR}},
        \ln\frac{1 - \mathrm{FPR} - \delta}{\mathrm{FNR}}\right).

    The interval is from the value to infinity: **no upper bound exists**. A guesser without
    information gives the bound 0 for every generator. Therefore, 0 does not show that epsilon is
    small. The p-value tests epsilon = 0, and ``details["ceiling"]`` is the bound of a guesser
    without errors.

    The verdict is "violation" if the bound is above the claimed epsilon, "loose" if the bound is
    below half of the claimed epsilon (not informative), and "consistent" otherwise. Most violations
    in practice occur because a generator reads parameters from the table without accounting for
    them, for example the categories and extremes of a column. "canary" detects these violations. A
    category that a pandas type lists is public and is not detected. "repeat" and "worst_case"
    detect other violations.

    Half of a bound for "replace" is a bound for "add_remove" (if delta is 0), but a bound for
    "add_remove" does not imply a bound for "replace". The runs must be independent. Therefore, the
    audit is not valid for a generator that draws all its numbers from one seed that cannot be set.

    References
    ----------
    M. Jagielski, J. Ullman, A. Oprea, "Auditing differentially private machine learning: how
    private is private SGD?", NeurIPS 2020, arXiv:2006.07709.

    M. S. M. S. Annamalai, G. Ganev, E. De Cristofaro, "What do you want from theory alone?
    Experimenting with tight auditing of differentially private synthetic data generation", USENIX
    Security 2024, arXiv:2405.10994.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap, DPHistogram
    >>> from skeval.privacy import DPAudit
    >>> train = make_mixed(100)[["city", "plan"]].dropna()
    >>> domain = {name: sorted(train[name].unique()) for name in train}
    >>> for generator in (Bootstrap(), DPHistogram(domain, epsilon=1.0)):
    ...     audit = DPAudit(generator, n_runs=40, n_synthetic=500, claimed_epsilon=1.0)
    ...     print(audit.fit(train).evaluate(train).details["verdict"])
    violation
    loose
    """

    tags = replace(AUDIT_TAGS, needs=frozenset({"generator"}))

    _: KW_ONLY
    base: Annotated[str | list[str], several_of(BASES)] = "train"
    target: Annotated[str | list[str], several_of(TARGETS)] = "achilles"
    adjacency: Literal["add_remove", "replace"] = "add_remove"
    n_runs: Count = 200
    n_pilot: Count | None = None
    n_base: Count = 100
    attack: Attacks = "best"
    delta: Annotated[float, Interval(0, 1, "left")] = 0.0
    confidence: Annotated[float, Interval(0.75, 1, "left")] = 0.95
    method: Literal["cp", "gdp"] = "cp"
    threshold: Literal["split"] | Annotated[float, Interval()] = "split"
    claimed_epsilon: NonNegative | None = None
    n_synthetic: Count | None = None
    max_fits: Count = 5_000

    def estimate_cost(self) -> int:
        """Return how often the generator will be fitted and sampled, before anything runs."""
        self.named_columns()  # raises if a parameter is illegal
        return self._plan().n_fits

    def _prepare(self, context: Context) -> None:
        plan = self._plan()
        if plan.faults:
            raise InvalidParameterError(f"DPAudit: {'; '.join(plan.faults)}.")
        cure = "n_runs, n_pilot or the number of bases and targets"
        check_cost("DPAudit", plan.n_fits, self.max_fits, cure)

    def _plan(self) -> Plan:
        best = isinstance(self.attack, str) and self.attack == "best"
        return Plan(
            self.generator,
            as_tuple(self.base),
            as_tuple(self.target),
            ATTACKS if best else as_tuple(self.attack),
            self.adjacency,
            self.n_runs,
            math.ceil(self.n_runs * _PILOT_SHARE) if self.n_pilot is None else self.n_pilot,
            self.n_base,
            None if isinstance(self.threshold, str) else float(self.threshold),
            Level(float(self.delta), self.confidence, self.method),
            self.random_state,
        )

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined_result("no column of this table can be measured.")
        if context.n_rows("train") < 2:
            return undefined_result("train needs two rows, one of which can be left out.")
        plan, n_synthetic = self._plan(), self.n_synthetic or context.n_rows("synthetic")
        chosen, rates, promised = run_audit(context, plan, n_synthetic, self._execution)
        value = plan.level.bound(rates)
        claim = against_claim(value, self.claimed_epsilon, partial(plan.level.p_value, rates))
        details = {"n_synthetic": n_synthetic, "promised": promised, **claim}
        return Result(
            value,
            interval=(value, float("inf")),
            p_value=plan.level.p_value(rates, 0.0),
            baseline=0.0,
            details={**audit_details(plan, chosen, rates, value), **details},
            warnings=futile(plan, self.claimed_epsilon),
            contrast=Contrast(_WHAT, rates.tpr, rates.fpr, "of tables made without it"),
            advice=(
                "Fit with more noise, or limit the influence of one row, because the presence of a "
                "single row shows in the tables that the generator makes."
            ),
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        true, false = (
            percent(as_float(details[f"{which}_positive_rate"])) for which in ("true", "false")
        )
        sentence = (
            f"Run {details['n_runs']} times with and {details['n_runs']} times without one row, "
            f"the generator showed that row in {true} against {false} of its tables"
        )
        if result.value == 0.0:
            return f"{sentence}: no bound above 0, which does not show that epsilon is small."
        sentence += f": its epsilon is at least {number(result.value)}"
        if details.get("verdict") == "violation":
            sentence += f"; it claims {number(as_float(details['claimed_epsilon']))}"
        return f"{sentence}."


def audit_details(plan: Plan, chosen: Candidate, rates: Rates, bound: float) -> dict[str, Any]:
    """Return the settings of the runs, the counts, and the bound of a guesser without errors."""
    details = {
        "adjacency": plan.adjacency,
        "delta": plan.level.delta,
        "method": plan.level.method,
        "base": chosen.base,
        "target": chosen.target,
        "attack": chosen.name,
        "n_runs": plan.n_runs,
        "n_pilot": 0 if plan.threshold is not None else plan.n_pilot,
        "n_fits": plan.n_fits,
        "n_true_positives": rates.true_positives,
        "n_false_positives": rates.false_positives,
        "true_positive_rate": rates.tpr,
        "false_positive_rate": rates.fpr,
        "ceiling": plan.level.ceiling(plan.n_runs),
    }
    if plan.adjacency == "replace" and plan.level.delta == 0.0:
        details["epsilon_add_remove"] = bound / 2.0
    return details


def futile(plan: Plan, claimed: float | None) -> tuple[DegenerateInputWarning, ...]:
    """Return a warning if the runs are too few to refute the claimed epsilon."""
    ceiling = plan.level.ceiling(plan.n_runs)
    if claimed is None or ceiling > claimed:
        return ()
    text = f"n_runs={plan.n_runs} cannot give a bound above {ceiling:.3g}. Increase n_runs."
    return (DegenerateInputWarning(text),)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return one or several choices as a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def several_of(names: Sequence[str]) -> Legal:
    """Return the set of a few names and of lists of distinct ones of them."""

    def is_legal(value: object) -> bool:
        chosen = as_tuple(value)
        known = all(isinstance(name, str) and name in names for name in chosen)
        return known and 0 < len(set(chosen)) == len(chosen)

    text = f"one or several of {', '.join(map(repr, names))}"
    return Legal(text, is_legal, "no such option")


def _are_audit_attacks(value: object) -> bool:
    if isinstance(value, str):
        return value in (*_NAMED_ATTACKS, "best")
    chosen = as_tuple(value)
    return len(chosen) > 0 and all(
        attack in _NAMED_ATTACKS
        if isinstance(attack, str)
        else not isinstance(attack, type) and (callable(attack) or learns_from_runs(attack))
        for attack in chosen
    )


Attacks = Annotated[
    Any,
    Legal(
        f"'best', or one or several of {', '.join(map(repr, _NAMED_ATTACKS))}, a function and a "
        "classifier",
        _are_audit_attacks,
        "no such option",
    ),
]
