"""Whole histories that are copied: counted, tested by subject, named by the tables that link."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import make_suite
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.privacy import DCROverfittingProtection, ExactMatchShare, NearDuplicateShare
from skeval.relational import (
    ForeignKey,
    OfTable,
    PerSubject,
    RelationalData,
    RelationalSchema,
    SharedHistoryShare,
    SubjectCopies,
    SubjectMembership,
    split_by_subject,
)
from skeval.relational.subject_copies import copies_in_words
from skeval.stats.permutation_tests import share_p_value
from skeval.steps.foreign_keys import named_cells, parents
from skeval.steps.subjects import row_codes
from tests.relational.worlds import (
    CLINIC,
    SHOP,
    clinic,
    context_of,
    copied_links,
    evaluated,
    shop,
    with_rows_of,
)
from tests.snapshots import raises

TRAIN, HOLDOUT, FRESH = (shop(300, seed) for seed in range(3))
LEAKY = copied_links(TRAIN, FRESH, 0.05)


def test_subjects_are_compared_by_brute_force():
    """Own row and the multiset of rows, whatever their order and their keys."""
    rng = np.random.default_rng(0)

    def tables(seed):
        own = np.random.default_rng(seed)
        n = own.integers(0, 3, 40)
        users = pd.DataFrame({"id": own.permutation(40), "g": own.choice(list("ab"), 40)})
        orders = pd.DataFrame(
            {"user": users["id"].to_numpy().repeat(n), "t": own.choice(list("xy"), n.sum())}
        )
        return {"users": users, "orders": orders.sample(frac=1, random_state=seed)}

    def histories(data, own_row):
        rows = data["orders"].groupby("user")["t"].agg(lambda t: tuple(sorted(t)))
        whole = zip(data["users"]["g"], data["users"]["id"].map(rows), strict=True)
        filled = [(g, t if isinstance(t, tuple) else ()) for g, t in whole]
        return filled if own_row else [t for _, t in filled if t]

    schema = RelationalSchema(
        {"users": {}, "orders": {}}, {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
    )
    context = context_of(*(tables(seed) for seed in rng.integers(0, 99, 3)), schema)
    for own_row in (True, False):
        train, holdout, synthetic = (
            histories(context.original_frame(role), own_row)
            for role in ("train", "holdout", "synthetic")
        )
        result = evaluated(SubjectCopies(own_row=own_row), context)
        assert result.value == np.mean([one in train for one in synthetic])
        assert result.baseline == np.mean([one in train for one in holdout])
        assert result.details["n_compared"] == len(synthetic)


def test_every_subject_copied():
    context = context_of(TRAIN, HOLDOUT, TRAIN, SHOP)
    result = evaluated(SubjectCopies(), context)
    assert (result.value, result.baseline) == (1.0, 0.0)
    assert result.p_value == share_p_value(300, 300, 0, 300)
    assert result.table == "users with all their rows"
    assert result.fact == (
        "300 of 300 synthetic users are complete copies of training users with all their rows, and "
        "300 of them match a record that is unique in the training data. None of the synthetic "
        "users matches a holdout record."
    )
    assert "values of one users record in purchases" in result.advice


def test_names_of_keys_do_not_matter_and_references_do():
    renamed = {
        **TRAIN,
        "users": TRAIN["users"].assign(id=lambda t: t["id"] + 7),
        "purchases": TRAIN["purchases"].assign(user=lambda t: t["user"] + 7),
    }
    assert evaluated(SubjectCopies(), context_of(TRAIN, HOLDOUT, renamed, SHOP)).value == 1.0
    other = {**TRAIN, "purchases": TRAIN["purchases"].assign(item=lambda t: (t["item"] + 1) % 120)}
    assert evaluated(SubjectCopies(), context_of(TRAIN, HOLDOUT, other, SHOP)).value == 0.0


@pytest.mark.filterwarnings("ignore::skeval.exceptions.DifferentFormWarning")
def test_letter_case_and_spaces_hide_no_copy():
    keys = [ForeignKey("visits", "person", "people", "id")]
    schema = RelationalSchema(["people", "visits"], {"people": "id"}, keys)
    people = pd.DataFrame({"id": range(40), "town": [f"town {i}" for i in range(40)]})
    visits = pd.DataFrame({"person": range(40), "note": [f"Note {i}" for i in range(40)]})
    spelled = people.assign(town=people["town"].str.upper() + " ")
    loud = {"people": spelled, "visits": visits.assign(note=visits["note"].str.upper())}
    result = SubjectCopies().fit({"people": people, "visits": visits}, schema=schema).evaluate(loud)
    assert result.value == 1.0
    assert result.copies[0].leak_sentence.startswith("Copies found: 40 people with all their rows")


def test_a_key_to_a_row_that_is_no_reference_counts_as_that_row():
    """Messages: the receiver is who they are, whatever their number."""
    keys = [ForeignKey("mail", side, "people", "id") for side in ("sender", "receiver")]
    schema = RelationalSchema(
        ["people", "mail"], {"people": "id"}, keys, {"people": "subject"}, {"mail": "sender"}
    )
    people = pd.DataFrame({"id": [1, 2, 3], "name": list("abc")})
    train = {"people": people, "mail": pd.DataFrame({"sender": [1, 2, 3], "receiver": [2, 3, 1]})}
    turned = people.assign(id=[3, 1, 2])
    same = {"people": turned, "mail": pd.DataFrame({"sender": [3, 1, 2], "receiver": [1, 2, 3]})}
    other = {"people": turned, "mail": pd.DataFrame({"sender": [3, 1, 2], "receiver": [2, 3, 1]})}
    metric = SubjectCopies().fit(train, schema=schema)
    assert metric.score(same) == 1.0
    assert metric.score(other) == 0.0


@pytest.mark.slow
def test_copied_links_are_missed_by_every_table_alone():
    context = context_of(TRAIN, HOLDOUT, LEAKY, SHOP)
    for table in ("users", "purchases"):
        for metric in (ExactMatchShare(), NearDuplicateShare(), DCROverfittingProtection()):
            assert evaluated(OfTable(metric, table), context).p_value > 0.05


@pytest.mark.parametrize("metric", [SubjectCopies(own_row=False), SharedHistoryShare()])
def test_copied_links_are_found_at_the_subject(metric):
    clean = evaluated(metric, context_of(TRAIN, HOLDOUT, FRESH, SHOP))
    leak = evaluated(metric, context_of(TRAIN, HOLDOUT, LEAKY, SHOP))
    assert clean.p_value > 0.05
    assert leak.p_value < 1e-4
    assert leak.value == pytest.approx(0.05, abs=0.01)
    assert leak.fact.startswith("15 of 300 synthetic users ")
    assert "purchases" in leak.advice


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* of the train rows have a duplicate")
def test_the_verdict_of_a_suite_finds_copied_links():
    suite = make_suite("screens", schema=SHOP).fit(TRAIN, HOLDOUT, schema=SHOP)
    assert not suite.evaluate(FRESH).verdict().alarm
    result = suite.evaluate(LEAKY)
    verdict = result.verdict()
    assert set(verdict.alarms) == {"copied_histories", "shared_histories"}
    assert (
        "15 of 300 synthetic users have exactly the rows of a training record" in verdict.sentence
    )
    assert not any(name.startswith("items/") for name in result)


def test_shared_histories_by_brute_force():
    small = [shop(30, seed, most=6) for seed in range(3)]
    small[2] = copied_links(small[0], small[2], 0.3)
    context = context_of(*small, SHOP)

    def multisets(tables):
        rows = tables["purchases"].astype(str)
        token = rows["item"] + " " + rows["n"]
        again = pd.DataFrame({"u": rows["user"], "t": token}).groupby(["u", "t"]).cumcount()
        sets = (token + " " + again.astype(str)).groupby(tables["purchases"]["user"]).agg(set)
        return [s for s in sets if len(s) >= 3], len(tables["users"])

    train, _ = multisets(small[0])
    for role, place in (("synthetic", 2), ("holdout", 1)):
        sets, n = multisets(small[place])
        near = [any(len(s & t) >= 0.5 * len(s | t) for t in train) for s in sets]
        result = evaluated(SharedHistoryShare(n_bins=1000), context)
        assert (result.value if role == "synthetic" else result.baseline) == sum(near) / n


def test_a_sample_of_the_subjects_is_looked_at():
    result = evaluated(
        SharedHistoryShare(max_subjects=100), context_of(TRAIN, HOLDOUT, TRAIN, SHOP)
    )
    assert result.value == 1.0
    assert result.fact.startswith("100 of 100 synthetic users have most of the ")


def test_part_of_a_history_is_enough():
    half = LEAKY["purchases"].groupby("user").sample(frac=0.7, random_state=0)
    context = context_of(TRAIN, HOLDOUT, {**LEAKY, "purchases": half}, SHOP)
    assert evaluated(SubjectCopies(own_row=False), context).value < 0.01
    assert evaluated(SharedHistoryShare(), context).p_value < 1e-3


def test_of_several_tables_the_one_that_links_is_named():
    schema = RelationalSchema(
        [*SHOP.tables, "visits"],
        {"users": "id", "items": "id"},
        [*SHOP.foreign_keys, ForeignKey("visits", "user", "users", "id")],
        roles={"users": "subject", "items": "reference"},
    )

    def more(tables, seed):
        rng, ids = np.random.default_rng(seed), tables["users"]["id"].to_numpy()
        visits = pd.DataFrame({"user": np.repeat(ids, 12), "at": rng.normal(size=12 * len(ids))})
        return {**tables, "visits": visits.assign(to=rng.choice(list("abcdefgh"), len(visits)))}

    context = context_of(more(TRAIN, 0), more(HOLDOUT, 1), more(LEAKY, 2), schema)
    result = evaluated(SharedHistoryShare(), context)
    assert set(result.details["columns"]) == {"purchases and visits", "purchases", "visits"}
    assert result.p_value < 1e-3
    assert result.contrast.n_tests == 3
    assert "have most of the purchases of one training record," in result.fact
    assert "values of one users record in purchases" in result.advice


@pytest.mark.slow
def test_subjects_keep_the_level_where_histories_are_alike():
    """Of few values, histories agree by chance, in all tables."""
    alarms = 0
    for seed in range(20):
        tables = [clinic(40, 3 * seed + i, 1, 4) for i in range(3)]
        for one in tables:
            one["visits"] = one["visits"][["patient", "ward"]]
        context = context_of(*tables, CLINIC)
        result = evaluated(SubjectCopies(own_row=False), context)
        assert result.value > 0.1
        alarms += result.p_value <= 0.05
    assert alarms <= 4


def test_cells_of_numbers_do_not_depend_on_who_was_train():
    # quantile cells of train hold as many train values each, and more or fewer of all others
    data = [clinic(n, seed, most=4) for n, seed in ((8, 0), (20, 1), (8, 2))]
    roles = ("train", "holdout", "synthetic")
    either, other = (context_of(*tables, CLINIC) for tables in (data, [data[1], data[0], data[2]]))
    codes = row_codes(either, "visits", roles, 20)
    exchanged = row_codes(other, "visits", roles, 20)
    exchanged = [exchanged[i] for i in (1, 0, 2)]
    first, second = (pd.factorize(np.concatenate(rows))[0] for rows in (codes, exchanged))
    assert first.tolist() == second.tolist()


FRIENDS = RelationalSchema(
    ["people", "friends"],
    {"people": "id"},
    [ForeignKey("friends", side, "people", "id") for side in ("of", "with")],
    {"people": "subject", "friends": "dependent"},
    {"friends": "of"},
)


def friends(n, seed):
    rng = np.random.default_rng(seed)
    names = np.array([f"{seed} {i}" for i in range(n)])
    people = {"id": names, "a": rng.choice(list("abc"), n), "b": rng.choice(list("xyz"), n)}
    of = np.repeat(names, rng.integers(1, 3, n))
    links = {"of": of, "with": rng.choice(names, of.size)}
    return {"people": pd.DataFrame(people), "friends": pd.DataFrame(links)}


@pytest.mark.parametrize("metric", [SubjectCopies(own_row=False), PerSubject(ExactMatchShare())])
def test_friends_who_were_parted_are_still_who_they_are(metric):
    # of a tenth of the subjects nine in ten friends are on the other side: were these nobody, what
    # stands in the large table alone would look copied
    data = RelationalData(friends(200, 0), FRIENDS)
    train, holdout = split_by_subject(data, 0.1, random_state=0)
    assert train.validate()["fault"].tolist() == ["orphan"]
    context = context_of(train, holdout, friends(180, 1), FRIENDS)
    assert evaluated(metric, context).p_value > 0.05


def test_keys_that_number_the_rows_of_each_table_name_nobody_of_the_other():
    data = [{name: rows.copy() for name, rows in friends(9, seed).items()} for seed in (0, 1)]
    for tables in data:  # numbered from 0 in both
        tables["people"]["id"] = tables["people"]["id"].str[2:]
        for side in ("of", "with"):
            tables["friends"][side] = tables["friends"][side].str[2:]
    data[1]["people"] = data[1]["people"].iloc[:5]
    context = context_of(*data, data[0], FRIENDS)
    key = FRIENDS.foreign_keys[1]
    cells = {role: np.arange(n) for role, n in (("train", 9), ("holdout", 5))}
    named = named_cells(context, "holdout", key, cells, -1)
    assert named.tolist() == np.maximum(parents(context, "holdout", key), -1).tolist()


@pytest.mark.parametrize("metric", [SharedHistoryShare, SubjectMembership, PerSubject])
def test_what_is_left_of_a_second_subject_is_not_tested(metric):
    # flights go with their planes: train keeps most flights of its pilots, the holdout few
    keys = [ForeignKey("flights", side, side, "id") for side in ("planes", "pilots")]
    roles = {"planes": "subject", "pilots": "subject", "flights": "dependent"}
    schema = RelationalSchema([*roles], {"planes": "id", "pilots": "id"}, keys, roles)

    def tables(seed):
        rng, n = np.random.default_rng(seed), 60
        names = {side: np.array([f"{seed} {side} {i}" for i in range(n)]) for side in roles}
        flights = {side: rng.choice(names[side], 5 * n) for side in ("planes", "pilots")}
        return {
            "planes": pd.DataFrame({"id": names["planes"], "x": rng.normal(size=n)}),
            "pilots": pd.DataFrame({"id": names["pilots"], "y": rng.normal(size=n)}),
            "flights": pd.DataFrame({**flights, "z": rng.normal(size=5 * n)}),
        }

    train, holdout = split_by_subject(RelationalData(tables(0), schema), 0.3, random_state=0)
    context = context_of(train, holdout, tables(1), schema)
    given = (ExactMatchShare(),) if metric is PerSubject else ()
    first, second = (evaluated(metric(*given, subject=s), context) for s in ("planes", "pilots"))
    assert first.p_value is not None
    assert second.p_value is None
    assert second.contrast is None
    assert "share rows of flights" in str(second.warnings[-1])


def test_what_is_needed_is_said():
    tables = clinic(9, 0, most=3)
    with raises(InvalidParameterError):
        SubjectCopies("visits").fit(tables, schema=CLINIC)
    alone = RelationalSchema(["patients"], roles={"patients": "subject"})
    with raises(MissingInputError):
        SubjectCopies().fit({"patients": tables["patients"]}, schema=alone)
    with raises(MissingInputError):
        SharedHistoryShare().fit(tables, schema=RelationalSchema(["patients", "visits"]))


def test_subjects_without_rows():
    empty = {**TRAIN, "purchases": TRAIN["purchases"].assign(user=-1)}
    context = context_of(empty, empty, empty, SHOP)
    assert np.isnan(evaluated(SubjectCopies(own_row=False), context).value)
    assert evaluated(SharedHistoryShare(), context).value == 0.0
    assert evaluated(SubjectCopies(), context).value == 1.0


def test_a_history_moved_by_hand():
    fresh = with_rows_of(FRESH, TRAIN, 1 / 300, "users", "purchases", "user")[0]
    result = evaluated(SubjectCopies(own_row=False), context_of(TRAIN, HOLDOUT, fresh, SHOP))
    assert result.fact.startswith(
        "1 of 300 synthetic users has exactly the rows of a training record"
    )
    assert result.p_value == 0.5  # a fact, and no test of one


def test_words_of_few():
    counts = {"synthetic": np.array([1, 1]), "train": np.array([2, 0]), "holdout": np.array([2, 0])}
    assert copies_in_words(counts, "users") == (
        "1 of 2 synthetic users is a complete copy of training users with all their rows, and "
        "none of them matches a record that is unique in the training data. 1 of the synthetic "
        "users matches a holdout record."
    )
