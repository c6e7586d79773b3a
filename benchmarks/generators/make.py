"""Generate synthetic tables with generators that are fitted to real tables.

    python benchmarks/generators/make.py [--out DIRECTORY]

The script continues after an interruption, because existing tables are not generated again. A file
STOP in the directory ends the script after the current table. The tables with n = 500 come first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from tables import CHOOSE, JUDGE, load, pack, rows, unpack
from tree import private_tree

from skeval.generators import GaussianCopula, SequentialCART

FITTINGS = ("light", "heavy", "normal")
SHARES = {"light": 0.003, "normal": 0.01, "heavy": 0.03}
LEAVES = {"light": 50, "normal": 5, "heavy": 1}
ENVIRONMENTS = Path(os.environ.get("GENERATOR_ENVIRONMENTS", "/opt/generators"))
STEPS = {"light": 1.0, "normal": 0.5, "heavy": 0.1}


def cart(train, fitting, seed):
    """Return rows sampled from trees. Smaller leaves fit the training rows more closely."""
    model = SequentialCART(min_samples_leaf=LEAVES[fitting], random_state=seed)
    return model.fit(train).sample(len(train), random_state=seed)


def copula(train, fitting, seed):
    """Return rows of a Gaussian copula, which has only one fit."""
    return GaussianCopula().fit(train).sample(len(train), random_state=seed)


def smote(train, fitting, seed):
    """Return rows between a row and one of its five neighbors, with categories of either."""
    rng = np.random.default_rng(seed)
    codes = train.apply(lambda c: c if c.dtype.kind in "iuf" else pd.factorize(c)[0])
    ranks = codes.rank(pct=True).fillna(0).to_numpy()
    start = rng.integers(len(train), size=len(train))
    near = np.array([np.argsort(np.abs(ranks - ranks[i]).sum(1))[1:6] for i in start])
    end = near[np.arange(len(start)), rng.integers(5, size=len(start))]
    step = rng.random(len(start)) * STEPS[fitting]
    made = {}
    for name, column in train.items():
        a, b = column.to_numpy()[start], column.to_numpy()[end]
        made[name] = (
            a + step * (b - a) if column.dtype.kind in "iuf" else np.where(step < 0.5, a, b)
        )
    return pd.DataFrame(made)


def copies(train, fitting, seed):
    """Return rows of a copula and some copies of training rows."""
    n = max(2, round(SHARES[fitting] * len(train)))
    chosen = train.sample(n, random_state=seed)
    return pd.concat([chosen, copula(train, fitting, seed).iloc[n:]], ignore_index=True)


def noisy(train, fitting, seed):
    """Return copies with small changes of numbers and one cell of another row."""
    n = max(2, round(SHARES[fitting] * len(train)))
    rng = np.random.default_rng(seed)
    chosen = train.sample(n, random_state=seed).reset_index(drop=True)
    for name, column in chosen.items():
        if column.dtype.kind == "f":
            chosen[name] = column + rng.normal(0, 0.02, n) * train[name].std()
    for i, j in enumerate(rng.integers(len(train.columns), size=n)):
        chosen.iloc[i, j] = train.iloc[rng.integers(len(train)), j]
    return pd.concat([chosen, copula(train, fitting, seed).iloc[n:]], ignore_index=True)


def shuffled(plant):
    """Return a generator whose copies are at random positions."""
    return lambda train, fitting, seed: plant(train, fitting, seed).sample(
        frac=1, random_state=seed, ignore_index=True
    )


def outside(environment, generator):
    """Return a generator that runs as a process in a separate environment."""

    def run(train, fitting, seed):
        python = ENVIRONMENTS / environment / "bin" / "python"
        script = Path(__file__).with_name("neural.py" if environment == "torch" else "others.py")
        own = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        with tempfile.TemporaryDirectory() as folder:
            table, made = Path(folder) / "train.parquet", Path(folder) / "made.parquet"
            train.to_parquet(table, index=False)
            command = [python, script, generator, fitting, str(seed), table, made]
            done = subprocess.run(
                [*map(str, command)],
                env=own | {"OMP_NUM_THREADS": "1"},
                timeout=3600,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
            return pd.read_parquet(made)

    return run


GENERATORS = {
    "cart": cart,
    "copula": copula,
    "smote": smote,
    "copies": shuffled(copies),
    "noisy": shuffled(noisy),
    "tree": None,  # also requires the public domain
    "arnet": outside("torch", "arnet"),
    "diffusion": outside("torch", "diffusion"),
    "gpt": outside("torch", "gpt"),
    "arf": outside("arf", "arf"),
    "tvae": outside("ctgan", "tvae"),
    "ctgan": outside("ctgan", "ctgan"),
    "argn": outside("argn", "argn"),
}
ONE_FITTING = {"copula", "tree"}
# The heavy fit needs 15 minutes for CTGAN with 500 rows and 2 for a GPT, so larger tables skip it.
SLOW = {"gpt": FITTINGS, "ctgan": ("heavy",)}


def jobs():
    """Yield table, size, generator and fit, with small tables and extreme fits first."""
    for n in (500, 1000, 3000, 10_000):
        for tables in (CHOOSE, JUDGE):
            for fitting in FITTINGS:
                for name in tables if n < 10_000 else {"flights"} & set(tables):
                    for generator in GENERATORS:
                        if generator in ONE_FITTING and fitting != "light":
                            continue
                        if n == 500 or fitting not in SLOW.get(generator, ()):
                            yield name, n, generator, fitting


def main() -> None:
    """Generate the missing tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("releases"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, n, generator, fitting in jobs():
        target = out / f"{name}-{n}-{generator}-{fitting}.parquet"
        if (out / "STOP").exists() or (out.parent / "STOP").exists():
            return
        public = load(name)
        parts = rows(name, n, len(public))
        if parts is None or target.exists():
            continue
        began, seed = time.perf_counter(), zlib.crc32(target.stem.encode()) % 2**31
        try:
            train = unpack(pack(public.iloc[parts[0]], public), public)
            if generator == "tree":
                made = private_tree(train, public, seed)
            else:
                made = GENERATORS[generator](train, fitting, seed)
            made = pack(made, public)
        except Exception as error:  # a failure must not stop the other generators
            print(target.stem, "FAILED", repr(error)[:200], flush=True)
            continue
        partial = target.with_suffix(".part")
        made.to_parquet(partial, compression="zstd", index=False)
        partial.rename(target)
        print(target.stem, round(time.perf_counter() - began, 2), "s", flush=True)


if __name__ == "__main__":
    main()
