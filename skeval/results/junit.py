"""JUnit XML of the outcomes of a policy, which pipelines display as tests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from skeval.results.requirement import RuleOutcome

_NAME = "skeval"
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")


def junit(outcomes: Iterable[RuleOutcome]) -> str:
    """Return outcomes as JUnit XML with one test per requirement."""
    outcomes = list(outcomes)
    n_failed = sum(not outcome.passed for outcome in outcomes)
    counts = {"tests": str(len(outcomes)), "failures": str(n_failed), "errors": "0"}
    suite = ElementTree.Element("testsuite", {"name": _NAME, **counts})
    for outcome in outcomes:
        rule, reason = (_NO_XML.sub("\ufffd", text) for text in (outcome.rule, outcome.reason))
        case = ElementTree.SubElement(suite, "testcase", {"classname": _NAME, "name": rule})
        if not outcome.passed:
            ElementTree.SubElement(case, "failure", {"message": reason}).text = reason
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(suite, "unicode")}\n'
