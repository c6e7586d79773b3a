"""Intervals of value minus baseline of several tables: halves of subjects, with all their rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.fidelity import KSComplement, TVComplement
from skeval.relational import (
    AggregationDetection,
    AutocorrelationDifference,
    CardinalityBoundaryAdherence,
    CardinalityShapeSimilarity,
    CardinalityStatisticSimilarity,
    CoherenceSimilarity,
    ForeignKey,
    InterEventTimeSimilarity,
    InterRowMSAS,
    InterTableTrends,
    KHopCorrelation,
    OfTable,
    ParentChildAggregates,
    RelationalSchema,
    SequenceDetection,
    SequenceKey,
    SequenceLengthSimilarity,
    StatisticMSAS,
    TransitionSimilarity,
)
from skeval.steps.independent_subjects import independent_rows, n_subjects, subjects_in_place
from tests.relational.worlds import CLINIC, SHOP, clinic, context_of, evaluated, shop

VISITS = ForeignKey("visits", "patient", "patients", "id")
DIARY = RelationalSchema(
    ["patients", "visits"],
    {"patients": "id"},
    [VISITS],
    sequences={"visits": SequenceKey("patient", "day")},
)
METRICS = {
    type(metric).__name__: metric
    for metric in (
        AutocorrelationDifference(),
        CardinalityShapeSimilarity(),
        CardinalityStatisticSimilarity(),
        CoherenceSimilarity(),
        InterEventTimeSimilarity(),
        InterRowMSAS(),
        InterTableTrends(floor=False),
        KHopCorrelation(),
        ParentChildAggregates(detection=False),
        SequenceLengthSimilarity(),
        StatisticMSAS(),
        TransitionSimilarity(),
    )
}


def diary(n, seed, most=20):
    """Return patients with visits in an order: a walk, a habit, and a ward that mostly stays."""
    rng = np.random.default_rng(seed)
    n_visits = rng.integers(2, most + 1, n)
    patient, starts = np.repeat(np.arange(n), n_visits), np.cumsum(n_visits) - n_visits
    habit, steps = rng.normal(size=n), rng.normal(size=patient.size).cumsum()
    moves = np.cumsum(rng.random(patient.size) < 0.3)
    visits = {
        "patient": patient,
        "day": (np.arange(patient.size) - starts[patient] + rng.random(patient.size)).round(3),
        "pulse": (steps - steps[starts][patient] + 3 * habit[patient]).round(2),
        "pressure": (habit[patient] + rng.normal(size=patient.size)).round(2),
        "ward": np.array(list("abc"))[(moves + rng.integers(3, size=n)[patient]) % 3],
    }
    people = {"id": np.arange(n), "age": rng.normal(50, 12, n).round(1)}
    return {"patients": pd.DataFrame(people), "visits": pd.DataFrame(visits)}


def drawn(seed, n=100):
    return context_of(*(diary(n, 3 * seed + i) for i in range(3)), DIARY)


def covered(metrics, n_draws, n=100):
    """Return how often the interval holds 0, and how wide it is beside the least that would do."""
    hits, widths, gaps = ({name: [] for name in metrics} for _ in range(3))
    for seed in range(n_draws):
        context = drawn(seed, n)
        for name, metric in metrics.items():
            result = evaluated(metric, context)
            low, high = result.difference
            hits[name].append(low <= 0.0 <= high)
            widths[name].append(high - low)
            gaps[name].append(result.value - result.baseline)
    wide = {name: np.mean(widths[name]) / (3.92 * np.std(gaps[name])) for name in metrics}
    return {name: int(np.sum(of)) for name, of in hits.items()}, wide


@pytest.mark.calibration
def test_fresh_subjects_are_seldom_outside():
    """On average 0.75 of 15 draws are; more than 3 are once in two hundred times."""
    few = ("CardinalityShapeSimilarity", "InterRowMSAS", "StatisticMSAS")
    hits, wide = covered({name: METRICS[name] for name in few}, 15, n=60)
    assert min(hits.values()) >= 12
    assert max(wide.values()) < 3.0


@pytest.mark.slow
@pytest.mark.calibration
def test_coverage_of_all_metrics():
    of_one = {
        f"visits/{i}": OfTable(m, "visits") for i, m in enumerate((KSComplement(), TVComplement()))
    }
    hits, wide = covered({**METRICS, **of_one}, 40)
    assert min(hits.values()) >= 34
    assert max(wide.values()) < 2.0


@pytest.mark.parametrize("name", METRICS)
def test_each_metric_has_an_interval_around_its_difference(name):
    result = evaluated(METRICS[name], drawn(0, 40))
    low, high = result.difference
    assert low < result.value - result.baseline < high


def test_a_worse_generator_is_outside():
    train, holdout, synthetic = (diary(150, seed) for seed in range(3))
    shuffled = np.random.default_rng(0).permutation(len(synthetic["visits"]))
    values = synthetic["visits"]["pulse"].to_numpy()[shuffled]
    worse = {**synthetic, "visits": synthetic["visits"].assign(pulse=values)}
    result = evaluated(StatisticMSAS(), context_of(train, holdout, worse, DIARY))
    assert result.difference[1] < 0.0


@pytest.mark.parametrize("metric", [AggregationDetection(max_rows=500), SequenceDetection()])
@pytest.mark.slow
def test_detection_has_an_interval_of_both(metric):
    result = evaluated(metric, drawn(0, 60))
    low, high = result.difference
    assert low < result.value - result.baseline < high
    assert high - low > result.interval[1] - result.interval[0]


@pytest.mark.slow
def test_several_tables_of_a_detection_have_an_interval():
    tables = [diary(60, seed) for seed in range(3)]
    keys = [VISITS, ForeignKey("calls", "patient", "patients", "id")]
    schema = RelationalSchema(
        ["patients", "visits", "calls"],
        {"patients": "id"},
        keys,
        sequences={name: SequenceKey("patient", "day") for name in ("visits", "calls")},
    )
    context = context_of(*({**own, "calls": own["visits"]} for own in tables), schema)
    result = evaluated(SequenceDetection(), context)
    assert result.interval[0] < result.value < result.interval[1]


def test_subjects_are_halved_with_all_their_rows():
    context = drawn(0, 41)
    halves = subjects_in_place(context, "synthetic", 20, 0, 2)
    keys = [set(half.original_frame("synthetic")["patients"]["id"]) for half in halves]
    assert [len(own) for own in keys] == [20, 20]
    assert not keys[0] & keys[1]
    visits = context.original_frame("synthetic")["visits"]
    for half, own in zip(halves, keys, strict=True):
        assert set(half.original_frame("synthetic")["visits"]["patient"]) == own
        assert len(half.original_frame("synthetic")["visits"]) == visits["patient"].isin(own).sum()
    again = subjects_in_place(context, "synthetic", 20, 1, 2)[0]
    assert set(again.original_frame("synthetic")["patients"]["id"]) != keys[0]


def test_a_row_of_nobody_is_one_of_its_own():
    tables = [clinic(30, seed, most=3) for seed in range(3)]
    lost = tables[2]["visits"].copy()
    lost.loc[:4, "patient"] = 77_777
    context = context_of(*tables[:2], {**tables[2], "visits": lost}, CLINIC)
    own = independent_rows(context, "synthetic")
    assert own["visits"][:5].tolist() == [30, 31, 32, 33, 34]
    assert n_subjects(context, "synthetic") == 35


def test_sequences_alone_are_subjects():
    schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient", "day")})
    tables = [{"visits": diary(30, seed)["visits"]} for seed in range(3)]
    context = context_of(*tables, schema)
    assert n_subjects(context, "holdout") == 30
    assert evaluated(StatisticMSAS(), context).difference is not None


def test_fewer_subjects_of_one_table_are_met_by_as_many_of_the_other():
    """The value falls with the size of a sample, not with the difference to one of that size."""
    context = context_of(diary(200, 0), diary(40, 1), diary(200, 2), DIARY)
    result = evaluated(StatisticMSAS(), context)
    assert result.value - result.baseline > 0.02
    assert result.difference[0] < 0.0 < result.difference[1]


@pytest.mark.slow
def test_there_is_none_where_subjects_are_few_or_linked():
    assert evaluated(StatisticMSAS(), drawn(0, 12)).difference is None
    both = RelationalSchema(
        list(SHOP.tables), dict(SHOP.primary_keys), SHOP.foreign_keys,
        roles={"users": "subject", "items": "subject"},
    )  # fmt: skip
    tables = [shop(30, seed) for seed in range(3)]
    metric = CardinalityShapeSimilarity()
    assert evaluated(metric, context_of(*tables, both)).difference is None
    assert evaluated(metric, context_of(*tables, SHOP)).difference is not None
    friends = ForeignKey("patients", "friend", "patients", "id")
    linked = RelationalSchema(["patients", "visits"], {"patients": "id"}, [VISITS, friends])
    people = [
        {**own, "patients": own["patients"].assign(friend=own["patients"]["id"].to_numpy()[::-1])}
        for own in (diary(30, seed) for seed in range(3))
    ]
    assert evaluated(metric, context_of(*people, linked)).difference is None


def test_what_few_parents_decide_has_none():
    assert evaluated(CardinalityBoundaryAdherence(), drawn(0, 40)).difference is None


@pytest.mark.slow
def test_one_dependent_table_has_that_of_subjects():
    """Rows of one patient are alike: of independent rows the interval would be too narrow."""
    context = context_of(*(clinic(60, seed) for seed in range(3)), CLINIC)
    of_subjects = evaluated(OfTable(KSComplement(), "visits"), context)
    of_rows = evaluated(KSComplement(), context.table("visits"))
    width, narrow = (np.ptp(one.difference) for one in (of_subjects, of_rows))
    assert of_subjects.interval is None
    assert width > 1.5 * narrow
    assert evaluated(OfTable(KSComplement(), "visits", max_rows=100), context).difference is None
