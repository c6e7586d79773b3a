"""Regressions without penalty, with intervals, also where rows do not determine all coefficients.

They are not those of statsmodels: its least squares gives every coefficient of columns that add up
a value, and its logistic regression has none for any coefficient where some labels are separated.

What a formula may say: formulaic evaluates its terms as Python, so that few words are let in.

Designs of regressions: columns or a formula, with the same features for every table.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm, t

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError, MissingDependencyError
from skeval.steps.problem import Problem, Question, Rows, problem_of, rows_of_role
from skeval.utils.parameters import Legal

_RANK = 1e-10  # singular values below this share of the largest are 0
_FREE = 1e-6  # a coefficient with more than this in a direction without rows is not determined
_EXACT = 1e-12  # residuals below this share of the target are rounding
_FLAT = 1e-12  # a likelihood that bends less than this has no maximum there
_SURE = 1e-8  # probabilities so near the label say nothing of the coefficients
_STEP = 1e-9
_MAX_STEPS = 100


@dataclass(frozen=True)
class Regression:
    """Coefficients of one regression, with their intervals."""

    estimates: np.ndarray
    errors: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_rows: int
    separated: bool = False

    @property
    def is_determined(self) -> np.ndarray:
        """Which coefficients have an interval."""
        return np.asarray(np.isfinite(self.high - self.low) & (self.high > self.low))

    def stated(self, i: int) -> dict[str, float]:
        """Return a coefficient with its error and interval, as details hold it."""
        ends = {"low": float(self.low[i]), "high": float(self.high[i])}
        return {"estimate": float(self.estimates[i]), "error": float(self.errors[i]), **ends}


def with_intervals(
    estimates: np.ndarray, errors: np.ndarray, quantile: float, n_rows: int, separated: bool = False
) -> Regression:
    """Return coefficients with their intervals, `quantile` standard errors to each side."""
    half = quantile * errors
    return Regression(estimates, errors, estimates - half, estimates + half, n_rows, separated)


def basis_of(design: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return an orthonormal basis of the columns of a design of at least one row and column."""
    # It is of shape (n_rows, rank). With it comes the matrix from coordinates in it to
    # coefficients, of shape (n_columns, rank), and which coefficients the rows do not
    # determine.
    scales = np.linalg.norm(design, axis=0)
    scales = np.where(scales > 0.0, scales, 1.0)
    rows, triangle = np.linalg.qr(design / scales)
    turned, sizes, right = np.linalg.svd(triangle, full_matrices=False)
    kept = sizes > _RANK * sizes[0] if sizes[0] > 0.0 else np.zeros(sizes.size, dtype=bool)
    right = right[kept]
    free = np.sqrt(np.maximum(0.0, 1.0 - (right**2).sum(axis=0)))
    back = (right / sizes[kept, None]).T / scales[:, None]
    return rows @ turned[:, kept], back, free > _FREE


def least_squares(design: np.ndarray, target: np.ndarray, confidence: float = 0.95) -> Regression:
    """Regress numbers by least squares, with intervals of Student's t."""
    n_rows, n_columns = design.shape
    if n_rows == 0 or n_columns == 0:
        nothing = np.full(n_columns, np.nan)
        return with_intervals(nothing, nothing, 1.0, n_rows)
    vectors, back, is_free = basis_of(design)
    places = vectors.T @ target
    residuals = target - vectors @ places
    freedom = n_rows - vectors.shape[1]
    unexplained = float(residuals @ residuals)
    if unexplained <= (_EXACT * float(np.linalg.norm(target))) ** 2:
        unexplained = 0.0
    variance = unexplained / freedom if freedom > 0 else np.nan
    estimates = np.where(is_free, np.nan, back @ places)
    errors = np.sqrt(variance * (back**2).sum(axis=1))
    quantile = float(t.ppf((1.0 + confidence) / 2.0, freedom)) if freedom > 0 else np.nan
    return with_intervals(estimates, np.where(is_free, np.nan, errors), quantile, n_rows)


