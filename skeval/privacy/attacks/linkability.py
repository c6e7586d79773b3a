"""Linkability: do two parts of a real row lead to the same synthetic row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skeval._parameters import Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks._linking import linkability, random_halves
from skeval.privacy.attacks._risks import LEGAL, N_ATTACKS, TAGS, risk_result
from skeval.privacy.attacks.inference import check_enough_columns
from skeval.result import Result
from skeval.steps import chosen_columns

__all__ = ["LinkabilityRisk"]

_SHARED = (
    "aux_cols has {columns} in both parts: whoever knows it in both links rows by it without any "
    "synthetic table."
)


@dataclass(frozen=True)
class Parts:
    """None, or two non-empty lists of column names."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` names two sets of columns."""
        if value is None:
            return True
        return (
            isinstance(value, list | tuple)
            and len(value) == 2
            and all(isinstance(part, list | tuple) and Columns().accepts(part) for part in value)
        )

    def describe(self) -> str:
        """Name the choices."""
        return "None or a pair of non-empty lists of column names"

    def invalid_example(self) -> object:
        """Return a pair of names, which are no lists."""
        return ("age", "city")


class LinkabilityRisk(Metric):
    """Risk that records are linked: 0 where train rows are as holdout rows, 1 if all are linked.

    An attacker has two tables of real people without names, one with some columns and one with
    others, say of a hospital and of an insurer, and wants to know which rows are the same person.
    For each part of a person the attacker looks for the synthetic row that is most alike. If both
    parts lead to the same synthetic row, they are linked. The value is what is left of the success
    on train beyond that on the holdout, whom the generator never saw.

    Parameters
    ----------
    aux_cols : None or pair of lists of str, default=None
        The columns of the first table and those of the second. None: random halves of all columns,
        `n_splits` times.
    n_neighbors : int, default=1
        Number of most similar synthetic rows of each part; one in common makes a link.
    n_attacks : int or None, default=500
        Number of rows of train, and of the holdout, that are attacked, at most all of
        the smaller table; None for so many.
    n_splits : int, default=5
        Number of random halves; fewer where the columns allow no more. Risks are averaged.
    ties : {"all", "first"}, default="all"
        Which rows count where several are as near as the last of `n_neighbors`: all of them, or
        only so many as asked for, at random but the same ones for both parts.
    columns : None, int or list of str, default=None
        The columns that are halved.
    ci_method : {"anonymeter", "katz"}, default="anonymeter"
        Value and interval from the centres of Wilson's intervals; or from plain shares, with the
        interval of Katz for a ratio of failures.
    confidence_level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Seed of the halves and of the draw of the rows that are attacked.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if there is one column only, or `aux_cols` names one that cannot be measured.

    Notes
    -----
    With p and c the rates of links of train and of the holdout, the residual risk is
    ``(p - c) / (1 - c)``, clipped to [0, 1]; its null value, and the baseline, is 0. Over several
    halves it is the mean risk, in the interval of the mean counts, which is wider than need be,
    since halves differ by chance too. Rows are compared in Gower's distance over the columns of the
    part. `details` has the rates of the attack, of guessing (`baseline`) and on the holdout
    (`control`) with Wilson's intervals, the risk unclipped (`raw`) and from plain shares
    (`unshrunk`), and `weak_attack`: whether guessing does as well, in which case a low value says
    nothing. Guessing takes two random sets of k of the n synthetic rows; they have a row in common
    with the chance ``1 - C(n - k, k) / C(n, k)``.

    A table of few categories has many rows equally near: then most rows are linked, of train and of
    the holdout alike, and the interval is wide.

    The p-value is one-sided: if the synthetic table does not depend on which of the pooled real
    rows were train, all choices of them are equally likely. It is that of Fisher's exact test, or,
    over several halves, of 9,999 random choices.

    This is what one adversary achieves: a low value does not clear a release.

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

    tags = TAGS
    _legal = {
        "aux_cols": Parts(),
        "n_neighbors": Interval(int, 1, None),
        "n_attacks": N_ATTACKS,
        "n_splits": Interval(int, 1, None),
        "ties": Options(("all", "first")),
        "columns": Columns(),
        **LEGAL,
    }

    def __init__(
        self,
        aux_cols: Sequence[Sequence[str]] | None = None,
        *,
        n_neighbors: int = 1,
        n_attacks: int | None = 500,
        n_splits: int = 5,
        ties: str = "all",
        columns: int | list[str] | None = None,
        ci_method: str = "anonymeter",
        confidence_level: float = 0.95,
        random_state: int = 0,
    ) -> None:
        self.aux_cols = aux_cols
        self.n_neighbors = n_neighbors
        self.n_attacks = n_attacks
        self.n_splits = n_splits
        self.ties = ties
        self.columns = columns
        self.ci_method = ci_method
        self.confidence_level = confidence_level
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        if self.aux_cols is None:
            chosen = chosen_columns(context.schema, self.columns)
            check_enough_columns("LinkabilityRisk", chosen, 2)
            return
        for part in self.aux_cols:
            chosen_columns(context.schema, part)

    def _compute(self, context: Context) -> Result:
        if self.aux_cols is None:
            names = chosen_columns(context.schema, self.columns)
            splits = random_halves(names, self.n_splits, self.random_state)
        else:
            first, second = (chosen_columns(context.schema, part) for part in self.aux_cols)
            splits = [(first, second)]
        attack = linkability(
            context,
            splits,
            self.n_neighbors,
            self.ties,
            n_attacks=self.n_attacks,
            seed=self.random_state,
        )
        both = [name for name in splits[0][0] if name in splits[0][1]]
        said = (MetricWarning(_SHARED.format(columns=", ".join(both))),) if both else ()
        return risk_result(replace(attack, warnings=said), self)
