"""The eight questions of privacy that the first page always answers, and the metrics of each."""

from __future__ import annotations

from enum import Enum

from skeval.results.result import Result


class Question(Enum):
    """The goal of an attacker, or a property of the rows, in the order of the rows of page 1."""

    PICK_OUT = "pick out"
    MEMBERSHIP = "membership"
    GUESS = "guess"
    LINK = "link"
    COMPLETE = "complete"
    REFUTE = "refute"
    COPIES = "copies"
    CLOSER = "closer"


WITHOUT_ATTACKER = (Question.COPIES, Question.CLOSER)

_METRICS = {
    Question.COPIES: (
        *("ExactMatchShare", "NearDuplicateShare", "IdenticalMatchShare", "NewRowShare"),
        *("HittingRate", "PartialMembershipInference", "SubjectCopies", "SharedHistoryShare"),
        *("SharedSubsequences", "TextExactMatch", "NearDuplicateText", "LongestCommonSubstring"),
        *("NGramNovelty", "EntityLeakage", "NominalMentions", "StylisticOutliers"),
    ),
    Question.COMPLETE: ("RecordReconstruction",),
    Question.REFUTE: ("OneRunDPAudit", "DPAudit"),
}
_BY_METRIC = {metric: question for question, metrics in _METRICS.items() for metric in metrics}
_BY_RISK = {
    "singling out": Question.PICK_OUT,
    "linkability": Question.LINK,
    "inference": Question.GUESS,
}
_BY_EVIDENCE = {
    "screen": Question.CLOSER,
    "attack": Question.MEMBERSHIP,
    "audit": Question.REFUTE,
    "disclosure": Question.PICK_OUT,
}


def question_of_risk(risk: object) -> Question | None:
    """Return the question that an attack of a risk answers."""
    return _BY_RISK.get(str(risk))


def question_of(result: Result) -> Question:
    """Return the question that a metric answers, by its class, its risks or its evidence."""
    if result.metric in _BY_METRIC:
        return _BY_METRIC[result.metric]
    tags = result.tags
    if tags is not None and len(tags.risks) == 1:
        return _BY_RISK[next(iter(tags.risks))]
    return _BY_EVIDENCE[(tags.evidence if tags is not None else None) or "attack"]
