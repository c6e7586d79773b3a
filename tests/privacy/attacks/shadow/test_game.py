"""Which tables are made, of which rows, with which seeds."""

from __future__ import annotations

import inspect
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.generators import Bootstrap, GaussianCopula
from skeval.privacy import (
    DPAudit,
    LikelihoodRatioMIA,
    ShadowAttributeInference,
    ShadowMembershipInference,
    StackedMembershipInference,
)
from skeval.privacy.attacks.shadow.features import table_features
from skeval.privacy.attacks.shadow.game import (
    ALL,
    Execution,
    Game,
    GeneratorAttack,
    check_cost,
    game_rows,
    plan,
    play,
    secret_sources,
)
from tests.snapshots import raises

TRAIN, HOLDOUT = make_mixed(40, random_state=0), make_mixed(30, random_state=1)
CONTEXT = Context.of(TRAIN, HOLDOUT)
TARGETS = [3, 7]
AVERAGE = Game(
    Bootstrap(),
    TARGETS,
    n_targets=2,
    features=("naive", "closest"),
    n_shadow=3,
    n_eval=4,
    n_rows=None,
    n_copies=1,
    classifier=None,
    game="average",
    knowledge="auxiliary",
    known_share=0.5,
    access="black-box",
    shadow_parameters=None,
    random_state=0,
)
SEEDED = replace(AVERAGE, game="model_seeded")
EXACT = replace(SEEDED, knowledge="exact")


def rows_of(game=AVERAGE, **settings):
    return game_rows(CONTEXT, replace(game, **settings))


def fits_of(game=AVERAGE, **settings):
    return plan(rows_of(game, **settings))


def worlds(fits):
    by_world: dict = {}
    for fit in fits:
        key = fit.phase, fit.inside, fit.target
        by_world.setdefault(key, []).append(set(fit.rows.tolist()))
    return by_world


@pytest.mark.parametrize("game", [AVERAGE, EXACT, SEEDED])
@pytest.mark.parametrize("targets", [TARGETS, "canary", make_mixed(2, random_state=9)])
def test_as_many_fits_as_foretold(game, targets):
    fits = fits_of(game, targets=targets)
    assert len(fits) == (2 + 1) * (3 + 4)
    assert len({fit.seed for fit in fits}) == len(fits)
    for fit in fits:
        assert len(set(fit.rows.tolist())) == fit.rows.size


@pytest.mark.parametrize("adjacency", ["add", "replace"])
def test_tables_are_drawn_from_disjoint_pools(adjacency):
    tables_of = worlds(fits_of(adjacency=adjacency))
    assert {key: len(rows) for key, rows in tables_of.items()} == {
        ("shadow", True, 0): 3,
        ("shadow", True, 1): 3,
        ("shadow", False, ALL): 3,
        ("test", True, 0): 4,
        ("test", True, 1): 4,
        ("test", False, ALL): 4,
    }
    for (phase, inside, target), tables in tables_of.items():
        pool = set(range(40)) if phase == "test" else set(range(40, 70))
        for rows in tables:
            own = rows & set(TARGETS)
            assert own == ({TARGETS[target]} if inside else set())
            assert rows - own <= pool
            assert len(rows) == 15 + (inside and adjacency == "add")
    first, second, *_ = tables_of["test", False, ALL]
    assert first != second


def test_all_of_train_and_its_neighbours():
    tables_of = worlds(fits_of(EXACT))
    train = set(range(40))
    for phase in ("shadow", "test"):
        assert all(rows == train for rows in tables_of[phase, True, ALL])
        for i, target in enumerate(TARGETS):
            assert all(rows == train - {target} for rows in tables_of[phase, False, i])


def test_another_row_in_the_place_of_the_target():
    tables_of = worlds(fits_of(EXACT, adjacency="replace"))
    for i, target in enumerate(TARGETS):
        for rows in tables_of["test", False, i]:
            assert target not in rows
            (other,) = rows - set(range(40))
            assert 40 <= other < 70
            assert len(rows) == 40


def test_a_row_of_no_table_comes_in():
    for adjacency, size in (("add", 41), ("replace", 40)):
        tables_of = worlds(fits_of(EXACT, targets="canary", adjacency=adjacency))
        assert all(rows == set(range(40)) for rows in tables_of["test", False, ALL])
        for i in range(2):
            assert all(70 + i in rows and len(rows) == size for rows in tables_of["test", True, i])


def test_an_attacker_without_train_learns_from_the_holdout():
    tables_of = worlds(fits_of(SEEDED))
    for rows in tables_of["shadow", False, ALL]:
        assert rows <= set(range(40, 70))
    assert all(rows == set(range(40)) for rows in tables_of["test", True, ALL])


