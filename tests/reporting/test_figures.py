"""Loose figures: one file each, all or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from skeval import SuiteResult
from skeval.exceptions import InvalidParameterError
from skeval.reporting import FigureRenderer
from skeval.reporting.displays.values import ScoresDisplay


@pytest.mark.slow
def test_one_file_per_figure(narrow: SuiteResult, tmp_path: Path) -> None:
    printed: list[tuple[str, int, int]] = []
    renderer = FigureRenderer(
        format="svg",
        sections=["scores", "similarity", "univariate"],
        progress=lambda *step: printed.append(step),
    )
    folder = renderer.render(narrow, tmp_path / "figures")
    names = sorted(file.name for file in folder.iterdir())
    assert names == [
        "scores-all_scores.svg",
        "similarity-similarity_score.svg",
        "univariate-1-age.svg",
        "univariate-2-city.svg",
        "univariate-3-joined.svg",
    ]
    assert [step[0] for step in printed] == ["scores", "similarity", "univariate"]
    assert "Lisbon" in (folder / "univariate-2-city.svg").read_text(encoding="utf-8")


def test_files_are_the_same_each_time_and_others_stay(narrow: SuiteResult, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    renderer = FigureRenderer(sections=["columns"])
    first = {f.name: f.read_bytes() for f in renderer.render(narrow, folder).iterdir()}
    again = {f.name: f.read_bytes() for f in renderer.render(narrow, folder).iterdir()}
    assert first == again
    assert first["mine.txt"] == b"mine"
    assert first["columns-1-kolmogorov_smirnov_complement.png"].startswith(b"\x89PNG")


def test_none_is_written_if_one_fails(
    narrow: SuiteResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("no canvas")

    monkeypatch.setattr(ScoresDisplay, "draw", failing)
    with pytest.raises(RuntimeError, match="no canvas"):
        FigureRenderer().render(narrow, tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats_are_named(narrow: SuiteResult, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="among png, svg, got 'gif'"):
        FigureRenderer(format="gif").render(narrow, tmp_path / "figures")
