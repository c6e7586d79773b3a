"""Metrics of one table on subjects with all their rows: what no single table shows."""

from __future__ import annotations

import pytest

from skeval import make_suite
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.fidelity import KSComplement
from skeval.privacy import (
    AttributeInferenceRisk,
    DCROverfittingProtection,
    DCRPercentile,
    ExactMatchShare,
    MembershipDisclosureF1,
    MembershipInference,
)
from skeval.relational import ForeignKey, OfTable, PerSubject, RelationalSchema
from skeval.steps.aggregates import STATS, aggregated_context
from tests.calibrations import Claim, all_hold, rates_of
from tests.relational.worlds import CLINIC, clinic, context_of, evaluated, jittered_histories
from tests.snapshots import raises

CONTEXT = context_of(*(clinic(60, seed, most=8) for seed in range(3)), CLINIC)
ROLES = "Give them: RelationalSchema"


@pytest.fixture(scope="module")
def leak():
    """A clinic in which 2% of the patients are train patients with every number changed."""
    train, holdout, fresh = (clinic(800, seed, 5, 15) for seed in range(3))
    return train, holdout, fresh, jittered_histories(train, fresh, 0.02)


@pytest.mark.parametrize("metric", [KSComplement(), ExactMatchShare(), MembershipInference()])
def test_the_result_is_that_of_the_metric_on_aggregates(metric):
    own = aggregated_context(CONTEXT, "patients", STATS, "subject")
    theirs = metric.fit_context(own.real).evaluate_context(own)
    ours = evaluated(PerSubject(metric), CONTEXT)
    assert ours.metric == type(metric).__name__
    assert ours.table == "patients with all their rows"
    for name in ("value", "p_value", "baseline", "interval", "difference", "summary"):
        assert getattr(ours, name) == getattr(theirs, name), name


def test_columns_of_aggregates_can_be_named():
    metric = PerSubject(AttributeInferenceRisk("sex", known=["visits.pulse.mean", "age"]))
    assert 0 <= evaluated(metric, CONTEXT).value <= 1
    few = PerSubject(KSComplement(columns=["visits.pulse.median"]), stats=("median",))
    assert evaluated(few, CONTEXT).details["columns"].keys() == {"visits.pulse.median"}


def test_parameters_are_checked():
    tables = clinic(20, 0, most=3)
    with raises(InvalidParameterError):
        PerSubject(KSComplement(), "visits").fit(tables, schema=CLINIC)
    with raises(InvalidParameterError):
        PerSubject(KSComplement(), stats=("sum",)).fit(tables, schema=CLINIC)
    with raises(MissingInputError):
        PerSubject(MembershipInference()).fit(tables, schema=CLINIC)


def test_roles_that_lack_are_asked_for_in_one_sentence():
    schema = RelationalSchema(
        ["a", "b", "c"],
        {"a": "id", "b": "id"},
        [ForeignKey("c", "x", "a", "id"), ForeignKey("c", "y", "b", "id")],
    )
    one = clinic(9, 0, most=2)["patients"][["id", "age"]]
    tables = {"a": one, "b": one, "c": one.set_axis(["x", "y"], axis=1)}
    with raises(MissingInputError):
        PerSubject(KSComplement()).fit(tables, schema=schema)


@pytest.mark.slow
def test_a_jittered_history_is_missed_row_by_row(leak):
    context = context_of(leak[0], leak[1], leak[3], CLINIC)
    metrics = [ExactMatchShare(), DCROverfittingProtection(), MembershipInference("distance")]
    for table in ("patients", "visits"):
        for metric in metrics:
            assert evaluated(OfTable(metric, table), context).p_value > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("metric", [DCRPercentile(1), MembershipDisclosureF1()])
def test_a_jittered_history_is_found_at_the_subject(leak, metric):
    train, holdout, fresh, leaky = leak
    clean = evaluated(PerSubject(metric), context_of(train, holdout, fresh, CLINIC))
    found = evaluated(PerSubject(metric), context_of(train, holdout, leaky, CLINIC))
    assert found.p_value < 0.01
    assert found.contrast.supports_leak
    assert clean.p_value > 0.05


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* of the train rows have a duplicate")
def test_the_verdict_of_a_suite_finds_it_and_names_the_subject(leak):
    train, holdout, fresh, _ = leak
    # at 2% the p-value is .0045, give or take its draws, and that of one of twelve tests must be
    # below .0042
    leaky = jittered_histories(train, fresh, 0.03)
    suite = make_suite("screens", schema=CLINIC).fit(train, holdout, schema=CLINIC)
    assert not suite.evaluate(fresh).verdict().alarm
    verdict = suite.evaluate(leaky).verdict()
    assert verdict.alarms
    assert all(name.startswith("subject_") for name in verdict.alarms)
    assert ", in patients with all their rows: " in verdict.sentence


@pytest.mark.calibration
def test_subjects_keep_the_level():
    """200 null seeds, 1 to 50 children a subject."""
    metrics = [DCRPercentile(1), MembershipDisclosureF1(), DCROverfittingProtection()]

    def rejects(seed):
        context = context_of(*(clinic(40, 3 * seed + i) for i in range(3)), CLINIC)
        return {repr(m): evaluated(PerSubject(m), context).p_value <= 0.05 for m in metrics}

    claim = Claim(0.05, high=0.085)
    found = rates_of(map(rejects, range(200)), dict.fromkeys(map(repr, metrics), claim))
    assert all_hold(found), found
