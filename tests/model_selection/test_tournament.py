"""Which generator for a table: ranks, rows of failures, resumption, constraints, files."""

import json
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, Policy
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import CorrelationSimilarity, KSComplement
from skeval.generators import Bootstrap, GaussianCopula, IndependentMarginals, SequentialCART
from skeval.model_selection import Entrant, Tournament, tournament
from skeval.model_selection.entrants import generator_class, read_config
from skeval.model_selection.tournament_page import tournament_plan
from skeval.privacy import DCRShare, ExactMatchShare

# Each test fits generators in folds.
pytestmark = pytest.mark.slow

ROWS = make_mixed(240, random_state=3)
SUITE = MetricSuite(
    [("trends", CorrelationSimilarity()), ("share", DCRShare()), ("matches", ExactMatchShare())],
    check_holdout=False,
)


LIGHT = MetricSuite([("trends", CorrelationSimilarity())])


COPIES = "[generators.copies]\nclass = 'skeval.generators.Bootstrap'\n"


class Noise:
    """Numbers of the right columns and of no relation to the table."""

    def fit(self, table):
        self.table = table.iloc[:1]
        return self

    def sample(self, n, random_state=None):
        return self.table.sample(n, replace=True).reset_index(drop=True)


class Failing(Noise):
    def fit(self, table):
        raise ValueError(str(table.iloc[0].tolist()))


class Slow(Noise):
    def fit(self, table):
        time.sleep(60)


