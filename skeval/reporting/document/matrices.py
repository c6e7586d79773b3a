"""The matrices of the appendix, with similarities and with further associations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from skeval.reporting.document.blocks import Picture, PictureRow, PictureRows
from skeval.reporting.document.details import matrix_at, texts_at
from skeval.reporting.document.drawings.heat_map import STRENGTH, HeatMap
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.pairs import ASSOCIATIONS, read_associations
from skeval.reporting.document.pairs_page import MAX_LABELS, MAX_NAME, draw_associations
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.shortening import shorten_name
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

Matrix = np.ndarray


def similarity_matrices(results: SuiteResult, table: str) -> Iterator[PictureRows]:
    """Yield each matrix of similarities once, with its ceiling if it has one."""
    titles, drawn = metric_titles(results), list[Matrix]()
    for key, result in results.items():
        names, matrix = texts_at(result.details, "names"), _read(result, "matrix")
        if matrix is None or result.error or any(_is_same(matrix, one) for one in drawn):
            continue
        title = titles[key] if drawn else "Similarity matrix"
        drawn.append(matrix)
        labels = tuple(shorten_name(one, MAX_NAME) for one in names)
        yield PictureRows(
            "similarity",
            f"{table}: {title}" if table else title,
            say.similarity_note(_worst_pair(matrix, names), float(np.nanmin(matrix))),
            (PictureRow((), (), tuple(_pictures(matrix, _read(result, "ceiling")))),),
            labels if len(labels) <= MAX_LABELS else (),
        )


def association_matrices(results: SuiteResult) -> Iterator[PictureRows]:
    """Yield the associations of metrics other than the one of the page on pairs."""
    titles = metric_titles(results)
    for key, result in results.items():
        if result.metric != ASSOCIATIONS and (known := read_associations(result)) is not None:
            yield draw_associations(known, titles[key])


def _read(result: Result, key: str) -> Matrix | None:
    matrix = matrix_at(result.details, key)
    return matrix if matrix is not None and np.isfinite(matrix).any() else None


def _is_same(first: Matrix, second: Matrix) -> bool:
    return first.shape == second.shape and bool(np.allclose(first, second, equal_nan=True))


def _pictures(matrix: Matrix, ceiling: Matrix | None) -> Iterator[Picture]:
    top = 1.0 - float(np.nanmin(matrix)) or 1.0
    yield Picture("Similarity", _draw(1.0 - matrix, top), "Similarities of all columns and pairs.")
    if ceiling is not None:
        yield Picture("Ceiling", _draw(1.0 - ceiling, top), "Expected similarities of two samples.")
        svg = _draw(matrix - ceiling, top, is_difference=True)
        yield Picture("Difference", svg, "Similarities minus expected ones.")


def _draw(matrix: Matrix, top: float, *, is_difference: bool = False) -> str:
    rows = tuple(tuple(row) for row in matrix.tolist())
    return HeatMap(rows, top, STRENGTH, is_difference).to_svg()


def _worst_pair(matrix: Matrix, names: Sequence[str]) -> tuple[str, ...]:
    pairs = matrix.copy()
    np.fill_diagonal(pairs, np.nan)
    if not np.isfinite(pairs).any():
        return ()
    i, j = np.unravel_index(int(np.nanargmin(pairs)), pairs.shape)
    return names[int(i)], names[int(j)]
