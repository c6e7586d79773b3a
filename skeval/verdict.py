"""The sentence in which the privacy tests of a suite end."""

from skeval.results.verdict import Contrast, Verdict, verdict

__all__ = ["Contrast", "Verdict", "verdict"]
