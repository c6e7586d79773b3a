"""Files of a stranger: suites, scores, policies and schemas with anything in them run nothing."""

from __future__ import annotations

import copy
import json
import random
import warnings
import zipfile

import pytest

from skeval import MetricSuite, Policy, Release, Result, SuiteResult, TableSchema
from skeval.datasets import make_mixed
from skeval.diagnostic import RuleAdherence
from skeval.exceptions import InvalidParameterError, MetricWarning, SkevalError
from skeval.fidelity import CorrelationSimilarity, KSComplement, TVComplement
from skeval.privacy import ExactMatchShare
from skeval.relational import RelationalSchema
from skeval.results.comparison import Comparison, compare
from skeval.results.provenance import described, rebuilt, without_files
from skeval.suites.saved_steps import MOST_CELLS
from skeval.text import EntityLeakage, FlairRecognizer, SpacyRecognizer

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
def suite_text(tmp_path_factory):
    metrics = [
        *(("ks", KSComplement()), ("tv", TVComplement()), ("pairs", CorrelationSimilarity())),
        ("copies", ExactMatchShare()),
    ]
    path = tmp_path_factory.mktemp("saved") / "suite.json"
    with pytest.warns(MetricWarning, match="left out: copies"):
        MetricSuite(metrics).fit(TRAIN, RELEASE).save(path)
    return path.read_text()


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
    def test_suites(self, tmp_path, suite_text):
        def read(path):
            MetricSuite.load(path).evaluate(RELEASE)

        assert self.refused(tmp_path, suite_text, read) > 50

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
            SuiteResult.from_json(json.dumps(content)).to_html(path, sections=["decision"])

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


# -------------------------------------------------------------------------------------- suites


def call(kind, **parameters):
    return {"class": kind, "parameters": parameters}


def with_metric(suite_text, metric, **content):
    whole = {**json.loads(suite_text), "left_out": {}, "baselines": {}, "differences": {}}
    return json.dumps({**whole, "metrics": {"x": metric}, **content})


def test_no_rule_of_a_file_is_run(suite_text, tmp_path):
    path, touched = tmp_path / "suite.json", tmp_path / "touched"
    rule = f"age.__init__.__globals__.get('sys').modules.get('os').system('touch {touched}') == 0"
    metric = call("skeval.diagnostic.RuleAdherence", rules=[rule])
    path.write_text(with_metric(suite_text, metric))
    with pytest.raises(InvalidParameterError) as refused:
        MetricSuite.load(path)
    assert not touched.exists()
    assert "A rule is a condition on columns" in str(refused.value)
    named = {"left_out": {"x": "needs rows"}}  # it is read before anything else
    path.write_text(with_metric(suite_text, metric, **named))
    with pytest.raises(InvalidParameterError, match="A rule is a condition on columns"):
        MetricSuite.load(path)


def test_json_with_a_zip_behind_it_is_not_unpickled(suite_text, tmp_path):
    path, touched = tmp_path / "suite.json", tmp_path / "touched"
    path.write_text(suite_text)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("suite.pickle", f"cos\nsystem\n(S'touch {touched}'\ntR.")
    assert zipfile.is_zipfile(path)
    with pytest.raises(InvalidParameterError, match="holds no suite"):
        MetricSuite.load(path)
    assert not touched.exists()
    with pytest.raises(InvalidParameterError, match="holds no rows"):
        MetricSuite.load(path, rows=True)


def test_rows_are_loaded_where_they_are_asked_for(tmp_path):
    path = MetricSuite([("ks", KSComplement())]).fit(TRAIN).save(tmp_path / "a.zip", rows=True)
    with pytest.raises(InvalidParameterError, match=r"pickle, which can run any code.*rows=True"):
        MetricSuite.load(path)
    assert MetricSuite.load(path, rows=True).context_.n_rows("train") == 200


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tables": {}}, "tables must be train"),
        (
            {"metrics": {"ks": call("skeval.fidelity.KSComplement", columns=["-" * 200_000])}},
            "cannot be made again",
        ),
        ({"metrics": {"ks": call("sklearn.svm.SVC")}}, "no Metric: ks"),
        ({"metrics": {"ks": "skeval.fidelity.KSComplement()"}}, "no Metric: ks"),
        ({"skeval_suite": 1}, "of version 1"),
    ],
)
def test_what_a_suite_does_not_have(suite_text, tmp_path, change, said):
    path = tmp_path / "suite.json"
    whole = {**json.loads(suite_text), "left_out": {}, "baselines": {}, "differences": {}}
    path.write_text(json.dumps({**whole, **change}))
    with pytest.raises(InvalidParameterError, match=f"holds no suite.*{said}"):
        MetricSuite.load(path)


@pytest.mark.parametrize(
    "n_rows", [-1, 0, 10**12, MOST_CELLS, "1e400", '"x"', "null", "1.5", "true"]
)
def test_numbers_of_rows(suite_text, tmp_path, n_rows):
    path = tmp_path / "suite.json"
    content = json.loads(suite_text)
    content["tables"]["train"]["n_rows"] = "HERE"
    path.write_text(json.dumps(content).replace('"HERE"', str(n_rows)))
    with pytest.raises(InvalidParameterError, match=f"n_rows must be|at most {MOST_CELLS:,} cells"):
        MetricSuite.load(path)


