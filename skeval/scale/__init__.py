"""Tables larger than memory and workers of a cluster: where rows are, and what steps do then."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
