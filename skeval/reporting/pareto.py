"""The synthetic tables of a comparison by two facets."""

from __future__ import annotations

from skeval.reporting.displays.curves import ParetoDisplay
from skeval.results.comparison import Comparison


def pareto_of(comparison: Comparison) -> ParetoDisplay | None:
    """Return the tables by privacy, and by utility or else fidelity; None of one facet."""
    scores = comparison.scores()
    others = [facet for facet in ("utility", "fidelity", "diagnostic") if facet in scores]
    axes = [*others[:1], "privacy"] if "privacy" in scores else others[:2]
    return ParetoDisplay(scores, axes[0], axes[1], named="all") if len(axes) > 1 else None
