"""Linkability: do two parts of a real row lead to the same synthetic row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks.anonymeter.risks import (
    Attack,
    Evidence,
    ResidualRiskMetric,
    check_enough_columns,
    n_targets,
    near_rows,
    nearest_synthetic,
    places,
    risk_of,
    shown_level,
    shown_rates,
    shown_share,
    targets,
)
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.relabelling import least_p_value
from skeval.stats.risks import random_link_rate, scores_p_value
from skeval.steps.neighbors import ranges
from skeval.steps.relabelled import name_of_test
from skeval.steps.samples import chosen_columns, column_key
from skeval.tables.preprocessing import NOMINAL
from skeval.utils.parameters import Columns, Count, Legal, are_columns

_SHARED = (
    "aux_cols has {columns} in both parts: whoever knows it in both links rows by it without any "
    "synthetic table."
)
_WHAT = "train rows of which two parts lead to the same synthetic row"
PartRows = tuple[tuple[str, ...], tuple[str, ...]]
_UNITS = 2.0**32  # the engine rounds sums of distances over columns to one part of it
_LISTED = 16  # rows near to both parts together that are looked at first
_PAIRS = 2**20  # held at once
_DRAWS = 20  # of halves, for each that is wanted


def _are_parts(value: object) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(part, list | tuple) and are_columns(part) for part in value)
    )


Parts = Annotated[
    Sequence[Sequence[str]] | None,
    Legal("None or a pair of non-empty lists of column names", _are_parts, ("age", "city")),
]


@declared
class LinkabilityRisk(ResidualRiskMetric):
    r"""Risk that records are linked: 0 where train rows are as holdout rows, 1 if all are linked.

    An attacker has two tables of real people without names, one with some columns and one with
    others, say of a hospital and of an insurer, and wants to know which rows are the same person.
    For each part of a person the attacker looks for the synthetic row that is most alike. If both
    parts lead to the same synthetic row, they are linked. The value is the success on train beyond
    that on the holdout, which the generator never saw.

    Parameters
    ----------
    aux_cols : None or pair of lists of str, default=None
        The columns of the first table and those of the second. None: random halves of all columns,
        `n_splits` times.
    n_neighbors : int, default=1
        Number of most similar synthetic rows of each part; one in common makes a link.
    n_splits : int, default=5
        Number of random halves; fewer where the columns allow no more. Risks are averaged.
    ties : {"all", "first"}, default="all"
        Which rows count where several are as near as the last of `n_neighbors`: all of them, or
        only `n_neighbors`, at random but the same ones for both parts.
    columns : None, int or list of str, default=None
        The columns that are halved.

    Raises
    ------
    InvalidParameterError
        At fit, if there is one column only, or `aux_cols` names one that cannot be measured.

    Warnings
    --------
    This is what one adversary achieves: a low value does not clear a release.

    See Also
    --------
    InferenceRisk : A secret of a person is guessed.
    SinglingOutRisk : A person is described by what nobody else has.
    AnonymeterRisk : The largest of all three risks.

    Notes
    -----
    With p and c the rates of links of train and of the holdout, the residual risk is

    .. math:: \frac{p - c}{1 - c}

    clipped to [0, 1]. Its null value is 0; the baseline is its mean over random choices of which
    real rows are train, which clipping puts above 0. Over several halves it is the mean risk, in
    the interval of the mean counts, which is wider than need be, since halves differ by chance too.
    Rows are compared in Gower's distance over the columns of the part.

    ``details`` has the rates of the attack, of guessing (`baseline`) and on the holdout (`control`)
    with Wilson's intervals, the risk unclipped (`raw`) and from plain shares (`unshrunk`), its
    `level`, and `weak_attack`: whether guessing does as well, in which case a low value says
    nothing. Guessing takes two random sets of k of the n synthetic rows; they have a row in common
    with the chance ``1 - C(n - k, k) / C(n, k)``.

    A table of few categories has many rows equally near: then most rows are linked, of train and of
    the holdout alike, and the interval is wide.

    The p-value is one-sided: if the synthetic table does not depend on which of the pooled real
    rows were train, all choices of them are equally likely. It is that of Fisher's exact test, or,
    over several halves, of 9,999 random choices.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import LinkabilityRisk
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> LinkabilityRisk().fit(train, holdout).score(train) > 0.9
    True
    """

    tags = replace(ResidualRiskMetric.tags, risks=frozenset({"linkability"}))

    aux_cols: Parts = None
    _: KW_ONLY
    n_neighbors: Count = 1
    n_splits: Count = 5
    ties: Literal["all", "first"] = "all"
    columns: Columns = None

    def _prepare(self, context: Context) -> None:
        if self.aux_cols is None:
            chosen = chosen_columns(context.schema, self.columns)
            check_enough_columns("LinkabilityRisk", chosen, 2)
            return
        for part in self.aux_cols:
            chosen_columns(context.schema, part)

    def _risk(self, context: Context, tested: bool) -> Result:
        result = risk_of(self._attack(context), self._measure, tested)
        first, second = self.aux_cols or ((), ())
        if both := [name for name in first if name in second]:
            warning = MetricWarning(_SHARED.format(columns=", ".join(both)))
            return replace(result, warnings=(warning, *result.warnings))
        return result

    def _attack(self, context: Context) -> Attack:
        """Return how often both parts of a row lead to the same synthetic row, for each split."""
        if self.aux_cols is None:
            names = chosen_columns(context.schema, self.columns)
            splits = random_halves(names, self.n_splits, self.random_state)
        else:
            first, second = (chosen_columns(context.schema, part) for part in self.aux_cols)
            splits = [(first, second)]
        seed, n_attacks = self.random_state, self.n_attacks
        return linkability(
            context, splits, self.n_neighbors, self.ties, n_attacks=n_attacks, seed=seed
        )

    def _summary(self, result: Result) -> str:
        train, control = shown_rates(result.details)
        chance = shown_share(result.details["baseline"])
        return (
            "An attacker who has two parts of a person's columns in two tables links them where "
            f"both lead to the same synthetic row: {train} of train rows, {control} of holdout "
            f"rows, {chance} by chance. {shown_level(result)}"
        )


def random_halves(names: Sequence[str], n_splits: int, seed: int) -> list[PartRows]:
    """Return random halves of the columns, none twice; they do not depend on the columns' order."""
    ordered, rng = sorted(names), np.random.default_rng(seed)
    halves: dict[frozenset[tuple[str, ...]], PartRows] = {}
    for _ in range(_DRAWS * n_splits):
        mixed = rng.permutation(len(ordered))
        middle = len(ordered) // 2
        first, second = (
            tuple(ordered[j] for j in sorted(part)) for part in (mixed[:middle], mixed[middle:])
        )
        halves.setdefault(frozenset((first, second)), (first, second))
        if len(halves) == n_splits:
            break
    return list(halves.values())