def test_rows_equal_to_a_target_are_in_no_pool():
    train = pd.concat([TRAIN, TRAIN.iloc[[3]]], ignore_index=True)
    holdout = pd.concat([HOLDOUT, TRAIN.iloc[[7]]], ignore_index=True)
    drawn = game_rows(Context.of(train, holdout), AVERAGE)
    assert set(range(41)) - set(drawn.test_pool.tolist()) == {3, 7, 40}
    assert set(range(41, 72)) - set(drawn.shadow_pool.tolist()) == {71}


@pytest.mark.parametrize("adjacency", ["add", "replace"])
def test_a_part_of_train_is_known(adjacency):
    """Each training table contains half of the 39 other rows. The rest is sampled again."""
    game = replace(SEEDED, knowledge="exact-with-uncertainty", adjacency=adjacency)
    assert (game.faults, rows_of(game).faults) == ([], [])
    tables_of = worlds(fits_of(game))
    tables = [
        (key[1:], rows) for key, own in tables_of.items() if key[0] == "shadow" for rows in own
    ]
    (known,) = {frozenset(rows & set(range(40)) - set(TARGETS)) for _, rows in tables}
    assert len(known) == 20
    for (inside, target), rows in tables:
        own = {TARGETS[target]} if inside else set()
        assert rows & set(TARGETS) == own
        assert rows - known - own <= set(range(40, 70))
        assert len(rows) == 39 + (inside and adjacency == "add")
    assert tables[0][1] != tables[1][1]
    assert tables_of["test", True, ALL] == worlds(fits_of(SEEDED))["test", True, ALL]
    (fault,) = rows_of(game, known_share=0.1).faults
    assert "requires 35 rows from the holdout, which has 30" in fault


def test_parameters_of_the_attacker_are_drawn_for_what_they_learn_from():
    ranges = {"depth": [1, 2], "rate": uniform(0.0, 1.0)}
    fits = fits_of(access="uncertain-box", shadow_parameters=ranges)
    drawn = [fit.parameters for fit in fits if fit.phase == "shadow"]
    assert {one["depth"] for one in drawn} == {1, 2}
    assert len({one["rate"] for one in drawn}) == len(drawn) == 9
    assert all(fit.parameters == {} for fit in fits if fit.phase == "test")
    known = [(fit.rows.tolist(), fit.seed) for fit in fits_of() if fit.phase == "test"]
    assert [(fit.rows.tolist(), fit.seed) for fit in fits if fit.phase == "test"] == known
    for settings in ({"access": "uncertain-box"}, {"shadow_parameters": ranges}):
        (fault,) = replace(AVERAGE, **settings).faults
        assert "shadow_parameters require each other" in fault


def test_without_a_generator_nothing_is_learnt_from():
    fits = fits_of(access="no-box")
    assert {fit.phase for fit in fits} == {"test"}
    assert len(fits) == (2 + 1) * 4


def test_more_tests_leave_what_is_learnt_as_it_was():
    first, second = (
        [(fit.rows.tolist(), fit.seed) for fit in fits_of(n_eval=n_eval) if fit.phase == "shadow"]
        for n_eval in (4, 9)
    )
    assert first == second


def test_exact_knowledge_of_rows_that_change_is_a_contradiction():
    (fault,) = replace(AVERAGE, knowledge="exact").faults
    assert "model_seeded" in fault
    assert EXACT.faults == []


# -------------------------------------------------------------------------------- secret values


def test_each_value_of_a_secret_has_a_row():
    drawn = rows_of(EXACT, secret="plan", n_values=3)
    assert drawn.targets.shape == (2, 3)
    rows = drawn.table.iloc[drawn.targets[1]]
    assert sorted(rows["plan"]) == ["basic", "family", "premium"]
    others = rows.drop(columns="plan")
    assert (others == TRAIN.drop(columns="plan").iloc[7]).all(axis=None)
    assert drawn.table["plan"].dtype == TRAIN["plan"].dtype
    fits = plan(drawn, [("shadow", True), ("test", True), ("test", False)])
    assert len(fits) == 2 * (3 + 4 + 4)
    for fit in fits:
        own = set(fit.rows.tolist()) - set(range(40))
        assert TARGETS[fit.target] not in fit.rows
        assert own == ({drawn.targets[fit.target, fit.value]} if fit.inside else set())
    assert [fit.value for fit in fits if fit.phase == "shadow"] == [0, 1, 2] * 2


def test_values_of_numbers_are_quantiles():
    sources = secret_sources(CONTEXT, "age", 4)
    ages = pd.concat([TRAIN, HOLDOUT], ignore_index=True)["age"]
    expected = np.quantile(ages, [0.125, 0.375, 0.625, 0.875], method="inverted_cdf")
    assert ages.iloc[sources].tolist() == expected.tolist()


