"""Texts of the release that repeat a text of train as it is."""

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
    r"""Share of distinct synthetic texts that train has too: 0 if it has none, 1 if it has all.

    The author of a complaint, a diagnosis or a letter finds it in the release word for word, and so
    does everyone who has read it. Short and common texts ("ok", "see above") repeat by themselves,
    in the holdout as in train: what is more than that was memorised.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns whose texts are looked at: all of free text, the first *n* of these, or names of
        any columns. A copy may be in another of them than its source.
    form : {"folded", "exact"}, default="folded"
        "folded": letter case, white space and ways to write the same character make no text another
        one. "exact": every character counts.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release. A word changed hides a copy
    from it.

    See Also
    --------
    NearDuplicateText : Texts with some words changed.
    LongestCommonSubstring : Passages of a text.
    skeval.privacy.ExactMatchShare : Rows that agree in every cell.

    Notes
    -----
    With distinct texts S of the release and T of train,

    .. math:: \frac{|S \cap T|}{|S|}

    The baseline is the same with the holdout. If the tables are of unequal size, it is the average
    over random choices of which real rows (or authors) were train. The p-value is one-sided: if
    nothing was learned of any one text, all such choices are equally likely, even if the release
    has other faults. A test of few authors has no small p-value. Authors of both tables do not
    change places and are left out of the test (``details["n_authors_in_both"]``).

    Blank and missing cells are no texts; without any text, the value is nan. ``details`` has the
    numbers of distinct texts, the value for the holdout (``to_holdout``), the difference of the
    shares that was tested, its mean over relabellings (``expected``) and its spread. A ``fact``
    counts the copies for any p-value; no text is quoted. The interval is Wilson's.

    If there is a holdout, ``details["epsilon"]`` has lower bounds of the epsilon of one row's, or
    author's, texts, as :class:`skeval.privacy.ExactMatchShare` has them of rows: those count that
    have a text of the release which no other one has.

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

    _what = "distinct synthetic texts that equal a train text"

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
        lead = f"{percent(result.value)} of the distinct synthetic texts equal a train text"
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
    """Return how many texts of the release are copies, and of texts that one real cell holds."""
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
