from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.privacy import DCRBaselineProtection, DCROverfittingProtection, DCRShare
from skeval.privacy.distance_screens.dcr_baseline import random_rows
from skeval.privacy.distance_screens.train_share import (
    TrainShare,
    closer_share,
    permutation_variance,
    share_standard_error,
)
from skeval.steps.neighbors import pooled_masses
from tests.calibrations import LEVEL, Claim, rate_of
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def evaluate(metric, train, holdout, synthetic):
    return metric.fit(train, holdout).evaluate(synthetic)


TOY = column(0, 1, 4, 9), column(2, 6, 7, 12), column(0, 1.2, 5, 20)


# On the toy table the published distances are unscaled: 20 is 11 from train and 8 from the holdout. The
# engine caps every column's distance at the real range, 12, which none of them exceeds.
@pytest.mark.parametrize(
    ("ties", "share", "protection"), [("half", 0.625, 0.75), ("holdout", 0.5, 1.0)]
)
def test_toy_table(ties, share, protection):
    result = evaluate(DCROverfittingProtection(ties=ties), *TOY)
    assert result.details["closer_to_training"] == share
    assert result.value == protection
    assert result.details["ties"] == 0.25


def test_second_toy_table():
    tables = column(0, 10), column(5, 20), column(1, 2, 6, 11)
    result = evaluate(DCROverfittingProtection(), *tables)
    assert result.details["closer_to_training"] == 0.75
    assert result.value == 0.5
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    masses, on_train = pooled_masses(context, None, None, 0)
    assert masses.tolist() == [0.5, 0.25, 0.25, 0.0]
    assert on_train.tolist() == [1.0, 1.0, 0.0, 1.0]
    assert result.details["null_standard_error"] == pytest.approx(0.0416667**0.5, abs=1e-6)
    assert result.details["z"] == pytest.approx(1.22, abs=0.01)
    assert result.p_value == pytest.approx(1 / 3, abs=0.04)  # two of six choices


def test_p_value_of_a_copy_and_of_the_holdout():
    assert evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, TRAIN).p_value < 1e-12
    assert evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, HOLDOUT).p_value > 1 - 1e-12


def test_the_example_of_sdmetrics():
    tables = column(0, 10), column(0, 5, 10), column(1, 4, 6, 9.9)
    metric = DCROverfittingProtection(ties="holdout", scale="reference")
    with warns(UserWarning):
        metric.fit(*tables[:2])
    result = metric.evaluate(tables[2])
    assert result.details["closer_to_training"] == 0.0
    assert result.value == 1.0


PUBLISHED = {"ties": "holdout", "scale": "reference", "chance": "half"}


def published(train, holdout, synthetic):
    """Return SDMetrics' score of numbers: min(1, 2 (1 - p)), each table on its own ranges."""
    nearest = [
        np.minimum(1.0, abs(synthetic[:, None] - table) / np.ptp(table, axis=0)).mean(2).min(1)
        for table in (train, holdout)
    ]
    return min(1.0, 2.0 * (1.0 - np.mean(nearest[0] < nearest[1])))


@pytest.mark.parametrize(("n_train", "n_holdout"), [(400, 120), (60, 300), (90, 90)])
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_the_published_score_at_any_sizes_by_hand(n_train, n_holdout):
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(n, 3)) for n in (n_train, n_holdout, 200)]
    tables[2][:50] = tables[0][:50] + 0.01
    frames = (pd.DataFrame(table, columns=[*"abc"]) for table in tables)
    result = evaluate(DCROverfittingProtection(**PUBLISHED), *frames)
    assert result.value == pytest.approx(published(*tables), abs=1e-12)
    assert np.isnan(result.p_value or np.nan)


def test_the_published_score_is_that_of_sdmetrics():
    tables = [make_mixed(n, random_state=seed) for seed, n in enumerate((400, 120, 400))]
    metric = DCROverfittingProtection(**PUBLISHED)
    with warns(MetricWarning):
        result = evaluate(metric, *tables)
    assert result.value == pytest.approx(0.455, abs=1e-12)  # of sdmetrics 0.32.0
    assert result.details["closer_to_training"] == 0.7725