def linkability(
    context: Context,
    splits: Sequence[PartRows],
    n_neighbors: int,
    ties: str,
    *,
    n_attacks: int | None,
    seed: int,
) -> Attack:
    """Return how often both parts of a row lead to the same synthetic row, for each split."""
    n, n_synthetic = n_targets(context, n_attacks), context.n_rows("synthetic")
    k = min(n_neighbors, n_synthetic)
    links = np.stack([_links(context, parts, k, ties, n_attacks, seed) for parts in splits])
    train, holdout = links[:, :n], links[:, n:]
    by_row = train.mean(axis=0), holdout.mean(axis=0)
    shares = float(train.mean()), float(holdout.mean())
    tests = (name_of_test("linkability", splits, k, ties, n_attacks, seed),)
    shown = (_WHAT, *shares, "of holdout rows")
    contrast = Contrast(*shown, tests=tests, least_p=least_p_value(n, n))
    return Attack(
        successes=tuple(float(count) for count in train.sum(axis=1)),
        control=tuple(float(count) for count in holdout.sum(axis=1)),
        n=n,
        guessed=n * random_link_rate(n_synthetic, k),
        n_guessed=n,
        test=lambda: Evidence(contrast, scores_p_value(*by_row, seed=seed)),
        scores=links.mean(axis=0),
        details={"n_splits": len(splits)},
    )


