"""What a report shows, in which order: one table of sections for paper, page and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skeval.reporting.appendix import INTRO as OF_WHAT
from skeval.reporting.appendix import TITLE as PROVENANCE
from skeval.reporting.appendix import definitions, provenance_parts, sign_off, three_risks
from skeval.reporting.column_pages import column_pages
from skeval.reporting.decision import DecisionPage
from skeval.reporting.filling import (
    Filled,
    aspect_of,
    attacked,
    bars,
    bivariate,
    cardinalities,
    cautions,
    checked,
    chosen,
    curves,
    disclosed,
    display_name,
    each_display,
    mended,
    needs_of,
    nothing,
    rows_against_real,
    sizes_of,
    texts,
    univariate,
    worst_pairs,
)
from skeval.reporting.layout import (
    BESIDE,
    BIVARIATE,
    CURVES,
    FLOWING,
    HALVED,
    STACKED,
    STACKED_HALF,
    UNIVARIATE,
    WIDE,
    Folded,
    Item,
    Layout,
    Part,
    Scores,
)
from skeval.reporting.old_displays.base import DISPLAYS
from skeval.reporting.scores import HOW_TO_READ
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.summary import summary

_ANY, _OWN = "any display", "any display of one table"


@dataclass(frozen=True)
class Section:
    """A section of reports: which results it shows, in which words, and how they are laid out."""

    name: str
    title: str
    intro: str = ""
    display: str = ""
    needs: str = ""
    aspect: str = ""
    evidence: str = ""
    write: Callable[[SuiteResult], tuple[Part, ...]] | None = None
    fill: Callable[[Mapping[str, Result], Any], Filled] = each_display
    fold: Callable[[Mapping[str, Result], Any], tuple[Folded, ...]] | None = None
    layout: Layout = STACKED
    on_request: bool = False
    front: bool = False
    table: str = ""
    items: tuple[Item, ...] = ()
    parts: tuple[Part, ...] = ()
    folded: tuple[Folded, ...] = ()

    @property
    def key(self) -> str:
        """Its name, with that of the table where there are several; unique in a report."""
        return f"{self.table}/{self.name}" if self.table else self.name

    @property
    def heading(self) -> str:
        """Its title, with the name of the table where there are several."""
        return f"{self.table}: {self.title}" if self.table else self.title

    def results(self, suite_result: SuiteResult) -> dict[str, Result]:
        """Return the results that belong here, whether they can be drawn or not."""
        if self.display in (_ANY, _OWN):
            return dict(suite_result)
        if self.needs:
            return {name: r for name, r in suite_result.items() if self.needs in needs_of(r)}
        taken = {section.needs for section in SECTIONS if section.needs}
        free = {n: r for n, r in suite_result.items() if taken.isdisjoint(needs_of(r))}
        if self.aspect:
            return {n: r for n, r in free.items() if aspect_of(r) == self.aspect}
        if self.evidence:
            return {n: r for n, r in free.items() if r.row()["evidence"] == self.evidence}
        aspects = {section.aspect for section in SECTIONS if section.aspect}
        named = {
            name: (display_name(result), result)
            for name, result in free.items()
            if aspect_of(result) not in aspects
        }
        if self.display:
            own = self.display.split()
            return {name: r for name, (display, r) in named.items() if display in own}
        others = {"ValueDisplay", *(one for s in SECTIONS for one in s.display.split())}
        return {name: r for name, (display, r) in named.items() if display not in others}

    def filled(self, suite_result: SuiteResult, columns: Any = None) -> Section:
        """Return the section with the figures of a suite's results."""
        own = self.results(suite_result)
        items, note = self.fill(own, columns)
        parts: tuple[Part, ...] = ()
        if self.write and own:
            about = suite_result.sizes, suite_result.notices, suite_result.provenance
            whole = SuiteResult(own, sizes=about[0], notices=about[1], provenance=about[2])
            parts = self.write(whole)
        intro = " ".join(f"{self.intro} {note}".split())
        folded = self.fold(own, columns) if self.fold else ()
        return replace(self, items=items, parts=parts, intro=intro, folded=folded)

    def why_empty(self, suite_result: SuiteResult) -> str:
        """Say why there is no figure."""
        for name, result in self.results(suite_result).items():
            if why := result.error or " ".join(str(warning) for warning in result.warnings):
                return f"{name}: {why}"
            if display_name(result) not in DISPLAYS:
                return f"{name}: no display {display_name(result)} is registered here"
            return f"{name} kept nothing of it to draw"
        return "not measured by this suite"