@pytest.mark.calibration
@pytest.mark.parametrize("chance", ["sizes", "half"])
def test_baseline_and_test_do_not_depend_on_what_the_score_allows_for(chance):
    rng = np.random.default_rng(0)
    values = []
    for _ in range(150):
        tables = (pd.DataFrame(rng.normal(size=(n, 3)), columns=[*"abc"]) for n in (180, 90, 150))
        result = evaluate(DCROverfittingProtection(chance=chance), *tables)
        values.append((result.value, result.baseline, result.p_value))
    mean, baseline, _ = np.mean(values, axis=0)
    assert mean == pytest.approx(baseline, abs=0.01)
    assert np.mean(np.array(values)[:, 2] <= 0.05) <= 0.1


@pytest.mark.parametrize(
    ("kind", "settings", "n_holdout", "warned"),
    [
        (DCRShare, {}, 41, False),
        (DCRShare, {}, 39, True),
        (DCROverfittingProtection, {}, 39, True),
        (DCRShare, {"ties": "half"}, 201, False),
        (DCRShare, {"ties": "half"}, 199, True),
        (DCROverfittingProtection, {"chance": "half"}, 199, True),
        (DCROverfittingProtection, {"scale": "reference"}, 199, True),
        (DCROverfittingProtection, {**PUBLISHED, "num_rows_subsample": 150}, 160, False),
    ],
)
def test_very_unequal_sizes_are_warned_of(kind, settings, n_holdout, warned):
    tables = [make_mixed(n, random_state=n) for n in (400, n_holdout, 50)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MetricWarning)
        value = kind(**settings).fit(*tables[:2]).score(tables[2])
    assert 0.0 <= value <= 1.0
    assert [one.category.__name__ for one in caught] == ["UnequalSizesWarning"] * warned


def test_own_ranges_turn_the_order_round():
    tables = column(0, 5), column(2, 102), column(4)
    assert evaluate(DCROverfittingProtection(), *tables).details["closer_to_training"] == 1.0
    own = DCROverfittingProtection(scale="reference")
    assert evaluate(own, *tables).details["closer_to_training"] == 0.0


def test_mixed_types_and_missing_values():
    train = pd.DataFrame({"n": [0.0, 10.0, np.nan], "c": ["a", "b", None]})
    synthetic = pd.DataFrame({"n": [5.0, np.nan, 20.0], "c": ["a", None, "b"]})
    context = Context.of(train).with_synthetic(synthetic)
    from skeval.steps.neighbors import nearest

    assert nearest(context, "synthetic", "train")[0].ravel().tolist() == [0.25, 0.0, 0.5]


def test_unequal_tables_are_not_ignored():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")) for n in (300, 100, 300)]
    result = evaluate(DCROverfittingProtection(), *tables)
    assert result.details["expected"] == 0.75
    assert result.details["closer_to_training"] == pytest.approx(0.75, abs=0.08)
    assert result.value > 0.75


def test_duplicated_synthetic_rows_are_no_more_evidence():
    once = evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, SYNTHETIC)
    twice = evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, pd.concat([SYNTHETIC, SYNTHETIC]))
    assert once.interval == pytest.approx(twice.interval)
    assert once.details["standard_error"] == pytest.approx(twice.details["standard_error"])


def test_shares_rise_with_the_leak():
    shares = []
    for leak in (0.0, 0.3, 0.7, 1.0):
        n = int(200 * leak)
        synthetic = pd.concat([TRAIN.iloc[:n], SYNTHETIC.iloc[n:]])
        shares.append(
            evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, synthetic).details[
                "closer_to_training"
            ]
        )
        assert shares[-1] == pytest.approx(0.5 + 0.5 * leak, abs=0.08)
    assert shares == sorted(shares)


def test_labels_exchanged_give_the_complement():
    there = evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, SYNTHETIC).details[
        "closer_to_training"
    ]
    back = evaluate(DCROverfittingProtection(), HOLDOUT, TRAIN, SYNTHETIC).details[
        "closer_to_training"
    ]
    assert there + back == pytest.approx(1.0)


def test_scale_and_names_do_not_matter():
    rescaled = [
        t.assign(age=3.0 * t["age"] - 7, city=t["city"].str.upper())
        for t in (TRAIN, HOLDOUT, SYNTHETIC)
    ]
    plain = evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, SYNTHETIC).value
    assert evaluate(DCROverfittingProtection(), *rescaled).value == plain


@pytest.mark.slow
def test_subsamples_are_averaged():
    metric = DCROverfittingProtection(num_rows_subsample=80, num_iterations=10)
    result = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC)
    singles = [
        evaluate(
            DCROverfittingProtection(num_rows_subsample=80, random_state=i),
            TRAIN,
            HOLDOUT,
            SYNTHETIC,
        )
        for i in range(10)
    ]
    shares = [single.details["closer_to_training"] for single in singles]
    assert result.details["closer_to_training"] == pytest.approx(np.mean(shares))
    assert result.details["between_iterations"] == pytest.approx(np.std(shares, ddof=1))
    assert result.details["between_iterations"] > 0