def test_counts_beyond_the_rows(suite_text, tmp_path):
    path, content = tmp_path / "suite.json", json.loads(suite_text)
    content["tables"]["train"]["columns"]["city"]["other"] = 10**12
    path.write_text(json.dumps(content))
    with pytest.raises(InvalidParameterError, match="city: counts must not be more than 200 rows"):
        MetricSuite.load(path)


@pytest.mark.parametrize("read", [MetricSuite.load, SuiteResult.from_json, Comparison.from_json])
@pytest.mark.parametrize("name", ["absent.json", "."])
def test_paths_without_a_file(tmp_path, read, name):
    with pytest.raises(InvalidParameterError, match=r"there is no file|cannot be read"):
        read(tmp_path / name)


def test_metrics_that_need_rows_are_left_out_whatever_a_file_says(suite_text, tmp_path):
    path = tmp_path / "suite.json"
    path.write_text(with_metric(suite_text, call("skeval.privacy.ExactMatchShare")))
    saved = MetricSuite.load(path)
    assert "needs rows" in saved.skipped_["x"]
    assert "x" not in saved.metrics_


@pytest.mark.parametrize(
    "metric",
    [
        call("skeval.text.EntityLeakage", memory="folder"),
        call(
            "skeval.text.EntityLeakage",
            recognizer=call("skeval.text.SpacyRecognizer", model="./folder"),
        ),
        call("skeval.text.FlairRecognizer", model="stranger/model"),
        call("sklearn.pipeline.Pipeline", steps=[], memory="folder"),
        call("sklearn.feature_extraction.text.CountVectorizer", input="filename"),
    ],
)
def test_files_and_folders_that_a_file_names(metric):
    with pytest.raises(InvalidParameterError, match="names a file or a folder"):
        rebuilt(metric)


NESTED: list = []
for _ in range(50):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "metric",
    [
        call("skeval.__main__.x"),
        call("sklearn.tests.test_base.MyEstimator"),
        call("sklearn.conftest.x"),
        call("sklearn.svm._classes.SVC"),
        call("skeval.fidelity.KSComplement", columns=NESTED),
        call("skeval.fidelity.KSComplement", columns={"name": "os.system"}),
        call("skeval.fidelity.KSComplement", columns={"tuple": 1}),
        call("skeval.fidelity.KSComplement", columns={"dict": [[1]]}),
        call("skeval.fidelity.KSComplement", columns={"float": "1e9"}),
        call("skeval.fidelity.KSComplement", columns={"dict": [[[], 1]]}),
        {**call("skeval.fidelity.KSComplement"), "more": 1},
        {"class": ["skeval.fidelity.KSComplement"], "parameters": {}},
        {"class": "skeval.fidelity.KSComplement", "parameters": []},
    ],
)
def test_what_is_not_made_again(metric):
    with pytest.raises(InvalidParameterError, match="cannot be made again"):
        rebuilt(metric)


def test_names_of_models_are_kept_and_folders_are_not():
    kept = EntityLeakage(recognizer=SpacyRecognizer("de_core_news_sm"), memory="folder")
    content = json.loads(json.dumps(described(without_files(kept))))
    assert rebuilt(content).recognizer.model == "de_core_news_sm"
    assert rebuilt(content).memory is None
    assert kept.memory == "folder"
    assert rebuilt(described(FlairRecognizer())).model == "flair/ner-english-large"


# -------------------------------------------------------------------------------------- scores


@pytest.mark.parametrize("columns", [{"a": "x"}, {"a": [1.0]}])
def test_scores_of_columns_that_are_no_numbers(scores, columns):
    content = json.loads(scores.to_json())
    content["results"]["ks"]["details"]["columns"] = columns
    with pytest.raises(InvalidParameterError, match="holds no scores"):
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
    from skeval.utils.files import details_of

    with pytest.raises(ZeroDivisionError), details_of(None):
        1 / 0  # noqa: B018
    said = r"a.json holds details of another form.*ZeroDivisionError"
    with pytest.raises(InvalidParameterError, match=said), details_of("a.json"):
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
        with pytest.raises(InvalidParameterError, match="in its own folder"):
            RelationalSchema.from_datapackage(path)


def test_rules_are_refused_before_tables_are_read():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidParameterError, match="'open\\(1\\)' calls open, which no rule"):
            MetricSuite([("rules", RuleAdherence(["open(1)"]))]).fit(TRAIN)


def test_halves_of_surrogates_in_results_are_replaced(scores):
    content = json.loads(scores.to_json())
    content["results"]["copies"]["error"] = "\ud800"
    read = SuiteResult.from_json(json.dumps(content))
    assert read["copies"].error == "\N{REPLACEMENT CHARACTER}"
    assert len(read.frame()) == 2
