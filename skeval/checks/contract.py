"""The checks behind :func:`skeval.check_metric`, one for each promise of the contract."""

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

# Each is given a metric and tables of its own, and the evaluations that it shares with the others.
Check = Callable[[Metric, Tables, Evaluations], None]
# parameters that say how many rows are looked at, and fewer than the default tables have
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
    demand(not extra, f"__init__ sets {sorted(extra)}; only parameters may be stored.")


def check_clone_keeps_parameters(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A clone has equal parameters."""
    ours, theirs = (joblib.hash(m.get_params(deep=False)) for m in (metric, clone(metric)))
    demand(ours == theirs, "clone changes parameters: __init__ must store them untouched.")


def check_repr_names_the_parameters(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """`repr` is the call that makes the metric, and evaluates back."""
    text = repr(metric)
    if "object at" in text:  # a parameter that has no repr of its own
        return
    kinds = {type(part).__name__: type(part) for part in (metric, *metric.get_params().values())}
    again = eval(text, {**vars(skeval.generators), **vars(tree), **kinds})
    demand(repr(again) == text, f"repr does not evaluate back: {text}")


def check_tags(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Tags are set, and are what reports go by."""
    demand(hasattr(metric, "tags"), "the class has no tags: set tags = MetricTags(...).")
    low, high = metric.tags.bounds
    demand(low < high, f"bounds {metric.tags.bounds} are empty.")


def check_docstring_names_parameters(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The class says what it measures, and names every parameter."""
    text = type(metric).__doc__ or ""
    demand(bool(text.strip()), "the class has no docstring: write what it measures.", StyleError)
    missing = [name for name in metric.get_params(deep=False) if name not in text]
    demand(not missing, f"the docstring does not name the parameters {missing}.", StyleError)


def check_parameters_are_checked(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A value outside a parameter's legal set is refused at fit, by name."""
    for name, legal in legal_sets(type(metric)).items():
        wrong = clone(metric).set_params(**{name: legal.illegal})
        error = refusal(InvalidParameterError, partial(value_of, wrong, *tables))
        demand(error is not None, f"{name}={legal.illegal!r} is accepted.")
        demand(name in str(error), f"the error for a wrong {name} does not name it: {error}")


def check_unfitted(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Scoring before fit raises scikit-learn's NotFittedError."""
    error = refusal(NotFittedError, partial(metric.score, tables[2]))
    demand(error is not None, "score before fit raises no NotFittedError.")


def check_fit_returns_self(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """`fit` returns the metric itself."""
    demand(shared.first.fit_returns_self, "fit must return self.")


def check_refit_forgets(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A second fit leaves nothing of the first."""
    train, holdout, synthetic = tables
    with quiet():
        again = clone(metric).fit(holdout, train).fit(train, holdout).score(synthetic)
    demand(same(again, shared.result.value), "a second fit depends on the first.")


def check_inputs_untouched(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The tables are not changed."""
    demand(shared.first.inputs_kept, "an input table was changed.")


def check_context_untouched(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The context's frames are the same afterwards: other metrics read them too."""
    with quiet():
        context = metric.fit(*tables[:2]).context_.with_synthetic(tables[2])
        before = [joblib.hash(context[role]) for role in ("train", "holdout", "synthetic")]
        metric.evaluate_context(context)
        after = [joblib.hash(context[role]) for role in ("train", "holdout", "synthetic")]
    demand(before == after, "the metric writes to the frames of its context.")


def check_score_is_the_value(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """`score` is a plain float, and `evaluate` has the same one."""
    score, value = shared.score(tables[2]), shared.result.value
    demand(type(score) is float, f"score returns {type(score).__name__}, not float.")
    demand(same(score, value, 0.0), f"score {score} differs from evaluate().value {value}.")


def check_bounds(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Values lie within the bounds of the tags: for fresh rows, copies and noise."""
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
    """The interval holds the value, and lies within the bounds."""
    result, (low, high) = shared.result, metric.tags.bounds
    if result.interval is not None:
        a, b = result.interval
        demand(a <= result.value <= b, f"the interval {a} to {b} does not hold {result.value}.")
        demand(
            low <= a and b <= high, f"the interval {a} to {b} leaves the bounds {low} to {high}."
        )


def check_deterministic(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Two runs give the same bits."""
    first, second = shared.result.to_dict(), fit_and_evaluate(metric, tables).to_dict()
    demand({**first, "seconds": 0} == {**second, "seconds": 0}, "two runs differ.")


def check_global_state_untouched(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Neither NumPy's global generator nor pandas' options are touched."""
    demand(
        shared.first.state_kept, "global state was changed: draw from a Generator of random_state."
    )


def check_row_order_ignored(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Shuffled rows of each table change no bit of a number, where rows are drawn as well."""
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
    """Row labels mean nothing: doubled, unordered or strings."""
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
    """Tables with their columns reversed give the same bits."""
    train, holdout, synthetic = (
        change_tables(table, lambda rows: rows[rows.columns[::-1]]) for table in tables
    )
    again = fit_and_evaluate(metric, (train, holdout, synthetic))
    demand_the_same_bits(shared.result, again, "the order of columns")
    mixed = fit_and_evaluate(metric, (*tables[:2], synthetic))
    demand(same(shared.result.value, mixed.value, 0.0), "columns are matched by position.")


def check_pickles(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A fitted metric pickles: without its rows, unless asked to keep them."""
    with quiet():
        score = metric.fit(*tables[:2]).score(tables[2])
        empty = pickle.loads(pickle.dumps(metric))
        error = refusal(NotRememberedError, partial(empty.score, tables[2]))
        demand(error is not None, "a pickled metric still holds the real rows.")
        metric.context_.remember_rows = True
        again = pickle.loads(pickle.dumps(metric)).score(tables[2])
    demand(same(score, again, 0.0), f"unpickled it scores {again}, before {score}.")


def check_suite_agrees(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """In a suite, with a copy of itself and in threads, the value is that of the metric alone."""
    alone = shared.result.value
    with quiet():
        suite = MetricSuite([("a", metric), ("b", clone(metric))], n_jobs=2, on_error="raise")
        result = suite.fit(*tables[:2]).evaluate(tables[2])
    demand(
        all(same(alone, result[name].value, 0.0) for name in result), "a suite changes the value."
    )


def check_missing_needs_are_named(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A metric that needs a holdout says so, and one that does not works without."""
    error = refusal(MissingInputError, partial(value_of, metric, tables[0], None, tables[2]))
    if error is not None:
        demand("holdout" in str(error), f"the error does not name the holdout: {error}")
    elif "holdout" in metric.tags.needs:
        demand(False, "tags.needs names the holdout, fit accepts its absence.")


def check_faulty_columns_are_named(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A missing column is named, with all others, in one error; a lenient metric warns of it."""
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
    """Odd tables give a number, or nan or infinity with a warning, and no error but ours."""
    for name, change in ODD_TABLES.items():
        train, holdout, synthetic = (change_tables(table, change) for table in tables)
        _demand_an_answer(f"{name} in synthetic", partial(shared.evaluate, synthetic))
        if name != "one row":
            odd = train, holdout, synthetic
            _demand_an_answer(f"{name} in all tables", partial(fit_and_evaluate, metric, odd))


def _demand_an_answer(name: str, evaluate: Callable[[], Result]) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # NumPy's, for example of 0 / 0
            result = evaluate()
    except SkevalError:
        return  # refused in one sentence
    except KeyError:
        if not name.startswith(WITHOUT_NUMBERS):
            raise
        return  # a metric of one's own may name a column in its code
    except (RuntimeWarning, ZeroDivisionError) as error:
        text = f"{name}: {error}. Decide what the value is there, or return nan with a warning."
        raise CheckFailedError(text) from error
    explained = bool(result.warnings) or math.isfinite(result.value)
    demand(explained, f"{name}: {result.value} without a warning that says why.")


def check_result_round_trips(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """The result goes through JSON unchanged."""
    result = shared.result
    again = Result.from_dict(json.loads(result.to_json()))
    demand(again.to_json() == result.to_json(), "the result changes on its way through JSON.")
    demand({f.name for f in fields(again)} == {f.name for f in fields(result)}, "fields were lost.")


def check_no_cell_leaks(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Rare values and extremes of train are not in the result."""
    train, holdout, synthetic = tables
    changed, cells = plant_rare_cells(train)
    text = fit_and_evaluate(metric, (changed, holdout, synthetic)).to_json()
    demand(
        not [cell for cell in cells if cell in text], f"the result holds cells of train: {cells}."
    )


def check_direction(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A copy of train is no less faithful than noise, and leaks no less."""
    copy, noisy = shared.value_of_copy, shared.value_of_noise
    gain = (copy - noisy) * metric.tags.sign
    if metric.tags.aspect == "privacy":
        gain = -gain
    demand(
        math.isnan(gain) or gain >= -1e-9,
        f"a copy of train scores {copy}, noise {noisy}: wrong direction.",
    )


def check_contrast_of_tests(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """A significant test of privacy shows two numbers that lie as a leak's do, and differ in print.

    That holds for copies of train, and for fresh rows, where chance decides.
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
    """Half the synthetic rows change the value by no more than their own interval is wide."""
    fewer = shared.evaluate(half(tables[2]))
    if fewer.interval is not None and not math.isnan(fewer.value):
        width = fewer.interval[1] - fewer.interval[0]
        change = abs(fewer.value - shared.result.value)
        demand(
            change <= width + 1e-9,
            f"half the rows change the value by {change}, the interval is {width}.",
        )


def check_tests_exist_by_size(metric: Metric, tables: Any, shared: Evaluations) -> None:
    """Whether a metric of privacy has a p-value hangs on sizes and parameters, not on the rows.

    A family of tests that some leave by what the rows hold does not keep its level.
    """
    train, _, synthetic = tables
    if metric.tags.aspect != "privacy" or not isinstance(train, pd.DataFrame):
        return
    tested = {
        name: not math.isnan(as_float(shared.evaluate(rows).p_value))
        for name, rows in {"fresh": synthetic, **_tables_of_one_size(train, len(synthetic))}.items()
    }
    without = ", ".join(name for name, has_one in tested.items() if not has_one)
    demand(len(set(tested.values())) == 1, f"there is a p-value, but none of rows: {without}.")


def _tables_of_one_size(train: pd.DataFrame, n_rows: int) -> dict[str, pd.DataFrame]:
    """Return tables of a number of rows: copied, the same, shuffled by column, without a value."""
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
    """Four times the rows take far less than sixteen times the memory."""
    small, large = ([repeat_rows(table, n) for table in tables] for n in (4, 16))
    # texts that repeat would read as categories; several tables have their schema with them
    schema = TableSchema.infer(tables[0]) if isinstance(tables[0], pd.DataFrame) else None
    value_of(metric, small[0], small[1], small[2], schema)  # imports and compiled code count once
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
