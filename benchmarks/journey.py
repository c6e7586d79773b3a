"""The files and functions of skeval that one score passes through."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import skeval
from skeval import Metric
from skeval.datasets import make_mixed
from skeval.privacy import DCROverfittingProtection

HOME = Path(skeval.__file__).resolve().parent
N_ROWS = 300
Entered = set[tuple[str, str]]


def journey(action: Callable[[], object]) -> Entered:
    """Run `action`; return the functions of skeval it enters, as (file, qualified name).

    Comprehensions, generator expressions and lambdas belong to the function around them, and
    class bodies to the import of their module: none is counted.
    """
    entered: Entered = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<") or "__annotate__" in code.co_name:
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


def journeys(metric: Metric, n_rows: int = N_ROWS) -> dict[str, Entered]:
    """Return the journeys of fit, score and both, on tables of `make_mixed`."""
    train, holdout, synthetic = (make_mixed(n_rows, random_state=i) for i in range(3))
    warm = type(metric)(**metric.get_params(deep=False))
    warm.fit(train, holdout).score(synthetic)  # imports and compiles what is loaded late
    fit = journey(lambda: metric.fit(train, holdout))
    score = journey(lambda: metric.score(synthetic))
    return {"fit": fit, "score": score, "fit + score": fit | score}


def main() -> None:
    """Print the counts, and with --names each function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="list the functions by file")
    found = journeys(DCROverfittingProtection())
    for name, entered in found.items():
        print(f"{name}: {len(entered)} functions in {len({path for path, _ in entered})} files")
    both = found["fit + score"]
    for path in sorted({path for path, _ in both}):
        print(f"  {path}: {sum(other == path for other, _ in both)}")
        if parser.parse_args().names:
            for function in sorted(name for other, name in both if other == path):
                roles = [r for r in ("fit", "score") if (path, function) in found[r]]
                print(f"    {function} ({', '.join(roles)})")


if __name__ == "__main__":
    main()
