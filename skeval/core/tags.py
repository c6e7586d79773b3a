"""Tags of metrics and of their families, for example the aspect, needs and direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from skeval.exceptions import InvalidParameterError
from skeval.utils.parameters import Interval, Scaling

Aspect = Literal["fidelity", "utility", "privacy", "validity"]
Need = Literal["holdout", "target", "keys", "generator", "relational", "text"]
Evidence = Literal["screen", "attack", "audit", "disclosure"]
Risk = Literal["singling out", "linkability", "inference"]
Quoted = Literal["", "similarity", "relations", "learning", "copies"]
_WEIGHTS = Interval(0, 100, "neither")  # a larger weight would leave no level for other tests
_LEGAL: Mapping[str, Any] = {
    "aspect": Aspect,
    "scaling": Scaling,
    "risks": Risk,
    "quoted": Quoted,
    "needs": Need,
}


@dataclass(frozen=True)
class MetricTags:
    """Aspect, needs, direction and other properties of a metric.

    Parameters
    ----------
    aspect : {"fidelity", "utility", "privacy", "validity"}
        Aspect of the metric.
    needs : iterable of str, default=()
        Required inputs, among `holdout`, `target`, `keys`, `generator`, `relational`, `text`.
    greater_is_better : bool or None
        Direction of the metric, or None if intermediate values are best.
    bounds : tuple of (float, float)
        Smallest and largest possible value.
    evidence : {"screen", "attack", "audit", "disclosure"}, optional
        Kind of privacy metric. A `screen` compares distances. It can find a leak but cannot prove
        that there is none. An `attack` measures the success of one attacker. An `audit` is a valid
        lower bound on epsilon. A `disclosure` metric belongs to the family of k-anonymity.
    display : str, default="ValueDisplay"
        Class that plots the result, which is a class of :mod:`skeval.reporting` or a registered
        custom class (:func:`~skeval.reporting.register_display`).
    lenient : bool, default=False
        Whether the metric accepts synthetic tables in which columns are missing or have another
        type, for example because it evaluates the structure.
    scaling : {"counts", "sorted runs", "neighbours", "sampled"}, default="sampled"
        Method for tables larger than memory. "counts" are added up over all rows, and "sorted runs"
        are merged for a few columns at a time. "neighbours" are searched among all rows, in parts
        if necessary. With "sampled", a seeded sample is used, and the result contains a warning
        about it.
    risks : iterable of str, default=()
        Risks of the opinion of the Article 29 working party that the metric measures, among
        `singling out`, `linkability` and `inference`. Reports list the metric under these risks.
    headline : int, default=0
        Position of the metric on the first page of a report among the metrics of its aspect, from 1
        on. Metrics with 0 come last.
    quoted : {"", "similarity", "relations", "learning", "copies"}, default=""
        Sentence of a summary that quotes the value: the similarity of the tables, the fraction of
        the relations between columns that is preserved, the performance of a model, or the absence
        of copies. In a comparison, the metrics of "similarity" and "relations" decide fidelity, and
        the metrics of "learning" decide utility.
    volatile : bool, default=False
        Whether a few values determine the score of a column, so that it varies a lot by chance.
    weight : float, default=1.0
        Weight of the privacy test when the level of a suite is divided, relative to other tests,
        above 0 and below 100. It is an attribute of the class, because weights control the level
        only if they do not depend on the data. A larger weight leaves a smaller level for the other
        tests.

    Raises
    ------
    InvalidParameterError
        If a field is invalid, or a privacy metric has no evidence.

    Examples
    --------
    >>> from skeval import MetricTags
    >>> MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0)).direction
    'higher is better'
    """

    aspect: Aspect
    needs: frozenset[Need] = frozenset()
    greater_is_better: bool | None = None
    bounds: tuple[float, float] = (float("-inf"), float("inf"))
    evidence: Evidence | None = None
    display: str = "ValueDisplay"
    lenient: bool = False
    scaling: Scaling = "sampled"
    risks: frozenset[Risk] = frozenset()
    headline: int = 0
    quoted: Quoted = ""
    volatile: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        needs: Iterable[Need] = self.needs
        object.__setattr__(self, "needs", frozenset({needs} if isinstance(needs, str) else needs))
        object.__setattr__(self, "risks", frozenset(self.risks))
        object.__setattr__(self, "bounds", (float(self.bounds[0]), float(self.bounds[1])))
        for name, legal in _LEGAL.items():
            value = getattr(self, name)
            is_set = isinstance(value, frozenset)
            unknown = [one for one in (value if is_set else [value]) if one not in get_args(legal)]
            if unknown:
                raise InvalidParameterError(
                    f"MetricTags: {name} must be among {get_args(legal)}, "
                    f"got {sorted(unknown) if is_set else repr(value)}."
                )
        if not _WEIGHTS.accepts(self.weight):
            raise InvalidParameterError(
                f"MetricTags: weight must be {_WEIGHTS.description}, got {self.weight!r}."
            )
        if (self.evidence is None) == (self.aspect == "privacy") or self.evidence not in {
            None,
            *get_args(Evidence),
        }:
            raise InvalidParameterError(
                f"MetricTags: evidence must be among {get_args(Evidence)} for a privacy metric and "
                f"None for others, got {self.evidence!r} for {self.aspect}."
            )

    @property
    def direction(self) -> str:
        """Direction in words."""
        return {1: "higher is better", -1: "lower is better", 0: "in between is best"}[self.sign]

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better, otherwise 0."""
        return 0 if self.greater_is_better is None else 1 if self.greater_is_better else -1

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {**asdict(self), "needs": sorted(self.needs), "risks": sorted(self.risks)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MetricTags:
        """Create tags from the result of :meth:`to_dict`."""
        low, high = content["bounds"]
        sets = {name: frozenset(content[name]) for name in ("needs", "risks")}
        headline = int(content["headline"])
        return cls(**{**content, **sets, "bounds": (float(low), float(high)), "headline": headline})


# common tags of a family, which a metric may replace
VALIDITY_TAGS = MetricTags(
    "validity",
    greater_is_better=True,
    bounds=(0.0, 1.0),
    display="ColumnScoresDisplay",
    lenient=True,
    scaling="counts",
)
COLUMN_TAGS = MetricTags(
    "fidelity",
    greater_is_better=True,
    bounds=(0.0, 1.0),
    display="ColumnScoresDisplay",
    scaling="counts",
)
RELATIONAL_TAGS = replace(COLUMN_TAGS, needs=frozenset({"relational"}), scaling="sampled")
TEXT_TAGS = replace(RELATIONAL_TAGS, needs=frozenset({"text"}))
MODEL_TAGS = MetricTags(
    "utility", greater_is_better=True, needs=frozenset({"holdout", "target"}), bounds=(0.0, 1.0)
)
SCREEN_TAGS = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="screen")
# tests of leaks that other tests also find, for real generators (see docs/null_and_power.rst)
LIGHT = 0.25
NEIGHBOR_TAGS = replace(SCREEN_TAGS, scaling="neighbours", weight=LIGHT)
CONTRAST_TAGS = replace(NEIGHBOR_TAGS, needs=frozenset({"holdout"}))
DISCLOSURE_TAGS = replace(SCREEN_TAGS, evidence="disclosure", scaling="counts")
ATTACK_TAGS = replace(SCREEN_TAGS, evidence="attack", needs=frozenset({"holdout"}))
SHADOW_TAGS = replace(ATTACK_TAGS, needs=frozenset({"generator", "holdout"}))
AUDIT_TAGS = replace(
    ATTACK_TAGS, evidence="audit", bounds=(0.0, float("inf")), display="AuditDisplay"
)
