"""The decision page: a line a facet, facts, what to do next, the headline metrics."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pypdf import PdfReader

from skeval import Metric, MetricSuite, MetricTags, Policy, Result, SuiteResult
from skeval.datasets import make_mixed
from skeval.diagnostic import BoundaryAdherence, RangeCoverage
from skeval.exceptions import (
    ConstantColumnWarning,
    GivenAwayWarning,
    HoldoutShiftWarning,
    UnequalSizesWarning,
    VoidAttackWarning,
)
from skeval.privacy import ExactMatchShare
from skeval.reporting import DecisionPage
from skeval.reporting.decision import FACETS
from skeval.reporting.flaws import flaws, worst_columns
from skeval.reporting.layout import Grid, Listed
from skeval.results import Release
from skeval.results.provenance import ColumnRecord, Provenance
from skeval.results.verdict import Contrast
from skeval.utils.formatting import title_of

FIDELITY = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
SCREEN = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")


def leak(advice: str = "", **fields: object) -> Result:
    shown = Contrast("rows that equal a train row", 0.5, 0.0)
    about = {"metric": "ExactMatchShare", "tags": SCREEN, "contrast": shown, "advice": advice}
    return Result(0.5, p_value=1e-6, **about, **fields)


def drawn(page: DecisionPage) -> Grid:
    """Return the figure of the page, which stands below what was found."""
    figure = page.parts()[1]
    assert isinstance(figure, Grid)
    assert figure.heads[0] == "Headline metric"
    return figure


def test_a_line_for_each_facet(suite_result: SuiteResult) -> None:
    page = DecisionPage.of(suite_result)
    assert [facet.name for facet in page.facets] == list(FACETS)
    validity, fidelity, utility, privacy = page.facets
    assert validity.status == "no fault found"
    assert "Table structure" in validity.looked_at
    assert fidelity.status == "as good as real rows"
    assert "of 100, where fresh real rows score" in fidelity.text
    assert (utility.status, utility.looked_at) == ("not looked at", "")
    assert "no target column" in utility.text
    assert privacy.status == "no leak found by these tests"
    assert "never clear a release" in privacy.text
    assert not privacy.alarm


def test_facts_stand_apart_from_the_verdict(suite_result: SuiteResult) -> None:
    assert DecisionPage.of(suite_result).facts == (
        "None of 400 synthetic rows is a complete copy of a train row.",
    )
    fact = "3 of 9 synthetic rows are complete copies of train rows."
    page = DecisionPage.of(SuiteResult({"copies": leak(fact=fact)}, sizes={"holdout": 9}))
    assert page.facts == (fact,)
    assert fact not in page.facets[-1].text
    assert "Leak found" in page.facets[-1].text
    short = DecisionPage.of(SuiteResult({"copies": leak("row", fact="Leak")}, sizes={"holdout": 9}))
    assert short.facets[-1].text == page.facets[-1].text  # no sentence is taken apart


def test_the_line_of_privacy_speaks_of_titles() -> None:
    needs = Result(float("nan"), metric="MembershipInference", tags=SCREEN, error="it needs rows.")
    other = replace(leak(), metric="DCRShare", contrast=None)
    results = {"a_key": leak(), "b_key": other, "c_key": needs}
    text = DecisionPage.of(SuiteResult(results, sizes={"holdout": 9})).facets[-1].text
    assert "_key" not in text
    for title in ("(Exact match share)", "Not looked at: Membership inference", "DCR share (p = "):
        assert title in text


@pytest.mark.slow
def test_it_is_one_page_where_there_is_much_to_say(tmp_path: Path) -> None:
    """17 metrics, facts and seven steps of two lines: the rows of the table move closer."""
    aspects = {
        "Validity": ("diagnostic", 2),
        "Fidelity": ("fidelity", 5),
        "Utility": ("utility", 4),
    }
    results = {
        f"{aspect}{i}": Result(
            0.5, metric=f"{aspect.title()}Metric{i}", tags=replace(FIDELITY, aspect=aspect)
        )
        for aspect, n in aspects.values()
        for i in range(n)
    }
    for i in range(6):
        shown = Contrast(f"rows of the kind {i} that equal a train row", 0.5, 0.0)
        advice = f"Number {i}: drop what is named here. " + 12 * "At great length. "
        one = leak(advice, fact=f"{i} of 9 synthetic rows are copies.")
        results[f"leak{i}"] = replace(one, metric=f"Leak{i}", contrast=shown)
    path = SuiteResult(results, sizes={"holdout": 9}).to_pdf(
        tmp_path / "a.pdf", sections=["decision", "scores"]
    )
    first, second, *_ = (page.extract_text() for page in PdfReader(path).pages)
    figure = first[first.index("Headline metric") :]
    assert len(re.findall("Leak [0-5]", figure)) == 6
    assert second.lstrip().startswith("Contents")


def test_what_leaks_is_closed_first() -> None:
    details = {"columns": {"age": 0.6}, "baseline_columns": {"age": 0.9}}
    results = {
        "ks": Result(0.6, metric="KSComplement", tags=FIDELITY, details=details),
        "copies": leak("Drop the copied rows."),
    }
    page = DecisionPage.of(SuiteResult(results, sizes={"train": 9, "holdout": 9, "synthetic": 9}))
    assert page.steps[:2] == (
        "Drop the copied rows.",
        "Mend age: Kolmogorov-Smirnov complement 0.600, fresh real rows 0.900. Transform it before "
        "the fit, such as by quantiles, or pool its rarest categories.",
    )
    assert page.facets[-1].alarm
    assert "Drop the copied rows" not in page.facets[-1].text


def test_without_a_holdout_it_is_asked_for(without_holdout: SuiteResult) -> None:
    page = DecisionPage.of(without_holdout)
    assert any(step.startswith("Give holdout rows") for step in page.steps)
    assert page.facets[-1].text.startswith("No test of privacy was possible")
    assert any(step.startswith("Name a target") for step in page.steps)


def test_of_two_populations_no_column_is_blamed() -> None:
    notices = (HoldoutShiftWarning("train and holdout can be told apart."),)
    results = SuiteResult({"copies": leak("Drop it.")}, sizes={"holdout": 9}, notices=notices)
    page = DecisionPage.of(results)
    assert page.steps[0].startswith("Set a holdout aside anew")
    assert "Drop it." not in page.steps
    assert page.facets[-1].status == "leak, or only another population, found"


def test_where_nothing_is_wrong_it_is_a_persons_decision(suite_result: SuiteResult) -> None:
    steps = DecisionPage.of(suite_result).steps
    assert all(not step.startswith("Mend") or "0." in step for step in steps)
    assert not [word for step in steps for word in step.lower().split() if word == "safe"]


def test_the_table_has_titles_and_verdicts(suite_result: SuiteResult) -> None:
    figure = drawn(DecisionPage.of(suite_result))
    rows = {row[0]: row[1:] for row in figure.rows}
    assert "Kolmogorov-Smirnov complement" in rows
    assert rows["Exact match share"][-1] == "no leak found by this test"
    assert all(row[-1] for row in figure.rows)
    assert len(rows) <= 17
    facets = dict.fromkeys(row[1] for row in figure.rows)
    assert list(facets) == ["Privacy", "Fidelity", "Validity"]


def test_the_figure_has_what_was_agreed() -> None:
    release = Release(
        thresholds=Policy(fail_on=(), require=("a >= 0.5 * baseline", "b <= 0.1", "a.low > 0"))
    )
    results = SuiteResult(
        {
            "a": Result(0.8, baseline=0.9, interval=(0.7, 0.85), tags=FIDELITY),
            "b": Result(0.3, tags=replace(FIDELITY, aspect="utility")),
            "c": Result(0.4, tags=FIDELITY),
        },
        provenance=Provenance("2026-11-22", "1", release=release),
    )
    page = DecisionPage.of(results)
    assert page.agreed == {"a": 0.45, "b": 0.1}
    figure = drawn(page)
    assert figure.heads[2].endswith("agreed")
    strips = {row[0]: row[2] for row in figure.rows}
    assert [strips[name].agreed for name in "ab"] == [0.45, 0.1]
    assert math.isnan(strips["c"].agreed)


def row(facet: str, i: int) -> tuple[str, ...]:
    return f"{facet} {i}", facet


def test_a_crowded_page_keeps_a_row_of_every_facet() -> None:
    rows = [*(row("Privacy", i) for i in range(3)), *(row("Utility", i) for i in range(2))]
    alarms = ((0, 1), (1, 1))
    whole = Grid(("Metric", "Facet"), (*rows, row("Validity", 0)), (0.5, 0.5), (), (), "", alarms)
    assert whole.shorter() == whole
    left, shown = replace(whole, spare=1), []
    while (fewer := left.shorter()) != left:
        shown.append([name for name, _ in fewer.rows])
        assert all(fewer.rows[i][0] in ("Privacy 0", "Privacy 1") for i, _ in fewer.alarms)
        left = fewer
    assert shown[0] == ["Privacy 0", "Privacy 1", "Utility 0", "Utility 1", "Validity 0"]
    assert shown[1] == ["Privacy 0", "Privacy 1", "Utility 0", "Validity 0"]  # calm rows first
    assert shown[2:] == [["Privacy 0", "Utility 0", "Validity 0"]]


def test_a_facet_shows_first_what_is_worse_than_fresh_rows() -> None:
    worse = {"interval": (0.5, 0.6), "baseline": 0.9, "difference": (-0.4, -0.3)}
    results = SuiteResult(
        {
            "first": Result(0.9, baseline=0.9, tags=replace(FIDELITY, headline=1)),
            "second": Result(0.55, tags=replace(FIDELITY, headline=2), **worse),
        }
    )
    assert [one[0] for one in drawn(DecisionPage.of(results)).rows] == ["second", "first"]


def test_what_real_rows_would_give_away_is_said() -> None:
    train, holdout = make_mixed(100, random_state=0), make_mixed(100, random_state=1)
    train = pd.concat([train, train.iloc[:3]], ignore_index=True)
    suite = MetricSuite([("copies", ExactMatchShare())], check_holdout=False).fit(train, holdout)
    page = DecisionPage.of(suite.evaluate(make_mixed(100, random_state=2)))
    said = (
        "Before synthesis: 97 of 103 real rows have a combination of values that no other row has"
    )
    assert page.persons[0].startswith(said)


def test_it_is_built_from_the_json_alone(suite_result: SuiteResult) -> None:
    again = SuiteResult.from_dict(suite_result.to_dict())
    assert DecisionPage.of(again).parts() == DecisionPage.of(suite_result).parts()
    assert str(DecisionPage.of(again)) == str(DecisionPage.of(suite_result))


def test_an_empty_suite_has_a_page() -> None:
    page = DecisionPage.of(SuiteResult({}))
    assert {facet.status for facet in page.facets} == {"not looked at"}
    assert isinstance(page.parts()[2], Listed)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("KSComplement", "Kolmogorov-Smirnov complement"),
        ("DCROverfittingProtection", "DCR overfitting protection"),
        ("TSTR", "Train on synthetic, test on real (TSTR)"),
        ("KAnonymity", "K-anonymity"),
        ("MembershipDisclosureF1", "Membership disclosure F1"),
    ],
)
def test_titles_are_those_that_people_use(name: str, title: str) -> None:
    assert title_of(name) == title


def test_a_column_that_is_wrong_everywhere_comes_first(tables: list[pd.DataFrame]) -> None:
    from skeval import make_suite

    train, holdout, synthetic = tables
    broken = synthetic.assign(income=synthetic["income"] * 3.0 + 20.0)
    results = make_suite("fidelity").fit(train, holdout).evaluate(broken)
    place, found = next(iter(worst_columns(results).items()))
    assert place == "income"
    assert "Kolmogorov-Smirnov complement" in found[0].text
    assert len({flaw.text for flaw in found}) >= 2


def test_chance_is_no_flaw(suite_result: SuiteResult) -> None:
    assert all(flaw.weight < 0.15 for flaw in flaws(suite_result))


def test_columns_by_which_attacks_succeed_weigh_most() -> None:
    rate = {"n": 100, "n_success": 60, "rate": 0.6, "interval": [0.5, 0.7]}
    column = {"zip": {"n": 100, "train": 40.0, "holdout": 10.0, "p_value": 0.001}}
    attack = {"attack": rate, "control": {**rate, "n_success": 20}, "baseline": rate}
    attacks = {
        "univariate singling out": {**attack, "p_adjusted": 0.01, "columns": column},
        "of sex": {**attack, "secret": "sex", "p_adjusted": 0.01, "residual_risk": 0.5},
        "of age": {**attack, "secret": "age", "p_adjusted": 0.9, "residual_risk": 0.1},
    }
    tags = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="attack")
    result = Result(0.5, metric="AnonymeterRisk", tags=tags, details={"attacks": attacks})
    worst = worst_columns(SuiteResult({"anonymeter": result}))
    assert list(worst) == ["sex", "zip"]
    assert worst["sex"][0].text == "inferred of 60.0% of train rows, of 20.0% of holdout rows"
    assert "single out 40 train rows, 10 holdout rows in 100 tries" in worst["zip"][0].text


@pytest.mark.parametrize(("metric", "said"), [(RangeCoverage, False), (BoundaryAdherence, True)])
def test_what_single_values_decide_is_no_flaw_before_it_is_far(
    metric: type[Metric], said: bool
) -> None:
    columns = {"columns": {"age": 0.8, "sex": 1.0}, "baseline_columns": {"age": 1.0, "sex": 0.8}}
    result = Result(0.9, metric="Own", tags=metric.tags, details=columns)
    found = [flaw.column for flaw in flaws(SuiteResult({"a": result}))]
    assert found == (["age"] if said else [])  # and more than fresh rows is no sign of memorising


@pytest.mark.parametrize(
    ("n_copied", "status", "word"),
    [(4, "copies found", "copies found"), (2, "few copies, no alarm", "few copies, no alarm")],
)
def test_copies_are_an_outcome_of_the_page(n_copied, status, word):
    train, holdout, fresh = (make_mixed(200, random_state=seed) for seed in range(3))
    release = pd.concat([train[:n_copied], fresh[n_copied:]], ignore_index=True)
    suite = MetricSuite([("exact", ExactMatchShare())]).fit(train, holdout)
    page = DecisionPage.of(suite.evaluate(release))
    assert page.facets[-1].status == status
    assert page.facets[-1].alarm is (n_copied == 4)
    assert "No leak found" not in str(page)
    assert any(word in row for row in drawn(page).rows[0])
    assert any("Drop the copied rows" in step for step in page.steps) is (n_copied == 4)


def test_a_release_that_is_the_holdout_is_asked_about():
    train, holdout = (make_mixed(200, random_state=seed) for seed in range(2))
    suite = MetricSuite([("exact", ExactMatchShare())]).fit(train, holdout)
    page = DecisionPage.of(suite.evaluate(holdout))
    assert page.facets[-1].status == "cannot be told"
    assert any(step.startswith("Find out how holdout rows came") for step in page.steps)


def test_each_column_once_and_what_leaks_first() -> None:
    """The column that an attack infers is not mended too; the others say how."""
    columns = {"age": 0.6, "income": 0.5}
    details = {"columns": columns, "baseline_columns": dict.fromkeys(columns, 0.95)}
    results = {
        "ks": Result(0.6, metric="KSComplement", tags=FIDELITY, details=details),
        "attack": leak("Drop or coarsen age: it is inferred better of train rows than of others."),
    }
    steps = DecisionPage.of(SuiteResult(results, sizes={"holdout": 9})).steps
    assert [("age" in step, "income" in step) for step in steps[:2]] == [
        (True, False),
        (False, True),
    ]
    assert sum("age:" in step for step in steps) == 1
    assert steps[1].endswith("pool its rarest categories.")


def test_what_is_coarsened_already_is_not_named_again() -> None:
    first, again, other = (
        "Train rows are nearest in age and city: drop, pool or coarsen them.",
        "Drop, pool or coarsen city: its values single out train rows.",
        "Drop, pool or coarsen city and plan: their values single out train rows.",
    )
    columns = tuple(ColumnRecord(name, "categorical") for name in ("age", "city", "plan"))
    results = {name: leak(name) for name in (first, again, other)}
    known = Provenance("2026-11-22", "1", columns=columns)
    page = DecisionPage.of(SuiteResult(results, sizes={"holdout": 9}, provenance=known))
    assert page.steps[:2] == (first, other)
    assert again not in page.steps


def test_what_models_learn_less_comes_before_columns() -> None:
    learning = MetricTags("utility", greater_is_better=True, bounds=(0, 1), quoted="learning")
    details = {"columns": {"age": 0.6}, "baseline_columns": {"age": 0.9}}
    tstr = Result(
        0.7, baseline=0.8, difference=(-0.15, -0.05), tags=learning, details={"target": "income"}
    )
    results = {
        "ks": Result(0.6, metric="KSComplement", tags=FIDELITY, details=details),
        "tstr": replace(tstr, metric="TSTR"),
    }
    steps = DecisionPage.of(SuiteResult(results, sizes={"holdout": 9})).steps
    assert steps[0] == (
        "For models of income, keep first what is associated with it: learned from the release they "
        "reach 0.700, from train 0.800."
    )
    assert steps[1].startswith("Mend age")
    as_good = replace(results["tstr"], difference=(-0.1, 0.1))
    steps = DecisionPage.of(SuiteResult({**results, "tstr": as_good}, sizes={"holdout": 9})).steps
    assert steps[0].startswith("Mend age")


def test_a_lost_association_and_one_that_was_made_up_have_other_cures() -> None:
    details = {
        "names": list("abcd"),
        "train": [[1, 0.8, 0, 0], [0.8, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "synthetic": [[1, 0.1, 0, 0], [0.1, 1, 0, 0], [0, 0, 1, 0.7], [0, 0, 0.7, 1]],
    }
    gaps = np.abs(np.subtract(details["train"], details["synthetic"])).tolist()
    result = Result(0.6, tags=FIDELITY, metric="Phik", details={**details, "difference": gaps})
    cures = {flaw.column: flaw.cure for flaw in flaws(SuiteResult({"phik": result})) if flaw.cure}
    assert cures["a"] == "Model both together."
    assert "made it up" in cures["d"]


def test_what_is_odd_about_the_tables_is_in_doubt() -> None:
    columns = (
        ColumnRecord("age", "continuous"),
        *(ColumnRecord(f"c{i}", "continuous", doubt="codes of categories?") for i in range(5)),
    )
    given_away = GivenAwayWarning("c1 alone gives income away. Leave it out.")
    sizes = UnequalSizesWarning("Train has 900 rows and the holdout 9. Hold out more.")
    constant = ConstantColumnWarning("One value or none in train: c4. Leave it out.")
    results = {
        "tstr": Result(0.9, metric="TSTR", tags=FIDELITY, warnings=(given_away,)),
        "dcr": Result(0.9, tags=SCREEN, warnings=(UnequalSizesWarning("by a metric"),)),
        "void": Result(0.9, tags=SCREEN, warnings=(VoidAttackWarning("year is not attacked."),)),
    }
    known = Provenance("2026-11-22", "1", columns=columns)
    suite = SuiteResult(results, notices=(sizes, constant), provenance=known)
    page = DecisionPage.of(suite)
    assert page.doubts == (
        "Kinds of columns: c0 (codes of categories?); c1 (codes of categories?); c2 (codes of "
        "categories?); and 2 more. Name the kinds in a schema.",
        str(sizes),
        str(constant),
        str(given_away),
        "year is not attacked.",
    )
    (listed,) = (p for p in page.parts() if isinstance(p, Listed) and p.title == "In doubt")
    assert listed.texts == page.doubts
    assert "In doubt:" in str(page)
    assert DecisionPage.of(SuiteResult({})).doubts == ()


def test_without_a_holdout_no_check_is_compared_with_fresh_rows() -> None:
    tags = MetricTags("diagnostic", greater_is_better=True, bounds=(0, 1))
    for values in ((0.5, 1.0), (1.0, 1.0)):
        results = {f"m{i}": Result(v, metric="Some", tags=tags) for i, v in enumerate(values)}
        validity = DecisionPage.of(SuiteResult(results)).facets[0]
        assert "best value" in validity.text
        assert "fresh" not in validity.text


def test_the_metric_that_decides_a_label_is_named() -> None:
    fields = {"tags": FIDELITY, "baseline": 0.9}
    results = {
        "good": Result(0.9, metric="SimilarityScore", difference=(-0.1, 0.1), **fields),
        "bad": Result(0.5, metric="NNDistanceDistributions", difference=(-0.5, -0.3), **fields),
    }
    fidelity = DecisionPage.of(SuiteResult(results)).facets[1]
    assert fidelity.status == "worse than real rows"
    assert f"1 worse than real rows ({title_of('NNDistanceDistributions')})" in fidelity.text
