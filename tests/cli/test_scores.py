"""What a terminal of 80 columns shows of scores."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import Any

import pytest

from skeval import MetricTags, Result, SuiteResult
from skeval.cli.scores import print_scores
from skeval.datasets import make_mixed
from tests.reporting.document.releases import STATES, State, release
from tests.snapshots import note

MAX_WIDTH = 80
FIDELITY = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Print results on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", f"{MAX_WIDTH}")

    def lines(results: SuiteResult, **settings: bool) -> list[str]:
        print_scores(results, **settings)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return lines


@pytest.mark.parametrize("state", STATES)
def test_each_outcome_fits(printed: Any, state: State) -> None:
    lines = printed(release(state))
    note(["\n".join(lines)])
    assert max(map(len, lines)) <= MAX_WIDTH


def test_details(printed: Any) -> None:
    lines = printed(release("leak"), is_wide=True)
    head = next(line for line in lines if "outcome" in line)
    assert "p-value" in head
    assert "evidence" in head
    note(["\n".join(line for line in lines if len(line) > MAX_WIDTH)])


def test_long_names_are_broken_and_nothing_is_cut(printed: Any) -> None:
    name = "a_metric_with_a_name_of_sixty_letters_that_ends_with_a_digit_1"
    lines = printed(SuiteResult({name: Result(0.5, baseline=0.6, tags=FIDELITY)}))
    assert max(map(len, lines)) <= MAX_WIDTH
    pieces = [line[12:].split()[0] for line in lines if any(p in line for p in ("a_metric", "_1"))]
    assert pieces[0].startswith("a_metric")
    assert "".join(lines).count("digit_1") <= 1


def test_properties_and_what_was_skipped(printed: Any) -> None:
    results = {
        "column_shapes/ks": Result(0.9, baseline=0.95, details={"columns": {"a": 0.9}}),
        "dcr": Result(float("nan"), error="compares against holdout rows, and none were given."),
        "dcr_share": Result(
            float("nan"), error="compares against holdout rows, and none were given."
        ),
    }
    lines = printed(SuiteResult(results))
    assert any("property" in line for line in lines)
    assert any(line.startswith("dcr, dcr_share skipped: compares against") for line in lines)


def test_an_outcome_has_a_color_on_a_terminal_that_wants_it(
    printed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert any("\x1b[1;31m▲ leak" in line for line in printed(release("leak")))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not any("\x1b[1;31m" in line for line in printed(release("leak")))


def test_a_terminal_without_shapes_has_other_letters(tmp_path: Any) -> None:
    path = tmp_path / "out.txt"
    stream = path.open("w", encoding="cp1252", errors="replace")
    with stream, contextlib.redirect_stdout(stream):
        print_scores(release("leak"))
    text = path.read_text(encoding="cp1252")
    assert "?" not in text
    assert "! leak" in text
    assert "-20.0" in text


def test_names_give_a_terminal_no_orders(printed: Any) -> None:
    lines = printed(SuiteResult({"\x1b[2J[red]x": Result(0.5)}))
    assert not any("\x1b" in line for line in lines)
    assert any("[red]x" in line for line in lines)


@pytest.mark.slow
def test_printing_scores_needs_neither_figures_nor_pages() -> None:
    code = (
        "import sys; from skeval import Result, SuiteResult; "
        "from skeval.cli.scores import print_scores; "
        "results = SuiteResult({'a': Result(0.5)}); print_scores(results); repr(results); "
        "results.summary(); results.to_markdown(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "skeval.reporting.plain_text" in loaded
    assert {"matplotlib", "seaborn", "typst", "jinja2", "pypdf"}.isdisjoint(loaded)


def test_the_wide_option(run: Any, folder: Any) -> None:
    tables = ("train.csv", "holdout.csv", "synthetic.csv")
    arguments = ("evaluate", *tables, "--metrics", "KSComplement")
    assert "p-value" not in run(*arguments)[1]
    code, out, _ = run(*arguments, "--wide")
    assert code == 0
    assert "p-value" in out


def test_a_table_is_read_as_it_is_saved(run: Any, folder: Any) -> None:
    make_mixed(120, random_state=0).to_csv("copy.csv", index=False)
    code, out, _ = run(
        *("evaluate", "train.csv", "holdout.csv", "copy.csv"),
        *("--metrics", "ExactMatchShare", "-o", "s.txt"),
    )
    assert code == 0
    assert "leak" in out
    saved = (folder / "s.txt").read_text(encoding="utf-8")
    assert saved.splitlines()[0].split() == ["outcome", "metric", "in", "data", "unseen", "+points"]
