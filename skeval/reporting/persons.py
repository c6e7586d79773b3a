"""What attacks mean in persons: how many were found, who is within reach, who was not tried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skeval.core.tags import Need
from skeval.reporting.flaws import attacks_of
from skeval.reporting.scores import entries, number_of, numbers_of
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import ALARM_LEVEL, is_shifted
from skeval.utils.formatting import format_mean_count, number, percent

PRIOR = 0.1  # the share of train among the persons that an attacker asks about
_DONE = {
    "singling out": "{found} of {n} attacks through this release singled out a person",
    "linkability": "{found} of {n} attacked persons were linked",
    "inference": "{found} of {n} attacked persons had {secret} inferred rightly",
    "reconstruction": "{found} of {n} attacked persons were completed rightly",
}
_STRANGERS = {"singling out": "a stranger"}
_INITIAL = (
    "Before synthesis: {n_alone} of {n} real rows have a combination of values that no other row "
    "has. Released as they are, each would single out one person."
)
_REACH = (
    "Within reach: {found} of the {k} persons whom an attacker is surest of are of train where "
    "half of all are ({low} to {high}); where 1 in {one_in} are, {share} of them would be."
)
_WORST_ROWS = (
    "Most exposed group: {who}. Attack AUC in this group: {auc} (95% interval {low} to {high}, "
    "corrected for the choice among all groups; all records: {all})."
)
_TYPICAL = 0.5  # place in the order of distance to other records, below which a record is typical
_WORST_GROUP = "Worst off by {by}: {group} with {value}, where the mean of groups is {mean}."
_NEEDS: Mapping[Need, str] = {
    "generator": "who can run the generator",
    "relational": "who know several rows of one subject",
    "text": "who look for passages and names in free text",
}
_KNOWING = "who know some attributes (k-anonymity)"
_RISKS = {
    "singling out": "who single persons out",
    "linkability": "who link two parts of a record",
    "inference": "who infer one attribute from others",
}


def persons(results: SuiteResult) -> Iterator[str]:
    """Yield what attacks found in persons, the strongest of each risk, and who is worst off.

    Nothing is yielded where train and holdout are of different populations.
    """
    if is_shifted(results.notices):
        return
    attacks = [one for result in _measured(results) for one in _counted(result)]
    if initial := next(filter(None, map(_initial, _measured(results))), ""):
        yield initial
    for risk in _DONE:
        own = [one for one in attacks if one["risk"] == risk]
        if own:
            yield _sentence(min(own, key=lambda one: (one["p_value"], -one["excess"])))
    for result in _measured(results):
        yield from filter(None, (_reach(result), _worst_rows(result), _worst_group(result)))


def _initial(result: Result) -> str:
    """Say what releasing the real rows as they are would do; empty where rows were not compared."""
    counts = numbers_of(result.details, "alone")
    n, n_alone = (counts.get(name, math.nan) for name in ("n", "n_alone"))
    if not n_alone <= n:  # one is no number
        return ""
    return _INITIAL.format(n=f"{n:,.0f}", n_alone=f"{n_alone:,.0f}")


def not_tried(results: SuiteResult) -> str:
    """Return which attackers were not tried, by name; empty where privacy was not looked at."""
    tried = list(_measured(results))
    if not tried:
        return ""
    needs = {need for one in tried if one.tags is not None for need in one.tags.needs}
    risks = {risk for one in tried if one.tags is not None for risk in one.tags.risks}
    known = any(one.row()["evidence"] == "disclosure" for one in tried)
    lacking = [text for risk, text in _RISKS.items() if risk not in risks]
    lacking += [] if known else [_KNOWING]
    lacking += [
        text for need, text in _NEEDS.items() if need not in needs and _matters(need, results)
    ]
    return f"Attackers not tried: {', '.join(lacking)}." if lacking else ""


def _matters(need: Need, results: SuiteResult) -> bool:
    """Return whether an attacker may exist; of tables without a text column none reads texts."""
    if need != "text" or results.provenance is None:
        return True
    return any(column.kind == "text" for column in results.provenance.columns)


def _measured(results: SuiteResult) -> Iterator[Result]:
    for result in results.values():
        of_privacy = result.tags is not None and result.tags.aspect == "privacy"
        if of_privacy and not result.error and not math.isnan(result.value):
            yield result


def _counted(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the attacks whose successes were counted on persons of train and on strangers."""
    if rates := entries(result.details, "rates"):
        yield from _of_counts(
            "reconstruction",
            rates,
            ("train", "holdout"),
            result.interval,
            number_of(result.p_value),
        )
    for attack, p_value in attacks_of(result):
        stated = result.tags.risks if result.tags is not None else frozenset()
        risk = attack.get("risk") or " ".join(sorted(stated))  # of several, none is the attack's
        interval = attack.get("interval", result.interval)
        for counted in _of_counts(risk, attack, ("attack", "control"), interval, p_value):
            yield {**counted, "secret": attack.get("secret")}


