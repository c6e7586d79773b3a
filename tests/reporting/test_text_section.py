"""Reports on free text have counts and shares, and no word of any text."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from pypdf import PdfReader

from skeval import MetricSuite, Result, SuiteResult
from skeval.fidelity import TVComplement
from skeval.reporting.displays.entities import EntitiesDisplay
from skeval.text import (
    EntityLeakage,
    TextExactMatch,
    TextLengthSimilarity,
    TextMembershipInference,
    TextPRD,
    VocabularySimilarity,
)

NAMES = [
    f"{a}{b}" for a in ("Quill", "Harrow", "Brack", "Ostrey") for b in ("wyn", "mere", "den", "ton")
]
WORDS = np.array(["meter", "bill", "visit", "refund", "contract", "delivery", "letter", "gas"])
METRICS = [
    ("lengths", TextLengthSimilarity()),
    ("words", VocabularySimilarity()),
    ("prd", TextPRD(n_clusters=4, n_runs=2)),
    ("copies", TextExactMatch()),
    ("entities", EntityLeakage()),
    ("membership", TextMembershipInference()),
    ("shares", TVComplement()),
]


def notes(seed: int, n_rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    who = [f"{rng.choice(NAMES)}{seed}{i}" for i in range(n_rows)]
    texts = [
        f"{name}@example.org asked about the {' '.join(rng.choice(WORDS, rng.integers(2, 9)))}"
        for name in who
    ]
    return pd.DataFrame({"note": texts, "kind": rng.choice(["a", "b"], n_rows)})


@pytest.fixture(scope="module")
def leaky() -> SuiteResult:
    train, holdout, synthetic = (notes(seed) for seed in range(3))
    synthetic.loc[:29, "note"] = train["note"][:30].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MetricSuite(METRICS).fit(train, holdout, schema={"note": "text"}).evaluate(synthetic)


def test_frame_of_entities(leaky: SuiteResult) -> None:
    display = leaky["entities"].display()
    assert isinstance(display, EntitiesDisplay)
    frame = display.frame().set_index("type")
    assert frame.loc["EMAIL"].tolist() == [30, 0]
    assert len(display.plot().figure_.axes[0].patches) == 2 * len(frame)
    again = Result.from_dict(leaky["entities"].to_dict())
    assert EntitiesDisplay(again).frame().equals(display.frame())


@pytest.mark.slow
def test_no_name_and_no_sentence_in_any_file(leaky: SuiteResult, tmp_path) -> None:
    pages = PdfReader(leaky.to_pdf(tmp_path / "r.pdf")).pages
    texts = [
        "".join(page.extract_text() for page in pages),
        leaky.to_html(tmp_path / "r.html").read_text("utf-8"),
        leaky.to_json(),
    ]
    assert all("Entity leakage" in text for text in texts[:2])
    for text in texts:
        assert not re.search("|".join(NAMES), text, re.IGNORECASE)
        assert "asked about" not in text
