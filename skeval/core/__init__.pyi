# Names of this package and where each is from: read by type checkers, and by lazy_loader.

from .by_group import ByGroup

__all__ = ["ByGroup"]
