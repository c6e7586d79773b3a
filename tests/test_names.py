"""Columns may have any names: those of pandas' arguments, of roles, of markup, of nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import SuiteResult, TableSchema, make_suite

# What pandas, numpy, matplotlib, HTML or our own tables call something else.
NAMES = [
    "self", "index", "level_0", "count", "size", "columns", "T", "train", "holdout", "synthetic",
    "missing", "nan", "None", "", "true", "variable", "value", "x_x", "%s", "{0}", "$\\frac$", "$a",
    "<script>alert(1)</script>", "__class__", "name", "axis", "lambda", "a\nb", "play/ground",
    "metric", "second",
]  # fmt: skip


def table(names: list[str], seed: int, n_rows: int = 40, first: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    makers = (
        lambda: rng.normal(size=n_rows),
        lambda: rng.choice(["u", "v", "w"], n_rows).astype(object),
        lambda: rng.integers(0, 50, n_rows),
        lambda: pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D"),
    )
    return pd.DataFrame({name: makers[(first + i) % 4]() for i, name in enumerate(names)})


def measured(names: list[str], preset: str, **roles: str) -> SuiteResult:
    train, holdout, synthetic = (table(names, seed) for seed in range(3))
    synthetic.iloc[:10] = train.iloc[:10]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_suite(preset, **roles).fit(train, holdout).evaluate(synthetic)


def plain(names: list[str]) -> dict[str, str]:
    """Return plain names in the same order: draws go by the order of names."""
    return {name: f"c{i:02d}" for i, name in enumerate(sorted(names))}


def assert_equal(odd: SuiteResult, other: SuiteResult) -> None:
    assert list(odd) == list(other)
    for name, result in other.items():
        assert odd[name].error == result.error, name
        np.testing.assert_array_equal(odd[name].value, result.value, err_msg=name)
        np.testing.assert_array_equal(
            np.array(odd[name].p_value, float), np.array(result.p_value, float), err_msg=name
        )


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["quality", "diagnostic"])
def test_names_change_no_value(preset, tmp_path):
    named = plain(NAMES)
    odd = measured(NAMES, preset)
    assert_equal(odd, measured([named[name] for name in NAMES], preset))
    page = odd.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(4))
def test_a_column_of_any_kind_may_be_called_self(first):
    """Objects too, as a column of booleans with missing cells is in a file."""
    tables = [table(["self", "T"], seed, first=first).astype(object) for seed in range(3)]
    result = make_suite("quality").fit(*tables[:2]).evaluate(tables[2])
    assert not [name for name, one in result.items() if one.error]


# Whose p-values or intervals hang on rows or labels that are drawn. They are drawn by position in
# an order of content, and content is told by columns, whose names it goes by: else a row (1, 2)
# would be a row (2, 1), and a column would have to be read whole before its first cell. So other
# names are another draw, as another seed is.
DRAWN = {
    *("dcr_percentile", "nndr", "holdout_distance_ratio", "minimum_distance_accumulation"),
    *("nnaa_privacy_loss", "epsilon_identifiability", "authenticity"),
}


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["fidelity", "screens"])
def test_names_change_no_value_of_a_suite(preset, tmp_path):
    named = plain(NAMES)
    odd = measured(NAMES, preset)
    other = measured([named[name] for name in NAMES], preset)
    # the random rows that it compares with have a stream for each column, known by its name
    for name in [name for name in other if name != "dcr_baseline"]:
        some, others = (
            np.array([one.value, one.baseline, one.p_value, *(one.interval or ())], dtype=float)
            for one in (odd[name], other[name])
        )
        # intervals of fidelity are those of halves, which are drawn
        equal = slice(2) if name in DRAWN or preset == "fidelity" else slice(None)
        np.testing.assert_array_equal(some[equal], others[equal], err_msg=name)
        np.testing.assert_allclose(some[2], others[2], atol=0.03, err_msg=name)
    assert odd.to_pdf(tmp_path / "a.pdf").stat().st_size > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 7])
def test_a_report_of_odd_names_can_be_written(at, tmp_path):
    names = NAMES[at : at + 7]
    odd = measured(names, "utility", target=names[1], sensitive=names[5])
    assert not [name for name, result in odd.items() if "TypeError" in result.error]
    assert odd.to_html(tmp_path / "a.html").stat().st_size > 1_000


@pytest.mark.parametrize("name", ["self", "T", "index", ""])
def test_columns_are_set_by_any_name(name):
    from skeval.tables.set_columns import with_columns

    frame = pd.DataFrame({name: [1, 2], "kept": [3, 4]})
    made = with_columns(frame, {name: [5, 6]})
    assert made[name].tolist() == [5, 6]
    assert frame[name].tolist() == [1, 2]
    assert made["kept"].tolist() == [3, 4]


def test_kinds_are_given_by_any_name():
    schema = TableSchema.infer(pd.DataFrame({"self": [1.0, 2.0], "T": ["a", "b"]}))
    assert schema.with_kinds(**{"self": "categorical"}).kinds["self"] == "categorical"
