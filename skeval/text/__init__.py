"""Free text: what it gives away, and how alike it is."""

from skeval.steps.entities import Entity, EntityRecognizer
from skeval.text.entities import EntityLeakage
from skeval.text.nominal_mentions import NominalMentions, NominalRecognizer
from skeval.text.patterns import PatternRecognizer
from skeval.text.recognizers import (
    CallableRecognizer,
    EntityFilter,
    FlairRecognizer,
    GlinerRecognizer,
    PresidioRecognizer,
    SpacyRecognizer,
)

__all__ = [
    "CallableRecognizer",
    "Entity",
    "EntityFilter",
    "EntityLeakage",
    "EntityRecognizer",
    "FlairRecognizer",
    "GlinerRecognizer",
    "NominalMentions",
    "NominalRecognizer",
    "PatternRecognizer",
    "PresidioRecognizer",
    "SpacyRecognizer",
]
