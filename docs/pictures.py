"""Write the sample report and the pictures of the front page and the README.

    python docs/pictures.py

A release of real flights by a generator that repeats some of its rows: one in fifty is copied.
Run it again when reports look different.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from skeval import SuiteResult, make_suite
from skeval.datasets import load_flights
from skeval.generators import GaussianCopula
from skeval.reporting.document.report import make_document
from skeval.reporting.typesetting.render import render_png

STATIC = Path(__file__).parent / "_static"
COLUMNS = ["dep_time", "dep_delay", "arr_delay", "carrier", "origin", "air_time", "distance"]
TITLE = "Synthetic flights"
PICTURES = {  # by the name of the page
    "decision": "report_first.png",
    "columns": "report_columns.png",
    "attacks": "report_attacks.png",
    "pairs": "report_pairs.png",
}
PPI = 168  # a page is about 1,390 pixels wide, twice the width at which the README shows it
MIN_BLANK = 10  # rows of pixels between two bands of a page
MIN_SHOWN = 0.52  # share of page 1 that the headline, the tiles and the privacy chart take


def tables(n_rows: int = 1_200) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return train, holdout and a release in which one row in fifty is copied."""
    flights = load_flights(2 * n_rows, random_state=0)[COLUMNS]
    train, holdout = flights.iloc[:n_rows], flights.iloc[n_rows:]
    synthetic = GaussianCopula().fit(train).sample(n_rows, random_state=0)
    synthetic = pd.concat([synthetic.iloc[n_rows // 50 :], train.head(n_rows // 50)])
    return train, holdout, synthetic.sample(frac=1.0, random_state=0)


def draw(result: SuiteResult) -> None:
    """Write the first page down to its privacy chart, and some further pages, as pictures."""
    document = make_document(result, title=TITLE)
    for page in document.pages:
        if page.name in PICTURES:
            content, *_ = render_png(replace(document, pages=(page,)), PPI)
            picture = Image.open(io.BytesIO(content)).convert("RGB")
            if page.name == "decision":
                picture = picture.crop((0, 0, picture.width, end_of_band(picture)))
            picture.quantize(256).save(STATIC / PICTURES[page.name], optimize=True)


def end_of_band(picture: Image.Image) -> int:
    """Return the first row of pixels below the privacy chart after which the page is blank."""
    is_blank = (np.asarray(picture.convert("L")) > 250).all(axis=1)
    start = int(MIN_SHOWN * picture.height)
    for y in range(start, picture.height - MIN_BLANK):
        if is_blank[y : y + MIN_BLANK].all():
            return y + MIN_BLANK
    raise SystemExit("The first page has no blank band below its privacy chart.")


def main() -> None:
    STATIC.mkdir(exist_ok=True)
    train, holdout, synthetic = tables()
    result = make_suite("report", target="arr_delay").fit(train, holdout).evaluate(synthetic)
    result.to_pdf(STATIC / "sample_report.pdf", title=TITLE)
    result.to_html(STATIC / "sample_report.html", title=TITLE)
    draw(result)


if __name__ == "__main__":
    main()
