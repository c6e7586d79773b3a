"""Commands in a folder of a stranger: no process imports what lies there, with nothing compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skeval.datasets import make_mixed

pytestmark = pytest.mark.slow
TRAPS = ("numpy", "struct", "sitecustomize", "skeval", "pandas", "numba", "json", "joblib")
THREE = ("train.csv", "holdout.csv", "synthetic.csv")
FEW = ("--metrics", "ks_complement,dcr_share")  # the report has measured all
COMMANDS = (
    ("report", *THREE, "-o", "r.html"),  # the first, for which all is compiled
    ("evaluate", *THREE, *FEW, "-o", "scores.json"),
    ("evaluate", *THREE, *FEW, "-o", "others.json"),
    ("render", "scores.json", "-o", "r.pdf"),
    ("verify", "scores.json", *THREE),
    ("compare", "scores.json", "others.json"),
    ("list",),
    ("explain", "dcr_share"),
    ("schema", "train.csv"),
    ("init-release", "-o", "release.toml"),
    ("demo", "--rows", "100", "-o", "demo.html"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("foreign")
    for seed, name in enumerate(THREE):
        make_mixed(60, random_state=seed).to_csv(path / name, index=False)
    for name in TRAPS:
        text = f"open({str(path / f'{name}.imported')!r}, 'w').close()\n"
        (path / f"{name}.py").write_text(text, encoding="utf-8")
    return path


def call(
    folder: Path, code: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess:
    """Run code as an installed script runs: the current folder is not where it imports from."""
    import skeval

    package = str(Path(skeval.__file__).parents[1])
    ours = ("PYTHONSAFEPATH", "NUMBA_CACHE_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": package, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_process_imports_from_the_current_folder(folder, command):
    compiled = {"NUMBA_CACHE_DIR": str(folder / "compiled")}
    ended = call(folder, "from skeval.cli import main; main()", *command, **compiled)
    assert not [path.name for path in folder.glob("*.imported")]
    assert (ended.returncode, "rror" in ended.stderr) in {(0, False), (1, False)}, ended.stderr


def test_a_file_of_numba_in_the_current_folder_does_not_name_the_folder_of_machine_code(folder):
    pytest.importorskip("yaml")
    (folder / ".numba_config.yaml").write_text("cache_dir: theirs\n", encoding="utf-8")
    code = (
        "import atexit, sys; sys.argv = ['skeval', '--version']\n"
        "atexit.register(lambda: print(__import__('numba').config.CACHE_DIR))\n"
        "from skeval.cli import main; main()"
    )
    ended = call(folder, code)
    (folder / ".numba_config.yaml").unlink()
    assert "skeval" in ended.stdout
    assert "theirs" not in ended.stdout
