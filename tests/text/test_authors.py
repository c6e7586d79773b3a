"""Authors are the same whatever their names are stored in."""

import pandas as pd

from skeval import Context
from skeval.steps.entities import row_groups
from skeval.text.corpus import corpus

TRAIN = pd.DataFrame({"note": ["one two three four five"] * 3, "author": [1.0, 2.0, None]})
HOLDOUT = pd.DataFrame({"note": ["six seven eight nine ten"] * 3, "author": ["1", "9", "2"]})
SCHEMA = {"note": "text", "author": "id"}


def test_numbers_and_their_texts_are_one_author():
    context = Context.of(TRAIN, HOLDOUT, schema=SCHEMA)
    groups = row_groups(context, "author")
    assert groups["train"][0] == groups["holdout"][0]
    assert groups["train"][1] == groups["holdout"][2]
    assert len({*groups["train"], *groups["holdout"]}) == 4
    assert corpus(context, ("note",), "author").n_train == 1  # whose author has no name


def test_without_a_holdout_each_row_of_an_author_is_one_group():
    groups = row_groups(Context.of(TRAIN, schema=SCHEMA), "author")
    assert list(groups) == ["train"]
    assert len(set(groups["train"])) == 3
