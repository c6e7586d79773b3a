"""What the library says to programmers, in the words of the command line."""

from __future__ import annotations

import re

_WORDS = (
    (
        r"compares against holdout rows, and fit received none\. Pass them: fit\(.*?\)\.",
        "compares against holdout rows, and there are none. "
        "Give their file: TRAIN HOLDOUT SYNTHETIC.",
    ),
    (
        r"Pass a schema that names it: fit\(.*?TableSchema\(\.\.\.\)\)\.",
        "Name it in the metadata of SDV: --schema FILE.",
    ),
    (
        r"Name one: fit\(train, schema=\{column: 'text'\}\)\.",
        'Name one in --schema FILE: {"column": "text"}.',
    ),
    (r"Name it: \w+\(target=column\)\.", "Name it: --target COLUMN."),
    (
        r"make_suite: '(\w+)' needs a column to predict\. Name it: .*",
        r"--suite \1 needs --target, the column to predict.",
    ),
    (r"make_suite: preset must be among", "--suite must be among"),
    (r"(?:MetricSuite|make_suite|report): (target|sensitive) ", r"--\1 "),
    (r"on_error='raise' shows where", "--debug shows where"),
    (
        r"(^|: )schema must be a TableSchema or map column names to kinds",
        r"\1--schema FILE must map column names to kinds",
    ),
    (
        r" Metrics of skeval\.text look at them, and distances do with space=\S+\.",
        " Metrics of texts look at them.",
    ),
    (r"report: (?=\S+ must end in)", "--output "),
    (
        r"Pass them by name: fit\(.*?RelationalSchema\(\.\.\.\)\)\.",
        "Give folders, a file a table: TRAIN [HOLDOUT] SYNTHETIC.",
    ),
    (r"Lift it: PerTable\(.*", "Give the files of one table."),
    (
        r"name it, keys=\[column\], or pass a schema with a primary_key",
        "name it in the metadata of SDV: --schema FILE",
    ),
    (r"\b(?:Table|Relational)Schema(?:\.from_sdv)?(?=:| expected)", "--schema FILE"),
    (r"load it with rows=True", "load it with --rows"),
    (r"load it without rows=True", "leave --rows out"),
    (r"(?<=suite that )MetricSuite\.save wrote", "was saved"),
    (r"longer than timeout=(\S+) seconds", r"longer than --timeout \1 seconds"),
)
_PATTERNS = tuple((re.compile(pattern), words) for pattern, words in _WORDS)


def in_words(text: str) -> str:
    """Return a message with what to write in Python replaced by options.

    Examples
    --------
    >>> from skeval.cli.words import in_words
    >>> in_words("TSTR needs a target. Name it: TSTR(target=column).")
    'TSTR needs a target. Name it: --target COLUMN.'
    """
    for pattern, words in _PATTERNS:
        text = pattern.sub(words, text)
    return text