@pytest.mark.parametrize("kind", [DCROverfittingProtection, DCRBaselineProtection])
def test_iterations_need_a_subsample(kind):
    with raises(InvalidParameterError):
        kind(num_iterations=3).fit(TRAIN, HOLDOUT)


def test_own_ranges_are_of_the_default_space():
    with raises(InvalidParameterError):
        DCROverfittingProtection(scale="reference", space="euclidean").fit(TRAIN, HOLDOUT)


@pytest.mark.calibration
@pytest.mark.parametrize("n_holdout", [150, 80])
def test_standard_error_covers_under_the_null(n_holdout):
    held, scores, baselines, p_values = [], [], [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
            for n in (150, n_holdout, 200)
        ]
        result = evaluate(DCROverfittingProtection(), *tables)
        d = result.details
        held.append(abs(d["closer_to_training"] - d["expected"]) <= 1.96 * d["standard_error"])
        scores.append(result.value)
        baselines.append(result.baseline)
        p_values.append(result.p_value)
    assert 0.92 <= np.mean(held) <= 0.98
    assert np.mean(scores) == pytest.approx(np.mean(baselines), abs=0.01)
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.08


@pytest.mark.slow
def test_p_value_is_calibrated_on_discrete_tables():
    """Ties abound: divided evenly among all nearest rows, they leave the null distribution as it is."""

    def rejects(seed):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame(rng.integers(0, 4, (n, 3)).astype(float), columns=list("abc"))
            for n in (120, 60, 150)
        ]
        context = Context.of(*tables[:2]).with_synthetic(tables[2])
        return DCROverfittingProtection().evaluate_context(context).p_value < 0.05

    found = rate_of(map(rejects, range(300)), LEVEL)
    assert found.holds, found


def test_baseline_protection_by_hand():
    """Random rows are whole numbers from 0 to 10, 2 from the nearer end in the median."""
    metric = DCRBaselineProtection().fit(column(0, 10))
    result = metric.evaluate(column(*[1, 1.5] * 2000))
    assert result.value == pytest.approx(0.125 / 0.2)
    assert result.details["median_synthetic"] == pytest.approx(0.125)
    assert result.details["median_random"] == pytest.approx(0.2)


@pytest.mark.slow
def test_baseline_protection_of_noise_and_copies():
    copy = evaluate(DCRBaselineProtection(), TRAIN, HOLDOUT, TRAIN)
    assert copy.value == 0.0
    assert copy.interval == (0.0, 0.0)
    fresh = evaluate(DCRBaselineProtection(), TRAIN, HOLDOUT, SYNTHETIC)
    assert fresh.interval[0] < fresh.value < fresh.interval[1]
    assert fresh.value == pytest.approx(fresh.baseline, abs=0.1)
    context = Context.of(TRAIN)
    noise = random_rows(context.train, 200, np.random.default_rng(9))
    assert evaluate(DCRBaselineProtection(), TRAIN, HOLDOUT, noise).value > 0.9


@pytest.mark.slow
def test_baseline_protection_repeats_and_subsamples():
    one = evaluate(DCRBaselineProtection(1), TRAIN, HOLDOUT, SYNTHETIC)
    five = evaluate(DCRBaselineProtection(5), TRAIN, HOLDOUT, SYNTHETIC)
    assert one.details["between_repeats"] == 0.0
    assert five.details["between_repeats"] > 0.0
    drawn = evaluate(
        DCRBaselineProtection(num_rows_subsample=100, num_iterations=3), TRAIN, HOLDOUT, SYNTHETIC
    )
    assert drawn.details["between_iterations"] > 0.0
    assert drawn.value == pytest.approx(five.value, abs=0.1)


def test_random_rows_on_train_rows():
    table = pd.DataFrame({"c": ["a", "b"] * 20})
    with warns(DegenerateInputWarning):
        assert np.isnan(DCRBaselineProtection().fit(table).score(table))