SECTIONS = (
    Section(
        "decision",
        "Decision page",
        display=_ANY,
        write=lambda results: DecisionPage.of(results).parts(),
        fill=nothing,
        front=True,
    ),
    Section(
        "scores",
        "Scores",
        HOW_TO_READ,
        display=_ANY,
        write=lambda results: (Scores(results),),
        fill=nothing,
    ),
    Section(
        "worst",
        "Columns to mend",
        """What is wrong with columns over all metrics, the worst first: scores short of those of
        fresh real rows, or closer to train than they are, pairs and associations that are lost,
        attacks that succeed by them. The order is no test.""",
        display=_OWN,
        fill=mended,
        layout=BESIDE,
        on_request=True,
    ),
    Section(
        "schema",
        "Tables and keys",
        """Boxes are tables, with their numbers of rows in train, holdout and synthetic; arrows lead
        from a foreign key to the table that it names. A thick border: the subjects, whose rows are
        to be protected, with all that depends on them. Dashed: public tables.""",
        display="SchemaDisplay",
        layout=WIDE,
        on_request=True,
    ),
    Section(
        "validity",
        "Structure and validity",
        """Whether columns, types, ranges, categories and missing values are those of train. 1 is
        the best value of all; fresh real rows need not reach it, as few rows do not span every
        range or hold every category.""",
        aspect="diagnostic",
        write=checked,
        fill=nothing,
        on_request=True,
    ),
    Section(
        "similarity",
        "Similarity matrix",
        """Each column is cut into cells. A cell of the matrix is the share of rows that would not
        have to move for the synthetic table to fill the cells as train does: of a column on the
        diagonal, of a pair of columns beside it. Light is good; the worst pair is framed. Even
        fresh real rows do not reach 1.""",
        display="SimilarityMatrixDisplay",
        write=worst_pairs,
        layout=HALVED,
    ),
    Section(
        "columns",
        "Columns one by one",
        """One bar per column, the worst first: 1 means the same distribution as in train. The green
        marker is where fresh real rows score.""",
        display="ColumnScoresDisplay",
        fill=bars,
        layout=HALVED,
    ),
    Section(
        "precision_recall",
        "Precision and recall",
        """How much of the synthetic table could be real rows (precision), and how much of the real
        ones it could have made (recall), as one is traded for the other. A curve that ends early on
        the right has lost kinds of rows, one that is low on the left has made some up.""",
        display="PRDDisplay",
        layout=HALVED,
        on_request=True,
    ),
    Section(
        "phik",
        "Associations of columns",
        """The phi_k coefficient of each pair of columns, for numbers, dates and categories alike: 0
        for no association, 1 for a complete one. Orange pairs are less associated in the synthetic
        table than in train, purple ones more. Grey: not defined, a column has one value.""",
        display="PhikMatricesDisplay",
        write=worst_pairs,
        layout=FLOWING,
    ),
    Section(
        "utility",
        "What models learn",
        """Models that learn from the synthetic table, beside the same models learning from train:
        both are tested on holdout rows, which neither has seen.""",
        aspect="utility",
        write=rows_against_real,
        fill=curves,
        layout=CURVES,
        on_request=True,
    ),
    Section(
        "proximity",
        "Proximity of train rows",
        """For each train row, the distance to the nearest synthetic row over that to the nearest
        other train row (TSPR), and the same for real rows (TTPR). The dark tail is at or under the
        threshold that a given share of TTPR does not exceed. A TSPR tail heavier than the TTPR tail
        is a sign of rows copied from train. The last bar holds all greater ratios.""",
        display="ProximityDisplay",
        layout=STACKED_HALF,
        on_request=True,
    ),
    Section(
        "distances",
        "Distances to the nearest row",
        """How far the nearest other row is. Synthetic rows that are closer to each other than train
        rows show a generator that repeats itself; those that are closer to train than holdout rows
        are, one that repeats train. The last bar holds all greater distances.""",
        display="DistancesDisplay",
        layout=STACKED_HALF,
    ),
    Section(
        "accumulation",
        "Accumulation of nearest distances",
        """The share of rows, of train and of the synthetic table, whose nearest row of the other
        lies within a distance, as that distance grows. The area left of the threshold is of pairs
        that are very near: it should not exceed that of the holdout in the synthetic rows' place.
        The area to the right is of rows that find any row near them.""",
        display="MDADisplay",
        on_request=True,
    ),
    Section(
        "membership",
        "Guessing who was in train",
        """An attacker who has the release and a person's row guesses whether that row was in train.
        For each share of holdout rows that are taken for train rows by mistake, the share of train
        rows that are found; both on logarithmic scales, since a few persons found with no mistake
        are worse than all found no better than by chance, the grey line.""",
        display="ROCDisplay",
        layout=HALVED,
        on_request=True,
    ),
    Section(
        "audit",
        "Audit of differential privacy",
        """The least epsilon that guesses on who was in train allow, at 95%. 0 is no bound: with so
        few guesses no audit could have shown more than its most.""",
        display="AuditDisplay",
        layout=HALVED,
        on_request=True,
    ),
    Section(
        "attacks",
        "Attacks on persons",
        """What attackers who hold the release achieve on rows of train, on holdout rows, which the
        generator never saw, and by guessing; the bands are 95% intervals. Success on train beyond
        that on the holdout is what the release gives away of persons; names of attacks whose excess
        is significant, after correction for the number of them, are red.""",
        display="AttacksDisplay AttackDisplay",
        fill=attacked,
        layout=HALVED,
        on_request=True,
    ),
    Section(
        "disclosure",
        "Disclosure by known attributes",
        """How rows stand out by attributes that others may know: the k-anonymity family. These
        describe the release.""",
        evidence="disclosure",
        write=disclosed,
        fill=nothing,
        on_request=True,
    ),
    Section(
        "cardinality",
        "Children of a parent",
        """The shares of parents by their number of child rows, a figure for each foreign key, the
        worst first. Numbers that fewer than ten parents have are pooled; a key of a single bar is
        not drawn.""",
        display="CardinalityDisplay",
        fill=cardinalities,
        on_request=True,
    ),
    Section(
        "lines",
        "Along the sequences",
        """Mean of each column at each row of its sequences, and the band between its quartiles.
        Points rest on ten sequences or more.""",
        display="LinesDisplay",
        on_request=True,
    ),
    Section(
        "transitions",
        "What follows on what",
        """Given the value at the left, the shares of the values that come next in the sequence, of
        the column that agrees least. Grey: fewer than ten sequences.""",
        display="TransitionsDisplay",
        on_request=True,
    ),
    Section(
        "texts",
        "Free text",
        """What synthetic texts have in common with those of train, in counts and shares, beside
        what the holdout's have by chance: copied and nearly copied texts, phrases, rare names that
        one text alone mentions, and who wrote; then how alike lengths, words and phrases are. No
        word of a text is shown.""",
        needs="text",
        fill=texts,
        layout=FLOWING,
        on_request=True,
    ),
    Section(
        "further",
        "Further figures",
        "Figures of metrics that bring a display of their own, or one that has no other section.",
        on_request=True,
    ),
    Section(
        "univariate",
        "Univariate distributions",
        """The shares of the values of each column, and how similar they and those of fresh real
        rows are to train's. Axes end at quantiles, the outer bars hold what lies beyond, rare
        categories are pooled, and bars of fewer than ten real rows are blank. A number that a
        quarter of train has stands apart, on a scale of its own if the others would vanish.""",
        display="SimilarityMatrixDisplay",
        fill=univariate,
        layout=UNIVARIATE,
    ),
    Section(
        "bivariate",
        "Bivariate distributions",
        """Joint shares in train (left) and synthetic (right), darker is more, by the square root;
        fewer than ten rows are blank.""",
        display="SimilarityMatrixDisplay",
        fill=bivariate,
        layout=BIVARIATE,
    ),
    Section(
        "by_column",
        "Column by column",
        """Unfold a column for what is wrong with it, its scores, pairs, attacks and shares. Rest
        the pointer on a figure for its numbers.""",
        display=_OWN,
        fill=nothing,
        fold=column_pages,
        on_request=True,
    ),
    Section(
        "risks",
        "Singling out, linkability, inference",
        """The three risks of Opinion 05/2014 of the Article 29 working party, and what was found of
        each.""",
        display=_ANY,
        write=three_risks,
        fill=nothing,
    ),
    Section(
        "appendix",
        "What the metrics are",
        """From the documentation of each metric: its definition, of an attack what the attacker is
        assumed to have, what it cannot see, and references.""",
        display=_ANY,
        write=definitions,
        fill=nothing,
    ),
    Section(
        "provenance",
        PROVENANCE,
        OF_WHAT,
        display=_ANY,
        write=provenance_parts,
        fill=nothing,
        on_request=True,
    ),
    Section(
        "sign_off",
        "Decision of a person",
        """No test clears a release. Whoever signs has read what was not looked at, and what the
        metrics cannot see.""",
        display=_ANY,
        write=sign_off,
        fill=nothing,
    ),
)


