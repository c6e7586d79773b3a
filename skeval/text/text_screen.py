"""Base class of screens for texts that repeat a training text in full or in part."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import SCREEN_TAGS
from skeval.results.result import Result, undefined_result
from skeval.stats.epsilon_bounds import Matched
from skeval.stats.matches import MatchLists, held_contrast
from skeval.steps.contrasts import contrast_of
from skeval.text.corpus import Corpus, CorpusMetric, Key, corpus, lacking_texts, sizes
from skeval.utils.formatting import format_count

ADVICE = (
    "Drop the texts that repeat training texts, remove duplicates from the training data, "
    "and train for fewer steps or with noise."
)
ONE_SIDED = "all authors occur in both tables, so labels cannot be permuted."


@declared
class TextScreen(CorpusMetric):
    """Base class of screens that compare texts with the training data and with the holdout.

    Each distinct text counts once. Subclasses define the class attribute `_what`, which describes
    the contrast, and the methods below.
    """

    tags = replace(SCREEN_TAGS, needs=frozenset({"text"}))
    _what: ClassVar[str]

    @abstractmethod
    def _compare_with_role(self, context: Context, key: Key, role: str) -> float:
        """Return the results of comparing the synthetic texts with a role."""

    @abstractmethod
    def _lists(self, context: Context, key: Key) -> MatchLists:
        """Return the matches for the test."""

    @abstractmethod
    def _details(self, context: Context, key: Key, result: Result) -> Result:
        """Return the result with its interval, fact and further details."""

    def _compute(self, context: Context) -> Result:
        key = self._key(context)
        if lacking := self._obstacle(context, key):
            return undefined_result(lacking)
        return Result(self._compare_with_role(context, key, "train"))

    def _obstacle(self, context: Context, key: Key) -> str:
        """Return why nothing can be measured, or an empty string."""
        return lacking_texts(corpus(context, *key), "train", "synthetic")

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        key = self._key(context)
        texts = corpus(context, *key)
        result = replace(result, details=sizes(texts))
        if "holdout" in context and not lacking_texts(texts, "holdout"):
            result = self._against_holdout(context, key, result)
        return replace(self._details(context, key, result), advice=ADVICE)

    def _against_holdout(self, context: Context, key: Key, result: Result) -> Result:
        to_holdout, texts = self._compare_with_role(context, key, "holdout"), corpus(context, *key)
        details = {**result.details, "to_holdout": to_holdout}
        if min(texts.n_train, texts.n_holdout) == 0:
            lacking = undefined_result(ONE_SIDED).warnings
            return replace(result, details=details, warnings=(*result.warnings, *lacking))
        trials = {"n_permutations": self.n_permutations, "seed": self.random_state}
        lists = self._lists(context, key)
        test = held_contrast(lists, texts.holders, texts.n_train, **trials)
        high_leaks, (_, most) = not self.tags.greater_is_better, self.tags.bounds
        contrast = contrast_of(
            context,
            self._what,
            result.value,
            test if high_leaks else replace(test, on_train=1.0 - test.on_train),
            reference="of the holdout",
            high_leaks=high_leaks,
            share=most == 1.0,
            sizes=(texts.n_train, texts.n_holdout),
        )
        details |= {
            "difference": test.observed,
            "expected": test.mean,
            "null_standard_error": test.spread,
        }
        return replace(
            result,
            p_value=test.p_value,
            baseline=contrast.expected if contrast else None,
            contrast=contrast,
            details=details,
        )


def of_one_unit(lists: MatchLists, texts: Corpus) -> int:
    """Return how many of the matches are to one text that one document or author has."""
    heads, alone = _find_unique_texts(lists, texts)
    return int(lists.weights[alone & texts.held["train"][heads]].sum())


def _find_unique_texts(lists: MatchLists, texts: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Return the first text of each list, and which lists are of one text that one unit has."""
    heads = lists.values[lists.starts[:-1]]
    return heads, (np.diff(lists.starts) == 1) & (np.diff(texts.holders.indptr)[heads] == 1)


def units_alone(lists: MatchLists, texts: Corpus) -> Matched:
    """Return the number of documents or authors with a synthetic text that is unique to them."""
    heads, alone = _find_unique_texts(lists, texts)
    units = np.unique(texts.holders[heads[alone]].indices)
    k = int((units < texts.n_train).sum())
    return Matched(k, texts.n_train, units.size - k, texts.n_holdout)


def copies_in_words(k: int, n: int, alone: int, verb: str) -> str:
    """Return the number of copies in words, or an empty string."""
    if not k:
        return ""
    which = "all" if alone == k else f"{alone:,}"
    unique = f", and {which} of these training texts {'is' if alone == 1 else 'are'} unique"
    if k == 1:
        unique = ", which is unique"
    unique = f"{unique} in the training data" if alone else ""
    return f"{k:,} of {format_count(n, 'distinct synthetic text')} {verb} a training text{unique}."
