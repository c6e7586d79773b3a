"""Declared parameters: what scikit-learn, the legal values and the docstring make of fields."""

from __future__ import annotations

import inspect
import pickle
import re
from dataclasses import KW_ONLY
from typing import ClassVar, Literal

import pandas as pd
import pytest
from sklearn.base import clone

from skeval import Metric, MetricTags
from skeval.core.catalogue import metric_classes
from skeval.core.declared import declared
from skeval.exceptions import InvalidParameterError
from skeval.utils.parameters import ColumnName, Count, legal_sets
from tests.notebook import cell_of
from tests.snapshots import raises


@declared
class Family(Metric):
    """A family.

    Parameters
    ----------
    part : {"all", "few"}, default="all"
        The part.
    n_draws : int, default=3
        How many.
    """

    tags = MetricTags("fidelity")
    note: ClassVar[str] = "no parameter"
    _: KW_ONLY
    part: Literal["all", "few"] = "all"
    n_draws: Count = 3


@declared
class Member(Family):
    """A member, which says what is its own.

    Parameters
    ----------
    column : str
        The column.
    n_draws : int, default=5
        How many, more than of others.

    Notes
    -----
    A note.
    """

    column: str
    _: KW_ONLY
    n_draws: Count = 5

    def _compute(self, context):
        return float(len(context.synthetic[self.column]) * self.n_draws)


@declared
class Ends(Metric):
    """Another family.

    Parameters
    ----------
    low, high : float, default=0.0
        Ends.
    """

    tags = MetricTags("fidelity")
    low: float = 0.0
    high: float = 0.0


@declared
class Both(Ends, Member):
    """A member of both.

    Attributes
    ----------
    n_rows_ : int
        Number of rows.
    """


TABLE = pd.DataFrame({"x": [1.0, 2.0]})


def test_own_parameters_come_by_position_those_of_the_family_by_name():
    signature = inspect.signature(Member)
    assert list(signature.parameters) == ["column", "part", "n_draws"]
    assert signature.parameters["part"].kind is inspect.Parameter.KEYWORD_ONLY
    with pytest.raises(TypeError, match="positional"):
        Member("x", "few")


def test_scikit_learn_reads_it_as_any_estimator():
    metric = Member("x", part="few")
    assert metric.get_params() == {"column": "x", "part": "few", "n_draws": 5}
    assert repr(clone(metric).set_params(n_draws=7)) == "Member(column='x', n_draws=7, part='few')"
    assert pickle.loads(pickle.dumps(metric)).get_params() == metric.get_params()
    assert "part" in cell_of(metric)


def test_it_measures_and_holds_what_fit_found():
    assert Member("x").fit(TABLE).score(TABLE) == 10.0


def test_legal_values_are_those_of_the_class_that_states_them():
    assert {"part", "n_draws"} <= set(legal_sets(Member))
    with raises(InvalidParameterError):
        Member("x", part="none").fit(TABLE)


def test_a_docstring_is_completed_in_the_order_of_the_signature():
    named = [line for line in Member.__doc__.split("\n") if " : " in line]
    assert [line.split(" :")[0] for line in named] == ["column", "part", "n_draws", "context_"]
    assert "How many, more than of others." in Member.__doc__
    assert Member.__doc__.index("Parameters") < Member.__doc__.index("Notes")


def test_an_init_of_ones_own_stays_legal():
    class Own(Family):
        def __init__(self, part: Literal["none"] = "none"):
            self.part = part

    assert Own().get_params() == {"part": "none"}
    assert legal_sets(Own)["part"].accepts("none")


def test_states_that_were_stored_by_a_written_init_are_read():
    metric = Member.__new__(Member)
    metric.__setstate__({"part": "few", "n_draws": 2, "column": "x"})
    assert metric.get_params() == {"column": "x", "part": "few", "n_draws": 2}
    assert clone(metric).fit(TABLE).score(TABLE) == 4.0


def test_fields_of_several_bases_come_in_the_order_of_dataclasses():
    assert list(inspect.signature(Both).parameters)[:3] == ["column", "low", "high"]
    assert "low, high : float, default=0.0\n    Ends.\n" in Both.__doc__
    assert "The column." in Both.__doc__
    assert re.findall(r"^(\w+)\n---", Both.__doc__, re.M) == ["Parameters", "Attributes"]
    assert Both.__doc__.endswith("n_rows_ : int\n    Number of rows.\n")


def test_a_value_that_init_would_overwrite_is_refused():
    class Unstated(Family):
        """It would have 3 draws."""

        n_draws = 7

    with raises(TypeError):
        declared(Unstated)


def test_a_parameter_that_a_member_fixes_is_none_of_its_own():
    @declared
    class Fixed(Family):
        """It has 7 draws."""

        n_draws: ClassVar[int] = 7  # type: ignore[misc]

    assert Fixed().get_params() == {"part": "all"}
    assert clone(Fixed()).n_draws == 7
    assert "n_draws" not in Fixed.__doc__


def test_a_metric_of_a_user_extends_a_declared_one_with_an_init_of_its_own():
    class Longer(Member):
        """A member of a user, written as the README shows."""

        def __init__(self, column: ColumnName = "x", factor: Count = 2):
            super().__init__(column, n_draws=1)
            self.factor = factor

        def _compute(self, context):
            return float(self.factor * len(context.synthetic[self.column]) * self.n_draws)

    metric = clone(Longer().set_params(factor=3))
    assert metric.get_params() == {"column": "x", "factor": 3}
    assert repr(metric) == "Longer(factor=3)"
    assert "factor" in cell_of(metric)
    assert metric.fit(TABLE).score(TABLE) == 6.0
    assert set(legal_sets(Longer)) == {"column", "factor"}
    with raises(InvalidParameterError):
        Longer(factor=0).fit(TABLE)


def test_what_an_init_of_ones_own_does_not_set_is_the_default_of_the_base():
    class Bare(Member):
        def __init__(self, column: ColumnName = "x"):
            self.column = column

    assert Bare().fit(TABLE).score(TABLE) == 10.0


def test_every_parameter_has_a_paragraph_in_the_order_of_the_signature():
    metrics = metric_classes()
    signed = {name: list(inspect.signature(kind).parameters) for name, kind in metrics.items()}
    assert {name: documented(kind) for name, kind in metrics.items()} == signed


def documented(kind):
    """Return the names of which the section of parameters has a paragraph."""
    section = inspect.getdoc(kind).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    names = re.findall(r"^(\w+(?:, \w+)*) :", section, re.M)
    return [name for group in names for name in group.split(", ")]