def test_random_rows_keep_to_the_columns_of_train():
    train = Context.of(
        TRAIN.assign(
            empty=np.nan,
            note=["a text that is long enough to be one", "and another such text of many words"]
            * 100,
        ),
        schema={"note": "text"},
    ).train
    rows = random_rows(train, 5000, np.random.default_rng(0))
    assert list(rows.columns) == list(train.columns)
    assert (rows.dtypes == train.dtypes).all()
    for name in ("age", "income", "visits", "joined"):
        assert train[name].min() <= rows[name].min()
        assert rows[name].max() <= train[name].max()
    assert (rows["age"] == rows["age"].round()).all()
    assert rows["income"].isna().mean() == pytest.approx(train["income"].isna().mean(), abs=0.02)
    shares = rows["city"].value_counts(normalize=True)
    np.testing.assert_allclose(shares[shares > 0], 1 / (shares > 0).sum(), atol=0.03)


def test_random_rows_do_not_depend_on_the_order_of_columns():
    train = Context.of(TRAIN).train
    there, back = (
        random_rows(t, 50, np.random.default_rng(1)) for t in (train, train[train.columns[::-1]])
    )
    pd.testing.assert_frame_equal(there, back[there.columns])


@pytest.mark.parametrize(("n_train", "n_holdout"), [(200, 1800), (1800, 200)])
def test_ties_and_unequal_tables_give_no_false_verdict(n_train, n_holdout):
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame(rng.integers(0, 2, (n, 5)).astype(float), columns=list("abcde"))
        for n in (n_train, n_holdout, 500)
    ]
    context = Context.of(*tables[:2])
    fresh = DCROverfittingProtection().evaluate_context(context.with_synthetic(tables[2]))
    assert fresh.p_value > 0.025
    assert fresh.interval[0] <= fresh.baseline
    half = DCROverfittingProtection(ties="half").evaluate_context(context.with_synthetic(tables[2]))
    assert half.p_value == fresh.p_value
    assert fresh.details["closer_to_training"] == pytest.approx(fresh.details["expected"], abs=0.02)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_synthetic_rows_are_little_evidence(n):
    for rows in (SYNTHETIC, TRAIN):
        low, high = evaluate(DCROverfittingProtection(), TRAIN, HOLDOUT, rows.iloc[:n]).interval
        assert high - low > 0.5


@pytest.mark.slow
def test_aligned_tables_are_sampled_apart():
    aligned = TRAIN.assign(age=TRAIN["age"] + 1)
    metric = DCROverfittingProtection(num_rows_subsample=60, num_iterations=5)
    there = evaluate(metric, TRAIN, HOLDOUT, aligned).details["closer_to_training"]
    shuffled = aligned.sample(frac=1.0, random_state=0)
    back = evaluate(metric, TRAIN, HOLDOUT, shuffled).details["closer_to_training"]
    assert there == pytest.approx(back, abs=0.2)
    assert there < 0.9


def test_own_scales_have_no_null():
    result = evaluate(DCROverfittingProtection("holdout", "reference"), TRAIN, HOLDOUT, SYNTHETIC)
    assert result.interval is None
    assert result.p_value is None


