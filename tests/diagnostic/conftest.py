"""What the tests of diagnostics share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from skeval.exceptions import MetricWarning


@contextmanager
def _warned(*texts: str) -> Iterator[None]:
    with pytest.warns(MetricWarning) as caught:
        yield
    said = " ".join(str(warning.message) for warning in caught)
    assert not [text for text in texts if text not in said], said


@pytest.fixture
def warned():
    """A block that gives warnings of ours, among them these texts."""
    return _warned
