"""Screen for synthetic texts that are copies of training texts."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Literal

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import ClaimTested
from skeval.results.result import Result
from skeval.stats.copied_rows import Copies, copies_of
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists
from skeval.steps.contrasts import set_against, with_claim
from skeval.steps.texts import fold_text
from skeval.text.corpus import GroupColumn, Key, corpus
from skeval.text.text_screen import TextScreen, copies_in_words, of_one_unit, units_alone
from skeval.utils.formatting import percent
from skeval.utils.parameters import AnyColumns


@declared
class TextExactMatch(TextScreen, ClaimTested):
    r"""Fraction of distinct synthetic texts that are equal to a training text.

    The author of a complaint, a diagnosis or a letter can find it in the synthetic data, and so can
    everyone who has read it. Short and common texts ("ok", "see above") also repeat without
    memorization, in the holdout as in the training data. The score ranges from 0 (no text) to 1
    (all texts). Lower is better.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns whose texts are evaluated: all free-text columns (None), the first *n* of them, or
        the named columns of any type. A copy may occur in a different column than its source.
    form : {"folded", "exact"}, default="folded"
        "folded" ignores letter case, white space and different encodings of the same character.
        "exact" compares every character.

    Warnings
    --------
    This is a screening metric, which can find a leak but cannot rule one out. It does not find a
    copy if a word is changed.

    See Also
    --------
    NearDuplicateText : Finds texts in which some words were changed.
    LongestCommonSubstring : Finds copied passages of a text.
    skeval.privacy.ExactMatchShare : Finds rows that are equal in all cells.

    Notes
    -----
    With distinct synthetic texts S and distinct training texts T,

    .. math:: \frac{|S \cap T|}{|S|}

    The baseline is the same fraction for the holdout. If the tables have different sizes, it is the
    mean over random assignments of real rows (or authors) to the training data. The p-value is
    one-sided. If nothing was learned about any text, all assignments are equally likely, even if
    the synthetic data have other defects. A test with few authors cannot have a small p-value.
    Authors of both tables are not permuted and are not included in the test
    (``details["n_authors_in_both"]``).

    Blank and missing cells are not texts. Without texts, the value is nan. ``details`` contains the
    numbers of distinct texts, the value for the holdout (``to_holdout``), the tested difference of
    the fractions, its mean over permutations (``expected``) and its standard deviation. The
    ``fact`` reports the number of copies for any p-value, without quoting texts. The interval is
    Wilson's interval.

    If there is a holdout, ``details["epsilon"]`` contains lower bounds on epsilon for the texts of
    one row or author, as in :class:`skeval.privacy.ExactMatchShare`, based on rows or authors with
    a synthetic text that is unique to them.

    References
    ----------
    N. Carlini et al., "Extracting training data from large language models", USENIX Security 2021,
    arXiv:2012.07805.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import TextExactMatch
    >>> train = pd.DataFrame({"note": ["Has a cough.", "Fell on ice.", "Sleeps badly."]})
    >>> synthetic = pd.DataFrame({"note": ["fell on ice.", "Has a cold."]})
    >>> TextExactMatch().fit(train, schema={"note": "text"}).score(synthetic)
    0.5
    """

    _what = "distinct synthetic texts that equal a training text"

    columns: AnyColumns = None
    group: GroupColumn = None
    _: KW_ONLY
    form: Literal["folded", "exact"] = "folded"

    def _compare_with_role(self, context: Context, key: Key, role: str) -> float:
        k, n = shared_forms(context, *key, self.form, role)
        return k / n

    def _lists(self, context: Context, key: Key) -> MatchLists:
        return equal_texts(context, *key, self.form)

    def _details(self, context: Context, key: Key, result: Result) -> Result:
        k, n = shared_forms(context, *key, self.form, "train")
        texts, lists = corpus(context, *key), equal_texts(context, *key, self.form)
        alone = of_one_unit(lists, texts)
        of_epsilon = {}
        if result.p_value is not None:
            of_epsilon = self._privacy(units_alone(lists, texts))
        return replace(
            result,
            interval=wilson(k, n),
            fact=copies_in_words(k, n, alone, "equal" if k != 1 else "equals"),
            copies=(text_copies(context, *key, self.form),),
            details={**result.details, "n_matched": k, "n_matched_alone": alone, **of_epsilon},
        )

    def _summary(self, result: Result) -> str:
        lead = f"{percent(result.value)} of the distinct synthetic texts equal a training text"
        return with_claim(set_against(lead, result), result)


@shared
def forms(context: Context, columns: tuple[str, ...], group: str | None, form: str) -> np.ndarray:
    """Return the number of the form that each distinct text has."""
    texts = corpus(context, columns, group).texts
    if form == "exact":
        return np.arange(texts.size)
    every = np.array([fold_text(text) for text in texts], dtype=object)
    return pd.factorize(every, sort=True)[0]


def shared_forms(
    context: Context, columns: tuple[str, ...], group: str | None, form: str, role: str
) -> tuple[int, int]:
    """Return how many distinct synthetic texts a role has too, and how many there are."""
    texts, codes = corpus(context, columns, group), forms(context, columns, group, form)
    mine, theirs = (np.unique(codes[texts.held[who]]) for who in ("synthetic", role))
    return int(np.isin(mine, theirs).sum()), mine.size


def text_copies(context: Context, columns: tuple[str, ...], group: str | None, form: str) -> Copies:
    """Return the number of copies among the synthetic texts, and of copies of unique texts."""
    texts, codes = corpus(context, columns, group), forms(context, columns, group, form)
    n_forms = int(codes.max(initial=-1)) + 1
    counts = {
        role: sum(
            np.bincount(codes[cells[cells >= 0]], minlength=n_forms)
            for (of, _), cells in texts.cells.items()
            if of == role
        )
        for role in texts.held
    }
    return copies_of("texts", {role: np.asarray(counted) for role, counted in counts.items()})


def equal_texts(
    context: Context, columns: tuple[str, ...], group: str | None, form: str
) -> MatchLists:
    """Return the real texts of the form of each distinct synthetic one."""
    texts, codes = corpus(context, columns, group), forms(context, columns, group, form)
    mine = np.unique(codes[texts.held["synthetic"]])
    real = texts.numbers("train", "holdout")
    real = real[np.isin(codes[real], mine)]
    lists = np.searchsorted(mine, codes[real])
    return MatchLists.of_pairs(lists, real, np.ones(mine.size, dtype=np.int64), mine.size)