@pytest.mark.calibration
@pytest.mark.parametrize("sizes", [(300, 60, 400), (60, 300, 100)])
def test_p_value_of_the_baseline_protection_is_calibrated(sizes):
    def rejects(seed):
        rng = np.random.default_rng(seed)
        tables = [pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd")) for n in sizes]
        return evaluate(DCRBaselineProtection(1, max_random_rows=50), *tables).p_value < 0.05

    found = rate_of(map(rejects, range(200)), Claim(0.05, 0.015, 0.085))
    assert found.holds, found


# -------------------------------------------------------------------------- the share and its null


MASSES = np.array([0.5, 0.25, 0.25, 0.0])


def test_masses_of_the_second_toy_table():
    share = TrainShare((0.75,), (MASSES,), n_train=2)
    assert share.value == 0.75
    assert share.null_standard_error**2 == pytest.approx(0.0416667, abs=1e-7)
    assert share.z == pytest.approx(1.22, abs=0.01)
    every = [MASSES[list(chosen)].sum() for chosen in combinations(range(4), 2)]
    assert share.p_value == pytest.approx(np.mean(np.array(every) >= 0.75), abs=0.04)
    assert share.null_standard_error == pytest.approx(np.std(every))


def test_standard_error_by_hand():
    # p = 3/4, variances 1/32 in both tables: (1/4)^2 2/32 + (3/4)^2 2/32
    share = TrainShare((0.75,), (MASSES,), n_train=2)
    assert share.standard_error == pytest.approx(np.sqrt((1 / 16 + 9 / 16) * 2 / 32))


def test_p_value_of_many_masses_is_normal():
    masses = np.random.default_rng(0).dirichlet(np.ones(400))
    share = TrainShare((float(masses[:300].sum()),), (masses,), n_train=300)
    assert share.p_value == norm.sf(share.z)


@pytest.mark.parametrize("n_train", [60, 150, 240])
@pytest.mark.parametrize("n_modes", [1, 2, 5])
@pytest.mark.slow
def test_p_value_holds_for_generators_of_few_rows(n_modes, n_train):
    # all modes next to train: a normal share would have p = .0023 for two of them and 60 of 300
    masses = np.zeros(300)
    masses[:n_modes] = 1.0 / n_modes
    chance = np.prod([(n_train - i) / (300 - i) for i in range(n_modes)])
    share = TrainShare((1.0,), (masses,), n_train)
    assert share.p_value == pytest.approx(chance, abs=0.002 + 3 * np.sqrt(chance / 1000))
    both = TrainShare((1.0, 1.0), (masses, masses), n_train)
    assert both.p_value == min(1.0, 2 * share.p_value)


def test_all_labels_alike_are_no_evidence():
    share = TrainShare((0.5,), (np.full(4, 0.25),), n_train=2)
    assert np.isnan(share.z)
    assert share.p_value == 1.0


def test_draws_are_averaged_and_do_not_lower_the_error():
    one, other = MASSES, MASSES[::-1].copy()
    both = TrainShare((0.75, 0.25), (one, other), n_train=2)
    assert both.value == 0.5
    assert both.z == pytest.approx(0.0, abs=1e-12)
    assert both.null_standard_error == TrainShare((0.75,), (one,), 2).null_standard_error


def test_half_width_at_the_ends_is_the_rule_of_three():
    copies = TrainShare((1.0,), (np.append(np.full(50, 0.02), np.zeros(50)),), n_train=50)
    assert copies.standard_error == pytest.approx(0.0, abs=1e-12)
    assert copies.half_width() == pytest.approx(-np.log(0.05) / 50)
    assert copies.half_width(4) == pytest.approx(-np.log(0.05 / 4) / 50)


def test_simultaneous_intervals_are_wider():
    share = TrainShare((0.5,), (np.random.default_rng(0).dirichlet(np.ones(500)),), n_train=250)
    assert share.half_width() == pytest.approx(1.959964 * share.standard_error)
    assert share.half_width(5) == pytest.approx(norm.isf(0.005) * share.standard_error)


@pytest.mark.parametrize("n_rows", [3, 49])
def test_all_mass_is_exactly_one(n_rows):
    train = pd.DataFrame({"x": np.arange(n_rows, dtype=float)})
    metric = DCROverfittingProtection().fit(train, train + 1000.0)
    assert metric.evaluate(train).details["closer_to_training"] == 1.0


@pytest.mark.parametrize(("ties", "share"), [(0.5, 0.625), (0.0, 0.5)])
def test_closer_share_of_toy_distances(ties, share):
    to_train, to_holdout = np.array([0, 0.2, 1, 11]), np.array([2, 0.8, 1, 8])
    assert closer_share(to_train < to_holdout, to_train == to_holdout, ties=ties) == share


def test_permutation_variance_by_exhaustion():
    masses = np.array([0.5, 0.25, 0.25, 0.0])
    shares = [masses[list(chosen)].sum() for chosen in combinations(range(4), 2)]
    assert permutation_variance(masses, 2) == pytest.approx(np.var(shares))
    assert permutation_variance(masses, 2) == pytest.approx(0.0416667, abs=1e-7)


@pytest.mark.parametrize(("n_train", "n_holdout"), [(3, 5), (6, 2)])
def test_permutation_variance_of_unequal_tables(n_train, n_holdout):
    masses = np.random.default_rng(0).dirichlet(np.ones(n_train + n_holdout))
    shares = [masses[list(chosen)].sum() for chosen in combinations(range(masses.size), n_train)]
    assert permutation_variance(masses, n_train) == pytest.approx(np.var(shares))


def test_standard_error_agrees_with_the_permutation_variance_at_the_null():
    masses = np.random.default_rng(1).dirichlet(np.ones(2000))
    masses[:1000] *= 0.5 / masses[:1000].sum()
    masses[1000:] *= 0.5 / masses[1000:].sum()
    assert share_standard_error(masses, 1000) == pytest.approx(
        permutation_variance(masses, 1000) ** 0.5, rel=0.01
    )
