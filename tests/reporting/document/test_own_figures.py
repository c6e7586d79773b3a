"""The figure of a custom metric becomes a drawing that both templates can print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pytest

from skeval import MetricTags, Result
from skeval.reporting import Display, register_display
from skeval.reporting.displays.base import DISPLAYS
from skeval.reporting.document.blocks import Figure, Paragraphs
from skeval.reporting.document.figures import figure_of
from skeval.reporting.document.report import make_document
from skeval.reporting.document.spans import plain
from skeval.reporting.typesetting.render import render_pdf
from tests.reporting.document.releases import release
from tests.reporting.document.test_further_pages import with_results

NAME = "Lisbon & <b> \u202eotroP \u6771"


class OwnShares(Display):
    """Shares of the cities, side by side."""

    reads = ("shares",)

    def frame(self) -> pd.DataFrame:
        return pd.Series(self.result.details["shares"], name="share").reset_index()

    def draw(self, axes: Sequence[Any], room: float = 130.0) -> None:
        axes[0].bar(*self.frame().to_numpy().T)
        axes[0].imshow([[0.0, 1.0]], extent=(2, 3, 0, 1))
        axes[0].set_xlabel(NAME)


class OwnFailure(OwnShares):
    """A figure that cannot be drawn."""

    def draw(self, axes: Sequence[Any], room: float = 130.0) -> None:
        raise ValueError("the cell 4711 of a row")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    for kind in (OwnShares, OwnFailure):
        register_display(kind)
    yield
    for kind in (OwnShares, OwnFailure):
        DISPLAYS.pop(kind.__name__, None)


def own_result(display: str) -> Result:
    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0), display=display)
    shares = {"shares": {"Lisbon": 0.4, "Porto": 0.6}}
    return Result(0.5, details=shares, metric="CityGap", tags=tags, summary="Porto has most.")


def test_the_drawing_is_the_same_each_time_and_has_no_address() -> None:
    first, second = (figure_of(own_result("OwnShares"), "City gap") for _ in range(2))
    assert isinstance(first, Figure)
    assert first == second
    assert plain(first.note) == "Porto has most. Value 0.50."
    assert first.alternative == "City gap. Shares of the cities, side by side. Porto has most."
    links = re.findall(r'href="([^"]{1,16})', first.svg)
    assert links
    assert all(link.startswith(("#", "data:image/png")) for link in links)
    for unwanted in ("<style", "<metadata", "<!--", "<?xml", 'id="figure_1"', "\n"):
        assert unwanted not in first.svg


def test_a_failure_is_a_sentence_without_the_message() -> None:
    block = figure_of(own_result("OwnFailure"), "City gap")
    assert isinstance(block, Paragraphs)
    said = plain(block.paragraphs[0])
    assert said == "The figure could not be drawn because of the error ValueError."


def test_a_display_that_is_not_registered_has_no_figure() -> None:
    assert figure_of(own_result("NotHere"), "City gap") is None


def test_a_report_with_both_satisfies_the_standards() -> None:
    own = {name: own_result(name) for name in ("OwnShares", "OwnFailure")}
    results = with_results(release("none"), **own)
    document = make_document(results)
    page = next(page for page in document.pages if page.name == "by-column")
    assert {"own-figure", "not-drawn"} <= {block.name for block in page.blocks}
    assert render_pdf(document, results).startswith(b"%PDF")
