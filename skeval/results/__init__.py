"""Results of metrics and suites, the privacy verdict, policies and comparisons."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
