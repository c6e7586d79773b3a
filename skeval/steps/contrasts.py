"""The two numbers that a test of train against holdout compared, for sentences to quote."""

from __future__ import annotations

import math
from typing import Any

from skeval.context import Context, content_hash
from skeval.result import Result
from skeval.stats.relabelling import Relabelled, least_p_value
from skeval.verdict import Contrast

# metrics that count the same matches made one test: they must say the same of it
MATCHES = "synthetic rows that match a train row"
DROP_COPIES = (
    "Drop the copied rows, or fit the generator again with less room to memorise: fewer steps, "
    "stronger regularisation or noise."
)


def contrast_of(
    context: Context,
    what: str,
    on_train: float,
    test: Relabelled,
    *,
    reference: str,
    high_leaks: bool = True,
    share: bool = True,
    name: str = "",
    n_permutations: int | None = None,
    sizes: tuple[int, int] | None = None,
) -> Contrast | None:
    """Return what a test over relabellings compared.

    Parameters
    ----------
    context : Context
        With train and holdout.
    what : str
        What was measured towards train, as a noun phrase.
    on_train : float
        That number.
    test : Relabelled
        Of the difference between train and holdout, large where there is a leak.
    reference : str
        What the number is for the holdout, such as "for the holdout". Tables of unequal size get
        other numbers by chance: then the mean of the difference over relabellings is added to the
        holdout's number, and it is said to be "by chance".
    high_leaks : bool, default=True
        Whether a large number is a leak.
    share : bool, default=True
        Whether the numbers are shares.
    name : str, default=""
        Of the test, if another metric makes it too; see :func:`name_of_test`.
    n_permutations : int, optional
        How many relabellings there are at most, where they are drawn.
    sizes : tuple of (int, int), optional
        How many units of train and of the holdout exchanged labels; the rows, if not said.

    Returns
    -------
    Contrast or None
        A small p-value is one where the number of train lies on the side of a leak. None where a
        number is infinite: of a small table there may be no row among those that are looked at.

    Examples
    --------
    >>> from skeval.context import Context, content_hash
    >>> from skeval.datasets import make_mixed
    >>> from skeval.stats.relabelling import Relabelled
    >>> from skeval.steps.contrasts import contrast_of
    >>> context = Context.of(make_mixed(20), make_mixed(10))
    >>> test = Relabelled(observed=0.5, mean=0.2, spread=0.1, p_value=0.01)
    >>> print(contrast_of(context, "rows that match", 0.6, test, reference="of the holdout"))
    rows that match: 60.0%, by chance 30.0%
    """
    sizes = sizes or (context.n_rows("train"), context.n_rows("holdout"))
    equal = sizes[0] == sizes[1]
    excess = test.observed - (0.0 if equal else test.mean)  # of equal sizes the mean is known
    expected = max(0.0, on_train - excess if high_leaks else on_train + excess)
    if not math.isfinite(on_train) or not math.isfinite(expected):
        return None
    if share:
        on_train, expected = round(on_train, 12), round(min(1.0, expected), 12)
    said = reference if equal else "by chance"
    return Contrast(
        what,
        on_train,
        expected,
        said,
        high_leaks=high_leaks,
        share=share,
        tests=(name,) if name else (),
        least_p=least_p_value(*sizes, n_permutations),
    )


def name_of_test(what: str, *settings: Any) -> str:
    """Name a test by what it looks at: of the same tables, equal names are equal tests.

    Parameters
    ----------
    what : str
        Such as "linkability".
    *settings
        All that the statistic depends on, such as columns and space, but for the tables. Seeds of
        relabellings are none of it: the largest p-value of equal tests counts.

    Examples
    --------
    >>> from skeval.steps.contrasts import name_of_test
    >>> name_of_test("closer", "gower", None) == name_of_test("closer", "gower", ("age",))
    False
    """
    return f"{what} {content_hash(settings)}"


def set_against(lead: str, result: Result) -> str:
    """Return a sentence that ends with the contrast that was tested; as it is where none was.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.steps.contrasts import set_against
    >>> from skeval.verdict import Contrast
    >>> shown = Contrast("rows that match", 0.6, 0.3, "of the holdout")
    >>> set_against("60.0% of the rows match", Result(0.6, contrast=shown))
    '60.0% of the rows match; of the holdout 30.0%.'
    """
    if result.contrast is None:
        return f"{lead}."
    return f"{lead}; {result.contrast.reference} {result.contrast.written[1]}."
