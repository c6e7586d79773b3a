"""The findings on results, as typed values on which all sentences of a report are based."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skeval.reporting.document.checks import (
    UtilityFindings,
    ValidityFindings,
    find_utility,
    find_validity,
    outcome_of_quality,
)
from skeval.reporting.document.fidelity import FidelityFindings, find_fidelity
from skeval.reporting.document.loss import PairLoss, find_loss
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.privacy import PrivacyFindings, find_privacy
from skeval.reporting.document.reversed_order import ReversedOrder, find_reversed
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.tables import names_of_tables, results_of_table, results_with_value
from skeval.results.provenance import Provenance
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import Verdict, aspect_of

_MIN_USABLE = 0.5  # similarity in relation to unseen rows, below which a table is of no use yet


@dataclass(frozen=True)
class Findings:
    """The findings on the results of one synthetic table."""

    results: SuiteResult
    privacy: PrivacyFindings
    fidelity: FidelityFindings
    validity: ValidityFindings
    utility: UtilityFindings
    loss: PairLoss | None
    reversed_orders: tuple[ReversedOrder, ...]
    noun: Noun

    @property
    def provenance(self) -> Provenance | None:
        """The origin of the results, if a suite made them."""
        return self.results.provenance

    @property
    def places(self) -> int:
        """How many results fall short of unseen rows, privacy aside."""
        return sum(
            outcome_of_quality(result) is Outcome.BELOW
            for result in results_with_value(self.results).values()
            if aspect_of(result) != "privacy"
        )

    @property
    def is_usable(self) -> bool:
        """Whether no part of the table is less than half as similar as unseen rows are."""
        return not any(
            one.outcome is Outcome.BELOW
            and one.value < _MIN_USABLE * (100.0 if one.unseen is None else one.unseen)
            for one in self.fidelity.kept
        )


def find_all(results: SuiteResult) -> Findings:
    """Return the findings on all aspects."""
    return _find(results, results.verdict())


def find_table(found: Findings, table: str) -> Findings:
    """Return the findings on one of several tables, with the verdict on all tables."""
    return _find(results_of_table(found.results, table), found.privacy.verdict)


def _find(results: SuiteResult, verdict: Verdict) -> Findings:
    return Findings(
        results=results,
        privacy=find_privacy(results, verdict),
        fidelity=find_fidelity(results),
        validity=find_validity(results),
        utility=find_utility(results),
        loss=_find_loss(results),
        reversed_orders=find_reversed(results),
        noun=_noun(results.provenance),
    )


def _find_loss(results: SuiteResult) -> PairLoss | None:
    """Return the largest loss, which is the largest of all tables if there are several."""
    tables = names_of_tables(results)
    if not tables:
        return find_loss(results)
    found = [
        replace(loss, table=table)
        for table in tables
        if (loss := find_loss(results_of_table(results, table)))
    ]
    return max(found, key=lambda loss: loss.gap, default=None)


def _noun(provenance: Provenance | None) -> Noun:
    release = provenance.release if provenance is not None else None
    if release is not None and release.noun:
        one, _, many = (part.strip() for part in release.noun.partition(","))
        return Noun(one, many or f"{one}s")
    return Noun("subject", "subjects") if release and release.unit == "subject" else Noun()
