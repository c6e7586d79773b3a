"""Tags of metrics and of their families: what a metric is about, needs, and which way is good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from skeval.exceptions import InvalidParameterError
from skeval.utils.parameters import Interval, Scaling

Aspect = Literal["fidelity", "utility", "privacy", "diagnostic"]
Need = Literal["holdout", "target", "keys", "generator", "relational", "text"]
Evidence = Literal["screen", "attack", "audit", "disclosure"]
Risk = Literal["singling out", "linkability", "inference"]
Quoted = Literal["", "similarity", "relations", "learning", "copies"]
_WEIGHTS = Interval(0, 100, "neither")  # heavier, a test would leave the others nothing
_LEGAL: Mapping[str, Any] = {
    "aspect": Aspect,
    "scaling": Scaling,
    "risks": Risk,
    "quoted": Quoted,
    "needs": Need,
}


@dataclass(frozen=True)
class MetricTags:
    """What a metric is about, what it needs and which way is good.

    Parameters
    ----------
    aspect : {"fidelity", "utility", "privacy", "diagnostic"}
        The question it belongs to.
    needs : iterable of str, default=()
        Among `holdout`, `target`, `keys`, `generator`, `relational`, `text`.
    greater_is_better : bool or None
        None where the best value lies in between.
    bounds : tuple of (float, float)
        The least and the greatest value possible.
    evidence : {"screen", "attack", "audit", "disclosure"}, optional
        For privacy: a `screen` can raise an alarm and never clears a release; an `attack` is what
        one adversary achieves; an `audit` is a valid lower bound on epsilon; `disclosure` is the
        k-anonymity family.
    display : str, default="ValueDisplay"
        The class that draws the result: one of :mod:`skeval.reporting`, or a registered one of
        your own (:func:`~skeval.reporting.register_display`).
    lenient : bool, default=False
        Whether the metric takes a synthetic table that lacks columns of train or has them in
        another type, as one that judges the structure does.
    scaling : {"counts", "sorted runs", "neighbours", "sampled"}, default="sampled"
        How the metric handles tables larger than memory. "counts" are added up over all rows, and
        "sorted runs" are merged, a few columns at a time. "neighbours" are searched among all rows,
        in parts if need be. With "sampled" a seeded sample is measured, and the result says so.
    risks : iterable of str, default=()
        Among `singling out`, `linkability` and `inference`: the risks of the opinion of the Article
        29 working party that the metric bears on, under which reports list it.
    headline : int, default=0
        Place among the metrics of its aspect that the first page of a report shows, from 1 on; with
        0 it comes after those.
    quoted : {"", "similarity", "relations", "learning", "copies"}, default=""
        Which sentence of a summary quotes the value: how similar the tables are, which share of the
        relations between columns is kept, what a model learns from the synthetic one, or that it
        has no copy of a train row. In a comparison, the metrics of "similarity" and "relations"
        decide fidelity, those of "learning" utility.
    volatile : bool, default=False
        Whether a few values decide the score of a column, so that chance moves it far.
    weight : float, default=1.0
        For privacy: what share of the level of a suite the test has, relative to its others; above
        0, below 100. It is part of the class, since weights hold the level only if they are fixed
        before the data. A heavy test leaves the others less.

    Raises
    ------
    InvalidParameterError
        If a field is outside its legal set, or a privacy metric names no evidence.

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
        """Say which way is good."""
        return {1: "higher is better", -1: "lower is better", 0: "in between is best"}[self.sign]

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where neither."""
        return 0 if self.greater_is_better is None else 1 if self.greater_is_better else -1

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {**asdict(self), "needs": sorted(self.needs), "risks": sorted(self.risks)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MetricTags:
        """Rebuild tags from what :meth:`to_dict` gave."""
        low, high = content["bounds"]
        sets = {name: frozenset(content[name]) for name in ("needs", "risks")}
        headline = int(content["headline"])
        return cls(**{**content, **sets, "bounds": (float(low), float(high)), "headline": headline})


# the common tags of a family; a metric replaces its own
DIAGNOSTIC_TAGS = MetricTags(
    "diagnostic",
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
# tests whose leaks others find, on releases of real generators: see docs/null_and_power.rst
LIGHT = 0.25
NEIGHBOR_TAGS = replace(SCREEN_TAGS, scaling="neighbours", weight=LIGHT)
CONTRAST_TAGS = replace(NEIGHBOR_TAGS, needs=frozenset({"holdout"}))
DISCLOSURE_TAGS = replace(SCREEN_TAGS, evidence="disclosure", scaling="counts")
ATTACK_TAGS = replace(SCREEN_TAGS, evidence="attack", needs=frozenset({"holdout"}))
SHADOW_TAGS = replace(ATTACK_TAGS, needs=frozenset({"generator", "holdout"}))
AUDIT_TAGS = replace(
    ATTACK_TAGS, evidence="audit", bounds=(0.0, float("inf")), display="AuditDisplay"
)