@shared
def _links(
    context: Context, parts: PartRows, k: int, ties: str, n_attacks: int | None, seed: int
) -> np.ndarray:
    """Return for each target whether a synthetic row is among the k nearest to both its parts."""
    keys = [column_key(context.schema, part) for part in parts]
    near = [nearest_synthetic(context, key, k, n_attacks, seed) for key in keys]
    if ties == "first":
        both = np.sort(np.concatenate([near[0][1], near[1][1]], axis=1), axis=1)
        return np.asarray((both[:, 1:] == both[:, :-1]).any(axis=1))
    radii = [_units(d[:, -1], len(p)) for (d, _), p in zip(near, parts, strict=True)]
    union = tuple(dict.fromkeys((*parts[0], *parts[1])))
    listed, candidates = nearest_synthetic(
        context, column_key(context.schema, union), 1 if k == 1 else _LISTED, n_attacks, seed
    )
    # what is near enough to both parts is no farther than this from the two together
    farthest = radii[0] + radii[1] + 1.0
    within = _units(listed, len(union)) <= farthest[:, None]
    if k == 1 and len(union) == len(parts[0]) + len(parts[1]):
        return within[:, 0]  # a sum is that of both least ones only if both are the least
    linked = _both_within(context, parts, radii, candidates, n_attacks, seed)
    linked = (linked & within).any(axis=1)
    unsure = np.flatnonzero(within[:, -1] & ~linked)  # there may be further rows as near
    everything = np.arange(context.n_rows("synthetic"))
    for chunk in np.array_split(unsure, -(-unsure.size * everything.size // _PAIRS) or 1):
        candidates = np.broadcast_to(everything, (chunk.size, everything.size))
        close = _both_within(context, parts, radii, candidates, n_attacks, seed, chunk)
        linked[chunk] = close.any(axis=1)
    return linked


def _units(distances: np.ndarray, n_columns: int) -> np.ndarray:
    """Return sums over columns as the whole numbers that the engine rounds them to."""
    return np.rint(distances * n_columns * _UNITS)


def _both_within(
    context: Context,
    parts: PartRows,
    radii: Sequence[np.ndarray],
    candidates: np.ndarray,
    n_attacks: int | None,
    seed: int,
    chosen: np.ndarray | slice = slice(None),
) -> np.ndarray:
    """Return which candidates are near enough to both parts, shape (n_targets, n_candidates)."""
    near = np.ones(candidates.shape, dtype=np.bool_)
    for part, radius in zip(parts, radii, strict=True):
        key = column_key(context.schema, part)
        asked = targets(context, key, n_attacks, seed)[chosen]
        sums = _sums(context, part, asked, near_rows(context, key), candidates)
        near &= np.rint(sums * _UNITS) <= radius[chosen, None] + 1.0
    return near


def _sums(
    context: Context, part: Sequence[str], asked: np.ndarray, rows: np.ndarray, which: np.ndarray
) -> np.ndarray:
    """Return the sums over columns of differences between 0 and 1, as the engine has them."""
    there = places(context.schema)
    nominal, scales = context.schema.columns(*NOMINAL), ranges(context)
    total = np.zeros(which.shape)
    for j, name in enumerate(sorted(part, key=there.__getitem__)):
        a, b, scale = asked[:, j, None], rows[which, j], scales[there[name]]
        if name in nominal or scale < 1e-300:
            total += (a != b) & ~(np.isnan(a) & np.isnan(b))
            continue
        gap = np.minimum(np.abs(a - b) / scale, 1.0)
        total += np.where(np.isnan(gap), np.isnan(a) != np.isnan(b), gap)
    return total
