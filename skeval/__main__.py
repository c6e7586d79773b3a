"""Run the command line: ``python -m skeval``."""

from __future__ import annotations

from skeval.cli import main

if __name__ == "__main__":
    main()
