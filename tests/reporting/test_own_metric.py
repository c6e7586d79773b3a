"""A user's own metric has a sentence and a figure, as the package's own have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from pypdf import PdfReader

from skeval import Metric, MetricSuite, MetricTags, Result, SuiteResult, check_metric
from skeval.fidelity import KSComplement
from skeval.reporting import Display, FigureRenderer, register_display
from skeval.reporting.displays.base import DISPLAYS
from skeval.reporting.displays.value import ValueDisplay
from tests.report_text import report_text
from tests.snapshots import raises


class CityShares(Display):
    """Shares of the cities, side by side."""

    reads = ("shares",)

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.result.details["shares"]).rename_axis("city").reset_index()

    def draw(self, axes) -> None:
        for role, shift in (("train", -0.2), ("synthetic", 0.2)):
            axes[0].bar(self.frame().index + shift, self.frame()[role], 0.4, label=role)
        axes[0].legend()
        axes[0].set_xlabel("cities by their names")


class CityGap(Metric):
    """Greatest difference of the shares of a city."""

    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0, 1), display="CityShares")

    def _compute(self, context) -> Result:
        shares = {
            role: context[role]["city"].value_counts(normalize=True).sort_index()
            for role in ("train", "synthetic")
        }
        gaps = (shares["train"] - shares["synthetic"]).abs()
        return Result(
            gaps.max(), details={"shares": {role: s.to_dict() for role, s in shares.items()}}
        )

    def _summary(self, result) -> str:
        synthetic, train = (result.details["shares"][r]["Lisbon"] for r in ("synthetic", "train"))
        return (
            f"Lisbon holds {synthetic:.1%} of synthetic rows and {train:.1%} of train rows; "
            f"of fresh rows the greatest gap is {result.baseline:.3f}."
        )


class Told(Metric):
    """A metric that writes its sentence where it measures."""

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))

    def _compute(self, context) -> Result:
        return Result(0.25, summary="One in four.")


class Undefined(Told):
    """A metric without a value, which has nothing to say of it."""

    def _compute(self, context) -> Result:
        return Result(math.nan)

    def _summary(self, result) -> str:
        raise AssertionError("a sentence was asked for")


@pytest.fixture
def registered() -> Iterator[None]:
    register_display(CityShares)
    yield
    DISPLAYS.pop("CityShares", None)


@pytest.fixture(scope="module")
def measured(tables: list[pd.DataFrame]) -> SuiteResult:
    suite = MetricSuite([("ks", KSComplement()), ("city_gap", CityGap()), ("told", Told())])
    return suite.fit(*tables[:-1]).evaluate(tables[-1])


def words_of(path: Path) -> list[str]:
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8").split()
    return [" ".join(page.extract_text().split()) for page in PdfReader(path).pages]


def test_the_sentence_knows_the_baseline_and_is_saved(measured: SuiteResult) -> None:
    result = measured["city_gap"]
    assert result.summary.endswith(f"the greatest gap is {result.baseline:.3f}.")
    assert measured["told"].summary == "One in four."
    again = SuiteResult.from_dict(measured.to_dict())
    assert {name: r.summary for name, r in again.items()} == {
        name: r.summary for name, r in measured.items()
    }


def test_a_score_does_not_pay_for_the_sentence(tables: list[pd.DataFrame]) -> None:
    class Silent(CityGap):
        """The same, without a sentence."""

        def _summary(self, result) -> str:
            raise AssertionError("a sentence was asked for")

    assert 0.0 < Silent().fit(tables[0]).score(tables[2]) < 1.0
    with raises(AssertionError):
        Silent().fit(tables[0]).evaluate(tables[2])


def test_what_is_not_defined_has_no_sentence(tables: list[pd.DataFrame]) -> None:
    assert Undefined().fit(tables[0]).evaluate(tables[2]).summary == ""


@pytest.mark.slow
@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("ending", ["pdf", "html"])
def test_a_report_shows_sentence_and_figure(
    measured: SuiteResult, tmp_path: Path, ending: str
) -> None:
    def written(results: SuiteResult, name: str) -> Path:
        path = tmp_path / f"{name}.{ending}"
        return results.to_pdf(path) if ending == "pdf" else results.to_html(path)

    path = written(measured, "report")
    text = " ".join(words_of(path))
    assert measured["city_gap"].summary in text
    assert "One in four." in text
    assert "cities by their names" in text
    again = written(SuiteResult.from_dict(measured.to_dict()), "again")
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.usefixtures("registered")
def test_it_can_be_saved_as_a_figure(measured: SuiteResult, tmp_path: Path) -> None:
    folder = FigureRenderer().render(measured, tmp_path / "figures")
    assert "city_gap.png" in {file.name for file in folder.iterdir()}


@pytest.mark.usefixtures("registered")
def test_a_display_needs_its_details(measured: SuiteResult) -> None:
    assert type(measured["city_gap"].display()) is CityShares
    assert type(Result(0.1, tags=CityGap.tags).display()) is ValueDisplay


def test_a_display_that_was_not_registered_stops_no_report(measured: SuiteResult) -> None:
    assert measured["city_gap"].summary in report_text(measured)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_it_keeps_the_promises_of_metrics() -> None:
    check_metric(Told())
