"""Files of a stranger: scores, policies and schemas with anything in them run nothing."""

from __future__ import annotations

import copy
import json
import random
import warnings

import pytest

from skeval import MetricSuite, Policy, Result, SuiteResult, TableSchema
from skeval.datasets import make_mixed
from skeval.diagnostic import RuleAdherence
from skeval.exceptions import InvalidParameterError, SkevalError
from skeval.fidelity import KSComplement
from skeval.privacy import ExactMatchShare
from skeval.relational import RelationalSchema
from skeval.results import Release
from skeval.results.comparison import Comparison, compare
from tests.snapshots import raises

N_MUTATIONS = 200
TRAIN, RELEASE = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
DEEP = "[" * 100_000
RELEASE_FILE = {
    "title": "Adult",
    "recipient": "Ministry",
    "release_model": "public",
    "unit": "row",
    "indirect_identifiers": ["age", "sex"],
    "generator": {"name": "CTGAN", "parameters": {"epochs": 300, "dims": [128, 128]}},
    "dp": {"epsilon": 1.0, "delta": 1e-6, "adjacency": "replace"},
    "thresholds": {"fail_on": ["leak"], "require": ["ks >= 0.9"], "level": 0.05},
    "review_date": "2027-01-31",
}
# what stands in place of a part of a valid file
ODD = [
    *(None, True, -1, 0, 10**12, 10**400, 1e400, float("nan"), "", "x", "\x1b[2J", "-" * 5000),
    *(
        [],
        {},
        [[["a"]]],
        {"a": "x"},
        {"a": {"b": [1]}},
        [None],
        "1" * 5000,
        "datetime64[ns, X/../Y]",
    ),
    *("skeval.cli.main()", "sklearn.svm.SVC()", "os.system(command='true')", "S100000000"),
]


@pytest.fixture(scope="module")
def scores():
    suite = MetricSuite([("ks", KSComplement()), ("copies", ExactMatchShare())])
    return suite.fit(TRAIN, make_mixed(200, random_state=2)).evaluate(RELEASE)


def places(content, path=()):
    """Yield the paths of all parts of a document."""
    parts = content.items() if isinstance(content, dict) else enumerate(content)
    for key, part in parts if isinstance(content, dict | list) else ():
        yield (*path, key)
        yield from places(part, (*path, key)) if isinstance(part, dict | list) else ()


def mutated(text, seed):
    """Return a document with a part or two that are replaced, removed, doubled, or cut."""
    draw, content = random.Random(seed), json.loads(text)
    if seed % 20 == 0:
        cut = draw.randrange(len(text))
        return text[:cut] + draw.choice(["", "\0", DEEP]) + text[cut + draw.randrange(9) :]
    every = list(places(content))
    for *way, key in draw.sample(every, min(len(every), 1 + seed % 2)):
        part = content
        try:
            for step in way:
                part = part[step]
            if draw.random() < 0.2:
                del part[key]
            else:
                part[key] = copy.deepcopy(draw.choice(ODD))
        except (KeyError, IndexError, TypeError):  # the first change took the place of the second
            continue
    return json.dumps(content)


def only_sentences(read, text):
    """Read a document; what comes out is what it holds, or one of our errors."""
    try:
        read(text)
    except SkevalError as error:
        assert str(error).strip()  # noqa: PT017
        return True
    return False


