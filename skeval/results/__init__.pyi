# Names of this package and where each is from: read by type checkers, and by lazy_loader.

from .provenance import Provenance
from .release import Release, assert_release
from .result import Contrast
from .verification import verify

__all__ = ["Contrast", "Provenance", "Release", "assert_release", "verify"]
