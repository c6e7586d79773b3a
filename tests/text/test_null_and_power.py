"""Independent text of one source raises few alarms, planted leaks are found: on an encyclopaedia."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.text import (
    LongestCommonSubstring,
    NearDuplicateText,
    NGramNovelty,
    TextExactMatch,
)

SCHEMA = {"text": "text", "article": "id"}
METRICS = {
    "exact": TextExactMatch(columns=["text"], n_permutations=999),
    "near": NearDuplicateText(columns=["text"], n_permutations=999),
    "substring": LongestCommonSubstring(columns=["text"], n_permutations=999),
    "novelty": NGramNovelty(n=4, columns=["text"], n_permutations=999),
}
N_SPLITS, MOST_ALARMS = 200, 18  # of 200 at 5%, 18 or fewer in 98.5% of cases


def p_value(metric, tables, **changed):
    train, holdout, synthetic = tables
    fitted = metric.set_params(**changed).fit(train, holdout, schema=SCHEMA)
    return fitted.evaluate(synthetic).p_value


def by_article(paragraphs, seed):
    """Split the articles, not the paragraphs: those of one article are alike."""
    titles = np.random.default_rng(seed).permutation(np.unique(paragraphs["article"]))
    thirds = (np.isin(paragraphs["article"], part) for part in np.split(titles, 3))
    return [paragraphs[mask].groupby("article").head(6).reset_index(drop=True) for mask in thirds]


@pytest.mark.slow
@pytest.mark.parametrize("name", METRICS)
def test_paragraphs_of_one_source_raise_few_alarms(name, thirds):
    p_values = [p_value(METRICS[name], thirds(seed, 200)) for seed in range(N_SPLITS)]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", METRICS)
def test_articles_change_places_as_a_whole(name, paragraphs):
    p_values = [
        p_value(METRICS[name], by_article(paragraphs, seed), group="article")
        for seed in range(N_SPLITS)
    ]
    assert np.sum(np.array(p_values) <= 0.05) <= MOST_ALARMS
