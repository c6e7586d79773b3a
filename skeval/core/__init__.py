"""What an author of a metric meets: the base class, its tags, the context and its parameters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
