"""Independent text of one source raises few alarms, planted leaks are found: on an encyclopaedia."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from skeval import MetricSuite
from skeval.text import (
    LongestCommonSubstring,
    NearDuplicateText,
    NGramNovelty,
    StylisticOutliers,
    TextCanaryExposure,
    TextExactMatch,
    TextMembershipInference,
    make_canaries,
)

SCHEMA = {"text": "text", "article": "id"}
SETTINGS = {"columns": ["text"], "n_permutations": 999}
METRICS = {
    "exact": TextExactMatch(**SETTINGS),
    "near": NearDuplicateText(**SETTINGS),
    "substring": LongestCommonSubstring(**SETTINGS),
    "novelty": NGramNovelty(n=4, **SETTINGS),
    "style": StylisticOutliers(share=0.1, **SETTINGS),
    "words": StylisticOutliers("tfidf", share=0.1, **SETTINGS),
    "membership": TextMembershipInference(**SETTINGS),
}
# an exact test rejects 10 of 200 on average, and more than 18 once in a hundred times
N_SPLITS, MAX_REJECTED = 200, 18


def p_value(metric, tables, **changed):
    train, holdout, synthetic = tables
    fitted = clone(metric).set_params(**changed).fit(train, holdout, schema=SCHEMA)
    return fitted.evaluate(synthetic).p_value


def by_article(paragraphs, seed):
    """Split the articles, not the paragraphs: those of one article are alike."""
    titles = np.random.default_rng(seed).permutation(np.unique(paragraphs["article"]))
    thirds = (np.isin(paragraphs["article"], part) for part in np.split(titles, 3))
    return [paragraphs[mask].groupby("article").head(6).reset_index(drop=True) for mask in thirds]


def assert_few_alarms(splits, **changed):
    """Hold each test to its level, and the verdict of all of them to 5% of the splits."""
    metrics = [(name, clone(metric).set_params(**changed)) for name, metric in METRICS.items()]
    suite, alarms, p_values = MetricSuite(metrics, check_holdout=False), [], []
    for train, holdout, synthetic in splits:
        results = suite.fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
        alarms.append(results.verdict().alarm)
        p_values.append([result.p_value for result in results.values()])
    n_rejected = (np.array(p_values, dtype=np.float64) <= 0.05).sum(axis=0)
    assert np.mean(alarms) <= 0.05
    assert dict(zip(METRICS, n_rejected <= MAX_REJECTED, strict=True)) == dict.fromkeys(
        METRICS, True
    )


@pytest.mark.calibration
def test_paragraphs_of_one_source_raise_few_alarms(thirds):
    assert_few_alarms(thirds(seed, 200) for seed in range(N_SPLITS))


@pytest.mark.calibration
def test_articles_change_places_as_a_whole(paragraphs):
    splits = (by_article(paragraphs, seed) for seed in range(N_SPLITS))
    assert_few_alarms(splits, group="article")


@pytest.mark.calibration
def test_canaries_that_nobody_learned_raise_few_alarms(thirds):
    p_values = []
    for seed in range(N_SPLITS):
        train, holdout, synthetic = thirds(seed, 100)
        canaries = make_canaries(holdout["text"], 10, 50, random_state=seed)
        metric = TextCanaryExposure(*canaries, **SETTINGS)
        p_values.append(p_value(metric, (train, None, synthetic)))
    assert np.sum(np.array(p_values) <= 0.05) <= MAX_REJECTED


def copied_sentences(train, rng):
    """Paragraphs that each quote a sentence of a train paragraph."""
    return [max(text.split(". "), key=len) for text in rng.choice(train, 12, replace=False)]


def edited(train, rng):
    """Copies of train paragraphs in which one word in twenty is another one."""
    copies = []
    for text in rng.choice(train, 12, replace=False):
        words = np.array(text.split(), dtype=object)
        words[::20] = "so"
        copies.append(" ".join(words))
    return copies


LEAKS = {
    "exact": lambda train, rng: rng.choice(train, 8, replace=False).tolist(),
    "near": edited,
    "substring": copied_sentences,
    "novelty": copied_sentences,
    "membership": lambda train, rng: [" ".join(t.split()[::2]) for t in train[:100]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_planted_leaks_are_found(name, thirds):
    train, holdout, synthetic = thirds(0)
    rng = np.random.default_rng(0)
    leaked = LEAKS[name](train["text"].to_numpy(dtype=object), rng)
    texts = [*leaked, *synthetic["text"][len(leaked) :]]
    assert p_value(METRICS[name], (train, holdout, synthetic.assign(text=texts))) < 0.01


@pytest.mark.slow
def test_authors_whose_style_is_copied_are_found(thirds):
    """Ten authors of train write in capitals, each in a few texts, ten of the holdout in verse."""
    train, holdout, synthetic = thirds(0)
    train = train.assign(article=[f"t{i % 100}" for i in range(400)])
    holdout = holdout.assign(article=[f"h{i % 100}" for i in range(400)])
    style = {"train": str.upper, "holdout": lambda text: text.replace(" ", " / ").lower()}
    chosen = {"train": train, "holdout": holdout}
    for role, table in chosen.items():
        of_ten = table["article"].str[1:].astype(int) < 10
        table.loc[of_ten, "text"] = table.loc[of_ten, "text"].map(style[role])
    texts = [text.upper() if i < 120 else text for i, text in enumerate(synthetic["text"])]
    tables = train, holdout, synthetic.assign(text=texts)
    assert p_value(METRICS["style"], tables, group="article") < 0.01


@pytest.mark.slow
def test_planted_canaries_are_found(thirds):
    train, holdout, synthetic = thirds(0)
    canaries = make_canaries(holdout["text"], 10, 500, random_state=0)
    echoes = [" ".join(canary.split()[-6:]) for canary in canaries.planted]
    texts = [f"{text} {echo}" for text, echo in zip(synthetic["text"], echoes, strict=False)]
    metric = TextCanaryExposure(*canaries, **SETTINGS)
    assert p_value(metric, (train, None, synthetic.head(10).assign(text=texts))) < 0.01
