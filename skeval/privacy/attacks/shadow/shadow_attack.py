"""Base of the attacks that learn from tables of generators that the attacks ran themselves."""

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

# by world, for each target: of each fit the value of the secret, and the features of its tables
Observed = dict[World, list[tuple[list[int], list[np.ndarray]]]]


@declared
class ShadowAttack(GeneratorAttack):
    """Base of the attacks that learn from tables of generators which they ran themselves.

    Subclasses say what cannot be attacked (`_lacking`), and test each target (`_test_generator`).

    Parameters
    ----------
    n_eval : int, default=50
        Tables that the attack is tested on, for each target.
    n_rows : int, optional
        Rows of each training table that is drawn; half of the smaller pool if None. An attacker
        who is tested on all of train (``game="model_seeded"``) learns more from tables as large.
    n_copies : int, default=1
        Tables sampled of each fit to learn from.
    classifier : classifier, optional
        What learns; 100 random trees if None.
    game : {"average", "model_seeded"}, default="average"
        Whether the other rows are drawn anew for each table, or are those of train in all of them,
        so that only the seed differs. The first averages over what else train might have held, the
        second is about this train.
    knowledge : {"auxiliary", "exact", "exact-with-uncertainty"}, default="auxiliary"
        Which rows the attacker has: those of the holdout; all of train but the target, which is
        what differential privacy defends against; or `known_share` of these, with rows of the
        holdout in the place of the others. The last two go with ``game="model_seeded"``.
    known_share : float, default=0.5
        In (0, 1), for ``knowledge="exact-with-uncertainty"``.
    access : {"black-box", "uncertain-box", "no-box"}, default="black-box"
        What the attacker can run: the generator with its parameters; the generator, with
        parameters that are drawn for each table to learn from, since its own are not known; or
        nothing but the table itself, see Notes.
    shadow_parameters : dict of str to list or distribution, optional
        For ``access="uncertain-box"``: by name the values of the generator's parameters that are
        drawn from, each as likely, or a distribution of :mod:`scipy.stats`.
    n_synthetic : int, optional
        Rows of a table; as many as the synthetic table has that is given to score, if None.
    confidence : float, default=0.95
        Confidence of the intervals, and of the bound of epsilon.
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
        """Say why nothing can be attacked in these tables; empty if something can."""
        raise NotImplementedError

    def _test_generator(self, context: Context, game: Game, n_synthetic: int) -> Result:
        """Test the generator on tables of `n_synthetic` rows."""
        raise NotImplementedError

    def _faults(self) -> list[str]:
        """Return which parameters of the attack contradict those of the game."""
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
        faults.append("access='no-box' takes 'query' or 'closest' as features: others are learned")
    return faults


def observe_tables(
    context: Context, game: Game, worlds: Sequence[World], n_synthetic: int, execution: Execution
) -> tuple[Observed, int]:
    """Play a game; return what the attacker sees of all tables, and the number of fits.

    Features of the tables of one fit are of shape (n_copies, n_features).
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
