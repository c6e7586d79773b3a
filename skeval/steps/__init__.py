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
from skeval.steps.samples import (
    ColumnChoice,
    chosen_columns,
    column_key,
    holdout_in_place,
    nothing_to_measure,
    sample_positions,
    sampled,
    synthetic_sample,
)

__all__ = [
    "ColumnChoice",
    "Index",
    "NearLists",
    "as_matrix",
    "cells",
    "chosen_columns",
    "codes",
    "column_key",
    "encoded",
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
    "rows_of",
    "sample_positions",
    "sampled",
    "synthetic_sample",
]
