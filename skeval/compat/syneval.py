"""Interface of SynEval: `PrivacyEvaluator` with the nested results of its `evaluate`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError, SharedRowsWarning
from skeval.fidelity import ClassifierTwoSampleTest
from skeval.privacy import NNDR, AnonymeterRisk, DCRPercentile, ExactMatchShare, IdenticalMatchShare
from skeval.results.result import Result
from skeval.suites.suite import MetricSuite
from skeval.tables.schema import TableSchema
from skeval.text import EntityLeakage, NominalMentions, StylisticOutliers

_THEIRS = "syneval"  # key of details
_CONTROLLED = ("text_privacy", "anonymeter")  # parts whose tests compare with unseen rows


def _tabular(seed: int) -> dict[str, Metric]:
    return {  # SynEval compares with distances between neighbors within the training data
        "IMS": IdenticalMatchShare(random_state=seed),
        "DCR": DCRPercentile(baseline="train_loo", random_state=seed),
        "NNDR": NNDR(baseline="train_loo", convention="d2/d1", random_state=seed),
    }


def _texts(seed: int) -> dict[str, Metric]:
    return {
        "named_entities": EntityLeakage(random_state=seed),
        "nominal_mentions": NominalMentions(random_state=seed),
        "stylistic_outliers": StylisticOutliers("word2vec", random_state=seed),
    }


_PARTS: dict[str, Callable[[int], dict[str, Metric]]] = {
    "exact_matches": lambda seed: {"exact_matches": ExactMatchShare(random_state=seed)},
    "membership_inference": lambda seed: {
        "membership_inference": ClassifierTwoSampleTest("auc", random_state=seed)
    },
    "tabular_privacy": _tabular,
    "text_privacy": _texts,
    "anonymeter": lambda seed: {
        "anonymeter": AnonymeterRisk(reference="baseline", random_state=seed)
    },
}


class PrivacyEvaluator:
    """Privacy report of SynEval, with the same numbers, names and order.

    Parameters
    ----------
    synthetic_data, original_data : table
        Synthetic data, and the data that the generator was trained on.
    metadata : mapping, optional
        Metadata of SynEval: `columns`, each with its `sdtype`. Types are inferred if it is missing.
    selected_metrics : list of str or str, optional
        Parts to evaluate, among "exact_matches", "membership_inference", "tabular_privacy",
        "text_privacy" and "anonymeter". All by default.
    device : str, default="auto"
        Ignored. It exists only for compatibility.
    control_data : table, optional
        Real rows that the generator never saw. SynEval has no such parameter and uses a sample of
        the original rows, on which any attack succeeds equally well. Without these rows, risks are
        still measured in excess of guessing, and `control_rate`, `train_test_ims` and `passed` of
        IMS are None.
    random_state : int, default=0
        Seed of samples, folds and attacks.

    Raises
    ------
    InvalidParameterError
        If a selected metric does not exist in SynEval.

    See Also
    --------
    skeval.make_suite : Create the suite "syneval" with names of skeval, p-values and a verdict.

    Examples
    --------
    >>> from skeval.compat import PrivacyEvaluator
    >>> from skeval.datasets import make_mixed
    >>> original, synthetic = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> evaluator = PrivacyEvaluator(synthetic, original, selected_metrics=["exact_matches"])
    >>> evaluator.evaluate()["exact_matches"]
    {'exact_match_percentage': 0.0, 'risk_level': 'low'}
    """

    def __init__(
        self,
        synthetic_data: Any,
        original_data: Any,
        metadata: Mapping[str, Any] | None = None,
        selected_metrics: Sequence[str] | str | None = None,
        device: str = "auto",
        *,
        control_data: Any = None,
        random_state: int = 0,
    ) -> None:
        self.synthetic_data = synthetic_data
        self.original_data = original_data
        self.metadata = metadata
        chosen = [selected_metrics] if isinstance(selected_metrics, str) else selected_metrics
        self.selected_metrics = list(_PARTS if chosen is None else chosen)
        self.device = device
        self.control_data = control_data
        self.random_state = random_state
        if unknown := [name for name in self.selected_metrics if name not in _PARTS]:
            raise InvalidParameterError(
                f"selected_metrics must be among {', '.join(_PARTS)}, got {', '.join(unknown)}."
            )

    def evaluate(self) -> dict[str, Any]:
        """Return the numbers. A part that failed contains the reason as `error`."""
        chosen = {name: _PARTS[name](self.random_state) for name in self.selected_metrics}
        found: dict[str, Result] = {}
        for controlled in (False, True):
            parts = [one for name, one in chosen.items() if (name in _CONTROLLED) == controlled]
            found |= self._evaluate_metrics(
                {n: m for part in parts for n, m in part.items()}, controlled
            )
        numbers = {name: self._numbers(name, result) for name, result in found.items()}
        if "tabular_privacy" in chosen:
            own = {name: numbers.pop(name) for name in chosen["tabular_privacy"]}
            numbers["structured_privacy_metrics"] = own
        return numbers

    def _evaluate_metrics(
        self, metrics: dict[str, Metric], controlled: bool
    ) -> Mapping[str, Result]:
        if not metrics:
            return {}
        holdout = self.control_data
        schema = None if self.metadata is None else TableSchema.from_sdv(self.metadata)
        suite = MetricSuite(list(metrics.items()), check_holdout=holdout is not None)
        with warnings.catch_warnings():
            if holdout is None and controlled:  # as in SynEval, whose numbers do not use them
                holdout = self.original_data
                warnings.simplefilter("ignore", SharedRowsWarning)
            suite.fit(self.original_data, holdout, schema=schema)
            return suite.evaluate(self.synthetic_data)

    def _numbers(self, name: str, result: Result) -> dict[str, Any]:
        if result.error:
            return {"error": result.error, "risk_level": "unknown"}
        if name == "anonymeter":
            risks = _risks(result.details["attacks"], float(result.value))
            if self.control_data is None:
                for one in (*risks["inference"], *risks.values()):
                    if isinstance(one, dict) and "control_rate" in one:
                        one["control_rate"] = None
            return risks
        own = dict(result.details[_THEIRS])
        if name == "membership_inference":
            confidence = ("synthetic_confidence", "original_confidence")
            own |= {one: result.details[one] for one in confidence}
            own["interpretation"] = result.summary
        return own


def _risks(attacks: Mapping[str, Any], overall: float) -> dict[str, Any]:
    """Return each attack by its SynEval name, the inferences as a list, and the largest risk."""
    own: dict[str, Any] = {}
    secrets: list[dict[str, Any]] = []
    for name, one in attacks.items():
        mode, _, rest = name.partition(" ")
        if mode == "inference":
            secrets.append({"secret": rest.removeprefix("of "), **one[_THEIRS]})
        else:
            own[f"singling_out_{mode}" if rest else mode] = dict(one[_THEIRS])
    level = "high" if overall > 0.5 else "low"
    total = {"risk_score": overall, "risk_level": level}
    return own | {"inference": secrets, "overall_risk": total}
