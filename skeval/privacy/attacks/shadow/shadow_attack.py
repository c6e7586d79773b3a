"""Base class of the attacks that learn from tables of generators that they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, fields, replace
from typing import Annotated, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import SHADOW_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.generators.adapter import unknown_parameters
from skeval.privacy.attacks.shadow.features import feature_names, measure_of
from skeval.privacy.attacks.shadow.game import (
    ALL,
    Execution,
    Game,
    GeneratorAttack,
    Ranges,
    World,
    check_cost,
    game_rows,
    plan,
    play,
)
from skeval.results.result import Result, undefined_result
from skeval.steps.classifiers import Classifier
from skeval.utils.parameters import Count, Interval, OpenFraction

# by world and target, for each fit, the value of the secret and the features of its tables
Observed = dict[World, list[tuple[list[int], list[np.ndarray]]]]


@declared
class ShadowAttack(GeneratorAttack):
    """Base class of the attacks that learn from tables of generators that they run themselves.

    Subclasses return the reason if nothing can be attacked (`_obstacle`), and test each target
    (`_test_generator`).

    Parameters
    ----------
    n_eval : int, default=50
        Number of tables on which the attack is tested, for each target.
    n_rows : int, optional
        Number of rows of each training table that is drawn. None uses half of the smaller pool. If
        the attacker is tested on the whole training data (``game="model_seeded"``), tables of the
        same size are more informative.
    n_copies : int, default=1
        Number of tables sampled from each fit for learning.
    classifier : classifier, optional
        Classifier of the attacker. None uses 100 random trees.
    game : {"average", "model_seeded"}, default="average"
        Other rows of the tables. "average" draws them again for each table, so the result is an
        average over possible training data. "model_seeded" uses the training rows in all tables, so
        that only the seed differs, and the result describes these training data.
    knowledge : {"auxiliary", "exact", "exact-with-uncertainty"}, default="auxiliary"
        Rows that the attacker knows. "auxiliary" is the holdout rows. "exact" is all training rows
        except the target, which is the attacker of differential privacy. "exact-with-uncertainty"
        is the fraction `known_share` of these, with holdout rows in place of the others. The last
        two require ``game="model_seeded"``.
    known_share : float, default=0.5
        Fraction of known rows for ``knowledge="exact-with-uncertainty"``, in (0, 1).
    access : {"black-box", "uncertain-box", "no-box"}, default="black-box"
        Access of the attacker to the generator. With "black-box", the attacker runs the generator
        with its parameters. With "uncertain-box", the parameters are unknown and drawn for each
        table to learn from. With "no-box", the attacker has only the table, see Notes.
    shadow_parameters : dict of str to list or distribution, optional
        Values of the generator's parameters by name, for ``access="uncertain-box"``. A list is
        sampled uniformly, and a distribution of :mod:`scipy.stats` is sampled with ``rvs``.
    n_synthetic : int, optional
        Number of rows of a synthetic table. None uses the size of the synthetic table that is
        scored.
    confidence : float, default=0.95
        Confidence of the intervals and of the bound of epsilon.
    """

    tags = replace(SHADOW_TAGS, bounds=(-1.0, 1.0))

    _: KW_ONLY
    n_eval: Annotated[int, Interval(2)] = 50
    n_rows: Annotated[int, Interval(2)] | None = None
    n_copies: Count = 1
    classifier: Classifier = None
    game: Literal["average", "model_seeded"] = "average"
    knowledge: Literal["auxiliary", "exact", "exact-with-uncertainty"] = "auxiliary"
    known_share: OpenFraction = 0.5
    access: Literal["black-box", "uncertain-box", "no-box"] = "black-box"
    shadow_parameters: Ranges | None = None
    n_synthetic: Count | None = None
    confidence: OpenFraction = 0.95

    @property
    def _game(self) -> Game:
        values = self.get_params(deep=False)
        if isinstance(values["targets"], np.ndarray):  # shared steps make theirs read-only
            values["targets"] = values["targets"].copy()
        names = [one.name for one in fields(Game) if one.name in values]
        return Game(**{name: values[name] for name in names})

    def _obstacle(self, context: Context) -> str:
        """Return the reason if nothing can be attacked in these tables, or an empty string."""
        raise NotImplementedError

    def _test_generator(self, context: Context, game: Game, n_synthetic: int) -> Result:
        """Test the generator on tables of `n_synthetic` rows."""
        raise NotImplementedError

    def _faults(self) -> list[str]:
        """Return the parameters of the attack that contradict the parameters of the game."""
        return []

    def _prepare(self, context: Context) -> None:
        owner, cure = type(self).__name__, "n_targets, n_shadow or n_eval"
        check_cost(owner, self.estimate_cost(), self.max_fits, cure)
        faults = [*game_faults(self._game), *self._faults()]
        if not self._obstacle(context):
            faults += game_rows(context, self._game).faults
        if faults:
            raise InvalidParameterError(f"{owner}: {'; '.join(faults)}.")

    def _compute(self, context: Context) -> Result:
        if reason := self._obstacle(context):
            return undefined_result(reason)
        game = self._game
        if game_rows(context, game).n_drawn < 2:
            return undefined_result("train and holdout have too few rows to draw tables from.")
        n_synthetic = self.n_synthetic or context.n_rows("synthetic")
        return self._test_generator(context, game, n_synthetic)


def game_faults(game: Game) -> list[str]:
    """Return which parameters of a game contradict each other."""
    faults = list(game.faults)
    if unknown := unknown_parameters(game.generator, game.shadow_parameters or {}):
        faults.append(f"the generator has no parameter {', '.join(unknown)}, of shadow_parameters")
    if not game.learns and not feature_names(game.features, learns=False):
        faults.append("access='no-box' requires the features 'query' or 'closest'")
    return faults


def observe_tables(
    context: Context, game: Game, worlds: Sequence[World], n_synthetic: int, execution: Execution
) -> tuple[Observed, int]:
    """Play a game and return the attacker's features of all tables and the number of fits.

    The features of the tables of one fit have shape (n_copies, n_features).
    """
    rows = game_rows(context, game)
    fits = plan(rows, worlds)
    measure = measure_of(context, rows, n_synthetic)
    sizes = {"n_synthetic": n_synthetic, "n_copies": game.n_copies}
    tables = play(game.generator, rows.table, fits, measure, execution=execution, **sizes)
    seen: Observed = {world: [([], []) for _ in range(rows.n_targets)] for world in worlds}
    for fit, vectors in zip(fits, tables, strict=True):
        targets = range(rows.n_targets) if fit.target == ALL else [fit.target]
        for place, i in enumerate(targets):
            values, features = seen[fit.phase, fit.inside][i]
            values.append(fit.value)
            own = [one[place] for one in vectors]
            features.append(np.stack(own) if len(own) > 1 else own[0][None])
    return seen, len(fits)
