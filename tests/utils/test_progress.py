"""Progress: bars in a terminal, lines elsewhere, nothing for what is quick."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

from skeval.utils import progress
from skeval.utils.progress import progress_line, show_progress


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (("measured", 0, 3.0), "skeval: at work for 3 s"),
        (("measured", 8, 3.0), "skeval: 0 of 8 measured after 3 s"),
        (("measured", 8, 4.0, [1, 2, 3, 4]), "skeval: 4 of 8 measured after 4 s"),
        (("measured", 8, 4.5, [1, 2, 3, 4]), "skeval: 4 of 8 measured after 4 s"),
        (("measured", 8, 3.0, [1, 2, 2.5]), "skeval: 3 of 8 measured after 3 s"),
        (("drawn", 4, 4.0, [1, 2, 3, 4]), "skeval: 4 of 4 drawn after 4 s"),
    ],
)
def test_lines(state, text):
    assert progress_line(*state) == text


def test_while_one_piece_takes_long_its_seconds_are_said():
    ends = [float(second) for second in range(1, 11)]
    lines = [progress_line("measured", 20, 10.0 + since, ends) for since in (30.0, 60.0, 120.0)]
    assert lines[-1].endswith("the next one at work for 120 s")


def test_pieces_that_end_together_are_noted_as_one_time(monkeypatch):
    monkeypatch.setattr("_thread.start_new_thread", lambda *arguments: None)
    advance = (writer := progress._Lines(print)).tick("drawn")
    advance("a", 3, 4)
    advance("b", 2, 4)
    assert writer._state[:2] == ("drawn", 4)
    assert len(writer._state[2]) == 2


def test_what_takes_long_says_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_FIRST", 0.05)
    with show_progress("lines") as tick:
        advance = tick("measured")
        advance("a", 1, 4)
        written, end = "", time.monotonic() + 60.0
        while "1 of 4" not in written and time.monotonic() < end:
            time.sleep(0.01)
            written += capsys.readouterr().err
    assert re.search(r"^skeval: 1 of 4 measured after \d+ s", written, re.MULTILINE)


def test_lines_come_more_and_more_rarely(monkeypatch):
    monkeypatch.setattr("_thread.start_new_thread", lambda *arguments: None)
    lines, waits = [], iter([False] * 7 + [True])
    writer = progress._Lines(lines.append)
    writer._start -= 10.0
    waited = []
    monkeypatch.setattr(writer.over, "wait", lambda seconds: waited.append(seconds) or next(waits))
    writer._run()
    assert waited == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    assert len(lines) == 7
    assert all(line.startswith("skeval: at work for ") for line in lines)


def test_where_no_thread_can_be_made_there_are_no_lines(monkeypatch, capsys):
    def fail(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", fail)
    with show_progress("lines") as tick:
        tick("measured")("a", 1, 4)
    assert capsys.readouterr().err == ""


def test_what_is_quick_is_silent(capsys):
    with show_progress("lines") as tick:
        tick("measured")("a", 1, 2)
    with show_progress(True) as tick:  # no terminal
        assert tick("measured") is None
    with show_progress(False) as tick:
        assert tick("measured") is None
    assert capsys.readouterr().err == ""


def test_bars_in_a_terminal(monkeypatch):
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=120, stderr=True)
    monkeypatch.setattr("rich.console.Console", lambda **settings: terminal)
    with show_progress(True) as tick:
        advance = tick("measured")
        advance("ks", 1, 2)
        time.sleep(0.15)
        advance("tv", 2, 2)
    assert "ks measured" in written.getvalue() or "tv measured" in written.getvalue()
    assert "1/2" in written.getvalue()