class Large(Noise):
    def fit(self, table):
        self.held = np.ones(10**8)
        return super().fit(table)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Return a tournament of good ones, bad ones, and such that do not end well."""
    generators = {
        "copula": GaussianCopula(),
        "shuffled": IndependentMarginals(),
        "copy": Bootstrap(),
        "failing": Failing(),
        "slow": Entrant(Slow(), seconds=0.3),
        "large": Entrant(Large(), mib=100.0),
    }
    folder = tmp_path_factory.mktemp("kept")
    return tournament(generators, ROWS, SUITE, cv=2, by="trends", folder=folder), folder


def test_failures_are_rows_with_their_reasons(outcome):
    frame = outcome[0].to_frame()
    ended = frame.groupby("generator")["status"].unique().str[0].to_dict()
    assert (ended["failing"], ended["slow"], ended["large"]) == ("failed", "timeout", "memory")
    assert len(frame) == 12
    reasons = frame.groupby("generator")["reason"].first()
    assert "ValueError" in reasons["failing"]
    assert not any(str(cell) in reasons["failing"] for cell in ROWS["joined"])
    assert outcome[0].ranks().loc[["failing", "slow", "large"], "rank"].isna().all()


def test_the_worse_one_ranks_behind(outcome):
    ranks = outcome[0].ranks()
    assert ranks.loc["copula", "rank"] < ranks.loc["shuffled", "rank"]
    assert ranks.loc["shuffled", "rank"] == 3.0


def test_a_copy_is_not_taken(outcome):
    choice = outcome[0].choice
    assert "copy" in choice.broken
    assert "copy" not in choice.generators
    assert set(choice.incomplete) == {"failing", "slow", "large"}
    assert 'Not copy: "no leak found" does not hold' in outcome[0].sentence
    assert not outcome[0].front().loc["failing", "on_front"]


def test_none_may_meet_the_constraint():
    generators = {"shuffled": IndependentMarginals(), "again": IndependentMarginals()}
    policy = Policy(fail_on=(), require=("trends >= 0.999",))
    found = tournament(generators, ROWS, LIGHT, cv=2, by="trends", constraint=policy)
    assert found.sentence.startswith("Take none: none of 2 generators meets the constraint.")
    assert found.ranks()["ties"].to_dict() == {"shuffled": "again", "again": "shuffled"}


def test_records_and_json_hold_results_and_no_row(outcome, tmp_path):
    found, folder = outcome
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.json")]
    assert len(texts) == 12
    assert all("joined" not in json.loads(text) for text in texts)
    dates = set(pd.to_datetime(ROWS["joined"]).dt.strftime("%Y-%m-%d").dropna())
    written = found.to_json(tmp_path / "t.json")
    assert not any(date in text for text in [*texts, written] for date in dates)
    assert Tournament.from_json(tmp_path / "t.json").to_json() == written


def test_one_page(outcome, tmp_path):
    assert outcome[0].to_html(tmp_path / "t.html").read_text(encoding="utf-8").count("<svg") == 2
    assert outcome[0].to_pdf(tmp_path / "t.pdf").read_bytes()[:4] == b"%PDF"
    assert len(outcome[0].plot().frame()) == 6


def test_many_generators_are_named_briefly_and_have_room(outcome):
    few, runs = outcome[0], outcome[0].runs["copula"]
    many = replace(
        few, runs={f"generator {k}": runs for k in range(14)}, constraint=Policy(fail_on=())
    )
    assert many.sentence.startswith("generator 0, generator 1, generator 2 and 11 others cannot")
    assert many.ties_in_words("generator 0") == "all others"
    bad = replace(few, runs={f"copy {k}": few.runs["copy"] for k in range(6)})
    assert 'Not copy 0, copy 1, copy 2 and 3 others: "no leak found" does' in bad.sentence
    fails = replace(few, runs={f"bad {k}": few.runs["failing"] for k in range(6)})
    assert "bad 0, bad 1, bad 2 and 3 others had no result in some fold." in fails.sentence
    heights = [_heights(one) for one in (few, many)]
    assert heights[0]["ParetoDisplay"] < heights[1]["ParetoDisplay"]
    assert heights[0]["RanksDisplay"] == heights[0]["ParetoDisplay"]  # one sheet
    assert heights[1]["RanksDisplay"] > 14 * 3.0  # mm of a line of names


def _heights(of):
    section = tournament_plan(of).sections[0]
    displays = [item.display for item in section.items]
    return {type(one).__name__: section.layout.tall(one, 170.0) for one in displays}


def _without_costs(found):
    costs = ["fit_seconds", "sample_seconds", "peak_mib", "seconds"]
    return found.to_frame().drop(columns=costs)


def test_the_same_bits_for_any_number_of_jobs_and_after_a_kill(tmp_path):
    generators = {"copula": GaussianCopula(), "shuffled": IndependentMarginals()}
    settings = {"cv": 2, "by": "trends", "n_draws": 2}
    alone = tournament(generators, ROWS, LIGHT, **settings)
    two = tournament(generators, ROWS, LIGHT, n_jobs=2, folder=tmp_path, **settings)
    pd.testing.assert_frame_equal(_without_costs(alone), _without_costs(two))
    kept = sorted(tmp_path.glob("*.json"))
    times = {path: path.stat().st_mtime_ns for path in kept}
    kept[0].unlink()
    kept[1].write_text("{", encoding="utf-8")  # half a file, as of a disk that was full
    again = tournament(generators, ROWS, LIGHT, folder=tmp_path, **settings)
    pd.testing.assert_frame_equal(_without_costs(alone), _without_costs(again))
    changed = [path for path in kept if path.stat().st_mtime_ns != times[path]]
    assert changed == kept[:2]


@pytest.mark.cluster
def test_the_same_bits_on_a_cluster_where_failures_are_rows_too():
    import distributed

    generators = {
        "trees": SequentialCART(),
        "shuffled": IndependentMarginals(),
        "failing": Failing(),
        "slow": Entrant(Slow(), seconds=0.3),
    }
    settings = {"cv": 2, "by": "trends", "n_draws": 2}
    here = tournament(generators, ROWS, LIGHT, **settings)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, memory_limit="1GiB",
            dashboard_address=":0", protocol="tcp",
        ) as workers,
        distributed.Client(workers),
    ):  # fmt: skip
        away = tournament(generators, ROWS, LIGHT, **settings)
    pd.testing.assert_frame_equal(_without_costs(here), _without_costs(away))
    assert away.sentence == here.sentence
    assert "slow took too long in 2 of 2 folds" in away.sentence


SCRIPT = """
import sys
from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.generators import IndependentMarginals
from skeval.model_selection import tournament
suite = MetricSuite([("ks", KSComplement())])
generators = {str(k): IndependentMarginals() for k in range(20)}
tournament(generators, make_mixed(200), suite, cv=5, folder=sys.argv[1])
"""


def test_a_killed_one_goes_on(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)])
    deadline = time.monotonic() + 60.0
    while len(list(tmp_path.glob("*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    kept = list(tmp_path.glob("*.json"))
    assert 3 <= len(kept) < 100
    assert all(json.loads(path.read_text())["status"] == "ok" for path in kept)
    times = {path: path.stat().st_mtime_ns for path in kept}
    suite = MetricSuite([("ks", KSComplement())])
    generators = {str(k): IndependentMarginals() for k in range(4)}
    again = tournament(generators, make_mixed(200), suite, cv=5, folder=tmp_path)
    assert again.ranks()["n_ok"].tolist() == [5] * 4
    assert all(path.stat().st_mtime_ns == times[path] for path in kept)


def test_settings_are_chosen_in_each_fold():
    entrant = Entrant(SequentialCART(), grid={"min_samples_leaf": [5, 40]})
    found = tournament({"trees": entrant}, ROWS, LIGHT, cv=2, by="trends")
    assert found.to_frame()["settings"].str.startswith("min_samples_leaf=").all()


def test_no_setting_may_run():
    failing = Entrant(Failing(), grid={})
    none = tournament({"failing": failing}, ROWS[:90], SUITE, cv=2, by="trends")
    assert set(none.to_frame()["reason"]) == {"No setting of its grid gave a result."}
    assert none.sentence.startswith("Take none: no generator had a result in each fold.")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("os.system", "would import the package os, and importing runs it"),
        ("skeval.generators", "would import|names no generator"),
        ("skeval.generators.Nope", "names no generator"),
        ("skeval.reporting.PDFRenderer", "names no generator"),
        ("skeval.nope.Class", "there is no skeval.nope here"),
        ("__import__('os')", "must be an import path"),
        ("skeval", "must be an import path"),
        ("sklearn.neighbors.KernelDensity", "--trust sklearn"),
    ],
)
def test_refused_import_paths(path, said):
    with pytest.raises(InvalidParameterError, match=said):
        generator_class(path)


def test_nothing_is_imported_that_is_not_trusted(tmp_path, monkeypatch):
    module = tmp_path / "stranger.py"
    module.write_text("raise SystemExit('it ran')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    config = tmp_path / "t.toml"
    config.write_text('[generators.a]\nclass = "stranger.Generator"\n', encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="--trust stranger"):
        read_config(config)
    assert "stranger" not in sys.modules


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cv = 3", "expected a table"),
        ("tables = 3\n[generators.a]\nclass = 'a.B'", "no entry tables"),
        ("[generators.a]\nclas = 'a.B'", "must be a table with class"),
        ("[generators.a]\nclass = 'skeval.generators.Bootstrap'\nseconds = -1", "above 0"),
        (
            "[generators.a]\nclass = 'skeval.generators.Bootstrap'\ngrid = {p = [1]}",
            "no parameter p",
        ),
        (
            "[generators.a]\nclass = 'skeval.generators.Bootstrap'\nsettings = {p = 1}",
            "parameter p",
        ),
        (
            "[constraint]\nfail = 1\n[generators.a]\nclass = 'a.B'",
            "constraint|import the package a",
        ),
        (
            "[generators.a]\nclass = 'skeval.generators.Bootstrap'\nseed = 'x'",
            "seed must be an int",
        ),
        (f"n_draws = 1000000000\n{COPIES}", "n_draws of a file must be an int from 1 to 1,000"),
        (f"cv = 100000\n{COPIES}", "cv of a file must be an int from 2 to 100, got 100000"),
        (f"cv = [[[0], [1]]]\n{COPIES}", "cv of a file must be an int"),
        (f"n_samples = 1.5\n{COPIES}", "n_samples of a file must be an int"),
        (f"n_samples = {10**12}\n{COPIES}", "n_samples of a file must be an int from 1 to 10,000,"),
        (
            f"cv = 100\nn_draws = 1000\n{COPIES}{COPIES.replace('copies', 'again')}",
            "asks for 200,000 tables to be drawn and measured; at most 100,000 are",
        ),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, text, said):
    config = tmp_path / "t.toml"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameterError, match=said):
        read_config(config)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "nope"}, "by must be among"),
        ({"suite": 3}, "suite must be a MetricSuite"),
        ({"generators": {}}, "holds none"),
        ({"generators": 3}, "must be a dict"),
        ({"generators": {"a": 3}}, "generator must be"),
        ({"seconds": 0}, "seconds must be a finite number above 0"),
        ({"constraint": "leak"}, "constraint must be a Policy"),
        ({"efficiency": 3}, "efficiency must be True or False"),
        ({"cv": 1}, "cv must be from 2"),
    ],
)
def test_bad_input_gets_a_sentence(options, said):
    given = {"generators": [Bootstrap()], "table": ROWS, "suite": SUITE} | options
    with pytest.raises(InvalidParameterError, match=said):
        tournament(**given)
