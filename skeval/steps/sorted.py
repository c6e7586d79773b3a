"""The values of a column in order, which every comparison of cumulative curves starts from."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.preprocessing import category_codes, numbers

__all__ = ["finite_values", "sorted_values"]


@shared
def sorted_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the present values of a numeric, date or boolean column, ascending.

    Dates are seconds since 1970, booleans 0 and 1; infinite values, which synthetic tables may
    have, stand at the ends.
    """
    frame = context[role][[column]]
    nominal = isinstance(frame[column].dtype, pd.CategoricalDtype)
    values = (category_codes(frame) if nominal else numbers(frame)).ravel()
    return np.sort(values[~np.isnan(values)])


def finite_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the finite values of a numeric, date or boolean column, ascending."""
    values = sorted_values(context, role, column)
    first = int(np.searchsorted(values, -np.inf, side="right"))
    return values[first : int(np.searchsorted(values, np.inf))]
