"""Write the sample report and the pictures of the front page and the README.

    python docs/pictures.py

A release of real flights by a generator that repeats some of its rows: one in fifty is copied.
Run it again when reports look different.
"""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
from PIL import Image

from skeval import SuiteResult, make_suite
from skeval.datasets import load_flights
from skeval.generators import GaussianCopula
from skeval.reporting import theme
from skeval.reporting.pdf import draw_pages, drawn_once
from skeval.reporting.sections import plan

STATIC = Path(__file__).parent / "_static"
COLUMNS = ["dep_time", "dep_delay", "arr_delay", "carrier", "origin", "air_time", "distance"]
PICTURES = {  # by the section, of the page on which it begins
    "decision": "report_first.png",
    "worst": "report_columns.png",
    "attacks": "report_attacks.png",
    "utility": "report_utility.png",
}
LAST = {"utility"}  # of which the figures, on its last page, are shown
DPI, FINER = 80, 4  # letters are as wide as on paper only where they are drawn finely


def tables(n_rows: int = 1_200) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return train, holdout and a release in which one row in fifty is copied."""
    flights = load_flights(2 * n_rows, random_state=0)[COLUMNS]
    train, holdout = flights.iloc[:n_rows], flights.iloc[n_rows:]
    synthetic = GaussianCopula().fit(train).sample(n_rows, random_state=0)
    synthetic = pd.concat([synthetic.iloc[n_rows // 50 :], train.head(n_rows // 50)])
    return train, holdout, synthetic.sample(frac=1.0, random_state=0)


def draw(result: SuiteResult) -> None:
    """Write a page of some sections as a picture: that on which they begin, or the last."""
    drawn_of = dict[str, io.BytesIO]()
    with theme():
        for sections, page in draw_pages(drawn_once(plan(result)), "Synthetic flights"):
            shown = [n for n in sections if n in PICTURES and (n in LAST or n not in drawn_of)]
            if shown:
                drawn = io.BytesIO()
                page.figure.savefig(drawn, dpi=FINER * DPI)
                drawn_of |= dict.fromkeys(shown, drawn)
    if missing := PICTURES.keys() - drawn_of:
        raise SystemExit(f"no page shows {', '.join(missing)}")
    for name, drawn in drawn_of.items():
        picture = Image.open(drawn).convert("RGB").reduce(FINER)
        picture.quantize(256).save(STATIC / PICTURES[name], optimize=True)


def main() -> None:
    STATIC.mkdir(exist_ok=True)
    train, holdout, synthetic = tables()
    result = make_suite("report", target="arr_delay").fit(train, holdout).evaluate(synthetic)
    result.to_pdf(STATIC / "sample_report.pdf", title="Synthetic flights")
    result.to_html(STATIC / "sample_report.html", title="Synthetic flights")
    draw(result)


if __name__ == "__main__":
    main()
