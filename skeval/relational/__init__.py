"""Several tables with keys, and rows in order: references, links, subjects, sequences."""

from skeval.relational.references import ReferentialIntegrity
from skeval.relational_context import RelationalContext
from skeval.tables.relational_data import RelationalData, split_by_subject
from skeval.tables.relational_schema import ForeignKey, RelationalSchema, SequenceKey

__all__ = [
    "ForeignKey",
    "ReferentialIntegrity",
    "RelationalContext",
    "RelationalData",
    "RelationalSchema",
    "SequenceKey",
    "split_by_subject",
]
