"""
Which metric sees which leak of a text?
=======================================

A language model can give its training texts away in many ways: it copies a text, changes a few
words, quotes a passage, writes the same in another order, or puts what it knows in the style of
one of its authors. Here each of these is planted in one synthetic text of ten, over news articles.
The metrics of :mod:`skeval.text` hold train against a holdout, so that what is common to all news
is no leak.
"""

# %%
# Nearly three hundred articles of gensim's test data: a third is train, a third the holdout, and a
# third, which no generator made, stands for synthetic text that leaks nothing.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from gensim.test.utils import datapath

from skeval import MetricSuite
from skeval.text import (
    LongestCommonSubstring,
    NearDuplicateText,
    NGramNovelty,
    StylisticOutliers,
    TextExactMatch,
    TextMembershipInference,
)

with open(datapath("lee_background.cor"), encoding="utf-8") as file:
    articles = pd.unique(pd.Series([line.strip() for line in file], dtype=object))
train, holdout, fresh = np.array_split(np.random.default_rng(0).permutation(articles), 3)

# %%
# Ten texts of each of the two real tables are in capitals, as some people write: whether those of
# train turn up again is what ``StylisticOutliers`` asks.
train[:10] = [text.upper() for text in train[:10]]
holdout[:10] = [text.replace(" ", " / ").lower() for text in holdout[:10]]


def edited(text):
    words = text.split()
    return " ".join("so" if i % 15 == 7 else word for i, word in enumerate(words))


def shuffled(text):
    return " ".join(np.random.default_rng(0).permutation(text.split()))


sources = train[10:20]
leaks = {
    "nothing": fresh[:10],
    "copies": sources,
    "some words changed": [edited(text) for text in sources],
    "passages quoted": [
        f"{new} {' '.join(old.split()[20:40])}"
        for new, old in zip(fresh[:10], sources, strict=True)
    ],
    "words in another order": [shuffled(text) for text in sources],
    "style imitated": [text.upper() for text in fresh[:10]],
}

# %%
# One suite, fitted once. Its rows are p-values: how often random choices of which articles were
# train look as bad.
suite = MetricSuite(
    [
        ("exact match", TextExactMatch()),
        ("near duplicate", NearDuplicateText()),
        ("longest passage", LongestCommonSubstring()),
        ("phrases", NGramNovelty(n=4)),
        ("membership", TextMembershipInference()),
        ("style", StylisticOutliers(share=0.15)),
    ]
).fit(pd.DataFrame({"text": train}), pd.DataFrame({"text": holdout}), schema={"text": "text"})
p_values = {}
for name, texts in leaks.items():
    synthetic = pd.DataFrame({"text": [*texts, *fresh[10:]]})
    p_values[name] = {metric: r.p_value for metric, r in suite.evaluate(synthetic).items()}
p_values = pd.DataFrame(p_values)

# %%
fig, ax = plt.subplots(figsize=(8.5, 4.0), layout="constrained")
image = ax.imshow(np.log10(p_values), cmap="Reds_r", vmin=-4, vmax=0, aspect="auto")
ax.set_xticks(range(p_values.shape[1]), p_values.columns, rotation=20, ha="right")
ax.set_yticks(range(len(p_values)), p_values.index)
for (i, j), p_value in np.ndenumerate(p_values.to_numpy()):
    ax.text(j, i, f"{p_value:.2g}", ha="center", va="center", fontsize=8)
_ = fig.colorbar(image, label="p-value, as a power of ten")

# %%
# No metric sees all leaks. Copies are seen by most, imitated style by the metric of style alone,
# and ten leaks in a hundred texts are hardly seen by an attacker who ranks all articles. A large
# p-value clears nothing: these tests do not see what a text says in other words.
