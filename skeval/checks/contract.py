"""Checks of :func:`skeval.check_metric`, one for each rule of the contract."""

from __future__ import annotations

import json
import math
import pickle
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn import tree
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import skeval.generators
from skeval.checks.demands import (
    CheckFailedError,
    StyleError,
    demand,
    demand_the_same_bits,
    refusal,
    same,
)
from skeval.checks.evaluations import Evaluations, fit_and_evaluate, quiet, value_of
from skeval.checks.tables import (
    ODD_TABLES,
    WITHOUT_NUMBERS,
    Tables,
    change_tables,
    first_column,
    half,
    plant_rare_cells,
    repeat_rows,
)
from skeval.core.base import Metric
from skeval.exceptions import (
    InvalidParameterError,
    MissingInputError,
    NotRememberedError,
    SchemaMismatchError,
    SkevalError,
)
from skeval.results.result import Result
from skeval.results.verdict import raises_alarm
from skeval.suites.suite import MetricSuite
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import as_float
from skeval.utils.parameters import legal_sets

# Each check receives a metric, separate tables, and the evaluations that all checks share.
Check = Callable[[Metric, Tables, Evaluations], None]
# parameters for numbers of rows, with values smaller than the default tables
_LIMITS = (
    "max_random_rows",
    "max_rows",
    "max_sequences",
    "max_subjects",
    "max_texts",
    "n_attacks",
    "n_max_texts",
)
_N_DRAWN = 30


