"""Ready suites of several tables: every table of persons, and the subjects."""

from __future__ import annotations

import pytest

from skeval import make_suite
from skeval.datasets import make_relational
from skeval.exceptions import InvalidParameterError
from skeval.relational import ForeignKey, OfTable, PerSubject, RelationalSchema
from tests.relational.worlds import CLINIC, SHOP, clinic
from tests.snapshots import raises


@pytest.mark.parametrize("preset", ["report", "privacy", "screens", "attacks"])
def test_subjects_and_tables_of_persons_are_measured(preset):
    suite = make_suite(preset, schema=SHOP, random_state=7)
    metrics = dict(suite.metrics)
    of_tables = {name: m for name, m in metrics.items() if isinstance(m, OfTable)}
    assert all(name.startswith(f"{one.table}/") for name, one in of_tables.items())
    private = {m.table for m in of_tables.values() if m.tags.aspect == "privacy"}
    assert private == {"users", "purchases"}
    assert any(isinstance(one, PerSubject) for one in metrics.values())
    seeds = {
        value
        for metric in metrics.values()
        for name, value in metric.get_params().items()
        if name.endswith("random_state")
    }
    assert seeds == {7}


def test_several_subjects_have_names_of_their_own():
    schema = RelationalSchema(
        ["planes", "pilots", "flights"],
        {"planes": "id", "pilots": "id"},
        [
            ForeignKey("flights", "plane", "planes", "id"),
            ForeignKey("flights", "pilot", "pilots", "id"),
        ],
        roles={"planes": "subject", "pilots": "subject"},
    )
    metrics = dict(make_suite("screens", schema=schema).metrics)
    assert metrics["subject_copies of pilots"].subject == "pilots"
    assert metrics["subject_copies of planes"].subject == "planes"


def test_where_nothing_depends_on_a_subject_there_is_no_history():
    alone = RelationalSchema(["people"], roles={"people": "subject"})
    names = [name for name, _ in make_suite("screens", schema=alone).metrics]
    assert all(name.startswith("people/") for name in names)


def test_roles_that_are_open_are_asked_for():
    schema = RelationalSchema(["patients", "visits"])
    tables = clinic(30, 0, most=3)
    suite = make_suite("attacks", schema=schema).fit(tables, clinic(30, 1, most=3), schema=schema)
    assert "requires the role of each table" in suite.skipped_["subject_membership"]
    closed = make_suite("attacks", schema=CLINIC)
    skipped = closed.fit(tables, clinic(30, 1, most=3), schema=CLINIC).skipped_
    assert [*skipped] == ["patients/text_membership", "visits/text_membership"]  # no texts


def test_presets_of_one_table_are_refused():
    with raises(InvalidParameterError):
        make_suite("syneval", schema=SHOP)


def test_screens_of_sequences_are_privacy():
    schema = make_relational(20).schema
    metrics = {
        preset: dict(make_suite(preset, schema=schema).metrics)
        for preset in ("report", "privacy", "screens", "fidelity")
    }
    screens = {"shared_subsequences", "nearest_sequences"}
    assert all(screens <= set(metrics[preset]) for preset in ("report", "privacy", "screens"))
    assert {one.tags.aspect for one in metrics["fidelity"].values()} <= {"fidelity", "validity"}
    assert "sequence_detection" in metrics["fidelity"]
