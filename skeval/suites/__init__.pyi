# Names of this package and where each is from: read by type checkers, and by lazy_loader.

from .alone import evaluate_alone
from .draws import combine_draws

__all__ = ["combine_draws", "evaluate_alone"]
