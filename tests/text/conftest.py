"""Real text that many tests use: paragraphs of an encyclopaedia, by article."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def paragraphs() -> pd.DataFrame:
    """Paragraphs of 40 words or more of the Wikipedia articles that gensim's test data hold."""
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki
    from gensim.test.utils import datapath
    from gensim.utils import open as opened

    name = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
    with opened(datapath(name), "rb") as file:
        pages = [
            (title, part.strip())
            for title, text, _ in extract_pages(file, filter_namespaces=("0",))
            for part in filter_wiki(text).split("\n")
        ]
    long = [(title, part) for title, part in pages if len(part.split()) >= 40 and part[0].isalpha()]
    return pd.DataFrame(long, columns=["article", "text"]).drop_duplicates(
        "text", ignore_index=True
    )


@pytest.fixture(scope="session")
def thirds(paragraphs):
    """Return a function that draws train, holdout and synthetic paragraphs, disjoint."""

    def drawn(seed: int, n: int = 400) -> list[pd.DataFrame]:
        order = np.random.default_rng(seed).permutation(len(paragraphs))[: 3 * n]
        return [paragraphs.iloc[part].reset_index(drop=True) for part in np.split(order, 3)]

    return drawn
