from __future__ import annotations

import errno
import os
import stat

import pytest

from skeval.exceptions import InvalidParameterError
from skeval.utils.files import check_output, replacing
from tests.snapshots import raises


def write(path, text="new"):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_a_failed_run_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.json"
    write(path, "old")
    with pytest.raises(TypeError), replacing(path) as temporary:
        temporary.write_text(b"no text")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_mode_and_links_are_kept(tmp_path):
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o600)
    link.symlink_to(path.name)
    write(link)
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_part_is_no_more_readable_than_the_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600


def test_a_device_stays_one():
    write(os.devnull)
    assert not os.path.isfile(os.devnull)


def test_errors_name_the_file_of_the_user(tmp_path):
    path = tmp_path / "a.json"
    with pytest.raises(OSError, match=r"No space left on device: '.*a\.json'$"), replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(FileNotFoundError, match=r"'.*nowhere.*a\.json'$"):
        write(tmp_path / "nowhere" / "a.json")
    with pytest.raises(FileNotFoundError, match=r"font\.ttf"), replacing(path):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "font.ttf")
    folder = tmp_path / "folder.json"
    folder.mkdir()
    (folder / "x").touch()
    with pytest.raises(OSError, match=r"'[^']*folder\.json'$"):
        write(folder)


def test_long_names_are_written(tmp_path):
    path = tmp_path / ("a" * 250 + ".csv")
    write(path)
    assert path.read_text() == "new"


@pytest.mark.parametrize("name", ["a.docx", "a", ".", "nowhere/a.pdf"])
def test_outputs_are_refused(tmp_path, name):
    with raises(InvalidParameterError):
        check_output(tmp_path / name, (".pdf", ".html"), owner="report")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.pdf", "A.HTML"])
def test_outputs_that_can_be_written_are_not_made_yet(tmp_path, name):
    assert check_output(tmp_path / name, (".pdf", ".html"), owner="report") == tmp_path / name
    assert not list(tmp_path.iterdir())


def test_a_read_only_file_is_refused_before_the_work(tmp_path, monkeypatch):
    path = tmp_path / "a.pdf"
    path.touch()
    monkeypatch.setattr(os, "access", lambda *asked: False)  # root may write to any file
    with pytest.raises(PermissionError, match=r"a\.pdf"):
        check_output(path, (".pdf",), owner="report")
