# Names of this package and where each is from: read by type checkers, and by lazy_loader.

from .preprocessing import Discretizer

__all__ = ["Discretizer"]