@pytest.mark.filterwarnings("ignore")
class TestMutations:
    def refused(self, tmp_path, text, read):
        path = tmp_path / "file.json"

        def of_path(one):
            path.write_text(one, encoding="utf-8")
            read(path)

        return sum(only_sentences(of_path, mutated(text, seed)) for seed in range(N_MUTATIONS))

    @pytest.mark.slow
    def test_scores(self, tmp_path, scores):
        def read(path):
            result = SuiteResult.from_json(path)
            result.frame(findings=True)
            result.to_markdown()
            result.to_metrics()
            result.to_json()

        assert self.refused(tmp_path, scores.to_json(), read) > 50

    @pytest.mark.slow
    def test_first_pages(self, tmp_path):
        """Only the details change: what is drawn of them is what they hold, or a sentence."""
        rates = {"attack": {"n": 9, "n_success": 5}, "control": {"n": 9, "n_success": 2}}
        attack = {**rates, "risk": "linkability", "p_adjusted": 0.1, "interval": [0.1, 0.2]}
        details = {
            "attacks": {"a": attack},
            "rates": {"train": rates["attack"], "holdout": rates["control"]},
            "precision_at": [{"k": 12, "precision": 0.6, "interval": [0.3, 0.8]}],
            "outliers": {"p_value": 0.001, "worst": {"above": 0.9, "up_to": 1.0, "auc": 0.8}},
            "by": "sex",
            "worst": {"column": "male", "value": 0.3},
            "mean": 0.2,
        }
        tags = ExactMatchShare().tags
        result = SuiteResult({"own": Result(0.1, tags=tags, details=details)}, sizes={"train": 9})
        text, path = json.dumps(details), tmp_path / "page.html"

        def read(one):
            content = json.loads(result.to_json())
            content["results"]["own"]["details"] = one
            SuiteResult.from_json(json.dumps(content)).to_html(path)

        for seed in range(1, N_MUTATIONS):
            if seed % 20:  # others are cut, and no JSON
                only_sentences(read, json.loads(mutated(text, seed)))
        assert path.exists()

    @pytest.mark.slow
    def test_comparisons(self, tmp_path, scores):
        text = compare({"a": scores, "b": scores}).to_json()
        assert self.refused(tmp_path, text, Comparison.from_json) > 50

    @pytest.mark.parametrize("read", [TableSchema.from_sdv, RelationalSchema.from_json])
    def test_metadata(self, tmp_path, read):
        columns = {
            "id": {"sdtype": "id"},
            "born": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
        }
        tables = {"users": {"primary_key": "id", "columns": columns}}
        text = json.dumps({"tables": tables, "relationships": []})
        assert self.refused(tmp_path, text, read) > 50

    def test_data_packages(self, tmp_path):
        fields = [{"name": "id", "type": "integer"}, {"name": "to", "type": "integer"}]
        key = {"fields": "to", "reference": {"resource": "b", "fields": "id"}}
        schema = {"fields": fields, "primaryKey": "id", "foreignKeys": [key]}
        resources = [{"name": name, "schema": schema} for name in "ab"]
        text = json.dumps({"resources": resources})
        assert self.refused(tmp_path, text, RelationalSchema.from_datapackage) > 50

    def test_schemas(self, tmp_path):
        schema = RelationalSchema({"a": {"x": "continuous"}}, {"a": "id"})
        text = json.dumps(schema.to_dict())
        assert self.refused(tmp_path, text, RelationalSchema.from_json) > 50

    def test_releases(self, scores):
        content, n_refused = json.loads(scores.to_json()), 0

        def read(stated):
            Release.from_dict(stated).facts()
            content["provenance"]["release"] = stated
            SuiteResult.from_json(json.dumps(content)).to_json()

        for seed in range(N_MUTATIONS):
            text = mutated(json.dumps(RELEASE_FILE), seed)
            if seed % 20:  # others are cut, and no JSON
                n_refused += only_sentences(read, json.loads(text))
        assert n_refused > 50

    @pytest.mark.slow
    def test_release_files(self, tmp_path):
        path, draw = tmp_path / "release.toml", random.Random(0)
        text = (
            'title = "a"\nreview_date = 2027-01-31\n[dp]\nepsilon = 1.0\n[generator]\nname = "b"\n'
        )
        odd = ["(", "-" * 600, "9" * 5000, "[" * 3000, "'", "\0", "1979-13-99", "nan", "=", ""]

        def read(one):
            path.write_text(one, encoding="utf-8")
            Release.from_toml(path).facts()

        n_refused = 0
        for _ in range(N_MUTATIONS):
            at = draw.randrange(len(text))
            n_refused += only_sentences(read, text[:at] + draw.choice(odd) + text[at + 3 :])
        assert n_refused > 50

    def test_policies(self, tmp_path):
        path, draw = tmp_path / "policy.toml", random.Random(0)
        text = 'fail_on = ["leak"]\nrequire = ["ks >= 0.9 * baseline"]\nlevel = 0.05\n'
        odd = [
            "(",
            "-" * 600,
            "9" * 5000,
            "[" * 3000,
            "'",
            "\0",
            "1979-13-99",
            "x.__class__",
            "=",
            "",
        ]

        def read(one):
            path.write_text(one, encoding="utf-8")
            Policy.from_toml(path)

        n_refused = 0
        for _ in range(N_MUTATIONS):
            at = draw.randrange(len(text))
            n_refused += only_sentences(read, text[:at] + draw.choice(odd) + text[at + 3 :])
        assert n_refused > 50


