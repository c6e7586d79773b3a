"""
Which text metric detects which leak
====================================

A language model can disclose its training texts in many ways. It may copy a text, change a few
words, quote a passage, change the order of words, or imitate the style of an author. In this
example, one of ten synthetic news articles contains such a leak. The metrics of :mod:`skeval.text`
compare training texts with holdout texts. Therefore content that is common to all news is not
reported as a leak.
"""

# %%
# The data are nearly three hundred articles from the test data of gensim. One third is training
# data and one third is holdout data. The last third represents synthetic texts without a leak.
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
# Some people have an unusual style of writing. Ten training texts are in capitals, and ten holdout
# texts have slashes between words. ``StylisticOutliers`` tests whether the style of training texts
# occurs in the synthetic texts.
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
# One suite, which is fitted once, computes the p-values of all metrics. A p-value is the fraction
# of random choices of the training articles with at least the same evidence of a leak.
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
# No metric detects all leaks. Most metrics detect copies, and only the metric of style detects an
# imitated style. An attacker who ranks all articles has little success, because only ten of a
# hundred texts leak. A large p-value does not prove that there is no leak. For example, these tests
# do not detect content in other words.
