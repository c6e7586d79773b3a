"""The command that prints and saves scores: `evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skeval.cli.application import app, debugging
from skeval.cli.options import OUTPUT, PRESETS, SCORES, Given, Tables, with_given
from skeval.exceptions import InvalidParameterError
from skeval.tables.place import Place
from skeval.utils.progress import show_progress

if TYPE_CHECKING:
    from skeval.results.policy import Policy
    from skeval.results.release import Release


@app.command()
@with_given
def evaluate(
    given: Given,
    tables: Tables,
    output: Annotated[
        Path | None,
        typer.Option(
            *OUTPUT, help="Save the scores: .txt, .csv or .json (only .json keeps all details)."
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help=PRESETS)] = "report",
    metrics: Annotated[
        str | None,
        typer.Option(help="Metrics to evaluate instead, by class or by name in scores: A,B."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Time limit for each metric in seconds.", min=0.0)
    ] = None,
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Also print value, interval, baseline, p-value and evidence."),
    ] = False,
) -> None:
    """Evaluate a synthetic table and print its scores."""
    from skeval.cli import inputs

    read = [*tables, given.schema, given.policy, given.release]
    if output is not None:
        inputs.check_paths(output, SCORES, "scores", read)
    inputs.check_apart([output, given.junit], read)
    limits = {"timeout": timeout, "on_error": "raise" if debugging() else "warn"}
    if len(tables) == 1:
        foreign = {"--metrics": metrics, "--suite": suite != "report", "--timeout": timeout}
        _evaluate_by_schema(given, tables[0], output, foreign, is_wide=wide)
    else:
        _evaluate_tables(given, tables, output, suite, metrics, limits, is_wide=wide)


def _evaluate_tables(
    given: Given,
    tables: list[Place],
    output: Path | None,
    preset: str,
    metrics: str | None,
    limits: dict[str, Any],
    *,
    is_wide: bool,
) -> None:
    """Evaluate a synthetic table that is accompanied by real tables."""
    # the policy, the names and the columns are checked before the tables are read, and the tables
    # are read before the metrics are imported, so that faults are found quickly
    from skeval.cli import inputs

    dialect = inputs.dialect_of(given.sep, given.encoding, given.decimal)
    policy, release = _policy_and_release(given)
    is_one_table = not any(path.is_folder for path in tables)
    asks = (policy, metrics, given.sensitive, given.duration, given.event)
    if is_one_table and (preset != "report" or any(one is not None for one in asks)):
        from skeval.cli import gate, suites

        gate.check_policy(policy, suites.suite_of_options(metrics, preset, given, release=release))
    (train, holdout, synthetic), known = inputs.read_given(tables, given, dialect)
    from skeval.cli import gate, scores, suites
    from skeval.tables.relational_schema import RelationalSchema

    relations = known if isinstance(known, RelationalSchema) else None
    measured = suites.suite_of_options(metrics, preset, given, relations, release)
    gate.check_policy(policy, measured)
    measured.set_params(**limits, n_jobs=given.jobs, max_memory=given.max_bytes)
    with show_progress("lines") as tick:
        progress = tick("evaluated")
        measured.fit(train, holdout, schema=known)
        result = measured.evaluate(synthetic, progress=progress, date=given.date, release=release)
    files = inputs.files_by_role(tables)
    scores.conclude(result, files, output, policy, given, is_wide=is_wide)


def _policy_and_release(given: Given) -> tuple[Policy | None, Release | None]:
    """Return the policy and the release that the options specify, or None."""
    if not any((given.fail_on, given.require, given.policy, given.release, given.junit)):
        return None, None
    from skeval.cli import gate

    release = gate.release_of(given)
    return gate.policy_of(given, release), release


def _evaluate_by_schema(
    given: Given, table: Place, output: Path | None, foreign: dict[str, Any], *, is_wide: bool
) -> None:
    """Evaluate a synthetic table without real data, by its schema."""
    from skeval.cli import inputs
    from skeval.tables.reading import read_table
    from skeval.tables.relational_sources import read_json

    options = {
        **{"--target": given.target, "--sensitive": given.sensitive},
        **{"--duration": given.duration, "--event": given.event, "--known": given.known},
        **{"--categorical": given.categorical, "--numeric": given.numeric},
        **{
            "--groups": given.groups,
            "--accept-doubts": given.accept_doubts,
            "--junit": given.junit,
        },
        **foreign,
    }
    if given.schema is None or table.is_folder:
        raise InvalidParameterError(
            "expected two or three files, TRAIN [HOLDOUT] SYNTHETIC, got one. To evaluate "
            "SYNTHETIC without real data, pass --schema FILE."
        )
    if stated := [name for name, value in options.items() if value]:
        raise InvalidParameterError(
            f"{' and '.join(stated)} cannot be used without real data. Only the schema is used; "
            "remove the option."
        )
    content = read_json(given.schema)
    dialect = inputs.dialect_of(given.sep, given.encoding, given.decimal)
    policy, _ = _policy_and_release(given)
    synthetic = read_table(table, header=given.header, dialect=dialect)
    from skeval.cli import scores
    from skeval.suites.alone import evaluate_alone

    with show_progress("lines") as tick:
        result = evaluate_alone(synthetic, content, progress=tick("evaluated"), date=given.date)
    files = {} if table.path is None else {"synthetic": table}
    scores.conclude(result, files, output, policy, given, is_wide=is_wide)