def test_the_most_frequent_labels_are_the_values():
    cities = pd.concat([TRAIN, HOLDOUT], ignore_index=True)["city"]
    cells = cities.iloc[secret_sources(CONTEXT, "city", 2)]
    assert set(cells) == set(cities.value_counts().index[:2])


# --------------------------------------------------------------------------------- running fits


def measure(table, target):
    return float(table["age"].sum()), target


def test_copies_are_of_what_is_learnt_from():
    fits = fits_of()
    drawn = list(play(Bootstrap(), rows_of().table, fits, measure, n_synthetic=9, n_copies=2))
    assert [len(tables) for tables in drawn] == [2 if f.phase == "shadow" else 1 for f in fits]
    assert all(target == fit.target for fit, ((_, target), *_) in zip(fits, drawn, strict=True))
    (first, _), (second, _) = drawn[0]
    assert first != second


@pytest.mark.slow
def test_jobs_change_no_bit_and_progress_is_told():
    fits, done = fits_of()[:4], []
    execution = Execution(2, lambda *count: done.append(count))

    def local(table, target):  # goes to other processes as it is, which cannot import tests
        return float(table["age"].sum()), target

    both = [
        list(play(GaussianCopula(), rows_of().table, fits, local, n_synthetic=9, execution=how))
        for how in (None, execution)
    ]
    assert both[0] == both[1]
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert joblib.hash(execution) == joblib.hash(Execution())  # no result depends on it


def test_too_many_fits_are_refused():
    with raises(InvalidParameterError):
        check_cost("Attack", 600, 500, "n")
    check_cost("Attack", 500, 500, "n")


def test_targets_that_are_not_there():
    with raises(InvalidParameterError):
        rows_of(targets=[40])
    with raises(SchemaMismatchError):
        rows_of(targets=TRAIN.drop(columns="age").iloc[:1])


# ------------------------------------------------------------------------------------- features


def test_tables_are_read_by_the_levels_of_all_real_rows():
    rows = rows_of(targets="canary")
    features = table_features(CONTEXT, rows)
    table = rows.table.iloc[[70, 70, 0]].sample(frac=1.0, axis=1, random_state=0)
    first, second = features(table, ALL)
    assert first.size == second.size
    assert first[-7:-2] == pytest.approx([0.0, 0.0, *([features(table, 0)[0][-5]] * 3)])
    assert (second[-7:-2] > 0).all()
    assert np.array_equal(features(table, 1)[0], second)


def test_of_wide_tables_some_columns_are_correlated_with_the_secret(monkeypatch):
    rows = rows_of(targets="canary", features="corr")
    every = table_features(CONTEXT, rows)
    assert every.paired.tolist() == list(range(len(every.reader.names)))
    monkeypatch.setattr(f"{table_features.__module__}.MAX_PAIRED", 2)
    some = table_features(CONTEXT, rows)
    assert some.paired.size == 2
    values, fewer = (one(rows.table, 0)[0].round(9) for one in (every, some))
    assert 0 < fewer.size < values.size
    assert np.isin(fewer, values).all()
    (other,) = set(every.paired[-1:]) - set(some.paired) or set(every.paired[:1])
    secret = every.reader.names[other]
    asked = table_features(CONTEXT, rows_of(targets="canary", features="corr", secret=secret))
    assert asked.paired.tolist() == sorted({*some.paired, other})


# ------------------------------------------------------------------------------- the family


FIRST = {
    DPAudit: ["generator"],
    LikelihoodRatioMIA: ["generator", "targets", "n_targets"],
    ShadowAttributeInference: ["generator", "secret", "targets", "n_targets"],
    ShadowMembershipInference: ["generator", "targets", "n_targets"],
    StackedMembershipInference: ["generator", "attacks"],
}


@pytest.mark.parametrize("kind", FIRST, ids=lambda kind: kind.__name__)
def test_attacks_that_fit_the_generator_share_its_parameters(kind):
    parameters = inspect.signature(kind).parameters
    assert issubclass(kind, GeneratorAttack)
    assert [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY] == FIRST[kind]
    assert all(
        f"{name} :" in kind.__doc__ for name in inspect.signature(GeneratorAttack).parameters
    )
    needed = {"secret": "plan"} if "secret" in parameters else {}
    with raises(InvalidParameterError):
        kind(Bootstrap(), n_jobs=0, **needed).fit(TRAIN, HOLDOUT)


def test_an_attack_without_a_cost_says_what_it_lacks():
    with raises(NotImplementedError):
        GeneratorAttack(Bootstrap()).estimate_cost()
