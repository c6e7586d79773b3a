"""Several tables with keys, and rows in order: references, links, subjects, sequences."""

from skeval.relational.per_subject import PerSubject
from skeval.relational.per_table import OfTable, PerTable
from skeval.relational.references import ReferentialIntegrity
from skeval.relational.subject_copies import SharedHistoryShare, SubjectCopies
from skeval.relational.subject_membership import SubjectMembership
from skeval.relational_context import RelationalContext
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import ForeignKey, RelationalSchema, SequenceKey

__all__ = [
    "ForeignKey",
    "OfTable",
    "PerSubject",
    "PerTable",
    "ReferentialIntegrity",
    "RelationalContext",
    "RelationalData",
    "RelationalSchema",
    "SequenceKey",
    "SharedHistoryShare",
    "SubjectCopies",
    "SubjectMembership",
]