@pytest.mark.parametrize("read", [SuiteResult.from_json, Comparison.from_json])
@pytest.mark.parametrize("name", ["absent.json", "."])
def test_paths_without_a_file(tmp_path, read, name):
    with raises(InvalidParameterError):
        read(tmp_path / name)


# -------------------------------------------------------------------------------------- scores


@pytest.mark.parametrize("columns", [{"a": "x"}, {"a": [1.0]}])
def test_scores_of_columns_that_are_no_numbers(scores, columns):
    content = json.loads(scores.to_json())
    content["results"]["ks"]["details"]["columns"] = columns
    with raises(InvalidParameterError):
        SuiteResult.from_json(json.dumps(content))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", ["to_html", "to_pdf"])
@pytest.mark.parametrize("columns", [[["a"]], {"a": {"b": [1]}}])
def test_details_that_no_metric_writes(scores, tmp_path, how, columns):
    """They are passed over, or one sentence says that they are of another form.

    A list under "columns" is no fault when read: some metrics write names of columns there. Whether
    a page has room for bars of no column shows only as it is drawn.
    """
    content = json.loads(scores.to_json())
    content["results"]["ks"]["details"]["intervals"] = "x"
    content["results"]["ks"]["details"]["columns"] = columns
    result = SuiteResult.from_json(json.dumps(content))
    path = tmp_path / f"out.{how[3:]}"
    said = ""
    try:
        getattr(result, how)(path)
    except InvalidParameterError as error:
        said = str(error)
    assert path.exists() is not bool(said)
    if said:
        assert isinstance(columns, list)  # a mapping of anything is drawn
        assert said.startswith("The text holds details of another form than metrics write")


def test_errors_of_results_made_here_are_left_as_they_are():
    from skeval.results.serialization import details_of

    with pytest.raises(ZeroDivisionError), details_of(None):
        1 / 0  # noqa: B018
    with raises(InvalidParameterError), details_of("a.json"):
        1 / 0  # noqa: B018


def test_classes_of_warnings_that_are_none(scores):
    content = json.loads(scores.to_json())
    content["notices"] = [["SkevalError", "a"], ["annotations", "b"], ["NoTestWarning", "c"]]
    read = SuiteResult.from_json(json.dumps(content)).notices
    assert [type(one).__name__ for one in read] == [
        "MetricWarning",
        "MetricWarning",
        "NoTestWarning",
    ]


def test_data_packages_name_no_file_outside_of_their_folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.json").write_text('{"fields": []}')
    path = tmp_path / "inner" / "datapackage.json"
    for named in ("../secret.json", str(tmp_path / "secret.json")):
        path.write_text(json.dumps({"resources": [{"name": "a", "schema": named}]}))
        with raises(InvalidParameterError):
            RelationalSchema.from_datapackage(path)


def test_rules_are_refused_before_tables_are_read():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raises(InvalidParameterError):
            MetricSuite([("rules", RuleAdherence(["open(1)"]))]).fit(TRAIN)


def test_halves_of_surrogates_in_results_are_replaced(scores):
    content = json.loads(scores.to_json())
    content["results"]["copies"]["error"] = "\ud800"
    read = SuiteResult.from_json(json.dumps(content))
    assert read["copies"].error == "\N{REPLACEMENT CHARACTER}"
    assert len(read.frame()) == 2
