"""The command that prints and saves scores: `evaluate`.

Commands of saved scores: `render` draws them, `verify` checks what they are of.

The gate of pipelines: options that decide the exit code, and the file that says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from skeval.cli.catalogue import suite_of_names
from skeval.cli.inputs import (
    check_apart,
    check_paths,
    dialect_of,
    files_by_role,
    read_given,
    say_kinds,
)
from skeval.cli.options import (
    OUTPUT,
    Given,
    Tables,
    app,
    debugging,
    plain_table,
    say,
    show,
    with_given,
)
from skeval.exceptions import InvalidParameterError, Sentence
from skeval.results.policy import FAIL_ON, Policy, RuleOutcome, failed_metrics, junit, together
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.tables.places import Place
from skeval.tables.reading import check_exists, read_table
from skeval.tables.relational_schema import RelationalSchema
from skeval.utils.execution import shown
from skeval.utils.files import check_output, replacing
from skeval.utils.formatting import shown_interval

if TYPE_CHECKING:
    from skeval.results.comparison import Comparison
    from skeval.results.release import Release
    from skeval.suites.suite import MetricSuite


Scores = Annotated[Path, typer.Argument(help="What `evaluate -o scores.json` saved.")]


@app.command()
def render(
    scores: Scores,
    output: Annotated[Path, typer.Option(*OUTPUT, help="A PDF, or an HTML page.")] = Path(
        "report.html"
    ),
    title: Annotated[str, typer.Option(help="Of the report.")] = "",
    short: Annotated[
        bool,
        typer.Option("--short", help="Decision, scores, columns to mend, provenance, sign-off."),
    ] = False,
) -> None:
    """Write the report of saved scores: no table is needed."""
    from skeval.results.rendering import ENDINGS

    check_paths(output, ENDINGS, "report", [scores])
    check_exists(scores)
    result = _read_comparison(scores) or read_results(scores)
    write = result.to_html if output.suffix.lower() in ENDINGS[1:] else result.to_pdf
    settings: dict[str, Any] = {"title": title} if title else {}
    with shown("lines") as tick:
        if isinstance(result, SuiteResult):
            settings |= {"progress": tick("drawn"), "short": short}
        write(output, **settings)
    say(f"Report: {output}")


@app.command()
def verify(
    scores: Scores,
    files: Annotated[
        list[Place],
        typer.Argument(parser=Place.of, help="Files as `evaluate` reads them, in any order."),
    ],
) -> None:
    """Check that scores are of these files; exit code 1 if one of them is none of the inputs."""
    from skeval.results.provenance import DIFFERENT, installed_versions
    from skeval.results.provenance import verify as verify_tables

    provenance = read_results(scores).provenance
    if provenance is None:
        raise InvalidParameterError(f"{scores} says nothing of where its scores come from.")
    for place in files:
        if place.path is not None:
            check_exists(place.path)
    frame = verify_tables(provenance, files)
    table = plain_table("file", "input", "found", texts=3)
    for row in frame.itertuples(index=False):
        table.add_row(*map(escape, row))
    show(table)
    say(f"{scores.name}: evaluated by skeval {provenance.version} on {provenance.date}.")
    here = installed_versions()
    then = {"skeval": provenance.version, **provenance.packages}
    if changed := [
        f"{n} {v}, here {here.get(n, 'none')}" for n, v in then.items() if v != here.get(n)
    ]:
        say(f"note: evaluated with other versions: {'; '.join(changed)}.")
    if unknown := frame.loc[frame["found"] == DIFFERENT, "given"].tolist():
        say(f"skeval: not among the inputs of {scores}: {', '.join(unknown)}.")
        raise typer.Exit(1)


def _read_comparison(path: Path) -> Comparison | None:
    """Return what `compare -o comparison.json` saved; None where a file holds other scores."""
    from skeval.results.comparison import Comparison

    try:
        return Comparison.from_json(path)
    except InvalidParameterError:
        return None


def suite_of_file(
    path: Path, tables: list[Place], given: Given, metrics: str | None, *, rows: bool
) -> MetricSuite:
    """Return a suite that was saved, where one synthetic table is given and nothing of train."""
    from skeval.suites.suite import MetricSuite

    options = {
        **{"--target": given.target, "--sensitive": given.sensitive, "--schema": given.schema},
        **{"--duration": given.duration, "--event": given.event, "--known": given.known},
        "--metrics": metrics,
    }
    if foreign := [name for name, value in options.items() if value is not None]:
        raise InvalidParameterError(
            f"{' and '.join(foreign)}: --saved has it from the suite; leave it out."
        )
    if len(tables) != 1 or tables[0].is_folder:
        raise InvalidParameterError("--saved takes one file, SYNTHETIC: it is the real tables.")
    check_exists(path)
    return MetricSuite.load(path, rows=rows)


def read_results(path: Path) -> SuiteResult:
    """Read scores that `evaluate` saved."""
    check_exists(path)
    return SuiteResult.from_json(path)


def release_of(given: Given) -> Release | None:
    """Return what a file states of the release."""
    from skeval.results.release import Release

    return Release.of(given.release)


def policy_of(options: Given, release: Release | None = None) -> Policy | None:
    """Return the policy of a file, of options and of a release together; None without any."""
    fail_on, require, file = options.fail_on, options.require, options.policy
    if options.junit is not None:
        check_output(options.junit, (".xml",), owner="--junit")
    if unknown := [name for name in fail_on or () if name not in FAIL_ON]:
        raise InvalidParameterError(
            f"--fail-on must be among {', '.join(FAIL_ON)}, got {', '.join(unknown)}."
        )
    given = Policy.from_toml(file) if file is not None else None
    agreed = release.thresholds if release is not None else None
    of_options = Policy(tuple(fail_on or ()), tuple(require or ())) if fail_on or require else None
    if of_options is not None and (given or agreed):  # the level is that of a file
        least = min(one.level for one in (given, agreed) if one is not None)
        of_options = replace(of_options, level=least)
    policy = together([given, agreed, of_options])
    if policy is None and options.junit is not None:
        raise InvalidParameterError(
            "--junit needs --fail-on, --require, --policy or thresholds of --release."
        )
    return policy


def check_policy(policy: Policy | None, suite: MetricSuite | None) -> None:
    """Refuse a policy on what the suite does not measure, before the work."""
    if policy is not None and suite is not None:
        policy.check_names({name: type(metric).__name__ for name, metric in suite.all_metrics})


def write_junit(
    policy: Policy | None, results: Mapping[str, SuiteResult], path: Path | None
) -> None:
    """Write what the policy says of each synthetic table, if asked for."""
    if policy is not None and path is not None:
        with replacing(path) as temporary:
            temporary.write_text(junit(_outcomes(policy, results)), encoding="utf-8")


def enforce(policy: Policy | None, results: Mapping[str, SuiteResult]) -> None:
    """End with exit code 1 where a rule is violated, or metrics failed: others may stand."""
    failures = {name: failed for name, one in results.items() if (failed := failed_metrics(one))}
    for name, failed in failures.items():
        of = f"{name}: " if name else ""
        n_metrics = len(results[name])
        say(f"skeval: {of}{len(failed)} of {n_metrics} metrics failed: {', '.join(failed)}.")
    outcomes = _outcomes(policy, results) if policy is not None else []
    for outcome in outcomes:
        say(f"policy {outcome}")
    if failures or not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(1)


def _outcomes(policy: Policy, results: Mapping[str, SuiteResult]) -> list[RuleOutcome]:
    """Return the outcome of each rule, of several synthetic tables by their names."""
    return [
        replace(outcome, rule=f"{name}: {outcome.rule}") if name else outcome
        for name, result in results.items()
        for outcome in policy.judge(result)
    ]


_WRITERS: dict[str, Callable[[SuiteResult], str]] = {
    ".txt": lambda result: f"{result!r}\n",
    ".csv": lambda result: result.frame().to_csv(index=False),
    ".json": lambda result: result.to_json(),
}
PRESETS = (
    "report, fidelity, utility, privacy, screens, attacks, syneval, quality, diagnostic, survival."
)


@app.command()
@with_given
def evaluate(
    given: Given,
    tables: Tables,
    output: Annotated[
        Path | None,
        typer.Option(
            *OUTPUT, help="Save the table: .txt, .csv or .json (.json keeps all details)."
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help=PRESETS)] = "report",
    metrics: Annotated[
        str | None,
        typer.Option(help="These metrics instead, by their names in `list` or in scores: A,B."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that each metric may take.", min=0.0)
    ] = None,
    saved: Annotated[
        Path | None,
        typer.Option(help="What MetricSuite.save wrote, for TRAIN and HOLDOUT: give SYNTHETIC."),
    ] = None,
    rows: Annotated[
        bool,
        typer.Option("--rows", help="--saved holds rows: a pickle, which runs code; your own."),
    ] = False,
) -> None:
    """Print the scores of a synthetic table, and save them."""
    read = [*tables, given.schema, given.policy, given.release, saved]
    if output is not None:
        check_paths(output, tuple(_WRITERS), "scores", read)
    check_apart([output, given.junit], read)
    dialect = dialect_of(given.sep, given.encoding, given.decimal)
    gate = policy_of(given, release := release_of(given))
    on_error = "raise" if debugging() else "warn"
    if saved is not None:
        loaded = suite_of_file(saved, tables, given, metrics, rows=rows)
        check_policy(gate, loaded)
        loaded.set_params(timeout=timeout, on_error=on_error, n_jobs=given.jobs)
        synthetic = read_table(tables[0], header=given.header, dialect=dialect)
        with shown("lines") as tick:
            measure = partial(loaded.evaluate, date=given.date, release=release)
            result = measure(synthetic, progress=tick("measured"))
        files = {} if tables[0].path is None else {"synthetic": tables[0]}
        _conclude(result, files, output, gate, given)
        return
    if rows:
        raise InvalidParameterError("--rows needs --saved, the suite that holds them.")
    made = partial(made_suite, metrics, suite, given, release=release)
    if not any(path.is_folder for path in tables):  # of folders, the suite depends on their keys
        check_policy(gate, made())
    (train, holdout, synthetic), known = read_given(tables, given, dialect)
    measured = made(known if isinstance(known, RelationalSchema) else None)
    check_policy(gate, measured)
    measured.set_params(
        timeout=timeout, on_error=on_error, n_jobs=given.jobs, max_memory=given.max_bytes
    )
    with shown("lines") as tick:
        progress = tick("measured")
        measured.fit(train, holdout, schema=known)
        result = measured.evaluate(synthetic, progress=progress, date=given.date, release=release)
    _conclude(result, files_by_role(tables), output, gate, given)


def _conclude(
    result: SuiteResult,
    files: Mapping[str, Place],
    output: Path | None,
    gate: Policy | None,
    given: Given,
) -> None:
    """Save and print scores, and hold them to the policy."""
    if result.provenance is not None:
        known_by = result.provenance.with_files(files)
        result.provenance = known_by if given.hashes else known_by.without_hashes()
    if output is not None:  # before they are printed: if printing goes wrong, they are kept
        with replacing(output) as temporary:
            temporary.write_text(_WRITERS[output.suffix.lower()](result), encoding="utf-8")
    write_junit(gate, {"": result}, given.junit)
    print_scores(result)
    say_kinds(result)
    _say_verdict(result, output)
    enforce(gate, {"": result})


def _say_verdict(result: SuiteResult, output: Path | None) -> None:
    from skeval.results.verdict import summary

    if sentence := summary(result):
        say(sentence)
    if output is not None:
        say(f"Saved: {output}")


def made_suite(
    metrics: str | None,
    preset: str,
    given: Given,
    relations: RelationalSchema | None = None,
    release: Release | None = None,
) -> MetricSuite:
    """Return the suite of these metrics, or of a preset."""
    from skeval.suites.ready import make_suite

    if metrics is not None:
        return suite_of_names(metrics, asked_columns(given, release), seed=given.seed)
    return make_suite(
        preset,
        **preset_settings(given, release),
        random_state=given.seed,
        n_jobs=-1,
        schema=relations,
    )


def preset_settings(given: Given, release: Release | None) -> dict[str, Any]:
    """Return what the options and a release say of a preset."""
    return {
        "target": given.target,
        "sensitive": given.sensitive,
        "duration": given.duration,
        "event": given.event,
        "known": given.known_columns,
        "release": release,
    }


def asked_columns(given: Given, release: Release | None) -> dict[str, Any]:
    """Return the columns that the options name, by what metrics call them; None if none does."""
    stated = list(release.indirect_identifiers) if release is not None else []
    known = given.known_columns or stated or None
    own = {name: getattr(given, name) for name in ("target", "sensitive", "duration", "event")}
    return {**own, "quasi_identifiers": known, "known": known}


def print_scores(result: SuiteResult) -> None:
    """Print the tables of scores and of tests of privacy, properties, and what was left out."""
    from skeval.reporting.scores import parted, reason

    scores, tests = parted(result)
    verdicts = _verdicts(result)
    if scores:
        _show_scores(scores, verdicts)
    if tests:
        _show_tests(tests, verdicts)
    for name, why in ((name, reason(one)) for name, one in tests.items()):
        if why:
            Console(soft_wrap=True).print(f"{name}: {why}", markup=False)
    if any("/" in name for name in result):
        table = plain_table("property", "score", "baseline", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(escape(name), f"{scores[0]:.4g}", _or_empty(scores[1]), str(n_used))
        show(table)
    for name, each in result.items():
        if each.error:
            why = each.error.shell if isinstance(each.error, Sentence) else each.error
            Console(soft_wrap=True).print(f"{name} left out: {why}", markup=False)


INKS = {"alarm": "bold red", "copies": "bold red", "doubt": "yellow", "calm": "none"}


def _verdicts(result: SuiteResult) -> dict[str, str]:
    """Return in a few words what is made of each metric; a terminal shows it in colour too."""
    from skeval.reporting.style import judged, label_of
    from skeval.results.verdict import is_shifted

    verdict, shifted = result.verdict(), is_shifted(result.notices)
    words = {name: judged(one, verdict, name, shifted) for name, one in result.items()}
    return {name: f"[{INKS[label_of(said)]}]{said}[/]" for name, said in words.items() if said}


def _show_scores(results: Mapping[str, Result], verdicts: Mapping[str, str]) -> None:
    from skeval.reporting.scores import DIFFERENCE, INTERVAL, shown_difference

    heads = "value", INTERVAL, "baseline", DIFFERENCE.lower(), "best", "verdict"
    table = plain_table("metric", *heads)
    for name, one in results.items():
        numbers = f"{one.value:.4g}", shown_interval(one.interval), _or_empty(one.baseline)
        said = verdicts.get(name, "")
        table.add_row(escape(name), *numbers, shown_difference(one), _best(one), said)
    show(table)


def _show_tests(results: Mapping[str, Result], verdicts: Mapping[str, str]) -> None:
    from skeval.reporting.scores import INTERVAL, numbers_tested

    heads = (
        "tested",
        "against",
        "p-value",
        "score",
        INTERVAL,
        "baseline",
        "best",
        "evidence",
        "verdict",
    )
    table = plain_table("metric", *heads)
    for name, one in results.items():
        numbers = f"{one.value:.4g}", shown_interval(one.interval), _or_empty(one.baseline)
        kind = one.tags.evidence or "" if one.tags is not None else ""
        compared = *numbers_tested(one), _p_value(one.p_value)
        said = verdicts.get(name, "")
        table.add_row(escape(name), *compared, *numbers, _best(one), kind, said)
    show(table)


def _best(result: Result) -> str:
    return result.tags.direction.split()[0] if result.tags is not None else ""


def _or_empty(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4g}"


def _p_value(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return "<1e-16" if value < 1e-16 else f"{value:.2g}"
