from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from skeval.exceptions import InvalidParameterError
from skeval.utils.files import check_output, replacing
from tests.snapshots import raises


def write(path, text="new"):
    with replacing(path) as temporary:
        temporary.write_text(text)


def leave_a_part(path):
    """Leave what a run leaves that is killed while it writes."""
    code = (
        "import os, sys; from skeval.utils.files import replacing\n"
        "with replacing(sys.argv[1]) as part: part.write_text('half'); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode in {
        -9,
        9,
    }


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


def test_parts_of_killed_runs_are_removed(tmp_path):
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    leave_a_part(path)
    leave_a_part(other)
    assert len(list(tmp_path.iterdir())) == 2
    write(path)
    (part,) = (p for p in tmp_path.iterdir() if p.suffix == ".part")
    assert part.read_text() == "half"  # of the other file
    check_output(other, (".json",), owner="report")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_parts_of_runs_that_go_on_stay_for_a_week(tmp_path):
    path = tmp_path / "a.json"
    with replacing(path) as first:
        first.write_text("first")
        write(path, "second")
        assert first.exists()
        for days, stays in ((6, True), (8, False)):
            then = time.time() - days * 24 * 3600
            os.utime(first, (then, then))
            write(path, "third")
            assert first.exists() is stays
        first.write_text("first")
    assert path.read_text() == "first"


@pytest.mark.parametrize("place", ["0badcafe-", ""])  # of another container; of earlier versions
def test_parts_of_runs_elsewhere_stay(tmp_path, place):
    path = tmp_path / "a.json"
    leave_a_part(path)
    (left,) = tmp_path.glob("*.part")
    start, _, process, unique = left.name.rsplit("-", 3)
    other = left.rename(tmp_path / f"{start}-{place}{process}-{unique}")
    check_output(path, (".json",), owner="report")
    write(path)
    assert other.read_text() == "half"


def test_what_is_terminated_leaves_no_part(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    code = (
        "import os, signal, sys; from skeval.utils.files import replacing\n"
        "with replacing(sys.argv[1]) as part:\n"
        "    part.write_text('half'); os.kill(os.getpid(), signal.SIGTERM)\n"
        "    while True: pass"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGTERM
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_handlers_of_others_are_theirs(tmp_path):
    def handler(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with replacing(tmp_path / "a.json"):
            assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    with replacing(tmp_path / "a.json"):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


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
