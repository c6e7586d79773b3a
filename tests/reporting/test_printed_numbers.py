"""Of a test the numbers that it compared, of a value its one interval: alike in every output."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from pypdf import PdfReader

from skeval import MetricTags, Result, SuiteResult, compare
from skeval.cli.scores import print_scores
from skeval.reporting import DecisionPage
from skeval.reporting.layout import Grid, OnScale
from skeval.reporting.style import finding
from skeval.results.verdict import Contrast
from skeval.utils.formatting import shown_interval

FIDELITY = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
DIFFERENCE = replace(FIDELITY, greater_is_better=False)
SCREEN = MetricTags("privacy", greater_is_better=True, bounds=(0, 100), evidence="screen")
NEARER = Contrast("train rows much nearer to a synthetic row", 0.12, 0.091, "of holdout rows")
BETTER = Result(  # than fresh rows, and yet a leak
    98.4,
    interval=(91.3, 99.7),
    baseline=96.2,
    p_value=1e-9,
    contrast=NEARER,
    metric="PrivacyScore",
    tags=SCREEN,
    summary="12.0% of train rows have a synthetic row very near; of holdout rows 9.1%.",
)
MEASURED = SuiteResult(
    {
        "ks_complement": Result(
            0.849,
            interval=(0.778, 0.984),
            baseline=0.871,
            difference=(-0.034, -0.010),
            metric="KSComplement",
            tags=FIDELITY,
        ),
        "phik_difference": Result(  # has no interval: a difference is none
            0.25,
            baseline=0.11,
            difference=(0.08, 0.231),
            metric="PhikMatrixDifference",
            tags=DIFFERENCE,
        ),
        "privacy_score": BETTER,
    },
    sizes={"train": 200, "holdout": 200, "synthetic": 200},
)
# what notebook and report took for intervals: the baseline plus the difference
SHIFTED = ("0.837 to 0.861", "0.190 to 0.341")


def plain(text: str) -> str:
    """Return the words of a text or page, one blank between them."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("printed")
    MEASURED.to_pdf(folder / "a.pdf")
    MEASURED.to_html(folder / "a.html")
    pages = PdfReader(folder / "a.pdf").pages
    frame = MEASURED.frame(findings=True)
    ends = map(shown_interval, frame[["low", "high"]].itertuples(index=False, name=None))
    return {
        "frame": " ".join([*ends, *frame["finding"]]),
        "html": plain((folder / "a.html").read_text(encoding="utf-8")),
        "pdf": plain(" ".join(page.extract_text() for page in pages)),
        "markdown": plain(MEASURED.to_markdown().replace("\\", "")),
    }


def terminal(capsys: pytest.CaptureFixture[str]) -> str:
    print_scores(MEASURED)
    return plain(capsys.readouterr().out)


@pytest.mark.slow
def test_one_interval_stands_everywhere(written, capsys) -> None:
    for where, text in {**written, "terminal": terminal(capsys)}.items():
        for interval in ("0.778 to 0.984", "91.3 to 99.7"):
            assert interval in text, where
        assert not [shifted for shifted in SHIFTED if shifted in text], where


def test_a_difference_is_no_interval(written, capsys) -> None:
    for where, text in {**written, "terminal": terminal(capsys)}.items():
        if where != "frame":  # which has it as numbers
            assert "0.0800 to 0.231" in text, where
            assert "ifference, 95%" in text, where
    frame = MEASURED.frame().set_index("metric")
    assert frame.loc["phik_difference", ["low", "high"]].isna().all()
    assert frame.loc["phik_difference", ["diff_low", "diff_high"]].tolist() == [0.08, 0.231]
    figure = DecisionPage.of(MEASURED).parts()[1]
    assert isinstance(figure, Grid)
    of_phik = next(row for row in figure.rows if row[0].startswith("Phik"))
    assert of_phik[4] == "0.110"
    assert isinstance(of_phik[2], OnScale)
    assert of_phik[2].result.interval is None  # no band is drawn of a difference


def test_what_was_tested_is_printed_first(written, capsys) -> None:
    for where, text in {**written, "terminal": terminal(capsys)}.items():
        if where == "frame":
            continue
        assert re.search(r"12\.0%(\*\*)?( \|)? of holdout rows 9\.1%", text), where
        assert text.index("of holdout rows 9.1%") < text.index("91.3 to 99.7"), where
    frame = MEASURED.frame().set_index("metric")
    assert frame.loc["privacy_score", ["observed", "expected"]].tolist() == [0.12, 0.091]
    assert frame.loc["ks_complement", ["observed", "expected"]].isna().all()
    assert MEASURED.to_metrics()["privacy_score.observed"] == 0.12
    from skeval.reporting.scores import numbers_tested

    assert numbers_tested(MEASURED["ks_complement"]) == ("", "")


def test_a_better_score_beside_a_leak_is_explained(written, capsys) -> None:
    assert "Leak found. The score is better than its baseline all the same" in finding(BETTER)

    from skeval.reporting.scores import reason

    for where, text in {**written, "terminal": terminal(capsys)}.items():
        assert reason(BETTER) in text, where
    figure = DecisionPage.of(MEASURED).parts()[1]
    assert isinstance(figure, Grid)
    row = figure.rows[0]
    assert row[-1].startswith("leak found\nscore: ")
    for other in (
        replace(BETTER, value=80.0),  # worse than its baseline
        replace(BETTER, p_value=0.2),
        replace(BETTER, baseline=None),
        replace(BETTER, tags=FIDELITY),
    ):
        assert reason(other) == ""


def test_comparisons_print_it_too(tmp_path: Path) -> None:
    from skeval.reporting.scores import reason

    other = SuiteResult({**MEASURED, "privacy_score": replace(BETTER, value=70.0)})
    path = tmp_path / "both.html"
    compare({"a": MEASURED, "b": other}).to_html(path)
    text = plain(path.read_text(encoding="utf-8"))
    assert "12.0% of holdout rows 9.1% score 98.4 91.3 to 99.7" in text
    assert text.count(reason(BETTER)) == 1


def test_differences_of_utility_are_the_metric_s_own() -> None:
    from skeval.reporting.scores import difference_of

    utility = MetricTags("utility", greater_is_better=True, bounds=(0, 1))
    own = Result(0.5, details={"difference": {"low": -0.2, "high": 0.1}}, tags=utility)
    assert difference_of(own) == (-0.2, 0.1)
    assert difference_of(replace(own, tags=FIDELITY)) is None
    assert difference_of(replace(own, details={"difference": {"low": None, "high": 1}})) is None


@pytest.mark.parametrize("coloured", [True, False])
def test_a_table_says_what_is_made_of_each_metric(coloured, monkeypatch, capsys):
    """In words everywhere; in colour too on a terminal that wants it."""
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setenv("FORCE_COLOR", "1")
    if not coloured:
        monkeypatch.setenv("NO_COLOR", "1")
    print_scores(MEASURED)
    printed = capsys.readouterr().out
    assert ("\x1b[1;31mleak found" in printed) is coloured
    for said, name in (
        ("worse than real rows", "phik_difference"),
        ("leak found", "privacy_score"),
    ):
        line = next(line for line in printed.splitlines() if name in line)
        assert said in line
