"""Measure the time of all text metrics without models, each in a separate process.

    python benchmarks/text.py [--rows 50000] [--words 80] [--only NGramNovelty TextExactMatch]

The texts are random walks over the words of the Wikipedia articles in the test data of gensim. Each
word is followed by a word that also follows it in the articles, so that phrases repeat like in a
natural language. One in a hundred synthetic texts is a copy. Wall and CPU seconds include fit and
evaluate, with the p-value and all details. The peak is the memory of the process with the tables.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import skeval.text
from skeval import Metric
from skeval.exceptions import SkevalError

SCHEMA = {"note": "text"}
CORPUS = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"


def successors():
    """Return the distinct words of the articles, and the words that follow each, with repeats."""
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki
    from gensim.test.utils import datapath
    from gensim.utils import open as opened

    with opened(datapath(CORPUS), "rb") as file:
        pages = [filter_wiki(text) for _, text, _ in extract_pages(file, filter_namespaces=("0",))]
    words, codes = np.unique(" ".join(pages).split(), return_inverse=True)
    order = np.argsort(codes[:-1], kind="stable")
    starts = np.searchsorted(codes[:-1][order], np.arange(words.size + 1))
    return words, codes[1:][order], starts


def table_of(corpus, n_rows, n_words, seed):
    words, following, starts = corpus
    rng = np.random.default_rng(seed)
    walk = np.empty((n_rows, n_words), dtype=np.int64)
    walk[:, 0] = rng.choice(following, n_rows)
    for i in range(1, n_words):
        low, high = starts[walk[:, i - 1]], starts[walk[:, i - 1] + 1]
        places = rng.integers(low, np.maximum(high, low + 1))
        walk[:, i] = following[places % following.size]  # any word may follow the last word
    return pd.DataFrame({"note": [" ".join(row) for row in words[walk]]})


def tables_of(n_rows, n_words):
    corpus = successors()
    train, holdout, synthetic = (table_of(corpus, n_rows, n_words, seed) for seed in range(3))
    n_copies = max(1, n_rows // 100)
    synthetic.iloc[:n_copies] = train.iloc[:n_copies].to_numpy()
    return train, holdout, synthetic


def metric_of(name, holdout):
    kind = getattr(skeval.text, name)
    if name == "TextCanaryExposure":
        return kind(*skeval.text.make_canaries(holdout["note"], 10, 1000))
    return kind()


def measured(name, tables, queue):
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        metric = metric_of(name, tables[1])
        value = metric.fit(*tables[:2], schema=SCHEMA).evaluate(tables[2]).value
    except (SkevalError, ImportError) as error:
        queue.put((name, f"left out: {type(error).__name__}", "", "", ""))
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    queue.put((name, f"{value:.4g}", *(f"{s:.1f}" for s in seconds), f"{peak:.2f}"))


def main():
    names = [n for n in skeval.text.__all__ if is_metric(getattr(skeval.text, n))]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=80)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    options = parser.parse_args()
    shown = Table("metric", "value", "wall s", "CPU s", "peak GB")
    tables = tables_of(options.rows, options.words)
    processes = multiprocessing.get_context("fork")  # shares the tables without a copy
    for name in options.only:
        queue = processes.Queue()
        process = processes.Process(target=measured, args=(name, tables, queue))
        process.start()
        shown.add_row(*queue.get())
        process.join()
    console = Console(width=100)
    console.print(f"{options.rows:,} texts of {options.words} words per table")
    console.print(shown)


def is_metric(kind):
    return isinstance(kind, type) and issubclass(kind, Metric)


if __name__ == "__main__":
    main()