def check_init_sets_only_parameters(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """`__init__` stores its parameters and nothing else."""
    extra = set(vars(metric)) - set(metric.get_params(deep=False))
    demand(not extra, f"__init__ sets {sorted(extra)}, but it may only store parameters.")


def check_clone_keeps_parameters(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A clone has equal parameters."""
    ours, theirs = (joblib.hash(m.get_params(deep=False)) for m in (metric, clone(metric)))
    demand(ours == theirs, "clone changes parameters. __init__ must store them without changes.")


def check_repr_names_the_parameters(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """`repr` is the call that creates the metric, and can be evaluated."""
    text = repr(metric)
    if "object at" in text:  # a parameter without its own repr
        return
    kinds = {type(part).__name__: type(part) for part in (metric, *metric.get_params().values())}
    again = eval(text, {**vars(skeval.generators), **vars(tree), **kinds})
    demand(repr(again) == text, f"evaluating repr does not give the same metric: {text}")


def check_tags(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Tags are set and have valid bounds."""
    demand(hasattr(metric, "tags"), "the class has no tags. Set tags = MetricTags(...).")
    low, high = metric.tags.bounds
    demand(low < high, f"bounds {metric.tags.bounds} are empty.")


def check_docstring_names_parameters(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The docstring exists and describes every parameter."""
    text = type(metric).__doc__ or ""
    demand(bool(text.strip()), "the class has no docstring. Describe what it measures.", StyleError)
    missing = [name for name in metric.get_params(deep=False) if name not in text]
    demand(not missing, f"the docstring does not describe the parameters {missing}.", StyleError)


def check_parameters_are_checked(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Fit refuses an invalid value of a parameter, and names the parameter."""
    for name, legal in legal_sets(type(metric)).items():
        wrong = clone(metric).set_params(**{name: legal.illegal})
        error = refusal(InvalidParameterError, partial(value_of, wrong, *tables))
        demand(error is not None, f"{name}={legal.illegal!r} is accepted.")
        demand(name in str(error), f"the error for an invalid {name} does not name it: {error}")


def check_unfitted(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Scoring before fit raises scikit-learn's NotFittedError."""
    error = refusal(NotFittedError, partial(metric.score, tables[2]))
    demand(error is not None, "score before fit does not raise NotFittedError.")


def check_fit_returns_self(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """`fit` returns the metric itself."""
    demand(shared.first.fit_returns_self, "fit must return self.")


def check_refit_forgets(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A second fit does not depend on the first fit."""
    train, holdout, synthetic = tables
    with quiet():
        again = clone(metric).fit(holdout, train).fit(train, holdout).score(synthetic)
    demand(same(again, shared.result.value), "a second fit depends on the first.")


def check_inputs_untouched(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The input tables are not modified."""
    demand(shared.first.inputs_kept, "an input table was modified.")


def check_context_untouched(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The frames of the context are not modified, because other metrics use them."""
    with quiet():
        context = metric.fit(*tables[:2]).context_.with_synthetic(tables[2])
        before = [joblib.hash(context[role]) for role in ("train", "holdout", "synthetic")]
        metric.evaluate_context(context)
        after = [joblib.hash(context[role]) for role in ("train", "holdout", "synthetic")]
    demand(before == after, "the metric modifies the frames of its context.")


def check_score_is_the_value(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """`score` returns a float that equals the value of `evaluate`."""
    score, value = shared.score(tables[2]), shared.result.value
    demand(type(score) is float, f"score returns {type(score).__name__}, not float.")
    demand(same(score, value, 0.0), f"score {score} differs from evaluate().value {value}.")


def check_bounds(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Values are within the bounds of the tags for unseen rows, copies and noise."""
    low, high = metric.tags.bounds
    values = {
        "fresh": shared.result.value,
        "copy": shared.value_of_copy,
        "noise": shared.value_of_noise,
    }
    for name, value in values.items():
        demand(
            math.isnan(value) or low <= value <= high,
            f"{name} rows score {value}, outside {low} to {high}.",
        )


def check_interval(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The interval contains the value, and is within the bounds."""
    result, (low, high) = shared.result, metric.tags.bounds
    if result.interval is not None:
        a, b = result.interval
        demand(a <= result.value <= b, f"the interval {a} to {b} does not contain {result.value}.")
        demand(
            low <= a and b <= high, f"the interval {a} to {b} exceeds the bounds {low} to {high}."
        )


def check_deterministic(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Two runs return identical results."""
    first, second = shared.result.to_dict(), fit_and_evaluate(metric, tables).to_dict()
    demand({**first, "seconds": 0} == {**second, "seconds": 0}, "two runs differ.")


def check_global_state_untouched(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The global random generator of NumPy and the options of pandas are not modified."""
    demand(shared.first.state_kept, "global state was modified. Use a Generator from random_state.")


def check_row_order_ignored(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The order of rows does not affect any number, even if rows are sampled."""
    parameters = metric.get_params(deep=False)
    limits = {name: parameters[name] for name in _LIMITS if name in parameters}
    fewer = {name: _N_DRAWN for name, n in limits.items() if n is None or n > _N_DRAWN}
    drawing = clone(metric).set_params(**fewer)
    result = fit_and_evaluate(drawing, tables) if fewer else shared.result
    shuffled = tuple(
        change_tables(table, partial(pd.DataFrame.sample, frac=1.0, random_state=i))
        for i, table in enumerate(tables)
    )
    demand_the_same_bits(result, fit_and_evaluate(drawing, shuffled), "the order of rows")


def check_index_ignored(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Duplicate, unordered or textual row labels do not affect the result."""
    labelled = [
        change_tables(
            table, lambda rows: rows.set_axis([f"r{i // 2}" for i in range(len(rows), 0, -1)])
        )
        for table in tables
    ]
    train, holdout, synthetic = labelled
    demand_the_same_bits(
        shared.result, fit_and_evaluate(metric, (train, holdout, synthetic)), "row labels"
    )


def check_column_order_ignored(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The order of columns does not affect the result."""
    train, holdout, synthetic = (
        change_tables(table, lambda rows: rows[rows.columns[::-1]]) for table in tables
    )
    again = fit_and_evaluate(metric, (train, holdout, synthetic))
    demand_the_same_bits(shared.result, again, "the order of columns")
    mixed = fit_and_evaluate(metric, (*tables[:2], synthetic))
    demand(same(shared.result.value, mixed.value, 0.0), "columns are matched by position.")


def check_pickles(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A fitted metric can be pickled. The pickle contains no rows unless requested."""
    with quiet():
        score = metric.fit(*tables[:2]).score(tables[2])
        empty = pickle.loads(pickle.dumps(metric))
        error = refusal(NotRememberedError, partial(empty.score, tables[2]))
        demand(error is not None, "a pickled metric still contains the real rows.")
        metric.context_.remember_rows = True
        again = pickle.loads(pickle.dumps(metric)).score(tables[2])
    demand(same(score, again, 0.0), f"the score is {score} before and {again} after pickling.")


def check_suite_agrees(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """In a suite, with a copy of itself and in threads, the metric has the same value."""
    alone = shared.result.value
    with quiet():
        suite = MetricSuite([("a", metric), ("b", clone(metric))], n_jobs=2, on_error="raise")
        result = suite.fit(*tables[:2]).evaluate(tables[2])
    demand(
        all(same(alone, result[name].value, 0.0) for name in result), "a suite changes the value."
    )


def check_missing_needs_are_named(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A metric that requires a holdout raises an error without it, and others work without it."""
    error = refusal(MissingInputError, partial(value_of, metric, tables[0], None, tables[2]))
    if error is not None:
        demand("holdout" in str(error), f"the error does not name the holdout: {error}")
    elif "holdout" in metric.tags.needs:
        demand(False, "tags.needs contains the holdout, but fit accepts tables without it.")


def check_faulty_columns_are_named(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """One error names all missing columns. A lenient metric issues a warning instead."""
    name = first_column(tables[0])
    faulty = change_tables(tables[2], lambda rows: rows.rename(columns={name: f"{name}_renamed"}))
    if metric.tags.lenient:
        with quiet():
            notices = metric.fit(*tables[:2]).evaluate(faulty).warnings
        demand(any(name in str(notice) for notice in notices), f"no warning names {name}.")
        return
    error = refusal(SchemaMismatchError, partial(value_of, metric, *tables[:2], faulty))
    demand(error is not None, f"a synthetic table without {name} is accepted.")
    demand(name in str(error), f"the error does not name {name}: {error}")


def check_odd_tables(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Unusual tables give a number, nan or infinity with a warning, or an error of skeval."""
    for name, change in ODD_TABLES.items():
        train, holdout, synthetic = (change_tables(table, change) for table in tables)
        _demand_an_answer(f"{name} in synthetic", partial(shared.evaluate, synthetic))
        if name != "one row":
            odd = train, holdout, synthetic
            _demand_an_answer(f"{name} in all tables", partial(fit_and_evaluate, metric, odd))


def _demand_an_answer(name: str, evaluate: Callable[[], Result]) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error", RuntimeWarning
            )  # warnings of NumPy, for example for 0 / 0
            result = evaluate()
    except SkevalError:
        return  # refused with a clear error
    except KeyError:
        if not name.startswith(WITHOUT_NUMBERS):
            raise
        return  # a custom metric may name a column in its code
    except (RuntimeWarning, ZeroDivisionError) as error:
        text = f"{name}: {error}. Define the value for such tables, or return nan with a warning."
        raise CheckFailedError(text) from error
    explained = bool(result.warnings) or math.isfinite(result.value)
    demand(explained, f"{name}: {result.value} without a warning that contains the reason.")


def check_result_round_trips(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The result does not change when it is written to JSON and read again."""
    result = shared.result
    again = Result.from_dict(json.loads(result.to_json()))
    demand(again.to_json() == result.to_json(), "the result changes when it is read from JSON.")
    demand({f.name for f in fields(again)} == {f.name for f in fields(result)}, "fields were lost.")


def check_no_cell_leaks(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Rare values and extremes of the training data are not in the result."""
    train, holdout, synthetic = tables
    changed, cells = plant_rare_cells(train)
    text = fit_and_evaluate(metric, (changed, holdout, synthetic)).to_json()
    demand(
        not [cell for cell in cells if cell in text], f"the result contains training data: {cells}."
    )


def check_direction(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A copy of the training data is not less faithful than noise, and does not leak less."""
    copy, noisy = shared.value_of_copy, shared.value_of_noise
    gain = (copy - noisy) * metric.tags.sign
    if metric.tags.aspect == "privacy":
        gain = -gain
    demand(
        math.isnan(gain) or gain >= -1e-9,
        f"a copy of the training data scores {copy}, noise {noisy}: wrong direction.",
    )


def check_contrast_of_tests(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """If a privacy test is significant, its contrast indicates a leak and differs in print.

    The check uses copies of the training data, and unseen rows, for which chance decides.
    """
    of_privacy = metric.tags.aspect == "privacy"
    for result in (*shared.results_of_leaks, shared.result) if of_privacy else ():
        if raises_alarm(result):
            shown = result.contrast
            is_shown = (
                shown is not None and shown.supports_leak and len(set(shown.numbers_in_words)) == 2
            )
            demand(is_shown, f"p is {result.p_value}, and its contrast shows no leak: {shown}.")


def check_half_the_rows(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """With half the synthetic rows, the value changes by at most the width of its interval."""
    fewer = shared.evaluate(half(tables[2]))
    if fewer.interval is not None and not math.isnan(fewer.value):
        width = fewer.interval[1] - fewer.interval[0]
        change = abs(fewer.value - shared.result.value)
        demand(
            change <= width + 1e-9,
            f"with half the rows, the value changes by {change}, but the interval has width "
            f"{width}.",
        )


def check_tests_exist_by_size(metric: Metric, tables: Any, shared: Evaluations) -> None:
    """The existence of a p-value depends only on sizes and parameters, and not on the rows.

    If tests dropped out of a family depending on the data, its level would not be controlled.
    """
    train, _, synthetic = tables
    if metric.tags.aspect != "privacy" or not isinstance(train, pd.DataFrame):
        return
    tested = {
        name: not math.isnan(as_float(shared.evaluate(rows).p_value))
        for name, rows in {"fresh": synthetic, **_tables_of_one_size(train, len(synthetic))}.items()
    }
    without = ", ".join(name for name, has_one in tested.items() if not has_one)
    demand(
        len(set(tested.values())) == 1, f"there is a p-value, but not for these rows: {without}."
    )


def _tables_of_one_size(train: pd.DataFrame, n_rows: int) -> dict[str, pd.DataFrame]:
    """Return tables with the same number of rows: copied, constant, shuffled and missing values."""
    rng = np.random.default_rng(0)
    copied = train.iloc[np.arange(n_rows) % len(train)].reset_index(drop=True)
    shuffled = {name: copied[name].take(rng.permutation(n_rows)).array for name in copied}
    return {
        "copied": copied,
        "constant": train.iloc[np.zeros(n_rows, dtype=np.int64)].reset_index(drop=True),
        "shuffled": pd.DataFrame(shuffled),
        "missing": pd.DataFrame({name: np.full(n_rows, None, dtype=object) for name in copied}),
    }


def check_memory(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """For four times the rows, memory grows much less than sixteenfold."""
    small, large = ([repeat_rows(table, n) for table in tables] for n in (4, 16))
    # repeated texts would be treated as categories, and several tables include their schema
    schema = TableSchema.infer(tables[0]) if isinstance(tables[0], pd.DataFrame) else None
    value_of(metric, large[0], large[1], large[2], schema)  # excludes imports and compilation
    before, after = _peak(metric, small, schema), _peak(metric, large, schema)
    demand(
        after <= 8 * before + 2**20,
        f"memory grows from {before} to {after} bytes with 4 times the rows.",
    )


def _peak(metric: Metric, tables: list[Any], schema: TableSchema | None) -> int:
    tracemalloc.start()
    try:
        value_of(metric, tables[0], tables[1], tables[2], schema)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


CHECKS: tuple[Check, ...] = (
    check_init_sets_only_parameters,
    check_clone_keeps_parameters,
    check_repr_names_the_parameters,
    check_tags,
    check_docstring_names_parameters,
    check_parameters_are_checked,
    check_unfitted,
    check_fit_returns_self,
    check_refit_forgets,
    check_inputs_untouched,
    check_context_untouched,
    check_score_is_the_value,
    check_bounds,
    check_interval,
    check_deterministic,
    check_global_state_untouched,
    check_row_order_ignored,
    check_index_ignored,
    check_column_order_ignored,
    check_pickles,
    check_suite_agrees,
    check_missing_needs_are_named,
    check_faulty_columns_are_named,
    check_odd_tables,
    check_result_round_trips,
    check_no_cell_leaks,
    check_direction,
    check_contrast_of_tests,
    check_half_the_rows,
    check_tests_exist_by_size,
    check_memory,
)