def n_rows_behind(design: np.ndarray) -> np.ndarray:
    """Return how many rows each coefficient of least squares rests on."""
    if 0 in design.shape:
        return np.zeros(design.shape[1])
    vectors, back, _ = basis_of(design)
    squares = (vectors @ back.T) ** 2
    squares /= np.maximum(squares.max(axis=0), np.finfo(np.float64).tiny)
    total = (squares**2).sum(axis=0)
    return np.divide(squares.sum(axis=0) ** 2, total, out=np.zeros(total.size), where=total > 0.0)


def logistic(design: np.ndarray, target: np.ndarray, confidence: float = 0.95) -> Regression:
    """Regress labels by maximum likelihood, without penalty, with Wald's intervals."""
    # The likelihood grows for ever if a combination of columns puts some rows on the right
    # side for sure; some coefficients are then infinite. Their rows say nothing of the other
    # coefficients, which are estimated from the rows that are left; there may be none.
    #
    # Source: C. J. Geyer, "Likelihood inference in exponential families and directions of
    # recession", Electronic Journal of Statistics 3 (2009) 259-289, doi:10.1214/08-EJS349.
    n_rows, n_columns = design.shape
    left, rank = np.arange(n_rows), 0
    while left.size and n_columns:
        vectors, back, is_free = basis_of(design[left])
        rank = max(rank, vectors.shape[1])
        places, p, roots = _climb(vectors, target[left])
        if roots is not None:
            z = float(norm.ppf((1.0 + confidence) / 2.0))
            errors = np.sqrt(((back @ roots) ** 2).sum(axis=1))
            estimates = np.where(is_free, np.nan, back @ places)
            # rows far out may be separated too, and yet leave nothing undetermined
            separated = vectors.shape[1] < rank
            return with_intervals(
                estimates, np.where(is_free, np.nan, errors), z, n_rows, separated
            )
        sure = np.abs(target[left] - p) < _SURE
        if not sure.any():  # rounding, not separation, is in the way
            break
        left = left[~sure]
    nothing = np.full(n_columns, np.nan)
    return with_intervals(nothing, nothing, 1.0, n_rows, separated=left.size == 0 < n_rows)


