"""Declared parameters: what scikit-learn, the legal values and the docstring make of fields."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import KW_ONLY
from typing import ClassVar, Literal

import pandas as pd
import pytest
from sklearn.base import clone

from skeval import Metric, MetricTags
from skeval.core.declared import declared
from skeval.exceptions import InvalidParameterError
from skeval.utils.parameters import Count, legal_sets


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
    assert "part" in metric._repr_html_()


def test_it_measures_and_holds_what_fit_found():
    assert Member("x").fit(TABLE).score(TABLE) == 10.0


def test_legal_values_are_those_of_the_class_that_states_them():
    assert {"part", "n_draws"} <= set(legal_sets(Member))
    with pytest.raises(InvalidParameterError, match="part"):
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
