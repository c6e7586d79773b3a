from __future__ import annotations

import subprocess
import sys

import numpy as np

from skeval import show_versions


def test_versions_are_told(capsys):
    show_versions()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Python 3.")
    assert f"numpy {np.__version__}" in printed


def test_import_is_light():
    heavy = "('numba', 'matplotlib', 'xgboost', 'phik', 'pypdf', 'seaborn')"
    code = f"import sys, skeval, skeval.privacy, skeval.fidelity; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