def _climb(
    vectors: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Maximise the likelihood over coordinates; stop where it bends no more."""
    # Returns coordinates, probabilities, and a root of the coordinates' covariance: its
    # product with its transpose is the covariance. There is none where the likelihood has no
    # maximum.
    places = np.zeros(vectors.shape[1])
    signs = 2.0 * target - 1.0
    for _ in range(_MAX_STEPS):
        logits = vectors @ places
        p = expit(logits)
        weights = p * expit(-logits)
        bends, axes = np.linalg.eigh(vectors.T @ (vectors * weights[:, None]))
        if bends.size and bends[0] < _FLAT:
            break
        roots = axes / np.sqrt(bends)
        step = roots @ (roots.T @ (vectors.T @ (target - p)))
        if np.abs(vectors @ step).max(initial=0.0) <= _STEP:
            return places, p, roots
        places = places + _shortened(vectors, signs, places, step)
    return places, p, None


def _shortened(
    vectors: np.ndarray, signs: np.ndarray, places: np.ndarray, step: np.ndarray
) -> np.ndarray:
    """Halve a step until it does not lead down."""

    def likelihood(at: np.ndarray) -> float:
        return -float(np.logaddexp(0.0, -signs * (vectors @ at)).sum())

    least = likelihood(places)
    least -= 1e-10 * (1.0 + abs(least))
    while likelihood(places + step) < least:
        step = 0.5 * step
    return step


FUNCTIONS = (
    *("log", "log2", "log10", "exp", "exp2", "exp10", "I", "C", "Q"),
    *("center", "scale", "standardize", "poly", "bs", "cr", "cs", "cc", "lag"),
)
_MAX_LENGTH = 2_000  # characters of a formula
_MAX_POWERS = 3
_MAX_TERMS = 2_000
_MAX_COUNTED = 100  # degrees, knots to be placed, rows to lag
_COUNTING = ("poly", "bs", "cr", "cs", "cc", "lag")
_PLACES = ("knots", "lower_bound", "upper_bound")  # arguments that are numbers of the column
_OPERANDS = ("odd", "number", "name", "text")
# neither dots, brackets nor braces: they lead from a column to everything that Python can do
_TOKEN = re.compile(
    r"(?P<odd>`[^`'\"\\\n{}]+`)|(?P<number>(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?![\w.]))"
    r"|(?P<call>[^\W\d]\w*)\s*\(|(?P<name>[^\W\d]\w*)"
    # formulaic looks for brackets and quotes within texts, too, and % begins a text of its own
    r"|(?P<text>'[^'\"`\\\n%(){}\[\]]*'|\"[^'\"`\\\n%(){}\[\]]*\")"
    r"|(?P<sign>[-+/~|(),=]|:(?!\s*=)|\*(?!\*))"
    # a power of powers takes longer than anybody waits
    r"|(?P<power>(?:\*\*|\^)\s*[0-9](?:\.[0-9]{1,15})?(?![\w.])(?!\s*(?:\*\*|\^)))|\s+"
)


def is_formula(text: object) -> bool:
    """Return whether a formula has only names, numbers, signs and the functions above."""
    if not isinstance(text, str) or len(text) > _MAX_LENGTH:
        return False
    at = n_powers = 0
    tokens = list[re.Match[str]]()
    was_operand = False
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (token["call"] is not None and token["call"] not in FUNCTIONS):
            return False
        if keyword.iskeyword(token["name"] or "") and token["name"] not in ("True", "False"):
            return False  # lambda, for
        is_operand = token.lastgroup in _OPERANDS
        # two in a row are a call, as of (eval)('x'), or a text that Python runs, as f'{x}'
        if was_operand and (is_operand or token.lastgroup == "call" or token["sign"] == "("):
            return False
        if token.lastgroup is not None:  # no space
            was_operand = is_operand or token.lastgroup == "power" or token["sign"] == ")"
        n_powers += token["power"] is not None
        tokens += [token] if token.lastgroup is not None else []
        at = token.end()
    return n_powers <= _MAX_POWERS and _is_small(tokens)


def _is_small(tokens: Sequence[re.Match[str]]) -> bool:
    """Return whether a formula makes few terms, of functions that count to small numbers."""
    sides, depth = [""], 0
    for token in tokens:
        sign = token["sign"] or ""
        depth += (sign == "(" or token["call"] is not None) - (sign == ")")
        if sign in ("~", "|") and not depth:
            sides.append("")
        else:
            sides[-1] += _PLAIN.get(sign) or _PLAIN.get(token.lastgroup or "") or token[0]
    try:
        trees = [ast.parse(side.strip(), mode="eval").body for side in sides if side.strip()]
        calls = [one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.Call)]
        few = all(_n_terms(tree) <= _MAX_TERMS for tree in trees)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return few and not any(map(_counts_far, calls))


_PLAIN = {":": "@", "odd": " v ", "text": " '' "}  # as Python reads them


def _n_terms(node: ast.AST) -> float:
    """Return how many terms a formula has at most, or infinity beyond the largest number."""
    if isinstance(node, ast.UnaryOp):
        return _n_terms(node.operand)
    if not isinstance(node, ast.BinOp):
        return 1.0
    left, right = _n_terms(node.left), _n_terms(node.right)
    if isinstance(node.op, ast.Pow | ast.BitXor):
        power = node.right.value if isinstance(node.right, ast.Constant) else math.inf
        return min(left, _MAX_TERMS + 1.0) ** float(power)  # type: ignore[arg-type]
    both = left * right
    if isinstance(node.op, ast.MatMult):
        return both
    return left + right + (both if isinstance(node.op, ast.Mult | ast.Div) else 0.0)


def _counts_far(call: ast.Call) -> bool:
    """Return whether a function is given large numbers, or sums, of how much it is to make."""
    if not isinstance(call.func, ast.Name) or call.func.id not in _COUNTING:
        return False
    given = [*call.args[1:], *(one.value for one in call.keywords if one.arg not in _PLACES)]
    return any(
        isinstance(part, ast.BinOp | ast.Call)
        or (isinstance(part, ast.Constant) and _is_large(part.value))
        for one in given
        for part in ast.walk(one)
    )


def _is_large(value: object) -> bool:
    return isinstance(value, int | float) and value > _MAX_COUNTED


FormulaText = Annotated[
    str,
    Legal(
        "a formula such as 'income ~ log(age) + city * plan', of names of columns (`odd names` in "
        f"backticks), numbers, + - * / : ^ ~ and {', '.join(FUNCTIONS)}, of at most "
        f"{_MAX_TERMS:,} terms, with at most {_MAX_COUNTED} knots or powers each",
        is_formula,
        -1,
    ),
]


MIN_LEVEL_ROWS = 10  # rows of train that a level with a coefficient of its own has
_MAX_LEVELS = 30
_MAX_COLUMNS = 300
_POOLED = "other levels"
_A_DAY = 86_400.0
_OF_A_FUNCTION = re.compile(r"\[(?!NameError)(\w+): .*\]")  # but which name is not defined is told
_NAMES = re.compile(r"`([^`]+)`|([^\W\d]\w*)")


@dataclass(frozen=True)
class Levels:
    """How a category is coded: its cells in order, the reference first, the pooled one last."""

    names: tuple[str, ...]
    cell_of: dict[int, int]
    pooled: int

    @classmethod
    def of(cls, codes: np.ndarray, labels: tuple[str, ...], most: int = _MAX_LEVELS) -> Levels:
        """Learn the cells of train's codes: the most frequent first, then by name."""
        counts = np.bincount(codes.astype(np.int64), minlength=len(labels))
        by_count = sorted(np.flatnonzero(counts), key=lambda code: (-counts[code], labels[code]))
        kept = [int(code) for code in by_count[:most] if counts[code] >= MIN_LEVEL_ROWS]
        kept = kept[:1] + sorted(kept[1:], key=lambda code: labels[code])
        is_pooled = bool(counts.sum() - counts[kept].sum() >= MIN_LEVEL_ROWS)
        names = tuple(labels[code] for code in kept) + (_POOLED,) * is_pooled
        cells = {code: cell for cell, code in enumerate(kept)}
        return cls(names, cells, len(kept) if is_pooled else -1)

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Return the cell of each code; nan for missing ones and those without a cell."""
        cells = np.full(codes.size, float(self.pooled))
        for code, cell in self.cell_of.items():
            cells[codes == code] = cell
        return np.where(np.isnan(codes) | (cells < 0), np.nan, cells)


@dataclass(frozen=True)
class Design:
    """The columns of a regression."""

    problem: Problem
    used: tuple[int, ...]
    dates: frozenset[str]
    levels: dict[int, Levels] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    spec: Any = None
    columns: tuple[str, ...] = ()
    reason: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coefficients."""
        if self.spec is not None:
            return self.columns
        names = ["Intercept"]
        for j in self.used:
            feature, levels = self.problem.features[j], self.levels.get(j)
            cells = [""] if levels is None else [f"[T.{level}]" for level in levels.names[1:]]
            names += [f"{feature}{cell}" for cell in cells]
        return tuple(names)

    @property
    def references(self) -> dict[str, str]:
        """The level of each category that the coefficients of the others refer to."""
        return {self.problem.features[j]: levels.names[0] for j, levels in self.levels.items()}

    def coded(self, rows: Rows) -> np.ndarray:
        """Return numbers, dates in days and cells of the features used; nan where there is none."""
        columns = np.empty((len(rows), len(self.used)))
        for place, j in enumerate(self.used):
            values = rows.features[:, j]
            if j in self.levels:
                values = self.levels[j].cells(values)
            elif self.problem.features[j] in self.dates:
                values = values / _A_DAY
            columns[:, place] = np.where(np.isfinite(values), values, np.nan)
        return columns

    def complete(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return coded features and target of complete rows: 1 for the positive label, else 0."""
        if self.problem.has_labels:
            target = (rows.target == self.problem.positive) * 1.0
        else:
            target = rows.target / (_A_DAY if self.problem.target in self.dates else 1.0)
        coded = self.coded(rows)
        known = ~np.isnan(coded).any(axis=1)
        return coded[known], target[known]

    def matrices(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return design and target of complete rows; of a formula, where they are finite."""
        coded, target = self.complete(rows)
        if self.spec is None:
            return self._dummies(coded), target
        if target.size == 0:
            return np.empty((0, len(self.columns))), target
        frame = self.frame(coded, target)
        evaluated = _evaluated(self.spec, "", frame)
        design = getattr(evaluated, "rhs", evaluated).to_numpy(dtype=np.float64)
        left = getattr(evaluated, "lhs", frame.iloc[:, [0]])  # what the left side makes of it
        target = left.to_numpy(dtype=np.float64)[:, 0]
        finite = np.isfinite(design).all(axis=1) & np.isfinite(target)
        return design[finite], target[finite]

    def _dummies(self, coded: np.ndarray) -> np.ndarray:
        """Return ones, the numbers, and a column for each level but the reference."""
        parts = [np.ones((len(coded), 1))]
        for place, j in enumerate(self.used):
            values = coded[:, [place]]
            if j in self.levels:
                values = (values == np.arange(1, len(self.levels[j].names))) * 1.0
            parts.append(values)
        return np.hstack(parts)

    def frame(self, coded: np.ndarray, target: np.ndarray) -> pd.DataFrame:
        """Return coded rows as a table that a formula names the columns of, the target first."""
        columns: dict[str, Any] = {self.problem.target: target}
        for place, j in enumerate(self.used):
            values: Any = coded[:, place]
            if j in self.levels:
                codes, names = values.astype(np.int64), list(self.levels[j].names)
                values = pd.Categorical.from_codes(codes, names)
            columns[self.problem.features[j]] = values
        return pd.DataFrame(columns)


@shared
def design_of(context: Context, question: Question, formula: str | None = None) -> Design:
    """Return the design that train gives: a column for each feature, or those of a formula."""
    # A feature that does not vary in train has no coefficient, nor one with less than two
    # levels of enough rows. Rows count that have a value of every feature used.
    problem, train = problem_of(context, question), rows_of_role(context, "train", question)
    dates = frozenset(context.schema.columns("datetime"))
    left_out: dict[str, str] = {}
    while True:
        used = tuple(j for j, name in enumerate(problem.features) if name not in left_out)
        design = Design(problem, used, dates, left_out=left_out)
        design, unfit = _with_levels(design, train)
        if not unfit:
            break
        left_out = {**left_out, **unfit}
    if formula is None or design.reason:
        lacking = "" if used else f"no column is left to regress {problem.target} on."
        return replace(design, reason=design.reason or lacking)
    if left_out:
        said = "; ".join(f"{name} ({why})" for name, why in left_out.items())
        return replace(design, reason=f"the formula names what train cannot give: {said}.")
    return _with_formula(design, formula, train)


def _with_levels(design: Design, train: Rows) -> tuple[Design, dict[str, str]]:
    """Learn the levels from complete rows; return the features that are unfit, and why.

    Rows of a level without a cell are not complete, so that levels may have to be learned again.
    """
    features, used = design.problem.features, list(design.used)
    known = ~np.isnan(train.features[:, used])
    if (empty := ~known.any(axis=0)).any():
        return design, {features[j]: "no value" for j in np.array(used)[empty]}
    complete = known.all(axis=1)
    if not complete.any():
        return replace(design, reason="no row of train has a value of every feature."), {}
    codes = [j for j in used if design.problem.nominal[j]]
    most = max(2, min(_MAX_LEVELS, _MAX_COLUMNS // max(1, len(codes))))
    while True:
        rows = train.features[complete]
        levels = {j: Levels.of(rows[:, j], train.levels[j], most) for j in codes}
        design = replace(design, levels=levels)
        unfit = {features[j]: why for j in used if (why := _unfit(rows[:, j], levels.get(j)))}
        still = complete & ~np.isnan(design.coded(train)).any(axis=1)
        if unfit or (still == complete).all():
            return design, unfit
        complete = still


def _unfit(values: np.ndarray, levels: Levels | None) -> str:
    """Return why a feature has no coefficient; empty if it has."""
    if levels is not None:
        return "" if len(levels.names) > 1 else f"not two levels of {MIN_LEVEL_ROWS} rows"
    return "" if values.size and (values != values[0]).any() else "one value only"


def columns_in(formula: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a formula mentions."""
    # formulaic's own list of variables lacks the arguments of poly and bs
    names = {quoted or plain for quoted, plain in _NAMES.findall(formula)}
    return tuple(name for name in columns if name in names)


def check_formula(formula: str, target: str, has_labels: bool) -> None:
    """Refuse a formula that cannot be read, or whose left side is of another target."""
    terms = _read(formula)
    right, left = getattr(terms, "rhs", terms), [str(term) for term in getattr(terms, "lhs", [])]
    if len(left) > 1 or not all(hasattr(term, "factors") for term in right):
        raise InvalidParameterError(f"formula must have one target and one right side: {formula!r}")
    if left and (left != [target] if has_labels else target not in columns_in(left[0], [target])):
        raise InvalidParameterError(
            f"the left side of the formula must be the target {target}, got {left[0]!r}."
        )
    if target in {name for term in right for name in columns_in(str(term), [target])}:
        raise InvalidParameterError(f"the target {target} stands on the right of {formula!r}.")


def _read(formula: str) -> Any:
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise MissingDependencyError(
            "formula is read by the package formulaic, which is not installed. "
            'Install it: pip install "skeval[formula]"'
        ) from error
    try:
        return Formula(formula)
    except FormulaicError as error:
        raise InvalidParameterError(
            f"formula {formula!r} cannot be read: {_first(error)}"
        ) from error


def _with_formula(design: Design, formula: str, train: Rows) -> Design:
    """Return the design with the columns of a formula: levels, centres and knots are of train."""
    frame = design.frame(*design.complete(train))
    evaluated = _evaluated(_read(formula), formula, frame)
    spec = evaluated.model_spec
    _check_levels(getattr(spec, "rhs", spec), frame)
    columns = getattr(evaluated, "rhs", evaluated).columns
    return replace(design, spec=spec, columns=tuple(map(str, columns)))


def _check_levels(spec: Any, train: pd.DataFrame) -> None:
    """Refuse levels made of numbers, which would name rare values of train."""
    known = {True, False}
    for column in train.select_dtypes("category"):
        known |= set(train[column].cat.categories)
    for factor, (_, state) in spec.encoder_state.items():
        if not set(state.get("categories", ())) <= known:
            raise InvalidParameterError(
                f"{factor} in the formula makes levels of its own. Make a column of categories in "
                "the tables: levels with few rows are then pooled."
            )


def _evaluated(formula: Any, text: str, frame: pd.DataFrame) -> Any:
    """Return the matrices of a formula; it sees the columns and formulaic's functions alone."""
    from formulaic.errors import FormulaicError

    try:
        with np.errstate(all="ignore"):  # rows with the logarithm of 0 are left out
            return formula.get_model_matrix(frame, context={}, na_action="ignore", output="pandas")
    except FormulaicError as error:
        raise InvalidParameterError(
            f"formula {text!r} cannot be evaluated: {_first(error)}"
        ) from error


def _first(error: Exception) -> str:
    """Return the first line of an error; the others are drawings of the formula.

    The message of a function may quote a value that the function was given, and is left out.
    """
    return _OF_A_FUNCTION.sub(r"[\1]", str(error).split("\n", 1)[0])