@dataclass(frozen=True)
class Plan:
    """What a report shows."""

    sections: tuple[Section, ...]
    sizes: str = ""
    lead: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    contents: bool = True

    @property
    def listed(self) -> Section | None:
        """The section above which all are listed: the first with a heading, if there are others."""
        headed = [section for section in self.sections if not section.front]
        several = self.contents and len(self.sections) > 1
        return headed[0] if headed and several else None


def plan(
    suite_result: SuiteResult,
    columns: Any = None,
    sections: Iterable[str] | None = None,
    *,
    web: bool = False,
) -> Plan:
    """Return what a report shows."""
    asked = chosen(sections, (one.name for one in SECTIONS if web or not one.fold))
    shown, left_out = dict[str, Section](), dict[str, str]()
    for section, results, choice in _parts(suite_result, columns):
        filled = section.filled(results, choice) if section.name in asked else section
        if filled.items or filled.parts or filled.folded:
            shown[filled.key] = filled
        elif section.name in asked and section.display not in (_ANY, _OWN):
            asked_for = sections is not None or not section.on_request
            if asked_for or section.results(results):
                left_out[section.heading] = section.why_empty(results)
    if (scores := shown.get("scores")) is not None:
        shown["scores"] = replace(scores, parts=(*scores.parts, *cautions(suite_result, left_out)))
    lead = summary(suite_result) if "scores" in shown and "decision" not in shown else ""
    return Plan(tuple(shown.values()), sizes_of(suite_result), lead, left_out)


def _parts(suite_result: SuiteResult, columns: Any) -> Iterator[tuple[Section, SuiteResult, Any]]:
    """Yield each section with the results that it may show, and the choice of columns."""
    # If there are several tables, metrics of all of them come first, then each table by
    # itself, with the sections that its results have; the scores stay together.
    tables = dict.fromkeys(result.table for result in suite_result.values() if result.table)
    for table in ("", *tables):
        results = {name: r for name, r in suite_result.items() if r.table == table}
        own = SuiteResult(results, sizes=suite_result.sizes)
        choice = columns.get(table) if isinstance(columns, Mapping) else columns
        for section in SECTIONS:
            if section.display == _ANY:
                if not table:
                    yield section, suite_result, choice
            elif not tables or section.results(own):
                yield replace(section, table=table), own, choice
