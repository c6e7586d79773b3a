"""Loose figures: one file each, all or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from skeval import ReportColumns, SuiteResult
from skeval.exceptions import InvalidParameterError
from skeval.reporting import FigureRenderer
from tests.snapshots import raises


@pytest.mark.slow
def test_one_file_per_figure(narrow: SuiteResult, tmp_path: Path) -> None:
    chosen = ReportColumns(univ=["city"], biv=["city", "age"])
    folder = FigureRenderer(format="svg", columns=chosen).render(narrow, tmp_path / "figures")
    names = {file.name for file in folder.iterdir()}
    assert {"scores.svg", "similarity.svg", "ks_complement.svg"} <= names
    assert "similarity_city.svg" in names
    assert "similarity_age.svg" not in names
    assert [name for name in names if "joined" in name] == []
    assert [name for name in names if "age" in name and "city" in name]
    assert "Lisbon" in (folder / "similarity_city.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_files_are_the_same_each_time_and_others_stay(narrow: SuiteResult, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    few = SuiteResult({"ks_complement": narrow["ks_complement"]})
    first = {f.name: f.read_bytes() for f in FigureRenderer().render(few, folder).iterdir()}
    again = {f.name: f.read_bytes() for f in FigureRenderer().render(few, folder).iterdir()}
    assert first == again
    assert first["mine.txt"] == b"mine"
    assert first["ks_complement.png"].startswith(b"\x89PNG")


def test_none_is_written_if_one_fails(unprintable: SuiteResult, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no paper"):
        FigureRenderer().render(unprintable, tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats_are_named(narrow: SuiteResult, tmp_path: Path) -> None:
    with raises(InvalidParameterError):
        FigureRenderer(format="gif").render(narrow, tmp_path / "figures")
