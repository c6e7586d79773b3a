"""The steps that metrics share: samples, matrices, cells, neighbours."""

from skeval.steps.cells import cells, codes, histogram
from skeval.steps.neighbors import (
    Index,
    as_matrix,
    encoded,
    gower_engine,
    index_of,
    is_gower,
    kept_features,
    nearest,
    preprocessor,
    ranges,
    reference_index,
    rows_of,
)
from skeval.steps.pools import NearLists, pool_index, pooled_lists, pooled_masses
from skeval.steps.relabelled import (
    RelabelledNearest,
    contrast_test,
    relabelled_nearest,
    relabellings,
)
from skeval.steps.samples import (
    check_measured,
    chosen_columns,
    column_key,
    holdout_in_place,
    nothing_to_measure,
    sample_positions,
    sampled,
    synthetic_sample,
)
from skeval.steps.sorted import finite_values, sorted_values

__all__ = [
    "Index",
    "NearLists",
    "RelabelledNearest",
    "as_matrix",
    "cells",
    "check_measured",
    "chosen_columns",
    "codes",
    "column_key",
    "contrast_test",
    "encoded",
    "finite_values",
    "gower_engine",
    "histogram",
    "holdout_in_place",
    "index_of",
    "is_gower",
    "kept_features",
    "nearest",
    "nothing_to_measure",
    "pool_index",
    "pooled_lists",
    "pooled_masses",
    "preprocessor",
    "ranges",
    "reference_index",
    "relabelled_nearest",
    "relabellings",
    "rows_of",
    "sample_positions",
    "sampled",
    "sorted_values",
    "synthetic_sample",
]
