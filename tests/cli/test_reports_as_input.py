"""Commands take a PDF report wherever they take saved scores."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skeval import MetricSuite, ReportColumns, SuiteResult, compare
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.privacy import ExactMatchShare
from tests.reporting.document.releases import release
from tests.snapshots import note

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the tests of typesetting run elsewhere"
)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a report, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return release("leak").to_pdf(Path("report.pdf"), title="For the board", short=True)


def test_an_unchanged_report(report: Path, run: Run) -> None:
    code, out, err = run("verify", "report.pdf")
    assert (code, out) == (0, "")
    note([err])


def test_settings_and_odd_names_do_not_matter(tmp_path: Path, run: Run) -> None:
    results = release("none", ("=a", "\x1b[31mb", "\u202ec"))
    columns = ReportColumns(univ=["=a"], biv=2, pairs="all")
    path = results.to_pdf(tmp_path / "a.pdf", columns=columns, hashes=False)
    assert run("verify", path)[0] == 0
    several = compare({"a": release("leak"), "b": release("none")}).to_pdf(tmp_path / "b.pdf")
    assert run("verify", several)[0] == 0


def test_a_careless_change_is_found_by_the_hash(report: Path, run: Run) -> None:
    content = report.read_bytes()
    stated = re.search(rb"results sha256:[0-9a-f]{64}", content)
    assert stated is not None
    report.write_bytes(content.replace(stated[0][-64:], b"0" * 64))
    code, _, err = run("verify", "report.pdf")
    assert code == 1
    note([err])
    code, _, err = run("render", "report.pdf", "-o", "again.html")
    assert code == 2
    note([err])


def test_any_other_change_is_found_by_the_bytes(report: Path, run: Run) -> None:
    content = report.read_bytes()
    report.write_bytes(content.replace(b"synthetic data, eval", b"synthetic data, Eval"))
    assert report.read_bytes() != content
    code, _, err = run("verify", "report.pdf")
    assert code == 1
    note([err])


def test_a_report_of_another_version_is_not_compared(
    report: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skeval.reporting.typesetting import attachment

    here = attachment.drawing_versions()
    monkeypatch.setattr(attachment, "drawing_versions", lambda: here | {"typst": "0.99"})
    code, _, err = run("verify", "report.pdf")
    assert code == 0
    assert "bytes were not compared" in err
    assert "here 0.99" in err


def test_files_of_a_report(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train", "synthetic", "other")):
        make_mixed(100, random_state=seed).to_csv(f"{name}.csv", index=False)
    tables = [make_mixed(100, random_state=seed) for seed in range(2)]
    suite = MetricSuite([("ks", KSComplement()), ("copies", ExactMatchShare())])
    suite.fit(tables[0]).evaluate(tables[1]).to_pdf("r.pdf", short=True)
    code, out, err = run("verify", "r.pdf", "train.csv", "synthetic.csv")
    assert code == 0, err
    assert out.count("the same cells") == 2
    code, _, err = run("verify", "r.pdf", "other.csv")
    assert code == 1
    assert "not among the inputs of r.pdf: other.csv" in err


def test_scores_need_files(tmp_path: Path, run: Run) -> None:
    release("leak").to_json(tmp_path / "scores.json")
    code, _, err = run("verify", tmp_path / "scores.json")
    assert code == 2
    note([err])


def test_a_report_is_rendered_again(report: Path, run: Run) -> None:
    assert run("render", "report.pdf", "-o", "again.pdf")[0] == 0
    assert Path("again.pdf").read_bytes() == report.read_bytes()
    assert run("render", "report.pdf", "-o", "again.html")[0] == 0
    release("leak").to_html("direct.html", title="For the board", short=True)
    assert Path("again.html").read_text("utf-8") == Path("direct.html").read_text("utf-8")
    assert run("render", "report.pdf", "-o", "other.pdf", "--title", "Other")[0] == 0
    assert Path("other.pdf").read_bytes() != report.read_bytes()
    assert run("render", "report.pdf", "-o", "report.pdf")[0] == 2


def test_reports_are_compared(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for state in ("leak", "none"):
        release(state).to_pdf(f"{state}.pdf", short=True)
    code, out, err = run("compare", "leak.pdf", "none.pdf")
    assert code == 0, err
    assert "anonymeter" in out


@pytest.mark.parametrize("content", [b"", b"no PDF", b"%PDF-1.7\n%%EOF\n"])
def test_other_files_end_in_one_sentence(tmp_path: Path, run: Run, content: bytes) -> None:
    path: Any = tmp_path / "a.pdf"
    path.write_bytes(content)
    for command in (("verify",), ("render", "-o", tmp_path / "b.html")):
        code, out, err = run(command[0], path, *command[1:])
        assert (code, out) == (2, "")
        assert err.count("skeval: error: ") == 1
        assert len(err.splitlines()) == 1


def test_what_is_read_is_what_was_written(report: Path) -> None:
    results = SuiteResult.from_pdf(report)
    assert results.to_dict() == release("leak").to_dict()
    assert results.source == report
