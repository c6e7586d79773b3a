"""A context that counts which steps run, and for which arguments."""

from __future__ import annotations

from collections import Counter
from typing import Any

from skeval import Context


class CountingContext(Context):
    """Counts in `runs`, which all contexts share, how often each step is computed."""

    runs: Counter[Any] = Counter()

    def recall(self, key: Any, compute: Any) -> Any:
        def counted(view: Context) -> Any:
            self.runs[key] += 1
            return compute(view)

        return super().recall(key, counted)

    @classmethod
    def names(cls) -> list[str]:
        """Return the name of the step of each run."""
        return [key[0].__name__ for key in cls.runs.elements()]
