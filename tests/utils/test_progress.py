"""Progress: bars in a terminal, lines elsewhere, nothing for what is quick."""

from __future__ import annotations

import re
import time
from itertools import islice

import pytest

from skeval.utils.progress import note_ends, progress_line, show_progress, waits


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (("evaluated", 0, 3.0), "skeval: 3 s elapsed"),
        (("evaluated", 8, 3.0), "skeval: 0 of 8 evaluated after 3 s"),
        (("evaluated", 8, 4.0, [1, 2, 3, 4]), "skeval: 4 of 8 evaluated after 4 s"),
        (("evaluated", 8, 4.5, [1, 2, 3, 4]), "skeval: 4 of 8 evaluated after 4 s"),
        (("evaluated", 8, 3.0, [1, 2, 2.5]), "skeval: 3 of 8 evaluated after 3 s"),
        (("drawn", 4, 4.0, [1, 2, 3, 4]), "skeval: 4 of 4 drawn after 4 s"),
    ],
)
def test_lines(state, text):
    assert progress_line(*state) == text


def test_while_one_piece_takes_long_its_seconds_are_said():
    ends = [float(second) for second in range(1, 11)]
    lines = [progress_line("evaluated", 20, 10.0 + since, ends) for since in (30.0, 60.0, 120.0)]
    assert lines[-1].endswith("the current one running for 120 s")


def test_a_line_states_no_time_to_go():
    """Quick metrics come first, so that they indicate nothing about the others."""
    ends = [float(second) for second in range(1, 11)]
    lines = [progress_line("evaluated", 20, 10.0 + since, ends) for since in (0.5, 30.0, 120.0)]
    assert not any(re.search("to go|left", line) for line in lines)


def test_pieces_that_end_together_are_noted_as_one_time():
    ends = []
    note_ends(ends, 3, 1.0)
    note_ends(ends, 2, 2.0)  # it was overtaken
    assert ends == [1.0, 1.0]


@pytest.mark.slow
def test_what_takes_long_says_how_far_it_is(capsys):
    with show_progress("lines") as tick:
        advance = tick("evaluated")
        advance("a", 1, 4)
        written, end = "", time.monotonic() + 60.0
        while "1 of 4" not in written and time.monotonic() < end:
            time.sleep(0.01)
            written += capsys.readouterr().err
    assert re.search(r"^skeval: 1 of 4 evaluated after \d+ s", written, re.MULTILINE)


def test_lines_come_more_and_more_rarely():
    assert list(islice(waits(), 8)) == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_where_no_thread_can_be_made_there_are_no_lines(monkeypatch, capsys):
    def fail(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", fail)
    with show_progress("lines") as tick:
        tick("evaluated")("a", 1, 4)
    assert capsys.readouterr().err == ""


def test_what_is_quick_is_silent(capsys):
    with show_progress("lines") as tick:
        tick("evaluated")("a", 1, 2)
    with show_progress(True) as tick:  # no terminal
        assert tick("evaluated") is None
    with show_progress(False) as tick:
        assert tick("evaluated") is None
    assert capsys.readouterr().err == ""


def test_bars_in_a_terminal(monkeypatch, capsys):
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", "120")):
        monkeypatch.setenv(name, value)
    with show_progress(True) as tick:
        advance = tick("evaluated")
        advance("ks", 1, 2)
        time.sleep(0.15)
        advance("tv", 2, 2)
    written = capsys.readouterr().err
    assert "ks evaluated" in written or "tv evaluated" in written
    assert "1/2" in written
