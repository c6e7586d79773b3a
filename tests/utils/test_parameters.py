"""Legal sets of parameters, read off annotations."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from skeval import Metric, MetricTags
from skeval.exceptions import InvalidParameterError
from skeval.utils.parameters import (
    AnyColumns,
    BinCount,
    ColumnName,
    Columns,
    Count,
    Fraction,
    Interval,
    JobCount,
    Label,
    Legal,
    MatrixSpace,
    OpenFraction,
    Positive,
    Seed,
    Space,
    check_parameters,
    has_methods,
    legal_sets,
    one_of,
)
from tests.snapshots import raises

if TYPE_CHECKING:
    from decimal import Decimal

Even = Annotated[int, Legal("an even int", lambda value: value in (0, 2, 4), 1)]


class Declared:
    """Every form of annotation."""

    def __init__(
        self,
        ties: Literal["pool", "half"] = "pool",
        order: Literal[2, 3] = 2,
        floor: bool = True,
        log: bool | None = None,
        nullable: Literal["auto"] | bool = "auto",
        norm: Literal["range"] | None = "range",
        subsets: Literal["all"] | Count = "all",
        old: Optional[Count] = None,  # noqa: UP045  # users of older Pythons write it so
        share: Fraction = 0.5,
        inside: OpenFraction = 0.5,
        q: Annotated[float, Interval(0, 100)] = 5,
        at_most: Annotated[int | None, Interval(high=3)] = None,
        either: Annotated[int | float, Interval(0)] = 0,
        scale: Positive = 1,
        n_bins: BinCount | None = None,
        n_jobs: JobCount | None = None,
        even: Even | None = None,
        columns: Columns = None,
        text: AnyColumns = None,
        group: ColumnName | None = None,
        label: Label | None = None,
        space: Space = "gower",
        matrix: MatrixSpace = "euclidean",
        random_state: Seed = 0,
        unchecked: int = 1,
        anything: Any = None,
        half_known: Count | str = 1,
        plain: Annotated[int, "a remark"] = 1,
        remarked: Annotated[Literal["a"], "a remark"] = "a",
        bare=None,
    ) -> None: ...


LEGAL = {
    "ties": ("'pool' or 'half'", ["pool"], ["none", None, 1, np.array("pool")]),
    "order": ("2 or 3", [2, 3], [True, 2.0, 4, "2"]),
    "floor": ("True or False", [True, False], [1, 0, None, "True"]),
    "log": ("True or False or None", [True, None], [1]),
    "nullable": ("'auto' or True or False", ["auto", False], [0, None]),
    "norm": ("'range' or None", ["range", None], ["none"]),
    "subsets": ("'all' or an int in [1, inf)", ["all", 1], [0, "some", True]),
    "old": ("an int in [1, inf) or None", [None, 2], [0]),
    "share": ("a float in [0, 1]", [0, 1, 0.5, np.float32(0.5)], [1.1, float("nan"), True, "1"]),
    "inside": ("a float in (0, 1)", [0.5], [0, 1.0]),
    "q": ("a float in [0, 100]", [100, 2.5], [101, -1]),
    "at_most": ("an int in (-inf, 3] or None", [None, -7, np.int8(3)], [4, 1.0]),
    "either": ("a float in [0, inf)", [0, 0.5], [-0.5]),
    "scale": ("a float in (0, inf)", [0.1, 3], [0, -1]),
    "n_bins": ("an int in [2, inf) or None", [2, None], [1]),
    "n_jobs": ("an int other than 0 or None", [-1, 4], [0, 1.5, True]),
    "even": ("an even int or None", [2, None], [1]),
    "columns": (
        "None, a positive int (the first n columns) or a non-empty list of names",
        [None, 1, ["a"], ("a", "b")],
        [0, True, [], [1], "a", {"a"}],
    ),
    "text": (
        "None, a positive int (the first n columns) or a non-empty list of names",
        [None, 1, ["a"]],
        [0, "a"],
    ),
    "group": ("the name of a column or None", ["a", None], [1]),
    "label": ("a string, a bool or a number or None", ["a", True, 1.5, None], [[1], {}]),
    "space": (
        "'gower' or 'euclidean' or an object with fit and transform and get_params",
        ["gower", "euclidean", StandardScaler()],
        ["cosine", StandardScaler, None, 1],
    ),
    "matrix": (
        "'euclidean' or an object with fit and transform and get_params",
        ["euclidean"],
        ["gower"],
    ),
    "random_state": (
        "an int in [0, 4294967295]",
        [0, np.int64(3), 2**32 - 1],
        [-1, 2**32, 0.0, None, True],
    ),
    "remarked": ("'a'", ["a"], ["b"]),
}


def test_what_states_no_set_is_not_checked():
    assert set(legal_sets(Declared)) == set(LEGAL)


@pytest.mark.parametrize("name", LEGAL)
def test_sets(name):
    legal = legal_sets(Declared)[name]
    description, inside, outside = LEGAL[name]
    assert legal.description == description
    assert [value for value in inside if not legal.accepts(value)] == []
    assert [value for value in (*outside, legal.illegal) if legal.accepts(value)] == []


def test_interval_bounds():
    assert Interval(0, 1, "left").accepts(0)
    assert not Interval(0, 1, "left").accepts(1)
    assert Interval(0, float("inf"), "left").description == "a float in [0, inf)"
    assert not Interval(0, float("inf"), "left").accepts(float("inf"))
    assert Interval(0).accepts(float("inf"))
    assert Interval(high=3, kind=int).illegal == 4
    assert Interval().illegal == "not a number"
    assert Interval().description == "a number"


def test_sets_made_of_values_and_methods():
    assert one_of((True, "auto", None)).description == "True or 'auto' or None"
    assert not one_of((1,)).accepts(True)
    fitted = has_methods(("fit", "predict"), values=(None,))
    assert fitted.description == "None or an object with fit and predict"
    assert fitted.accepts(None)
    assert not fitted.accepts(StandardScaler())


def test_sets_are_read_once():
    assert legal_sets(Declared) is legal_sets(Declared)


def test_an_annotation_that_cannot_be_looked_up_states_no_set():
    class Partly:
        def __init__(self, amount: Decimal, n: Count, odd: Nowhere = 0) -> None: ...  # noqa: F821

    assert list(legal_sets(Partly)) == ["n"]


def test_classes_without_annotations_have_no_sets():
    class Bare:
        def __init__(self, n=1):
            self.n = n

    class Empty: ...

    assert legal_sets(Bare) == legal_sets(Empty) == legal_sets(object) == {}


def test_sets_are_inherited_with_the_constructor():
    class Child(Declared): ...

    assert legal_sets(Child).keys() == legal_sets(Declared).keys()


def test_functions_declare_their_parameters_too():
    def draw(n: Count, names: Sequence[str] = (), replace: bool = True) -> bool:
        return replace

    assert list(legal_sets(draw)) == ["n", "replace"]


def test_one_error_names_all_faults_in_the_order_of_the_parameters():
    given = {"random_state": -1, "ties": "none", "share": 0.5}
    with raises(InvalidParameterError):
        check_parameters("Declared", given, legal_sets(Declared))


class FarFrom(Metric):
    """Distance of means; the metric of a user."""

    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, float("inf")))

    def __init__(self, column: ColumnName, others: Columns = None, power: Positive = 1) -> None:
        self.column = column
        self.others = others
        self.power = power

    def _compute(self, context):
        real, synthetic = context.train[self.column], context.synthetic[self.column]
        return abs(real.mean() - synthetic.mean()) ** self.power


class TestMetricOfAUser:
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 0.0, 2.0]})

    def test_value(self):
        assert FarFrom("x").fit(self.table).score(self.table + 2) == 2.0

    def test_fit_checks(self):
        with raises(InvalidParameterError):
            FarFrom("x", power=0).fit(self.table)

    def test_columns_that_the_table_lacks(self):
        metric = FarFrom("x", others=["y"])
        assert metric.named_columns() == {"column": ["x"], "others": ["y"]}
        with raises(InvalidParameterError):
            FarFrom("z").fit(self.table)
        with raises(InvalidParameterError):
            FarFrom("x", others=["y", "w"]).fit(self.table)

    def test_pickles_and_clones(self):
        metric = clone(FarFrom("x", power=2)).fit(self.table)
        assert pickle.loads(pickle.dumps(metric)).power == 2
