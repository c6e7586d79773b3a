"""Tables that many tests use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine


class Tables(NamedTuple):
    train: pd.DataFrame
    holdout: pd.DataFrame
    over: pd.DataFrame
    gauss: pd.DataFrame


@pytest.fixture(scope="session")
def wine() -> Tables:
    """The reference tables: halves of wine, train plus 5% noise, a Gaussian fitted on train."""
    data = load_wine(as_frame=True).data
    order = np.random.RandomState(0).permutation(178)
    train = data.iloc[order[:89]].reset_index(drop=True)
    holdout = data.iloc[order[89:]].reset_index(drop=True)
    rs = np.random.RandomState(1)
    over = train + rs.normal(0, 0.05, train.shape) * train.std().to_numpy()
    root = np.linalg.cholesky(np.cov(train.to_numpy().T))
    gauss = train.mean().to_numpy() + rs.normal(size=(89, 13)) @ root.T
    return Tables(train, holdout, over, pd.DataFrame(gauss, columns=train.columns))


@pytest.fixture(scope="session")
def iris_halves() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Even and odd rows of iris, the species as a category."""
    from sklearn.datasets import load_iris

    bunch = load_iris(as_frame=True)
    frame = bunch.data.set_axis(["sl", "sw", "pl", "pw"], axis=1)
    frame["target"] = pd.Series(bunch.target_names[bunch.target], dtype="category")
    return frame.iloc[::2].reset_index(drop=True), frame.iloc[1::2].reset_index(drop=True)


# What takes longest and seldom breaks alone is left to the slow run: parts of names of tests.
SLOW = (
    "check_column_order_ignored",
    "check_context_untouched",
    "check_global_state_untouched",
    "check_faulty_columns_are_named",
    "check_half_the_rows",
    "check_index_ignored",
    "check_inputs_untouched",
    "check_memory",
    "check_missing_needs_are_named",
    "check_odd_tables",
    "check_pickles",
    "check_refit_forgets",
    "check_result_round_trips",
    "check_row_order_ignored",
    "check_score_is_the_value",
    "check_suite_agrees",
    "test_anonymeter.py::test_is_the_largest",
    "test_cli.py::test_demo",
    "test_cli.py::test_report_as_a_page",
    "test_cli.py::test_run_as_a_module",
    "test_dials.py",
    "test_dp_audit.py::test_a_fixed_seed_of_the_generator_is_set_anew",
    "test_dp_audit.py::test_categories_read_off_the_table_are_found_by_a_canary",
    "test_dp_audit.py::test_jobs_change_nothing",
    "test_dp_audit.py::test_noisy_counts",
    "test_dp_audit.py::test_sequential_trees_are_caught_on_a_row_of_its_own",
    "test_dp_audit.py::test_the_best_of_several_is_run_again",
    "test_draws.py::test_coverage_over_draws",
    "test_efficacy.py::test_against_trying_each_threshold",
    "test_forest.py::TestDial",
    "test_forest.py::TestManyLevels",
    "test_formats.py::test_the_contract_holds_where_a_format_is_known",
    "test_html.py::test_saved_results_give_the_same_page",
    "test_layout.py::test_texts_lie_apart_and_on_the_page",
    "test_marginal_properties.py::test_two_hundred_columns",
    "test_membership.py::test_a_reference_of_ones_own",
    "test_neighbors.py::test_numpy_backend_does_not_import_numba",
    "test_pdf.py::test_a_report_of_saved_results_has_the_same_bytes",
    "test_pdf.py::test_another_process_writes_the_same_bytes",
    "test_package.py::test_importing_is_light",
    "test_pdf.py::test_undefined_metrics_say_why",
    "test_pdf.py::test_what_is_left_out_is_listed",
    "test_phik.py::test_thousands_of_levels_are_affordable",
    "test_proximity.py::test_standard_errors_are_those_of_independent_tables",
    "test_run.py::test_narrow_tables[1]",
    "test_run.py::test_same_bytes_on_each_run_and_from_saved_scores",
    "test_scorers.py::test_grid_search[2]",
    "test_shadow.py::test_somebody_who_guesses_the_parameters_learns_less",
    "test_shadow_game.py::test_jobs_change_no_bit_and_progress_is_told",
    "test_shape.py::test_many_columns_and_booleans",
    "test_similarity.py::test_random_halves_of_iris_average_at_the_ceiling",
    "test_structure.py::test_a_copy_of_train_shows_in_no_cell_of_the_result",
    "test_two_sample.py",
)
QUICK = ("test_two_sample.py::test_it_falls_with_noise",)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the slow run what is named above, and contracts beside the one of each metric."""
    for item in items:
        if "test_checks.py" in item.nodeid:  # of the checks themselves
            continue
        again = "test_contract[" in item.nodeid and "test_common.py" not in item.nodeid
        named = any(name in item.nodeid for name in SLOW)
        if again or (named and not any(name in item.nodeid for name in QUICK)):
            item.add_marker("slow")
