"""Evaluation of tables larger than memory, and work on the workers of a cluster."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
