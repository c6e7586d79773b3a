"""Sentences are compared, written, and forgotten with their tests."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import snapshots
from tests.conftest import BY_CASE

NAME = "test_it[a]"
STORED = "test_it[a]\n  - the old\n\ntest_other\n  - kept\n"


def test_each_section_is_of_a_test_that_exists(request):
    left = {}
    for path in snapshots.FOLDER.rglob("*.txt"):
        module = snapshots.find_module(path)
        assert module.exists(), f"{path} is of no module of tests. Remove it."
        if known := request.config.stash[snapshots.COLLECTED].get(module):
            left[path.name] = set(snapshots.read_sections(path)) - known
    assert not {name: tests for name, tests in left.items() if tests}, "Remove these sections."


def test_names_of_sections_are_those_of_every_version_of_pytest():
    """Some versions keep a case of many letters as its name, others replace it by a number."""
    sections = {
        n for path in snapshots.FOLDER.rglob("*.txt") for n in snapshots.read_sections(path)
    }
    long = {name for name in sections if len(name.partition("[")[2]) > 120}
    assert not long, "Give these cases short names, by ids=[...]."


@pytest.mark.parametrize("module", BY_CASE)
def test_what_several_processes_run_has_no_sentences(module):
    """They would write one file at a time."""
    assert not snapshots.find_snapshot(snapshots.TESTS.parent / module).exists()


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return the snapshot of this module, in a folder of its own."""
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "FOLDER", tmp_path / "kept")
        path = snapshots.find_snapshot(Path(__file__))
    path.parent.mkdir()
    path.write_text(STORED)
    return path


def run(monkeypatch, stored, test, is_writing=False, known=(NAME, "test_other"), **fixtures):
    """Run a test as the hook of conftest does."""
    config = SimpleNamespace(stash={snapshots.COLLECTED: {Path(__file__): known}})
    nodeid = f"tests/{Path(__file__).name}::{NAME}"
    item = SimpleNamespace(path=Path(__file__), nodeid=nodeid, config=config, funcargs=fixtures)
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "FOLDER", stored.parent)
        patch.setattr(snapshots, "IS_WRITING", is_writing)
        with snapshots.compare_sentences(item):
            test()


def say(message, kind=ValueError):
    with snapshots.raises(kind) as caught:
        raise ValueError(message)
    assert str(caught.value) == message


def test_stored_sentences_pass(monkeypatch, stored):
    run(monkeypatch, stored, lambda: [say("the old"), say("the old")])


@pytest.mark.parametrize("said", [["the new"], ["the old", "one more"], []])
def test_other_sentences_fail_with_the_cure(monkeypatch, stored, said):
    with pytest.raises(pytest.fail.Exception) as failed:
        run(monkeypatch, stored, lambda: [say(message) for message in said])
    message = str(failed.value)
    assert all(f"+   - {sentence}" in message for sentence in said if sentence != "the old")
    assert (
        f'SKEVAL_SNAPSHOTS=write pytest -n 0 -m "" tests/{Path(__file__).name}::test_it' in message
    )
    assert stored.read_text() == STORED


def test_a_section_that_is_missing_fails(monkeypatch, stored):
    stored.unlink()
    with pytest.raises(pytest.fail.Exception):
        run(monkeypatch, stored, lambda: say("the old"))


@pytest.mark.parametrize("kind", [TypeError, (KeyError, OSError)])
def test_an_error_of_another_kind_is_not_caught(monkeypatch, stored, kind):
    with pytest.raises(ValueError, match="the old"):
        run(monkeypatch, stored, lambda: say("the old", kind))


def test_no_error_or_warning_fails(monkeypatch, stored):
    def be_quiet(expect):
        with expect(UserWarning):
            pass

    for expect in (snapshots.raises, snapshots.warns):
        with pytest.raises(pytest.fail.Exception, match="DID NOT"):
            run(monkeypatch, stored, lambda expect=expect: be_quiet(expect))


def test_warnings_of_the_kind_are_noted_and_others_go_on(monkeypatch, stored):
    def test():
        with snapshots.warns(UserWarning) as caught:
            for kind in (UserWarning, UserWarning, FutureWarning):
                warnings.warn("the old", kind, stacklevel=1)
        assert len(caught) == 3

    with pytest.warns(FutureWarning):
        run(monkeypatch, stored, test)


def test_sections_are_written(monkeypatch, stored, tmp_path, tmp_path_factory):
    message = f"'{tmp_path / 'a.csv'}': {object()}\n\n{snapshots.TESTS}"
    run(monkeypatch, stored, lambda: say(message), True, tmp_path_factory=tmp_path_factory)
    written = "  - '<folder>/a.csv': <object object at <address>>\n\n    <repository>/tests\n"
    assert stored.read_text() == f"test_it[a]\n{written}\ntest_other\n  - kept\n"
    run(monkeypatch, stored, lambda: say(message), tmp_path_factory=tmp_path_factory)


def test_cases_that_say_the_same_are_written_above_one_text(monkeypatch, stored):
    names = [NAME, "test_it[b2]", "test_it[b10]", "test_it[c]", "test_other"]
    for name in names:
        monkeypatch.setitem(globals(), "NAME", name)
        said = "other" if name == "test_it[c]" else "same"
        run(monkeypatch, stored, lambda said=said: say(said), True, names)
        run(monkeypatch, stored, lambda said=said: say(said))
    assert stored.read_text() == (
        "test_it[a]\ntest_it[b2]\ntest_it[b10]\n  - same\n\n"
        "test_it[c]\n  - other\n\ntest_other\n  - same\n"
    )


def test_sections_of_tests_that_are_gone_are_removed(monkeypatch, stored):
    run(monkeypatch, stored, lambda: say("b"), is_writing=True, known=(NAME,))
    assert stored.read_text() == "test_it[a]\n  - b\n"
    run(monkeypatch, stored, lambda: None, is_writing=True)
    assert not stored.exists()


def test_a_test_that_fails_writes_nothing(monkeypatch, stored):
    with pytest.raises(ZeroDivisionError):
        run(monkeypatch, stored, lambda: [say("b"), 1 / 0], is_writing=True)
    assert stored.read_text() == STORED


def test_fixtures_have_no_sentences(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "_noted", None)
        with pytest.raises(RuntimeError, match="In a fixture"):
            say("b")
