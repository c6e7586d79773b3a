"""CTGAN, TVAE, ARF and TabularARGN, each in an environment that has its package.

python others.py GENERATOR FITTING SEED TRAIN OUT
"""

from __future__ import annotations

import sys
import tempfile

import numpy as np
import pandas as pd

EPOCHS = {
    "ctgan": {"light": 50, "normal": 300, "heavy": 1500},
    "tvae": {"light": 50, "normal": 300, "heavy": 1500},
    "argn": {"light": 10, "normal": 50, "heavy": 200},
}
LEAVES = {"light": 20, "normal": 5, "heavy": 2}


def filled(train):
    """Return a table without gaps, and its columns of words."""
    words = [name for name, column in train.items() if column.dtype.kind not in "iuf"]
    table = train.copy()
    for name, column in train.items():
        if name in words:
            table[name] = column.astype(object).where(column.notna(), "missing").astype(str)
        elif column.isna().any():
            table[f"{name} missing"] = np.where(column.isna(), "yes", "no")
            table[name] = column.fillna(column.median())
            words.append(f"{name} missing")
    return table.astype(dict.fromkeys(words, object)), words


def emptied(made, train):
    """Return the table with its gaps again."""
    made = made.reset_index(drop=True)
    for name in train:
        if f"{name} missing" in made:
            made.loc[made[f"{name} missing"].astype(str) == "yes", name] = np.nan
        elif train[name].dtype.kind not in "iuf":
            words = made[name].astype(object)
            made[name] = words.where(words != "missing", None)
    return made[[*train]]


def gan(name, train, fitting, seed):
    """Return rows of CTGAN or TVAE."""
    import ctgan
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    table, words = filled(train)
    kind = ctgan.CTGAN if name == "ctgan" else ctgan.TVAE
    numbers = [c for c in table if c not in words and table[c].nunique() <= 10]
    model = kind(epochs=EPOCHS[name][fitting], batch_size=100, enable_gpu=False)
    model.set_random_state(seed)
    model.fit(table, [*words, *numbers])
    return emptied(model.sample(len(train)), train)


def arf(_, train, fitting, seed):
    """Return rows of adversarial random forests."""
    from arfpy import arf as forests

    table, _ = filled(train)
    np.random.seed(seed)  # noqa: NPY002  arfpy draws from it
    model = forests.arf(table, min_node_size=LEAVES[fitting], verbose=False, random_state=seed)
    model.forde()
    return emptied(model.forge(n=len(train)), train)


def argn(_, train, fitting, seed):
    """Return rows of TabularARGN."""
    import torch
    from mostlyai.engine import TabularARGN

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        model = TabularARGN(
            max_epochs=EPOCHS["argn"][fitting],
            random_state=seed,
            device="cpu",
            workspace_dir=folder,
            verbose=0,
        )
        return model.fit(X=train).sample(n_samples=len(train))[[*train]]


if __name__ == "__main__":
    name, fitting, seed, source, target = sys.argv[1:]
    run = {"arf": arf, "argn": argn}.get(name, gan)
    made = run(name, pd.read_parquet(source), fitting, int(seed))
    made.to_parquet(target, index=False)
