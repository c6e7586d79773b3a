"""The two numbers that a test of training and holdout rows compares, for sentences."""

from __future__ import annotations

import math
from typing import Any

from skeval.core.context import Context, content_hash
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats import permutation_tests
from skeval.stats.permutation_tests import Relabelled, least_p_value
from skeval.utils.formatting import as_float, number

# metrics that count the same matches have one test, so they describe it in the same words
MATCHES = "synthetic rows that match a training row"


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
    unseen: float | None = None,
) -> Contrast | None:
    """Return the two numbers that a test with random labels compared."""
    sizes = sizes or (context.n_rows("train"), context.n_rows("holdout"))
    # If sizes are equal, the test compares with the number of the holdout. If sizes are unequal, a
    # percentile can be 0 for all labels, for example because a quarter of the rows are copies.
    of_holdout = max(0.0, on_train - test.observed if high_leaks else on_train + test.observed)
    is_same_for_all = on_train == test.on_train and math.isfinite(of_holdout)
    compares_holdout = sizes[0] == sizes[1] or is_same_for_all
    expected = of_holdout if compares_holdout else test.on_train
    if not math.isfinite(on_train) or not math.isfinite(expected):
        return None
    if share:
        on_train, expected = round(on_train, 12), round(min(1.0, expected), 12)
    said = reference if compares_holdout else "by chance"
    return Contrast(
        what,
        on_train,
        expected,
        said,
        high_leaks=high_leaks,
        share=share,
        tests=(name,) if name else (),
        least_p=least_p_value(*sizes, n_permutations),
        least_here=test.least,
        unseen=None if compares_holdout else unseen,
    )


def share_contrast(what: str, k: int, n: int, k_other: int, n_other: int) -> tuple[float, Contrast]:
    """Test whether training rows are hit more often than holdout rows, and return the two."""
    # Whether a row is hit must not depend on which real rows are in the training data.
    shares, least = (k / n, k_other / n_other), least_p_value(n, n_other)
    contrast = Contrast(what, *shares, "of holdout rows", least_p=least)
    return permutation_tests.share_p_value(k, n, k_other, n_other), contrast


def name_of_test(what: str, *settings: Any) -> str:
    """Name a test by its settings. Within the same tables, tests with equal names are equal."""
    return f"{what} {content_hash(settings)}"


def set_against(lead: str, result: Result) -> str:
    """Return a sentence that ends with the tested contrast, if there is one."""
    if result.contrast is None:
        return f"{lead}."
    return f"{lead}; {result.contrast.against}."


def with_contrast(lead: str, result: Result) -> str:
    """Return a sentence that ends with the whole contrast that was tested, if one was."""
    return f"{lead}." if result.contrast is None else f"{lead}; {result.contrast}."


def with_claim(sentence: str, result: Result) -> str:
    """Get a sentence, with a second one on whether the matches contradict a claimed epsilon."""
    details = result.details
    if "claimed_epsilon" not in details:
        return sentence
    claim, bounds = f"{details['claimed_epsilon']:g}", details["epsilon"]
    claim += f" at delta = {bounds['delta']:g}" if bounds["delta"] else ""
    least = number(as_float(bounds["add_remove"]))
    if details["verdict"] == "violation":
        return f"{sentence} A claim of epsilon = {claim} is contradicted. It is at least {least}."
    return (
        f"{sentence} A claim of epsilon = {claim} is not contradicted, which does not confirm it. "
        f"The matches show an epsilon of at least {least}."
    )
