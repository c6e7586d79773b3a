"""The sentences on tests that compare texts, sequences or subjects instead of rows."""

from __future__ import annotations

from skeval.reporting.document.spans import Text, compose
from skeval.reporting.document.trials import Trial

_LEAD = "The clearest case: "
_CASES = {
    "TextExactMatch": "**{a} of 100** distinct synthetic texts equal a training text, and "
    "**{b} of 100** equal an unseen text.",
    "NearDuplicateText": "**{a} of 100** distinct synthetic texts nearly equal a training text, "
    "and **{b} of 100** nearly equal an unseen text.",
    "NGramNovelty": "**{a} of 100** phrases of synthetic texts occur in training texts, and "
    "**{b} of 100** occur in unseen texts.",
    "EntityLeakage": "of the names and numbers that synthetic texts repeat from a single real "
    "text, **{a} of 100** come from the training data. **{b} of 100** are expected by chance.",
    "StylisticOutliers": "**{a} of 100** synthetic texts are most similar to an unusual training "
    "text, and **{b} of 100** to an unusual unseen text.",
    "TextMembershipInference": "given two texts, an attacker names the one in the training data "
    "**{a} of 100** times. **{b} of 100** are expected by chance.",
    "SharedSubsequences": "the synthetic table contains a passage that is unique to one sequence "
    "for **{a} of 100** training sequences and for **{b} of 100** unseen ones.",
    "SubjectCopies": "**{a} of 100** synthetic subjects equal a training subject in all rows, "
    "and **{b} of 100** equal an unseen subject.",
    "NearestSequences": "of the real sequences that are closest to a synthetic one, **{a} of 100** "
    "are training sequences. **{b} of 100** are expected by chance.",
}
_NOTES = {
    "TextExactMatch": "texts that equal a training text",
    "NearDuplicateText": "texts that nearly equal a training text",
    "NGramNovelty": "phrases of training texts",
    "EntityLeakage": "names and numbers of one text (chance: 50%)",
    "LongestCommonSubstring": "words of the longest common passage",
    "StylisticOutliers": "texts similar to an unusual text",
    "NominalMentions": "mentions of names",
    "TextMembershipInference": "picks the training text from two",
    "SharedSubsequences": "passages unique to one sequence",
    "SharedHistoryShare": "rows shared by one subject",
    "SubjectCopies": "subjects with all their rows",
    "NearestSequences": "closest sequences (chance: 50%)",
}


def case_template(trial: Trial) -> str:
    """Return the sentence of the clearest case, or an empty text if the test compares rows."""
    sentence = _CASES.get(trial.metric)
    return f"{_LEAD}{sentence}" if sentence else ""


def kind_note(trial: Trial) -> Text:
    """Return the small print on the counted units, or nothing if the units are rows."""
    return compose(_NOTES.get(trial.metric, ""))
