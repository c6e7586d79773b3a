from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import Result
from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.privacy import (
    Authenticity,
    DeltaPresence,
    EpsilonIdentifiability,
    ExactMatchShare,
    NearDuplicateShare,
    NewRowShare,
    NNAAPrivacyLoss,
)
from skeval.results.result import Contrast
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.contrasts import contrast_of, set_against

EQUAL = Context.of(make_mixed(20, random_state=0), make_mixed(20, random_state=1))
UNEQUAL = Context.of(make_mixed(20, random_state=0), make_mixed(10, random_state=1))


def test_of_equal_tables_it_is_the_number_of_the_holdout():
    test = Relabelled(0.2, 0.013, 0.1, 0.01)  # the mean over some relabelings is noise
    shown = contrast_of(EQUAL, "rows", 0.5, test, reference="of holdout rows")
    assert (shown.observed, shown.expected) == (0.5, 0.3)
    assert str(shown) == "rows: 50.0%, of holdout rows 30.0%"


def test_of_unequal_tables_chance_is_taken_into_account():
    test = Relabelled(0.2, 0.15, 0.1, 0.3, on_train=0.45)
    settings = {"reference": "of holdout rows", "unseen": 0.05}
    shown = contrast_of(UNEQUAL, "rows", 0.5, test, **settings)
    assert (shown.expected, shown.unseen) == (0.45, 0.05)
    assert shown.reference == "by chance"
    assert str(shown) == "rows: 50.0%, by chance 45.0%, for unseen rows 5.0%"
    assert Contrast.from_dict(shown.to_dict()) == shown
    assert contrast_of(EQUAL, "rows", 0.5, test, **settings).unseen is None


def test_short_distances_are_a_leak_where_low_numbers_are():
    test = Relabelled(0.3, 0.1, 0.1, 0.01, on_train=1.7)
    settings = {"reference": "to the holdout", "high_leaks": False, "share": False}
    shown = contrast_of(UNEQUAL, "distance", 1.5, test, **settings)
    assert shown.expected == pytest.approx(1.7)
    assert shown.supports_leak
    assert contrast_of(EQUAL, "distance", 1.5, test, **settings).expected == pytest.approx(1.8)


@pytest.mark.parametrize("high", [True, False])
def test_the_side_of_a_leak_is_that_of_the_test(high):
    rng = np.random.default_rng(0)
    for on_train, observed in rng.uniform(size=(200, 2)) * [1.0, 0.4]:
        test = Relabelled(observed, 0.0, 0.1, 0.5)
        shown = contrast_of(EQUAL, "x", on_train, test, reference="", high_leaks=high)
        if 0.0 < shown.expected < 1.0:
            assert shown.supports_leak == (observed > 0.0)
        else:  # a share is cut off where there is none beyond it, on the same side
            assert shown.supports_leak or on_train in (0.0, 1.0)


METRICS = (
    *(ExactMatchShare(["x", "z"], count=count) for count in ("rows", "multiset", "unique")),
    NearDuplicateShare(tau=0.05),
    NewRowShare(),
    EpsilonIdentifiability(),
    Authenticity(),
    NNAAPrivacyLoss(n_resample=2),
    DeltaPresence(["x"]),
)


@pytest.mark.calibration
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: repr(metric)[:30])
def test_chance_is_the_mean_number_of_train_over_relabellings(metric):
    """Of 60 real rows 45 are train; a release has the rows of ten, and others."""
    rng = np.random.default_rng(0)
    real, other = (
        pd.DataFrame({"x": rng.integers(0, 9, 60), "z": rng.integers(0, 9, 60).astype(float)})
        for _ in range(2)
    )
    release = pd.concat([real[:10], other[:20]], ignore_index=True)
    observed, expected, unseen = [], [], []
    for _ in range(60):
        order = rng.permutation(60)
        tables = (real.take(part).reset_index(drop=True) for part in (order[:45], order[45:]))
        context = Context.of(*tables)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric.fit_context(context)
            shown = metric.evaluate_context(context.with_synthetic(release)).contrast
        observed.append(shown.observed)
        expected.append(shown.expected)
        unseen.append(shown.unseen)
    assert shown.reference == "by chance"
    error = np.std(observed) / np.sqrt(len(observed))
    assert np.mean(expected) == pytest.approx(np.mean(observed), abs=3.5 * error + 1e-9)
    # it is a property of the pool, whichever rows are train
    assert np.std(expected) <= 0.4 * np.std(observed) + 1e-9


def test_what_is_infinite_is_not_quoted():
    """None of the nearest real rows that are looked at may be of a small holdout."""
    test = Relabelled(np.inf, 0.1, 0.1, 0.01)
    settings = {"reference": "to the holdout", "high_leaks": False, "share": False}
    assert contrast_of(EQUAL, "distance", 1.5, test, **settings) is None
    assert contrast_of(UNEQUAL, "distance", 1.5, test, **settings) is None
    assert contrast_of(UNEQUAL, "distance", np.inf, Relabelled(0, 0, 0, 1.0), **settings) is None


def test_sentences_end_with_the_contrast():
    shown = contrast_of(EQUAL, "x", 0.5, Relabelled(0.2, 0, 0.1, 0.01), reference="of others")
    assert set_against("So many do", Result(0.5, contrast=shown)) == "So many do; of others 30.0%."
    assert set_against("So many do", Result(0.5)) == "So many do."
