"""One page on a tournament: whom to take, the ranks, the front, what each generator costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.curves import ParetoDisplay
from skeval.reporting.displays.ranks import CostsDisplay, RanksDisplay
from skeval.reporting.layout import Grid, Item, Layout, Number, Part, Words
from skeval.reporting.sections import Plan, Section
from skeval.utils.formatting import counted, number, shown_interval

if TYPE_CHECKING:
    from skeval.model_selection.standings import Tournament

_HOW = (
    "Generators learn from the training rows of each fold and are evaluated against the rows that "
    "are held out, with seeds of their own. Differences are tested by the corrected resampled "
    "t-test over folds, all pairs together at {level:.0%}; intervals are at 95%. Two that cannot "
    "be distinguished need not be equal: more folds and draws tell more. The score of privacy is "
    "from 0 to 1, as fresh real rows; it never clears a release."
)
_TALL = 36.0  # mm of a drawing of a few generators: the page is one sheet
_ROW = 3.6  # mm of a name on a drawing of ranks
_FEW = 6  # generators that drawings of that height have room for


def _tall(display: Display, wide: float) -> float:
    """Return how high a drawing is, in mm: names of many generators need room."""
    if isinstance(display, RanksDisplay):
        return _TALL + _ROW * max(0, len(display.ranks) - _FEW)
    many = isinstance(display, ParetoDisplay) and len(display.scores) > _FEW
    return 2.0 * _TALL if many else _TALL


_ROOM = Layout(tall=_tall)


def tournament_plan(of: Tournament) -> Plan:
    """Return what the page shows.

    Parameters
    ----------
    of : Tournament
        As :func:`skeval.model_selection.tournament` gives it.

    Returns
    -------
    Plan
        One section, for paper and page.
    """
    parts: tuple[Part, ...] = (
        Words(of.sentence, "lead"),
        _grid(of),
        Words(_HOW.format(level=of.level), "quiet"),
    )
    section = Section(
        "choice",
        "Which generator to take",
        layout=_ROOM,
        front=True,
        items=tuple(_items(of)),
        parts=parts,
    )
    about = of.about
    folds, draws = counted(about["n_folds"], "fold"), counted(about["n_draws"], "draw")
    columns = counted(about["n_columns"], "column")
    sizes = f"{about['n_rows']:,} rows of {columns}, {folds}, {draws} of each fit"
    return Plan((section,), sizes)


def _grid(of: Tournament) -> Grid:
    """Return the table of ranks."""
    ranks, broken, rows, alarms = of.ranks(), of.choice.broken, [], []
    fits = of.to_frame().groupby("generator")[["fit_seconds", "sample_seconds", "peak_mib"]].mean()
    for i, (name, row) in enumerate(ranks.iterrows()):
        span = "" if math.isnan(row["rank"]) else f"\n{row['low']:.0f} to {row['high']:.0f}"
        known = not math.isnan(row["score_low"])
        ends = f"\n{shown_interval((row['score_low'], row['score_high']))}" if known else ""
        fails = "; ".join(rule.rule for rule in broken.get(str(name), ()))
        outcome = row["failures"].partition(":")[0] or (f"breaks: {fails}" if fails else "meets it")
        seconds = float(fits.loc[name, ["fit_seconds", "sample_seconds"]].sum(skipna=False))
        rows.append(
            (
                str(name),
                Number(f"{number(row['rank'])}{span}", float(row["rank"])),
                Number(f"{number(row['score'])}{ends}", float(row["score"])),
                "",
                of.ties_in_words(str(name)),
                outcome,
                Number(number(seconds), seconds),
            )
        )
        if str(name) in broken:
            alarms.append((i, 5))
    heads = ("Generator", "Rank", of.by, "", "Tied with", "Constraint", "Seconds")
    widths = (0.17, 0.1, 0.17, 0.02, 0.2, 0.24, 0.1)
    return Grid(heads, tuple(rows), widths, numbers=(1, 2, 6), alarms=tuple(alarms))


def _items(of: Tournament) -> Iterator[Item]:
    if of.axes is not None:
        frame = of.front()
        low, high = of.ends(frame)
        x, y = of.axes
        pareto = ParetoDisplay(frame[[x, y]], x, y, low=low, high=high, named="all")
        yield Item(
            pareto,
            "The front",
            "Means over folds with their intervals. Grey ones are beaten in both by another.",
        )
    yield Item(
        RanksDisplay(of.ranks()),
        "Ranks",
        "Points are ranks by the mean over folds, bars the ranks that folds and draws leave open.",
    )
    if len(of.costs):
        yield Item(
            CostsDisplay(of.costs), "What it costs", "Fit and sample, one generator at a time."
        )
