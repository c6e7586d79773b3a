"""Metric suites: presets, reports, and the evaluation of several draws of one generator."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
