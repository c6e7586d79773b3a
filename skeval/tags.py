"""Facts about a metric that suites, scorers, checks and reports go by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from skeval.exceptions import InvalidParameterError

Aspect = Literal["fidelity", "utility", "privacy", "diagnostic"]
Need = Literal["holdout", "target", "keys", "generator", "relational", "text"]
Evidence = Literal["screen", "attack", "audit", "disclosure"]


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

    def __post_init__(self) -> None:
        needs: Iterable[Need] = self.needs
        object.__setattr__(self, "needs", frozenset({needs} if isinstance(needs, str) else needs))
        object.__setattr__(self, "bounds", (float(self.bounds[0]), float(self.bounds[1])))
        if self.aspect not in get_args(Aspect):
            raise InvalidParameterError(
                f"MetricTags: aspect must be among {get_args(Aspect)}, got {self.aspect!r}."
            )
        if unknown := self.needs - set(get_args(Need)):
            raise InvalidParameterError(
                f"MetricTags: needs must be among {get_args(Need)}, got {sorted(unknown)}."
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
        return {**asdict(self), "needs": sorted(self.needs)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MetricTags:
        """Rebuild tags from what :meth:`to_dict` gave."""
        low, high = content["bounds"]
        return cls(
            **{**content, "needs": frozenset(content["needs"]), "bounds": (float(low), float(high))}
        )
