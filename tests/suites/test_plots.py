from __future__ import annotations

import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.plotting import plot_column, plot_pair

TABLES = make_mixed(50, random_state=0), make_mixed(50, random_state=1)


@pytest.mark.parametrize(
    ("draw", "columns"), [(plot_column, "agee"), (plot_pair, ("agee", "income"))]
)
def test_a_name_of_no_column_is_told_by_the_function_that_was_called(draw, columns):
    with pytest.raises(InvalidParameterError, match="agee, which is not a column") as told:
        draw(*TABLES, columns)
    assert str(told.value).startswith(f"{draw.__name__}: ")
    assert str(told.value).endswith("Did you mean age?")
