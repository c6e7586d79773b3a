"""Suites of metrics: ready ones, reports, several draws, and suites that are saved."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
