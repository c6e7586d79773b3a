"""Run commands and end them at many moments; print what they left, as JSON lines.

A process of its own, so that children that are forked of it have no threads of others. Usage:
``python -m tests.interruptions FOLDER``.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skeval import MetricSuite
from skeval.cli import main
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.generators import Bootstrap, GeneratorAdapter
from skeval.model_selection import best_subject_to, cross_validate_generator, make_generator_scorer
from skeval.privacy import ExactMatchShare

SECRET, WORD = 123456789.125, "only-this-person"
TRACES = (str(SECRET).encode(), struct.pack("<d", SECRET), struct.pack(">d", SECRET), WORD.encode())
SHARED = next(p for p in (Path("/dev/shm"), Path(tempfile.gettempdir())) if p.is_dir())
IN_TIME = 240.0  # seconds after which a child that hangs says where, and ends
OLD = b'{"old": true}\n'
SUITE = MetricSuite([("ks", KSComplement()), ("copies", ExactMatchShare())])
Command = tuple[str, Callable[[], None]]  # its output and what it does


def command(*arguments: str) -> Callable[[], None]:
    def act() -> None:
        sys.argv = ["skeval", *arguments]
        main()

    return act


def search() -> None:
    """Look for the best settings that keep a bound, and write what they achieve."""
    table, scorer = pd.concat([pd.read_csv("train.csv")] * 20), make_generator_scorer(SUITE)
    rule = best_subject_to("copies", at_most=1.0, maximise="ks", scoring=scorer)
    grid = {"generator__random_state": [0, 1, 2]}
    best = GridSearchCV(GeneratorAdapter(Bootstrap()), grid, scoring=scorer, refit=rule, cv=3).fit(
        table
    )
    released = best.best_estimator_.sample(100)
    clone(SUITE).fit(table).evaluate(released).to_json("search.json")


def search_in_processes() -> None:
    table = pd.concat([pd.read_csv("train.csv")] * 20)
    found = cross_validate_generator(Bootstrap(), table, SUITE, cv=4, n_jobs=2)
    found.results[0].to_json("search.json")


TABLES = ("train.csv", "holdout.csv", "synthetic.csv")
QUICK = ("--metrics", "KSComplement,NewRowShare,TSTR,DCRShare", "--target", "city", "--jobs", "1")
COMMANDS: dict[str, Command] = {
    "evaluate": ("scores.json", command("evaluate", *TABLES, *QUICK, "-o", "scores.json")),
    "report": (
        "report.html",
        command("report", *TABLES[::2], "--columns", "2", "-o", "report.html"),
    ),
    "search": ("search.json", search),
    "search in processes": ("search.json", search_in_processes),
}


def forked(act: Callable[[], None], before: Callable[[], None] = lambda: None) -> int:
    """Start a child, the leader of a group of processes, that ends as the command line does."""
    if pid := os.fork():
        return pid
    os.setsid()
    code = 3
    try:
        with open("said.txt", "ab") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        faulthandler.dump_traceback_later(IN_TIME, exit=True, file=2)
        before()
        act()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException as error:  # what Python would do at the top
        sys.stderr.write(f"Traceback: {type(error).__name__}: {error}\n")
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def code_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def whole(path: Path) -> str:
    """Say whether a file is the old one, a new one that is whole, or neither."""
    content = path.read_bytes() if path.exists() else b""
    if content == OLD:
        return "old"
    if path.suffix == ".json":
        try:
            return "new" if json.loads(content) else "broken"
        except ValueError:
            return "broken"
    return "new" if content.rstrip().endswith(b"</html>") else "broken"


def traces(folders: list[Path], known: set[Path]) -> list[str]:
    """Return the files with a planted cell, other than those that are known."""
    left = []
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and path not in known:
                content = path.read_bytes()
                left += [str(path)] if any(trace in content for trace in TRACES) else []
    return left


def tried(
    name: str,
    fault: str,
    known: set[Path],
    *,
    before: Callable[[], None] = lambda: None,
    end: tuple[float, int] | None = None,
) -> dict[str, Any]:
    output, act = COMMANDS[name]
    path = Path(output)
    path.unlink(missing_ok=True)
    path.write_bytes(OLD)
    path.chmod(0o666)
    Path("said.txt").write_bytes(b"")
    start = time.monotonic()
    pid = forked(act, before)
    if end is not None:
        time.sleep(end[0])
        os.killpg(pid, end[1]) if _runs(pid) else None
    code, seconds = code_of(pid), time.monotonic() - start
    said = Path("said.txt").read_text(errors="replace")
    temporary = [Path.cwd(), Path(os.environ["TMPDIR"]), SHARED]
    return {
        "command": name,
        "fault": fault,
        "code": code,
        "seconds": seconds,
        "output": whole(path),
        "said": said[-400:],
        "hung": "Timeout (" in said,
        "parts": len(list(Path().glob(".skeval-*.part"))),
        "traces": traces(temporary, known),
    }


def _runs(pid: int) -> bool:
    try:
        return os.getpgid(pid) == pid  # its own group, as soon as it has made one
    except ProcessLookupError:
        return False


def limited(kind: int, size: int) -> Callable[[], None]:
    def before() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(kind, (size, size))

    return before


def memory() -> int:
    """Return how much address space this process has, or where that is not said, its memory."""
    if not Path("/proc/self/statm").exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def nobody() -> None:
    """Give up the rights of the super-user to write anywhere; files stay its own."""
    if os.geteuid() != 0:
        return
    version_3, none = struct.pack("Ii", 0x20080522, 0), bytes(24)
    if ctypes.CDLL(None, use_errno=True).capset(version_3, none):
        raise OSError(ctypes.get_errno(), "capset")


def write_tables(folder: Path) -> None:
    for seed, name in enumerate(TABLES):
        table = make_mixed(60, random_state=seed)[["age", "income", "city", "plan"]]
        if name != "synthetic.csv":
            table.loc[7, "income"] = SECRET
            table["city"] = table["city"].astype(object)
            table.loc[7, "city"] = WORD
        table.to_csv(folder / name, index=False)


def tell(one: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(one) + "\n")
    sys.stdout.flush()


def run(folder: Path) -> None:
    os.chdir(folder)
    write_tables(folder)
    # what stood there before is no trace of ours
    known = {folder / name for name in TABLES} | set(SHARED.rglob("*"))
    for name, n_moments in (
        ("evaluate", 9),
        ("report", 8),
        ("search", 7),
        ("search in processes", 1),
    ):
        plain = tried(name, "none", known)
        tell(plain)
        for k in range(n_moments):
            moment = 0.9 * plain["seconds"] * (k + 0.5) / n_moments
            signal_number = signal.SIGKILL if k % 2 or n_moments == 1 else signal.SIGTERM
            ended = tried(name, signal_number.name, known, end=(moment, signal_number))
            tell(ended)
    for name in ("evaluate", "report", "search"):
        for size in (600, 4000):
            full = tried(name, "disk full", known, before=limited(resource.RLIMIT_FSIZE, size))
            tell(full)
        folder.chmod(0o555)
        tell(tried(name, "read-only", known, before=nobody))
        folder.chmod(0o755)
    # beyond the 8 of the thread that looks for what hangs
    for name, more in (("evaluate", 20), ("evaluate", 60), ("evaluate", 200), ("search", 20)):
        size = memory() + more * 2**20
        short = tried(name, "memory", known, before=limited(resource.RLIMIT_AS, size))
        tell(short)
    tell({**tried("evaluate", "none", known), "command": "again"})


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    run(Path(sys.argv[1]).resolve())