def _of_counts(
    risk: Any, rates: Mapping[str, Any], roles: tuple[str, str], interval: Any, p_value: float
) -> Iterator[dict[str, Any]]:
    train, strangers = (numbers_of(rates, role) for role in roles)
    counts = [
        each.get(name, math.nan) for each in (train, strangers) for name in ("n", "n_success")
    ]
    if (
        isinstance(risk, str)
        and risk in _DONE
        and all(map(math.isfinite, counts))
        and counts[0] > 0 < counts[2]
    ):
        n, found, n_strangers, of_strangers = counts
        # intervals are those of the share found of persons whom strangers' luck leaves
        left = 1.0 - of_strangers / n_strangers
        yield {
            "risk": risk,
            "n": n,
            "found": found,
            "n_strangers": n_strangers,
            "of_strangers": of_strangers,
            "excess": found / n - of_strangers / n_strangers,
            "interval": [left * end for end in _ends(interval)],
            "p_value": math.inf if math.isnan(p_value) else p_value,
        }


def _sentence(one: Mapping[str, Any]) -> str:
    done = _DONE[one["risk"]].format(
        found=format_mean_count(one["found"]),
        n=format_mean_count(one["n"]),
        secret=one.get("secret") or "the secret",
    )
    strangers = _STRANGERS.get(one["risk"], "strangers")
    found, asked = map(format_mean_count, (one["of_strangers"], one["n_strangers"]))
    text = f"{done}, {found} of {asked} {strangers}"
    if any(one[name] % 1.0 for name in ("found", "of_strangers")):
        text += ", on average"
    if one["interval"]:
        low, high = map(percent, one["interval"])
        text += f" (excess {low} to {high}, 95%)"
    return f"{text[0].upper()}{text[1:]}."


def _ends(interval: Any) -> tuple[float, ...]:
    """Return the two ends of an interval; nothing of what is none."""
    is_pair = isinstance(interval, list | tuple | np.ndarray) and len(interval) == 2
    ends = tuple(map(number_of, interval)) if is_pair else ()
    return ends if all(map(math.isfinite, ends)) else ()


def _reach(result: Result) -> str:
    """Say how many of the rows that a ranking attacker is surest of are those of train."""
    held = result.details.get("precision_at")
    entry = held[0] if isinstance(held, list | tuple) and held else None
    k, precision = (number_of(entries(entry).get(name)) for name in ("k", "precision"))
    low, high = _ends(entries(entry).get("interval")) or (0.0, 1.0)
    if not (k >= 1.0 and 0.0 <= precision <= 1.0):
        return ""
    called, others = precision * PRIOR, (1.0 - precision) * (1.0 - PRIOR)
    return _REACH.format(
        found=format_mean_count(round(k * precision, 1)),
        k=format_mean_count(k),
        low=percent(low),
        high=percent(high),
        one_in=round(1.0 / PRIOR),
        share=percent(called / (called + others)),
    )


def _worst_rows(result: Result) -> str:
    """Say which records a membership attack ranks best, if they are more exposed than all are."""
    outliers = entries(result.details, "outliers")
    worst = numbers_of(outliers, "worst")
    above, up_to, auc = (worst.get(name, math.nan) for name in ("above", "up_to", "auc"))
    low, high = _ends(entries(outliers.get("worst")).get("interval")) or (math.nan, math.nan)
    # the largest of several groups is above the average by chance alone
    if not (number_of(outliers.get("p_value")) < ALARM_LEVEL and result.value < low <= auc):
        return ""
    rates = {"auc": auc, "low": low, "high": high, "all": result.value}
    shown = {name: number(rate) for name, rate in rates.items()}
    return _WORST_ROWS.format(who=_named_by_outlyingness(above, up_to), **shown)


def _named_by_outlyingness(above: float, up_to: float) -> str:
    """Say in words which places a group has in the order of distance to other records."""
    if up_to >= 1.0:
        return f"the {percent(1.0 - above, 0)} of records most distant from other records"
    if above <= 0.0:
        return f"the {percent(up_to, 0)} of records closest to other records, that is, typical ones"
    place = f"between percentiles {100 * above:.0f} and {100 * up_to:.0f}"
    middle = (above + up_to) / 2.0
    is_typical = ", that is, typical ones" if middle < _TYPICAL else ""
    return f"records {place} of distance to other records{is_typical}"


def _worst_group(result: Result) -> str:
    by, worst = result.details.get("by"), entries(result.details, "worst")
    if not isinstance(by, str) or "column" not in worst:
        return ""
    value, mean = (
        number(number_of(one)) for one in (worst.get("value"), result.details.get("mean"))
    )
    return _WORST_GROUP.format(by=by, group=worst["column"], value=value, mean=mean)
