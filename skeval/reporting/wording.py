"""What a report says around its figures."""

from __future__ import annotations

__all__ = ["HOW_TO_READ", "INTROS", "TITLES"]

TITLES = {
    "scores": "Scores",
    "similarity": "Similarity matrix",
    "columns": "Columns one by one",
    "distances": "Distances to the nearest row",
    "proximity": "Proximity of train rows",
    "accumulation": "Accumulation of nearest distances",
    "membership": "Guessing who was in train",
    "phik": "Associations of columns",
    "univariate": "Univariate distributions",
    "bivariate": "Bivariate distributions",
}


def _line(text: str) -> str:
    return " ".join(text.split())


HOW_TO_READ = _line("""
    How to read: the baseline is what fresh real rows, the holdout, would score in the synthetic
    rows' place; a value is good if it is about as good as its baseline, and no number says much
    without it. The interval says where the value of the population lies, at 95%. On its scale,
    the dot is the value, the band the interval and the green line the baseline. Of utility, the
    baseline is what real rows teach. Screens, attacks and audits can raise an alarm and never clear
    a release: that no leak was found by these tests does not show that there is none.
""")

INTROS = {
    key: _line(text)
    for key, text in {
        "similarity": """
            Each column is cut into cells. A cell of the matrix is the share of rows that would
            not have to move for the synthetic table to fill the cells as train does: of a column
            on the diagonal, of a pair of columns beside it. Light is good; the worst pair is
            framed. Even fresh real rows do not reach 1.
        """,
        "columns": """
            One bar per column, the worst first: 1 means the same distribution as in train. The
            green marker is where fresh real rows score.
        """,
        "distances": """
            How far rows are from the nearest other row, by default as the mean over columns of
            their differences. Synthetic rows closer to each other than train rows are show a
            generator that repeats itself; synthetic rows closer to train than holdout rows are,
            one that repeats train. The last bar holds all greater distances.
        """,
        "proximity": """
            For each train row, the distance to the nearest synthetic row over that to the nearest
            other train row (TSPR), and the same for real rows (TTPR). The dark tail is at or
            under the threshold that a given share of TTPR does not exceed. A TSPR tail heavier
            than the TTPR tail is a sign of rows copied from train. The last bar holds all greater
            ratios.
        """,
        "accumulation": """
            The share of rows, of train and of the synthetic table, whose nearest row of the other
            lies within a distance, as that distance grows. The area left of the threshold is of
            pairs that are very near: it should not exceed that of the holdout in the synthetic
            rows' place. The area to the right is of rows that find any row near them.
        """,
        "membership": """
            An attacker who has the release and a person's row guesses whether that row was in
            train. For each share of holdout rows that are taken for train rows by mistake, the
            share of train rows that are found; both on logarithmic scales, since a few persons
            found with no mistake are worse than all found no better than by chance, the grey line.
        """,
        "phik": """
            The phi_k coefficient of each pair of columns, for numbers, dates and categories
            alike: 0 for no association, 1 for a complete one. Orange pairs are less associated in
            the synthetic table than in train, purple ones more. Grey: not defined, as a column
            has one value only.
        """,
        "univariate": """
            The shares of the values of each column. Axes end at quantiles rather than at extreme
            values, the outer bars hold what lies beyond, rare categories are pooled, and bars of
            fewer than ten real rows are blank, so that no bar stands for a few persons.
        """,
        "bivariate": """
            The joint shares of pairs of columns in train (left) and synthetic (right), on the
            same colours; darker is more, in steps of the square root so that small cells show.
            Cells of fewer than ten rows are blank in both.
        """,
    }.items()
}
