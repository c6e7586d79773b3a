from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.correct_attribution import (
    attribution_scores,
    cap,
    cap_of_synthetic,
    disclosure_scores,
    generalized_cap,
    guess_protection,
    inference_distance,
    weap,
)

# real keys a, a, b, c and secrets x, y, x, z; synthetic a, a, a, b and x, x, y, y
REAL = np.array([0, 0, 1, 2]), np.array([0, 1, 0, 2])
SYNTHETIC = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
# keys of two columns: a p, a q, b p, c q; synthetic a p, a q, b q
KEYS, KEYS_SYNTHETIC = (
    np.array([[0, 0], [0, 1], [1, 0], [2, 1]]),
    np.array([[0, 0], [0, 1], [1, 1]]),
)
SECRETS_SYNTHETIC = np.array([0, 0, 1])


def one_column(keys):
    return keys[:, None]


def by_hand(codes, secrets, synthetic_codes, synthetic_secrets):
    """Return the share among the rows at the least Hamming distance, target by target."""
    found = []
    for key, secret in zip(codes, secrets, strict=True):
        apart = (synthetic_codes != key).sum(axis=1)
        nearest = synthetic_secrets[apart == apart.min()]
        found.append(np.mean(nearest == secret))
    return np.array(found)


def drawn(n, m, n_columns, n_levels, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, (n + m, n_columns)) ** 2 - 3
    secrets = rng.integers(-1, 4, n + m)
    return codes[:n], secrets[:n], codes[n:], secrets[n:]


# ------------------------------------------------------------------------------- values by hand


def test_cap():
    assert cap(REAL, SYNTHETIC) == pytest.approx([2 / 3, 1 / 3, 0, np.nan], nan_ok=True)


def test_generalized_cap():
    """Key c is as far from all keys as can be, and no row has its secret z."""
    found = generalized_cap(one_column(REAL[0]), REAL[1], one_column(SYNTHETIC[0]), SYNTHETIC[1])
    assert found == pytest.approx([2 / 3, 1 / 3, 0, 0])


def test_two_columns():
    found = generalized_cap(KEYS, REAL[1], KEYS_SYNTHETIC, SECRETS_SYNTHETIC)
    # b p is one column from a p (x) and from b q (y); c q from a q (x) and b q (y)
    assert found == pytest.approx([1, 0, 0.5, 0])


@pytest.mark.parametrize(("tau", "expected"), [(1.0, [0.0]), (0.6, [1.0, 0.0, 0.0])])
def test_tcap(tau, expected):
    found = attribution_scores(REAL, SYNTHETIC, tau)
    assert found[~np.isnan(found)].tolist() == expected
    assert np.isnan(found[3])


def test_tcap_of_equally_frequent_secrets():
    synthetic = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 0, 1])
    assert attribution_scores(REAL, synthetic, tau=0.5).tolist()[:3] == [0.5, 0.5, 1.0]
    # three tenths are three tenths, whatever their sum is
    thirds = np.zeros(3, dtype=int), np.arange(3)
    assert attribution_scores(REAL, thirds, tau=1 / 3)[:2] == pytest.approx([1 / 3, 1 / 3])


def test_tcap_over_synthetic_rows():
    assert cap_of_synthetic(REAL, SYNTHETIC) == 0.0  # b is always y, and really x
    # a is x in two of three synthetic rows, and in one of two real ones
    assert cap_of_synthetic(REAL, SYNTHETIC, tau=0.6) == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert np.isnan(cap_of_synthetic((np.array([7]), np.array([0])), SYNTHETIC))


def test_disco():
    assert disclosure_scores(REAL, SYNTHETIC).mean() == 0.0
    assert disclosure_scores(REAL, (SYNTHETIC[0], np.array([0, 0, 1, 0]))).mean() == 0.25


def test_weap():
    assert weap(*SYNTHETIC) == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1])


def test_guesses():
    secrets = np.array([[0, 0], [0, 1], [1, 0], [0, 0]])
    assert guess_protection(secrets) == 0.75
    assert guess_protection(secrets, "marginal") == 1 - (0.5**2 + 2 * 0.25**2)
    assert guess_protection(secrets, "mode") == 0.5
    assert guess_protection(np.zeros((3, 1))) == 0.0


def test_inference_distance():
    reference = np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 2.0], [4.0, 3.0]])
    true, predicted = np.array([[1.0, 1.0]]), np.array([[3.5, 3.0]])
    # ranks 1/4 and 3/4; 1/3 and 1, since missing values have no rank
    assert inference_distance(predicted, true, reference) == pytest.approx(1 / 4 + 4 / 9)
    assert inference_distance(predicted, true, reference, p=1) == pytest.approx(1 / 2 + 2 / 3)
    assert inference_distance(true, true, reference) == 0.0
    worst = inference_distance(np.full(1, -9.0), np.full(1, 9.0), np.arange(4.0))
    assert worst == 1.0


# --------------------------------------------------------------------------------- brute force


@pytest.mark.parametrize(
    ("n", "m", "n_columns", "n_levels"),
    [(40, 30, 3, 3), (60, 5, 6, 4), (30, 80, 1, 40), (25, 1, 4, 2), (50, 60, 5, 400)],
)
def test_generalized_cap_is_exact(n, m, n_columns, n_levels):
    for seed in range(5):
        tables = drawn(n, m, n_columns, n_levels, seed)
        assert generalized_cap(*tables) == pytest.approx(by_hand(*tables), abs=1e-12)


def test_blocks_do_not_matter(monkeypatch):
    tables = drawn(60, 30, 5, 4, seed=0)
    whole = generalized_cap(*tables)
    for size in (1, 70, 10_000):
        monkeypatch.setattr("skeval.stats.correct_attribution._BLOCK", size)
        assert generalized_cap(*tables).tolist() == whole.tolist()


def test_many_columns():
    """More columns than a byte counts."""
    rng = np.random.default_rng(0)
    codes, secrets = rng.integers(0, 2, (20, 300)), rng.integers(0, 2, 20)
    tables = codes[:8], secrets[:8], codes[8:], secrets[8:]
    assert generalized_cap(*tables) == pytest.approx(by_hand(*tables))


def test_cap_is_exact():
    for seed in range(5):
        codes, secrets, synthetic_codes, synthetic_secrets = drawn(40, 30, 1, 6, seed)
        targets, synthetic = (codes[:, 0], secrets), (synthetic_codes[:, 0], synthetic_secrets)
        expected, modal = [], []
        for key, secret in zip(*targets, strict=True):
            told = synthetic[1][synthetic[0] == key]
            expected.append(np.mean(told == secret) if told.size else np.nan)
            values, counts = np.unique(told, return_counts=True)
            best = values[counts == counts.max(initial=0)] if told.size else values
            sure = told.size and counts.max() / told.size >= 0.4
            modal.append((secret in best) / best.size if sure else np.nan)
        assert cap(targets, synthetic) == pytest.approx(expected, nan_ok=True)
        assert attribution_scores(targets, synthetic, 0.4) == pytest.approx(modal, nan_ok=True)
        found = np.nan_to_num(np.array(expected)) == 1
        assert disclosure_scores(targets, synthetic).tolist() == found.astype(float).tolist()


def test_writing_the_release_out_twice_changes_nothing():
    codes, secrets, others, told = drawn(40, 30, 3, 3, seed=1)
    twice = np.concatenate([others, others]), np.concatenate([told, told])
    assert generalized_cap(codes, secrets, *twice) == pytest.approx(
        generalized_cap(codes, secrets, others, told)
    )
