"""Presets for several tables: metrics of relations, of each table and of subjects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import skeval.diagnostic as diagnostic
import skeval.fidelity as fidelity
import skeval.privacy as privacy
from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError
from skeval.relational.autocorrelation import AutocorrelationDifference
from skeval.relational.cardinality import CardinalityBoundaryAdherence, CardinalityShapeSimilarity
from skeval.relational.detection import AggregationDetection
from skeval.relational.inter_event_time import InterEventTimeSimilarity
from skeval.relational.inter_row_msas import InterRowMSAS
from skeval.relational.inter_table_trends import InterTableTrends
from skeval.relational.nearest_sequences import NearestSequences
from skeval.relational.parent_child_aggregates import ParentChildAggregates
from skeval.relational.per_subject import PerSubject
from skeval.relational.per_table import OfTable
from skeval.relational.primary_key_uniqueness import PrimaryKeyUniqueness
from skeval.relational.reference_equality import ReferenceEquality
from skeval.relational.referential_integrity import ReferentialIntegrity
from skeval.relational.sequence_detection import SequenceDetection
from skeval.relational.sequence_length import SequenceLengthSimilarity
from skeval.relational.shared_history import SharedHistoryShare
from skeval.relational.shared_subsequences import SharedSubsequences
from skeval.relational.statistic_msas import StatisticMSAS
from skeval.relational.structure import SchemaStructure
from skeval.relational.subject_copies import SubjectCopies
from skeval.relational.subject_membership import SubjectMembership
from skeval.relational.transitions import TransitionSimilarity
from skeval.steps.aggregates import private_parents
from skeval.suites.presets import (
    adherence,
    column_pair_trends,
    column_shapes,
    name_by_property,
    text_attacks,
    text_fidelity,
    text_headlines,
    text_screens,
)
from skeval.tables.relational_schema import RelationalSchema

Named = list[tuple[str, Metric]]
_MAX_ROWS = 5_000  # maximum number of rows for training a classifier


def relational_metrics(preset: str, schema: RelationalSchema) -> Named:
    """Return the named metrics of a preset of :func:`skeval.make_suite`, for these tables."""
    if preset not in PRESETS:
        known = f"must be among {', '.join(PRESETS)}, got {preset!r}."
        raise InvalidParameterError(f"make_suite: for several tables, preset {known}")
    return PRESETS[preset](schema)


def metrics_of_each_table(tables: Iterable[str], metrics: Callable[[], Named]) -> Named:
    """Return the metrics for each of these tables."""
    return [(f"{t}/{name}", OfTable(metric, t)) for t in tables for name, metric in metrics()]


def persons(schema: RelationalSchema) -> list[str]:
    """Return the tables that describe individuals, which are all except public references."""
    return [name for name in schema.tables if name not in schema.references]


def metrics_of_subjects(schema: RelationalSchema, metrics: Callable[[str | None], Named]) -> Named:
    """Return the metrics of subjects with all their rows."""
    if not schema.undetermined and not any(schema.dependents(name) for name in schema.subjects):
        return []
    if schema.undetermined or len(schema.subjects) == 1:
        return metrics(None)  # the suite skips them if roles are open, and states the reason
    return [
        (f"{name} of {subject}", metric)
        for subject in schema.subjects
        if schema.dependents(subject)
        for name, metric in metrics(subject)
    ]


def _report(schema: RelationalSchema) -> Named:
    screens = [*_headlines(schema), *_sequence_screens(schema), *_subjects(schema)]
    return [*_between(schema), *_fidelity(schema), *screens]


def _relations(schema: RelationalSchema) -> Named:
    keys: Named = [("referential_integrity", ReferentialIntegrity())] if schema.foreign_keys else []
    unique: Named = (
        [("primary_key_uniqueness", PrimaryKeyUniqueness())] if schema.primary_keys else []
    )
    public: Named = [("reference_equality", ReferenceEquality())] if schema.references else []
    return [("schema_structure", SchemaStructure()), *unique, *keys, *public]


def _between(schema: RelationalSchema) -> Named:
    """Return the metrics of relations between tables and of the order of rows."""
    links: Named = []
    if private_parents(schema):
        links = [
            ("cardinality_shape", CardinalityShapeSimilarity()),
            ("parent_child_aggregates", ParentChildAggregates()),
            ("aggregation_detection", AggregationDetection(max_rows=_MAX_ROWS)),
        ]
    if schema.foreign_keys:
        links.append(("inter_table_trends", InterTableTrends()))
    return [*_relations(schema), *links, *_sequences(schema)]


def _sequences(schema: RelationalSchema) -> Named:
    if not set(schema.sequences) - set(schema.references):
        return []
    return [
        ("sequence_lengths", SequenceLengthSimilarity()),
        ("statistic_msas", StatisticMSAS()),
        ("inter_row_msas", InterRowMSAS()),
        ("inter_event_times", InterEventTimeSimilarity()),
        ("autocorrelation_difference", AutocorrelationDifference()),
        ("transitions", TransitionSimilarity()),
        ("sequence_detection", SequenceDetection(max_sequences=_MAX_ROWS)),
    ]


def _sequence_screens(schema: RelationalSchema) -> Named:
    if not set(schema.sequences) - set(schema.references):
        return []
    return [
        ("shared_subsequences", SharedSubsequences()),
        ("nearest_sequences", NearestSequences()),
    ]


def _fidelity(schema: RelationalSchema) -> Named:
    def of_one() -> Named:
        return [
            ("ks_complement", fidelity.KSComplement()),
            ("tv_complement", fidelity.TVComplement()),
            ("similarity", fidelity.SimilarityScore()),
            ("relations", fidelity.RelationScore(max_rows=_MAX_ROWS)),
            ("phik_difference", fidelity.PhikMatrixDifference()),
            *text_fidelity(),
        ]

    return metrics_of_each_table(persons(schema), of_one)


def _headlines(schema: RelationalSchema) -> Named:
    def of_one() -> Named:
        return [
            ("exact_matches", privacy.ExactMatchShare()),
            ("near_duplicates", privacy.NearDuplicateShare()),
            ("dcr_overfitting", privacy.DCROverfittingProtection()),
            *text_headlines(),
        ]

    return metrics_of_each_table(persons(schema), of_one)


def _subject_screens(schema: RelationalSchema) -> Named:
    def of_one(subject: str | None) -> Named:
        return [
            ("subject_copies", SubjectCopies(subject)),
            ("copied_histories", SubjectCopies(subject, own_row=False)),
            ("shared_histories", SharedHistoryShare(subject)),
            ("subject_near_duplicates", PerSubject(privacy.NearDuplicateShare(), subject)),
            ("subject_dcr_percentile", PerSubject(privacy.DCRPercentile(1), subject)),
            ("subject_dcr_overfitting", PerSubject(privacy.DCROverfittingProtection(), subject)),
        ]

    return metrics_of_subjects(schema, of_one)


def _subject_attacks(schema: RelationalSchema) -> Named:
    def of_one(subject: str | None) -> Named:
        return [
            ("subject_membership", SubjectMembership(subject)),
            ("subject_membership_f1", PerSubject(privacy.MembershipDisclosureF1(), subject)),
            ("subject_anonymeter", PerSubject(privacy.AnonymeterRisk(), subject)),
        ]

    return metrics_of_subjects(schema, of_one)


def _subjects(schema: RelationalSchema) -> Named:
    """Return the subject metrics of the report: a few tests for different kinds of leaks."""
    skipped = ("subject_dcr_overfitting", "subject_anonymeter")
    every = [*_subject_screens(schema), *_subject_attacks(schema)]
    return [(name, metric) for name, metric in every if not name.startswith(skipped)]


def _screens(schema: RelationalSchema) -> Named:
    def of_one() -> Named:
        return [
            ("exact_matches", privacy.ExactMatchShare()),
            ("near_duplicates", privacy.NearDuplicateShare()),
            ("dcr_overfitting", privacy.DCROverfittingProtection()),
            ("privacy_score", privacy.PrivacyScore()),
            *text_screens(),
        ]

    each = metrics_of_each_table(persons(schema), of_one)
    return [*each, *_sequence_screens(schema), *_subject_screens(schema)]


def _attacks(schema: RelationalSchema) -> Named:
    def of_one() -> Named:
        return [
            ("membership", privacy.MembershipInference()),
            ("anonymeter", privacy.AnonymeterRisk()),
            *text_attacks(),
        ]

    return [*metrics_of_each_table(persons(schema), of_one), *_subject_attacks(schema)]


def _quality(schema: RelationalSchema) -> Named:
    """Return the metrics of the multi-table SDMetrics quality report, named by its properties."""
    between = InterTableTrends(
        siblings=False, min_correlation=0.5, min_association=0.3, strategy="uniform-plain"
    )
    return [
        *name_by_property("column_shapes", metrics_of_each_table(schema.tables, column_shapes)),
        *name_by_property(
            "column_pair_trends", metrics_of_each_table(schema.tables, column_pair_trends)
        ),
        ("cardinality/shape", CardinalityShapeSimilarity()),
        ("intertable_trends/one_hop", between),
    ]


def _diagnostic(schema: RelationalSchema) -> Named:
    """Return the metrics of the multi-table SDMetrics diagnostic, named by its properties."""

    def keys() -> Named:
        return [("key_uniqueness", diagnostic.KeyUniqueness())]

    def structure() -> Named:
        return [("table_structure", diagnostic.TableStructure())]

    return [
        *name_by_property("data_validity", metrics_of_each_table(schema.tables, adherence)),
        *name_by_property("data_validity", metrics_of_each_table(schema.primary_keys, keys)),
        *name_by_property("data_structure", metrics_of_each_table(schema.tables, structure)),
        ("relationship_validity/referential_integrity", ReferentialIntegrity()),
        ("relationship_validity/cardinality_boundary", CardinalityBoundaryAdherence()),
    ]


PRESETS: dict[str, Callable[[RelationalSchema], Named]] = {
    "report": _report,
    "fidelity": lambda schema: [*_between(schema), *_fidelity(schema)],
    "privacy": lambda schema: [*_screens(schema), *_attacks(schema)],
    "screens": _screens,
    "attacks": _attacks,
    "quality": _quality,
    "diagnostic": _diagnostic,
}
