"""Gaps and ratios between groups are those of fairlearn, but where a rate has no rows."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.utility.groups import gap, group_counts, group_rates, rate_ratio

pytestmark = pytest.mark.peers

PEER = """
from fairlearn import metrics

found = []
for truth, called, groups in given:
    of = {"y_true": truth, "y_pred": called, "sensitive_features": groups}
    found.append({
        "demographic_parity": metrics.demographic_parity_difference(**of),
        "equalized_odds": metrics.equalized_odds_difference(**of),
        "equalized_odds mean": metrics.equalized_odds_difference(**of, agg="mean"),
        "equal_opportunity": metrics.equal_opportunity_difference(**of),
        "demographic_parity ratio": metrics.demographic_parity_ratio(**of),
        "equalized_odds ratio": metrics.equalized_odds_ratio(**of),
        "equal_opportunity ratio": metrics.equal_opportunity_ratio(**of),
    })
    found[-1] = {name: float(value) for name, value in found[-1].items()}
"""
CRITERIA = ["demographic_parity", "equalized_odds", "equal_opportunity"]


def drawn(seed):
    """Return truth, calls and groups: two to six of these, of unlike sizes and rates."""
    rng = np.random.default_rng(seed)
    n_groups = 2 + seed % 5
    groups = rng.choice(n_groups, 300, p=rng.dirichlet(np.full(n_groups, 5.0)))
    truth = rng.random(300) < rng.uniform(0.2, 0.8, n_groups)[groups]
    called = rng.random(300) < rng.uniform(0.1, 0.9, (n_groups, 2))[groups, truth.astype(int)]
    return truth, called, groups


def ours(truth, called, groups):
    n_groups = int(groups.max()) + 1
    rates = group_rates(group_counts(groups, truth, called, np.ones((1, truth.size)), n_groups))
    found = {name: gap(rates, name)[0] for name in CRITERIA}
    found |= {f"{name} ratio": rate_ratio(rates, name)[0] for name in CRITERIA}
    return found | {"equalized_odds mean": gap(rates, "equalized_odds", "mean")[0]}


def asked(peer, tables):
    return peer("fairlearn", PEER, [[part.astype(int).tolist() for part in t] for t in tables])


def test_all_criteria_agree(peer):
    tables = [drawn(seed) for seed in range(20)]
    for table, theirs in zip(tables, asked(peer, tables), strict=True):
        assert ours(*table) == pytest.approx(theirs, abs=1e-12)


def test_a_group_without_positive_rows_has_no_rate_here(peer):
    """There its true positive rate is 0, and the gap the whole of the other group's."""
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
    called = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0], dtype=bool)
    groups = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])
    (theirs,) = asked(peer, [(truth, called, groups)])
    assert theirs["equal_opportunity"] == 0.75
    assert np.isnan(ours(truth, called, groups)["equal_opportunity"])
