"""The files and functions of skeval that a call of a metric passes through.

    python benchmarks/journey.py           # how many, by file
    python benchmarks/journey.py --names   # which

`DCRShare` is fitted on 300 rows of 7 columns and scores 300 others, and `KSComplement` is fitted on
them and evaluates the others. A function counts once, however often it is entered. Methods and
nested functions count too; lambdas, comprehensions and generator expressions belong to the function
around them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import skeval
from skeval import Metric
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.privacy import DCRShare

HOME = Path(skeval.__file__).resolve().parent
N_ROWS = 300
Entered = set[tuple[str, str]]


def journey(action: Callable[[], object]) -> Entered:
    """Run `action`; return the functions of skeval it enters, as (file, qualified name)."""
    entered: Entered = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<"):
            return
        path = Path(code.co_filename)
        if path.is_relative_to(HOME):
            entered.add((path.relative_to(HOME).as_posix(), code.co_qualname))

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return entered


def journeys(metric: Metric, last: str, n_rows: int = N_ROWS) -> dict[str, Entered]:
    """Return the functions of `fit`, the method `last`, and both, on generated tables."""
    train, holdout, synthetic = (make_mixed(n_rows, random_state=i) for i in range(3))
    warm = type(metric)(**metric.get_params(deep=False))
    getattr(warm.fit(train, holdout), last)(synthetic)  # imports and compiles what is loaded late
    fit = journey(lambda: metric.fit(train, holdout))
    then = journey(lambda: getattr(metric, last)(synthetic))
    return {"fit": fit, last: then, f"fit + {last}": fit | then}


def main() -> None:
    """Print the counts, and with --names each function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="list the functions by file")
    with_names = parser.parse_args().names
    for metric, last in ((DCRShare(), "score"), (KSComplement(), "evaluate")):
        entered = journeys(metric, last)
        print(type(metric).__name__)
        for name, functions in entered.items():
            n_files = len({path for path, _ in functions})
            print(f"  {name}: {len(functions)} functions in {n_files} files")
        both = sorted(entered[f"fit + {last}"])
        for path, found in groupby(both, key=lambda function: function[0]):
            names = [name for _, name in found]
            print(f"    {path}: {len(names)}")
            for name in names if with_names else ():
                parts = [part for part in ("fit", last) if (path, name) in entered[part]]
                print(f"      {name} ({', '.join(parts)})")


if __name__ == "__main__":
    main()
