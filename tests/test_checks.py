"""A check that cannot fail checks nothing: each broken metric fails the check of the promise it breaks."""

from __future__ import annotations

import numpy as np
import pytest

from skeval import Metric, MetricTags, Result, check_metric, parametrize_with_metric_checks
from skeval.checks.contract import CHECKS
from skeval.checks.tables import default_tables
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.results.verdict import Contrast
from tests.snapshots import raises, warns

TAGS = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0))
LEAK = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="screen")


class Sound(Metric):
    """Share of synthetic ages at or under the real mean, folded; `power` does nothing."""

    tags = TAGS

    def __init__(self, power=1):
        self.power = power

    def _compute(self, context):
        share = (context.synthetic["age"] <= context.train["age"].mean()).mean()
        return 1.0 - abs(share - (context.train["age"] <= context.train["age"].mean()).mean())


class StoresMore(Sound):
    """See Sound; `power`."""

    def __init__(self, power=1):
        super().__init__(power)
        self.derived = power + 1


class ChangesParameter(Sound):
    """See Sound; `power`."""

    def __init__(self, power=1):
        self.power = [power]


class Undocumented(Sound):
    def __init__(self, power=1):
        self.power = power


class OutOfBounds(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return 2.0


class FalseInterval(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return Result(0.5, interval=(0.6, 0.7))


class Random(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return float(np.random.default_rng().random())


class GlobalGenerator(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        np.random.random()
        return 0.5


class FitsNothing(Sound):
    """See Sound; `power`."""

    def fit(self, train, holdout=None):
        return Sound(self.power).fit(train, holdout)

    def evaluate(self, synthetic):
        return Result(0.5)


class SortsItsInputs(Sound):
    """See Sound; `power`."""

    def fit(self, train, holdout=None):
        train.sort_values("age", inplace=True)
        return super().fit(train, holdout)


class OrderOfRows(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return float(context.synthetic["age"].iloc[0] > 40)


class DrawsPositions(Sound):
    """See Sound; `power` and `max_rows`."""

    def __init__(self, *, power=1, max_rows=1000):
        self.power = power
        self.max_rows = max_rows

    def _compute(self, context):
        return float((context.synthetic["age"].iloc[: self.max_rows] > 40).mean())


class OrderOfColumns(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return float(context.train.columns[0] == "age")


class Untagged(Metric):
    """Nothing."""

    def _compute(self, context):
        return 0.5


class HiddenNeed(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return float(len(context.holdout) > 0)


class WrongWay(Sound):
    """See Sound; `power`."""

    tags = LEAK

    def _compute(self, context):
        return float(not context.synthetic["age"].isin(context.train["age"]).all())


class Leaks(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return Result(0.5, details={"most": context.train["income"].max()})


class GoneByRows(Sound):
    """See Sound; `power`."""

    tags = LEAK

    def _compute(self, context):
        is_constant = context.synthetic["age"].nunique() == 1
        return Result(0.5, p_value=float("nan") if is_constant else 0.5)


class ShowsNoLeak(Sound):
    """See Sound; `power`."""

    tags = LEAK

    def _compute(self, context):
        return Result(0.5, p_value=0.001, contrast=Contrast("rows", 0.4, 0.5))


class SilentNan(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        return float("nan") if context.synthetic["age"].nunique() == 1 else 0.5


class DividesByTheSpread(Sound):
    """See Sound; `power`."""

    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, float("inf")))

    def _compute(self, context):
        real, synthetic = (context[role]["age"].to_numpy() for role in ("train", "synthetic"))
        return np.abs(real.mean() - synthetic.mean()) / real.std()


class NeedsNumbers(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        columns = context.schema.columns("continuous")
        return sum(context.synthetic[name].notna().mean() for name in columns) / len(columns)


class InfinityWithoutAWarning(Sound):
    """See Sound; `power`."""

    tags = DividesByTheSpread.tags

    def _compute(self, context):
        return float("inf") if context.train["age"].nunique() == 1 else 0.5


class Remembers(Sound):
    """See Sound; `power`."""

    def _prepare(self, context):
        self.count_ = getattr(self, "count_", 0) + 1

    def _compute(self, context):
        return 1.0 / self.count_


def choose(monkeypatch, *names):
    """Leave out all other checks, which take their time."""
    chosen = tuple(check for check in CHECKS if check.__name__ in names)
    monkeypatch.setattr("skeval.checks.CHECKS", chosen)


class TooMuchMemory(Sound):
    """See Sound; `power`."""

    def _compute(self, context):
        x = context.train["age"].to_numpy()
        return float(np.abs(x[:, None] - x[None, :]).mean() > 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (StoresMore, "check_init_sets_only_parameters"),
        (ChangesParameter, "check_clone_keeps_parameters"),
        (Undocumented, "check_docstring_names_parameters"),
        (Untagged, "check_tags"),
        (OutOfBounds, "check_bounds"),
        (FalseInterval, "check_interval"),
        (Random, "check_deterministic"),
        (FitsNothing, "check_fit_returns_self"),
        (SortsItsInputs, "check_inputs_untouched"),
        (GlobalGenerator, "check_global_state_untouched"),
        (OrderOfColumns, "check_column_order_ignored"),
        (HiddenNeed, "check_missing_needs_are_named"),
        (WrongWay, "check_direction"),
        (Leaks, "check_no_cell_leaks"),
        (SilentNan, "check_odd_tables"),
        (DividesByTheSpread, "check_odd_tables"),
        (NeedsNumbers, "check_odd_tables"),
        (InfinityWithoutAWarning, "check_odd_tables"),
        (ShowsNoLeak, "check_contrast_of_tests"),
        (Remembers, "check_refit_forgets"),
        (TooMuchMemory, "check_memory"),
    ],
)
def test_a_broken_promise_is_found(broken, check, monkeypatch):
    choose(monkeypatch, check)
    (record,) = check_metric(broken(), on_fail="record")
    assert (record["check"], record["status"]) == (check, "failed")


def test_a_test_that_rows_leave_undefined_stays_in_the_family():
    """Else the family shrinks by what rows hold, and does not keep its level."""
    train, holdout, synthetic = default_tables()
    metric = GoneByRows().fit(train, holdout)
    assert metric.evaluate(synthetic).p_value == 0.5
    assert metric.evaluate(synthetic.assign(age=40)).p_value == 1.0


@pytest.mark.slow
def test_a_sound_metric_passes():
    assert {record["status"] for record in check_metric(Sound())} == {"passed"}


def test_failures_raise_warn_or_are_expected(monkeypatch):
    from skeval.checks.demands import CheckFailedError

    choose(monkeypatch, "check_tags", "check_bounds", "check_interval")
    with raises(CheckFailedError):
        check_metric(OutOfBounds())
    with warns(UserWarning):
        check_metric(OutOfBounds(), on_fail="warn")
    records = check_metric(OutOfBounds(), expected_failures={"check_bounds": "known"})
    assert {r["check"]: r["status"] for r in records}["check_bounds"] == "expected"


class SumsInTheOrderOfColumns(Sound):
    """See Sound."""

    def _compute(self, context):
        columns = context.schema.columns("continuous")
        return float(np.mean([1.0 / (7.0 + len(n)) for n in columns] * 3 + [0.1]) / 9)


class Wage(Sound):
    """See Sound; `power` and `column`."""

    def __init__(self, power=1, column="wage"):
        self.power, self.column = power, column

    def _compute(self, context):
        return float(context.synthetic[self.column].mean() > 0)


class BreaksTwo(OutOfBounds):
    """Does not name its parameter."""

    def _compute(self, context):
        return Result(2.0, interval=(3.0, 4.0))


def test_all_failures_are_reported_at_once_those_of_style_last(monkeypatch):
    from skeval.checks.demands import CheckFailedError

    choose(monkeypatch, "check_docstring_names_parameters", "check_bounds", "check_interval")
    with pytest.raises(CheckFailedError) as raised:
        check_metric(BreaksTwo())
    lines = str(raised.value).splitlines()
    assert [any(name in line for line in lines) for name in ("bounds", "interval", "doc")] == [
        1
    ] * 3
    assert "docstring" in lines[-1]
    kinds = {r["check"]: r["kind"] for r in check_metric(BreaksTwo(), on_fail="record")}
    assert kinds["check_docstring_names_parameters"] == "style"
    assert kinds["check_bounds"] == "contract"


def test_a_fault_of_style_alone_warns(monkeypatch):
    choose(monkeypatch, "check_docstring_names_parameters")
    with warns(UserWarning):
        (record,) = check_metric(Undocumented())
    assert (record["status"], record["kind"]) == ("failed", "style")


def test_the_last_bit_of_a_sum_over_columns_is_of_style(monkeypatch):
    choose(monkeypatch, "check_column_order_ignored")
    with pytest.warns(UserWarning, match="fsum"):
        check_metric(SumsInTheOrderOfColumns())


def test_columns_that_the_tables_do_not_have_are_named():
    with raises(InvalidParameterError):
        check_metric(Wage())


@pytest.mark.parametrize(
    "arguments",
    [
        {"metric": KSComplement},
        {"metric": KSComplement(), "on_fail": "shout"},
        {"metric": KSComplement(), "expected_failures": {"check_x": ""}},
    ],
)
def test_faulty_calls(arguments):
    with raises(InvalidParameterError):
        check_metric(**arguments)


@parametrize_with_metric_checks([Sound()])
def test_decorator(metric, check):
    check(metric)


@pytest.mark.parametrize("kind", [OrderOfRows, DrawsPositions])
def test_what_hangs_on_positions_hangs_on_content(kind):
    """Metrics read rows in an order that goes by what they hold: none can see the given one."""
    train, holdout, synthetic = default_tables()
    metric = kind(max_rows=30) if kind is DrawsPositions else kind()
    metric.fit(train, holdout)
    again = synthetic.sample(frac=1.0, random_state=0)
    assert metric.score(synthetic) == metric.score(again)
